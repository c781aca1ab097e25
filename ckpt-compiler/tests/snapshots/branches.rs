//! Conditions become variables, so that a restart can pass over them.

/// Walks one way or the other.
#[ckpt::instrument]
pub fn walk(steps: u32, left: bool) -> i64 {
    let mut at = 0i64;
    for step in 0..steps {
        if left && step % 3 == 0 {
            at -= 1;
            ckpt::checkpoint!();
        } else if at < 10 {
            at += 2;
        } else {
            ckpt::checkpoint!();
            at += i64::from(step);
        }
    }
    at
}
