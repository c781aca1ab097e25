//! The folder of checkpoints: opening and locking it, committing a checkpoint as a whole or not at all, listing,
//! verifying, restoring and removing them. `docs/src/format.md` specifies the files.
//!
//! Not here: when a checkpoint is taken (the session), and what a value looks like as columns ([`crate::value`]).

mod base;
mod bodies;
mod bound;
mod chunks;
mod coding;
mod columns;
mod commit;
mod container;
mod error;
mod extents;
mod fault;
mod folder;
mod frames;
mod hdf5;
mod index;
mod large;
mod lock;
mod packed;
mod place;
mod read;
mod renew;
mod restored;
mod stream;
mod superblock;
mod survey;
mod time;
mod tree;
mod write;

use std::path::PathBuf;

pub use base::{Compression, Storing};
pub(crate) use bound::act_for_another_thread;
pub(crate) use commit::Commit;
pub use error::{Damage, StoreError};
pub use fault::COMMIT_STEPS;
pub use folder::Store;
pub use lock::host_name;
pub(crate) use restored::Load;
pub use restored::{FrameInfo, Restored, VariableInfo};
pub use tree::{Attribute, Node, NodeKind};

/// Version of the file format that this library writes; it reads this one only.
pub const FORMAT_VERSION: u32 = 3;

/// How a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// To write checkpoints: makes the folder if need be, takes the lock, and removes what crashed commits left.
    ReadWrite,
    /// To look only: no lock, nothing is changed.
    ReadOnly,
}

/// How many checkpoints stay after a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// All of them.
    All,
    /// The newest of this number, at least one.
    Last(u32),
}

impl Default for Keep {
    fn default() -> Self {
        Keep::Last(2)
    }
}

/// Number of a checkpoint; they grow with time. Shown with six digits, as in the file's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CheckpointId(pub u64);

impl std::fmt::Display for CheckpointId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:06}", self.0)
    }
}

impl std::str::FromStr for CheckpointId {
    type Err = std::num::ParseIntError;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(CheckpointId)
    }
}

/// What is known about a checkpoint besides its state.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Meta {
    /// Name of the program.
    pub program: String,
    /// Version of the program.
    pub version: String,
    /// How many sites the run had visited.
    pub visit: u64,
    /// When it was taken: nanoseconds since the Unix epoch, UTC.
    pub time: i64,
    /// Why it was taken: `every`, `interval`, `signal`, ...
    pub reason: String,
    /// Host that took it.
    pub host: String,
    /// Anything else, by name.
    pub notes: Vec<(String, String)>,
}

/// One checkpoint of a listing.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its number.
    pub id: CheckpointId,
    /// Its file.
    pub path: PathBuf,
    /// Size of the file.
    pub bytes: u64,
    /// Other checkpoints that it cannot be restored without; none if it holds everything.
    pub needs: Vec<CheckpointId>,
    /// What its header says; an error if the file cannot be one of ours.
    pub meta: Result<Meta, StoreError>,
}

/// Whether a variable has a value of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VariableContent {
    /// It has.
    Value,
    /// It is lent to another frame, which has the value.
    Link {
        /// Index of the frame.
        frame: usize,
        /// Key of the variable there.
        key: String,
    },
}

impl Meta {
    /// [`Meta::time`] as text: `2026-01-31T12:00:00Z`.
    pub fn time_text(&self) -> String {
        time::iso8601(self.time)
    }
}
