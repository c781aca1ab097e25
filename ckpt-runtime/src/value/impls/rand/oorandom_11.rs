//! `oorandom` 11 (feature `oorandom`).

use crate::value::impls::transparent;
use ::oorandom::{Rand32, Rand64};

transparent! {
    [] Rand32 => (u64, u64), |rng| &rng.state(), |state| Rand32::from_state(state);
    [] Rand64 => (u128, u128), |rng| &rng.state(), |state| Rand64::from_state(state);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::round_trip;

    #[test]
    fn they_go_on_with_the_next_number() {
        let (mut small, mut large) = (Rand32::new(3), Rand64::new(4));
        let _ = (small.rand_u32(), large.rand_u64());
        let (mut again, mut large_again) = round_trip(&(small, large));
        assert_eq!(again.rand_u32(), small.rand_u32());
        assert_eq!(large_again.rand_u64(), large.rand_u64());
    }
}
