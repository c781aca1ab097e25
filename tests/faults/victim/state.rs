//! Values of several kinds, small and large.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

/// What the program computes with.
#[derive(ckpt::Checkpoint)]
pub struct State {
    seed: u64,
    cells: Vec<f64>,
    /// Much of it is zero, and little of it changes.
    table: Vec<u64>,
    /// All of it is other than zero.
    dense: Vec<u32>,
    names: BTreeMap<String, u32>,
    seen: HashMap<u64, u64>,
    shared: Rc<Vec<u64>>,
    again: Rc<Vec<u64>>,
    last: Option<(u64, String)>,
    text: String,
}

impl State {
    pub fn new(size: usize) -> State {
        let shared = Rc::new(vec![3, 1, 4]);
        State {
            seed: 41,
            cells: (0..200).map(|n| f64::from(n) * 0.37).collect(),
            table: (0..size as u64)
                .map(|n| if n % 1000 < 300 { 0 } else { n * 0x9e37 })
                .collect(),
            dense: (1..=size as u32).collect(),
            names: BTreeMap::new(),
            seen: HashMap::new(),
            again: Rc::clone(&shared),
            shared,
            last: None,
            text: String::new(),
        }
    }

    pub fn advance(&mut self, step: u64) {
        self.seed = self
            .seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        for at in 1..self.cells.len() - 1 {
            let mean = (self.cells[at - 1] + self.cells[at + 1]) / 2.0;
            self.cells[at] += 0.3 * (mean - self.cells[at]);
        }
        let at = (self.seed >> 33) as usize;
        if !self.table.is_empty() {
            let place = at % self.table.len();
            self.table[place] ^= step;
            self.dense[place] = self.dense[place].rotate_left(3) | 1;
        }
        *self.names.entry(format!("name {}", at % 5)).or_default() += 1;
        *self.seen.entry(self.seed % 16).or_default() += step;
        self.last = (!step.is_multiple_of(3)).then(|| (step, format!("at {at}")));
        self.text.push_str(&format!("{};", at % 100));
        assert!(Rc::ptr_eq(&self.shared, &self.again));
    }

    /// Depends on every bit of it.
    pub fn digest(&self) -> u64 {
        let mut sum = self.seed;
        let mut add = |n: u64| sum = (sum.rotate_left(5) ^ n).wrapping_mul(0x517c_c1b7_2722_0a95);
        self.cells.iter().for_each(|cell| add(cell.to_bits()));
        self.table.iter().for_each(|n| add(*n));
        self.dense.iter().for_each(|n| add(u64::from(*n)));
        for (name, count) in &self.names {
            name.bytes().for_each(|byte| add(u64::from(byte)));
            add(u64::from(*count));
        }
        let mut seen: Vec<(&u64, &u64)> = self.seen.iter().collect();
        seen.sort_unstable();
        for (key, value) in seen {
            add(*key);
            add(*value);
        }
        self.shared.iter().chain(self.again.iter()).for_each(|n| add(*n));
        if let Some((step, text)) = &self.last {
            add(*step);
            text.bytes().for_each(|byte| add(u64::from(byte)));
        }
        self.text.bytes().for_each(|byte| add(u64::from(byte)));
        sum
    }
}
