//! Random number generators: after a restart they go on with the number that was next. One file for each version of a
//! crate, which is a crate of its own to Rust.

#[cfg(feature = "rand-0.10")]
mod chacha20_0_10;
#[cfg(feature = "fastrand")]
mod fastrand_2;
#[cfg(feature = "oorandom")]
mod oorandom_11;
#[cfg(feature = "rand_chacha-0.10")]
mod rand_chacha_0_10;
#[cfg(feature = "rand_chacha-0.3")]
mod rand_chacha_0_3;
#[cfg(feature = "rand_chacha")]
mod rand_chacha_0_9;
#[cfg(feature = "rand_pcg-0.10")]
mod rand_pcg_0_10;
#[cfg(feature = "rand_pcg-0.3")]
mod rand_pcg_0_3;
#[cfg(feature = "rand_pcg")]
mod rand_pcg_0_9;
#[cfg(feature = "rand_xoshiro-0.6")]
mod rand_xoshiro_0_6;
#[cfg(feature = "rand_xoshiro")]
mod rand_xoshiro_0_7;
#[cfg(feature = "rand_xoshiro-0.8")]
mod rand_xoshiro_0_8;
#[cfg(feature = "rand-0.10")]
mod v0_10;
#[cfg(feature = "rand-0.8")]
mod v0_8;
#[cfg(feature = "rand")]
mod v0_9;

/// Generators of the ChaCha family: seed, stream and position.
#[allow(unused_macros)]
macro_rules! chacha {
    ($($rng:ty)*) => {$(
        impl crate::Checkpoint for $rng {
            fn save(&self, to: &mut crate::value::Encoder<'_>) {
                use crate::value::GENERATOR;
                use std::borrow::Cow;
                const NAMES: &[Cow<'static, str>] = &[
                    Cow::Borrowed(GENERATOR[0]),
                    Cow::Borrowed(GENERATOR[1]),
                    Cow::Borrowed(GENERATOR[2]),
                ];
                self.get_seed().save(&mut to.field(NAMES, 0));
                self.get_stream().save(&mut to.field(NAMES, 1));
                self.get_word_pos().save(&mut to.field(NAMES, 2));
            }
            fn load(from: &mut crate::value::Decoder<'_>) -> Result<Self, crate::LoadError> {
                use crate::value::GENERATOR;
                let mut rng = Self::from_seed(from.field(&[GENERATOR[0]])?);
                rng.set_stream(from.field(&[GENERATOR[1]])?);
                rng.set_word_pos(from.field(&[GENERATOR[2]])?);
                Ok(rng)
            }
        }
    )*};
}
#[allow(unused_imports)]
use chacha;

/// Generators that serde can save.
#[allow(unused_macros)]
macro_rules! by_serde {
    ($($rng:ty)*) => {$(
        impl crate::Checkpoint for $rng {
            fn save(&self, to: &mut crate::value::Encoder<'_>) {
                crate::value::save_serde(self, to);
            }
            fn load(from: &mut crate::value::Decoder<'_>) -> Result<Self, crate::LoadError> {
                crate::value::load_serde(from)
            }
        }
    )*};
}
#[allow(unused_imports)]
use by_serde;

/// All generators of a version of `rand_xoshiro`, whose trait with `next_u64` has this name.
#[allow(unused_macros)]
macro_rules! xoshiro {
    ($library:ident $generator:ident) => {
        use ::$library::{
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
            use ::$library::rand_core::{$generator, SeedableRng};

            use super::*;

            super::super::goes_on!(SplitMix64 Xoshiro256PlusPlus Xoshiro512StarStar Xoroshiro64Star);
        }
    };
}
#[allow(unused_imports)]
use xoshiro;

/// A test that the generators go on with the next number after a few draws.
#[cfg(test)]
#[allow(unused_macros)]
macro_rules! goes_on {
    ($($rng:ident)*) => {
        #[test]
        fn generators_go_on_with_the_next_number() {
            $(
                let mut rng = $rng::seed_from_u64(6);
                for _ in 0..7 {
                    rng.next_u32();
                    let mut again = crate::value::tests::round_trip(&rng);
                    assert_eq!(again.next_u64(), rng.next_u64(), stringify!($rng));
                }
            )*
        }
    };
}
#[cfg(test)]
#[allow(unused_imports)]
use goes_on;
