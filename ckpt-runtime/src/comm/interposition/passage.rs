//! The one place that every function of the table goes through.

use super::channels::{Channels, channels};
use super::lifetime::has_world;
use crate::comm::check::checks;

/// What a function is to the channel counters. A value of a class has those arguments of a call that it needs.
pub(super) trait Class {
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
}

/// A class of which nothing is counted.
pub(super) trait Uncounted {}

impl<C: Uncounted> Class for C {
    const COUNTS: bool = false;
    type Before = ();
}

/// A call on its way through the library.
pub(super) struct Passage<C: Class> {
    name: &'static str,
    class: C,
    /// Nothing where calls are not counted.
    before: Option<C::Before>,
}

impl<C: Class> Passage<C> {
    /// # Safety
    /// The arguments are those of a valid call of `name`.
    #[inline]
    pub unsafe fn enter(name: &'static str, class: C) -> Self {
        let is_counted = C::COUNTS && checks() && has_world();
        // SAFETY: the caller's promise.
        let before = is_counted.then(|| unsafe { class.before(&mut channels()) });
        Passage { name, class, before }
    }

    /// # Safety
    /// The call has been made.
    #[inline]
    pub unsafe fn leave(self) {
        if let Some(before) = self.before {
            // SAFETY: the caller's promise, here and of `enter`.
            unsafe { self.class.after(before, self.name, &mut channels()) };
        }
    }
}
