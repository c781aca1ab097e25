//! ckpt's own calls of MPI, by their `PMPI_` names: nobody who counts or replaces the program's calls sees them, and they
//! are made on a communicator of ckpt's own, where no message of the program can be taken for one of theirs.

use std::ffi::{c_int, c_void};
use std::mem::ManuallyDrop;
use std::ptr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use mpi_sys as mpi;

use super::counters::ChannelCounters;
use super::transport::{Calls, Delivery, Reduction, Transport};
use super::{Member, interposition, launcher};
use crate::base::lock::locked;

/// What a launcher is given to read what a rank has printed last.
const LAUNCHER_READS: Duration = Duration::from_millis(200);

/// The ranks of an MPI program.
#[derive(Debug)]
pub(super) struct Mpi {
    calls: Arc<Calls>,
    /// Where ckpt speaks, from `join` to `leave`. A leaf lock.
    communicator: Mutex<Option<Communicator>>,
}

/// A communicator of ckpt's own.
#[derive(Debug, Clone, Copy)]
struct Communicator(mpi::MPI_Comm);

// SAFETY: the handle is a number or an opaque address, which may be used from any thread; which threads may call MPI with
// it is decided by the callers, who are all on the thread of the session.
unsafe impl Send for Communicator {}

impl Mpi {
    pub fn new() -> Mpi {
        Mpi {
            calls: Arc::new(Calls::new()),
            communicator: Mutex::new(None),
        }
    }

    fn with_communicator<R>(&self, act: impl FnOnce(&mut Option<Communicator>) -> R) -> R {
        act(&mut locked(&self.communicator))
    }

    /// Where ckpt speaks; nobody hears it before `join`.
    fn communicator(&self) -> mpi::MPI_Comm {
        // SAFETY: a constant of the shim library.
        let nobody = || unsafe { mpi::RSMPI_COMM_NULL };
        self.with_communicator(|communicator| communicator.map_or_else(nobody, |communicator| communicator.0))
    }
}

impl Transport for Mpi {
    fn has_others(&self) -> bool {
        true
    }

    fn is_up(&self) -> bool {
        interposition::has_world()
    }

    fn foretold(&self) -> Option<Member> {
        launcher::member()
    }

    fn bring_up(&self, threads: Option<i32>) -> i32 {
        self.calls.count();
        // SAFETY: a constant of the shim library: the level that lets every thread call MPI.
        let threads = threads.unwrap_or(unsafe { mpi::RSMPI_THREAD_MULTIPLE });
        let mut provided = 0;
        // SAFETY: null arguments are allowed since MPI-2; `provided` outlives the call.
        unsafe { mpi::PMPI_Init_thread(ptr::null_mut(), ptr::null_mut(), threads, &mut provided) };
        provided
    }

    fn threads(&self) -> i32 {
        self.calls.count();
        let mut level = 0;
        // SAFETY: `level` outlives the call; MPI is up.
        unsafe { mpi::PMPI_Query_thread(&mut level) };
        level
    }

    fn join(&self) -> Member {
        let (mut rank, mut size) = (0, 0);
        (0..3).for_each(|_| self.calls.count());
        // SAFETY: what is written to outlives the calls; MPI is up. A constant of the shim library is copied, and replaced
        // by the call.
        let communicator = unsafe {
            mpi::PMPI_Comm_rank(mpi::RSMPI_COMM_WORLD, &mut rank);
            mpi::PMPI_Comm_size(mpi::RSMPI_COMM_WORLD, &mut size);
            let mut communicator = mpi::RSMPI_COMM_NULL;
            mpi::PMPI_Comm_dup(mpi::RSMPI_COMM_WORLD, &mut communicator);
            communicator
        };
        self.with_communicator(|own| *own = Some(Communicator(communicator)));
        Member {
            rank: rank as u32,
            size: size as u32,
        }
    }

    fn leave(&self) {
        if let Some(mut communicator) = self.with_communicator(Option::take) {
            self.calls.count();
            // SAFETY: it was made by `join` and is not used afterwards.
            unsafe { mpi::PMPI_Comm_free(&mut communicator.0) };
        }
    }

    fn take_down(&self) {
        self.calls.count();
        // SAFETY: MPI is up, and nothing of ckpt is under way.
        unsafe { mpi::PMPI_Finalize() };
    }

    fn stands_in_the_way(&self) -> Option<&'static str> {
        interposition::lasts()
    }

    fn is_about_to_go_back(&self) {
        interposition::is_taken_back();
    }

    fn goes_back(&self) {
        interposition::is_given_again();
    }

    fn abort(&self, code: i32) {
        // MPICH's launcher ends with what it has been sent, whatever it has not read: the message has to be with it by then.
        thread::sleep(LAUNCHER_READS);
        // SAFETY: MPI is up.
        unsafe { mpi::PMPI_Abort(mpi::RSMPI_COMM_WORLD, code) };
    }

    fn largest(&self, values: &mut [i64]) {
        self.calls.count();
        let own = values.to_vec();
        // SAFETY: both buffers have that many 64-bit integers and outlive the call.
        unsafe {
            mpi::PMPI_Allreduce(
                own.as_ptr().cast::<c_void>(),
                values.as_mut_ptr().cast::<c_void>(),
                values.len() as c_int,
                mpi::RSMPI_INT64_T,
                mpi::RSMPI_MAX,
                self.communicator(),
            )
        };
    }

    fn begin_largest(&self, values: &[i64]) -> Box<dyn Reduction> {
        self.calls.count();
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
                self.communicator(),
                &mut request,
            );
            request
        };
        Box::new(Largest {
            own: ManuallyDrop::new(own),
            largest: ManuallyDrop::new(largest),
            operation: Operation::begun(request, &self.calls),
        })
    }

    fn send(&self, text: Vec<u8>) -> Box<dyn Delivery> {
        self.calls.count();
        // SAFETY: the bytes stay where they are until the request is complete: only then `is_done` frees them.
        let request = unsafe {
            let mut request = mpi::RSMPI_REQUEST_NULL;
            mpi::PMPI_Isend(
                text.as_ptr().cast::<c_void>(),
                text.len() as c_int,
                mpi::RSMPI_UINT8_T,
                0,
                0,
                self.communicator(),
                &mut request,
            );
            request
        };
        Box::new(Text {
            text: ManuallyDrop::new(text),
            operation: Operation::begun(request, &self.calls),
        })
    }

    fn receive(&self) -> Option<(u32, Vec<u8>)> {
        self.calls.count();
        self.calls.count();
        let communicator = self.communicator();
        // SAFETY: a status is made of C integers, for which zero is a value; all that is written to outlives the calls,
        // and the buffer has the length of the message that was found.
        unsafe {
            let mut status: mpi::MPI_Status = std::mem::zeroed();
            let mut flag = 0;
            mpi::PMPI_Iprobe(mpi::RSMPI_ANY_SOURCE, 0, communicator, &mut flag, &mut status);
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
                communicator,
                mpi::RSMPI_STATUS_IGNORE,
            );
            Some((status.MPI_SOURCE as u32, text))
        }
    }

    fn counters(&self) -> ChannelCounters {
        interposition::counters()
    }

    fn calls(&self) -> &Calls {
        &self.calls
    }
}

/// An operation of ckpt's own that is under way.
#[derive(Debug)]
struct Operation {
    request: mpi::MPI_Request,
    is_complete: bool,
    calls: Arc<Calls>,
}

// SAFETY: as for the communicator: the handle may be used from any thread.
unsafe impl Send for Operation {}

impl Operation {
    fn begun(request: mpi::MPI_Request, calls: &Arc<Calls>) -> Operation {
        Operation {
            request,
            is_complete: false,
            calls: Arc::clone(calls),
        }
    }

    fn is_complete(&mut self) -> bool {
        if !self.is_complete {
            self.calls.count();
            let mut flag = 0;
            // SAFETY: the request is that of an operation that was begun, and is null once it is complete; the status is
            // ignored.
            unsafe { mpi::PMPI_Test(&mut self.request, &mut flag, mpi::RSMPI_STATUS_IGNORE) };
            self.is_complete = flag != 0;
        }
        self.is_complete
    }
}

/// A reduction on its way.
#[derive(Debug)]
struct Largest {
    /// Read and written by MPI until the operation is complete; given up to it for good if that is not waited for.
    own: ManuallyDrop<Box<[i64]>>,
    largest: ManuallyDrop<Box<[i64]>>,
    operation: Operation,
}

impl Reduction for Largest {
    fn result(&mut self) -> Option<&[i64]> {
        self.operation.is_complete().then_some(&self.largest[..])
    }
}

impl Drop for Largest {
    fn drop(&mut self) {
        if self.operation.is_complete {
            // SAFETY: MPI is done with both, and this is their only owner.
            unsafe {
                ManuallyDrop::drop(&mut self.own);
                ManuallyDrop::drop(&mut self.largest);
            }
        }
    }
}

/// A text on its way to rank 0.
#[derive(Debug)]
struct Text {
    /// Read by MPI until the operation is complete.
    text: ManuallyDrop<Vec<u8>>,
    operation: Operation,
}

impl Delivery for Text {
    fn is_done(&mut self) -> bool {
        let is_done = self.operation.is_complete();
        if is_done {
            drop(std::mem::take(&mut *self.text));
        }
        is_done
    }
}
