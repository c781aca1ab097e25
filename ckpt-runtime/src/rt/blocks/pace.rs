//! How many items a block has: by how long those before took.
//!
//! A block ends when its last item is done, and threads that have none left wait for that: with many items for each
//! thread that is nothing. So a block takes about a quarter of a second; where that would be few items, up to a
//! twentieth of the time between two checkpoints. Where checkpoints are taken by visits, time is not looked at, so that the
//! same run has the same visits: a block is a thirty-second of the items that have been done, so that none is a large
//! part of the run where later items take longer. How fast an iterator is, is kept
//! when it ends: one inside of a loop over time steps does not begin anew with small blocks in each.

use std::cell::RefCell;
use std::collections::HashMap;
use std::panic::Location;
use std::time::{Duration, Instant};

use crate::{comm, context};

/// What a block takes if it may have as many items as it likes.
const USUAL: Duration = Duration::from_millis(250);

/// Where checkpoints are far from each other, a block may take as long as this.
const LONGEST: Duration = Duration::from_secs(20);

/// And at least as long as this, so that its threads have enough items.
const LEAST_LONGEST: Duration = Duration::from_secs(1);

/// Where checkpoints are taken by visits: the share of the items done so far that the next block has.
const SHARE_OF_DONE: f64 = 1.0 / 32.0;

/// Items for each thread among which one more or less does not show.
const ENOUGH: f64 = 64.0;

/// A block has at most so many times the items of the one before: the first of an iterator do not reach far ahead of what
/// is known of it.
const GROWTH: f64 = 2.0;

/// What is known of an iterator.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// Seconds for an item, all threads together.
    item: f64,
    /// Items of the last block.
    size: f64,
    /// Items of all blocks.
    done: f64,
}

thread_local! {
    /// What the thread knows of its iterators, by where they stand in the source.
    static ALL: RefCell<HashMap<&'static Location<'static>, Known>> = RefCell::default();
}

/// How fast an iterator is.
#[derive(Debug, Default)]
pub(super) struct Pace {
    place: Option<&'static Location<'static>>,
    known: Option<Known>,
    /// When the block under way began, and how many items it has.
    since: Option<(Instant, u64)>,
}

impl Pace {
    /// Of the iterator at a place of the source.
    #[inline]
    pub fn at(place: &'static Location<'static>) -> Self {
        Pace {
            place: Some(place),
            known: None,
            since: None,
        }
    }

    /// How many of the items that are left the next block has; it begins now.
    #[inline]
    pub fn begin(&mut self, left: u64) -> u64 {
        if !context::is_here() {
            return left;
        }
        self.begin_measured(left)
    }

    fn begin_measured(&mut self, left: u64) -> u64 {
        // Ranks count their sites, and their blocks would differ.
        if comm::current().is_some_and(|world| world.is_up()) {
            return left;
        }
        let place = self.place;
        let remembered = || place.and_then(|place| ALL.with_borrow(|all| all.get(place).copied()));
        self.known = self.known.or_else(remembered);
        let rule = match context::with_driver(|driver| driver.between_checkpoints()).flatten() {
            Some(between) => Rule::Clock { between },
            None => Rule::Visits,
        };
        let size = size(self.known, threads(), rule, left);
        self.since = Some((Instant::now(), size));
        size
    }

    /// The block that has begun, if one has, is done.
    #[inline]
    pub fn done(&mut self) {
        if let Some((since, size)) = self.since.take() {
            self.measured(since.elapsed(), size);
        }
    }

    fn measured(&mut self, took: Duration, size: u64) {
        if size == 0 {
            return;
        }
        let known = Known {
            item: took.as_secs_f64() / size as f64,
            size: size as f64,
            done: size as f64 + self.known.map_or(0.0, |before| before.done),
        };
        self.known = Some(known);
        ALL.with_borrow_mut(|all| all.extend(self.place.map(|place| (place, known))));
    }
}

/// When a checkpoint is due.
#[derive(Debug, Clone, Copy)]
enum Rule {
    /// After so much time.
    Clock { between: Duration },
    /// After so many visits.
    Visits,
}

/// How many of the items that are left a block has.
fn size(known: Option<Known>, threads: usize, rule: Rule, left: u64) -> u64 {
    let one_each = threads as f64;
    let size = match (known, rule) {
        (None, _) => one_each,
        (Some(Known { done, .. }), Rule::Visits) => (SHARE_OF_DONE * done).max(one_each),
        (Some(Known { item, size, .. }), Rule::Clock { between }) => {
            let part = between / 20;
            let within = |time: Duration| time.as_secs_f64() / item.max(f64::MIN_POSITIVE);
            let enough = (ENOUGH * one_each).min(within(part.clamp(LEAST_LONGEST, LONGEST)));
            within(USUAL.min(part))
                .max(enough)
                .min(GROWTH * size)
                .max(one_each)
        }
    };
    // A small rest goes with the last block.
    if 1.5 * size >= left as f64 {
        left
    } else {
        (size as u64).max(1)
    }
}

/// How many threads work on a block.
fn threads() -> usize {
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    let asked = asked.and_then(|text| text.parse().ok());
    let there = || std::thread::available_parallelism().map_or(1, usize::from);
    asked.filter(|count| *count > 0).unwrap_or_else(there)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(item: f64, size: f64) -> Option<Known> {
        Some(Known {
            item,
            size,
            done: size,
        })
    }

    const HOUR: Rule = Rule::Clock {
        between: Duration::from_secs(3600),
    };

    #[test]
    fn the_first_block_has_an_item_for_each_thread_and_the_next_has_more() {
        assert_eq!(size(None, 4, HOUR, 1000), 4);
        assert_eq!(size(known(1e-9, 4.0), 4, HOUR, 1000), 8);
        assert_eq!(size(None, 4, HOUR, 3), 3);
    }

    #[test]
    fn a_block_takes_part_of_a_second_or_has_many_items() {
        let many = 1 << 40;
        assert_eq!(size(known(1e-6, 1e9), 4, HOUR, many), 250_000);
        assert_eq!(size(known(0.01, 1e9), 4, HOUR, many), 256);
        assert_eq!(size(known(1.0, 1e9), 4, HOUR, many), 20);
        assert_eq!(size(known(100.0, 1e9), 4, HOUR, many), 4);
    }

    #[test]
    fn checkpoints_close_to_each_other_have_blocks_between_them() {
        let often = Rule::Clock {
            between: Duration::from_secs(1),
        };
        assert_eq!(size(known(1e-6, 1e9), 1, often, 1 << 40), 50_000);
    }

    #[test]
    fn by_visits_a_block_is_a_share_of_what_has_been_done_whatever_that_took() {
        let of = |item, done| {
            let known = Known {
                item,
                size: 1.0,
                done,
            };
            size(Some(known), 4, Rule::Visits, 1 << 40)
        };
        assert_eq!([8.0, 320.0, 8e6].map(|done| of(1e-9, done)), [4, 10, 250_000]);
        assert_eq!(of(1e-9, 8e6), of(100.0, 8e6));
    }

    #[test]
    fn no_block_is_empty_and_no_rest_is_small() {
        assert_eq!(size(known(1e-6, 1e9), 2, HOUR, 370_000), 370_000);
        assert_eq!(size(known(f64::INFINITY, 1.0), 1, HOUR, 100), 1);
        assert_eq!(size(known(0.0, 1e300), 1, HOUR, 100), 100);
        assert_eq!(size(None, 4, HOUR, 0), 0);
    }
}
