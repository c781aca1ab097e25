//! Which file is meant: paths as the system resolves them, and which files are watched.

use std::collections::HashMap;
use std::ffi::{OsStr, c_int};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::base::changes::At;
use crate::handles::start_folder;

/// No path that the system is asked about is as long.
const LONGEST: usize = libc::PATH_MAX as usize;

/// Links that lead to links, before the system gives up as well.
const LINKS: u32 = 40;

/// It is not known what a path stands for: the path, as far as it is known, and what the system says.
pub(super) type Unknown = (PathBuf, io::Error);

/// Where something is: the folder without links on its way, and the name in it. `None` where the program cannot get there:
/// whatever is about to be done there will fail. A folder that is not there may come before that is done, by another process.
///
/// The program goes from its working folder, or from one that it has open, and need not be able to come there by the whole
/// path: a folder above may be closed to it, or the path too long. So does this; what has to be found again by its path is
/// not known where that leads elsewhere, or nowhere.
///
/// # Errors
/// It is not known.
pub(super) fn resolve(at: At<'_>) -> Result<Option<PathBuf>, Unknown> {
    let path = Path::new(OsStr::from_bytes(at.path.to_bytes()));
    let found = match path.as_os_str().is_empty() {
        // The open file itself, or nothing.
        true if at.folder >= 0 => found_at(at.folder),
        true => Ok(None),
        false => follow(at.folder, path, at.follows, LINKS),
    };
    found.map_err(|error| (path.to_owned(), error))
}

fn follow(from: c_int, path: &Path, follows: bool, links: u32) -> io::Result<Option<PathBuf>> {
    // A path that ends in `..` or `.` is that of a folder, which is there or not.
    let Some(name) = path.file_name() else {
        return folder_at(from, path);
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let Some(folder) = folder_at(from, parent.unwrap_or(Path::new(".")))? else {
        return Ok(None);
    };
    let here = folder.join(name);
    if path.as_os_str().len() < LONGEST && here.as_os_str().len() >= LONGEST {
        return Err(too_long());
    }
    if !follows || links == 0 {
        return Ok(Some(here));
    }
    match fs::read_link(&here) {
        Ok(target) => match path_of_link(&here)? {
            // A link of the system to an open file says more than a path can.
            Some(path) => Ok(Some(path)),
            None => {
                let target = folder.join(target);
                match target.as_os_str().len() < LONGEST {
                    true => follow(libc::AT_FDCWD, &target, true, links - 1),
                    false => Err(too_long()),
                }
            }
        },
        // It is there, and is no link.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(Some(here)),
        Err(error) if is_out_of_reach(&here, &error) => Ok(Some(here)),
        Err(error) => Err(error),
    }
}

/// Where a folder is, as one gets there from another one; `None` where one does not, or where it has been removed.
fn folder_at(from: c_int, path: &Path) -> io::Result<Option<PathBuf>> {
    let how = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let from = match from {
        libc::AT_FDCWD => rustix::fs::CWD,
        0.. => {
            // SAFETY: whoever calls the function that is about to change something says that the number is one; where it
            // is not, the system says so.
            unsafe { BorrowedFd::borrow_raw(from) }
        }
        // It only matters to a path that is relative, and leads nowhere then.
        _ if path.is_relative() => return Ok(None),
        _ => rustix::fs::CWD,
    };
    let open = || rustix::fs::openat(from, path, how, Mode::empty());
    // A network file system has said for a moment that one may not go there.
    let opened = match open() {
        Err(Errno::ACCESS) => open(),
        other => other,
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return folder_to_come(from.as_raw_fd(), path),
        Err(
            Errno::ACCESS | Errno::BADF | Errno::INVAL | Errno::LOOP | Errno::NAMETOOLONG | Errno::NOTDIR,
        ) => return Ok(None),
        // There is no room for one more open file, which what is about to be done may not need.
        Err(Errno::MFILE | Errno::NFILE) => return folder_by_path(from, path),
        Err(error) => return Err(error.into()),
    };
    match path_of(opened.as_raw_fd()) {
        // The system keeps to itself what this process has open.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound
            ) =>
        {
            folder_by_path(from, path)
        }
        _ => found_at(opened.as_raw_fd()),
    }
}

/// Where a folder would be that is not there: another process may make it before this one does something in it. `None` where
/// there is nothing above it either, or a link that leads nowhere.
fn folder_to_come(from: c_int, path: &Path) -> io::Result<Option<PathBuf>> {
    let (Some(name), Some(parent)) = (path.file_name(), path.parent()) else {
        return Ok(None);
    };
    let parent = match parent.as_os_str().is_empty() {
        true => Path::new("."),
        false => parent,
    };
    let folder = folder_at(from, parent)?.map(|folder| folder.join(name));
    Ok(folder.filter(|folder| !folder.is_symlink()))
}

/// The same by the whole path alone.
fn folder_by_path(from: BorrowedFd<'_>, path: &Path) -> io::Result<Option<PathBuf>> {
    let full = match from.as_raw_fd() {
        _ if path.is_absolute() => path.to_owned(),
        libc::AT_FDCWD => std::env::current_dir()?.join(path),
        from => match path_of(from)? {
            Some(from) => from.join(path),
            None => return Ok(None),
        },
    };
    match fs::canonicalize(full) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

/// Where an open file or folder is by its path, if it has one still.
///
/// # Errors
/// The system does not say, or something else is there by that path, or one cannot get there.
pub(super) fn found_at(file: c_int) -> io::Result<Option<PathBuf>> {
    let Some(path) = path_of(file)? else {
        return Ok(None);
    };
    // SAFETY: the number has just been that of an open file; where it is not any more, the system says so.
    let open = rustix::fs::fstat(unsafe { BorrowedFd::borrow_raw(file) })?;
    if open.st_nlink == 0 {
        return Ok(None);
    }
    match fs::symlink_metadata(&path) {
        Ok(found) if (found.dev(), found.ino()) == (open.st_dev, open.st_ino) => Ok(Some(path)),
        Ok(_) => Err(io::Error::other(format!(
            "by the path that it has, `{}`, there is something else",
            path.display()
        ))),
        Err(error) => Err(io::Error::other(format!(
            "the program gets there from a folder that it is in or has open, but not by the whole path, `{}`: {error}",
            path.display()
        ))),
    }
}

fn too_long() -> io::Error {
    io::Error::other(
        "the program gets there from a folder that it is in or has open, and the whole path is too long",
    )
}

/// Where the open file is that a link in `/proc` stands for.
fn path_of_link(link: &Path) -> io::Result<Option<PathBuf>> {
    match link.starts_with("/proc") {
        true => unless_out_of_reach(link, fs::canonicalize(link)),
        false => Ok(None),
    }
}

/// What has been found at a path; `None` where nobody can get there.
fn unless_out_of_reach<T>(path: &Path, found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_out_of_reach(path, &error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether what the system says of a path means that nothing can be changed there either. That one may not go there is
/// asked once more, in the way in which the program is about to go: a network file system has said so for a moment.
pub(super) fn is_out_of_reach(path: &Path, error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(
            libc::EBADF | libc::EINVAL | libc::ELOOP | libc::ENAMETOOLONG | libc::ENOENT | libc::ENOTDIR,
        ) => true,
        Some(libc::EACCES) => {
            let how = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            matches!(
                rustix::fs::open(path, how, Mode::empty()),
                Err(rustix::io::Errno::ACCESS)
            )
        }
        _ => false,
    }
}

/// Where an open file is now; `None` where it has no path any more, or none is open.
///
/// # Errors
/// The system does not say.
pub(super) fn path_of(file: c_int) -> io::Result<Option<PathBuf>> {
    match fs::read_link(link_to(file)) {
        Ok(path) if path.starts_with("(unreachable)") => Err(io::Error::other(
            "it is in no folder that can be reached from the root folder",
        )),
        Ok(path) => Ok(Some(path).filter(|path| path.is_absolute())),
        Err(error) if error.raw_os_error() == Some(libc::ENAMETOOLONG) => Err(too_long()),
        Err(error) if error.kind() == io::ErrorKind::NotFound && !is_open(file) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether it is the number of an open file.
fn is_open(file: c_int) -> bool {
    // SAFETY: asks for flags of the number, whatever that is.
    unsafe { libc::syscall(libc::SYS_fcntl, file, libc::F_GETFD) >= 0 }
}

/// The system's link to an open file.
pub(super) fn link_to(file: c_int) -> PathBuf {
    PathBuf::from(format!("/proc/self/fd/{file}"))
}

/// Relative to the folder that the program was started in, if it lies below it: a run can be moved with its files.
pub(super) fn relative(path: &Path) -> &Path {
    match path.strip_prefix(start_folder()) {
        Ok(below) if below != Path::new("") => below,
        _ => path,
    }
}

/// The same, as it is now.
pub(super) fn absolute(path: &Path) -> PathBuf {
    start_folder().join(path)
}

/// File systems in which a file is no data of the program: what is read there is the system's own state.
const OF_THE_SYSTEM: &[u32] = &[
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x27_e0eb,   // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x1cd1,      // devpts
    0x7363_6673, // securityfs
    0xf97c_ff8c, // selinuxfs
    0xcafe_4a11, // bpf
    0x6265_6570, // configfs
    0xde5e_81e4, // efivarfs
    0x6165_676c, // pstore
    0x1980_0202, // mqueue
];

/// Which devices hold files of programs, as far as has been asked.
#[derive(Debug, Default)]
pub(super) struct Devices(HashMap<u64, bool>);

impl Devices {
    /// Whether files of this device are the system's own.
    pub fn is_of_the_system(&mut self, device: u64, ask: impl FnOnce() -> Option<u32>) -> bool {
        *self
            .0
            .entry(device)
            .or_insert_with(|| ask().is_some_and(|kind| OF_THE_SYSTEM.contains(&kind)))
    }
}

/// The kind of the file system in which a folder or file is.
pub(super) fn kind_of(path: &Path) -> Option<u32> {
    // The number has 32 bits, whatever the type that the system gives it.
    rustix::fs::statfs(path).ok().map(|found| found.f_type as u32)
}

/// The kind of the file system of an open file.
pub(super) fn kind_of_file(file: BorrowedFd<'_>) -> Option<u32> {
    rustix::fs::fstatfs(file).ok().map(|found| found.f_type as u32)
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Another rank makes `turns` between the look and the call: what this one makes in it is noted all the same.
    #[test]
    fn what_is_in_a_folder_that_is_not_there_has_a_place() {
        let scratch = tempfile::tempdir().unwrap();
        let here = fs::canonicalize(scratch.path()).unwrap();
        symlink(here.join("nowhere"), here.join("link")).unwrap();
        fs::write(here.join("file"), "").unwrap();
        let place = |path: &str| {
            let path = CString::new(here.join(path).into_os_string().into_encoded_bytes()).unwrap();
            let at = At {
                folder: libc::AT_FDCWD,
                path: &path,
                follows: false,
            };
            resolve(at).unwrap()
        };
        assert_eq!(place("turns/0"), Some(here.join("turns/0")));
        assert_eq!(place("turns/0/7"), Some(here.join("turns/0/7")));
        assert_eq!(place("link/0"), None);
        assert_eq!(place("file/0"), None);
        assert_eq!(place("turns/../0"), None);
    }
}
