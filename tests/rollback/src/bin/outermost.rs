//! A loop in the function that the session ends with, and a list there that nothing writes to any more. With `TEST_LOST`, the machine
//! loses a page of a list while the variables of the function are dropped.

#[path = "../machine.rs"]
mod machine;

use std::hint::black_box;

use machine::{Asked, lose};

/// What is dropped last, and then changes its list.
#[derive(ckpt::Checkpoint)]
struct Account(Vec<u64>);

impl Drop for Account {
    fn drop(&mut self) {
        self.0.fill(123_456);
        if std::env::var_os("TEST_LOST").is_some() {
            lose(&self.0, Asked::ByTheProgram);
        }
        println!("{}", black_box(&self.0).iter().sum::<u64>());
    }
}

#[ckpt::main]
fn main() {
    let account = Account((0..1 << 18).map(|at| at % 7).collect());
    let mut matrix: Vec<u64> = vec![0; 1 << 18];
    for (at, cell) in (0..).zip(&mut matrix) {
        *cell = at * at % 83;
    }
    let mut sum = 0_u64;
    for step in 1..=20_u64 {
        ckpt::checkpoint!();
        sum = black_box(&matrix)
            .iter()
            .fold(sum, |sum, one| sum.wrapping_mul(31).wrapping_add(*one));
        println!("{step} {sum}");
    }
    println!("{} {}", matrix.iter().sum::<u64>(), account.0.len());
}
