//! What happens to a program's checkpoints, for a subscriber of `tracing`: the feature of that name. Without it these functions
//! are empty. Events of the thread that writes checkpoints reach global subscribers only, as all of another thread's do.

use std::path::Path;
use std::time::Duration;

use crate::session::Reason;
use crate::session::events::What;
use crate::store::CheckpointId;

#[cfg(feature = "tracing")]
const TARGET: &str = "ckpt";

macro_rules! told {
    ($level:ident, $($rest:tt)*) => {{
        #[cfg(feature = "tracing")]
        tracing::$level!(target: TARGET, $($rest)*);
    }};
}

/// A checkpoint is due, and the program stops for it.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn begun(visits: u64, reason: Reason) {
    told!(debug, visits, %reason, "checkpoint begun");
}

/// The program goes on; the checkpoint is on its way to the disk.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn copied(visits: u64, reason: Reason, waited: Duration, bytes: Option<u64>) {
    told!(debug, visits, %reason, ?waited, bytes, "checkpoint copied");
}

/// Retention, or `Keep`, has removed a checkpoint.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn removed(store: &Path, id: CheckpointId) {
    told!(debug, id = id.0, store = %store.display(), "checkpoint removed");
}

/// What `events.log` has as well.
#[cfg_attr(not(feature = "tracing"), expect(unused_variables))]
pub(crate) fn happened(what: &What) {
    #[cfg(feature = "tracing")]
    match what {
        What::Start {
            visits,
            restarted_from: Some(id),
            ..
        } => told!(info, id, visits, "restart"),
        What::Start { .. } => told!(info, "start"),
        What::Checkpoint {
            id,
            visits,
            waited,
            took,
            bytes,
            reason,
        } => told!(
            info,
            id,
            visits,
            waited,
            took,
            bytes,
            reason,
            "checkpoint written"
        ),
        What::Failed { visits, why } => told!(warn, visits, why, "checkpoint failed"),
        What::End {
            state,
            visits,
            reason,
        } => told!(info, ?state, visits, reason, "end"),
    }
}
