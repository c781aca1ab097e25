//! Dying at a chosen step of a commit, for tests: `CKPT_FAULT=commit-step:N`, or `commit-step:N@R` on rank R only. And what turns a
//! bit of the process's memory.

use std::fmt::{self, Display};
use std::num::{NonZeroU64, ParseIntError};
use std::str::FromStr;
use std::time::Duration;

/// A bit that is turned behind a site visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Flip {
    /// The visit.
    pub visit: u64,
    /// Which bit.
    pub seed: u64,
    /// Of what.
    pub of: Struck,
    /// On this rank only.
    pub rank: Option<u32>,
}

/// A rollback that a test wants at a site visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RollbackFault {
    /// The visit.
    pub visit: u64,
    /// By this rank, which goes back alone where it can; else by all at that visit.
    pub rank: Option<u32>,
}

impl FromStr for RollbackFault {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        Ok(match text.split_once('@') {
            Some((visit, rank)) => RollbackFault {
                visit: visit.parse()?,
                rank: Some(rank.parse()?),
            },
            None => RollbackFault {
                visit: text.parse()?,
                rank: None,
            },
        })
    }
}

impl Display for RollbackFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rank {
            Some(rank) => write!(f, "{}@{rank}", self.visit),
            None => write!(f, "{}", self.visit),
        }
    }
}

/// How long the program is held up at every so many site visits, as by checkpoints that nobody takes: for a test that wants to know
/// what of an answer hangs on the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pauses {
    /// At every so many.
    pub every: NonZeroU64,
    /// So long.
    pub each: Duration,
}

impl Pauses {
    /// Waits, if that is such a visit.
    pub fn at(self, visits: u64) {
        if visits.is_multiple_of(self.every.get()) {
            std::thread::sleep(self.each);
        }
    }
}

/// What has a bit turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Struck {
    /// A variable of the program.
    Variable,
    /// The newest snapshot in memory.
    Snapshot,
    /// What is put right at that visit.
    Repaired,
    /// No bit: a page is lost of a list that a caller has lent, and the machine says so.
    Page,
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

/// Where this process dies, if it was asked to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    chosen: Option<usize>,
}

impl Faults {
    /// What `CKPT_FAULT` asks of this rank.
    pub fn of_rank(rank: u32) -> Faults {
        let chosen = || {
            let wish = std::env::var("CKPT_FAULT").ok()?;
            let wish = wish.strip_prefix("commit-step:")?;
            let (step, of) = wish.split_once('@').unwrap_or((wish, ""));
            let is_meant = of.is_empty() || of.parse() == Ok(rank);
            is_meant.then_some(step)?.parse().ok()
        };
        Faults { chosen: chosen() }
    }

    /// Kills this process if it was asked to die here. SIGKILL: no destructor runs, as in a real failure.
    pub fn reached(self, step: Step) {
        if self.chosen == Some(step as usize) {
            let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        }
    }
}
