//! The very end of the process, after `main` has returned: only then is it known with which exit code.
//!
//! A run whose `main` returned an error has not completed, and must be open to a restart. A restart that ended before it
//! reached its site must not end with success, whatever `main` returned.

use std::ffi::c_int;
use std::sync::{Arc, Mutex, Once};

use super::exit_code;
use super::job::{Record, State};
use super::writer::Desk;
use crate::base::current::{self, Owner};
use crate::base::lock::locked;
use crate::comm;

/// What the end of the process needs of a session, which may have closed by then.
#[derive(Debug, Default)]
pub(super) struct Ending {
    pub record: Record,
    /// Where checkpoints are on their way to the disk, and of which process: one that the program forked has no thread
    /// for it.
    desk: Mutex<Option<(u32, Arc<Desk>)>>,
}

impl Ending {
    /// Checkpoints are written here from now on.
    pub fn writes_at(&self, desk: Arc<Desk>) {
        *locked(&self.desk) = Some((std::process::id(), desk));
    }

    /// Waits until the disk has what has been taken.
    fn drain(&self) {
        let desk = locked(&self.desk).take();
        if let Some((process, desk)) = desk
            && process == std::process::id()
        {
            desk.drain();
        }
    }
}

/// The process goes on with another session: what closed before has ended well.
impl Drop for Ending {
    fn drop(&mut self) {
        self.record.completed();
    }
}

impl Owner for Ending {
    fn rank(&self) -> Option<u32> {
        let member = comm::member().filter(|member| member.size > 1)?;
        Some(member.rank)
    }

    fn refused(&self, headline: &str) {
        self.record.ended(State::Refused, headline);
    }

    fn abort(&self, code: i32) {
        comm::abort(code);
    }

    fn exits(&self, status: Option<c_int>) {
        self.drain();
        if current::is_stranded() {
            // SAFETY: ends the process at once. The standard library has flushed stdout before it called `exit`; handlers
            // that were registered earlier do not run, which is allowed.
            unsafe { libc::_exit(exit_code::REFUSED) }
        }
        if let Some(status) = status {
            self.record.exited(status);
        }
    }
}

/// Whether [`Ending::exits`] is called with the exit code.
pub(super) use system::HEARS_STATUS;

/// Has the session that is open then, or was the last, hear of the exit of the process. Without it only the exit code of a
/// run that failed is not noticed.
pub(super) fn watch() {
    /// The process exits once, whatever sessions it has.
    static WATCH: Once = Once::new();
    WATCH.call_once(system::register);
}

fn ended(status: Option<c_int>) {
    if let Some(owner) = current::owner() {
        owner.exits(status);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use std::ffi::{c_int, c_void};

    pub(in super::super) const HEARS_STATUS: bool = true;

    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }

    extern "C" fn handler(status: c_int, _: *mut c_void) {
        // As much of it as the parent is told.
        super::ended(Some(status & 0xff));
    }

    pub(super) fn register() {
        // SAFETY: glibc's function of that name and signature; the handler is a function of this program, takes no
        // argument and does not unwind.
        unsafe { on_exit(handler, std::ptr::null_mut()) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    pub(in super::super) const HEARS_STATUS: bool = false;

    extern "C" fn handler() {
        super::ended(None);
    }

    pub(super) fn register() {
        // SAFETY: the handler is a function of this program and does not unwind.
        unsafe { libc::atexit(handler) };
    }
}
