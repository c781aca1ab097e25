//! What files go through: `open`, `unlink` and `rename` of the C library, as the program and all that it links
//! call them. Each is the system call that it would be without, and reports it to [`super`] first.
//!
//! The executable's own definitions come before those of a shared C library. Where the C library is linked statically,
//! or is another one, there is none of this, and a session that sees nothing go through says so.

use std::ffi::CStr;
use std::sync::atomic::{AtomicBool, Ordering};

use libc::{c_char, c_int};

use crate::base::current::FileObserver;

/// Whether anything has gone through: of the program and its C library, whatever session there is.
static USED: AtomicBool = AtomicBool::new(false);

/// Whether the program's files come through here.
pub(super) fn is_used() -> bool {
    USED.store(false, Ordering::SeqCst);
    drop(std::fs::File::open("/dev/null"));
    USED.load(Ordering::SeqCst)
}

/// Tells about a path, if it is one.
///
/// # Safety
/// `path` is null or points to a text with a zero at its end.
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu", not(miri))),
    expect(dead_code)
)]
unsafe fn with_path(path: *const c_char, tell: impl FnOnce(&dyn FileObserver, &CStr)) {
    USED.store(true, Ordering::Relaxed);
    if path.is_null() {
        return;
    }
    if let Some(observer) = super::observer() {
        // SAFETY: the caller's promise.
        tell(&*observer, unsafe { CStr::from_ptr(path) });
    }
}

#[cfg(all(target_os = "linux", target_env = "gnu", not(miri)))]
mod calls {
    use super::{c_char, c_int, with_path};

    /// # Safety
    /// As `open(2)`: `path` points to a text with a zero at its end.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
        // SAFETY: the caller's promise is that of `open(2)`. The mode is read by the kernel only where the flags ask for
        // it; where they do not, and the caller passed none, any number will do.
        unsafe {
            with_path(path, |observer, path| observer.before_open(path, flags));
            libc::syscall(
                libc::SYS_openat,
                libc::AT_FDCWD,
                path,
                flags | libc::O_LARGEFILE,
                mode,
            ) as c_int
        }
    }

    /// # Safety
    /// As `open(2)`.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn open(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
        // SAFETY: the same promise.
        unsafe { open64(path, flags, mode) }
    }

    /// # Safety
    /// As `unlink(2)`.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
        // SAFETY: the caller's promise is that of `unlink(2)`.
        unsafe {
            with_path(path, |observer, path| observer.before_removal(path));
            libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0) as c_int
        }
    }

    /// # Safety
    /// As `rename(2)`.
    #[unsafe(no_mangle)]
    unsafe extern "C" fn rename(old: *const c_char, new: *const c_char) -> c_int {
        // SAFETY: the caller's promise is that of `rename(2)`.
        unsafe {
            with_path(old, |observer, path| observer.before_removal(path));
            with_path(new, |observer, path| observer.before_replacement(path));
            libc::syscall(libc::SYS_renameat2, libc::AT_FDCWD, old, libc::AT_FDCWD, new, 0) as c_int
        }
    }
}
