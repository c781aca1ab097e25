//! A smoother whose lists are as long as constants say, at most calls.

#![deny(warnings)]

mod kernels;

use kernels::{mix, norm};

const N: usize = 4000;
const WIDE: usize = N + 2;

/// Called in a module below as well.
fn scale(x: &mut [f64], by: f64) {
    for value in x.iter_mut() {
        *value *= by;
    }
}

/// Its sites are visited often, and it is given what `main` has.
fn stage(x: &mut [f64], y: &mut Vec<f64>, mut rounds: usize, width: usize) -> f64 {
    let mut total = 0.0;
    while rounds > 0 {
        kernels::smooth(x, y, width);
        total += norm(x);
        rounds -= 1;
    }
    total
}

/// How many there are is told by the caller alone.
fn filled<const COUNT: usize>(seed: u64) -> u64 {
    let mut state = seed;
    let mut sum = 0;
    for _ in 0..COUNT {
        for _ in 0..400 {
            state = kernels::step::<u64>(state, 7);
        }
        sum ^= state;
    }
    sum
}

fn main() {
    let width = WIDE;
    let (rounds, halves) = (6, 2);
    let mut x = vec![0.0; WIDE];
    let mut y = vec![1.0f64; N + 2];
    for (at, value) in x.iter_mut().enumerate() {
        *value = (at % 17) as f64;
    }
    let mut sum = 0.0;
    // Here the name is one of a variable, and the function is another.
    let norm = |list: &[f64]| list.iter().map(|one| one.abs()).sum::<f64>();
    for turn in 0..12 {
        sum += stage(&mut x, &mut y, rounds, width);
        mix(&mut x, &y, turn as f64);
        if turn % 4 == 3 {
            // From here on the list is longer than its `let` says.
            x.push(turn as f64);
            y.resize(x.len(), 0.5);
        }
        scale(&mut x, 0.75);
        sum += norm(&x);
        println!("{turn}: {} values, {sum:.9e}", x.len());
    }
    for part in 0..halves {
        println!("{part}: {:x} {:x}", filled::<300>(part), filled::<200>(part + 9));
    }
    println!("{:.12e} {}", x.iter().sum::<f64>(), y.len());
}
