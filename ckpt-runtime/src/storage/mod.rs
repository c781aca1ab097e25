//! The store: a folder of checkpoints that is opened and locked, in which a checkpoint is committed as a whole or not at
//! all, and where they are listed, verified, restored and removed.
//!
//! Where it lies is a [`level::StorageLevel`], a file each: [`posix`], a folder of a file system, and [`fallback`], two of them. What files are called is in
//! [`names`], which folder is whose in [`parts`]. All above knows [`Store`] only.
//!
//! Not here: what is in a file ([`crate::format`]), and when a checkpoint is taken (the session).

mod commit;
mod copies;
mod fallback;
mod level;
mod names;
mod opened;
mod parts;
mod posix;
mod restorable;
mod run_folder;
mod store;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

pub(crate) use commit::{Commit, Cost};
pub use copies::copies;
pub use fallback::{Fallback, is_fallback, path_of, unseen_fallback};
pub use names::{file_name, file_of};
pub use parts::{files_in, folder_of_rank, has_been_here, has_place_for_rank, ranks_here};
pub use restorable::{Journals, NoWayBack};
pub use run_folder::{begun_in, folder_of_run};
pub use store::Store;

pub(crate) use level::RunDocuments;
use level::StorageLevel;
use posix::{Folder, Posix};
use run_folder::RunFolder;

use crate::base::documents::Documents;
use crate::base::fault::Faults;
use crate::base::files;
use crate::base::run_id::RunId;
use crate::format::{CheckpointId, Meta, StoreError};

/// The level on which a rank's part of a store lies, by the store's name: a folder, or that and its fallback.
fn level_of(
    folder: &Path,
    mode: Mode,
    rank: u32,
    faults: Faults,
    fallback: &Fallback,
) -> Result<Box<dyn StorageLevel>, StoreError> {
    let writes = mode == Mode::ReadWrite;
    let store = match writes {
        false => Posix::to_read(folder, rank)?,
        true => Posix::to_write(folder, rank, faults)?,
    };
    fallback::with_fallback(store, rank, (faults, writes), fallback)
}

/// What is kept of no run in particular in a store that nobody has opened.
pub(crate) fn documents_of(store: &Path) -> impl Documents {
    Folder(store.to_owned())
}

/// A small file of a store, if there is one of that name; a name is a plain one.
///
/// # Errors
/// It is no plain file, or cannot be read.
pub fn read_document(store: &Path, name: &str) -> std::io::Result<Option<Vec<u8>>> {
    documents_of(store).read(name)
}

/// Opens a file of a store to be read, if it is a plain one: not a link, and not a pipe, which would have to be waited for.
///
/// # Errors
/// It is none, or cannot be read.
pub fn open_plain(path: &Path) -> std::io::Result<std::fs::File> {
    files::open(path)
}

/// The names in a folder, its own and those of the folders above it are on the disk from here on.
///
/// # Errors
/// What the system says.
pub fn settle(folder: &Path) -> std::io::Result<()> {
    crate::base::folders::settle(folder)
}

/// Replaces what a run keeps under a name, in a store that nobody has opened and that is made where there is none. It is on
/// the disk from here on.
///
/// # Errors
/// It is what it was.
pub fn write_document_of_run(store: &Path, run: RunId, name: &str, bytes: &[u8]) -> std::io::Result<()> {
    crate::base::folders::make(store)?;
    documents_of_run(store, run).replace(name, bytes, crate::base::documents::Durability::Synced)
}

/// What a run keeps in a store that nobody has opened.
pub(crate) fn documents_of_run(store: &Path, run: RunId) -> impl Documents {
    RunFolder::of(store, run)
}

/// The runs that keep something in a store that nobody has opened, in any order.
///
/// # Errors
/// What the file system says.
pub(crate) fn runs_in(store: &Path) -> std::io::Result<Vec<RunId>> {
    run_folder::runs_in(store)
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
    /// Those of them that are not there.
    pub lacks: Vec<CheckpointId>,
    /// Newer checkpoints that cannot be restored without it.
    pub needed_by: Vec<CheckpointId>,
    /// What its header says; an error if the file cannot be one of ours.
    pub meta: Result<Meta, StoreError>,
}

impl Entry {
    /// Whether it is kept for its blocks alone: retention has removed what it builds on, and it cannot be restored by
    /// itself any more, but others need what it holds.
    pub fn holds_blocks_only(&self) -> bool {
        !self.lacks.is_empty() && !self.needed_by.is_empty()
    }
}
