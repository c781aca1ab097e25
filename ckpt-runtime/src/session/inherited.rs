//! Children of a process that has a session inherit the variables that asked for it: they name its run and its checkpoint,
//! and a child has its own place for relative paths. They were meant for one process, which marks them as taken.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::base::report::say;

/// The number of the process that has opened the session that the `CKPT_*` variables ask for.
const TAKEN_BY: &str = "CKPT_TAKEN_BY";

/// Whether it is this program, and not one whose place it has taken in the process.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether the variables were meant for another program: that which has started this one, or the one that has started it, or
/// that which has become this one, which is told.
pub(super) fn are_anothers() -> bool {
    if TAKEN.load(Ordering::SeqCst) {
        return false;
    }
    let by = std::env::var(TAKEN_BY).unwrap_or_default();
    if by == process::id().to_string() {
        say(
            "warning[W2086]: this program has no session: the process had one, and has become this program (`exec`)\n  \
             why:   a checkpoint is of the program that was started; no checkpoint is taken any more, and a restart goes on from the last one before\n  \
             help:  set what the program needs of variables and limits before it is started; where it does its work after the `exec`, run that: `cargo ckpt run --exe FILE -- ARGS`",
        );
    }
    !by.is_empty()
}

/// They are this process's from now on.
pub(super) fn take() {
    TAKEN.store(true, Ordering::SeqCst);
    // SAFETY: nobody reads the environment past the standard library, which locks it, meanwhile: a session opens at the
    // very beginning of `main`, before the program has started a thread, and those of ckpt read no variable.
    unsafe { std::env::set_var(TAKEN_BY, process::id().to_string()) };
}
