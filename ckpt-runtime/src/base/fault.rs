//! Dying at a chosen step of a commit, for tests: `CKPT_FAULT=commit-step:N`, or `commit-step:N@R` on rank R only.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

static RANK: AtomicU32 = AtomicU32::new(0);

/// Tells which rank this process is.
pub(crate) fn set_rank(rank: u32) {
    RANK.store(rank, Ordering::Relaxed);
}

/// The steps of a commit at which the process can be made to die, in their order; the first has number 1.
pub const COMMIT_STEPS: [&str; 11] = [
    "before the temporary file exists",
    "when it has been made, empty",
    "when the HDF5 structure and large values are in it, without the others",
    "half way through the other values",
    "after the values, before the index",
    "after the index, before the header",
    "after the header, before the file is synced",
    "after the sync, before the rename",
    "after the rename, before the folder is synced",
    "after that, before an old checkpoint is removed",
    "after the first removal",
];

/// One of [`COMMIT_STEPS`].
#[derive(Clone, Copy)]
pub(crate) enum Step {
    BeforeCreate = 1,
    Created,
    Structure,
    HalfTheValues,
    Values,
    Index,
    Header,
    Synced,
    Renamed,
    Committed,
    Removed,
}

impl Step {
    /// Kills this process if it was asked to die here. SIGKILL: no destructor runs, as in a real failure.
    pub fn reached(self) {
        static CHOSEN: OnceLock<Option<usize>> = OnceLock::new();
        let chosen = CHOSEN.get_or_init(|| {
            let wish = std::env::var("CKPT_FAULT").ok()?;
            let wish = wish.strip_prefix("commit-step:")?;
            let (step, rank) = wish.split_once('@').unwrap_or((wish, ""));
            let is_meant = rank.is_empty() || rank.parse() == Ok(RANK.load(Ordering::Relaxed));
            is_meant.then_some(step)?.parse().ok()
        });
        if *chosen == Some(self as usize) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
}
