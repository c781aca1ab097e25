// Game of life on a torus: rows are dealt out by an atomic counter, cells are atomics, generations are kept apart by a
// barrier. The threads live as long as the program.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering::*};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

struct World {
    side: usize,
    cells: [Vec<AtomicU8>; 2],
    next_row: AtomicUsize,
    births: AtomicUsize,
    steady: AtomicBool,
    start: Barrier,
    end: Barrier,
}

impl World {
    fn new(side: usize, threads: usize) -> Self {
        let mut seed = 2463534242u32;
        let first = (0..side * side)
            .map(|_| {
                seed ^= seed << 13;
                seed ^= seed >> 17;
                seed ^= seed << 5;
                AtomicU8::new(u8::from(seed % 3 == 0))
            })
            .collect();
        let second = (0..side * side).map(|_| AtomicU8::new(0)).collect();
        World {
            side,
            cells: [first, second],
            next_row: AtomicUsize::new(0),
            births: AtomicUsize::new(0),
            steady: AtomicBool::new(true),
            start: Barrier::new(threads),
            end: Barrier::new(threads),
        }
    }

    fn row(&self, from: usize, y: usize) -> usize {
        let n = self.side;
        let mut changed = 0;
        for x in 0..n {
            let mut alive = 0;
            for (dx, dy) in [(n - 1, n - 1), (0, n - 1), (1, n - 1), (n - 1, 0), (1, 0), (n - 1, 1), (0, 1), (1, 1)] {
                alive += self.cells[from][(y + dy) % n * n + (x + dx) % n].load(Relaxed);
            }
            let now = self.cells[from][y * n + x].load(Relaxed);
            let next = u8::from(alive == 3 || (alive == 2 && now == 1));
            self.cells[1 - from][y * n + x].store(next, Relaxed);
            if next != now {
                self.steady.store(false, Relaxed);
            }
            changed += usize::from(next > now);
        }
        changed
    }
}

fn member(world: Arc<World>, generations: usize) -> usize {
    let mut rows = 0;
    for generation in 0..generations {
        loop {
            let y = world.next_row.fetch_add(1, SeqCst);
            if y >= world.side {
                break;
            }
            let births = world.row(generation % 2, y);
            world.births.fetch_add(births, SeqCst);
            rows += 1;
        }
        if world.start.wait().is_leader() {
            world.next_row.store(0, SeqCst);
        }
        world.end.wait();
    }
    rows
}

fn main() {
    let threads = std::env::args().nth(1).map(|n| n.parse().unwrap()).unwrap_or(4);
    let generations = 150;
    let world = Arc::new(World::new(64, threads));
    let handles: Vec<JoinHandle<usize>> = (0..threads)
        .map(|k| {
            let world = Arc::clone(&world);
            thread::Builder::new()
                .name(format!("member {k}"))
                .spawn(move || member(world, generations))
                .expect("a thread")
        })
        .collect();
    let rows: usize = handles.into_iter().map(|h| h.join().unwrap()).sum();
    let alive: usize = world.cells[generations % 2].iter().map(|c| c.load(SeqCst) as usize).sum();
    println!("{rows} rows, {} births, {alive} alive, steady {}", world.births.load(SeqCst), world.steady.load(SeqCst));
}
