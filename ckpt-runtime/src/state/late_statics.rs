//! Statics and thread-locals that are computed when they are first used, where the program's copy says when that is: what nobody
//! has used is saved as that, and nobody has used it after a restart either. What somebody has used gets its value from the
//! checkpoint in the place of what its initialiser makes: that does not run again, and what it does beside (it may create a file)
//! is not done again.
//!
//! Only the initialiser can say that a `LazyLock` or a thread-local has been computed; asking these would compute them. So the copy
//! has a [`Late`] beside each of them, through which its initialiser runs.

use std::any::Any;
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{self, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock};
use std::thread::LocalKey;

use super::statics::{Global, Place};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// Whether one static that is computed late has been.
#[derive(Debug)]
pub struct Late(atomic::AtomicBool);

/// A value of a checkpoint on its way to the static that is about to be computed.
struct Coming {
    /// Where the [`Late`] of that static is.
    to: *const Late,
    value: Box<dyn Any>,
}

thread_local! {
    static COMING: RefCell<Option<Coming>> = const { RefCell::new(None) };
}

impl Late {
    /// Of a static that has not been computed.
    #[expect(
        clippy::new_without_default,
        reason = "it is made in statics, whose values are constants"
    )]
    #[must_use]
    pub const fn new() -> Late {
        Late(atomic::AtomicBool::new(false))
    }

    /// The static is computed from now on: its value, if a checkpoint has one for it.
    pub fn coming<T: 'static>(&self) -> Option<T> {
        self.0.store(true, Ordering::SeqCst);
        let coming = COMING.with_borrow_mut(|coming| coming.take_if(|coming| ptr::eq(coming.to, self)));
        let value = coming.and_then(|coming| coming.value.downcast().ok());
        value.map(|value| *value)
    }

    fn is_used(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A static that is computed late.
pub trait Lazily: Place + Copy {
    /// What it becomes.
    type Content;
    /// Computes it.
    fn compute(self);
}

impl<T: Global, F: FnOnce() -> T> Lazily for &'static LazyLock<T, F> {
    type Content = T;
    fn compute(self) {
        LazyLock::force(self);
    }
}

impl<T: Global> Lazily for &'static LocalKey<T> {
    type Content = T;
    fn compute(self) {
        self.with(|_| ());
    }
}

impl<T: Global> Lazily for fn() -> &'static T {
    type Content = T;
    fn compute(self) {
        self();
    }
}

/// A function that reaches a static which a library computes late.
pub fn reached<T: ?Sized>(reach: fn() -> &'static T) -> fn() -> &'static T {
    reach
}

/// A [`Global`] that can be made as a whole of what [`Global::save`] has saved.
pub trait Whole: Global + Sized {
    /// Makes it.
    ///
    /// # Errors
    /// The columns do not hold it.
    fn load_whole(from: &mut Decoder<'_>) -> Result<Self, LoadError>;
}

macro_rules! whole {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Whole for $type {
            fn load_whole(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                Checkpoint::load(from)
            }
        }
    )*};
}

whole! {
    [T: Checkpoint] Mutex<T>;
    [T: Checkpoint] RwLock<T>;
    [T: Checkpoint] RefCell<T>;
    [T: Checkpoint] OnceCell<T>;
    [T: Checkpoint] OnceLock<T>;
    [T: Checkpoint + Copy] Cell<T>;
    [] atomic::AtomicBool;
    [] atomic::AtomicU8; [] atomic::AtomicU16; [] atomic::AtomicU32; [] atomic::AtomicUsize;
    [] atomic::AtomicI8; [] atomic::AtomicI16; [] atomic::AtomicI32; [] atomic::AtomicIsize;
}

#[cfg(target_has_atomic = "64")]
whole! { [] atomic::AtomicU64; [] atomic::AtomicI64; }

impl<T: Whole> Whole for Box<T> {
    fn load_whole(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        T::load_whole(from).map(Box::new)
    }
}

macro_rules! shared {
    ($($pointer:ident)*) => {$(
        impl<T: Whole + 'static> Whole for $pointer<T> {
            fn load_whole(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                let number = from.next_of_static();
                let pointer = $pointer::new(T::load_whole(from)?);
                from.lasts(number, &pointer)?;
                Ok(pointer)
            }
        }
    )*};
}

shared! { Rc Arc }

/// What asks a [`Late`].
type Ask<'a> = &'a mut dyn FnMut(&Late);

/// A static that is computed late, and who says whether it has been. How it gets the value of the checkpoint follows from what its
/// type can do: a call by `(&lately).place()` finds that of [`MadeOfCheckpoint`] where there is one, otherwise that of
/// [`MadeInPlace`].
#[derive(Clone, Copy)]
pub struct Lately<P> {
    place: P,
    late: fn(Ask<'_>),
}

impl<P> Lately<P> {
    /// `late` passes the [`Late`] of the static on.
    pub fn new(place: P, late: fn(Ask<'_>)) -> Lately<P> {
        Lately { place, late }
    }
}

/// Has a static computed from the checkpoint.
type Make<P> = fn(P, &Late, &mut Decoder<'_>) -> Result<(), LoadError>;

/// A place for [`global`](crate::global).
pub struct LatePlace<P> {
    lately: Lately<P>,
    make: Option<Make<P>>,
}

/// Its value is made of the checkpoint.
pub trait MadeOfCheckpoint {
    /// The place.
    type Place;
    /// Gives it.
    fn place(&self) -> Self::Place;
}

impl<P: Lazily> MadeOfCheckpoint for Lately<P>
where
    P::Content: Whole + 'static,
{
    type Place = LatePlace<P>;
    fn place(&self) -> LatePlace<P> {
        LatePlace {
            lately: *self,
            make: Some(make_of_checkpoint::<P>),
        }
    }
}

/// Its initialiser runs, and what it has made is put into the state of the checkpoint.
pub trait MadeInPlace {
    /// The place.
    type Place;
    /// Gives it.
    fn place(&self) -> Self::Place;
}

impl<P: Copy> MadeInPlace for &Lately<P> {
    type Place = LatePlace<P>;
    fn place(&self) -> LatePlace<P> {
        LatePlace {
            lately: **self,
            make: None,
        }
    }
}

fn make_of_checkpoint<P: Lazily>(place: P, late: &Late, from: &mut Decoder<'_>) -> Result<(), LoadError>
where
    P::Content: Whole + 'static,
{
    let value: Box<dyn Any> = Box::new(P::Content::load_whole(from)?);
    let coming = Coming { to: late, value };
    COMING.set(Some(coming));
    place.compute();
    // Another thread has computed it meanwhile.
    match COMING.take() {
        Some(left) => {
            std::mem::forget(left);
            Err(LoadError::invalid("another thread has used it meanwhile"))
        }
        None => Ok(()),
    }
}

impl<P: Place + Copy> LatePlace<P> {
    fn is_used(&self) -> bool {
        let mut is_used = false;
        (self.lately.late)(&mut |late| is_used = late.is_used());
        is_used
    }
}

impl<P: Place + Copy> Place for LatePlace<P> {
    fn save(&self, to: &mut Encoder<'_>) {
        let is_used = self.is_used();
        let mut value = to.option(is_used);
        if is_used {
            self.lately.place.save(&mut value);
        }
    }

    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        match (from.option()?, self.is_used(), self.make) {
            (Some(mut value), false, Some(make)) => {
                let mut made = Ok(());
                (self.lately.late)(&mut |late| made = make(self.lately.place, late, &mut value));
                made
            }
            (Some(mut value), ..) => self.lately.place.restore(&mut value),
            (None, false, _) => Ok(()),
            (None, true, _) => Err(LoadError::invalid(
                "it has been used already, and had not been when the checkpoint was taken",
            )),
        }
    }
}

impl<P> fmt::Debug for LatePlace<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LatePlace").finish_non_exhaustive()
    }
}

impl<P> fmt::Debug for Lately<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lately").finish_non_exhaustive()
    }
}
