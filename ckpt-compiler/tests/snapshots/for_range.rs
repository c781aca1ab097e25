//! The iterator of a range is saved; a label stays.

/// Finds the first pair that multiplies to `n`.
#[ckpt::instrument]
pub fn factors(n: u64) -> Option<(u64, u64)> {
    let mut found = None;
    'rows: for a in 2..n {
        for b in (a..n).rev() {
            ckpt::checkpoint!();
            if a * b == n {
                found = Some((a, b));
                break 'rows;
            }
        }
    }
    found
}
