//! Stores of several processes.

use std::fs;
use std::path::Path;

use predicates::prelude::*;
use predicates::str::contains;

use crate::store::{RUN, cargo_ckpt, damage_file, json, listing, part_of};

/// Three ranks, four lines: rank 1 lacks the last, the file of rank 2 in the third is damaged.
fn ranks(folder: &Path) {
    let store = folder.join("heat.ckpt.d");
    for (rank, steps) in [(0, 1..=4), (1, 1..=3), (2, 1..=4)] {
        part_of(&store, rank, Some(3), steps);
    }
    damage_file(&store.join("000003.r2.h5"));
}

#[test]
fn the_files_of_all_ranks_are_listed_and_verified() {
    let folder = tempfile::tempdir().unwrap();
    ranks(folder.path());
    let before = listing(folder.path());
    cargo_ckpt(folder.path(), &["list"])
        .success()
        .stdout(contains("all 3").and(contains("2, not rank 1")));
    let list = json(folder.path(), &["list"]);
    assert_eq!(list["checkpoints"][3]["lacking"], serde_json::json!([1]));
    assert_eq!(list["checkpoints"][0]["ranks"][2]["rank"], 2);
    cargo_ckpt(folder.path(), &["verify"]).code(1).stdout(
        contains("000003, rank 2:")
            .and(contains("000004, rank 1:"))
            .and(contains(
                "2 damaged, 2 whole; a restart takes the newest of its run that is whole on all ranks",
            )),
    );
    cargo_ckpt(folder.path(), &["verify", "2"]).success();
    let checked = json(folder.path(), &["verify"]);
    let bad = checked["checkpoints"].as_array().unwrap().iter();
    let bad: Vec<_> = bad
        .filter(|one| one["whole"] == false)
        .map(|one| (one["id"].as_u64(), one["rank"].as_u64()))
        .collect();
    assert_eq!(bad, [(Some(3), Some(2)), (Some(4), Some(1))]);
    assert_eq!(listing(folder.path()), before, "nothing is changed");
}

#[test]
fn a_rank_is_inspected_by_its_number() {
    let folder = tempfile::tempdir().unwrap();
    ranks(folder.path());
    cargo_ckpt(folder.path(), &["inspect", "2", "--rank", "1"])
        .success()
        .stdout(contains("heat 0.1.0, rank 1 of 3").and(contains("000002.r1.h5")));
    cargo_ckpt(folder.path(), &["inspect", "2", "step", "--rank", "all"])
        .success()
        .stdout(contains("rank 0: step").and(contains("rank 2: step")));
    let all = json(folder.path(), &["inspect", "2", "step", "--rank", "all"]);
    assert_eq!(all["parts"][1]["rank"], 1);
    cargo_ckpt(folder.path(), &["inspect", "latest", "--rank", "2"])
        .code(78)
        .stderr(contains("it is the part of rank 2"));
    cargo_ckpt(folder.path(), &["inspect", "--rank", "3"])
        .code(2)
        .stderr(contains("has no rank 3").and(contains("it has the ranks 0 to 2")));
}

#[test]
fn the_files_of_all_ranks_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    ranks(folder.path());
    cargo_ckpt(folder.path(), &["diff", "1", "1"])
        .success()
        .stdout(contains("The same on all 3 ranks."));
    cargo_ckpt(folder.path(), &["diff", "1", "2"])
        .code(1)
        .stdout(contains("rank 2\n").and(contains("(ranks 0, 1 and 2)")));
    let list = json(folder.path(), &["diff", "1", "2", "--rank", "1"]);
    let differences = list["differences"].as_array().unwrap();
    assert!(differences.iter().all(|one| one["rank"] == 1) && !differences.is_empty());
    let file = |name: &str| format!("heat.ckpt.d/{name}");
    cargo_ckpt(folder.path(), &["diff", &file("000001.r2.h5"), "2"])
        .code(1)
        .stdout(contains("000001.r2.h5").and(contains("000002.r2.h5")));
}

#[test]
fn lines_that_are_whole_on_all_ranks_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    ranks(folder.path());
    cargo_ckpt(folder.path(), &["prune", "--keep", "1"])
        .success()
        .stdout(contains("removed 1 checkpoint (000001)").and(contains("3 left")));
    let names: Vec<String> = listing(folder.path())
        .into_iter()
        .map(|(name, ..)| name)
        .collect();
    assert!(!names.iter().any(|name| name.starts_with("000001")), "{names:?}");
    for rank in 0..3 {
        assert!(names.contains(&format!("000002.r{rank}.h5")), "{names:?}");
    }
}

#[test]
fn folders_of_ranks_on_other_nodes_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let node = |rank: u32| folder.path().join(format!("node-{rank}.ckpt.d"));
    part_of(&node(0), 0, Some(3), 1..=2);
    part_of(&node(2), 2, Some(3), 1..=2);
    let job = serde_json::json!({
        "run": RUN, "program": "heat", "version": "0.1.0", "pid": 1, "host": "elsewhere", "started": "", "updated": "",
        "state": "running", "visits": 20, "restarted_from": null, "last_checkpoint": 2, "failed_checkpoints": 0,
        "command": ["heat"], "reason": null, "ranks": 4
    });
    let kept = node(0).join("runs").join(RUN);
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("job.json"), job.to_string()).unwrap();
    let dir = ["--dir", "node-{rank}.ckpt.d"];
    let with = |words: &[&str]| cargo_ckpt(folder.path(), &[words, &dir].concat());
    with(&["list"])
        .success()
        .stdout(contains("all 2").and(contains("not looked at: ranks 1 and 3")));
    with(&["verify"]).success().stdout(contains("not looked at"));
    with(&["inspect", "--rank", "3"])
        .code(76)
        .stderr(contains("the checkpoints of rank 3 are not here"));
    with(&["prune", "--keep", "1"])
        .code(78)
        .stderr(contains("ranks 1 and 3 are not on this machine"));
    assert!(node(0).join("000001.r0.h5").exists());
    cargo_ckpt(folder.path(), &["verify", "--dir", "node-0.ckpt.d"])
        .success()
        .stdout(contains("not looked at: ranks 1, 2 and 3"));
}
