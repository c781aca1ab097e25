//! A process that the program has forked, and that goes on with the program's work, as that of `daemon(3)` does. It has no
//! session: of all threads of the session's process it has the one that called, none of those that write, wait or watch, and
//! the store has the record of another process.

use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};

use super::current;
use super::report::say;

/// Whether this process was forked from that of the session: then there is nothing to do for it. Said once, where it comes
/// to a site or to the end of the session.
pub(crate) fn goes_on_alone() -> bool {
    if !current::is_forked() {
        return false;
    }
    if current::look_never() {
        say(
            "warning[W2084]: no checkpoint is taken any more: the program goes on in a process that it has forked (said once)\n  \
             why:   a fork has none of the threads that write checkpoints, and is another process than the one that the store knows; a restart goes on from the last checkpoint before it\n  \
             help:  let the process that was started do the work; for one in the background start it so, `setsid ./program &` or as a service, without `fork` and `daemon` of its own",
        );
    }
    true
}

/// What belongs to the process that has made it. A fork leaves it alone: to drop it would be to wait for threads that it does
/// not have, and to remove files of the other process.
#[derive(Debug)]
pub(crate) struct Ours<T>(ManuallyDrop<T>);

impl<T> Ours<T> {
    pub fn new(value: T) -> Ours<T> {
        Ours(ManuallyDrop::new(value))
    }
}

impl<T> Deref for Ours<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Ours<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Drop for Ours<T> {
    fn drop(&mut self) {
        if !current::is_forked() {
            // SAFETY: it is dropped here only, and not looked at again.
            unsafe { ManuallyDrop::drop(&mut self.0) };
        }
    }
}
