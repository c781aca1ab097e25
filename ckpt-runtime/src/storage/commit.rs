//! One checkpoint on its way to the disk: written under another name, published, and what retention lets go removed.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::Keep;
use super::opened::{Found, Head, Opened};
use crate::base::fault::{Faults, Step};
use crate::base::lock::locked;
use crate::base::pages::Pages;
use crate::base::report::say;
use crate::base::room;
use crate::base::run_id::RunId;
use crate::format::{self, Base, CheckpointId, Direct, Meta, Order, StoreError, Storing, Stream, Ways};
use crate::state::journal::Reach;
use crate::state::snapshot::{Snapshot, SnapshotBuilder};
use crate::value::Sink;

/// Runs that nobody goes on with: their checkpoints go once this run has one.
#[derive(Debug, Default)]
pub(super) struct Past {
    pub runs: Vec<RunId>,
    /// The documents that tell of a run, which stay.
    pub keeps: Option<fn(&str) -> bool>,
}

/// What it takes to bring a checkpoint to the disk.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    /// Bytes of its file.
    pub file: u64,
    /// How long it took until the disk had what the system had been given.
    pub synced: Duration,
}

/// A checkpoint that has its number and is not written yet. Any thread may write it; the store keeps its lock until then.
#[derive(Debug)]
pub(crate) struct Commit {
    pub(super) opened: Arc<Opened>,
    pub(super) faults: Faults,
    pub(super) id: CheckpointId,
    pub(super) keep: Keep,
    /// The newest that is known to be whole on all ranks.
    pub(super) complete: CheckpointId,
    /// Numbers of lines that some rank never wrote.
    pub(super) abandoned: Range<u64>,
    /// Which checkpoints of this run the program's files can be brought back to.
    pub(super) reach: Arc<Reach>,
    /// Runs that nobody goes on with.
    pub(super) past: Arc<Mutex<Past>>,
    pub(super) storing: Storing,
    pub(super) direct: Direct,
    pub(super) ways: Arc<Mutex<Ways>>,
    /// What it need not store again.
    pub(super) base: Option<Arc<Base>>,
    pub(super) pages: Option<Arc<Mutex<Pages>>>,
    /// What the next one need not.
    pub(super) next: Arc<Mutex<Option<Arc<Base>>>>,
    /// The file, if large lists are written while they are gathered.
    pub(super) stream: Option<Arc<Mutex<Stream>>>,
}

impl Commit {
    /// A snapshot for this commit whose large lists are written as they are gathered, not copied: the program waits for
    /// the disk, and what is compared or compressed is copied all the same.
    pub(crate) fn snapshot(&mut self) -> SnapshotBuilder {
        let capture = self.base.as_ref().map(|base| base.capture()).unwrap_or_default();
        let mut capture = capture.watched_by(self.pages.as_ref());
        if self.storing.compression.is_none() && self.base.is_none() {
            let stream = |file: PathBuf| Stream::create(&file, self.faults, (self.direct, &self.ways));
            // What goes wrong here goes wrong again, and is reported, when the file is written as others are.
            if let Ok(stream) = self.opened.level.create(self.id).and_then(stream) {
                let stream = Arc::new(Mutex::new(stream));
                capture.sink = Some(Arc::clone(&stream) as Arc<Mutex<dyn Sink>>);
                self.stream = Some(stream);
            }
        }
        SnapshotBuilder::in_blocks(capture)
    }

    /// Writes it, and notes what that took. When this returns it is on disk as a whole; if it fails, or the machine does, the
    /// older ones are as they were.
    ///
    /// # Errors
    /// As [`Store::commit`](super::Store::commit).
    pub(crate) fn write(
        mut self,
        snapshot: &Snapshot,
        meta: &Meta,
        cost: &mut Cost,
    ) -> Result<CheckpointId, StoreError> {
        let copied = snapshot.wait();
        // Whoever gathered the snapshot is done.
        let stream = self.stream.take().and_then(Arc::into_inner);
        let stream = stream.map(|stream| stream.into_inner().unwrap_or_else(PoisonError::into_inner));
        let (level, id) = (&*self.opened.level, self.id);
        let unfinished = match &stream {
            Some(stream) => stream.path().to_owned(),
            None => level.create(id)?,
        };
        copied.map_err(|error| StoreError::io("copy the state for", &unfinished, &error))?;
        if !room::is_there(format::memory_for(snapshot, self.storing)) {
            drop(stream);
            level.discard(id);
            return Err(StoreError::io(
                "write",
                &unfinished,
                &io::Error::new(io::ErrorKind::OutOfMemory, room::NO_MEMORY),
            ));
        }
        let order = Order {
            id,
            files: level,
            free: level.capacity(),
            faults: self.faults,
            storing: self.storing,
            base: self.base.as_deref(),
            direct: self.direct,
            ways: &self.ways,
        };
        // If it fails, nothing is known of what the next one could build on.
        let next = || self.next.lock().unwrap_or_else(PoisonError::into_inner);
        *next() = None;
        let on_disk = match format::write(&unfinished, snapshot, meta, order, stream) {
            Ok(on_disk) => on_disk,
            Err(error) => {
                // The error that matters is the first one.
                level.discard(id);
                return Err(error);
            }
        };
        cost.file = on_disk.length;
        let began = Instant::now();
        level.publish(id)?;
        cost.synced += on_disk.synced + began.elapsed();
        self.opened.is_written_anew(id);
        *next() = (self.storing.full_every > 1).then(|| Arc::new(on_disk.base));
        self.faults.reached(Step::Committed);
        self.retain(meta.run).map_err(|error| StoreError::NotRemoved {
            id,
            why: error.to_string(),
        })?;
        Ok(id)
    }

    /// Removes what retention lets go: of this run, and of those that nobody goes on with. What other runs have stays.
    fn retain(&self, run: Option<RunId>) -> Result<(), StoreError> {
        let Keep::Last(keep) = self.keep else {
            return Ok(());
        };
        let all = self.opened.level.list()?;
        let mut past = locked(&self.past);
        let (mut own, mut has_others) = (Vec::new(), false);
        for id in all.iter().copied().filter(|id| *id <= self.complete) {
            match self.opened.found(id)? {
                Found::Head(head) if head.run == run => own.push((id, self.use_of(id, &head))),
                Found::Head(head) => has_others |= head.run.is_none_or(|run| !past.runs.contains(&run)),
                Found::Damaged => own.push((id, Use::Damaged)),
                Found::Strange => has_others = true,
                Found::Nothing => {}
            }
        }
        // What is no line for others goes as soon as there is a newer one that is.
        let (abandoned, mut own): (Vec<_>, Vec<_>) = own
            .into_iter()
            .partition(|(id, _)| self.abandoned.contains(&id.0));
        // This run has a line of its own from now on.
        if own.is_empty() {
            return Ok(());
        }
        if has_others {
            // Whose it was cannot be read.
            own.retain(|(id, of_use)| *of_use != Use::Damaged || self.opened.is_known_damaged(*id));
        }
        let keep = keep.max(1) as usize;
        let mut surplus = self.surplus(&own, keep);
        let is_damaged = |id: &&CheckpointId| own.contains(&(**id, Use::Damaged));
        for id in surplus.iter().filter(is_damaged) {
            say(&format!(
                "warning[W2080]: checkpoint {id} is damaged, and removed now: as many newer ones can be restored as are to be kept"
            ));
        }
        surplus.extend(abandoned.iter().map(|(id, _)| id));
        for id in &all {
            for run in &past.runs {
                if self.opened.is_of(*id, Some(*run))? {
                    surplus.push(*id);
                }
            }
        }
        self.remove(surplus)?;
        for run in &past.runs {
            let documents = self.opened.level.documents_of(*run);
            let kept = documents.keep_only(&past.keeps.unwrap_or(|_| true));
            kept.map_err(|error| {
                StoreError::io("remove what is not needed in", &documents.path_of(""), &error)
            })?;
        }
        // Where something could not be removed, the next checkpoint tries again.
        past.runs.clear();
        Ok(())
    }

    /// Those that need not be kept. The store keeps as many as it should without what lies in its fallback, which may not be there one
    /// day; there goes what has enough newer ones, wherever they are.
    fn surplus(&self, own: &[(CheckpointId, Use)], keep: usize) -> Vec<CheckpointId> {
        let lies_in_fallback = |id: CheckpointId| self.opened.level.lies_in_fallback(id);
        let here: Vec<_> = own
            .iter()
            .copied()
            .filter(|(id, _)| !lies_in_fallback(*id))
            .collect();
        let mut gone = surplus(&here, keep);
        if here.len() < own.len() {
            gone.extend(surplus(own, keep).into_iter().filter(|id| lies_in_fallback(*id)));
            gone.sort_unstable();
        }
        gone
    }

    /// What a checkpoint of this run is of use for, as far as is known without reading it.
    fn use_of(&self, id: CheckpointId, head: &Head) -> Use {
        match head.epoch {
            _ if self.opened.is_known_damaged(id) => Use::Damaged,
            Some(epoch) if !self.reach.has(epoch) => Use::OutOfReach,
            _ => Use::Restorable,
        }
    }

    /// Removes checkpoints, but those that others build on.
    fn remove(&self, mut surplus: Vec<CheckpointId>) -> Result<(), StoreError> {
        if surplus.is_empty() {
            return Ok(());
        }
        // What those that stay build on stays as well.
        for id in self.opened.level.list()? {
            if !surplus.contains(&id) {
                let needs = self.opened.needs(id)?;
                surplus.retain(|surplus| !needs.contains(surplus));
            }
        }
        // The newest first: whatever is left at any moment has all that it needs.
        surplus.sort_unstable();
        for id in surplus.iter().rev() {
            self.opened.remove(*id)?;
            self.faults.reached(Step::Removed);
        }
        Ok(())
    }
}

/// What a checkpoint is of use for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Restorable,
    /// The program's files cannot be brought back to what they were then.
    OutOfReach,
    Damaged,
}

/// Those that need not be kept, of all that a run has, oldest first. One that can be restored goes where as many newer ones
/// are that can be; so does one that is damaged. One whose files are out of reach, which it stays, goes where there are as many newer
/// ones of any kind: else a program whose files could never be kept would fill the disk.
fn surplus(own: &[(CheckpointId, Use)], keep: usize) -> Vec<CheckpointId> {
    let (mut restorable, mut whole) = (0, 0);
    let mut surplus = Vec::new();
    for (id, of_use) in own.iter().rev() {
        let enough = match of_use {
            Use::Restorable | Use::Damaged => restorable >= keep,
            Use::OutOfReach => whole >= keep,
        };
        restorable += usize::from(*of_use == Use::Restorable);
        whole += usize::from(*of_use != Use::Damaged);
        if enough {
            surplus.push(*id);
        }
    }
    surplus.reverse();
    surplus
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::FunctionPlan;
    use crate::storage::{Mode, Store};

    static PLAN: FunctionPlan = FunctionPlan::SAMPLE;

    #[test]
    fn retention_counts_what_can_be_restored() {
        use Use::{Damaged, OutOfReach, Restorable};
        let goes = |own: &[Use], keep| -> Vec<u64> {
            let ids = (1..).map(CheckpointId);
            let own: Vec<_> = ids.zip(own.iter().copied()).collect();
            surplus(&own, keep).iter().map(|id| id.0).collect()
        };
        assert_eq!(goes(&[Restorable; 4], 2), [1, 2]);
        assert_eq!(
            goes(&[Restorable, Damaged, Damaged], 1),
            [0; 0],
            "the only one stays"
        );
        assert_eq!(
            goes(&[Restorable, Damaged, Restorable, Damaged, Restorable], 2),
            [1, 2]
        );
        assert_eq!(goes(&[Damaged; 4], 1), [0; 0]);
        // A restart from the first has given up the second and third.
        assert_eq!(goes(&[Restorable, OutOfReach, OutOfReach, Restorable], 2), [2]);
        assert_eq!(
            goes(&[Restorable, OutOfReach, OutOfReach, Restorable, Restorable], 2),
            [1, 2, 3]
        );
        // Nothing can be kept any more.
        assert_eq!(
            goes(&[Restorable, OutOfReach, OutOfReach, OutOfReach, OutOfReach], 2),
            [2, 3]
        );
    }

    type Dense = (Vec<f64>, Vec<[u32; 3]>, Vec<[[u16; 2]; 2]>);

    fn dense() -> Dense {
        let numbers = (1..300_000).map(f64::from).collect();
        let rows = (1..120_000).map(|n| [n, n + 1, 7]).collect();
        let deep = (1..200_000).map(|n| [[n as u16 | 1, 2], [3, 4]]).collect();
        (numbers, rows, deep)
    }

    /// A checkpoint whose lists are written as they are gathered.
    fn streamed(store: &mut Store, state: &(Dense, Vec<u8>)) -> CheckpointId {
        let mut commit = store.begin().unwrap();
        let mut builder = commit.snapshot();
        let frame = builder.frame(&PLAN, 1);
        builder.value(frame, "dense", 1, None, &state.0);
        builder.value(frame, "sparse", 2, None, &state.1);
        builder.value(frame, "name", 3, None, "a name");
        let snapshot = builder.finish().unwrap();
        // Only what has zeros in it, or arrays in arrays, was copied.
        let copied = snapshot.held();
        assert!((1_600_000..2_200_000).contains(&copied), "{copied}");
        assert!(snapshot.bytes() > 7_000_000);
        let mut cost = Cost::default();
        let id = commit.write(&snapshot, &Meta::default(), &mut cost).unwrap();
        assert_eq!(cost.file, store.load(id).unwrap().file_bytes());
        id
    }

    #[test]
    fn lists_that_are_written_at_once_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        let mut sparse = vec![0; 2_000_000];
        sparse[1_000_000..1_100_000].fill(9);
        let mut state = (dense(), sparse);
        for round in 0..3 {
            state.0.0[round] += 0.5;
            let id = streamed(&mut store, &state);
            let restored = store.load(id).unwrap();
            assert!(restored.decode::<Dense>(0, "dense").unwrap() == state.0);
            assert!(restored.decode::<Vec<u8>>(0, "sparse").unwrap() == state.1);
            assert_eq!(restored.decode::<String>(0, "name").unwrap(), "a name");
            let rows = restored.tree().find("frames/0/dense/1").unwrap();
            assert!(
                matches!(&rows.kind, crate::format::NodeKind::Dataset { shape, .. } if *shape == [119_999, 3])
            );
        }
    }

    /// Both the lists that are written as they are gathered and those that were copied before.
    #[test]
    fn a_file_is_the_same_whether_it_was_written_past_the_cache_or_not() {
        let mut files = Vec::new();
        for (direct, is_copied) in [
            (Direct::Off, false),
            (Direct::On, false),
            (Direct::Off, true),
            (Direct::On, true),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
            store.set_direct(direct);
            let mut commit = store.begin().unwrap();
            let mut builder = match is_copied {
                true => store.snapshot(),
                false => commit.snapshot(),
            };
            let frame = builder.frame(&PLAN, 1);
            builder.value(frame, "dense", 1, None, &dense());
            let snapshot = builder.finish().unwrap();
            let id = commit
                .write(&snapshot, &Meta::default(), &mut Cost::default())
                .unwrap();
            let restored = store.load(id).unwrap();
            assert!(restored.decode::<Dense>(0, "dense").unwrap() == dense());
            files.push(std::fs::read(store.path(id)).unwrap());
        }
        // In front stands when the file was made, with what checksums follow from that.
        let is_same = |one: &[u8], other: &[u8]| one.len() == other.len() && one[1024..] == other[1024..];
        assert!(is_same(&files[0], &files[1]) && is_same(&files[2], &files[3]));
    }

    #[test]
    fn the_next_one_builds_on_what_was_written_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        store.set_storing(Storing {
            compression: None,
            full_every: 3,
        });
        store.set_keep(Keep::All);
        let mut list: Vec<u64> = (1..400_000).collect();
        for round in 0..4 {
            let mut commit = store.begin().unwrap();
            let mut builder = commit.snapshot();
            let frame = builder.frame(&PLAN, 1);
            builder.value(frame, "list", 1, None, &list);
            let snapshot = builder.finish().unwrap();
            let id = commit
                .write(&snapshot, &Meta::default(), &mut Cost::default())
                .unwrap();
            assert!(store.load(id).unwrap().decode::<Vec<u64>>(0, "list").unwrap() == list);
            list[round * 100_000] += 1;
        }
        let needs: Vec<usize> = store
            .list()
            .unwrap()
            .iter()
            .map(|entry| entry.needs.len())
            .collect();
        assert_eq!(needs, [0, 1, 2, 0]);
    }

    #[test]
    fn a_gathering_that_was_given_up_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        let mut commit = store.begin().unwrap();
        let mut builder = commit.snapshot();
        let frame = builder.frame(&PLAN, 1);
        builder.value(frame, "list", 1, None, &vec![1_u64; 300_000]);
        drop((builder, commit));
        let id = store
            .begin()
            .unwrap()
            .write(&Snapshot::default(), &Meta::default(), &mut Cost::default())
            .unwrap();
        assert_eq!(id, CheckpointId(1));
        store.verify(id).unwrap();
    }
}
