//! Every function of MPI that takes a communicator, a request, a message, a window, a file or a session of the library, or changes
//! what the library of a process knows for good: its names, its arguments, and its class with those of them that it needs. Functions that share arguments and class share a
//! row. A test compares the table with the header that is there.
//!
//! The functions of MPI 3 are in every library. Those that some do not have stand behind `maybe`: the functions of files,
//! which a library may be built without, those of MPI 4, and those that MPI has given up. Behind `large` stand the same
//! functions for counts of more than 31 bits, of MPI 4. Each of them stands there with the name by which the library has it.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

use mpi_sys as mpi;
use mpi_sys::{
    MPI_Aint, MPI_Comm, MPI_Count, MPI_Datatype, MPI_Errhandler, MPI_Grequest_cancel_function,
    MPI_Grequest_free_function, MPI_Grequest_query_function, MPI_Group, MPI_Info, MPI_Message, MPI_Op,
    MPI_Request, MPI_Status, MPI_Win,
};

#[allow(unused_imports, reason = "not where the header has them all")]
use self::absent::*;
use self::small::*;
use super::collective::{BeginsCollective, BeginsToConstruct, Collective, PreparesCollective};
use super::completion::{Cancels, Completes, Done, FreesRequest, Requests, Starts};
use super::constructor::{By, Constructs, ConstructsUnnamed, Frees, With};
use super::file::{BeginsSplit, EndsSplit, File, Opens};
use super::lent::{Attaches, Detaches, Lasting, Lasts};
use super::local::{Aside, Begins, Local, OneSided, Sets, Tidings};
use super::passage::Passage;
use super::probe::{Finds, Probe};
use super::receive::{
    BeginsExchange, BeginsReceive, BeginsReceiveFound, Exchange, PreparesPartitionedReceive, PreparesReceive,
    Receive, ReceiveFound,
};
use super::send::{BeginsSend, PreparesSend, Send};

type In = *const c_void;
type Out = *mut c_void;
type Int = c_int;
type Ints = *const c_int;
type OutInts = *mut c_int;
type Text = *const c_char;
type OutText = *mut c_char;
type Types = *const MPI_Datatype;

/// What is larger in functions for large counts, in all others.
mod small {
    use super::*;

    pub type Count = c_int;
    pub type Counts = *const c_int;
    pub type Displacement = c_int;
    pub type Displacements = *const c_int;
    pub type Extent = MPI_Aint;
}

/// The same in functions for large counts.
mod large {
    use super::*;

    pub type Count = MPI_Count;
    pub type Counts = *const MPI_Count;
    pub type Displacement = MPI_Aint;
    pub type Displacements = *const MPI_Aint;
    pub type Extent = MPI_Count;
}

/// What stands in for types that the header does not have.
#[allow(
    dead_code,
    non_camel_case_types,
    reason = "not where it has them; their names are given"
)]
mod absent {
    use super::c_void;

    pub type MPI_Datarep_conversion_function = *mut c_void;
    pub type MPI_Datarep_conversion_function_c = *mut c_void;
    pub type MPI_Datarep_extent_function = *mut c_void;
    pub type MPI_File = *mut c_void;
    pub type MPI_Session = *mut c_void;
}

/// A function that the library does not have is called: an error of MPI like any other.
fn unsupported() -> c_int {
    let code = mpi::MPI_ERR_UNSUPPORTED_OPERATION as c_int;
    // SAFETY: the communicator is a constant of the shim library.
    unsafe { mpi::PMPI_Comm_call_errhandler(mpi::RSMPI_COMM_WORLD, code) };
    code
}

/// The functions of the rows. Of those that may not be there, the library's is that of the header where it has one: what is
/// imported into an inner block comes before what stands outside of it.
macro_rules! table {
    ($(
        [$($name:ident)*]
        $(maybe [$($newer:ident $newers:ident),+])?
        $(large [$($large:ident $larges:ident),+])?
        : $arguments:tt = $class:expr;
    )*) => {
        $($(function! { $name $arguments $class })*)*

        const _: () = {
            use mpi_sys::*;

            $($($(stand_in! { $newers $arguments })+)?)*

            const _: () = {
                use mpi_sys::*;

                $($($(function_if_there! { $newer $newers $arguments $class })+)?)*
            };
        };

        const _: () = {
            use self::large::*;
            use mpi_sys::*;

            $($($(stand_in! { $larges $arguments })+)?)*

            const _: () = {
                use mpi_sys::*;

                $($($(function_if_there! { $large $larges $arguments $class })+)?)*
            };
        };

        /// The names of the functions that every library has.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$($(stringify!($name),)*)*];

        /// Those of the others, each with that of the library's own.
        #[cfg(test)]
        pub(super) const NAMES_IF_THERE: &[[&str; 2]] = &[$(
            $($([stringify!($newer), stringify!($newers)],)+)?
            $($([stringify!($large), stringify!($larges)],)+)?
        )*];

        /// The arguments and the class of each row.
        #[cfg(test)]
        pub(super) const CLASSES: &[[&str; 2]] = &[$([stringify!($arguments), stringify!($class)],)*];
    };
}

/// A row has the names of an operation, of what begins it, and of what prepares it; of the same for large counts. The
/// communicator follows the arguments, and what is given besides where the operation is only begun or prepared.
macro_rules! collectives {
    ($(
        [
            $name:ident, $begins:ident, $prepares:ident $preparess:ident, $large:ident $larges:ident,
            $begins_large:ident $begins_larges:ident, $prepares_large:ident $prepares_larges:ident
        ]: ($($argument:ident: $type:ty),*);
    )*) => {
        table! {$(
            [$name] large [$large $larges]: ($($argument: $type,)* comm: MPI_Comm) = Collective { comm };
            [$begins] large [$begins_large $begins_larges]:
                ($($argument: $type,)* comm: MPI_Comm, request: *mut MPI_Request) = BeginsCollective { comm, request };
            [] maybe [$prepares $preparess] large [$prepares_large $prepares_larges]:
                ($($argument: $type,)* comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request)
                = PreparesCollective { comm, request };
        )*}
    };
}

macro_rules! function {
    ($name:ident ($($argument:ident: $type:ty),*) $class:expr) => {
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($(#[allow(unused_mut)] mut $argument: $type),*) -> c_int {
            unsafe extern "C" {
                #[link_name = concat!("P", stringify!($name))]
                fn library($($argument: $type),*) -> c_int;
            }
            // The header that is there says the same of it.
            const _: unsafe extern "C" fn($($type),*) -> c_int = mpi::$name;
            // SAFETY: the caller's promise; the library's function has the same arguments.
            unsafe { through_the_table!(library $name ($($argument),*) $class) }
        }
    };
}

macro_rules! function_if_there {
    ($name:ident $library:ident ($($argument:ident: $type:ty),*) $class:expr) => {
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($(#[allow(unused_mut)] mut $argument: $type),*) -> c_int {
            // SAFETY: the caller's promise; the library's function has the same arguments.
            unsafe { through_the_table!($library $name ($($argument),*) $class) }
        }
    };
}

macro_rules! through_the_table {
    ($library:ident $name:ident ($($argument:ident),*) $class:expr) => {{
        match Passage::enter(stringify!($name), $class) {
            Ok(passage) => {
                let code = $library($($argument),*);
                passage.leave(code);
                code
            }
            Err(code) => code,
        }
    }};
}

/// Stands in for a function that the library does not have.
macro_rules! stand_in {
    ($library:ident ($($argument:ident: $type:ty),*)) => {
        /// # Safety
        /// Nothing is done with the arguments.
        #[allow(dead_code, non_snake_case, reason = "not where the library has it; its name is given")]
        unsafe extern "C" fn $library($(_: $type),*) -> c_int {
            unsupported()
        }
    };
}

table! {
    // Messages.
    [MPI_Send MPI_Ssend MPI_Bsend MPI_Rsend]
        large [MPI_Send_c PMPI_Send_c, MPI_Ssend_c PMPI_Ssend_c, MPI_Bsend_c PMPI_Bsend_c, MPI_Rsend_c PMPI_Rsend_c]:
        (buffer: In, count: Count, datatype: MPI_Datatype, to: Int, tag: Int, comm: MPI_Comm) = Send { to, tag, comm };
    [MPI_Isend MPI_Issend MPI_Ibsend MPI_Irsend]
        large [MPI_Isend_c PMPI_Isend_c, MPI_Issend_c PMPI_Issend_c, MPI_Ibsend_c PMPI_Ibsend_c,
         MPI_Irsend_c PMPI_Irsend_c]:
        (buffer: In, count: Count, datatype: MPI_Datatype, to: Int, tag: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsSend { to, tag, comm, request };
    [MPI_Send_init MPI_Ssend_init MPI_Bsend_init MPI_Rsend_init]
        large [MPI_Send_init_c PMPI_Send_init_c, MPI_Ssend_init_c PMPI_Ssend_init_c, MPI_Bsend_init_c PMPI_Bsend_init_c,
         MPI_Rsend_init_c PMPI_Rsend_init_c]:
        (buffer: In, count: Count, datatype: MPI_Datatype, to: Int, tag: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = PreparesSend { to, tag, comm, request };
    [MPI_Recv] large [MPI_Recv_c PMPI_Recv_c]:
        (buffer: Out, count: Count, datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm,
         status: *mut MPI_Status)
        = Receive { comm, status: &raw mut status };
    [MPI_Irecv] large [MPI_Irecv_c PMPI_Irecv_c]:
        (buffer: Out, count: Count, datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsReceive { from, comm, request };
    [MPI_Recv_init] large [MPI_Recv_init_c PMPI_Recv_init_c]:
        (buffer: Out, count: Count, datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm,
         request: *mut MPI_Request)
        = PreparesReceive(BeginsReceive { from, comm, request });
    [MPI_Sendrecv] large [MPI_Sendrecv_c PMPI_Sendrecv_c]:
        (sent: In, sent_count: Count, sent_type: MPI_Datatype, to: Int, sent_tag: Int, buffer: Out, count: Count,
         datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm, status: *mut MPI_Status)
        = Exchange { to, tag: sent_tag, comm, status: &raw mut status };
    [MPI_Sendrecv_replace] large [MPI_Sendrecv_replace_c PMPI_Sendrecv_replace_c]:
        (buffer: Out, count: Count, datatype: MPI_Datatype, to: Int, sent_tag: Int, from: Int, tag: Int, comm: MPI_Comm,
         status: *mut MPI_Status)
        = Exchange { to, tag: sent_tag, comm, status: &raw mut status };
    [MPI_Probe]: (from: Int, tag: Int, comm: MPI_Comm, status: *mut MPI_Status) = Probe;
    [MPI_Iprobe]: (from: Int, tag: Int, comm: MPI_Comm, flag: OutInts, status: *mut MPI_Status) = Probe;
    [MPI_Mprobe]: (from: Int, tag: Int, comm: MPI_Comm, message: *mut MPI_Message, status: *mut MPI_Status)
        = Finds { comm, flag: null(), message };
    [MPI_Improbe]:
        (from: Int, tag: Int, comm: MPI_Comm, flag: OutInts, message: *mut MPI_Message, status: *mut MPI_Status)
        = Finds { comm, flag, message };
    [MPI_Mrecv] large [MPI_Mrecv_c PMPI_Mrecv_c]:
        (buffer: Out, count: Count, datatype: MPI_Datatype, message: *mut MPI_Message, status: *mut MPI_Status)
        = ReceiveFound { message, status: &raw mut status };
    [MPI_Imrecv] large [MPI_Imrecv_c PMPI_Imrecv_c]:
        (buffer: Out, count: Count, datatype: MPI_Datatype, message: *mut MPI_Message, request: *mut MPI_Request)
        = BeginsReceiveFound { message, request };
    [] maybe [MPI_Isendrecv PMPI_Isendrecv] large [MPI_Isendrecv_c PMPI_Isendrecv_c]:
        (a: In, b: Count, c: MPI_Datatype, to: Int, sent_tag: Int, d: Out, e: Count, f: MPI_Datatype, from: Int,
         tag: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsExchange { to, sent_tag, from, tag, comm, request };
    [] maybe [MPI_Isendrecv_replace PMPI_Isendrecv_replace] large [MPI_Isendrecv_replace_c PMPI_Isendrecv_replace_c]:
        (a: Out, b: Count, c: MPI_Datatype, to: Int, sent_tag: Int, from: Int, tag: Int, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsExchange { to, sent_tag, from, tag, comm, request };
    [] maybe [MPI_Psend_init PMPI_Psend_init]:
        (a: In, b: Int, c: MPI_Count, d: MPI_Datatype, to: Int, tag: Int, comm: MPI_Comm, info: MPI_Info,
         request: *mut MPI_Request)
        = PreparesSend { to, tag, comm, request };
    [] maybe [MPI_Precv_init PMPI_Precv_init]:
        (a: Out, b: Int, c: MPI_Count, d: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm, info: MPI_Info,
         request: *mut MPI_Request)
        = PreparesPartitionedReceive { from, tag, comm, request };
    [] maybe [MPI_Pready PMPI_Pready]: (a: Int, request: MPI_Request) = Aside;
    [] maybe [MPI_Pready_range PMPI_Pready_range]: (a: Int, b: Int, request: MPI_Request) = Aside;
    [] maybe [MPI_Pready_list PMPI_Pready_list]: (a: Int, b: OutInts, request: MPI_Request) = Aside;
    [] maybe [MPI_Parrived PMPI_Parrived]: (request: MPI_Request, b: Int, c: OutInts) = Aside;

    // What is given to the library until it is taken back, or for good.
    [MPI_Buffer_attach] large [MPI_Buffer_attach_c PMPI_Buffer_attach_c]: (buffer: Out, size: Count)
        = Attaches { buffer, size };
    [MPI_Buffer_detach] large [MPI_Buffer_detach_c PMPI_Buffer_detach_c]: (address: Out, size: *mut Count)
        = Detaches { address, size };
    [] maybe [MPI_Comm_attach_buffer PMPI_Comm_attach_buffer]
        large [MPI_Comm_attach_buffer_c PMPI_Comm_attach_buffer_c]: (comm: MPI_Comm, b: Out, size: Count)
        = Lasts(Lasting::Buffer, 1);
    [] maybe [MPI_Comm_detach_buffer PMPI_Comm_detach_buffer]
        large [MPI_Comm_detach_buffer_c PMPI_Comm_detach_buffer_c]: (comm: MPI_Comm, b: Out, size: *mut Count)
        = Lasts(Lasting::Buffer, -1);
    [] maybe [MPI_Session_attach_buffer PMPI_Session_attach_buffer]
        large [MPI_Session_attach_buffer_c PMPI_Session_attach_buffer_c]:
        (session: MPI_Session, b: Out, size: Count) = Lasts(Lasting::Buffer, 1);
    [] maybe [MPI_Session_detach_buffer PMPI_Session_detach_buffer]
        large [MPI_Session_detach_buffer_c PMPI_Session_detach_buffer_c]:
        (session: MPI_Session, b: Out, size: *mut Count) = Lasts(Lasting::Buffer, -1);
    [MPI_Publish_name]: (name: Text, info: MPI_Info, port: Text) = Lasts(Lasting::Port, 1);
    [MPI_Unpublish_name]: (name: Text, info: MPI_Info, port: Text) = Lasts(Lasting::Port, -1);
    [MPI_Lookup_name]: (name: Text, info: MPI_Info, port: OutText) = Aside;
    [MPI_Open_port]: (info: MPI_Info, port: OutText) = Lasts(Lasting::Port, 1);
    [MPI_Close_port]: (port: Text) = Lasts(Lasting::Port, -1);
    [MPI_Add_error_class]: (class: OutInts) = Lasts(Lasting::Error, 1);
    [MPI_Add_error_code]: (class: Int, code: OutInts) = Lasts(Lasting::Error, 1);
    [MPI_Add_error_string]: (code: Int, text: Text) = Lasts(Lasting::Error, 1);
    [] maybe [MPI_Register_datarep PMPI_Register_datarep]:
        (name: Text, b: MPI_Datarep_conversion_function, c: MPI_Datarep_conversion_function,
         d: MPI_Datarep_extent_function, e: Out)
        = Lasts(Lasting::Representation, 1);
    [] large [MPI_Register_datarep_c PMPI_Register_datarep_c]:
        (name: Text, b: MPI_Datarep_conversion_function_c, c: MPI_Datarep_conversion_function_c,
         d: MPI_Datarep_extent_function, e: Out)
        = Lasts(Lasting::Representation, 1);

    // Operations that are under way.
    [MPI_Start]: (request: *mut MPI_Request) = Starts(Requests { first: request, count: 1 });
    [MPI_Startall]: (count: Int, requests: *mut MPI_Request) = Starts(Requests { first: requests, count });
    [MPI_Cancel]: (request: *mut MPI_Request) = Cancels;
    [MPI_Request_free]: (request: *mut MPI_Request) = FreesRequest { request };
    [MPI_Wait]: (request: *mut MPI_Request, status: *mut MPI_Status) = Completes {
        requests: Requests { first: request, count: 1 }, done: Done::All, statuses: &raw mut status,
    };
    [MPI_Test]: (request: *mut MPI_Request, flag: OutInts, status: *mut MPI_Status) = Completes {
        requests: Requests { first: request, count: 1 }, done: Done::AllIf(flag), statuses: &raw mut status,
    };
    [MPI_Waitall]: (count: Int, requests: *mut MPI_Request, statuses: *mut MPI_Status) = Completes {
        requests: Requests { first: requests, count }, done: Done::All, statuses: &raw mut statuses,
    };
    [MPI_Testall]: (count: Int, requests: *mut MPI_Request, flag: OutInts, statuses: *mut MPI_Status) = Completes {
        requests: Requests { first: requests, count }, done: Done::AllIf(flag), statuses: &raw mut statuses,
    };
    [MPI_Waitany]: (count: Int, requests: *mut MPI_Request, index: OutInts, status: *mut MPI_Status) = Completes {
        requests: Requests { first: requests, count }, done: Done::One(index), statuses: &raw mut status,
    };
    [MPI_Testany]: (count: Int, requests: *mut MPI_Request, index: OutInts, flag: OutInts, status: *mut MPI_Status)
        = Completes {
            requests: Requests { first: requests, count }, done: Done::OneIf(index, flag), statuses: &raw mut status,
        };
    [MPI_Waitsome MPI_Testsome]:
        (count: Int, requests: *mut MPI_Request, completed: OutInts, indices: OutInts, statuses: *mut MPI_Status)
        = Completes {
            requests: Requests { first: requests, count }, done: Done::Some(completed, indices),
            statuses: &raw mut statuses,
        };
    [MPI_Request_get_status]: (request: MPI_Request, flag: OutInts, status: *mut MPI_Status) = Tidings;
    [MPI_Grequest_start]:
        (query: MPI_Grequest_query_function, free: MPI_Grequest_free_function, cancel: MPI_Grequest_cancel_function,
         state: Out, request: *mut MPI_Request)
        = Aside;
    [MPI_Grequest_complete]: (request: MPI_Request) = Aside;

    // Collective operations.
    [MPI_Barrier]: (comm: MPI_Comm) = Collective { comm };
    [MPI_Ibarrier]: (comm: MPI_Comm, request: *mut MPI_Request) = BeginsCollective { comm, request };
    [] maybe [MPI_Barrier_init PMPI_Barrier_init]:
        (comm: MPI_Comm, info: MPI_Info, request: *mut MPI_Request) = PreparesCollective { comm, request };

    // Communicators that are made, and given back.
    [MPI_Comm_dup]: (of: MPI_Comm, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Numbers(0, 0), new };
    [MPI_Comm_dup_with_info]: (of: MPI_Comm, info: MPI_Info, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Others, new };
    [MPI_Comm_split]: (of: MPI_Comm, colour: Int, key: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Numbers(colour, key), new };
    [MPI_Comm_split_type]: (of: MPI_Comm, kind: Int, key: Int, info: MPI_Info, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Others, new };
    [MPI_Comm_create]: (of: MPI_Comm, group: MPI_Group, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Group(group, 0), new };
    [MPI_Comm_create_group]: (of: MPI_Comm, group: MPI_Group, tag: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Members, with: With::Group(group, tag), new };
    [MPI_Cart_create]: (of: MPI_Comm, a: Int, b: Ints, c: Ints, reorder: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Grid(a, b, c, reorder), new };
    [MPI_Graph_create]: (of: MPI_Comm, a: Int, b: Ints, c: Ints, reorder: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Others, new };
    [MPI_Cart_sub]: (of: MPI_Comm, kept: Ints, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Others, new };
    [MPI_Dist_graph_create]:
        (of: MPI_Comm, n: Int, a: Ints, b: Ints, c: Ints, d: Ints, info: MPI_Info, reorder: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Others, new };
    [MPI_Dist_graph_create_adjacent]:
        (of: MPI_Comm, a: Int, b: Ints, c: Ints, d: Int, e: Ints, f: Ints, info: MPI_Info, reorder: Int,
         new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, with: With::Others, new };
    [MPI_Intercomm_merge]: (of: MPI_Comm, high: Int, new: *mut MPI_Comm) = Constructs { of, by: By::Everybody, with: With::Others, new };
    [MPI_Comm_idup]: (comm: MPI_Comm, new: *mut MPI_Comm, request: *mut MPI_Request)
        = BeginsToConstruct(BeginsCollective { comm, request });
    [MPI_Intercomm_create]:
        (of: MPI_Comm, leader: Int, peers: MPI_Comm, their_leader: Int, tag: Int, new: *mut MPI_Comm)
        = ConstructsUnnamed;
    [MPI_Comm_accept MPI_Comm_connect]:
        (port: *const c_char, info: MPI_Info, root: Int, comm: MPI_Comm, new: *mut MPI_Comm)
        = ConstructsUnnamed;
    [MPI_Comm_join]: (socket: Int, new: *mut MPI_Comm) = ConstructsUnnamed;
    [MPI_Comm_spawn]:
        (command: *const c_char, arguments: *mut *mut c_char, count: Int, info: MPI_Info, root: Int, comm: MPI_Comm,
         new: *mut MPI_Comm, errors: OutInts)
        = ConstructsUnnamed;
    [MPI_Comm_spawn_multiple]:
        (count: Int, commands: *mut *mut c_char, arguments: *mut *mut *mut c_char, counts: Ints, infos: *const MPI_Info,
         root: Int, comm: MPI_Comm, new: *mut MPI_Comm, errors: OutInts)
        = ConstructsUnnamed;
    [MPI_Comm_free MPI_Comm_disconnect]: (comm: *mut MPI_Comm) = Frees { comm };
    [] maybe [MPI_Comm_idup_with_info PMPI_Comm_idup_with_info]:
        (comm: MPI_Comm, info: MPI_Info, new: *mut MPI_Comm, request: *mut MPI_Request)
        = BeginsToConstruct(BeginsCollective { comm, request });
    [] maybe [MPI_Comm_create_from_group PMPI_Comm_create_from_group]:
        (a: MPI_Group, b: Text, info: MPI_Info, d: MPI_Errhandler, new: *mut MPI_Comm) = ConstructsUnnamed;
    [] maybe [MPI_Intercomm_create_from_groups PMPI_Intercomm_create_from_groups]:
        (a: MPI_Group, b: Int, c: MPI_Group, d: Int, e: Text, info: MPI_Info, g: MPI_Errhandler, new: *mut MPI_Comm)
        = ConstructsUnnamed;

    // What a rank asks of its own library, or sets there.
    [MPI_Comm_rank MPI_Comm_size MPI_Comm_remote_size MPI_Comm_test_inter MPI_Topo_test MPI_Cartdim_get]:
        (comm: MPI_Comm, number: OutInts) = Local;
    [MPI_Comm_group MPI_Comm_remote_group]: (comm: MPI_Comm, group: *mut MPI_Group) = Local;
    [MPI_Comm_compare]: (one: MPI_Comm, other: MPI_Comm, result: OutInts) = Local;
    [MPI_Comm_get_parent]: (parent: *mut MPI_Comm) = Local;
    [MPI_Comm_get_name]: (comm: MPI_Comm, name: *mut c_char, length: OutInts) = Local;
    [MPI_Comm_set_name]: (comm: MPI_Comm, name: *const c_char) = Sets;
    [MPI_Comm_get_info]: (comm: MPI_Comm, info: *mut MPI_Info) = Local;
    [MPI_Comm_set_info]: (comm: MPI_Comm, info: MPI_Info) = Tidings;
    [MPI_Comm_get_attr MPI_Attr_get]: (comm: MPI_Comm, key: Int, value: Out, flag: OutInts) = Local;
    [MPI_Comm_set_attr MPI_Attr_put]: (comm: MPI_Comm, key: Int, value: Out) = Sets;
    [MPI_Comm_delete_attr MPI_Attr_delete]: (comm: MPI_Comm, key: Int) = Sets;
    [MPI_Comm_get_errhandler]: (comm: MPI_Comm, handler: *mut MPI_Errhandler) = Local;
    [MPI_Comm_set_errhandler]: (comm: MPI_Comm, handler: MPI_Errhandler) = Sets;
    [MPI_Comm_call_errhandler MPI_Abort]: (comm: MPI_Comm, code: Int) = Sets;
    [MPI_Cart_coords MPI_Graph_neighbors]: (comm: MPI_Comm, rank: Int, most: Int, numbers: OutInts) = Local;
    [MPI_Cart_get]: (comm: MPI_Comm, most: Int, a: OutInts, b: OutInts, c: OutInts) = Local;
    [MPI_Cart_map MPI_Graph_map]: (comm: MPI_Comm, count: Int, a: Ints, b: Ints, rank: OutInts) = Local;
    [MPI_Cart_rank]: (comm: MPI_Comm, coordinates: Ints, rank: OutInts) = Local;
    [MPI_Cart_shift]: (comm: MPI_Comm, direction: Int, by: Int, from: OutInts, to: OutInts) = Local;
    [MPI_Graph_get]: (comm: MPI_Comm, a: Int, b: Int, c: OutInts, d: OutInts) = Local;
    [MPI_Graph_neighbors_count]: (comm: MPI_Comm, rank: Int, count: OutInts) = Local;
    [MPI_Graphdims_get]: (comm: MPI_Comm, nodes: OutInts, edges: OutInts) = Local;
    [MPI_Dist_graph_neighbors]:
        (comm: MPI_Comm, a: Int, b: OutInts, c: OutInts, d: Int, e: OutInts, f: OutInts) = Local;
    [MPI_Dist_graph_neighbors_count]: (comm: MPI_Comm, a: OutInts, b: OutInts, weighted: OutInts) = Local;
    [MPI_Pack] large [MPI_Pack_c PMPI_Pack_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, position: *mut Count, comm: MPI_Comm) = Local;
    [MPI_Unpack] large [MPI_Unpack_c PMPI_Unpack_c]:
        (a: In, b: Count, position: *mut Count, c: Out, d: Count, e: MPI_Datatype, comm: MPI_Comm) = Local;
    [MPI_Pack_size] large [MPI_Pack_size_c PMPI_Pack_size_c]:
        (count: Count, datatype: MPI_Datatype, comm: MPI_Comm, size: *mut Count) = Local;
    [] maybe [MPI_Errhandler_get PMPI_Errhandler_get]: (comm: MPI_Comm, b: *mut MPI_Errhandler) = Local;
    [] maybe [MPI_Errhandler_set PMPI_Errhandler_set]: (comm: MPI_Comm, b: MPI_Errhandler) = Sets;

    // Memory of other ranks.
    [MPI_Win_create] large [MPI_Win_create_c PMPI_Win_create_c]:
        (a: Out, b: MPI_Aint, c: Displacement, info: MPI_Info, comm: MPI_Comm, window: *mut MPI_Win) = OneSided;
    [MPI_Win_create_dynamic]: (info: MPI_Info, comm: MPI_Comm, window: *mut MPI_Win) = OneSided;
    [MPI_Win_allocate MPI_Win_allocate_shared]
        large [MPI_Win_allocate_c PMPI_Win_allocate_c, MPI_Win_allocate_shared_c PMPI_Win_allocate_shared_c]:
        (a: MPI_Aint, b: Displacement, info: MPI_Info, comm: MPI_Comm, c: Out, window: *mut MPI_Win) = OneSided;
    [MPI_Rput] large [MPI_Rput_c PMPI_Rput_c]:
        (a: In, b: Count, c: MPI_Datatype, rank: Int, d: MPI_Aint, e: Count, f: MPI_Datatype, window: MPI_Win,
         request: *mut MPI_Request)
        = Begins { request };
    [MPI_Rget] large [MPI_Rget_c PMPI_Rget_c]:
        (a: Out, b: Count, c: MPI_Datatype, rank: Int, d: MPI_Aint, e: Count, f: MPI_Datatype, window: MPI_Win,
         request: *mut MPI_Request)
        = Begins { request };
    [MPI_Raccumulate] large [MPI_Raccumulate_c PMPI_Raccumulate_c]:
        (a: In, b: Count, c: MPI_Datatype, rank: Int, d: MPI_Aint, e: Count, f: MPI_Datatype, op: MPI_Op,
         window: MPI_Win, request: *mut MPI_Request)
        = Begins { request };
    [MPI_Rget_accumulate] large [MPI_Rget_accumulate_c PMPI_Rget_accumulate_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype, rank: Int, g: MPI_Aint, h: Count,
         i: MPI_Datatype, op: MPI_Op, window: MPI_Win, request: *mut MPI_Request)
        = Begins { request };
    [MPI_Put] large [MPI_Put_c PMPI_Put_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Int, e: MPI_Aint, f: Count, g: MPI_Datatype, window: MPI_Win) = OneSided;
    [MPI_Get] large [MPI_Get_c PMPI_Get_c]:
        (a: Out, b: Count, c: MPI_Datatype, d: Int, e: MPI_Aint, f: Count, g: MPI_Datatype, window: MPI_Win) = OneSided;
    [MPI_Accumulate] large [MPI_Accumulate_c PMPI_Accumulate_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Int, e: MPI_Aint, f: Count, g: MPI_Datatype, op: MPI_Op, window: MPI_Win)
        = OneSided;
    [MPI_Get_accumulate] large [MPI_Get_accumulate_c PMPI_Get_accumulate_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype, g: Int, h: MPI_Aint, i: Count,
         j: MPI_Datatype, op: MPI_Op, window: MPI_Win)
        = OneSided;
    [MPI_Fetch_and_op]: (a: In, b: Out, c: MPI_Datatype, d: Int, e: MPI_Aint, op: MPI_Op, window: MPI_Win) = OneSided;
    [MPI_Compare_and_swap]: (a: In, b: In, c: Out, d: MPI_Datatype, e: Int, f: MPI_Aint, window: MPI_Win) = OneSided;
    [MPI_Win_attach]: (window: MPI_Win, b: Out, c: MPI_Aint) = OneSided;
    [MPI_Win_call_errhandler MPI_Win_delete_attr]: (window: MPI_Win, b: Int) = OneSided;
    [MPI_Win_complete MPI_Win_flush_all MPI_Win_flush_local_all MPI_Win_sync MPI_Win_unlock_all MPI_Win_wait]:
        (window: MPI_Win) = OneSided;
    [MPI_Win_detach]: (window: MPI_Win, b: In) = OneSided;
    [MPI_Win_fence MPI_Win_flush MPI_Win_flush_local MPI_Win_lock_all MPI_Win_unlock]:
        (a: Int, window: MPI_Win) = OneSided;
    [MPI_Win_free]: (window: *mut MPI_Win) = OneSided;
    [MPI_Win_get_attr]: (window: MPI_Win, b: Int, c: Out, d: OutInts) = OneSided;
    [MPI_Win_get_errhandler]: (window: MPI_Win, b: *mut MPI_Errhandler) = OneSided;
    [MPI_Win_get_group]: (window: MPI_Win, b: *mut MPI_Group) = OneSided;
    [MPI_Win_get_info]: (window: MPI_Win, b: *mut MPI_Info) = OneSided;
    [MPI_Win_get_name]: (window: MPI_Win, b: OutText, c: OutInts) = OneSided;
    [MPI_Win_lock]: (a: Int, b: Int, c: Int, window: MPI_Win) = OneSided;
    [MPI_Win_post MPI_Win_start]: (a: MPI_Group, b: Int, window: MPI_Win) = OneSided;
    [MPI_Win_set_attr]: (window: MPI_Win, b: Int, c: Out) = OneSided;
    [MPI_Win_set_errhandler]: (window: MPI_Win, b: MPI_Errhandler) = OneSided;
    [MPI_Win_set_info]: (window: MPI_Win, info: MPI_Info) = OneSided;
    [MPI_Win_set_name]: (window: MPI_Win, b: Text) = OneSided;
    [MPI_Win_shared_query] large [MPI_Win_shared_query_c PMPI_Win_shared_query_c]:
        (window: MPI_Win, b: Int, c: *mut MPI_Aint, d: *mut Displacement, e: Out) = OneSided;
    [MPI_Win_test]: (window: MPI_Win, b: OutInts) = OneSided;

    // Files that ranks share.
    [] maybe [MPI_File_open PMPI_File_open]:
        (comm: MPI_Comm, b: Text, c: Int, info: MPI_Info, file: *mut MPI_File) = Opens { comm };
    [] maybe [MPI_File_call_errhandler PMPI_File_call_errhandler, MPI_File_set_atomicity PMPI_File_set_atomicity]:
        (file: MPI_File, b: Int) = File;
    [] maybe [MPI_File_close PMPI_File_close]: (file: *mut MPI_File) = File;
    [] maybe [MPI_File_get_amode PMPI_File_get_amode, MPI_File_get_atomicity PMPI_File_get_atomicity]:
        (file: MPI_File, b: OutInts) = File;
    [] maybe [MPI_File_get_byte_offset PMPI_File_get_byte_offset]:
        (file: MPI_File, b: MPI_Offset, c: *mut MPI_Offset) = File;
    [] maybe [MPI_File_get_errhandler PMPI_File_get_errhandler]: (file: MPI_File, b: *mut MPI_Errhandler) = File;
    [] maybe [MPI_File_get_group PMPI_File_get_group]: (file: MPI_File, b: *mut MPI_Group) = File;
    [] maybe [MPI_File_get_info PMPI_File_get_info]: (file: MPI_File, b: *mut MPI_Info) = File;
    [] maybe [MPI_File_get_position PMPI_File_get_position, MPI_File_get_position_shared PMPI_File_get_position_shared,
        MPI_File_get_size PMPI_File_get_size]:
        (file: MPI_File, b: *mut MPI_Offset) = File;
    [] maybe [MPI_File_get_type_extent PMPI_File_get_type_extent]
        large [MPI_File_get_type_extent_c PMPI_File_get_type_extent_c]:
        (file: MPI_File, b: MPI_Datatype, c: *mut Extent) = File;
    [] maybe [MPI_File_get_view PMPI_File_get_view]:
        (file: MPI_File, b: *mut MPI_Offset, c: *mut MPI_Datatype, d: *mut MPI_Datatype, e: OutText) = File;
    [] maybe [MPI_File_preallocate PMPI_File_preallocate, MPI_File_set_size PMPI_File_set_size]:
        (file: MPI_File, b: MPI_Offset) = File;
    [] maybe [MPI_File_read PMPI_File_read, MPI_File_read_all PMPI_File_read_all,
        MPI_File_read_ordered PMPI_File_read_ordered, MPI_File_read_shared PMPI_File_read_shared]
        large [MPI_File_read_c PMPI_File_read_c, MPI_File_read_all_c PMPI_File_read_all_c,
         MPI_File_read_ordered_c PMPI_File_read_ordered_c, MPI_File_read_shared_c PMPI_File_read_shared_c]:
        (file: MPI_File, b: Out, c: Count, d: MPI_Datatype, status: *mut MPI_Status) = File;
    [] maybe [MPI_File_read_at PMPI_File_read_at, MPI_File_read_at_all PMPI_File_read_at_all]
        large [MPI_File_read_at_c PMPI_File_read_at_c, MPI_File_read_at_all_c PMPI_File_read_at_all_c]:
        (file: MPI_File, b: MPI_Offset, c: Out, d: Count, e: MPI_Datatype, status: *mut MPI_Status) = File;
    [] maybe [MPI_File_seek PMPI_File_seek, MPI_File_seek_shared PMPI_File_seek_shared]:
        (file: MPI_File, b: MPI_Offset, c: Int) = File;
    [] maybe [MPI_File_set_errhandler PMPI_File_set_errhandler]: (file: MPI_File, b: MPI_Errhandler) = File;
    [] maybe [MPI_File_set_info PMPI_File_set_info]: (file: MPI_File, info: MPI_Info) = File;
    [] maybe [MPI_File_set_view PMPI_File_set_view]:
        (file: MPI_File, b: MPI_Offset, c: MPI_Datatype, d: MPI_Datatype, e: Text, info: MPI_Info) = File;
    [] maybe [MPI_File_sync PMPI_File_sync]: (file: MPI_File) = File;
    [] maybe [MPI_File_write PMPI_File_write, MPI_File_write_all PMPI_File_write_all,
        MPI_File_write_ordered PMPI_File_write_ordered, MPI_File_write_shared PMPI_File_write_shared]
        large [MPI_File_write_c PMPI_File_write_c, MPI_File_write_all_c PMPI_File_write_all_c,
         MPI_File_write_ordered_c PMPI_File_write_ordered_c, MPI_File_write_shared_c PMPI_File_write_shared_c]:
        (file: MPI_File, b: In, c: Count, d: MPI_Datatype, status: *mut MPI_Status) = File;
    [] maybe [MPI_File_write_at PMPI_File_write_at, MPI_File_write_at_all PMPI_File_write_at_all]
        large [MPI_File_write_at_c PMPI_File_write_at_c, MPI_File_write_at_all_c PMPI_File_write_at_all_c]:
        (file: MPI_File, b: MPI_Offset, c: In, d: Count, e: MPI_Datatype, status: *mut MPI_Status) = File;
    [] maybe [MPI_File_iread PMPI_File_iread, MPI_File_iread_all PMPI_File_iread_all,
        MPI_File_iread_shared PMPI_File_iread_shared]
        large [MPI_File_iread_c PMPI_File_iread_c, MPI_File_iread_all_c PMPI_File_iread_all_c,
         MPI_File_iread_shared_c PMPI_File_iread_shared_c]:
        (file: MPI_File, b: Out, c: Count, d: MPI_Datatype, request: *mut MPI_Request) = Begins { request };
    [] maybe [MPI_File_iread_at PMPI_File_iread_at, MPI_File_iread_at_all PMPI_File_iread_at_all]
        large [MPI_File_iread_at_c PMPI_File_iread_at_c, MPI_File_iread_at_all_c PMPI_File_iread_at_all_c]:
        (file: MPI_File, b: MPI_Offset, c: Out, d: Count, e: MPI_Datatype, request: *mut MPI_Request)
        = Begins { request };
    [] maybe [MPI_File_iwrite PMPI_File_iwrite, MPI_File_iwrite_all PMPI_File_iwrite_all,
        MPI_File_iwrite_shared PMPI_File_iwrite_shared]
        large [MPI_File_iwrite_c PMPI_File_iwrite_c, MPI_File_iwrite_all_c PMPI_File_iwrite_all_c,
         MPI_File_iwrite_shared_c PMPI_File_iwrite_shared_c]:
        (file: MPI_File, b: In, c: Count, d: MPI_Datatype, request: *mut MPI_Request) = Begins { request };
    [] maybe [MPI_File_iwrite_at PMPI_File_iwrite_at, MPI_File_iwrite_at_all PMPI_File_iwrite_at_all]
        large [MPI_File_iwrite_at_c PMPI_File_iwrite_at_c, MPI_File_iwrite_at_all_c PMPI_File_iwrite_at_all_c]:
        (file: MPI_File, b: MPI_Offset, c: In, d: Count, e: MPI_Datatype, request: *mut MPI_Request)
        = Begins { request };
    [] maybe [MPI_File_read_all_begin PMPI_File_read_all_begin,
        MPI_File_read_ordered_begin PMPI_File_read_ordered_begin]
        large [MPI_File_read_all_begin_c PMPI_File_read_all_begin_c,
         MPI_File_read_ordered_begin_c PMPI_File_read_ordered_begin_c]:
        (file: MPI_File, b: Out, c: Count, d: MPI_Datatype) = BeginsSplit { file };
    [] maybe [MPI_File_read_all_end PMPI_File_read_all_end, MPI_File_read_at_all_end PMPI_File_read_at_all_end,
        MPI_File_read_ordered_end PMPI_File_read_ordered_end]:
        (file: MPI_File, b: Out, status: *mut MPI_Status) = EndsSplit { file };
    [] maybe [MPI_File_read_at_all_begin PMPI_File_read_at_all_begin]
        large [MPI_File_read_at_all_begin_c PMPI_File_read_at_all_begin_c]:
        (file: MPI_File, b: MPI_Offset, c: Out, d: Count, e: MPI_Datatype) = BeginsSplit { file };
    [] maybe [MPI_File_write_all_begin PMPI_File_write_all_begin,
        MPI_File_write_ordered_begin PMPI_File_write_ordered_begin]
        large [MPI_File_write_all_begin_c PMPI_File_write_all_begin_c,
         MPI_File_write_ordered_begin_c PMPI_File_write_ordered_begin_c]:
        (file: MPI_File, b: In, c: Count, d: MPI_Datatype) = BeginsSplit { file };
    [] maybe [MPI_File_write_all_end PMPI_File_write_all_end, MPI_File_write_at_all_end PMPI_File_write_at_all_end,
        MPI_File_write_ordered_end PMPI_File_write_ordered_end]:
        (file: MPI_File, b: In, status: *mut MPI_Status) = EndsSplit { file };
    [] maybe [MPI_File_write_at_all_begin PMPI_File_write_at_all_begin]
        large [MPI_File_write_at_all_begin_c PMPI_File_write_at_all_begin_c]:
        (file: MPI_File, b: MPI_Offset, c: In, d: Count, e: MPI_Datatype) = BeginsSplit { file };

    // Sessions of the library.
    [] maybe [MPI_Group_from_session_pset PMPI_Group_from_session_pset]:
        (session: MPI_Session, b: Text, c: *mut MPI_Group) = Aside;
    [] maybe [MPI_Session_call_errhandler PMPI_Session_call_errhandler]: (session: MPI_Session, b: Int) = Aside;
    [] maybe [MPI_Session_finalize PMPI_Session_finalize]: (session: *mut MPI_Session) = Aside;
    [] maybe [MPI_Session_get_errhandler PMPI_Session_get_errhandler]:
        (session: MPI_Session, b: *mut MPI_Errhandler) = Aside;
    [] maybe [MPI_Session_get_info PMPI_Session_get_info]: (session: MPI_Session, b: *mut MPI_Info) = Aside;
    [] maybe [MPI_Session_get_nth_pset PMPI_Session_get_nth_pset]:
        (session: MPI_Session, info: MPI_Info, c: Int, d: OutInts, e: OutText) = Aside;
    [] maybe [MPI_Session_get_num_psets PMPI_Session_get_num_psets]:
        (session: MPI_Session, info: MPI_Info, c: OutInts) = Aside;
    [] maybe [MPI_Session_get_pset_info PMPI_Session_get_pset_info]:
        (session: MPI_Session, b: Text, c: *mut MPI_Info) = Aside;
    [] maybe [MPI_Session_init PMPI_Session_init]:
        (info: MPI_Info, b: MPI_Errhandler, session: *mut MPI_Session) = Aside;
    [] maybe [MPI_Session_set_errhandler PMPI_Session_set_errhandler]:
        (session: MPI_Session, b: MPI_Errhandler) = Aside;
    [] maybe [MPI_Session_set_info PMPI_Session_set_info]: (session: MPI_Session, info: MPI_Info) = Aside;
}

/// Operations in which all members of a communicator take part.
mod operations {
    use super::*;

    collectives! {
    [MPI_Bcast, MPI_Ibcast, MPI_Bcast_init PMPI_Bcast_init, MPI_Bcast_c PMPI_Bcast_c, MPI_Ibcast_c PMPI_Ibcast_c,
     MPI_Bcast_init_c PMPI_Bcast_init_c]:
        (a: Out, b: Count, c: MPI_Datatype, root: Int);
    [MPI_Gather, MPI_Igather, MPI_Gather_init PMPI_Gather_init, MPI_Gather_c PMPI_Gather_c,
     MPI_Igather_c PMPI_Igather_c, MPI_Gather_init_c PMPI_Gather_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype, root: Int);
    [MPI_Scatter, MPI_Iscatter, MPI_Scatter_init PMPI_Scatter_init, MPI_Scatter_c PMPI_Scatter_c,
     MPI_Iscatter_c PMPI_Iscatter_c, MPI_Scatter_init_c PMPI_Scatter_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype, root: Int);
    [MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init PMPI_Gatherv_init, MPI_Gatherv_c PMPI_Gatherv_c,
     MPI_Igatherv_c PMPI_Igatherv_c, MPI_Gatherv_init_c PMPI_Gatherv_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Counts, f: Displacements, g: MPI_Datatype, root: Int);
    [MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init PMPI_Scatterv_init, MPI_Scatterv_c PMPI_Scatterv_c,
     MPI_Iscatterv_c PMPI_Iscatterv_c, MPI_Scatterv_init_c PMPI_Scatterv_init_c]:
        (a: In, b: Counts, c: Displacements, d: MPI_Datatype, e: Out, f: Count, g: MPI_Datatype, root: Int);
    [MPI_Allgather, MPI_Iallgather, MPI_Allgather_init PMPI_Allgather_init, MPI_Allgather_c PMPI_Allgather_c,
     MPI_Iallgather_c PMPI_Iallgather_c, MPI_Allgather_init_c PMPI_Allgather_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype);
    [MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init PMPI_Alltoall_init, MPI_Alltoall_c PMPI_Alltoall_c,
     MPI_Ialltoall_c PMPI_Ialltoall_c, MPI_Alltoall_init_c PMPI_Alltoall_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype);
    [MPI_Neighbor_allgather, MPI_Ineighbor_allgather, MPI_Neighbor_allgather_init PMPI_Neighbor_allgather_init,
     MPI_Neighbor_allgather_c PMPI_Neighbor_allgather_c, MPI_Ineighbor_allgather_c PMPI_Ineighbor_allgather_c,
     MPI_Neighbor_allgather_init_c PMPI_Neighbor_allgather_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype);
    [MPI_Neighbor_alltoall, MPI_Ineighbor_alltoall, MPI_Neighbor_alltoall_init PMPI_Neighbor_alltoall_init,
     MPI_Neighbor_alltoall_c PMPI_Neighbor_alltoall_c, MPI_Ineighbor_alltoall_c PMPI_Ineighbor_alltoall_c,
     MPI_Neighbor_alltoall_init_c PMPI_Neighbor_alltoall_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Count, f: MPI_Datatype);
    [MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init PMPI_Allgatherv_init, MPI_Allgatherv_c PMPI_Allgatherv_c,
     MPI_Iallgatherv_c PMPI_Iallgatherv_c, MPI_Allgatherv_init_c PMPI_Allgatherv_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Counts, f: Displacements, g: MPI_Datatype);
    [MPI_Neighbor_allgatherv, MPI_Ineighbor_allgatherv, MPI_Neighbor_allgatherv_init PMPI_Neighbor_allgatherv_init,
     MPI_Neighbor_allgatherv_c PMPI_Neighbor_allgatherv_c, MPI_Ineighbor_allgatherv_c PMPI_Ineighbor_allgatherv_c,
     MPI_Neighbor_allgatherv_init_c PMPI_Neighbor_allgatherv_init_c]:
        (a: In, b: Count, c: MPI_Datatype, d: Out, e: Counts, f: Displacements, g: MPI_Datatype);
    [MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init PMPI_Alltoallv_init, MPI_Alltoallv_c PMPI_Alltoallv_c,
     MPI_Ialltoallv_c PMPI_Ialltoallv_c, MPI_Alltoallv_init_c PMPI_Alltoallv_init_c]:
        (a: In, b: Counts, c: Displacements, d: MPI_Datatype, e: Out, f: Counts, g: Displacements, h: MPI_Datatype);
    [MPI_Neighbor_alltoallv, MPI_Ineighbor_alltoallv, MPI_Neighbor_alltoallv_init PMPI_Neighbor_alltoallv_init,
     MPI_Neighbor_alltoallv_c PMPI_Neighbor_alltoallv_c, MPI_Ineighbor_alltoallv_c PMPI_Ineighbor_alltoallv_c,
     MPI_Neighbor_alltoallv_init_c PMPI_Neighbor_alltoallv_init_c]:
        (a: In, b: Counts, c: Displacements, d: MPI_Datatype, e: Out, f: Counts, g: Displacements, h: MPI_Datatype);
    [MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init PMPI_Alltoallw_init, MPI_Alltoallw_c PMPI_Alltoallw_c,
     MPI_Ialltoallw_c PMPI_Ialltoallw_c, MPI_Alltoallw_init_c PMPI_Alltoallw_init_c]:
        (a: In, b: Counts, c: Displacements, d: Types, e: Out, f: Counts, g: Displacements, h: Types);
    [MPI_Neighbor_alltoallw, MPI_Ineighbor_alltoallw, MPI_Neighbor_alltoallw_init PMPI_Neighbor_alltoallw_init,
     MPI_Neighbor_alltoallw_c PMPI_Neighbor_alltoallw_c, MPI_Ineighbor_alltoallw_c PMPI_Ineighbor_alltoallw_c,
     MPI_Neighbor_alltoallw_init_c PMPI_Neighbor_alltoallw_init_c]:
        (a: In, b: Counts, c: *const MPI_Aint, d: Types, e: Out, f: Counts, g: *const MPI_Aint, h: Types);
    [MPI_Reduce, MPI_Ireduce, MPI_Reduce_init PMPI_Reduce_init, MPI_Reduce_c PMPI_Reduce_c,
     MPI_Ireduce_c PMPI_Ireduce_c, MPI_Reduce_init_c PMPI_Reduce_init_c]:
        (a: In, b: Out, c: Count, d: MPI_Datatype, e: MPI_Op, root: Int);
    [MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init PMPI_Allreduce_init, MPI_Allreduce_c PMPI_Allreduce_c,
     MPI_Iallreduce_c PMPI_Iallreduce_c, MPI_Allreduce_init_c PMPI_Allreduce_init_c]:
        (a: In, b: Out, c: Count, d: MPI_Datatype, e: MPI_Op);
    [MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init PMPI_Reduce_scatter_block_init,
     MPI_Reduce_scatter_block_c PMPI_Reduce_scatter_block_c, MPI_Ireduce_scatter_block_c PMPI_Ireduce_scatter_block_c,
     MPI_Reduce_scatter_block_init_c PMPI_Reduce_scatter_block_init_c]:
        (a: In, b: Out, c: Count, d: MPI_Datatype, e: MPI_Op);
    [MPI_Scan, MPI_Iscan, MPI_Scan_init PMPI_Scan_init, MPI_Scan_c PMPI_Scan_c, MPI_Iscan_c PMPI_Iscan_c,
     MPI_Scan_init_c PMPI_Scan_init_c]:
        (a: In, b: Out, c: Count, d: MPI_Datatype, e: MPI_Op);
    [MPI_Exscan, MPI_Iexscan, MPI_Exscan_init PMPI_Exscan_init, MPI_Exscan_c PMPI_Exscan_c,
     MPI_Iexscan_c PMPI_Iexscan_c, MPI_Exscan_init_c PMPI_Exscan_init_c]:
        (a: In, b: Out, c: Count, d: MPI_Datatype, e: MPI_Op);
    [MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init PMPI_Reduce_scatter_init,
     MPI_Reduce_scatter_c PMPI_Reduce_scatter_c, MPI_Ireduce_scatter_c PMPI_Ireduce_scatter_c,
     MPI_Reduce_scatter_init_c PMPI_Reduce_scatter_init_c]:
        (a: In, b: Out, c: Counts, d: MPI_Datatype, e: MPI_Op);
    }
}

#[cfg(test)]
mod tests;
