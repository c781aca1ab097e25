//! `cargo ckpt pack` and `unpack` of programs of several processes, whose ranks need not build on the same checkpoints.

mod noted;

use std::fs;
use std::path::Path;
use std::process::Command;

use assert_cmd::assert::OutputAssertExt;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::store::{Keep, Meta, Mode, Store, Storing};
use noted::noted;

static PLAN: FunctionPlan = FunctionPlan {
    function: "main",
    module: "ring",
    file: "src/main.rs",
    line: 1,
    layout: 1,
    source: 2,
    attribute: "ckpt::main",
    sites: &[SitePlan {
        line: 2,
        column: 5,
        kind: SiteKind::Checkpoint,
        variables: &[],
    }],
};

/// A process of a rank that takes so many checkpoints, of which the first holds everything.
fn process(folder: &Path, rank: u32, checkpoints: u64) {
    let mut store = Store::open_as(folder, Mode::ReadWrite, rank).unwrap();
    store.set_keep(Keep::All);
    store.set_storing(Storing {
        compression: None,
        full_every: 100,
    });
    let mut cells: Vec<u64> = (0..200_000).collect();
    for round in 0..checkpoints {
        cells[50_000 * round as usize] += 1;
        let mut builder = store.snapshot();
        let frame = builder.frame(&PLAN, 0);
        builder.value(frame, "cells", 3, None, &cells);
        store
            .commit(&builder.finish().unwrap(), &Meta::default())
            .unwrap();
    }
}

fn cargo_ckpt(folder: &Path, arguments: &str) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    command.env_remove("CKPT_DIR").current_dir(folder);
    let assert = noted(command.args(arguments.split_whitespace()).assert());
    let output = assert.get_output();
    let said = [&output.stdout[..], &output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8(said).unwrap())
}

fn files(store: &Path) -> Vec<String> {
    let entries = fs::read_dir(store).unwrap().flatten();
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.ends_with(".h5"))
        .collect();
    names.sort();
    names
}

/// Rank 0 has one chain of four; rank 1 has begun anew with the third, and has removed what it needed before.
#[test]
fn each_rank_has_what_its_own_checkpoints_build_on() {
    let here = tempfile::tempdir().unwrap();
    let store = here.path().join("ring.ckpt.d");
    process(&store, 0, 4);
    process(&store, 1, 2);
    process(&store, 1, 2);
    for old in ["000001.r1.h5", "000002.r1.h5"] {
        fs::remove_file(store.join(old)).unwrap();
    }
    let needed = [
        "000001.r0.h5",
        "000002.r0.h5",
        "000003.r0.h5",
        "000003.r1.h5",
        "000004.r0.h5",
        "000004.r1.h5",
    ];
    for which in ["latest", "4", "all"] {
        let there = tempfile::tempdir().unwrap();
        let pack = there.path().join("ring.tar");
        let (code, said) = cargo_ckpt(here.path(), &format!("pack {which} -o {}", pack.display()));
        assert_eq!(code, 0, "{said}");
        let (code, said) = cargo_ckpt(there.path(), "unpack ring.tar");
        assert_eq!(code, 0, "{said}");
        let unpacked = there.path().join("ring.ckpt.d");
        assert_eq!(files(&unpacked), needed, "{which}");
        for rank in [0, 1] {
            let store = Store::open_as(&unpacked, Mode::ReadOnly, rank).unwrap();
            let newest = store.list().unwrap().last().unwrap().id;
            store.verify(newest).unwrap();
        }
    }
    // Where the rest of a file lies that holds only what had changed, those who look are told.
    let (_, said) = cargo_ckpt(here.path(), "inspect 4");
    assert!(
        said.contains("000004.r0.h5, holds what had changed; the rest lies in 000001, 000002, 000003\n"),
        "{said}"
    );
    let (_, said) = cargo_ckpt(here.path(), "diff 3 4 --rank 0");
    assert!(
        said.contains("holds what had changed; the rest lies in 000001, 000002"),
        "{said}"
    );
    // A line that rank 1 does not have is no state of the program.
    let (code, said) = cargo_ckpt(here.path(), "pack 2 -o two.tar");
    assert!(
        code == 76 && said.contains("there is no checkpoint 000002 of rank 1"),
        "{code}: {said}"
    );
}

/// The newest line is damaged in what one rank builds on: the newest that is whole on all is packed.
#[test]
fn the_newest_line_that_is_whole_on_all_ranks_is_packed() {
    let here = tempfile::tempdir().unwrap();
    let store = here.path().join("ring.ckpt.d");
    process(&store, 0, 3);
    process(&store, 1, 3);
    let newest = store.join("000003.r1.h5");
    let mut bytes = fs::read(&newest).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(newest, bytes).unwrap();
    let (code, said) = cargo_ckpt(here.path(), "pack -o ring.tar");
    assert_eq!(code, 0, "{said}");
    assert!(
        said.contains("000001, 000002") && !said.contains("000003"),
        "{said}"
    );
}
