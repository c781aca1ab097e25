//! Every command that prints JSON prints what its schema in the book says, here of stores; of packages and jobs other tests
//! look at that.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::store::{json, store, two_runs};

#[test]
fn what_is_printed_is_as_the_schemas_say() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 4);
    for line in [
        &["list"][..],
        &["inspect", "latest"],
        &["inspect", "1", "sim"],
        &["inspect", "1", "names"],
        &["inspect", "1", "tried"],
        &["inspect", "1", "--rank", "all"],
        &["verify"],
        &["diff", "1", "2"],
        &["diff", "1", "1"],
        &["prune", "--keep", "3", "--dry-run"],
        &["prune", "--keep", "3"],
        &["seal", "2", "--yes"],
        &["export", "latest", "--all", "--to", "state.npz"],
        &["pack", "--output", "carried.ckpt"],
        &["unpack", "carried.ckpt", "--dir", "again.ckpt.d"],
        &["clean", "--dry-run"],
        &["doctor"],
        &["explain", "E3087"],
        &["explain"],
    ] {
        json(
            here.path(),
            &[line, &["--dir", "heat.ckpt.d"][..]].concat()[..length(line)],
        );
    }
    let runs = tempfile::tempdir().unwrap();
    two_runs(runs.path());
    json(runs.path(), &["diff", "a/heat.ckpt.d", "b/heat.ckpt.d"]);
    json(runs.path(), &["diff", "a/heat.ckpt.d", "a/heat.ckpt.d"]);
}

/// With the store, but where a command takes none, or another one.
fn length(line: &[&str]) -> usize {
    let takes_none = ["unpack", "clean", "doctor", "explain"].contains(&line[0]);
    line.len() + if takes_none { 0 } else { 2 }
}

#[test]
fn every_command_that_prints_json_has_a_schema() {
    let help = assert_cmd::Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let names = help.lines().filter_map(|line| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?;
        line.starts_with(&format!("  {name} ")).then_some(name)
    });
    let has_json = |name: &&str| {
        let help = assert_cmd::Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"))
            .args([name, "--help"])
            .output()
            .unwrap();
        String::from_utf8_lossy(&help.stdout).contains("--format <FORMAT>")
    };
    let commands = names.take_while(|name| *name != "help").filter(has_json);
    let commands: BTreeSet<String> = commands.map(str::to_owned).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src/schemas");
    let schemas = fs::read_dir(folder).unwrap().map(|entry| {
        let name = entry.unwrap().file_name().into_string().unwrap();
        name.trim_end_matches(".json").to_owned()
    });
    let schemas: BTreeSet<String> = schemas.collect();
    assert!(commands.contains("list") && commands.len() > 10, "{commands:?}");
    assert_eq!(commands, schemas);
}
