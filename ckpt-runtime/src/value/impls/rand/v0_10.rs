//! `rand` 0.10 (feature `rand-0.10`).

use ::chacha20::ChaCha12Rng;
use rand_0_10 as rand;
use rand_0_10::Rng as Generator;

#[allow(clippy::duplicate_mod)] // one text for every version
#[path = "generators.rs"]
mod generators;
