//! The session of the instrumented functions: it lives on the thread of `main`, and its frames reach it from here.

use std::cell::RefCell;
use std::sync::atomic::Ordering;

use crate::base::report::Fatal;
use crate::session::policy::NEXT;
pub(crate) mod resume;
use crate::session::run::Run;
use crate::state::snapshot::SnapshotBuilder;
use crate::team;
use resume::Resume;

/// What the thread has of the session.
enum Slot {
    /// No session, or another thread's.
    Absent,
    /// A visit is being handled.
    Busy,
    Here(Box<Run>),
}

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Absent) };
}

/// Makes `run` the session of this thread, walking first if it is a restart.
pub(crate) fn install(run: Run) {
    if run.resume.is_some() {
        NEXT.store(0, Ordering::SeqCst);
    } else {
        run.policy.arm(0);
    }
    SLOT.set(Slot::Here(Box::new(run)));
}

/// Ends the session of this thread.
pub(crate) fn remove() -> Option<Box<Run>> {
    match SLOT.replace(Slot::Absent) {
        Slot::Here(run) => Some(run),
        Slot::Busy | Slot::Absent => None,
    }
}

/// Whether this is the thread of the session.
pub(crate) fn here() -> bool {
    SLOT.with_borrow(|slot| !matches!(slot, Slot::Absent)) || team::is_member()
}

/// The session, taken out of its slot: the program's own code may run meanwhile and come by here. Put back at the end,
/// or by unwinding.
struct Lease(Option<Box<Run>>);

impl Lease {
    fn take() -> Option<Lease> {
        SLOT.with_borrow_mut(|slot| match std::mem::replace(slot, Slot::Busy) {
            Slot::Here(run) => Some(Lease(Some(run))),
            other => {
                *slot = other;
                None
            }
        })
    }

    fn run(&mut self) -> Option<&mut Run> {
        self.0.as_deref_mut()
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(run) = self.0.take() {
            SLOT.set(Slot::Here(run));
        }
    }
}

/// Looks at the walk of the restart, if one is under way on this thread.
pub(crate) fn with_resume<R>(look: impl FnOnce(&mut Resume) -> R) -> Option<R> {
    if team::is_member() {
        return team::with_resume(look);
    }
    let mut lease = Lease::take()?;
    lease.run()?.resume.as_mut().map(look)
}

/// Whether a restart is walking to its site on this thread.
pub(crate) fn walks() -> bool {
    SLOT.with_borrow(|slot| matches!(slot, Slot::Here(run) if run.resume.is_some())) || team::walks()
}

/// The walk of the restart ended on its way: says so, and lets the program come to its end.
pub(crate) fn strand(fatal: &Fatal) {
    if team::is_member() {
        fatal.clone().exit();
    }
    if let Some(run) = Lease::take().as_mut().and_then(Lease::run) {
        run.strand(fatal);
    }
}

/// The walk of the restart arrived at its site: the program runs from here on. Gives the number of site visits so far.
///
/// # Errors
/// The checkpoint goes on below this site.
pub(crate) fn arrived() -> Result<u64, Fatal> {
    if team::is_member() {
        return team::arrived();
    }
    Lease::take()
        .as_mut()
        .and_then(Lease::run)
        .map_or(Ok(0), Run::arrived)
}

/// Handles a visit: a checkpoint if one is due. `gather` makes the program's functions say what they save.
///
/// # Errors
/// `gather`'s.
pub(crate) fn visit(
    visits: u64,
    gather: impl FnOnce(SnapshotBuilder) -> Result<SnapshotBuilder, Fatal>,
) -> Result<(), Fatal> {
    if team::is_member() {
        // It may look only because it has never been at this site before.
        return match visits >= NEXT.load(Ordering::SeqCst) {
            true => team::stop(visits, gather),
            false => Ok(()),
        };
    }
    match Lease::take().as_mut().and_then(Lease::run) {
        Some(run) => run.visit(visits, gather).map(drop),
        None => Ok(()),
    }
}

/// A team begins at this count: whether what is due there is agreed on with other ranks.
pub(crate) fn agrees_from(visits: u64) -> bool {
    let mut lease = Lease::take();
    let run = lease.as_mut().and_then(Lease::run);
    run.is_some_and(|run| run.agrees_from(visits))
}

/// Whether something is to be done at this visit, which a team with other ranks has come to.
pub(crate) fn decide(visits: u64) -> bool {
    let mut lease = Lease::take();
    let run = lease.as_mut().and_then(Lease::run);
    run.is_some_and(|run| run.decide(visits))
}

/// What is due at this visit could not be done: it is tried again when it would be due the next time.
pub(crate) fn put_off(visits: u64) {
    if let Some(run) = Lease::take().as_mut().and_then(Lease::run) {
        run.put_off(visits);
    }
}

/// The program goes on at this count of visits.
pub(crate) fn go_on(visits: u64) {
    if let Some(run) = Lease::take().as_mut().and_then(Lease::run) {
        run.policy.arm(visits);
    }
}
