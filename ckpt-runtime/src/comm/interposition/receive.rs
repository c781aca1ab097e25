//! Functions that receive: a message is counted when it has been received, by what its status says of it.

use std::ffi::c_int;

use mpi_sys as mpi;
use mpi_sys::{MPI_Comm, MPI_Message, MPI_Request, MPI_Status};

use super::channels::{Channels, Operation, Statuses, is_under_way, number};
use super::passage::Class;
use crate::comm::alone::Tells;

/// Receives a message.
pub(super) struct Receive {
    pub comm: MPI_Comm,
    /// Where the call has its status.
    pub status: *mut *mut MPI_Status,
}

impl Class for Receive {
    type Before = Statuses;

    unsafe fn before(&self, _: &mut Channels) -> Statuses {
        // SAFETY: the caller's promise.
        unsafe { Statuses::wanted(self.status, 1) }
    }

    unsafe fn after(&self, status: Statuses, _: &'static str, channels: &mut Channels) {
        let id = channels.communicator(self.comm).id;
        // SAFETY: the library has filled it in.
        channels.receives(id, unsafe { status.at(0) });
    }
}

/// Begins to receive a message.
pub(super) struct BeginsReceive {
    pub from: c_int,
    pub comm: MPI_Comm,
    pub request: *mut MPI_Request,
}

impl BeginsReceive {
    /// The operation, unless it is to receive from nobody.
    fn operation(&self, channels: &mut Channels) -> Option<Operation> {
        // SAFETY: a constant of the shim library.
        let is_nobody = self.from == unsafe { mpi::RSMPI_PROC_NULL };
        (!is_nobody).then(|| Operation::Receive(channels.communicator(self.comm).id))
    }
}

impl Class for BeginsReceive {
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        if let Some(operation) = self.operation(channels) {
            // SAFETY: the caller's promise: it points to a request.
            channels.begins(unsafe { *self.request }, operation);
        }
    }

    unsafe fn leaves_under_way(&self, _: &'static str) -> i64 {
        // SAFETY: the caller's promise: it points to a request.
        i64::from(is_under_way(unsafe { *self.request }))
    }
}

/// Makes a request that receives again and again, each time that it is started.
pub(super) struct PreparesReceive(pub BeginsReceive);

impl Class for PreparesReceive {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        if let Some(operation) = self.0.operation(channels) {
            // SAFETY: the caller's promise: it points to a request.
            channels.prepares(unsafe { *self.0.request }, operation);
        }
    }
}

/// Sends a message and receives one.
pub(super) struct Exchange {
    pub to: c_int,
    pub tag: c_int,
    pub comm: MPI_Comm,
    /// Where the call has its status.
    pub status: *mut *mut MPI_Status,
}

impl Class for Exchange {
    type Before = Statuses;

    unsafe fn before(&self, _: &mut Channels) -> Statuses {
        // SAFETY: the caller's promise.
        unsafe { Statuses::wanted(self.status, 1) }
    }

    unsafe fn after(&self, status: Statuses, _: &'static str, channels: &mut Channels) {
        channels.sends(self.comm, self.to, self.tag);
        let id = channels.communicator(self.comm).id;
        // SAFETY: the library has filled it in.
        channels.receives(id, unsafe { status.at(0) });
    }
}

/// Begins to send a message and to receive one, with one request for both. Its status is not that of the receive
/// everywhere (MPICH 4.0): it is asked only for what the program has left open.
pub(super) struct BeginsExchange {
    pub to: c_int,
    pub sent_tag: c_int,
    pub from: c_int,
    pub tag: c_int,
    pub comm: MPI_Comm,
    pub request: *mut MPI_Request,
}

impl Class for BeginsExchange {
    type Before = ();

    unsafe fn after(&self, (): (), name: &'static str, channels: &mut Channels) {
        channels.sends(self.comm, self.to, self.sent_tag);
        // SAFETY: constants of the shim library.
        let (nobody, any) = unsafe { (mpi::RSMPI_PROC_NULL, mpi::RSMPI_ANY_TAG) };
        let operation = match channels.route_from(self.comm, self.from, self.tag) {
            Some(route) if self.tag != any => Operation::ReceiveOf(route),
            _ if self.from == nobody => Operation::Named(name),
            _ => Operation::Receive(channels.communicator(self.comm).id),
        };
        // SAFETY: the caller's promise: it points to a request.
        channels.begins(unsafe { *self.request }, operation);
    }

    unsafe fn leaves_under_way(&self, _: &'static str) -> i64 {
        // SAFETY: the caller's promise: it points to a request.
        i64::from(is_under_way(unsafe { *self.request }))
    }
}

/// Makes a request that receives a message in parts, each time that it is started. Who sends it is known before.
pub(super) struct PreparesPartitionedReceive {
    pub from: c_int,
    pub tag: c_int,
    pub comm: MPI_Comm,
    pub request: *mut MPI_Request,
}

impl Class for PreparesPartitionedReceive {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        if let Some(route) = channels.route_from(self.comm, self.from, self.tag) {
            // SAFETY: the caller's promise: it points to a request.
            channels.prepares(unsafe { *self.request }, Operation::ReceiveOf(route));
        }
    }
}

/// Receives a message that was found before.
pub(super) struct ReceiveFound {
    pub message: *mut MPI_Message,
    /// Where the call has its status.
    pub status: *mut *mut MPI_Status,
}

impl Class for ReceiveFound {
    type Before = (Statuses, u64);

    unsafe fn before(&self, _: &mut Channels) -> (Statuses, u64) {
        // SAFETY: the caller's promise.
        unsafe { (Statuses::wanted(self.status, 1), number(*self.message)) }
    }

    unsafe fn after(&self, (status, message): (Statuses, u64), _: &'static str, channels: &mut Channels) {
        if let Some(id) = channels.takes(message) {
            // SAFETY: the library has filled it in.
            channels.receives(id, unsafe { status.at(0) });
        }
    }

    unsafe fn ends(&self) -> i64 {
        // SAFETY: the caller's promise: it points to a message; a constant of the shim library.
        i64::from(unsafe { *self.message != mpi::RSMPI_MESSAGE_NO_PROC })
    }
}

/// Begins to receive a message that was found before.
pub(super) struct BeginsReceiveFound {
    pub message: *mut MPI_Message,
    pub request: *mut MPI_Request,
}

impl Class for BeginsReceiveFound {
    type Before = u64;

    unsafe fn before(&self, _: &mut Channels) -> u64 {
        // SAFETY: the caller's promise: it points to a message.
        number(unsafe { *self.message })
    }

    unsafe fn after(&self, message: u64, _: &'static str, channels: &mut Channels) {
        if let Some(id) = channels.takes(message) {
            // SAFETY: the caller's promise: it points to a request.
            channels.begins(unsafe { *self.request }, Operation::Receive(id));
        }
    }

    unsafe fn ends(&self) -> i64 {
        // SAFETY: the caller's promise: it points to a message; a constant of the shim library.
        i64::from(unsafe { *self.message != mpi::RSMPI_MESSAGE_NO_PROC })
    }

    unsafe fn leaves_under_way(&self, _: &'static str) -> i64 {
        // SAFETY: the caller's promise: it points to a request.
        i64::from(is_under_way(unsafe { *self.request }))
    }
}
