//! Files that the program writes to and no value of a checkpoint holds: that of a logger, or of a library. A restart does not open
//! them again, and nothing says what waits to be written to them. The program is told of it once.
//!
//! A file that is open and that nobody writes to any more is nobody's loss. So it counts when it has moved on from one checkpoint to
//! the next, or when nothing has been written to it yet and it is not there to be locked: what it was opened for is still to come.

use std::fs::{self, Metadata};
use std::os::fd::BorrowedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::descriptors::{Open, now};
use super::snapshot::SnapshotBuilder;
use crate::base::host::user_folder;
use crate::base::kept_open;
use crate::base::report::say;
use crate::base::sorted::SortedMap;

/// A file, by its device and number there.
type Id = (u64, u64);

/// What is known of such files from the checkpoint before.
#[derive(Debug, Default)]
pub(super) struct UnheldFiles {
    /// How far each had been written, by the number that it is open under.
    before: SortedMap<i32, (Id, u64)>,
    /// Where ckpt writes itself, beside the program.
    own: Vec<PathBuf>,
    is_told: bool,
}

impl UnheldFiles {
    /// What is in these folders is none of the program's, and nobody misses what is in the user's cache: drivers of graphics
    /// cards keep their compiled shaders there.
    pub fn beside<'f>(own: impl Iterator<Item = &'f Path>) -> UnheldFiles {
        let really = |folder: &Path| fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let cache = user_folder("XDG_CACHE_HOME", ".cache");
        UnheldFiles {
            own: { own.map(really) }.chain(cache.as_deref().map(really)).collect(),
            ..UnheldFiles::default()
        }
    }

    /// Looks for those that have been opened since the session began.
    pub fn look(&mut self, at_start: &Open, has_messages: bool, to: &mut SnapshotBuilder) {
        if self.is_told {
            return;
        }
        let mut found = SortedMap::new();
        let mut suspect = Vec::new();
        let is_own = |path: &str| self.own.iter().any(|folder| Path::new(path).starts_with(folder));
        for (number, path) in now().into_iter().filter(|(_, path)| !is_own(path)) {
            let Some((id, written, is_for_that)) = written_to(number, &path, at_start) else {
                continue;
            };
            let has_moved = self
                .before
                .get(&number)
                .is_some_and(|(known, before)| *known == id && *before != written);
            // Libraries for messages open files of their own, to share their memory.
            if has_moved || written == 0 && is_for_that && !has_messages && !is_locked(id) {
                suspect.push((id, path));
            }
            found.insert(number, (id, written));
        }
        self.before = found;
        if suspect.is_empty() {
            return;
        }
        let held = to.held_files();
        if let Some((_, path)) = suspect.iter().find(|(id, _)| !held.contains(id)) {
            self.is_told = true;
            say(&format!(
                "warning[W2430]: the program writes to `{path}`, which no variable holds: after a restart, what it writes there is missing\n  \
                 why:   a logger or a library has the file open; a restart does not know what opened it, and what waits in a buffer is in no checkpoint\n  \
                 help:  keep the file in a static that the logger writes through, such as `static LOG: OnceLock<Mutex<File>>`, and install the logger in a statement that does nothing else; or write the log to standard error"
            ));
        }
    }
}

/// Whether a process, this one most likely, has locked the file.
fn is_locked((_, number): Id) -> bool {
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    let mut files = locks.lines().filter_map(|line| line.split_whitespace().nth(5));
    files.any(|file| file.rsplit(':').next() == Some(&number.to_string()))
}

/// Which file it is, how far it has been written, and whether it is open for that alone, where the program can write to it and has
/// opened it since the start. What is read as well, libraries have in memory, such as a cache of what they have compiled.
fn written_to(number: i32, path: &str, at_start: &Open) -> Option<(Id, u64, bool)> {
    let is_of_program =
        number > 2 && path.starts_with('/') && !path.starts_with("/dev/") && !kept_open::is_ours(number);
    if !is_of_program || at_start.values().any(|known| known == path) {
        return None;
    }
    let found = fs::metadata(path).ok().filter(Metadata::is_file)?;
    // SAFETY: the number was open a moment ago. If it is closed meanwhile, or stands for another file, these calls fail, or say
    // something of that one, and nothing is changed.
    let file = unsafe { BorrowedFd::borrow_raw(number) };
    let flags = rustix::fs::fcntl_getfl(file).ok()?;
    let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR);
    let position = rustix::fs::tell(file).ok().filter(|_| writes)?;
    let written = if flags.contains(OFlags::APPEND) {
        found.len()
    } else {
        position
    };
    Some(((found.dev(), found.ino()), written, !flags.contains(OFlags::RDWR)))
}
