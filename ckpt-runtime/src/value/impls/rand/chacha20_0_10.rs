//! The generators of `chacha20` 0.10 (feature `rand-0.10`), one of which is the `StdRng` of `rand` 0.10.

use ::chacha20::rand_core::SeedableRng;
use ::chacha20::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng};

super::chacha!(ChaCha8Rng ChaCha12Rng ChaCha20Rng);
