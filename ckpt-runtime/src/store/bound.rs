//! A value that only the thread that made it may touch, inside of something that may move between threads.

use std::mem::ManuallyDrop;
use std::thread::ThreadId;

/// Lets a type hold values that are not `Send` and still be sent; they can only be reached where they were made.
pub(super) struct ThreadBound<T> {
    value: ManuallyDrop<T>,
    home: ThreadId,
}

// SAFETY: the value is neither read, written nor dropped on any thread but `home`; the check is in `get` and `drop`.
unsafe impl<T> Send for ThreadBound<T> {}
// SAFETY: as above: a shared reference gives nothing to another thread.
unsafe impl<T> Sync for ThreadBound<T> {}

impl<T> ThreadBound<T> {
    pub fn new(value: T) -> Self {
        ThreadBound {
            value: ManuallyDrop::new(value),
            home: std::thread::current().id(),
        }
    }

    /// The value, on its own thread.
    pub fn get(&self) -> Option<&T> {
        (std::thread::current().id() == self.home).then_some(&*self.value)
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
