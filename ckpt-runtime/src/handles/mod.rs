//! The program's open files: what a checkpoint keeps of one, and how a restart opens it again.
//!
//! A checkpoint keeps where a file is, how it was opened, how long it was and how far it was read or written. A restart
//! opens it again. Before a checkpoint is committed, what was written to the files is brought to the disk.
//!
//! Where a restart finds them on another machine is in [`moved`], which of them it may write to in [`allowed`], those that are closed
//! to their owner in [`opened`]. Not here: what is in the files, and those that no variable holds ([`crate::state::journal`]).
//! Where that sees no files, a restart cuts those that are open to their length.

mod allowed;
pub(crate) mod moved;
mod opened;
mod place;
pub(crate) mod standard_input;

use std::cell::{OnceCell, RefCell};
use std::collections::{HashMap, HashSet};
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, IsTerminal, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, RawFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::fs::OFlags;

use crate::base::changes::{Coming, NotComing};
use crate::base::files::is_nothing;
use crate::base::signals::undisturbed;
use crate::base::sorted::SortedMap;
use crate::base::{current, folders};
pub use allowed::lies_within;
pub(crate) use allowed::{
    Allowed, Forbidden, LinkAtEnd, Links, Outside, place_among, real_among, run_folder_within,
};
pub(crate) use opened::{ALL_OF_OWNER, Opened, open_closed};
pub use place::Place;
pub(crate) use place::without_links;

/// What an open file may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Access {
    #[default]
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
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
}

/// The folder that the program was started in: the same for all sessions of the process.
static START: OnceLock<Start> = OnceLock::new();

#[derive(Debug)]
struct Start {
    /// Without links.
    folder: PathBuf,
    /// What the shell called it, where that leads over links.
    named: Option<PathBuf>,
}

/// Notes the folder that the program was started in, before the program can leave it.
pub(crate) fn note_start_folder() {
    start_folder();
}

pub(crate) fn start_folder() -> &'static Path {
    &started().folder
}

/// What the shell called the folder that the program was started in, where that leads over links.
pub(crate) fn start_folder_as_named() -> Option<&'static Path> {
    started().named.as_deref()
}

fn started() -> &'static Start {
    START.get_or_init(|| {
        let folder = std::env::current_dir().unwrap_or_default();
        let named = std::env::var_os("PWD").map(PathBuf::from);
        let named = named.filter(|named| named.is_absolute() && *named != folder);
        let is_it = |named: &PathBuf| std::fs::canonicalize(named).is_ok_and(|found| found == folder);
        let named = named.filter(is_it);
        Start { folder, named }
    })
}

/// The open files of one checkpoint while it is being saved.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    known: Vec<Known>,
    /// Paths of what has been changed beside them.
    changed: Vec<PathBuf>,
    /// What they have of standard input.
    pub(crate) input: HeldInput,
    /// The numbers of all that are looked at, where no more is asked of them.
    counted: Option<Vec<RawFd>>,
}

/// What the values of one checkpoint have of standard input.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct HeldInput {
    /// One of them is its lock.
    pub is_locked: bool,
    /// So many bytes wait in readers around it.
    pub ahead: u64,
}

#[derive(Debug)]
struct Known {
    file: File,
    metadata: Metadata,
    offset: u64,
    path: PathBuf,
    writes: bool,
}

impl OpenFiles {
    /// Whether there are any.
    pub fn are_any(&self) -> bool {
        !self.known.is_empty()
    }

    /// Which they are, by their devices and numbers there.
    pub fn ids(&self) -> Vec<(u64, u64)> {
        let known = self.known.iter();
        known
            .map(|known| (known.metadata.dev(), known.metadata.ino()))
            .collect()
    }

    /// From now on no more is asked of them than their numbers.
    pub fn are_only_counted(&mut self) {
        self.counted = Some(Vec::new());
    }

    /// The numbers of those that have been looked at since.
    pub fn counted(self) -> Vec<RawFd> {
        self.counted.unwrap_or_default()
    }

    /// Looks at an open file.
    ///
    /// # Errors
    /// It could not be opened again: why, and what to do.
    pub fn look(&mut self, file: &File) -> Result<OpenFile, String> {
        if let Some(counted) = &mut self.counted {
            counted.push(file.as_raw_fd());
            return Ok(OpenFile::default());
        }
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
        if let Some(known) = self.known.iter().position(is_same) {
            return Ok(known);
        }
        self.known.push(Known {
            file: file.try_clone()?,
            metadata: metadata.clone(),
            offset,
            path: path.to_owned(),
            writes: access.writes() && metadata.is_file(),
        });
        Ok(self.known.len() - 1)
    }

    /// What is at a path has been changed, or its name.
    pub(crate) fn written_elsewhere(&mut self, path: &Path) {
        self.changed.push(path.to_owned());
    }

    /// What has to be on the disk before the checkpoint is.
    pub fn written(self) -> Vec<WrittenFile> {
        let held = self.known.into_iter().filter(|known| known.writes);
        let held = held.map(|known| WrittenFile::Held {
            file: known.file,
            id: (known.metadata.dev(), known.metadata.ino()),
            path: known.path,
        });
        held.chain(self.changed.into_iter().map(WrittenFile::At))
            .collect()
    }
}

/// A file that the program writes to.
#[derive(Debug)]
pub(crate) enum WrittenFile {
    /// It is open.
    Held {
        file: File,
        id: (u64, u64),
        path: PathBuf,
    },
    /// It is at this path, or was: there may be something else now, or nothing, which the folder says.
    At(PathBuf),
}

/// Files whose names are on the disk: which, and by what name.
#[derive(Debug, Default)]
pub(crate) struct Entered(HashSet<((u64, u64), PathBuf)>);

/// The paths of written files.
pub(crate) fn paths(files: &[WrittenFile]) -> impl Iterator<Item = &Path> {
    files.iter().map(|written| match written {
        WrittenFile::Held { path, .. } | WrittenFile::At(path) => path.as_path(),
    })
}

/// Brings written files to the disk: a power cut after the checkpoint must not leave them other than it says, nor without
/// their names. `entered` has the open ones whose names are there already.
///
/// # Errors
/// Which file, and why.
pub(crate) fn sync(files: &[WrittenFile], entered: &mut Entered) -> Result<(), String> {
    let mut new = Vec::new();
    let mut folders = SortedMap::new();
    for written in files {
        let (path, synced) = match written {
            WrittenFile::Held { file, id, path } => {
                let name = (*id, path.clone());
                if !entered.0.contains(&name) {
                    new.push(name);
                    folders.extend(path.parent().map(|folder| (folder, (path, true))));
                }
                (path, file.sync_data())
            }
            WrittenFile::At(path) => {
                // Its name may be gone, which has to be on the disk as well; the folder may be too, which says its own path.
                if let Some(folder) = path.parent().filter(|folder| folder.is_dir()) {
                    folders.entry(folder).or_insert((path, false));
                }
                (path, sync_at(path))
            }
        };
        synced.map_err(|error| not_on_disk(path, &error))?;
    }
    for (folder, (path, is_new)) in folders {
        let synced = match folders::sync(folder) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => sync_around(folder, error),
            other => other,
        };
        let synced = synced.and_then(|()| match is_new {
            true => folders::enter(folder, Some(start_folder())),
            false => Ok(()),
        });
        // The program has removed it meanwhile, or given it another name: what that did is on the disk with the journal.
        let synced = match synced {
            Err(error) if is_nothing(&error) => Ok(()),
            other => other,
        };
        synced.map_err(|error| not_on_disk(path, &error))?;
    }
    // What failed is tried again with the next checkpoint.
    entered.0.extend(new);
    Ok(())
}

/// The devices that a program may have open: those that are the same everywhere.
const DEVICES: [&str; 6] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    TERMINAL,
];
const TERMINAL: &str = "/dev/tty";

fn not_on_disk(path: &Path, error: &io::Error) -> String {
    format!(
        "what the program wrote to `{}` cannot be brought to the disk: {error}",
        path.display()
    )
}

/// Brings the file or folder at a path to the disk, if there is one.
fn sync_at(path: &Path) -> io::Result<()> {
    let opened = |writes: bool| {
        let mut options = File::options();
        options.read(!writes).write(writes);
        // Nobody waits here for whoever is at the other end of a pipe.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.custom_flags(flags.bits() as i32).open(path)
    };
    let is_denied = |error: &io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.is_file() || found.is_dir() => {}
        Err(error) if is_denied(&error) => return sync_around(path, error),
        _ => return Ok(()),
    }
    let file = match opened(false) {
        Err(error) if is_denied(&error) => match opened(true) {
            // The program has closed it, and may not read it itself.
            Err(_) => return sync_around(path, error),
            opened => opened,
        },
        other => other,
    };
    match file.and_then(|file| file.sync_all()) {
        // Somebody has removed it meanwhile; or a file system that has no disk says that it cannot do this.
        Err(error) if is_nothing(&error) || error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        other => other,
    }
}

/// Brings all of the file system to the disk in which something is that cannot be opened.
fn sync_around(path: &Path, why: io::Error) -> io::Result<()> {
    let open = path
        .ancestors()
        .skip(1)
        .find_map(|folder| File::open(folder).ok());
    match open {
        Some(folder) => Ok(rustix::fs::syncfs(folder)?),
        None => Err(why),
    }
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
        return match DEVICES.iter().any(|device| path == Path::new(device)) {
            true => Ok(path),
            _ if file.is_terminal() => Ok(TERMINAL.into()),
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
        _ => {
            // It may have had another name already when it lost that one.
            let observer = undisturbed(current::observer);
            let id = (metadata.dev(), metadata.ino());
            let name = observer.and_then(|observer| observer.name_of(id, &path));
            name.ok_or_else(|| named("a file that is not at its path any more"))
        }
    }
}

fn same_file(a: &Metadata, b: &Metadata) -> bool {
    (a.dev(), a.ino()) == (b.dev(), b.ino())
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
    /// The folder of the store that says so.
    store: PathBuf,
    allowed: OnceCell<Allowed>,
    open: RefCell<HashMap<u64, File>>,
    unsettled: RefCell<Vec<Unsettled>>,
    /// What writers had not passed on to their files.
    tails: RefCell<Vec<(File, PathBuf, Vec<u8>)>>,
}

/// A file that is not yet as it was.
#[derive(Debug)]
struct Unsettled {
    file: File,
    /// Where it was.
    path: PathBuf,
    /// Where what was written to it since is to be taken away.
    length: Option<u64>,
}

/// Why a file is not opened again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotReopened {
    /// A checkpoint does not decide that it is written to.
    Forbidden(Forbidden),
    /// It is not there, or not what it was.
    Failed(String),
    /// No file of the run becomes what it was.
    All(String),
}

impl From<String> for NotReopened {
    fn from(why: String) -> Self {
        NotReopened::Failed(why)
    }
}

impl From<NotComing> for NotReopened {
    fn from(why: NotComing) -> Self {
        match why {
            NotComing::File(why) => NotReopened::Failed(why),
            NotComing::All(why) => NotReopened::All(why),
        }
    }
}

impl ReopenedFiles {
    /// Those of a checkpoint in this store.
    pub fn of(store: &Path) -> ReopenedFiles {
        ReopenedFiles {
            store: store.to_owned(),
            ..ReopenedFiles::default()
        }
    }

    /// Those of a checkpoint that may name any file.
    #[cfg(test)]
    pub fn anywhere() -> ReopenedFiles {
        ReopenedFiles {
            allowed: OnceCell::from(Allowed::below(Path::new("/"))),
            ..ReopenedFiles::default()
        }
    }

    /// Where the file is, if it may be opened so.
    fn place(&self, was: &OpenFile, end: LinkAtEnd<'_>) -> Result<PathBuf, NotReopened> {
        let is_device = was.length.is_none() && DEVICES.iter().any(|device| was.path == Path::new(device));
        if !was.access.writes() || is_device {
            return Ok(start_folder().join(&was.path));
        }
        self.allowed()
            .may_restore(&was.path, end)
            .map_err(NotReopened::Forbidden)
    }

    fn allowed(&self) -> &Allowed {
        self.allowed.get_or_init(|| Allowed::of(&self.store))
    }

    /// Opens a file as it was.
    ///
    /// # Errors
    /// It is not there, or not what it was, or is not to be written to.
    pub fn reopen(&self, was: OpenFile) -> Result<File, NotReopened> {
        if let Some(open) = self.open.borrow().get(&was.handle) {
            return Ok(open.try_clone().map_err(|error| was.fails(&error))?);
        }
        // What is there now need not be what was held: the journal brings that back first, and is asked by where it was.
        // A handler of the program's that is at work on files asks for it as well.
        let observer = undisturbed(current::observer);
        let links = observer.as_ref().map(|observer| observer.links_to_come());
        let coming = &links.unwrap_or_default();
        self.place(&was, LinkAtEnd::Itself { coming })?;
        let was_at = start_folder().join(&was.path);
        let mut coming = Coming::AsItIs;
        if let Some(observer) = observer {
            coming = observer.before_reopening(&was_at)?;
            // Somebody may have put a link in the place of a folder, and the journal names what is behind it.
            let none = Links::new();
            let named = self.place(&was, LinkAtEnd::Itself { coming: &none });
            if let (Coming::AsItIs, Ok(named)) = (coming, named)
                && named != was_at
            {
                coming = observer.before_reopening(&named)?;
            }
        }
        let mut file = self.open(&was)?;
        let flags = rustix::fs::fcntl_getfl(&file).map_err(|error| was.fails(&error.into()))?;
        rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK).map_err(|error| was.fails(&error.into()))?;
        let metadata = file.metadata().map_err(|error| was.fails(&error))?;
        if let Some(length) = was.length {
            was.compare(&metadata, length, coming)?;
            file.seek(SeekFrom::Start(was.offset))
                .map_err(|error| was.fails(&error))?;
            self.unsettled.borrow_mut().push(Unsettled {
                file: file.try_clone().map_err(|error| was.fails(&error))?,
                path: was_at,
                length: was.access.writes().then_some(length),
            });
        }
        let shared = file.try_clone().map_err(|error| was.fails(&error))?;
        self.open.borrow_mut().insert(was.handle, shared);
        Ok(file)
    }

    /// Opens what is at its place now.
    fn open(&self, was: &OpenFile) -> Result<File, NotReopened> {
        let mut options = File::options();
        // A pipe in its place is not waited for.
        options.custom_flags(OFlags::NONBLOCK.bits() as i32);
        options.read(was.access.reads()).append(was.append);
        options.write(was.access.writes() && !was.append);
        let path = self.place(was, LinkAtEnd::Followed)?;
        let opened = match options.open(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                self.open_closed(was, &options)?.ok_or(error)
            }
            opened => opened,
        };
        Ok(opened.map_err(|error| was.fails(&error))?)
    }

    /// The same where the program has closed it to itself, or a folder above it. Only what is the run's own is opened for that.
    fn open_closed(&self, was: &OpenFile, options: &OpenOptions) -> Result<Option<File>, NotReopened> {
        let allowed = self.allowed();
        let coming = &Links::new();
        let Ok(named) = allowed.may_restore(&was.path, LinkAtEnd::Itself { coming }) else {
            return Ok(None);
        };
        let _opened = Opened::on_the_way_to(&named);
        // Links that could not be seen may lead elsewhere.
        let path = match allowed.may_restore(&was.path, LinkAtEnd::Followed) {
            Err(why) if was.access.writes() => return Err(NotReopened::Forbidden(why)),
            Err(_) => return Ok(None),
            Ok(path) => path,
        };
        let opened = options.open(&path);
        Ok(opened.or_else(|_| open_closed(&path, options)).ok())
    }

    /// Opens a file as it was, with `tail` behind what has been written to it: bytes that a writer had not passed on.
    ///
    /// # Errors
    /// As [`ReopenedFiles::reopen`].
    #[cfg(feature = "csv")]
    pub fn reopen_to_add(&self, was: OpenFile, tail: Vec<u8>) -> Result<File, NotReopened> {
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
    /// What is behind its end is taken away, where nobody has done that. It is the file that is at its path, now that all of
    /// them are what they were.
    fn settle(&self) -> io::Result<()> {
        let found = self.file.metadata()?;
        let is_there = match std::fs::metadata(&self.path) {
            Ok(there) => same_file(&there, &found),
            Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
        };
        if !is_there {
            return Err(io::Error::other(
                "it was opened before everything was back in its place, and something else, or nothing, is there now",
            ));
        }
        match self.length {
            Some(was) if found.len() < was => Err(io::Error::other(format!(
                "it has {} bytes now and had {was} at the checkpoint",
                found.len()
            ))),
            Some(was) if found.len() > was => self.file.set_len(was),
            _ => Ok(()),
        }
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
    fn compare(&self, now: &Metadata, length: u64, coming: Coming) -> Result<(), String> {
        let path = self.path.display();
        if !now.is_file() {
            return Err(format!(
                "`{path}` was a file at the checkpoint and is none now; put the file back"
            ));
        }
        let will_have = match coming {
            Coming::AsItIs => now.len(),
            Coming::Length(length) => length,
        };
        if will_have < length {
            return Err(format!(
                "the file `{path}` has {} bytes now and had {length} at the checkpoint; put it back as it was, or restart from an older checkpoint",
                now.len()
            ));
        }
        Ok(())
    }
}

/// The offset of a file, if it has one that can be moved.
pub(crate) fn tell(file: &File) -> Option<u64> {
    rustix::fs::tell(file.as_fd()).ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_has_another_name_by_now_is_no_failure() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("d")).unwrap();
        let file = File::create(at("d/log")).unwrap();
        let written = [
            WrittenFile::Held {
                file,
                id: (0, 0),
                path: at("d/log"),
            },
            WrittenFile::At(at("d/log")),
        ];
        std::fs::rename(at("d"), at("e")).unwrap();
        sync(&written, &mut Entered::default()).unwrap();
        symlink("d", at("d")).unwrap();
        sync(&written, &mut Entered::default()).unwrap();
        std::fs::remove_file(at("d")).unwrap();
        std::fs::write(at("d"), "a file").unwrap();
        sync(&written, &mut Entered::default()).unwrap();
    }
}
