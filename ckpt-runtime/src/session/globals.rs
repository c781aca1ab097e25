//! How a program names its global state to the session.

use crate::context;
use crate::state::statics::{Place, Registered};
use crate::team::{self};

/// Names a static or a thread-local of the main thread, so that it is part of every checkpoint of this session and comes
/// back at a restart.
///
/// Call it at the start of `main`, before anything reads the static; under `#[ckpt::main]` a restart makes the call too.
/// Without a session it does nothing. `LazyLock` and thread-locals are initialised by the first checkpoint if nothing
/// has done it before. What the static had before it is put back ends without its destructor, where that may have effects.
///
/// ```
/// use std::sync::Mutex;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// static DRAWN: AtomicU64 = AtomicU64::new(0);
/// static HISTORY: Mutex<Vec<u64>> = Mutex::new(Vec::new());
///
/// #[ckpt::main]
/// fn main() {
///     ckpt::global("DRAWN", &DRAWN);
///     ckpt::global("HISTORY", &HISTORY);
///     for _ in 0..100 {
///         ckpt::checkpoint!();
///         let drawn = DRAWN.fetch_add(1, Ordering::Relaxed);
///         HISTORY.lock().unwrap().push(drawn * drawn % 7);
///     }
///     assert_eq!(HISTORY.lock().unwrap().len(), 100);
/// }
/// ```
pub fn global<P: Place + 'static>(name: &'static str, global: P) {
    if !team::is_here() {
        return;
    }
    let registered = Registered::new(name, global);
    if let Some(Err(fatal)) = team::with_resume(|resume| registered.restore(&resume.restored)) {
        fatal.exit();
    }
    context::with_driver(|driver| driver.statics().register(registered));
}
