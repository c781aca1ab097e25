//! Functions of the C library that make their system calls inside of it, or that few programs call.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::{Call, done, in_memory, text, writing};

unsafe extern "C" {
    fn __open_2(path: *const c_char, flags: c_int) -> c_int;
    fn __openat64_2(folder: c_int, path: *const c_char, flags: c_int) -> c_int;
    fn dprintf(file: c_int, format: *const c_char, ...) -> c_int;
    fn __dprintf_chk(file: c_int, flag: c_int, format: *const c_char, ...) -> c_int;
    fn lchmod(path: *const c_char, mode: libc::mode_t) -> c_int;
    fn open_by_handle_at(mount: c_int, handle: *mut c_void, flags: c_int) -> c_int;
    fn name_to_handle_at(
        folder: c_int,
        path: *const c_char,
        handle: *mut c_void,
        mount: *mut c_int,
        flags: c_int,
    ) -> c_int;
}

fn closed(file: c_int) -> io::Result<()> {
    done(file.into())?;
    // SAFETY: the number is that of a file that has just been opened.
    done(unsafe { libc::close(file) }.into())
}

pub fn named(name: &str) -> CString {
    CString::new(format!("/{}", in_memory(name))).unwrap_or_default()
}

/// A stream is written and closed.
///
/// # Safety
/// It is open, or null where it could not be opened.
unsafe fn written(stream: *mut libc::FILE) -> io::Result<()> {
    if stream.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the caller's promise.
    unsafe {
        libc::fputs(c"from C".as_ptr(), stream);
        done(libc::fclose(stream).into())
    }
}

fn opened(file: &Path, mode: &CStr) -> io::Result<*mut libc::FILE> {
    // SAFETY: texts with zeros at their ends.
    let stream = unsafe { libc::fopen(text(file).as_ptr(), mode.as_ptr()) };
    match stream.is_null() {
        true => Err(io::Error::last_os_error()),
        false => Ok(stream),
    }
}

/// Part of a file that is to become a hole, as file systems have been asked for one at first.
#[repr(C)]
struct Space {
    kind: i16,
    whence: i16,
    start: i64,
    length: i64,
    system: i32,
    process: u32,
    rest: [i32; 4],
}

fn allocated(root: &Path, mode: c_int, at: i64, count: i64) -> io::Result<()> {
    let file = File::options().append(true).open(root.join("large"))?;
    // SAFETY: it takes numbers.
    done(unsafe { libc::fallocate(file.as_raw_fd(), mode, at, count) }.into())
}

pub const CALLS: &[Call] = &[
    ("shm_open", |_| {
        // SAFETY: a text with a zero at its end.
        let file = unsafe { libc::shm_open(named("new").as_ptr(), libc::O_CREAT | libc::O_RDWR, 0o600) };
        done(file.into())?;
        // SAFETY: the number is that of the file.
        done(unsafe { libc::ftruncate(file, 10) }.into())?;
        closed(file)
    }),
    ("sem_open", |_| {
        // SAFETY: a text with a zero at its end.
        let semaphore = unsafe { libc::sem_open(named("sem").as_ptr(), libc::O_CREAT, 0o600, 3) };
        match semaphore == libc::SEM_FAILED {
            true => Err(io::Error::last_os_error()),
            // SAFETY: it is open.
            false => done(unsafe { libc::sem_close(semaphore) }.into()),
        }
    }),
    ("dprintf", |root| {
        let file = writing(&root.join("file"))?;
        // SAFETY: as many arguments as the text speaks of, of these kinds.
        let printed = unsafe {
            dprintf(
                file.as_raw_fd(),
                c"%d %s %g %d %d %d %.1f|".as_ptr(),
                1,
                c"two".as_ptr(),
                3.5,
                4,
                5,
                6,
                7.5,
            )
        };
        done(i64::from(printed))?;
        match fs::read_to_string(root.join("file"))? == "1 two 3.5 4 5 6 7.5|" {
            true => Ok(()),
            false => Err(io::Error::other("other arguments arrived")),
        }
    }),
    ("__dprintf_chk", |root| {
        let file = writing(&root.join("large"))?;
        // SAFETY: as above.
        done(unsafe { __dprintf_chk(file.as_raw_fd(), 1, c"%s".as_ptr(), c"text".as_ptr()) }.into())
    }),
    ("fdopen", |root| {
        let file = writing(&root.join("file"))?.into_raw_fd();
        // SAFETY: the file is open, and the stream's from here on.
        unsafe { written(libc::fdopen(file, c"w".as_ptr())) }
    }),
    ("freopen of nothing, emptied", |root| {
        let stream = opened(&root.join("file"), c"r")?;
        // SAFETY: the stream is open.
        unsafe { written(libc::freopen(std::ptr::null(), c"w".as_ptr(), stream)) }
    }),
    ("freopen of nothing, to read and write", |root| {
        let stream = opened(&root.join("file"), c"r")?;
        // SAFETY: as above.
        unsafe { written(libc::freopen(std::ptr::null(), c"r+".as_ptr(), stream)) }
    }),
    ("freopen of another", |root| {
        let stream = opened(&root.join("other"), c"r")?;
        // SAFETY: as above.
        unsafe {
            written(libc::freopen(
                text(&root.join("file")).as_ptr(),
                c"w".as_ptr(),
                stream,
            ))
        }
    }),
    ("__open_2", |root| {
        // SAFETY: a text with a zero at its end.
        closed(unsafe { __open_2(text(&root.join("file")).as_ptr(), libc::O_WRONLY | libc::O_TRUNC) })
    }),
    ("__openat64_2", |root| {
        let how = libc::O_WRONLY | libc::O_TRUNC;
        // SAFETY: as above.
        closed(unsafe { __openat64_2(libc::AT_FDCWD, text(&root.join("large")).as_ptr(), how) })
    }),
    ("lchmod", |root| {
        // SAFETY: as above.
        done(unsafe { lchmod(text(&root.join("file")).as_ptr(), 0o600) }.into())
    }),
    ("open_by_handle_at", |root| {
        let folder = File::open(root)?;
        // Its first number is the room behind the second.
        let mut handle = [0_u32; 34];
        handle[0] = 128;
        let mut mount = 0;
        // SAFETY: the handle has the room that it says.
        let file = unsafe {
            let handle = handle.as_mut_ptr().cast();
            let name = text(&root.join("file"));
            done(name_to_handle_at(libc::AT_FDCWD, name.as_ptr(), handle, &mut mount, 0).into())?;
            open_by_handle_at(folder.as_raw_fd(), handle, libc::O_WRONLY | libc::O_TRUNC)
        };
        match file {
            // Who may not open files so changes none so.
            -1 if io::Error::last_os_error().raw_os_error() == Some(libc::EPERM) => {
                File::create(root.join("file")).map(drop)
            }
            file => closed(file),
        }
    }),
    ("bind(2)", |root| {
        UnixListener::bind(root.join("socket")).map(drop)
    }),
    ("FS_IOC_UNRESVSP, a hole", |root| {
        let file = writing(&root.join("large"))?;
        let space = Space {
            kind: 0,
            whence: 0,
            start: 4096,
            length: 1 << 20,
            system: 0,
            process: 0,
            rest: [0; 4],
        };
        // SAFETY: the number is of this call, which reads what is handed to it.
        done(unsafe { libc::ioctl(file.as_raw_fd(), 0x4030_5829, &raw const space) }.into())
    }),
    ("fallocate(2) of a handle that appends, a hole", |root| {
        let hole = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
        allocated(root, hole, 4096, 1 << 20)
    }),
    ("pwritev2(2) that does not append", |root| {
        let file = File::options().append(true).open(root.join("file"))?;
        let part = libc::iovec {
            iov_base: c"xyz".as_ptr().cast_mut().cast(),
            iov_len: 3,
        };
        // The place is where the handle stands, or said.
        for at in [-1, 5] {
            // SAFETY: the part is there.
            let written = unsafe { libc::pwritev2(file.as_raw_fd(), &part, 1, at, 0x20) };
            match done(written as i64) {
                // The system is older than 6.9.
                Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                    io::Write::write_all(&mut &file, b"xyz")?;
                }
                other => other?,
            }
        }
        Ok(())
    }),
    ("no file of that number", |root| {
        // SAFETY: they are told that there is none.
        unsafe {
            let none = c"none".as_ptr();
            assert_eq!(libc::write(-1, none.cast(), 4), -1);
            assert_eq!(libc::ftruncate(-1, 4), -1);
            assert_eq!(libc::fchmod(-1, 0o600), -1);
            assert_eq!(libc::fallocate(-1, 0, 0, 4), -1);
            assert!(libc::fdopen(-1, c"w".as_ptr()).is_null());
            assert_eq!(dprintf(-1, none), -1);
            assert_eq!(libc::linkat(-1, none, -1, none, 0), -1);
            assert_eq!(libc::openat(-1, none, libc::O_CREAT, 0o600), -1);
        }
        fs::write(root.join("file"), "so that something has changed")
    }),
];
