//! Values that take much memory to save: long lists, or many small pieces of every kind.

use std::collections::{BTreeMap, HashMap, HashSet, LinkedList, VecDeque};
use std::rc::Rc;

/// What the program computes with.
#[derive(ckpt::Checkpoint, Default)]
pub struct Pieces {
    seed: u64,
    numbers: Vec<f64>,
    sparse: Vec<u64>,
    small: Vec<u16>,
    rows: Vec<Row>,
    names: Vec<String>,
    named: HashMap<u64, String>,
    ordered: BTreeMap<String, Vec<u32>>,
    seen: HashSet<u64>,
    waiting: VecDeque<(u32, Option<String>)>,
    linked: LinkedList<u64>,
    shared: Vec<Rc<Row>>,
    tree: Option<Box<Node>>,
}

#[derive(ckpt::Checkpoint, Clone, Default)]
struct Row {
    place: [f64; 3],
    name: Option<String>,
    kind: Kind,
}

#[derive(ckpt::Checkpoint, Clone, Default)]
enum Kind {
    #[default]
    Plain,
    Marked(u8),
    Named {
        name: String,
    },
}

#[derive(ckpt::Checkpoint)]
struct Node {
    value: u64,
    left: Option<Box<Node>>,
    right: Option<Box<Node>>,
}

impl Node {
    fn of(first: u64, count: u64) -> Option<Box<Node>> {
        (count > 0).then(|| {
            let left = (count - 1) / 2;
            Box::new(Node {
                value: first + left,
                left: Node::of(first, left),
                right: Node::of(first + left + 1, count - 1 - left),
            })
        })
    }

    fn sum(&self) -> u64 {
        let below = [&self.left, &self.right].into_iter().flatten();
        below.fold(self.value.rotate_left(7), |sum, node| {
            sum.rotate_left(3) ^ node.sum()
        })
    }
}

fn row(n: u64) -> Row {
    Row {
        place: [n as f64, 0.5, -(n as f64)],
        name: n.is_multiple_of(3).then(|| format!("row {n}")),
        kind: match n % 4 {
            0 => Kind::Plain,
            1 => Kind::Marked(n as u8),
            _ => Kind::Named {
                name: format!("kind {n}"),
            },
        },
    }
}

impl Pieces {
    /// Long lists of `size` numbers, or `size` pieces of each kind.
    pub fn new(size: usize, lists: bool) -> Pieces {
        let all = size as u64;
        if lists {
            return Pieces {
                seed: 5,
                numbers: (1..all).map(|n| n as f64 * 0.1).collect(),
                sparse: (0..all)
                    .map(|n| if n % 50_000 < 20_000 { 0 } else { n })
                    .collect(),
                small: (0..all / 8).map(|n| n as u16).collect(),
                ..Pieces::default()
            };
        }
        Pieces {
            seed: 7,
            rows: (0..all).map(row).collect(),
            names: (0..all).map(|n| format!("name {n}")).collect(),
            named: (0..all).map(|n| (n * 31, format!("named {n}"))).collect(),
            ordered: (0..all / 4)
                .map(|n| (format!("key {n}"), vec![n as u32; (n % 5) as usize]))
                .collect(),
            seen: (0..all).map(|n| n * 17).collect(),
            waiting: (0..all)
                .map(|n| (n as u32, n.is_multiple_of(2).then(|| format!("{n}"))))
                .collect(),
            linked: (0..all).collect(),
            shared: (0..all).map(|n| Rc::new(row(n))).collect(),
            tree: Node::of(0, all),
            ..Pieces::default()
        }
    }

    pub fn advance(&mut self, step: u64) {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(step);
        let at = (self.seed >> 33) as usize;
        if !self.numbers.is_empty() {
            let count = self.numbers.len();
            self.numbers[at % count] += 1.0;
            self.sparse[at % count] ^= step;
        } else {
            self.names.push(format!("made in step {step}"));
            self.seen.insert(at as u64);
            self.linked.push_back(step);
            self.shared.push(Rc::clone(&self.shared[at % self.shared.len()]));
        }
    }

    /// Depends on most of it.
    pub fn digest(&self) -> u64 {
        let mut sum = self.seed;
        let mut add = |n: u64| sum = (sum.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
        self.numbers.iter().for_each(|n| add(n.to_bits()));
        self.sparse.iter().for_each(|n| add(*n));
        self.small.iter().for_each(|n| add(u64::from(*n)));
        for row in self.rows.iter().chain(self.shared.iter().map(|row| &**row)) {
            row.place.iter().for_each(|n| add(n.to_bits()));
            add(row.name.as_ref().map_or(0, String::len) as u64);
            add(match &row.kind {
                Kind::Plain => 1,
                Kind::Marked(n) => u64::from(*n),
                Kind::Named { name } => name.len() as u64,
            });
        }
        self.names
            .iter()
            .flat_map(|name| name.bytes())
            .for_each(|byte| add(u64::from(byte)));
        let mut named: Vec<(&u64, &String)> = self.named.iter().collect();
        named.sort_unstable();
        named.iter().for_each(|(key, name)| add(*key ^ name.len() as u64));
        self.ordered.values().flatten().for_each(|n| add(u64::from(*n)));
        add(self.seen.iter().sum());
        self.waiting
            .iter()
            .for_each(|(n, text)| add(u64::from(*n) + text.is_some() as u64));
        self.linked.iter().for_each(|n| add(*n));
        add(self.tree.as_ref().map_or(0, |tree| tree.sum()));
        sum
    }
}
