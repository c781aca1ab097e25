//! Files in folders that others may have written to: opened without following a link or waiting for a pipe, and replaced under
//! a name that nobody can have put a link in place of.
//!
//! A store may come from anywhere. What stands in it under the name of a file need not be one.
//!
//! These are system calls and no functions of the C library: ckpt's own files are not among those that it watches.

use std::fs::{DirEntry, File, FileType};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;

use super::trust;

/// How the name of a file ends that is not finished.
pub(crate) const UNFINISHED: &str = ".tmp";

/// A link at the end of the path is not followed, and a pipe is not waited for.
const CAREFULLY: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// What a new file may be used for, less what the process lets go.
const RIGHTS: Mode = Mode::from_raw_mode(0o666);

/// What a file of a store is used for by who has made it.
const OWNERS: Mode = Mode::RUSR.union(Mode::WUSR);

/// How often a name is tried that is there already.
const TRIES: u32 = 16;

/// Whether an error says that there is nothing at a path: a link in a circle on its way leads nowhere.
pub(crate) fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        || error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Opens what is there with these flags, if it is a plain file; with [`OFlags::CREATE`] it is made where there is nothing.
///
/// # Errors
/// [`ErrorKind::InvalidInput`]: it is a link, a pipe, a device or a folder; [`ErrorKind::PermissionDenied`]: also where it is
/// somebody's whom the user has not named; otherwise what the system says.
pub(crate) fn open_as(path: &Path, flags: OFlags) -> io::Result<File> {
    let no_file =
        |what: &str| io::Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a plain file"));
    let opened = rustix::fs::open(path, flags | CAREFULLY, RIGHTS);
    let file = File::from(opened.map_err(|error| match error {
        Errno::LOOP => no_file("a link"),
        // A pipe that nobody reads, or a socket.
        Errno::NXIO => no_file("a pipe or a socket"),
        Errno::ISDIR => no_file("a folder"),
        _ => error.into(),
    })?);
    let found = file.metadata()?;
    match found.is_file() {
        true => {
            trust::belongs_to_the_user(&found)?;
            if flags.contains(OFlags::CREATE) {
                is_for_its_owner(&file)?;
            }
            Ok(file)
        }
        false => Err(no_file("a folder, a pipe or a device")),
    }
}

/// Whoever has made a file of a store may open it again: a program's mask of rights (`umask`) may forbid that.
///
/// # Errors
/// What the system says.
pub(crate) fn is_for_its_owner(file: &impl AsFd) -> io::Result<()> {
    let found = rustix::fs::fstat(file)?;
    let is_ours = found.st_uid == rustix::process::geteuid().as_raw();
    match lacking(&found, OWNERS).filter(|_| is_ours) {
        None => Ok(()),
        Some(mode) => Ok(rustix::fs::fchmod(file, mode)?),
    }
}

/// The same of a file that a library has made.
///
/// # Errors
/// What the system says.
pub(crate) fn is_for_its_maker(path: &Path) -> io::Result<()> {
    add_rights(path, OWNERS)
}

/// Makes a folder, whose owner may use it.
///
/// # Errors
/// What the system says, also where it is there.
pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    rustix::fs::mkdir(path, Mode::from_raw_mode(0o777))?;
    add_rights(path, Mode::RWXU)
}

fn add_rights(path: &Path, rights: Mode) -> io::Result<()> {
    match lacking(&rustix::fs::lstat(path)?, rights) {
        None => Ok(()),
        Some(mode) => Ok(rustix::fs::chmod(path, mode)?),
    }
}

/// The rights with these, where some of them lack.
fn lacking(found: &Stat, rights: Mode) -> Option<Mode> {
    let mode = Mode::from_raw_mode(found.st_mode);
    (!mode.contains(rights)).then_some(mode | rights)
}

/// Opens a plain file to be read.
///
/// # Errors
/// As [`open_as`].
pub(crate) fn open(path: &Path) -> io::Result<File> {
    open_as(path, OFlags::RDONLY)
}

/// Opens a plain file to add to its end; it is made where there is none.
///
/// # Errors
/// As [`open_as`]; it has another name as well, under which it may be anybody's.
pub(crate) fn open_to_add(path: &Path) -> io::Result<File> {
    let file = open_as(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE)?;
    match file.metadata()?.nlink() {
        ..=1 => Ok(file),
        _ => Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it has another name as well, and may be another file",
        )),
    }
}

/// What an entry of a folder is; `None` if it is gone meanwhile.
///
/// # Errors
/// That cannot be told.
pub(crate) fn kind(entry: &DirEntry) -> io::Result<Option<FileType>> {
    match entry.file_type() {
        Ok(kind) => Ok(Some(kind)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// All bytes of a plain file; `None` where there is nothing of that name.
///
/// # Errors
/// As [`open_as`]; it is longer than `longest`.
pub(crate) fn read(path: &Path, longest: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(file, longest.saturating_add(1)), &mut bytes)?;
    match bytes.len() as u64 > longest {
        true => Err(io::Error::new(
            ErrorKind::InvalidData,
            format!("it is longer than {longest} bytes"),
        )),
        false => Ok(Some(bytes)),
    }
}

/// Replaces a file: a reader sees the old one or the new one, never half of it. With `synced`, the bytes are on the disk
/// before it has its name.
///
/// # Errors
/// It is what it was.
pub(crate) fn replace(path: &Path, bytes: &[u8], synced: bool) -> io::Result<()> {
    let (mut file, unfinished) = create_unfinished(path)?;
    let written = file.write_all(bytes).and_then(|()| match synced {
        true => file.sync_all(),
        false => Ok(()),
    });
    let replaced = written.and_then(|()| Ok(rustix::fs::rename(&unfinished, path)?));
    if replaced.is_err() {
        let _ = rustix::fs::unlink(&unfinished);
    }
    replaced
}

/// A new file beside the one that it is going to replace, under a name that nobody knows before.
fn create_unfinished(path: &Path) -> io::Result<(File, PathBuf)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for _ in 0..TRIES {
        let unfinished = path.with_file_name(format!(".{name}.{:016x}{UNFINISHED}", random()));
        // Not if there is anything of that name, be it a link that leads nowhere.
        match open_as(&unfinished, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (file, unfinished)),
        }
    }
    Err(ErrorKind::AlreadyExists.into())
}

/// Whether a file of this name is to replace another and is not finished.
pub(crate) fn is_unfinished(name: &str) -> bool {
    let number = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(UNFINISHED))
        .and_then(|name| name.rsplit_once('.'));
    number.is_some_and(|(_, number)| number.len() == 16 && number.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// 64 bits that cannot be foreseen: the keys of the hasher come from the system.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_plain_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), "text").unwrap();
        symlink(path("file"), path("link")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            path("pipe"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        assert_eq!(read(&path("file"), 4).unwrap().unwrap(), b"text");
        assert_eq!(read(&path("file"), 3).unwrap_err().kind(), ErrorKind::InvalidData);
        assert_eq!(read(&path("none"), 4).unwrap(), None);
        for other in ["link", "folder", "pipe"] {
            let error = read(&path(other), 4).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{other}");
            let write = open_as(&path(other), OFlags::WRONLY | OFlags::APPEND).unwrap_err();
            assert_eq!(write.kind(), ErrorKind::InvalidInput, "{other}");
        }
    }

    #[test]
    fn a_file_is_replaced_and_what_a_link_leads_to_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("other"), "other").unwrap();
        symlink(path("other"), path("note")).unwrap();
        replace(&path("note"), b"new", true).unwrap();
        assert_eq!(fs::read(path("note")).unwrap(), b"new");
        assert_eq!(fs::read(path("other")).unwrap(), b"other");
        assert!(!path("note").is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
        let (_, unfinished) = create_unfinished(&path("note")).unwrap();
        let name = unfinished.file_name().unwrap().to_str().unwrap();
        assert!(is_unfinished(name) && !is_unfinished("note") && !is_unfinished(".note.12.tmp"));
        assert_ne!(create_unfinished(&path("note")).unwrap().1, unfinished);
    }
}
