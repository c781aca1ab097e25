//! A duplicate of the communicator that is begun before the place where the site is, and waited for behind it.

use mpi::ffi;
use mpi::traits::*;

/// What has been begun: where the handles of its request and of the new communicator are.
struct Pending {
    request: usize,
    new: usize,
}

fn begin(of: ffi::MPI_Comm) -> Pending {
    let request = Box::into_raw(Box::new(unsafe { ffi::RSMPI_REQUEST_NULL }));
    let new = Box::into_raw(Box::new(unsafe { ffi::RSMPI_COMM_NULL }));
    unsafe { ffi::MPI_Comm_idup(of, new, request) };
    Pending {
        request: request as usize,
        new: new as usize,
    }
}

/// How many ranks the duplicate has.
fn finish(pending: Pending) -> i32 {
    let mut request = unsafe { Box::from_raw(pending.request as *mut ffi::MPI_Request) };
    let mut new = unsafe { Box::from_raw(pending.new as *mut ffi::MPI_Comm) };
    let mut size = 0;
    unsafe {
        ffi::MPI_Wait(&mut *request, ffi::RSMPI_STATUS_IGNORE);
        ffi::MPI_Comm_size(*new, &mut size);
        ffi::MPI_Comm_free(&mut *new);
    }
    size
}

fn main() {
    let universe = mpi::initialize().expect("MPI");
    let world = universe.world();
    let mut value = f64::from(world.rank());
    for _ in 0..300 {
        let pending = begin(world.as_raw());
        // SITE
        for _ in 0..1000 {
            value = (value + 1.0).sqrt();
        }
        value += f64::from(finish(pending));
    }
    println!("rank {} {value:.12e}", world.rank());
}
