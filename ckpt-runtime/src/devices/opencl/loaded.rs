//! Programs that load OpenCL themselves while they run, as `opencl3` does: they ask the loader for its functions, and would go past
//! ours. Where it is the library that the program is linked with, they get the program itself instead, in which ours are
//! found first, and then the library's.

use std::ffi::{CStr, c_char, c_void};
use std::ptr::null;

use super::functions::next;
use super::live::live;

#[link(name = "OpenCL")]
unsafe extern "C" {
    fn clGetSamplerInfo(
        sampler: *mut c_void,
        what: u32,
        size: usize,
        to: *mut c_void,
        needed: *mut usize,
    ) -> i32;
}

/// The program needs the library, whether it loads it or not: what we define is only found in a program if a library that
/// it is linked with has it, too.
#[used]
static IS_LINKED: unsafe extern "C" fn(*mut c_void, u32, usize, *mut c_void, *mut usize) -> i32 =
    clGetSamplerInfo;

/// One of its functions that is not ours.
const ONE_OF_ITS: &CStr = c"clGetSamplerInfo";

/// # Safety
/// As in C.
#[unsafe(no_mangle)]
unsafe extern "C" fn dlopen(name: *const c_char, how: i32) -> *mut c_void {
    // SAFETY: the caller's promise.
    let opened = unsafe { next::dlopen(name, how) };
    // SAFETY: the caller's promise: null, or a text with a zero at its end.
    if opened.is_null() || name.is_null() || !is_opencl(unsafe { CStr::from_ptr(name) }) {
        return opened;
    }
    // SAFETY: the library is open; the name is a text with a zero at its end.
    let (linked, loaded) = unsafe {
        (
            libc::dlsym(libc::RTLD_DEFAULT, ONE_OF_ITS.as_ptr()),
            libc::dlsym(opened, ONE_OF_ITS.as_ptr()),
        )
    };
    if linked != loaded {
        live().other_library();
        return opened;
    }
    // SAFETY: the library stays open, as the program is linked with it.
    unsafe {
        libc::dlclose(opened);
        next::dlopen(null(), how)
    }
}

/// By the name of its file: what only needs OpenCL has other functions as well.
fn is_opencl(name: &CStr) -> bool {
    let name = name.to_bytes();
    let file = name.rsplit(|&byte| byte == b'/').next().unwrap_or(name);
    file.starts_with(b"libOpenCL.so")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_is_known_by_its_file() {
        for name in [
            c"libOpenCL.so",
            c"libOpenCL.so.1",
            c"/opt/intel/lib/libOpenCL.so.1.0.0",
        ] {
            assert!(is_opencl(name), "{name:?}");
        }
        for name in [c"libpocl.so.2", c"/opt/libOpenCL.so.1/libclblast.so", c""] {
            assert!(!is_opencl(name), "{name:?}");
        }
    }
}
