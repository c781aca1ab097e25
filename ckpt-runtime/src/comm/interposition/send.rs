//! Functions that send: a message is counted when it is sent, or when its operation is begun.

use std::ffi::c_int;

use mpi_sys::{MPI_Comm, MPI_Request};

use super::channels::{Channels, Operation, is_under_way};
use super::passage::Class;
use crate::comm::alone::Tells;

/// Sends a message, and returns when its buffer may be used again.
pub(super) struct Send {
    pub to: c_int,
    pub tag: c_int,
    pub comm: MPI_Comm,
}

impl Class for Send {
    type Before = ();

    unsafe fn before(&self, channels: &mut Channels) {
        channels.sends(self.comm, self.to, self.tag);
    }
}

/// Begins to send a message.
pub(super) struct BeginsSend {
    pub to: c_int,
    pub tag: c_int,
    pub comm: MPI_Comm,
    pub request: *mut MPI_Request,
}

impl Class for BeginsSend {
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        if let Some(route) = channels.sends(self.comm, self.to, self.tag) {
            // SAFETY: the caller's promise: it points to a request.
            channels.begins(unsafe { *self.request }, Operation::Send(route));
        }
    }

    unsafe fn leaves_under_way(&self, _: &'static str) -> i64 {
        // SAFETY: the caller's promise: it points to a request.
        i64::from(is_under_way(unsafe { *self.request }))
    }
}

/// Makes a request that sends the same again and again, each time that it is started.
pub(super) struct PreparesSend {
    pub to: c_int,
    pub tag: c_int,
    pub comm: MPI_Comm,
    pub request: *mut MPI_Request,
}

impl Class for PreparesSend {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        if let Some(route) = channels.route(self.comm, self.to, self.tag) {
            // SAFETY: the caller's promise: it points to a request.
            channels.prepares(unsafe { *self.request }, Operation::Send(route));
        }
    }
}
