//! The folder of checkpoints: opening and locking it, committing a checkpoint as a whole or not at all, listing,
//! verifying, restoring and removing them. `docs/format.md` specifies the files.
//!
//! Not here: when a checkpoint is taken (the session), and what a value looks like as columns ([`crate::value`]).

mod error;
mod restored;

use std::path::{Path, PathBuf};

pub use error::{Damage, StoreError};
pub use restored::{Attribute, FrameInfo, Node, NodeKind, Restored, VariableContent, VariableInfo};

use crate::snapshot::Snapshot;

/// Version of the file format that this library writes; it reads this one only.
pub const FORMAT_VERSION: u32 = 1;

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
    /// What its header says; an error if the file cannot be one of ours.
    pub meta: Result<Meta, StoreError>,
}

/// A folder of checkpoints.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    keep: Keep,
}

impl Store {
    /// Opens the store in `folder`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another job writes there; otherwise what the file system says.
    pub fn open(folder: impl AsRef<Path>, mode: Mode) -> Result<Store, StoreError> {
        let _ = mode;
        Ok(Store {
            folder: folder.as_ref().to_owned(),
            keep: Keep::default(),
        })
    }

    /// Sets how many checkpoints stay after each commit.
    pub fn set_keep(&mut self, keep: Keep) {
        self.keep = keep;
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes a checkpoint. When this returns it is on disk as a whole; if it fails, or the machine does, the older
    /// ones are as they were.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] and other failures of the file system; [`StoreError::ReadOnly`].
    pub fn commit(&mut self, snapshot: &Snapshot, meta: &Meta) -> Result<CheckpointId, StoreError> {
        let _ = (snapshot, meta);
        todo!("commit")
    }

    /// The checkpoints in the folder, oldest first. Reads headers only.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, StoreError> {
        todo!("list")
    }

    /// Checks every byte of a checkpoint.
    ///
    /// # Errors
    /// All damage found, by dataset.
    pub fn verify(&self, id: CheckpointId) -> Result<(), Vec<Damage>> {
        let _ = id;
        todo!("verify")
    }

    /// Opens a checkpoint to restore from it or to look into it. Every byte is checked first.
    ///
    /// # Errors
    /// When there is no such checkpoint, or it is damaged or of another format version.
    pub fn load(&self, id: CheckpointId) -> Result<Restored, StoreError> {
        let _ = id;
        todo!("load")
    }

    /// Opens the newest checkpoint that is whole; `report` hears of every newer one that is not.
    ///
    /// # Errors
    /// When the folder cannot be read. `None`: there is no whole checkpoint.
    pub fn newest_whole(
        &self,
        report: &mut dyn FnMut(CheckpointId, &StoreError),
    ) -> Result<Option<Restored>, StoreError> {
        let _ = report;
        todo!("newest_whole")
    }

    /// Removes a checkpoint.
    ///
    /// # Errors
    /// When it does not exist or cannot be removed.
    pub fn remove(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        let _ = id;
        todo!("remove")
    }

    /// Writes a small text file `name` beside the checkpoints, as a whole or not at all: the state of the job.
    ///
    /// # Errors
    /// As [`Store::commit`].
    pub fn write_note(&mut self, name: &str, text: &str) -> Result<(), StoreError> {
        let _ = (name, text);
        todo!("write_note")
    }

    /// Reads what [`Store::write_note`] wrote; `None` if nothing was.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn read_note(&self, name: &str) -> Result<Option<String>, StoreError> {
        let _ = name;
        todo!("read_note")
    }
}
