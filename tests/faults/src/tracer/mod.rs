//! Runs a program and holds it before every system call that concerns files, whoever makes it: the runtime, HDF5, the program
//! itself. What is to become of the call is for a [`Watcher`] to say.
//!
//! A filter of system calls (seccomp) stops the program at those calls only, `ptrace` tells of the stop. Linux on x86-64.

mod call;
mod core;
mod filter;
mod process;
mod tracee;

pub use call::{Call, Kind};
pub use process::{Ended, Launch, Run};
pub use tracee::Tracee;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// It is made as it is.
    Go,
    /// It is made, and [`Watcher::returned`] hears what came of it.
    GoAndTell,
    /// It is not made, and fails with this number.
    Fail(i32),
    /// It is made, and fails all the same: the descriptor of a file that cannot be closed without an error is gone.
    FailAfter(i32),
    /// It is made for so many bytes.
    Shorten(u64),
    /// The program is killed instead.
    Kill,
}

/// Who is asked at every call.
pub trait Watcher {
    /// Whether it has to hear of calls of this kind: to hold a program takes far longer than most calls do.
    fn hears(&self, _kind: Kind) -> bool {
        true
    }

    /// The program is about to make a call.
    fn call(&mut self, call: &Call, tracee: &Tracee) -> Action;

    /// A call has been made; for those only for which that was asked.
    fn returned(&mut self, _call: &Call, _result: i64, _tracee: &Tracee) {}
}
