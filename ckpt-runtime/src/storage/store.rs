//! The folder as a whole: opening it, beginning checkpoints, finding and reading those that are there.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::commit::Commit;
use super::level::StorageLevel;
use super::opened::Opened;
use super::{Entry, Keep, Mode};
use crate::base::documents::{Documents, Durability};
use crate::base::fault::Faults;
use crate::base::forked::Order;
use crate::base::lock::locked;
use crate::base::pages::Pages;
use crate::format::{self, Base, CheckpointId, Damage, Meta, Restored, StoreError, Storing};
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
    opened: Arc<Opened>,
    faults: Faults,
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
        let faults = Faults::of_rank(rank);
        Store::on(
            super::level_of(folder.as_ref(), mode, rank, faults)?,
            mode,
            faults,
        )
    }

    /// Opens the store on a level.
    pub(super) fn on(level: Box<dyn StorageLevel>, mode: Mode, faults: Faults) -> Result<Store, StoreError> {
        let lock = match mode {
            Mode::ReadOnly => None,
            Mode::ReadWrite => Some(level.lock()?),
        };
        Ok(Store {
            opened: Arc::new(Opened::new(level, lock)),
            faults,
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
        let base = locked(&self.base);
        let base = base
            .clone()
            .filter(|base| base.has_successor(self.storing.full_every))?;
        // Somebody may have removed one.
        let are_there = base.ids().all(|id| self.level().size(id).is_some());
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
        self.level().folder()
    }

    fn level(&self) -> &dyn StorageLevel {
        &*self.opened.level
    }

    /// The file of a checkpoint.
    pub fn path(&self, id: CheckpointId) -> PathBuf {
        self.level().path(id)
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
        self.opened.writable()?;
        let id = match &mut self.lines.next {
            // A line that this rank cannot write has its number all the same: the other ranks go on counting.
            Some(next) => {
                *next += 1;
                CheckpointId(*next - 1)
            }
            None => self.next_id()?,
        };
        Ok(Commit {
            opened: Arc::clone(&self.opened),
            faults: self.faults,
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
            Some(last) if self.level().size(last).is_none() => last,
            Some(last) => CheckpointId(last.0 + 1),
            None => CheckpointId(self.ids()?.last().map_or(1, |last| last.0 + 1)),
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
            let (meta, needs) = match format::read_head(id, self.level()) {
                Ok((meta, needs)) => (Ok(meta), needs),
                Err(error) => (Err(error), Vec::new()),
            };
            Entry {
                id,
                path: self.path(id),
                bytes: self.level().size(id).unwrap_or(0),
                needs,
                meta,
            }
        };
        Ok(self.ids()?.into_iter().map(entry).collect())
    }

    /// Numbers of the checkpoints in the folder, oldest first.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn ids(&self) -> Result<Vec<CheckpointId>, StoreError> {
        self.level().list()
    }

    /// Checks every byte of a checkpoint.
    ///
    /// # Errors
    /// All damage found, by dataset.
    pub fn verify(&self, id: CheckpointId) -> Result<(), Vec<Damage>> {
        match self.open_checkpoint(id) {
            Ok(checkpoint) => checkpoint.verify(),
            Err(StoreError::Damaged { damage, .. }) => Err(damage),
            Err(error) => Err(vec![Damage::at(Damage::FILE, error.to_string())]),
        }
    }

    /// Opens a checkpoint to look into it. Header, index and structure are checked; values are when they are read.
    ///
    /// # Errors
    /// When there is no such checkpoint, or it is damaged or of another format version.
    pub fn open_checkpoint(&self, id: CheckpointId) -> Result<Restored, StoreError> {
        Restored::open(id, self.level()).map_err(|error| match error {
            StoreError::Io {
                kind: ErrorKind::NotFound,
                ..
            } => StoreError::NotFound {
                id,
                folder: self.folder().to_owned(),
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

    /// Opens the newest checkpoint that is whole; `report` is called for every newer one that is not.
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
        match self.opened.needed_by(id)? {
            Some(by) => Err(StoreError::Needed { id, by }),
            None => self.opened.remove(id),
        }
    }

    /// Makes the checksums of a checkpoint anew whose values another program has changed, such as h5py. Returns the paths of the
    /// datasets that are others than they were.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when more has changed than values; [`StoreError::Needed`] when others build on it.
    pub fn renew(&mut self, id: CheckpointId) -> Result<Vec<String>, StoreError> {
        self.opened.writable()?;
        if let Some(by) = self.opened.needed_by(id)? {
            return Err(StoreError::Needed { id, by });
        }
        let level = self.level();
        if level.size(id).is_none() {
            return Err(StoreError::NotFound {
                id,
                folder: self.folder().to_owned(),
            });
        }
        let copy = level.create(id)?;
        let copied = level.open(id).and_then(|from| copy_of(&from, &copy));
        let changed = copied
            .map_err(|error| StoreError::writing(&self.path(id), 0, &error))
            .and_then(|()| format::renew(&copy, id, level, self.faults));
        match &changed {
            Ok(changed) if !changed.is_empty() => level.publish(id)?,
            _ => level.discard(id),
        }
        changed
    }

    /// Writes a small text `NAME.txt` beside the checkpoints, as a whole or not at all: the state of the job.
    ///
    /// # Errors
    /// As [`Store::commit`]; [`StoreError::Name`] when the name is not a plain one.
    pub fn write_note(&mut self, name: &str, text: &str) -> Result<(), StoreError> {
        self.opened.writable()?;
        is_plain(name)?;
        let name = note(name);
        let written = self
            .documents()
            .replace(&name, text.as_bytes(), Durability::Synced);
        written
            .map_err(|error| StoreError::writing(&self.documents().path_of(&name), text.len() as u64, &error))
    }

    /// Reads what [`Store::write_note`] wrote; `None` if nothing was.
    ///
    /// # Errors
    /// When it exists and cannot be read.
    pub fn read_note(&self, name: &str) -> Result<Option<String>, StoreError> {
        is_plain(name)?;
        let name = note(name);
        let text = self.documents().read(&name).and_then(|bytes| {
            let text = bytes.map(String::from_utf8).transpose();
            text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
        });
        text.map_err(|error| StoreError::io("read", &self.documents().path_of(&name), &error))
    }

    /// What else the run keeps in the store.
    pub(crate) fn documents(&self) -> Arc<dyn Documents> {
        self.level().documents()
    }
}

/// The document that holds a note.
fn note(name: &str) -> String {
    format!("{name}.txt")
}

fn is_plain(name: &str) -> Result<(), StoreError> {
    let is_part = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    match !name.is_empty() && name.bytes().all(is_part) {
        true => Ok(()),
        false => Err(StoreError::Name(name.to_owned())),
    }
}

/// Makes a file with the bytes and the rights of another.
fn copy_of(mut from: &File, to: &Path) -> io::Result<()> {
    let mut copy = File::create_new(to)?;
    io::copy(&mut from, &mut copy)?;
    copy.set_permissions(from.metadata()?.permissions())
}
