//! SIGTERM and SIGUSR1: a checkpoint at the next site, then the end of the run.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGTERM, SIGUSR1};
use signal_hook::low_level;

use crate::base::current;

/// Handlers are installed once in the life of a process; when no session is open, signals do what they always did.
static INSTALLED: AtomicBool = AtomicBool::new(false);

/// Listens from now on.
///
/// # Errors
/// The system refuses the handler.
pub(crate) fn listen() -> io::Result<()> {
    current::listen(true);
    if INSTALLED.swap(true, Ordering::SeqCst) {
        return Ok(());
    }
    for signal in [SIGTERM, SIGUSR1] {
        // SAFETY: the handler is async-signal-safe: it only touches atomics, or emulates the default handler, which
        // signal-hook documents as safe to call there. It neither allocates, locks nor panics.
        unsafe { low_level::register(signal, move || arrived(signal)) }?;
    }
    Ok(())
}

fn arrived(signal: i32) {
    if !current::signal_arrived(signal) {
        let _ = low_level::emulate_default_handler(signal);
    }
}

/// The name of a signal that is listened to.
pub(crate) fn name(signal: i32) -> &'static str {
    low_level::signal_name(signal).unwrap_or("signal")
}
