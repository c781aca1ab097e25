//! `rand` 0.9 (feature `rand`).

use ::rand;
use ::rand::RngCore as Generator;
use ::rand_chacha::ChaCha12Rng;

#[allow(clippy::duplicate_mod)] // one text for every version
#[path = "generators.rs"]
mod generators;
