//! Marked calls as arguments: everything that is evaluated before them is put aside.

#[ckpt::instrument]
fn next(seed: u64) -> u64 {
    let mut state = seed;
    for _ in 0..3 {
        ckpt::checkpoint!();
        state = state.wrapping_mul(5) + 1;
    }
    state
}

fn join(a: String, b: u64, c: u64) -> String {
    format!("{a}{b}{c}")
}

/// Calls inside a call.
#[ckpt::instrument(calls(next))]
pub fn nested(seed: u64) -> String {
    let joined = join(seed.to_string(), next(next(seed) + 1), 7);
    if next(3) > 10 && !joined.is_empty() {
        println!("{}", next(4));
    }
    joined
}
