//! Communicators that are made of others, and given back: every rank is to call them by the same number.

use mpi_sys::MPI_Comm;

use super::channels::Channels;
use super::passage::{Class, Uncounted};

/// Who takes part when a communicator is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// All members of the old one.
    Everybody,
    /// Only the members of the new one.
    Members,
}

/// Makes a communicator of another. One that is made in any other way (of two others, of processes that were not of the
/// world, or only later) is known from its first use on, by its members.
pub(super) struct Constructs {
    pub of: MPI_Comm,
    pub by: By,
    pub new: *mut MPI_Comm,
}

impl Class for Constructs {
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        // SAFETY: the caller's promise; the library has filled it in.
        channels.made(self.of, self.by, unsafe { *self.new });
    }
}

/// Makes a communicator that is known from its first use on.
pub(super) struct ConstructsUnnamed;

impl Uncounted for ConstructsUnnamed {}

/// Gives a communicator back: its handle may be used for another.
pub(super) struct Frees {
    pub comm: *mut MPI_Comm,
}

impl Class for Frees {
    type Before = ();

    unsafe fn before(&self, channels: &mut Channels) {
        // SAFETY: the caller's promise: it points to a communicator.
        channels.freed(unsafe { *self.comm });
    }
}
