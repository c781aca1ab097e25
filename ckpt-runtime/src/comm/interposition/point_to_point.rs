//! The program's messages, counted on their way to the library: every function that sends, receives, or finds a message
//! stands here under its own name and calls the library's by its `PMPI_` name. Nothing is counted unless [`checks`] says
//! so. What is begun here is completed in [`super::completion`].

use std::ffi::{c_int, c_void};

use mpi_sys as mpi;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Message, MPI_Request, MPI_Status};

use super::channels::{Operation, channels, number, statuses};
use crate::comm::check::checks;

macro_rules! sends {
    ($($name:ident $library:ident,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            buffer: *const c_void, count: c_int, datatype: MPI_Datatype, to: c_int, tag: c_int, communicator: MPI_Comm,
        ) -> c_int {
            if checks() {
                channels().sends(communicator, to, tag);
            }
            // SAFETY: the caller's promise.
            unsafe { mpi::$library(buffer, count, datatype, to, tag, communicator) }
        }
    )*};
}

sends! {
    MPI_Send PMPI_Send, MPI_Ssend PMPI_Ssend, MPI_Bsend PMPI_Bsend, MPI_Rsend PMPI_Rsend,
}

macro_rules! begins_sends {
    ($($name:ident $library:ident $is_persistent:literal,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            buffer: *const c_void, count: c_int, datatype: MPI_Datatype, to: c_int, tag: c_int, communicator: MPI_Comm,
            request: *mut MPI_Request,
        ) -> c_int {
            // SAFETY: the caller's promise.
            let code = unsafe { mpi::$library(buffer, count, datatype, to, tag, communicator, request) };
            if checks() {
                // SAFETY: the caller's promise: it points to a request.
                let request = unsafe { *request };
                let mut channels = channels();
                if $is_persistent {
                    if let Some(route) = channels.route(communicator, to, tag, true) {
                        let of = Box::new(Operation::Send(route));
                        channels.begins(request, Operation::Persistent { begun: false, of });
                    }
                } else if let Some(route) = channels.sends(communicator, to, tag) {
                    channels.begins(request, Operation::Send(route));
                }
            }
            code
        }
    )*};
}

begins_sends! {
    MPI_Isend PMPI_Isend false, MPI_Issend PMPI_Issend false, MPI_Ibsend PMPI_Ibsend false, MPI_Irsend PMPI_Irsend false,
    MPI_Send_init PMPI_Send_init true, MPI_Ssend_init PMPI_Ssend_init true, MPI_Bsend_init PMPI_Bsend_init true,
    MPI_Rsend_init PMPI_Rsend_init true,
}

macro_rules! begins_receives {
    ($($name:ident $library:ident $is_persistent:literal,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, from: c_int, tag: c_int, communicator: MPI_Comm,
            request: *mut MPI_Request,
        ) -> c_int {
            // SAFETY: the caller's promise.
            let code = unsafe { mpi::$library(buffer, count, datatype, from, tag, communicator, request) };
            // SAFETY: a constant of the shim library.
            if checks() && from != unsafe { mpi::RSMPI_PROC_NULL } {
                let mut channels = channels();
                let operation = Operation::Receive(channels.communicator(communicator).id);
                let operation = match $is_persistent {
                    true => Operation::Persistent { begun: false, of: Box::new(operation) },
                    false => operation,
                };
                // SAFETY: the caller's promise: it points to a request.
                channels.begins(unsafe { *request }, operation);
            }
            code
        }
    )*};
}

begins_receives! {
    MPI_Irecv PMPI_Irecv false, MPI_Recv_init PMPI_Recv_init true,
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Recv(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Recv(buffer, count, datatype, from, tag, communicator, status);
        }
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Recv(buffer, count, datatype, from, tag, communicator, status);
        let mut channels = channels();
        let id = channels.communicator(communicator).id;
        channels.receives(id, &*status);
        code
    }
}

macro_rules! exchanges {
    ($($name:ident $library:ident ($($argument:ident: $type:ty),*) to $to:ident, $sent_tag:ident;)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            $($argument: $type,)* from: c_int, tag: c_int, communicator: MPI_Comm, status: *mut MPI_Status,
        ) -> c_int {
            // SAFETY: the caller's promise, here and below.
            unsafe {
                if !checks() {
                    return mpi::$library($($argument,)* from, tag, communicator, status);
                }
                let mut own = Vec::new();
                let status = statuses(status, 1, &mut own);
                let code = mpi::$library($($argument,)* from, tag, communicator, status);
                let mut channels = channels();
                channels.sends(communicator, $to, $sent_tag);
                let id = channels.communicator(communicator).id;
                channels.receives(id, &*status);
                code
            }
        }
    )*};
}

exchanges! {
    MPI_Sendrecv PMPI_Sendrecv
        (sent: *const c_void, sent_count: c_int, sent_type: MPI_Datatype, to: c_int, sent_tag: c_int,
         buffer: *mut c_void, count: c_int, datatype: MPI_Datatype) to to, sent_tag;
    MPI_Sendrecv_replace PMPI_Sendrecv_replace
        (buffer: *mut c_void, count: c_int, datatype: MPI_Datatype, to: c_int, sent_tag: c_int) to to, sent_tag;
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Mprobe(
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let code = mpi::PMPI_Mprobe(from, tag, communicator, message, status);
        found(communicator, *message);
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Improbe(
    from: c_int,
    tag: c_int,
    communicator: MPI_Comm,
    flag: *mut c_int,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let code = mpi::PMPI_Improbe(from, tag, communicator, flag, message, status);
        if *flag != 0 {
            found(communicator, *message);
        }
        code
    }
}

fn found(communicator: MPI_Comm, message: MPI_Message) {
    // SAFETY: a constant of the shim library.
    if checks() && message != unsafe { mpi::RSMPI_MESSAGE_NO_PROC } {
        let mut channels = channels();
        let id = channels.communicator(communicator).id;
        channels.found.get_or_insert_default().insert(number(message), id);
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Mrecv(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Mrecv(buffer, count, datatype, message, status);
        }
        let handle = number(*message);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Mrecv(buffer, count, datatype, message, status);
        let mut channels = channels();
        if let Some(id) = channels.found.get_or_insert_default().remove(&handle) {
            channels.receives(id, &*status);
        }
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Imrecv(
    buffer: *mut c_void,
    count: c_int,
    datatype: MPI_Datatype,
    message: *mut MPI_Message,
    request: *mut MPI_Request,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let handle = number(*message);
        let code = mpi::PMPI_Imrecv(buffer, count, datatype, message, request);
        if checks() {
            let mut channels = channels();
            if let Some(id) = channels.found.get_or_insert_default().remove(&handle) {
                channels.begins(*request, Operation::Receive(id));
            }
        }
        code
    }
}
