//! With nothing marked, the site is in the costliest loop.

/// A sum of products.
#[ckpt::instrument]
pub fn products(n: u64) -> u64 {
    let mut sum = 0u64;
    for small in 0..3 {
        sum += small;
    }
    for a in 0..n {
        for b in 0..n {
            sum = sum.wrapping_add(a * b);
        }
    }
    sum
}
