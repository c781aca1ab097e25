//! Files and folders that a program looks at: after a kill and a restart the tree is what it would have been without.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::process::Job;
use crate::programs::{STEPS, in_memory};

crate::tests! {
    the_tree_is_what_it_would_have_been,
    a_restart_from_an_older_checkpoint_has_its_tree_too,
    random_histories_come_back,
    every_call_that_changes_files_is_seen,
    what_cannot_be_kept_is_said_and_not_restored,
    a_damaged_part_of_the_journal_is_named_and_what_needs_it_passed_over,
}

const KINDS: [&str; 7] = [
    "tree-names",
    "tree-count",
    "tree-memory",
    "tree-shortened",
    "tree-middle",
    "tree-rotated",
    "tree-folders",
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
    for kind in KINDS {
        let expected = expected(kind);
        for (every, visit) in [("1", 3), ("1", 4), ("3", 5), ("2", 7), ("3", 8), ("4", 9)] {
            let job = Tree(Job::new(kind));
            let job = &job.0;
            let fault = format!("visit:{visit}");
            job.run(&[("CKPT_EVERY", every), ("CKPT_FAULT", &fault)])
                .expect_killed();
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
    let keep = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    for kind in KINDS {
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

fn random_histories_come_back() {
    let job = Job::new("histories").with("HISTORIES", "0..60");
    let ended = job.run(&[]).expect_code(0);
    assert!(ended.stdout.starts_with("60 histories"), "{ended:?}");
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
    let flip = |epoch: u64| {
        let mut bytes = fs::read(part(epoch)).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(part(epoch), bytes).unwrap();
    };
    // The checkpoint of number N began epoch N + 1.
    flip(5);
    job.run(&[every[0], every[1], ("CKPT_RESTART", "4")])
        .expect_code(76)
        .expect_message(&[
            "E2184",
            "files.000005.log`: a record does not have its checksum (offset ",
        ]);
    flip(8);
    job.run(&[every[0], every[1], ("CKPT_RESTART", "latest")])
        .expect_code(76)
        .expect_message(&["warning[W2008]: checkpoint 000007 cannot be used and is passed over: the journal of files is damaged in "]);
    flip(8);
    job.run(&[every[0], every[1], ("CKPT_RESTART", "latest")])
        .expect_code(0);
    assert_eq!(tree(job.folder()), expected);
}
