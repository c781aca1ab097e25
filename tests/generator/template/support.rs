//! What all generated programs use.

pub use std::collections::BTreeMap;

pub fn mix(a: u64, b: u64) -> u64 {
    (a % 100_003 * 31 + b % 100_003 * 7 + 11) % 1009
}

pub fn digest(items: &[u64]) -> u64 {
    items.iter().fold(17, |hash, item| mix(hash, *item))
}

#[derive(Debug, Clone, ckpt::Checkpoint)]
pub enum Kind {
    Empty,
    One(u64),
    Two { size: u64, name: String },
}

impl Kind {
    pub fn pick(n: u64) -> Self {
        match mix(n, 8) % 5 {
            0 => Kind::Empty,
            1 | 2 => Kind::One(n),
            _ => Kind::Two { size: n, name: format!("k{n}") },
        }
    }
}

#[derive(Debug, ckpt::Checkpoint)]
pub struct Loud {
    name: String,
    size: u64,
}

impl Loud {
    pub fn new(name: &str, size: u64) -> Self {
        Loud { name: name.to_string(), size }
    }
}

impl Drop for Loud {
    fn drop(&mut self) {
        println!("drop {} {}", self.name, self.size);
    }
}
