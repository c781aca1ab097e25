//! Collective operations: all members of a communicator are to have taken part in equally many.

use mpi_sys::{MPI_Comm, MPI_Request};

use super::channels::{Channels, Operation, is_under_way};
use super::passage::Class;
use crate::comm::alone::Tells;

/// Takes part in a collective operation.
pub(super) struct Collective {
    pub comm: MPI_Comm,
}

impl Class for Collective {
    type Before = ();

    unsafe fn before(&self, channels: &mut Channels) {
        channels.collective(self.comm);
    }
}

/// Begins to take part in one.
pub(super) struct BeginsCollective {
    pub comm: MPI_Comm,
    pub request: *mut MPI_Request,
}

impl Class for BeginsCollective {
    type Before = ();

    unsafe fn after(&self, (): (), name: &'static str, channels: &mut Channels) {
        channels.collective(self.comm);
        // SAFETY: the caller's promise: it points to a request.
        channels.begins(unsafe { *self.request }, Operation::Named(name));
    }

    unsafe fn leaves_under_way(&self, _: &'static str) -> i64 {
        // SAFETY: the caller's promise: it points to a request.
        i64::from(is_under_way(unsafe { *self.request }))
    }
}

/// Begins to make a communicator, which is known from its first use on.
pub(super) struct BeginsToConstruct(pub BeginsCollective);

impl Class for BeginsToConstruct {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), name: &'static str, channels: &mut Channels) {
        // SAFETY: the caller's promise.
        unsafe { self.0.after((), name, channels) };
    }
}

/// Makes a request that takes part in one again and again, each time that it is started.
pub(super) struct PreparesCollective {
    pub comm: MPI_Comm,
    pub request: *mut MPI_Request,
}

impl Class for PreparesCollective {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), name: &'static str, channels: &mut Channels) {
        let operation = Operation::Collective(channels.communicator(self.comm).id, name);
        // SAFETY: the caller's promise: it points to a request.
        channels.prepares(unsafe { *self.request }, operation);
    }
}
