//! The store with real folders and processes: commits, crashes at every step, locks, retention, full disks.

mod common;
#[path = "../../tests/harness/src/skipped.rs"]
mod skipped;
#[path = "../../tests/harness/src/small_disk.rs"]
mod small_disk;

use std::fs;
use std::path::Path;
use std::process::Command;

use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{
    COMMIT_STEPS, CheckpointId, FORMAT_VERSION, Keep, Meta, Mode, Store, StoreError, VariableContent,
};
use common::{PLAN, meta, snapshot_of};

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_checkpoint_says_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path().join("new/store"), Mode::ReadWrite).unwrap();
    let mut builder = SnapshotBuilder::new();
    let outer = builder.frame(&PLAN, 2);
    let inner = builder.frame(&PLAN, 1);
    builder.value(outer, "n", 3, None, &5_usize);
    builder.link(outer, "sim", 4, None, inner, "self");
    builder.value(inner, "self", 5, Some(0), &vec![1.5, 2.5]);
    let id = store.commit(&builder.finish().unwrap(), &meta()).unwrap();

    let restored = store.load(id).unwrap();
    assert_eq!(restored.meta(), &meta());
    let [outer, inner] = restored.frames() else {
        panic!()
    };
    assert_eq!(
        (
            outer.function.as_str(),
            outer.site,
            outer.site_line,
            outer.site_column
        ),
        ("advance", 2, 15, 5)
    );
    assert_eq!(
        (outer.callee.as_deref(), inner.callee.as_deref()),
        (Some("inner"), None)
    );
    assert_eq!((outer.layout, outer.source), (0x1234, 0x5678));
    assert_eq!(
        outer.variables[1].content,
        VariableContent::Link {
            frame: 1,
            key: "self".into()
        }
    );
    assert_eq!(
        (inner.variables[0].rust_type.as_str(), inner.variables[0].bytes),
        ("alloc::vec::Vec<f64>", 16)
    );
    assert_eq!(restored.decode::<usize>(0, "n").unwrap(), 5);
    assert_eq!(restored.decode::<Vec<f64>>(0, "sim").unwrap(), [1.5, 2.5]);
    assert_eq!(restored.parameter::<Vec<f64>>(1, 0).unwrap(), [1.5, 2.5]);
    assert_eq!(
        restored.decode::<u8>(0, "m").unwrap_err().to_string(),
        "E2309: the checkpoint has no variable `m` in this frame"
    );
    assert!(restored.parameter::<Vec<f64>>(1, 1).is_err());

    let node = restored.tree().find("frames/1/self").unwrap();
    assert_eq!(restored.numbers(node, 1, 10).unwrap(), [2.5]);
    assert_eq!(restored.text(node, 0, 1).unwrap(), ["1.5"]);
}

#[test]
fn a_link_to_nowhere_is_refused() {
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&PLAN, 1);
    builder.link(frame, "a", 1, None, 3, "b");
    assert_eq!(builder.finish().unwrap_err().variable, "a");
}

#[test]
fn objects_are_shared_between_variables() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let shared = std::rc::Rc::new(std::cell::Cell::new(1));
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&PLAN, 1);
    builder.value(frame, "a", 1, None, &shared);
    builder.value(frame, "b", 2, None, &vec![shared.clone()]);
    let id = store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    assert_eq!(std::rc::Rc::strong_count(&shared), 1);
    let restored = store.load(id).unwrap();
    let a: std::rc::Rc<std::cell::Cell<i32>> = restored.decode(frame, "a").unwrap();
    let b: Vec<std::rc::Rc<std::cell::Cell<i32>>> = restored.decode(frame, "b").unwrap();
    assert!(std::rc::Rc::ptr_eq(&a, &b[0]));
    drop(restored);
    assert_eq!(std::rc::Rc::strong_count(&a), 2);
}

#[test]
fn many_single_values_share_tables() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&PLAN, 1);
    for k in 0..10_000_u64 {
        builder.value(frame, format!("v{k}"), 1, (k == 3).then_some(2), &(k * k));
        if k % 100 == 0 {
            builder.value(frame, format!("flag {k}"), 1, None, &(k % 200 == 0));
        }
    }
    let id = store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    assert!(fs::metadata(store.path(id)).unwrap().len() < 2_000_000);
    let restored = store.load(id).unwrap();
    for k in (0..10_000).step_by(7) {
        assert_eq!(restored.decode::<u64>(frame, &format!("v{k}")).unwrap(), k * k);
    }
    assert_eq!(restored.parameter::<u64>(frame, 2).unwrap(), 9);
    assert!(restored.decode::<bool>(frame, "flag 400").unwrap());
    let node = restored.tree().find("frames/0/v12").unwrap();
    assert_eq!(restored.text(node, 0, 1).unwrap(), ["144"]);
}

#[test]
fn the_newest_few_stay() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    for k in 0..5 {
        store.commit(&snapshot_of(&k), &meta()).unwrap();
    }
    assert_eq!(store.ids().unwrap(), [CheckpointId(4), CheckpointId(5)]);
    store.set_keep(Keep::All);
    store.commit(&snapshot_of(&5), &meta()).unwrap();
    assert_eq!(
        names(folder.path()),
        ["000004.r0.h5", "000005.r0.h5", "000006.r0.h5", "lock"]
    );
    store.set_keep(Keep::Last(0));
    store.commit(&snapshot_of(&6), &meta()).unwrap();
    assert_eq!(store.ids().unwrap(), [CheckpointId(7)], "at least one stays");
    store.remove(CheckpointId(7)).unwrap();
    assert!(matches!(
        store.remove(CheckpointId(7)),
        Err(StoreError::NotFound { .. })
    ));
    assert!(store.newest_whole(&mut |_, _| ()).unwrap().is_none());
}

#[test]
fn a_second_job_is_refused_and_told_whom_to_wait_for() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let error = Store::open(folder.path(), Mode::ReadWrite).unwrap_err();
    let StoreError::Locked { pid, host, .. } = &error else {
        panic!("{error}")
    };
    assert_eq!(*pid, std::process::id().to_string());
    assert_eq!(*host, ckpt::store::host_name());
    assert!(
        Store::open(folder.path(), Mode::ReadOnly)
            .unwrap()
            .ids()
            .unwrap()
            .is_empty()
    );
    drop(store);
    Store::open(folder.path(), Mode::ReadWrite).unwrap();
}

#[test]
fn one_who_looks_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(".000001.r0.h5.tmp"), "half").unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadOnly).unwrap();
    assert!(matches!(
        store.commit(&snapshot_of(&1), &meta()),
        Err(StoreError::ReadOnly(_))
    ));
    assert!(matches!(
        store.write_note("job", ""),
        Err(StoreError::ReadOnly(_))
    ));
    assert_eq!(names(folder.path()), [".000001.r0.h5.tmp"]);
    Store::open(folder.path(), Mode::ReadWrite).unwrap();
    assert_eq!(names(folder.path()), ["lock"]);
    assert!(Store::open(folder.path().join("none"), Mode::ReadOnly).is_err());
}

#[test]
fn notes_stay_in_the_folder() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    assert_eq!(store.read_note("job").unwrap(), None);
    store.write_note("job", "running").unwrap();
    store.write_note("job", "completed").unwrap();
    assert_eq!(store.read_note("job").unwrap().as_deref(), Some("completed"));
    assert!(matches!(store.write_note("../job", ""), Err(StoreError::Name(_))));
}

#[test]
fn only_plain_names_are_checkpoints() {
    let folder = tempfile::tempdir().unwrap();
    for name in [
        "0000001.r0.h5",
        "1.r0.h5",
        "000001.r1.h5",
        "00000x.r0.h5",
        "+00001.r0.h5",
        "99999999999999999999999.r0.h5",
    ] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    assert_eq!(
        Store::open(folder.path(), Mode::ReadOnly).unwrap().ids().unwrap(),
        []
    );
}

#[test]
fn a_lock_that_is_a_link_leads_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = folder.path().join("precious");
    fs::write(&elsewhere, "data").unwrap();
    let store = folder.path().join("store");
    fs::create_dir(&store).unwrap();
    std::os::unix::fs::symlink(&elsewhere, store.join("lock")).unwrap();
    assert!(Store::open(&store, Mode::ReadWrite).is_err());
    assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "data");
}

#[test]
fn a_damaged_checkpoint_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    store.commit(&snapshot_of(&vec![1_u64; 10_000]), &meta()).unwrap();
    let newest = store.commit(&snapshot_of(&vec![2_u64; 10_000]), &meta()).unwrap();
    let mut bytes = fs::read(store.path(newest)).unwrap();
    let body = bytes
        .windows(16)
        .position(|window| window == [2, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0])
        .unwrap();
    bytes[body + 4000] ^= 4;
    fs::write(store.path(newest), &bytes).unwrap();
    let mut reports = Vec::new();
    let restored = store
        .newest_whole(&mut |id, error| reports.push((id, error.to_string())))
        .unwrap()
        .unwrap();
    assert_eq!(restored.decode::<Vec<u64>>(0, "x").unwrap(), vec![1; 10_000]);
    assert_eq!(reports.len(), 1);
    assert!(
        reports[0]
            .1
            .contains("000002.r0.h5 is damaged: /frames/0/x: block 0: checksum "),
        "{}",
        reports[0].1
    );
    let damage = store.verify(newest).unwrap_err();
    assert_eq!((damage.len(), damage[0].place.as_str()), (1, "/frames/0/x"));
    assert!(store.verify(CheckpointId(1)).is_ok());
    assert!(store.list().unwrap().iter().all(|entry| entry.meta.is_ok()));
}

/// What the tests below run in a process of its own: two commits into the folder given.
#[test]
#[ignore = "run by the tests below"]
fn child_commits() {
    let folder = std::env::var("CKPT_TEST_STORE").unwrap();
    let mut store = Store::open(folder, Mode::ReadWrite).unwrap();
    store.set_keep(Keep::Last(1));
    store
        .commit(&snapshot_of(&vec![2_u32; 50_000]), &Meta { visit: 2, ..meta() })
        .unwrap();
}

fn child(folder: &Path, fault: &str) -> std::process::ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_commits", "--ignored", "--quiet"])
        .env("CKPT_TEST_STORE", folder)
        .env("CKPT_FAULT", fault)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status()
        .unwrap()
}

#[test]
fn a_crash_at_any_step_leaves_a_whole_checkpoint() {
    use std::os::unix::process::ExitStatusExt;
    for step in 1..=COMMIT_STEPS.len() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        store
            .commit(&snapshot_of(&vec![1_u32; 50_000]), &Meta { visit: 1, ..meta() })
            .unwrap();
        drop(store);
        let status = child(folder.path(), &format!("commit-step:{step}"));
        assert_eq!(status.signal(), Some(9), "step {step}: {status:?}");

        let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
        let mut reports = 0;
        let restored = store.newest_whole(&mut |_, _| reports += 1).unwrap().unwrap();
        let expected = if step < 9 { 1 } else { 2 };
        assert_eq!(
            restored.decode::<Vec<u32>>(0, "x").unwrap(),
            vec![expected; 50_000],
            "step {step}"
        );
        assert_eq!(
            (restored.meta().visit, reports),
            (u64::from(expected), 0),
            "step {step}"
        );
        assert!(
            names(folder.path()).iter().all(|name| !name.starts_with('.')),
            "step {step}"
        );
        store.commit(&snapshot_of(&3), &meta()).unwrap();
    }
    let folder = tempfile::tempdir().unwrap();
    assert!(child(folder.path(), "").success());
}

#[test]
fn a_full_disk_is_an_error_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let Some(disk) = small_disk::SmallDisk::mount(folder.path(), 1024) else {
        skipped::skipped(
            "a store on a full disk",
            "this user may not mount a small file system",
        );
        return;
    };
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    store.commit(&snapshot_of(&vec![1_u8; 1000]), &meta()).unwrap();
    let before = names(folder.path());
    for size in [2_000_000, 900_000, 800_000, 700_000, 600_000] {
        match store.commit(&snapshot_of(&vec![2_u8; size]), &meta()) {
            Err(StoreError::DiskFull { .. }) => assert_eq!(names(folder.path()), before, "{size}"),
            Err(error) => panic!("{size}: {error}"),
            Ok(_) => break,
        }
    }
    // No space at all, not even for an empty file's first block.
    let filler = folder.path().join("filler");
    let mut size = 1 << 20;
    while size > 0 {
        let mut file = fs::File::options()
            .append(true)
            .create(true)
            .open(&filler)
            .unwrap();
        if std::io::Write::write_all(&mut file, &vec![0; size]).is_err() {
            size /= 2;
        }
    }
    let error = store.commit(&snapshot_of(&1), &meta()).unwrap_err();
    assert!(matches!(error, StoreError::DiskFull { .. }), "{error:?}");
    let id = *store.ids().unwrap().last().unwrap();
    store.verify(id).unwrap();
    fs::remove_file(&filler).unwrap();
    store.commit(&snapshot_of(&1), &meta()).unwrap();
    drop((store, disk));
}

#[test]
fn another_version_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let id = store.commit(&snapshot_of(&1), &meta()).unwrap();
    let mut bytes = fs::read(store.path(id)).unwrap();
    bytes[8] = 9;
    fs::write(store.path(id), &bytes).unwrap();
    assert!(
        matches!(store.load(id), Err(StoreError::Damaged { .. })),
        "a flipped bit is no version"
    );
    let sum = xxhash_rust::xxh3::xxh3_128(&bytes[..496]);
    bytes[496..512].copy_from_slice(&sum.to_le_bytes());
    fs::write(store.path(id), &bytes).unwrap();
    let error = store.load(id).unwrap_err();
    assert!(matches!(
        error,
        StoreError::Version {
            found: 9,
            known: FORMAT_VERSION,
            ..
        }
    ));
    assert!(
        error
            .to_string()
            .contains("has format version 9, this program reads version 5")
    );
    assert!(matches!(
        store.list().unwrap()[0].meta,
        Err(StoreError::Version { .. })
    ));
}

/// What has the name of the next checkpoint and is none is in nobody's way, and stays.
#[test]
fn what_has_the_name_of_a_checkpoint_costs_none() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let commit = |store: &mut Store| store.commit(&snapshot_of(&1_u64), &meta());
    assert_eq!(commit(&mut store).unwrap(), CheckpointId(1));
    fs::create_dir(folder.path().join("000002.r0.h5")).unwrap();
    std::os::unix::fs::symlink("elsewhere", folder.path().join("000003.r0.h5")).unwrap();
    assert_eq!(commit(&mut store).unwrap(), CheckpointId(4));
    drop(store);
    fs::create_dir(folder.path().join("000005.r0.h5")).unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    assert_eq!(commit(&mut store).unwrap(), CheckpointId(6));
    assert!(folder.path().join("000003.r0.h5").is_symlink());
}
