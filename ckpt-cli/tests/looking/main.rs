//! The commands that look into a store: they show what was written, name what is wrong, and change nothing. `store` makes the
//! stores; here is one, `runs` has two beside each other, `ranks` those of several processes, `terminal` the live view.

mod advice;
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

/// What a file says has no number: one that was copied is of no moment of its own.
#[test]
fn a_copy_under_another_number_is_named_and_passed_over() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 3);
    let file = |number: u64| here.path().join(format!("heat.ckpt.d/{number:06}.r0.h5"));
    fs::copy(file(1), file(90)).unwrap();
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("000090 is a copy of 000001"));
    cargo_ckpt(here.path(), &["verify", "all"])
        .success()
        .stdout(contains("a copy of 000001").and(contains("90 is").not()));
    cargo_ckpt(here.path(), &["inspect", "latest"])
        .success()
        .stdout(contains("Checkpoint 000003"));
    let run = here.path().join("heat.ckpt.d/runs").join(store::RUN);
    fs::create_dir_all(&run).unwrap();
    let job = serde_json::json!({
        "run": store::RUN, "program": "heat", "version": "0.1.0", "pid": 2, "host": "elsewhere",
        "started": "2023-11-14T22:00:00Z", "updated": "2023-11-14T22:13:20Z", "state": "stopped", "visits": 30,
        "restarted_from": null, "last_checkpoint": 3, "failed_checkpoints": 0, "command": ["heat"], "reason": null,
    });
    fs::write(run.join("job.json"), job.to_string()).unwrap();
    let said = cargo_ckpt(here.path(), &["restart"]).failure();
    said.stderr(contains("W3053").and(contains("000090").and(contains("is a copy of 000001"))));
}

/// A program of one process has no rank 1, whatever files are called.
#[test]
fn a_file_of_a_rank_that_the_run_has_not_is_no_part_of_it() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 3);
    let file = |name: &str| here.path().join("heat.ckpt.d").join(name);
    fs::copy(file("000003.r0.h5"), file("000003.r1.h5")).unwrap();
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("000003").and(contains("RANKS").not()));
    cargo_ckpt(here.path(), &["verify", "all"]).success();
    cargo_ckpt(here.path(), &["inspect", "latest"])
        .success()
        .stdout(contains("Checkpoint 000003"));
}

#[test]
fn a_name_of_several_lines_is_shown_in_one() {
    let here = tempfile::tempdir().unwrap();
    store::part(&here.path().join("new\nline.ckpt.d"), 0, 1..=1);
    fs::create_dir_all(here.path().join("and\nnone/runs")).unwrap();
    let said = cargo_ckpt(here.path(), &["list", "--dir", "and\nnone"]).success();
    said.stdout(contains("and\nnone").not().and(contains("holds no checkpoint")));
}

#[test]
fn numbers_that_are_none_and_a_plot_of_nothing_are_said_to_be_that() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 1);
    for line in [
        &["inspect", "1", "sim", "--limit", "x"][..],
        &["inspect", "1", "sim", "--plot", "x.svg", "--shape", "a"],
        &["diff", "1", "1", "--first", "x"],
    ] {
        cargo_ckpt(here.path(), line)
            .code(2)
            .stderr(contains("write a whole number"));
    }
    cargo_ckpt(here.path(), &["serve", "--port", "x"])
        .code(2)
        .stderr(contains("write a port, 0 to 65535"));
    cargo_ckpt(here.path(), &["inspect", "--plot", "e.png"])
        .code(2)
        .stderr(contains("E3115"));
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
