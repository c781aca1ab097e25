//! Which file is meant: paths as the system resolves them, and which files are watched.

use std::collections::HashMap;
use std::ffi::{OsStr, c_int};
use std::fs;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::base::changes::At;
use crate::handles::start_folder;

/// Links that lead to links, before the system gives up as well.
const LINKS: u32 = 40;

/// Where something is: the folder without links on its way, and the name in it. `None` where there is no such folder:
/// whatever is about to be done there will fail.
pub(super) fn resolve(at: At<'_>) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(at.path.to_bytes()));
    let full = match at.folder {
        _ if path.is_absolute() => path.to_owned(),
        libc::AT_FDCWD => std::env::current_dir().ok()?.join(path),
        folder if path.as_os_str().is_empty() => path_of(folder)?,
        folder => path_of(folder)?.join(path),
    };
    follow(full, at.follows, LINKS)
}

fn follow(path: PathBuf, follows: bool, links: u32) -> Option<PathBuf> {
    // A path that ends in `..` or `.` is that of a folder, which is there or not.
    let Some(name) = path.file_name() else {
        return fs::canonicalize(path).ok();
    };
    let folder = fs::canonicalize(path.parent()?).ok()?;
    let here = folder.join(name);
    if !follows || links == 0 {
        return Some(here);
    }
    match fs::read_link(&here) {
        Ok(target) => match path_of_link(&here) {
            // A link of the system to an open file says more than a path can.
            Some(path) => Some(path),
            None => follow(folder.join(target), true, links - 1),
        },
        Err(_) => Some(here),
    }
}

/// Where the open file is that a link in `/proc` stands for.
fn path_of_link(link: &Path) -> Option<PathBuf> {
    link.starts_with("/proc").then(|| fs::canonicalize(link).ok())?
}

/// Where an open file is now; `None` where it has no path any more.
pub(super) fn path_of(file: c_int) -> Option<PathBuf> {
    let path = fs::read_link(link_to(file)).ok()?;
    path.is_absolute().then_some(path)
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
