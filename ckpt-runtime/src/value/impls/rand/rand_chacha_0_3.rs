//! `rand_chacha` 0.3 (feature `rand_chacha-0.3`).

use rand_chacha_0_3::rand_core::SeedableRng;
use rand_chacha_0_3::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng};

super::chacha!(ChaCha8Rng ChaCha12Rng ChaCha20Rng);
