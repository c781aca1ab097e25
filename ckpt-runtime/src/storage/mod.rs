//! The store: a folder of checkpoints that is opened and locked, in which a checkpoint is committed as a whole or not at
//! all, and where they are listed, verified, restored and removed.
//!
//! Where it lies is a [`level::StorageLevel`], a file each: [`posix`], a folder of a file system. What files are called is in
//! [`names`], which folder is whose in [`parts`]. All above knows [`Store`] only.
//!
//! Not here: what is in a file ([`crate::format`]), and when a checkpoint is taken (the session).

mod commit;
mod level;
mod names;
mod opened;
mod parts;
mod posix;
mod store;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub(crate) use commit::Commit;
pub use names::{file_name, file_of};
pub use parts::{files_in, folder_of_rank, has_place_for_rank, ranks_here};
pub use store::Store;

use level::StorageLevel;
use posix::{Folder, Posix};

use crate::base::documents::Documents;
use crate::base::fault::Faults;
use crate::format::{CheckpointId, Meta, StoreError};

/// The level on which a rank's part of a store lies, by the store's name: a folder, until there are others.
fn level_of(
    folder: &Path,
    mode: Mode,
    rank: u32,
    faults: Faults,
) -> Result<Box<dyn StorageLevel>, StoreError> {
    Ok(Box::new(match mode {
        Mode::ReadOnly => Posix::to_read(folder, rank)?,
        Mode::ReadWrite => Posix::to_write(folder, rank, faults)?,
    }))
}

/// What runs keep in a store that nobody has opened.
pub(crate) fn documents_of(store: &Path) -> impl Documents {
    Folder(store.to_owned())
}

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
