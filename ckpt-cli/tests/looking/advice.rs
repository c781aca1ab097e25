//! Next steps that a command names are typed as they stand: they are about the same store, and the same checkpoint.

use std::fs;
use std::path::Path;

use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{Keep, Mode, Store};
use predicates::prelude::*;
use predicates::str::contains;

use crate::store::{MAIN, cargo_ckpt, damage_file, meta, store};

/// Lists of lists, one more in each checkpoint, in a store beside another one.
fn grown(folder: &Path) {
    store(folder, 1);
    let mut store = Store::open(folder.join("x/k.ckpt.d"), Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    for step in 1..=3 {
        let mut builder = SnapshotBuilder::new();
        let main = builder.frame(&MAIN, 1);
        let ragged: Vec<Vec<u64>> = (0..step).map(|row| (0..row).collect()).collect();
        builder.value(main, "ragged", 11, None, &ragged);
        builder.value(main, "seen", 12, None, &vec![None, Some(step)]);
        store
            .commit(&builder.finish().unwrap(), &meta("heat", step))
            .unwrap();
    }
}

/// The commands that are named in what a command says.
fn named(said: &assert_cmd::assert::Assert) -> Vec<Vec<String>> {
    let output = said.get_output();
    let text = [&*output.stdout, &output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    let commands = text.split('`').skip(1).step_by(2);
    let commands = commands.filter_map(|command| command.strip_prefix("cargo ckpt "));
    commands.map(|command| shlex::split(command).unwrap()).collect()
}

#[test]
fn elements_are_named_with_their_checkpoint_and_store() {
    let here = tempfile::tempdir().unwrap();
    grown(here.path());
    let said = cargo_ckpt(here.path(), &["inspect", "2", "ragged", "--dir", "x/k.ckpt.d"]).success();
    let commands = named(&said);
    let words: Vec<&str> = commands[0].iter().map(String::as_str).collect();
    assert_eq!(words, ["inspect", "--dir", "x/k.ckpt.d", "2", "ragged[..]"]);
    cargo_ckpt(here.path(), &words)
        .success()
        .stdout(contains("\n[1] [0]").and(contains("\n[2]").not()));
    let of_none = ["inspect", "2", "seen[0].x", "--dir", "x/k.ckpt.d"];
    let said = cargo_ckpt(here.path(), &of_none)
        .code(2)
        .stderr(contains("E3135"));
    let commands = named(&said);
    assert_eq!(commands[0], ["inspect", "--dir", "x/k.ckpt.d", "2", "seen[..]"]);
}

#[test]
fn what_is_done_next_names_its_store() {
    let here = tempfile::tempdir().unwrap();
    grown(here.path());
    let file = here.path().join("x/k.ckpt.d/000002.r0.h5");
    damage_file(&file);
    let said = cargo_ckpt(here.path(), &["inspect", "2", "--dir", "x/k.ckpt.d"]).code(78);
    assert_eq!(named(&said)[0], ["verify", "--dir", "x/k.ckpt.d"]);
    // Of a run without a record, beside a store that is found without its name.
    let said = cargo_ckpt(here.path(), &["restart", "--dir", "x/k.ckpt.d"]).code(76);
    let commands = named(&said);
    assert_eq!(
        commands[0],
        ["restart", "--dir", "x/k.ckpt.d", "ID"],
        "{commands:?}"
    );
    // A setting that names another one counts as well.
    fs::write(here.path().join("ckpt.toml"), "[session]\ndir = \"other\"\n").unwrap();
    let said = cargo_ckpt(here.path(), &["restart", "--dir", "heat.ckpt.d"]).code(76);
    assert_eq!(named(&said)[0], ["restart", "--dir", "heat.ckpt.d", "ID"]);
}
