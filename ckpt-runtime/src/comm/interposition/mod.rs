//! Functions of MPI that the program calls and ckpt has to know of: they stand before those of the library, which the
//! standard makes reachable under their `PMPI_` names as well. As with the interposition on files, the executable's own
//! definitions come before those of a shared library; where there are none of ours, there is no session.

#[cfg(feature = "mpi")]
mod channels;
#[cfg(feature = "mpi")]
mod collective;
#[cfg(feature = "mpi")]
mod completion;
#[cfg(feature = "mpi")]
mod lifetime;
#[cfg(not(feature = "mpi"))]
mod none;
#[cfg(feature = "mpi")]
mod point_to_point;

#[cfg(feature = "mpi")]
pub(super) use channels::counters;
#[cfg(feature = "mpi")]
pub(super) use lifetime::is_used;
#[cfg(not(feature = "mpi"))]
pub(super) use none::{counters, is_used};
