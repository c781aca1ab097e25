//! The words of the library's typed errors, noted in `words.txt`. (What programs print when they end because of one is noted
//! by the tests of sessions.) `CKPT_BLESS=1` notes what is new.

use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use ckpt::session::SessionError;
use ckpt::session::config::ConfigError;
use ckpt::store::{CheckpointId, Damage, RunId, StoreError};
use ckpt::value::LoadProblem;
use ckpt::{LoadError, SaveError};

fn id(number: u64) -> CheckpointId {
    number.to_string().parse().unwrap()
}

fn folder() -> PathBuf {
    "heat.ckpt.d".into()
}

fn file() -> PathBuf {
    folder().join("000003.r0.h5")
}

fn gone() -> Error {
    Error::new(ErrorKind::NotFound, "no such file")
}

fn of_stores() -> Vec<StoreError> {
    let damage = |place: &str, what: &str| Damage {
        place: place.into(),
        what: what.into(),
    };
    vec![
        StoreError::Locked {
            folder: folder(),
            pid: "17".into(),
            host: "node7".into(),
        },
        StoreError::DiskFull {
            path: file(),
            needed: 4096,
        },
        StoreError::DiskFull {
            path: file(),
            needed: 0,
        },
        StoreError::Io {
            action: "read",
            path: file(),
            why: "no such file".into(),
            kind: ErrorKind::NotFound,
        },
        StoreError::Hdf5 {
            action: "open the file".into(),
            path: file(),
            why: "not an HDF5 file".into(),
        },
        StoreError::Damaged {
            path: file(),
            damage: vec![
                damage("/frames/0/x", "block 0: checksum 1 instead of 2"),
                damage("file", "it was cut off"),
            ],
        },
        StoreError::Version {
            path: file(),
            found: 9,
            known: 1,
        },
        StoreError::Compressed { path: file() },
        StoreError::NotFound {
            id: id(7),
            folder: folder(),
        },
        StoreError::Needed { id: id(3), by: id(4) },
        StoreError::NotRemoved {
            id: id(3),
            why: "permission denied".into(),
        },
        StoreError::ReadOnly(folder()),
        StoreError::Name("../x".into()),
    ]
}

fn run() -> Option<RunId> {
    "0123456789abcdef0123456789abcdef".parse().ok()
}

fn of_sessions() -> Vec<SessionError> {
    vec![
        ConfigError::Unreadable(gone()).into(),
        ConfigError::Invalid("unknown field `evry`".into()).into(),
        ConfigError::Value {
            setting: "CKPT_EVERY".into(),
            value: "often".into(),
            expected: "a number",
        }
        .into(),
        ConfigError::NotBuilt.into(),
        SessionError::System {
            what: "take over SIGTERM",
            error: gone(),
        },
        SessionError::AlreadyOpen,
        SessionError::NotRestorable {
            id: id(7),
            error: StoreError::NotFound {
                id: id(7),
                folder: folder(),
            },
        },
        SessionError::NoCheckpoint {
            folder: folder(),
            run: run(),
            others: Box::default(),
            passed_over: 2,
        },
        SessionError::NoLine {
            folder: folder(),
            ranks: 4,
            lacking: 2,
        },
        SessionError::OtherRanks { saved: 4, ranks: 3 },
        SessionError::Apart { id: id(3) },
        SessionError::Elsewhere,
        SessionError::Completed {
            folder: folder(),
            run: run().unwrap(),
            when: "noon".into(),
        },
        SessionError::OtherProgram {
            id: id(3),
            theirs: "heat".into(),
            ours: "cold".into(),
        },
        SessionError::OtherSources {
            id: id(3),
            files: "`src/solver.rs` has changed".into(),
        },
        SessionError::NotByHand { id: id(3) },
        SessionError::Value {
            key: "grid".into(),
            error: LoadError::invalid("it is not sorted"),
        },
        SessionError::NothingRestored,
        SessionError::TooLate { key: "grid".into() },
        SessionError::Twice { key: "grid".into() },
        SessionError::Forked,
        SessionError::NoSuchRun {
            prefix: "0123".into(),
            folder: folder(),
            several: true,
        },
        SessionError::RecordUnreadable {
            run: run().unwrap(),
            folder: folder(),
            why: "it is empty".into(),
        },
        SessionError::OtherArguments {
            id: id(3),
            theirs: "heat a".into(),
            ours: "heat b".into(),
        },
        SessionError::OfOtherRun {
            id: id(3),
            theirs: run(),
            wanted: "4567".into(),
        },
        SessionError::Lacks {
            id: id(3),
            why: "what the files were is not there".into(),
        },
        SessionError::RunExists {
            run: run().unwrap(),
            folder: folder(),
        },
    ]
}

fn of_values() -> Vec<LoadError> {
    let problems = [
        LoadProblem::Mismatch {
            expected: "one f64".into(),
            found: "one u64".into(),
        },
        LoadProblem::MissingField {
            field: "mass".into(),
            present: "pos, vel".into(),
        },
        LoadProblem::UnknownVariant {
            variant: "Gas".into(),
            known: "Solid, Fluid".into(),
        },
        LoadProblem::UnknownObject {
            object: "Euler".into(),
            name: "Solver".into(),
            known: "Heun".into(),
        },
        LoadProblem::TooShort { wanted: 4, left: 3 },
        LoadProblem::TooLong { left: 1 },
        LoadProblem::Invalid("`sorted` is not sorted".into()),
        LoadProblem::NoVariable("grid".into()),
        LoadProblem::Damaged("checksum 1 instead of 2".into()),
    ];
    let below = |problem| LoadError {
        path: "cells/3".into(),
        problem,
    };
    problems.into_iter().map(below).collect()
}

#[test]
fn errors_say_what_where_and_why() {
    let saved = SaveError {
        variable: "grid".into(),
        why: "a `RefCell` in it is mutably borrowed".into(),
    };
    let mut said: Vec<String> = of_stores().iter().map(ToString::to_string).collect();
    said.extend(of_sessions().iter().map(ToString::to_string));
    said.push(saved.to_string());
    said.extend(of_values().iter().map(ToString::to_string));
    let said = said.join("\n") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/words.txt");
    if std::env::var_os("CKPT_BLESS").is_some() {
        fs::write(&path, &said).unwrap();
    }
    assert_eq!(said, fs::read_to_string(path).unwrap_or_default());
}
