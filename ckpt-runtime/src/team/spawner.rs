//! The thread of the session while its team works: it waits for the members, and takes the checkpoints of all.

use std::cell::RefCell;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::{Carried, Question, Shared, Team};
use crate::base::current;
use crate::base::own_threads::{is_there, rests};
use crate::base::printable::{count, plural};
use crate::base::report::{Fatal, Headline, headline, say};
use crate::base::rollback::NotRolledBack;
use crate::comm;
use crate::context::rollback::{Asked, Leaves};
use crate::context::{self, Driver};
use crate::state::snapshot::SnapshotBuilder;

/// How long the waiting thread sleeps until it looks where the members are that others wait for.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// How long members that stand at a site wait for the others where there is no session, which has nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long members have to leave their functions, for a checkpoint that the program goes back to.
const TO_LEAVE: Duration = Duration::from_secs(5);

/// Members that have all waited for so long, and computed nothing, wait for one that has left.
const WAITS_IN_VAIN: Duration = Duration::from_millis(300);

struct Open {
    team: Arc<Team>,
    /// The count of visits at which the region began.
    visits: u64,
}

thread_local! {
    /// The region that this thread has opened.
    static OPEN: RefCell<Option<Open>> = const { RefCell::new(None) };
}

/// Forgets a region that was left by unwinding.
pub(super) fn forget() {
    OPEN.set(None);
}

/// Whether this thread has opened a region, which has not ended.
pub(crate) fn is_open() -> bool {
    OPEN.with_borrow(Option::is_some)
}

/// A region begins: threads that are started from now on are members of its team.
pub(crate) fn begin(walks: bool, visits: u64) {
    let team = Team::new(walks);
    if !walks && agrees_from(visits) {
        team.lock().protocol.postpone();
    }
    OPEN.set(Some(Open { team, visits }));
}

/// The region that begins here may have any number of members: returns the number that the user wants, if there is one.
pub(crate) fn spread() -> Option<usize> {
    OPEN.with_borrow(|open| {
        open.as_ref()?.team.lock().spreads = true;
        let wanted = std::env::var("CKPT_THREADS").ok()?;
        wanted.trim().parse().ok().filter(|threads| *threads > 0)
    })
}

/// The team of the region that this thread has opened, and the visits that its members begin with.
pub(super) fn current() -> Option<(Arc<Team>, u64)> {
    OPEN.with_borrow(|open| open.as_ref().map(|open| (Arc::clone(&open.team), open.visits)))
}

/// Waits until every member has come to its end, and takes the checkpoints that are due until then. `gather` makes the
/// functions of this thread say what they save. Gives the number of site visits of the member that made most of them.
///
/// # Errors
/// `gather`'s, and what keeps a restart from arriving.
pub(crate) fn wait(
    region: &dyn Fn() -> String,
    gather: &dyn Fn(SnapshotBuilder) -> Result<SnapshotBuilder, Fatal>,
) -> Result<u64, Fatal> {
    let Some(Open { team, visits }) = OPEN.take() else {
        return Ok(0);
    };
    let mut shared = team.lock();
    shared.protocol.close();
    if shared.walk.is_some() {
        shared = walk(&team, shared, region)?;
    }
    let patience = context::with_driver(|driver| driver.patience()).unwrap_or(PATIENCE);
    let mut since: Option<Instant> = None;
    while !shared.protocol.all_left() && !current::rolls_back() {
        if shared.asked.as_ref().is_some_and(|asked| !asked.is_heard) {
            shared = hear(&team, shared);
            continue;
        }
        if shared.protocol.is_postponed() && !is_due(&team, &mut shared) {
            since = None;
            continue;
        }
        if let Some(visits) = shared.protocol.all_stopped() {
            since = None;
            shared = checkpoint(&team, shared, visits, region, gather)?;
            continue;
        }
        if !shared.protocol.is_waited_for() {
            since = None;
            shared = team.wait(shared);
            continue;
        }
        let began = *since.get_or_insert_with(Instant::now);
        let left = patience.saturating_sub(began.elapsed());
        if left.is_zero() {
            say(&too_late(&shared, patience, region));
            let furthest = shared.protocol.furthest();
            let visits = shared.protocol.waits_at().unwrap_or(furthest);
            give_up(&team, &mut shared, visits);
            since = None;
            continue;
        }
        let waited = team.changed.wait_timeout(shared, left.min(LOOK_AGAIN));
        shared = waited.unwrap_or_else(PoisonError::into_inner).0;
        shared.read_counts();
        shared.protocol.move_target_on(current::planned());
        if !shared.protocol.is_waited_for() {
            team.changed.notify_all();
        }
    }
    if current::rolls_back() {
        sees_off(&team, shared);
        return Ok(visits);
    }
    comm::set_site_history(comm::joined_history(&shared.histories));
    Ok(shared.protocol.furthest().max(visits))
}

/// A member asks to go back to a checkpoint.
fn hear<'a>(team: &'a Team, mut shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
    let Some(asked) = &mut shared.asked else {
        return shared;
    };
    asked.is_heard = true;
    let Question { to, visits, .. } = *asked;
    let reason = asked.reason.clone();
    drop(shared);
    let asked = Asked {
        reason: &reason,
        is_a_test: false,
        is_shown: false,
        to,
        visits,
        may_be_alone: false,
    };
    let outcome = context::with_driver(|driver| {
        let outcome = driver.roll_back(asked);
        if outcome == Ok(Leaves::WithItsProcess) {
            driver.begin_anew();
        }
        outcome
    });
    let mut shared = team.lock();
    if let Err(why) = outcome.unwrap_or(Err(NotRolledBack::Busy))
        && let Some(asked) = &mut shared.asked
    {
        asked.answer = Some(why);
    }
    team.changed.notify_all();
    shared
}

/// The thread that has opened a region leaves it, for a checkpoint that the program goes back to: once its members have.
pub(crate) fn see_off() {
    if let Some(Open { team, .. }) = OPEN.take() {
        sees_off(&team, team.lock());
    }
}

/// Waits until every member has left its functions and its thread has ended, so that nothing that they borrow is there no more.
/// Where that does not come about the process begins anew.
fn sees_off(team: &Team, mut shared: MutexGuard<'_, Shared>) {
    shared.protocol.close();
    let began = Instant::now();
    let mut idle = Idle::default();
    loop {
        shared.protocol.release();
        team.changed.notify_all();
        shared.read_counts();
        if shared.protocol.all_left() {
            shared.threads.retain(|number| is_there(*number));
            if shared.threads.is_empty() {
                return;
            }
        }
        if began.elapsed() > TO_LEAVE || idle.for_long(&shared) {
            break;
        }
        let waited = team.changed.wait_timeout(shared, LOOK_AGAIN);
        shared = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
    let headline = remain(&shared, began.elapsed());
    drop(shared);
    Fatal::refused(headline)
        .why("the program was going back to a checkpoint, and a thread that stays may change what it goes back to")
        .help("restart it from the checkpoint")
        .exit()
}

/// Since when the threads that are left have computed nothing.
#[derive(Default)]
struct Idle {
    /// How long they had computed then, all together.
    computed: Option<u64>,
    since: Option<Instant>,
}

impl Idle {
    fn for_long(&mut self, shared: &Shared) -> bool {
        let there = shared.threads.iter().filter(|number| is_there(**number));
        let computed: Option<u64> = there.map(|number| rests(*number)).sum();
        if computed.is_none() || computed != self.computed {
            self.computed = computed;
            self.since = Some(Instant::now());
        }
        self.since.is_some_and(|since| since.elapsed() > WAITS_IN_VAIN)
    }
}

/// With other ranks, the first member that comes to a planned count has it decided whether a checkpoint is due there. All
/// of it is done under the lock, so that nobody passes the next planned count meanwhile. Gives whether members wait for
/// others, or for nothing.
fn is_due(team: &Team, shared: &mut Shared) -> bool {
    let Some(visits) = shared.protocol.waits_at() else {
        return true;
    };
    if context::with_driver(|driver| driver.decide(visits)) != Some(true) {
        context::with_driver(|driver| driver.go_on(visits));
        shared.protocol.release();
        team.changed.notify_all();
        return false;
    }
    if shared.protocol.has_lost_one() {
        give_up(team, shared, visits);
        return false;
    }
    true
}

/// Whether what is due from this count on is agreed on with other ranks.
fn agrees_from(visits: u64) -> bool {
    context::with_driver(|driver| driver.agrees_from(visits)).unwrap_or(false)
}

/// What is due at this count is not done, and all go on.
fn give_up(team: &Team, shared: &mut Shared, visits: u64) {
    context::with_driver(|driver| driver.put_off(visits));
    shared.stopped = None;
    shared.protocol.release();
    team.changed.notify_all();
}

/// All members stand at a site: what is due is done, and they go on.
fn checkpoint<'a>(
    team: &'a Team,
    mut shared: MutexGuard<'a, Shared>,
    visits: u64,
    region: &dyn Fn() -> String,
    gather: &dyn Fn(SnapshotBuilder) -> Result<SnapshotBuilder, Fatal>,
) -> Result<MutexGuard<'a, Shared>, Fatal> {
    let members = shared.protocol.count();
    let stood = shared.stopped.take().map(|stopped| stopped.elapsed());
    comm::set_site_history(comm::joined_history(&shared.histories));
    drop(shared);
    if let Some(world) = comm::current() {
        world.verify(visits, region)?;
    }
    let mut all = |builder| {
        let mut builder = gather(builder)?;
        for member in 0..members {
            let mut shared = team.lock();
            builder.begin_thread(member as u32 + 1);
            shared.builder = Carried(Some(builder));
            shared.turn = Some(member);
            team.changed.notify_all();
            while shared.turn.is_some() {
                shared = team.wait(shared);
            }
            builder = shared.builder.0.take().unwrap_or_default();
        }
        builder.lead_to_members();
        Ok(builder)
    };
    let visit = |driver: &mut dyn Driver| {
        driver.members_stood(stood.unwrap_or_default());
        driver.visit(visits, &mut all)
    };
    context::with_driver(visit).unwrap_or(Ok(()))?;
    let mut shared = team.lock();
    shared.protocol.release();
    team.changed.notify_all();
    Ok(shared)
}

/// The members walk to their sites, each with the records of its own; all go on together.
fn walk<'a>(
    team: &'a Team,
    shared: MutexGuard<'a, Shared>,
    region: &dyn Fn() -> String,
) -> Result<MutexGuard<'a, Shared>, Fatal> {
    drop(shared);
    let walked = context::with_resume(|resume| {
        let wanted = resume.team_size();
        let mut shared = team.lock();
        let found = shared.protocol.count();
        if found != wanted && !(shared.spreads && resume.spread(found)) {
            return Err(other_team(wanted, found, region));
        }
        let resume: *mut _ = resume;
        if let Some(walk) = &mut shared.walk {
            walk.resume = Carried(Some(resume));
        }
        team.changed.notify_all();
        while shared.walk.as_ref().is_some_and(|walk| walk.arrived < found) {
            shared = team.wait(shared);
        }
        if let Some(walk) = &mut shared.walk {
            walk.resume = Carried(None);
        }
        Ok(())
    });
    walked.unwrap_or(Ok(()))?;
    let visits = context::with_driver(|driver| driver.arrived()).unwrap_or(Ok(0))?;
    let mut shared = team.lock();
    if agrees_from(visits) {
        shared.protocol.postpone();
    }
    if let Some(walk) = &mut shared.walk {
        walk.visits = Some((visits, comm::site_history()));
    }
    team.changed.notify_all();
    Ok(shared)
}

fn remain(shared: &Shared, waited: Duration) -> Headline {
    let late = shared.protocol.late();
    let names: Vec<String> = late
        .iter()
        .map(|(index, visits)| format!("{} (last seen at visit {visits})", index + 1))
        .collect();
    headline!(
        "E2392: thread{} {} of the team did not leave within {} ms, for the checkpoint that the program goes back to",
        plural(names.len() as u64),
        names.join(", "),
        waited.as_millis()
    )
}

fn too_late(shared: &Shared, patience: Duration, region: &dyn Fn() -> String) -> String {
    let late = shared.protocol.late();
    let names: Vec<String> = late
        .iter()
        .map(|(index, visits)| format!("{} (last seen at visit {visits})", index + 1))
        .collect();
    format!(
        "warning[W2012]: a checkpoint that is due was not taken: thread{} {} of the team did not come to a site within {}\n  \
         where: {}\n  why:   a checkpoint holds all members of a team, each at a site\n  \
         help:  put the site where all members come by equally often; CKPT_TEAM_WAIT=5m has them wait longer",
        plural(names.len() as u64),
        names.join(", "),
        humantime::format_duration(patience),
        region()
    )
}

fn other_team(saved: usize, found: usize, region: &dyn Fn() -> String) -> Fatal {
    Fatal::refused(headline!(
        "E2028: the checkpoint holds a team of {}, the program has started {found} now",
        count(saved as u64, "thread")
    ))
    .at(region())
    .why("what each member had computed goes to the member of the same number; the region that holds the site keeps its number of threads, later ones may have another")
    .help(format!("restart with {}; a checkpoint taken outside of the region takes any number", count(saved as u64, "thread")))
}
