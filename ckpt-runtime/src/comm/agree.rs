//! How all ranks come to take the same checkpoint when only some of them know why: a signal reached one, the clocks of
//! the others say that the interval is not over yet.
//!
//! At a visit that all ranks know, each puts what it knows into a non-blocking reduction and goes on; at a later visit,
//! which all know as well, each uses the result. So all decide the same at the same count. The result is there by then
//! unless a rank is further behind than that: then the others wait for it, and where such waits take more than a hundredth
//! of the run, the distance grows. They cannot wait for ever: no message crosses a site, so the rank that is behind needs
//! nothing from those who wait.
//!
//! One reduction is on its way at a time, and the next one begins a second after it, however short visits are: what a rank
//! may have to tell can wait so long. It begins earlier where the clock of a rank says that something will be due earlier, and
//! later where it says that nothing will be for minutes: then only signals have to be heard, [`FAR`]. In a run that has just
//! begun they are closer together: half of the time that it has taken so far.
//!
//! Ranks read clocks of their own, and have to begin a reduction at the same visit. So each puts into it how long ago it
//! began the one before, and how long its clock is silent; with the least of all, and the visits between, every rank finds
//! the same number of visits to the next one. Visits may become longer all at once, where the program comes to another of its
//! loops: at a site that has not been visited lately the next one begins at once, and the number of visits grows anew. All
//! ranks visit the same sites, so they all see that.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::alone::{Again, Told};
use super::check::checks;
use super::site_history;
use super::transport::Reduction;
use super::world::{World, locked};
use crate::base::report::say;

/// Reductions begin at least so far apart.
const APART: Duration = Duration::from_millis(2);
/// So far where something may be due within a minute.
const NEAR: Duration = Duration::from_secs(1);
/// So far where nothing is due by any clock for longer than [`LONG_LEFT`]: signals wait so long.
const FAR: Duration = Duration::from_secs(5);
const LONG_LEFT: Duration = Duration::from_secs(60);
/// The number of visits between two reductions grows by no more than this: some of them may be longer than others.
const GROWTH: u64 = 16;
/// Sites that were visited between so many reductions are no news.
const REMEMBERED: usize = 16;
/// The most visits from a reduction to its use.
const MOST_BEHIND: u64 = 64;
/// So many results in a row that were there in time let the distance shrink again.
const IN_TIME: u32 = 32;
/// A result that is not there after so long has been waited for.
const PROMPT: Duration = Duration::from_micros(200);
/// Waits of so much, beyond a hundredth of the time, are no reason to act on signals later.
const TOLERATED: Duration = Duration::from_millis(20);
/// Where sites are checked, ranks that have not come after so long, or so many times the time from a reduction to its use, have
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
    /// How many have begun.
    pub begun: u64,
    /// How long this rank has waited for the result of one since it was last asked.
    pub waited: Duration,
}

impl Default for Pending {
    fn default() -> Self {
        Pending {
            reduction: None,
            furthest: 1,
            begun: 0,
            waited: Duration::ZERO,
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
    /// So long no clock has anything to say.
    pub left: Duration,
    /// The state is to be kept in memory.
    pub snapshot: bool,
    /// The visit of the newest snapshot in memory; of all ranks: of what all have.
    pub kept: u64,
    /// The visit at which this was told.
    pub told: u64,
}

impl Outcome {
    /// They have not visited the same sites.
    const APART: Outcome = Outcome {
        stop: 0,
        interval: false,
        line: 0,
        apart: true,
        back: false,
        left: Duration::ZERO,
        snapshot: false,
        kept: 0,
        told: 0,
    };

    /// Whether something comes of it, after which what is left begins anew.
    fn is_news(&self) -> bool {
        self.stop != 0 || self.interval || self.back || self.snapshot
    }
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
    /// The visit at which the last one began.
    last: u64,
    /// Visits between the beginnings of the last two.
    span: u64,
    in_time: u32,
    /// The largest that `lag` has been.
    furthest: u64,
    /// The time from the first to the last, on the ranks where two were closest together.
    elapsed: Duration,
    /// The sites that were visited lately, a bit each, from reduction to reduction.
    sites: [u64; REMEMBERED],
    /// One was news since the last one began.
    is_news: bool,
    /// None was between the last two: visits take as long as they took there.
    is_known: bool,
}

impl Schedule {
    fn from(visits: u64) -> Self {
        Schedule {
            begins: visits + 1,
            used: None,
            gap: 1,
            lag: 1,
            last: visits,
            span: 1,
            in_time: 0,
            furthest: 1,
            elapsed: Duration::ZERO,
            sites: [0; REMEMBERED],
            is_news: true,
            is_known: false,
        }
    }

    fn next(&self) -> u64 {
        self.used.unwrap_or(self.begins)
    }

    fn begun(&mut self, visit: u64) {
        self.used = Some(visit + self.lag);
        self.span = (visit - self.last).max(1);
        self.last = visit;
        self.begins = visit + self.gap.max(self.lag);
        self.sites.rotate_right(1);
        self.sites[0] = 0;
        self.is_known = !std::mem::take(&mut self.is_news);
    }

    /// These sites are visited for the first time since the last one began. Where they are news, nobody knows how long the
    /// visits are that follow.
    fn comes_to(&mut self, visit: u64, sites: u64) {
        let known = self.sites.iter().fold(0, |known, sites| known | sites);
        self.sites[0] |= sites;
        if sites & !known != 0 {
            self.is_news = true;
            self.begins = self.begins.min(visit + 1);
        }
    }

    /// A result was used: some rank waits too long for them or none does, and the last two began so far apart on the rank
    /// where they were closest together. `left`: the time until a clock has something to say.
    fn learn(&mut self, waited: bool, apart: Duration, left: Duration) {
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
        self.elapsed += apart;
        let visit = apart.as_nanos() / u128::from(self.span);
        let wanted = wanted(self.elapsed, left).as_nanos().div_ceil(visit.max(1));
        let most = match self.is_known && !self.is_news {
            true => self.gap.saturating_mul(GROWTH),
            false => 1,
        };
        self.gap = u64::try_from(wanted).unwrap_or(most).clamp(1, most);
        self.begins = self.last + self.gap.max(self.lag);
    }
}

/// The time from one reduction to the next, in a run that has taken so long, where the first clock has something to say so
/// much later.
fn wanted(elapsed: Duration, left: Duration) -> Duration {
    let most = if left > LONG_LEFT { FAR } else { NEAR.min(left) };
    most.min(elapsed / 2).max(APART)
}

/// How long this rank has waited for results, beyond what nobody would notice.
#[derive(Debug, Clone, Default)]
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

/// What is needed to make visits again that were made.
#[derive(Debug, Clone)]
struct Since {
    /// What was planned at the visit before them.
    schedule: Schedule,
    told: u64,
    /// What has begun and was used since.
    log: Told,
}

/// This rank's part in it.
#[derive(Debug, Clone)]
pub(crate) struct Agreement {
    world: Arc<World>,
    schedule: Schedule,
    /// The visit at which the last reduction began.
    told: u64,
    /// When the last reduction began, and how long after the one before it.
    began: Instant,
    apart: Duration,
    waits: Waits,
    /// Whether this rank has waited too long for results.
    waited: bool,
    /// From the last mark on.
    since: Option<Since>,
}

impl Agreement {
    /// From the next visit on.
    pub fn from(world: Arc<World>, visits: u64) -> Self {
        site_history::forget_sites();
        Agreement {
            world,
            schedule: Schedule::from(visits),
            told: visits,
            began: Instant::now(),
            apart: APART,
            waits: Waits::default(),
            waited: false,
            since: None,
        }
    }

    /// This rank may come back to this visit without the others, and make those that follow again.
    pub fn mark(&mut self) {
        let mut log = self.since.take().map(|since| since.log).unwrap_or_default();
        log.mark();
        self.since = Some(Since {
            schedule: self.schedule.clone(),
            told: self.told,
            log,
        });
    }

    /// As it was at the mark, for a rank that has gone back there: what it has begun since is not begun again, and what was used is
    /// used again. None where that is not known.
    pub fn at_mark(&self) -> Option<Agreement> {
        let mut since = self.since.clone()?;
        since.log.go_back();
        Some(Agreement {
            schedule: since.schedule.clone(),
            told: since.told,
            since: Some(since),
            ..self.clone()
        })
    }

    /// The visit at which [`step`](Self::step) is to be called next.
    pub fn next(&self) -> u64 {
        self.schedule.next()
    }

    /// At a visit: what all ranks know together, if it is the time for that; and what this rank knows, which `tell`
    /// gives, goes on its way.
    pub fn step(&mut self, visit: u64, tell: impl FnOnce() -> Outcome) -> Option<Outcome> {
        let mut outcome = None;
        self.since.take_if(|since| !since.log.has_room());
        if self.schedule.used.is_some_and(|used| visit >= used) {
            outcome = self.result(visit);
        }
        self.schedule.comes_to(visit, site_history::take_new_sites());
        if self.schedule.used.is_none() && visit >= self.schedule.begins {
            let history = site_history::site_history();
            let again = self.since.as_mut().map(|since| since.log.begins(visit, history));
            match again.unwrap_or(Again::No) {
                Again::No => self.begin(visit, tell()),
                Again::Yes(()) => {
                    self.began = Instant::now();
                    self.has_begun(visit);
                }
                Again::Apart => return Some(Outcome::APART),
            }
        }
        outcome
    }

    /// This rank tells the others that it has come to the end of a loop without messages, or wants to stop.
    pub fn meet(&self, stop: i64, visits: u64, line: u64) -> Option<Meeting> {
        self.world.meets();
        let [history, negative] = site_history::both_ways(site_history::site_history());
        let values = [stop, visits as i64, -(line as i64), history, negative];
        let transport = self.world.transport()?;
        Some(Meeting(transport.begin_largest(&values)))
    }

    /// All ranks are at the end of a loop that they have gone round unequally often, and go on with this count of visits. Gives
    /// what they had begun to agree on before.
    pub fn begin_anew(&mut self, visits: u64) -> Option<Outcome> {
        let outcome = self.result(visits);
        self.since = None;
        self.world.meets();
        site_history::forget_sites();
        self.schedule = Schedule {
            lag: self.schedule.lag,
            furthest: self.schedule.furthest,
            elapsed: self.schedule.elapsed,
            ..Schedule::from(visits)
        };
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
            -i64::try_from(own.left.as_nanos()).unwrap_or(i64::MAX),
            i64::from(own.snapshot),
            -(own.kept as i64),
        ];
        self.has_begun(visit);
        let mut pending = locked(&world.pending);
        pending.reduction = Some(transport.begin_largest(&values));
        pending.begun += 1;
    }

    fn has_begun(&mut self, visit: u64) {
        self.told = visit;
        self.schedule.begun(visit);
        site_history::forget_sites();
    }

    fn result(&mut self, visit: u64) -> Option<Outcome> {
        let again = self.since.as_mut().map(|since| since.log.used(visit));
        let values = match again.unwrap_or(Again::No) {
            Again::Yes(values) => values,
            Again::Apart => return Some(Outcome::APART),
            Again::No => match self.awaited(visit)? {
                Ok(values) => values,
                Err(apart) => return Some(apart),
            },
        };
        let &[
            stop,
            interval,
            line,
            waited,
            apart,
            history,
            negative,
            back,
            left,
            snapshot,
            kept,
        ] = &values[..]
        else {
            return None;
        };
        let outcome = Outcome {
            stop,
            interval: interval != 0,
            line: line.unsigned_abs(),
            apart: !site_history::is_same([history, negative]),
            back: back != 0,
            left: Duration::from_nanos(left.unsigned_abs()),
            snapshot: snapshot != 0,
            kept: kept.unsigned_abs(),
            told: self.told,
        };
        let left = match outcome.is_news() {
            true => Duration::ZERO,
            false => outcome.left,
        };
        self.schedule
            .learn(waited != 0, Duration::from_nanos(apart.unsigned_abs()), left);
        locked(&self.world.pending).furthest = self.schedule.furthest;
        Some(outcome)
    }

    /// The numbers of the reduction that is on its way, if there is one; the outcome where ranks do not come to it.
    fn awaited(&mut self, visit: u64) -> Option<Result<Vec<i64>, Outcome>> {
        let mut reduction = locked(&self.world.pending).reduction.take()?;
        let since = Instant::now();
        let (least, times) = CHECKED_WAIT;
        let visits = self.schedule.lag as f64 / self.schedule.span as f64;
        let behind = self.apart.mul_f64(visits);
        let patience = checks().then(|| least.max(behind * times));
        let is_late = || say(&late(visit, visit.saturating_sub(self.schedule.lag)));
        let Some(values) = awaited(&mut *reduction, patience, LONG, is_late) else {
            locked(&self.world.pending).reduction = Some(reduction);
            return Some(Err(Outcome::APART));
        };
        let wait = since.elapsed();
        locked(&self.world.pending).waited += wait;
        let wait = Some(wait).filter(|wait| *wait > PROMPT);
        // A check is for programs whose ranks may be further apart.
        self.waited = match checks() {
            true => wait.is_some(),
            false => self.waits.add(wait.unwrap_or_default(), self.began.elapsed()),
        };
        if let Some(since) = &mut self.since {
            since.log.uses(visit, &values);
        }
        Some(Ok(values))
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

    const MINUTE: Duration = Duration::from_secs(60);
    const HOUR: Duration = Duration::from_secs(3600);

    /// Ranks that make the same visits, in a time that is made up.
    struct Ranks {
        schedule: Schedule,
        visit: u64,
        now: Duration,
        began: Duration,
        apart: Duration,
        /// When their clocks have something to say.
        due: Duration,
        /// A site of each visit, as a bit, and those that were visited since a reduction began.
        site: u64,
        sites: u64,
        /// When reductions began.
        times: Vec<Duration>,
        waited: bool,
    }

    impl Ranks {
        fn new(due: Duration) -> Self {
            Ranks {
                schedule: Schedule::from(0),
                visit: 0,
                now: Duration::ZERO,
                began: Duration::ZERO,
                apart: Duration::ZERO,
                due,
                site: 1,
                sites: 0,
                times: Vec::new(),
                waited: false,
            }
        }

        /// Visits that take so long each, as [`Agreement::step`] makes them: the next one at which something happens, or so many.
        fn visits(&mut self, each: Duration, most: u64) {
            let nothing_happens = match self.sites & self.site {
                0 => 1,
                _ => self.schedule.next() - self.visit,
            };
            let visits = nothing_happens.clamp(1, most);
            self.visit += visits;
            self.now += each * u32::try_from(visits).unwrap();
            if self.schedule.used.is_some_and(|used| self.visit >= used) {
                let left = self.due.saturating_sub(self.now);
                self.schedule.learn(self.waited, self.apart, left);
            }
            let new = self.site & !self.sites;
            self.sites |= new;
            self.schedule.comes_to(self.visit, new);
            if self.schedule.used.is_none() && self.visit >= self.schedule.begins {
                self.apart = self.now - self.began;
                self.began = self.now;
                self.schedule.begun(self.visit);
                self.sites = 0;
                self.times.push(self.now);
            }
        }

        /// Visits for so long; how many reductions that makes.
        fn run(&mut self, visit: Duration, until: Duration) -> usize {
            let before = self.times.len();
            let end = self.now + until;
            while self.now < end {
                let most = (end - self.now).as_nanos().div_ceil(visit.as_nanos());
                self.visits(visit, u64::try_from(most).unwrap());
            }
            self.times.len() - before
        }
    }

    #[test]
    fn an_idle_run_has_one_reduction_in_five_seconds_however_short_its_visits_are() {
        for visit in [2_u64, 50, 1000, 20_000, 400_000].map(Duration::from_micros) {
            let mut ranks = Ranks::new(HOUR);
            let first = ranks.run(visit, 12 * NEAR);
            assert!(first < 30, "{visit:?}: {first} in the first 12 s");
            let reductions = ranks.run(visit, MINUTE);
            assert!(
                (10..=13).contains(&reductions),
                "{visit:?}: {reductions} in a minute"
            );
        }
        let mut ranks = Ranks::new(HOUR);
        let visit = Duration::from_secs(30);
        assert_eq!(
            ranks.run(visit, 20 * visit),
            20,
            "every visit is longer than that"
        );
    }

    #[test]
    fn reductions_are_a_second_apart_where_something_is_due_within_a_minute_and_in_time_for_it() {
        for visit in [2_u64, 1000, 20_000].map(Duration::from_micros) {
            let mut ranks = Ranks::new(MINUTE + MINUTE / 2);
            ranks.run(visit, MINUTE / 2);
            let reductions = ranks.run(visit, MINUTE - NEAR);
            assert!((50..=64).contains(&reductions), "{visit:?}: {reductions} in 59 s");
            ranks.run(visit, 2 * NEAR);
            let late = ranks.times.iter().find(|time| **time >= ranks.due).unwrap();
            assert!(*late - ranks.due <= 3 * visit.max(APART), "{visit:?}: {late:?}");
        }
    }

    #[test]
    fn a_loop_with_longer_visits_is_noticed_at_once() {
        let mut ranks = Ranks::new(HOUR);
        ranks.run(Duration::from_micros(5), MINUTE);
        assert!(ranks.schedule.gap > 100_000);
        ranks.site = 2;
        let reductions = ranks.run(Duration::from_secs(2), MINUTE);
        assert!((10..=12).contains(&reductions), "{reductions}");
    }

    #[test]
    fn sites_that_are_visited_in_turn_are_no_news() {
        let mut ranks = Ranks::new(HOUR);
        let (short, long) = (Duration::from_micros(20), Duration::from_millis(300));
        for turn in 0..240 {
            ranks.site = 1;
            ranks.run(short, long);
            ranks.site = 2;
            ranks.visits(long, 1);
            assert!(turn < 20 || ranks.schedule.gap > 100, "turn {turn}");
        }
        assert!(ranks.times.len() < 60, "{} in 144 s", ranks.times.len());
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
        let mut ranks = Ranks::new(HOUR);
        let visit = Duration::from_millis(500);
        ranks.waited = true;
        ranks.run(visit, 10 * MINUTE);
        assert_eq!(ranks.schedule.lag, MOST_BEHIND);
        ranks.waited = false;
        ranks.run(visit, HOUR + HOUR / 2);
        assert_eq!(ranks.schedule.lag, 1);
    }
}
