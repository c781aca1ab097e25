//! A loop in the function that the session ends with, and a list there that nothing writes to any more.

use std::hint::black_box;

#[ckpt::main]
fn main() {
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
    println!("{}", matrix.iter().sum::<u64>());
}
