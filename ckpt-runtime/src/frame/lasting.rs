//! Until when the variables of the outermost function stay what and where they are.

use std::sync::atomic::{AtomicBool, Ordering};

static HOLDS: AtomicBool = AtomicBool::new(false);

/// As long as it is there, the variables that the outermost function has declared before it are. It is dropped before any of them, and
/// what runs then may change what they have, or be given their memory.
#[derive(Debug)]
pub struct Lasting(());

/// Makes it.
#[must_use]
pub fn lasting() -> Lasting {
    HOLDS.store(true, Ordering::SeqCst);
    Lasting(())
}

impl Drop for Lasting {
    fn drop(&mut self) {
        HOLDS.store(false, Ordering::SeqCst);
    }
}

/// Whether it is there. It is for handlers of signals.
pub(crate) fn holds() -> bool {
    HOLDS.load(Ordering::SeqCst)
}
