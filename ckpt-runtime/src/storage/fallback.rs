//! The folder that checkpoints go to where the store cannot be written any more: the user has named it.
//!
//! What lies there are files of checkpoints, of the names and the one row of numbers of the store. All else that a run keeps stays
//! in the store: a checkpoint of the fallback is one of the store, and needs it as any other. The first that is written there is full.
//!
//! The store and its fallback name each other, rank by rank: the store has the path of the folder (`fallback.r0`), the folder that of the
//! store (`fallback-of.r0`), both with the same random number. A folder that does not name the store back is none of
//! its own: nothing there is read, written or removed.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FallocateFlags, OFlags};
use rustix::io::Errno;

use super::level::{Lock, RunDocuments, StorageLevel};
use super::names;
use super::posix::{Folder, Posix};
use super::run_folder::runs_in;
use crate::base::documents::{Documents, Durability};
use crate::base::fault::Faults;
use crate::base::files;
use crate::base::own::unobserved;
use crate::base::run_id::RunId;
use crate::format::{CheckpointId, Files, StoreError};
use crate::handles::run_folder_within;

/// What is said of the fallback of a store that is opened to be written to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Fallback {
    /// Nothing: it is the one that the store has, if it has one.
    #[default]
    AsBefore,
    /// Checkpoints go to the store only; what lies in the fallback that it has is found all the same.
    Off,
    /// It is this folder.
    At(PathBuf),
}

/// A note is not longer.
const LONGEST: u64 = 64 << 10;

/// Where a store has the path of its fallback.
fn note_in_store(rank: u32) -> String {
    format!("{IN_STORE}{rank}")
}

/// Where a fallback has the path of its store.
fn note_in_fallback(rank: u32) -> String {
    format!("{IN_FALLBACK}{rank}")
}

/// What keeps some room in a store with a fallback, for what is small and has to be in the store: the journal of the program's files and
/// the record of the run.
fn reserve(rank: u32) -> String {
    format!("reserve.r{rank}")
}

/// How much room.
const RESERVED: u64 = 256 << 10;

const IN_STORE: &str = "fallback.r";
const IN_FALLBACK: &str = "fallback-of.r";

/// Whether a folder is the fallback of some store: it is no store of its own.
pub fn is_fallback(folder: &Path) -> bool {
    let names = Folder(folder.to_owned()).names().unwrap_or_default();
    names.iter().any(|name| name.starts_with(IN_FALLBACK))
}

const DAMAGED: &str = "what says so (`fallback.r0` in a store, `fallback-of.r0` in a fallback) is damaged";

/// What each of the two says of the other.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Note {
    /// The same in both: a store that was removed and made again at its place is another one.
    number: RunId,
    /// Where the other is.
    path: PathBuf,
}

impl Note {
    fn read(folder: &Path, name: &str) -> io::Result<Option<Note>> {
        let Some(bytes) = files::read(&folder.join(name), LONGEST)? else {
            return Ok(None);
        };
        let parsed = || {
            let (number, path) = bytes.split_at_checked(bytes.iter().position(|byte| *byte == b'\n')?)?;
            let path = path.strip_prefix(b"\n")?.strip_suffix(b"\n")?;
            Some(Note {
                number: std::str::from_utf8(number).ok()?.parse().ok()?,
                path: PathBuf::from(std::ffi::OsString::from_vec(path.to_vec())),
            })
        };
        let damaged = || io::Error::new(ErrorKind::InvalidData, DAMAGED);
        parsed().map(Some).ok_or_else(damaged)
    }

    fn write(&self, folder: &Path, name: &str) -> io::Result<()> {
        let mut bytes = format!("{}\n", self.number).into_bytes();
        bytes.extend_from_slice(self.path.as_os_str().as_bytes());
        bytes.push(b'\n');
        Folder(folder.to_owned()).replace(name, &bytes, Durability::Synced)
    }
}

/// What there is of the fallback of a store.
#[derive(Debug)]
pub(super) enum Seen {
    /// It has none.
    None,
    /// It is there, and names the store.
    There(PathBuf),
    /// What lies there, if anything does, cannot be taken for the store's.
    NotThere(PathBuf, String),
}

/// The fallback of the part of a store that is a rank's, by the real path of its folder.
///
/// # Errors
/// What the store says of it cannot be read.
pub(super) fn seen(store: &Path, rank: u32) -> io::Result<Seen> {
    let Some(Note { number, path }) = Note::read(store, &note_in_store(rank))? else {
        return Ok(Seen::None);
    };
    let why = match Note::read(&path, &note_in_fallback(rank)) {
        Ok(Some(of)) if of.number == number && of.path == store => return Ok(Seen::There(path)),
        Ok(Some(of)) if of.path == store => "it is that of a store that was at this place before".to_owned(),
        Ok(Some(of)) => format!("it is that of the store `{}`", of.path.display()),
        Ok(None) if path.is_dir() => "it does not say that it is that of this store".to_owned(),
        Ok(None) => "it is not there".to_owned(),
        Err(error) => error.to_string(),
    };
    Ok(Seen::NotThere(path, why))
}

/// The same by the path of its folder as it was named; nothing of a store that is not there.
pub(super) fn seen_from(folder: &Path, rank: u32) -> io::Result<Seen> {
    match fs::canonicalize(folder) {
        Ok(store) => seen(&store, rank),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            Ok(Seen::None)
        }
        Err(error) => Err(error),
    }
}

/// The ranks that have a fallback, by what lies in the folder of a store.
pub(super) fn ranks_with_one(folder: &Path) -> io::Result<Vec<u32>> {
    let names = match Folder(folder.to_owned()).names() {
        Err(error) if error.kind() == ErrorKind::NotADirectory => Vec::new(),
        names => names?,
    };
    let rank = |name: &String| name.strip_prefix(IN_STORE)?.parse().ok();
    Ok(names.iter().filter_map(rank).collect())
}

/// The level of a rank's part of a store that has, or is given, a fallback; the store alone where it has none.
///
/// # Errors
/// What the file system says; [`StoreError::Stranger`].
pub(super) fn with_fallback(
    store: Posix,
    rank: u32,
    (faults, writes): (Faults, bool),
    asked: &Fallback,
) -> Result<Box<dyn StorageLevel>, StoreError> {
    let seen = seen(store.place(), rank);
    let seen = seen.map_err(|error| StoreError::io("look for the fallback of", store.folder(), &error))?;
    let asks = writes && matches!(asked, Fallback::At(_));
    if !asks && !matches!(seen, Seen::There(_)) {
        return Ok(Box::new(store));
    }
    let level = TwoFolders {
        store,
        rank,
        faults,
        asked: asked.clone(),
        fallback: OnceLock::new(),
        falls_back: AtomicBool::new(false),
        begun_there: AtomicBool::new(false),
        reserves: AtomicBool::new(false),
    };
    if let (Seen::There(folder), false) = (seen, writes) {
        let _ = level.fallback.set(Posix::to_read(&folder, rank)?);
    }
    Ok(Box::new(level))
}

/// A store and its fallback.
#[derive(Debug)]
struct TwoFolders {
    store: Posix,
    rank: u32,
    faults: Faults,
    asked: Fallback,
    /// It is known from the lock on, which keeps others from writing there as well.
    fallback: OnceLock<Posix>,
    /// Checkpoints go there from now on.
    falls_back: AtomicBool,
    /// The one that is being written does.
    begun_there: AtomicBool,
    /// This process has taken the reserve.
    reserves: AtomicBool,
}

impl Drop for TwoFolders {
    fn drop(&mut self) {
        if *self.reserves.get_mut() {
            self.release();
        }
    }
}

impl TwoFolders {
    /// Lets go of the room that is kept.
    fn release(&self) {
        let _ = unobserved(|| fs::remove_file(self.store.place().join(reserve(self.rank))));
    }

    /// The folder that has a checkpoint. What is in both was written to the store last: the fallback could not be seen then, as
    /// its number would not have been given again.
    fn of(&self, id: CheckpointId) -> Result<&Posix, StoreError> {
        match self.fallback.get() {
            Some(fallback) if self.store.size(id)?.is_none() && fallback.size(id)?.is_some() => Ok(fallback),
            _ => Ok(&self.store),
        }
    }

    /// The same where what cannot be looked at is said by what is done next.
    fn probably_of(&self, id: CheckpointId) -> &Posix {
        self.of(id).unwrap_or(&self.store)
    }

    fn of_new(&self) -> &Posix {
        match self.fallback.get() {
            Some(fallback) if self.falls_back.load(Ordering::Relaxed) => fallback,
            _ => &self.store,
        }
    }

    fn begin(&self, id: CheckpointId, there: bool) -> Result<PathBuf, StoreError> {
        self.begun_there.store(there, Ordering::Relaxed);
        self.begun_in().create(id)
    }

    fn begun_in(&self) -> &Posix {
        match self.fallback.get() {
            Some(fallback) if self.begun_there.load(Ordering::Relaxed) => fallback,
            _ => &self.store,
        }
    }

    fn refused(&self, folder: &Path, why: String) -> StoreError {
        StoreError::Fallback {
            folder: folder.to_owned(),
            store: self.store.folder().to_owned(),
            why,
        }
    }

    fn of_store<T>(&self, found: io::Result<T>) -> Result<T, StoreError> {
        found.map_err(|error| StoreError::io("look for the fallback of", self.store.folder(), &error))
    }

    /// Whether the folder that the user has named may be the fallback, and how each names the other then. It is locked.
    fn agreed(&self, fallback: &Posix) -> Result<Note, StoreError> {
        let (named, folder, store) = (fallback.folder(), fallback.place(), self.store.place());
        if folder.starts_with(store) {
            return Err(self.refused(named, "it is the store, or lies in it".to_owned()));
        }
        let runs = runs_in(folder).map_err(|error| StoreError::io("read the runs in", named, &error))?;
        if let Some(run) = runs.first() {
            let what = format!("it is a store of its own, with run {}", run.short());
            return Err(self.refused(named, what));
        }
        let files = fallback.list()?;
        let own = self.of_store(Note::read(store, &note_in_store(self.rank)))?;
        if let Some(own) = own.as_ref().filter(|own| own.path != folder)
            && let Seen::There(before) = self.of_store(seen(store, self.rank))?
            && !Posix::to_read(&before, self.rank)?.list()?.is_empty()
        {
            let what = format!(
                "checkpoints of the store lie in `{}`, which is its fallback: name that one, or move the files into the store",
                own.path.display()
            );
            return Err(self.refused(named, what));
        }
        let theirs = Note::read(folder, &note_in_fallback(self.rank))
            .map_err(|error| StoreError::io("look at", named, &error))?;
        let own = own.filter(|own| own.path == folder);
        let is_own = |theirs: &Note| {
            theirs.path == store && own.as_ref().is_some_and(|own| own.number == theirs.number)
        };
        if let Some(first) = files.first()
            && !theirs.as_ref().is_some_and(is_own)
        {
            let whose = match theirs.filter(|theirs| theirs.path != store) {
                Some(theirs) => format!("of the store `{}`", theirs.path.display()),
                None => "that the store knows nothing of".to_owned(),
            };
            let run = crate::format::read_head(*first, fallback).ok();
            let run = run.and_then(|(meta, _)| meta.run);
            let of_run = run.map_or_else(String::new, |run| format!(", of run {}", run.short()));
            let what = format!(
                "it holds checkpoints {whose} (`{}`{of_run})",
                fallback.path(*first).display()
            );
            return Err(self.refused(named, what));
        }
        let number = match &own {
            Some(own) => own.number,
            None => self.of_store(RunId::new())?,
        };
        Ok(Note {
            number,
            path: folder.to_owned(),
        })
    }

    /// Each names the other from here on, in that order: a folder that names a store which does not know it is nobody's.
    fn name_each_other(&self, note: &Note, fallback: &Posix) -> Result<(), StoreError> {
        let in_store = (self.store.place(), note_in_store(self.rank), note.clone());
        let of_store = Note {
            number: note.number,
            path: self.store.place().to_owned(),
        };
        let in_fallback = (fallback.place(), note_in_fallback(self.rank), of_store);
        for (folder, name, note) in [in_store, in_fallback] {
            // A disk that is full can still be the store's.
            if Note::read(folder, &name).is_ok_and(|known| known.as_ref() == Some(&note)) {
                continue;
            }
            note.write(folder, &name)
                .map_err(|error| StoreError::writing(&folder.join(&name), 0, &error))?;
        }
        Ok(())
    }
}

impl Files for TwoFolders {
    fn path(&self, id: CheckpointId) -> PathBuf {
        self.probably_of(id).path(id)
    }

    fn open(&self, id: CheckpointId) -> io::Result<File> {
        self.probably_of(id).open(id)
    }
}

impl StorageLevel for TwoFolders {
    fn folder(&self) -> &Path {
        self.store.folder()
    }

    fn list(&self) -> Result<Vec<CheckpointId>, StoreError> {
        let mut ids = self.store.list()?;
        if let Some(fallback) = self.fallback.get() {
            ids.extend(fallback.list()?);
            ids.sort_unstable();
            ids.dedup();
        }
        Ok(ids)
    }

    fn size(&self, id: CheckpointId) -> Result<Option<u64>, StoreError> {
        self.of(id)?.size(id)
    }

    fn is_taken(&self, id: CheckpointId) -> Result<bool, StoreError> {
        let there = self.fallback.get().map(|fallback| fallback.is_taken(id));
        Ok(self.store.is_taken(id)? || there.transpose()?.unwrap_or(false))
    }

    fn create(&self, id: CheckpointId) -> Result<PathBuf, StoreError> {
        self.begin(id, self.falls_back.load(Ordering::Relaxed))
    }

    fn create_in_place(&self, id: CheckpointId) -> Result<PathBuf, StoreError> {
        let there = self.lies_in_fallback(id);
        self.begin(id, there)
    }

    fn discard(&self, id: CheckpointId) {
        self.begun_in().discard(id);
    }

    fn publish(&self, id: CheckpointId) -> Result<(), StoreError> {
        self.begun_in().publish(id)?;
        // One that takes the place of an older one of its number may lie beside it.
        if let Some(fallback) = self.fallback.get() {
            let other = match self.begun_there.load(Ordering::Relaxed) {
                true => &self.store,
                false => fallback,
            };
            if other.size(id).is_ok_and(|size| size.is_some()) {
                other.remove(id)?;
            }
        }
        Ok(())
    }

    fn remove(&self, id: CheckpointId) -> Result<(), StoreError> {
        let Some(fallback) = self.fallback.get() else {
            return self.store.remove(id);
        };
        // What one has twice is gone only where it is gone from both.
        match self.store.remove(id) {
            Err(StoreError::NotFound { .. }) => fallback.remove(id),
            Ok(()) if fallback.size(id)?.is_some() => fallback.remove(id),
            other => other,
        }
    }

    fn lock(&self) -> Result<Lock, StoreError> {
        let lock = self.store.lock()?;
        let folder = match &self.asked {
            Fallback::At(folder) => folder.clone(),
            _ => match self.of_store(seen(self.store.place(), self.rank))? {
                Seen::There(folder) => folder,
                _ => return Ok(lock),
            },
        };
        let asks = matches!(self.asked, Fallback::At(_));
        if let Some(within) = run_folder_within(&folder).filter(|_| asks) {
            let what = format!(
                "`{}`, where the program's files are, lies in it",
                within.display()
            );
            return Err(self.refused(&folder, what));
        }
        let fallback = Posix::to_write(&folder, self.rank, self.faults).map_err(|error| match error {
            StoreError::Io { .. } if asks => self.refused(&folder, format!("it cannot be used: {error}")),
            error => error,
        })?;
        let theirs = match fallback.place() == self.store.place() {
            true => None,
            false => Some(fallback.lock()?),
        };
        if asks {
            let note = self.agreed(&fallback)?;
            self.name_each_other(&note, &fallback)?;
        }
        // That of a process that was killed: a restart on a full disk needs a little room itself.
        self.release();
        let _ = self.fallback.set(fallback);
        Ok(Box::new((lock, theirs)))
    }

    fn capacity(&self) -> Option<u64> {
        self.of_new().capacity()
    }

    fn documents(&self) -> Arc<dyn Documents> {
        self.store.documents()
    }

    fn runs(&self) -> io::Result<Vec<RunId>> {
        self.store.runs()
    }

    fn documents_of(&self, run: RunId) -> Arc<dyn RunDocuments> {
        self.store.documents_of(run)
    }

    fn begun(&self, own: RunId) -> Arc<dyn RunDocuments> {
        self.store.begun(own)
    }

    fn left(&self) -> io::Result<Vec<RunId>> {
        self.store.left()
    }

    fn reserves(&self) {
        if self.fallback.get().is_none() || self.asked == Fallback::Off {
            return;
        }
        self.reserves.store(true, Ordering::Relaxed);
        // Where there is no room there is none to be kept.
        let path = self.store.place().join(reserve(self.rank));
        let flags = OFlags::WRONLY | OFlags::CREATE;
        let kept = files::open_as(&path, flags).and_then(|mut file| {
            match rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, RESERVED) {
                Err(Errno::OPNOTSUPP) => unobserved(|| file.write_all(&[0; RESERVED as usize])),
                kept => Ok(kept?),
            }
        });
        if kept.is_err() {
            self.release();
        }
    }

    fn turns(&self) -> Option<PathBuf> {
        let fallback = self.fallback.get().filter(|_| self.asked != Fallback::Off)?;
        let falls_back = !self.falls_back.fetch_xor(true, Ordering::Relaxed);
        self.release();
        Some(match falls_back {
            true => fallback.folder().to_owned(),
            false => self.store.folder().to_owned(),
        })
    }

    fn has_fallback(&self) -> bool {
        self.fallback.get().is_some() && self.asked != Fallback::Off
    }

    fn lies_in_fallback(&self, id: CheckpointId) -> bool {
        let Some(fallback) = self.fallback.get() else {
            return false;
        };
        self.of(id).is_ok_and(|folder| std::ptr::eq(folder, fallback))
    }
}

/// Where the file of a checkpoint of a rank is, by the folder of its part of a store: there, or in the fallback; there if it is
/// nowhere.
pub fn path_of(folder: &Path, id: CheckpointId, rank: u32) -> PathBuf {
    let name = names::file_name(id, rank);
    let here = folder.join(&name);
    if here.symlink_metadata().is_ok() {
        return here;
    }
    match seen_from(folder, rank) {
        Ok(Seen::There(fallback)) if fallback.join(&name).symlink_metadata().is_ok() => fallback.join(&name),
        _ => here,
    }
}

/// The fallback that a rank's part of a store names where what lies there cannot be looked at, and why.
pub fn unseen_fallback(folder: &Path, rank: u32) -> Option<(PathBuf, String)> {
    match seen_from(folder, rank) {
        Ok(Seen::NotThere(fallback, why)) => Some((fallback, why)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Meta, Storing};
    use crate::plan::FunctionPlan;
    use crate::storage::{Keep, Mode, Store, files_in};

    static PLAN: FunctionPlan = FunctionPlan::SAMPLE;

    fn commit(store: &mut Store, list: &[u64]) -> CheckpointId {
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 1);
        builder.value(frame, "list", 1, None, list);
        let meta = Meta {
            run: Some(RunId::numbered(7)),
            ..Meta::default()
        };
        store.commit(&builder.finish().unwrap(), &meta).unwrap()
    }

    fn open(folder: &Path, rank: u32) -> Store {
        let at = Fallback::At(folder.join("more"));
        Store::open_with(folder.join("store"), Mode::ReadWrite, rank, &at).unwrap()
    }

    #[test]
    fn no_checkpoint_builds_on_one_in_the_other_folder() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path(), 0);
        store.set_storing(Storing {
            compression: None,
            full_every: 100,
        });
        store.set_keep(Keep::All);
        let mut list: Vec<u64> = (1..400_000).collect();
        for round in 0..9 {
            if round % 3 == 2 {
                assert!(store.turns().is_some());
            }
            list[round * 40_000] += 1;
            commit(&mut store, &list);
        }
        let entries = store.list().unwrap();
        let needs: Vec<usize> = entries.iter().map(|entry| entry.needs.len()).collect();
        assert_eq!(needs, [0, 1, 0, 1, 2, 0, 1, 2, 0]);
        for entry in &entries {
            let place = entry.path.parent();
            for needed in &entry.needs {
                assert_eq!(store.path(*needed).parent(), place);
            }
            store.verify(entry.id).unwrap();
        }
        let read = Store::open(folder.path().join("store"), Mode::ReadOnly).unwrap();
        assert!(
            read.load(CheckpointId(8))
                .unwrap()
                .decode::<Vec<u64>>(0, "list")
                .is_ok()
        );
        assert_eq!(read.ids().unwrap().len(), 9);
    }

    #[test]
    fn ranks_go_to_the_fallback_each_for_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (mut first, mut second) = (open(folder.path(), 0), open(folder.path(), 1));
        for round in 0..3 {
            if round == 1 {
                second.turns().unwrap();
            }
            assert_eq!(commit(&mut first, &[round]), commit(&mut second, &[round]));
        }
        let (store, more) = (folder.path().join("store"), folder.path().join("more"));
        let place = |rank| path_of(&store, CheckpointId(3), rank);
        assert_eq!(place(0), store.join("000003.r0.h5"));
        assert_eq!(place(1), more.canonicalize().unwrap().join("000003.r1.h5"));
        let ids = |rank| {
            files_in(&store)
                .unwrap()
                .into_iter()
                .filter(move |file| file.1 == rank)
        };
        assert_eq!(
            (ids(0).count(), ids(1).count()),
            (2, 3),
            "one of the second is kept in the store"
        );
        assert_eq!(first.fallback_of(CheckpointId(3)), None);
        assert!(second.fallback_of(CheckpointId(3)).is_some());
    }

    #[test]
    fn what_is_said_of_a_fallback_and_is_damaged_is_named() {
        let folder = tempfile::tempdir().unwrap();
        drop(open(folder.path(), 0));
        let (store, more) = (folder.path().join("store"), folder.path().join("more"));
        assert!(is_fallback(&more) && !is_fallback(&store));
        assert!(!store.join(reserve(0)).exists());
        fs::write(more.join(note_in_fallback(0)), "x").unwrap();
        let (_, why) = unseen_fallback(&store, 0).unwrap();
        assert!(why.contains("is damaged"), "{why}");
        fs::write(store.join(note_in_store(0)), "x").unwrap();
        let error = Store::open(&store, Mode::ReadOnly).unwrap_err().to_string();
        assert!(error.contains("is damaged"), "{error}");
    }

    #[test]
    fn a_session_with_a_fallback_keeps_some_room() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = open(folder.path(), 0);
        store.reserves();
        let kept = folder.path().join("store").join(reserve(0));
        assert_eq!(kept.metadata().unwrap().len(), RESERVED);
        store.turns().unwrap();
        assert!(!kept.exists());
        store.reserves();
        drop(store);
        assert!(!kept.exists());
    }
}
