//! Stores that are looked into.

use std::fs;
use std::path::Path;

use super::schema;
use assert_cmd::Command;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::snapshot::{Snapshot, SnapshotBuilder};
use ckpt::store::{Keep, Meta, Mode, Store};

/// The run that the checkpoints are of.
pub const RUN: &str = "0123456789abcdef0123456789abcdef";

pub static MAIN: FunctionPlan = FunctionPlan {
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

pub static ADVANCE: FunctionPlan = FunctionPlan {
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
pub fn snapshot(step: u64) -> Snapshot {
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

pub fn store(folder: &Path, checkpoints: u64) {
    part(&folder.join("heat.ckpt.d"), 0, 1..=checkpoints);
}

/// What a checkpoint says of itself, of a program at a visit.
pub fn meta(program: &str, visit: u64) -> Meta {
    Meta {
        program: program.into(),
        version: "0.1.0".into(),
        visit,
        time: 1_700_000_000_000_000_000,
        reason: "every 10".into(),
        host: "node7".into(),
        run: RUN.parse().ok(),
        notes: Vec::new(),
    }
}

/// The part of one rank, with checkpoints of these steps.
pub fn part(folder: &Path, rank: u32, steps: impl IntoIterator<Item = u64>) {
    part_of(folder, rank, None, steps);
}

/// That of a rank of so many.
pub fn part_of(folder: &Path, rank: u32, ranks: Option<u32>, steps: impl IntoIterator<Item = u64>) {
    let mut store = Store::open_as(folder, Mode::ReadWrite, rank).unwrap();
    store.set_keep(Keep::All);
    for step in steps {
        let mut meta = meta("heat", 10 * step);
        meta.notes
            .extend(ranks.map(|ranks| ("mpi_ranks".to_owned(), ranks.to_string())));
        store.commit(&snapshot(step), &meta).unwrap();
    }
}

pub fn cargo_ckpt(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command
        .env_remove("CKPT_DIR")
        .env_remove("CKPT_BLESS")
        .current_dir(folder)
        .args(arguments);
    crate::noted::noted(command.assert())
}

pub fn json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let arguments = [arguments, &["--format", "json"]].concat();
    let output = cargo_ckpt(folder, &arguments).get_output().stdout.clone();
    let value = serde_json::from_slice(&output).unwrap();
    schema::check(arguments[0], &value);
    value
}

/// Name, length and time of every file of the store.
pub fn listing(folder: &Path) -> Vec<(String, u64, std::time::SystemTime)> {
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
pub fn damage(folder: &Path, id: u64) {
    damage_file(&folder.join(format!("heat.ckpt.d/{id:06}.r0.h5")));
}

pub fn damage_file(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(path, bytes).unwrap();
}

/// Two runs of five checkpoints that part at the third, in one number of the grid; a third run takes two at other visits.
pub fn two_runs(folder: &Path) {
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
            let meta = meta("heat", 10 * step);
            store.commit(&builder.finish().unwrap(), &meta).unwrap();
        }
    }
}
