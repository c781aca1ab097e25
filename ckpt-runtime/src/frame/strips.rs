//! Strips: visits of a site in a row that are counted without a look at what is due.
//!
//! Where an iteration takes nanoseconds, a visit of the site in it shows. So a loop with one site, and no call that leads to
//! another, runs so many iterations in a row with nothing of ckpt in them but a counter in a register, and looks up behind
//! them: a strip, as strip-mining divides a loop into (Wolfe, *More iteration space tiling*, Supercomputing 1989). Every
//! visit keeps its number. A strip ends before the next visit of which it is known that something is due; what comes from
//! outside, a signal or a timer, is noticed at its end.
//!
//! How long strips are is found while the program runs: [`Pace`] makes them longer while they are over in no time by the
//! clock, slowly, and shorter where one has taken long. The system may have let others run meanwhile: where the next strip, which
//! is short, has not taken long, they are as long as before. They are short in number too, [`LONGEST`]: should iterations become
//! a million times longer all at once, no more of them than that pass without a look.
//!
//! There are none where others count the visits of this thread while it goes on: with ranks and in teams of threads.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use super::thread::THREAD;
use super::{Frame, Registrar};
use crate::base::current;
use crate::base::looks::in_looks;
use crate::base::visit_number::VisitNumber;
use crate::team::{self};

/// Visits in a strip, at most.
const LONGEST: u32 = 256;
/// So many strips in a row are quick before they become longer.
const STRIPS: u32 = 64;
/// A strip that takes less is quick: some 100 microseconds, in looks at the clock.
const QUICK: u32 = 3000;
/// Where one takes more, some 400 microseconds, they become shorter.
const LONG: u32 = 12_000;
/// So many times.
const SHORTER: u32 = 8;

/// How long the strips of a loop are.
#[derive(Debug)]
pub struct Pace {
    /// Visits in a strip; 0 before anything is known.
    strip: AtomicU32,
    /// Visits since the clock was looked at.
    visits: AtomicU32,
    /// Strips in a row that were quick.
    quick: AtomicU32,
    /// Visits in a strip before the last one, which took long; 0 where that took no time that anybody would notice.
    before: AtomicU32,
    /// When the clock was looked at, in nanoseconds since the process looked first.
    looked: VisitNumber,
}

impl Pace {
    /// Nothing is known yet.
    #[allow(clippy::new_without_default, reason = "it is made in a static")]
    pub const fn new() -> Self {
        Self {
            strip: AtomicU32::new(0),
            visits: AtomicU32::new(0),
            quick: AtomicU32::new(0),
            before: AtomicU32::new(0),
            looked: VisitNumber::new(0),
        }
    }

    /// So many visits were made; how many the next strip has. `elapsed` gives the time since it was asked before, in looks at
    /// the clock.
    fn after(&self, visits: u32, elapsed: impl FnOnce() -> u32) -> u32 {
        let strip = self.strip.load(Ordering::Relaxed).max(1);
        let visits = self.visits.load(Ordering::Relaxed).saturating_add(visits);
        if visits < strip {
            self.visits.store(visits, Ordering::Relaxed);
            return strip;
        }
        self.visits.store(0, Ordering::Relaxed);
        self.took(strip, elapsed())
    }

    /// A strip of so many visits has taken so many looks at the clock.
    fn took(&self, strip: u32, looks: u32) -> u32 {
        let quick = match looks < QUICK {
            true => self.quick.load(Ordering::Relaxed) + 1,
            false => 0,
        };
        let is_long = looks > LONG;
        let before = self
            .before
            .swap(if is_long { strip } else { 0 }, Ordering::Relaxed);
        let next = match () {
            () if is_long => (strip / SHORTER).max(1),
            () if before != 0 && looks < LONG / SHORTER => before,
            () if quick >= STRIPS => (strip * 2).min(LONGEST),
            () => strip,
        };
        let quick = if quick >= STRIPS { 0 } else { quick };
        self.quick.store(quick, Ordering::Relaxed);
        self.strip.store(next, Ordering::Relaxed);
        next
    }

    /// The time since the last call, in looks at the clock.
    fn since_last_look(&self) -> u32 {
        let now = nanoseconds();
        let before = self.looked.swap(now, Ordering::Relaxed);
        in_looks(Duration::from_nanos(now.saturating_sub(before)))
    }
}

/// Nanoseconds since the process asked for the first time.
fn nanoseconds() -> u64 {
    static FIRST: OnceLock<Instant> = OnceLock::new();
    let first = FIRST.get_or_init(Instant::now);
    u64::try_from(first.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// The strip of a loop that runs.
#[derive(Debug)]
pub struct Strip {
    /// How many visits it has, which the thread has not counted yet.
    length: u32,
    /// How many of them are still to come.
    left: u32,
}

impl Strip {
    /// In front of the loop: its first visit looks up.
    #[allow(clippy::new_without_default, reason = "generated code calls it")]
    #[inline(always)]
    pub const fn new() -> Self {
        Self { length: 0, left: 0 }
    }

    /// Whether there are visits still to come that need no look.
    #[inline(always)]
    pub fn goes_on(&self) -> bool {
        self.left > 0
    }

    /// One of them.
    #[inline(always)]
    pub fn counts(&mut self) {
        self.left -= 1;
    }

    /// Whether a visit is one of them, which is counted.
    #[inline(always)]
    pub fn passes(&mut self) -> bool {
        let goes_on = self.goes_on();
        if goes_on {
            self.counts();
        }
        goes_on
    }

    /// The visits that were made, which whoever asks counts.
    #[inline(always)]
    pub fn take(&mut self) -> u32 {
        let made = self.length - self.left;
        (self.length, self.left) = (0, 0);
        made
    }

    /// The next strip, of so many visits.
    #[inline(always)]
    pub fn begin(&mut self, length: u32) {
        (self.length, self.left) = (length, length);
    }
}

impl Drop for Strip {
    /// The loop was left.
    #[inline(always)]
    fn drop(&mut self) {
        let made = self.take();
        if made > 0 {
            THREAD.with(|thread| thread.count(u64::from(made)));
        }
    }
}

impl Frame {
    /// So many visits have been made since the last look. Counts them and the one that this is, and looks at the site where
    /// that is [`due`](Frame::due). Gives how many can follow without a look.
    #[cold]
    #[inline(never)]
    pub fn looks_up(&mut self, site: u32, pace: &Pace, made: u32, registrar: &dyn Fn(&mut Registrar)) -> u32 {
        if made > 0 {
            THREAD.with(|thread| thread.count(u64::from(made)));
        }
        if self.due(site) {
            self.checkpoint(site, registrar);
            return 0;
        }
        if cfg!(feature = "mpi") || self.target != 0 || team::is_member() || team::is_open() {
            return 0;
        }
        let strip = match self.after {
            // Without a session nobody waits for a look.
            None => LONGEST,
            Some(_) => pace.after(made + 1, || pace.since_last_look()),
        };
        let visits = THREAD.with(|thread| thread.visits());
        let known = current::next().saturating_sub(visits.saturating_add(1));
        u32::try_from(known).unwrap_or(u32::MAX).min(strip - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strip(pace: &Pace) -> u32 {
        pace.strip.load(Ordering::Relaxed)
    }

    /// Makes visits until so many strips were over, each of which takes so many looks.
    fn run(pace: &Pace, strips: u32, looks: u32) {
        for _ in 0..strips {
            pace.after(strip(pace).max(1), || looks);
        }
    }

    #[test]
    fn strips_of_quick_iterations_become_longer_slowly() {
        let pace = Pace::new();
        run(&pace, STRIPS - 1, 2);
        assert_eq!(strip(&pace), 1);
        run(&pace, 1, 2);
        assert_eq!(strip(&pace), 2);
        run(&pace, 100 * STRIPS, 2);
        assert_eq!(strip(&pace), LONGEST);
    }

    #[test]
    fn long_iterations_are_looked_at_each() {
        let pace = Pace::new();
        run(&pace, 10 * STRIPS, QUICK);
        assert_eq!(strip(&pace), 1);
    }

    #[test]
    fn strips_become_shorter_where_one_takes_long() {
        let pace = Pace::new();
        run(&pace, 100 * STRIPS, 2);
        run(&pace, 1, LONG + 1);
        assert_eq!(strip(&pace), LONGEST / SHORTER);
        run(&pace, 4, u32::MAX);
        assert_eq!(strip(&pace), 1);
    }

    #[test]
    fn strips_are_as_long_as_before_where_others_have_run_meanwhile() {
        let pace = Pace::new();
        run(&pace, 100 * STRIPS, QUICK - 1);
        run(&pace, 1, 100 * LONG);
        assert_eq!(strip(&pace), LONGEST / SHORTER);
        run(&pace, 1, QUICK / SHORTER);
        assert_eq!(strip(&pace), LONGEST);
        run(&pace, 1, 100 * LONG);
        run(&pace, 1, LONG / SHORTER);
        assert_eq!(strip(&pace), LONGEST / SHORTER, "they do take longer");
    }

    #[test]
    fn a_loop_of_few_iterations_looks_at_the_clock_once_in_a_strip() {
        let pace = Pace::new();
        run(&pace, 100 * STRIPS, 2);
        let mut looks = 0;
        for _ in 0..LONGEST {
            pace.after(1, || {
                looks += 1;
                2
            });
        }
        assert_eq!(looks, 1);
    }

    #[test]
    fn a_strip_gives_the_visits_that_were_made() {
        let mut strip = Strip::new();
        assert!(!strip.passes() && strip.take() == 0);
        strip.begin(3);
        assert!(strip.passes() && strip.goes_on());
        strip.counts();
        assert_eq!(strip.take(), 2);
        assert!(!strip.goes_on() && strip.take() == 0);
    }
}
