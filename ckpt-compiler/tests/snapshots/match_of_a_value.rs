//! The arm that was taken is remembered, with what its pattern binds.

/// Follows a chain of numbers.
#[ckpt::instrument]
pub fn chain(start: u64) -> u64 {
    let mut at = start;
    let mut steps = 0;
    loop {
        match at.checked_mul(3) {
            Some(_) if at == 1 => return steps,
            Some(_) if at % 2 == 0 => at /= 2,
            Some(next) => {
                ckpt::checkpoint!();
                at = next + 1;
            }
            None => return steps,
        }
        steps += 1;
    }
}
