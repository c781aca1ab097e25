//! The clock of the machine, which can be wrong: `TEST_CLOCK` says by how many seconds.

use libc::{CLOCK_REALTIME, c_int, clockid_t, timespec};

/// # Safety
/// As `clock_gettime(2)`.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(clock: clockid_t, to: *mut timespec) -> c_int {
    // SAFETY: the caller's promise is that of the system call, which fills `to` where it succeeds; nothing here sets variables
    // beside other threads.
    unsafe {
        let result = libc::syscall(libc::SYS_clock_gettime, clock, to) as c_int;
        let wrong = libc::getenv(c"TEST_CLOCK".as_ptr());
        if result == 0 && clock == CLOCK_REALTIME && !wrong.is_null() {
            (*to).tv_sec += libc::atol(wrong);
        }
        result
    }
}
