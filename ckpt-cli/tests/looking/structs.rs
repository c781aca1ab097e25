//! Lists of structs, which are stored as one array for each field: their elements and fields are named as in the program.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use std::rc::{Rc, Weak};

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
    let mut store = Store::open(folder.join("nbody.ckpt.d"), Mode::ReadWrite).unwrap();
    store.commit(&builder.finish().unwrap(), &meta()).unwrap();
}

fn meta() -> Meta {
    Meta {
        run: None,
        ..crate::store::meta("nbody", 10)
    }
}

/// What an array of `ndarray` with its axes turned round is saved as.
#[derive(ckpt::Checkpoint)]
struct Turned {
    shape: Vec<usize>,
    strides: Vec<isize>,
    items: [[f64; 3]; 2],
}

#[test]
fn an_array_that_lies_otherwise_in_memory_has_the_indices_of_the_program() {
    let here = tempfile::tempdir().unwrap();
    let turned = Turned {
        shape: vec![3, 2],
        strides: vec![1, 3],
        items: [[0.0, 10.0, 20.0], [1.0, 11.0, 21.0]],
    };
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    builder.value(main, "turned", 11, None, &turned);
    let mut store = Store::open(here.path().join("nbody.ckpt.d"), Mode::ReadWrite).unwrap();
    store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    let inspect = |what: &str| cargo_ckpt(here.path(), &["inspect", "1", what]).success();
    inspect("turned").stdout(contains("f64 [3, 2]").and(contains("[2, 0] 20.0\n[2, 1] 21.0\n")));
    inspect("turned[0, 1]").stdout(contains("[0, 1] 1.0"));
    cargo_ckpt(here.path(), &["export", "1", "turned", "--to", "turned.csv"]).success();
    let table = fs::read_to_string(here.path().join("turned.csv")).unwrap();
    assert_eq!(table, "0.0,1.0\n10.0,11.0\n20.0,21.0\n");
}

/// Of options and lists the values that are there stand one behind the other.
#[test]
fn differences_are_at_the_elements_of_the_program() {
    let here = tempfile::tempdir().unwrap();
    let write = |store: &str, value: f64, trail: u8, is_there: bool| {
        let mut builder = SnapshotBuilder::new();
        let main = builder.frame(&MAIN, 1);
        let maybe = [None, Some(1.0), None, Some(value), None];
        let trails = [vec![1, 2], vec![], vec![3, trail]];
        let moved = [is_there.then_some(7_u8), (!is_there).then_some(8)];
        builder.value(main, "maybe", 11, None, maybe.as_slice());
        builder.value(main, "trails", 12, None, trails.as_slice());
        builder.value(main, "moved", 13, None, moved.as_slice());
        let mut store = Store::open(here.path().join(store), Mode::ReadWrite).unwrap();
        store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    };
    write("a.ckpt.d", 2.0, 4, true);
    write("b.ckpt.d", 5.0, 6, false);
    let files = [
        "diff",
        "a.ckpt.d/000001.r0.h5",
        "b.ckpt.d/000001.r0.h5",
        "--format",
        "json",
    ];
    let found = cargo_ckpt(here.path(), &files).code(1);
    let found: serde_json::Value = serde_json::from_slice(&found.get_output().stdout).unwrap();
    let at = |place: &str| {
        let all = found["differences"].as_array().unwrap();
        let one = all
            .iter()
            .find(|one| one["place"] == place)
            .unwrap_or_else(|| panic!("{found}"));
        (
            one["first"][0]["index"].clone(),
            one["what"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(at("main/maybe.value").0, serde_json::json!([3]));
    assert_eq!(at("main/trails.items").0, serde_json::json!([2, 1]));
    assert!(
        at("main/moved.value").1.contains("it is there in other elements"),
        "{found}"
    );
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

#[derive(ckpt::Checkpoint)]
enum Event {
    Idle,
    Collision { with: u32, energy: f64 },
    Split(u8),
}

#[derive(ckpt::Checkpoint)]
struct Particle {
    name: String,
    last: Option<[f64; 2]>,
    events: Vec<Event>,
}

/// Structs with options and lists, enums, maps: lists whose elements are not in arrays of one length.
#[test]
fn elements_of_any_shape_are_shown() {
    let here = tempfile::tempdir().unwrap();
    let event = |number: u32| match number % 3 {
        0 => Event::Idle,
        1 => Event::Collision {
            with: number,
            energy: 0.5 * f64::from(number),
        },
        _ => Event::Split(number as u8),
    };
    let particle = |number: u32| Particle {
        name: format!("p{number}"),
        last: (number % 2 == 1).then(|| [f64::from(number), 0.5]),
        events: (0..number).map(event).collect(),
    };
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    let particles: Vec<Particle> = (0..5).map(particle).collect();
    builder.value(main, "particles", 11, None, &particles);
    builder.value(main, "events", 12, None, &(0..6).map(event).collect::<Vec<_>>());
    builder.value(main, "found", 13, None, &vec![None, Some(3_u8), None, Some(4)]);
    builder.value(main, "lists", 14, None, &vec![vec![1_i64, 2], vec![], vec![3]]);
    let map = |number: u8| std::collections::BTreeMap::from([(number, -1.5), (number + 1, 2.5)]);
    builder.value(main, "maps", 15, None, &vec![map(1), map(4)]);
    builder.value(main, "pairs", 16, None, &vec![(1_u8, Some(2.0)), (3, None)]);
    builder.value(main, "none", 17, None, &Some(3_u8));
    builder.value(
        main,
        "grid",
        18,
        None,
        &vec![vec![0.5, 1.5, 2.5], vec![3.5, 4.5, 5.5]],
    );
    let mut store = Store::open(here.path().join("box.ckpt.d"), Mode::ReadWrite).unwrap();
    store.set_keep(ckpt::store::Keep::All);
    let snapshot = builder.finish().unwrap();
    for _ in 0..2 {
        store.commit(&snapshot, &meta()).unwrap();
    }
    let shows = |variable: &str, ends: &str| {
        let shown = cargo_ckpt(here.path(), &["inspect", variable]).success();
        shown.stdout(predicates::str::ends_with(format!("\n\n{ends}")));
    };
    shows(
        "particles[3]",
        "[3] { name: \"p3\", last: Some([3.0, 0.5]), events: [Idle, Collision { with: 1, energy: 0.5 }, Split (2)] }\n",
    );
    shows("particles[0..2].last", "[0] None\n[1] Some([1.0, 0.5])\n");
    shows("particles[1].name", "[1] \"p1\"\n");
    shows("particles[1].events", "[1] [Idle]\n");
    // What is in an element is that of this element, wherever it is stored.
    shows("particles[3].last", "[3] Some([3.0, 0.5])\n");
    shows("particles[3].last.value", "particles[3].last.value [3.0, 0.5]\n");
    shows(
        "particles[3].events[1]",
        "particles[3].events[1] Collision { with: 1, energy: 0.5 }\n",
    );
    shows("particles[4].events[1].with", "particles[4].events[1].with 1\n");
    shows(
        "particles[4].events[3].variant",
        "particles[4].events[3].variant Idle\n",
    );
    shows("particles[4].events[2..]", "[2] Split (2)\n[3] Idle\n");
    shows("grid[1][2]", "grid[1][2] 5.5\n");
    shows("lists[2][0]", "lists[2][0] 3\n");
    shows("lists[2, 0]", "lists[2][0] 3\n");
    shows("maps[1].keys", "[0] 4\n[1] 5\n");
    shows("events[4].Collision.energy", "events[4].Collision.energy 2.0\n");
    shows("pairs[0].1.value", "pairs[0].1.value 2.0\n");
    let refuses = |variable: &str, says: &str| {
        let refused = cargo_ckpt(here.path(), &["inspect", variable]).code(2);
        refused.stderr(contains(says));
    };
    refuses(
        "particles[2].last.value",
        "E3135]: `particles[2].last` is `None`, and has no `value`",
    );
    refuses(
        "events[3].Collision",
        "E3135]: `events[3]` is `Idle`, and has no `Collision`",
    );
    refuses(
        "particles[0..3].last.value",
        "E3134]: `particles[0..3]` is several elements",
    );
    refuses("particles[1].events[1]", "E3098");
    refuses(
        "particles[3].last.valu",
        "E3093]: `particles[3].last` has no part `valu`",
    );
    let part = json(
        here.path(),
        &["inspect", "latest", "particles[4].events[1].energy"],
    );
    assert_eq!(
        part["elements"][0],
        serde_json::json!({ "index": [], "values": [0.5] })
    );
    assert_eq!(part["rust_type"], serde_json::Value::Null);
    cargo_ckpt(
        here.path(),
        &["export", "particles[3].last.value", "--to", "x.csv"],
    )
    .code(2)
    .stderr(contains("E3136"));
    shows(
        "events[4..]",
        "[4] Collision { with: 4, energy: 2.0 }\n[5] Split (5)\n",
    );
    shows("found[1..]", "[1] Some(3)\n[2] None\n[3] Some(4)\n");
    shows("lists[..]", "[0] [1, 2]\n[1] []\n[2] [3]\n");
    shows("maps[1]", "[1] {4: -1.5, 5: 2.5}\n");
    shows("pairs[..]", "[0] (1, Some(2.0))\n[1] (3, None)\n");
    let shown = json(here.path(), &["inspect", "latest", "found[3]"]);
    assert_eq!(
        shown["elements"][0],
        serde_json::json!({ "index": [3], "values": ["Some(4)"] })
    );
    let refused = cargo_ckpt(here.path(), &["inspect", "found[4]"]).code(2);
    refused.stderr(contains("outside of 0..4"));
    cargo_ckpt(here.path(), &["inspect", "none[0]"])
        .code(2)
        .stderr(contains("single value"));
    let all = cargo_ckpt(here.path(), &["inspect", "all", "found[3]"]).success();
    all.stdout(
        contains("checkpoint 000001, visit 10, found: ")
            .and(contains("checkpoint 000002, visit 10, found: ")),
    );
    let all = json(here.path(), &["inspect", "all", "found[3]"]);
    assert_eq!(
        (&all["parts"][0]["id"], &all["parts"][1]["id"]),
        (&1.into(), &2.into())
    );
    cargo_ckpt(here.path(), &["inspect", "newest", "found"])
        .code(2)
        .stderr(contains("E3116").and(contains("cargo ckpt inspect latest grid")));
    cargo_ckpt(here.path(), &["inspect", "found", "--plot", "x.svg"]).code(2);
    cargo_ckpt(here.path(), &["inspect", "latest", "--plot", "x.svg"])
        .code(2)
        .stderr(contains("E3115"));
    cargo_ckpt(here.path(), &["verify", "all"]).success();
}

/// Entries of a map have the places in which they are shown, and their keys.
#[test]
fn entries_of_a_map_are_shown() {
    let here = tempfile::tempdir().unwrap();
    let counts = std::collections::BTreeMap::from([("mod1".to_owned(), 5_u32), ("mod 2.x".to_owned(), 7)]);
    let body = |mass: f64| Body {
        name: "sun".into(),
        mass,
        position: [mass; 3],
    };
    let bodies = std::collections::BTreeMap::from([(7_u32, body(1.0)), (9, body(2.0))]);
    let none = std::collections::BTreeMap::<String, u32>::new();
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    builder.value(main, "counts", 11, None, &counts);
    builder.value(main, "bodies", 12, None, &bodies);
    builder.value(main, "none", 13, None, &none);
    builder.value(main, "some", 14, None, &vec![0.5_f64; 3]);
    let mut store = Store::open(here.path().join("box.ckpt.d"), Mode::ReadWrite).unwrap();
    store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    let shows = |variable: &str, ends: &str| {
        let shown = cargo_ckpt(here.path(), &["inspect", variable]).success();
        shown.stdout(predicates::str::ends_with(ends.to_owned()));
    };
    shows("counts", "Its elements: `cargo ckpt inspect 1 'counts[..]'`\n");
    shows("counts[..]", "\n\n[0] \"mod 2.x\": 7\n[1] \"mod1\": 5\n");
    shows("counts[1]", "\"mod1\": 5\n");
    shows("counts[1..]", "\n\n[1] \"mod1\": 5\n");
    shows("counts[\"mod1\"]", "counts[\"mod1\"] 5\n");
    shows("counts[\"mod 2.x\"]", " 7\n");
    shows("bodies[\"9\"].mass", "bodies[\"9\"].mass 2.0\n");
    shows("bodies[0].position[1]", " 1.0\n");
    let refuses = |variable: &str, code: &str, says: &str| {
        let refused = cargo_ckpt(here.path(), &["inspect", variable]).code(2);
        refused.stderr(contains(code).and(contains(says)));
    };
    refuses("counts[\"mod3\"]", "E3190", "cargo ckpt inspect 1 'counts[..]'");
    refuses("counts[2]", "E3098", "outside of 0..2");
    refuses("none[0]", "E3098", "");
    refuses("some[2..1]", "E3192", "the smaller index first");
    refuses("some[]", "E3097", "VAR[3]");
    for wrong in ["bodies..mass", "some.", "bodies[0].", ".some", "bodies.[0]"] {
        refuses(wrong, "E3191", "VAR.part");
    }
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
    cargo_ckpt(here.path(), &["export", "self.bodies.name", "--to", "t.csv"]).success();
    cargo_ckpt(here.path(), &["export", "--to", "whole.npz"]).success();
    cargo_ckpt(here.path(), &["export", "all", "--to", "whole.npz"])
        .code(2)
        .stderr(contains("E3116").and(contains("a file has the values of one")));
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

#[derive(ckpt::Checkpoint)]
struct Star {
    name: String,
    at: [f64; 2],
    seen: Option<u32>,
    kind: Event,
    notes: Vec<u8>,
}

/// Variables of one length are one table, and a list of structs is one, with names above the columns.
#[test]
fn what_belongs_together_is_exported_as_one_table() {
    let here = tempfile::tempdir().unwrap();
    let star = |number: u32, kind: Event| Star {
        name: format!("s{number}, bright"),
        at: [f64::from(number), 0.5],
        seen: (number > 1).then_some(number),
        kind,
        notes: (0..number as u8).collect(),
    };
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    builder.value(main, "energies", 11, None, &vec![1.5, 2.5]);
    builder.value(main, "speeds", 12, None, &vec![3_u8, 4]);
    let collision = Event::Collision { with: 3, energy: 0.5 };
    builder.value(
        main,
        "stars",
        13,
        None,
        &vec![star(1, Event::Split(2)), star(2, collision)],
    );
    let map = std::collections::BTreeMap::from([("a".to_owned(), 1.0), ("b".to_owned(), 2.0)]);
    builder.value(main, "map", 14, None, &map);
    builder.value(main, "step", 15, None, &7_u64);
    builder.value(main, "title", 16, None, "two stars");
    builder.value(main, "none", 17, None, &None::<f64>);
    builder.value(main, "letters", 18, None, &vec!['μ', ',']);
    let mut store = Store::open(here.path().join("sky.ckpt.d"), Mode::ReadWrite).unwrap();
    store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    let table = |variables: &[&str]| {
        let arguments = [&["export"], variables, &["--to", "t.csv"]].concat();
        cargo_ckpt(here.path(), &arguments).success();
        fs::read_to_string(here.path().join("t.csv")).unwrap()
    };
    assert_eq!(table(&["energies", "speeds"]), "energies,speeds\n1.5,3\n2.5,4\n");
    assert_eq!(table(&["energies"]), "1.5\n2.5\n");
    assert_eq!(
        table(&["stars"]),
        "stars.name,stars.at[0],stars.at[1],stars.seen,stars.kind,stars.notes\n\
         \"s1, bright\",1.0,0.5,,Split,[0]\n\"s2, bright\",2.0,0.5,2,Collision,\"[0, 1]\"\n"
    );
    assert_eq!(
        table(&["stars[1]", "energies[0]"]),
        "stars.name,stars.at[0],stars.at[1],stars.seen,stars.kind,stars.notes,energies\n\
         \"s2, bright\",2.0,0.5,2,Collision,\"[0, 1]\",1.5\n"
    );
    assert_eq!(table(&["map"]), "map.key,map.value\na,1.0\nb,2.0\n");
    assert_eq!(
        table(&["step", "title", "none"]),
        "step,title,none\n7,two stars,\n"
    );
    assert_eq!(table(&["step"]), "7\n");
    assert_eq!(table(&["letters"]), "μ\n\",\"\n");
    assert_eq!(table(&["letters", "speeds"]), "letters,speeds\nμ,3\n\",\",4\n");
    cargo_ckpt(here.path(), &["export", "energies", "step", "--to", "t.csv"])
        .code(2)
        .stderr(contains("E3105").and(contains("energies: 2, step: 1")));
}

#[derive(ckpt::Checkpoint)]
struct Moon {
    name: String,
    around: RefCell<Weak<Planet>>,
}

#[derive(ckpt::Checkpoint)]
struct Planet {
    mass: f64,
    track: Rc<RefCell<Vec<f64>>>,
    moons: Vec<Rc<Moon>>,
}

#[derive(ckpt::Checkpoint)]
struct Tree {
    key: u32,
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

/// What is shared, or in itself, is stored in tables of its own, and shown where the program has it.
#[test]
fn what_is_shared_is_shown_where_it_is_held() {
    let here = tempfile::tempdir().unwrap();
    let track = Rc::new(RefCell::new((0..12).map(f64::from).collect::<Vec<_>>()));
    let moon = |name: &str| {
        Rc::new(Moon {
            name: name.to_owned(),
            around: RefCell::default(),
        })
    };
    let planet = |mass: f64, names: &[&str]| {
        let planet = Rc::new(Planet {
            mass,
            track: Rc::clone(&track),
            moons: names.iter().copied().map(moon).collect(),
        });
        for moon in &planet.moons {
            *moon.around.borrow_mut() = Rc::downgrade(&planet);
        }
        planet
    };
    let planets = vec![planet(1.0, &["luna"]), planet(0.1, &["phobos", "deimos"])];
    let leaf = |key: u32| {
        Some(Box::new(Tree {
            key,
            left: None,
            right: None,
        }))
    };
    let tree = Tree {
        key: 5,
        left: Some(Box::new(Tree {
            key: 3,
            left: leaf(2),
            right: leaf(4),
        })),
        right: leaf(8),
    };
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    builder.value(main, "planets", 11, None, &planets);
    builder.value(main, "track", 12, None, &track);
    builder.value(main, "tree", 13, None, &tree);
    let mut store = Store::open(here.path().join("orbits.ckpt.d"), Mode::ReadWrite).unwrap();
    store.commit(&builder.finish().unwrap(), &meta()).unwrap();

    let shows = |variable: &str, value: &str| {
        let shown = cargo_ckpt(here.path(), &["inspect", "1", variable]).success();
        shown.stdout(predicates::str::ends_with(format!("\n\n{variable} {value}\n")));
    };
    shows("planets[1].mass", "0.1");
    shows("planets[1].moons[1].name", "\"deimos\"");
    shows("planets[1].moons[1].around.mass", "0.1");
    shows("planets[0].moons[0].around.moons[0].name", "\"luna\"");
    shows("planets[0].track[7]", "7.0");
    shows("track[11]", "11.0");
    shows("track", "[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, .. (12)]");
    shows("tree.left.right.key", "4");
    shows("tree.right.key", "8");
    let refused = cargo_ckpt(here.path(), &["inspect", "1", "tree.right.left.key"]).code(2);
    refused.stderr(contains("`tree.right.left` is `None`"));
    let whole = cargo_ckpt(here.path(), &["inspect", "1"]).success();
    whole.stdout(contains("[0.0, 1.0, 2.0, 3.0").and(contains("..")));

    let exported = |variables: &[&str]| {
        let arguments = [&["export", "1"], variables, &["--to", "out.csv"]].concat();
        cargo_ckpt(here.path(), &arguments).success();
        fs::read_to_string(here.path().join("out.csv")).unwrap()
    };
    assert_eq!(exported(&["track[9..]"]), "9.0\n10.0\n11.0\n");
    assert_eq!(exported(&["planets[0].track"]).lines().count(), 12);
}

#[derive(ckpt::Checkpoint)]
struct Cell {
    id: u64,
    frame: [[f64; 2]; 2],
    last: Option<[f64; 2]>,
}

#[derive(ckpt::Checkpoint)]
struct Edges {
    big: u64,
    huge: Vec<i128>,
    near: Vec<i64>,
    nothing: Vec<String>,
    lines: Vec<f64>,
    matrix: Vec<Vec<f64>>,
    tensor: Vec<Vec<Vec<u8>>>,
    cells: Vec<Cell>,
    lists: Vec<Vec<f64>>,
}

/// Two checkpoints of values that are easily shown wrong; the second has other large integers.
fn edges(folder: &Path) {
    let mut store = Store::open(folder.join("edges.ckpt.d"), Mode::ReadWrite).unwrap();
    for step in 0..2_u64 {
        let cell = |id: u64| Cell {
            id,
            frame: [[id as f64, 1.0], [2.0, 3.0]],
            last: id.is_multiple_of(2).then_some([id as f64, 0.5]),
        };
        let edges = Edges {
            big: u64::MAX - 100 * step,
            huge: vec![i128::MAX, i128::MIN, -1],
            near: (0..4).map(|at| i64::MAX - at - step as i64).collect(),
            nothing: Vec::new(),
            lines: (0..200).map(f64::from).collect(),
            matrix: vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0 + step as f64]],
            tensor: vec![vec![vec![1, 2], vec![3, 4]]; 3],
            cells: (0..3).map(cell).collect(),
            lists: vec![vec![1.0], vec![], vec![2.0, 3.0]],
        };
        let mut builder = SnapshotBuilder::new();
        let main = builder.frame(&MAIN, 1);
        builder.value(main, "e", 11, None, &edges);
        store.commit(&builder.finish().unwrap(), &meta()).unwrap();
    }
}

#[test]
fn integers_and_shapes_are_shown_as_they_are() {
    let here = tempfile::tempdir().unwrap();
    edges(here.path());
    let ends_with = |variable: &str, ends: &str| {
        let shown = cargo_ckpt(here.path(), &["inspect", "1", variable]).success();
        shown.stdout(predicates::str::ends_with(ends.to_owned()));
    };
    let whole = cargo_ckpt(here.path(), &["inspect", "1"]).success();
    whole.stdout(
        contains("170141183460469231731687303715884105727, \u{2026}")
            .and(contains("9223372036854775807, 9223372036854775806, \u{2026}"))
            .and(contains("nothing").and(contains("empty"))),
    );
    ends_with("e.nothing", "[]\n");
    ends_with(
        "e.cells[2]",
        "{ id: 2, frame: [[2.0, 1.0], [2.0, 3.0]], last: Some([2.0, 0.5]) }\n",
    );
    ends_with("e.cells[2].last[1]", "\ne.cells[2].last[1] 0.5\n");
    ends_with("e.cells[2].last[..]", "\n[0] 2.0\n[1] 0.5\n");
    ends_with("e.cells[1].frame[1]", "\n[1, 1, 0] 2.0\n[1, 1, 1] 3.0\n");
    let huge = json(here.path(), &["inspect", "1", "e.huge"]);
    assert_eq!(
        huge["elements"][0]["values"][0],
        "170141183460469231731687303715884105727"
    );
    let mean = huge["summary"]["mean"].as_f64().unwrap();
    assert!((mean + 2.0 / 3.0).abs() < 1e-9, "{mean}");
    for (variable, help) in [
        (
            "e.cells[1].last[0]",
            "`cargo ckpt inspect 1 'e.cells[..]'` shows all",
        ),
        ("e.cells[..].last[0].x", "name one of them: `e.cells[0]`"),
        ("e.big[0]", "it is a single value"),
    ] {
        let refused = cargo_ckpt(here.path(), &["inspect", "1", variable]).code(2);
        refused.stderr(contains(help));
    }
}

#[test]
fn large_integers_differ_however_near_they_are() {
    let here = tempfile::tempdir().unwrap();
    edges(here.path());
    for tolerance in [
        &[][..],
        &["--ulp", "4"],
        &["--tolerance", "99"],
        &["--tolerance", "0.5"],
    ] {
        let differ = cargo_ckpt(here.path(), &[&["diff", "1", "2"], tolerance].concat()).code(1);
        let shown = String::from_utf8(differ.get_output().stdout.clone()).unwrap();
        assert!(shown.contains("main/e.big"), "{tolerance:?}: {shown}");
        assert_eq!(
            shown.contains("main/e.near"),
            !tolerance.contains(&"99"),
            "{shown}"
        );
    }
    let all = cargo_ckpt(here.path(), &["diff", "1", "2", "--tolerance", "100"]).success();
    all.stdout(contains("The same."));
    // Neighbours in a list of lists of one length have two indices; a function's name may be left out.
    let differ = cargo_ckpt(
        here.path(),
        &["diff", "1", "2", "--ignore", "e.near", "--ignore", "main/e.big"],
    );
    let differ = differ.code(1);
    differ.stdout(
        contains("main/e.matrix")
            .and(contains("[1, 2]"))
            .and(contains("e.near").not()),
    );
    let refused = cargo_ckpt(
        here.path(),
        &["diff", "1", "2", "--ignore", "e.nonsense.x", "--ignore", "clock"],
    );
    refused.code(2).stderr(contains("E3138"));
}

#[test]
fn what_is_drawn_and_exported_is_what_was_asked_for() {
    let here = tempfile::tempdir().unwrap();
    edges(here.path());
    let drawn = |variable: &str| {
        cargo_ckpt(here.path(), &["inspect", "1", variable, "--plot", "p.svg"]).success();
        fs::read_to_string(here.path().join("p.svg")).unwrap()
    };
    let part = drawn("e.lines[50..60]");
    assert!(
        part.contains("e.lines[50..60] [200]") && part.contains(">59<"),
        "{part}"
    );
    assert!(drawn("e.near").contains("rounded to 16 digits"));
    assert!(drawn("e.tensor[1]").contains("e.tensor[1, .., ..] [3, 2, 2]"));
    let refused = cargo_ckpt(here.path(), &["inspect", "1", "e.lines[3..3]", "--plot", "p.svg"]).code(2);
    refused.stderr(contains("E3137"));

    let exported = |variable: &str, written: &str| {
        let done = cargo_ckpt(here.path(), &["export", "1", variable, "--to", "t.csv"]).success();
        done.stdout(contains(written));
        fs::read_to_string(here.path().join("t.csv")).unwrap()
    };
    assert_eq!(
        exported("e.matrix", "Written: 1 array"),
        "1.0,2.0,3.0\n4.0,5.0,6.0\n"
    );
    assert_eq!(exported("e.matrix[1]", "Written: 1 array"), "4.0,5.0,6.0\n");
    assert_eq!(exported("e.cells", "Written: 7 columns").lines().count(), 4);
}

#[test]
fn what_is_no_array_of_one_length_says_how_its_elements_are_named() {
    let here = tempfile::tempdir().unwrap();
    edges(here.path());
    let shows = |variable: &str, part: &str| {
        let shown = cargo_ckpt(here.path(), &["inspect", "1", variable]).success();
        shown.stdout(contains(part));
    };
    shows("e.cells", "Its elements: `cargo ckpt inspect 1 'e.cells[..]'`");
    shows(
        "e.cells.last.value",
        "not the elements of `e.cells.last`: `e.cells.last[..]` shows those",
    );
    shows("e.cells.last[..]", "[1] None\n");
}
