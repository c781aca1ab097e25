//! `rand` 0.8 (feature `rand-0.8`).

use rand_0_8 as rand;
use rand_0_8::RngCore as Generator;
use rand_chacha_0_3::ChaCha12Rng;

#[allow(clippy::duplicate_mod)] // one text for every version
#[path = "generators.rs"]
mod generators;
