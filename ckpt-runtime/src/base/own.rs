//! Which of what a thread does to files is ckpt's own business: whoever hears of the program's files hears nothing of that.
//!
//! What is done with a lock of ckpt's held has to be so: the observer has a lock of its own, and may need the other one.

use std::cell::Cell;

thread_local! {
    /// Set while ckpt itself works on files. Of the thread, whatever session there is.
    static OWN: Cell<bool> = const { Cell::new(false) };
}

/// Whether what this thread does to files is the program's.
pub(crate) fn is_the_programs() -> bool {
    // A thread that ends has no such flag any more.
    matches!(OWN.try_with(Cell::get), Ok(false))
}

/// What is done to files meanwhile is ckpt's own business.
pub(crate) fn unobserved<R>(act: impl FnOnce() -> R) -> R {
    let before = OWN.try_with(|own| own.replace(true)).unwrap_or(true);
    let result = act();
    let _ = OWN.try_with(|own| own.set(before));
    result
}
