//! From which depth on a function that calls itself takes its copy without sites.
//!
//! Near the leaves of a search calls take nanoseconds, and a call that leads to a site costs as much again. Sites need not be
//! visited more often than every few milliseconds; so calls are made without sites from a depth on at which they have
//! turned out to be short. The depth is found while the program runs: it begins at the leaves, and goes up one level after the
//! other as long as the calls there are short by the clock.
//!
//! What a call will take is not known before it has been made, and one without sites cannot be left for a checkpoint. What is
//! done against calls that take long where others were short:
//!
//! - The calls of a tree that take long say nothing of the next tree: where the last was a long one, the depth is found anew.
//! - After one that has taken too long the depth is found anew as well, and does not come back to that level before calls below
//!   it have taken many times as long: such calls are a small part of a run's time, whatever they take.
//! - Where no site has been visited for some milliseconds, because all are further down, calls have their sites until one is.
//! - A process that goes on from a checkpoint makes all calls with sites until it has taken a checkpoint itself: a run comes
//!   on, even if one call takes longer than its processes last.
//!
//! Where visits are counted, as each has its number in every run then (`every`, ranks, teams of threads), all calls have their
//! sites.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use super::Frame;
use super::thread::{THREAD, Thread};
use crate::base::looks::in_looks;
use crate::base::visit_number::VisitNumber;
use crate::team::{self};

/// So many calls are looked at before the depth is changed.
const CALLS: u32 = 32;
/// And so many, before which others have returned, before the leaves are believed to be known.
const RETURNS: u32 = 64;
// Times are counted in looks at the clock, some 30 nanoseconds each.
/// Calls that take less than this on the average are too short to have sites: some 100 microseconds.
const SHORT: u32 = 3000;
/// And none of them takes longer than this: some 400 microseconds.
const NOT_LONG: u32 = 4 * SHORT;
/// A call without sites that takes longer than this should have had some: some milliseconds.
const TOO_LONG: u32 = 100_000;
/// The calls of a tree tell of the next one if none took longer, some 2 milliseconds: finding out again would take as long.
const SMALL: u32 = 60_000;
/// So many times what a call has taken too long passes before calls of its level go without sites again.
const PATIENCE: u64 = 16;
/// Before anything is known.
const NEVER: u32 = u32::MAX;

/// When deep calls go without sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeepCalls {
    /// They never do.
    KeepSites,
    /// Where they have turned out to be short.
    WhereShort,
    /// From this depth on, in every run the same: for tests.
    From(u32),
}

impl DeepCalls {
    /// What holds when a session begins. Whether the process goes on from a checkpoint, and whether visits are counted.
    pub(crate) fn at_first(self, continues: bool, counts_visits: bool) -> Self {
        match self {
            DeepCalls::WhereShort if continues || counts_visits => DeepCalls::KeepSites,
            other => other,
        }
    }

    /// What `skip-deep-sites` says.
    pub(crate) fn of_setting(skips: bool) -> Self {
        match skips {
            true => DeepCalls::WhereShort,
            false => DeepCalls::KeepSites,
        }
    }
}

/// Depths of activations that may call without sites: what [`DeepCalls`] says, in a word.
static FROM: AtomicU32 = AtomicU32::new(KEEP_SITES);
const KEEP_SITES: u32 = u32::MAX;
const WHERE_SHORT: u32 = 0;

/// Says what holds from now on.
pub(crate) fn set(deep: DeepCalls) {
    let from = match deep {
        DeepCalls::KeepSites => KEEP_SITES,
        DeepCalls::WhereShort => WHERE_SHORT,
        DeepCalls::From(depth) => depth.clamp(1, KEEP_SITES - 1),
    };
    FROM.store(from, Ordering::Relaxed);
}

/// What is known of the calls of a function in itself. Depths are those of activations that call: 1 for the outermost.
#[derive(Debug)]
pub struct Recursion {
    /// Calls from this depth on go without sites.
    limit: AtomicU32,
    /// The deepest call so far while the limit is not known.
    deepest: AtomicU32,
    /// How deep the last one was.
    last: AtomicU32,
    /// Calls of the level above the limit that were looked at; and what they took.
    calls: AtomicU32,
    total: AtomicU32,
    /// The longest call that the outermost activation has made.
    longest: AtomicU32,
    /// The deepest level at which a call has taken too long, and how long calls are to take before it is tried again.
    barrier: AtomicU32,
    patience: VisitNumber,
    /// What calls without sites have taken since a site was visited, and how many visits there were then.
    idle: AtomicU32,
    visits: VisitNumber,
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
            barrier: AtomicU32::new(0),
            patience: VisitNumber::new(0),
            idle: AtomicU32::new(0),
            visits: VisitNumber::new(0),
        }
    }

    /// The outermost activation makes its first call.
    #[cold]
    fn begins(&self) {
        if self.longest.swap(0, Ordering::Relaxed) > SMALL {
            self.forget();
        }
    }

    /// The depth is to be found anew.
    fn forget(&self) {
        self.set(NEVER);
        self.deepest.store(0, Ordering::Relaxed);
        self.last.store(NEVER, Ordering::Relaxed);
    }

    fn set(&self, limit: u32) {
        self.limit.store(limit, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.total.store(0, Ordering::Relaxed);
    }

    /// A call at this depth begins while nothing is known. Counted are those before which another one has returned: as long
    /// as calls only go deeper, nobody knows where the leaves are.
    fn explore(&self, depth: u32) {
        self.deepest.fetch_max(depth, Ordering::Relaxed);
        let returned = depth <= self.last.swap(depth, Ordering::Relaxed);
        if returned && self.calls.fetch_add(1, Ordering::Relaxed) >= RETURNS {
            self.set(self.deepest.load(Ordering::Relaxed).max(1));
        }
    }

    /// A call at this depth, without sites, has taken so many looks at the clock; there are so many visits.
    #[inline]
    fn took(&self, depth: u32, looks: u32, visits: u64) {
        self.note(depth, looks);
        let idle = match self.visits.swap(visits, Ordering::Relaxed) == visits {
            true => self.idle.load(Ordering::Relaxed),
            false => 0,
        };
        self.idle.store(idle.saturating_add(looks), Ordering::Relaxed);
        if looks > TOO_LONG {
            return self.was_too_long(depth, looks);
        }
        let patience = self.patience.load(Ordering::Relaxed);
        if patience > 0 {
            self.patience
                .store(patience.saturating_sub(u64::from(looks)), Ordering::Relaxed);
        }
    }

    /// Whether a site is to be visited before more calls go without.
    #[inline(always)]
    fn needs_a_visit(&self) -> bool {
        self.idle.load(Ordering::Relaxed) > TOO_LONG && !self.has_been_visited()
    }

    #[cold]
    fn has_been_visited(&self) -> bool {
        let visits = THREAD.with(Thread::visits);
        let has = self.visits.swap(visits, Ordering::Relaxed) != visits;
        if has {
            self.idle.store(0, Ordering::Relaxed);
        }
        has
    }

    #[cold]
    fn was_too_long(&self, depth: u32, looks: u32) {
        let patience = self.patience.load(Ordering::Relaxed);
        self.patience.store(
            patience.saturating_add(PATIENCE * u64::from(looks)),
            Ordering::Relaxed,
        );
        let deepest = match patience {
            0 => depth,
            _ => depth.max(self.barrier.load(Ordering::Relaxed)),
        };
        self.barrier.store(deepest, Ordering::Relaxed);
        self.forget();
    }

    /// The same for a call that leads to sites.
    fn took_with_sites(&self, depth: u32, looks: u32) {
        self.note(depth, looks);
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == NEVER || depth + 1 != limit {
            return;
        }
        let total = self.total.load(Ordering::Relaxed).saturating_add(looks);
        let calls = self.calls.load(Ordering::Relaxed) + 1;
        self.total.store(total, Ordering::Relaxed);
        self.calls.store(calls, Ordering::Relaxed);
        if looks > NOT_LONG {
            self.set(limit);
        } else if calls >= CALLS {
            let is_barred =
                depth <= self.barrier.load(Ordering::Relaxed) && self.patience.load(Ordering::Relaxed) > 0;
            let is_short = total / calls < SHORT;
            self.set(if is_short && !is_barred { depth } else { limit });
        }
    }

    fn note(&self, depth: u32, looks: u32) {
        if depth == 1 && looks > self.longest.load(Ordering::Relaxed) {
            self.longest.store(looks, Ordering::Relaxed);
        }
    }
}

/// Looks how long a call takes that leads to sites: until it is dropped.
#[derive(Debug)]
pub struct Measured(Option<(&'static Recursion, u32, Instant)>);

impl Drop for Measured {
    #[inline]
    fn drop(&mut self) {
        if let Some((recursion, depth, began)) = self.0 {
            recursion.took_with_sites(depth, in_looks(began.elapsed()));
        }
    }
}

impl Frame {
    /// Whether a call of the function in itself goes without sites here.
    #[inline(always)]
    pub fn is_deep(&self, recursion: &'static Recursion) -> bool {
        if self.after.is_none() {
            return true;
        }
        if self.depth == 1 && !self.has_called.replace(true) {
            recursion.begins();
        }
        self.target == 0
            && self.depth >= recursion.limit.load(Ordering::Relaxed)
            && (!recursion.needs_a_visit() || self.depth == NEVER)
    }

    /// Makes such a call.
    #[inline(always)]
    pub fn below<R>(&self, recursion: &'static Recursion, body: impl FnOnce() -> R) -> R {
        let began = self.after.is_some().then(Instant::now);
        let result = body();
        if let Some(began) = began {
            recursion.took(self.depth, in_looks(began.elapsed()), THREAD.with(Thread::visits));
        }
        result
    }

    /// Begins another call, which lasts until what this gives is dropped.
    #[inline]
    pub fn above(&self, recursion: &'static Recursion) -> Measured {
        if self.depth == 0 || self.target != 0 {
            return Measured(None);
        }
        if recursion.limit.load(Ordering::Relaxed) == NEVER {
            recursion.explore(self.depth);
        }
        Measured(Some((recursion, self.depth, Instant::now())))
    }

    /// How many activations of the function in each other there are with one that is linked now, where that matters; 0 if
    /// it does not, and more than any limit where its calls go without sites in any case.
    pub(super) fn depth_of(thread: &Thread, calls_itself: bool) -> (u32, u32) {
        let outer = thread.depth.get();
        let depth = match calls_itself {
            true => outer.saturating_add(1),
            false => 1,
        };
        thread.depth.set(depth);
        let matters = match FROM.load(Ordering::Relaxed) {
            KEEP_SITES => 0,
            _ if !thread.is_main.get() || team::is_open() => 0,
            WHERE_SHORT => depth,
            from if depth >= from => NEVER,
            _ => 0,
        };
        (outer, matters)
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

    fn explore(recursion: &Recursion, deepest: u32) {
        (0..=2 * RETURNS + 1).for_each(|call| recursion.explore(if call % 2 == 0 { 1 } else { deepest }));
    }

    fn explored(deepest: u32) -> Recursion {
        let recursion = Recursion::new();
        explore(&recursion, deepest);
        recursion
    }

    /// Calls of the level above the limit, until the limit could have changed so often.
    fn run(recursion: &Recursion, times: u32, looks: u32) {
        for _ in 0..times * CALLS {
            recursion.took_with_sites(limit(recursion).saturating_sub(1), looks);
        }
    }

    #[test]
    fn a_process_that_goes_on_and_one_that_counts_visits_keep_all_sites() {
        let short = DeepCalls::WhereShort;
        assert_eq!(short.at_first(false, false), short);
        assert_eq!(short.at_first(true, false), DeepCalls::KeepSites);
        assert_eq!(short.at_first(false, true), DeepCalls::KeepSites);
        assert_eq!(DeepCalls::From(2).at_first(true, true), DeepCalls::From(2));
    }

    #[test]
    fn it_begins_at_the_leaves() {
        assert_eq!(limit(&Recursion::new()), NEVER);
        assert_eq!(limit(&explored(9)), 9);
    }

    #[test]
    fn calls_that_only_go_deeper_keep_their_sites() {
        let recursion = Recursion::new();
        (1..100 * RETURNS).for_each(|depth| recursion.explore(depth));
        assert_eq!(limit(&recursion), NEVER);
    }

    #[test]
    fn short_calls_go_without_sites_one_level_after_the_other() {
        let recursion = explored(9);
        run(&recursion, 1, QUICK);
        assert_eq!(limit(&recursion), 8);
        run(&recursion, 3, QUICK);
        assert_eq!(limit(&recursion), 5);
        recursion.took_with_sites(2, QUICK);
        run(&recursion, 1, SHORT);
        assert_eq!(
            limit(&recursion),
            5,
            "calls that are long enough keep their sites"
        );
    }

    #[test]
    fn one_long_call_among_short_ones_keeps_the_sites_of_its_level() {
        let recursion = explored(9);
        for call in 0..5 * CALLS {
            recursion.took_with_sites(
                8,
                if call % (CALLS - 1) == 7 {
                    NOT_LONG + 1
                } else {
                    QUICK
                },
            );
        }
        assert_eq!(limit(&recursion), 9);
    }

    #[test]
    fn a_call_that_takes_too_long_gets_sites_for_many_times_as_long() {
        let recursion = explored(9);
        run(&recursion, 4, QUICK);
        recursion.took(5, 4 * TOO_LONG, 1);
        assert_eq!(limit(&recursion), NEVER);
        explore(&recursion, 9);
        run(&recursion, 9, QUICK);
        assert_eq!(limit(&recursion), 6, "what is below that level is as before");
        (0..4 * PATIENCE - 1).for_each(|_| recursion.took(6, TOO_LONG, 1));
        run(&recursion, 1, QUICK);
        assert_eq!(limit(&recursion), 6);
        recursion.took(6, TOO_LONG, 1);
        run(&recursion, 1, QUICK);
        assert_eq!(limit(&recursion), 5);
    }

    #[test]
    fn where_all_sites_are_further_down_one_is_visited_now_and_then() {
        let recursion = explored(9);
        let visits = THREAD.with(Thread::visits);
        recursion.took(9, TOO_LONG / 2, visits - 1);
        recursion.took(9, TOO_LONG / 2, visits);
        assert!(!recursion.needs_a_visit());
        recursion.took(9, TOO_LONG, visits);
        assert!(recursion.needs_a_visit());
        assert!(recursion.needs_a_visit());
        recursion.visits.store(visits - 1, Ordering::Relaxed);
        assert!(!recursion.needs_a_visit());
    }

    #[test]
    fn a_long_tree_says_nothing_of_the_next_one() {
        let recursion = explored(9);
        recursion.note(1, SMALL);
        recursion.begins();
        assert_eq!(limit(&recursion), 9);
        recursion.note(2, SMALL + 1);
        recursion.begins();
        assert_eq!(limit(&recursion), 9);
        recursion.note(1, SMALL + 1);
        recursion.begins();
        assert_eq!(limit(&recursion), NEVER);
    }
}
