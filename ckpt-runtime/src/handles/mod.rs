//! The program's open files: what a checkpoint keeps of one, and how a restart opens it again.
//!
//! A checkpoint keeps where a file is, how it was opened, how long it was and how far it was read or written. A restart
//! opens it again and, when the walk has arrived, cuts it to that length: what a lost part of the run wrote is removed. The
//! bytes themselves are kept only where the program can read what it wrote and could change it again, in a file opened
//! for both. Before a checkpoint is committed, what was written to the files is brought to the disk.
//!
//! Where a restart finds them on another machine is in [`moved`]. Not here: files that are closed at the site, which no
//! variable holds ([`crate::state::journal`]).

pub(crate) mod moved;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata};
use std::io::{self, IsTerminal, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{FileExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::OFlags;

/// A file that is open for reading and writing is kept whole up to this size.
pub(crate) const LARGEST_CONTENT: u64 = 256 << 20;

/// What an open file may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    ReadWrite,
}

impl Access {
    fn reads(self) -> bool {
        self != Access::Write
    }

    fn writes(self) -> bool {
        self != Access::Read
    }

    fn purpose(self) -> &'static str {
        match self {
            Access::Read => "reading",
            Access::Write => "writing",
            Access::ReadWrite => "reading and writing",
        }
    }
}

/// What a checkpoint keeps of an open file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OpenFile {
    /// Handles of the same number share one offset: they are clones of each other.
    pub handle: u64,
    /// Relative to the folder that the program was started in, if it lies below it.
    pub path: PathBuf,
    pub access: Access,
    pub append: bool,
    pub offset: u64,
    /// `None` where there is no length: devices and folders.
    pub length: Option<u64>,
    /// All bytes of a file that the program can read and change.
    pub content: Option<Vec<u8>>,
}

/// The folder that the program was started in: the same for all sessions of the process.
static START: OnceLock<PathBuf> = OnceLock::new();

/// Notes the folder that the program was started in, before the program can leave it.
pub(crate) fn note_start_folder() {
    start_folder();
}

pub(crate) fn start_folder() -> &'static Path {
    START.get_or_init(|| std::env::current_dir().unwrap_or_default())
}

/// The open files of one checkpoint while it is being saved.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles(Vec<Known>);

#[derive(Debug)]
struct Known {
    file: File,
    metadata: Metadata,
    offset: u64,
    path: PathBuf,
    writes: bool,
}

impl OpenFiles {
    /// Looks at an open file.
    ///
    /// # Errors
    /// It could not be opened again: why, and what to do.
    pub fn look(&mut self, file: &File) -> Result<OpenFile, String> {
        let unknown = |error: io::Error| format!("an open file in it cannot be examined: {error}");
        let metadata = file.metadata().map_err(unknown)?;
        let flags = rustix::fs::fcntl_getfl(file).map_err(|error| unknown(error.into()))?;
        let access = match flags & OFlags::RWMODE {
            OFlags::WRONLY => Access::Write,
            OFlags::RDWR => Access::ReadWrite,
            _ => Access::Read,
        };
        let path = path_of(file, &metadata)?;
        let is_file = metadata.is_file();
        let offset = if is_file {
            (&*file).stream_position().map_err(unknown)?
        } else {
            0
        };
        let append = flags.contains(OFlags::APPEND);
        let keeps_content = is_file && access == Access::ReadWrite && !append;
        let content = keeps_content
            .then(|| content_of(file, &metadata, &path))
            .transpose()?;
        let handle = self
            .handle(file, &metadata, offset, &path, access)
            .map_err(unknown)?;
        let relative = path.strip_prefix(start_folder()).map(Path::to_owned);
        Ok(OpenFile {
            handle: handle as u64,
            path: relative.unwrap_or(path),
            access,
            append,
            offset,
            length: is_file.then_some(metadata.len()),
            content,
        })
    }

    /// The number of the open file; that of an earlier one if the two share their offset.
    fn handle(
        &mut self,
        file: &File,
        metadata: &Metadata,
        offset: u64,
        path: &Path,
        access: Access,
    ) -> io::Result<usize> {
        let is_same = |known: &Known| {
            known.offset == offset && same_file(&known.metadata, metadata) && share_offset(&known.file, file)
        };
        if let Some(known) = self.0.iter().position(is_same) {
            return Ok(known);
        }
        self.0.push(Known {
            file: file.try_clone()?,
            metadata: metadata.clone(),
            offset,
            path: path.to_owned(),
            writes: access.writes() && metadata.is_file(),
        });
        Ok(self.0.len() - 1)
    }

    /// A file that is closed now, and has been written to.
    pub(crate) fn written_elsewhere(&mut self, file: File, metadata: Metadata, path: &Path) {
        self.0.push(Known {
            file,
            metadata,
            offset: 0,
            path: path.to_owned(),
            writes: true,
        });
    }

    /// Those whose bytes have to be on the disk before the checkpoint is.
    pub fn written(self) -> Vec<WrittenFile> {
        let written = self.0.into_iter().filter(|known| known.writes);
        written
            .map(|known| WrittenFile {
                file: known.file,
                id: (known.metadata.dev(), known.metadata.ino()),
                path: known.path,
            })
            .collect()
    }
}

/// A file that the program writes to.
#[derive(Debug)]
pub(crate) struct WrittenFile {
    file: File,
    id: (u64, u64),
    path: PathBuf,
}

/// Brings written files to the disk: a power cut after the checkpoint must not leave them shorter than it says. `entered`
/// has the files whose entries in their folders are there already.
///
/// # Errors
/// Which file, and why.
pub(crate) fn sync(files: &[WrittenFile], entered: &mut HashSet<(u64, u64)>) -> Result<(), String> {
    for written in files {
        let failed = |error: io::Error| {
            format!(
                "what the program wrote to `{}` cannot be brought to the disk: {error}",
                written.path.display()
            )
        };
        written.file.sync_data().map_err(failed)?;
        if entered.insert(written.id)
            && let Some(folder) = written.path.parent()
        {
            File::open(folder)
                .and_then(|folder| folder.sync_all())
                .map_err(failed)?;
        }
    }
    Ok(())
}

/// Where an open file is, if it could be opened from there again.
fn path_of(file: &File, metadata: &Metadata) -> Result<PathBuf, String> {
    let kind = metadata.file_type();
    let refused = |what: &str| {
        format!(
            "it has {what} open, which a restart could not open again; be done with it before the site, or make it again after a restart with `#[ckpt(reexecute)]` on its `let`"
        )
    };
    if kind.is_fifo() {
        return Err(refused("a pipe"));
    }
    if kind.is_socket() {
        return Err(refused("a socket"));
    }
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = std::fs::read_link(&link).map_err(|error| {
        format!("it has a file open whose path the system does not tell ({link}): {error}")
    })?;
    let named = |what: &str| refused(&format!("{what} (`{}`)", path.display()));
    if kind.is_char_device() {
        return match path.to_str() {
            Some("/dev/null" | "/dev/zero" | "/dev/full" | "/dev/random" | "/dev/urandom") => Ok(path),
            _ if file.is_terminal() => Ok("/dev/tty".into()),
            _ => Err(named("a device")),
        };
    }
    if kind.is_block_device() {
        return Err(named("a device"));
    }
    // A process has its own files under its number, which changes.
    if let Ok(own) = path.strip_prefix(format!("/proc/{}", std::process::id())) {
        return Ok(Path::new("/proc/self").join(own));
    }
    match std::fs::metadata(&path) {
        Ok(found) if same_file(&found, metadata) => Ok(path),
        _ if metadata.nlink() == 0 => Err(named("a file that has been deleted")),
        _ => Err(named("a file that is not at its path any more")),
    }
}

fn same_file(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

fn content_of(file: &File, metadata: &Metadata, path: &Path) -> Result<Vec<u8>, String> {
    let length = metadata.len();
    if length > LARGEST_CONTENT {
        return Err(format!(
            "`{}` is open for reading and writing and has {length} bytes; ckpt keeps the bytes of such a file up to {LARGEST_CONTENT}; open it for writing only or for appending, or read from it through a handle of its own",
            path.display()
        ));
    }
    let mut bytes = vec![0; length as usize];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => Ok(bytes),
        Err(error) => Err(format!("`{}` cannot be read: {error}", path.display())),
    }
}

/// Whether two handles of one file, at the same offset now, move together.
fn share_offset(a: &File, b: &File) -> bool {
    /// `KCMP_FILE` of the system call `kcmp`.
    const FILE: libc::c_int = 0;
    let process = std::process::id();
    // SAFETY: `kcmp` only looks at the two descriptors, which are open for as long as they are borrowed.
    let order = unsafe {
        libc::syscall(
            libc::SYS_kcmp,
            process,
            process,
            FILE,
            a.as_raw_fd(),
            b.as_raw_fd(),
        )
    };
    match order {
        0 => true,
        // The system does not tell (in some containers): move one of them and look at the other.
        -1 => moves_with(a, b).unwrap_or(false),
        _ => false,
    }
}

fn moves_with(mut a: &File, mut b: &File) -> io::Result<bool> {
    let before = a.stream_position()?;
    a.seek(SeekFrom::Start(before + 1))?;
    let moved = b.stream_position()? == before + 1;
    a.seek(SeekFrom::Start(before))?;
    Ok(moved)
}

/// The files that a restart has opened again.
#[derive(Debug, Default)]
pub(crate) struct ReopenedFiles {
    open: RefCell<HashMap<u64, File>>,
    unsettled: RefCell<Vec<Unsettled>>,
    /// What writers had not passed on to their files.
    tails: RefCell<Vec<(File, PathBuf, Vec<u8>)>>,
}

/// A file that is not yet as it was.
#[derive(Debug)]
struct Unsettled {
    file: File,
    path: PathBuf,
    length: u64,
    content: Option<Vec<u8>>,
}

impl ReopenedFiles {
    /// Opens a file as it was.
    ///
    /// # Errors
    /// It is not there, or not what it was.
    pub fn reopen(&self, was: OpenFile) -> Result<File, String> {
        if let Some(open) = self.open.borrow().get(&was.handle) {
            return open.try_clone().map_err(|error| was.fails(&error));
        }
        let path = start_folder().join(&was.path);
        let mut options = File::options();
        options.read(was.access.reads()).append(was.append);
        options.write(was.access.writes() && !was.append);
        // One whose bytes the checkpoint has need not be there.
        options.create(was.content.is_some() && !was.append);
        let mut file = options.open(&path).map_err(|error| was.fails(&error))?;
        let metadata = file.metadata().map_err(|error| was.fails(&error))?;
        if let Some(length) = was.length {
            was.compare(&metadata, length)?;
            file.seek(SeekFrom::Start(was.offset))
                .map_err(|error| was.fails(&error))?;
            if was.access.writes() {
                self.unsettled.borrow_mut().push(Unsettled {
                    file: file.try_clone().map_err(|error| was.fails(&error))?,
                    path,
                    length,
                    content: was.content.clone(),
                });
            }
        }
        let shared = file.try_clone().map_err(|error| was.fails(&error))?;
        self.open.borrow_mut().insert(was.handle, shared);
        Ok(file)
    }

    /// Opens a file as it was, with `tail` behind what has been written to it: bytes that a writer had not passed on.
    ///
    /// # Errors
    /// As [`ReopenedFiles::reopen`].
    #[cfg(feature = "csv")]
    pub fn reopen_to_add(&self, was: OpenFile, tail: Vec<u8>) -> Result<File, String> {
        let file = self.reopen(was.clone())?;
        if !tail.is_empty() {
            let shared = file.try_clone().map_err(|error| was.fails(&error))?;
            self.tails.borrow_mut().push((shared, was.path, tail));
        }
        Ok(file)
    }

    /// The walk of the restart has arrived: what a lost part of the run wrote is taken away.
    ///
    /// # Errors
    /// Which file could not be brought back, and why.
    pub fn settle(&self) -> Result<(), String> {
        let failed = |path: &Path, error: io::Error| {
            format!(
                "`{}` cannot be brought back to what it was: {error}",
                path.display()
            )
        };
        for unsettled in self.unsettled.take() {
            unsettled
                .settle()
                .map_err(|error| failed(&unsettled.path, error))?;
        }
        for (mut file, path, tail) in self.tails.take() {
            file.write_all(&tail).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }
}

impl Unsettled {
    fn settle(&self) -> io::Result<()> {
        if let Some(content) = &self.content {
            self.file.write_all_at(content, 0)?;
        }
        if self.file.metadata()?.len() == self.length {
            return Ok(());
        }
        self.file.set_len(self.length)
    }
}

impl OpenFile {
    fn fails(&self, error: &io::Error) -> String {
        format!(
            "the file `{}`, which was open for {} at the checkpoint, cannot be opened: {error}; put it back where it was (a relative path is one from the folder that the program is started in), or start anew",
            self.path.display(),
            self.access.purpose()
        )
    }

    /// A file that lacks bytes which it had, and the checkpoint does not, is another one.
    fn compare(&self, now: &Metadata, length: u64) -> Result<(), String> {
        let path = self.path.display();
        if !now.is_file() {
            return Err(format!(
                "`{path}` was a file at the checkpoint and is none now; put the file back"
            ));
        }
        if now.len() < length && self.content.is_none() {
            return Err(format!(
                "the file `{path}` has {} bytes now and had {length} at the checkpoint; put it back as it was, or restart from an older checkpoint",
                now.len()
            ));
        }
        Ok(())
    }
}

/// Whether a file has an offset that can be moved.
pub(crate) fn can_seek(file: &File) -> bool {
    rustix::fs::tell(file.as_fd()).is_ok()
}
