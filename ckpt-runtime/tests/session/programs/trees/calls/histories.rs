//! What changes files without a call, and what is known of open files, over several checkpoints.

use std::ffi::{c_int, c_uint};
use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::past::named;
use super::{Checkpoint, done, in_memory, text, writing};

unsafe extern "C" {
    fn closefrom(first: c_int);
}

/// A file in memory.
struct Map {
    at: *mut u8,
    length: usize,
}

impl Map {
    fn of(path: &Path) -> io::Result<Map> {
        Map::of_file(&File::options().read(true).write(true).open(path)?)
    }

    fn of_file(file: &File) -> io::Result<Map> {
        let length = file.metadata()?.len() as usize;
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let file = file.as_raw_fd();
        // SAFETY: a new mapping, as long as the file.
        let at = unsafe { libc::mmap(std::ptr::null_mut(), length, rights, libc::MAP_SHARED, file, 0) };
        match at == libc::MAP_FAILED {
            true => Err(io::Error::last_os_error()),
            false => Ok(Map {
                at: at.cast(),
                length,
            }),
        }
    }

    fn write(&mut self, text: &str) {
        assert!(text.len() <= self.length);
        // SAFETY: so many bytes are there, and nobody else has them.
        unsafe { self.at.copy_from_nonoverlapping(text.as_ptr(), text.len()) }
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        // SAFETY: it is mapped.
        unsafe { libc::munmap(self.at.cast(), self.length) };
    }
}

type History = (&'static str, fn(&Path, Checkpoint<'_>) -> io::Result<()>);

pub const ALL: &[History] = &[
    ("shm_unlink", |_, checkpoint| {
        let inside = Path::new("/dev/shm").join(in_memory("gone"));
        fs::write(inside, "in memory")?;
        checkpoint()?;
        // SAFETY: a text with a zero at its end.
        done(unsafe { libc::shm_unlink(named("gone").as_ptr()) }.into())
    }),
    ("sem_unlink", |_, checkpoint| {
        // SAFETY: texts with zeros at their ends; the semaphore is open.
        unsafe {
            let semaphore = libc::sem_open(named("sem").as_ptr(), libc::O_CREAT, 0o600, 3);
            checkpoint()?;
            done(libc::sem_post(semaphore).into())?;
            done(libc::sem_unlink(named("sem").as_ptr()).into())?;
            done(libc::sem_close(semaphore).into())
        }
    }),
    ("mapped, and goes on", |root, checkpoint| {
        let mut map = Map::of(&root.join("file"))?;
        map.write("1");
        checkpoint()?;
        map.write("2");
        checkpoint()?;
        map.write("3");
        Ok(())
    }),
    ("mapped and renamed", |root, checkpoint| {
        let mut map = Map::of(&root.join("file"))?;
        checkpoint()?;
        fs::rename(root.join("file"), root.join("new"))?;
        map.write("1");
        checkpoint()?;
        map.write("2");
        checkpoint()?;
        map.write("3");
        Ok(())
    }),
    (
        "mapped and renamed with its folder, to a name with a line end",
        |root, checkpoint| {
            let mut map = Map::of(&root.join("folder/deep/inside"))?;
            checkpoint()?;
            fs::rename(root.join("folder/deep"), root.join("a\n new (deleted)"))?;
            checkpoint()?;
            map.write("1");
            Ok(())
        },
    ),
    ("mapped and exchanged", |root, checkpoint| {
        let mut map = Map::of(&root.join("file"))?;
        checkpoint()?;
        let (a, b) = (text(&root.join("file")), text(&root.join("other")));
        let here = libc::AT_FDCWD;
        // SAFETY: texts with zeros at their ends.
        done(unsafe { libc::renameat2(here, a.as_ptr(), here, b.as_ptr(), libc::RENAME_EXCHANGE) }.into())?;
        checkpoint()?;
        map.write("1");
        Ok(())
    }),
    (
        "mapped, with a second name, of which the first goes",
        |root, checkpoint| {
            let mut map = Map::of(&root.join("file"))?;
            checkpoint()?;
            fs::hard_link(root.join("file"), root.join("new"))?;
            map.write("1");
            checkpoint()?;
            map.write("2");
            checkpoint()?;
            fs::remove_file(root.join("file"))?;
            map.write("3");
            checkpoint()?;
            map.write("4");
            Ok(())
        },
    ),
    ("mapped by one of two names", |root, checkpoint| {
        fs::hard_link(root.join("file"), root.join("new"))?;
        checkpoint()?;
        let mut map = Map::of(&root.join("new"))?;
        map.write("1");
        checkpoint()?;
        map.write("2");
        Ok(())
    }),
    (
        "mapped, in the place of a file that is mapped",
        |root, checkpoint| {
            let mut first = Map::of(&root.join("file"))?;
            let mut second = Map::of(&root.join("other"))?;
            checkpoint()?;
            fs::rename(root.join("other"), root.join("file"))?;
            checkpoint()?;
            first.write("1");
            second.write("2");
            Ok(())
        },
    ),
    ("a stream, renamed", |root, checkpoint| {
        // SAFETY: texts with zeros at their ends; the stream is open until it is closed.
        unsafe {
            let stream = libc::fopen(text(&root.join("new")).as_ptr(), c"w".as_ptr());
            libc::fputs(c"1".as_ptr(), stream);
            libc::fflush(stream);
            checkpoint()?;
            fs::rename(root.join("new"), root.join("newer"))?;
            libc::fputs(c"2".as_ptr(), stream);
            libc::fflush(stream);
            checkpoint()?;
            libc::rewind(stream);
            libc::fputs(c"345".as_ptr(), stream);
            done(libc::fclose(stream).into())
        }
    }),
    (
        "without a name, written, named and written",
        |root, checkpoint| {
            let mut options = File::options();
            let mut file = options
                .read(true)
                .write(true)
                .custom_flags(libc::O_TMPFILE)
                .open(root)?;
            file.write_all(b"0123456789")?;
            let mut map = Map::of_file(&file)?;
            let (old, new) = (format!("/proc/self/fd/{}", file.as_raw_fd()), root.join("new"));
            let (old, new) = (text(Path::new(&old)), text(&new));
            let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
            // SAFETY: texts with zeros at their ends.
            done(unsafe { libc::linkat(here, old.as_ptr(), here, new.as_ptr(), follow) }.into())?;
            checkpoint()?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(b"a")?;
            map.write("xyz");
            checkpoint()?;
            map.write("XYZ");
            file.write_all(b"b")
        },
    ),
    ("a number that `close_range` has closed", |root, checkpoint| {
        checkpoint()?;
        let (_, writer) = io::pipe()?;
        stale(root, writer.into_raw_fd(), |number| {
            // SAFETY: it takes numbers; that of the pipe is nobody else's.
            done(unsafe { libc::close_range(number as c_uint, number as c_uint, 0) }.into())
        })
    }),
    ("a number that `closefrom` has closed", |root, checkpoint| {
        checkpoint()?;
        let (_, writer) = io::pipe()?;
        // SAFETY: it is open, and nothing is above the copy.
        let number = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_DUPFD, 900) };
        stale(root, number, |number| {
            // SAFETY: there are no others from there on.
            unsafe { closefrom(number) };
            Ok(())
        })
    }),
    ("a number that `fclose` has closed", |root, checkpoint| {
        checkpoint()?;
        let (_, writer) = io::pipe()?;
        let number = writer.into_raw_fd();
        // SAFETY: the number is the stream's from here on.
        let stream = unsafe { libc::fdopen(number, c"w".as_ptr()) };
        stale(root, number, |_| {
            // SAFETY: it is open.
            done(unsafe { libc::fclose(stream) }.into())
        })
    }),
    ("a number that is another file's now", |root, checkpoint| {
        checkpoint()?;
        let (_, writer) = io::pipe()?;
        let number = writer.into_raw_fd();
        stale(root, number, |number| {
            let file = writing(&root.join("file"))?;
            // SAFETY: both are open.
            done(unsafe { libc::dup3(file.as_raw_fd(), number, 0) }.into())
        })
    }),
];

/// A pipe is written by its number, which is closed, and becomes that of a file in a way that nobody sees, which is written.
fn stale(root: &Path, number: c_int, close: impl FnOnce(c_int) -> io::Result<()>) -> io::Result<()> {
    // SAFETY: what is written is there. That nobody reads is no matter.
    unsafe { libc::write(number, c"x".as_ptr().cast(), 1) };
    close(number)?;
    // SAFETY: these are numbers, and the path a text with a zero at its end.
    unsafe {
        if libc::fcntl(number, libc::F_GETFD) < 0 {
            let path = text(&root.join("file"));
            let file =
                libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path.as_ptr(), libc::O_WRONLY) as c_int;
            done(file.into())?;
            if file != number {
                done(libc::syscall(libc::SYS_dup3, file, number, 0))?;
            }
        }
        File::from_raw_fd(number).write_all(b"xyz")
    }
}
