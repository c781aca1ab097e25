//! What is kept before something changes: of each path what it was when the epoch began, once.
//!
//! Of a file that is written the length is enough, and the bytes that are about to be written over or cut off; of what goes
//! away or takes another name, all of it. A path of which all is kept can become anything; what was not there was kept by
//! saying so.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::c_int;
use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::descriptors;
use super::followed::Followed;
use super::holes::copy;
use super::log::{self, Log};
use super::names::Names;
use super::paths::{self, Devices, path_of, relative, resolve};
use super::ranges::Ranges;
use super::reach::Reach;
use super::record::{Content, Held, Record, Was};
use super::unseen::{Id, Unseen, changeable};
use crate::base::changes::{At, Change, Where};
use crate::base::files::is_nothing;
use crate::base::folders;
use crate::base::report::say;
use crate::base::run_id::RunId;
use crate::handles::{Outside, open_closed};

/// Up to here bytes stand in a record; what is larger lies beside the journal.
const INSIDE: u64 = 1 << 20;
/// Bytes of large files are kept in blocks of this size.
const BLOCK: u64 = 1 << 18;

/// Why nothing that was kept so far is of use: the program has put its hands on it.
const OF_THE_STORE: &str =
    "the checkpoints are there, and the program removes them or gives their folder another name";
/// What to do about that.
const LEAVE_THE_STORE: &str = "let CKPT_DIR name a folder that the program leaves alone; no checkpoint can be taken while they are elsewhere";
/// What to do where something else cannot be kept.
const MAKE_ROOM: &str = "make room where the checkpoints are, on the file system of the file if it has several names (hard links), or see to the file; from the next checkpoint on it is as ever";

/// A file that is written, as the epoch found it.
#[derive(Debug)]
struct Kept {
    /// The path that the journal has it under.
    path: PathBuf,
    length: u64,
    /// What of it is in the journal.
    saved: Ranges,
}

impl Kept {
    fn all() -> Kept {
        Kept {
            path: PathBuf::new(),
            length: 0,
            saved: Ranges::default(),
        }
    }

    fn is_whole(&self) -> bool {
        self.saved.cover(&(0..self.length))
    }
}

/// What a session knows of the files that its program has touched in the epoch under way.
#[derive(Debug)]
pub(super) struct Watch {
    /// Folders of ckpt's own: that of the session, as it is and as it was named, and what this machine notes.
    own: Vec<PathBuf>,
    /// Files that the program was started with as its standard output and error: what is printed is no file of the program's.
    streams: Vec<Id>,
    /// What this machine notes of files elsewhere.
    outside: Arc<Outside>,
    pub log: Log,
    reach: Arc<Reach>,
    /// Paths of which all is kept.
    names: HashSet<PathBuf>,
    /// Files that are written.
    files: HashMap<Id, Kept>,
    /// Files that can be changed without a call.
    unseen: Unseen,
    /// Names that files have got.
    pub linked_as: Names,
    /// Files that have a second name beside the journal, in which epoch they got it, and which: nobody may write to them.
    linked: HashMap<Id, (u64, PathBuf)>,
    /// What a checkpoint needs on the disk and may not be there.
    pub unsynced: BTreeSet<PathBuf>,
    devices: Devices,
    /// Links by which the program gets to files elsewhere.
    pub followed: Followed,
    /// Something could not be kept in this epoch: nothing more of it is of use.
    is_lost: bool,
}

impl Watch {
    pub fn new(store: [PathBuf; 2], outside: Arc<Outside>, log: Log, reach: Arc<Reach>) -> Watch {
        let mut own = Vec::from(store);
        own.extend(outside.folder());
        Watch {
            own,
            streams: standard_streams(),
            outside,
            log,
            reach,
            names: HashSet::new(),
            files: HashMap::new(),
            unseen: Unseen::default(),
            linked_as: Names::default(),
            linked: HashMap::new(),
            unsynced: BTreeSet::new(),
            devices: Devices::default(),
            followed: Followed::default(),
            is_lost: false,
        }
    }

    /// A checkpoint is taken: the next epoch begins, unless nothing has changed since this one did. What can be changed
    /// without a call is kept at once.
    ///
    /// # Errors
    /// It cannot be written down; this epoch goes on.
    pub fn checkpoint(&mut self) -> io::Result<()> {
        match self.is_as_it_began() {
            true => Ok(()),
            false => self.next_epoch(0),
        }
    }

    /// Whether nothing has changed since the epoch began.
    pub fn is_as_it_began(&self) -> bool {
        self.log.begins_now() && !self.is_lost
    }

    /// The next epoch begins.
    ///
    /// # Errors
    /// As [`checkpoint`](Watch::checkpoint).
    pub fn next_epoch(&mut self, undone_to: u64) -> io::Result<()> {
        let epoch = self.log.epoch() + 1;
        self.log.next(epoch, undone_to)?;
        self.outside.note_epoch(self.log.run(), epoch);
        self.names.clear();
        self.files.clear();
        self.is_lost = false;
        descriptors::next_epoch();
        for file in self.unseen.now() {
            match file {
                Ok((id, path)) if self.is_watched(&path) => self.keep_whole(path, Some(id)),
                Ok(_) => {}
                Err(path) => self.lose(
                    path,
                    "it can be changed without a call, and has a name that is not known".to_owned(),
                ),
            }
        }
        Ok(())
    }

    /// Something is about to change.
    pub fn before(&mut self, change: Change<'_>) {
        // What could not be said may be possible to say now.
        let _ = self.log.say();
        match change {
            Change::Open {
                at,
                creates,
                truncates,
                mode,
            } => {
                self.before_open(at, creates, truncates);
                if creates && let Some(path) = self.watched(at) {
                    self.may_become_program(&path, mode);
                }
            }
            Change::Stream {
                at,
                creates,
                truncates,
            } => {
                self.before_open(at, creates, truncates);
                let path = self.watched(at);
                self.can_change_unseen(path);
            }
            Change::Make { at } => {
                let path = self.watched(at);
                self.keep_all(path, true);
            }
            Change::Remove { at } => {
                let path = self.resolved(at);
                if let Some(path) = path.as_deref().filter(|path| self.is_of_the_store(path)) {
                    return self.lose_the_store(path.to_owned());
                }
                self.keep_all(path.filter(|path| self.is_watched(path)), true);
            }
            Change::Rename { old, new, exchanges } => self.before_rename(old, new, exchanges),
            Change::Link { old, new } => {
                self.may_be_named(old, new);
                if let Some(path) = self.watched(old) {
                    self.keep_file_at(&path);
                    if let Some(new) = self.watched(new) {
                        self.may_become_program(&new, mode_of(&path));
                    }
                }
                let new = self.watched(new);
                self.keep_all(new, true);
            }
            Change::Permissions { at, mode } => {
                if let Some(path) = self.watched(at) {
                    self.all_may_become_programs(&path, mode);
                    self.keep_permissions(path);
                }
            }
            Change::PermissionsOf(file, mode) => {
                if let Some(path) = self.watched_file(file) {
                    self.all_may_become_programs(&path, mode);
                    self.keep_permissions(path);
                }
            }
            Change::Resize(at, length) => {
                if let Some(path) = self.watched(at)
                    && let Some(id) = self.keep_file_at(&path)
                {
                    self.save(id, length..u64::MAX, &path);
                }
            }
            Change::ResizeOf(file, length) => {
                if let Some((id, _)) = self.keep_open_file(file) {
                    self.save(id, length..u64::MAX, &paths::link_to(file));
                }
            }
            Change::Write { file, at, count } => self.before_write(file, at, count),
            Change::Unseen(file) => {
                if can_write(file) && self.keep_open_file(file).is_some() {
                    let path = self.watched_file(file);
                    self.can_change_unseen(path);
                }
            }
        }
    }

    /// A file gets another name, by which it may be found that can be changed without a call; or its first one, and what was
    /// no file that is watched is one from now on.
    fn may_be_named(&mut self, old: At<'_>, new: At<'_>) {
        // Where it is no number of a file, the path is absolute, or the system will say so.
        let folder = open_file(old.folder).unwrap_or(rustix::fs::CWD);
        let mut how = rustix::fs::AtFlags::EMPTY_PATH;
        how.set(rustix::fs::AtFlags::SYMLINK_NOFOLLOW, !old.follows);
        let Ok(found) = rustix::fs::statat(folder, old.path, how) else {
            return;
        };
        let Some(new) = self.watched(new) else { return };
        let first = resolve(old).ok().flatten();
        let id = (found.st_dev, found.st_ino);
        self.linked_as
            .is_linked(id, first.into_iter().chain([new.clone()]));
        match found.st_nlink {
            0 => {
                descriptors::next_epoch();
                self.unseen.gets_a_name(&new);
            }
            _ => self.unseen.is_linked(id, &new),
        }
    }

    /// A folder is about to be made for the program.
    ///
    /// # Errors
    /// That it was not there cannot be kept.
    pub fn before_making(&mut self, folder: &Path) -> Result<(), String> {
        self.keep_all([folder.to_owned()], true);
        match self.is_lost {
            true => Err("the journal of files cannot be written".to_owned()),
            false => Ok(()),
        }
    }

    /// What has these permissions is to be at a path: where a restart asks whose programs it writes over, it is the program's.
    fn may_become_program(&self, path: &Path, mode: u32) {
        if mode & 0o111 != 0 && self.is_watched(path) {
            self.outside.note_program(path);
        }
    }

    /// The same of all names of the file at a path.
    fn all_may_become_programs(&self, path: &Path, mode: u32) {
        self.may_become_program(path, mode);
        if mode & 0o111 != 0
            && let Ok(found) = look_at(path)
            && found.nlink() > 1
        {
            let id = (found.dev(), found.ino());
            let open = changeable().unwrap_or_default().remove(&id).unwrap_or_default();
            for name in self.linked_as.of(id).chain(open.iter().map(PathBuf::as_path)) {
                self.may_become_program(name, mode);
            }
        }
    }

    /// What a path stands for, if it is watched.
    fn watched(&mut self, at: At<'_>) -> Option<PathBuf> {
        self.resolved(at).filter(|path| self.is_watched(path))
    }

    /// What a path stands for; `None` where nothing can be changed there.
    fn resolved(&mut self, at: At<'_>) -> Option<PathBuf> {
        let path = resolve(at).unwrap_or_else(|(path, error)| {
            self.lose(path, format!("its place is not known: {error}"));
            None
        });
        if let Some(path) = &path {
            self.followed.is_named(at, path);
        }
        path
    }

    /// Where an open file is, if it is watched.
    fn watched_file(&mut self, file: c_int) -> Option<PathBuf> {
        let found = paths::found_at(file).or_else(|error| {
            let found = open_file(file).and_then(|file| rustix::fs::fstat(file).ok());
            let once = path_of(file).ok().flatten();
            let name = found.zip(once);
            let name = name.and_then(|(found, once)| self.name_of((found.st_dev, found.st_ino), &once));
            name.map(Some).ok_or(error)
        });
        let path = found.unwrap_or_else(|error| {
            self.lose(paths::link_to(file), format!("its place is not known: {error}"));
            None
        });
        path.filter(|path| self.is_watched(path))
    }

    /// A name that a file has now, of which the system says that it was opened by one that is gone.
    pub fn name_of(&self, id: Id, once: &Path) -> Option<PathBuf> {
        self.linked_as.now(id, once)
    }

    fn is_watched(&self, path: &Path) -> bool {
        !self.own.iter().any(|folder| path.starts_with(folder))
    }

    /// Whether what is there is ckpt's own, by where that really is.
    fn is_of_the_store(&self, path: &Path) -> bool {
        path.starts_with(&self.own[0])
    }

    /// Whether the store lies there.
    fn has_the_store(&self, path: &Path) -> bool {
        self.own[0].starts_with(path)
    }

    /// Whether a file is of a kind that is watched, and not the system's own.
    fn is_data(&mut self, found: &Metadata, kind: impl FnOnce() -> Option<u32>) -> bool {
        found.is_file() && !self.devices.is_of_the_system(found.dev(), kind)
    }

    fn before_open(&mut self, at: At<'_>, creates: bool, truncates: bool) {
        let Some(path) = self.watched(at) else { return };
        match look_at(&path) {
            Ok(_) if truncates => {
                if let Some(id) = self.keep_file_at(&path) {
                    self.save(id, 0..u64::MAX, &path);
                }
            }
            Err(error) if creates && error.kind() == io::ErrorKind::NotFound => self.keep_all([path], true),
            Err(error) if creates || truncates => self.cannot_look(path, &error),
            _ => {}
        }
    }

    /// What is at a path is not known, in a folder that is where its path says. Where that is so because nobody can get there,
    /// nothing can be changed there either.
    fn cannot_look(&mut self, path: PathBuf, error: &io::Error) {
        if !paths::is_out_of_reach(&path, error) {
            self.lose(path, format!("it cannot be looked at: {error}"));
        }
    }

    fn before_rename(&mut self, old: At<'_>, new: At<'_>, exchanges: bool) {
        let (Some(old), Some(new)) = (self.resolved(old), self.resolved(new)) else {
            return;
        };
        let id = |path: &Path| look_at(path).map(|found| (found.dev(), found.ino()));
        match (id(&old), id(&new)) {
            (Err(error), _) => return self.cannot_look(old, &error),
            (Ok(old), Ok(new)) if old == new => return,
            (Ok(_), Err(error)) if error.kind() != io::ErrorKind::NotFound => {
                self.cannot_look(new.clone(), &error)
            }
            _ => {}
        }
        self.unseen.is_renamed(&old, &new);
        self.linked_as.is_renamed(&old, &new);
        if exchanges {
            self.unseen.is_renamed(&new, &old);
            self.linked_as.is_renamed(&new, &old);
        }
        // What would have to be undone goes elsewhere itself.
        let takes_away = |path: &Path| self.is_of_the_store(path) || self.has_the_store(path);
        if takes_away(&old) {
            return self.lose_the_store(old);
        }
        if exchanges && takes_away(&new) {
            return self.lose_the_store(new);
        }
        let mut all = Vec::new();
        let mut found = below(&old, &new, &mut all);
        if exchanges {
            found = found.and_then(|()| below(&new, &old, &mut all));
        }
        if let Err(error) = found {
            return self.lose(old, format!("what is in it cannot be listed: {error}"));
        }
        for pair in all.chunks_exact(2) {
            self.may_become_program(&pair[1], mode_of(&pair[0]));
        }
        all.retain(|path| self.is_watched(path) && (exchanges || *path != new));
        // What is behind a link that is to give way to a folder is not below it, also where the system refuses that.
        let no_folder =
            [&old, &new].map(|top| look_at(top).map_or(true, |found| !found.is_dir()).then_some(top));
        let is_nothing = |path: &PathBuf| {
            let mut tops = no_folder.into_iter().flatten();
            tops.any(|top| path != top && path.starts_with(top))
        };
        let (nothing, all): (Vec<PathBuf>, Vec<PathBuf>) = all.into_iter().partition(is_nothing);
        self.keep_nothing(nothing);
        self.keep_all(all, false);
        self.keep_all(self.is_watched(&new).then_some(new), true);
    }

    /// The file of a path can be changed without a call as long as somebody has it open or mapped.
    fn can_change_unseen(&mut self, path: Option<PathBuf>) {
        let Some(path) = path.filter(|path| self.is_watched(path)) else {
            return;
        };
        self.keep_whole(path.clone(), None);
        self.unseen.add(path);
    }

    /// Keeps all of a file, also where it has other names, by which it can be changed.
    fn keep_whole(&mut self, path: PathBuf, id: Option<Id>) {
        self.keep_all([path.clone()], false);
        let found = fs::symlink_metadata(&path).ok();
        if let Some(id) = id.or(found.map(|found| (found.dev(), found.ino()))) {
            self.save(id, 0..u64::MAX, &path);
        }
    }

    fn before_write(&mut self, file: c_int, at: Where, count: u64) {
        let since = descriptors::moment();
        let Some((id, length)) = self.keep_open_file(file) else {
            return;
        };
        let known = match self.files.get(&id) {
            Some(known) if !known.is_whole() => known,
            _ => {
                descriptors::kept(file);
                return;
            }
        };
        let Some(handle) = open_file(file) else { return };
        let appends =
            rustix::fs::fcntl_getfl(handle).is_ok_and(|flags| flags.contains(rustix::fs::OFlags::APPEND));
        let from = match at {
            Where::Exactly(from) => from,
            // The system adds to the end wherever a handle that appends is asked to write.
            _ if appends => length,
            Where::From(from) => from,
            Where::Here => rustix::fs::tell(handle).unwrap_or(0),
        };
        if at == Where::Here && known.saved.cover(&(from.min(known.length)..known.length)) {
            descriptors::beyond(file, since);
        }
        self.save(id, from..from.saturating_add(count), &paths::link_to(file));
    }

    /// Keeps how long the file of a path is, if it is one; gives which it is.
    fn keep_file_at(&mut self, path: &Path) -> Option<Id> {
        let found = match look_at(path) {
            Ok(found) => found,
            Err(error) => {
                self.cannot_look(path.to_owned(), &error);
                return None;
            }
        };
        if !self.is_data(&found, || paths::kind_of(path)) {
            return None;
        }
        self.keep_length(&found, path.to_owned());
        Some((found.dev(), found.ino()))
    }

    /// The same of an open file, with its length now.
    fn keep_open_file(&mut self, file: c_int) -> Option<(Id, u64)> {
        let handle = open_file(file)?;
        let found = match rustix::fs::fstat(handle) {
            Ok(found) => found,
            Err(error) => {
                self.cannot_look(paths::link_to(file), &error.into());
                return None;
            }
        };
        let is_file = rustix::fs::FileType::from_raw_mode(found.st_mode).is_file();
        let id = (found.st_dev, found.st_ino);
        let length = found.st_size.max(0) as u64;
        if self.streams.contains(&id) {
            descriptors::unwatched(file);
            return None;
        }
        if is_file && self.linked.contains_key(&id) {
            self.take_apart(id, paths::link_to(file));
        }
        if is_file && self.files.contains_key(&id) {
            return Some((id, length));
        }
        let of_the_system = is_file
            && self
                .devices
                .is_of_the_system(found.st_dev, || paths::kind_of_file(handle));
        let path = match is_file && !of_the_system && found.st_nlink > 0 {
            true => path_of(file),
            false => Ok(None),
        };
        let path = match path {
            Ok(path) => path
                .map(|path| match fs::symlink_metadata(&path) {
                    Ok(at_path) if (at_path.dev(), at_path.ino()) == id => path,
                    _ => self.name_of(id, &path).unwrap_or(path),
                })
                .filter(|path| self.is_watched(path)),
            Err(error) => {
                self.lose(paths::link_to(file), format!("its place is not known: {error}"));
                return None;
            }
        };
        let Some(path) = path else {
            match is_file && !of_the_system && found.st_nlink == 0 {
                // It may get a name.
                true => descriptors::kept(file),
                false => descriptors::unwatched(file),
            }
            return None;
        };
        match fs::symlink_metadata(&path) {
            Ok(at_path) if (at_path.dev(), at_path.ino()) == id => self.keep_length(&at_path, path),
            // It has a name, and nobody says which.
            _ => self.lose(
                path,
                "the file that is written is not at its path any more".to_owned(),
            ),
        }
        Some((id, length))
    }

    /// Keeps how long a file is, if nothing of it is kept yet.
    fn keep_length(&mut self, found: &Metadata, path: PathBuf) {
        let id = (found.dev(), found.ino());
        if self.streams.contains(&id) {
            return;
        }
        if self.linked.contains_key(&id) {
            self.take_apart(id, path.clone());
        }
        if self.files.contains_key(&id) {
            return;
        }
        self.touches(&path);
        if self.is_lost || (self.names.contains(&path) && found.nlink() == 1) {
            self.files.insert(id, Kept::all());
            return;
        }
        if self.names.contains(&path) {
            return self.lose(
                path,
                "it is another name (a hard link) of a file that was there before".to_owned(),
            );
        }
        // One of several names is no place to find a file again: it may be given to another meanwhile.
        let held = match found.nlink() {
            0 | 1 => Ok(Held::There),
            _ => self.named(&path),
        };
        let held = match held {
            Ok(held) => held,
            Err(why) => return self.lose(path, why),
        };
        let record = Record::Was {
            path: relative(&path).to_owned(),
            was: Was::File {
                mode: found.permissions().mode() & 0o7777,
                length: found.len(),
                held,
            },
        };
        if self.write(vec![record], &path) {
            let kept = Kept {
                path,
                length: found.len(),
                saved: Ranges::default(),
            };
            self.files.insert(id, kept);
        }
    }

    /// Keeps bytes of a file that are about to be written over, read from `from`.
    fn save(&mut self, id: Id, range: Range<u64>, from: &Path) {
        let Some(kept) = self.files.get(&id) else { return };
        let end = range.end.min(kept.length);
        if range.start >= end || self.is_lost {
            return;
        }
        // Small files at once; blocks of large ones.
        let range = match kept.length <= INSIDE {
            true => 0..kept.length,
            false => range.start / BLOCK * BLOCK..end.div_ceil(BLOCK).saturating_mul(BLOCK).min(kept.length),
        };
        let missing = kept.saved.missing(range);
        if missing.is_empty() {
            return;
        }
        let path = kept.path.clone();
        let records = open_to_read(from).and_then(|file| self.bytes_of(&file, &missing, &path));
        match records {
            Ok(records) => {
                let all = records.len();
                // Each is on the disk before the next: a large one is a frame of its own.
                let written = records
                    .into_iter()
                    .take_while(|record| self.write(vec![record.clone()], &path));
                if written.count() == all
                    && let Some(kept) = self.files.get_mut(&id)
                {
                    missing.into_iter().for_each(|part| kept.saved.add(part));
                }
            }
            Err(error) => self.lose(path, format!("it cannot be read: {error}")),
        }
    }

    /// Records of these bytes of a file.
    fn bytes_of(&mut self, file: &File, parts: &[Range<u64>], path: &Path) -> io::Result<Vec<Record>> {
        let mut records = Vec::new();
        for part in parts {
            let record = |content| Record::Bytes {
                path: relative(path).to_owned(),
                offset: part.start,
                content,
            };
            records.push(record(self.content(file, part.clone())?));
        }
        Ok(records)
    }

    /// Bytes of a file, as a record holds them.
    fn content(&mut self, file: &File, part: Range<u64>) -> io::Result<Content> {
        let length = part.end - part.start;
        if length <= INSIDE {
            let mut bytes = vec![0; length as usize];
            file.read_exact_at(&mut bytes, part.start)?;
            return Ok(Content::New(bytes));
        }
        let (number, path) = self.log.beside();
        let copied = copy(file, part, &path).and_then(|copy| {
            copy.sync_all()?;
            let sum = log::sum_of(&copy, length)?;
            self.sync_beside(&path)?;
            Ok(sum)
        });
        match copied {
            Ok(sum) => Ok(Content::Beside {
                epoch: self.log.epoch(),
                number,
                length,
                sum,
            }),
            Err(error) => {
                let _ = fs::remove_file(&path);
                Err(error)
            }
        }
    }

    fn sync_beside(&self, path: &Path) -> io::Result<()> {
        path.parent().map_or(Ok(()), folders::sync)
    }

    /// Keeps all that is at these paths, before something comes there: what is there goes (`goes`), or may stay somewhere.
    fn keep_all(&mut self, paths: impl IntoIterator<Item = PathBuf>, goes: bool) {
        let (mut records, mut bytes) = (Vec::new(), 0);
        let mut known = Vec::new();
        for path in paths {
            self.touches(&path);
            if self.is_lost || self.names.contains(&path) {
                continue;
            }
            match self.all_of(&path, goes) {
                Ok(was) => {
                    if let Was::File {
                        held: Held::Apart(Content::New(content)),
                        ..
                    } = &was
                    {
                        bytes += content.len() as u64;
                    }
                    records.push(Record::Was {
                        path: relative(&path).to_owned(),
                        was,
                    });
                    known.push((path, records.len() - 1));
                }
                Err(why) => return self.lose(path, why),
            }
            if bytes > 16 * INSIDE {
                self.write_all(&mut records, &mut known);
                bytes = 0;
            }
        }
        self.write_all(&mut records, &mut known);
    }

    /// Keeps that there is nothing at these paths: what they lead to over a link is not at them.
    fn keep_nothing(&mut self, paths: Vec<PathBuf>) {
        let (mut new, mut records) = (Vec::new(), Vec::new());
        for path in paths {
            self.touches(&path);
            if !self.is_lost && !self.names.contains(&path) {
                records.push(Record::Was {
                    path: relative(&path).to_owned(),
                    was: Was::Absent,
                });
                new.push(path);
            }
        }
        if let Some(first) = new.first()
            && self.write(records, first)
        {
            self.names.extend(new);
        }
    }

    /// Writes what was at paths, and knows from there on that it is written. Nothing is left of both lists.
    fn write_all(&mut self, records: &mut Vec<Record>, paths: &mut Vec<(PathBuf, usize)>) {
        let records = std::mem::take(records);
        let paths = std::mem::take(paths);
        let Some((first, _)) = paths.first() else { return };
        // A file of several names is still written by the others.
        let by_others: Vec<Option<u64>> = records
            .iter()
            .map(|record| match record {
                Record::Was {
                    was:
                        Was::File {
                            length,
                            held: Held::Named { .. },
                            ..
                        },
                    ..
                } => Some(*length),
                _ => None,
            })
            .collect();
        if !self.write(records, first) {
            return;
        }
        for (path, record) in paths {
            // It may be written through a handle that is open.
            if let Ok(found) = fs::symlink_metadata(&path)
                && found.is_file()
            {
                let id = (found.dev(), found.ino());
                match by_others[record] {
                    None => {
                        self.files.insert(id, Kept::all());
                    }
                    Some(length) => {
                        self.files.entry(id).or_insert_with(|| Kept {
                            path: path.clone(),
                            length,
                            saved: Ranges::default(),
                        });
                    }
                }
            }
            self.names.insert(path);
        }
    }

    /// What is at a path.
    fn all_of(&mut self, path: &Path, goes: bool) -> Result<Was, String> {
        let failed = |error: io::Error| format!("it cannot be read: {error}");
        let found = match look_at(path) {
            Ok(found) => found,
            Err(error) if is_nothing(&error) => {
                return Ok(Was::Absent);
            }
            Err(error) => return Err(failed(error)),
        };
        let mode = found.permissions().mode() & 0o7777;
        if found.is_dir() {
            return Ok(Was::Folder { mode });
        }
        if found.is_symlink() {
            let target = fs::read_link(path).map_err(failed)?;
            return Ok(Was::Link { target });
        }
        if !self.is_data(&found, || path.parent().and_then(paths::kind_of)) {
            return Ok(Was::Other);
        }
        if self.linked.contains_key(&(found.dev(), found.ino())) {
            self.take_apart((found.dev(), found.ino()), path.to_owned());
            return self.all_of(path, goes);
        }
        let id = (found.dev(), found.ino());
        let length = match self.files.get(&id) {
            Some(kept) => kept.length,
            None => found.len(),
        };
        if found.nlink() > 1 {
            return self.named(path).map(|held| Was::File { mode, length, held });
        }
        // What was cut off is kept already.
        let there = length.min(found.len());
        let linked = match goes && there == length {
            true => self.linked(path, id, length),
            false => None,
        };
        let content = match linked {
            Some(content) => content,
            None => {
                let file = open_to_read(path).map_err(failed)?;
                self.content(&file, 0..there).map_err(failed)?
            }
        };
        Ok(Was::File {
            mode,
            length,
            held: Held::Apart(content),
        })
    }

    /// A file of several names is about to change, or to lose one: it gets another beside the journal, by which it is found
    /// again. It goes on being watched.
    fn named(&mut self, path: &Path) -> Result<Held, String> {
        let (number, beside) = self.log.beside();
        let named = fs::hard_link(path, &beside).and_then(|()| self.sync_beside(&beside));
        match named {
            Ok(()) => Ok(Held::Named {
                epoch: self.log.epoch(),
                number,
            }),
            Err(error) => Err(format!(
                "it has several names (hard links), and cannot get another where the checkpoints are: {error}"
            )),
        }
    }

    /// A large file gets another name beside the journal instead of a copy, if nobody can write to it any more.
    fn linked(&mut self, path: &Path, id: Id, length: u64) -> Option<Content> {
        if length <= INSIDE
            || self.files.contains_key(&id)
            || changeable().map_or(true, |all| all.contains_key(&id))
        {
            return None;
        }
        let (number, beside) = self.log.beside();
        fs::hard_link(path, &beside).ok()?;
        let sum = File::open(&beside).and_then(|file| {
            file.sync_data()?;
            log::sum_of(&file, length)
        });
        let sum = sum.and_then(|sum| self.sync_beside(&beside).map(|()| sum));
        match sum {
            Ok(sum) => {
                let epoch = self.log.epoch();
                self.linked.insert(id, (epoch, beside));
                Some(Content::Beside {
                    epoch,
                    number,
                    length,
                    sum,
                })
            }
            Err(_) => {
                let _ = fs::remove_file(&beside);
                None
            }
        }
    }

    fn keep_permissions(&mut self, path: PathBuf) {
        match look_at(&path) {
            Ok(found) if found.is_dir() => self.keep_all([path], false),
            Ok(_) => drop(self.keep_file_at(&path)),
            Err(error) => self.cannot_look(path, &error),
        }
    }

    /// What was to go away, and is what the journal holds, is still there and about to be written: the journal gets a copy.
    fn take_apart(&mut self, id: Id, path: PathBuf) {
        let Some((_, beside)) = self.linked.remove(&id) else {
            return;
        };
        let (_, other) = self.log.beside();
        let copied = open_to_read(&beside).and_then(|file| {
            let length = file.metadata()?.len();
            copy(&file, 0..length, &other)?.sync_all()?;
            fs::rename(&other, &beside)?;
            self.sync_beside(&beside)
        });
        if let Err(error) = copied {
            self.lose(path, format!("it cannot be copied: {error}"));
        }
    }

    /// The run is known, and there is no checkpoint of it yet.
    ///
    /// # Errors
    /// It cannot be written down.
    pub fn become_of(&mut self, run: RunId, stays: bool) -> io::Result<()> {
        let is_new = self.log.become_of(run, stays);
        self.names.clear();
        self.files.clear();
        if !stays {
            self.linked.clear();
        }
        self.is_lost = false;
        descriptors::next_epoch();
        is_new
    }

    /// The files were brought back to the begin of an epoch: those that began between it and this one are given up.
    pub fn has_returned(&mut self, to: u64) {
        self.reach.give_up(to, self.log.epoch());
    }

    /// Removes the parts of these epochs from the journal.
    pub fn forget(&mut self, is_of_no_use: impl Fn(u64) -> bool) {
        self.log.forget(&is_of_no_use);
        self.linked.retain(|_, (epoch, _)| !is_of_no_use(*epoch));
    }

    /// A checkpoint needs it on the disk, and its name.
    fn touches(&mut self, path: &Path) {
        if !self.unsynced.contains(path) {
            self.unsynced.insert(path.to_owned());
        }
    }

    /// Writes records of a path, or notes that they could not be. Gives whether they are on the disk.
    fn write(&mut self, records: Vec<Record>, path: &Path) -> bool {
        if self.is_lost {
            return false;
        }
        if records.is_empty() {
            return true;
        }
        self.outside.note(records.iter().filter_map(Record::path));
        match self.log.add(&records) {
            Ok(()) => true,
            Err(error) => {
                self.lose(path.to_owned(), format!("it cannot be written down: {error}"));
                false
            }
        }
    }

    /// The checkpoints, and with them what was kept, are about to be elsewhere, or nowhere.
    fn lose_the_store(&mut self, path: PathBuf) {
        self.lose_and(path, OF_THE_STORE.to_owned(), LEAVE_THE_STORE);
    }

    /// What was at a path cannot be brought back: nothing more of this epoch is of use.
    fn lose(&mut self, path: PathBuf, why: String) {
        self.lose_and(path, why, MAKE_ROOM);
    }

    fn lose_and(&mut self, path: PathBuf, why: String, help: &str) {
        if std::mem::replace(&mut self.is_lost, true) {
            return;
        }
        let shown = relative(&path).display();
        say(&format!(
            "warning[W2040]: the program changes `{shown}`, and what it was cannot be kept: {why}\n  \
             why:   no restart can bring the files back to a checkpoint that was taken before this\n  \
             help:  {help}"
        ));
        self.reach.lose(self.log.epoch());
        self.log.lost(relative(&path).to_owned(), why);
        if self.log.has_unsaid() {
            self.outside.note_lost(self.log.run(), self.log.epoch());
        }
    }
}

/// The open file of a number, which the caller of a function of the C library has given.
fn open_file<'a>(file: c_int) -> Option<BorrowedFd<'a>> {
    // SAFETY: the caller says that it is the number of an open file as long as its call takes; where it is not, the system
    // says so. Numbers below -1 stand for folders.
    (file != -1).then(|| unsafe { BorrowedFd::borrow_raw(file) })
}

/// Opens what is to be kept, also where the program may write it and has closed it to whoever reads.
fn open_to_read(path: &Path) -> io::Result<File> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            open_closed(path, File::options().read(true)).map_err(|_| error)
        }
        opened => opened,
    }
}

/// Whether a file is open for writing.
fn can_write(file: c_int) -> bool {
    let flags = open_file(file).map(rustix::fs::fcntl_getfl);
    flags
        .and_then(Result::ok)
        .is_none_or(|flags| flags & rustix::fs::OFlags::RWMODE != rustix::fs::OFlags::RDONLY)
}

/// The permissions of a file; none of what is no file.
fn mode_of(path: &Path) -> u32 {
    let found = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
    found.map_or(0, |found| found.permissions().mode())
}

/// The files that this process prints to. What it reads as its standard input is a file like others, which it may change by
/// its path.
fn standard_streams() -> Vec<Id> {
    let stat = |stream: BorrowedFd<'_>| rustix::fs::fstat(stream).ok();
    let streams = [rustix::stdio::stdout(), rustix::stdio::stderr()];
    let found = streams.into_iter().filter_map(stat);
    found
        .filter(|found| rustix::fs::FileType::from_raw_mode(found.st_mode).is_file())
        .map(|found| (found.st_dev, found.st_ino))
        .collect()
}

/// What is at a path. Who may not look there is asked once more: on file systems of other machines the right to may come back
/// at any time, with a ticket that is renewed, and the change that is about to be made would find it.
fn look_at(path: &Path) -> io::Result<Metadata> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => fs::symlink_metadata(path),
        found => found,
    }
}

/// All paths that change when what is at `old` moves to `new`.
///
/// # Errors
/// They cannot be listed.
fn below(old: &Path, new: &Path, all: &mut Vec<PathBuf>) -> io::Result<()> {
    let mut found = vec![(old.to_owned(), new.to_owned())];
    while let Some((old, new)) = found.pop() {
        let is_folder = match look_at(&old) {
            Ok(found) => found.is_dir(),
            // What changes places with nothing stays where it is.
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(error),
        };
        if is_folder {
            for entry in fs::read_dir(&old)? {
                let entry = entry?;
                found.push((entry.path(), new.join(entry.file_name())));
            }
        }
        all.extend([old, new]);
    }
    Ok(())
}
