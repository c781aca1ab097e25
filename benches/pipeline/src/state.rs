//! States of programs, and what is done to them between checkpoints.

use std::collections::HashMap;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

const PIECE: usize = 4 << 20;

/// Bytes that do not compress.
pub fn noise(bytes: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(next).take(bytes / 8).collect()
}

/// Changes every page and most lines.
pub fn change(state: &mut [u64]) {
    for value in state.iter_mut().step_by(7) {
        *value = value.rotate_left(1);
    }
}

/// Changes one of twenty stretches of a megabyte.
pub fn change_some(state: &mut [u64]) {
    for stretch in state.chunks_mut(PIECE / 32).step_by(20) {
        change(stretch);
    }
}

/// Work on pieces by as many threads as there are cores.
pub fn by_all_cores<T: Send>(pieces: impl Iterator<Item = T> + Send, work: impl Fn(T) + Sync) {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let pieces = Mutex::new(pieces);
    let all = || {
        let next = || pieces.lock().ok().and_then(|mut pieces| pieces.next());
        while let Some(piece) = next() {
            work(piece);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(all);
        }
        all();
    });
}

/// A copy of memory by all cores.
pub fn copy(from: &[u64], to: &mut [u64]) {
    let size = PIECE / size_of::<u64>();
    by_all_cores(from.chunks(size).zip(to.chunks_mut(size)), |(from, to)| {
        to.copy_from_slice(from)
    });
}

/// One read of memory by all cores.
pub fn read(from: &[u64]) {
    by_all_cores(from.chunks(PIECE / size_of::<u64>()), |piece| {
        std::hint::black_box(piece.iter().fold(0, |all, value| all | value));
    });
}

/// Values inside of values.
#[derive(ckpt::Checkpoint, Serialize, Deserialize)]
pub struct Nested {
    particles: Vec<Particle>,
    lists: Vec<Vec<u32>>,
    table: HashMap<u64, f64>,
}

#[derive(ckpt::Checkpoint, Serialize, Deserialize)]
struct Particle {
    position: [f64; 3],
    id: u64,
    charge: f32,
    alive: bool,
}

impl Nested {
    pub fn new() -> Nested {
        Nested {
            particles: (0..1_000_000)
                .map(|n| Particle {
                    position: [n as f64, 0.5, -1.0],
                    id: n,
                    charge: n as f32,
                    alive: n % 3 == 0,
                })
                .collect(),
            lists: (0..100_000_u32).map(|n| (0..n % 20).collect()).collect(),
            table: (0..1_000_000_u64)
                .map(|n| (n.wrapping_mul(0x9e37_79b9), n as f64))
                .collect(),
        }
    }
}
