//! Files and folders that a program looks at: after a kill and a restart the tree is what it would have been without.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ckpt::store::{Journals, Mode, Store};

use crate::process::{INPUT, Job};
use crate::programs::{STEPS, in_memory};

crate::tests! {
    the_tree_is_what_it_would_have_been,
    files_are_held_whatever_becomes_of_their_names,
    files_are_held_whatever_becomes_of_their_permissions,
    a_restart_from_an_older_checkpoint_has_its_tree_too,
    a_file_that_is_standard_input_too_comes_back,
    a_store_that_the_program_takes_away_is_told_of_and_never_undone,
    a_program_that_gives_its_own_folder_another_name_comes_back,
    folders_that_are_closed_to_their_owner_come_back,
    what_the_program_reaches_and_the_journal_does_not_is_told_of,
    a_file_that_is_nearly_all_hole_is_kept_and_brought_back_at_once,
    random_histories_come_back,
    every_call_that_changes_files_is_seen,
    what_cannot_be_kept_is_said_and_not_restored,
    a_damaged_part_of_the_journal_is_named_and_what_needs_it_passed_over,
    damage_beside_the_journal_is_found_by_who_checks_every_byte,
    a_copy_that_has_lost_its_links_is_told_of,
    a_copy_of_a_run_that_was_stopped_is_told_of,
    names_that_were_given_before_a_restart_are_known_behind_it,
    a_store_that_is_an_older_copy_of_itself_is_told_of,
    retention_counts_what_can_be_restored,
    a_damaged_checkpoint_is_removed_when_enough_are_whole_and_that_is_said,
    a_program_that_changes_no_files_has_one_part_of_the_journal,
}

const KINDS: [&str; 10] = [
    "tree-large",
    "tree-twice",
    "tree-forks",
    "tree-names",
    "tree-count",
    "tree-memory",
    "tree-shortened",
    "tree-middle",
    "tree-rotated",
    "tree-folders",
];

/// Files that are held open while their names and folders change.
const HELD: [&str; 9] = [
    "tree-held-turned",
    "tree-held-current",
    "tree-held-inside",
    "tree-held-failed",
    "tree-held-names",
    "tree-held-becomes",
    "tree-held-dangling",
    "tree-held-linked",
    "tree-held-archived",
];

/// Everything below a folder but the store: kinds, permissions and bytes, by their paths.
fn tree(folder: &Path) -> BTreeMap<String, String> {
    let mut tree = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            let path = entry.path();
            let found = fs::symlink_metadata(&path).unwrap();
            let mode = found.permissions().mode();
            let what = if found.is_dir() {
                folders.push(path.clone());
                "folder".to_owned()
            } else if found.is_symlink() {
                fs::read_link(&path).unwrap().display().to_string()
            } else {
                String::from_utf8(fs::read(&path).unwrap()).unwrap()
            };
            let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
            if name.ends_with(".ckpt.d") {
                folders.pop();
            } else {
                tree.insert(name, format!("{mode:o} {what}"));
            }
        }
    }
    if let Ok(text) = fs::read_to_string(in_memory(folder)) {
        tree.insert("in memory".to_owned(), text);
    }
    tree
}

/// What a job leaves in memory goes with it.
struct Tree(Job);

impl Drop for Tree {
    fn drop(&mut self) {
        let _ = fs::remove_file(in_memory(self.0.folder()));
    }
}

fn expected(kind: &'static str) -> BTreeMap<String, String> {
    let whole = Tree(Job::new(kind));
    assert_eq!(whole.0.run(&[]).expect_code(0).stderr, "");
    let expected = tree(whole.0.folder());
    assert_eq!(expected["seen.txt"].lines().count(), STEPS as usize, "{kind}");
    expected
}

fn the_tree_is_what_it_would_have_been() {
    come_back(&KINDS);
}

fn files_are_held_whatever_becomes_of_their_names() {
    come_back(&HELD);
    come_back_from_older_ones(&HELD);
}

fn files_are_held_whatever_becomes_of_their_permissions() {
    let keep = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    let whole = Tree(Job::new("tree-held-closed"));
    whole.0.run_as_owner(&keep).expect_code(0);
    let expected = tree(whole.0.folder());
    for (id, visit) in [
        ("2", "visit:4"),
        ("4", "visit:6"),
        ("5", "visit:6"),
        ("7", "visit:9"),
        ("8", "visit:9"),
        ("2", "visit:9"),
    ] {
        let job = Tree(Job::new("tree-held-closed"));
        job.0
            .run_as_owner(&[keep[0], keep[1], ("CKPT_FAULT", visit)])
            .expect_killed();
        job.0
            .run_as_owner(&[keep[0], keep[1], ("CKPT_RESTART", id)])
            .expect_code(0);
        assert_eq!(tree(job.0.folder()), expected, "from checkpoint {id}");
    }
}

fn come_back(kinds: &[&'static str]) {
    for kind in kinds {
        let expected = expected(kind);
        for (every, visit) in [("1", 3), ("1", 4), ("3", 5), ("2", 7), ("3", 8), ("4", 9)] {
            let job = Tree(Job::new(kind));
            let job = &job.0;
            let fault = format!("visit:{visit}");
            let before = job
                .run(&[("CKPT_EVERY", every), ("CKPT_FAULT", &fault)])
                .expect_killed();
            assert!(
                !Store::open(job.store(), Mode::ReadOnly)
                    .unwrap()
                    .list()
                    .unwrap()
                    .is_empty(),
                "{kind} has no checkpoint, killed at visit {visit}, one every {every}: {before:?}"
            );
            if visit < 8 {
                let again = [
                    ("CKPT_EVERY", every),
                    ("CKPT_RESTART", "latest"),
                    ("CKPT_FAULT", "visit:8"),
                ];
                job.run(&again).expect_killed();
            }
            let ended = job
                .run(&[("CKPT_EVERY", every), ("CKPT_RESTART", "latest")])
                .expect_code(0);
            assert_eq!(
                tree(job.folder()),
                expected,
                "{kind} killed at visit {visit}, a checkpoint every {every}: {ended:?}"
            );
        }
    }
}

fn a_restart_from_an_older_checkpoint_has_its_tree_too() {
    come_back_from_older_ones(&KINDS);
}

fn come_back_from_older_ones(kinds: &[&'static str]) {
    let keep = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    for kind in kinds {
        let expected = expected(kind);
        for id in ["2", "4", "7"] {
            let job = Tree(Job::new(kind));
            let job = &job.0;
            job.run(&[keep[0], keep[1], ("CKPT_FAULT", "visit:9")])
                .expect_killed();
            job.run(&[keep[0], keep[1], ("CKPT_RESTART", id)]).expect_code(0);
            assert_eq!(tree(job.folder()), expected, "{kind} from checkpoint {id}");
        }
    }
}

fn a_file_that_is_standard_input_too_comes_back() {
    for kind in ["tree-input", "tree-input-replaced"] {
        let job = || {
            let job = Tree(Job::new(kind));
            fs::write(job.0.folder().join(INPUT), "0123456789 and more").unwrap();
            job
        };
        let whole = job();
        whole.0.run(&[]).expect_code(0);
        for (every, visit) in [("1", 4), ("3", 5), ("4", 9)] {
            let job = job();
            let fault = format!("visit:{visit}");
            job.0
                .run(&[("CKPT_EVERY", every), ("CKPT_FAULT", &fault)])
                .expect_killed();
            job.0
                .run(&[("CKPT_EVERY", every), ("CKPT_RESTART", "latest")])
                .expect_code(0);
            let [restarted, whole] = [&job, &whole].map(|job| tree(job.0.folder()));
            assert_eq!(restarted, whole, "{kind}, killed at visit {visit}");
        }
    }
}

/// What is in the files of a folder.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        match entry.is_dir() {
            true => all.extend(contents(&entry)),
            false => drop(all.insert(entry.display().to_string(), fs::read(&entry).unwrap())),
        }
    }
    all
}

fn a_store_that_the_program_takes_away_is_told_of_and_never_undone() {
    let every = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    let job = |kind| {
        let job = Job::new(kind)
            .with("TEST_FROM", "out")
            .with("TEST_TO", "moved")
            .with("CKPT_DIR", "out/ckpt")
            .with("CKPT_BACKGROUND", 0);
        fs::create_dir(job.folder().join("out")).unwrap();
        job
    };
    let warns = [
        "warning[W2040]: the program changes `out",
        "the checkpoints are there, and the program removes them",
    ];
    let moves = job("tree-moves");
    moves
        .run(&[every[0], every[1], ("CKPT_FAULT", "visit:7")])
        .expect_killed()
        .expect_message(&warns);
    let there = moves.folder().join("moved/ckpt");
    let files: Vec<_> = contents(&there)
        .into_keys()
        .filter(|name| name.ends_with(".h5"))
        .collect();
    assert_eq!(files.len(), 4, "none is taken while the store is elsewhere");
    let before = contents(&there);
    let at_the_new_place = ("CKPT_DIR", "moved/ckpt");
    for which in ["latest", "3"] {
        moves
            .run(&[every[0], every[1], at_the_new_place, ("CKPT_RESTART", which)])
            .expect_code(76)
            .expect_message(&["what `out` was then could not be kept: the checkpoints are there"]);
    }
    let after = contents(&there);
    assert!(
        before
            .iter()
            .all(|(path, bytes)| path.ends_with("lock") || after.get(path) == Some(bytes))
    );
    // Once it is back, those that are taken are as ever.
    let back = job("tree-moves-back");
    back.run(&[every[0], every[1], ("CKPT_FAULT", "visit:7")])
        .expect_killed()
        .expect_message(&warns);
    back.run(&[every[0], every[1], ("CKPT_RESTART", "3")])
        .expect_code(76);
    back.run(&[every[0], every[1], ("CKPT_RESTART", "latest")])
        .expect_code(0);
    let removes = job("tree-removes");
    removes
        .run(&[every[0], every[1]])
        .expect_code(0)
        .expect_message(&["warning[W2040]: the program changes `out/ckpt/", warns[1]]);
}

fn a_program_that_gives_its_own_folder_another_name_comes_back() {
    let every = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    let job = || {
        let job = Job::new("tree-moves")
            .with("TEST_FROM", "../run")
            .with("TEST_TO", "../other");
        fs::create_dir(job.folder().join("run")).unwrap();
        let store = job.store().to_str().unwrap().to_owned();
        job.with("CKPT_DIR", store)
    };
    let whole = job();
    whole.run_in(&whole.folder().join("run"), &every).expect_code(0);
    let whole = tree(whole.folder());
    for from in ["3", "6"] {
        let job = job();
        let [run, other] = ["run", "other"].map(|name| job.folder().join(name));
        job.run_in(&run, &[every[0], every[1], ("CKPT_FAULT", "visit:7")])
            .expect_killed();
        let restart = [every[0], every[1], ("CKPT_RESTART", from)];
        if from == "3" {
            job.run_in(&other, &restart).expect_code(77).expect_message(&[
                "/other` was not there at the checkpoint",
                "mkdir -p ",
                "/run`), and restart from there",
            ]);
        }
        fs::create_dir(&run).unwrap();
        job.run_in(&run, &restart).expect_code(0);
        // The folder that a restart needs is one more.
        let mut expected = whole.clone();
        if from == "6" {
            expected.insert("run".to_owned(), tree(job.folder())["run"].clone());
        }
        assert_eq!(tree(job.folder()), expected, "from {from}");
    }
}

fn folders_that_are_closed_to_their_owner_come_back() {
    let keep = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    let whole = Tree(Job::new("tree-closed"));
    whole.0.run_as_owner(&keep).expect_code(0);
    let expected = tree(whole.0.folder());
    for (id, visit) in [("1", "visit:3"), ("3", "visit:7"), ("4", "visit:8")] {
        let job = Tree(Job::new("tree-closed"));
        job.0
            .run_as_owner(&[keep[0], keep[1], ("CKPT_FAULT", visit)])
            .expect_killed();
        job.0
            .run_as_owner(&[keep[0], keep[1], ("CKPT_RESTART", id)])
            .expect_code(0);
        assert_eq!(tree(job.0.folder()), expected, "from checkpoint {id}");
    }
}

fn what_the_program_reaches_and_the_journal_does_not_is_told_of() {
    let every = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    for (kind, why) in [
        ("tree-unreachable", "not by the whole path"),
        ("tree-too-long", "the whole path is too long"),
    ] {
        let job = Job::new(kind);
        job.run_as_owner(&[every[0], every[1], ("CKPT_FAULT", "visit:7")])
            .expect_killed()
            .expect_message(&["warning[W2040]: the program changes `", why]);
        job.run_as_owner(&[every[0], every[1], ("CKPT_RESTART", "3")])
            .expect_code(76)
            .expect_message(&["checkpoint 000003 cannot be restored: what `", why]);
    }
}

fn a_file_that_is_nearly_all_hole_is_kept_and_brought_back_at_once() {
    let expected = expected("tree-sparse");
    for (id, visit) in [
        ("3", "visit:5"),
        ("4", "visit:6"),
        ("3", "visit:7"),
        ("6", "visit:9"),
    ] {
        let job = Tree(Job::new("tree-sparse"));
        let keep = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
        job.0
            .run(&[keep[0], keep[1], ("CKPT_FAULT", visit)])
            .expect_killed();
        job.0
            .run(&[keep[0], keep[1], ("CKPT_RESTART", id)])
            .expect_code(0);
        assert_eq!(tree(job.0.folder()), expected, "from {id}, killed at {visit}");
    }
}

fn random_histories_come_back() {
    // In 1374 a file that is held open is written by another of its names, in 144 a link takes its place. Those above a million give
    // folders' places to links, and close files: in 1000063 something changes places with nothing, in 1000576 a closed file gets
    // its old name again, in 1001555 what can be executed is behind a link that is to be a folder.
    for (histories, all) in [
        ("0..60", "60 histories"),
        ("1374..1375", "1 histories"),
        ("144..145", "1 histories"),
        ("1000000..1000030", "30 histories"),
        ("1000063..1000064", "1 histories"),
        ("1000576..1000577", "1 histories"),
        ("1001555..1001556", "1 histories"),
    ] {
        let job = Job::new("histories").with("HISTORIES", histories);
        let ended = job.run_as_owner(&[]).expect_code(0);
        assert!(ended.stdout.starts_with(all), "{ended:?}");
    }
}

fn every_call_that_changes_files_is_seen() {
    let ended = Job::new("calls").run(&[]);
    assert_eq!(ended.code, Some(0), "{ended:?}");
}

fn what_cannot_be_kept_is_said_and_not_restored() {
    let tree = Tree(Job::new("tree-linked"));
    let job = &tree.0;
    // In another file system than the store, where it can get no other name.
    let second = tempfile::tempdir_in("/dev/shm").unwrap();
    fs::write(second.path().join("second"), "of two names").unwrap();
    fs::hard_link(second.path().join("second"), in_memory(job.folder())).unwrap();
    let every = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    job.run(&[every[0], every[1], ("CKPT_FAULT", "visit:5")])
        .expect_killed()
        .expect_message(&[
            "warning[W2040]: the program changes `/dev/shm/ckpt-",
            ", and what it was cannot be kept: it has several names",
        ]);
    // The one that was taken after it is as ever; those before are not.
    job.run(&[every[0], every[1], ("CKPT_RESTART", "3")])
        .expect_code(76)
        .expect_message(&["checkpoint 000003 cannot be restored: what `/dev/shm/ckpt-"]);
    job.run(&[every[0], every[1], ("CKPT_RESTART", "latest")])
        .expect_code(0);
}

fn a_damaged_part_of_the_journal_is_named_and_what_needs_it_passed_over() {
    let expected = expected("tree-rotated");
    let every = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    let job = Job::new("tree-rotated");
    job.run(&[every[0], every[1], ("CKPT_FAULT", "visit:7")])
        .expect_killed();
    let part = |epoch: u64| job.kept(&format!("files.{epoch:06}.log"));
    let flip = |epoch: u64, from_end: bool| {
        let mut bytes = fs::read(part(epoch)).unwrap();
        let at = if from_end { bytes.len() - 1 } else { 40 };
        bytes[at] ^= 1;
        fs::write(part(epoch), bytes).unwrap();
    };
    // The checkpoint of number N began epoch N + 1.
    flip(5, true);
    job.run(&[every[0], every[1], ("CKPT_RESTART", "4")])
        .expect_code(76)
        .expect_message(&[
            "E2184",
            "files.000005.log`: a record does not have its checksum (offset ",
        ]);
    // Nothing was changed after the last checkpoint: there is only a head.
    flip(8, false);
    job.run(&[every[0], every[1], ("CKPT_RESTART", "latest")])
        .expect_code(76)
        .expect_message(&["warning[W2008]: checkpoint 000007 cannot be used and is passed over: the journal of files is damaged in "]);
    flip(8, false);
    job.run(&[every[0], every[1], ("CKPT_RESTART", "latest")])
        .expect_code(0);
    assert_eq!(tree(job.folder()), expected);
}

fn damage_beside_the_journal_is_found_by_who_checks_every_byte() {
    let job = Job::new("tree-large");
    job.run(&[("CKPT_EVERY", "2"), ("CKPT_FAULT", "visit:5")])
        .expect_killed();
    let store = Store::open(job.store(), Mode::ReadOnly).unwrap();
    let newest = store.list().unwrap().pop().unwrap().meta.unwrap();
    let verified = || {
        Journals::default()
            .verify(&store, &newest)
            .map_err(|why| why.to_string())
    };
    let kept = job.kept("job.json").parent().unwrap().to_owned();
    let entries = fs::read_dir(kept).unwrap().map(|entry| entry.unwrap().path());
    let beside: Vec<_> = entries
        .filter(|path| path.extension().is_some_and(|end| end == "was"))
        .collect();
    assert!(!beside.is_empty());
    assert_eq!(verified(), Ok(()));
    let mut found = 0;
    for path in beside {
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        bytes[5] ^= 1;
        // It may be another name of a file of the program's.
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        assert_eq!(Journals::default().can_return(&store, &newest), Ok(()));
        if let Err(why) = verified() {
            assert!(why.contains("does not have its checksum"), "{why}");
            found += 1;
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(found > 0);
    assert_eq!(verified(), Ok(()));
}

fn a_copy_that_has_lost_its_links_is_told_of() {
    let job = Job::new("tree-twice");
    job.run(&[("CKPT_EVERY", "3"), ("CKPT_FAULT", "visit:5")])
        .expect_killed();
    let copy = |how: &str| {
        let to = tempfile::tempdir().unwrap();
        let copied = std::process::Command::new("cp")
            .args([how, "--"])
            .arg(job.folder().join("."))
            .arg(to.path())
            .status();
        assert!(copied.unwrap().success());
        to
    };
    let (all, files) = (copy("-a"), copy("-r"));
    let restart = [("CKPT_RESTART", "latest")];
    let ended = job.run_in(all.path(), &restart).expect_code(0);
    assert!(!ended.stderr.contains("W2082"), "{}", ended.stderr);
    assert_eq!(tree(all.path()), expected("tree-twice"));
    job.run_in(files.path(), &restart).expect_message(&[
        "warning[W2082]: of a file of several names (hard links) only that of the journal is left",
        "cp -a",
    ]);
}

/// Nothing has changed since its checkpoint: the journal has no name of the file.
fn a_copy_of_a_run_that_was_stopped_is_told_of() {
    let job = Job::new("tree-held-archived");
    job.run(&[
        ("CKPT_EVERY", "4"),
        ("CKPT_BACKGROUND", "0"),
        ("CKPT_FAULT", "commit-step:10"),
    ])
    .expect_killed();
    let restart = [("CKPT_RESTART", "latest")];
    let copies = ["-a", "-r"].map(|how| {
        let to = tempfile::tempdir().unwrap();
        let mut copy = std::process::Command::new("cp");
        copy.args([how, "--"]).arg(job.folder().join(".")).arg(to.path());
        assert!(copy.status().unwrap().success());
        to
    });
    let ended = job.run_in(copies[0].path(), &restart).expect_code(0);
    assert!(!ended.stderr.contains("W2088"), "{}", ended.stderr);
    assert_eq!(tree(copies[0].path()), expected("tree-held-archived"));
    job.run_in(copies[1].path(), &restart).expect_message(&[
        "warning[W2088]: `archive/log-0` and `log` were names of one file (hard links) at the checkpoint, and are files of their own now",
        "cp -a",
    ]);
}

fn names_that_were_given_before_a_restart_are_known_behind_it() {
    let every = ("CKPT_EVERY", "2");
    for last in ["visit:7", "visit:8", "visit:9"] {
        let job = Job::new("tree-held-archived");
        job.run(&[every, ("CKPT_FAULT", "visit:5")]).expect_killed();
        let again = job.run(&[every, ("CKPT_RESTART", "latest"), ("CKPT_FAULT", last)]);
        let again = again.expect_killed();
        assert!(!again.stderr.contains("warning"), "{}", again.stderr);
        job.run(&[every, ("CKPT_RESTART", "latest")]).expect_code(0);
        assert_eq!(tree(job.folder()), expected("tree-held-archived"), "{last}");
    }
}

fn a_store_that_is_an_older_copy_of_itself_is_told_of() {
    let job = Job::new("tree-count");
    let every = ("CKPT_EVERY", "2");
    job.run(&[every, ("CKPT_FAULT", "visit:3")]).expect_killed();
    let copy = tempfile::tempdir().unwrap();
    let copied = |from: &Path, to: &Path| {
        let status = std::process::Command::new("cp")
            .arg("-a")
            .args([from, to])
            .status();
        assert!(status.unwrap().success());
    };
    copied(&job.store(), copy.path());
    let restart = ("CKPT_RESTART", "latest");
    let ended = job
        .run(&[every, restart, ("CKPT_FAULT", "visit:9")])
        .expect_killed();
    assert!(!ended.stderr.contains("W2083"), "{}", ended.stderr);
    fs::remove_dir_all(job.store()).unwrap();
    copied(&copy.path().join("test.ckpt.d"), &job.store());
    job.run(&[every, restart])
        .expect_message(&["warning[W2083]", "is an older copy of itself"]);
}

/// The numbers of the checkpoints that are there.
fn numbers(job: &Job) -> Vec<u64> {
    let number = |path: &std::path::PathBuf| path.file_name()?.to_str()?.split('.').next()?.parse().ok();
    job.checkpoints()
        .iter()
        .map(|path| number(path).unwrap())
        .collect()
}

fn retention_counts_what_can_be_restored() {
    let expected = expected("tree-rotated");
    let every = ("CKPT_EVERY", "1");
    let job = Job::new("tree-rotated");
    job.run(&[every, ("CKPT_KEEP", "all"), ("CKPT_FAULT", "visit:7")])
        .expect_killed();
    // The files are brought back to the third, which gives up those after it.
    let third = [every, ("CKPT_KEEP", "2"), ("CKPT_RESTART", "3")];
    job.run(&[third[0], third[1], third[2], ("CKPT_FAULT", "visit:4")])
        .expect_killed();
    let left = numbers(&job);
    assert!(
        left.contains(&3) && left.contains(&8) && !left.contains(&2),
        "{left:?}"
    );
    job.run(&[third[0], third[1], third[2], ("CKPT_FAULT", "visit:5")])
        .expect_killed();
    assert_eq!(numbers(&job), [9, 10]);
    job.run(&[every, ("CKPT_RESTART", "9")]).expect_code(0);
    assert_eq!(tree(job.folder()), expected);
}

fn a_damaged_checkpoint_is_removed_when_enough_are_whole_and_that_is_said() {
    let every = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "2")];
    let until = |visit| {
        [
            every[0],
            every[1],
            ("CKPT_RESTART", "latest"),
            ("CKPT_FAULT", visit),
        ]
    };
    let said = "warning[W2080]: checkpoint 000003 is damaged, and removed now";
    let killed = || {
        let job = Job::new("tree-rotated");
        job.run(&[every[0], every[1], ("CKPT_FAULT", "visit:3")])
            .expect_killed();
        assert_eq!(numbers(&job), [2, 3]);
        job
    };
    // Its values, which a restart finds out, and its head.
    let flip = |bytes: &mut Vec<u8>| {
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
    };
    let cut = |bytes: &mut Vec<u8>| bytes.truncate(10);
    for (harm, is_seen) in [(&flip as &dyn Fn(&mut Vec<u8>), false), (&cut, true)] {
        let job = killed();
        let newest = job.checkpoints().pop().unwrap();
        let mut bytes = fs::read(&newest).unwrap();
        harm(&mut bytes);
        fs::write(&newest, bytes).unwrap();
        let ended = job.run(&until("visit:3")).expect_killed();
        assert!(!ended.stderr.contains(said), "{ended:?}");
        assert_eq!(numbers(&job), [2, 3, 4]);
        // Without reading all of it one sees that of its head alone.
        let ended = job.run(&until("visit:4")).expect_killed();
        assert_eq!(ended.stderr.contains(said), is_seen, "{ended:?}");
        assert_eq!(numbers(&job), [4, 5]);
    }
}

fn a_program_that_changes_no_files_has_one_part_of_the_journal() {
    let job = Job::new("steps").with("TEST_STEPS", 8);
    job.run(&[("CKPT_EVERY", "1"), ("CKPT_FAULT", "visit:5")])
        .expect_killed();
    assert!(job.kept("files.000001.log").exists() && !job.kept("files.000002.log").exists());
    job.run(&[("CKPT_EVERY", "1"), ("CKPT_RESTART", "latest")])
        .expect_code(0);
}
