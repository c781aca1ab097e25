//! The functions of MPI that the program calls and ckpt has to know of: ours stand before those of the library, which the
//! standard makes reachable under their `PMPI_` names as well. The executable's own definitions come before those of a
//! shared library; where there are none of ours, there is no session.
//!
//! Every function that takes a communicator, a request, a window or a file, or changes the library for good, is a row of [`table`]: its names, its arguments, and its class,
//! which is given those arguments that it needs. What a class means for the channel counters is in the file of the class;
//! all pass through [`passage`]. The functions that bring MPI up and down, of which ckpt has its own opinion, are in
//! [`lifetime`].
//!
//! Another communication library has a folder like this one beside it, if its traffic is to be checked.

mod channels;
mod collective;
mod completion;
mod constructor;
mod file;
mod lent;
mod lifetime;
mod local;
mod passage;
mod probe;
mod receive;
mod send;
mod table;

pub(super) use channels::counters;
pub(super) use lent::{is_given_again, is_taken_back, lasts};
pub(super) use lifetime::{has_world, is_used};
