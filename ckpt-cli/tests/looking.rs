//! The commands that look into a store: they show what was written, name what is wrong, and change nothing.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::snapshot::{Snapshot, SnapshotBuilder};
use ckpt::store::{Keep, Meta, Mode, Store};
use predicates::prelude::*;
use predicates::str::contains;

static MAIN: FunctionPlan = FunctionPlan {
    function: "main",
    module: "heat",
    file: "src/main.rs",
    line: 10,
    layout: 1,
    source: 2,
    attribute: "ckpt::main",
    sites: &[SitePlan {
        line: 14,
        column: 9,
        kind: SiteKind::Call { callee: "advance" },
        variables: &[],
    }],
};

static ADVANCE: FunctionPlan = FunctionPlan {
    function: "advance",
    module: "heat::grid",
    file: "src/grid.rs",
    line: 30,
    layout: 3,
    source: 4,
    attribute: "ckpt::instrument",
    sites: &[SitePlan {
        line: 33,
        column: 13,
        kind: SiteKind::Checkpoint,
        variables: &[],
    }],
};

/// A state that depends on the step; the grid is 3 by 4.
fn snapshot(step: u64) -> Snapshot {
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    let advance = builder.frame(&ADVANCE, 1);
    builder.link(main, "sim", 11, None, advance, "self");
    builder.value(main, "name", 12, None, "plate");
    builder.value(advance, "step", 31, None, &step);
    let row = |i: usize| -> [f64; 4] { std::array::from_fn(|j| (10 * i + j) as f64) };
    let mut grid: Vec<[f64; 4]> = (0..3).map(row).collect();
    grid[1][2] += step as f64 * 1e-9;
    builder.value(advance, "self", 30, Some(0), &grid);
    builder.value(advance, "tried", 32, None, &Some(3_i32));
    builder.value(
        advance,
        "names",
        33,
        None,
        &vec!["north".to_owned(), "süd".to_owned(), String::new()],
    );
    builder.finish().unwrap()
}

fn store(folder: &Path, checkpoints: u64) {
    part(&folder.join("heat.ckpt.d"), 0, 1..=checkpoints);
}

/// The part of one rank, with checkpoints of these steps.
fn part(folder: &Path, rank: u32, steps: impl IntoIterator<Item = u64>) {
    let mut store = Store::open_as(folder, Mode::ReadWrite, rank).unwrap();
    store.set_keep(Keep::All);
    for step in steps {
        let meta = Meta {
            program: "heat".into(),
            version: "0.1.0".into(),
            visit: 10 * step,
            time: 1_700_000_000_000_000_000,
            reason: "every 10".into(),
            host: "node7".into(),
            notes: Vec::new(),
        };
        store.commit(&snapshot(step), &meta).unwrap();
    }
}

fn cargo_ckpt(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .env_remove("CKPT_DIR")
        .current_dir(folder)
        .args(arguments)
        .assert()
}

fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let arguments = [arguments, &["--format", "json"]].concat();
    let output = cargo_ckpt(folder, &arguments).get_output().stdout.clone();
    serde_json::from_slice(&output).unwrap()
}

/// Name, length and time of every file of the store.
fn listing(folder: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
    let mut list: Vec<_> = fs::read_dir(folder.join("heat.ckpt.d"))
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            (
                entry.file_name().into_string().unwrap(),
                metadata.len(),
                metadata.modified().unwrap(),
            )
        })
        .collect();
    list.sort();
    list
}

/// Flips a bit in the middle of a checkpoint.
fn damage(folder: &Path, id: u64) {
    damage_file(&folder.join(format!("heat.ckpt.d/{id:06}.r0.h5")));
}

fn damage_file(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

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

/// Two runs of five checkpoints that part at the third, in one number of the grid; a third run takes two at other visits.
fn two_runs(folder: &Path) {
    for (name, steps, parts_at) in [("a", 1..=5, 9), ("b", 1..=5, 3), ("c", 11..=12, 99)] {
        let mut store = Store::open_as(folder.join(name).join("heat.ckpt.d"), Mode::ReadWrite, 0).unwrap();
        store.set_keep(Keep::All);
        for step in steps {
            let mut builder = SnapshotBuilder::new();
            let main = builder.frame(&MAIN, 1);
            let mut grid: Vec<[f64; 40]> = (0..30).map(|i| [1.0 + f64::from(i); 40]).collect();
            if step >= parts_at {
                grid[7][5] = f64::from_bits(grid[7][5].to_bits() + 3);
            }
            builder.value(main, "grid", 12, None, &grid);
            builder.value(main, "clock", 13, None, &format!("{name}{step}"));
            let meta = Meta {
                program: "heat".into(),
                version: "0.1.0".into(),
                visit: 10 * step,
                time: 1_700_000_000_000_000_000,
                reason: "every 10".into(),
                host: "node7".into(),
                notes: Vec::new(),
            };
            store.commit(&builder.finish().unwrap(), &meta).unwrap();
        }
    }
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
                    "cargo ckpt restart 2 --every 1 --keep 11 --dir a/heat.ckpt.d",
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

/// In a terminal of its own, which `script` makes.
fn in_a_terminal(folder: &Path, keys: &str) -> String {
    let ckpt = env!("CARGO_BIN_EXE_cargo-ckpt");
    let line = format!("stty cols 120 rows 40; {ckpt} tui --dir a/heat.ckpt.d");
    // Keys come one after the other, as from a user.
    let keys: Vec<String> = keys
        .chars()
        .map(|key| format!("printf '%s' '{key}'; sleep 0.3; "))
        .collect();
    let keys = keys.concat().replace('>', "\t").replace('!', "\r");
    let shell = format!("(sleep 1; {keys}) | timeout 60 script -qec '{line}' /dev/null");
    let output = Command::new("bash")
        .current_dir(folder)
        .args(["-c", &shell])
        .env("TERM", "xterm-256color")
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    // Blanks are jumped over; colours are not looked at.
    let mut plain = String::new();
    for piece in text.split('\u{1b}') {
        let end = piece
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(0, |end| end + 1);
        plain += if piece[..end].ends_with('H') { " " } else { "" };
        plain += &piece[end..];
    }
    plain
}

#[test]
fn a_store_is_looked_at_in_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    two_runs(here.path());
    let job = in_a_terminal(here.path(), "q");
    assert!(job.contains("No job has run on this store."), "{job}");
    let store = in_a_terminal(here.path(), ">!q");
    assert!(
        store.contains("000005") && store.contains("main/grid") && store.contains("f64 [30, 40]"),
        "{store}"
    );
    assert!(store.contains("1 .. 30, mean 15.5"), "{store}");
    let colors = store.matches("\u{2580}").count();
    assert!(colors >= 15 * 40, "a heat map of 30 rows in 15 lines: {colors}");
    cargo_ckpt(here.path(), &["tui", "--dir", "a/heat.ckpt.d"])
        .code(1)
        .stderr(contains("E3109"));
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
        .stderr(contains("in use by process"));
    cargo_ckpt(here.path(), &["list"]).success();
    drop(running);
}

/// Three ranks, four lines: rank 1 lacks the last, the file of rank 2 in the third is damaged.
fn ranks(folder: &Path) {
    let store = folder.join("heat.ckpt.d");
    for (rank, steps) in [(0, 1..=4), (1, 1..=3), (2, 1..=4)] {
        part(&store, rank, steps);
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
                "2 damaged, 2 whole; a restart takes the newest that is whole on all ranks",
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
    assert_eq!(all[1]["rank"], 1);
    cargo_ckpt(folder.path(), &["inspect", "latest", "--rank", "2"])
        .code(78)
        .stderr(contains("it is the part of rank 2"));
    cargo_ckpt(folder.path(), &["inspect", "--rank", "3"])
        .code(2)
        .stderr(contains("has no rank 3").and(contains("3 of them, from 0")));
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
    part(&node(0), 0, 1..=2);
    part(&node(2), 2, 1..=2);
    let job = serde_json::json!({
        "program": "heat", "version": "0.1.0", "pid": 1, "host": "elsewhere", "started": "", "updated": "",
        "state": "running", "visits": 20, "restarted_from": null, "last_checkpoint": 2, "failed_checkpoints": 0,
        "command": ["heat"], "reason": null, "ranks": 4
    });
    fs::write(node(0).join("job.json"), job.to_string()).unwrap();
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
