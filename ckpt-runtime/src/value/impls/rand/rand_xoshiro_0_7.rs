//! `rand_xoshiro` 0.7 (feature `rand_xoshiro`).

use ::rand_xoshiro::{
    SplitMix64, Xoroshiro64Star, Xoroshiro64StarStar, Xoroshiro128Plus, Xoroshiro128PlusPlus,
    Xoroshiro128StarStar, Xoshiro128Plus, Xoshiro128PlusPlus, Xoshiro128StarStar, Xoshiro256Plus,
    Xoshiro256PlusPlus, Xoshiro256StarStar, Xoshiro512Plus, Xoshiro512PlusPlus, Xoshiro512StarStar,
};

super::by_serde! {
    SplitMix64
    Xoroshiro64Star Xoroshiro64StarStar
    Xoroshiro128Plus Xoroshiro128PlusPlus Xoroshiro128StarStar
    Xoshiro128Plus Xoshiro128PlusPlus Xoshiro128StarStar
    Xoshiro256Plus Xoshiro256PlusPlus Xoshiro256StarStar
    Xoshiro512Plus Xoshiro512PlusPlus Xoshiro512StarStar
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::rand_xoshiro::rand_core::{RngCore, SeedableRng};

    super::super::goes_on!(SplitMix64 Xoshiro256PlusPlus Xoshiro512StarStar Xoroshiro64Star);
}
