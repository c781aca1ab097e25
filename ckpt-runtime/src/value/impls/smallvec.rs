//! `SmallVec` of `smallvec` 1 (feature `smallvec`): stored as a `Vec`.

use ::smallvec::{Array, SmallVec};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach, owned};

impl<A: Array> Checkpoint for SmallVec<A>
where
    A::Item: Checkpoint,
{
    fn save(&self, to: &mut Encoder<'_>) {
        owned::save(self, to, |list, to| list.as_slice().save(to));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        owned::load(from, |from| Vec::load(from).map(SmallVec::from_vec))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<A::Item>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::everywhere;

    #[test]
    fn it_is_a_list() {
        everywhere(&[
            SmallVec::<[f64; 2]>::from_vec(vec![1.0]),
            SmallVec::from_vec(vec![1.0, 2.0, 3.0]),
            SmallVec::new(),
        ]);
    }
}
