//! The commands that look into a store: they show what was written, name what is wrong, and change nothing. `store` makes the
//! stores; here is one, `runs` has two beside each other, `ranks` those of several processes, `terminal` the live view.

mod columns;
mod documents;
mod failing;
#[path = "../noted/mod.rs"]
mod noted;
mod ranks;
mod runs;
#[path = "../schema/mod.rs"]
mod schema;
mod store;
mod structs;
mod terminal;
mod threads;
mod wide;
#[path = "../width/mod.rs"]
mod width;

use std::fs;

use ckpt::store::{Mode, Store};
use predicates::prelude::*;
use predicates::str::contains;

use store::{cargo_ckpt, damage, json, listing, store};

#[test]
fn list_shows_every_checkpoint() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 3);
    let before = listing(here.path());
    cargo_ckpt(here.path(), &["list"]).success().stdout(
        contains("000001")
            .and(contains("000003"))
            .and(contains("2023-11-14 22:13:20"))
            .and(contains("heat 0.1.0")),
    );
    let json = json(here.path(), &["list"]);
    assert_eq!(json["checkpoints"][2]["visit"], 30);
    assert_eq!(listing(here.path()), before);
}

#[test]
fn list_of_a_store_without_checkpoints_is_no_error() {
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("heat.ckpt.d")).unwrap();
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("holds no checkpoint yet"));
}

#[test]
fn inspect_shows_frames_and_variables() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 1);
    let before = listing(here.path());
    cargo_ckpt(here.path(), &["inspect", "latest"]).success().stdout(
        contains("main in the call of `advance`, src/main.rs:14:9")
            .and(contains("advance at its checkpoint, src/grid.rs:33:13"))
            .and(contains("is `self` of advance"))
            .and(contains("f64 [3, 4]"))
            .and(contains("\"plate\""))
            .and(contains("0 .. 23, mean 11.5")),
    );
    let json = json(here.path(), &["inspect", "1"]);
    assert_eq!(json["frames"][1]["function"], "advance");
    assert_eq!(json["frames"][0]["variables"][0]["link"]["key"], "self");
    assert_eq!(
        listing(here.path()),
        before,
        "looking takes no lock and changes nothing"
    );
}

#[test]
fn inspect_shows_parts_of_a_variable() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 1);
    cargo_ckpt(here.path(), &["inspect", "1", "sim[1, 0..2]"])
        .success()
        .stdout(
            contains("[1, 0] 10")
                .and(contains("[1, 1] 11"))
                .and(contains("[1, 2]").not()),
        );
    cargo_ckpt(here.path(), &["inspect", "1", "step"])
        .success()
        .stdout(contains("u64"));
    cargo_ckpt(here.path(), &["inspect", "1", "self", "--limit", "5"])
        .success()
        .stdout(contains("7 more"));
    cargo_ckpt(here.path(), &["inspect", "1", "advance/tried.value"])
        .success()
        .stdout(contains("3"));
    assert_eq!(
        json(here.path(), &["inspect", "1", "self[2]"])["elements"][0]["values"][3],
        23.0
    );
    cargo_ckpt(here.path(), &["inspect", "1", "grid"])
        .code(2)
        .stderr(contains("no variable `grid`").and(contains("it has: name, names, self, sim, step, tried")));
    cargo_ckpt(here.path(), &["inspect", "1", "self[3]"])
        .code(2)
        .stderr(contains("outside of 0..3"));
    cargo_ckpt(here.path(), &["inspect", "1", "tried.x"])
        .code(2)
        .stderr(contains("it has: present, value"));
}

#[test]
fn inspect_shows_strings_as_strings() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 1);
    cargo_ckpt(here.path(), &["inspect", "latest", "names"])
        .success()
        .stdout(contains("[0] \"north\"\n[1] \"süd\"\n[2] \"\"\n"));
    let json = json(here.path(), &["inspect", "1", "names[1..]"]);
    assert_eq!(
        json["elements"][0],
        serde_json::json!({ "index": [1], "values": ["süd", ""] })
    );
}

#[test]
fn a_number_that_is_not_there_gets_the_list() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 2);
    for command in [
        &["inspect", "7"][..],
        &["verify", "7"],
        &["diff", "1", "7"],
        &["restart", "7"],
    ] {
        cargo_ckpt(here.path(), command)
            .code(76)
            .stderr(contains("no checkpoint 000007").and(contains("there are: 000001, 000002")));
    }
}

#[test]
fn verify_names_the_damaged_one() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 3);
    cargo_ckpt(here.path(), &["verify"])
        .success()
        .stdout(contains("whole").and(contains("DAMAGED").not()));
    damage(here.path(), 2);
    let before = listing(here.path());
    cargo_ckpt(here.path(), &["verify"])
        .code(1)
        .stdout(contains("DAMAGED").and(contains("1 damaged, 2 whole")));
    cargo_ckpt(here.path(), &["verify", "3"]).success();
    cargo_ckpt(here.path(), &["inspect", "2"])
        .code(78)
        .stderr(contains("damaged").and(contains("cargo ckpt verify")));
    let json = json(here.path(), &["verify"]);
    assert_eq!(
        (&json["whole"], &json["checkpoints"][1]["whole"]),
        (&false.into(), &false.into())
    );
    assert_eq!(listing(here.path()), before);
}

#[test]
fn files_that_are_no_checkpoints_are_told_from_those_that_are() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 1);
    fs::write(
        here.path().join("heat.ckpt.d/000002.r0.h5"),
        "nothing of the kind",
    )
    .unwrap();
    fs::write(here.path().join("heat.ckpt.d/000003.r0.h5"), "").unwrap();
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("damaged").and(contains("heat 0.1.0")));
    cargo_ckpt(here.path(), &["verify"])
        .code(1)
        .stdout(contains("2 damaged, 1 whole"));
    cargo_ckpt(here.path(), &["inspect", "latest"]).code(78);
}

#[test]
fn a_restart_from_a_checkpoint_that_cannot_be_read_names_the_damage() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 2);
    fs::write(
        here.path().join("heat.ckpt.d/000002.r0.h5"),
        "nothing of the kind",
    )
    .unwrap();
    cargo_ckpt(here.path(), &["restart", "2"]).code(76).stderr(
        contains("000002.r0.h5 is damaged")
            .and(contains("E3014").not())
            .and(contains("takes the newest")),
    );
}

#[test]
fn prune_keeps_the_newest_whole_ones() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 4);
    cargo_ckpt(here.path(), &["prune", "--keep", "2", "--dry-run"])
        .success()
        .stdout(contains("would remove 2"));
    damage(here.path(), 4);
    cargo_ckpt(here.path(), &["prune", "--keep", "2"])
        .success()
        .stdout(contains("removed 1 checkpoint (000001)").and(contains("3 left")));
    cargo_ckpt(here.path(), &["prune", "--keep", "0"]).code(2);
    let running = Store::open(here.path().join("heat.ckpt.d"), Mode::ReadWrite).unwrap();
    cargo_ckpt(here.path(), &["prune", "--keep", "1"])
        .code(78)
        .stderr(
            contains("in use by process")
                .and(contains("wait until that job has ended"))
                .and(contains("CKPT_DIR").not()),
        );
    cargo_ckpt(here.path(), &["list"]).success();
    drop(running);
}
