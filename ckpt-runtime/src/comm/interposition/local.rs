//! Functions that tell of a communicator or a request, or set what only this rank knows of it, and those whose traffic is
//! not followed: one-sided communication, generalised requests, and sessions of the library, which come up beside the world.

use mpi_sys::MPI_Request;

use super::channels::{Channels, Operation};
use super::passage::{Class, Uncounted};

/// No message is sent or received, as far as the counters go.
pub(super) struct Local;

impl Uncounted for Local {}

/// Remote memory is read and written, which is over when the window says so, not at a receive. rsmpi has none of it.
pub(super) struct OneSided;

impl Uncounted for OneSided {}

/// Begins what sends no message, and is under way until its request is complete.
pub(super) struct Begins {
    pub request: *mut MPI_Request,
}

impl Class for Begins {
    type Before = ();

    unsafe fn after(&self, (): (), name: &'static str, channels: &mut Channels) {
        // SAFETY: the caller's promise: it points to a request.
        channels.begins(unsafe { *self.request }, Operation::Named(name));
    }
}
