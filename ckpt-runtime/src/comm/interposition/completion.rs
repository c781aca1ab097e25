//! Operations that were begun before: the functions that start, complete and free them, counted as in
//! [`super::point_to_point`].

use std::ffi::c_int;

use mpi_sys as mpi;
use mpi_sys::{MPI_Request, MPI_Status};

use super::channels::{channels, number, statuses};
use crate::comm::check::checks;

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Start(request: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if checks() {
            channels().starts(number(*request));
        }
        mpi::PMPI_Start(request)
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Startall(count: c_int, requests: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if checks() {
            handles(count, requests)
                .into_iter()
                .for_each(|handle| channels().starts(handle));
        }
        mpi::PMPI_Startall(count, requests)
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Request_free(request: *mut MPI_Request) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if checks() {
            let handle = number(*request);
            channels().operations.get_or_insert_default().remove(&handle);
        }
        mpi::PMPI_Request_free(request)
    }
}

/// # Safety
/// `requests` points to so many of them.
unsafe fn handles(count: c_int, requests: *const MPI_Request) -> Vec<u64> {
    // SAFETY: the caller's promise.
    let one = |index: c_int| number(unsafe { *requests.offset(index as isize) });
    (0..count).map(one).collect()
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Wait(request: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Wait(request, status);
        }
        let handle = number(*request);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Wait(request, status);
        channels().completes(handle, &*status);
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Test(request: *mut MPI_Request, flag: *mut c_int, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Test(request, flag, status);
        }
        let handle = number(*request);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Test(request, flag, status);
        if *flag != 0 {
            channels().completes(handle, &*status);
        }
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Waitall(count: c_int, requests: *mut MPI_Request, status: *mut MPI_Status) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Waitall(count, requests, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, count, &mut own);
        let code = mpi::PMPI_Waitall(count, requests, status);
        all_complete(&handles, status);
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Testall(
    count: c_int,
    requests: *mut MPI_Request,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Testall(count, requests, flag, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, count, &mut own);
        let code = mpi::PMPI_Testall(count, requests, flag, status);
        if *flag != 0 {
            all_complete(&handles, status);
        }
        code
    }
}

/// # Safety
/// There is a status for every handle.
unsafe fn all_complete(handles: &[u64], status: *const MPI_Status) {
    let mut channels = channels();
    for (index, &handle) in handles.iter().enumerate() {
        // SAFETY: the caller's promise.
        channels.completes(handle, unsafe { &*status.add(index) });
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Waitany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Waitany(count, requests, index, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Waitany(count, requests, index, status);
        if let Some(&handle) = usize::try_from(*index).ok().and_then(|index| handles.get(index)) {
            channels().completes(handle, &*status);
        }
        code
    }
}

/// # Safety
/// As in MPI.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Testany(
    count: c_int,
    requests: *mut MPI_Request,
    index: *mut c_int,
    flag: *mut c_int,
    status: *mut MPI_Status,
) -> c_int {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if !checks() {
            return mpi::PMPI_Testany(count, requests, index, flag, status);
        }
        let handles = handles(count, requests);
        let mut own = Vec::new();
        let status = statuses(status, 1, &mut own);
        let code = mpi::PMPI_Testany(count, requests, index, flag, status);
        let completed = usize::try_from(*index).ok().and_then(|index| handles.get(index));
        if let (Some(&handle), true) = (completed, *flag != 0) {
            channels().completes(handle, &*status);
        }
        code
    }
}

macro_rules! completes_some {
    ($($name:ident $library:ident,)*) => {$(
        /// # Safety
        /// As in MPI.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            count: c_int, requests: *mut MPI_Request, completed: *mut c_int, indices: *mut c_int, status: *mut MPI_Status,
        ) -> c_int {
            // SAFETY: the caller's promise, here and below.
            unsafe {
                if !checks() {
                    return mpi::$library(count, requests, completed, indices, status);
                }
                let handles = handles(count, requests);
                let mut own = Vec::new();
                let status = statuses(status, count, &mut own);
                let code = mpi::$library(count, requests, completed, indices, status);
                let mut channels = channels();
                for number in 0..(*completed).max(0) {
                    let index = usize::try_from(*indices.offset(number as isize)).ok();
                    if let Some(&handle) = index.and_then(|index| handles.get(index)) {
                        channels.completes(handle, &*status.offset(number as isize));
                    }
                }
                code
            }
        }
    )*};
}

completes_some! { MPI_Waitsome PMPI_Waitsome, MPI_Testsome PMPI_Testsome, }
