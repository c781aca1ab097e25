//! MPI comes up and goes down: with the program, or before it where ckpt has brought MPI up.

use std::ffi::{c_char, c_int};
use std::sync::atomic::{AtomicBool, Ordering};

use mpi_sys as mpi;

use crate::base::current::{not_the_programs, rolls_back};
use crate::comm::world::current;

/// Whether anything has gone through.
static USED: AtomicBool = AtomicBool::new(false);

/// Whether the program's calls go through this layer.
pub(in crate::comm) fn is_used() -> bool {
    USED.store(false, Ordering::SeqCst);
    let mut up = 0;
    // SAFETY: `up` outlives the call, which is allowed at any time.
    unsafe { mpi::MPI_Initialized(&mut up) };
    USED.load(Ordering::SeqCst)
}

/// Whether there is a world: a program may have brought MPI up without one, by sessions of the library.
pub(in crate::comm) fn has_world() -> bool {
    let (mut up, mut over) = (0, 0);
    // SAFETY: both numbers outlive the calls, which are allowed at any time.
    unsafe {
        mpi::PMPI_Initialized(&mut up);
        mpi::PMPI_Finalized(&mut over);
    }
    up != 0 && over == 0
}

/// # Safety
/// As in MPI: `flag` points to an integer.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Initialized(flag: *mut c_int) -> c_int {
    USED.store(true, Ordering::Relaxed);
    // SAFETY: the caller's promise.
    unsafe {
        let code = mpi::PMPI_Initialized(flag);
        if let Some(world) = current() {
            *flag = c_int::from(world.program_believes_it_is_up(*flag != 0));
        }
        code
    }
}

/// # Safety
/// As in MPI: the arguments are null, or those of `main`.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Init(argc: *mut c_int, argv: *mut *mut *mut c_char) -> c_int {
    program_initialises(|| {
        // SAFETY: the caller's promise.
        (not_the_programs(|| unsafe { mpi::PMPI_Init(argc, argv) }), None)
    })
    .0
}

/// # Safety
/// As in MPI: the arguments are null, or those of `main`; `provided` points to an integer.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Init_thread(
    argc: *mut c_int,
    argv: *mut *mut *mut c_char,
    required: c_int,
    provided: *mut c_int,
) -> c_int {
    let (code, threads) = program_initialises(|| {
        // SAFETY: the caller's promise.
        not_the_programs(|| unsafe {
            let code = mpi::PMPI_Init_thread(argc, argv, required, provided);
            (code, Some(*provided))
        })
    });
    if let Some(threads) = threads {
        // SAFETY: the caller's promise.
        unsafe { *provided = threads };
    }
    code
}

/// `initialise` brings MPI up, unless ckpt has done so before.
fn program_initialises(initialise: impl FnOnce() -> (c_int, Option<c_int>)) -> (c_int, Option<c_int>) {
    match current() {
        Some(world) => world.program_initialises(initialise),
        None => initialise(),
    }
}

/// # Safety
/// As in MPI: the program has nothing under way.
#[unsafe(no_mangle)]
unsafe extern "C" fn MPI_Finalize() -> c_int {
    if let Some(world) = current() {
        if rolls_back() {
            // What unwinds for a checkpoint ends the program's part in MPI: it takes it up again on its way to the site.
            return 0;
        }
        world.program_finalises();
    }
    // SAFETY: the caller's promise.
    not_the_programs(|| unsafe { mpi::PMPI_Finalize() })
}
