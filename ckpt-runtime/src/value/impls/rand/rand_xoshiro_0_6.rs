//! `rand_xoshiro` 0.6 (feature `rand_xoshiro-0.6`).

super::xoshiro!(rand_xoshiro_0_6 RngCore);
