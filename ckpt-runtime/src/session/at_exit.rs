//! The very end of the process, after `main` has returned: only then is it known with which exit code.
//!
//! A run whose `main` returned an error has not completed, and must be open to a restart. A restart that ended before it
//! reached its site must not end with success, whatever `main` returned.

use std::ffi::c_int;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use super::exit_code;
use super::{job, writer};

/// Whether the walk of a restart ended somewhere on its way.
static STRANDED: AtomicBool = AtomicBool::new(false);

static WATCH: Once = Once::new();

/// Has [`ended`] called when the process exits. Without it only the exit code of a run that failed is not noticed.
pub(super) fn watch() {
    WATCH.call_once(system::register);
}

/// The process is to end with [`exit_code::REFUSED`].
pub(super) fn strand() {
    STRANDED.store(true, Ordering::SeqCst);
}

pub(crate) fn stranded() -> bool {
    STRANDED.load(Ordering::SeqCst)
}

fn ended(status: Option<c_int>) {
    writer::drain();
    if stranded() {
        // SAFETY: ends the process at once. The standard library has flushed stdout before it called `exit`; handlers
        // that were registered earlier do not run, which is allowed.
        unsafe { libc::_exit(exit_code::REFUSED) }
    }
    if let Some(status) = status {
        job::exited(status);
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod system {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn on_exit(handler: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }

    extern "C" fn handler(status: c_int, _: *mut c_void) {
        super::ended(Some(status));
    }

    pub(super) fn register() {
        // SAFETY: glibc's function of that name and signature; the handler is a function of this program, takes no
        // argument and does not unwind.
        unsafe { on_exit(handler, std::ptr::null_mut()) };
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod system {
    extern "C" fn handler() {
        super::ended(None);
    }

    pub(super) fn register() {
        // SAFETY: the handler is a function of this program and does not unwind.
        unsafe { libc::atexit(handler) };
    }
}
