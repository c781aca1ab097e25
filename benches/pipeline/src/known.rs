//! Programs with sites: one whose large array is not written to while they are visited, as the compiler sees, and one whose
//! array is.

use std::time::{Duration, Instant};

use crate::measure::timed;
use crate::state::{change, copy, noise};

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

/// Changes an array of so many megabytes between visits of a site. Prints how long each visit took, a copy of the array
/// just before, the first change afterwards and the next, in seconds.
#[ckpt::main]
pub fn changing(megabytes: usize, rounds: usize) {
    let mut state = noise(megabytes << 20);
    #[ckpt(skip)]
    let mut memory = state.clone();
    let mut times: Vec<[f64; 4]> = Vec::new();
    for _ in 0..rounds {
        let (memcpy, ()) = timed(|| copy(&state, &mut memory));
        let began = Instant::now();
        ckpt::checkpoint!();
        let wait = began.elapsed().as_secs_f64();
        let (first, ()) = timed(|| change(&mut state));
        let (second, ()) = timed(|| change(&mut state));
        times.push([wait, memcpy, first, second]);
        // The disk gets time to take it.
        std::thread::sleep(Duration::from_millis(megabytes as u64 * 4));
    }
    println!("{}", serde_json::to_string(&times).unwrap_or_default());
}
