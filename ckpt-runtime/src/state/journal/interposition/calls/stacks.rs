//! Threads with little stack, and functions on a stack that is none of a thread's: what is to be kept of what they change is
//! kept by another thread, for which they wait.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;

use libc::c_void;

/// With so much left of its own stack a thread needs no other one, in bytes.
const NEEDED: usize = 256 << 10;
/// What the other one has, in bytes.
const OTHER: usize = 1 << 20;

thread_local! {
    /// Where the stack of this thread is; of no size until that is known. The thread's, whatever session there is.
    static STACK: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

/// Where the stack of this thread is. Where the system does not say, everywhere.
fn measure() -> (usize, usize) {
    let mut attributes = MaybeUninit::uninit();
    let (mut at, mut bytes) = (ptr::null_mut(), 0);
    // SAFETY: what is filled is looked at if it has been, and given back.
    let is_known = unsafe {
        libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) == 0 && {
            let known = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut at, &raw mut bytes);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            known == 0
        }
    };
    match is_known {
        true => (at.addr(), at.addr().saturating_add(bytes)),
        false => (0, usize::MAX),
    }
}

/// The part of this thread's stack in which enough of it is left.
fn with_room() -> Range<usize> {
    // A thread that ends has no such number any more.
    let known = STACK.try_with(Cell::get).unwrap_or((0, 0));
    let (begin, end) = match known {
        (0, 0) => measure(),
        known => known,
    };
    let _ = STACK.try_with(|stack| stack.set((begin, end)));
    begin.saturating_add(NEEDED)..end
}

extern "C" fn run<F: FnOnce()>(act: *mut c_void) -> *mut c_void {
    // SAFETY: `with_enough` has given it, and waits.
    let act = unsafe { &mut *act.cast::<Option<F>>() };
    if let Some(act) = act.take() {
        act();
    }
    ptr::null_mut()
}

/// Does it where there is enough stack for it.
pub fn with_enough<F: FnOnce() + Send>(act: F) {
    let here = 0_u8;
    if with_room().contains(&(&raw const here).addr()) {
        return act();
    }
    let mut act = Some(act);
    elsewhere(run::<F>, (&raw mut act).cast());
    // Where there is no other thread, here.
    if let Some(act) = act.take() {
        act();
    }
}

/// Another thread does it, if the system has one; this one waits.
fn elsewhere(run: extern "C" fn(*mut c_void) -> *mut c_void, what: *mut c_void) {
    let mut attributes = MaybeUninit::uninit();
    let mut thread = MaybeUninit::uninit();
    // SAFETY: what is filled is used if it has been, and given back; what the other thread works on may be sent there, and
    // stays where it is until that has ended.
    unsafe {
        if libc::pthread_attr_init(attributes.as_mut_ptr()) != 0 {
            return;
        }
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), OTHER);
        let begun = libc::pthread_create(thread.as_mut_ptr(), attributes.as_ptr(), run, what);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        if begun == 0 {
            libc::pthread_join(thread.assume_init(), ptr::null_mut());
        }
    }
}
