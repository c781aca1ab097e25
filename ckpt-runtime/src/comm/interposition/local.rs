//! Functions that tell of a communicator or a request, or set what only this rank knows of it, and those whose traffic is
//! not followed: one-sided communication, generalised requests, and sessions of the library, which come up beside the world.

use mpi_sys::MPI_Request;

use super::channels::{Channels, Operation};
use super::passage::{Class, Uncounted};
use crate::comm::alone::Tells;

/// No message is sent or received, as far as the counters go, and what is told is always the same.
pub(super) struct Local;

impl Uncounted for Local {
    const TELLS: Tells = Tells::Nothing;
}

/// Sets what only this rank knows of a communicator.
pub(super) struct Sets;

impl Uncounted for Sets {
    const TELLS: Tells = Tells::Sets;
}

/// Tells of what others have done, or sets what they know too.
pub(super) struct Tidings;

impl Uncounted for Tidings {
    const TELLS: Tells = Tells::Others;
}

/// Has to do with what is not followed.
pub(super) struct Aside;

impl Uncounted for Aside {
    const TELLS: Tells = Tells::Unfollowed;
}

/// Remote memory is read and written, which is over when the window says so, not at a receive. rsmpi has none of it.
pub(super) struct OneSided;

impl Uncounted for OneSided {
    const TELLS: Tells = Tells::Unfollowed;
}

/// Begins what sends no message, and is under way until its request is complete.
pub(super) struct Begins {
    pub request: *mut MPI_Request,
}

impl Class for Begins {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), name: &'static str, channels: &mut Channels) {
        // SAFETY: the caller's promise: it points to a request.
        channels.begins(unsafe { *self.request }, Operation::Named(name));
    }
}
