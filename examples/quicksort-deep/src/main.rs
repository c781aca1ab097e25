//! Recursive quicksort, as in the textbook: C. A. R. Hoare, "Quicksort", Comput. J. 5 (1962).
//!
//! Sorts arrays of several kinds, each in place, and verifies every one: in order, and the same values as
//! before. The pivot is the last element, so an array that is sorted already is the worst case: the recursion
//! is as deep as the array is long, and a checkpoint taken there holds thousands of frames.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Ranges of at most so many elements are sorted by insertion.
const SHORT: usize = 16;

/// The input deck, a TOML file.
#[derive(Deserialize, ckpt::Checkpoint)]
#[serde(deny_unknown_fields)]
struct Deck {
    /// How many times the whole list is sorted.
    rounds: u64,
    array: Vec<Workload>,
}

/// One array to be sorted.
#[derive(Deserialize, ckpt::Checkpoint)]
#[serde(deny_unknown_fields)]
struct Workload {
    kind: Kind,
    length: usize,
    #[serde(default)]
    seed: u64,
}

#[derive(Deserialize, Clone, Copy, Debug, ckpt::Checkpoint)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Random,
    /// Only a hundred different values.
    FewValues,
    /// Ascending, but for one element in a hundred.
    NearlySorted,
    Sorted,
}

impl Deck {
    fn read(path: &str) -> Result<Deck> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the deck {path}"))?;
        toml::from_str(&text).with_context(|| format!("the deck {path}"))
    }
}

impl Workload {
    fn make(&self, round: u64) -> Vec<f64> {
        let mut seed = self.seed + 1000 * round + 1;
        let mut random = move || {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let ascending = |i: usize| i as f64 / self.length as f64;
        (0..self.length)
            .map(|i| match self.kind {
                Kind::Random => random(),
                Kind::FewValues => (100.0 * random()).floor(),
                Kind::NearlySorted if random() < 0.01 => random(),
                Kind::NearlySorted | Kind::Sorted => ascending(i),
            })
            .collect()
    }
}

/// What the recursion did.
#[derive(Default, ckpt::Checkpoint)]
struct Effort {
    partitions: u64,
    exchanges: u64,
    deepest: u32,
}

/// Sorts `data[low..high]`; `depth` counts the frames above.
#[ckpt::instrument(calls(quicksort))]
fn quicksort(data: &mut [f64], low: usize, high: usize, depth: u32, effort: &mut Effort) {
    effort.deepest = effort.deepest.max(depth);
    if high - low <= SHORT {
        insertion_sort(&mut data[low..high]);
        return;
    }
    ckpt::checkpoint!();
    let middle = partition(&mut data[low..high], effort);
    quicksort(data, low, low + middle.start, depth + 1, effort);
    quicksort(data, low + middle.end, high, depth + 1, effort);
}

/// Splits a range by its last element: smaller ones, equal ones (the range returned), larger ones (Dijkstra's
/// Dutch flag).
fn partition(range: &mut [f64], effort: &mut Effort) -> std::ops::Range<usize> {
    let pivot = range[range.len() - 1];
    let (mut smaller, mut at, mut larger) = (0, 0, range.len());
    while at < larger {
        if range[at] < pivot {
            range.swap(smaller, at);
            effort.exchanges += u64::from(smaller != at);
            smaller += 1;
            at += 1;
        } else if range[at] > pivot {
            larger -= 1;
            range.swap(at, larger);
            effort.exchanges += 1;
        } else {
            at += 1;
        }
    }
    effort.partitions += 1;
    smaller..larger
}

fn insertion_sort(range: &mut [f64]) {
    for i in 1..range.len() {
        let value = range[i];
        let mut at = i;
        while at > 0 && range[at - 1] > value {
            range[at] = range[at - 1];
            at -= 1;
        }
        range[at] = value;
    }
}

/// Sum and exclusive-or of all values' bits: the same for every order.
fn fingerprint(data: &[f64]) -> (u64, u64) {
    data.iter().fold((0, 0), |(sum, mix), x| {
        (x.to_bits().wrapping_add(sum), x.to_bits() ^ mix)
    })
}

fn verify(data: &[f64], before: (u64, u64)) -> Result<()> {
    let unordered = data.windows(2).position(|pair| pair[0] > pair[1]);
    ensure!(
        unordered.is_none(),
        "element {} is larger than the next",
        unordered.unwrap_or(0)
    );
    ensure!(
        fingerprint(data) == before,
        "the sorted array holds other values than before"
    );
    Ok(())
}

#[ckpt::main(calls(quicksort))]
fn main() -> Result<()> {
    let path = std::env::args()
        .nth(1)
        .context("usage: quicksort-deep DECK.toml")?;
    let deck = Deck::read(&path)?;
    println!("# kind           length  partitions   exchanges  depth          median");
    for round in 0..deck.rounds {
        for workload in &deck.array {
            let mut data = workload.make(round);
            let before = fingerprint(&data);
            let mut effort = Effort::default();
            let length = data.len();
            quicksort(&mut data, 0, length, 1, &mut effort);
            verify(&data, before)?;
            let Effort {
                partitions,
                exchanges,
                deepest,
            } = effort;
            let (kind, median) = (format!("{:?}", workload.kind), data[length / 2]);
            println!("{kind:<12} {length:10} {partitions:11} {exchanges:11} {deepest:6} {median:15.12}");
        }
    }
    Ok(())
}
