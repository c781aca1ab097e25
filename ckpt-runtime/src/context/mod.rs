//! What threads, teams and frames see of the session that is open: who drives it on the thread of `main`, and the walk of a
//! restart through its records.
//!
//! What a session does is not known here: [`Driver`] is what it is asked. Its registration, which signal handlers and sites
//! read, is [`crate::base::current`].

pub(crate) mod frames;
pub(crate) mod resume;
pub(crate) mod rollback;

use std::cell::RefCell;
use std::time::Duration;

use crate::base::forks::Ours;
use crate::base::report::Fatal;
use crate::base::rollback::NotRolledBack;
use crate::state::snapshot::SnapshotBuilder;
use crate::state::statics::Statics;
use resume::Resume;
use rollback::{Asked, GoesOn, Leaves};

/// Makes the program's functions say what they save.
pub(crate) type Gather<'a> = &'a mut dyn FnMut(SnapshotBuilder) -> Result<SnapshotBuilder, Fatal>;

/// The session as the thread that it belongs to has it.
pub(crate) trait Driver {
    /// The walk of the restart, if one is under way.
    fn resume(&mut self) -> Option<&mut Resume>;

    /// Whether a restart is walking to its site.
    fn walks(&self) -> bool;

    /// The walk of the restart arrived at its site: the program runs from here on. Gives the number of site visits so far.
    ///
    /// # Errors
    /// The checkpoint goes on below this site, or what the process is made of cannot be brought back.
    fn arrived(&mut self) -> Result<u64, Fatal>;

    /// The walk of the restart ended on its way. The program may still say why: it is to return from `main` next.
    fn strand(&mut self, fatal: &Fatal);

    /// Handles a visit: a checkpoint if one is due.
    ///
    /// # Errors
    /// `gather`'s.
    fn visit(&mut self, visits: u64, gather: Gather<'_>) -> Result<(), Fatal>;

    /// The same in a loop without messages, which ranks go round unequally often.
    ///
    /// # Errors
    /// `gather`'s.
    fn visit_in_phase(&mut self, visits: u64, gather: Gather<'_>) -> Result<(), Fatal>;

    /// Behind such a loop: waits for the other ranks. Gives the count of visits that all go on with.
    ///
    /// # Errors
    /// `gather`'s.
    fn end_phase(&mut self, visits: u64, gather: Gather<'_>) -> Result<u64, Fatal>;

    /// A team begins at this count: whether what is due there is agreed on with other ranks.
    fn agrees_from(&mut self, visits: u64) -> bool;

    /// Whether something is to be done at this planned visit, which the first member of a team has come to.
    fn decide(&mut self, visits: u64) -> bool;

    /// What is due at this visit could not be done: it is tried again when it would be due the next time.
    fn put_off(&mut self, visits: u64);

    /// The members of a team stand at the sites of the next visit, the first of them for so long.
    fn members_stood(&mut self, time: Duration);

    /// The program goes on at this count of visits.
    fn go_on(&mut self, visits: u64);

    /// The time from one checkpoint to the next, where the clock says when one is due.
    fn between_checkpoints(&self) -> Option<Duration>;

    /// How long members of a team that stand at a site wait for the others.
    fn patience(&self) -> Duration;

    /// The statics that the program has named.
    fn statics(&mut self) -> &mut Statics;

    /// Goes back to a checkpoint: from now on the program leaves its functions, so.
    ///
    /// # Errors
    /// It cannot, and goes on.
    fn roll_back(&mut self, asked: Asked<'_>) -> Result<Leaves, NotRolledBack>;

    /// The process begins anew for the checkpoint that the program goes back to. Does not return if it can.
    fn begin_anew(&mut self);

    /// The program has left its functions for the checkpoint that it goes back to: how it goes on from there. The session is
    /// about to close.
    fn has_left(&mut self) -> Option<GoesOn>;

    /// The program came to its end, after so many visits, or panicked.
    fn close(&mut self, visits: u64, panicked: bool);
}

/// What the thread has of the session.
enum Slot {
    /// No session, or another thread's.
    Absent,
    /// A visit is being handled.
    Busy,
    Here(Ours<Box<dyn Driver>>),
}

thread_local! {
    /// The session belongs to a thread, whose frames reach it from here.
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Absent) };
}

/// Makes this the session of this thread.
pub(crate) fn install(driver: Box<dyn Driver>) {
    SLOT.set(Slot::Here(Ours::new(driver)));
}

/// Ends the session of this thread.
pub(crate) fn remove() -> Option<Ours<Box<dyn Driver>>> {
    match SLOT.replace(Slot::Absent) {
        Slot::Here(driver) => Some(driver),
        Slot::Busy | Slot::Absent => None,
    }
}

/// Whether this is the thread of the session.
pub(crate) fn is_here() -> bool {
    SLOT.with_borrow(|slot| !matches!(slot, Slot::Absent))
}

/// The session, taken out of its slot: the program's own code may run meanwhile and come by here. Put back at the end,
/// or by unwinding.
struct Lease(Option<Ours<Box<dyn Driver>>>);

impl Lease {
    fn take() -> Option<Lease> {
        SLOT.with_borrow_mut(|slot| match std::mem::replace(slot, Slot::Busy) {
            Slot::Here(driver) => Some(Lease(Some(driver))),
            other => {
                *slot = other;
                None
            }
        })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(driver) = self.0.take() {
            SLOT.set(Slot::Here(driver));
        }
    }
}

/// With the session of this thread, if it has one and that is not at work.
pub(crate) fn with_driver<R>(act: impl FnOnce(&mut dyn Driver) -> R) -> Option<R> {
    let mut lease = Lease::take()?;
    let driver: &mut dyn Driver = &mut ***lease.0.as_mut()?;
    let result = act(driver);
    Some(result)
}

/// Looks at the walk of the restart, if one is under way on the session's thread and this is it.
pub(crate) fn with_resume<R>(look: impl FnOnce(&mut Resume) -> R) -> Option<R> {
    with_driver(|driver| driver.resume().map(look)).flatten()
}

/// Whether a restart is walking to its site on the session's thread, and this is it.
pub(crate) fn walks() -> bool {
    SLOT.with_borrow(|slot| matches!(slot, Slot::Here(driver) if driver.walks()))
}
