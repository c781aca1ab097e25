//! A computation in two phases that takes about a second and visits a site 240 times. Its first argument is the number of
//! cells: 20 000 unless told, which makes a checkpoint of 160 kB. The second is the length of a table of which little
//! changes and much is zero.

use std::collections::{BTreeMap, HashMap};

#[derive(ckpt::Checkpoint)]
struct Field {
    cells: Vec<f64>,
    step: u64,
    history: Vec<Entry>,
    seen: HashMap<u64, u32>,
    table: Vec<u64>,
    /// As long, without zeros: written from the program's memory where that waits for the disk.
    dense: Vec<u64>,
}

#[derive(ckpt::Checkpoint, Clone)]
struct Entry {
    name: String,
    sum: f64,
    extremes: Option<(f64, f64)>,
}

impl Field {
    fn new(cells: usize, table: usize) -> Self {
        let cells = (0..cells).map(|i| (i as f64 * 0.37).sin()).collect();
        Field {
            cells,
            step: 0,
            history: Vec::new(),
            seen: HashMap::new(),
            dense: (1..=table as u64).collect(),
            table: (0..table as u64)
                .map(|n| {
                    if n % 100_000 < 30_000 {
                        0
                    } else {
                        n.wrapping_mul(0x9e37_79b9_7f4a_7c15)
                    }
                })
                .collect(),
        }
    }

    /// Some diffusion, some noise; one site in the middle of it.
    #[ckpt::instrument]
    fn advance(&mut self, seed: &mut u64, rate: f64) -> f64 {
        self.step += 1;
        let count = self.cells.len();
        for i in 1..count - 1 {
            let mean = (self.cells[i - 1] + self.cells[i + 1]) / 2.0;
            self.cells[i] += rate * (mean - self.cells[i]);
        }
        ckpt::checkpoint!();
        *seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        let at = (*seed >> 33) as usize % count;
        self.cells[at] += 0.5;
        *self.seen.entry(at as u64 % 16).or_insert(0) += 1;
        if !self.table.is_empty() {
            let at = (*seed >> 20) as usize % self.table.len();
            self.table[at] = self.table[at].rotate_left(9) ^ self.step;
            self.dense[at] ^= self.step << 40;
        }
        self.cells.iter().sum()
    }

    fn note(&mut self, sum: f64) {
        let extremes = self
            .cells
            .iter()
            .fold(None, |known: Option<(f64, f64)>, &cell| match known {
                None => Some((cell, cell)),
                Some((low, high)) => Some((low.min(cell), high.max(cell))),
            });
        let name = format!("step {}", self.step);
        self.history.push(Entry {
            name,
            sum,
            extremes: extremes.filter(|_| !self.step.is_multiple_of(3)),
        });
    }
}

/// The whole computation.
#[ckpt::main(calls(advance))]
pub fn main() {
    let argument = |nth| std::env::args().nth(nth).and_then(|text| text.parse().ok());
    let mut field = Field::new(argument(1).unwrap_or(20_000), argument(2).unwrap_or(0));
    let mut seed = 41;
    while field.step < 120 {
        let sum = field.advance(&mut seed, 0.2);
        field.note(sum);
        println!("{} {:016x} {seed:x}", field.step, sum.to_bits());
    }
    let mut totals: BTreeMap<String, f64> = BTreeMap::new();
    for round in 0..120u32 {
        let sum = field.advance(&mut seed, 1.0 / f64::from(round + 2));
        *totals.entry(format!("round {}", round % 7)).or_default() += sum;
        println!("{round} {:016x} {}", sum.to_bits(), totals.len());
    }
    for entry in field.history.iter().rev().step_by(20) {
        println!("{} {:016x} {:?}", entry.name, entry.sum.to_bits(), entry.extremes);
    }
    let sum = field
        .table
        .iter()
        .chain(&field.dense)
        .fold(0_u64, |sum, n| sum.rotate_left(1) ^ n);
    println!("{sum:016x}");
    let mut seen: Vec<(u64, u32)> = field.seen.into_iter().collect();
    seen.sort_unstable();
    println!("= {totals:?} {seen:?}");
}
