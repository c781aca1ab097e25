//! Processes that are held, so that a test meets them where it wants to and not where they happen to be.

use std::fs;
use std::os::fd::AsFd;

use nix::fcntl::{FcntlArg, fcntl};

/// Makes the pipe that a process has just been given as its standard output as small as a pipe can be: it stands still
/// after some 4 kB that nobody has read.
///
/// # Panics
/// When the system refuses: that is a fault of the test.
pub fn hold_when_it_has_printed(stdout: &impl AsFd) {
    let size = fcntl(stdout, FcntlArg::F_SETPIPE_SZ(4096));
    size.unwrap_or_else(|error| panic!("the pipe cannot be made smaller: {error}"));
}

/// Whether a signal has been sent to a process that has not been given it yet, as it is stopped.
pub fn is_pending(pid: u32, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:"));
    let pending = pending.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    pending.is_some_and(|mask| mask & (1 << (signal - 1)) != 0)
}

/// Whether each thread of a process stands still: one that is yet to act on SIGSTOP would act on SIGTERM, which has the lower
/// number, first.
pub fn is_stopped(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let mut threads = threads.into_iter().flatten().flatten();
    threads.all(|thread| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("State:\tT"))
    })
}
