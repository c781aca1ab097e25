//! The Python package `ckpt-read`, on checkpoints that a program has made in every way in which values are stored. Needs what
//! `.ci/install.sh` installs for Python.

#[path = "../../../tests/harness/src/skipped.rs"]
mod skipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use machines_tests::cargo_ckpt;

/// How the stores are made, by the names of their folders.
const WAYS: [(&str, &[(&str, &str)]); 5] = [
    ("whole", &[("CKPT_FULL_EVERY", "1")]),
    ("incremental", &[("CKPT_FULL_EVERY", "9")]),
    (
        "deflate",
        &[("CKPT_FULL_EVERY", "9"), ("CKPT_COMPRESSION", "deflate")],
    ),
    ("lz4", &[("CKPT_FULL_EVERY", "9"), ("CKPT_COMPRESSION", "lz4")]),
    ("zstd", &[("CKPT_FULL_EVERY", "9"), ("CKPT_COMPRESSION", "zstd")]),
];

fn package() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python")
}

fn words(line: &str) -> impl Iterator<Item = String> {
    line.split_whitespace().map(str::to_owned)
}

/// Python's tests, or those whose names begin so, with the folder of what they are to leave behind.
fn test_in_python(beginning: &str, written: &Path, variables: &[(&str, &Path)]) {
    let tests = Command::new("python3")
        .args(["-m", "unittest", "discover", "-s", "tests", "-k", beginning])
        .current_dir(package())
        .env("PYTHONPATH", package())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("CKPT_READ_WRITTEN", written)
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&tests.stderr);
    assert!(tests.status.success(), "{said}");
    assert!(!said.contains("Ran 0 tests"), "{said}");
}

#[test]
fn the_package_reads_writes_and_finds_damage() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let (stores, written) = (here.join("stores"), here.join("written"));
    fs::create_dir_all(&written).unwrap();
    let mut printed = String::new();
    fs::create_dir_all(here.join("zoo/src")).unwrap();
    for file in ["Cargo.toml", "src/main.rs"] {
        fs::copy(
            package().join("tests/zoo").join(file),
            here.join("zoo").join(file),
        )
        .unwrap();
    }
    for (name, variables) in WAYS {
        let line =
            format!("run --quiet --manifest-path zoo/Cargo.toml --every 1 --keep all --dir stores/{name}");
        let ended = cargo_ckpt(here, words(&line), variables);
        assert_eq!(ended.code, Some(0), "{name}: {ended:?}");
        printed = ended.stdout;
    }
    // The stores of ranks are another test's.
    let sure = [("CKPT_READ_STORES", stores.as_path())];
    test_in_python("test_ckpt_read", &written, &sure);
    // What Python has sealed is whole for ckpt as well.
    for name in ["whole", "deflate", "lz4", "zstd"] {
        let verified = cargo_ckpt(here, words(&format!("verify --dir written/{name}")), &[]);
        assert_eq!(verified.code, Some(0), "{name}: {verified:?}");
        let number = if name == "whole" { 4 } else { 1 };
        // Who has copied a store says which program it is of.
        let line =
            format!("restart {number} --quiet --dir written/{name} --manifest-path zoo/Cargo.toml --bin zoo");
        let restarted = cargo_ckpt(here, words(&line), &[]);
        assert_eq!(restarted.code, Some(0), "{name}: {restarted:?}");
        goes_on_with_what_was_written(number, &printed, &restarted.stdout);
    }
}

/// Python has written 2 to `step`, -1 to one number that no step changes, and moved all cells by 1. `before` is what the program printed
/// without that.
fn goes_on_with_what_was_written(number: usize, before: &str, after: &str) {
    let total = |line: &str| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap();
    let before = number
        .checked_sub(2)
        .map_or(0.0, |line| total(before.lines().nth(line).unwrap()));
    let changed = (0..50_000).map(|k| 2.0 + f64::from(k));
    let zeros = std::iter::repeat_n(0.0, 50_000);
    let same = (0..100_000).map(|k| if k == 50_000 { -1.0 } else { f64::from(k).sqrt() });
    let sum: f64 = changed.chain(zeros).chain(same).sum();
    let first = format!("step 2 {}", before + sum);
    assert_eq!(after.lines().next(), Some(first.as_str()), "{after}");
    assert!(after.contains("at: [3.0, 1.5, 0.0]"), "{after}");
    assert_eq!(
        after.lines().filter(|line| line.starts_with("step ")).count(),
        5 - number
    );
}

#[test]
fn the_package_reads_and_writes_the_files_of_several_ranks() {
    let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
    if !(is_there("mpicc") && is_there("mpirun")) {
        return skipped::skipped("checkpoints of several ranks in Python", "there is no MPI");
    }
    let folder = tempfile::tempdir().unwrap();
    let (here, written) = (folder.path(), folder.path().join("written"));
    fs::create_dir_all(&written).unwrap();
    let ring = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../mpi/programs/ring/Cargo.toml");
    let ring = fs::canonicalize(ring).unwrap();
    let whole = [("CKPT_FULL_EVERY", "1")];
    let line = format!(
        "run -n 3 --quiet --manifest-path {} --every 1 --keep all --dir ranks -- 5",
        ring.display()
    );
    let ended = cargo_ckpt(here, words(&line), &whole);
    assert_eq!(ended.code, Some(0), "{ended:?}");
    test_in_python(
        "Ranks",
        &written,
        &[
            ("CKPT_READ_STORES", here),
            ("CKPT_READ_RANKS", &here.join("ranks")),
        ],
    );
    let verified = cargo_ckpt(here, words("verify --dir written/ranks"), &[]);
    assert_eq!(verified.code, Some(0), "{verified:?}");
    // Where all ranks have zeros, zeros is what comes of it.
    let line = format!(
        "restart -n 3 --quiet --dir written/ranks 5 --manifest-path {} --bin ring",
        ring.display()
    );
    let restarted = cargo_ckpt(here, words(&line), &whole);
    assert_eq!(restarted.code, Some(0), "{restarted:?}");
    for rank in 0..3 {
        let line = format!("rank {rank}: {:.12}", 0.0);
        assert!(
            restarted.stdout.contains(&line) && !ended.stdout.contains(&line),
            "{restarted:?}"
        );
    }
}
