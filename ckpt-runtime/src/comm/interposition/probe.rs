//! Functions that look for a message. One that is only looked at stays where it is, and is counted when it is received;
//! one that is taken out of the queue is under way until then.

use std::ffi::c_int;

use mpi_sys as mpi;
use mpi_sys::{MPI_Comm, MPI_Message};

use super::channels::Channels;
use super::passage::{Class, Uncounted};
use crate::comm::alone::Tells;

/// Looks whether there is a message.
pub(super) struct Probe;

impl Uncounted for Probe {
    const TELLS: Tells = Tells::Others;
}

/// Finds a message, which nobody else receives from now on.
pub(super) struct Finds {
    pub comm: MPI_Comm,
    /// Whether one was found; of a function that waits for one, null.
    pub flag: *const c_int,
    pub message: *mut MPI_Message,
}

impl Class for Finds {
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        // SAFETY: the caller's promise; a constant of the shim library.
        let (is_found, message, nobodys) = unsafe {
            let is_found = self.flag.is_null() || *self.flag != 0;
            (is_found, *self.message, mpi::RSMPI_MESSAGE_NO_PROC)
        };
        if is_found && message != nobodys {
            channels.finds(self.comm, message);
        }
    }

    unsafe fn leaves_under_way(&self, _: &'static str) -> i64 {
        // SAFETY: the caller's promise; a constant of the shim library.
        unsafe {
            let is_found = self.flag.is_null() || *self.flag != 0;
            i64::from(is_found && *self.message != mpi::RSMPI_MESSAGE_NO_PROC)
        }
    }
}
