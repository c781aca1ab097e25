//! Stands in for `ckpt` where a test program is built as if ckpt were not there.
//!
//! `extern crate ckpt_plain as ckpt;` at the root of a crate makes every `#[ckpt::instrument]` an attribute that
//! does nothing and every `ckpt::checkpoint!()` an empty block, so that the plain and the instrumented variant of a
//! program are one text, written as a user writes it.

pub use ckpt_plain_macros::{Checkpoint, checkpoint, instrument, main, object};

/// Every type: there is nothing to save.
pub trait Checkpoint {}

impl<T: ?Sized> Checkpoint for T {}

/// Does nothing: there is no session to hold the state.
pub fn global<T>(_: &'static str, _: &'static T) {}

/// What threads wait at.
pub mod sync {
    pub use std::sync::{Barrier, mpsc};
}

/// The threads of `ckpt::team` as they are, without what makes them stop together.
#[path = "../../../ckpt-runtime/src/work/mod.rs"]
mod work;
pub use work::{Member, Schedule, Team, team};

mod team {
    pub fn spread() -> Option<usize> {
        None
    }
}

mod frame {
    pub fn member<R, F: FnOnce() -> R>(body: F) -> F {
        body
    }
}
