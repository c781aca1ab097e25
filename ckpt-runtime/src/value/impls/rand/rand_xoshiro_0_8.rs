//! `rand_xoshiro` 0.8 (feature `rand_xoshiro-0.8`).

super::xoshiro!(rand_xoshiro_0_8 Rng);
