// Random number generators: after a restart they go on with the number that was next. `source`, `chacha`, `pcg` and
// `xoshiro` are the crates of one version, `Numbers` its trait of generators, and `Standard` what `StdRng` is made of.

use std::borrow::Cow;

use chacha::{ChaCha8Rng, ChaCha12Rng, ChaCha20Rng};
use source::SeedableRng;
use source::rngs::{SmallRng, StdRng};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, load_serde, save_serde};

const CHACHA: &[Cow<'static, str>] = &[
    Cow::Borrowed("seed"),
    Cow::Borrowed("stream"),
    Cow::Borrowed("position"),
];

macro_rules! chacha {
    ($($rng:ty)*) => {$(
        impl Checkpoint for $rng {
            fn save(&self, to: &mut Encoder<'_>) {
                self.get_seed().save(&mut to.field(CHACHA, 0));
                self.get_stream().save(&mut to.field(CHACHA, 1));
                self.get_word_pos().save(&mut to.field(CHACHA, 2));
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let mut rng = Self::from_seed(from.field(&["seed"])?);
                rng.set_stream(from.field(&["stream"])?);
                rng.set_word_pos(from.field(&["position"])?);
                Ok(rng)
            }
        }
    )*};
}

chacha!(ChaCha8Rng ChaCha12Rng ChaCha20Rng);

macro_rules! by_serde {
    ($($rng:ty)*) => {$(
        impl Checkpoint for $rng {
            fn save(&self, to: &mut Encoder<'_>) {
                save_serde(self, to);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                load_serde(from)
            }
        }
    )*};
}

by_serde!(pcg::Lcg64Xsh32 pcg::Lcg128Xsl64 pcg::Mcg128Xsl64);
by_serde!(xoshiro::SplitMix64 xoshiro::Xoroshiro64Star xoshiro::Xoroshiro64StarStar);
by_serde!(xoshiro::Xoroshiro128Plus xoshiro::Xoroshiro128PlusPlus xoshiro::Xoroshiro128StarStar);
by_serde!(xoshiro::Xoshiro128Plus xoshiro::Xoshiro128PlusPlus xoshiro::Xoshiro128StarStar);
by_serde!(xoshiro::Xoshiro256Plus xoshiro::Xoshiro256PlusPlus xoshiro::Xoshiro256StarStar);
by_serde!(xoshiro::Xoshiro512Plus xoshiro::Xoshiro512PlusPlus xoshiro::Xoshiro512StarStar);

/// `StdRng` hides its state. In every version so far it is a `ChaCha12Rng` and nothing else; whether that holds for
/// the version linked here is tried out on a known generator before it is relied on.
mod standard {
    use super::{Numbers, SeedableRng, Standard, StdRng};

    /// The generator inside.
    fn inside(rng: &StdRng) -> Option<Standard> {
        if size_of::<StdRng>() != size_of::<Standard>() || align_of::<StdRng>() != align_of::<Standard>() {
            return None;
        }
        // SAFETY: `StdRng` is a struct whose only field is a `Standard` (rand's `src/rngs/std.rs`); with the same
        // size the field fills it, so these bytes are a valid `Standard`, which owns nothing.
        Some(unsafe { std::mem::transmute_copy::<StdRng, Standard>(rng) })
    }

    fn around(rng: &Standard) -> StdRng {
        // SAFETY: as in `inside`, whose check of sizes `usable` has made before this is called.
        unsafe { std::mem::transmute_copy::<Standard, StdRng>(rng) }
    }

    /// Whether a known `StdRng` shows the state that it must have.
    fn usable() -> bool {
        static USABLE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *USABLE.get_or_init(|| {
            let seed = std::array::from_fn(|k| k as u8 + 1);
            let mut standard = StdRng::from_seed(seed);
            let mut known = Standard::from_seed(seed);
            for _ in 0..70 {
                standard.next_u32();
                known.next_u32();
            }
            inside(&standard).is_some_and(|found| found == known) && around(&known) == standard
        })
    }

    pub fn open(rng: &StdRng) -> Option<Standard> {
        if usable() { inside(rng) } else { None }
    }

    pub fn close(rng: &Standard) -> Option<StdRng> {
        usable().then(|| around(rng))
    }
}

const UNKNOWN: &str = "this version of rand hides the state of `StdRng`; use `rand_chacha::ChaCha12Rng`, which gives the same numbers";

impl Checkpoint for StdRng {
    fn save(&self, to: &mut Encoder<'_>) {
        match standard::open(self) {
            Some(rng) => rng.save(to),
            None => to.fail(UNKNOWN),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        standard::close(&Standard::load(from)?).ok_or_else(|| LoadError::invalid(UNKNOWN))
    }
}

/// `SmallRng` shows its state in its `Debug` output only, and takes it as a seed.
impl Checkpoint for SmallRng {
    fn save(&self, to: &mut Encoder<'_>) {
        let shown = format!("{self:?}");
        let words = shown
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'))
            .map_or("", |(words, _)| words);
        let state: Result<Vec<u64>, _> = words.split(',').map(|word| word.trim().parse()).collect();
        match state {
            // The proof that nothing was misunderstood.
            Ok(state) if small(&state).as_ref() == Some(self) => state.save(to),
            _ => to.fail("this version of rand hides the state of `SmallRng`; use a generator of `rand_pcg` or `rand_chacha`"),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        small(&Vec::load(from)?)
            .ok_or_else(|| LoadError::invalid("this is not the state of a `SmallRng` of this machine"))
    }
}

fn small(state: &[u64]) -> Option<SmallRng> {
    let bytes: Vec<u8> = if cfg!(target_pointer_width = "64") {
        state.iter().flat_map(|word| word.to_le_bytes()).collect()
    } else {
        // Four words of 32 bits; the rest of the seed has no meaning.
        state
            .iter()
            .flat_map(|&word| (word as u32).to_le_bytes())
            .chain([0; 16])
            .collect()
    };
    <[u8; 32]>::try_from(bytes).ok().map(SmallRng::from_seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::round_trip;

    /// Not by `Clone`, which not every generator has.
    fn goes_on<R: Numbers + Checkpoint>(make: impl Fn() -> R) {
        let after = |steps: usize| {
            let mut rng = make();
            for step in 0..steps {
                rng.next_u32();
                if step % 3 == 0 {
                    rng.fill_bytes(&mut [0; 5]);
                }
            }
            rng
        };
        for step in 0..200 {
            let (mut again, mut expected) = (round_trip(&after(step)), after(step));
            for _ in 0..100 {
                assert_eq!(again.next_u64(), expected.next_u64(), "after {step}");
                assert_eq!(again.next_u32(), expected.next_u32(), "after {step}");
            }
        }
    }

    #[test]
    fn generators_go_on_with_the_next_number() {
        goes_on(|| StdRng::seed_from_u64(1));
        goes_on(|| SmallRng::seed_from_u64(2));
        goes_on(|| ChaCha8Rng::seed_from_u64(3));
        goes_on(|| ChaCha12Rng::seed_from_u64(4));
        goes_on(|| {
            let mut stream = ChaCha20Rng::seed_from_u64(5);
            stream.set_stream(9);
            stream
        });
        goes_on(|| pcg::Pcg32::seed_from_u64(6));
        goes_on(|| pcg::Pcg64::seed_from_u64(7));
        goes_on(|| pcg::Pcg64Mcg::seed_from_u64(8));
        goes_on(|| xoshiro::Xoshiro256PlusPlus::seed_from_u64(10));
        goes_on(|| xoshiro::Xoroshiro64Star::seed_from_u64(11));
        goes_on(|| xoshiro::SplitMix64::seed_from_u64(12));
    }
}
