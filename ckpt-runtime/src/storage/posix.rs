//! The level that is a folder of a file system, the first there was: a checkpoint is a file, published by a rename.
//!
//! The lock is `flock` on `STORE/lock` (`STORE/lock.r3` for rank 3): the kernel lets go of it when the holder dies, however it dies, so a stale one
//! is taken over at once. The text in it, `PID HOST`, is only for the message to the second job.
//!
//! A document is a file of its name, replaced by a rename; those of a run are in a folder of its own ([`super::run_folder`]).

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustix::fs::{FlockOperation, OFlags};

use super::level::{Lock, RunDocuments, StorageLevel};
use super::names;
use super::run_folder::{RunFolder, left_in, runs_in};
use crate::base::current;
use crate::base::documents::{Documents, Durability, Log};
use crate::base::fault::{Faults, Step};
use crate::base::files;
use crate::base::folders;
use crate::base::host::host_name;
use crate::base::kept_open::KeptOpen;
use crate::base::own::unobserved;
use crate::base::run_id::RunId;
use crate::base::trust;
use crate::format::{CheckpointId, Files, StoreError};

/// Nobody writes a document for so long.
const UNFINISHED_FOR: Duration = Duration::from_secs(3600);

/// The part of a folder that belongs to one rank.
#[derive(Debug)]
pub(super) struct Posix {
    /// As the user has named it, for messages.
    named: PathBuf,
    /// Where it is: the program may go to another working folder.
    place: PathBuf,
    /// It is asked for its documents when the session has ended.
    documents: Arc<Folder>,
    rank: u32,
    faults: Faults,
}

impl Posix {
    /// A folder to write in; it is made if need be.
    ///
    /// # Errors
    /// What the file system says.
    pub fn to_write(folder: &Path, rank: u32, faults: Faults) -> Result<Posix, StoreError> {
        folders::make(folder).map_err(|error| StoreError::io("make the store", folder, &error))?;
        is_no_strangers(folder)?;
        Ok(Posix::in_folder(folder, rank, faults))
    }

    /// A folder to look into.
    ///
    /// # Errors
    /// What the file system says.
    pub fn to_read(folder: &Path, rank: u32) -> Result<Posix, StoreError> {
        fs::read_dir(folder).map_err(|error| StoreError::io("open the store", folder, &error))?;
        is_no_strangers(folder)?;
        Ok(Posix::in_folder(folder, rank, Faults::default()))
    }

    fn in_folder(folder: &Path, rank: u32, faults: Faults) -> Posix {
        let named = folder.to_owned();
        let place = std::path::absolute(folder).and_then(fs::canonicalize);
        let place = place.unwrap_or_else(|_| named.clone());
        Posix {
            documents: Arc::new(Folder(place.clone())),
            named,
            place,
            rank,
            faults,
        }
    }

    /// Where it is, without links.
    pub fn place(&self) -> &Path {
        &self.place
    }

    /// The file of a checkpoint while it is being written.
    fn unfinished(&self, id: CheckpointId) -> PathBuf {
        self.place.join(names::unfinished(id, self.rank))
    }

    /// The file of a checkpoint.
    fn finished(&self, id: CheckpointId) -> PathBuf {
        self.place.join(names::file_name(id, self.rank))
    }

    fn names(&self) -> Result<Vec<String>, StoreError> {
        let io = |error: io::Error| StoreError::io("read", &self.named, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.place).map_err(io)? {
            let entry = entry.map_err(io)?;
            // Our own names are plain text, and what has them and is no plain file is none of ours. What cannot be looked at
            // may be one.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            match files::kind(&entry) {
                Ok(kind) if kind.is_some_and(|kind| kind.is_file()) => names.push(name),
                Ok(_) => {}
                Err(error) => return Err(StoreError::io("look at", &self.named.join(name), &error)),
            }
        }
        Ok(names)
    }

    /// Documents that were not finished in a process that died. Those that are new may be somebody's who is writing:
    /// that goes without the lock.
    fn remove_old_unfinished(&self) {
        for name in self.names().into_iter().flatten() {
            let path = self.place.join(&name);
            let changed = fs::symlink_metadata(&path).and_then(|found| found.modified());
            let age = changed.map(|changed| changed.elapsed().unwrap_or_default());
            if files::is_unfinished(&name) && age.is_ok_and(|age| age > UNFINISHED_FOR) {
                let _ = unobserved(|| fs::remove_file(path));
            }
        }
    }

    fn sync_folder(&self) -> Result<(), StoreError> {
        folders::sync(&self.place).map_err(|error| StoreError::io("sync", &self.named, &error))
    }
}

impl Files for Posix {
    fn path(&self, id: CheckpointId) -> PathBuf {
        self.named.join(names::file_name(id, self.rank))
    }

    fn open(&self, id: CheckpointId) -> io::Result<File> {
        files::open(&self.finished(id))
    }
}

impl StorageLevel for Posix {
    fn folder(&self) -> &Path {
        &self.named
    }

    fn list(&self) -> Result<Vec<CheckpointId>, StoreError> {
        let names = self.names()?.into_iter();
        let files = names.filter_map(|name| names::written_file_of(&name));
        let mut ids: Vec<CheckpointId> = files
            .filter(|(_, rank)| *rank == self.rank)
            .map(|(id, _)| id)
            .collect();
        ids.sort_unstable();
        Ok(ids)
    }

    fn size(&self, id: CheckpointId) -> Result<Option<u64>, StoreError> {
        match fs::symlink_metadata(self.finished(id)) {
            Ok(found) => Ok(found.is_file().then_some(found.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("look for", &self.path(id), &error)),
        }
    }

    fn is_taken(&self, id: CheckpointId) -> Result<bool, StoreError> {
        match fs::symlink_metadata(self.finished(id)) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(StoreError::io("look for", &self.path(id), &error)),
        }
    }

    fn create(&self, id: CheckpointId) -> Result<PathBuf, StoreError> {
        let unfinished = self.unfinished(id);
        // A commit that panicked has left its file, and the number was given again.
        let _ = unobserved(|| fs::remove_file(&unfinished));
        Ok(unfinished)
    }

    fn discard(&self, id: CheckpointId) {
        let _ = unobserved(|| fs::remove_file(self.unfinished(id)));
    }

    fn publish(&self, id: CheckpointId) -> Result<(), StoreError> {
        let renamed = unobserved(|| fs::rename(self.unfinished(id), self.finished(id)));
        if let Err(error) = renamed {
            self.discard(id);
            return Err(StoreError::io("rename to", &self.path(id), &error));
        }
        self.faults.reached(Step::Renamed);
        self.sync_folder()
    }

    fn remove(&self, id: CheckpointId) -> Result<(), StoreError> {
        match unobserved(|| fs::remove_file(self.finished(id))) {
            Ok(()) => self.sync_folder(),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::NotFound {
                id,
                folder: self.named.clone(),
            }),
            Err(error) => Err(StoreError::io("remove", &self.path(id), &error)),
        }
    }

    fn lock(&self) -> Result<Lock, StoreError> {
        let lock = Flock::take(&self.named, self.rank)?;
        // Nobody is writing what is not finished now.
        let names = self.names()?.into_iter();
        for name in names.filter(|name| names::is_unfinished(name, self.rank)) {
            let path = self.place.join(name);
            unobserved(|| fs::remove_file(&path)).map_err(|error| StoreError::io("remove", &path, &error))?;
        }
        self.remove_old_unfinished();
        Ok(Box::new(lock))
    }

    fn capacity(&self) -> Option<u64> {
        let space = rustix::fs::statvfs(&self.place).ok()?;
        Some(space.f_bavail.saturating_mul(space.f_frsize))
    }

    fn documents(&self) -> Arc<dyn Documents> {
        self.documents.clone()
    }

    fn runs(&self) -> io::Result<Vec<RunId>> {
        runs_in(&self.documents.0)
    }

    fn documents_of(&self, run: RunId) -> Arc<dyn RunDocuments> {
        Arc::new(RunFolder::of(&self.documents.0, run))
    }

    fn begun(&self, own: RunId) -> Arc<dyn RunDocuments> {
        Arc::new(RunFolder::begun(&self.documents.0, self.rank, own))
    }

    fn left(&self) -> io::Result<Vec<RunId>> {
        left_in(&self.documents.0, self.rank)
    }
}

/// The folder is the user's own, or of somebody whom he has named.
fn is_no_strangers(folder: &Path) -> Result<(), StoreError> {
    match trust::stranger(folder) {
        None => Ok(()),
        Some(owner) => Err(StoreError::Stranger {
            folder: folder.to_owned(),
            owner,
        }),
    }
}

/// The documents in a folder.
#[derive(Debug)]
pub(super) struct Folder(pub PathBuf);

impl Folder {
    fn sync_if(&self, durability: Durability) -> io::Result<()> {
        match durability {
            Durability::Synced => folders::sync(&self.0),
            Durability::Whole | Durability::Unsynced => Ok(()),
        }
    }
}

impl Documents for Folder {
    fn path_of(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn store(&self) -> PathBuf {
        self.0.clone()
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        files::read(&self.path_of(name), u64::MAX)
    }

    fn replace(&self, name: &str, bytes: &[u8], durability: Durability) -> io::Result<()> {
        // Who has the lock is not asked: the end of a process is noted when the store is free again.
        unobserved(|| {
            files::replace(&self.path_of(name), bytes, durability != Durability::Unsynced)?;
            self.sync_if(durability)
        })
    }

    fn log(&self, name: &str, durability: Durability) -> io::Result<Box<dyn Log>> {
        unobserved(|| {
            let path = self.path_of(name);
            let file = files::open_to_add(&path)?;
            self.sync_if(durability)?;
            Ok(Box::new(LogFile {
                file: KeptOpen::new(file),
                durability,
                path,
                anywhere: None,
            }) as Box<dyn Log>)
        })
    }

    fn names(&self) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            // Documents have names that are texts.
            names.extend(entry?.file_name().into_string());
        }
        Ok(names)
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match unobserved(|| fs::remove_file(self.path_of(name))) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
struct LogFile {
    file: KeptOpen,
    durability: Durability,
    path: PathBuf,
    /// To write where it is not the end.
    anywhere: Option<KeptOpen>,
}

impl Log for LogFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        unobserved(|| self.file.set_len(length))
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        unobserved(|| {
            self.file.write_all(bytes)?;
            match self.durability {
                Durability::Synced => self.file.sync_data(),
                Durability::Whole | Durability::Unsynced => Ok(()),
            }
        })
    }

    fn overwrite(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        unobserved(|| {
            let file = match &mut self.anywhere {
                Some(file) => file,
                empty => empty.insert(KeptOpen::new(files::open_as(&self.path, OFlags::WRONLY)?)),
            };
            file.write_all_at(bytes, at)
        })
    }
}

/// One writer per store, or per rank of an MPI program.
#[derive(Debug)]
struct Flock {
    file: KeptOpen,
}

impl Flock {
    fn take(folder: &Path, rank: u32) -> Result<Flock, StoreError> {
        let path = folder.join(names::lock(rank));
        let io = |action| {
            let path = path.clone();
            move |error: io::Error| StoreError::io(action, &path, &error)
        };
        // A link in its place must not make us write elsewhere.
        let file = files::open_as(&path, OFlags::RDWR | OFlags::CREATE).map_err(io("open"))?;
        let mut file = KeptOpen::new(file);
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                // Whoever holds the lock may be about to write the text; the refusal stands either way.
                let _ = Read::take(&mut *file, 1000).read_to_string(&mut text);
                let mut words = text.split_whitespace().map(str::to_owned);
                let pid = words.next().unwrap_or_else(|| "?".to_owned());
                let host = words.next().unwrap_or_else(|| "?".to_owned());
                return Err(StoreError::Locked {
                    folder: folder.to_owned(),
                    pid,
                    host,
                });
            }
            Err(error) => return Err(StoreError::io("lock", &path, &error.into())),
        }
        let text = format!("{} {}\n", std::process::id(), host_name());
        file.set_len(0).map_err(io("write"))?;
        file.rewind().map_err(io("write"))?;
        file.write_all(text.as_bytes()).map_err(io("write"))?;
        current::locks_with(file.as_raw_fd());
        Ok(Flock { file })
    }
}

impl Drop for Flock {
    /// Closing the file is not enough: a process that another thread is just starting has it as well, until it becomes
    /// another program.
    fn drop(&mut self) {
        current::locks_no_more(self.file.as_raw_fd());
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}
