//! What a storage level can do: a place where checkpoints of one rank lie.

use std::fmt::Debug;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::base::documents::Documents;
use crate::base::run_id::RunId;
use crate::format::{CheckpointId, Files, StoreError};

/// Held until dropped.
pub(crate) type Lock = Box<dyn Debug + Send + Sync>;

/// A place where checkpoints of one rank lie. Their files are written by [`crate::format`], which needs a plain file to write
/// to and open ones to read; where they are kept meanwhile, and what they are called, is the level's own business. To open
/// one to read is in [`Files`].
///
/// A checkpoint counts from [`publish`](StorageLevel::publish) on, as a whole or not at all, whatever happens meanwhile.
pub(crate) trait StorageLevel: Files + Debug + Send + Sync {
    /// The folder that messages name.
    fn folder(&self) -> &Path;

    /// Numbers of the checkpoints that count, oldest first.
    ///
    /// # Errors
    /// The level cannot be read.
    fn list(&self) -> Result<Vec<CheckpointId>, StoreError>;

    /// Size of the file of a checkpoint; `None` where there is none.
    ///
    /// # Errors
    /// It cannot be told whether there is one.
    fn size(&self, id: CheckpointId) -> Result<Option<u64>, StoreError>;

    /// Whether a checkpoint of this number would stand in place of something, even if that is no checkpoint.
    ///
    /// # Errors
    /// It cannot be told.
    fn is_taken(&self, id: CheckpointId) -> Result<bool, StoreError> {
        Ok(self.size(id)?.is_some())
    }

    /// Begins a checkpoint: where its file is to be made. There is none there now.
    ///
    /// # Errors
    /// There is no place for one.
    fn create(&self, id: CheckpointId) -> Result<PathBuf, StoreError>;

    /// The same for one that is to take the place of the one of its number, where that lies.
    ///
    /// # Errors
    /// As [`create`](StorageLevel::create).
    fn create_in_place(&self, id: CheckpointId) -> Result<PathBuf, StoreError> {
        self.create(id)
    }

    /// Gives up what [`create`](StorageLevel::create) began. What cannot be removed now is at the next [`lock`](StorageLevel::lock).
    fn discard(&self, id: CheckpointId);

    /// The file is finished and synced: from now on the checkpoint counts, in place of one of the same number. If this fails
    /// it does not, and is given up.
    ///
    /// # Errors
    /// What the system says.
    fn publish(&self, id: CheckpointId) -> Result<(), StoreError>;

    /// Removes a checkpoint.
    ///
    /// # Errors
    /// [`StoreError::NotFound`]; what the system says.
    fn remove(&self, id: CheckpointId) -> Result<(), StoreError>;

    /// Keeps others from writing, and removes what they have begun and not published.
    ///
    /// # Errors
    /// [`StoreError::Locked`]; what the system says.
    fn lock(&self) -> Result<Lock, StoreError>;

    /// Bytes that there is room for; `None` where nobody knows.
    fn capacity(&self) -> Option<u64>;

    /// What is kept there of no run in particular. It may be asked for when the lock is gone.
    fn documents(&self) -> Arc<dyn Documents>;

    /// The runs that keep something there, in any order.
    ///
    /// # Errors
    /// What the system says.
    fn runs(&self) -> io::Result<Vec<RunId>>;

    /// What a run keeps there. It may be asked for when the lock is gone.
    fn documents_of(&self, run: RunId) -> Arc<dyn RunDocuments>;

    /// What this rank keeps there before it knows its run, under an identity of its own.
    fn begun(&self, own: RunId) -> Arc<dyn RunDocuments>;

    /// What this rank has kept before it knew its run, and is there still: under which identities.
    ///
    /// # Errors
    /// What the system says.
    fn left(&self) -> io::Result<Vec<RunId>>;

    /// Keeps some room for what has to be written there even where checkpoints go elsewhere.
    fn reserves(&self) {}

    /// It cannot be written to: from now on what is begun goes to another folder, if there is one. Gives that.
    fn turns(&self) -> Option<PathBuf> {
        None
    }

    /// Whether there is another folder to turn to.
    fn has_fallback(&self) -> bool {
        false
    }

    /// Whether a checkpoint lies in the fallback of the level.
    fn lies_in_fallback(&self, _id: CheckpointId) -> bool {
        false
    }
}

/// What a run keeps beside its checkpoints.
pub(crate) trait RunDocuments: Documents {
    /// The run is known from now on: what has been kept so far is its, but for what `stays`, and so is what comes. Logs that are
    /// open stay so.
    ///
    /// # Errors
    /// What the system says.
    fn become_of(&self, run: RunId, stays: &dyn Fn(&str) -> bool) -> io::Result<()>;

    /// Removes what is not to be kept; nothing is left of the run if that is all.
    ///
    /// # Errors
    /// What the system says.
    fn keep_only(&self, keeps: &dyn Fn(&str) -> bool) -> io::Result<()>;
}
