//! Two threads that work in step: each has a site in its time loop, and waits for the other at the end of every step.

use std::sync::{Barrier, Mutex};
use std::thread;

fn smooth(part: &mut [f64]) -> f64 {
    let mut before = part[0];
    for value in part.iter_mut() {
        before = 0.25 * before + 0.75 * *value + 1e-3;
        *value = before;
    }
    before
}

#[ckpt::main]
fn main() {
    let steps: u64 = std::env::args()
        .nth(1)
        .and_then(|word| word.parse().ok())
        .unwrap_or(1000);
    let members = 2;
    let mut grid = vec![1.0; 40_000];
    let length = grid.len() / members;
    let ends = Mutex::new(vec![0.0; members]);
    let barrier = Barrier::new(members);
    thread::scope(|s| {
        for (k, part) in grid.chunks_mut(length).enumerate() {
            let (ends, barrier) = (&ends, &barrier);
            s.spawn(move || {
                for step in 0..steps {
                    ckpt::checkpoint!();
                    let end = smooth(part);
                    ends.lock().unwrap()[k] = end + step as f64;
                    barrier.wait();
                }
            });
        }
    });
    println!("{:?} {}", ends.into_inner().unwrap(), grid.iter().sum::<f64>());
}
