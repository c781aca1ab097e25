//! Lists of structs, which are stored as one array for each field: their elements and fields are named as in the program.

use std::fs;
use std::path::Path;

use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{Meta, Mode, Store};
use predicates::prelude::*;
use predicates::str::contains;

use crate::store::{ADVANCE, MAIN, cargo_ckpt, json};

#[derive(ckpt::Checkpoint)]
struct Body {
    name: String,
    mass: f64,
    position: [f64; 3],
}

#[derive(ckpt::Checkpoint)]
struct System {
    steps: u64,
    bodies: Vec<Body>,
}

/// Three bodies, and a `dt` in both frames.
fn system(folder: &Path) {
    let body = |(number, name): (usize, &str)| Body {
        name: name.to_owned(),
        mass: 10.0 + number as f64,
        position: std::array::from_fn(|axis| (3 * number + axis) as f64),
    };
    let bodies = ["sun", "earth", "moon"].into_iter().enumerate().map(body);
    let system = System {
        steps: 7,
        bodies: bodies.collect(),
    };
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    let advance = builder.frame(&ADVANCE, 1);
    builder.value(main, "dt", 11, None, &0.5);
    builder.value(advance, "dt", 31, None, &0.25);
    builder.value(advance, "self", 30, Some(0), &system);
    let meta = Meta {
        program: "nbody".into(),
        version: "0.1.0".into(),
        visit: 10,
        time: 1_700_000_000_000_000_000,
        reason: "every 10".into(),
        host: "node7".into(),
        run: None,
        notes: Vec::new(),
    };
    let mut store = Store::open(folder.join("nbody.ckpt.d"), Mode::ReadWrite).unwrap();
    store.commit(&builder.finish().unwrap(), &meta).unwrap();
}

#[test]
fn an_element_shows_its_fields_and_a_field_its_element() {
    let here = tempfile::tempdir().unwrap();
    system(here.path());
    let shows = |variable: &str, ends: &str| {
        let shown = cargo_ckpt(here.path(), &["inspect", "1", variable]).success();
        shown.stdout(predicates::str::ends_with(format!("\n\n{ends}")));
    };
    let fields =
        ".name[1] \"earth\"\n.mass[1] 11.0\n.position[1, 0] 3.0\n.position[1, 1] 4.0\n.position[1, 2] 5.0\n";
    shows("self.bodies[1]", fields);
    shows("self.bodies[1].position[..2]", "[1, 0] 3.0\n[1, 1] 4.0\n");
    shows("self.bodies[1..].mass", "[1] 11.0\n[2] 12.0\n");
    let shown = json(here.path(), &["inspect", "1", "self.bodies[2]"]);
    assert_eq!(
        shown["elements"][1],
        serde_json::json!({ "field": "mass", "index": [2], "values": [12.0] })
    );
    let refused = cargo_ckpt(here.path(), &["inspect", "1", "self[1]"]).code(2);
    refused.stderr(contains("`self` is no array").and(contains("its parts: self.steps, self.bodies")));
    let refused = cargo_ckpt(here.path(), &["inspect", "1", "self.bodies[3]"]).code(2);
    refused.stderr(contains("outside of 0..3"));
    let refused = cargo_ckpt(here.path(), &["inspect", "1", "dt"]).code(2);
    refused.stderr(contains("several frames have a variable `dt`").and(contains("0/dt, 1/dt")));
}

#[test]
fn one_field_and_some_elements_are_exported() {
    let here = tempfile::tempdir().unwrap();
    system(here.path());
    let table = |variable: &str| {
        cargo_ckpt(here.path(), &["export", "1", variable, "--to", "t.csv"]).success();
        fs::read_to_string(here.path().join("t.csv")).unwrap()
    };
    assert_eq!(table("self.bodies.name"), "sun\nearth\nmoon\n");
    assert_eq!(table("self.bodies[1..].name"), "earth\nmoon\n");
    assert_eq!(table("self.bodies[1].position"), "3.0,4.0,5.0\n");
    assert_eq!(table("self.bodies.position[.., 1]"), "1.0\n4.0\n7.0\n");
    cargo_ckpt(
        here.path(),
        &["export", "1", "self.bodies[0..2]", "0/dt", "--to", "some.npz"],
    )
    .success()
    .stdout(contains("4 arrays"));
    let file = fs::File::open(here.path().join("some.npz")).unwrap();
    let mut archive = zip::ZipArchive::new(file).unwrap();
    let mut array = archive.by_name("advance/self.bodies.position.npy").unwrap();
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut array, &mut bytes).unwrap();
    assert!(String::from_utf8_lossy(&bytes[10..]).contains("'shape': (2,3,)"));
    let numbers: Vec<u8> = (0..6)
        .flat_map(|number| f64::from(number).to_le_bytes())
        .collect();
    assert!(bytes.ends_with(&numbers));
}
