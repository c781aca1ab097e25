//! Where checkpoints are: the names in the folder, and taking one of them away.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::lock::Lock;
use crate::base::events;
use crate::format::{self, CheckpointId, StoreError};

/// How the name of a file ends that is not finished.
pub(super) const UNFINISHED: &str = ".tmp";

/// The part of a folder that belongs to one rank.
#[derive(Debug)]
pub(super) struct Place {
    pub folder: PathBuf,
    /// Held by whoever writes.
    pub lock: Option<Lock>,
    pub rank: u32,
    /// The checkpoints that others need, as far as somebody has asked.
    pub needs: Mutex<HashMap<CheckpointId, Vec<CheckpointId>>>,
}

impl Place {
    /// The file of a checkpoint.
    pub fn path(&self, id: CheckpointId) -> PathBuf {
        self.folder.join(format!("{id}{}", self.suffix()))
    }

    /// The file of a checkpoint while it is being written.
    pub fn unfinished(&self, id: CheckpointId) -> PathBuf {
        self.folder.join(format!(".{id}{}{UNFINISHED}", self.suffix()))
    }

    /// How the file of a checkpoint ends.
    pub fn suffix(&self) -> String {
        format!(".r{}.h5", self.rank)
    }

    /// Numbers of the checkpoints in the folder, oldest first.
    pub fn ids(&self) -> Result<Vec<CheckpointId>, StoreError> {
        let names = self.names()?;
        let mut ids: Vec<CheckpointId> = names
            .iter()
            .filter_map(|name| id_of(name, &self.suffix()))
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    /// The other checkpoints without which this one cannot be restored; none of one that cannot be read.
    pub fn needs(&self, id: CheckpointId) -> Vec<CheckpointId> {
        let mut known = self.needs.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || match format::read_head(&self.path(id)) {
            Ok((_, needs)) => needs,
            Err(_) => Vec::new(),
        };
        known.entry(id).or_insert_with(read).clone()
    }

    pub fn writable(&self) -> Result<(), StoreError> {
        if self.lock.is_some() {
            Ok(())
        } else {
            Err(StoreError::ReadOnly(self.folder.clone()))
        }
    }

    /// Removes a checkpoint.
    pub fn remove(&self, id: CheckpointId) -> Result<(), StoreError> {
        self.writable()?;
        let path = self.path(id);
        self.needs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
        match fs::remove_file(&path) {
            Ok(()) => {
                events::removed(&self.folder, id.0);
                self.sync_folder()
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::NotFound {
                id,
                folder: self.folder.clone(),
            }),
            Err(error) => Err(StoreError::io("remove", &path, &error)),
        }
    }

    /// Removes what commits that did not finish have left. The lock is held: nobody is writing them.
    pub fn remove_unfinished(&self) -> Result<(), StoreError> {
        let unfinished = format!("{}{UNFINISHED}", self.suffix());
        for name in self
            .names()?
            .iter()
            .filter(|name| name.starts_with('.') && name.ends_with(&unfinished))
        {
            let path = self.folder.join(name);
            fs::remove_file(&path).map_err(|error| StoreError::io("remove", &path, &error))?;
        }
        Ok(())
    }

    fn names(&self) -> Result<Vec<String>, StoreError> {
        let io = |error: std::io::Error| StoreError::io("read", &self.folder, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(io)? {
            // Our own names are plain text.
            names.extend(entry.map_err(io)?.file_name().into_string());
        }
        Ok(names)
    }

    pub fn sync_folder(&self) -> Result<(), StoreError> {
        let folder = File::options()
            .read(true)
            .custom_flags(rustix::fs::OFlags::DIRECTORY.bits() as i32)
            .open(&self.folder);
        folder
            .and_then(|folder| folder.sync_all())
            .map_err(|error| StoreError::io("sync", &self.folder, &error))
    }

    /// Gives a finished file its name.
    pub fn publish(&self, unfinished: &Path, path: &Path) -> Result<(), StoreError> {
        if let Err(error) = fs::rename(unfinished, path) {
            let _ = fs::remove_file(unfinished);
            return Err(StoreError::io("rename to", path, &error));
        }
        crate::base::fault::Step::Renamed.reached();
        self.sync_folder()
    }
}

fn id_of(name: &str, suffix: &str) -> Option<CheckpointId> {
    let number = name.strip_suffix(suffix)?;
    let plain = number.len() >= 6 && number.bytes().all(|b| b.is_ascii_digit());
    let id: CheckpointId = number.parse().ok().filter(|_| plain)?;
    // `0000001` and `000001` must not both be checkpoint 1.
    (id.to_string() == number && id.0 < u64::MAX).then_some(id)
}
