//! A `while` loop in the function that opens the session.

/// Sums up to a bound.
#[ckpt::main]
pub fn main() {
    let bound = 100;
    let mut sum = 0u64;
    while sum < bound {
        ckpt::checkpoint!();
        sum += 7;
    }
    println!("{sum}");
}
