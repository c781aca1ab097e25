//! `ArrayVec` and `ArrayString` of `arrayvec` 0.7 (feature `arrayvec`): stored as a `Vec` and a `String`.

use ::arrayvec::{ArrayString, ArrayVec};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach};

impl<T: Checkpoint, const N: usize> Checkpoint for ArrayVec<T, N> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.as_slice().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let items: Vec<T> = Vec::load(from)?;
        if items.len() > N {
            return Err(LoadError::invalid(format_args!(
                "{} items do not fit into an `ArrayVec` of {N}",
                items.len()
            )));
        }
        Ok(items.into_iter().collect())
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl<const N: usize> Checkpoint for ArrayString<N> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.as_str().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        ArrayString::from(&String::load(from)?)
            .map_err(|_| LoadError::invalid(format_args!("it does not fit into an `ArrayString` of {N}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::everywhere;

    #[test]
    fn they_are_lists_and_texts() {
        everywhere(&[ArrayVec::<f64, 4>::from_iter([1.0, 2.0]), ArrayVec::new()]);
        everywhere(&[ArrayString::<9>::from("text").unwrap()]);
    }
}
