//! A system call on files: which one, and the paths that it is about.

use std::path::{Path, PathBuf};

use super::Tracee;

/// What a call does, as far as it matters to how it may fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "they are called what the calls are called")]
pub enum Kind {
    Open { creates: bool, writes: bool },
    Read,
    Write,
    Sync,
    Rename,
    Unlink,
    Link,
    MakeFolder,
    Truncate,
    Allocate,
    Look,
    List,
    Seek,
    Map,
    Lock,
    Duplicate,
    Copy,
    Close,
    Rights,
}

impl Kind {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Open { .. } => "open",
            Kind::Read => "read",
            Kind::Write => "write",
            Kind::Sync => "sync",
            Kind::Rename => "rename",
            Kind::Unlink => "unlink",
            Kind::Link => "link",
            Kind::MakeFolder => "mkdir",
            Kind::Truncate => "truncate",
            Kind::Allocate => "fallocate",
            Kind::Look => "stat",
            Kind::List => "readdir",
            Kind::Seek => "seek",
            Kind::Map => "mmap",
            Kind::Lock => "flock",
            Kind::Duplicate => "dup",
            Kind::Copy => "copy",
            Kind::Close => "close",
            Kind::Rights => "chmod",
        }
    }
}

/// Where the arguments of a call have its paths.
#[derive(Debug, Clone, Copy)]
enum Names {
    /// A descriptor.
    Descriptor(usize),
    /// A path below the working directory.
    Path(usize),
    /// A path below a folder that a descriptor names.
    At(usize, usize),
    /// Two paths.
    Paths(usize, usize),
    /// Two paths, each below a folder.
    PathsAt([usize; 2], [usize; 2]),
}

/// A call that is about to be made.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its number.
    pub number: i64,
    /// Its arguments.
    pub arguments: [u64; 6],
    /// What it does.
    pub kind: Kind,
    /// The file that it is about; the old name of one that is renamed.
    pub path: Option<PathBuf>,
    /// The new name of one that is renamed or linked.
    pub other: Option<PathBuf>,
    /// Whether it is about a folder by its descriptor.
    pub is_folder: bool,
}

impl Call {
    /// The one with these registers; `None` if it is of no interest.
    pub(super) fn of(number: i64, arguments: [u64; 6], tracee: &Tracee) -> Option<Call> {
        let (kind, names) = meaning(number, &arguments)?;
        let at = |folder: usize, name: usize| {
            let path = PathBuf::from(tracee.path(arguments[name])?);
            let base = match arguments[folder] as i32 {
                // An empty path is the descriptor's own file.
                libc::AT_FDCWD => tracee.folder()?,
                descriptor => tracee.file(descriptor)?,
            };
            Some(match path.as_os_str().is_empty() {
                true => base,
                false => plain(&base.join(path)),
            })
        };
        let below = |name: usize| Some(plain(&tracee.folder()?.join(tracee.path(arguments[name])?)));
        let (path, other) = match names {
            Names::Descriptor(at) => (tracee.file(arguments[at] as i32), None),
            Names::Path(name) => (below(name), None),
            Names::At(folder, name) => (at(folder, name), None),
            Names::Paths(one, two) => (below(one), below(two)),
            Names::PathsAt(one, two) => (at(one[0], one[1]), at(two[0], two[1])),
        };
        let is_folder = kind == Kind::Close && tracee.is_folder(arguments[0] as i32);
        Some(Call {
            is_folder,
            number,
            arguments,
            kind,
            path,
            other,
        })
    }

    /// The argument that says how many bytes are meant, for a call that may do fewer.
    pub fn length_at(&self) -> Option<usize> {
        match self.number {
            libc::SYS_read | libc::SYS_pread64 | libc::SYS_write | libc::SYS_pwrite64 => Some(2),
            libc::SYS_copy_file_range => Some(4),
            libc::SYS_sendfile => Some(3),
            _ => None,
        }
    }

    /// Whether one of its files lies below a folder.
    pub fn is_below(&self, folder: &Path) -> bool {
        let paths = [&self.path, &self.other];
        paths.into_iter().flatten().any(|path| path.starts_with(folder))
    }
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::CurDir => {}
            std::path::Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// The calls that are watched.
pub(super) const WATCHED: &[i64] = &[
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_creat,
    libc::SYS_read,
    libc::SYS_pread64,
    libc::SYS_readv,
    libc::SYS_preadv,
    libc::SYS_write,
    libc::SYS_pwrite64,
    libc::SYS_writev,
    libc::SYS_pwritev,
    libc::SYS_fsync,
    libc::SYS_fdatasync,
    libc::SYS_sync_file_range,
    libc::SYS_rename,
    libc::SYS_renameat,
    libc::SYS_renameat2,
    libc::SYS_unlink,
    libc::SYS_unlinkat,
    libc::SYS_rmdir,
    libc::SYS_link,
    libc::SYS_linkat,
    libc::SYS_symlink,
    libc::SYS_symlinkat,
    libc::SYS_mkdir,
    libc::SYS_mkdirat,
    libc::SYS_ftruncate,
    libc::SYS_truncate,
    libc::SYS_fallocate,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_fstat,
    libc::SYS_newfstatat,
    libc::SYS_statx,
    libc::SYS_statfs,
    libc::SYS_fstatfs,
    libc::SYS_access,
    libc::SYS_faccessat,
    libc::SYS_faccessat2,
    libc::SYS_readlink,
    libc::SYS_readlinkat,
    libc::SYS_getdents64,
    libc::SYS_lseek,
    libc::SYS_mmap,
    libc::SYS_flock,
    libc::SYS_fcntl,
    libc::SYS_copy_file_range,
    libc::SYS_sendfile,
    libc::SYS_close,
    libc::SYS_fchmod,
    libc::SYS_chmod,
    libc::SYS_fchmodat,
    libc::SYS_utimensat,
];

/// What a call of this number may do; `None` where that is for its arguments to say.
pub(super) fn can_be(number: i64) -> Option<Vec<Kind>> {
    if number == libc::SYS_fcntl {
        return None;
    }
    Some(match meaning(number, &[0; 6])?.0 {
        Kind::Open { .. } => [(false, false), (false, true), (true, false), (true, true)]
            .map(|(creates, writes)| Kind::Open { creates, writes })
            .into(),
        kind => vec![kind],
    })
}

fn meaning(number: i64, arguments: &[u64; 6]) -> Option<(Kind, Names)> {
    use Names::{At, Descriptor, Path, Paths, PathsAt};
    let opened = |flags: u64| Kind::Open {
        creates: flags as i32 & libc::O_CREAT != 0,
        writes: flags as i32 & libc::O_ACCMODE != libc::O_RDONLY,
    };
    Some(match number {
        libc::SYS_open => (opened(arguments[1]), Path(0)),
        libc::SYS_openat => (opened(arguments[2]), At(0, 1)),
        libc::SYS_creat => (opened((libc::O_CREAT | libc::O_WRONLY) as u64), Path(0)),
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_readv | libc::SYS_preadv => {
            (Kind::Read, Descriptor(0))
        }
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_writev | libc::SYS_pwritev => {
            (Kind::Write, Descriptor(0))
        }
        libc::SYS_fsync | libc::SYS_fdatasync | libc::SYS_sync_file_range => (Kind::Sync, Descriptor(0)),
        libc::SYS_rename => (Kind::Rename, Paths(0, 1)),
        libc::SYS_renameat | libc::SYS_renameat2 => (Kind::Rename, PathsAt([0, 1], [2, 3])),
        libc::SYS_unlink | libc::SYS_rmdir => (Kind::Unlink, Path(0)),
        libc::SYS_unlinkat => (Kind::Unlink, At(0, 1)),
        libc::SYS_link => (Kind::Link, Paths(0, 1)),
        libc::SYS_linkat => (Kind::Link, PathsAt([0, 1], [2, 3])),
        libc::SYS_symlink => (Kind::Link, Path(1)),
        libc::SYS_symlinkat => (Kind::Link, At(1, 2)),
        libc::SYS_mkdir => (Kind::MakeFolder, Path(0)),
        libc::SYS_mkdirat => (Kind::MakeFolder, At(0, 1)),
        libc::SYS_ftruncate => (Kind::Truncate, Descriptor(0)),
        libc::SYS_truncate => (Kind::Truncate, Path(0)),
        libc::SYS_fallocate => (Kind::Allocate, Descriptor(0)),
        libc::SYS_stat | libc::SYS_lstat | libc::SYS_access | libc::SYS_readlink | libc::SYS_statfs => {
            (Kind::Look, Path(0))
        }
        libc::SYS_fstat | libc::SYS_fstatfs => (Kind::Look, Descriptor(0)),
        libc::SYS_newfstatat
        | libc::SYS_statx
        | libc::SYS_faccessat
        | libc::SYS_faccessat2
        | libc::SYS_readlinkat => (Kind::Look, At(0, 1)),
        libc::SYS_getdents64 => (Kind::List, Descriptor(0)),
        libc::SYS_lseek => (Kind::Seek, Descriptor(0)),
        libc::SYS_mmap if arguments[4] as i32 >= 0 => (Kind::Map, Descriptor(4)),
        libc::SYS_flock => (Kind::Lock, Descriptor(0)),
        libc::SYS_fcntl => match arguments[1] as i32 {
            libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => (Kind::Duplicate, Descriptor(0)),
            libc::F_SETLK | libc::F_SETLKW => (Kind::Lock, Descriptor(0)),
            _ => return None,
        },
        libc::SYS_copy_file_range => (Kind::Copy, Descriptor(2)),
        libc::SYS_sendfile => (Kind::Copy, Descriptor(0)),
        libc::SYS_close => (Kind::Close, Descriptor(0)),
        libc::SYS_fchmod => (Kind::Rights, Descriptor(0)),
        libc::SYS_chmod => (Kind::Rights, Path(0)),
        libc::SYS_fchmodat | libc::SYS_utimensat => (Kind::Rights, At(0, 1)),
        _ => return None,
    })
}
