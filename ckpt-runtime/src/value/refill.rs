//! Values of which a checkpoint holds a part: a restart rebuilds them, and then fills that part in.

use super::{Checkpoint, Decoder, DynTable, Encoder, LoadError, can_stand_in};

/// A value that a restart makes again and then fills from the checkpoint: `#[ckpt(refill)]` on its `let`.
///
/// Every `Checkpoint` type is one. `#[derive(ckpt::Checkpoint)]` implements it instead of `Checkpoint` for a struct that
/// has fields with `#[ckpt(keep)]`: closures, functions, references. They are what the initialiser has made them.
#[diagnostic::on_unimplemented(
    message = "E1213: `{Self}` cannot be saved in a checkpoint",
    label = "`{Self}` does not implement `ckpt::Checkpoint`",
    note = "if the type is yours, derive it: `#[derive(ckpt::Checkpoint)]`"
)]
pub trait Refill {
    /// As [`Checkpoint::BITS`].
    #[doc(hidden)]
    const BITS: bool = false;
    /// As [`Checkpoint::FIXED`].
    #[doc(hidden)]
    const FIXED: bool = false;
    /// As [`Checkpoint::OBJECTS`].
    #[doc(hidden)]
    const OBJECTS: Option<&'static DynTable> = None;

    /// Appends the part that is saved to the columns of `to`.
    fn save_part(&self, to: &mut Encoder<'_>);

    /// Puts the part that was saved in place of what the value has there.
    ///
    /// # Errors
    /// When the columns do not hold it.
    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError>
    where
        Self: Sized;

    /// Whether the type has a value that stands in where one is passed only to be used up.
    #[doc(hidden)]
    fn stands_in() -> bool
    where
        Self: Sized,
    {
        false
    }
}

impl<T: Checkpoint + ?Sized> Refill for T {
    const BITS: bool = T::BITS;
    const FIXED: bool = T::FIXED;
    const OBJECTS: Option<&'static DynTable> = T::OBJECTS;

    fn save_part(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError>
    where
        Self: Sized,
    {
        *self = T::load(from)?;
        Ok(())
    }

    fn stands_in() -> bool
    where
        Self: Sized,
    {
        can_stand_in::<T>()
    }
}
