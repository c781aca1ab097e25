//! How a Rust value becomes columns and back: the [`Checkpoint`] trait, the [`Encoder`] and [`Decoder`] it works
//! with, the column tree between them, and the implementations for the standard library and, by feature, for
//! other crates. Nothing here knows files: `format` writes the columns and brings them back.
//!
//! The encoding is columnar: a value is a batch of one, and `Vec<Particle { pos: [f64; 3], id: u64 }>` becomes the
//! columns `pos` (n x 3) and `id` (n), never one object per element. `docs/src/format.md` has the whole of it.

mod body;
mod bytes;
mod column;
mod cursor;
mod decode;
mod dynamic;
mod encode;
mod error;
mod homes;
pub mod items;
mod keys;
mod late_objects;
mod letting_go;
mod number;
mod objects;
mod owned;
#[cfg(test)]
mod owned_tests;
mod parts;
pub mod places;
mod reach;
mod ready;
mod refill;
mod room;
mod rows;
mod serde;
mod stand_in;

mod impls;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use body::{
    Body, Capture, LARGEST_BLOCK, Owner, PARTS, Reference, Region, Seen, Sink, Taken, Written, block_size,
    is_zero,
};
pub use bytes::Bytes;
pub(crate) use bytes::{buffer_for, give_back, release_unused};
pub use column::{Column, DType, Data, Group, Kind, Names};
pub use cursor::{Block, Source};
pub(crate) use cursor::{Content, Context, Cursor, DataCursor, Put, read_and_put};
pub use decode::Decoder;
#[doc(hidden)]
pub use decode::{next_of, payload_of};
pub use dynamic::{
    DynTable, DynType, MakeObject, Object, SendIn, SyncIn, load_boxed, load_object, reach_objects,
    save_boxed, save_object,
};
pub use encode::Encoder;
pub(crate) use encode::MAX_DEPTH;
pub(crate) use error::{DEVICES, FILES};
pub use error::{LoadError, LoadProblem, SaveError};
#[doc(hidden)]
pub use homes::Homes;
pub use impls::functions::Function;
pub(crate) use impls::functions::name as name_function;
pub use impls::shared::Pointee;
#[doc(hidden)]
pub use impls::streams::Unread;
#[doc(hidden)]
pub use late_objects::{ObjectMaker, dead_object, dead_object_sync, list_maker, list_object};
pub(crate) use letting_go::let_go;
pub use number::Number;
pub(crate) use objects::{Finished, ObjectTable, Objects, SharedStatic, Tables};
pub use parts::{Handle, MadeAgain, Parts};
pub use reach::{Destructor, NoDestructor, Reach};
#[doc(hidden)]
pub(crate) use ready::{Ready, Wanted};
pub use refill::Refill;
#[doc(hidden)]
pub use room::Room;
pub use serde::*;
pub(crate) use stand_in::{can_stand_in, stand_in};

/// What the state of a generator of random numbers is made of, where it is one of the ChaCha family.
#[doc(hidden)]
pub const GENERATOR: [&str; 3] = ["seed", "stream", "position"];

/// A value that can be saved in a checkpoint and restored from it.
///
/// Derive it (`#[derive(ckpt::Checkpoint)]`) for your own types. To implement it by hand, delegate to a type that
/// has it; a tuple is the usual choice:
///
/// ```
/// use ckpt::{Checkpoint, value::{Decoder, Encoder, LoadError}};
///
/// struct Celsius { degrees: f64, cache: Vec<u8> }
///
/// impl Checkpoint for Celsius {
///     fn save(&self, to: &mut Encoder<'_>) {
///         self.degrees.save(to);
///     }
///     fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
///         Ok(Celsius { degrees: f64::load(from)?, cache: Vec::new() })
///     }
/// }
/// ```
///
/// `load` must read exactly what `save` wrote, and `save` must write the same columns for every value of the type.
#[diagnostic::on_unimplemented(
    message = "E1213: `{Self}` cannot be saved in a checkpoint",
    label = "`{Self}` does not implement `ckpt::Checkpoint`",
    note = "if the type is yours, derive it: `#[derive(ckpt::Checkpoint)]`",
    note = "of another crate: ckpt's feature of its name, or `#[ckpt(serde)]` on the variable or field",
    note = "a handle, a thread, a closure: `#[ckpt(reexecute)]` on its `let` makes it again; more: `cargo ckpt explain E1213`"
)]
pub trait Checkpoint {
    /// Whether a copy of a value's bits can stand for it while it is looked at: nothing in them, apart from what they
    /// point to, changes through a shared reference, and nothing depends on where they are.
    #[doc(hidden)]
    const BITS: bool = false;

    /// Whether nothing in a value, nor in what it owns, changes through a shared reference.
    #[doc(hidden)]
    const FIXED: bool = false;

    /// Whether many values that lie side by side are saved in one copy.
    #[doc(hidden)]
    const PLAIN: bool = false;

    /// Of a box around a trait object: the types that may stand behind it.
    #[doc(hidden)]
    const OBJECTS: Option<&'static DynTable> = None;

    /// Appends this value to the columns of `to`.
    fn save(&self, to: &mut Encoder<'_>);

    /// Takes the next value from the columns of `from`.
    ///
    /// # Errors
    /// When the columns do not hold a `Self`. The file is not trusted: no panic and no allocation that its real
    /// size does not justify.
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError>
    where
        Self: Sized;

    /// Appends many values, one after the other. Numbers do it in one copy.
    fn save_slice(items: &[Self], to: &mut Encoder<'_>)
    where
        Self: Sized,
    {
        Self::save_each(items.iter(), to);
    }

    /// Appends many values that do not lie side by side, such as one field of many structs.
    fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
    where
        Self: Sized + 'a,
        I: Iterator<Item = &'a Self> + Clone,
    {
        for item in items {
            item.save(to);
        }
    }

    /// Takes the next `count` values. Numbers do it in one read.
    ///
    /// # Errors
    /// As [`Checkpoint::load`].
    fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError>
    where
        Self: Sized,
    {
        let mut items = Vec::with_capacity(decode::first_capacity::<Self>(count));
        for _ in 0..count {
            items.push(Self::load(from)?);
        }
        Ok(items)
    }

    /// Names the types that a value of this one is made of, to find those that contain themselves and those with destructors. A
    /// type that names none is saved all the same; if it contains itself, every level of it has columns of its own.
    #[doc(hidden)]
    fn reach(to: &mut Reach)
    where
        Self: Sized,
    {
        let _ = to;
    }

    /// Names this type as a part of another.
    #[doc(hidden)]
    fn reach_part(to: &mut Reach)
    where
        Self: Sized,
    {
        to.into_part::<Self>();
    }
}
