//! What the tests of values and stores share: a plan to save under, and the way through a file.

#![allow(dead_code)]

use ckpt::Checkpoint;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::snapshot::{Snapshot, SnapshotBuilder};
use ckpt::store::{Meta, Mode, Restored, Store};

pub static PLAN: FunctionPlan = FunctionPlan {
    function: "advance",
    module: "demo::sim",
    file: "src/sim.rs",
    line: 10,
    layout: 0x1234,
    source: 0x5678,
    attribute: "ckpt::instrument",
    sites: &[
        SitePlan {
            line: 12,
            column: 9,
            kind: SiteKind::Checkpoint,
            variables: &[],
        },
        SitePlan {
            line: 15,
            column: 5,
            kind: SiteKind::Call { callee: "inner" },
            variables: &[],
        },
    ],
};

pub fn meta() -> Meta {
    Meta {
        program: "demo".into(),
        version: "1.2.3".into(),
        visit: 77,
        time: 1_700_000_000_000_000_000,
        reason: "every".into(),
        host: "here".into(),
        run: "0123456789abcdef0123456789abcdef".parse().ok(),
        notes: vec![("rustc".into(), "1.95".into())],
    }
}

pub fn snapshot_of<T: Checkpoint + ?Sized>(value: &T) -> Snapshot {
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&PLAN, 1);
    builder.value(frame, "x", 11, None, value);
    builder.finish().unwrap()
}

/// The checkpoint of one variable `x`, written and opened again.
pub fn through_a_file<T: Checkpoint + ?Sized>(value: &T) -> Restored {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(folder.path(), Mode::ReadWrite).unwrap();
    let id = store.commit(&snapshot_of(value), &meta()).unwrap();
    store.load(id).unwrap()
}

pub fn convert<T: Checkpoint + ?Sized, U: Checkpoint>(value: &T) -> U {
    through_a_file(value).decode(0, "x").unwrap()
}

#[track_caller]
pub fn round_trip<T: Checkpoint + PartialEq + std::fmt::Debug>(value: &T) {
    assert_eq!(convert::<T, T>(value), *value);
}

/// The message with which the value is refused as a `U`.
pub fn refuse<T: Checkpoint + ?Sized, U: Checkpoint + std::fmt::Debug>(value: &T) -> String {
    through_a_file(value).decode::<U>(0, "x").unwrap_err().to_string()
}
