//! The folder as a whole: opening it, beginning checkpoints, finding and reading those that are there.

use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::commit::{Commit, Cost, Past};
use super::level::{RunDocuments, StorageLevel};
use super::opened::{Found, Opened};
use super::{Entry, Fallback, Keep, Mode};
use crate::base::documents::{Documents, Durability};
use crate::base::fault::Faults;
use crate::base::forked::Order;
use crate::base::lock::locked;
use crate::base::pages::Pages;
use crate::base::run_id::RunId;
use crate::format::{
    self, Base, Change, CheckpointId, Damage, Direct, Meta, Restored, StoreError, Storing, Ways,
};
use crate::state::journal::Reach;
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
    /// Whose part of it this is.
    rank: u32,
    opened: Arc<Opened>,
    faults: Faults,
    keep: Keep,
    lines: Lines,
    storing: Storing,
    /// Whether large arrays are written past the system's cache, and what is known of that.
    direct: Direct,
    ways: Arc<Mutex<Ways>>,
    pages: Option<Arc<Mutex<Pages>>>,
    /// Whether another process copies large lists while the program goes on.
    forks: bool,
    reach: Arc<Reach>,
    past: Arc<Mutex<Past>>,
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
    /// Whether the next one is of that line again: the newest of each rank makes it.
    stays: bool,
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
        Store::open_with(folder, mode, rank, &Fallback::AsBefore)
    }

    /// The same, with what is said of its fallback, the folder that checkpoints go to where it cannot be written.
    ///
    /// # Errors
    /// As [`Store::open`]; [`StoreError::Fallback`].
    pub(crate) fn open_with(
        folder: impl AsRef<Path>,
        mode: Mode,
        rank: u32,
        fallback: &Fallback,
    ) -> Result<Store, StoreError> {
        let faults = Faults::of_rank(rank);
        let level = super::level_of(folder.as_ref(), mode, rank, faults, fallback)?;
        let store = Store::on(level, mode, faults)?;
        Ok(Store { rank, ..store })
    }

    /// Opens the store on a level.
    pub(super) fn on(level: Box<dyn StorageLevel>, mode: Mode, faults: Faults) -> Result<Store, StoreError> {
        let lock = match mode {
            Mode::ReadOnly => None,
            Mode::ReadWrite => Some(level.lock()?),
        };
        Ok(Store {
            rank: 0,
            opened: Arc::new(Opened::new(level, lock)),
            faults,
            keep: Keep::default(),
            storing: Storing::default(),
            direct: Direct::Off,
            ways: Arc::default(),
            pages: None,
            forks: false,
            reach: Arc::default(),
            past: Arc::default(),
            last_begun: None,
            base: Arc::default(),
            lines: Lines {
                next: None,
                stays: false,
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

    /// Sets whether large arrays are written past the system's cache from now on.
    pub(crate) fn set_direct(&mut self, direct: Direct) {
        self.direct = direct;
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
        // One that takes the place of another cannot build on it.
        if self.lines.stays && base.ids().any(|id| Some(id.0) == self.lines.next) {
            return None;
        }
        // Somebody may have removed one.
        let are_there = base.ids().all(|id| matches!(self.level().size(id), Ok(Some(_))));
        are_there.then_some(base)
    }

    /// From now on checkpoints are parts of lines: the next is of line `next`, the newest that all ranks have is
    /// `complete`. Numbers between the two are of lines that some rank lacks.
    pub fn continue_lines(&mut self, complete: CheckpointId, next: u64) {
        self.lines = Lines {
            next: Some(next),
            stays: false,
            complete,
            abandoned: complete.0 + 1..next,
        };
    }

    /// What is known of lines: the newest that all ranks have, the number of the next, and those that some rank never wrote.
    pub(crate) fn known_lines(&self) -> (CheckpointId, Option<u64>, Range<u64>) {
        let Lines {
            next,
            complete,
            abandoned,
            ..
        } = &self.lines;
        (*complete, *next, abandoned.clone())
    }

    /// The process goes on with what it knew of them.
    pub(crate) fn knows_lines(
        &mut self,
        (complete, next, abandoned): (CheckpointId, Option<u64>, Range<u64>),
    ) {
        self.lines = Lines {
            next,
            stays: false,
            complete,
            abandoned,
        };
    }

    /// The number of the next line, where ranks count them.
    pub(crate) fn next_line(&self) -> Option<u64> {
        self.lines.next
    }

    /// The line of this number has been taken, or could not be: the other ranks go on counting.
    pub(crate) fn has_passed(&mut self, line: Option<u64>) {
        if !self.lines.stays {
            self.lines.next = line.map(|line| line + 1);
        }
    }

    /// From now on each checkpoint takes the place of the one before it in the same line, in which the ranks need not have
    /// come equally far.
    pub(crate) fn stay_in_line(&mut self) {
        self.lines.stays = true;
    }

    /// What follows is of the line behind that one, also where this rank has not written it.
    pub(crate) fn leave_line(&mut self) {
        self.lines.stays = false;
        self.lines.next = self.lines.next.map(|line| line + 1);
    }

    /// All ranks have written this line.
    pub fn line_is_complete(&mut self, line: CheckpointId) {
        self.lines.complete = self.lines.complete.max(line);
    }

    /// Whether all ranks are known to have written this line.
    pub(crate) fn is_complete(&self, line: CheckpointId) -> bool {
        line <= self.lines.complete
    }

    /// The rank whose part of it this is; 0 in a sequential program.
    pub(crate) fn rank(&self) -> u32 {
        self.rank
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.level().folder()
    }

    fn level(&self) -> &dyn StorageLevel {
        &*self.opened.level
    }

    /// A session has begun there, which may go on writing where the disk is full.
    pub(crate) fn reserves(&self) {
        self.level().reserves();
    }

    /// It could not be written to, time and again: from now on checkpoints go to its fallback, or back from there; the next one is
    /// full. Gives the folder that they go to; nothing where there is no other.
    pub(crate) fn turns(&mut self) -> Option<PathBuf> {
        let folder = self.level().turns()?;
        *locked(&self.base) = None;
        // It may be on another disk.
        self.ways = Arc::default();
        Some(folder)
    }

    /// Whether it has a fallback that checkpoints may go to.
    pub(crate) fn has_fallback(&self) -> bool {
        self.level().has_fallback()
    }

    /// The fallback, if a checkpoint lies there.
    pub fn fallback_of(&self, id: CheckpointId) -> Option<PathBuf> {
        let lies_there = self.level().lies_in_fallback(id);
        lies_there.then(|| self.path(id).parent().map(Path::to_owned))?
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
        self.begin()?.write(snapshot, meta, &mut Cost::default())
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
                let line = *next;
                *next += u64::from(!self.lines.stays);
                CheckpointId(line)
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
            reach: Arc::clone(&self.reach),
            past: Arc::clone(&self.past),
            storing: self.storing,
            direct: self.direct,
            ways: Arc::clone(&self.ways),
            base: self.base(),
            pages: self.pages.clone(),
            next: Arc::clone(&self.base),
            stream: None,
        })
    }

    /// One more than the newest. The folder is listed once: nobody else writes there.
    fn next_id(&mut self) -> Result<CheckpointId, StoreError> {
        let mut next = match self.last_begun {
            // The number of one that could not be written is given again.
            Some(last) => last,
            None => CheckpointId(self.ids()?.last().map_or(1, |last| last.0 + 1)),
        };
        // What may be there is not written over, whatever it is: a folder would be in the way of all that follow.
        loop {
            match self.level().is_taken(next) {
                Ok(false) => break,
                Ok(true) => next.0 += 1,
                // It may be there, and so may what cannot be looked at behind it.
                Err(_) if Some(next) == self.last_begun => {
                    next.0 += 1;
                    break;
                }
                Err(_) => break,
            }
        }
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
                bytes: self.level().size(id).ok().flatten().unwrap_or(0),
                needs,
                lacks: Vec::new(),
                needed_by: Vec::new(),
                meta,
            }
        };
        let ids = self.ids()?;
        let mut entries: Vec<Entry> = ids.iter().copied().map(entry).collect();
        for at in 0..entries.len() {
            let (older, rest) = entries.split_at_mut(at);
            let Some(entry) = rest.first_mut() else {
                continue;
            };
            for needed in &entry.needs {
                match older.iter_mut().find(|older| older.id == *needed) {
                    Some(older) => older.needed_by.push(entry.id),
                    None => entry.lacks.push(*needed),
                }
            }
        }
        Ok(entries)
    }

    /// Checks every byte of the file of a checkpoint, whether or not the files are there that it builds on.
    ///
    /// # Errors
    /// All damage found, by dataset.
    pub fn verify_file(&self, id: CheckpointId) -> Result<(), Vec<Damage>> {
        format::verify_file(id, self.level()).unwrap_or_else(|error| match error {
            StoreError::Damaged { damage, .. } => Err(damage),
            error => Err(vec![Damage::at(Damage::FILE, error.to_string())]),
        })
    }

    /// What the header of a checkpoint says. Reads no values.
    ///
    /// # Errors
    /// It is not there, or its header is damaged.
    pub(crate) fn meta(&self, id: CheckpointId) -> Result<Meta, StoreError> {
        format::read_head(id, self.level()).map(|(meta, _)| meta)
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
        self.newest_usable_up_to(CheckpointId(u64::MAX), &|_| Ok(()), report)
    }

    /// The same among those up to `last` that nothing speaks against.
    ///
    /// # Errors
    /// As [`Store::newest_whole`].
    pub(crate) fn newest_usable_up_to(
        &self,
        last: CheckpointId,
        check: &dyn Fn(&Restored) -> Result<(), StoreError>,
        report: &mut dyn FnMut(CheckpointId, &StoreError),
    ) -> Result<Option<Restored>, StoreError> {
        let ids = self.ids()?.into_iter().rev();
        for id in ids.filter(|id| *id <= last) {
            let loaded = self.load(id);
            match loaded.and_then(|restored| check(&restored).map(|()| restored)) {
                Ok(restored) => return Ok(Some(restored)),
                // Not the file is wrong, and an older one would take work away.
                Err(error @ StoreError::Compressed { .. }) => return Err(error),
                Err(error) => report(id, &error),
            }
        }
        Ok(None)
    }

    /// The same among those of one run up to `last`, and only what `check` has nothing against; `report` is called with what
    /// it says as well.
    ///
    /// # Errors
    /// As [`Store::newest_whole`].
    pub(crate) fn newest_of(
        &self,
        run: RunId,
        last: CheckpointId,
        check: &dyn Fn(&Restored) -> Result<(), String>,
        report: &mut dyn FnMut(CheckpointId, &dyn Display),
    ) -> Result<Option<Restored>, StoreError> {
        let ids = self.ids()?.into_iter().rev();
        for id in ids.filter(|id| *id <= last) {
            match self.open_checkpoint(id) {
                Ok(opened) if opened.meta().run != Some(run) => continue,
                Ok(opened) => match opened.read_all() {
                    Ok(restored) => match check(&restored) {
                        Ok(()) => return Ok(Some(restored)),
                        Err(why) => report(id, &why),
                    },
                    Err(error) => {
                        if matches!(error, StoreError::Damaged { .. }) {
                            self.opened.is_damaged_now(id);
                        }
                        report(id, &error);
                    }
                },
                // Not the file is wrong, and an older one would take work away.
                Err(error @ StoreError::Compressed { .. }) => match self.opened.found(id)? {
                    Found::Head(head) if head.run != Some(run) => continue,
                    _ => return Err(error),
                },
                Err(error) => report(id, &error),
            }
        }
        Ok(None)
    }

    /// The epochs of the journal of files that the checkpoints of a run have begun, as far as they can be read.
    pub(crate) fn epochs_of(&self, run: RunId) -> Result<Vec<u64>, StoreError> {
        let heads = self.ids()?.into_iter().map(|id| self.opened.found(id));
        let own = heads.filter_map(|found| match found {
            Ok(Found::Head(head)) if head.run == Some(run) => head.epoch,
            _ => None,
        });
        Ok(own.collect())
    }

    /// Retention asks there, from now on, which checkpoints of the run the program's files can be brought back to.
    pub(crate) fn retain_by(&mut self, reach: Arc<Reach>) {
        self.reach = reach;
    }

    /// The runs that have a record in the store, in any order; others have at most checkpoints that were copied there.
    ///
    /// # Errors
    /// When the folder cannot be read.
    pub fn runs(&self) -> Result<Vec<RunId>, StoreError> {
        let runs = self.level().runs();
        runs.map_err(|error| StoreError::io("read the runs in", self.folder(), &error))
    }

    /// Removes the record of a run, and what else it keeps beside its checkpoints.
    ///
    /// # Errors
    /// When it cannot be removed; [`StoreError::ReadOnly`].
    pub fn forget_run(&mut self, run: RunId) -> Result<(), StoreError> {
        self.keep_of_run(run, &|_| false)
    }

    /// Removes the record of a run that nobody goes on with. What it has changed in the program's files is still known, as another
    /// run that is continued has to know it.
    ///
    /// # Errors
    /// As [`forget_run`](Store::forget_run).
    pub fn give_up_run(&mut self, run: RunId) -> Result<(), StoreError> {
        self.keep_of_run(run, &crate::state::journal::is_of_files)
    }

    fn keep_of_run(&self, run: RunId, keeps: &dyn Fn(&str) -> bool) -> Result<(), StoreError> {
        self.opened.writable()?;
        let documents = self.documents_of(run);
        let removed = documents.keep_only(keeps);
        removed.map_err(|error| StoreError::io("remove", &documents.path_of(""), &error))
    }

    /// Nobody goes on with these runs: once a run of this store has a checkpoint of its own, theirs go, and of what they keep
    /// stays what `keeps` names.
    pub(crate) fn past(&mut self, runs: Vec<RunId>, keeps: fn(&str) -> bool) {
        *locked(&self.past) = Past {
            runs,
            keeps: Some(keeps),
        };
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

    /// Makes the checksums of a checkpoint anew whose values another program has changed, such as h5py, if `accept` agrees
    /// to what has changed. Returns that; the file is what it was where it is nothing, or was not agreed to.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when more has changed than values; [`StoreError::Needed`] when others build on it.
    pub fn renew(
        &mut self,
        id: CheckpointId,
        accept: &mut dyn FnMut(&[Change]) -> bool,
    ) -> Result<Vec<Change>, StoreError> {
        self.opened.writable()?;
        if let Some(by) = self.opened.needed_by(id)? {
            return Err(StoreError::Needed { id, by });
        }
        let level = self.level();
        if level.size(id)?.is_none() {
            return Err(StoreError::NotFound {
                id,
                folder: self.folder().to_owned(),
            });
        }
        let copy = level.create_in_place(id)?;
        let mut accepted = false;
        let copied = level.open(id).and_then(|from| copy_of(&from, &copy));
        let changed = copied
            .map_err(|error| StoreError::writing(&self.path(id), 0, &error))
            .and_then(|()| {
                let mut accepts = |changes: &[Change]| {
                    accepted = accept(changes);
                    accepted
                };
                format::renew(&copy, id, level, &mut accepts, self.faults)
            });
        match changed.is_ok() && accepted {
            true => level.publish(id)?,
            false => level.discard(id),
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

    /// What is kept in the store of no run in particular.
    pub(crate) fn documents(&self) -> Arc<dyn Documents> {
        self.level().documents()
    }

    /// What a run keeps in the store.
    pub(crate) fn documents_of(&self, run: RunId) -> Arc<dyn RunDocuments> {
        self.level().documents_of(run)
    }

    /// What this rank keeps in the store before it knows its run, under an identity of its own.
    pub(crate) fn begun(&self, own: RunId) -> Arc<dyn RunDocuments> {
        self.level().begun(own)
    }

    /// What this rank has kept before it knew its run, and is there still: under which identities.
    pub(crate) fn left(&self) -> Result<Vec<RunId>, StoreError> {
        let left = self.level().left();
        left.map_err(|error| StoreError::io("read the runs in", self.folder(), &error))
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
