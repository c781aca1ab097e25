//! How a program goes back to its last checkpoint.

use std::convert::Infallible;
use std::fmt::{self, Display};

use crate::base::current;
use crate::base::report::{Fatal, headline};
pub use crate::base::rollback::NotRolledBack;
use crate::comm;
use crate::context;
use crate::context::rollback::{Asked, Leaves};
use crate::format::CheckpointId;
use crate::frame;
use crate::team::{self};

/// Goes back to the newest checkpoint of the run, without the process being started again: does not return if it can.
///
/// The functions of the program are left as by a panic, destructors included; then all that a restart brings back comes back,
/// and the program goes on behind that checkpoint. What it has printed since is printed again. The members of a
/// [`team`](crate::team) or of a region leave their functions at their next site. Where other threads run beside `main`, or panics
/// abort, the process begins anew instead (`exec`).
///
/// A program that asks again without having come further goes back one checkpoint more, and after the third time it is told
/// that going back does not help.
///
/// # Errors
/// Why it cannot go back. Nothing has changed then, and the program may go on.
///
/// ```
/// # fn energy_of(cells: &[f64]) -> f64 { cells.iter().sum() }
/// #[ckpt::instrument]
/// fn simulate(cells: &mut [f64], steps: u32) -> Result<(), ckpt::NotRolledBack> {
///     let before = energy_of(cells);
///     for _ in 0..steps {
///         ckpt::checkpoint!();
///         cells.rotate_left(1);
///         if energy_of(cells) != before {
///             ckpt::rollback("the energy is not conserved")?;
///         }
///     }
///     Ok(())
/// }
///
/// #[ckpt::main(calls(simulate))]
/// fn main() {
///     let mut cells = vec![1.0, 2.0, 3.0];
///     simulate(&mut cells, 100).unwrap();
/// }
/// ```
pub fn rollback(reason: impl Display) -> Result<Infallible, NotRolledBack> {
    go_back(&reason.to_string(), None)
}

/// The same to the checkpoint of this number.
///
/// # Errors
/// As [`rollback`]; the run has no such checkpoint.
pub fn rollback_to(checkpoint: u64, reason: impl Display) -> Result<Infallible, NotRolledBack> {
    go_back(&reason.to_string(), Some(CheckpointId(checkpoint)))
}

/// A check does not hold, and the program cannot go back. A rank of several that panicked would bring MPI down, and wait there for
/// the others, which wait for it.
pub(crate) fn ends_job(what: fmt::Arguments<'_>, why: &NotRolledBack) {
    let ranks = comm::current().filter(|world| world.is_up() && current::is_active());
    if ranks
        .and_then(|world| world.member())
        .is_some_and(|member| member.size > 1)
    {
        Fatal::new(
            comm::FAILED,
            headline!("E2396: {what}, and the program cannot go back: {why}"),
        )
        .why("what this rank has computed is wrong")
        .help("restart the job from its newest line, once it is known what has gone wrong")
        .exit()
    }
}

fn go_back(reason: &str, to: Option<CheckpointId>) -> Result<Infallible, NotRolledBack> {
    if current::is_forked() {
        return Err(NotRolledBack::Forked);
    }
    if !current::is_active() {
        return Err(NotRolledBack::NoSession);
    }
    if std::thread::panicking() {
        return Err(NotRolledBack::Unwinding);
    }
    if !team::is_here() {
        return Err(NotRolledBack::OtherThread);
    }
    if team::walks() {
        return Err(NotRolledBack::Restarting);
    }
    let visits = frame::visits().unwrap_or(0);
    let asked = Asked {
        reason,
        is_a_test: false,
        is_shown: false,
        to,
        visits,
        may_be_alone: !team::is_member() && !team::is_open(),
    };
    if team::is_member() {
        if team::ask(asked)? {
            frame::leave();
        }
        let owner = current::owner().ok_or(NotRolledBack::NoSession)?;
        return Err(owner.goes_back_with_its_process(reason, to.map(|to| to.0), visits));
    }
    let leaves = context::with_driver(|driver| driver.roll_back(asked)).ok_or(NotRolledBack::Busy)??;
    if leaves == Leaves::WithItsProcess {
        context::with_driver(|driver| driver.begin_anew());
    }
    team::see_off();
    frame::leave()
}
