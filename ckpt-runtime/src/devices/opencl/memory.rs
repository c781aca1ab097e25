//! Arrays for which a device has no memory: a restart that cannot make one again says which device it was, and how much was asked for.

use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::Mutex;

use super::functions::next;
use super::shown::name_of;
use super::{CONTEXT_DEVICES, SUCCESS};
use crate::base::lock::locked;
use crate::devices::NoMemory;

/// As the library numbers them: no memory for an object, no resources, no memory on the host, more than one array may have.
const NO_MEMORY: [i32; 4] = [-4, -5, -6, -61];

/// The last one.
static REFUSED: Mutex<Option<NoMemory>> = Mutex::new(None);

/// The library has made no array of so many bytes.
pub(super) fn is_refused(context: *mut c_void, bytes: usize, code: i32) {
    if let Some(refused) = no_memory(context, bytes, code) {
        *locked(&REFUSED) = Some(refused);
    }
}

/// The last array that could not be made.
pub(in crate::devices) fn refused() -> Option<NoMemory> {
    locked(&REFUSED).clone()
}

/// Where this is what the library's answer says.
pub(super) fn no_memory(context: *mut c_void, bytes: usize, code: i32) -> Option<NoMemory> {
    (bytes > 0 && NO_MEMORY.contains(&code)).then(|| NoMemory {
        bytes,
        device: devices_of(context),
        answer: format!("error {code} of OpenCL"),
    })
}

/// The names of a context's devices.
fn devices_of(context: *mut c_void) -> String {
    let mut devices = [null_mut::<c_void>(); 64];
    let mut size = 0;
    // SAFETY: the context is one that the program has just used; what is written has room.
    let code = unsafe {
        next::clGetContextInfo(
            context,
            CONTEXT_DEVICES,
            size_of_val(&devices),
            devices.as_mut_ptr().cast(),
            &raw mut size,
        )
    };
    let count = match code {
        SUCCESS => size / size_of::<*mut c_void>(),
        _ => 0,
    };
    let mut names: Vec<String> = devices
        .iter()
        .take(count)
        .map(|device| name_of(*device))
        .collect();
    names.dedup();
    names.join(", ")
}
