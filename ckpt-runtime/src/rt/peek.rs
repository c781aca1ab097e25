//! A look at a variable that leaves it where the optimiser has put it.
//!
//! A reference to a variable that is handed to code the optimiser cannot see through binds the variable to a place in
//! memory, and every store through a pointer may be one to that place: the loops around a site would read the addresses
//! of their vectors and the values of their sums again in every turn. So small values are copied first, bit by bit, and
//! the copy is what is handed over. It is only looked at, while the variable is borrowed, and never dropped.

use std::mem::MaybeUninit;

use crate::frame::Registrar;
use crate::value::Refill;

/// A look at a `T`, by a copy if it has no more words than `WORDS`: a vector has three.
pub struct Peek<'a, T, const WORDS: usize> {
    copy: [MaybeUninit<usize>; WORDS],
    /// The variable itself, where it has not been copied.
    original: Option<&'a T>,
    save: fn(&mut Registrar, &'static str, &T),
}

/// Looks at a variable.
#[inline(always)]
pub fn peek<T: Refill, const WORDS: usize>(value: &T) -> Peek<'_, T, WORDS> {
    let mut copy = [MaybeUninit::<usize>::uninit(); WORDS];
    let is_copied =
        T::BITS && size_of::<T>() <= WORDS * size_of::<usize>() && align_of::<T>() <= align_of::<usize>();
    if is_copied {
        // As a `T` and not as words: the optimiser would hold a sum of floats in a register for words.
        // SAFETY: both are valid for a `T`, the one to be read, the other to be written, as it is large enough and
        // aligned. There are two `T` of the same bits then, of which this one is never dropped nor changed.
        unsafe { copy.as_mut_ptr().cast::<T>().write(std::ptr::read(value)) };
    }
    Peek {
        copy,
        original: if is_copied { None } else { Some(value) },
        save: |registrar, key, value| registrar.save(key, value),
    }
}

impl<T, const WORDS: usize> Peek<'_, T, WORDS> {
    /// What is looked at.
    pub fn value(&self) -> &T {
        match self.original {
            Some(value) => value,
            // SAFETY: without the original, `peek` has copied all bytes of a `T` there. While `self` lives the variable
            // is borrowed, so what its bytes own is as it was; `T::BITS` says that nothing in them changes when it is
            // looked at through a shared reference; and the copy is never dropped.
            None => unsafe { &*self.copy.as_ptr().cast::<T>() },
        }
    }
}

impl Registrar {
    /// This frame has variable `key`, which is looked at.
    pub fn save_seen<T, const WORDS: usize>(&mut self, key: &'static str, seen: &Peek<'_, T, WORDS>) {
        (seen.save)(self, key, seen.value());
    }
}
