//! Every function of MPI 3 that takes a communicator, a request or a message: its names, its arguments, and its class with
//! those of them that it needs. Functions that share arguments and class share a row.
//!
//! Left out are those of files, which a library may be built without, and what MPI 4 adds, which older ones do not have; a
//! test compares the table with the header that is there.

use std::ffi::{c_char, c_int, c_void};
use std::ptr::null;

use mpi_sys as mpi;
use mpi_sys::{
    MPI_Aint, MPI_Comm, MPI_Datatype, MPI_Errhandler, MPI_Grequest_cancel_function,
    MPI_Grequest_free_function, MPI_Grequest_query_function, MPI_Group, MPI_Info, MPI_Message, MPI_Op,
    MPI_Request, MPI_Status, MPI_Win,
};

use super::collective::{BeginsCollective, Collective};
use super::completion::{Cancels, Completes, Done, FreesRequest, Requests, Starts};
use super::constructor::{By, Constructs, ConstructsUnnamed, Frees};
use super::local::{Local, OneSided};
use super::passage::Passage;
use super::probe::{Finds, Probe};
use super::receive::{BeginsReceive, BeginsReceiveFound, Exchange, PreparesReceive, Receive, ReceiveFound};
use super::send::{BeginsSend, PreparesSend, Send};

type In = *const c_void;
type Out = *mut c_void;
type Int = c_int;
type Ints = *const c_int;
type OutInts = *mut c_int;
type Offsets = *const MPI_Aint;
type Types = *const MPI_Datatype;

macro_rules! table {
    ($([$($name:ident)+] $arguments:tt = $class:expr;)*) => {
        $($(function! { $name $arguments $class })+)*

        /// The names of the functions, for tests.
        #[cfg(test)]
        const NAMES: &[&str] = &[$($(stringify!($name),)+)*];
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
            unsafe {
                let passage = Passage::enter(stringify!($name), $class);
                let code = library($($argument),*);
                passage.leave();
                code
            }
        }
    };
}

table! {
    // Messages.
    [MPI_Send MPI_Ssend MPI_Bsend MPI_Rsend]
        (buffer: In, count: Int, datatype: MPI_Datatype, to: Int, tag: Int, comm: MPI_Comm)
        = Send { to, tag, comm };
    [MPI_Isend MPI_Issend MPI_Ibsend MPI_Irsend]
        (buffer: In, count: Int, datatype: MPI_Datatype, to: Int, tag: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsSend { to, tag, comm, request };
    [MPI_Send_init MPI_Ssend_init MPI_Bsend_init MPI_Rsend_init]
        (buffer: In, count: Int, datatype: MPI_Datatype, to: Int, tag: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = PreparesSend { to, tag, comm, request };
    [MPI_Recv]
        (buffer: Out, count: Int, datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm, status: *mut MPI_Status)
        = Receive { comm, status: &raw mut status };
    [MPI_Irecv]
        (buffer: Out, count: Int, datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsReceive { from, comm, request };
    [MPI_Recv_init]
        (buffer: Out, count: Int, datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = PreparesReceive(BeginsReceive { from, comm, request });
    [MPI_Sendrecv]
        (sent: In, sent_count: Int, sent_type: MPI_Datatype, to: Int, sent_tag: Int, buffer: Out, count: Int,
         datatype: MPI_Datatype, from: Int, tag: Int, comm: MPI_Comm, status: *mut MPI_Status)
        = Exchange { to, tag: sent_tag, comm, status: &raw mut status };
    [MPI_Sendrecv_replace]
        (buffer: Out, count: Int, datatype: MPI_Datatype, to: Int, sent_tag: Int, from: Int, tag: Int, comm: MPI_Comm,
         status: *mut MPI_Status)
        = Exchange { to, tag: sent_tag, comm, status: &raw mut status };
    [MPI_Probe] (from: Int, tag: Int, comm: MPI_Comm, status: *mut MPI_Status) = Probe;
    [MPI_Iprobe] (from: Int, tag: Int, comm: MPI_Comm, flag: OutInts, status: *mut MPI_Status) = Probe;
    [MPI_Mprobe] (from: Int, tag: Int, comm: MPI_Comm, message: *mut MPI_Message, status: *mut MPI_Status)
        = Finds { comm, flag: null(), message };
    [MPI_Improbe]
        (from: Int, tag: Int, comm: MPI_Comm, flag: OutInts, message: *mut MPI_Message, status: *mut MPI_Status)
        = Finds { comm, flag, message };
    [MPI_Mrecv] (buffer: Out, count: Int, datatype: MPI_Datatype, message: *mut MPI_Message, status: *mut MPI_Status)
        = ReceiveFound { message, status: &raw mut status };
    [MPI_Imrecv] (buffer: Out, count: Int, datatype: MPI_Datatype, message: *mut MPI_Message, request: *mut MPI_Request)
        = BeginsReceiveFound { message, request };

    // Operations that are under way.
    [MPI_Start] (request: *mut MPI_Request) = Starts(Requests { first: request, count: 1 });
    [MPI_Startall] (count: Int, requests: *mut MPI_Request) = Starts(Requests { first: requests, count });
    [MPI_Cancel] (request: *mut MPI_Request) = Cancels;
    [MPI_Request_free] (request: *mut MPI_Request) = FreesRequest { request };
    [MPI_Wait] (request: *mut MPI_Request, status: *mut MPI_Status) = Completes {
        requests: Requests { first: request, count: 1 }, done: Done::All, statuses: &raw mut status,
    };
    [MPI_Test] (request: *mut MPI_Request, flag: OutInts, status: *mut MPI_Status) = Completes {
        requests: Requests { first: request, count: 1 }, done: Done::AllIf(flag), statuses: &raw mut status,
    };
    [MPI_Waitall] (count: Int, requests: *mut MPI_Request, statuses: *mut MPI_Status) = Completes {
        requests: Requests { first: requests, count }, done: Done::All, statuses: &raw mut statuses,
    };
    [MPI_Testall] (count: Int, requests: *mut MPI_Request, flag: OutInts, statuses: *mut MPI_Status) = Completes {
        requests: Requests { first: requests, count }, done: Done::AllIf(flag), statuses: &raw mut statuses,
    };
    [MPI_Waitany] (count: Int, requests: *mut MPI_Request, index: OutInts, status: *mut MPI_Status) = Completes {
        requests: Requests { first: requests, count }, done: Done::One(index), statuses: &raw mut status,
    };
    [MPI_Testany] (count: Int, requests: *mut MPI_Request, index: OutInts, flag: OutInts, status: *mut MPI_Status)
        = Completes {
            requests: Requests { first: requests, count }, done: Done::OneIf(index, flag), statuses: &raw mut status,
        };
    [MPI_Waitsome MPI_Testsome]
        (count: Int, requests: *mut MPI_Request, completed: OutInts, indices: OutInts, statuses: *mut MPI_Status)
        = Completes {
            requests: Requests { first: requests, count }, done: Done::Some(completed, indices),
            statuses: &raw mut statuses,
        };
    [MPI_Request_get_status] (request: MPI_Request, flag: OutInts, status: *mut MPI_Status) = Local;
    [MPI_Grequest_start]
        (query: MPI_Grequest_query_function, free: MPI_Grequest_free_function, cancel: MPI_Grequest_cancel_function,
         state: Out, request: *mut MPI_Request)
        = Local;
    [MPI_Grequest_complete] (request: MPI_Request) = Local;

    // Collective operations.
    [MPI_Barrier] (comm: MPI_Comm) = Collective { comm };
    [MPI_Ibarrier] (comm: MPI_Comm, request: *mut MPI_Request) = BeginsCollective { comm, request };
    [MPI_Bcast] (a: Out, b: Int, c: MPI_Datatype, root: Int, comm: MPI_Comm) = Collective { comm };
    [MPI_Ibcast] (a: Out, b: Int, c: MPI_Datatype, root: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Gather MPI_Scatter]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Int, f: MPI_Datatype, root: Int, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Igather MPI_Iscatter]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Int, f: MPI_Datatype, root: Int, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Gatherv]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Ints, f: Ints, g: MPI_Datatype, root: Int, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Igatherv]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Ints, f: Ints, g: MPI_Datatype, root: Int, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Scatterv]
        (a: In, b: Ints, c: Ints, d: MPI_Datatype, e: Out, f: Int, g: MPI_Datatype, root: Int, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Iscatterv]
        (a: In, b: Ints, c: Ints, d: MPI_Datatype, e: Out, f: Int, g: MPI_Datatype, root: Int, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Allgather MPI_Alltoall MPI_Neighbor_allgather MPI_Neighbor_alltoall]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Int, f: MPI_Datatype, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Iallgather MPI_Ialltoall MPI_Ineighbor_allgather MPI_Ineighbor_alltoall]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Int, f: MPI_Datatype, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Allgatherv MPI_Neighbor_allgatherv]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Ints, f: Ints, g: MPI_Datatype, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Iallgatherv MPI_Ineighbor_allgatherv]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Ints, f: Ints, g: MPI_Datatype, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Alltoallv MPI_Neighbor_alltoallv]
        (a: In, b: Ints, c: Ints, d: MPI_Datatype, e: Out, f: Ints, g: Ints, h: MPI_Datatype, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Ialltoallv MPI_Ineighbor_alltoallv]
        (a: In, b: Ints, c: Ints, d: MPI_Datatype, e: Out, f: Ints, g: Ints, h: MPI_Datatype, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Alltoallw]
        (a: In, b: Ints, c: Ints, d: Types, e: Out, f: Ints, g: Ints, h: Types, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Ialltoallw]
        (a: In, b: Ints, c: Ints, d: Types, e: Out, f: Ints, g: Ints, h: Types, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Neighbor_alltoallw]
        (a: In, b: Ints, c: Offsets, d: Types, e: Out, f: Ints, g: Offsets, h: Types, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Ineighbor_alltoallw]
        (a: In, b: Ints, c: Offsets, d: Types, e: Out, f: Ints, g: Offsets, h: Types, comm: MPI_Comm,
         request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Reduce] (a: In, b: Out, c: Int, d: MPI_Datatype, op: MPI_Op, root: Int, comm: MPI_Comm) = Collective { comm };
    [MPI_Ireduce]
        (a: In, b: Out, c: Int, d: MPI_Datatype, op: MPI_Op, root: Int, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Allreduce MPI_Reduce_scatter_block MPI_Scan MPI_Exscan]
        (a: In, b: Out, c: Int, d: MPI_Datatype, op: MPI_Op, comm: MPI_Comm)
        = Collective { comm };
    [MPI_Iallreduce MPI_Ireduce_scatter_block MPI_Iscan MPI_Iexscan]
        (a: In, b: Out, c: Int, d: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsCollective { comm, request };
    [MPI_Reduce_scatter] (a: In, b: Out, c: Ints, d: MPI_Datatype, op: MPI_Op, comm: MPI_Comm) = Collective { comm };
    [MPI_Ireduce_scatter]
        (a: In, b: Out, c: Ints, d: MPI_Datatype, op: MPI_Op, comm: MPI_Comm, request: *mut MPI_Request)
        = BeginsCollective { comm, request };

    // Communicators that are made, and given back.
    [MPI_Comm_dup] (of: MPI_Comm, new: *mut MPI_Comm) = Constructs { of, by: By::Everybody, new };
    [MPI_Comm_dup_with_info] (of: MPI_Comm, info: MPI_Info, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, new };
    [MPI_Comm_split] (of: MPI_Comm, colour: Int, key: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, new };
    [MPI_Comm_split_type] (of: MPI_Comm, kind: Int, key: Int, info: MPI_Info, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, new };
    [MPI_Comm_create] (of: MPI_Comm, group: MPI_Group, new: *mut MPI_Comm) = Constructs { of, by: By::Everybody, new };
    [MPI_Comm_create_group] (of: MPI_Comm, group: MPI_Group, tag: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Members, new };
    [MPI_Cart_create MPI_Graph_create] (of: MPI_Comm, a: Int, b: Ints, c: Ints, reorder: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, new };
    [MPI_Cart_sub] (of: MPI_Comm, kept: Ints, new: *mut MPI_Comm) = Constructs { of, by: By::Everybody, new };
    [MPI_Dist_graph_create]
        (of: MPI_Comm, n: Int, a: Ints, b: Ints, c: Ints, d: Ints, info: MPI_Info, reorder: Int, new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, new };
    [MPI_Dist_graph_create_adjacent]
        (of: MPI_Comm, a: Int, b: Ints, c: Ints, d: Int, e: Ints, f: Ints, info: MPI_Info, reorder: Int,
         new: *mut MPI_Comm)
        = Constructs { of, by: By::Everybody, new };
    [MPI_Intercomm_merge] (of: MPI_Comm, high: Int, new: *mut MPI_Comm) = Constructs { of, by: By::Everybody, new };
    [MPI_Comm_idup] (of: MPI_Comm, new: *mut MPI_Comm, request: *mut MPI_Request) = ConstructsUnnamed;
    [MPI_Intercomm_create]
        (of: MPI_Comm, leader: Int, peers: MPI_Comm, their_leader: Int, tag: Int, new: *mut MPI_Comm)
        = ConstructsUnnamed;
    [MPI_Comm_accept MPI_Comm_connect]
        (port: *const c_char, info: MPI_Info, root: Int, comm: MPI_Comm, new: *mut MPI_Comm)
        = ConstructsUnnamed;
    [MPI_Comm_join] (socket: Int, new: *mut MPI_Comm) = ConstructsUnnamed;
    [MPI_Comm_spawn]
        (command: *const c_char, arguments: *mut *mut c_char, count: Int, info: MPI_Info, root: Int, comm: MPI_Comm,
         new: *mut MPI_Comm, errors: OutInts)
        = ConstructsUnnamed;
    [MPI_Comm_spawn_multiple]
        (count: Int, commands: *mut *mut c_char, arguments: *mut *mut *mut c_char, counts: Ints, infos: *const MPI_Info,
         root: Int, comm: MPI_Comm, new: *mut MPI_Comm, errors: OutInts)
        = ConstructsUnnamed;
    [MPI_Comm_free MPI_Comm_disconnect] (comm: *mut MPI_Comm) = Frees { comm };

    // What a rank asks of its own library, or sets there.
    [MPI_Comm_rank MPI_Comm_size MPI_Comm_remote_size MPI_Comm_test_inter MPI_Topo_test MPI_Cartdim_get]
        (comm: MPI_Comm, number: OutInts) = Local;
    [MPI_Comm_group MPI_Comm_remote_group] (comm: MPI_Comm, group: *mut MPI_Group) = Local;
    [MPI_Comm_compare] (one: MPI_Comm, other: MPI_Comm, result: OutInts) = Local;
    [MPI_Comm_get_parent] (parent: *mut MPI_Comm) = Local;
    [MPI_Comm_get_name] (comm: MPI_Comm, name: *mut c_char, length: OutInts) = Local;
    [MPI_Comm_set_name] (comm: MPI_Comm, name: *const c_char) = Local;
    [MPI_Comm_get_info] (comm: MPI_Comm, info: *mut MPI_Info) = Local;
    [MPI_Comm_set_info] (comm: MPI_Comm, info: MPI_Info) = Local;
    [MPI_Comm_get_attr MPI_Attr_get] (comm: MPI_Comm, key: Int, value: Out, flag: OutInts) = Local;
    [MPI_Comm_set_attr MPI_Attr_put] (comm: MPI_Comm, key: Int, value: Out) = Local;
    [MPI_Comm_delete_attr MPI_Attr_delete] (comm: MPI_Comm, key: Int) = Local;
    [MPI_Comm_get_errhandler] (comm: MPI_Comm, handler: *mut MPI_Errhandler) = Local;
    [MPI_Comm_set_errhandler] (comm: MPI_Comm, handler: MPI_Errhandler) = Local;
    [MPI_Comm_call_errhandler MPI_Abort] (comm: MPI_Comm, code: Int) = Local;
    [MPI_Cart_coords MPI_Graph_neighbors] (comm: MPI_Comm, rank: Int, most: Int, numbers: OutInts) = Local;
    [MPI_Cart_get] (comm: MPI_Comm, most: Int, a: OutInts, b: OutInts, c: OutInts) = Local;
    [MPI_Cart_map MPI_Graph_map] (comm: MPI_Comm, count: Int, a: Ints, b: Ints, rank: OutInts) = Local;
    [MPI_Cart_rank] (comm: MPI_Comm, coordinates: Ints, rank: OutInts) = Local;
    [MPI_Cart_shift] (comm: MPI_Comm, direction: Int, by: Int, from: OutInts, to: OutInts) = Local;
    [MPI_Graph_get] (comm: MPI_Comm, a: Int, b: Int, c: OutInts, d: OutInts) = Local;
    [MPI_Graph_neighbors_count] (comm: MPI_Comm, rank: Int, count: OutInts) = Local;
    [MPI_Graphdims_get] (comm: MPI_Comm, nodes: OutInts, edges: OutInts) = Local;
    [MPI_Dist_graph_neighbors]
        (comm: MPI_Comm, a: Int, b: OutInts, c: OutInts, d: Int, e: OutInts, f: OutInts) = Local;
    [MPI_Dist_graph_neighbors_count] (comm: MPI_Comm, a: OutInts, b: OutInts, weighted: OutInts) = Local;
    [MPI_Pack] (a: In, b: Int, c: MPI_Datatype, d: Out, e: Int, position: OutInts, comm: MPI_Comm) = Local;
    [MPI_Unpack] (a: In, b: Int, position: OutInts, c: Out, d: Int, e: MPI_Datatype, comm: MPI_Comm) = Local;
    [MPI_Pack_size] (count: Int, datatype: MPI_Datatype, comm: MPI_Comm, size: OutInts) = Local;

    // Memory of other ranks.
    [MPI_Win_create] (a: Out, b: MPI_Aint, c: Int, info: MPI_Info, comm: MPI_Comm, window: *mut MPI_Win) = OneSided;
    [MPI_Win_create_dynamic] (info: MPI_Info, comm: MPI_Comm, window: *mut MPI_Win) = OneSided;
    [MPI_Win_allocate MPI_Win_allocate_shared]
        (a: MPI_Aint, b: Int, info: MPI_Info, comm: MPI_Comm, c: Out, window: *mut MPI_Win) = OneSided;
    [MPI_Rput]
        (a: In, b: Int, c: MPI_Datatype, rank: Int, d: MPI_Aint, e: Int, f: MPI_Datatype, window: MPI_Win,
         request: *mut MPI_Request)
        = OneSided;
    [MPI_Rget]
        (a: Out, b: Int, c: MPI_Datatype, rank: Int, d: MPI_Aint, e: Int, f: MPI_Datatype, window: MPI_Win,
         request: *mut MPI_Request)
        = OneSided;
    [MPI_Raccumulate]
        (a: In, b: Int, c: MPI_Datatype, rank: Int, d: MPI_Aint, e: Int, f: MPI_Datatype, op: MPI_Op, window: MPI_Win,
         request: *mut MPI_Request)
        = OneSided;
    [MPI_Rget_accumulate]
        (a: In, b: Int, c: MPI_Datatype, d: Out, e: Int, f: MPI_Datatype, rank: Int, g: MPI_Aint, h: Int,
         i: MPI_Datatype, op: MPI_Op, window: MPI_Win, request: *mut MPI_Request)
        = OneSided;
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::process::Command;

    use super::NAMES;

    /// Functions of the header that are no rows, and why.
    fn is_left_out(name: &str) -> bool {
        // A file's requests carry no message, and a library may be built without files.
        name.starts_with("MPI_File_")
            // Handles as Fortran has them: macros in some headers.
            || name.ends_with("_c2f")
            // Gone from the standard, and not in every header.
            || matches!(name, "MPI_Errhandler_get" | "MPI_Errhandler_set")
            || is_of_mpi_4(name)
    }

    fn is_of_mpi_4(name: &str) -> bool {
        let is_row = |name: &str| NAMES.contains(&name);
        let small = name.strip_suffix("_c").unwrap_or(name);
        let is_large = small != name && (is_row(small) || is_of_mpi_4(small));
        let is_prepared_collective = small.strip_suffix("_init").is_some_and(is_row);
        let is_partitioned = ["MPI_Psend", "MPI_Precv", "MPI_Pready", "MPI_Parrived"];
        is_large
            || is_prepared_collective
            || is_partitioned.iter().any(|start| name.starts_with(start))
            || matches!(
                name,
                "MPI_Isendrecv"
                    | "MPI_Isendrecv_replace"
                    | "MPI_Comm_idup_with_info"
                    | "MPI_Comm_create_from_group"
                    | "MPI_Intercomm_create_from_groups"
            )
    }

    /// The functions of a preprocessed header that take a communicator, a request or a message.
    fn declared(header: &str) -> BTreeSet<&str> {
        let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_handle = |word: &str| matches!(word, "MPI_Comm" | "MPI_Request" | "MPI_Message");
        let mut names = BTreeSet::new();
        for declaration in header.split(';').filter(|text| !text.contains("typedef")) {
            for (start, _) in declaration.match_indices("MPI_") {
                let (before, rest) = declaration.split_at(start);
                let length = rest.bytes().take_while(|byte| is_word(*byte)).count();
                let (name, rest) = rest.split_at(length);
                let arguments = rest
                    .trim_start()
                    .strip_prefix('(')
                    .and_then(|rest| rest.split_once(')'));
                let Some((arguments, _)) =
                    arguments.filter(|_| !before.ends_with(|last| is_word(last as u8)))
                else {
                    continue;
                };
                if arguments.split(|letter| !is_word(letter as u8)).any(is_handle) {
                    names.insert(name);
                }
            }
        }
        names
    }

    #[test]
    fn declarations_are_found_in_a_header() {
        let header = "typedef int (MPI_Copy)(MPI_Comm, int);\nextern __attribute__((visibility(\"default\"))) int \
            MPI_Send(const void *buf, MPI_Comm comm);int PMPI_Recv(MPI_Comm comm); int MPI_Get_count(MPI_Status *);\n\
            int MPI_Cancel (MPI_Request *request) __attribute__((x));";
        assert_eq!(declared(header), BTreeSet::from(["MPI_Cancel", "MPI_Send"]));
    }

    #[test]
    fn every_function_has_one_row() {
        let names: BTreeSet<&str> = NAMES.iter().copied().collect();
        assert_eq!(names.len(), NAMES.len());
    }

    #[test]
    fn the_table_has_the_functions_of_the_header_that_is_there() {
        let compiler = std::env::var("MPICC").unwrap_or_else(|_| "mpicc".into());
        let folder = tempfile::tempdir().unwrap();
        let source = folder.path().join("header.c");
        std::fs::write(&source, "#include <mpi.h>\n").unwrap();
        let output = Command::new(&compiler)
            .arg("-E")
            .arg("-P")
            .arg(&source)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{compiler}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        let header = String::from_utf8_lossy(&output.stdout);
        let declared = declared(&header);
        assert!(declared.contains("MPI_Comm_rank"), "{compiler} knows no mpi.h");

        let rows: BTreeSet<&str> = NAMES.iter().copied().collect();
        let missing: Vec<&&str> = declared
            .iter()
            .filter(|name| !rows.contains(**name) && !is_left_out(name))
            .collect();
        assert!(
            missing.is_empty(),
            "functions of the header without a row: {missing:?}"
        );
        let strange: Vec<&&str> = rows.difference(&declared).collect();
        assert!(
            strange.is_empty(),
            "rows that the header does not have: {strange:?}"
        );
    }
}
