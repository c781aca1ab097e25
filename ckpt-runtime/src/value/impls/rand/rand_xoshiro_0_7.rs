//! `rand_xoshiro` 0.7 (feature `rand_xoshiro`).

super::xoshiro!(rand_xoshiro RngCore);
