//! Shared pointers: what two of them pointed to together before, they point to together after. A `Weak` is stored as an
//! `Option` of such a pointer: what it leads to, if that is alive.

use std::any::Any;
use std::rc::{self, Rc};
use std::sync::{self, Arc};

use crate::value::reach::shared_drops_with_effects;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach, can_stand_in, stand_in};

/// What `Rc` and `Arc` may point to: a value, a slice, text, or a trait object under `#[ckpt::object(..)]`.
pub trait Pointee: 'static {
    /// Saves what the pointer points to.
    fn save_pointee(&self, to: &mut Encoder<'_>);
    /// Loads it.
    ///
    /// # Errors
    /// As [`Checkpoint::load`].
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<Self>, LoadError>;
    /// A `Weak` whose value is gone.
    #[doc(hidden)]
    fn dead() -> Option<rc::Weak<Self>>;
    /// The same for `Arc`.
    #[doc(hidden)]
    fn dead_sync() -> Option<sync::Weak<Self>>;
    /// What stands in for a value that is not loaded yet.
    #[doc(hidden)]
    fn early() -> Option<Box<Self>> {
        None
    }
    /// Whether there is that.
    #[doc(hidden)]
    fn may_be_early() -> bool {
        false
    }
    /// Puts the value in the place of what stands in for it.
    #[doc(hidden)]
    fn settle(&mut self, value: Box<Self>) {
        drop(value);
    }
    /// Names what it is made of.
    #[doc(hidden)]
    fn reach_pointee(to: &mut Reach) {
        let _ = to;
    }
}

impl<T: Checkpoint + 'static> Pointee for T {
    fn save_pointee(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<T>, LoadError> {
        T::load(from).map(Box::new)
    }
    fn dead() -> Option<rc::Weak<T>> {
        Some(rc::Weak::new())
    }
    fn dead_sync() -> Option<sync::Weak<T>> {
        Some(sync::Weak::new())
    }
    fn early() -> Option<Box<T>> {
        stand_in().map(Box::new)
    }
    fn may_be_early() -> bool {
        can_stand_in::<T>()
    }
    fn settle(&mut self, value: Box<T>) {
        // The destructor of what stood in may have effects.
        std::mem::forget(std::mem::replace(self, *value));
    }
    fn reach_pointee(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl<T: Checkpoint + 'static> Pointee for [T] {
    fn save_pointee(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<[T]>, LoadError> {
        Vec::load(from).map(Vec::into_boxed_slice)
    }
    fn dead() -> Option<rc::Weak<[T]>> {
        Some(rc::Weak::<[T; 0]>::new())
    }
    fn dead_sync() -> Option<sync::Weak<[T]>> {
        Some(sync::Weak::<[T; 0]>::new())
    }
    fn reach_pointee(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl Pointee for str {
    fn save_pointee(&self, to: &mut Encoder<'_>) {
        self.save(to);
    }
    fn load_pointee(from: &mut Decoder<'_>) -> Result<Box<str>, LoadError> {
        String::load(from).map(String::into_boxed_str)
    }
    fn dead() -> Option<rc::Weak<str>> {
        Some(Rc::downgrade(&Rc::from("")))
    }
    fn dead_sync() -> Option<sync::Weak<str>> {
        Some(Arc::downgrade(&Arc::from("")))
    }
    fn reach_pointee(to: &mut Reach) {
        to.only_gives_back();
    }
}

/// `Rc` and `Arc`.
pub(crate) trait Shared: Any + Clone {
    /// What it points to, in a box.
    type Value;
    /// Where that is.
    fn address(&self) -> usize;
    fn save_value(&self, to: &mut Encoder<'_>);
    fn load_value(from: &mut Decoder<'_>) -> Result<Self::Value, LoadError>;
    fn of(value: Self::Value) -> Self;
    /// A pointer to what only stands in for the value.
    fn early() -> Option<Self>;
    /// Whether there is one.
    fn may_be_early() -> bool;
    /// Ends a value that no pointer is made of, without an effect.
    fn let_go(value: Self::Value);
    /// Puts the value where this pointer, an early one, points to.
    fn settle(self, value: Self::Value) -> Result<Self, LoadError>;
}

macro_rules! shared {
    ($($pointer:ident $module:ident $dead:ident)*) => {$(
        impl<T: Pointee + ?Sized> Shared for $pointer<T> {
            type Value = Box<T>;
            fn address(&self) -> usize {
                $pointer::as_ptr(self).cast::<()>() as usize
            }
            fn save_value(&self, to: &mut Encoder<'_>) {
                (**self).save_pointee(to);
            }
            fn load_value(from: &mut Decoder<'_>) -> Result<Box<T>, LoadError> {
                T::load_pointee(from)
            }
            fn of(value: Box<T>) -> Self {
                $pointer::from(value)
            }
            fn early() -> Option<Self> {
                T::early().map($pointer::from)
            }
            fn may_be_early() -> bool {
                T::may_be_early()
            }
            fn let_go(value: Box<T>) {
                if shared_drops_with_effects::<T>() {
                    std::mem::forget(value);
                }
            }
            fn settle(self, value: Box<T>) -> Result<Self, LoadError> {
                if $pointer::strong_count(&self) != 1 {
                    return Err(LoadError::invalid(
                        "something keeps what a `Weak` leads to while it is being loaded",
                    ));
                }
                // SAFETY: the value is initialised and has no other owner, so nobody has a reference to it. Those who
                // could become owners have a `Weak` that `load` has given them, and `load` does not run here: nothing
                // does but the move of the one value into the place of the other.
                let place = unsafe { &mut *$pointer::as_ptr(&self).cast_mut() };
                place.settle(value);
                Ok(self)
            }
        }

        impl<T: Pointee + ?Sized> Checkpoint for $pointer<T> {
            fn save(&self, to: &mut Encoder<'_>) {
                let (table, id) = to.objects().refer(self);
                to.object(table, id);
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                from.object()
            }
            fn reach(to: &mut Reach) {
                to.go_into_shared::<T>();
            }
        }

        impl<T: Pointee + ?Sized> Checkpoint for $module::Weak<T> {
            fn save(&self, to: &mut Encoder<'_>) {
                let alive = self.upgrade();
                let mut inner = to.option(alive.is_some());
                if let Some(pointer) = alive {
                    let (table, id) = inner.objects().refer_weakly(&pointer);
                    inner.object(table, id);
                }
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                match from.option()? {
                    Some(mut inner) => inner
                        .object_of_weak::<$pointer<T>>()
                        .map(|pointer| $pointer::downgrade(&pointer)),
                    None => T::$dead().ok_or_else(|| LoadError::invalid("no type is known that implements the trait")),
                }
            }
            // It owns nothing but the memory.
            fn reach(to: &mut Reach) {
                to.only_gives_back();
            }
        }
    )*};
}

shared! {
    Rc rc dead
    Arc sync dead_sync
}
