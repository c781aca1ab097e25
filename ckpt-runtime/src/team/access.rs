//! What a thread has of the session: all of it if it is the session's own, its part of a team's if it is a member.

use super::member::{self, is_member};
use crate::base::current;
use crate::base::report::Fatal;
use crate::context::resume::Resume;
use crate::context::{self, Gather};

/// Whether this thread has a part in the session.
pub(crate) fn is_here() -> bool {
    context::is_here() || is_member()
}

/// Looks at the walk of the restart, if one is under way on this thread.
pub(crate) fn with_resume<R>(look: impl FnOnce(&mut Resume) -> R) -> Option<R> {
    match is_member() {
        true => member::with_resume(look),
        false => context::with_resume(look),
    }
}

/// Whether a restart is walking to its site on this thread.
pub(crate) fn walks() -> bool {
    context::walks() || member::walks()
}

/// The walk of the restart ended on its way: says so, and lets the program come to its end.
pub(crate) fn strand(fatal: &Fatal) {
    if is_member() {
        fatal.clone().exit();
    }
    context::with_driver(|driver| driver.strand(fatal));
}

/// The walk of the restart arrived at its site: the program runs from here on. Gives the number of site visits so far.
///
/// # Errors
/// The checkpoint goes on below this site.
pub(crate) fn arrived() -> Result<u64, Fatal> {
    match is_member() {
        true => member::arrived(),
        false => context::with_driver(|driver| driver.arrived()).unwrap_or(Ok(0)),
    }
}

/// Handles a visit: a checkpoint if one is due. `gather` makes the program's functions say what they save.
///
/// # Errors
/// `gather`'s.
pub(crate) fn visit(visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
    if is_member() {
        // It may look only because it has never been at this site before.
        return match visits >= current::next() {
            true => member::stop(visits, gather),
            false => Ok(()),
        };
    }
    context::with_driver(|driver| driver.visit(visits, gather)).unwrap_or(Ok(()))
}

/// Handles a visit in a loop without messages, which ranks go round unequally often.
///
/// # Errors
/// `gather`'s.
pub(crate) fn visit_in_phase(visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
    match is_member() {
        true => visit(visits, gather),
        false => context::with_driver(|driver| driver.visit_in_phase(visits, gather)).unwrap_or(Ok(())),
    }
}

/// Behind such a loop: waits for the other ranks. Gives the count of visits that all go on with.
///
/// # Errors
/// `gather`'s.
pub(crate) fn end_phase(visits: u64, gather: Gather<'_>) -> Result<u64, Fatal> {
    match is_member() {
        true => visit(visits, gather).map(|()| visits),
        false => context::with_driver(|driver| driver.end_phase(visits, gather)).unwrap_or(Ok(visits)),
    }
}
