//! SIGTERM, SIGUSR1 and SIGINT: a checkpoint at the next site, then the end of the run. The second SIGINT ends the process
//! at once. SIGXFSZ, which the system sends where a file would become larger than it may (`ulimit -f`), ends the program where it
//! wrote itself; a checkpoint is given up, as on a full disk.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::low_level;

use crate::base::current;
use crate::base::interrupts::Sender;
use crate::base::own;

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
    let interrupt = is_default(SIGINT).then_some(SIGINT);
    for signal in [SIGTERM, SIGUSR1].into_iter().chain(interrupt) {
        // SAFETY: the handler is async-signal-safe: it only touches atomics, writes to open files by system calls, or
        // emulates the default handler, which signal-hook documents as safe to call there. It neither allocates, locks nor
        // panics.
        unsafe { signal_hook_registry::register_sigaction(signal, move |info| arrived(signal, info)) }?;
    }
    if is_default(SIGXFSZ) {
        // SAFETY: as above; the handler reads a flag of its thread.
        unsafe { low_level::register(SIGXFSZ, too_large) }?;
    }
    Ok(())
}

/// The write that was too large fails when this returns.
fn too_large() {
    if own::is_the_programs() {
        let _ = low_level::emulate_default_handler(SIGXFSZ);
    }
}

/// Whether nobody has said yet what happens on the signal: a shell has its background jobs ignore interrupts.
fn is_default(signal: i32) -> bool {
    let mut found = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed; what there is, is written.
    let known = unsafe { libc::sigaction(signal, std::ptr::null(), found.as_mut_ptr()) } == 0;
    // SAFETY: the system has filled it in.
    known && unsafe { found.assume_init() }.sa_sigaction == libc::SIG_DFL
}

fn arrived(signal: i32, info: &libc::siginfo_t) {
    // SAFETY: the system has filled it in. Where the signal is not of a process there is a number that is not the parent's: 0
    // of the kernel.
    let sender = unsafe { info.si_pid() };
    // SAFETY: the call cannot fail and touches nothing.
    let sender = match sender == unsafe { libc::getppid() } {
        true => Sender::Parent,
        false => Sender::Other,
    };
    if !current::signal_arrived(signal, sender, milliseconds()) {
        let _ = low_level::emulate_default_handler(signal);
    }
}

/// Of a clock that only goes forwards and starts anew after 49 days.
fn milliseconds() -> u32 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    (now.tv_sec as u32)
        .wrapping_mul(1000)
        .wrapping_add((now.tv_nsec / 1_000_000) as u32)
}

/// The name of a signal that is listened to.
pub(crate) fn name(signal: i32) -> &'static str {
    low_level::signal_name(signal).unwrap_or("signal")
}
