//! `fastrand` 2 (feature `fastrand`): its state is the seed that it would go on from.

use crate::value::impls::transparent;

transparent! {
    [] fastrand::Rng => u64, |rng| &rng.get_seed(), |seed| fastrand::Rng::with_seed(seed);
}

#[cfg(test)]
mod tests {
    use crate::value::tests::round_trip;

    #[test]
    fn it_goes_on_with_the_next_number() {
        let mut rng = fastrand::Rng::with_seed(3);
        rng.u32(..);
        let mut again = round_trip(&rng);
        assert_eq!([again.u64(..), again.u64(..)], [rng.u64(..), rng.u64(..)]);
    }
}
