//! The functions of the C library that are more than a system call: the program's are asked first, then these.

use std::ffi::CStr;

use libc::{FILE, aiocb, c_char, c_int, c_uint, c_void, mode_t, off_t, sigevent};

fn find(name: &CStr) -> *mut c_void {
    // SAFETY: the name is a text with a zero at its end.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

/// Functions, each by the name under which the C library has it, with its type; `None` where it has none of that name.
macro_rules! found {
    ($($name:ident: $symbol:literal, fn($($argument:ty),*) $(-> $result:ty)?;)*) => {$(
        pub fn $name() -> Option<unsafe extern "C" fn($($argument),*) $(-> $result)?> {
            let found = find($symbol);
            // SAFETY: the C library's function of this name has this type; null is `None`.
            unsafe { std::mem::transmute(found) }
        }
    )*};
}

found! {
    open_checked: c"__open64_2", fn(*const c_char, c_int) -> c_int;
    fopen: c"fopen64", fn(*const c_char, *const c_char) -> *mut FILE;
    freopen: c"freopen64", fn(*const c_char, *const c_char, *mut FILE) -> *mut FILE;
    fdopen: c"fdopen", fn(c_int, *const c_char) -> *mut FILE;
    fclose: c"fclose", fn(*mut FILE) -> c_int;
    fcloseall: c"fcloseall", fn() -> c_int;
    setmntent: c"setmntent", fn(*const c_char, *const c_char) -> *mut FILE;
    endmntent: c"endmntent", fn(*mut FILE) -> c_int;
    closedir: c"closedir", fn(*mut libc::DIR) -> c_int;
    backtrace_symbols_fd: c"backtrace_symbols_fd", fn(*const *mut c_void, c_int, c_int);
    popen: c"popen", fn(*const c_char, *const c_char) -> *mut FILE;
    pclose: c"pclose", fn(*mut FILE) -> c_int;
    vdprintf: c"vdprintf", fn(c_int, *const c_char, *mut c_void) -> c_int;
    vdprintf_checked: c"__vdprintf_chk", fn(c_int, c_int, *const c_char, *mut c_void) -> c_int;
    shm_open: c"shm_open", fn(*const c_char, c_int, mode_t) -> c_int;
    shm_unlink: c"shm_unlink", fn(*const c_char) -> c_int;
    sem_open: c"sem_open", fn(*const c_char, c_int, mode_t, c_uint) -> *mut c_void;
    sem_unlink: c"sem_unlink", fn(*const c_char) -> c_int;
    aio_write: c"aio_write64", fn(*mut aiocb) -> c_int;
    lio_listio: c"lio_listio64", fn(c_int, *const *mut aiocb, c_int, *mut sigevent) -> c_int;
    posix_fallocate: c"posix_fallocate64", fn(c_int, off_t, off_t) -> c_int;
    closefrom: c"closefrom", fn(c_int);
}

/// Where a function of any type is.
#[cfg(target_arch = "x86_64")]
pub fn address(name: &CStr) -> Option<std::ptr::NonNull<c_void>> {
    std::ptr::NonNull::new(find(name))
}
