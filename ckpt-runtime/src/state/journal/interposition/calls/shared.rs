//! Memory and semaphores that processes share by a name: they are files in `/dev/shm`, which the C library opens by itself.

use std::ffi::CStr;

use libc::{AT_FDCWD, O_CREAT, O_TRUNC, c_char, c_int, c_uint, c_void, mode_t};

use super::{failed, next, tell_at};
use crate::base::changes::Change;
use crate::state::journal::descriptors;

/// Where they are, as the C library has it.
const FOLDER: &[u8] = b"/dev/shm/";
/// What the name of a semaphore's file begins with.
const SEMAPHORE: &[u8] = b"sem.";
/// The longest name, with its zero.
const LONGEST: usize = 256;

/// Room for a path.
type Path = [u8; FOLDER.len() + SEMAPHORE.len() + LONGEST];

/// The path of a name; `None` where the C library has none either.
///
/// # Safety
/// `name` is null or points to a text with a zero at its end.
unsafe fn path_of<'p>(name: *const c_char, prefix: &[u8], path: &'p mut Path) -> Option<&'p CStr> {
    if name.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let name = unsafe { CStr::from_ptr(name) }.to_bytes();
    let name = &name[name.iter().position(|byte| *byte != b'/')?..];
    if name.len() >= LONGEST || name.contains(&b'/') {
        return None;
    }
    let mut end = 0;
    for part in [FOLDER, prefix, name] {
        path[end..end + part.len()].copy_from_slice(part);
        end += part.len();
    }
    path[end] = 0;
    CStr::from_bytes_until_nul(path).ok()
}

/// # Safety
/// As [`path_of`].
unsafe fn tell_of(
    name: *const c_char,
    prefix: &[u8],
    change: impl for<'a> Fn(crate::base::changes::At<'a>) -> Change<'a>,
) {
    let mut path = [0; size_of::<Path>()];
    // SAFETY: the caller's promise; what is told of is a text with a zero at its end.
    unsafe {
        if let Some(path) = path_of(name, prefix, &mut path) {
            tell_at(AT_FDCWD, path.as_ptr(), false, change);
        }
    }
}

functions! {
    shm_open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        let (creates, truncates) = (flags & O_CREAT != 0, flags & O_TRUNC != 0);
        if creates || truncates {
            tell_of(name, b"", |at| Change::Open { at, creates, truncates, mode });
        }
        let Some(call) = next::shm_open() else {
            return failed(libc::ENOSYS);
        };
        let file = call(name, flags, mode);
        descriptors::opened(file);
        file
    }
    shm_unlink(name: *const c_char) -> c_int {
        tell_of(name, b"", |at| Change::Remove { at });
        match next::shm_unlink() {
            Some(call) => call(name),
            None => failed(libc::ENOSYS),
        }
    }
    sem_open(name: *const c_char, flags: c_int, mode: mode_t, value: c_uint) -> *mut c_void {
        // It is mapped into memory, and counts there.
        let creates = flags & O_CREAT != 0;
        tell_of(name, SEMAPHORE, |at| Change::Stream { at, creates, truncates: false });
        match next::sem_open() {
            Some(call) => call(name, flags, mode, value),
            None => {
                failed(libc::ENOSYS);
                libc::SEM_FAILED.cast()
            }
        }
    }
    sem_unlink(name: *const c_char) -> c_int {
        tell_of(name, SEMAPHORE, |at| Change::Remove { at });
        match next::sem_unlink() {
            Some(call) => call(name),
            None => failed(libc::ENOSYS),
        }
    }
}
