//! The generators of one version of `rand`.

use super::rand::SeedableRng;
use super::rand::rngs::{SmallRng, StdRng, ThreadRng};
use super::{ChaCha12Rng, Generator};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// `StdRng` hides its state. It is a `ChaCha12Rng` and nothing else; whether that holds for the version
/// linked here is tried out on a known generator before it is relied on.
mod standard {
    use super::{ChaCha12Rng, Generator, SeedableRng, StdRng};

    /// The generator inside.
    fn inside(rng: &StdRng) -> Option<ChaCha12Rng> {
        if size_of::<StdRng>() != size_of::<ChaCha12Rng>()
            || align_of::<StdRng>() != align_of::<ChaCha12Rng>()
        {
            return None;
        }
        // SAFETY: `StdRng` is a struct whose only field is a `ChaCha12Rng` (rand, `src/rngs/std.rs`); with the same
        // size the field fills it, so these bytes are a valid `ChaCha12Rng`, which owns nothing.
        Some(unsafe { std::mem::transmute_copy::<StdRng, ChaCha12Rng>(rng) })
    }

    fn around(rng: &ChaCha12Rng) -> StdRng {
        // SAFETY: as in `inside`, whose check of sizes `usable` has made before this is called.
        unsafe { std::mem::transmute_copy::<ChaCha12Rng, StdRng>(rng) }
    }

    /// Whether a known `StdRng` shows the state that it must have.
    fn usable() -> bool {
        static USABLE: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
        *USABLE.get_or_init(|| {
            let seed = std::array::from_fn(|k| k as u8 + 1);
            let mut standard = StdRng::from_seed(seed);
            let mut known = ChaCha12Rng::from_seed(seed);
            for _ in 0..70 {
                standard.next_u32();
                known.next_u32();
            }
            inside(&standard).is_some_and(|found| found == known) && around(&known) == standard
        })
    }

    pub fn open(rng: &StdRng) -> Option<ChaCha12Rng> {
        if usable() { inside(rng) } else { None }
    }

    pub fn close(rng: &ChaCha12Rng) -> Option<StdRng> {
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
        standard::close(&ChaCha12Rng::load(from)?).ok_or_else(|| LoadError::invalid(UNKNOWN))
    }
}

/// `SmallRng` shows its state in its `Debug` output only, and takes it as a seed. It is another generator where words
/// have 32 bits: the state is named by the generator that it belongs to.
impl Checkpoint for SmallRng {
    fn save(&self, to: &mut Encoder<'_>) {
        let shown = format!("{self:?}");
        let words = shown
            .split_once('[')
            .and_then(|(_, rest)| rest.split_once(']'))
            .map_or("", |(words, _)| words);
        let state: Option<Vec<small::Word>> = words.split(',').map(|word| word.trim().parse().ok()).collect();
        let state = state.and_then(|state| <[small::Word; 4]>::try_from(state).ok());
        match state {
            // The proof that nothing was misunderstood.
            Some(state) if small::generator(&state) == *self => state.save(&mut to.field(small::NAMES, 0)),
            _ => to.fail("this version of rand hides the state of `SmallRng`; use a generator of `rand_pcg` or `rand_chacha`"),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let state = from.field_with(
            &[small::NAMES[0].as_ref()],
            <[small::Word; 4]>::load,
            Some(&|| [0; 4]),
        )?;
        // No generator is ever in this state.
        if state == [0; 4] && !from.is_stand_in() {
            return Err(LoadError::invalid(OTHER_WORDS));
        }
        Ok(small::generator(&state))
    }
}

const OTHER_WORDS: &str = "this is the state of a `SmallRng` on a machine whose words have another width, where it is another generator; use one that is the same everywhere, of `rand_pcg` or `rand_chacha`";

/// The generator that `SmallRng` is here.
mod small {
    use std::borrow::Cow;

    use super::{SeedableRng, SmallRng};

    #[cfg(target_pointer_width = "64")]
    pub type Word = u64;
    #[cfg(not(target_pointer_width = "64"))]
    pub type Word = u32;

    pub const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed(if Word::BITS == 64 {
        "xoshiro256"
    } else {
        "xoshiro128"
    })];

    pub fn generator(state: &[Word; 4]) -> SmallRng {
        // With words of 32 bits the rest of the seed has no meaning.
        let mut seed = <SmallRng as SeedableRng>::Seed::default();
        for (place, word) in seed.chunks_exact_mut(size_of::<Word>()).zip(state) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        SmallRng::from_seed(seed)
    }
}

/// It is a handle to the generator of the thread, which the system seeds: a restart takes that of its own process. No run
/// draws the same numbers as another one, so that every answer is one of many, with a restart or without.
impl Checkpoint for ThreadRng {
    fn save(&self, to: &mut Encoder<'_>) {
        ().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        <()>::load(from)?;
        Ok(ThreadRng::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::round_trip;

    /// After any number of draws, which do not all use whole blocks.
    fn goes_on<R: Generator + Checkpoint>(make: impl Fn() -> R) {
        for draws in 0..200 {
            let mut rng = make();
            for draw in 0..draws {
                rng.next_u32();
                if draw % 3 == 0 {
                    rng.fill_bytes(&mut [0; 5]);
                }
            }
            let mut again = round_trip(&rng);
            for _ in 0..100 {
                assert_eq!(again.next_u64(), rng.next_u64(), "after {draws}");
                assert_eq!(again.next_u32(), rng.next_u32(), "after {draws}");
            }
        }
    }

    /// Where words are half or twice as wide, `SmallRng` is another generator.
    #[test]
    fn the_state_of_another_generator_is_refused() {
        use crate::value::tests::as_saved_by;
        use std::borrow::Cow;
        let other = |to: &mut Encoder<'_>| {
            const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed(if usize::BITS == 64 {
                "xoshiro128"
            } else {
                "xoshiro256"
            })];
            if usize::BITS == 64 {
                [1_u32, 2, 3, 4].save(&mut to.field(NAMES, 0));
            } else {
                [1_u64, 2, 3, 4].save(&mut to.field(NAMES, 0));
            }
        };
        let refused = as_saved_by::<SmallRng>(other).unwrap_err().to_string();
        assert!(refused.contains("words have another width"), "{refused}");
    }

    /// Alone, and in a struct beside what is saved.
    #[test]
    fn a_handle_to_the_generator_of_the_thread_is_taken_anew() {
        let mut again = round_trip(&(7_u32, ThreadRng::default(), vec![ThreadRng::default()]));
        assert_eq!((again.0, again.2.len()), (7, 1));
        assert_ne!(again.1.next_u64(), again.2[0].next_u64());
    }

    #[test]
    fn generators_go_on_with_the_next_number() {
        goes_on(|| StdRng::seed_from_u64(1));
        goes_on(|| SmallRng::seed_from_u64(2));
        goes_on(|| ChaCha12Rng::seed_from_u64(4));
        goes_on(|| {
            let mut stream = ChaCha12Rng::seed_from_u64(5);
            stream.set_stream(9);
            stream
        });
    }
}
