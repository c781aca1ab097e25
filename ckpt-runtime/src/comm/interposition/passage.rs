//! The one place that every function of the table goes through.

use std::ffi::c_int;

use super::channels::{Channels, channels};
use super::lifetime::has_world;
use crate::comm::alone::{self, Tells};
use crate::comm::check::checks;

/// What a function is to the channel counters, and to a rank that may go back without the others. A value of a class has those
/// arguments of a call that it needs.
pub(super) trait Class {
    /// What a call means to others.
    const TELLS: Tells = Tells::Others;

    /// Whether there is anything to count; where there is not, a call costs nothing.
    const COUNTS: bool = true;

    /// What is known before the library is called, and needed after it.
    type Before: Default;

    /// The library is called next.
    ///
    /// # Safety
    /// The arguments are those of a valid call.
    unsafe fn before(&self, _channels: &mut Channels) -> Self::Before {
        Self::Before::default()
    }

    /// The library has returned; `name` is that of the function.
    ///
    /// # Safety
    /// The arguments are those of a valid call, which has been made.
    unsafe fn after(&self, _before: Self::Before, _name: &'static str, _channels: &mut Channels) {}

    /// The program calls: what it is told instead of the library's word, where that is not called.
    ///
    /// # Safety
    /// The arguments are those of a valid call of `name`.
    unsafe fn instead(&self, name: &'static str) -> Option<c_int> {
        alone::calls(Self::TELLS, name);
        None
    }

    /// The library has returned this.
    fn has_returned(&self, _code: c_int) {}

    /// How many of the operations that are under way the arguments name, as the library is called.
    ///
    /// # Safety
    /// The arguments are those of a valid call.
    unsafe fn ends(&self) -> i64 {
        0
    }

    /// The same when the library has returned; what else has to be known of the call is taken note of.
    ///
    /// # Safety
    /// The arguments are those of a valid call of `name`, which has been made.
    unsafe fn leaves_under_way(&self, _name: &'static str) -> i64 {
        0
    }
}

/// A class of which nothing is counted.
pub(super) trait Uncounted {
    /// What a call means to others.
    const TELLS: Tells;
}

impl<C: Uncounted> Class for C {
    const TELLS: Tells = C::TELLS;
    const COUNTS: bool = false;
    type Before = ();
}

/// A call on its way through the library.
pub(super) struct Passage<C: Class> {
    name: &'static str,
    class: C,
    /// Nothing where calls are not counted.
    before: Option<C::Before>,
    /// The operations that were under way and are named.
    named: i64,
}

impl<C: Class> Passage<C> {
    /// The library is called next, if this gives nothing to tell the program instead.
    ///
    /// # Safety
    /// The arguments are those of a valid call of `name`.
    ///
    /// # Errors
    /// What the program is told then.
    #[inline]
    pub unsafe fn enter(name: &'static str, class: C) -> Result<Self, c_int> {
        // SAFETY: the caller's promise.
        if let Some(code) = unsafe { class.instead(name) } {
            return Err(code);
        }
        // SAFETY: the caller's promise.
        let named = unsafe { class.ends() };
        let is_counted = C::COUNTS && checks() && has_world();
        // SAFETY: the caller's promise.
        let before = is_counted.then(|| unsafe { class.before(&mut channels()) });
        Ok(Passage {
            name,
            class,
            before,
            named,
        })
    }

    /// # Safety
    /// The call has been made, and gave this code.
    #[inline]
    pub unsafe fn leave(self, code: c_int) {
        self.class.has_returned(code);
        // SAFETY: the caller's promise, here and of `enter`.
        let left = unsafe { self.class.leaves_under_way(self.name) };
        alone::begun(left - self.named);
        if let Some(before) = self.before {
            // SAFETY: the caller's promise, here and of `enter`.
            unsafe { self.class.after(before, self.name, &mut channels()) };
        }
    }
}
