//! How all ranks come to take the same checkpoint when only some of them know why: a signal reached one, the clocks of
//! the others say that the interval is not over yet.
//!
//! At a visit that all ranks know, each puts what it knows into a non-blocking reduction and goes on; at a later visit,
//! which all know as well, each uses the result. So all decide the same at the same count. The result is there by then
//! unless a rank is further behind than that: then the others wait for it, and where such waits take more than a hundredth
//! of the run, the distance grows. They cannot wait for ever: no message crosses a site, so the rank that is behind needs
//! nothing from those who wait.
//!
//! One reduction is on its way at a time. Where visits are less than two milliseconds apart it is made at every so many
//! of them, so that it costs nothing that could be measured.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::check::checks;
use super::site_history;
use super::transport::Reduction;
use super::world::{World, locked};
use crate::base::report::say;

/// Reductions begin at least so far apart, if the number of visits between them allows it.
const APART: Duration = Duration::from_millis(2);
/// The most visits between two reductions: what the ranks know may be so many visits old.
const MOST_APART: u64 = 256;
/// The most visits from a reduction to its use.
const MOST_BEHIND: u64 = 64;
/// So many results in a row that were there in time let the distance shrink again.
const IN_TIME: u32 = 32;
/// A result that is not there after so long has been waited for.
const PROMPT: Duration = Duration::from_micros(200);
/// Waits of so much, beyond a hundredth of the time, are no reason to act on signals later.
const TOLERATED: Duration = Duration::from_millis(20);
/// Where sites are checked, ranks that have not come after so long, or so many times the time between two reductions, have
/// not visited the same sites: another may wait for this one in an operation of the program.
const CHECKED_WAIT: (Duration, u32) = (Duration::from_secs(20), 20);
/// A wait that is worth a message.
const LONG: Duration = Duration::from_secs(60);
/// How long the end of the program waits for a reduction that is still on its way.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// What the ranks are about to tell each other.
#[derive(Debug)]
pub(super) struct Pending {
    /// The reduction on its way.
    reduction: Option<Box<dyn Reduction>>,
    /// The most visits that there have been from a reduction to its use.
    pub furthest: u64,
}

impl Default for Pending {
    fn default() -> Self {
        Pending {
            reduction: None,
            furthest: 1,
        }
    }
}

/// What a rank knows, or what all know together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The run is to stop after a checkpoint: a number that says why, 0 if it is not.
    pub stop: i64,
    /// The interval is over.
    pub interval: bool,
    /// The newest line that is written; of all ranks: on all of them.
    pub line: u64,
    /// The ranks have not visited the same sites.
    pub apart: bool,
    /// A rank wants to go back to a checkpoint.
    pub back: bool,
}

/// What a rank tells the others at the end of a loop without messages, or before it where it is asked to stop: once in
/// each such loop. It is there when all have.
#[derive(Debug)]
pub(crate) struct Meeting(Box<dyn Reduction>);

/// What all have told there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Met {
    /// The run is to stop: else all have come to the end of the loop.
    pub stop: i64,
    /// The largest count of visits.
    pub visits: u64,
    /// The newest line that all have written.
    pub line: u64,
    /// The ranks had not visited the same sites before.
    pub apart: bool,
}

impl Meeting {
    /// What all have told, once they have.
    pub fn met(&mut self) -> Option<Met> {
        let &[stop, visits, line, history, negative] = self.0.result()? else {
            return None;
        };
        Some(Met {
            stop,
            visits: visits.unsigned_abs(),
            line: line.unsigned_abs(),
            apart: !site_history::is_same([history, negative]),
        })
    }
}

/// The times of the reductions, the same on all ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Schedule {
    /// The visit at which the next one begins.
    begins: u64,
    /// The visit at which the one on its way is used.
    used: Option<u64>,
    /// Visits from one to the next.
    gap: u64,
    /// Visits from a reduction to its use.
    lag: u64,
    /// Visits between the beginnings of the last two.
    span: u64,
    in_time: u32,
    /// The largest that `lag` has been.
    furthest: u64,
}

impl Schedule {
    fn from(visits: u64) -> Self {
        Schedule {
            begins: visits + 1,
            used: None,
            gap: 1,
            lag: 1,
            span: 1,
            in_time: 0,
            furthest: 1,
        }
    }

    fn next(&self) -> u64 {
        self.used.unwrap_or(self.begins)
    }

    fn begun(&mut self, visit: u64) {
        self.used = Some(visit + self.lag);
        self.span = self.gap.max(self.lag);
        self.begins = visit + self.span;
    }

    /// A result was used: some rank waits too long for them or none does, and the last two began so far apart on the rank
    /// where they were closest together.
    fn learn(&mut self, waited: bool, apart: Duration) {
        self.used = None;
        if waited {
            self.lag = (self.lag * 2).min(MOST_BEHIND);
            self.furthest = self.furthest.max(self.lag);
            self.in_time = 0;
        } else {
            self.in_time += 1;
            if self.in_time >= IN_TIME {
                self.lag = (self.lag / 2).max(1);
                self.in_time = 0;
            }
        }
        let visit = apart.as_nanos().max(1) / u128::from(self.span);
        let wanted = APART.as_nanos().div_ceil(visit.max(1));
        self.gap = u64::try_from(wanted)
            .unwrap_or(MOST_APART)
            .clamp(1, (self.gap * 8).min(MOST_APART));
    }
}

/// How long this rank has waited for results, beyond what nobody would notice.
#[derive(Debug, Default)]
struct Waits(Duration);

impl Waits {
    /// One more wait, after so much time since the one before; says whether they are too many.
    fn add(&mut self, wait: Duration, since: Duration) -> bool {
        self.0 = (self.0 + wait).saturating_sub(since / 100);
        let too_many = self.0 > TOLERATED;
        if too_many {
            self.0 = Duration::ZERO;
        }
        too_many
    }
}

/// This rank's part in it.
#[derive(Debug)]
pub(crate) struct Agreement {
    world: Arc<World>,
    schedule: Schedule,
    /// When the last reduction began, and how long after the one before it.
    began: Instant,
    apart: Duration,
    waits: Waits,
    /// Whether this rank has waited too long for results.
    waited: bool,
}

impl Agreement {
    /// From the next visit on.
    pub fn from(world: Arc<World>, visits: u64) -> Self {
        Agreement {
            world,
            schedule: Schedule::from(visits),
            began: Instant::now(),
            apart: APART,
            waits: Waits::default(),
            waited: false,
        }
    }

    /// The visit at which [`step`](Self::step) is to be called next.
    pub fn next(&self) -> u64 {
        self.schedule.next()
    }

    /// At a visit: what all ranks know together, if it is the time for that; and what this rank knows, which `tell`
    /// gives, goes on its way.
    pub fn step(&mut self, visit: u64, tell: impl FnOnce() -> Outcome) -> Option<Outcome> {
        let mut outcome = None;
        if self.schedule.used.is_some_and(|used| visit >= used) {
            outcome = self.result(visit);
        }
        if self.schedule.used.is_none() && visit >= self.schedule.begins {
            self.begin(visit, tell());
        }
        outcome
    }

    /// This rank tells the others that it has come to the end of a loop without messages, or wants to stop.
    pub fn meet(&self, stop: i64, visits: u64, line: u64) -> Option<Meeting> {
        let [history, negative] = site_history::both_ways(site_history::site_history());
        let values = [stop, visits as i64, -(line as i64), history, negative];
        let transport = self.world.transport()?;
        Some(Meeting(transport.begin_largest(&values)))
    }

    /// All ranks are at the end of a loop that they have gone round unequally often, and go on with this count of visits. Gives
    /// what they had begun to agree on before.
    pub fn begin_anew(&mut self, visits: u64) -> Option<Outcome> {
        let outcome = self.result(visits);
        self.schedule = Schedule::from(visits);
        outcome
    }

    fn begin(&mut self, visit: u64, own: Outcome) {
        let world = Arc::clone(&self.world);
        let Some(transport) = world.transport() else {
            return;
        };
        let now = Instant::now();
        self.apart = now - self.began;
        self.began = now;
        let apart = i64::try_from(self.apart.as_nanos()).unwrap_or(i64::MAX);
        // The smallest of all is the largest of the negatives.
        let [history, negative] = site_history::both_ways(site_history::site_history());
        let values = [
            own.stop,
            i64::from(own.interval),
            -(own.line as i64),
            i64::from(self.waited),
            -apart,
            history,
            negative,
            i64::from(own.back),
        ];
        self.schedule.begun(visit);
        locked(&world.pending).reduction = Some(transport.begin_largest(&values));
    }

    fn result(&mut self, visit: u64) -> Option<Outcome> {
        let mut reduction = locked(&self.world.pending).reduction.take()?;
        let since = Instant::now();
        let (least, times) = CHECKED_WAIT;
        let patience = checks().then(|| least.max(self.apart * times));
        let is_late = || say(&late(visit, visit.saturating_sub(self.schedule.lag)));
        let Some(values) = awaited(&mut *reduction, patience, LONG, is_late) else {
            locked(&self.world.pending).reduction = Some(reduction);
            return Some(Outcome {
                apart: true,
                ..Outcome::default()
            });
        };
        let wait = Some(since.elapsed()).filter(|wait| *wait > PROMPT);
        // A check is for programs whose ranks may be further apart.
        self.waited = match checks() {
            true => wait.is_some(),
            false => self.waits.add(wait.unwrap_or_default(), self.began.elapsed()),
        };
        let &[stop, interval, line, waited, apart, history, negative, back] = &values[..] else {
            return None;
        };
        self.schedule
            .learn(waited != 0, Duration::from_nanos(apart.unsigned_abs()));
        locked(&self.world.pending).furthest = self.schedule.furthest;
        Some(Outcome {
            stop,
            interval: interval != 0,
            line: line.unsigned_abs(),
            apart: !site_history::is_same([history, negative]),
            back: back != 0,
        })
    }
}

/// The numbers of a reduction, once they are there; none if they are not after `patience`. A wait that has taken `long` is told of
/// once.
fn awaited(
    reduction: &mut dyn Reduction,
    patience: Option<Duration>,
    long: Duration,
    is_late: impl FnOnce(),
) -> Option<Vec<i64>> {
    let since = Instant::now();
    let mut is_late = Some(is_late);
    loop {
        if let Some(values) = reduction.result() {
            return Some(values.to_vec());
        }
        let waited = since.elapsed();
        if waited > PROMPT {
            std::thread::yield_now();
        }
        if patience.is_some_and(|patience| waited > patience) {
            return None;
        }
        if waited > long
            && let Some(tell) = is_late.take()
        {
            tell();
        }
    }
}

fn late(visit: u64, awaited: u64) -> String {
    format!(
        "warning[W2011]: site visit {visit} waits for ranks that have not come to visit {awaited} in a minute\n  \
         all ranks have to visit sites equally often"
    )
}

/// The program brings MPI down, or the run stops: what is on its way arrives before. All ranks have begun it, as all have
/// visited sites equally often; where they have not, it is left to itself.
pub(super) fn settle(world: &World) {
    let Some(mut reduction) = locked(&world.pending).reduction.take() else {
        return;
    };
    let since = Instant::now();
    while reduction.result().is_none() && since.elapsed() < LAST_WAIT {
        std::thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    /// Of ranks that come once somebody has told of them.
    #[derive(Debug, Default)]
    struct Late(Arc<AtomicBool>);

    impl Reduction for Late {
        fn result(&mut self) -> Option<&[i64]> {
            self.0.load(Ordering::SeqCst).then_some(&[3, -4])
        }
    }

    #[test]
    fn a_long_wait_is_told_of_once() {
        let mut ranks = Late::default();
        let told = Arc::clone(&ranks.0);
        let is_late = || assert!(!told.swap(true, Ordering::SeqCst));
        let values = awaited(&mut ranks, None, Duration::ZERO, is_late);
        assert_eq!(values, Some(vec![3, -4]));
        let said = late(7, 6);
        let (code, said) = said.split_once(": ").unwrap();
        assert_eq!(code, "warning[W2011]");
        assert_eq!(
            said,
            "site visit 7 waits for ranks that have not come to visit 6 in a minute\n  \
             all ranks have to visit sites equally often"
        );
        let nobody = &mut Late::default();
        assert_eq!(
            awaited(nobody, Some(Duration::ZERO), LONG, || unreachable!()),
            None
        );
    }

    /// Runs the schedule over visits that each take `visit`; returns the visits at which reductions began.
    fn run(schedule: &mut Schedule, visits: std::ops::Range<u64>, visit: Duration, waited: bool) -> Vec<u64> {
        let mut began = Vec::new();
        for at in visits {
            if schedule.used == Some(at) {
                let span = u32::try_from(schedule.span).unwrap();
                schedule.learn(waited, visit * span);
            }
            if schedule.used.is_none() && at >= schedule.begins {
                schedule.begun(at);
                began.push(at);
            }
        }
        began
    }

    #[test]
    fn slow_visits_are_all_used() {
        let mut schedule = Schedule::from(10);
        let began = run(&mut schedule, 11..20, Duration::from_millis(5), false);
        assert_eq!(
            began,
            (11..20).collect::<Vec<_>>(),
            "used at the next visit, where the next one begins"
        );
    }

    #[test]
    fn fast_visits_are_used_every_so_often() {
        let mut schedule = Schedule::from(0);
        run(&mut schedule, 1..3000, Duration::from_micros(20), false);
        assert_eq!(schedule.gap, 100);
        run(&mut schedule, 3000..9000, Duration::from_nanos(10), false);
        assert_eq!(schedule.gap, MOST_APART);
        run(&mut schedule, 9000..10000, Duration::from_secs(1), false);
        assert_eq!(schedule.gap, 1, "visits have become slow");
    }

    #[test]
    fn a_hiccup_moves_no_reduction_and_waits_at_every_visit_do() {
        let ms = Duration::from_millis;
        let mut waits = Waits::default();
        let too_many = |waits: &mut Waits, wait| (0..100).filter(|_| waits.add(wait, ms(100))).count();
        assert!(!waits.add(ms(15), ms(100)));
        assert_eq!(too_many(&mut waits, ms(1)), 0, "a hundredth of the run");
        assert_eq!(too_many(&mut waits, ms(0)), 0);
        assert!(!waits.add(ms(15), ms(100)), "the one before is forgotten");
        assert!(too_many(&mut waits, ms(5)) >= 15);
    }

    #[test]
    fn ranks_that_wait_give_the_others_more_time() {
        let mut schedule = Schedule::from(0);
        run(&mut schedule, 1..1000, Duration::from_millis(5), true);
        assert_eq!(schedule.lag, MOST_BEHIND);
        run(&mut schedule, 1000..40000, Duration::from_millis(5), false);
        assert_eq!(schedule.lag, 1);
    }
}
