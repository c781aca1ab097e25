//! Stands before OpenCL where it is loaded first (`LD_PRELOAD`), and has no memory for large arrays: `SMALL_DEVICE_MAKES` is the
//! largest that can be made, in bytes, `SMALL_DEVICE_HOLDS` the largest that can be written to, as with libraries that look for memory
//! only then.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

type Object = *mut c_void;
type Make = unsafe extern "C" fn(Object, u64, usize, Object, *mut i32) -> Object;
type Write = unsafe extern "C" fn(
    Object,
    Object,
    u32,
    usize,
    usize,
    *const c_void,
    u32,
    *const Object,
    *mut Object,
) -> i32;

/// No memory for an object, as OpenCL numbers it.
const NO_MEMORY: i32 = -4;
const NEXT: Object = std::ptr::without_provenance_mut(usize::MAX);

unsafe extern "C" {
    fn dlsym(library: Object, name: *const c_char) -> Object;
}

/// The function of this name behind this library.
fn next(name: &CStr) -> usize {
    // SAFETY: the name is a text with a zero at its end.
    unsafe { dlsym(NEXT, name.as_ptr()) }.expose_provenance()
}

fn is_too_large(bytes: usize, variable: &str) -> bool {
    let most = std::env::var(variable).ok();
    most.and_then(|text| text.parse().ok())
        .is_some_and(|most| bytes > most)
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clCreateBuffer(
    context: Object,
    flags: u64,
    bytes: usize,
    from: Object,
    code: *mut i32,
) -> Object {
    static FOUND: OnceLock<usize> = OnceLock::new();
    if is_too_large(bytes, "SMALL_DEVICE_MAKES") {
        if !code.is_null() {
            // SAFETY: the caller's promise.
            unsafe { code.write(NO_MEMORY) };
        }
        return std::ptr::null_mut();
    }
    let found = *FOUND.get_or_init(|| next(c"clCreateBuffer"));
    // SAFETY: the library's function of this name has this type.
    let function: Make = unsafe { std::mem::transmute(std::ptr::with_exposed_provenance::<c_void>(found)) };
    // SAFETY: the caller's promise.
    unsafe { function(context, flags, bytes, from, code) }
}

/// # Safety
/// As in OpenCL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clEnqueueWriteBuffer(
    queue: Object,
    array: Object,
    waits: u32,
    offset: usize,
    bytes: usize,
    from: *const c_void,
    count: u32,
    events: *const Object,
    event: *mut Object,
) -> i32 {
    static FOUND: OnceLock<usize> = OnceLock::new();
    if is_too_large(bytes, "SMALL_DEVICE_HOLDS") {
        return NO_MEMORY;
    }
    let found = *FOUND.get_or_init(|| next(c"clEnqueueWriteBuffer"));
    // SAFETY: the library's function of this name has this type.
    let function: Write = unsafe { std::mem::transmute(std::ptr::with_exposed_provenance::<c_void>(found)) };
    // SAFETY: the caller's promise.
    unsafe { function(queue, array, waits, offset, bytes, from, count, events, event) }
}
