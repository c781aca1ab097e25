//! The level that is a folder of a file system, the first there was: a checkpoint is a file, published by a rename.
//!
//! The lock is `flock` on `STORE/lock` (`STORE/lock.r3` for rank 3): the kernel lets go of it when the holder dies, however it dies, so a stale one
//! is taken over at once. The text in it, `PID HOST`, is only for the message to the second job.
//!
//! A document is a file of its name, replaced by a rename.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::FlockOperation;

use super::level::{Lock, StorageLevel};
use super::names;
use crate::base::documents::{Documents, Durability, Log};
use crate::base::fault::{Faults, Step};
use crate::base::host::host_name;
use crate::format::{CheckpointId, Files, StoreError};

/// The part of a folder that belongs to one rank.
#[derive(Debug)]
pub(super) struct Posix {
    folder: PathBuf,
    /// It may be left by the program, and is asked for its documents when the session has ended.
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
        fs::create_dir_all(folder).map_err(|error| StoreError::io("make the store", folder, &error))?;
        Ok(Posix::in_folder(folder, rank, faults))
    }

    /// A folder to look into.
    ///
    /// # Errors
    /// What the file system says.
    pub fn to_read(folder: &Path, rank: u32) -> Result<Posix, StoreError> {
        fs::read_dir(folder).map_err(|error| StoreError::io("open the store", folder, &error))?;
        Ok(Posix::in_folder(folder, rank, Faults::default()))
    }

    fn in_folder(folder: &Path, rank: u32, faults: Faults) -> Posix {
        let documents = std::path::absolute(folder).and_then(fs::canonicalize);
        Posix {
            folder: folder.to_owned(),
            documents: Arc::new(Folder(documents.unwrap_or_else(|_| folder.to_owned()))),
            rank,
            faults,
        }
    }

    /// The file of a checkpoint while it is being written.
    fn unfinished(&self, id: CheckpointId) -> PathBuf {
        self.folder.join(names::unfinished(id, self.rank))
    }

    fn names(&self) -> Result<Vec<String>, StoreError> {
        let io = |error: io::Error| StoreError::io("read", &self.folder, &error);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(io)? {
            // Our own names are plain text.
            names.extend(entry.map_err(io)?.file_name().into_string());
        }
        Ok(names)
    }

    fn sync_folder(&self) -> Result<(), StoreError> {
        sync(&self.folder).map_err(|error| StoreError::io("sync", &self.folder, &error))
    }
}

impl Files for Posix {
    fn path(&self, id: CheckpointId) -> PathBuf {
        self.folder.join(names::file_name(id, self.rank))
    }

    fn open(&self, id: CheckpointId) -> io::Result<File> {
        File::open(self.path(id))
    }
}

impl StorageLevel for Posix {
    fn folder(&self) -> &Path {
        &self.folder
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

    fn size(&self, id: CheckpointId) -> Option<u64> {
        fs::metadata(self.path(id)).ok().map(|metadata| metadata.len())
    }

    fn create(&self, id: CheckpointId) -> Result<PathBuf, StoreError> {
        let unfinished = self.unfinished(id);
        // A commit that panicked has left its file, and the number was given again.
        let _ = fs::remove_file(&unfinished);
        Ok(unfinished)
    }

    fn discard(&self, id: CheckpointId) {
        let _ = fs::remove_file(self.unfinished(id));
    }

    fn publish(&self, id: CheckpointId) -> Result<(), StoreError> {
        let path = self.path(id);
        if let Err(error) = fs::rename(self.unfinished(id), &path) {
            self.discard(id);
            return Err(StoreError::io("rename to", &path, &error));
        }
        self.faults.reached(Step::Renamed);
        self.sync_folder()
    }

    fn remove(&self, id: CheckpointId) -> Result<(), StoreError> {
        let path = self.path(id);
        match fs::remove_file(&path) {
            Ok(()) => self.sync_folder(),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(StoreError::NotFound {
                id,
                folder: self.folder.clone(),
            }),
            Err(error) => Err(StoreError::io("remove", &path, &error)),
        }
    }

    fn lock(&self) -> Result<Lock, StoreError> {
        let lock = Flock::take(&self.folder, self.rank)?;
        // Nobody is writing what is not finished now.
        let names = self.names()?.into_iter();
        for name in names.filter(|name| names::is_unfinished(name, self.rank)) {
            let path = self.folder.join(name);
            fs::remove_file(&path).map_err(|error| StoreError::io("remove", &path, &error))?;
        }
        Ok(Box::new(lock))
    }

    fn capacity(&self) -> Option<u64> {
        let space = rustix::fs::statvfs(&self.folder).ok()?;
        Some(space.f_bavail.saturating_mul(space.f_frsize))
    }

    fn documents(&self) -> Arc<dyn Documents> {
        self.documents.clone()
    }
}

/// The names in a folder are on the disk from here on.
fn sync(folder: &Path) -> io::Result<()> {
    let folder = File::options()
        .read(true)
        .custom_flags(rustix::fs::OFlags::DIRECTORY.bits() as i32)
        .open(folder)?;
    folder.sync_all()
}

/// The documents in a folder.
#[derive(Debug)]
pub(super) struct Folder(pub PathBuf);

impl Folder {
    fn sync_if(&self, durability: Durability) -> io::Result<()> {
        match durability {
            Durability::Synced => sync(&self.0),
            Durability::Unsynced => Ok(()),
        }
    }
}

impl Documents for Folder {
    fn path_of(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        match fs::read(self.path_of(name)) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn replace(&self, name: &str, bytes: &[u8], durability: Durability) -> io::Result<()> {
        // Who has the lock is not asked: the end of a process is noted when the store is free again.
        let unfinished = self.0.join(format!(".{name}.{}", std::process::id()));
        let _ = fs::remove_file(&unfinished);
        let written = File::create_new(&unfinished).and_then(|mut file| {
            file.write_all(bytes)?;
            match durability {
                Durability::Synced => file.sync_all(),
                Durability::Unsynced => Ok(()),
            }
        });
        let replaced = written.and_then(|()| fs::rename(&unfinished, self.path_of(name)));
        if replaced.is_err() {
            let _ = fs::remove_file(&unfinished);
        }
        replaced.and_then(|()| self.sync_if(durability))
    }

    fn log(&self, name: &str, durability: Durability) -> io::Result<Box<dyn Log>> {
        let file = File::options()
            .append(true)
            .create(true)
            .open(self.path_of(name))?;
        self.sync_if(durability)?;
        Ok(Box::new(LogFile { file, durability }))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        match fs::remove_file(self.path_of(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

#[derive(Debug)]
struct LogFile {
    file: File,
    durability: Durability,
}

impl Log for LogFile {
    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        match self.durability {
            Durability::Synced => self.file.sync_data(),
            Durability::Unsynced => Ok(()),
        }
    }
}

/// One writer per store, or per rank of an MPI program.
#[derive(Debug)]
struct Flock {
    file: File,
}

impl Flock {
    fn take(folder: &Path, rank: u32) -> Result<Flock, StoreError> {
        let path = folder.join(names::lock(rank));
        let io = |action| {
            let path = path.clone();
            move |error: io::Error| StoreError::io(action, &path, &error)
        };
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        // A link in its place must not make us write elsewhere.
        options.custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
        let mut file = options.open(&path).map_err(io("open"))?;
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut text = String::new();
                // Whoever holds the lock may be about to write the text; the refusal stands either way.
                let _ = Read::take(&mut file, 1000).read_to_string(&mut text);
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
        Ok(Flock { file })
    }
}

impl Drop for Flock {
    /// Closing the file is not enough: a process that another thread is just starting has it as well, until it becomes
    /// another program.
    fn drop(&mut self) {
        let _ = rustix::fs::flock(&self.file, FlockOperation::Unlock);
    }
}
