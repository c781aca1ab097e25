//! Files that ranks share. What is written to them is no message; what was begun has to end before a site.

use mpi_sys::MPI_Comm;

use super::channels::{Channels, Operation, number};
use super::passage::{Class, Uncounted};
use crate::comm::alone::Tells;

/// Asks for something of a file, or reads or writes it.
pub(super) struct File;

impl Uncounted for File {
    const TELLS: Tells = Tells::Unfollowed;
}

/// Opens one, which all members of a communicator do.
pub(super) struct Opens {
    pub comm: MPI_Comm,
}

impl Class for Opens {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn before(&self, channels: &mut Channels) {
        channels.collective(self.comm);
    }
}

/// Begins what [`EndsSplit`] ends: a file has no more than one of them under way.
pub(super) struct BeginsSplit<F> {
    pub file: F,
}

impl<F: Copy> Class for BeginsSplit<F> {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), name: &'static str, channels: &mut Channels) {
        channels.begins(self.file, Operation::Named(name));
    }
}

/// Ends it.
pub(super) struct EndsSplit<F> {
    pub file: F,
}

impl<F: Copy> Class for EndsSplit<F> {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        channels.forgets(number(self.file));
    }
}
