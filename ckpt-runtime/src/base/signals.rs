//! Handlers of the program's that are not to run now: they may do anything to files, and so come by here again, on a thread
//! that holds a lock of ckpt's or whose files nobody listens to.

use std::mem::MaybeUninit;

/// What the system sends to the thread that has caused it, at once: it cannot wait.
const OWN: [libc::c_int; 9] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGABRT,
    libc::SIGSYS,
    libc::SIGPIPE,
    libc::SIGXFSZ,
];

/// The signals of this thread, which are again what they were when this is dropped.
struct Before(libc::sigset_t);

impl Drop for Before {
    fn drop(&mut self) {
        // SAFETY: the set that was in force.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, std::ptr::null_mut()) };
    }
}

/// No signal interrupts this thread meanwhile, nor a thread that it starts: handlers run before or after, or on another one.
pub(crate) fn undisturbed<R>(act: impl FnOnce() -> R) -> R {
    let (mut held, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: both sets are filled before they are read; where that of the thread cannot be set it is not looked at.
    let before = unsafe {
        libc::sigfillset(held.as_mut_ptr());
        for signal in OWN {
            libc::sigdelset(held.as_mut_ptr(), signal);
        }
        let done = libc::pthread_sigmask(libc::SIG_BLOCK, held.as_ptr(), before.as_mut_ptr());
        (done == 0).then(|| Before(before.assume_init()))
    };
    let result = act();
    drop(before);
    result
}
