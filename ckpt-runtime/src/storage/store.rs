//! The folder as a whole: opening it, beginning checkpoints, finding and reading those that are there.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::commit::Commit;
use super::lock::Lock;
use super::place::{Place, UNFINISHED};
use super::{Entry, Keep, Mode};
use crate::base::fault;
use crate::forked::Order;
use crate::format::{self, Base, CheckpointId, Damage, Meta, Restored, StoreError, Storing};
use crate::pages::Pages;
use crate::state::snapshot::{Snapshot, SnapshotBuilder};

/// A folder of checkpoints.
///
/// ```
/// use ckpt::snapshot::SnapshotBuilder;
/// use ckpt::store::{Meta, Mode, Store};
/// # use ckpt::plan::FunctionPlan;
/// # static PLAN: FunctionPlan = FunctionPlan { function: "main", module: "demo", file: "main.rs", line: 1,
/// #     layout: 0, source: 0, attribute: "ckpt::main", sites: &[] };
///
/// let folder = tempfile::tempdir()?;
/// let mut store = Store::open(folder.path(), Mode::ReadWrite)?;
/// let mut snapshot = SnapshotBuilder::new();
/// let frame = snapshot.frame(&PLAN, 1);
/// snapshot.value(frame, "grid", 3, None, &vec![0.5; 1000]);
/// store.commit(&snapshot.finish()?, &Meta::default())?;
///
/// let newest = store.newest_whole(&mut |id, why| eprintln!("{id}: {why}"))?.expect("one was just committed");
/// let grid: Vec<f64> = newest.decode(frame, "grid")?;
/// assert_eq!(grid, vec![0.5; 1000]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Store {
    place: Arc<Place>,
    keep: Keep,
    lines: Lines,
    storing: Storing,
    pages: Option<Arc<Mutex<Pages>>>,
    /// Whether another process copies large lists while the program goes on.
    forks: bool,
    /// The number that the last commit was given.
    last_begun: Option<CheckpointId>,
    /// The last checkpoint, if the next one may build on it.
    base: Arc<Mutex<Option<Arc<Base>>>>,
}

/// What a process knows of those that its checkpoints make a line with.
#[derive(Debug)]
struct Lines {
    /// The number of the next one, where it is not for this process alone to choose.
    next: Option<u64>,
    /// The newest that is known to be whole on all ranks: what is newer stays, whatever retention says.
    complete: CheckpointId,
    /// Numbers of lines that some rank never wrote.
    abandoned: Range<u64>,
}

impl Store {
    /// Opens the store in `folder`.
    ///
    /// # Errors
    /// [`StoreError::Locked`] when another job writes there; otherwise what the file system says.
    pub fn open(folder: impl AsRef<Path>, mode: Mode) -> Result<Store, StoreError> {
        Store::open_as(folder, mode, 0)
    }

    /// Opens the part of one rank: it has its own files and its own lock. The rank of a sequential program is 0.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub fn open_as(folder: impl AsRef<Path>, mode: Mode, rank: u32) -> Result<Store, StoreError> {
        let folder = folder.as_ref().to_owned();
        let lock = match mode {
            Mode::ReadOnly => {
                fs::read_dir(&folder).map_err(|error| StoreError::io("open the store", &folder, &error))?;
                None
            }
            Mode::ReadWrite => {
                fs::create_dir_all(&folder)
                    .map_err(|error| StoreError::io("make the store", &folder, &error))?;
                Some(Lock::take(&folder, rank)?)
            }
        };
        let place = Place {
            folder,
            lock,
            rank,
            needs: Mutex::default(),
        };
        if place.lock.is_some() {
            fault::set_rank(rank);
            place.remove_unfinished()?;
        }
        Ok(Store {
            place: Arc::new(place),
            keep: Keep::default(),
            storing: Storing::default(),
            pages: None,
            forks: false,
            last_begun: None,
            base: Arc::default(),
            lines: Lines {
                next: None,
                complete: CheckpointId(u64::MAX),
                abandoned: 0..0,
            },
        })
    }

    /// Sets how many checkpoints stay after each commit.
    pub fn set_keep(&mut self, keep: Keep) {
        self.keep = keep;
    }

    /// Sets how values are stored from now on.
    pub fn set_storing(&mut self, storing: Storing) {
        self.storing = storing;
    }

    /// From now on the kernel is asked which pages of large lists have been written to; those that have not are not read.
    ///
    /// # Errors
    /// This machine cannot tell.
    pub fn watch_pages(&mut self) -> io::Result<()> {
        self.pages = Some(Arc::new(Mutex::new(Pages::open()?)));
        Ok(())
    }

    /// From now on another process copies large lists while the program goes on, where nothing is to be written to its
    /// memory from outside.
    pub(crate) fn copy_on_write(&mut self) {
        self.forks = true;
    }

    /// An empty snapshot for the next commit: of large lists it copies only what that has to write.
    pub fn snapshot(&self) -> SnapshotBuilder {
        let capture = self.base().map(|base| base.capture()).unwrap_or_default();
        let mut capture = capture.watched_by(self.pages.as_ref());
        capture.order = self.forks.then(Order::default);
        SnapshotBuilder::in_blocks(capture)
    }

    /// The checkpoint that the next one builds on, unless that is to hold everything.
    fn base(&self) -> Option<Arc<Base>> {
        let base = self.base.lock().unwrap_or_else(PoisonError::into_inner);
        let base = base
            .clone()
            .filter(|base| base.has_successor(self.storing.full_every))?;
        // Somebody may have removed one.
        let are_there = base.ids().all(|id| self.path(id).is_file());
        are_there.then_some(base)
    }

    /// From now on checkpoints are parts of lines: the next is of line `next`, the newest that all ranks have is
    /// `complete`. Numbers between the two are of lines that some rank lacks.
    pub fn continue_lines(&mut self, complete: CheckpointId, next: u64) {
        self.lines = Lines {
            next: Some(next),
            complete,
            abandoned: complete.0 + 1..next,
        };
    }

    /// The number of the next line, where ranks count them.
    pub(crate) fn next_line(&self) -> Option<u64> {
        self.lines.next
    }

    /// The line of this number has been taken, or could not be: the other ranks go on counting.
    pub(crate) fn has_passed(&mut self, line: Option<u64>) {
        self.lines.next = line.map(|line| line + 1);
    }

    /// All ranks have written this line.
    pub fn line_is_complete(&mut self, line: CheckpointId) {
        self.lines.complete = self.lines.complete.max(line);
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// The file of a checkpoint.
    pub fn path(&self, id: CheckpointId) -> PathBuf {
        self.place.path(id)
    }

    /// Writes a checkpoint. When this returns it is on disk as a whole; if it fails, or the machine does, the older
    /// ones are as they were.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`] and other failures of the file system; [`StoreError::ReadOnly`].
    /// [`StoreError::NotRemoved`]: the checkpoint is whole, but an older one that retention lets go is still there.
    pub fn commit(&mut self, snapshot: &Snapshot, meta: &Meta) -> Result<CheckpointId, StoreError> {
        self.begin()?.write(snapshot, meta)
    }

    /// Gives the next checkpoint its number; it is written when that suits, by any thread, and before the next is begun.
    ///
    /// # Errors
    /// When the folder cannot be read; [`StoreError::ReadOnly`].
    pub(crate) fn begin(&mut self) -> Result<Commit, StoreError> {
        self.place.writable()?;
        let id = match &mut self.lines.next {
            // A line that this rank cannot write has its number all the same: the other ranks go on counting.
            Some(next) => {
                *next += 1;
                CheckpointId(*next - 1)
            }
            None => self.next_id()?,
        };
        Ok(Commit {
            place: Arc::clone(&self.place),
            id,
            keep: self.keep,
            complete: self.lines.complete,
            abandoned: self.lines.abandoned.clone(),
            storing: self.storing,
            base: self.base(),
            pages: self.pages.clone(),
            next: Arc::clone(&self.base),
            stream: None,
        })
    }

    /// One more than the newest. The folder is listed once: nobody else writes there.
    fn next_id(&mut self) -> Result<CheckpointId, StoreError> {
        let next = match self.last_begun {
            Some(last) if !self.path(last).exists() => last,
            Some(last) => CheckpointId(last.0 + 1),
            None => CheckpointId(self.place.ids()?.last().map_or(1, |last| last.0 + 1)),
        };
        self.last_begun = Some(next);
        Ok(next)
    }

    /// The checkpoints in the folder, oldest first. Reads no values.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn list(&self) -> Result<Vec<Entry>, StoreError> {
        let entry = |id| {
            let path = self.path(id);
            let bytes = fs::metadata(&path).map_or(0, |metadata| metadata.len());
            let (meta, needs) = match format::read_head(&path) {
                Ok((meta, needs)) => (Ok(meta), needs),
                Err(error) => (Err(error), Vec::new()),
            };
            Entry {
                id,
                bytes,
                meta,
                needs,
                path,
            }
        };
        Ok(self.ids()?.into_iter().map(entry).collect())
    }

    /// Numbers of the checkpoints in the folder, oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn ids(&self) -> Result<Vec<CheckpointId>, StoreError> {
        self.place.ids()
    }

    /// Checks every byte of a checkpoint.
    ///
    /// # Errors
    /// All damage found, by dataset.
    pub fn verify(&self, id: CheckpointId) -> Result<(), Vec<Damage>> {
        match self.open_checkpoint(id) {
            Ok(checkpoint) => checkpoint.verify(),
            Err(StoreError::Damaged { damage, .. }) => Err(damage),
            Err(error) => Err(vec![Damage {
                place: "file".to_owned(),
                what: error.to_string(),
            }]),
        }
    }

    /// Opens a checkpoint to look into it. Header, index and structure are checked; values are when they are read.
    ///
    /// # Errors
    /// When there is no such checkpoint, or it is damaged or of another format version.
    pub fn open_checkpoint(&self, id: CheckpointId) -> Result<Restored, StoreError> {
        Restored::open(id, &self.path(id)).map_err(|error| match error {
            StoreError::Io {
                kind: ErrorKind::NotFound,
                ..
            } => StoreError::NotFound {
                id,
                folder: self.place.folder.clone(),
            },
            error => error,
        })
    }

    /// Opens a checkpoint to restore from it. Every byte is checked first.
    ///
    /// # Errors
    /// When there is no such checkpoint, or it is damaged or of another format version.
    pub fn load(&self, id: CheckpointId) -> Result<Restored, StoreError> {
        self.open_checkpoint(id)?.read_all()
    }

    /// Opens the newest checkpoint that is whole; `report` hears of every newer one that is not.
    ///
    /// # Errors
    /// When the folder cannot be read. `None`: there is no whole checkpoint.
    pub fn newest_whole(
        &self,
        report: &mut dyn FnMut(CheckpointId, &StoreError),
    ) -> Result<Option<Restored>, StoreError> {
        self.newest_whole_up_to(CheckpointId(u64::MAX), report)
    }

    /// The same among those up to `last`.
    ///
    /// # Errors
    /// As [`Store::newest_whole`].
    pub fn newest_whole_up_to(
        &self,
        last: CheckpointId,
        report: &mut dyn FnMut(CheckpointId, &StoreError),
    ) -> Result<Option<Restored>, StoreError> {
        let ids = self.ids()?.into_iter().rev();
        for id in ids.filter(|id| *id <= last) {
            match self.load(id) {
                Ok(restored) => return Ok(Some(restored)),
                Err(error) => report(id, &error),
            }
        }
        Ok(None)
    }

    /// Removes a checkpoint.
    ///
    /// # Errors
    /// When it does not exist or cannot be removed; [`StoreError::Needed`] when others build on it.
    pub fn remove(&mut self, id: CheckpointId) -> Result<(), StoreError> {
        let others = self.place.ids()?.into_iter().filter(|other| *other > id);
        match others
            .into_iter()
            .find(|other| self.place.needs(*other).contains(&id))
        {
            Some(by) => Err(StoreError::Needed { id, by }),
            None => self.place.remove(id),
        }
    }

    /// Makes the checksums of a checkpoint anew whose values another program has changed, such as h5py. Gives the paths of the
    /// datasets that are others than they were.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when more has changed than values; [`StoreError::Needed`] when others build on it.
    pub fn renew(&mut self, id: CheckpointId) -> Result<Vec<String>, StoreError> {
        self.place.writable()?;
        let mut others = self.place.ids()?.into_iter().filter(|other| *other > id);
        if let Some(by) = others.find(|other| self.place.needs(*other).contains(&id)) {
            return Err(StoreError::Needed { id, by });
        }
        let path = self.path(id);
        if !path.is_file() {
            return Err(StoreError::NotFound {
                id,
                folder: self.folder().to_owned(),
            });
        }
        format::renew(&path, &self.place.unfinished(id))
    }

    /// Writes a small text `NAME.txt` beside the checkpoints, as a whole or not at all: the state of the job.
    ///
    /// # Errors
    /// As [`Store::commit`]; [`StoreError::Name`] when the name is not a plain one.
    pub fn write_note(&mut self, name: &str, text: &str) -> Result<(), StoreError> {
        self.place.writable()?;
        let path = self.note(name)?;
        let unfinished = self.place.folder.join(format!(".{name}.txt{UNFINISHED}"));
        let _ = fs::remove_file(&unfinished);
        let written = File::create_new(&unfinished).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        });
        if let Err(error) = written {
            let _ = fs::remove_file(&unfinished);
            return Err(StoreError::writing(&path, text.len() as u64, &error));
        }
        fs::rename(&unfinished, &path).map_err(|error| StoreError::io("rename to", &path, &error))?;
        self.place.sync_folder()
    }

    /// Reads what [`Store::write_note`] wrote; `None` if nothing was.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn read_note(&self, name: &str) -> Result<Option<String>, StoreError> {
        let path = self.note(name)?;
        match fs::read_to_string(&path) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("read", &path, &error)),
        }
    }

    fn note(&self, name: &str) -> Result<PathBuf, StoreError> {
        let plain = !name.is_empty()
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
        if plain {
            Ok(self.place.folder.join(format!("{name}.txt")))
        } else {
            Err(StoreError::Name(name.to_owned()))
        }
    }
}
