//! `rand_chacha` 0.9 (feature `rand_chacha`).

use ::rand_chacha::rand_core::SeedableRng;
use ::rand_chacha::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng};

super::chacha!(ChaCha8Rng ChaCha12Rng ChaCha20Rng);
