//! An exclusive borrow ends at the site and is taken again after it.

/// Exchanges two halves.
#[ckpt::instrument]
pub fn exchange(cells: &mut [f64]) {
    let half = cells.len() / 2;
    let (left, right) = cells.split_at_mut(half);
    for index in 0..half {
        ckpt::checkpoint!();
        std::mem::swap(&mut left[index], &mut right[index]);
    }
}
