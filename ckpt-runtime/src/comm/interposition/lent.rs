//! What the program gives its own library, or tells it, until it takes that back. A program that goes back to a checkpoint does so
//! again on its way, as one that is restarted, and the library is still up: a buffer for messages is taken back before that, as
//! there may be one only. All else stands in the way.

use std::ffi::{c_int, c_void};
use std::sync::Mutex;

use mpi_sys as mpi;

use super::passage::Class;
use crate::base::lock::locked;
use crate::comm::alone::{self, Tells};

/// What stays in the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasting {
    /// Ports, and names that are published for them.
    Port,
    /// Errors that the program has made up.
    Error,
    /// How numbers are written to files.
    Representation,
    /// A buffer for the messages of one communicator or session of the library.
    Buffer,
}

impl Lasting {
    const ALL: [Lasting; 4] = [
        Lasting::Port,
        Lasting::Error,
        Lasting::Representation,
        Lasting::Buffer,
    ];

    fn why(self) -> &'static str {
        match self {
            Lasting::Port => "it has a port of MPI open, or has published a name",
            Lasting::Error => "it has told MPI of errors of its own",
            Lasting::Representation => "it has told MPI of a data representation of its own",
            Lasting::Buffer => "it has given a communicator of MPI a buffer of its own",
        }
    }
}

/// A buffer of the program for its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Buffer {
    address: usize,
    size: i64,
}

#[derive(Debug)]
struct Lent {
    buffer: Option<Buffer>,
    /// It was taken back for the program, which is about to ask for it as it leaves its functions.
    taken_back: Option<Buffer>,
    lasting: [i32; Lasting::ALL.len()],
}

/// A leaf lock.
static LENT: Mutex<Lent> = Mutex::new(Lent {
    buffer: None,
    taken_back: None,
    lasting: [0; Lasting::ALL.len()],
});

/// The program leaves its functions for a checkpoint, with all others, at a place where no message is under way.
pub(in crate::comm) fn is_taken_back() {
    let has_one = locked(&LENT).buffer.take().is_some();
    let taken = has_one.then(|| {
        let (mut address, mut size) = (std::ptr::null_mut::<c_void>(), 0);
        // SAFETY: both outlive the call, which writes an address to the one and a number to the other.
        unsafe { mpi::PMPI_Buffer_detach((&raw mut address).cast(), &mut size) };
        Buffer {
            address: address.addr(),
            size: i64::from(size),
        }
    });
    locked(&LENT).taken_back = taken;
}

/// It has left them: a buffer that nobody has asked for is the program's again.
pub(in crate::comm) fn is_given_again() {
    is_taken_back();
    locked(&LENT).taken_back = None;
}

/// What stays in the library and would be there twice.
pub(in crate::comm) fn lasts() -> Option<&'static str> {
    let counts = locked(&LENT).lasting;
    let mut there = Lasting::ALL.into_iter().zip(counts);
    there.find_map(|(lasting, count)| (count > 0).then(|| lasting.why()))
}

/// Gives the library a buffer for messages.
pub(super) struct Attaches<S> {
    pub buffer: *mut c_void,
    pub size: S,
}

impl<S: Copy + Into<i64>> Class for Attaches<S> {
    const TELLS: Tells = Tells::Unfollowed;
    const COUNTS: bool = false;
    type Before = ();

    fn has_returned(&self, code: c_int) {
        if code == mpi::MPI_SUCCESS as c_int {
            locked(&LENT).buffer = Some(Buffer {
                address: self.buffer.addr(),
                size: self.size.into(),
            });
        }
    }
}

/// Takes it back, once all messages in it have been received.
pub(super) struct Detaches<S> {
    /// Points to room for its address.
    pub address: *mut c_void,
    pub size: *mut S,
}

impl<S: TryFrom<i64>> Class for Detaches<S> {
    const TELLS: Tells = Tells::Unfollowed;
    const COUNTS: bool = false;
    type Before = ();

    unsafe fn instead(&self, name: &'static str) -> Option<c_int> {
        alone::calls(Self::TELLS, name);
        let taken = locked(&LENT).taken_back.take()?;
        // SAFETY: the caller's promise: there is room for an address and a number.
        unsafe {
            let address = std::ptr::with_exposed_provenance_mut::<c_void>(taken.address);
            self.address.cast::<*mut c_void>().write(address);
            if let Ok(size) = S::try_from(taken.size) {
                self.size.write(size);
            }
        }
        Some(mpi::MPI_SUCCESS as c_int)
    }

    fn has_returned(&self, code: c_int) {
        if code == mpi::MPI_SUCCESS as c_int {
            locked(&LENT).buffer = None;
        }
    }
}

/// There is so much more of this in the library.
pub(super) struct Lasts(pub Lasting, pub i32);

impl Class for Lasts {
    const TELLS: Tells = Tells::Unfollowed;
    const COUNTS: bool = false;
    type Before = ();

    fn has_returned(&self, code: c_int) {
        let Lasts(what, more) = *self;
        if code == mpi::MPI_SUCCESS as c_int
            && let Some(count) = locked(&LENT).lasting.get_mut(what as usize)
        {
            *count = (*count + more).max(0);
        }
    }
}
