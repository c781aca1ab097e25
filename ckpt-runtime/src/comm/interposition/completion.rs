//! Operations that were begun before: the functions that start, complete, cancel and free them. What was received is
//! counted when the operation is complete.

use std::ffi::c_int;

use mpi_sys::{MPI_Request, MPI_Status};

use super::channels::{Channels, Statuses, is_under_way, number};
use super::passage::{Class, Uncounted};
use crate::comm::alone::Tells;

/// So many requests, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Requests {
    pub first: *mut MPI_Request,
    pub count: c_int,
}

impl Requests {
    /// # Safety
    /// There are so many.
    unsafe fn handles(self) -> Vec<u64> {
        // SAFETY: the caller's promise.
        let one = |index: c_int| number(unsafe { *self.first.offset(index as isize) });
        (0..self.count).map(one).collect()
    }

    /// How many of them are those of operations.
    ///
    /// # Safety
    /// There are so many.
    unsafe fn under_way(self) -> i64 {
        // SAFETY: the caller's promise.
        let is_one = |index: &c_int| is_under_way(unsafe { *self.first.offset(*index as isize) });
        (0..self.count).filter(is_one).count() as i64
    }
}

/// Begins what was prepared before.
pub(super) struct Starts(pub Requests);

impl Class for Starts {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn before(&self, channels: &mut Channels) {
        // SAFETY: the caller's promise.
        let handles = unsafe { self.0.handles() };
        handles.into_iter().for_each(|handle| channels.starts(handle));
    }
}

/// Asks for the end of an operation, which is completed like any other.
pub(super) struct Cancels;

impl Uncounted for Cancels {
    const TELLS: Tells = Tells::Unfollowed;
}

/// Gives a request back.
pub(super) struct FreesRequest {
    pub request: *mut MPI_Request,
}

impl Class for FreesRequest {
    const TELLS: Tells = Tells::Unfollowed;
    type Before = ();

    unsafe fn before(&self, channels: &mut Channels) {
        // SAFETY: the caller's promise: it points to a request.
        channels.forgets(number(unsafe { *self.request }));
    }
}

/// Which operations are complete after a call.
#[derive(Clone, Copy)]
pub(super) enum Done {
    /// All.
    All,
    /// All, if this is set.
    AllIf(*const c_int),
    /// That with this number.
    One(*const c_int),
    /// That with this number, if the other is set.
    OneIf(*const c_int, *const c_int),
    /// So many, with these numbers.
    Some(*const c_int, *const c_int),
}

impl Done {
    /// How many statuses the library fills in, of so many requests.
    fn statuses(self, requests: c_int) -> c_int {
        match self {
            Done::All | Done::AllIf(_) | Done::Some(..) => requests,
            Done::One(_) | Done::OneIf(..) => 1,
        }
    }

    /// The numbers of the operations that are complete, each in the place of its status.
    ///
    /// # Safety
    /// The library has been called, for so many requests.
    unsafe fn numbers(self, requests: c_int) -> Vec<c_int> {
        // SAFETY: the caller's promise.
        unsafe {
            match self {
                Done::AllIf(flag) | Done::OneIf(_, flag) if *flag == 0 => Vec::new(),
                Done::All | Done::AllIf(_) => (0..requests).collect(),
                Done::One(index) | Done::OneIf(index, _) => vec![*index],
                Done::Some(count, indices) => {
                    let indices = (0..*count).map(|place| *indices.offset(place as isize));
                    indices.collect()
                }
            }
        }
    }
}

/// Waits for operations, or looks whether they are complete.
pub(super) struct Completes {
    pub requests: Requests,
    pub done: Done,
    /// Where the call has its statuses.
    pub statuses: *mut *mut MPI_Status,
}

impl Class for Completes {
    type Before = (Statuses, Vec<u64>);

    unsafe fn before(&self, _: &mut Channels) -> (Statuses, Vec<u64>) {
        // SAFETY: the caller's promise.
        unsafe {
            let statuses = Statuses::wanted(self.statuses, self.done.statuses(self.requests.count));
            (statuses, self.requests.handles())
        }
    }

    unsafe fn after(
        &self,
        (statuses, handles): (Statuses, Vec<u64>),
        _: &'static str,
        channels: &mut Channels,
    ) {
        // SAFETY: the library has filled in what it says.
        let done = unsafe { self.done.numbers(self.requests.count) };
        for (place, number) in done.into_iter().enumerate() {
            let handle = usize::try_from(number)
                .ok()
                .and_then(|number| handles.get(number));
            if let Some(&handle) = handle {
                // SAFETY: there is a status for every operation that is complete.
                channels.completes(handle, unsafe { statuses.at(place) });
            }
        }
    }

    unsafe fn ends(&self) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.requests.under_way() }
    }

    unsafe fn leaves_under_way(&self, _: &'static str) -> i64 {
        // SAFETY: the caller's promise.
        unsafe { self.requests.under_way() }
    }
}
