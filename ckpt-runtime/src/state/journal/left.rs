//! What a run has left of the program's files: noted by whoever has seen it die, so that what somebody has written since is
//! told from it when the run is undone.
//!
//! The undo goes on with it, so that it can be made again where it is killed: before it changes a file it says so, and then
//! what the file is. What ckpt itself has written is so never taken for somebody else's. See the page on files in the book
//! for the rule by which two states of a file are compared.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::log::{self, History};
use super::paths;
use super::starts_over::was_started_elsewhere;
use super::undo::{Plan, Records};
use crate::base::documents::{self, Documents, Durability};
use crate::base::files::is_nothing;
use crate::base::own::unobserved;
use crate::base::run_id::RunId;
use crate::base::sorted::SortedMap;
use crate::handles::moved;

/// The name of the document.
pub(super) const NAME: &str = "left.log";

/// A line of the document.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    /// The newest part of the journal of each rank then: the run has gone on where there is another one.
    Epochs(SortedMap<u32, u64>),
    /// What was at a path; nothing where there is no state.
    Left(Name, Option<State>),
    /// The file of a path is about to be changed by ckpt.
    Changes(Name),
}

/// A path as the journal has it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Name {
    Text(String),
    /// It is no text.
    Bytes(Vec<u8>),
}

impl Name {
    fn of(path: &Path) -> Name {
        let path = paths::relative(path);
        match path.to_str() {
            Some(text) => Name::Text(text.to_owned()),
            None => Name::Bytes(path.as_os_str().as_bytes().to_vec()),
        }
    }

    fn path(self) -> PathBuf {
        match self {
            Name::Text(text) => text.into(),
            Name::Bytes(bytes) => std::ffi::OsString::from_vec(bytes).into(),
        }
    }
}

/// Seconds since 1970, and nanoseconds.
type Time = (i64, i64);

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum State {
    File(FileState),
    /// Where it leads.
    Link(Vec<u8>),
    Folder,
    Other,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FileState {
    inode: u64,
    /// The folder that it is in: a copy is in another one.
    folder: u64,
    length: u64,
    modified: Time,
    changed: Time,
    mode: u32,
    owner: (u32, u32),
    links: u64,
}

impl State {
    /// What is there now; `None` where there is nothing.
    fn of(path: &Path) -> io::Result<Option<State>> {
        let found = match fs::symlink_metadata(path) {
            Err(error) if is_nothing(&error) => return Ok(None),
            found => found?,
        };
        let state = match () {
            () if found.is_dir() => State::Folder,
            () if found.is_symlink() => State::Link(fs::read_link(path)?.into_os_string().into_vec()),
            () if found.is_file() => State::File(FileState::of(path, &found)?),
            () => State::Other,
        };
        Ok(Some(state))
    }
}

impl FileState {
    fn of(path: &Path, found: &Metadata) -> io::Result<FileState> {
        Ok(FileState {
            inode: found.ino(),
            folder: fs::metadata(path.parent().unwrap_or(path))?.ino(),
            length: found.len(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
            mode: found.permissions().mode(),
            owner: (found.uid(), found.gid()),
            links: found.nlink(),
        })
    }

    /// What has become of it, if it is not what it was.
    fn difference(&self, now: &FileState) -> Option<String> {
        let is_in_the_same = self.folder == now.folder;
        // What is copied may have whole seconds only.
        let is_rounded = !is_in_the_same && now.modified == (self.modified.0, 0);
        let is_as_old = self.modified == now.modified || is_rounded;
        // Nobody sets the time of change: where it is the same, the file system has only counted its files anew.
        if is_in_the_same && self.inode != now.inode && self.changed != now.changed {
            return Some(format!(
                "is another file than when the run had died (it was last written at {})",
                text(now.modified)
            ));
        }
        if self.length != now.length || !is_as_old {
            return Some(match self.modified < now.modified {
                true => format!("was written at {}, after the run had died", text(now.modified)),
                false => format!(
                    "has changed since the run had died (it had {} bytes then, and has {} now, last written at {})",
                    self.length,
                    now.length,
                    text(now.modified)
                ),
            });
        }
        // The system notes these at the same time, and they take nothing away.
        let rights = |state: &FileState| (state.mode, state.owner, state.links);
        let is_known_why = rights(self) != rights(now) || now.links > 1;
        (is_in_the_same && !is_known_why && self.changed != now.changed)
            .then(|| format!("was changed at {}, after the run had died", text(now.changed)))
    }
}

fn text((seconds, _): Time) -> String {
    let since = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
    let time: SystemTime = UNIX_EPOCH.checked_add(since).unwrap_or(UNIX_EPOCH);
    humantime::format_rfc3339_seconds(time).to_string()
}

/// What is known of a path.
#[derive(Debug)]
enum Known {
    Left(Option<State>),
    /// An undo was killed while it changed it.
    Changing,
}

/// What is known of what a run has left.
#[derive(Debug)]
pub(super) struct Left {
    documents: Arc<dyn Documents>,
    known: HashMap<PathBuf, Known>,
}

/// The run has died: what it has left of the files that it has changed since its beginning is noted, where that can be undone.
///
/// # Errors
/// What is there cannot be looked at, or not be noted.
pub(crate) fn note_left(documents: &Arc<dyn Documents>, run: RunId) -> Result<(), String> {
    unobserved(|| {
        let mut histories = Vec::new();
        for rank in log::ranks_in(&**documents) {
            let history = super::read(Arc::clone(documents), run, rank)?;
            let (Ok(Some(to)), Ok(elsewhere)) = (history.first_since(0), was_started_elsewhere(&history))
            else {
                return Ok(());
            };
            if !elsewhere {
                histories.push((rank, history, to));
            }
        }
        let records = histories.iter().map(|(_, history, to)| Records {
            rank: 0,
            history,
            to: *to,
        });
        let Ok(plan) = Plan::new(&records.collect::<Vec<_>>(), 0, &[]) else {
            return Ok(());
        };
        let epochs = histories
            .iter()
            .map(|(rank, history, _)| (*rank, history.newest()));
        let mut lines = Vec::new();
        add(&mut lines, &Line::Epochs(epochs.collect()));
        for path in plan.paths() {
            let state = State::of(path).map_err(|error| format!("`{}`: {error}", path.display()))?;
            if let Some(State::File(_)) = state
                && let Ok(file) = fs::File::open(path)
            {
                // After a power cut it is to be what is noted.
                let _ = file.sync_all();
            }
            add(&mut lines, &Line::Left(Name::of(path), state));
        }
        let noted = documents.replace(NAME, &lines, Durability::Synced);
        noted.map_err(|error| error.to_string())
    })
}

fn add(lines: &mut Vec<u8>, line: &Line) {
    if let Ok(text) = serde_json::to_vec(line) {
        lines.extend(text);
        lines.push(b'\n');
    }
}

impl Left {
    /// What is known of a run of which these ranks are to be undone, each from an epoch on; `None` where nobody has seen it die, or it
    /// has gone on since.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn read(
        documents: &Arc<dyn Documents>,
        ranks: &[(u32, &History, u64)],
        moves: &[(PathBuf, PathBuf)],
    ) -> io::Result<Option<Left>> {
        let Some(text) = documents.read(NAME)? else {
            return Ok(None);
        };
        let mut lines = text
            .split(|byte| *byte == b'\n')
            // One may have been cut off when it was written: what it was about had not been done.
            .filter_map(|line| serde_json::from_slice(line).ok());
        let Some(Line::Epochs(epochs)) = lines.next() else {
            return Ok(None);
        };
        let is_as_then = |(rank, history, to): &(u32, &History, u64)| {
            let then = epochs.get(rank);
            then.is_some_and(|epoch| history.has_only_returned_since(*epoch, *to))
        };
        if epochs.len() != ranks.len() || !ranks.iter().all(is_as_then) {
            return Ok(None);
        }
        let at = |name: Name| moved::moved(paths::absolute(&name.path()), moves);
        let known = lines.filter_map(|line| match line {
            Line::Left(name, state) => Some((at(name), Known::Left(state))),
            Line::Changes(name) => Some((at(name), Known::Changing)),
            Line::Epochs(_) => None,
        });
        Ok(Some(Left {
            documents: Arc::clone(documents),
            known: known.collect(),
        }))
    }

    /// Whether what is at a path is what the run has left there, or ckpt. What is gone is nobody's.
    ///
    /// # Errors
    /// What has become of it.
    pub fn is_there(&self, path: &Path) -> Result<(), String> {
        let Some(Known::Left(left)) = self.known.get(path) else {
            return Ok(());
        };
        let shown = paths::relative(path).display();
        let now = State::of(path).map_err(|error| format!("`{shown}` cannot be looked at: {error}"))?;
        let difference = match (left, &now) {
            (_, None | Some(State::Folder | State::Other)) => None,
            (Some(State::File(left)), Some(State::File(now))) => left.difference(now),
            (left, now) if left == now => None,
            (None | Some(State::Folder), Some(_)) => Some("was made after the run had died".to_owned()),
            (Some(_), Some(_)) => Some("was replaced after the run had died".to_owned()),
        };
        match difference {
            Some(difference) => Err(format!(
                "`{shown}` {difference}: what stands there now is somebody else's, and would be cut off or replaced"
            )),
            None => Ok(()),
        }
    }

    /// To note what the undo does.
    ///
    /// # Errors
    /// It cannot be noted.
    pub fn progress(&self) -> io::Result<Progress> {
        Ok(Progress {
            log: self.documents.log(NAME, Durability::Synced)?,
            pending: vec![b'\n'],
        })
    }
}

/// How far an undo has come.
#[derive(Debug)]
pub(super) struct Progress {
    log: Box<dyn documents::Log>,
    /// Lines that need not be there yet.
    pending: Vec<u8>,
}

impl Progress {
    /// These files are about to be changed.
    ///
    /// # Errors
    /// That cannot be noted.
    pub fn before(&mut self, files: &[&Path]) -> io::Result<()> {
        for path in files {
            add(&mut self.pending, &Line::Changes(Name::of(path)));
        }
        self.log.add(&self.pending)?;
        self.pending.clear();
        Ok(())
    }

    /// They have been. That is noted with the next: until then nothing of them is compared.
    pub fn after(&mut self, files: &[&Path]) {
        for path in files {
            if let Ok(state) = State::of(path) {
                add(&mut self.pending, &Line::Left(Name::of(path), state));
            }
        }
    }
}
