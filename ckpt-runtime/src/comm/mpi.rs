//! ckpt's own calls of MPI, by their `PMPI_` names: nobody who counts or replaces the program's calls sees them, and they
//! are made on a communicator of ckpt's own, where no message of the program can be taken for one of theirs.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use mpi_sys as mpi;

use super::Member;

/// What ckpt is doing when it calls MPI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// The session begins: MPI comes up, a restart finds its line.
    Begin,
    /// A checkpoint is being taken: no call is made.
    Checkpoint,
    /// The ranks tell each other what only one of them knows.
    Agree,
    /// The run ends.
    End,
}

static PHASE: AtomicU8 = AtomicU8::new(Phase::Begin as u8);
static COUNTS: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// From here on calls are counted as made for `phase`. Gives what it was before.
pub(super) fn enter(phase: Phase) -> u8 {
    PHASE.swap(phase as u8, Ordering::Relaxed)
}

/// Back to what [`enter`] gave.
pub(super) fn back(phase: u8) {
    PHASE.store(phase, Ordering::Relaxed);
}

/// How many calls were made in each phase.
pub(super) fn counts() -> [u64; 4] {
    std::array::from_fn(|phase| COUNTS[phase].load(Ordering::Relaxed))
}

fn counted() {
    let phase = usize::from(PHASE.load(Ordering::Relaxed));
    if let Some(count) = COUNTS.get(phase) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// A communicator of ckpt's own. MPI's handles may be used from any thread; only the session's thread calls.
#[derive(Debug, Clone, Copy)]
pub(super) struct Communicator(mpi::MPI_Comm);

// SAFETY: the handle is a number or an opaque address; which threads may call MPI with it is decided by the callers, who
// are all on the thread of the session.
unsafe impl Send for Communicator {}
// SAFETY: the same.
unsafe impl Sync for Communicator {}

/// Brings MPI up with this level of threading, and gives the level that there is.
pub(super) fn initialise(threads: c_int) -> c_int {
    counted();
    let mut provided = 0;
    // SAFETY: null arguments are allowed since MPI-2; `provided` outlives the call.
    unsafe { mpi::PMPI_Init_thread(ptr::null_mut(), ptr::null_mut(), threads, &mut provided) };
    provided
}

/// The level of threading that lets every thread call MPI.
pub(super) fn most_threads() -> c_int {
    // SAFETY: a constant of the shim library.
    unsafe { mpi::RSMPI_THREAD_MULTIPLE }
}

/// The level of threading that MPI came up with.
pub(super) fn threads() -> c_int {
    counted();
    let mut level = 0;
    // SAFETY: `level` outlives the call; MPI is up.
    unsafe { mpi::PMPI_Query_thread(&mut level) };
    level
}

/// This process's place in the world.
pub(super) fn place() -> Member {
    let (mut rank, mut size) = (0, 0);
    counted();
    counted();
    // SAFETY: both numbers outlive the calls; MPI is up.
    unsafe {
        mpi::PMPI_Comm_rank(mpi::RSMPI_COMM_WORLD, &mut rank);
        mpi::PMPI_Comm_size(mpi::RSMPI_COMM_WORLD, &mut size);
    }
    Member {
        rank: rank as u32,
        size: size as u32,
    }
}

/// A communicator of all ranks that only ckpt knows. All ranks make it together.
pub(super) fn duplicate_world() -> Option<Communicator> {
    counted();
    // SAFETY: a constant of the shim library is copied, and replaced by the call.
    unsafe {
        let mut communicator = mpi::RSMPI_COMM_NULL;
        mpi::PMPI_Comm_dup(mpi::RSMPI_COMM_WORLD, &mut communicator);
        Some(Communicator(communicator))
    }
}

/// Gives a communicator back. All ranks do so together.
pub(super) fn free(mut communicator: Communicator) {
    counted();
    // SAFETY: it was made by `duplicate_world` and is not used afterwards.
    unsafe { mpi::PMPI_Comm_free(&mut communicator.0) };
}

/// Brings MPI down.
pub(super) fn finalise() {
    counted();
    // SAFETY: MPI is up, and nothing of ckpt is under way.
    unsafe { mpi::PMPI_Finalize() };
}

/// Ends all ranks.
pub(super) fn abort(code: c_int) {
    // SAFETY: MPI is up.
    unsafe { mpi::PMPI_Abort(mpi::RSMPI_COMM_WORLD, code) };
}

/// Replaces every number by the largest that any rank has in its place. All ranks call, and wait for each other.
pub(super) fn largest(communicator: Communicator, values: &mut [i64]) {
    counted();
    let own = values.to_vec();
    // SAFETY: both buffers have that many 64-bit integers and outlive the call.
    unsafe {
        mpi::PMPI_Allreduce(
            own.as_ptr().cast::<c_void>(),
            values.as_mut_ptr().cast::<c_void>(),
            values.len() as c_int,
            mpi::RSMPI_INT64_T,
            mpi::RSMPI_MAX,
            communicator.0,
        )
    };
}

/// The largest of every number, on its way: begun by each rank when it comes by, and complete once all have begun.
#[derive(Debug)]
pub(super) struct Reduction {
    /// Read and written by MPI until the request is complete; given up to it for good if that is not waited for.
    own: ManuallyDrop<Box<[i64]>>,
    largest: ManuallyDrop<Box<[i64]>>,
    request: mpi::MPI_Request,
    complete: bool,
}

impl Reduction {
    /// Begins one; nobody is waited for.
    pub fn begin(communicator: Communicator, values: &[i64]) -> Self {
        counted();
        let mut own: Box<[i64]> = values.into();
        let mut largest: Box<[i64]> = values.into();
        // SAFETY: the boxes have that many 64-bit integers. They are kept, at their addresses, until the request is
        // complete: `drop` frees them only then. The request is replaced by the call.
        let request = unsafe {
            let mut request = mpi::RSMPI_REQUEST_NULL;
            mpi::PMPI_Iallreduce(
                own.as_mut_ptr().cast::<c_void>(),
                largest.as_mut_ptr().cast::<c_void>(),
                values.len() as c_int,
                mpi::RSMPI_INT64_T,
                mpi::RSMPI_MAX,
                communicator.0,
                &mut request,
            );
            request
        };
        Reduction {
            own: ManuallyDrop::new(own),
            largest: ManuallyDrop::new(largest),
            request,
            complete: false,
        }
    }

    /// The result, if it is there.
    pub fn result(&mut self) -> Option<&[i64]> {
        if !self.complete {
            counted();
            let mut flag = 0;
            // SAFETY: the request is the one of `begin`, and is null once it is complete; the status is ignored.
            unsafe { mpi::PMPI_Test(&mut self.request, &mut flag, mpi::RSMPI_STATUS_IGNORE) };
            self.complete = flag != 0;
        }
        self.complete.then_some(&self.largest[..])
    }
}

impl Drop for Reduction {
    fn drop(&mut self) {
        if self.complete {
            // SAFETY: MPI is done with both, and this is their only owner.
            unsafe {
                ManuallyDrop::drop(&mut self.own);
                ManuallyDrop::drop(&mut self.largest);
            }
        }
    }
}

/// A text on its way to rank 0; it is not waited for.
#[derive(Debug)]
pub(super) struct Letter {
    /// Read by MPI until the request is complete.
    text: ManuallyDrop<Vec<u8>>,
    request: mpi::MPI_Request,
}

impl Letter {
    /// Sends one.
    pub fn send(communicator: Communicator, text: Vec<u8>) -> Self {
        counted();
        // SAFETY: the bytes stay where they are until the request is complete: only then `has_arrived` frees them.
        let request = unsafe {
            let mut request = mpi::RSMPI_REQUEST_NULL;
            mpi::PMPI_Isend(
                text.as_ptr().cast::<c_void>(),
                text.len() as c_int,
                mpi::RSMPI_UINT8_T,
                0,
                0,
                communicator.0,
                &mut request,
            );
            request
        };
        Letter {
            text: ManuallyDrop::new(text),
            request,
        }
    }

    /// Whether MPI is done with it, which is to be asked no more then.
    pub fn has_arrived(&mut self) -> bool {
        counted();
        let mut flag = 0;
        // SAFETY: the request is the one of `send`. The text is freed once: the caller drops the letter then, which does
        // not free it again.
        unsafe {
            mpi::PMPI_Test(&mut self.request, &mut flag, mpi::RSMPI_STATUS_IGNORE);
            if flag != 0 {
                drop(std::mem::take(&mut *self.text));
            }
        }
        flag != 0
    }
}

/// A letter that has come to rank 0, and from whom; none if there is none now.
pub(super) fn next_letter(communicator: Communicator) -> Option<(u32, Vec<u8>)> {
    counted();
    counted();
    // SAFETY: a status is made of C integers, for which zero is a value; all that is written to outlives the calls, and
    // the buffer has the length of the message that was found.
    unsafe {
        let mut status: mpi::MPI_Status = std::mem::zeroed();
        let mut flag = 0;
        mpi::PMPI_Iprobe(mpi::RSMPI_ANY_SOURCE, 0, communicator.0, &mut flag, &mut status);
        if flag == 0 {
            return None;
        }
        let mut length = 0;
        mpi::PMPI_Get_count(&status, mpi::RSMPI_UINT8_T, &mut length);
        let mut text = vec![0_u8; length as usize];
        mpi::PMPI_Recv(
            text.as_mut_ptr().cast::<c_void>(),
            length,
            mpi::RSMPI_UINT8_T,
            status.MPI_SOURCE,
            0,
            communicator.0,
            mpi::RSMPI_STATUS_IGNORE,
        );
        Some((status.MPI_SOURCE as u32, text))
    }
}
