//! Values that are made of others which a restart makes again and fills, `Vec<Field>`, `(Buffer<f32>, Buffer<f32>)`: the whole is
//! made again as it was, and each part is filled.
//!
//! How a part is brought back is the parameter of [`Parts`], which rustc finds: what is [`Whole`] the checkpoint holds, of
//! anything else there is a [`Part`] that is made again. So no type is both.

use std::borrow::Cow;
use std::marker::PhantomData;

use super::{Checkpoint, Decoder, Encoder, Homes, LoadError, LoadProblem, Refill};

/// The checkpoint holds all of it.
#[derive(Debug)]
pub struct Whole;

/// It is made again, or has something in it that is.
#[derive(Debug)]
pub struct Part<P>(PhantomData<P>);

/// There are several of it.
#[derive(Debug)]
pub struct List<P>(PhantomData<P>);

/// A value that is made again with all of its parts, which are filled then: `#[ckpt(parts)]` on its `let`.
#[diagnostic::on_unimplemented(
    message = "E1213: `{Self}` cannot be saved in a checkpoint",
    label = "`{Self}` does not implement `ckpt::Checkpoint`",
    note = "if the type is yours, derive it: `#[derive(ckpt::Checkpoint)]`"
)]
pub trait Parts<How> {
    /// Appends what is saved of it to the columns of `to`.
    fn save_parts(&self, to: &mut Encoder<'_>);

    /// Puts what was saved in place of what the value has there.
    ///
    /// # Errors
    /// When the columns do not hold it, or it has other parts than were saved.
    fn fill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError>;

    /// Puts what was saved of another one in its place: the option that the program had there is empty now ([`Homes`]).
    ///
    /// # Errors
    /// As [`Parts::fill`]; there is no such option.
    fn fill_from_other(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        self.fill(from)
    }
}

/// A [`Refill`] type that is no [`Checkpoint`] type: what a derive has made of a struct, an array on a device.
pub trait MadeAgain: Refill {}

/// What a restart makes again as it was, and that nothing changes.
pub trait Handle {}

impl<T: Checkpoint> Parts<Whole> for T {
    fn save_parts(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }

    fn fill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        *self = T::load(from)?;
        Ok(())
    }
}

impl<T: MadeAgain> Parts<Part<Whole>> for T {
    fn save_parts(&self, to: &mut Encoder<'_>) {
        self.save_part(to);
    }

    fn fill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        self.refill(from)
    }
}

impl<T: Handle> Parts<Part<()>> for T {
    fn save_parts(&self, to: &mut Encoder<'_>) {
        to.unit();
    }

    fn fill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        from.unit()
    }
}

fn save<T: Parts<How>, How>(list: &[T], to: &mut Encoder<'_>) {
    let mut to = to.list(list.len());
    list.iter().for_each(|one| one.save_parts(&mut to));
}

fn fill<T: Parts<How>, How>(list: &mut [T], from: &mut Decoder<'_>) -> Result<(), LoadError> {
    let (count, mut from) = from.list()?;
    if count != list.len() {
        return Err(LoadError::invalid(format!(
            "there are {} of what is on devices, the checkpoint holds {count}",
            list.len()
        )));
    }
    list.iter_mut().try_for_each(|one| one.fill(&mut from))
}

macro_rules! lists {
    ($([$($bound:tt)*] $list:ty;)*) => {$(
        impl<T: Parts<Part<P>>, P, $($bound)*> Parts<Part<List<P>>> for $list {
            fn save_parts(&self, to: &mut Encoder<'_>) {
                save(self, to);
            }

            fn fill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                fill(self, from)
            }
        }
    )*};
}

lists! {
    [] Vec<T>;
    [] Box<[T]>;
    [const COUNT: usize] [T; COUNT];
}

impl<T: Parts<Part<P>>, P> Parts<Part<Option<P>>> for Option<T> {
    fn save_parts(&self, to: &mut Encoder<'_>) {
        let mut inner = to.option(self.is_some());
        if let Some(value) = self {
            value.save_parts(&mut inner);
        }
    }

    fn fill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        match (self, from.option()?) {
            (Some(value), Some(mut inner)) => value.fill(&mut inner),
            (None, None) => Ok(()),
            (value, _) => Err(LoadProblem::Moved {
                is_there: value.is_some(),
            }
            .into()),
        }
    }

    fn fill_from_other(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        match self {
            Some(value) => value.fill(&mut from.present()?),
            None => Err(LoadProblem::Moved { is_there: false }.into()),
        }
    }
}

macro_rules! tuples {
    ($([$($parameter:ident),*] $($index:tt $name:ident $how:ty),*;)*) => {$(
        impl<$($name: Parts<$how>,)* $($parameter),*> Parts<Part<($($how,)*)>> for ($($name,)*) {
            fn save_parts(&self, to: &mut Encoder<'_>) {
                const NAMES: &[Cow<'static, str>] = &[$(Cow::Borrowed(stringify!($index))),*];
                $(self.$index.save_parts(&mut to.field(NAMES, $index));)*
            }

            fn fill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                let mut homes = Homes::new();
                $(homes.filled(
                    stringify!($index),
                    from.field_with(&[stringify!($index)], |from| self.$index.fill(from), None),
                )?;)*
                $(if let Some(other) = homes.content_of(stringify!($index))? {
                    from.field_with(&[other], |from| self.$index.fill_from_other(from), None)?;
                })*
                Ok(())
            }
        }
    )*};
}

tuples! {
    [P] 0 A Part<P>;
    [P, Q] 0 A Part<P>, 1 B Part<Q>;
    [P] 0 A Part<P>, 1 B Whole;
    [Q] 0 A Whole, 1 B Part<Q>;
    [P, Q, R] 0 A Part<P>, 1 B Part<Q>, 2 C Part<R>;
    [P, Q] 0 A Part<P>, 1 B Part<Q>, 2 C Whole;
    [P, R] 0 A Part<P>, 1 B Whole, 2 C Part<R>;
    [Q, R] 0 A Whole, 1 B Part<Q>, 2 C Part<R>;
    [P] 0 A Part<P>, 1 B Whole, 2 C Whole;
    [Q] 0 A Whole, 1 B Part<Q>, 2 C Whole;
    [R] 0 A Whole, 1 B Whole, 2 C Part<R>;
    [P, Q, R, S] 0 A Part<P>, 1 B Part<Q>, 2 C Part<R>, 3 D Part<S>;
    [P, Q, R, S, T] 0 A Part<P>, 1 B Part<Q>, 2 C Part<R>, 3 D Part<S>, 4 E Part<T>;
    [P, Q, R, S, T, U] 0 A Part<P>, 1 B Part<Q>, 2 C Part<R>, 3 D Part<S>, 4 E Part<T>, 5 F Part<U>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::{decoded, encoded};

    /// A struct that is made again with a number, and filled with another.
    #[derive(Debug, PartialEq)]
    struct Made(u32, u32);

    impl Refill for Made {
        fn save_part(&self, to: &mut Encoder<'_>) {
            self.1.save(to);
        }

        fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
            self.1 = u32::load(from)?;
            Ok(())
        }
    }

    impl MadeAgain for Made {}

    fn filled<T: Parts<How>, How>(value: &T, mut again: T) -> Result<T, LoadError> {
        let columns = encoded(|to| value.save_parts(to)).expect("it can be saved");
        decoded(&columns, |from| again.fill(from))?;
        Ok(again)
    }

    #[test]
    fn each_part_is_filled_and_what_is_made_again_stays() {
        let two = |a, b| (Made(1, a), vec![Some(Made(2, b)), None], 7_u8);
        let again = (Made(3, 0), vec![Some(Made(4, 0)), None], 0);
        assert_eq!(
            filled(&two(5, 6), again).expect("filled"),
            (Made(3, 5), vec![Some(Made(4, 6)), None], 7)
        );
        assert_eq!(filled(&[1_u32, 2], [3, 4]).expect("filled"), [1, 2]);
    }

    #[test]
    fn another_number_of_parts_is_refused() {
        assert!(filled(&vec![Made(1, 1)], Vec::new()).is_err());
        assert!(filled(&Some(Made(1, 1)), None).is_err());
        assert!(filled(&None, Some(Made(1, 1))).is_err());
    }

    #[test]
    fn an_option_has_what_was_in_the_one_beside_it() {
        let first = |at| (Some(Made(1, at)), None::<Made>, 5_u8);
        let second = |at| (None::<Made>, Some(Made(2, at)), 5_u8);
        assert_eq!(filled(&first(7), second(0)).expect("filled"), second(7));
        assert_eq!(filled(&second(8), first(0)).expect("filled"), first(8));
        let both = (Some(Made(1, 3)), Some(Made(1, 4)), 5_u8);
        assert!(filled(&both, first(0)).is_err() && filled(&first(7), (None, None, 5)).is_err());
        assert!(filled(&(None, None, 5), first(7)).is_err());
    }
}
