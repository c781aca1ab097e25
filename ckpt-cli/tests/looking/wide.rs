//! A state with all that makes tables wide: lists of structs with options, enums, boxes, strings and maps in them, a
//! generator, long names and long texts. What is said of it fits a terminal, and a tree is seen to be one.

use std::collections::BTreeMap;
use std::path::Path;

use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{Keep, Mode, Store};

use crate::store::{ADVANCE, MAIN, json, meta};
use crate::width::{in_a_pipe, in_a_terminal, too_long};

#[derive(ckpt::Checkpoint, Clone)]
enum LastHit {
    Nothing,
    Wall {
        of_the_container: u8,
        at_the_time_of: f64,
    },
    AnotherBody(Box<Body>),
}

#[derive(ckpt::Checkpoint, Clone)]
struct Body {
    name_of_the_body: String,
    position: [f64; 3],
    last_hit: Option<LastHit>,
    heavy: Box<f64>,
    names_of_neighbours: Vec<String>,
    distances: BTreeMap<String, f64>,
}

/// As `rand`'s generators are stored.
#[derive(ckpt::Checkpoint)]
struct Generator {
    seed: [u8; 32],
    stream: u64,
    position: u128,
}

#[derive(ckpt::Checkpoint)]
struct Container {
    rng: Generator,
    ring: Vec<Body>,
    by_the_name_of_the_body: BTreeMap<String, Body>,
}

fn body(number: usize, moved: f64) -> Body {
    let plain = Body {
        name_of_the_body: format!("the body of the number {number}"),
        position: [number as f64 / 3.0 + moved, 2.0 / 3.0, 1e9 / 7.0],
        last_hit: None,
        heavy: Box::new(1.0 / 7.0 + moved),
        names_of_neighbours: vec!["a neighbour with a name that is long".to_owned(); 2],
        distances: BTreeMap::from([("to the centre of the container".to_owned(), 1.0 / 9.0 + moved)]),
    };
    let last_hit = match number % 3 {
        0 => LastHit::Nothing,
        1 => LastHit::Wall {
            of_the_container: 3,
            at_the_time_of: 0.1 + moved,
        },
        _ => LastHit::AnotherBody(Box::new(plain.clone())),
    };
    Body {
        last_hit: Some(last_hit),
        ..plain
    }
}

/// Two checkpoints that differ in nearly all.
fn container(folder: &Path) {
    let mut store = Store::open(folder.join("container.ckpt.d"), Mode::ReadWrite).unwrap();
    store.set_keep(Keep::All);
    for step in 1..=2_u64 {
        let moved = step as f64 * 1e-9;
        let container = Container {
            rng: Generator {
                seed: std::array::from_fn(|at| at as u8 + step as u8),
                stream: 0,
                position: u128::from(step) << 70,
            },
            ring: (0..7).map(|number| body(number, moved)).collect(),
            by_the_name_of_the_body: (0..4)
                .map(|number| (format!("b{number}"), body(number, moved)))
                .collect(),
        };
        let mut builder = SnapshotBuilder::new();
        let main = builder.frame(&MAIN, 1);
        let advance = builder.frame(&ADVANCE, 1);
        builder.link(main, "container", 11, None, advance, "self");
        builder.value(main, "ckpt.iterator1", 12, None, &(step..10_000_000_000));
        builder.value(advance, "self", 30, Some(0), &container);
        builder.value(advance, "energy", 31, None, &(1.5 * step as f64));
        let long = "a text that is far longer than what a line of a terminal has room for "
            .repeat(3 + step as usize);
        builder.value(advance, "description", 32, None, &long);
        let meta = meta("container", 10 * step);
        store.commit(&builder.finish().unwrap(), &meta).unwrap();
    }
}

#[test]
fn a_tree_of_structs_fits_a_terminal_and_stays_one() {
    let here = tempfile::tempdir().unwrap();
    container(here.path());
    let mut found = Vec::new();
    for line in [
        "inspect latest",
        "inspect self",
        "inspect self.ring",
        "diff 1 2",
        "diff 1 2 --first 1",
        "diff 1 1",
        "list",
        "verify",
        "report",
        "run --interval 5",
        "list --of-the-run-that-nobody-has-ever-heard-of-in-all-of-the-time",
        "help machines",
        "help mpi",
        "help commands",
        "help troubleshooting",
    ] {
        found.extend(too_long(line, &in_a_terminal(here.path(), line)));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    let shown = in_a_terminal(here.path(), "inspect latest").join("\n");
    for part in [
        "\n self ",
        "\n   ring ",
        "\n     last_hit ",
        "\n       value ",
        "\n         AnotherBody ",
        " KiB\n",
        "\u{2026}\n",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
    let units = shown.lines().filter(|line| line.trim_start().starts_with("KiB"));
    assert_eq!(units.count(), 0, "a size is one word:\n{shown}");
}

/// Half of a number is another one, and what has lost its shape another array.
#[test]
fn numbers_and_shapes_are_whole_in_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    let mut builder = SnapshotBuilder::new();
    let main = builder.frame(&MAIN, 1);
    let rows: Vec<[f64; 3]> = vec![[0.25; 3]; 600];
    builder.value(main, "positions", 11, None, &rows);
    builder.value(main, "generator", 12, None, &u128::MAX);
    let few: Vec<f64> = (0..3).map(|number| f64::from(number) / 3.0 - 7.0).collect();
    builder.value(main, "distances", 13, None, &few);
    let mut store = Store::open(here.path().join("container.ckpt.d"), Mode::ReadWrite).unwrap();
    store
        .commit(&builder.finish().unwrap(), &meta("container", 10))
        .unwrap();
    let lines = in_a_terminal(here.path(), "inspect 1");
    assert!(too_long("inspect 1", &lines).is_empty(), "{}", lines.join("\n"));
    let text = lines.join("\n");
    assert!(text.contains("f64 [600, 3]"), "{text}");
    let long = u128::MAX.to_string();
    assert!(
        text.contains(&long) || text.contains(&long[..24]) && text.contains(&long[30..]),
        "{text}"
    );
    assert!(text.contains("\n---"), "it is a table: {text}");
    assert!(text.contains("-7.0, "), "{text}");
}

#[test]
fn in_files_values_are_shortened_too() {
    let here = tempfile::tempdir().unwrap();
    container(here.path());
    for line in ["inspect latest", "diff 1 2"] {
        let text = in_a_pipe(here.path(), line);
        let longest = text.lines().map(|line| line.chars().count()).max();
        assert!(longest < Some(220), "{line}: {longest:?}\n{text}");
    }
}

#[test]
fn differences_of_what_the_user_has_named_come_first_and_have_words() {
    let here = tempfile::tempdir().unwrap();
    container(here.path());
    let text = in_a_pipe(here.path(), "diff 1 2");
    let at = |part: &str| {
        text.find(part)
            .unwrap_or_else(|| panic!("{part:?} is not in\n{text}"))
    };
    assert!(at("advance/energy") < at("main/ckpt.iterator1.start"));
    assert!(at("advance/description") < at("advance/self.rng.seed"));
    at("1.50000, 2 times as large");
    at("1.00000e-9, 1.0e-8 of its size");
    at("\u{2026}oom for ");
}

#[test]
fn what_the_user_has_named_is_listed_first() {
    let here = tempfile::tempdir().unwrap();
    container(here.path());
    let said = json(here.path(), &["export", "--to", "state.npz"]);
    let names: Vec<&str> = said["names"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|name| name.as_str())
        .collect();
    let at = |name: &str| {
        names
            .iter()
            .position(|one| *one == name)
            .unwrap_or_else(|| panic!("{name}: {names:?}"))
    };
    assert!(at("advance/energy") < at("main/ckpt.iterator1.start"));
    assert!(at("advance/energy") < at("advance/self.rng.seed"));
    assert!(at("advance/self.rng.seed") > at("advance/self.ring.heavy"));
}
