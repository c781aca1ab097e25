//! A value that only the thread that made it may touch, inside of something that may move between threads.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::thread::ThreadId;

/// Lets a type hold values that are not `Send` and still be sent; they can only be reached where they were made.
pub(crate) struct ThreadBound<T> {
    value: ManuallyDrop<T>,
    home: ThreadId,
}

// SAFETY: the value is neither read, written nor dropped on any thread but `home`, or one that acts for it; the check is
// in `get` and `drop`.
unsafe impl<T> Send for ThreadBound<T> {}
// SAFETY: as above: a shared reference gives nothing to another thread.
unsafe impl<T> Sync for ThreadBound<T> {}

thread_local! {
    static ACTS: Cell<bool> = const { Cell::new(false) };
}

/// Has this thread reach what is bound to another one for as long as `work` runs.
///
/// # Safety
/// The threads whose values are reached wait until `work` is done, no other thread acts for them meanwhile, and what is
/// handed out is not used again before they go on, but by one thread at a time that has waited as well.
pub(crate) unsafe fn act_for_another_thread<R>(work: impl FnOnce() -> R) -> R {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            ACTS.set(false);
        }
    }
    ACTS.set(true);
    let _end = End;
    work()
}

impl<T> ThreadBound<T> {
    pub fn new(value: T) -> Self {
        ThreadBound {
            value: ManuallyDrop::new(value),
            home: std::thread::current().id(),
        }
    }

    /// The value, on its own thread, or on one that acts for it.
    pub fn get(&self) -> Option<&T> {
        (std::thread::current().id() == self.home || ACTS.get()).then_some(&*self.value)
    }
}

impl<T> Drop for ThreadBound<T> {
    fn drop(&mut self) {
        if std::thread::current().id() == self.home {
            // SAFETY: dropped once, here, and not used afterwards. On another thread the value is leaked.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

impl<T> std::fmt::Debug for ThreadBound<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ThreadBound")
    }
}
