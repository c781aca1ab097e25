//! The store on a level that is no folder: checkpoints lie in memory.
//!
//! HDF5 makes a plain file, so a checkpoint is written into one, in a temporary folder, and read through one that has no
//! name; between the two there is no file of it. Its datasets that lie in other checkpoints are found by ckpt, not by other programs.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use super::level::{Lock, RunDocuments, StorageLevel};
use super::{Keep, Mode, Store, names};
use crate::base::documents::{Documents, Durability, in_memory};
use crate::base::fault::Faults;
use crate::base::run_id::RunId;
use crate::format::{CheckpointId, ELSEWHERE_NOTE, Files, Meta, Restored, StoreError, Storing};
use crate::plan::FunctionPlan;
use crate::value::Checkpoint;

static PLAN: FunctionPlan = FunctionPlan::SAMPLE;

/// What outlives a store on it.
#[derive(Debug, Default)]
struct Shelf {
    checkpoints: Mutex<BTreeMap<CheckpointId, Vec<u8>>>,
    documents: Arc<in_memory::Shelf>,
    runs: Mutex<BTreeMap<RunId, Arc<in_memory::Shelf>>>,
    /// The lock has this and one more while it is held.
    held: Arc<()>,
}

#[derive(Debug)]
struct Memory {
    shelf: Arc<Shelf>,
    drafts: tempfile::TempDir,
}

impl Memory {
    fn on(shelf: &Arc<Shelf>) -> Box<Memory> {
        Box::new(Memory {
            shelf: Arc::clone(shelf),
            drafts: tempfile::tempdir().unwrap(),
        })
    }

    fn draft(&self, id: CheckpointId) -> PathBuf {
        self.drafts.path().join(names::file_name(id, 0))
    }

    fn missing(&self, id: CheckpointId) -> StoreError {
        StoreError::NotFound {
            id,
            folder: self.folder().to_owned(),
        }
    }
}

impl Files for Memory {
    fn path(&self, id: CheckpointId) -> PathBuf {
        Path::new("memory").join(names::file_name(id, 0))
    }

    fn open(&self, id: CheckpointId) -> io::Result<File> {
        let checkpoints = self.shelf.checkpoints.lock().unwrap();
        let bytes = checkpoints
            .get(&id)
            .ok_or_else(|| io::Error::from(ErrorKind::NotFound))?;
        let mut file = tempfile::tempfile()?;
        file.write_all(bytes)?;
        file.rewind()?;
        Ok(file)
    }
}

impl StorageLevel for Memory {
    fn folder(&self) -> &Path {
        Path::new("memory")
    }

    fn list(&self) -> Result<Vec<CheckpointId>, StoreError> {
        Ok(self.shelf.checkpoints.lock().unwrap().keys().copied().collect())
    }

    fn size(&self, id: CheckpointId) -> Result<Option<u64>, StoreError> {
        let checkpoints = self.shelf.checkpoints.lock().unwrap();
        Ok(checkpoints.get(&id).map(|bytes| bytes.len() as u64))
    }

    fn create(&self, id: CheckpointId) -> Result<PathBuf, StoreError> {
        self.discard(id);
        Ok(self.draft(id))
    }

    fn discard(&self, id: CheckpointId) {
        let _ = fs::remove_file(self.draft(id));
    }

    fn publish(&self, id: CheckpointId) -> Result<(), StoreError> {
        let bytes = fs::read(self.draft(id)).unwrap();
        self.shelf.checkpoints.lock().unwrap().insert(id, bytes);
        self.discard(id);
        Ok(())
    }

    fn remove(&self, id: CheckpointId) -> Result<(), StoreError> {
        let removed = self.shelf.checkpoints.lock().unwrap().remove(&id);
        removed.map(drop).ok_or_else(|| self.missing(id))
    }

    fn lock(&self) -> Result<Lock, StoreError> {
        match Arc::strong_count(&self.shelf.held) {
            1 => Ok(Box::new(Arc::clone(&self.shelf.held))),
            _ => Err(StoreError::Locked {
                folder: self.folder().to_owned(),
                pid: std::process::id().to_string(),
                host: "here".to_owned(),
            }),
        }
    }

    fn capacity(&self) -> Option<u64> {
        None
    }

    fn documents(&self) -> Arc<dyn Documents> {
        self.shelf.documents.clone()
    }

    fn runs(&self) -> io::Result<Vec<RunId>> {
        Ok(self.shelf.runs.lock().unwrap().keys().copied().collect())
    }

    fn documents_of(&self, run: RunId) -> Arc<dyn RunDocuments> {
        let mut runs = self.shelf.runs.lock().unwrap();
        runs.entry(run).or_default().clone()
    }

    fn begun(&self, own: RunId) -> Arc<dyn RunDocuments> {
        self.documents_of(own)
    }

    fn left(&self) -> io::Result<Vec<RunId>> {
        Ok(Vec::new())
    }
}

impl RunDocuments for in_memory::Shelf {
    fn become_of(&self, _: RunId, _: &dyn Fn(&str) -> bool) -> io::Result<()> {
        Ok(())
    }

    fn keep_only(&self, keeps: &dyn Fn(&str) -> bool) -> io::Result<()> {
        self.0.lock().unwrap().retain(|name, _| keeps(name));
        Ok(())
    }
}

fn open(shelf: &Arc<Shelf>, mode: Mode) -> Result<Store, StoreError> {
    Store::on(Memory::on(shelf), mode, Faults::default())
}

fn commit(store: &mut Store, list: &impl Checkpoint) -> CheckpointId {
    let mut builder = store.snapshot();
    let frame = builder.frame(&PLAN, 1);
    builder.value(frame, "list", 1, None, list);
    store
        .commit(&builder.finish().unwrap(), &Meta::default())
        .unwrap()
}

#[test]
fn checkpoints_are_written_listed_opened_and_removed() {
    let shelf = Arc::new(Shelf::default());
    let mut store = open(&shelf, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    let ids: Vec<CheckpointId> = (0..3)
        .map(|n| commit(&mut store, &vec![n + 1_u64; 10_000]))
        .collect();
    assert_eq!(store.ids().unwrap(), ids);
    store.remove(ids[1]).unwrap();
    assert!(matches!(store.remove(ids[1]), Err(StoreError::NotFound { .. })));
    drop(store);

    let store = open(&shelf, Mode::ReadOnly).unwrap();
    let entries = store.list().unwrap();
    let listed: Vec<CheckpointId> = entries.iter().map(|entry| entry.id).collect();
    assert_eq!(listed, [ids[0], ids[2]]);
    assert!(
        entries
            .iter()
            .all(|entry| entry.meta.is_ok() && entry.bytes > 80_000)
    );
    let newest = store.newest_whole(&mut |_, _| {}).unwrap().unwrap();
    assert_eq!(newest.id(), ids[2]);
    assert_eq!(newest.decode::<Vec<u64>>(0, "list").unwrap(), [3; 10_000]);
    assert!(matches!(store.load(ids[1]), Err(StoreError::NotFound { .. })));
}

#[test]
fn lists_that_are_to_go_elsewhere_pass_through_memory_that_was_used_before() {
    let shelf = Arc::new(Shelf::default());
    let mut store = open(&shelf, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    // A part is zeros, of which nothing is stored.
    let lists: [Vec<u64>; 2] = [7, 9].map(|number| {
        let mut list = vec![number; 400_000];
        list[(7 - number as usize % 5) * 40_000..][..100_000].fill(0);
        list
    });
    let ids = lists.each_ref().map(|list| {
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 1);
        builder.value(frame, "list", 1, None, list);
        let note = (ELSEWHERE_NOTE.to_owned(), "devices".to_owned());
        let meta = Meta {
            notes: vec![note],
            ..Meta::default()
        };
        store.commit(&builder.finish().unwrap(), &meta).unwrap()
    });
    for (id, list) in ids.into_iter().zip(&lists) {
        let restored = store.load(id).unwrap();
        let mut read = Vec::new();
        let loaded = restored.load(0, "list", &mut |from| {
            let (count, mut from) = from.list()?;
            from.numbers_put::<u64>(count, &mut |bytes| {
                read = bytes.to_vec();
                Ok(())
            })
        });
        loaded.unwrap();
        let expected: Vec<u8> = list.iter().flat_map(|one| one.to_le_bytes()).collect();
        assert!(read == expected);
        assert!(restored.decode::<Vec<u64>>(0, "list").unwrap() == *list);
    }
}

#[test]
fn one_that_builds_on_others_finds_them_on_its_level() {
    let shelf = Arc::new(Shelf::default());
    let mut store = open(&shelf, Mode::ReadWrite).unwrap();
    store.set_storing(Storing {
        compression: None,
        full_every: 3,
    });
    let mut list: Vec<u64> = (1..400_000).collect();
    for round in 0..3 {
        list[round * 100_000] += 1;
        commit(&mut store, &list);
    }
    let ids = store.ids().unwrap();
    let needs: Vec<usize> = store.list().unwrap().iter().map(|one| one.needs.len()).collect();
    assert_eq!(
        (ids.len(), needs),
        (3, vec![0, 1, 2]),
        "retention keeps what is built on"
    );
    let newest = store.load(ids[2]).unwrap();
    assert!(newest.decode::<Vec<u64>>(0, "list").unwrap() == list);
    assert!(matches!(store.remove(ids[0]), Err(StoreError::Needed { .. })));
    shelf.checkpoints.lock().unwrap().remove(&ids[0]);
    let damage = store.verify(ids[2]).unwrap_err();
    assert!(damage[0].to_string().contains("which it builds on"), "{damage:?}");
}

fn commit_of(store: &mut Store, run: RunId) -> CheckpointId {
    let meta = Meta {
        run: Some(run),
        ..Meta::default()
    };
    let snapshot = store.snapshot().finish().unwrap();
    store.commit(&snapshot, &meta).unwrap()
}

#[test]
fn retention_counts_each_run_and_lets_go_of_those_that_are_past() {
    let shelf = Arc::new(Shelf::default());
    let [past, other, own] = [0; 3].map(|_| RunId::new().unwrap());
    let mut store = open(&shelf, Mode::ReadWrite).unwrap();
    for run in [past, past, other, other, other] {
        commit_of(&mut store, run);
    }
    let ids = |store: &Store| -> Vec<u64> { store.ids().unwrap().iter().map(|id| id.0).collect() };
    assert_eq!(ids(&store), [1, 2, 4, 5]);
    let documents = store.documents_of(past);
    for name in ["job.json", "files.log"] {
        documents.replace(name, b"", Durability::Unsynced).unwrap();
    }
    store.past(vec![past], |name| name == "job.json");
    assert_eq!(
        ids(&store),
        [1, 2, 4, 5],
        "the run has no checkpoint of its own yet"
    );
    commit_of(&mut store, own);
    assert_eq!(ids(&store), [4, 5, 6]);
    assert!(documents.read("job.json").unwrap().is_some() && documents.read("files.log").unwrap().is_none());
    for _ in 0..3 {
        commit_of(&mut store, own);
    }
    assert_eq!(ids(&store), [4, 5, 8, 9], "a run that nobody has ended stays");
    let any = &|_: &Restored| Ok(());
    let newest = store.newest_of(other, CheckpointId(u64::MAX), any, &mut |_, _| {});
    assert_eq!(newest.unwrap().unwrap().id(), CheckpointId(5));
    let not = &|restored: &Restored| match restored.id().0 {
        9 => Err("not this one".to_owned()),
        _ => Ok(()),
    };
    let mut passed = Vec::new();
    let report = &mut |id, why: &dyn std::fmt::Display| passed.push((id, why.to_string()));
    let newest = store.newest_of(own, CheckpointId(u64::MAX), not, report);
    assert_eq!(newest.unwrap().unwrap().id(), CheckpointId(8));
    assert_eq!(passed, [(CheckpointId(9), "not this one".to_owned())]);
}

#[test]
fn what_is_no_checkpoint_is_the_levels_as_well() {
    let shelf = Arc::new(Shelf::default());
    let mut store = open(&shelf, Mode::ReadWrite).unwrap();
    assert!(matches!(
        open(&shelf, Mode::ReadWrite),
        Err(StoreError::Locked { .. })
    ));
    store.write_note("job", "running").unwrap();
    let id = commit(&mut store, &vec![7; 10]);
    assert_eq!(store.renew(id, &mut |_| true).unwrap(), []);
    drop(store);
    shelf
        .checkpoints
        .lock()
        .unwrap()
        .get_mut(&id)
        .unwrap()
        .truncate(600);
    let mut store = open(&shelf, Mode::ReadWrite).unwrap();
    assert_eq!(store.read_note("job").unwrap().as_deref(), Some("running"));
    let mut passed_over = Vec::new();
    let newest = store.newest_whole(&mut |id, _| passed_over.push(id)).unwrap();
    assert!(newest.is_none() && passed_over == [id]);
    assert_eq!(commit(&mut store, &vec![8; 10]), CheckpointId(id.0 + 1));
}
