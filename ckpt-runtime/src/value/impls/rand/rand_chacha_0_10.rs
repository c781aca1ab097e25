//! `rand_chacha` 0.10 (feature `rand_chacha-0.10`).

use rand_chacha_0_10::rand_core::SeedableRng;
use rand_chacha_0_10::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng};

super::chacha!(ChaCha8Rng ChaCha12Rng ChaCha20Rng);
