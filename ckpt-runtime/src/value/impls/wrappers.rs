//! Types around one value: boxes, options, cells, locks.

use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::hash::{BuildHasherDefault, RandomState};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::{Condvar, Mutex, OnceLock, RwLock, TryLockError};

use crate::value::items::{collections, items};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach, owned};

/// Types that are stored as the one value in them.
macro_rules! transparent {
    ($([$($generics:tt)*] $type:ty => $inner:ty, |$value:ident| $get:expr, |$loaded:ident| $make:expr;)*) => {$(
        impl<$($generics)*> $crate::Checkpoint for $type {
            fn save(&self, to: &mut $crate::value::Encoder<'_>) {
                let $value = self;
                <$inner as $crate::Checkpoint>::save($get, to);
            }
            fn load(from: &mut $crate::value::Decoder<'_>) -> Result<Self, $crate::value::LoadError> {
                let $loaded = <$inner as $crate::Checkpoint>::load(from)?;
                Ok($make)
            }
            fn reach(to: &mut $crate::value::Reach) {
                to.into_part::<$inner>();
            }
        }
    )*};
}
pub(crate) use transparent;

transparent! {
    [T: Checkpoint] Reverse<T> => T, |value| &value.0, |inner| Reverse(inner);
    [T: Checkpoint + Copy] Cell<T> => T, |value| &value.get(), |inner| Cell::new(inner);
    // Nobody waits at a site.
    [] Condvar => (), |_condvar| &(), |_unit| Condvar::new();
    // What it hashes to is never kept: a map puts its entries in anew.
    [] RandomState => (), |_state| &(), |_unit| RandomState::new();
    [H] BuildHasherDefault<H> => (), |_state| &(), |_unit| BuildHasherDefault::default();
    [T: ?Sized] PhantomData<T> => (), |_value| &(), |_inner| PhantomData;
}

impl<T: Checkpoint> Checkpoint for Box<T> {
    const BITS: bool = true;
    const FIXED: bool = T::FIXED;
    fn save(&self, to: &mut Encoder<'_>) {
        owned::save(self, to, |inner, to| {
            to.owned(inner, &**inner, |to| (**inner).save(to))
        });
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        owned::load(from, |from| T::load(from).map(Box::new))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl<T: Checkpoint> Checkpoint for Pin<Box<T>> {
    fn save(&self, to: &mut Encoder<'_>) {
        owned::save(self, to, |inner, to| (**inner).save(to));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        owned::load(from, |from| T::load(from).map(Box::pin))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

collections! {
    [T] Option<T>;
}

items! {
    [T] std::option::IntoIter<T>;
}

fn save_option<T: Checkpoint>(value: Option<&T>, to: &mut Encoder<'_>) {
    let mut inner = to.option(value.is_some());
    if let Some(value) = value {
        value.save(&mut inner);
    }
}

impl<T: Checkpoint> Checkpoint for Option<T> {
    const BITS: bool = T::BITS;
    const FIXED: bool = T::FIXED;
    fn save(&self, to: &mut Encoder<'_>) {
        save_option(self.as_ref(), to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        match from.option()? {
            Some(mut inner) => T::load(&mut inner).map(Some),
            None => Ok(None),
        }
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
    fn save_each<'a, I>(items: I, to: &mut Encoder<'_>)
    where
        Self: 'a,
        I: Iterator<Item = &'a Self> + Clone,
    {
        let mut inner = to.options(items.clone().map(Option::is_some));
        let mut some = items.filter_map(Option::as_ref).peekable();
        if some.peek().is_some() {
            T::save_each(some, &mut inner);
        }
    }
    fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
        if from.has_none(count) {
            return Ok(Vec::new());
        }
        let (present, mut inner) = from.options(count)?;
        let some = present.iter().filter(|&&present| present).count();
        let mut some = if some > 0 {
            T::load_vec(&mut inner, some)?
        } else {
            Vec::new()
        }
        .into_iter();
        Ok(present
            .into_iter()
            .map(|present| if present { some.next() } else { None })
            .collect())
    }
}

impl<T: Checkpoint> Checkpoint for OnceCell<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        save_option(self.get(), to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Option::<T>::load(from).map(|value| value.map_or_else(OnceCell::new, OnceCell::from))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl<T: Checkpoint> Checkpoint for OnceLock<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        save_option(self.get(), to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Option::<T>::load(from).map(|value| value.map_or_else(OnceLock::new, OnceLock::from))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl<T: Checkpoint> Checkpoint for RefCell<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        match self.try_borrow() {
            Ok(value) => value.save(to),
            Err(_) => to.fail(
                "a `RefCell` in it is mutably borrowed at the site; let the `RefMut` go (drop it or end its block) before the site",
            ),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        T::load(from).map(RefCell::new)
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

/// `Mutex` and `RwLock`.
macro_rules! locks {
    ($($lock:ident, $try:ident;)*) => {$(
        impl<T: Checkpoint> Checkpoint for $lock<T> {
            fn save(&self, to: &mut Encoder<'_>) {
                match self.$try() {
                    Ok(value) => value.save(to),
                    Err(TryLockError::WouldBlock) => to.fail(concat!(
                        "a `", stringify!($lock), "` in it is locked at the site; let the guard go before the site"
                    )),
                    Err(TryLockError::Poisoned(_)) => to.fail(concat!(
                        "a `", stringify!($lock), "` in it is poisoned: a thread panicked while it held the lock"
                    )),
                }
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                T::load(from).map($lock::new)
            }
            fn reach(to: &mut Reach) {
                to.into_part::<T>();
            }
        }
    )*};
}

locks! { Mutex, try_lock; RwLock, try_read; }
