//! The program's collective operations, and the communicators that it makes: counted like its messages, on their way to
//! the library.

use std::ffi::{c_int, c_void};

use mpi_sys as mpi;
use mpi_sys::{MPI_Comm, MPI_Datatype, MPI_Group, MPI_Info, MPI_Op, MPI_Request};

use super::channels;

macro_rules! collectives {
    ($($name:ident $library:ident ($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type,)* communicator: MPI_Comm) -> c_int {
            channels::collective(communicator);
            // SAFETY: the caller's promise.
            unsafe { mpi::$library($($argument,)* communicator) }
        }
    )*};
}

macro_rules! begins_collectives {
    ($($name:ident $library:ident ($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($argument: $type,)* communicator: MPI_Comm, request: *mut MPI_Request) -> c_int {
            // SAFETY: the caller's promise; the request is filled in by the library.
            unsafe {
                let code = mpi::$library($($argument,)* communicator, request);
                channels::collective_begins(communicator, stringify!($name), *request);
                code
            }
        }
    )*};
}

type In = *const c_void;
type Out = *mut c_void;
type Counts = *const c_int;

macro_rules! both {
    ($($name:ident $library:ident $begins:ident $library_begins:ident $arguments:tt;)*) => {
        collectives! { $($name $library $arguments;)* }
        begins_collectives! { $($begins $library_begins $arguments;)* }
    };
}

both! {
    MPI_Barrier PMPI_Barrier MPI_Ibarrier PMPI_Ibarrier ();
    MPI_Bcast PMPI_Bcast MPI_Ibcast PMPI_Ibcast (a: Out, b: c_int, c: MPI_Datatype, d: c_int);
    MPI_Gather PMPI_Gather MPI_Igather PMPI_Igather
        (a: In, b: c_int, c: MPI_Datatype, d: Out, e: c_int, f: MPI_Datatype, g: c_int);
    MPI_Gatherv PMPI_Gatherv MPI_Igatherv PMPI_Igatherv
        (a: In, b: c_int, c: MPI_Datatype, d: Out, e: Counts, f: Counts, g: MPI_Datatype, h: c_int);
    MPI_Scatter PMPI_Scatter MPI_Iscatter PMPI_Iscatter
        (a: In, b: c_int, c: MPI_Datatype, d: Out, e: c_int, f: MPI_Datatype, g: c_int);
    MPI_Scatterv PMPI_Scatterv MPI_Iscatterv PMPI_Iscatterv
        (a: In, b: Counts, c: Counts, d: MPI_Datatype, e: Out, f: c_int, g: MPI_Datatype, h: c_int);
    MPI_Allgather PMPI_Allgather MPI_Iallgather PMPI_Iallgather
        (a: In, b: c_int, c: MPI_Datatype, d: Out, e: c_int, f: MPI_Datatype);
    MPI_Allgatherv PMPI_Allgatherv MPI_Iallgatherv PMPI_Iallgatherv
        (a: In, b: c_int, c: MPI_Datatype, d: Out, e: Counts, f: Counts, g: MPI_Datatype);
    MPI_Alltoall PMPI_Alltoall MPI_Ialltoall PMPI_Ialltoall
        (a: In, b: c_int, c: MPI_Datatype, d: Out, e: c_int, f: MPI_Datatype);
    MPI_Alltoallv PMPI_Alltoallv MPI_Ialltoallv PMPI_Ialltoallv
        (a: In, b: Counts, c: Counts, d: MPI_Datatype, e: Out, f: Counts, g: Counts, h: MPI_Datatype);
    MPI_Reduce PMPI_Reduce MPI_Ireduce PMPI_Ireduce (a: In, b: Out, c: c_int, d: MPI_Datatype, e: MPI_Op, f: c_int);
    MPI_Allreduce PMPI_Allreduce MPI_Iallreduce PMPI_Iallreduce (a: In, b: Out, c: c_int, d: MPI_Datatype, e: MPI_Op);
    MPI_Reduce_scatter_block PMPI_Reduce_scatter_block MPI_Ireduce_scatter_block PMPI_Ireduce_scatter_block
        (a: In, b: Out, c: c_int, d: MPI_Datatype, e: MPI_Op);
    MPI_Reduce_scatter PMPI_Reduce_scatter MPI_Ireduce_scatter PMPI_Ireduce_scatter
        (a: In, b: Out, c: Counts, d: MPI_Datatype, e: MPI_Op);
    MPI_Scan PMPI_Scan MPI_Iscan PMPI_Iscan (a: In, b: Out, c: c_int, d: MPI_Datatype, e: MPI_Op);
    MPI_Exscan PMPI_Exscan MPI_Iexscan PMPI_Iexscan (a: In, b: Out, c: c_int, d: MPI_Datatype, e: MPI_Op);
}

macro_rules! communicators {
    ($($name:ident $library:ident $of_group:literal ($($argument:ident: $type:ty),*);)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(communicator: MPI_Comm, $($argument: $type,)* new: *mut MPI_Comm) -> c_int {
            // SAFETY: the caller's promise; the new one is filled in by the library.
            unsafe {
                let code = mpi::$library(communicator, $($argument,)* new);
                channels::made(communicator, $of_group, *new);
                code
            }
        }
    )*};
}

communicators! {
    MPI_Comm_dup PMPI_Comm_dup false ();
    MPI_Comm_split PMPI_Comm_split false (a: c_int, b: c_int);
    MPI_Comm_split_type PMPI_Comm_split_type false (a: c_int, b: c_int, c: MPI_Info);
    MPI_Comm_create PMPI_Comm_create false (a: MPI_Group);
    MPI_Comm_create_group PMPI_Comm_create_group true (a: MPI_Group, b: c_int);
    MPI_Cart_create PMPI_Cart_create false (a: c_int, b: *const c_int, c: *const c_int, d: c_int);
    MPI_Cart_sub PMPI_Cart_sub false (a: *const c_int);
    MPI_Graph_create PMPI_Graph_create false (a: c_int, b: *const c_int, c: *const c_int, d: c_int);
    MPI_Intercomm_merge PMPI_Intercomm_merge false (a: c_int);
}

macro_rules! frees {
    ($($name:ident $library:ident,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(communicator: *mut MPI_Comm) -> c_int {
            // SAFETY: the caller's promise.
            unsafe {
                channels::freed(*communicator);
                mpi::$library(communicator)
            }
        }
    )*};
}

frees! { MPI_Comm_free PMPI_Comm_free, MPI_Comm_disconnect PMPI_Comm_disconnect, }
