//! Communicators that are made of others, and given back: every rank is to call them by the same number.

use std::ffi::c_int;

use mpi_sys as mpi;
use mpi_sys::{MPI_Comm, MPI_Group};

use super::channels::{Channels, number, ranks_of};
use super::passage::{Class, Uncounted};
use crate::comm::alone::{self, Making, Tells};

/// Who takes part when a communicator is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// All members of the old one.
    Everybody,
    /// Only the members of the new one.
    Members,
}

/// The other arguments that a communicator is made with.
#[derive(Clone, Copy)]
pub(super) enum With {
    /// These.
    Numbers(c_int, c_int),
    /// So many sizes and whether each of these dimensions is periodic, and a number.
    Grid(c_int, *const c_int, *const c_int, c_int),
    /// The members, and a number.
    Group(MPI_Group, c_int),
    /// What is not compared.
    Others,
}

impl With {
    /// They as numbers; nothing where they are not compared.
    ///
    /// # Safety
    /// They are those of a valid call.
    unsafe fn numbers(self) -> Option<Vec<i64>> {
        let list = |count: c_int, first: *const c_int| {
            // SAFETY: the caller's promise: there are so many.
            (0..count).map(move |at| i64::from(unsafe { *first.offset(at as isize) }))
        };
        Some(match self {
            With::Numbers(one, other) => vec![i64::from(one), i64::from(other)],
            With::Grid(count, sizes, periodic, last) => list(count, sizes)
                .chain(list(count, periodic))
                .chain([i64::from(last)])
                .collect(),
            With::Group(group, last) => {
                // SAFETY: the caller's promise.
                let ranks = unsafe { ranks_of(group) };
                ranks
                    .into_iter()
                    .map(i64::from)
                    .chain([i64::from(last)])
                    .collect()
            }
            With::Others => return None,
        })
    }
}

/// Makes a communicator of another. One that is made in any other way (of two others, of processes that were not of the
/// world, or only later) is known from its first use on, by its members.
pub(super) struct Constructs {
    pub of: MPI_Comm,
    pub by: By,
    pub with: With,
    pub new: *mut MPI_Comm,
}

impl Constructs {
    /// How it does; nothing where that is not followed.
    ///
    /// # Safety
    /// The arguments are those of a valid call.
    unsafe fn making(&self, function: &'static str) -> Option<Making> {
        Some(Making {
            function,
            of: number(self.of),
            // SAFETY: the caller's promise.
            with: unsafe { self.with.numbers() }?,
        })
    }
}

/// A handle, if this rank has a part in the communicator.
fn known(communicator: MPI_Comm) -> Option<u64> {
    // SAFETY: a constant of the shim library.
    let is_nobodys = communicator == unsafe { mpi::RSMPI_COMM_NULL };
    (!is_nobodys).then(|| number(communicator))
}

impl Class for Constructs {
    type Before = ();

    unsafe fn instead(&self, name: &'static str) -> Option<c_int> {
        // SAFETY: the caller's promise.
        let given = alone::is_about_to_make(name, || unsafe { self.making(name) })?;
        // SAFETY: the caller's promise: it points to room for a handle. A constant of the shim library.
        unsafe { *self.new = given.map_or(mpi::RSMPI_COMM_NULL, of_number) };
        Some(mpi::MPI_SUCCESS as c_int)
    }

    unsafe fn leaves_under_way(&self, name: &'static str) -> i64 {
        // SAFETY: the caller's promise; the library has filled it in.
        unsafe { alone::has_made(self.making(name), known(*self.new)) };
        0
    }

    unsafe fn after(&self, (): (), _: &'static str, channels: &mut Channels) {
        // SAFETY: the caller's promise; the library has filled it in.
        channels.made(self.of, self.by, unsafe { *self.new });
    }
}

/// The handle that has this number.
fn of_number(number: u64) -> MPI_Comm {
    let bytes = number.to_ne_bytes();
    // SAFETY: a handle of MPI is a C integer or a pointer, of no more bytes than a number has, from which these were copied.
    unsafe { bytes.as_ptr().cast::<MPI_Comm>().read_unaligned() }
}

/// Makes a communicator that is known from its first use on.
pub(super) struct ConstructsUnnamed;

impl Uncounted for ConstructsUnnamed {
    const TELLS: Tells = Tells::Unfollowed;
}

/// Gives a communicator back: its handle may be used for another.
pub(super) struct Frees {
    pub comm: *mut MPI_Comm,
}

impl Class for Frees {
    type Before = ();

    unsafe fn instead(&self, name: &'static str) -> Option<c_int> {
        // SAFETY: the caller's promise: it points to a communicator.
        let is_kept = alone::keeps(name, number(unsafe { *self.comm }));
        is_kept.then(|| {
            // SAFETY: the same; a constant of the shim library.
            unsafe { *self.comm = mpi::RSMPI_COMM_NULL };
            mpi::MPI_SUCCESS as c_int
        })
    }

    unsafe fn before(&self, channels: &mut Channels) {
        // SAFETY: the caller's promise: it points to a communicator.
        channels.freed(unsafe { *self.comm });
    }
}
