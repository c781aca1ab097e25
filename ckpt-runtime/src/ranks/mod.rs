//! The processes of an MPI program. They checkpoint without a message: each takes its own at the same site and the same
//! count of visits, decided locally. Messages are exchanged to begin (which line to restart from), to agree on what only
//! one of them knows (a signal, an interval), and to stop together.
//!
//! [`launcher`] reads what the launcher tells a process, [`calls`] makes ckpt's own MPI calls, [`door`] stands in for those
//! functions of MPI that the program calls and ckpt has to know of, [`agree`] is how the ranks come to the same decision,
//! [`line`] how they find the recovery line to restart from. [`check`] proves on request that no message crosses a site, with
//! the [`ledger`] of what was sent and received.
//! Without the feature `mpi` nothing of MPI is linked, and every program is alone.

#![cfg_attr(
    not(feature = "mpi"),
    allow(dead_code, reason = "a program without MPI comes by none of this")
)]

mod agree;
#[cfg(feature = "mpi")]
mod books;
#[cfg(feature = "mpi")]
mod calls;
#[cfg(not(feature = "mpi"))]
#[path = "no_calls.rs"]
mod calls;
mod check;
#[cfg(feature = "mpi")]
mod collectives;
#[cfg(feature = "mpi")]
mod door;
#[cfg(not(feature = "mpi"))]
#[path = "no_door.rs"]
mod door;
mod launcher;
mod ledger;
mod line;
#[cfg(feature = "mpi")]
mod messages;
#[cfg(feature = "mpi")]
mod requests;
mod trail;
mod world;

pub(crate) use agree::{Agreement, Outcome};
pub(crate) use check::{checks, verify};
pub(crate) use line::{Found, Verdict, negotiate};
pub(crate) use trail::{TRAIL_NOTE, follow, passed, together, trail};
pub(crate) use world::{
    THREADS_NOTE, abort, all_succeeded, at_checkpoint, begin, bring_up, end, has_newest, is_up, largest_code,
    leave_together, line_base, member, threads,
};

/// The place of this process among those of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    /// From 0.
    pub rank: u32,
    /// How many there are.
    pub size: u32,
}
