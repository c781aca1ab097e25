//! Streams of the C library: they are opened here, and write without calling anybody; and what writes to an open file as to a
//! stream.

use std::ffi::CStr;

use libc::{AT_FDCWD, FILE, c_char, c_int, c_void};

use super::{failed, next, tell, tell_at, writes};
use crate::base::changes::{Change, Where};
use crate::base::current;
use crate::state::journal::descriptors;

/// What a stream may do to its file, by the mode that it is opened with; `None` where it only reads.
///
/// # Safety
/// It is null or a text with a zero at its end.
unsafe fn changes_by(mode: *const c_char) -> Option<(bool, bool)> {
    if mode.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let mode = unsafe { CStr::from_ptr(mode) }.to_bytes();
    let first = mode.first();
    let (creates, truncates) = (first != Some(&b'r'), first == Some(&b'w'));
    (creates || mode.contains(&b'+')).then_some((creates, truncates))
}

/// Tells of a stream that is about to be opened.
///
/// # Safety
/// Both are null or texts with a zero at their end.
unsafe fn stream_opens(folder: c_int, path: *const c_char, mode: *const c_char) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some((creates, truncates)) = changes_by(mode) {
            tell_at(folder, path, true, |at| Change::Stream {
                at,
                creates,
                truncates,
            });
        }
    }
}

/// The number of the file of a stream.
///
/// # Safety
/// It is null or open.
unsafe fn number_of(stream: *mut FILE) -> c_int {
    match stream.is_null() {
        true => -1,
        // SAFETY: the caller's promise.
        false => unsafe { libc::fileno(stream) },
    }
}

/// A stream has been opened, or could not be.
///
/// # Safety
/// As [`number_of`].
unsafe fn opened(stream: *mut FILE) -> *mut FILE {
    // SAFETY: the caller's promise.
    descriptors::opened(unsafe { number_of(stream) });
    stream
}

fn no_such_function() -> *mut FILE {
    failed(libc::ENOSYS);
    std::ptr::null_mut()
}

functions! {
    fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
        stream_opens(AT_FDCWD, path, mode);
        match next::fopen() {
            Some(call) => opened(call(path, mode)),
            None => no_such_function(),
        }
    }
    fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE {
        fopen(path, mode)
    }
    _IO_fopen(path: *const c_char, mode: *const c_char) -> *mut FILE {
        fopen(path, mode)
    }
    freopen(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE {
        let file = number_of(stream);
        match path.is_null() {
            // The same file, in another mode.
            true => stream_opens(file, c"".as_ptr(), mode),
            false => stream_opens(AT_FDCWD, path, mode),
        }
        descriptors::forget(file);
        match next::freopen() {
            Some(call) => opened(call(path, mode, stream)),
            None => no_such_function(),
        }
    }
    freopen64(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE {
        freopen(path, mode, stream)
    }
    fdopen(file: c_int, mode: *const c_char) -> *mut FILE {
        if changes_by(mode).is_some() && current::observes() {
            tell(Change::Unseen(file));
        }
        match next::fdopen() {
            Some(call) => call(file, mode),
            None => no_such_function(),
        }
    }
    _IO_fdopen(file: c_int, mode: *const c_char) -> *mut FILE {
        fdopen(file, mode)
    }
    setmntent(path: *const c_char, mode: *const c_char) -> *mut FILE {
        stream_opens(AT_FDCWD, path, mode);
        match next::setmntent() {
            Some(call) => opened(call(path, mode)),
            None => no_such_function(),
        }
    }
    endmntent(stream: *mut FILE) -> c_int {
        descriptors::forget(number_of(stream));
        match next::endmntent() {
            Some(call) => call(stream),
            None => 1,
        }
    }
    __setmntent(path: *const c_char, mode: *const c_char) -> *mut FILE {
        setmntent(path, mode)
    }
    __endmntent(stream: *mut FILE) -> c_int {
        endmntent(stream)
    }
    popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
        match next::popen() {
            Some(call) => opened(call(command, mode)),
            None => no_such_function(),
        }
    }
    _IO_popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
        popen(command, mode)
    }

    fclose(stream: *mut FILE) -> c_int {
        descriptors::forget(number_of(stream));
        match next::fclose() {
            Some(call) => call(stream),
            None => failed(libc::ENOSYS),
        }
    }
    _IO_fclose(stream: *mut FILE) -> c_int {
        fclose(stream)
    }
    pclose(stream: *mut FILE) -> c_int {
        descriptors::forget(number_of(stream));
        match next::pclose() {
            Some(call) => call(stream),
            None => failed(libc::ENOSYS),
        }
    }
    fcloseall() -> c_int {
        descriptors::forget_all(0, libc::c_uint::MAX);
        match next::fcloseall() {
            Some(call) => call(),
            None => failed(libc::ENOSYS),
        }
    }

    closedir(folder: *mut libc::DIR) -> c_int {
        if !folder.is_null() {
            descriptors::forget(libc::dirfd(folder));
        }
        match next::closedir() {
            Some(call) => call(folder),
            None => failed(libc::ENOSYS),
        }
    }

    backtrace_symbols_fd(addresses: *const *mut c_void, count: c_int, file: c_int) -> () {
        writes(file, Where::Here, || u64::MAX);
        if let Some(call) = next::backtrace_symbols_fd() {
            call(addresses, count, file);
        }
    }
    vdprintf(file: c_int, format: *const c_char, arguments: *mut c_void) -> c_int {
        writes(file, Where::Here, || u64::MAX);
        match next::vdprintf() {
            Some(call) => call(file, format, arguments),
            None => failed(libc::ENOSYS),
        }
    }
    __vdprintf_chk(file: c_int, flag: c_int, format: *const c_char, arguments: *mut c_void) -> c_int {
        writes(file, Where::Here, || u64::MAX);
        match next::vdprintf_checked() {
            Some(call) => call(file, flag, format, arguments),
            None => failed(libc::ENOSYS),
        }
    }
}

/// Functions of as many arguments as the caller likes: they cannot be written in Rust. Each tells of the file that is its
/// first argument, and goes on in the C library's with all of its arguments.
#[cfg(target_arch = "x86_64")]
mod of_any_arguments {
    use std::arch::naked_asm;

    use super::{CStr, Where, c_int, c_void, failed, next, writes};

    extern "C" fn fails() -> c_int {
        failed(libc::ENOSYS)
    }

    fn told(file: c_int, name: &CStr) -> *const c_void {
        // How much is written is known when it is.
        writes(file, Where::Here, || u64::MAX);
        match next::address(name) {
            Some(address) => address.as_ptr(),
            None => fails as *const c_void,
        }
    }

    extern "C" fn dprintf_is_next(file: c_int) -> *const c_void {
        told(file, c"dprintf")
    }

    extern "C" fn checked_is_next(file: c_int) -> *const c_void {
        told(file, c"__dprintf_chk")
    }

    /// All registers in which arguments may be are as they were when the C library's function begins, and so is the stack.
    macro_rules! passed_on {
        ($($name:ident: $next:ident;)*) => {$(
            /// # Safety
            /// As the function of this name in the C library.
            #[unsafe(no_mangle)]
            #[unsafe(naked)]
            unsafe extern "C" fn $name() {
                naked_asm!(
                    "push rbp",
                    "mov rbp, rsp",
                    "sub rsp, 192",
                    "mov [rsp], rdi",
                    "mov [rsp + 8], rsi",
                    "mov [rsp + 16], rdx",
                    "mov [rsp + 24], rcx",
                    "mov [rsp + 32], r8",
                    "mov [rsp + 40], r9",
                    "mov [rsp + 48], rax",
                    "movaps [rsp + 64], xmm0",
                    "movaps [rsp + 80], xmm1",
                    "movaps [rsp + 96], xmm2",
                    "movaps [rsp + 112], xmm3",
                    "movaps [rsp + 128], xmm4",
                    "movaps [rsp + 144], xmm5",
                    "movaps [rsp + 160], xmm6",
                    "movaps [rsp + 176], xmm7",
                    "call {next}",
                    "mov r11, rax",
                    "mov rdi, [rsp]",
                    "mov rsi, [rsp + 8]",
                    "mov rdx, [rsp + 16]",
                    "mov rcx, [rsp + 24]",
                    "mov r8, [rsp + 32]",
                    "mov r9, [rsp + 40]",
                    "mov rax, [rsp + 48]",
                    "movaps xmm0, [rsp + 64]",
                    "movaps xmm1, [rsp + 80]",
                    "movaps xmm2, [rsp + 96]",
                    "movaps xmm3, [rsp + 112]",
                    "movaps xmm4, [rsp + 128]",
                    "movaps xmm5, [rsp + 144]",
                    "movaps xmm6, [rsp + 160]",
                    "movaps xmm7, [rsp + 176]",
                    "leave",
                    "jmp r11",
                    next = sym $next,
                )
            }
        )*};
    }

    passed_on! {
        dprintf: dprintf_is_next;
        __dprintf_chk: checked_is_next;
    }
}
