//! A program with sites whose large array is not written to while they are visited, as the compiler sees.

use std::time::{Duration, Instant};

use crate::state::noise;

/// Fills an array of so many megabytes and visits a site again and again. Prints how long each visit took, in seconds.
#[ckpt::main]
pub fn known(megabytes: usize, rounds: usize) {
    let state = noise(megabytes << 20);
    let mut sum = 0_u64;
    let mut waits: Vec<f64> = Vec::new();
    for round in 0..rounds {
        let began = Instant::now();
        ckpt::checkpoint!();
        waits.push(began.elapsed().as_secs_f64());
        sum = sum.wrapping_add(state[round]);
        // The disk gets time to take it.
        std::thread::sleep(Duration::from_millis(300));
    }
    println!("{}", serde_json::to_string(&waits).unwrap_or_default());
    assert_ne!(sum, 1);
}
