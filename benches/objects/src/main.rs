//! What a checkpoint of many small objects costs: see README.md.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;

use ckpt::Checkpoint;
use ckpt::plan::{FunctionPlan, SiteKind, SitePlan};
use ckpt::snapshot::SnapshotBuilder;
use ckpt::store::{Meta, Mode, Store};
use ckpt::value::{Decoder, Encoder, LoadError};
use clap::Parser;

#[derive(Checkpoint)]
struct Tree {
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
}

/// As `Tree`, without the derive's word that it contains itself.
struct Levels(Option<Box<Levels>>, Option<Box<Levels>>);

impl Checkpoint for Levels {
    fn save(&self, to: &mut Encoder<'_>) {
        const NAMES: &[std::borrow::Cow<'static, str>] = &[
            std::borrow::Cow::Borrowed("left"),
            std::borrow::Cow::Borrowed("right"),
        ];
        self.0.save(&mut to.field(NAMES, 0));
        self.1.save(&mut to.field(NAMES, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Ok(Levels(from.field(&["left"])?, from.field(&["right"])?))
    }
}

#[derive(Checkpoint)]
struct List {
    value: u64,
    next: Option<Box<List>>,
}

impl Drop for List {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut one) = next {
            next = one.next.take();
        }
    }
}

#[derive(Checkpoint)]
struct Oct {
    mass: f64,
    below: Vec<Oct>,
}

#[derive(Checkpoint)]
enum Term {
    Number(f64),
    Sum(Box<Term>, Box<Term>),
}

#[derive(Checkpoint)]
struct Graph {
    value: u64,
    to: Vec<Rc<RefCell<Graph>>>,
}

#[derive(Checkpoint)]
struct Entry {
    id: u32,
    items: Vec<u16>,
}

fn tree(count: usize) -> Tree {
    let below = |count: usize| (count > 0).then(|| Box::new(tree(count)));
    Tree {
        left: below((count - 1) / 2),
        right: below(count / 2),
    }
}

fn levels(count: usize) -> Levels {
    let below = |count: usize| (count > 0).then(|| Box::new(levels(count)));
    Levels(below((count - 1) / 2), below(count / 2))
}

fn octree(count: usize) -> Oct {
    let rest = count - 1;
    let below = (0..8).map(|k| rest / 8 + usize::from(k < rest % 8));
    Oct {
        mass: count as f64,
        below: below.filter(|&count| count > 0).map(octree).collect(),
    }
}

fn terms(count: usize) -> Term {
    match count {
        0..3 => Term::Number(count as f64),
        _ => {
            let left = (count - 1) / 2;
            Term::Sum(Box::new(terms(left)), Box::new(terms(count - 1 - left)))
        }
    }
}

static PLAN: FunctionPlan = FunctionPlan {
    function: "objects",
    module: "objects",
    file: "main.rs",
    line: 1,
    layout: 1,
    source: 1,
    attribute: "",
    sites: &[SitePlan {
        line: 1,
        column: 1,
        kind: SiteKind::Checkpoint,
        variables: &[],
    }],
};

/// Nanoseconds to save and restore, bytes of the file, each for one object.
fn measure<T: Checkpoint>(name: &str, count: usize, value: T, against: Option<f64>) -> anyhow::Result<f64> {
    let folder = tempfile::tempdir()?;
    let mut store = Store::open(folder.path(), Mode::ReadWrite)?;
    let each = |start: Instant| start.elapsed().as_secs_f64() * 1e9 / count as f64;
    let start = Instant::now();
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&PLAN, 1);
    builder.value(frame, "x", 1, None, &value);
    let snapshot = builder.finish()?;
    let taken = each(start);
    let id = store.commit(&snapshot, &Meta::default())?;
    let saved = each(start);
    let start = Instant::now();
    let restored = store.load(id)?;
    let back: T = restored.decode(0, "x")?;
    let loaded = each(start);
    let bytes = restored.file_bytes() as f64 / count as f64;
    drop((value, back));
    let both = saved + loaded;
    let ratio = against.map_or(String::new(), |against| format!("{:9.0}", against / both));
    println!("{name:24} {count:9} {taken:10.0} {saved:10.0} {loaded:10.0} {bytes:9.1} {ratio}");
    Ok(both)
}

const EXAMPLE: &str = "\
Example:
  cargo run --release -p objects -- 1000000";

/// What it costs to save and restore many small objects, against copying them
#[derive(Debug, clap::Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    /// How many objects
    #[arg(default_value_t = 100_000)]
    count: usize,
}

fn main() -> anyhow::Result<()> {
    let Options { count } = Options::parse();
    println!(
        "{:24} {:>9} {:>10} {:>10} {:>10} {:>9} {:>9}",
        "", "objects", "copy ns", "save ns", "restore ns", "bytes", "ratio"
    );
    let few = count.min(2_000);
    let before = Some(measure("levels apart", few, levels(few), None)?);
    measure("binary tree", few, tree(few), before)?;
    measure("binary tree", count, tree(count), before)?;
    measure("octree", count, octree(count), before)?;
    let term = terms(count);
    measure("expression", count, term, before)?;
    let list = |next, value| Some(Box::new(List { value, next }));
    measure("list", count, (0..count as u64).fold(None, list), before)?;
    let mut graph: Vec<Rc<RefCell<Graph>>> = Vec::new();
    for value in 0..count {
        let to = graph
            .last()
            .into_iter()
            .chain(graph.get(value / 2))
            .cloned()
            .collect();
        graph.push(Rc::new(RefCell::new(Graph {
            value: value as u64,
            to,
        })));
    }
    // Its destructor recurses.
    let graph = std::mem::ManuallyDrop::new(graph);
    measure("graph of Rc<RefCell>", count, Shared(graph), before)?;
    let rows: Vec<Vec<u32>> = (0..count).map(|k| vec![k as u32; k % 4]).collect();
    measure("ragged rows", count, rows, before)?;
    let entry = |k: usize| Entry {
        id: k as u32,
        items: vec![k as u16; k % 4],
    };
    let map: HashMap<String, Entry> = (0..count).map(|k| (k.to_string(), entry(k))).collect();
    measure("map of structs", count, map, before)?;
    Ok(())
}

/// A graph that is never dropped.
struct Shared(std::mem::ManuallyDrop<Vec<Rc<RefCell<Graph>>>>);

impl Checkpoint for Shared {
    fn save(&self, to: &mut Encoder<'_>) {
        self.0.save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Vec::load(from).map(|graph| Shared(std::mem::ManuallyDrop::new(graph)))
    }
}
