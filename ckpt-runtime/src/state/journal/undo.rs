//! Bringing files and folders back to the begin of an epoch.
//!
//! All records of the epochs to undo are put together to what each path is to be: the oldest says what was there, those
//! after it have the bytes that were changed since. What comes of that does not depend on what has happened already: done in
//! part and once more, it is the same.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, Metadata, Permissions};
use std::io;
use std::ops::Bound;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::folders::Folders;
use super::holes;
use super::left::Progress;
use super::log::{self, History};
use super::paths;
use super::record::{Content, Held, Record, Was};
use super::segment;

use crate::base::files;
use crate::base::folders;
use crate::base::sorted::{self, SortedSet};
use crate::handles::{ALL_OF_OWNER, Allowed, Forbidden, LinkAtEnd, Links, Opened, place_among};

/// The permissions of what can be executed, as itself or as its owner.
const EXECUTES: u32 = 0o6111;
/// Bytes that are copied at once.
const BLOCK: u64 = 1 << 20;

/// A pair of paths, before and now.
type Move = (PathBuf, PathBuf);

/// What each path is to be.
#[derive(Debug, Default)]
pub(super) struct Plan {
    targets: BTreeMap<PathBuf, Target>,
    /// Files of several names, by the one that each has beside the journal.
    shared_files: Vec<Named>,
    /// Paths under which a file of several names is written just now.
    written_by: HashMap<(u32, PathBuf), usize>,
    /// Folders that are to be there, whichever rank brings them back, with their permissions.
    folders: BTreeMap<PathBuf, u32>,
    /// Folders that several ranks may have filled, and that were not there: whoever empties them last removes them.
    shared: BTreeSet<PathBuf>,
    /// What has moved, in the records that are to be undone.
    pub moves: Vec<Move>,
    /// Whether this rank has changed anything.
    pub changes: bool,
    /// What it leads back to.
    back_to: BackTo,
}

/// When the files were what they are to be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum BackTo {
    #[default]
    Checkpoint,
    Start,
}

impl BackTo {
    fn then(self) -> &'static str {
        match self {
            BackTo::Checkpoint => "at the checkpoint",
            BackTo::Start => "when the run began",
        }
    }
}

/// What one path is to be.
#[derive(Debug)]
struct Target {
    /// Its place among the records: files of the oldest are brought back last.
    order: usize,
    is: Is,
    /// Who kept it.
    ranks: SortedSet<u32>,
    /// Something else has been at the path since: what is said of it from there on is of no matter.
    is_over: bool,
}

/// A file of several names, of which some may be there and others not: its bytes are brought back by a name of the journal.
#[derive(Debug)]
struct Named {
    order: usize,
    rank: u32,
    file: PathBuf,
    length: u64,
    /// Newest first.
    ranges: Vec<(u64, Bytes)>,
}

#[derive(Debug)]
enum Is {
    Absent,
    Folder {
        mode: u32,
    },
    Link {
        target: PathBuf,
    },
    File {
        mode: u32,
        length: u64,
        /// All its bytes, but for the ranges; those that are in the file if there is none.
        base: Option<Base>,
        /// Newest first.
        ranges: Vec<(u64, Bytes)>,
    },
    Other,
}

/// What a file is made of that is not at its path any more.
#[derive(Debug)]
enum Base {
    Bytes(Bytes),
    /// The file itself, which has another name.
    File(PathBuf),
}

/// Bytes that can be read.
#[derive(Debug, Clone)]
struct Bytes {
    file: PathBuf,
    at: u64,
    length: u64,
    is_turned: bool,
    /// The checksum of a file of its own.
    sum: Option<u128>,
}

/// The records of a rank to be undone.
pub(super) struct Records<'a> {
    pub rank: u32,
    pub history: &'a History,
    pub to: u64,
}

impl Records<'_> {
    /// The paths that this rank has changed since.
    pub fn paths(&self) -> Result<BTreeSet<PathBuf>, String> {
        let parts = self.history.to_undo(self.to)?;
        let records = parts.into_iter().flat_map(|part| &part.records);
        let paths = records.filter_map(|(_, record)| record.path().map(paths::absolute));
        Ok(paths.collect())
    }
}

impl Plan {
    /// What has to be undone, of all ranks that keep their journals here, this one first. `moves` says what is elsewhere now.
    ///
    /// # Errors
    /// Why the files cannot be brought back.
    pub fn new(of: &[Records<'_>], own: u32, moves: &[Move]) -> Result<Plan, String> {
        let mut all: Vec<(u64, &History, u32, Cow<'_, Record>)> = Vec::new();
        let folders = of.first().map(|own| Folders::of(own.history));
        for (nth, part) in of.iter().enumerate() {
            let others = folders.as_ref().filter(|_| nth > 0);
            let mut time = 0;
            for segment in part.history.to_undo(part.to)? {
                for (at, record) in &segment.records {
                    // A clock may have been set back.
                    time = time.max(*at);
                    let record = match others {
                        Some(folders) => folders.own(record, segment.started_in()),
                        None => Cow::Borrowed(record),
                    };
                    all.push((time, part.history, part.rank, record));
                }
            }
        }
        if of.len() > 1 {
            sorted::sort_by(&mut all, |(one, ..), (other, ..)| one.cmp(other));
        }
        let mut plan = Plan::default();
        for (order, (_, history, rank, record)) in all.into_iter().enumerate() {
            plan.changes |= rank == own && matches!(*record, Record::Was { .. });
            plan.add(order, history, rank, &record)?;
        }
        plan.moved(moves);
        let targets = std::mem::take(&mut plan.targets).into_iter();
        let targets: Vec<_> = targets
            .map(|(path, target)| (paths::absolute(&path), target))
            .collect();
        let folders = targets.iter().filter_map(|(path, target)| match target.is {
            Is::Folder { mode } => Some((path.clone(), mode)),
            _ => None,
        });
        plan.folders = folders.collect();
        plan.shared_files.retain(|named| named.rank == own);
        if of.len() > 1 {
            let absent = targets
                .iter()
                .filter(|(_, target)| matches!(target.is, Is::Absent));
            plan.shared = absent.map(|(path, _)| path.clone()).collect();
        }
        plan.targets = targets
            .into_iter()
            // Of what several ranks have touched, the first brings it back.
            .filter(|(_, target)| target.ranks.first() == Some(&own))
            .collect();
        Ok(plan)
    }

    /// It leads back to the beginning of a run, and not to a checkpoint.
    #[must_use]
    pub fn at_the_start(mut self) -> Plan {
        self.back_to = BackTo::Start;
        self
    }

    /// Whether a restart may do all this, as somebody else may have written the journal.
    ///
    /// Gives the links that there will be.
    ///
    /// # Errors
    /// The first path that may not be changed.
    pub fn is_allowed(&self, allowed: &Allowed) -> Result<Links, Forbidden> {
        let Some(coming) = self.links() else {
            return allowed
                .may_restore(Path::new("/"), LinkAtEnd::Followed)
                .map(|_| Links::new());
        };
        let changed = self.targets.iter();
        let mut changed = changed.filter(|(_, target)| !matches!(target.is, Is::Other));
        let end = LinkAtEnd::Itself { coming: &coming };
        changed.try_for_each(|(path, target)| {
            match &target.is {
                Is::File { mode, .. } if mode & EXECUTES != 0 => {
                    return allowed.may_restore_program(path, end).map(drop);
                }
                // What the program writes there, it writes to where the link leads.
                Is::Link { target } => {
                    let leads = path.parent().unwrap_or(path).join(target);
                    allowed.may_restore(&leads, LinkAtEnd::Leads { coming: &coming })?;
                }
                _ => {}
            }
            allowed.may_restore(path, end).map(drop)
        })?;
        Ok(coming)
    }

    /// Whether the store, and the folder that this restart was started in, stay where they are. The program may have given a
    /// folder that they are in its name since, or somebody has put them there.
    ///
    /// # Errors
    /// What of the plan would take them away, and what to do. The program was started in `started_in`, if that is known.
    pub fn spares(&self, store: &Path, here: &Path, started_in: Option<&Path>) -> Result<(), String> {
        let changed = self.targets.iter();
        for (path, target) in changed.filter(|(_, target)| !matches!(target.is, Is::Other)) {
            let shown = path.display();
            let place = place_among(path, &Links::new());
            let takes_away = !matches!(target.is, Is::Folder { .. });
            if place.starts_with(store) || takes_away && store.starts_with(&place) {
                return Err(format!(
                    "the journal of files says that `{shown}` was not then what it is now, and the checkpoints are there (`{}`); move the store to another folder, and say so with `--dir` (CKPT_DIR)",
                    store.display()
                ));
            }
            if takes_away && here.starts_with(&place) {
                let folder = started_in.unwrap_or(here).display();
                let (then, what, how) = match self.back_to {
                    BackTo::Checkpoint => (self.back_to.then(), "restart", "restart"),
                    BackTo::Start => (self.back_to.then(), "program", "start it"),
                };
                return Err(format!(
                    "`{shown}` was not there {then}, or was no folder, and this {what} is started in it; make the folder that the program was started in again (`mkdir -p {folder}`), and {how} from there"
                ));
            }
        }
        Ok(())
    }

    /// The links that there will be, by where they really are: some lie behind others. `None` where that has no end.
    pub fn links(&self) -> Option<Links> {
        /// A path leads over no more links.
        const MOST: u32 = 40;
        let mut links = Links::new();
        for _ in 0..MOST {
            let mut next = Links::new();
            for (path, target) in &self.targets {
                let leads = match &target.is {
                    Is::Other => continue,
                    Is::Link { target } => Some(target.clone()),
                    _ => None,
                };
                let known = next.entry(place_among(path, &links)).or_default();
                *known = match (known.take(), leads) {
                    // One is made after the other: nobody knows what is done through which.
                    (Some(one), Some(other)) if one != other => Some("/".into()),
                    (one, other) => one.or(other),
                };
            }
            if next == links {
                return Some(links);
            }
            links = next;
        }
        None
    }

    /// Whether a path leads over a link that is in the place of a folder of the plan, or is to be there: what is found behind
    /// it is something else than what the journal speaks of.
    fn is_behind_a_link(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.any(|folder| self.targets.contains_key(folder) && folder.is_symlink())
    }

    /// Whether the folders above a path are folders which are to be such: what is found there is what the plan speaks of.
    pub fn leads_to(&self, path: &Path) -> bool {
        let mut above = path.ancestors().skip(1);
        above.all(|folder| !self.folders.contains_key(folder) || is_folder(folder))
    }

    fn add(&mut self, order: usize, history: &History, rank: u32, record: &Record) -> Result<(), String> {
        let bytes = |content: &Content| {
            let (file, at, is_turned) = history.place_of(content);
            Bytes {
                file,
                at,
                length: content.length(),
                is_turned,
                sum: match content {
                    Content::Beside { sum, .. } => Some(*sum),
                    _ => None,
                },
            }
        };
        match record {
            Record::Was { path, was } => {
                let writer = (rank, path.clone());
                match was {
                    Was::File {
                        length,
                        held: Held::Named { epoch, number },
                        ..
                    } => {
                        self.written_by.insert(writer, self.shared_files.len());
                        self.shared_files.push(Named {
                            order,
                            rank,
                            file: history.named(*epoch, *number),
                            length: *length,
                            ranges: Vec::new(),
                        });
                    }
                    _ => {
                        self.written_by.remove(&writer);
                    }
                }
                let is = match was {
                    Was::Absent => Is::Absent,
                    Was::Folder { mode } => Is::Folder { mode: *mode },
                    Was::Link { target } => Is::Link {
                        target: target.clone(),
                    },
                    Was::Other => Is::Other,
                    Was::File { mode, length, held } => Is::File {
                        mode: *mode,
                        length: *length,
                        base: match held {
                            Held::There => None,
                            Held::Apart(content) => Some(Base::Bytes(bytes(content))),
                            Held::Named { epoch, number } => Some(Base::File(history.named(*epoch, *number))),
                        },
                        ranges: Vec::new(),
                    },
                };
                let known = self.targets.entry(path.clone()).or_insert_with(|| Target {
                    order,
                    is: Is::Other,
                    ranks: SortedSet::new(),
                    is_over: false,
                });
                let is_first = known.ranks.is_empty();
                known.ranks.insert(rank);
                match (&mut known.is, is) {
                    (known, is) if is_first => *known = is,
                    (
                        Is::File {
                            base: base @ None, ..
                        },
                        Is::File { base: later, .. },
                    ) => *base = later,
                    (Is::File { base: None, .. }, _) => return Err(no_history(path)),
                    _ => known.is_over = true,
                }
            }
            Record::Bytes {
                path,
                offset,
                content,
            } => {
                if let Some(named) = self.written_by.get(&(rank, path.clone())) {
                    self.shared_files[*named]
                        .ranges
                        .insert(0, (*offset, bytes(content)));
                    return Ok(());
                }
                match self.targets.get_mut(path) {
                    Some(Target {
                        is_over: false,
                        is:
                            Is::File {
                                base: None, ranges, ..
                            },
                        ..
                    }) => ranges.insert(0, (*offset, bytes(content))),
                    Some(_) => {}
                    None => return Err(no_history(path)),
                }
            }
            Record::Moved { moves } => {
                self.moved(moves);
                self.moves.extend(moves.iter().cloned());
            }
            Record::Lost { .. } | Record::Returning { .. } | Record::StartedIn { .. } => {}
        }
        Ok(())
    }

    /// What is known so far is elsewhere.
    fn moved(&mut self, moves: &[Move]) {
        if moves.is_empty() {
            return;
        }
        let targets = std::mem::take(&mut self.targets).into_iter();
        let now = |path| crate::handles::moved::moved(path, moves);
        self.targets = targets.map(|(path, target)| (now(path), target)).collect();
    }

    /// The folders that are to be there, of a path and those above it, and are not, with their permissions; the highest
    /// first. There may be a link in the place of one: what is below that is nothing of this folder.
    pub fn folders_to_come(&self, path: &Path) -> Vec<(&Path, u32)> {
        let all = path
            .ancestors()
            .filter_map(|folder| self.folders.get_key_value(folder));
        let mut all: Vec<(&Path, u32)> = all.map(|(folder, mode)| (folder.as_path(), *mode)).collect();
        all.reverse();
        let is_there = |(folder, _): &(&Path, u32)| match fs::symlink_metadata(folder) {
            Ok(found) => !found.is_symlink(),
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        };
        all.into_iter().skip_while(is_there).collect()
    }

    /// The paths that are to be changed.
    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        let changed = self.targets.iter();
        let changed = changed.filter(|(_, target)| !matches!(target.is, Is::Other));
        changed.map(|(path, _)| path.as_path())
    }

    /// Whether a link is there as it is to be.
    pub fn has_its_link(&self, path: &Path) -> bool {
        match self.targets.get(path).map(|target| &target.is) {
            Some(Is::Link { target }) => fs::read_link(path).is_ok_and(|found| found == *target),
            _ => false,
        }
    }

    /// Whether a path is to be changed.
    pub fn has(&self, path: &Path) -> bool {
        self.targets.contains_key(path)
    }

    /// How long a file is to be; `None` where the path is not to be changed, or is to be no file.
    pub fn length(&self, path: &Path) -> Option<u64> {
        match self.targets.get(path) {
            Some(target) => match target.is {
                Is::File { length, .. } => Some(length),
                _ => None,
            },
            None => self.changed_by_another_name(path).map(|named| named.length),
        }
    }

    /// How many bytes of a file are at its path, or will be when what was written by another of its names since is undone.
    fn length_there(&self, path: &Path, target: &Target) -> u64 {
        let found = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
        let Some(found) = found else { return 0 };
        let later = self
            .shared_files
            .iter()
            .filter(|named| named.order > target.order);
        let same = later.filter(|named| is_same(&named.file, &found));
        same.map(|named| named.length).fold(found.len(), u64::max)
    }

    /// The file of several names at a path that was not changed itself: what was written by another of them is in it as well.
    fn changed_by_another_name(&self, path: &Path) -> Option<&Named> {
        // Most programs have none: nothing is asked of the system then.
        self.shared_files.first()?;
        let found = fs::symlink_metadata(path).ok()?;
        // The oldest says what it is to be.
        self.shared_files
            .iter()
            .find(|named| is_same(&named.file, &found))
    }

    /// Whether everything that is needed is there. Nothing is changed.
    ///
    /// # Errors
    /// What is missing.
    pub fn check(&self) -> Result<(), String> {
        let _opened = Opened::for_changes(self.targets.keys());
        let shared = self.shared_files.iter().flat_map(|named| &named.ranges);
        shared.map(|(_, bytes)| bytes).try_for_each(Bytes::check)?;
        self.shared_files
            .iter()
            .try_for_each(|named| named.check(self.end_of_ranges(named), self.back_to))?;
        self.targets.iter().try_for_each(|(path, target)| {
            target.check(path, self.back_to, &|| self.length_there(path, target))
        })?;
        self.targets.iter().try_for_each(|(path, target)| {
            self.can_go(path, target)?;
            self.can_come(path, target)
        })
    }

    /// Whether what is in the place of something else can be removed: a folder has nothing in it but what is removed as well.
    fn can_go(&self, path: &Path, target: &Target) -> Result<(), String> {
        let found = fs::symlink_metadata(path).ok();
        let is_in_the_way = found.is_some_and(|found| found.is_dir() && !target.fits(&found));
        if !is_in_the_way || self.is_behind_a_link(path) {
            return Ok(());
        }
        let entries = match fs::read_dir(path) {
            // It can be removed all the same, if it is empty by then.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(()),
            entries => entries.map_err(|error| failed(path, &error))?,
        };
        for entry in entries {
            let inside = entry.map_err(|error| failed(path, &error))?.path();
            let goes = match (self.targets.get(&inside), fs::symlink_metadata(&inside)) {
                (Some(target), Ok(found)) => !target.fits(&found),
                // Another rank removes it.
                (None, _) => self.shared.contains(&inside),
                (Some(_), Err(_)) => true,
            };
            if !goes {
                return Err(is_not_empty(path, &inside));
            }
        }
        Ok(())
    }

    /// Whether something can be made at a path, or changed: nobody has put a file in the place of a folder above, or taken the right
    /// to change it away.
    fn can_come(&self, path: &Path, target: &Target) -> Result<(), String> {
        if matches!(target.is, Is::Absent | Is::Other) || self.is_behind_a_link(path) {
            return Ok(());
        }
        if let (Is::File { .. }, Ok(found)) = (&target.is, fs::symlink_metadata(path))
            && found.is_file()
            && found.uid() != rustix::process::geteuid().as_raw()
            && let Err(error) = rustix::fs::access(path, rustix::fs::Access::WRITE_OK)
        {
            return Err(failed(path, &error.into()));
        }
        for above in path.ancestors().skip(1) {
            // It becomes what it was before.
            if self.targets.contains_key(above) {
                return Ok(());
            }
            match fs::metadata(above) {
                Ok(found) if found.is_dir() => return Ok(()),
                Ok(_) => return Err(failed(path, &io::ErrorKind::NotADirectory.into())),
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// A path, and the others that stand for the same file now or for the one that it is to be, which change with it.
    fn names_of<'p>(&'p self, path: Option<&'p Path>, named: Option<&Path>) -> Vec<&'p Path> {
        let several = |path: &Path| {
            let found = fs::symlink_metadata(path).ok();
            let found = found.filter(|found| found.is_file() && found.nlink() > 1);
            found.map(|found| (found.dev(), found.ino()))
        };
        let same: BTreeSet<(u64, u64)> = path.into_iter().chain(named).filter_map(several).collect();
        if same.is_empty() {
            return path.into_iter().collect();
        }
        let all = self.targets.keys().map(PathBuf::as_path);
        all.filter(|other| Some(*other) == path || several(other).is_some_and(|id| same.contains(&id)))
            .collect()
    }

    /// Up to where bytes of a file are kept, under whichever of its names.
    fn end_of_ranges(&self, named: &Named) -> u64 {
        let Ok(file) = fs::symlink_metadata(&named.file) else {
            return 0;
        };
        let same = self
            .shared_files
            .iter()
            .filter(|other| other.file == named.file || is_same(&other.file, &file));
        let ranges = same.flat_map(|other| &other.ranges);
        let ends = ranges.map(|(at, bytes)| at.saturating_add(bytes.length));
        ends.max().unwrap_or(0)
    }

    /// Whether a file that is there can become what it was; whether one that is not can come back.
    ///
    /// # Errors
    /// What is missing.
    pub fn check_one(&self, path: &Path) -> Result<bool, String> {
        let Some(target) = self.targets.get(path) else {
            return Ok(false);
        };
        let _opened = Opened::for_changes([&path.to_owned()]);
        let is_on_its_way = self.leads_to(path);
        if let (Is::File { base: None, .. }, false) = (&target.is, is_on_its_way) {
            return Err(not_there(path));
        }
        let found = fs::symlink_metadata(path).ok().filter(Metadata::is_file);
        let found = found.filter(|_| is_on_its_way);
        let comes_back = match (&target.is, found) {
            (Is::File { base: None, .. }, None) => return Ok(false),
            (
                Is::File {
                    base: Some(Base::File(named)),
                    ..
                },
                Some(found),
            ) => !is_same(named, &found),
            // It gets a file of its own, which whoever opens it is to have.
            (
                Is::File {
                    base: Some(Base::Bytes(_)),
                    ..
                },
                Some(found),
            ) => found.nlink() > 1,
            (_, found) => found.is_none(),
        };
        target
            .check(path, self.back_to, &|| self.length_there(path, target))
            .map(|()| comes_back)
    }

    /// A file of several names of which none is left but the one beside the journal: what the program takes away gets another one
    /// there, so somebody else may have, or the folder was copied without its links.
    pub fn lone(&self) -> Option<&Path> {
        let is_lone = |named: &&Named| fs::symlink_metadata(&named.file).is_ok_and(|found| found.nlink() < 2);
        self.shared_files.iter().find(is_lone).map(|named| &*named.file)
    }

    /// One file that is to be there becomes what it was, with the folders that it is in.
    ///
    /// # Errors
    /// It cannot be brought back.
    pub fn bring_back_one(&self, path: &Path) -> Result<(), String> {
        let _opened = Opened::for_changes([&path.to_owned()]);
        let (mut folders, mut above) = (BTreeSet::new(), Vec::new());
        for folder in path.ancestors() {
            above.push(folder);
        }
        for path in above.into_iter().rev() {
            if let Some(target) = self.targets.get(path) {
                if is_folder(path) && !matches!(target.is, Is::Folder { .. }) {
                    self.empty(path, &mut folders)?;
                }
                target.remove_others(path, &mut folders)?;
                target.make(path, &mut folders)?;
            } else if let Some(mode) = self.folders.get(path) {
                // Another rank brings it back, and does so later.
                let folder = Target {
                    order: 0,
                    is: Is::Folder { mode: *mode },
                    ranks: SortedSet::new(),
                    is_over: false,
                };
                folder.remove_others(path, &mut folders)?;
                folder.make(path, &mut folders)?;
            }
        }
        Ok(())
    }

    /// What is in a folder goes that the program has put there: there was none.
    fn empty(&self, folder: &Path, folders: &mut BTreeSet<PathBuf>) -> Result<(), String> {
        let behind = (Bound::Excluded(folder.to_owned()), Bound::Unbounded);
        let below = self.targets.range(behind);
        let below: Vec<_> = below.take_while(|(path, _)| path.starts_with(folder)).collect();
        let _opened = Opened::for_changes(below.iter().map(|(path, _)| *path));
        for (path, target) in below.into_iter().rev() {
            if !self.is_behind_a_link(path) {
                target.remove_others(path, folders)?;
            }
        }
        Ok(())
    }

    /// Everything becomes what it was, and is on the disk. How far that has come is noted where somebody is to know it.
    ///
    /// # Errors
    /// Which path cannot be brought back; once more may succeed.
    pub fn apply(&self, mut progress: Option<&mut Progress>) -> Result<(), String> {
        let mut folders = BTreeSet::new();
        let mut opened = Opened::for_changes(self.targets.keys());
        // What is in a folder is sorted behind it.
        for (path, target) in self.targets.iter().rev() {
            if self.is_behind_a_link(path) {
                continue;
            }
            match target.remove_others(path, &mut folders) {
                Err(_) if self.shared.contains(path) && is_folder(path) => {}
                other => other?,
            }
        }
        let emptied = self.shared.iter().rev().filter(|path| is_folder(path));
        for path in emptied.filter(|path| !self.is_behind_a_link(path)) {
            let _ = fs::remove_dir(path);
        }
        for (path, target) in &self.targets {
            if matches!(target.is, Is::Folder { .. } | Is::Link { .. }) {
                target.make(path, &mut folders)?;
            }
        }
        // The newest first: what is said of the same bytes by an older record holds.
        let targets = self.targets.iter();
        let mut files: Vec<(usize, Contents<'_>)> = targets
            .filter(|(_, target)| matches!(target.is, Is::File { .. }))
            .map(|(path, target)| (target.order, Contents::At(path, target)))
            .collect();
        let shared = self.shared_files.iter();
        files.extend(shared.map(|named| (named.order, Contents::Of(named))));
        sorted::sort_by(&mut files, |(one, _), (other, _)| other.cmp(one));
        for (_, contents) in files {
            let names = match (&progress, &contents) {
                (None, _) => Vec::new(),
                (Some(_), Contents::At(path, target)) => self.names_of(Some(path), target.named()),
                (Some(_), Contents::Of(named)) => self.names_of(None, Some(&named.file)),
            };
            if let Some(progress) = &mut progress {
                let noted = progress.before(&names);
                noted.map_err(|error| format!("what is undone cannot be noted in the store: {error}"))?;
            }
            match contents {
                Contents::At(path, target) => target.make(path, &mut folders)?,
                Contents::Of(named) => named.bring_back().map_err(|error| failed(&named.file, &error))?,
            }
            if let Some(progress) = &mut progress {
                progress.after(&names);
            }
        }
        for folder in folders.iter().filter(|folder| is_folder(folder)) {
            match folders::sync(folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(folder, &error)),
                _ => {}
            }
        }
        // From here on nobody may need to change what is in them.
        for (path, target) in self.targets.iter().rev() {
            if let Is::Folder { mode } = target.is {
                opened.is_settled(path);
                close_folder(path, mode).map_err(|error| failed(path, &error))?;
            }
        }
        Ok(())
    }
}

/// A folder gets its permissions, on the disk.
fn close_folder(path: &Path, mode: u32) -> io::Result<()> {
    let open = || {
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        File::options().read(true).custom_flags(flags).open(path)
    };
    let folder = open().or_else(|_| {
        fs::set_permissions(path, Permissions::from_mode(mode | ALL_OF_OWNER))?;
        open()
    })?;
    if folder.metadata()?.permissions().mode() & 0o7777 != mode {
        folder.set_permissions(Permissions::from_mode(mode))?;
    }
    folder.sync_all()
}

/// What bytes are brought back of.
enum Contents<'a> {
    At(&'a Path, &'a Target),
    Of(&'a Named),
}

impl Named {
    /// Whether as much of the file is there as is not to be written over: it is no copy of the journal's. Up to `kept` the
    /// journal has its bytes.
    fn check(&self, kept: u64, back_to: BackTo) -> Result<(), String> {
        let shown = self.file.display();
        let found = fs::symlink_metadata(&self.file)
            .map_err(|error| format!("the journal of files cannot be read: `{shown}`: {error}"))?;
        if !found.is_file() {
            return Err(format!(
                "the journal of files is damaged: `{shown}` is no plain file"
            ));
        }
        match found.len().max(kept) < self.length {
            true => Err(format!(
                "a file of several names (hard links), of which `{shown}` is one, has {} bytes now and had {} {}; where this folder is a copy that was made without its links, copy it again so that they stay (`cp -a`, `rsync -aH`), and restart there",
                found.len(),
                self.length,
                back_to.then()
            )),
            false => Ok(()),
        }
    }

    fn bring_back(&self) -> io::Result<()> {
        // Its permissions are those that one of its names asks for, later.
        let mode = fs::symlink_metadata(&self.file)?.permissions().mode();
        if mode & 0o200 == 0 {
            fs::set_permissions(&self.file, Permissions::from_mode(mode | 0o600))?;
        }
        let file = File::options()
            .write(true)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&self.file)?;
        for (at, bytes) in &self.ranges {
            bytes.write(&file, *at)?;
        }
        if file.metadata()?.len() != self.length {
            file.set_len(self.length)?;
        }
        if mode & 0o200 == 0 {
            file.set_permissions(Permissions::from_mode(mode))?;
        }
        file.sync_all()
    }
}

fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

fn no_history(path: &Path) -> String {
    format!(
        "the journal of files is damaged: it does not say what `{}` was",
        path.display()
    )
}

/// A folder is to go, and has something in it that stays.
fn is_not_empty(folder: &Path, inside: &Path) -> String {
    let what = match inside == folder {
        true => "something".to_owned(),
        false => format!("`{}`", paths::relative(inside).display()),
    };
    format!(
        "the folder `{}` was not there then, and has {what} in it that the program did not put there; move that away",
        paths::relative(folder).display()
    )
}

/// A file that was there when the epoch began, and of which no more than its length is kept.
pub(super) fn not_there(path: &Path) -> String {
    format!(
        "the file `{}` is not there now, as another folder or a link is in the place of one above it; put it back as it was, or restart from an older checkpoint",
        paths::relative(path).display()
    )
}

fn failed(path: &Path, error: &io::Error) -> String {
    let shown = paths::relative(path).display();
    format!("`{shown}` cannot be brought back to what it was: {error}")
}

impl Target {
    /// Whether what is needed is there. A file that is made of what is at its path has so many bytes there.
    fn check(&self, path: &Path, back_to: BackTo, length_there: &dyn Fn() -> u64) -> Result<(), String> {
        let Is::File {
            length, base, ranges, ..
        } = &self.is
        else {
            return Ok(());
        };
        let whole = base.iter().filter_map(|base| match base {
            Base::Bytes(bytes) => Some(bytes),
            Base::File(_) => None,
        });
        let mut sources = whole.chain(ranges.iter().map(|(_, bytes)| bytes));
        sources.try_for_each(Bytes::check)?;
        if base.is_some() {
            return Ok(());
        }
        let found = length_there();
        let end = ranges
            .iter()
            .map(|(at, bytes)| at.saturating_add(bytes.length))
            .max();
        if found.max(end.unwrap_or(0)) < *length {
            let now = match path.try_exists() {
                Ok(false) => format!("is not there now, and had {length} bytes"),
                _ => format!("has {found} bytes now and had {length}"),
            };
            let otherwise = match back_to {
                BackTo::Checkpoint => ", or restart from an older checkpoint",
                BackTo::Start => "",
            };
            return Err(format!(
                "the file `{}` {now} {}; put it back as it was{otherwise}",
                paths::relative(path).display(),
                back_to.then()
            ));
        }
        Ok(())
    }

    /// The file of several names that it is to be.
    fn named(&self) -> Option<&Path> {
        match &self.is {
            Is::File {
                base: Some(Base::File(named)),
                ..
            } => Some(named),
            _ => None,
        }
    }

    /// Whether what is at its path is of its kind.
    fn fits(&self, found: &Metadata) -> bool {
        match self.is {
            Is::Absent => false,
            Is::Other => true,
            Is::Folder { .. } => found.is_dir(),
            Is::Link { .. } => found.is_symlink(),
            Is::File { .. } => found.is_file(),
        }
    }

    /// Removes what is at its path and is of another kind.
    fn remove_others(&self, path: &Path, folders: &mut BTreeSet<PathBuf>) -> Result<(), String> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) if !self.fits(&found) => found,
            _ => return Ok(()),
        };
        let removed = match found.is_dir() {
            true => fs::remove_dir(path),
            false => fs::remove_file(path),
        };
        folders.extend(path.parent().map(Path::to_owned));
        // Another rank may have taken the same away.
        let removed = removed.or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
        removed.map_err(|error| match error.kind() {
            io::ErrorKind::DirectoryNotEmpty => is_not_empty(path, path),
            _ => failed(path, &error),
        })
    }

    /// Makes what is at its path what it was. Something of another kind is not there any more.
    fn make(&self, path: &Path, folders: &mut BTreeSet<PathBuf>) -> Result<(), String> {
        folders.extend(path.parent().map(Path::to_owned));
        let made = match &self.is {
            Is::Absent | Is::Other => Ok(()),
            Is::Folder { .. } => fs::create_dir_all(path),
            Is::Link { target } => make_link(path, target),
            Is::File {
                mode,
                length,
                base,
                ranges,
            } => make_file(path, *mode, *length, base.as_ref(), ranges),
        };
        made.map_err(|error| failed(path, &error))
    }
}

fn make_link(path: &Path, target: &Path) -> io::Result<()> {
    if fs::read_link(path).is_ok_and(|found| found == target) {
        return Ok(());
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    symlink(target, path)
}

/// Whether a path is another name of a file.
fn is_same(path: &Path, file: &Metadata) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| (found.dev(), found.ino()) == (file.dev(), file.ino()))
}

/// A file that is there stays the same one for those who have it open.
fn make_file(
    path: &Path,
    mode: u32,
    length: u64,
    base: Option<&Base>,
    ranges: &[(u64, Bytes)],
) -> io::Result<()> {
    let found = fs::symlink_metadata(path).ok();
    if base.is_some()
        && let Some(folder) = path.parent()
    {
        fs::create_dir_all(folder)?;
    }
    match (base, &found) {
        (Some(Base::File(named)), Some(found)) if is_same(named, found) => {}
        (Some(Base::File(named)), _) => {
            if found.is_some() {
                fs::remove_file(path)?;
            }
            fs::hard_link(named, path).or_else(|_| {
                let named = files::open(named)?;
                let length = named.metadata()?.len();
                holes::copy(&named, 0..length, path).map(drop)
            })?;
        }
        // What several names stand for is not to change under the others.
        (Some(Base::Bytes(_)), Some(found)) if found.nlink() > 1 => fs::remove_file(path)?,
        _ => {}
    }
    // The program has closed it, or had when it got its other name.
    if fs::symlink_metadata(path)
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o200 == 0)
    {
        fs::set_permissions(path, Permissions::from_mode(mode | 0o600))?;
    }
    let mut options = File::options();
    options.custom_flags(libc::O_NOFOLLOW);
    options.write(true).create(base.is_some()).truncate(false);
    let file = options.open(path)?;
    if let Some(Base::Bytes(bytes)) = base {
        bytes.write(&file, 0)?;
    }
    for (at, bytes) in ranges {
        bytes.write(&file, *at)?;
    }
    if file.metadata()?.len() != length {
        file.set_len(length)?;
    }
    file.set_permissions(Permissions::from_mode(mode))?;
    file.sync_all()
}

/// What is wrong with so many bytes of a file of this checksum, if anything is.
pub(super) fn damage(file: &Path, length: u64, sum: u128) -> Option<String> {
    let found = files::open(file).and_then(|file| log::sum_of(&file, length));
    let shown = file.display();
    match found {
        Ok(found) if found == sum => None,
        Ok(_) => Some(format!(
            "the journal of files is damaged: `{shown}` does not have its checksum"
        )),
        Err(error) => Some(format!("the journal of files cannot be read: `{shown}`: {error}")),
    }
}

impl Bytes {
    /// Whether they are there as they were written.
    fn check(&self) -> Result<(), String> {
        let damage = self.sum.and_then(|sum| damage(&self.file, self.length, sum));
        damage.map_or(Ok(()), Err)
    }

    /// Writes them into a file.
    fn write(&self, to: &File, at: u64) -> io::Result<()> {
        if at.checked_add(self.length).is_none() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let from = files::open(&self.file)?;
        let mut block = vec![0; BLOCK.min(self.length) as usize];
        let mut done = 0;
        while done < self.length {
            if self.sum.is_some() {
                // It is a file of its own, which may have holes.
                let data = holes::next_data(&from, done..self.length)?;
                let hole = done..data.as_ref().map_or(self.length, |data| data.start);
                holes::clear(to, at + hole.start..at + hole.end)?;
                done = hole.end;
            }
            let count = BLOCK.min(self.length - done) as usize;
            let block = &mut block[..count];
            from.read_exact_at(block, self.at + done)?;
            if self.is_turned {
                segment::turn(block);
            }
            to.write_all_at(block, at + done)?;
            done += count as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::in_folder::Folder;
    use super::super::log::Log;
    use super::*;
    use crate::base::run_id::RunId;

    const RUN: RunId = RunId::numbered(7);

    /// A folder with `run`, where a run may write, and what is to be undone there.
    struct Scene {
        scratch: tempfile::TempDir,
        journal: Arc<Folder>,
    }

    impl Scene {
        fn new() -> Scene {
            let scratch = tempfile::tempdir().unwrap();
            fs::create_dir(scratch.path().join("run")).unwrap();
            fs::create_dir(scratch.path().join("outside")).unwrap();
            Scene {
                scratch,
                journal: Folder::new(),
            }
        }

        fn path(&self, below: &str) -> PathBuf {
            fs::canonicalize(self.scratch.path()).unwrap().join(below)
        }

        /// What was at these paths below `run`.
        fn was(&self, all: &[(&str, Was)]) -> Plan {
            let history = History::read(self.journal.clone(), RUN, 0).unwrap();
            let mut log = Log::begin(self.journal.clone(), RUN, 0, &history, 0).unwrap();
            let records = all.iter().map(|(path, was)| Record::Was {
                path: self.path("run").join(path),
                was: was.clone(),
            });
            log.add(&records.collect::<Vec<_>>()).unwrap();
            let history = History::read(self.journal.clone(), RUN, 0).unwrap();
            let own = Records {
                rank: 0,
                history: &history,
                to: 1,
            };
            Plan::new(&[own], 0, &[]).unwrap()
        }

        fn is_allowed(&self, plan: &Plan) -> bool {
            plan.is_allowed(&Allowed::below(&self.path("run"))).is_ok()
        }
    }

    fn link(to: &str) -> Was {
        Was::Link { target: to.into() }
    }

    fn file() -> Was {
        file_of(0o644)
    }

    fn file_of(mode: u32) -> Was {
        Was::File {
            mode,
            length: 1,
            held: Held::Apart(Content::New(b"x".to_vec())),
        }
    }

    const FOLDER: Was = Was::Folder { mode: 0o755 };

    #[test]
    fn no_program_is_made_and_no_link_through_which_one_could_be() {
        for (path, was) in [
            ("run.txt", file_of(0o755)),
            ("s.txt", file_of(0o4644)),
            ("lib/libm.so.6", file()),
            ("site.pth", file()),
            ("out.csv", link("../outside/x.csv")),
            ("out.csv", link("/root/.bashrc")),
            ("out.csv", link(".cargo/config.toml")),
        ] {
            let scene = Scene::new();
            let plan = scene.was(&[(path, was)]);
            assert!(!scene.is_allowed(&plan), "{path}");
        }
        for (path, was) in [
            ("run.txt", file_of(0o640)),
            ("frame.0001", file()),
            ("newest", link("frame.0001")),
            ("deep/newest", link("../frame.0001")),
        ] {
            let scene = Scene::new();
            let plan = scene.was(&[(path, was)]);
            assert!(scene.is_allowed(&plan), "{path}");
        }
    }

    #[test]
    fn no_link_that_is_to_be_leads_out_of_the_runs_folder() {
        let outside: [&[(&str, Was)]; 6] = [
            &[("a", link("../outside")), ("a/x.txt", file())],
            &[
                ("a", link("c/../b")),
                ("b", link("../outside")),
                ("c", FOLDER),
                ("a/x.txt", file()),
            ],
            &[
                ("a", link("sub")),
                ("sub", FOLDER),
                ("a/y", link("../../outside")),
                ("sub/y/x.txt", file()),
            ],
            &[
                ("a", link("sub")),
                ("sub", FOLDER),
                ("a/y", link("../../outside")),
                ("a/y/made", FOLDER),
                ("sub/y", link(".")),
            ],
            &[("there", link("../outside")), ("by/x.txt", file())],
            &[("a", link("/proc/self/root")), ("a/tmp/x.txt", file())],
        ];
        for (nth, all) in outside.into_iter().enumerate() {
            let scene = Scene::new();
            symlink("there", scene.path("run/by")).unwrap();
            let plan = scene.was(all);
            let allowed = scene.is_allowed(&plan);
            assert!(!allowed, "{nth}");
        }
    }

    #[test]
    fn a_folder_that_has_become_a_link_is_a_folder_again_and_what_was_behind_it_stays() {
        let scene = Scene::new();
        fs::write(scene.path("outside/new.txt"), "another's").unwrap();
        fs::write(scene.path("outside/old.txt"), "another's").unwrap();
        symlink("../outside", scene.path("run/d")).unwrap();
        let plan = scene.was(&[("d/new.txt", Was::Absent), ("d", FOLDER), ("d/old.txt", file())]);
        assert!(scene.is_allowed(&plan));
        plan.apply(None).unwrap();
        assert_eq!(fs::read(scene.path("run/d/old.txt")).unwrap(), b"x");
        assert!(!scene.path("run/d/new.txt").exists());
        for name in ["outside/new.txt", "outside/old.txt"] {
            assert_eq!(fs::read(scene.path(name)).unwrap(), b"another's", "{name}");
        }
    }

    #[test]
    fn a_link_that_has_become_a_folder_is_a_link_again_however_often_it_is_brought_back() {
        let scene = Scene::new();
        fs::create_dir_all(scene.path("run/d")).unwrap();
        fs::create_dir(scene.path("run/other")).unwrap();
        fs::write(scene.path("run/other/x.txt"), "was there").unwrap();
        fs::write(scene.path("run/d/x.txt"), "made since").unwrap();
        let plan = scene.was(&[("d", link("other")), ("d/x.txt", Was::Absent)]);
        for _ in 0..2 {
            assert!(scene.is_allowed(&plan));
            plan.apply(None).unwrap();
            assert_eq!(fs::read(scene.path("run/d/x.txt")).unwrap(), b"was there");
        }
    }
}
