//! What each run keeps in a store that is a folder: `STORE/runs/RUN/`, a folder for each run, named by its identity.
//!
//! A rank that does not know yet which run it is of keeps what it has to keep under an identity of its own, in
//! `STORE/runs/.begun.r3.ID`. It moves to the run when that is known. What the program's files were stays there where another
//! run waits to be continued, as does all of a process that dies before it knows; otherwise it is removed when the rank knows its run the next time.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::level::RunDocuments;
use super::posix::Folder;
use crate::base::documents::{Documents, Durability, Log};
use crate::base::files;
use crate::base::folders::{self, sync};
use crate::base::lock::locked;
use crate::base::own::unobserved;
use crate::base::run_id::RunId;
use crate::base::sorted;

/// The folder with those of all runs.
const RUNS: &str = "runs";
/// How the name of a folder begins whose rank does not know its run yet; the number of the rank and an identity follow.
const BEGUN: &str = ".begun.r";

/// The runs that keep something in a store, in any order.
///
/// # Errors
/// What the file system says.
pub(super) fn runs_in(store: &Path) -> io::Result<Vec<RunId>> {
    let entries = match fs::read_dir(store.join(RUNS)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut runs = Vec::new();
    for entry in entries {
        let entry = entry?;
        let run = entry.file_name().to_str().and_then(|name| name.parse().ok());
        // A link could lead out of the store.
        if let Some(run) = run
            && entry.file_type()?.is_dir()
        {
            runs.push(run);
        }
    }
    Ok(runs)
}

/// What a rank has kept before it knew its run, if it is there still: the identities that it had.
///
/// # Errors
/// What the file system says.
pub(super) fn left_in(store: &Path, rank: u32) -> io::Result<Vec<RunId>> {
    let begin = format!("{BEGUN}{rank}.");
    let names = begun_in(store)?.into_iter();
    let ids = names.filter_map(|path| path.file_name()?.to_str()?.strip_prefix(&begin)?.parse().ok());
    Ok(ids.collect())
}

/// The folders of ranks that did not know their run, or have not come so far: `runs/.begun.r3.ID`, from the store's.
///
/// # Errors
/// What the file system says.
pub fn begun_in(store: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(store.join(RUNS)) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut begun = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        if name.to_str().is_some_and(|name| name.starts_with(BEGUN)) {
            begun.push(Path::new(RUNS).join(name));
        }
    }
    sorted::sort_by(&mut begun, PathBuf::cmp);
    Ok(begun)
}

/// The folder with what a run keeps beside its checkpoints.
pub fn folder_of_run(store: &Path, run: RunId) -> PathBuf {
    store.join(RUNS).join(run.to_string())
}

/// The documents of a run.
#[derive(Debug)]
pub(super) struct RunFolder {
    store: PathBuf,
    /// The folder's name. A leaf lock, held while something is done there: the folder does not move meanwhile.
    name: Mutex<String>,
    /// Whether that name is known to be on the disk.
    is_entered: AtomicBool,
}

impl RunFolder {
    /// Of a run.
    pub fn of(store: &Path, run: RunId) -> RunFolder {
        RunFolder {
            store: store.to_owned(),
            name: Mutex::new(run.to_string()),
            is_entered: AtomicBool::new(false),
        }
    }

    /// Of a rank that does not know its run yet, under an identity of its own.
    pub fn begun(store: &Path, rank: u32, own: RunId) -> RunFolder {
        RunFolder {
            store: store.to_owned(),
            name: Mutex::new(format!("{BEGUN}{rank}.{own}")),
            is_entered: AtomicBool::new(false),
        }
    }

    fn folder(&self, name: &str) -> Folder {
        Folder(self.store.join(RUNS).join(name))
    }

    /// Makes the folder, if it is not there. Its name is on the disk from here on: whoever has made it may have been stopped
    /// before it was.
    fn make(&self, folder: &Path) -> io::Result<()> {
        let runs = self.store.join(RUNS);
        for (new, above) in [(&*runs, &*self.store), (folder, &*runs)] {
            match files::make_folder(new) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
            folders::once(new, || sync(above))?;
        }
        self.is_entered.store(true, Ordering::Relaxed);
        self.is_ours(folder)
    }

    /// Writing through a link would be writing elsewhere.
    fn is_ours(&self, folder: &Path) -> io::Result<()> {
        for part in [&*self.store.join(RUNS), folder] {
            if !fs::symlink_metadata(part)?.is_dir() {
                let what = format!("`{}` is not a folder", part.display());
                return Err(io::Error::new(ErrorKind::NotADirectory, what));
            }
        }
        Ok(())
    }

    /// With the folder's name, which stays meanwhile.
    fn with<R>(&self, act: impl FnOnce(&mut String) -> R) -> R {
        unobserved(|| act(&mut locked(&self.name)))
    }

    /// Changes something in the folder, which is made if need be.
    fn change<R>(&self, act: impl FnOnce(&Folder) -> io::Result<R>) -> io::Result<R> {
        self.with(|name| {
            let folder = self.folder(name);
            match self.is_ours(&folder.0) {
                Err(error) if error.kind() == ErrorKind::NotFound => self.make(&folder.0)?,
                found => found?,
            }
            if !self.is_entered.load(Ordering::Relaxed) {
                self.make(&folder.0)?;
            }
            act(&folder)
        })
    }
}

impl Documents for RunFolder {
    fn path_of(&self, name: &str) -> PathBuf {
        self.with(|folder| self.folder(folder).path_of(name))
    }

    fn store(&self) -> PathBuf {
        self.store.clone()
    }

    fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        self.with(|folder| self.folder(folder).read(name))
    }

    fn replace(&self, name: &str, bytes: &[u8], durability: Durability) -> io::Result<()> {
        self.change(|folder| folder.replace(name, bytes, durability))
    }

    fn log(&self, name: &str, durability: Durability) -> io::Result<Box<dyn Log>> {
        self.change(|folder| folder.log(name, durability))
    }

    fn names(&self) -> io::Result<Vec<String>> {
        self.with(|folder| self.folder(folder).names())
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        self.with(|folder| self.folder(folder).remove(name))
    }
}

impl RunDocuments for RunFolder {
    fn become_of(&self, run: RunId, stays: &dyn Fn(&str) -> bool) -> io::Result<()> {
        self.with(|name| {
            let (from, to) = (self.folder(name).0, self.folder(&run.to_string()).0);
            if from == to {
                return Ok(());
            }
            // Other ranks may have the folder already: what is in it moves, not the folder.
            match fs::read_dir(&from) {
                Ok(entries) => {
                    self.make(&to)?;
                    let mut is_left = false;
                    for entry in entries {
                        let entry = entry?;
                        match entry.file_name().to_str().is_some_and(stays) {
                            true => is_left = true,
                            false => fs::rename(entry.path(), to.join(entry.file_name()))?,
                        }
                    }
                    sync(&to)?;
                    if !is_left {
                        fs::remove_dir(&from)?;
                    }
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
            *name = run.to_string();
            self.is_entered.store(false, Ordering::Relaxed);
            Ok(())
        })
    }

    fn keep_only(&self, keeps: &dyn Fn(&str) -> bool) -> io::Result<()> {
        self.with(|name| {
            let folder = self.folder(name).0;
            match self.is_ours(&folder) {
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
                found => found?,
            }
            // Another rank may take the same away.
            let or_gone = |removed: io::Result<()>| match removed {
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
                other => other,
            };
            let mut left = false;
            for entry in fs::read_dir(&folder)? {
                let entry = entry?;
                match entry.file_name().to_str().is_some_and(keeps) {
                    true => left = true,
                    false => or_gone(fs::remove_file(entry.path()))?,
                }
            }
            match left {
                true => or_gone(sync(&folder)),
                false => or_gone(fs::remove_dir(&folder)),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_before_the_run_was_known_becomes_the_runs() {
        let store = tempfile::tempdir().unwrap();
        let run = RunId::new().unwrap();
        let first = RunFolder::of(store.path(), run);
        first.replace("job.json", b"{}", Durability::Unsynced).unwrap();
        let other = RunFolder::begun(store.path(), 3, RunId::new().unwrap());
        let mut log = other.log("files.r3.log", Durability::Synced).unwrap();
        log.add(b"one\n").unwrap();
        assert_eq!(runs_in(store.path()).unwrap(), [run]);
        other.become_of(run, &|_| false).unwrap();
        log.add(b"two\n").unwrap();
        assert_eq!(first.read("files.r3.log").unwrap().unwrap(), b"one\ntwo\n");
        assert_eq!(other.path_of("x"), first.path_of("x"));
        assert_eq!(fs::read_dir(store.path().join(RUNS)).unwrap().count(), 1);
    }

    #[test]
    fn what_was_kept_before_the_run_was_known_stays_where_it_is_of_use() {
        let store = tempfile::tempdir().unwrap();
        let (run, died, lives) = (
            RunId::new().unwrap(),
            RunId::new().unwrap(),
            RunId::new().unwrap(),
        );
        for own in [died, lives] {
            let begun = RunFolder::begun(store.path(), 3, own);
            begun.replace("files.r3.log", b"old", Durability::Synced).unwrap();
            begun.replace("events.log", b"old", Durability::Synced).unwrap();
            if own == lives {
                begun.become_of(run, &|name| name == "files.r3.log").unwrap();
                begun.replace("files.r3.log", b"new", Durability::Synced).unwrap();
            }
        }
        let of_run = RunFolder::of(store.path(), run);
        assert_eq!(of_run.read("files.r3.log").unwrap().unwrap(), b"new");
        assert_eq!(of_run.read("events.log").unwrap().unwrap(), b"old");
        let mut left = left_in(store.path(), 3).unwrap();
        left.sort_unstable();
        let mut both = vec![died, lives];
        both.sort_unstable();
        assert_eq!(left, both);
        assert_eq!(left_in(store.path(), 1).unwrap(), []);
        for own in both {
            let begun = RunFolder::begun(store.path(), 3, own);
            assert_eq!(begun.read("files.r3.log").unwrap().unwrap(), b"old");
            begun.keep_only(&|_| false).unwrap();
        }
        assert_eq!(left_in(store.path(), 3).unwrap(), []);
    }

    #[test]
    fn what_a_run_does_not_need_any_more_is_removed_alone() {
        let store = tempfile::tempdir().unwrap();
        let run = RunId::new().unwrap();
        let folder = RunFolder::of(store.path(), run);
        for name in ["job.json", "files.log"] {
            folder.replace(name, b"", Durability::Unsynced).unwrap();
        }
        folder.keep_only(&|name| name == "job.json").unwrap();
        assert!(folder.read("job.json").unwrap().is_some() && folder.read("files.log").unwrap().is_none());
        folder.keep_only(&|_| false).unwrap();
        assert_eq!(runs_in(store.path()).unwrap(), []);
    }

    #[test]
    fn nothing_is_written_through_a_link() {
        let (store, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::os::unix::fs::symlink(outside.path(), store.path().join(RUNS)).unwrap();
        let folder = RunFolder::of(store.path(), RunId::new().unwrap());
        assert!(folder.replace("job.json", b"", Durability::Unsynced).is_err());
        assert!(folder.log("events.log", Durability::Unsynced).is_err());
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
}
