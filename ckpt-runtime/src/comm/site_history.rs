//! Which sites a rank has visited, as one number: ranks whose numbers differ have not visited the same sites in the same
//! order, so that the same count of visits means another moment to each of them.

use std::cell::Cell;

/// Name of the note in every checkpoint that has the number.
pub(crate) const HISTORY_NOTE: &str = "mpi_trail";

thread_local! {
    static HISTORY: Cell<u64> = const { Cell::new(0) };
}

/// A site is visited. Costs nothing in a program without MPI.
#[inline(always)]
pub(crate) fn passes_site(layout: u64, site: u32) {
    if cfg!(feature = "mpi") {
        HISTORY.with(|history| {
            let next = (history.get() ^ layout ^ u64::from(site)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            history.set(next.rotate_left(23));
        });
    }
}

/// The number of this thread.
pub(crate) fn site_history() -> u64 {
    HISTORY.get()
}

/// A session begins, or goes on where its checkpoint was taken.
pub(crate) fn set_site_history(history: u64) {
    HISTORY.set(history);
}

/// The number of a team: what its members have visited, however many of them have visited the same. Ranks may have teams
/// of other sizes.
pub(crate) fn joined_history(histories: &[u64]) -> u64 {
    let mut different = histories.to_vec();
    different.sort_unstable();
    different.dedup();
    let mixed = |one: u64, next: u64| (one.rotate_left(5) ^ next).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    different.into_iter().reduce(mixed).unwrap_or_else(site_history)
}

/// The number as MPI compares it: of all ranks the largest, and the largest of its negatives.
pub(super) fn both_ways(history: u64) -> [i64; 2] {
    let number = (history >> 1) as i64;
    [number, -number]
}

/// Whether it is the same on all ranks, from the largest of [`both_ways`].
pub(super) fn is_same([largest, negative]: [i64; 2]) -> bool {
    largest == -negative
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_of_both_tell_whether_they_differ() {
        let reduced = |one: u64, other: u64| {
            let (one, other) = (both_ways(one), both_ways(other));
            [one[0].max(other[0]), one[1].max(other[1])]
        };
        assert!(is_same(reduced(u64::MAX, u64::MAX)) && is_same(reduced(0, 0)));
        assert!(!is_same(reduced(4, 8)) && !is_same(reduced(0, 1 << 40)));
    }
}
