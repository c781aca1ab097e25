#![deny(warnings)]

use short_loops::{for_loop, labels};

fn main() {
    for seed in 1..4 {
        println!("for {}", for_loop(seed, 20_000));
        println!("labels {}", labels(40 + seed, 3000));
    }
}
