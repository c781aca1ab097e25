//! A program that has as much memory as it is told, and of which some may not be there while a checkpoint is taken.
//!
//! `faults-memory STEPS SIZE KIND`: how many steps, how much it computes with, and of what: `lists` or `pieces`. `FAULTS_MEMORY`
//! says what there is while a checkpoint is taken: `measure`, or `BYTES:once` and `BYTES:on`: so many more than there are then,
//! until a piece could not be had, or as long as the checkpoint takes. The measure is said at the end: what every piece needed
//! that needed more than all before it.

mod allocator;
mod pieces;

use pieces::Pieces;

fn argument<T: std::str::FromStr>(nth: usize, otherwise: T) -> T {
    let text = std::env::args().nth(nth);
    text.and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

#[ckpt::main]
fn main() {
    let (steps, size) = (argument(1, 6_u64), argument(2, 1_000_usize));
    let kind: String = argument(3, "lists".to_owned());
    let mut state = Pieces::new(size, kind == "lists");
    let mut step = 0;
    while step < steps {
        step += 1;
        state.advance(step);
        println!("step {step}: {:016x}", state.digest());
        allocator::begin(step);
        ckpt::checkpoint!();
        allocator::end();
        println!("passed {step}");
    }
    println!("end: {:016x}", state.digest());
    allocator::tell();
}
