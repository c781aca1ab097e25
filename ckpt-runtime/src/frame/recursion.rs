//! From which depth on a function that calls itself takes its copy without sites.
//!
//! Near the leaves of a search calls take nanoseconds, and a call that leads to a site costs as much again. Sites need not be
//! visited more often than every few milliseconds; so calls are made without sites from a depth on at which they have
//! turned out to be short. The depth is found while the program runs: it begins at the leaves, and goes up as long as the
//! calls there are short by the clock; it goes down again where one has taken long.
//!
//! What a call will take is not known before it has been made: one that takes hours, after thousands that took microseconds,
//! goes without sites for hours. So a session does it only where the user says so (`skip-deep-sites`), and never where
//! visits are counted, as each has its number in every run then: `every`, ranks, teams of threads.

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Instant;

use super::Frame;
use crate::base::looks::in_looks;

/// So many calls are looked at before the depth is changed.
const CALLS: u32 = 500;
// Times are counted in looks at the clock, some 30 nanoseconds each.
/// Calls that take less than this are too short to have sites: some 20 microseconds.
const SHORT: u32 = 800;
/// Where a call has taken longer than this, some milliseconds, the next level keeps its sites: its calls take a few times that.
const LONG: u32 = 100_000;
/// A call without sites that takes longer than this should have had some.
const TOO_LONG: u32 = 8 * LONG;
/// Before anything is known.
const NEVER: u32 = u32::MAX;

/// Whether the session that is open lets calls go without sites.
static IS_ALLOWED: AtomicBool = AtomicBool::new(false);

/// Says whether it does.
pub(crate) fn allow(allowed: bool) {
    IS_ALLOWED.store(allowed, Ordering::Relaxed);
}

/// What is known of the calls of a function in itself.
#[derive(Debug)]
pub struct Recursion {
    /// Calls from this depth on go without sites.
    limit: AtomicU32,
    /// The deepest call so far.
    deepest: AtomicU32,
    /// How deep the last call was while nothing was known.
    last: AtomicU32,
    /// Calls since the limit was looked at.
    calls: AtomicU32,
    /// What those without sites have taken, in looks at the clock.
    total: AtomicU32,
    /// And the longest of them.
    longest: AtomicU32,
}

impl Recursion {
    /// Nothing is known yet.
    #[allow(clippy::new_without_default, reason = "it is made in a static")]
    pub const fn new() -> Self {
        Self {
            limit: AtomicU32::new(NEVER),
            deepest: AtomicU32::new(0),
            last: AtomicU32::new(NEVER),
            calls: AtomicU32::new(0),
            total: AtomicU32::new(0),
            longest: AtomicU32::new(0),
        }
    }

    /// A call at this depth begins while nothing is known. Counted are those before which another one has returned: as long
    /// as calls only go deeper, nobody knows where the leaves are.
    #[cold]
    fn explore(&self, depth: u32) {
        self.deepest.fetch_max(depth, Ordering::Relaxed);
        let returned = depth <= self.last.swap(depth, Ordering::Relaxed);
        if returned && self.calls.fetch_add(1, Ordering::Relaxed) >= CALLS {
            self.set(self.deepest.load(Ordering::Relaxed).max(1));
        }
    }

    fn set(&self, limit: u32) {
        self.limit.store(limit, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
        self.longest.store(0, Ordering::Relaxed);
    }

    /// A call without sites has taken so many looks at the clock.
    #[inline]
    fn took(&self, looks: u32) {
        let limit = self.limit.load(Ordering::Relaxed);
        if looks > TOO_LONG {
            return self.set(limit.saturating_add(1));
        }
        let total = self.total.load(Ordering::Relaxed) + looks;
        let calls = self.calls.load(Ordering::Relaxed) + 1;
        self.total.store(total, Ordering::Relaxed);
        self.calls.store(calls, Ordering::Relaxed);
        if looks > self.longest.load(Ordering::Relaxed) {
            self.longest.store(looks, Ordering::Relaxed);
        }
        if calls >= CALLS {
            self.look(limit, total / calls);
        }
    }

    #[cold]
    fn look(&self, limit: u32, average: u32) {
        let is_short = average < SHORT && self.longest.load(Ordering::Relaxed) < LONG;
        self.set(if is_short && limit > 1 { limit - 1 } else { limit });
    }
}

impl Frame {
    /// Whether a call of the function in itself goes without sites here.
    #[inline(always)]
    pub fn is_deep(&self, recursion: &Recursion) -> bool {
        if self.after.is_none() {
            return true;
        }
        if self.depth == 0 || self.target != 0 {
            return false;
        }
        let limit = recursion.limit.load(Ordering::Relaxed);
        if limit == NEVER {
            recursion.explore(self.depth);
        }
        self.depth >= limit
    }

    /// Makes such a call.
    #[inline(always)]
    pub fn below<R>(&self, recursion: &Recursion, body: impl FnOnce() -> R) -> R {
        let began = self.after.is_some().then(Instant::now);
        let result = body();
        if let Some(began) = began {
            recursion.took(in_looks(began.elapsed()));
        }
        result
    }

    /// How deep a frame is that is linked now, where that matters: 0 if it does not.
    pub(super) fn depth_of(thread: &super::Thread) -> u32 {
        if !IS_ALLOWED.load(Ordering::Relaxed) || !thread.is_main.get() {
            return 0;
        }
        let depth = thread.depth.get().saturating_add(1);
        thread.depth.set(depth);
        depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Some 80 nanoseconds.
    const QUICK: u32 = 2;

    fn limit(recursion: &Recursion) -> u32 {
        recursion.limit.load(Ordering::Relaxed)
    }

    fn explored(deepest: u32) -> Recursion {
        let recursion = Recursion::new();
        (0..=2 * CALLS).for_each(|call| recursion.explore(if call % 2 == 0 { 1 } else { deepest }));
        recursion
    }

    #[test]
    fn it_begins_at_the_leaves() {
        assert_eq!(limit(&Recursion::new()), NEVER);
        assert_eq!(limit(&explored(9)), 9);
    }

    #[test]
    fn calls_that_only_go_deeper_keep_their_sites() {
        let recursion = Recursion::new();
        (1..100 * CALLS).for_each(|depth| recursion.explore(depth));
        assert_eq!(limit(&recursion), NEVER);
    }

    #[test]
    fn short_calls_go_without_sites_one_level_after_the_other() {
        let recursion = explored(9);
        (0..CALLS).for_each(|_| recursion.took(QUICK));
        assert_eq!(limit(&recursion), 8);
        (0..20 * CALLS).for_each(|_| recursion.took(QUICK));
        assert_eq!(limit(&recursion), 1, "the outermost call always has its sites");
    }

    #[test]
    fn calls_that_are_long_enough_stay_as_they_are() {
        let recursion = explored(9);
        (0..5 * CALLS).for_each(|_| recursion.took(SHORT));
        assert_eq!(limit(&recursion), 9);
    }

    #[test]
    fn one_long_call_among_short_ones_keeps_the_sites_above_it() {
        let recursion = explored(9);
        for call in 0..5 * CALLS {
            recursion.took(if call % CALLS == 7 { LONG } else { QUICK });
        }
        assert_eq!(limit(&recursion), 9);
    }

    #[test]
    fn a_call_that_takes_too_long_gets_sites() {
        let recursion = explored(9);
        recursion.took(TOO_LONG * 2);
        assert_eq!(limit(&recursion), 10);
    }
}
