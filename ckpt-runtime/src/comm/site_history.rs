//! Which sites a rank has visited, as one number: ranks whose numbers differ have not visited the same sites in the same
//! order, so that the same count of visits means another moment to each of them.

use std::cell::Cell;

/// Name of the note in every checkpoint that has the number.
pub(crate) const HISTORY_NOTE: &str = "mpi_trail";

/// Of sites that are told apart by a bit, all.
const ALL: u64 = u64::MAX;

thread_local! {
    static HISTORY: Cell<u64> = const { Cell::new(0) };
    /// The sites that were visited since the ranks have begun to tell each other something, a bit each. All of them, where
    /// nobody asks.
    static SITES: Cell<u64> = const { Cell::new(ALL) };
    /// Those of them that nobody has asked for yet.
    static NEW: Cell<u64> = const { Cell::new(0) };
}

/// A site is visited; whether that is its first visit since [`forget_sites`]. Costs nothing in a program without MPI.
#[inline(always)]
pub(crate) fn passes_site(layout: u64, site: u32) -> bool {
    cfg!(feature = "mpi") && {
        let own = layout ^ u64::from(site);
        HISTORY.with(|history| {
            let next = (history.get() ^ own).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            history.set(next.rotate_left(23));
        });
        let bit = 1 << (own.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 58);
        let is_new = SITES.get() & bit == 0;
        if is_new {
            SITES.set(SITES.get() | bit);
            NEW.set(NEW.get() | bit);
        }
        is_new
    }
}

/// The sites that were visited for the first time since [`forget_sites`], and since this was asked.
pub(super) fn take_new_sites() -> u64 {
    NEW.take()
}

/// From now on every site is new at its next visit.
pub(super) fn forget_sites() {
    NEW.set(0);
    SITES.set(0);
}

/// From now on none is new: threads of a team visit sites in an order that other ranks do not have.
pub(crate) fn know_all_sites() {
    NEW.set(0);
    SITES.set(ALL);
}

/// Which sites are new at their next visit, and which were and nobody has asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewSites(u64, u64);

/// Those of this thread.
pub(crate) fn new_sites() -> NewSites {
    NewSites(SITES.get(), NEW.get())
}

/// The thread is where it was when these were.
pub(crate) fn set_new_sites(NewSites(sites, new): NewSites) {
    SITES.set(sites);
    NEW.set(new);
}

/// The number of this thread.
pub(crate) fn site_history() -> u64 {
    HISTORY.get()
}

/// A session begins, or goes on where its checkpoint was taken.
pub(crate) fn set_site_history(history: u64) {
    HISTORY.set(history);
    know_all_sites();
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
