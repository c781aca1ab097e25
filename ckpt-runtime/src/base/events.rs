//! What happens to a program's checkpoints, for a subscriber of `tracing`: the feature of that name. Without it these functions
//! are empty. Events of the thread that writes checkpoints reach global subscribers only, as all of another thread's do.

use std::fmt::Display;
use std::path::Path;
use std::time::Duration;

/// An event of ckpt's own target; nothing without the feature.
macro_rules! event {
    ($level:ident, $($rest:tt)*) => {{
        #[cfg(feature = "tracing")]
        tracing::$level!(target: "ckpt", $($rest)*);
    }};
}
#[cfg(feature = "tracing")]
pub(crate) use event;

/// A checkpoint is due, and the program stops for it.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn begun(visits: u64, reason: impl Display) {
    event!(debug, visits, %reason, "checkpoint begun");
}

/// The program goes on; the checkpoint is on its way to the disk.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn copied(visits: u64, reason: impl Display, waited: Duration, bytes: Option<u64>) {
    event!(debug, visits, %reason, ?waited, bytes, "checkpoint copied");
}

/// Retention, or `Keep`, has removed a checkpoint.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn removed(store: &Path, id: u64) {
    event!(debug, id, store = %store.display(), "checkpoint removed");
}
