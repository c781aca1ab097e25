//! The processes of an MPI program. They checkpoint without a message: each takes its own at the same site and the same
//! count of visits, decided locally. Messages are exchanged to begin (which line to restart from), to agree on what only
//! one of them knows (a signal, an interval), and to stop together.
//!
//! [`launcher`] reads what the launcher passes to a process, [`transport`] carries ckpt's own messages, [`interposition`]
//! stands in for those functions of MPI that the program calls and ckpt has to know of, [`agree`] is how the ranks come to
//! the same decision, [`wish`] how they go back to a checkpoint together, [`alone`] when one goes back without the others, [`recovery_line`] how they find the line to restart from. [`check`] proves on request that no message
//! crosses a site, with the [`counters`] of what was sent and received.
//! Without the feature `mpi` nothing of MPI is linked, and every program is alone.

#![cfg_attr(
    not(feature = "mpi"),
    allow(dead_code, reason = "a program without MPI comes by none of this")
)]

mod agree;
mod alone;
mod check;
mod counters;
#[cfg(feature = "mpi")]
mod interposition;
mod launcher;
#[cfg(feature = "mpi")]
mod mpi;
mod recovery_line;
mod site_history;
mod solo;
mod transport;
mod wish;
mod world;

pub(crate) use agree::{Agreement, Meeting, Met, Outcome};
pub(crate) use alone::Exchanged;
pub(crate) use check::checks;
pub(crate) use recovery_line::{Found, Verdict, negotiate};
pub(crate) use site_history::{
    HISTORY_NOTE, NewSites, joined_history, know_all_sites, new_sites, passes_site, set_new_sites,
    set_site_history, site_history,
};
pub(crate) use wish::{FAILED, Wish, cannot_go_back};
pub(crate) use world::{THREADS_NOTE, World, abort, current, goes_back_with, is_replaced, member};

use transport::Transport;

/// What the processes of this program reach each other by.
fn transport_of_program() -> Box<dyn Transport> {
    #[cfg(feature = "mpi")]
    if interposition::is_used() {
        return Box::new(mpi::Mpi::new());
    }
    Box::new(solo::Solo::new())
}

/// The place of this process among those of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member {
    /// From 0.
    pub rank: u32,
    /// How many there are.
    pub size: u32,
}

/// The number that the launcher has given to this process, without a session and before MPI is up; `None` where none says.
pub(crate) fn rank_before_start() -> Option<u32> {
    launcher::member().map(|member| member.rank)
}
