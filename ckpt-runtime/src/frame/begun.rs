//! The frame of an activation that no restart walks through: it was entered to run from its beginning.
//!
//! What a restart brings back may be anything, as far as the optimiser knows: behind the point where it could come, no
//! constant is one, no length is known, and no test of an index can be left out. So a function has its body twice: once for
//! restarts, and once with a frame of this type, of which it is known when the program is built that it restores nothing.

use std::ops::{Deref, DerefMut};

use super::Frame;

/// A [`Frame`] that runs, and always has.
#[derive(Debug)]
pub struct Begun<'a>(&'a mut Frame);

/// What iterators that can be made again ask of a frame.
pub trait Walk {
    /// Whether the frame runs; else a restart walks through it.
    fn runs(&self) -> bool;

    /// Ends the run: the walk of a restart cannot go on, because of `what`.
    fn lost(&self, what: &str) -> !;
}

impl Frame {
    /// Whether this activation runs from its beginning; else a restart walks through it.
    #[inline(always)]
    pub fn begins(&self) -> bool {
        self.target == 0
    }

    /// This frame, which [begins](Frame::begins).
    #[inline(always)]
    pub fn begun(&mut self) -> Begun<'_> {
        Begun(self)
    }
}

impl Begun<'_> {
    /// It does.
    #[inline(always)]
    pub fn runs(&self) -> bool {
        true
    }

    /// No restart walks to a site of it.
    #[inline(always)]
    pub fn enters(&self, _first: u32, _last: u32) -> bool {
        false
    }
}

impl Deref for Begun<'_> {
    type Target = Frame;

    #[inline(always)]
    fn deref(&self) -> &Frame {
        self.0
    }
}

impl DerefMut for Begun<'_> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut Frame {
        self.0
    }
}

impl Walk for Frame {
    #[inline(always)]
    fn runs(&self) -> bool {
        Frame::runs(self)
    }

    fn lost(&self, what: &str) -> ! {
        Frame::lost(self, what)
    }
}

impl Walk for Begun<'_> {
    #[inline(always)]
    fn runs(&self) -> bool {
        true
    }

    fn lost(&self, what: &str) -> ! {
        self.0.lost(what)
    }
}
