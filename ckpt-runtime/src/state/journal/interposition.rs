//! What files go through: the functions of the C library that change files and folders, as the program and all that it
//! links call them. Each is the system call that it would be without, and reports it to [`super`] first.
//!
//! The executable's own definitions come before those of a shared C library. Where the C library is linked statically,
//! or is another one, there is none of this, and a session that sees nothing go through says so.

use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether anything has gone through: of the program and its C library, whatever session there is.
static USED: AtomicBool = AtomicBool::new(false);

/// Forks are told of it once in the life of a process.
static ONCE: Once = Once::new();

/// Whether the program's files come through here.
pub(super) fn is_used() -> bool {
    USED.store(false, Ordering::SeqCst);
    drop(std::fs::File::open("/dev/null"));
    USED.load(Ordering::SeqCst)
}

/// Only this process has the session, and is heard: a fork has neither the threads of it, nor may it write to the log that its
/// observer has open.
pub(super) fn only_this_process() {
    extern "C" fn in_a_fork() {
        crate::base::current::forked();
    }
    ONCE.call_once(|| {
        // SAFETY: the function sets flags and calls the system, which is all that a fork of a process with threads may do. Where it cannot be
        // called, the C library has no room for its address, and nothing is changed.
        unsafe { libc::pthread_atfork(None, None, Some(in_a_fork)) };
    });
}

#[cfg(all(
    target_os = "linux",
    target_env = "gnu",
    target_pointer_width = "64",
    not(miri)
))]
mod calls {
    use std::ffi::CStr;
    use std::sync::atomic::Ordering;

    use libc::{
        AT_EMPTY_PATH, AT_FDCWD, AT_REMOVEDIR, AT_SYMLINK_FOLLOW, O_CREAT, O_TRUNC, aiocb, c_char, c_int,
        c_long, c_uint, c_ulong, c_void, dev_t, iovec, loff_t, mode_t, off_t, sigevent, size_t, ssize_t,
    };

    use crate::base::changes::{At, Change, Where};
    use crate::base::current;
    use crate::base::held_locks;
    use crate::base::kept_open;
    use crate::base::own;
    use crate::base::signals::undisturbed;
    use crate::state::journal::{descriptors, observer};

    /// The number of `fchmodat2`, which is the same on every machine that this is for; the binding does not have it for all.
    const FCHMODAT2: c_long = 452;

    /// Bytes are written where it is said, also by a handle that appends (Linux 6.9).
    const RWF_NOAPPEND: c_int = 0x20;
    /// Files of these numbers are not closed, but will be when another program takes the place of this one.
    const CLOSE_RANGE_CLOEXEC: c_int = 4;

    /// Tells of a change. Nothing is called where no session observes. A handler of a signal that changes files would wait for
    /// the thread that it interrupts: it comes before or after, and what it changes is told of like all else.
    fn tell(change: Change<'_>) {
        if current::observes() && own::is_the_programs() {
            undisturbed(|| {
                if let Some(observer) = observer() {
                    stacks::with_enough(|| observer.before(change));
                }
            });
        }
    }

    /// Tells of a change of what is at a path, if it is one.
    ///
    /// # Safety
    /// `path` is null or points to a text with a zero at its end.
    unsafe fn tell_at(
        folder: c_int,
        path: *const c_char,
        follows: bool,
        change: impl for<'a> Fn(At<'a>) -> Change<'a>,
    ) {
        if path.is_null() || !current::observes() {
            return;
        }
        // SAFETY: the caller's promise.
        let path = unsafe { CStr::from_ptr(path) };
        tell(change(At {
            folder,
            path,
            follows,
        }));
    }

    /// The same of two.
    ///
    /// # Safety
    /// As [`tell_at`], of both.
    unsafe fn tell_both(
        old: (c_int, *const c_char, bool),
        new: (c_int, *const c_char, bool),
        change: impl for<'a> Fn(At<'a>, At<'a>) -> Change<'a>,
    ) {
        if old.1.is_null() || new.1.is_null() || !current::observes() {
            return;
        }
        let at = |(folder, path, follows)| At {
            folder,
            // SAFETY: the caller's promise; neither is null.
            path: unsafe { CStr::from_ptr(path) },
            follows,
        };
        tell(change(at(old), at(new)));
    }

    /// Tells of bytes that are about to be written, where that is not known to need nothing.
    #[inline]
    fn writes(file: c_int, at: Where, count: impl FnOnce() -> u64) {
        if current::observes() && !descriptors::needs_nothing(file, at) {
            let count = count();
            tell(Change::Write { file, at, count });
        }
    }

    /// As the C library does it where the kernel has no call with flags (before Linux 6.6): a link has no permissions.
    ///
    /// # Safety
    /// As `fchmodat(2)`.
    unsafe fn change_mode(folder: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int {
        // SAFETY: the caller's promise is that of these calls; what is opened is closed, and `status` is filled before it
        // is read.
        unsafe {
            if flags == 0 {
                return libc::syscall(libc::SYS_fchmodat, folder, path, mode) as c_int;
            }
            let done = libc::syscall(FCHMODAT2, folder, path, mode, flags) as c_int;
            let is_unknown = done == -1 && *libc::__errno_location() == libc::ENOSYS;
            if !is_unknown || flags != libc::AT_SYMLINK_NOFOLLOW {
                return done;
            }
            let how = libc::O_PATH | libc::O_NOFOLLOW | libc::O_CLOEXEC;
            let file = libc::syscall(libc::SYS_openat, folder, path, how, 0) as c_int;
            if file < 0 {
                return -1;
            }
            let mut status = std::mem::zeroed::<libc::stat>();
            let is_link =
                libc::fstat(file, &mut status) == 0 && status.st_mode & libc::S_IFMT == libc::S_IFLNK;
            let (done, error) = if is_link {
                (-1, libc::EOPNOTSUPP)
            } else {
                let name = std::ffi::CString::new(format!("/proc/self/fd/{file}")).unwrap_or_default();
                let done = libc::syscall(libc::SYS_fchmodat, AT_FDCWD, name.as_ptr(), mode) as c_int;
                (done, *libc::__errno_location())
            };
            libc::syscall(libc::SYS_close, file);
            *libc::__errno_location() = error;
            done
        }
    }

    /// # Safety
    /// As `readv(2)`.
    unsafe fn total(parts: *const iovec, count: c_int) -> u64 {
        let parts = match usize::try_from(count) {
            // SAFETY: the caller's promise: so many parts are there.
            Ok(count) if !parts.is_null() => unsafe { std::slice::from_raw_parts(parts, count) },
            _ => &[],
        };
        parts.iter().map(|part| part.iov_len as u64).sum()
    }

    /// # Safety
    /// As `openat(2)`: `path` points to a text with a zero at its end.
    unsafe fn open_in(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
        super::USED.store(true, Ordering::Relaxed);
        let (creates, truncates) = (flags & O_CREAT != 0, flags & O_TRUNC != 0);
        let is_unnamed = flags & libc::O_TMPFILE == libc::O_TMPFILE;
        // SAFETY: the caller's promise is that of `openat(2)`. The mode is read by the kernel only where the flags ask for
        // it; where they do not, and the caller passed none, any number will do.
        unsafe {
            if (creates || truncates) && !is_unnamed {
                let follows = flags & libc::O_NOFOLLOW == 0 && !(creates && flags & libc::O_EXCL != 0);
                tell_at(folder, path, follows, |at| Change::Open {
                    at,
                    creates,
                    truncates,
                    mode,
                });
            }
            let file =
                libc::syscall(libc::SYS_openat, folder, path, flags | libc::O_LARGEFILE, mode) as c_int;
            descriptors::opened(file);
            file
        }
    }

    /// As programs that are built with checks of the C library's (`_FORTIFY_SOURCE`) open what is there.
    ///
    /// # Safety
    /// As [`open_in`].
    unsafe fn open_checked(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
        if flags & O_CREAT != 0 || flags & libc::O_TMPFILE == libc::O_TMPFILE {
            // There is a mode that was not given: the C library ends the program.
            if let Some(call) = next::open_checked() {
                // SAFETY: the caller's promise.
                return unsafe { call(path, flags) };
            }
        }
        // SAFETY: the caller's promise.
        unsafe { open_in(folder, path, flags, 0) }
    }

    /// Whether this makes other bytes of a file: those of another one, or none where some were.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    fn changes_bytes(request: c_ulong) -> bool {
        const FICLONE: c_ulong = 0x4004_9409;
        const FICLONERANGE: c_ulong = 0x4020_940d;
        const FS_IOC_UNRESVSP: c_ulong = 0x4030_5829;
        const FS_IOC_UNRESVSP64: c_ulong = 0x4030_582b;
        const FS_IOC_ZERO_RANGE: c_ulong = 0x4030_5839;
        matches!(
            request,
            FICLONE | FICLONERANGE | FS_IOC_UNRESVSP | FS_IOC_UNRESVSP64 | FS_IOC_ZERO_RANGE
        )
    }

    /// Tells of a socket that is about to be made at a path, if it is one of those.
    ///
    /// # Safety
    /// As `bind(2)`: so many bytes of the address are there, or it is null.
    unsafe fn makes_socket(address: *const libc::sockaddr, length: libc::socklen_t) {
        const BEGIN: usize = std::mem::offset_of!(libc::sockaddr_un, sun_path);
        let length = length as usize;
        if address.is_null() || length <= BEGIN || !current::observes() {
            return;
        }
        // SAFETY: the caller's promise; the kind stands before the path.
        let bytes = unsafe { std::slice::from_raw_parts(address.cast::<u8>(), length) };
        let is_of_a_path = bytes[..2] == (libc::AF_UNIX as libc::sa_family_t).to_ne_bytes();
        let mut path = [0; size_of::<libc::sockaddr_un>()];
        let named = &bytes[BEGIN..];
        // A name that begins with a zero is none of a file.
        if is_of_a_path && named[0] != 0 && named.len() < path.len() {
            path[..named.len()].copy_from_slice(named);
            // SAFETY: there are zeros behind what was copied.
            unsafe { tell_at(AT_FDCWD, path.as_ptr().cast(), false, |at| Change::Make { at }) };
        }
    }

    /// Makes something of a name that nothing has: `make` does, or says that something has it.
    ///
    /// # Safety
    /// As `mkstemps(3)`: `template` points to a text with a zero at its end that may be written to, or is null.
    unsafe fn of_a_new_name(template: *mut c_char, suffix: c_int, make: impl Fn() -> c_int) -> c_int {
        const LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
        const CHOSEN: usize = 6;
        let length = match template.is_null() {
            true => 0,
            // SAFETY: the caller's promise.
            false => unsafe { libc::strlen(template) },
        };
        let begin = usize::try_from(suffix)
            .ok()
            .and_then(|suffix| length.checked_sub(suffix)?.checked_sub(CHOSEN));
        // SAFETY: so many bytes of the text are there.
        let chosen = begin.map(|begin| unsafe { template.add(begin) }.cast::<u8>());
        // SAFETY: as above.
        let is_free = |at: &*mut u8| (0..CHOSEN).all(|k| unsafe { *at.add(k) } == b'X');
        let Some(chosen) = chosen.filter(is_free) else {
            return failed(libc::EINVAL);
        };
        for _ in 0..1000 {
            let mut random = 0_u64;
            // SAFETY: the system fills the eight bytes, or as many as it can.
            unsafe { libc::syscall(libc::SYS_getrandom, &raw mut random, 8_usize, 0) };
            for k in 0..CHOSEN {
                // SAFETY: the bytes are there, and may be written to.
                unsafe { *chosen.add(k) = LETTERS[(random % 62) as usize] };
                random /= 62;
            }
            let made = make();
            // SAFETY: every thread has its `errno`.
            if made >= 0 || unsafe { *libc::__errno_location() } != libc::EEXIST {
                return made;
            }
        }
        -1
    }

    /// What a function gives that fails with this error.
    fn failed(errno: c_int) -> c_int {
        // SAFETY: every thread has its `errno`.
        unsafe { *libc::__errno_location() = errno };
        -1
    }

    /// Tells of what is about to be written while the program goes on.
    ///
    /// # Safety
    /// As `aio_write(3)`: it is null or what that function takes.
    unsafe fn writes_later(block: *const aiocb) {
        // SAFETY: the caller's promise.
        if let Some(block) = unsafe { block.as_ref() } {
            let at = Where::From(block.aio_offset as u64);
            writes(block.aio_fildes, at, || block.aio_nbytes as u64);
        }
    }

    /// Functions by the name and the promise of the C library's.
    macro_rules! functions {
        ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block)*) => {$(
            /// # Safety
            /// As the function of this name in the C library.
            #[unsafe(no_mangle)]
            unsafe extern "C" fn $name($($argument: $type),*) -> $result {
                // SAFETY: the caller's promise is that of the C library's function, which that of the system call
                // follows from; paths are null or texts with a zero at their end.
                unsafe { $body }
            }
        )*};
    }

    // Where the C library's own does more than the system call, or the numbers are others, this is not seen.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_arch = "riscv64"))]
    functions! {
        ioctl(file: c_int, request: c_ulong, argument: usize) -> c_int {
            if changes_bytes(request) && current::observes() {
                tell(Change::Write { file, at: Where::Exactly(0), count: u64::MAX });
            }
            libc::syscall(libc::SYS_ioctl, file, request, argument) as c_int
        }
    }

    functions! {
        flock(file: c_int, operation: c_int) -> c_int {
            held_locks::let_go(file);
            libc::syscall(libc::SYS_flock, file, operation) as c_int
        }

        open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            open_in(AT_FDCWD, path, flags, mode)
        }
        open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            open_in(AT_FDCWD, path, flags, mode)
        }
        openat(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            open_in(folder, path, flags, mode)
        }
        openat64(folder: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            open_in(folder, path, flags, mode)
        }
        creat(path: *const c_char, mode: mode_t) -> c_int {
            open_in(AT_FDCWD, path, libc::O_WRONLY | O_CREAT | O_TRUNC, mode)
        }
        creat64(path: *const c_char, mode: mode_t) -> c_int {
            open_in(AT_FDCWD, path, libc::O_WRONLY | O_CREAT | O_TRUNC, mode)
        }

        __open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            open_in(AT_FDCWD, path, flags, mode)
        }
        __open64(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            open_in(AT_FDCWD, path, flags, mode)
        }
        __open_2(path: *const c_char, flags: c_int) -> c_int {
            open_checked(AT_FDCWD, path, flags)
        }
        __open64_2(path: *const c_char, flags: c_int) -> c_int {
            open_checked(AT_FDCWD, path, flags)
        }
        __openat_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
            open_checked(folder, path, flags)
        }
        __openat64_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
            open_checked(folder, path, flags)
        }
        open_by_handle_at(mount: c_int, handle: *mut c_void, flags: c_int) -> c_int {
            // Which file it is, is known when it is open: it is emptied then.
            let file = libc::syscall(libc::SYS_open_by_handle_at, mount, handle, flags & !O_TRUNC) as c_int;
            descriptors::opened(file);
            if file >= 0 && flags & O_TRUNC != 0 && ftruncate(file, 0) != 0 {
                let errno = *libc::__errno_location();
                close(file);
                return failed(errno);
            }
            file
        }

        mkostemps(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int {
            let flags = flags & !libc::O_ACCMODE | libc::O_RDWR | O_CREAT | libc::O_EXCL;
            of_a_new_name(template, suffix, || open_in(AT_FDCWD, template, flags, 0o600))
        }
        mkostemps64(template: *mut c_char, suffix: c_int, flags: c_int) -> c_int {
            mkostemps(template, suffix, flags)
        }
        mkostemp(template: *mut c_char, flags: c_int) -> c_int {
            mkostemps(template, 0, flags)
        }
        mkostemp64(template: *mut c_char, flags: c_int) -> c_int {
            mkostemps(template, 0, flags)
        }
        mkstemps(template: *mut c_char, suffix: c_int) -> c_int {
            mkostemps(template, suffix, 0)
        }
        mkstemps64(template: *mut c_char, suffix: c_int) -> c_int {
            mkostemps(template, suffix, 0)
        }
        mkstemp(template: *mut c_char) -> c_int {
            mkostemps(template, 0, 0)
        }
        mkstemp64(template: *mut c_char) -> c_int {
            mkostemps(template, 0, 0)
        }
        mkdtemp(template: *mut c_char) -> *mut c_char {
            match of_a_new_name(template, 0, || mkdirat(AT_FDCWD, template, 0o700)) {
                0.. => template,
                _ => std::ptr::null_mut(),
            }
        }
        mknodat(folder: c_int, path: *const c_char, mode: mode_t, device: dev_t) -> c_int {
            tell_at(folder, path, false, |at| Change::Make { at });
            libc::syscall(libc::SYS_mknodat, folder, path, mode, device as c_uint) as c_int
        }
        mknod(path: *const c_char, mode: mode_t, device: dev_t) -> c_int {
            mknodat(AT_FDCWD, path, mode, device)
        }
        __xmknod(_version: c_int, path: *const c_char, mode: mode_t, device: *const dev_t) -> c_int {
            mknodat(AT_FDCWD, path, mode, device.as_ref().copied().unwrap_or(0))
        }
        __xmknodat(
            _version: c_int, folder: c_int, path: *const c_char, mode: mode_t, device: *const dev_t
        ) -> c_int {
            mknodat(folder, path, mode, device.as_ref().copied().unwrap_or(0))
        }
        mkfifoat(folder: c_int, path: *const c_char, mode: mode_t) -> c_int {
            mknodat(folder, path, mode | libc::S_IFIFO, 0)
        }
        mkfifo(path: *const c_char, mode: mode_t) -> c_int {
            mkfifoat(AT_FDCWD, path, mode)
        }

        aio_write(block: *mut aiocb) -> c_int {
            writes_later(block);
            match next::aio_write() {
                Some(call) => call(block),
                None => failed(libc::ENOSYS),
            }
        }
        aio_write64(block: *mut aiocb) -> c_int {
            aio_write(block)
        }
        lio_listio(mode: c_int, blocks: *const *mut aiocb, count: c_int, told: *mut sigevent) -> c_int {
            for at in 0..usize::try_from(count).unwrap_or(0) {
                let block = *blocks.add(at);
                if block.as_ref().is_some_and(|block| block.aio_lio_opcode == libc::LIO_WRITE) {
                    writes_later(block);
                }
            }
            match next::lio_listio() {
                Some(call) => call(mode, blocks, count, told),
                None => failed(libc::ENOSYS),
            }
        }
        lio_listio64(mode: c_int, blocks: *const *mut aiocb, count: c_int, told: *mut sigevent) -> c_int {
            lio_listio(mode, blocks, count, told)
        }

        write(file: c_int, from: *const c_void, count: size_t) -> ssize_t {
            writes(file, Where::Here, || count as u64);
            libc::syscall(libc::SYS_write, file, from, count) as ssize_t
        }
        __write(file: c_int, from: *const c_void, count: size_t) -> ssize_t {
            write(file, from, count)
        }
        writev(file: c_int, parts: *const iovec, count: c_int) -> ssize_t {
            writes(file, Where::Here, || total(parts, count));
            libc::syscall(libc::SYS_writev, file, parts, count) as ssize_t
        }
        pwrite(file: c_int, from: *const c_void, count: size_t, at: off_t) -> ssize_t {
            writes(file, Where::From(at as u64), || count as u64);
            libc::syscall(libc::SYS_pwrite64, file, from, count, at) as ssize_t
        }
        pwrite64(file: c_int, from: *const c_void, count: size_t, at: off_t) -> ssize_t {
            pwrite(file, from, count, at)
        }
        __pwrite64(file: c_int, from: *const c_void, count: size_t, at: off_t) -> ssize_t {
            pwrite(file, from, count, at)
        }
        pwritev(file: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t {
            writes(file, Where::From(at as u64), || total(parts, count));
            libc::syscall(libc::SYS_pwritev, file, parts, count, at, 0) as ssize_t
        }
        pwritev64(file: c_int, parts: *const iovec, count: c_int, at: off_t) -> ssize_t {
            pwritev(file, parts, count, at)
        }
        pwritev2(file: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t {
            let place = match (at, flags & RWF_NOAPPEND != 0) {
                (-1, false) => Where::Here,
                (-1, true) => Where::Exactly(lseek(file, 0, libc::SEEK_CUR) as u64),
                (at, false) => Where::From(at as u64),
                (at, true) => Where::Exactly(at as u64),
            };
            writes(file, place, || total(parts, count));
            libc::syscall(libc::SYS_pwritev2, file, parts, count, at, 0, flags) as ssize_t
        }
        pwritev64v2(file: c_int, parts: *const iovec, count: c_int, at: off_t, flags: c_int) -> ssize_t {
            pwritev2(file, parts, count, at, flags)
        }
        copy_file_range(
            from: c_int, from_at: *mut loff_t, to: c_int, to_at: *mut loff_t, count: size_t, flags: c_uint
        ) -> ssize_t {
            let place = if to_at.is_null() { Where::Here } else { Where::From(*to_at as u64) };
            writes(to, place, || count as u64);
            libc::syscall(libc::SYS_copy_file_range, from, from_at, to, to_at, count, flags) as ssize_t
        }
        sendfile(to: c_int, from: c_int, from_at: *mut off_t, count: size_t) -> ssize_t {
            writes(to, Where::Here, || count as u64);
            libc::syscall(libc::SYS_sendfile, to, from, from_at, count) as ssize_t
        }
        sendfile64(to: c_int, from: c_int, from_at: *mut off_t, count: size_t) -> ssize_t {
            sendfile(to, from, from_at, count)
        }
        splice(
            from: c_int, from_at: *mut loff_t, to: c_int, to_at: *mut loff_t, count: size_t, flags: c_uint
        ) -> ssize_t {
            let place = if to_at.is_null() { Where::Here } else { Where::From(*to_at as u64) };
            writes(to, place, || count as u64);
            libc::syscall(libc::SYS_splice, from, from_at, to, to_at, count, flags) as ssize_t
        }

        ftruncate(file: c_int, length: off_t) -> c_int {
            if current::observes() {
                tell(Change::ResizeOf(file, length as u64));
            }
            libc::syscall(libc::SYS_ftruncate, file, length) as c_int
        }
        ftruncate64(file: c_int, length: off_t) -> c_int {
            ftruncate(file, length)
        }
        truncate(path: *const c_char, length: off_t) -> c_int {
            tell_at(AT_FDCWD, path, true, |at| Change::Resize(at, length as u64));
            libc::syscall(libc::SYS_truncate, path, length) as c_int
        }
        truncate64(path: *const c_char, length: off_t) -> c_int {
            truncate(path, length)
        }
        fallocate(file: c_int, mode: c_int, at: off_t, count: off_t) -> c_int {
            if current::observes() {
                let extends = mode & !libc::FALLOC_FL_KEEP_SIZE == 0;
                let shifts = mode & (libc::FALLOC_FL_COLLAPSE_RANGE | libc::FALLOC_FL_INSERT_RANGE) != 0;
                let count = match (extends, shifts) {
                    (true, _) => 0,
                    (_, true) => u64::MAX,
                    _ => count as u64,
                };
                // A handle that appends does so when it writes, which this is not.
                tell(Change::Write { file, at: Where::Exactly(at as u64), count });
            }
            libc::syscall(libc::SYS_fallocate, file, mode, at, count) as c_int
        }
        fallocate64(file: c_int, mode: c_int, at: off_t, count: off_t) -> c_int {
            fallocate(file, mode, at, count)
        }
        posix_fallocate(file: c_int, at: off_t, count: off_t) -> c_int {
            if current::observes() {
                tell(Change::Write { file, at: Where::Exactly(at as u64), count: 0 });
            }
            match next::posix_fallocate() {
                Some(call) => call(file, at, count),
                None => libc::ENOSYS,
            }
        }
        posix_fallocate64(file: c_int, at: off_t, count: off_t) -> c_int {
            posix_fallocate(file, at, count)
        }

        lseek(file: c_int, to: off_t, from: c_int) -> off_t {
            descriptors::moved(file);
            libc::syscall(libc::SYS_lseek, file, to, from) as off_t
        }
        lseek64(file: c_int, to: off_t, from: c_int) -> off_t {
            lseek(file, to, from)
        }
        __lseek(file: c_int, to: off_t, from: c_int) -> off_t {
            lseek(file, to, from)
        }
        close(file: c_int) -> c_int {
            descriptors::forget(file);
            let mut file = file;
            if kept_open::is_ours(file) {
                match own::is_the_programs() {
                    // As of a number that stands for nothing.
                    true => file = -1,
                    false => kept_open::is_nobodys(file),
                }
            }
            libc::syscall(libc::SYS_close, file) as c_int
        }
        __close(file: c_int) -> c_int {
            close(file)
        }
        close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
            let mut first = first;
            if flags & CLOSE_RANGE_CLOEXEC == 0 {
                descriptors::forget_all(first, last);
                while let Some(ours) = kept_open::first_of_ours(first, last) {
                    if ours > first && libc::syscall(libc::SYS_close_range, first, ours - 1, flags) < 0 {
                        return -1;
                    }
                    if ours == last {
                        return 0;
                    }
                    first = ours + 1;
                }
            }
            libc::syscall(libc::SYS_close_range, first, last, flags) as c_int
        }
        closefrom(first: c_int) -> () {
            let first = first.max(0) as c_uint;
            descriptors::forget_all(first, c_uint::MAX);
            match (kept_open::first_of_ours(first, c_uint::MAX), next::closefrom()) {
                (None, Some(call)) => call(first as c_int),
                _ => drop(close_range(first, c_uint::MAX, 0)),
            }
        }
        dup(file: c_int) -> c_int {
            let copy = libc::syscall(libc::SYS_dup, file) as c_int;
            descriptors::copied(file, copy);
            copy
        }
        dup3(file: c_int, to: c_int, flags: c_int) -> c_int {
            if kept_open::is_ours(to) {
                *libc::__errno_location() = libc::EBUSY;
                return -1;
            }
            descriptors::forget(to);
            let copy = libc::syscall(libc::SYS_dup3, file, to, flags) as c_int;
            descriptors::copied(file, copy);
            copy
        }
        dup2(file: c_int, to: c_int) -> c_int {
            if file == to {
                return if libc::syscall(libc::SYS_fcntl, file, libc::F_GETFD) < 0 { -1 } else { to };
            }
            dup3(file, to, 0)
        }
        __dup2(file: c_int, to: c_int) -> c_int {
            dup2(file, to)
        }
        __fcntl(file: c_int, action: c_int, argument: usize) -> c_int {
            fcntl(file, action, argument)
        }
        fcntl(file: c_int, action: c_int, argument: usize) -> c_int {
            let result = libc::syscall(libc::SYS_fcntl, file, action, argument) as c_int;
            match action {
                libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => descriptors::copied(file, result),
                libc::F_SETFL => descriptors::moved(file),
                _ => {}
            }
            result
        }
        fcntl64(file: c_int, action: c_int, argument: usize) -> c_int {
            fcntl(file, action, argument)
        }

        unlink(path: *const c_char) -> c_int {
            unlinkat(AT_FDCWD, path, 0)
        }
        rmdir(path: *const c_char) -> c_int {
            unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
        }
        unlinkat(folder: c_int, path: *const c_char, flags: c_int) -> c_int {
            tell_at(folder, path, false, |at| Change::Remove { at });
            libc::syscall(libc::SYS_unlinkat, folder, path, flags) as c_int
        }
        remove(path: *const c_char) -> c_int {
            let errno = *libc::__errno_location();
            match unlinkat(AT_FDCWD, path, 0) {
                -1 if *libc::__errno_location() == libc::EISDIR => {
                    *libc::__errno_location() = errno;
                    unlinkat(AT_FDCWD, path, AT_REMOVEDIR)
                }
                result => result,
            }
        }
        mkdir(path: *const c_char, mode: mode_t) -> c_int {
            mkdirat(AT_FDCWD, path, mode)
        }
        mkdirat(folder: c_int, path: *const c_char, mode: mode_t) -> c_int {
            tell_at(folder, path, false, |at| Change::Make { at });
            libc::syscall(libc::SYS_mkdirat, folder, path, mode) as c_int
        }
        rename(old: *const c_char, new: *const c_char) -> c_int {
            renameat2(AT_FDCWD, old, AT_FDCWD, new, 0)
        }
        renameat(old_folder: c_int, old: *const c_char, new_folder: c_int, new: *const c_char) -> c_int {
            renameat2(old_folder, old, new_folder, new, 0)
        }
        renameat2(
            old_folder: c_int, old: *const c_char, new_folder: c_int, new: *const c_char, flags: c_uint
        ) -> c_int {
            let exchanges = flags & libc::RENAME_EXCHANGE != 0;
            tell_both((old_folder, old, false), (new_folder, new, false), |old, new| {
                Change::Rename { old, new, exchanges }
            });
            libc::syscall(libc::SYS_renameat2, old_folder, old, new_folder, new, flags) as c_int
        }
        link(old: *const c_char, new: *const c_char) -> c_int {
            linkat(AT_FDCWD, old, AT_FDCWD, new, 0)
        }
        linkat(
            old_folder: c_int, old: *const c_char, new_folder: c_int, new: *const c_char, flags: c_int
        ) -> c_int {
            let follows = flags & (AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) != 0;
            tell_both((old_folder, old, follows), (new_folder, new, false), |old, new| {
                Change::Link { old, new }
            });
            libc::syscall(libc::SYS_linkat, old_folder, old, new_folder, new, flags) as c_int
        }
        symlink(target: *const c_char, path: *const c_char) -> c_int {
            symlinkat(target, AT_FDCWD, path)
        }
        symlinkat(target: *const c_char, folder: c_int, path: *const c_char) -> c_int {
            tell_at(folder, path, false, |at| Change::Make { at });
            libc::syscall(libc::SYS_symlinkat, target, folder, path) as c_int
        }
        chmod(path: *const c_char, mode: mode_t) -> c_int {
            tell_at(AT_FDCWD, path, true, |at| Change::Permissions { at, mode });
            libc::syscall(libc::SYS_fchmodat, AT_FDCWD, path, mode) as c_int
        }
        fchmodat(folder: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int {
            let follows = flags & libc::AT_SYMLINK_NOFOLLOW == 0;
            tell_at(folder, path, follows, |at| Change::Permissions { at, mode });
            change_mode(folder, path, mode, flags)
        }
        lchmod(path: *const c_char, mode: mode_t) -> c_int {
            fchmodat(AT_FDCWD, path, mode, libc::AT_SYMLINK_NOFOLLOW)
        }
        fchmod(file: c_int, mode: mode_t) -> c_int {
            if current::observes() {
                tell(Change::PermissionsOf(file, mode));
            }
            libc::syscall(libc::SYS_fchmod, file, mode) as c_int
        }

        bind(socket: c_int, address: *const libc::sockaddr, length: libc::socklen_t) -> c_int {
            makes_socket(address, length);
            libc::syscall(libc::SYS_bind, socket, address, length) as c_int
        }

        mmap(at: *mut c_void, length: size_t, rights: c_int, flags: c_int, file: c_int, from: off_t) -> *mut c_void {
            if file >= 0 && flags & libc::MAP_SHARED != 0 && flags & libc::MAP_ANONYMOUS == 0 && current::observes() {
                tell(Change::Unseen(file));
            }
            if cfg!(target_arch = "s390x") {
                // The system takes its six arguments from a list there.
                let arguments = [at as i64, length as i64, rights.into(), flags.into(), file.into(), from];
                libc::syscall(libc::SYS_mmap, arguments.as_ptr()) as *mut c_void
            } else {
                libc::syscall(libc::SYS_mmap, at, length, rights, flags, file, from) as *mut c_void
            }
        }
        mmap64(at: *mut c_void, length: size_t, rights: c_int, flags: c_int, file: c_int, from: off_t) -> *mut c_void {
            mmap(at, length, rights, flags, file, from)
        }
    }

    mod next;
    mod shared;
    mod stacks;
    mod streams;
}
