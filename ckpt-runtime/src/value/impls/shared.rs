//! Shared pointers: what two of them pointed to together before, they point to together after.

use std::rc::Rc;
use std::sync::Arc;

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// What `Rc` and `Arc` may point to: a value, a slice, text, or a trait object under `#[ckpt::object(..)]`.
pub trait Pointee: 'static {
    /// Saves what the pointer points to.
    fn save_pointee(&self, to: &mut Encoder<'_>);
    /// Loads it.
    ///
    /// # Errors
    /// As [`Checkpoint::load`].
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<Self>, LoadError>;
}

impl<T: Checkpoint + 'static> Pointee for T {
    fn save_pointee(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<T>, LoadError> {
        T::load(from).map(Box::new)
    }
}

impl<T: Checkpoint + 'static> Pointee for [T] {
    fn save_pointee(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<[T]>, LoadError> {
        Vec::load(from).map(Vec::into_boxed_slice)
    }
}

impl Pointee for str {
    fn save_pointee(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<str>, LoadError> {
        String::load(from).map(String::into_boxed_str)
    }
}

macro_rules! shared {
    ($($pointer:ident)*) => {$(
        impl<T: Pointee + ?Sized> Checkpoint for $pointer<T> {
            fn save(&self, to: &mut Encoder<'_>) {
                let address = $pointer::as_ptr(self).cast::<()>() as usize;
                let type_name = std::any::type_name::<Self>();
                let (table, id) = to.objects().refer(self, address, type_name, |object, to| {
                    if let Some(pointer) = object.downcast_ref::<Self>() {
                        (**pointer).save_pointee(to);
                    }
                });
                to.object(table, id);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                from.object(|from| T::load_pointee(from).map($pointer::from))
            }
        }
    )*};
}

shared! { Rc Arc }
