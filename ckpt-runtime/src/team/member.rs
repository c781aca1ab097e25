//! A member of a team: how it joins, stops, and walks.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::protocol::Step;
use super::{Carried, Question, Team};
use crate::base::bound::act_for_another_thread;
use crate::base::current;
use crate::base::own_threads::{self, Ours};
use crate::base::report::{Fatal, headline};
use crate::base::rollback::NotRolledBack;
use crate::base::visit_number::VisitNumber;
use crate::comm;
use crate::context::Gather;
use crate::context::resume::Resume;
use crate::context::rollback::Asked;

/// The thread of the session is about to wait for its members, unless it has left by another way.
const HEARD_WITHIN: Duration = Duration::from_secs(2);

/// The team of a thread, and its number in it.
#[derive(Clone)]
pub(super) struct Membership {
    team: Arc<Team>,
    index: usize,
}

thread_local! {
    static MEMBER: RefCell<Option<Membership>> = const { RefCell::new(None) };
    /// What the closure of this member has captured and changes: the parameters that are saved for its sake.
    static CAPTURES: Cell<&'static [u32]> = const { Cell::new(&[]) };
    /// What has moved into the closure of this member for good: the parameters, and their names.
    static MOVED_IN: Cell<&'static [(u32, &'static str)]> = const { Cell::new(&[]) };
    /// Whether the program's own code runs for the session, with what all members share locked.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

fn membership() -> Option<Membership> {
    MEMBER.with_borrow(Clone::clone)
}

/// Whether this thread is a member of a team.
pub(crate) fn is_member() -> bool {
    MEMBER.with_borrow(Option::is_some)
}

/// The thread's number in a checkpoint: 0 for that of the session.
pub(crate) fn thread_number() -> u32 {
    MEMBER.with_borrow(|member| member.as_ref().map_or(0, |member| member.index as u32 + 1))
}

/// How a thread counts the sites that it visits: that is its frames' business.
#[derive(Clone, Copy)]
pub(crate) struct Counting {
    /// The thread begins, with this count. Gives where its count is, for as long as the thread lives.
    pub begin: fn(u64) -> *const VisitNumber,
    /// Ends it; returns the visits.
    pub end: fn() -> u64,
}

/// Makes the body of a thread one of a member of the team that this thread is starting. Outside a region it is the body.
pub(crate) fn member<R, F: FnOnce() -> R>(body: F, counting: Counting) -> impl FnOnce() -> R {
    let joined = super::spawner::current().map(|(team, visits)| {
        let mut shared = team.lock();
        let index = shared.protocol.join(visits);
        shared.counts.push(Carried(None));
        shared.histories.push(comm::site_history());
        drop(shared);
        (Membership { team, index }, visits, comm::site_history())
    });
    move || {
        let Some((membership, visits, history)) = joined else {
            return body();
        };
        comm::set_site_history(history);
        let _leave = Leave {
            membership: membership.clone(),
            counting,
            _ours: own_threads::is_ours(),
        };
        crate::thread::is_held();
        let count = (counting.begin)(visits);
        let mut shared = membership.team.lock();
        shared.counts[membership.index] = Carried(Some(count));
        shared.threads.push(own_threads::this_thread());
        drop(shared);
        MEMBER.set(Some(membership));
        body()
    }
}

/// Tells the team, by return or by unwinding, that a member has come to its end.
struct Leave {
    membership: Membership,
    counting: Counting,
    _ours: Ours,
}

impl Drop for Leave {
    fn drop(&mut self) {
        MEMBER.set(None);
        let Membership { team, index } = &self.membership;
        let mut shared = team.lock();
        let visits = (self.counting.end)();
        shared.counts[*index] = Carried(None);
        shared.histories[*index] = comm::site_history();
        shared.protocol.is_at(*index, visits);
        let walks = shared.walk.as_ref().is_some_and(|walk| walk.visits.is_none());
        shared.protocol.leaves(*index);
        drop(shared);
        team.changed.notify_all();
        if walks && !std::thread::panicking() {
            Fatal::refused(headline!(
                "E2027: thread {} of the team came to its end before the restart had arrived at its site",
                index + 1
            ))
            .why("code that a restart executes again took another way than in the run that was checkpointed")
            .help("give the program the arguments, input files and environment of the run that was checkpointed")
            .exit();
        }
    }
}

/// The parameters that the closure of this member wants saved.
pub(crate) fn captures() -> &'static [u32] {
    CAPTURES.get()
}

/// This thread's closure changes what it has captured under these numbers.
pub(crate) fn set_captures(captures: &'static [u32]) {
    CAPTURES.set(captures);
}

/// What has moved into the closure of this member for good.
pub(crate) fn moved_in() -> &'static [(u32, &'static str)] {
    MOVED_IN.get()
}

/// Under these numbers and names this thread's closure has what has moved into it for good.
pub(crate) fn set_moved_in(captures: &'static [(u32, &'static str)]) {
    MOVED_IN.set(captures);
}

/// A member stands at a site that looks up: it waits if a checkpoint is due, and says what it saves when it is asked.
///
/// # Errors
/// `gather`'s.
pub(crate) fn stop(visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
    let Some(Membership { team, index }) = membership() else {
        return Ok(());
    };
    let mut shared = team.lock();
    if current::rolls_back() {
        return Ok(());
    }
    shared.read_counts();
    let planned = current::planned();
    let Step::Stop { epoch } = shared.protocol.reaches(index, visits, planned) else {
        if shared.protocol.is_postponed() {
            current::look_as_planned();
        } else if shared.protocol.has_lost_one() {
            current::look_no_more();
        }
        team.changed.notify_all();
        return Ok(());
    };
    shared.histories[index] = comm::site_history();
    shared.stopped.get_or_insert_with(Instant::now);
    team.changed.notify_all();
    while shared.protocol.is_held(index, epoch) {
        // More than once at a site, where a checkpoint could not be taken and the state is kept in memory all the same.
        if shared.turn == Some(index)
            && let Some(builder) = shared.builder.0.take()
        {
            // Nobody else does anything until the builder is back.
            let gathered = while_busy(|| gather(builder))?;
            shared.builder = Carried(Some(gathered));
            shared.turn = None;
            team.changed.notify_all();
        }
        shared = team.wait(shared);
    }
    Ok(())
}

/// While the program's own code runs with what all members share locked.
fn while_busy<R>(act: impl FnOnce() -> R) -> R {
    struct Over;
    impl Drop for Over {
        fn drop(&mut self) {
            BUSY.set(false);
        }
    }
    BUSY.set(true);
    let _over = Over;
    act()
}

/// This member asks to go back to a checkpoint. The thread of the session sees to it, which waits for its members. Gives whether
/// all are to leave their functions; else nobody has heard.
///
/// # Errors
/// It cannot be, and the program goes on.
pub(crate) fn ask(asked: Asked<'_>) -> Result<bool, NotRolledBack> {
    if BUSY.get() {
        return Err(NotRolledBack::Busy);
    }
    let Some(Membership { team, index }) = membership() else {
        return Ok(false);
    };
    let mut own = Some(Question {
        by: index,
        reason: asked.reason.to_owned(),
        to: asked.to,
        visits: asked.visits,
        is_heard: false,
        answer: None,
    });
    let until = Instant::now() + HEARD_WITHIN;
    let mut shared = team.lock();
    loop {
        if current::rolls_back() {
            return Ok(true);
        }
        if shared.asked.is_none() && own.is_some() {
            shared.asked = own.take();
            team.changed.notify_all();
        }
        let is_answered = |one: &mut Question| one.by == index && one.answer.is_some();
        if let Some(why) = shared.asked.take_if(is_answered).and_then(|one| one.answer) {
            team.changed.notify_all();
            return Err(why);
        }
        let is_heard = shared.asked.as_ref().is_some_and(|one| one.is_heard);
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() && !is_heard {
            shared.asked.take_if(|one| one.by == index);
            return Ok(false);
        }
        let waited = team.changed.wait_timeout(shared, left.max(LOOK_AGAIN));
        shared = waited.unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// How long it waits once it has been heard, until it looks again.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// Whether this thread is a member that walks.
pub(crate) fn walks() -> bool {
    if BUSY.get() {
        return false;
    }
    membership().is_some_and(|Membership { team, .. }| {
        let shared = team.lock();
        shared.walk.as_ref().is_some_and(|walk| walk.visits.is_none())
    })
}

/// Looks at the walk of the restart, if this thread is a member that walks.
pub(crate) fn with_resume<R>(look: impl FnOnce(&mut Resume) -> R) -> Option<R> {
    let Membership { team, .. } = membership()?;
    let mut shared = team.lock();
    loop {
        let walk = shared.walk.as_ref()?;
        if walk.visits.is_some() {
            return None;
        }
        if let Some(resume) = walk.resume.0 {
            // SAFETY: the thread of the session waits in `spawner::walk`, which has made the pointer from its exclusive
            // reference, until it is taken back there under this lock. It is used under the lock only, by one thread.
            // What it hands out that is counted without atomics (`Rc`) is this member's alone but for the count that
            // `Restored` keeps, and that is given back while all members wait in `arrived`.
            return Some(while_busy(|| unsafe {
                act_for_another_thread(|| look(&mut *resume))
            }));
        }
        shared = team.wait(shared);
    }
}

/// This member's walk has arrived; all go on together. Gives the number of site visits.
///
/// # Errors
/// The checkpoint goes on below this site.
pub(crate) fn arrived() -> Result<u64, Fatal> {
    if let Some(arrives) = with_resume(|resume| resume.arrive(thread_number())) {
        arrives?;
    }
    let Some(Membership { team, index }) = membership() else {
        return Ok(0);
    };
    let mut shared = team.lock();
    if let Some(walk) = &mut shared.walk {
        walk.arrived += 1;
    }
    team.changed.notify_all();
    loop {
        if let Some((visits, history)) = shared.walk.as_ref().map_or(Some((0, 0)), |walk| walk.visits) {
            shared.protocol.is_at(index, visits);
            comm::set_site_history(history);
            return Ok(visits);
        }
        shared = team.wait(shared);
    }
}
