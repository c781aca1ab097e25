//! When a checkpoint is taken: every N site visits, every so often, on a signal, before the time limit.
//!
//! The program pays for one comparison: its count of site visits against [`current::next`], the visit at which something is to be
//! decided. Whoever wants attention earlier (the timer, a signal) raises a flag and sets that to zero, so that the very
//! next site looks.
//!
//! The first checkpoint follows the same rule as all others: with every N it is taken at visit N, with an interval once
//! that much time has passed. Visits are counted over the whole run, restarts included, so "every 10 visits" means
//! visits 10, 20, 30 whatever happened between.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::auto::{Auto, Estimate, History};
use super::config::{Config, Fault, Interval};
use super::reach::Reach;
use crate::base::current::{self, HALF_WAY, INTERVAL, LAST, SNAPSHOT, STOP_SIGNAL, TIME_LIMIT};
use crate::base::fault::{Flip, Pauses, RollbackFault, Struck};
use crate::base::lock::locked;
use crate::base::own_threads;
use crate::base::report::{exit_code, say};
use crate::comm::{self, Agreement, Member, Outcome, World};

/// How long a stop that could not be carried out (the checkpoint failed) waits until it is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// A rank that has waited so long for the others behind a loop takes its checkpoint there.
const LONG_ENOUGH: Duration = Duration::from_millis(20);

/// Why a checkpoint is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reason {
    Every(NonZeroU64),
    Interval,
    Signal(i32),
    TimeLimit,
}

impl Reason {
    /// Whether the run ends after the checkpoint.
    pub(crate) fn stops(self) -> bool {
        matches!(self, Reason::Signal(_) | Reason::TimeLimit)
    }
}

impl Reason {
    /// The exit code of a run that ends after the checkpoint.
    pub(crate) fn exit_code(self) -> i32 {
        match self {
            Reason::Signal(libc::SIGINT) => exit_code::INTERRUPTED,
            _ => exit_code::STOPPED,
        }
    }
}

impl std::fmt::Display for Reason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Reason::Every(count) if count.get() == 1 => f.write_str("every visit"),
            Reason::Every(count) => write!(f, "every {count} visits"),
            Reason::Interval => f.write_str("interval"),
            Reason::Signal(signal) => f.write_str(super::signals::name(*signal)),
            Reason::TimeLimit => f.write_str("time limit"),
        }
    }
}

/// What wanted attention, apart from a checkpoint that has been written since somebody looked.
fn take_attention() -> u8 {
    current::take(INTERVAL | STOP_SIGNAL | TIME_LIMIT)
}

/// What a visit is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Due {
    /// Why a checkpoint is due, if one is.
    pub reason: Option<Reason>,
    /// The newest line that all ranks have, if there is news of it.
    pub line: Option<u64>,
    /// The ranks have not visited the same sites: nothing can be agreed on by counting visits.
    pub apart: bool,
    /// All ranks go back to a checkpoint here.
    pub back: bool,
    /// The state is kept in memory here, by all.
    pub snapshot: bool,
    /// The visit of the newest snapshot in memory that all ranks have, if there is news of it.
    pub kept: Option<u64>,
    /// The next checkpoint is half-way, and is to be made ready.
    pub half_way: bool,
}

/// What a rank knows by itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Own {
    /// The newest line that it has written.
    pub line: u64,
    /// It wants to go back.
    pub back: bool,
    /// The visit of its newest snapshot in memory.
    pub kept: u64,
}

/// What this rank has to tell the others, and how long its clock is silent.
fn known(own: Own, left: Duration) -> Outcome {
    let attention = take_attention();
    Outcome {
        stop: stop_of(attention),
        interval: attention & INTERVAL != 0,
        line: own.line,
        apart: false,
        left,
        back: own.back,
        snapshot: current::take(SNAPSHOT) != 0,
        kept: own.kept,
        told: 0,
    }
}

/// Why the run is to stop, as a number that ranks can tell each other; 0 if it is not.
fn stop_of(attention: u8) -> i64 {
    if attention & STOP_SIGNAL != 0 {
        AGREED_SIGNAL + i64::from(current::signal())
    } else {
        i64::from(attention & TIME_LIMIT != 0) * AGREED_TIME_LIMIT
    }
}

const AGREED_TIME_LIMIT: i64 = 1;
/// And the number of the signal.
const AGREED_SIGNAL: i64 = 100;

/// Why all ranks stop.
pub(super) fn reason_of(stop: i64) -> Option<Reason> {
    match stop {
        0 => None,
        AGREED_TIME_LIMIT => Some(Reason::TimeLimit),
        signal => Some(Reason::Signal((signal - AGREED_SIGNAL) as i32)),
    }
}

/// Whom a test wants to go back at a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GoesBack {
    Nobody,
    /// This rank, by itself where it can.
    ThisRank,
    All,
}

/// The rule of a session, and the timer that watches the clock for it.
#[derive(Debug)]
pub(crate) struct Policy {
    every: Option<NonZeroU64>,
    /// Somebody looks at the state half-way to the next checkpoint.
    looks_half_way: bool,
    /// So often the state is kept in memory.
    snapshot_every: Option<NonZeroU64>,
    fault: Option<u64>,
    /// A test wants the program to go back at these visits, one after the other.
    rollbacks: Vec<RollbackFault>,
    /// A test wants the program to stand still at visits.
    pauses: Option<Pauses>,
    /// That of this process, where there are others.
    rank: Option<u32>,
    /// Bits that a test wants turned.
    flips: Vec<Flip>,
    timer: Option<Timer>,
    /// Where the interval follows from what checkpoints cost.
    auto: Option<Auto>,
    /// With other ranks: what only some know is agreed on first.
    agreement: Option<Agreement>,
    /// The visit at which all of them have told last what is known by now, and that at which they have kept their state last.
    told: u64,
    kept_at: u64,
    /// How much of the run lies within reach of a site, where that is measured. A leaf lock.
    reach: Option<Mutex<Reach>>,
}

impl Policy {
    /// # Errors
    /// The timer thread cannot be started.
    pub(crate) fn start(
        config: &Config,
        history: &History,
        member: Option<Member>,
    ) -> std::io::Result<Policy> {
        let (interval, auto) = match config.interval {
            None => (None, None),
            Some(Interval::Every(interval)) => (Some(interval), None),
            Some(Interval::Auto) => {
                let auto = Auto::new(config.mtbf, history);
                (Some(auto.first()), Some(auto))
            }
        };
        let snapshot = config.snapshot_interval;
        let timer = match (interval, config.time_limit, snapshot) {
            (None, None, None) => None,
            (interval, limit, _) => Some(Timer::start(interval, limit, member.is_none())?),
        };
        if let Some(timer) = timer.as_ref().filter(|_| config.copies_in_memory()) {
            timer.change(|deadlines| {
                deadlines.looks_half_way = true;
                deadlines.begin_interval();
            });
        }
        if let (Some(timer), Some(interval)) = (&timer, snapshot) {
            timer.change(|deadlines| deadlines.snapshot = Some(Snapshots::every(interval)));
        }
        let is_meant = |fault: &Fault| match (fault.rank, member) {
            (Some(rank), Some(member)) => rank == member.rank,
            (rank, _) => rank.is_none_or(|rank| rank == 0),
        };
        let own = member.map(|member| member.rank);
        let flips = config.flips.iter();
        let flips = flips.filter(|flip| flip.rank.is_none() || flip.rank == own);
        let flips = flips.copied().collect();
        Ok(Policy {
            every: config.every,
            looks_half_way: config.copies_in_memory(),
            snapshot_every: config.snapshot_every,
            fault: config.fault_visit.filter(is_meant).map(|fault| fault.visit),
            rollbacks: config.rollbacks.clone(),
            pauses: config.pauses,
            rank: own,
            flips,
            timer,
            auto,
            agreement: None,
            told: 0,
            kept_at: 0,
            reach: Reach::measured(member.is_some())?.map(Mutex::new),
        })
    }

    /// The share of the run's time so far that lies within reach of a site, where that is measured.
    pub(crate) fn reach(&self) -> Option<f64> {
        self.reach
            .as_ref()
            .and_then(|reach| locked(reach).share(Instant::now()))
    }

    /// Sets the visit at which a site looks up next. A flag raised meanwhile is not lost: whoever raises one sets the
    /// next visit after it, and the flags are read here after that has been set.
    pub(crate) fn arm(&self, visits: u64) {
        self.arm_from(visits, self.agreement.as_ref().map_or(u64::MAX, Agreement::next));
    }

    /// The same in a loop without messages, where nothing is agreed on by counting visits. `looks`: the very next one.
    pub(super) fn arm_alone(&self, visits: u64, looks: bool) {
        self.arm_from(visits, u64::MAX);
        if looks || current::attention() & (INTERVAL | STOP_SIGNAL | TIME_LIMIT) != 0 {
            current::look_now();
        }
    }

    fn arm_from(&self, visits: u64, agreed: u64) {
        if let Some(timer) = &self.timer {
            timer.shared.visit.ends();
        }
        if let Some(reach) = &self.reach {
            match visits {
                0 => locked(reach).begins(Instant::now()),
                _ => locked(reach).visited(Instant::now()),
            }
        }
        let next = |n: NonZeroU64| (visits / n).saturating_add(1).saturating_mul(n.get());
        let every = self.every.map_or(u64::MAX, next);
        let snapshot = self.snapshot_every.map_or(u64::MAX, next);
        let pause = self.pauses.map_or(u64::MAX, |pauses| next(pauses.every));
        let faults = self
            .fault
            .iter()
            .chain(self.rollbacks.first().map(|fault| &fault.visit));
        let flips = self.flips.iter().map(|flip| &flip.visit);
        let fault = faults
            .chain(flips)
            .filter(|fault| **fault > visits)
            .min()
            .copied();
        let fault = fault.unwrap_or(u64::MAX);
        // A check of safe points looks at every visit, a team with other ranks at planned ones only.
        let checked = match self.agreement.is_some() && comm::checks() {
            true => visits + 1,
            false => u64::MAX,
        };
        let planned = every
            .min(self.half_way(visits))
            .min(snapshot)
            .min(pause)
            .min(fault)
            .min(agreed)
            .min(checked)
            .min(LAST);
        current::plan(planned);
        if comm::checks() {
            current::look_now();
        }
        if self.agreement.is_none() && current::attention() != 0 {
            current::look_now();
        }
    }

    /// The next visit that is half-way to a checkpoint that is due by visits.
    fn half_way(&self, visits: u64) -> u64 {
        let Some(every) = self.every.filter(|_| self.looks_half_way) else {
            return u64::MAX;
        };
        let last = visits / every.get() * every.get();
        match last.saturating_add(every.get() / 2) {
            half if half > visits => half,
            _ => u64::MAX,
        }
    }

    /// From now on this process decides nothing alone that the others cannot know.
    pub(crate) fn agree_with_others(&mut self, world: &Arc<World>, visits: u64) {
        self.agreement
            .get_or_insert_with(|| Agreement::from(Arc::clone(world), visits));
    }

    /// This rank may come back to this visit without the others.
    pub(super) fn mark(&mut self) {
        if let Some(agreement) = &mut self.agreement {
            agreement.mark();
        }
    }

    /// What was agreed on by then, where that is known.
    pub(super) fn at_mark(&self) -> Option<Agreement> {
        self.agreement.as_ref()?.at_mark()
    }

    /// The visits at which the ranks have told each other last what is known by now, and have kept their states last.
    pub(super) fn told_and_kept(&self) -> (u64, u64) {
        (self.told, self.kept_at)
    }

    /// Goes on with what was agreed on at the mark, and these visits of then.
    pub(super) fn goes_on_with(&mut self, agreement: Agreement, (told, kept_at): (u64, u64)) {
        self.agreement = Some(agreement);
        (self.told, self.kept_at) = (told, kept_at);
    }

    /// Whether every visit has its number, which other ranks have for it too, or another run.
    pub(crate) fn counts_visits(&self) -> bool {
        cfg!(feature = "mpi")
            || self.every.is_some()
            || self.snapshot_every.is_some()
            || self.pauses.is_some()
            || self.fault.is_some()
            || !self.rollbacks.is_empty()
            || !self.flips.is_empty()
            || self.agrees()
            || comm::checks()
    }

    /// Whether it is agreed with other ranks what is due.
    pub(crate) fn agrees(&self) -> bool {
        self.agreement.is_some()
    }

    /// What is due at this visit.
    pub(crate) fn due(&mut self, visits: u64, own: Own) -> Due {
        if let Some(timer) = &self.timer {
            timer.shared.visit.begins();
        }
        if let Some(pauses) = self.pauses {
            pauses.at(visits);
        }
        let every = self
            .every
            .filter(|every| visits.is_multiple_of(every.get()))
            .map(Reason::Every);
        let is_planned = self.snapshot_is_due(visits);
        let half_way = current::take(HALF_WAY) != 0 || self.half_way(visits.saturating_sub(1)) == visits;
        let Some(agreement) = &mut self.agreement else {
            return Due {
                reason: self.due_alone(every),
                line: None,
                apart: false,
                back: own.back,
                snapshot: current::take(SNAPSHOT) != 0 || is_planned,
                kept: None,
                half_way,
            };
        };
        // What all have of the last snapshot is wanted soon.
        let awaits = self.kept_at > self.told;
        let left = || match &self.timer {
            _ if awaits => Duration::ZERO,
            Some(timer) => timer.left(),
            None => Duration::MAX,
        };
        let agreed = agreement.step(visits, || known(own, left()));
        self.told = agreed.map_or(self.told, |agreed| agreed.told);
        // One after the other: what all have of the last is known before the next pushes out what they have.
        let is_wanted = is_planned || agreed.is_some_and(|agreed| agreed.snapshot);
        let snapshot = is_wanted && self.told > self.kept_at;
        if snapshot {
            self.kept_at = visits;
        }
        let reason = agreed.and_then(|agreed| reason_of(agreed.stop));
        let interval = agreed.and_then(|agreed| agreed.interval.then_some(Reason::Interval));
        Due {
            reason: reason.or(every).or(interval),
            line: agreed.map(|agreed| agreed.line),
            apart: agreed.is_some_and(|agreed| agreed.apart),
            back: agreed.is_some_and(|agreed| agreed.back),
            snapshot,
            kept: agreed.map(|agreed| agreed.kept),
            half_way,
        }
    }

    /// What is due for this rank alone at a visit in a loop without messages, stops left out.
    pub(super) fn due_in_phase(&self, visits: u64) -> Option<Reason> {
        self.due_apart(|every| visits.is_multiple_of(every.get()))
    }

    /// What is due for a rank that waits for the others, after so long: whoever waits has the time for it, and what they have
    /// written is of use only with its own.
    pub(super) fn due_while_waiting(&self, waits: Duration) -> Option<Reason> {
        self.due_apart(|_| waits > LONG_ENOUGH)
    }

    fn due_apart(&self, is_due: impl Fn(&NonZeroU64) -> bool) -> Option<Reason> {
        let interval = || (current::take(INTERVAL) != 0).then_some(Reason::Interval);
        self.every.filter(is_due).map(Reason::Every).or_else(interval)
    }

    /// Why this rank wants the run to stop, as a number for the others, 0 if it does not; from now on that is told.
    pub(super) fn take_stop(&self) -> i64 {
        stop_of(current::take(STOP_SIGNAL | TIME_LIMIT))
    }

    /// What is agreed on with the other ranks, if there are any.
    pub(super) fn agreement(&mut self) -> Option<&mut Agreement> {
        self.agreement.as_mut()
    }

    fn due_alone(&self, every: Option<Reason>) -> Option<Reason> {
        let attention = take_attention();
        if attention & STOP_SIGNAL != 0 {
            return Some(Reason::Signal(current::signal()));
        }
        if attention & TIME_LIMIT != 0 {
            return Some(Reason::TimeLimit);
        }
        every.or((attention & INTERVAL != 0).then_some(Reason::Interval))
    }

    /// Whether the state is to be kept in memory at this visit.
    fn snapshot_is_due(&self, visits: u64) -> bool {
        self.snapshot_every
            .is_some_and(|every| visits.is_multiple_of(every.get()))
    }

    /// Whether a test wants the process killed at this visit.
    pub(crate) fn faults_at(&self, visits: u64) -> bool {
        self.fault == Some(visits)
    }

    /// Whether a test wants the program to go back at this visit, or one rank of it.
    pub(crate) fn is_to_roll_back_at(&self, visits: u64) -> bool {
        self.rollbacks.first().is_some_and(|fault| fault.visit == visits)
    }

    /// Who is to go back at this visit. It has happened then.
    pub(crate) fn rolls_back_at(&mut self, visits: u64) -> GoesBack {
        if !self.is_to_roll_back_at(visits) {
            return GoesBack::Nobody;
        }
        match self.rollbacks.remove(0).rank {
            None => GoesBack::All,
            Some(rank) if rank == self.rank.unwrap_or(0) => GoesBack::ThisRank,
            Some(_) => GoesBack::Nobody,
        }
    }

    /// The bit that a test wants turned behind this visit. It has happened then.
    pub(crate) fn flips_at(&mut self, visits: u64) -> Option<Flip> {
        self.flips_of(|flip| flip.visit == visits && flip.of != Struck::Repaired)
    }

    /// The same in what is put right at this visit.
    pub(crate) fn flips_repaired_at(&mut self, visits: u64) -> Option<Flip> {
        self.flips_of(|flip| flip.visit == visits && flip.of == Struck::Repaired)
    }

    fn flips_of(&mut self, which: impl Fn(&Flip) -> bool) -> Option<Flip> {
        let at = self.flips.iter().position(which)?;
        Some(self.flips.remove(at))
    }

    /// Those that are turned from now on.
    pub(crate) fn flips_to_come(&self) -> &[Flip] {
        &self.flips
    }

    /// The visits at which a test wants the program to go back from now on.
    pub(crate) fn rollbacks_to_come(&self) -> &[RollbackFault] {
        &self.rollbacks
    }

    /// Those of them at visits to which a program comes that goes on behind this one.
    pub(crate) fn rollbacks_behind(&self, visits: u64) -> Vec<RollbackFault> {
        let to_come = self.rollbacks.iter().copied();
        to_come.filter(|fault| fault.visit > visits).collect()
    }

    /// A checkpoint has been taken, and the program waited so long for it: the interval begins anew. Gives it where it
    /// follows from that.
    pub(crate) fn taken(&mut self, waited: Duration) -> Option<Estimate> {
        if self.agreement.is_some() {
            // Another rank's clock was ahead: this rank's interval begins anew all the same.
            current::take(INTERVAL);
        }
        let estimate = self.auto.as_mut().map(|auto| auto.taken(waited));
        if let Some(timer) = &self.timer {
            timer.change(|deadlines| {
                if let Some(estimate) = estimate {
                    deadlines.interval = Some(Duration::from_secs_f64(estimate.interval));
                }
                deadlines.begin_interval();
            });
        }
        estimate
    }

    /// A checkpoint took so long until it was on the disk: the time limit keeps room for another one.
    pub(crate) fn committed(&self, took: Duration) {
        if let Some(timer) = &self.timer {
            timer.change(|deadlines| deadlines.slowest = deadlines.slowest.max(took));
        }
    }

    /// The time from one checkpoint to the next, where the clock says when one is due.
    pub(crate) fn interval(&self) -> Option<Duration> {
        locked(&self.timer.as_ref()?.shared.deadlines).interval
    }

    /// A checkpoint by the clock that was put off is due now.
    pub(crate) fn interval_is_over(&self) {
        current::note(INTERVAL);
    }

    /// A checkpoint could not be written: the next one is tried when it would be due anyway. A stop that was asked for
    /// stays asked for, and is tried again soon.
    pub(crate) fn failed(&mut self, reason: Reason) {
        if reason.stops() && self.timer.is_none() {
            self.timer = Timer::start(None, None, false).ok();
        }
        if let Some(timer) = &self.timer {
            timer.failed(reason);
        }
    }
}

/// A thread that sleeps until a deadline and raises the flag for it.
#[derive(Debug)]
struct Timer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    deadlines: Mutex<Deadlines>,
    changed: Condvar,
    visit: Visit,
}

/// The visit that looks up, as the timer sees it.
#[derive(Debug, Default)]
struct Visit {
    /// One is under way.
    is_under_way: AtomicBool,
    /// There was one since the timer has asked.
    has_been: AtomicBool,
}

impl Visit {
    fn begins(&self) {
        self.is_under_way.store(true, Ordering::Relaxed);
    }

    fn ends(&self) {
        self.has_been.store(true, Ordering::Relaxed);
        self.is_under_way.store(false, Ordering::Relaxed);
    }

    /// Whether there was one since this was asked last.
    fn take(&self) -> bool {
        self.has_been.swap(false, Ordering::Relaxed) || self.is_under_way.load(Ordering::Relaxed)
    }
}

/// So long without a visit of a site is worth a warning.
const QUIET: Duration = Duration::from_secs(30);
/// A timer that comes so much too late was stopped, and the program with it.
const STOPPED: Duration = Duration::from_secs(5);

/// A question for a visit, put again and again: the site that looks up next answers.
#[derive(Debug)]
struct Question {
    /// The time that a visit has to answer.
    patience: Duration,
    /// When that is over.
    until: Instant,
}

/// What came of a question.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// There is still time.
    Awaited,
    /// A site was visited, or nobody can tell: it is put anew.
    Again,
    /// No site was visited.
    Nothing,
}

impl Question {
    /// For a run that takes a checkpoint this often.
    fn new(interval: Option<Duration>, now: Instant) -> Question {
        let patience = interval.map_or(QUIET, |interval| (interval / 10).max(QUIET));
        Question {
            patience,
            until: now.checked_add(patience).unwrap_or(now),
        }
    }

    fn answer(&self, now: Instant, visit: &Visit) -> Answer {
        let Some(late) = now.checked_duration_since(self.until) else {
            return Answer::Awaited;
        };
        match visit.take() || late > STOPPED {
            true => Answer::Again,
            false => Answer::Nothing,
        }
    }
}

/// What is said where no site was visited for so long.
fn without_a_visit(time: Duration) -> String {
    format!(
        "warning[W2013]: no site was visited for {} s: what the program computes meanwhile is lost if it is killed (said once)\n  \
         it is in a part without sites; `cargo ckpt plan` says what stands in the way there, and `cargo ckpt plan --profile -- ARGS` \
         where the time goes",
        time.as_secs()
    )
}

/// When the state is to be kept in memory.
#[derive(Debug)]
struct Snapshots {
    interval: Duration,
    next: Instant,
}

impl Snapshots {
    fn every(interval: Duration) -> Snapshots {
        let now = Instant::now();
        Snapshots {
            interval,
            next: now.checked_add(interval).unwrap_or(now),
        }
    }

    /// Whether it is time for one.
    fn ring(&mut self, now: Instant) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now.checked_add(self.interval).unwrap_or(now);
        }
        is_due
    }
}

#[derive(Debug)]
struct Deadlines {
    interval: Option<Duration>,
    /// When the next checkpoint is due by the interval; none while one is waiting for its site.
    checkpoint: Option<Instant>,
    /// Somebody looks at the state half-way to it, and when.
    looks_half_way: bool,
    half_way: Option<Instant>,
    /// When the state is to be kept in memory.
    snapshot: Option<Snapshots>,
    /// The time limit and the moment it ends.
    limit: Option<(Duration, Instant)>,
    /// The slowest checkpoint so far.
    slowest: Duration,
    /// A stop to ask for again.
    retry: Option<(u8, Instant)>,
    /// Whether a site is visited at all; none once it is known that none is.
    question: Option<Question>,
    closed: bool,
}

impl Deadlines {
    /// When the run has to stop so that its last checkpoint is written before the limit: a tenth of the limit before
    /// it, at most a minute, and never less than twice the slowest checkpoint.
    fn stop(&self) -> Option<Instant> {
        let (limit, end) = self.limit?;
        let margin = (limit / 10).min(Duration::from_secs(60)).max(2 * self.slowest);
        Some(end.checked_sub(margin).unwrap_or_else(Instant::now))
    }

    /// How long the clock has nothing to say. It has at any time where a checkpoint is waiting, for its site or for the disk.
    fn left(&self, now: Instant) -> Duration {
        let waits = (self.interval.is_some() && self.checkpoint.is_none()).then_some(now);
        match self.due().chain(waits).min() {
            Some(due) => due.saturating_duration_since(now),
            None => Duration::MAX,
        }
    }

    /// When it has something to say.
    fn due(&self) -> impl Iterator<Item = Instant> {
        let all = [
            self.checkpoint,
            self.stop(),
            self.retry.map(|(_, due)| due),
            self.snapshot.as_ref().map(|snapshots| snapshots.next),
        ];
        all.into_iter().flatten()
    }

    /// Raises the flags whose time has come; says how long to sleep until the next.
    fn ring(&mut self, now: Instant, visit: &Visit) -> Option<Duration> {
        let mut flags = 0;
        match self.question.as_ref().map(|question| question.answer(now, visit)) {
            None | Some(Answer::Awaited) => {}
            Some(Answer::Again) => {
                self.question = Some(Question::new(self.interval, now));
                current::look_now();
            }
            Some(Answer::Nothing) => {
                let patience = self.question.take().map_or(QUIET, |question| question.patience);
                say(&without_a_visit(patience));
            }
        }
        if self.checkpoint.is_some_and(|due| due <= now) {
            self.checkpoint = None;
            flags |= INTERVAL;
        }
        if self.half_way.take_if(|due| *due <= now).is_some() {
            flags |= HALF_WAY;
        }
        if self
            .snapshot
            .as_mut()
            .is_some_and(|snapshots| snapshots.ring(now))
        {
            flags |= SNAPSHOT;
        }
        if self.stop().is_some_and(|due| due <= now) {
            self.limit = None;
            flags |= TIME_LIMIT;
        }
        if let Some((flag, _)) = self.retry.take_if(|(_, due)| *due <= now) {
            flags |= flag;
        }
        if flags != 0 {
            current::note(flags);
            current::look_now();
        }
        let question = self.question.as_ref().map(|question| question.until);
        let next = self.due().chain(question).chain(self.half_way).min();
        next.map(|due| due.saturating_duration_since(now))
    }
}

impl Timer {
    /// `asks`: whether it asks for visits. Ranks look up where that is planned.
    fn start(interval: Option<Duration>, limit: Option<Duration>, asks: bool) -> std::io::Result<Timer> {
        let now = Instant::now();
        let deadlines = Deadlines {
            interval,
            checkpoint: interval.and_then(|interval| now.checked_add(interval)),
            looks_half_way: false,
            half_way: None,
            snapshot: None,
            limit: limit.and_then(|limit| Some((limit, now.checked_add(limit)?))),
            slowest: Duration::ZERO,
            retry: None,
            question: asks.then(|| Question::new(interval, now)),
            closed: false,
        };
        let shared = Arc::new(Shared {
            deadlines: Mutex::new(deadlines),
            changed: Condvar::new(),
            visit: Visit::default(),
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("ckpt-timer".into())
            .spawn(move || {
                let _ours = own_threads::is_ours();
                theirs.watch();
            })?;
        Ok(Timer {
            shared,
            thread: Some(thread),
        })
    }

    /// How long it has nothing to say.
    fn left(&self) -> Duration {
        self.shared.lock().left(Instant::now())
    }

    fn change(&self, change: impl FnOnce(&mut Deadlines)) {
        change(&mut self.shared.lock());
        self.shared.changed.notify_one();
    }

    fn failed(&self, reason: Reason) {
        self.change(|deadlines| {
            deadlines.begin_interval();
            let flag = if matches!(reason, Reason::Signal(_)) {
                STOP_SIGNAL
            } else {
                TIME_LIMIT
            };
            if reason.stops() {
                deadlines.retry = Some((flag, Instant::now() + RETRY));
            }
        });
    }
}

impl Deadlines {
    fn begin_interval(&mut self) {
        let (now, interval) = (Instant::now(), self.interval);
        self.checkpoint = interval.and_then(|interval| now.checked_add(interval));
        let half = interval
            .filter(|_| self.looks_half_way)
            .map(|interval| interval / 2);
        self.half_way = half.and_then(|half| now.checked_add(half));
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Deadlines> {
        locked(&self.deadlines)
    }

    fn watch(&self) {
        let mut deadlines = self.lock();
        while !deadlines.closed {
            let wait = deadlines.ring(Instant::now(), &self.visit);
            deadlines = match wait {
                Some(wait) => match self.changed.wait_timeout(deadlines, wait) {
                    Ok((deadlines, _)) => deadlines,
                    Err(poisoned) => poisoned.into_inner().0,
                },
                None => self
                    .changed
                    .wait(deadlines)
                    .unwrap_or_else(|poisoned| poisoned.into_inner()),
            };
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.change(|deadlines| deadlines.closed = true);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn deadlines(limit: Duration, slowest: Duration, now: Instant) -> Deadlines {
        let limit = Some((limit, now + limit));
        Deadlines {
            interval: None,
            looks_half_way: false,
            half_way: None,
            snapshot: None,
            checkpoint: None,
            limit,
            slowest,
            retry: None,
            question: None,
            closed: false,
        }
    }

    #[test]
    fn a_run_without_visits_is_told_of() {
        let (now, visit) = (Instant::now(), Visit::default());
        let seconds = Duration::from_secs;
        let question = Question::new(Some(seconds(60)), now);
        assert_eq!(question.answer(now + seconds(29), &visit), Answer::Awaited);
        assert_eq!(question.answer(now + seconds(30), &visit), Answer::Nothing);
        visit.begins();
        assert_eq!(question.answer(now + seconds(30), &visit), Answer::Again);
        visit.ends();
        assert_eq!(question.answer(now + seconds(30), &visit), Answer::Again);
        assert_eq!(question.answer(now + seconds(31), &visit), Answer::Nothing);
        assert_eq!(
            question.answer(now + seconds(90), &visit),
            Answer::Again,
            "the process was stopped"
        );
        assert_eq!(Question::new(Some(seconds(3600)), now).patience, seconds(360));
        let said = without_a_visit(seconds(30));
        let (code, said) = said.split_once(": ").unwrap();
        assert_eq!(code, "warning[W2013]");
        assert!(said.starts_with("no site was visited for 30 s"), "{said}");
        let mut deadlines = deadlines(seconds(1000), seconds(1), now);
        deadlines.question = Some(Question::new(None, now));
        assert_eq!(deadlines.ring(now, &visit), Some(seconds(30)));
        deadlines.ring(now + seconds(30), &visit);
        assert!(deadlines.question.is_none(), "it is said once");
    }

    #[test]
    fn the_clock_tells_of_the_way_to_a_checkpoint_when_half_of_it_is_over() {
        let (now, visit) = (Instant::now(), Visit::default());
        let seconds = Duration::from_secs;
        let mut deadlines = deadlines(seconds(1000), seconds(1), now);
        deadlines.interval = Some(seconds(100));
        deadlines.begin_interval();
        assert_eq!(deadlines.half_way, None);
        deadlines.looks_half_way = true;
        deadlines.begin_interval();
        let half = deadlines.half_way.unwrap();
        assert!(deadlines.ring(now, &visit).unwrap() <= half - now);
        deadlines.ring(half, &visit);
        assert_eq!(deadlines.half_way, None);
        assert!(deadlines.checkpoint.is_some());
    }

    #[test]
    fn the_margin_before_the_limit_grows_with_the_slowest_checkpoint() {
        let now = Instant::now();
        let seconds = Duration::from_secs;
        assert_eq!(
            deadlines(seconds(100), seconds(1), now).stop(),
            Some(now + seconds(90))
        );
        assert_eq!(
            deadlines(seconds(7200), seconds(1), now).stop(),
            Some(now + seconds(7140))
        );
        assert_eq!(
            deadlines(seconds(7200), seconds(100), now).stop(),
            Some(now + seconds(7000))
        );
    }
}
