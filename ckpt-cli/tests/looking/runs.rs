//! Runs beside each other, and their arrays drawn.

use std::fs;

use predicates::prelude::*;
use predicates::str::contains;

use crate::store::{cargo_ckpt, json, store, two_runs};

#[test]
fn diff_finds_the_first_elements() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 2);
    cargo_ckpt(here.path(), &["diff", "1", "1"])
        .success()
        .stdout(contains("The same."));
    cargo_ckpt(here.path(), &["diff", "1", "2"]).code(1).stdout(
        contains("advance/self")
            .and(contains("1 of 12 elements differ"))
            .and(contains("[1, 2]"))
            .and(contains("advance/step")),
    );
    let json = json(here.path(), &["diff", "1", "latest", "--tolerance", "1e-6"]);
    let places: Vec<_> = json["differences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|difference| &difference["place"])
        .collect();
    assert_eq!(places, ["advance/step"], "the grid is within the tolerance");
    cargo_ckpt(here.path(), &["diff", "heat.ckpt.d/000001.r0.h5", "1"]).success();
    cargo_ckpt(here.path(), &["diff", "x.h5", "1"])
        .code(2)
        .stderr(contains("`x.h5`"));
}

#[test]
fn diff_finds_where_two_runs_part() {
    let here = tempfile::tempdir().unwrap();
    two_runs(here.path());
    let runs = ["diff", "a/heat.ckpt.d", "b/heat.ckpt.d", "--ignore", "main/clock"];
    cargo_ckpt(here.path(), &[&runs[..], &["--plot", "first.svg"]].concat())
        .code(1)
        .stdout(
            contains("a: a/heat.ckpt.d, 5 checkpoints of heat 0.1.0, at visits 10, 20, 30, 40, 50")
                .and(contains("The same at visits 10, 20."))
                .and(contains(
                    "The runs part at visit 30: checkpoint 000003 of a, 000003 of b.",
                ))
                .and(contains("1 of 1200 elements differ").and(contains("[7, 5]")))
                .and(contains(
                    "cargo ckpt run PROGRAM --every 1 --keep all --dir a/heat-fine.ckpt.d",
                ))
                .and(contains(
                    "cargo ckpt diff a/heat-fine.ckpt.d b/heat-fine.ckpt.d --ignore main/clock",
                ))
                .and(contains("Drawn: main/grid, in first.svg")),
        );
    let picture = fs::read_to_string(here.path().join("first.svg")).unwrap();
    assert_eq!(
        picture.matches("#ececec").count(),
        30 * 40 - 1,
        "all but one are the same"
    );
    cargo_ckpt(here.path(), &[&runs[..], &["--ulp", "3"]].concat())
        .success()
        .stdout(contains("The same at 5 visits."));
    cargo_ckpt(here.path(), &[&runs[..], &["--tolerance", "0,1e-12"]].concat()).success();
    let json = json(here.path(), &[&runs[..], &["--ulp", "2"]].concat());
    assert_eq!(
        json["last_same"],
        serde_json::json!({ "visit": 20, "a": 2, "b": 2 })
    );
    assert_eq!(json["parted"]["visit"], 30);
    assert_eq!(
        json["differences"][0]["first"][0]["index"],
        serde_json::json!([7, 5])
    );
    assert_eq!(json["differences"][0]["largest_ulps"], 3);
    cargo_ckpt(here.path(), &runs[..3])
        .code(1)
        .stdout(contains("part at visit 10").and(contains("the start and visit 10")));
    cargo_ckpt(here.path(), &["diff", "a/heat.ckpt.d", "c/heat.ckpt.d"])
        .code(76)
        .stderr(contains("E3102").and(contains("--every N")));
    cargo_ckpt(here.path(), &[&runs[..], &["--plot", "first.gif"]].concat())
        .code(2)
        .stderr(contains("E3100"));
}

#[test]
fn an_array_is_drawn() {
    let here = tempfile::tempdir().unwrap();
    two_runs(here.path());
    let draw = |to| {
        [
            "inspect",
            "latest",
            "grid",
            "--plot",
            to,
            "--dir",
            "a/heat.ckpt.d",
        ]
    };
    cargo_ckpt(here.path(), &draw("grid.svg"))
        .success()
        .stdout(contains("Drawn: grid, in grid.svg"));
    let picture = fs::read_to_string(here.path().join("grid.svg")).unwrap();
    assert!(
        picture.contains(">grid [30, 40]</text>") && picture.contains(">30</text>"),
        "{picture}"
    );
    cargo_ckpt(here.path(), &draw("grid.png")).success();
    assert!(
        fs::read(here.path().join("grid.png"))
            .unwrap()
            .starts_with(b"\x89PNG")
    );
    let mut of_text = draw("clock.svg");
    of_text[2] = "clock";
    cargo_ckpt(here.path(), &of_text)
        .code(2)
        .stderr(contains("E3103"));
}
