//! Random number generators of `rand`, `rand_chacha`, `rand_pcg` and `rand_xoshiro` (features `rand`, `rand-0.8`,
//! `rand-0.10`): the same code for every version of `rand`, each of which is a family of crates of its own.

macro_rules! version {
    (
        $feature:literal, $module:ident, $source:ident::$numbers:ident, $chacha:ident, $pcg:ident, $xoshiro:ident,
        $standard:ident $(, $($more:item)+)?
    ) => {
        #[cfg(feature = $feature)]
        mod $module {
            use ::$chacha as chacha;
            use ::$pcg as pcg;
            use ::$source as source;
            use ::$standard::ChaCha12Rng as Standard;
            use ::$xoshiro as xoshiro;
            use source::$numbers as Numbers;
            include!("generators.rs");
            $($($more)+)?
        }
    };
}

version!(
    "rand-0.8",
    v0_8,
    rand_0_8::RngCore,
    rand_chacha_0_3,
    rand_pcg_0_3,
    rand_xoshiro_0_6,
    rand_chacha_0_3
);
version!(
    "rand", v0_9, rand::RngCore, rand_chacha, rand_pcg, rand_xoshiro, rand_chacha,
    by_serde!(pcg::Lcg128CmDxsm64);
);
// Its `StdRng` is made of the cipher's own crate, whose generators are not those of `rand_chacha`.
version!(
    "rand-0.10", v0_10, rand_0_10::Rng, rand_chacha_0_10, rand_pcg_0_10, rand_xoshiro_0_8, chacha20,
    by_serde!(pcg::Lcg128CmDxsm64);
    chacha!(chacha20::ChaCha8Rng chacha20::ChaCha12Rng chacha20::ChaCha20Rng);
);
