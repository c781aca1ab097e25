//! Which file is meant: paths as the system resolves them, and which files are watched.

use std::collections::HashMap;
use std::ffi::{OsStr, c_int};
use std::fs;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::base::changes::At;
use crate::handles::start_folder;

/// Links that lead to links, before the system gives up as well.
const LINKS: u32 = 40;

/// It is not known what a path stands for: the path, as far as it is known, and what the system says.
pub(super) type Unknown = (PathBuf, io::Error);

/// Where something is: the folder without links on its way, and the name in it. `None` where there is no such folder, or
/// nobody can get there: whatever is about to be done there will fail.
///
/// # Errors
/// The system does not say.
pub(super) fn resolve(at: At<'_>) -> Result<Option<PathBuf>, Unknown> {
    let path = Path::new(OsStr::from_bytes(at.path.to_bytes()));
    let failed = |error| (path.to_owned(), error);
    let full = match at.folder {
        _ if path.is_absolute() => Some(path.to_owned()),
        libc::AT_FDCWD => unless_out_of_reach(Path::new("."), std::env::current_dir())
            .map_err(failed)?
            .map(|here| here.join(path)),
        folder => path_of(folder)
            .map_err(failed)?
            .map(|open| match path.as_os_str().is_empty() {
                true => open,
                false => open.join(path),
            }),
    };
    let Some(full) = full else { return Ok(None) };
    follow(full.clone(), at.follows, LINKS).map_err(|error| (full, error))
}

fn follow(path: PathBuf, follows: bool, links: u32) -> io::Result<Option<PathBuf>> {
    // A path that ends in `..` or `.` is that of a folder, which is there or not.
    let Some(name) = path.file_name() else {
        return unless_out_of_reach(&path, fs::canonicalize(&path));
    };
    let Some(parent) = path.parent() else {
        return Ok(None);
    };
    let Some(folder) = unless_out_of_reach(parent, fs::canonicalize(parent))? else {
        return Ok(None);
    };
    let here = folder.join(name);
    if !follows || links == 0 {
        return Ok(Some(here));
    }
    match fs::read_link(&here) {
        Ok(target) => match path_of_link(&here)? {
            // A link of the system to an open file says more than a path can.
            Some(path) => Ok(Some(path)),
            None => follow(folder.join(target), true, links - 1),
        },
        // It is there, and is no link.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => Ok(Some(here)),
        Err(error) if is_out_of_reach(&here, &error) => Ok(Some(here)),
        Err(error) => Err(error),
    }
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
    let link = link_to(file);
    let path = unless_out_of_reach(&link, fs::read_link(&link))?;
    Ok(path.filter(|path| path.is_absolute()))
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
