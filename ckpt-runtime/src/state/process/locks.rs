//! Locks on files, as `File::lock` takes them: a restart takes them again when its files are open.
//!
//! Locks of parts of files (`fcntl`) belong to the process, and nothing tells which of them the program relies on:
//! while it holds one no checkpoint is taken.

use std::fs::{self, File};
use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};

use super::text::Text;
use crate::base::held_locks;
use crate::base::own::unobserved;
use crate::handles::{moved, start_folder};

/// A lock on a whole file, as a checkpoint keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lock {
    /// Relative to the folder that the program was started in, if it lies below it.
    path: Text,
    exclusive: bool,
}

/// The locks of a process on files that are no part of the store.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub files: Vec<Lock>,
    /// A file of which a part is locked, or one that has no name: it cannot be locked again.
    pub other: Option<PathBuf>,
}

/// Open files that the program has from the one that started it, with locks on them: `flock FILE ./heat`.
pub(super) fn inherited() -> Vec<(RawFd, PathBuf)> {
    let all = descriptors().into_iter();
    all.filter(|(descriptor, _)| !locks_of(*descriptor).is_empty())
        .collect()
}

impl Held {
    /// Those of the program: not those in the store, and not those that it was started with.
    pub fn now(store: &Path, inherited: &[(RawFd, PathBuf)]) -> Held {
        let mut held = Held::default();
        for (descriptor, path) in descriptors() {
            if path.starts_with(store) || inherited.contains(&(descriptor, path.clone())) {
                continue;
            }
            for lock in locks_of(descriptor) {
                match lock {
                    Some(exclusive) if path.exists() => {
                        let lock = Lock {
                            path: Text::from(relative(&path).as_os_str()),
                            exclusive,
                        };
                        if !held.files.contains(&lock) {
                            held.files.push(lock);
                        }
                    }
                    _ => held.other = Some(path.clone()),
                }
            }
        }
        held
    }
}

impl Lock {
    /// Where the file is now.
    pub fn path(&self) -> PathBuf {
        moved::now(start_folder().join(std::ffi::OsString::from(&self.path)))
    }

    /// Locks the file. Where the program does not have it open any more, as it has no use for it, it is held for the program.
    ///
    /// # Errors
    /// It cannot be opened, or another process has locked it.
    pub fn take(&self) -> io::Result<()> {
        let path = self.path();
        let path = fs::canonicalize(&path).unwrap_or(path);
        let open: Vec<RawFd> = descriptors()
            .into_iter()
            .filter(|(_, open)| *open == path)
            .map(|(descriptor, _)| descriptor)
            .collect();
        if open
            .iter()
            .any(|descriptor| locks_of(*descriptor).contains(&Some(self.exclusive)))
        {
            return Ok(());
        }
        let how = if self.exclusive {
            libc::LOCK_EX
        } else {
            libc::LOCK_SH
        };
        if open.is_empty() {
            return self.hold(&path);
        }
        let mut error = io::Error::from(io::ErrorKind::NotFound);
        for descriptor in open {
            // SAFETY: takes numbers only; the worst that it can do is to lock a file that was opened in this moment.
            if unsafe { libc::flock(descriptor, how | libc::LOCK_NB) } == 0 {
                return Ok(());
            }
            error = io::Error::last_os_error();
        }
        Err(error)
    }

    fn hold(&self, path: &Path) -> io::Result<()> {
        let file = unobserved(|| {
            // Some file systems lock only what may be written.
            let writable = File::options().read(true).write(true).open(path);
            writable.or_else(|_| File::open(path))
        })?;
        let how = match self.exclusive {
            true => FlockOperation::NonBlockingLockExclusive,
            false => FlockOperation::NonBlockingLockShared,
        };
        rustix::fs::flock(&file, how)?;
        held_locks::hold(file);
        Ok(())
    }
}

fn relative(path: &Path) -> &Path {
    path.strip_prefix(start_folder()).unwrap_or(path)
}

/// The open files of this process, with their paths.
fn descriptors() -> Vec<(RawFd, PathBuf)> {
    let entries = fs::read_dir("/proc/self/fd").into_iter().flatten().flatten();
    let of = |entry: fs::DirEntry| {
        let descriptor = entry.file_name().to_str()?.parse().ok()?;
        let path = fs::read_link(entry.path()).ok()?;
        path.is_absolute().then_some((descriptor, path))
    };
    entries.filter_map(of).collect()
}

/// The locks that a descriptor holds: whether each is exclusive, and nothing for one on a part of a file.
///
/// `lock:    1: FLOCK  ADVISORY  WRITE 1234 00:2c:5678 0 EOF`
fn locks_of(descriptor: RawFd) -> Vec<Option<bool>> {
    let text = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.strip_prefix("lock:"));
    lines
        .map(|line| {
            let mut words = line.split_whitespace().skip(1);
            let is_whole = words.next() == Some("FLOCK");
            is_whole.then(|| words.nth(1) == Some("WRITE"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_seen_and_taken_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = fs::canonicalize(folder.path()).unwrap().join("a lock");
        let file = File::create(&path).unwrap();
        let locks = |store: &str| {
            Held::now(Path::new(store), &[])
                .files
                .into_iter()
                .filter(|lock| lock.path() == path)
                .collect::<Vec<_>>()
        };
        assert!(locks("/none").is_empty());
        file.lock().unwrap();
        let held = locks("/none");
        assert!(matches!(&*held, [lock] if lock.exclusive), "{held:?}");
        let theirs = Held::now(Path::new("/none"), &inherited()).files;
        assert!(!theirs.iter().any(|lock| lock.path() == path));
        assert!(locks(path.parent().unwrap().to_str().unwrap()).is_empty());
        file.unlock().unwrap();
        assert!(locks("/none").is_empty());
        held[0].take().unwrap();
        held[0].take().unwrap();
        assert_eq!(locks("/none"), held);
        file.unlock().unwrap();
        let other = File::open(&path).unwrap();
        drop(file);
        // Somebody else's, to this one.
        let third = File::open(&path).unwrap();
        third.lock_shared().unwrap();
        drop(other);
        assert_eq!(locks("/none").len(), 1);
        drop(third);
        // Nobody has it open: it is held for the program.
        held[0].take().unwrap();
        assert_eq!(locks("/none"), held);
        fs::remove_file(&path).unwrap();
        let gone = Lock {
            path: Text::from(path.with_extension("none").as_os_str()),
            exclusive: true,
        };
        assert_eq!(gone.take().unwrap_err().kind(), io::ErrorKind::NotFound);
    }
}
