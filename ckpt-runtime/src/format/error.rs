//! What can go wrong with a store.

use std::io;
use std::path::{Path, PathBuf};

use super::CheckpointId;

/// Why a store did not do what it was asked to.
#[derive(Debug, thiserror::Error, Clone)]
#[non_exhaustive]
pub enum StoreError {
    /// Another job writes into this store.
    #[error("E2201: {folder} is in use by process {pid} on host {host}; two running jobs cannot share one store", folder = .folder.display())]
    Locked {
        /// The store.
        folder: PathBuf,
        /// The process that holds it; `?` if it did not say.
        pid: String,
        /// The host it runs on.
        host: String,
    },
    /// The disk or the quota is full.
    #[error("E2202: no space left for {path}{}; older checkpoints are untouched: free some space, or name a folder on another disk at the next start (`--dir`)", if *.needed > 0 { format!(" ({} bytes)", .needed) } else { String::new() }, path = .path.display())]
    DiskFull {
        /// What was being written.
        path: PathBuf,
        /// Bytes needed for it.
        needed: u64,
    },
    /// The operating system refused.
    #[error("E2203: cannot {action} {path}: {why}", path = .path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// What the system said.
        why: String,
        /// Its kind.
        kind: std::io::ErrorKind,
    },
    /// The HDF5 library refused.
    #[error("E2204: HDF5 cannot {action} in {path}: {why}", path = .path.display())]
    Hdf5 {
        /// What was being done.
        action: String,
        /// In which file.
        path: PathBuf,
        /// What the library said.
        why: String,
    },
    /// The file is not what was written.
    #[error("E2205: {path} is damaged: {}", damage.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "), path = .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        damage: Vec<Damage>,
    },
    /// The file is of another format version.
    #[error("E2206: {path} has format version {found}, this program reads version {known}: restart with the ckpt that wrote it", path = .path.display())]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that this library reads.
        known: u32,
    },
    /// The file is compressed in a way that this build cannot undo.
    #[error("E2213: {path} is compressed with zstd, and this program was built without: with `compression = \"zstd\"` in ckpt.toml, or CKPT_COMPRESSION=zstd, `cargo ckpt restart` builds it in; with ckpt as a dependency of your own, it is the feature `zstd`", path = .path.display())]
    Compressed {
        /// The file.
        path: PathBuf,
    },
    /// There is no such checkpoint.
    #[error("E2207: there is no checkpoint {id} in {folder}", folder = .folder.display())]
    NotFound {
        /// The one asked for.
        id: CheckpointId,
        /// The store.
        folder: PathBuf,
    },
    /// A checkpoint that others build on.
    #[error(
        "E2208: checkpoint {by} holds only what has changed since checkpoint {id}, and cannot be restored without it: remove {by} first"
    )]
    Needed {
        /// The one that is needed.
        id: CheckpointId,
        /// The oldest that needs it.
        by: CheckpointId,
    },
    /// What was not copied because it had not changed is not in the checkpoint before; a bug.
    #[error(
        "{path} was compared with another list than its own; this is a bug in ckpt, and the next checkpoint holds everything"
    )]
    Changed {
        /// The dataset.
        path: String,
    },
    /// The new checkpoint is whole, an older one could not be removed.
    #[error("E2209: checkpoint {id} is complete, but an older one could not be removed: {why}")]
    NotRemoved {
        /// The new checkpoint.
        id: CheckpointId,
        /// What the system said.
        why: String,
    },
    /// The store was opened to look only.
    #[error("E2210: {folder} was opened for reading only", folder = .0.display())]
    ReadOnly(PathBuf),
    /// The folder is that of somebody else.
    #[error("E2351: the store {folder} belongs to user {owner}, and not to you: `--trust {owner}` (CKPT_TRUST={owner}) takes what that user has written", folder = .folder.display())]
    Stranger {
        /// The store.
        folder: PathBuf,
        /// The number of the user.
        owner: u32,
    },
    /// The folder that checkpoints are to go to where the store cannot be written is not for that.
    #[error("E2212: {folder} cannot be the fallback of the store {store}: {why}", folder = .folder.display(), store = .store.display())]
    Fallback {
        /// It.
        folder: PathBuf,
        /// The store.
        store: PathBuf,
        /// Why not.
        why: String,
    },
    /// A name that is no plain file name.
    #[error("E2211: `{0}` is not a plain file name")]
    Name(String),
}

/// One damaged place in a checkpoint file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {what}")]
pub struct Damage {
    /// Path of the dataset, or the part of the file.
    pub place: String,
    /// What is wrong with it.
    pub what: String,
}

impl Damage {
    /// The place of what is wrong with the file as a whole: that it is cut off, say.
    pub const FILE: &str = "file";

    pub(crate) fn at(place: impl Into<String>, what: impl Into<String>) -> Self {
        Damage {
            place: place.into(),
            what: what.into(),
        }
    }
}

impl StoreError {
    /// A checkpoint file with one damaged place.
    pub(crate) fn damaged(path: &Path, damage: Damage) -> Self {
        StoreError::Damaged {
            path: path.to_owned(),
            damage: vec![damage],
        }
    }

    /// The number of the code that the message begins with, 2205 for `E2205`; a mistake of ckpt has none.
    pub fn code(&self) -> Option<u16> {
        match self {
            StoreError::Locked { .. } => Some(2201),
            StoreError::DiskFull { .. } => Some(2202),
            StoreError::Io { .. } => Some(2203),
            StoreError::Hdf5 { .. } => Some(2204),
            StoreError::Damaged { .. } => Some(2205),
            StoreError::Version { .. } => Some(2206),
            StoreError::Compressed { .. } => Some(2213),
            StoreError::NotFound { .. } => Some(2207),
            StoreError::Needed { .. } => Some(2208),
            StoreError::Changed { .. } => None,
            StoreError::NotRemoved { .. } => Some(2209),
            StoreError::ReadOnly(_) => Some(2210),
            StoreError::Name(_) => Some(2211),
            StoreError::Fallback { .. } => Some(2212),
            StoreError::Stranger { .. } => Some(2351),
        }
    }

    pub(crate) fn io(action: &'static str, path: &Path, error: &io::Error) -> Self {
        StoreError::Io {
            action,
            path: path.to_owned(),
            why: error.to_string(),
            kind: error.kind(),
        }
    }

    /// An error while `path` was being written, for which `needed` bytes are needed.
    pub(crate) fn writing(path: &Path, needed: u64, error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                StoreError::DiskFull {
                    path: path.to_owned(),
                    needed,
                }
            }
            _ => StoreError::io("write", path, error),
        }
    }
}
