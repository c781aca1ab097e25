//! The journal as a whole: its parts in the folder of the run, adding to the newest, and what all of them together say.
//!
//! Time is cut into epochs, of which each has its part. A checkpoint begins one and says its number: to bring the files back
//! to it is to undo what the epochs from there on say. Where that has been done, the epoch that follows says so, and those
//! that were undone are of no use any more: nor is a checkpoint that had begun one of them.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::holes::Holes;
use super::record::{Content, Held, Record, Was};
use super::segment::{self, HEAD, Head, REACHED, Segment};
use crate::base::checksum::xxh3;
use crate::base::documents::{self, Documents, Durability};
use crate::base::run_id::RunId;
use crate::base::sorted::{SortedMap, SortedSet};
use crate::handles::{start_folder, without_links};

/// What the names of a rank's parts begin with.
fn prefix(rank: u32) -> String {
    match rank {
        0 => "files.".to_owned(),
        _ => format!("files.r{rank}."),
    }
}

fn name(rank: u32, epoch: u64) -> String {
    format!("{}{epoch:06}.log", prefix(rank))
}

/// The name of a file with bytes that are kept beside a part.
fn name_beside(rank: u32, epoch: u64, number: u32) -> String {
    format!("{}{epoch:06}.{number:04}.was", prefix(rank))
}

/// The epoch of a name of this rank, of a part or of what lies beside one.
fn epoch_in(name: &str, rank: u32) -> Option<u64> {
    let rest = name.strip_prefix(&prefix(rank))?;
    let (epoch, _) = rest.split_once('.')?;
    epoch.parse().ok()
}

/// The rank and the epoch of a name.
fn rank_and_epoch(name: &str) -> Option<(u32, u64)> {
    let rest = name.strip_prefix("files.")?;
    let rank = match rest.strip_prefix('r') {
        Some(rest) => rest.split_once('.')?.0.parse().ok()?,
        None => 0,
    };
    epoch_in(name, rank).map(|epoch| (rank, epoch))
}

/// Whether a document is one of the journal's, of whatever rank.
pub(super) fn is_of_journal(name: &str) -> bool {
    name.starts_with("files.")
}

fn is_part(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|kind| kind == "log")
}

/// Ranks that have parts with records.
pub(super) fn ranks_with_records(documents: &dyn Documents) -> SortedSet<u32> {
    let names = documents.names().unwrap_or_default();
    let parts = names.into_iter().filter(|name| is_part(name));
    parts
        .filter(|name| fs::metadata(documents.path_of(name)).is_ok_and(|found| found.len() > HEAD))
        .filter_map(|name| Some(rank_and_epoch(&name)?.0))
        .collect()
}

/// Whether any rank has a part with records, or one that follows others.
pub(super) fn may_have_changed(documents: &dyn Documents) -> bool {
    let is_first = |name: &str| rank_and_epoch(name).is_some_and(|(_, epoch)| epoch == 1);
    let names = documents.names().unwrap_or_default();
    let is_later = names.iter().any(|name| is_of_journal(name) && !is_first(name));
    is_later || !ranks_with_records(documents).is_empty()
}

/// Ranks that have begun a journal in a folder.
pub(super) fn ranks_in(documents: &dyn Documents) -> SortedSet<u32> {
    let names = documents.names().unwrap_or_default().into_iter();
    let parts = names.filter(|name| is_part(name));
    parts.filter_map(|name| Some(rank_and_epoch(&name)?.0)).collect()
}

/// The time of day, in nanoseconds.
fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// The newest time in a folder of journals, of all ranks. One session at a time writes to a store, so what the next one
/// writes is newer, whatever its clock says.
pub(super) fn newest_time(documents: &dyn Documents) -> u64 {
    let mut newest = SortedMap::new();
    for name in documents.names().unwrap_or_default() {
        if let Some((rank, epoch)) = rank_and_epoch(&name).filter(|_| is_part(&name)) {
            let known = newest.entry(rank).or_insert(epoch);
            *known = epoch.max(*known);
        }
    }
    let parts = newest.into_iter().filter_map(|(rank, epoch)| {
        let path = documents.path_of(&name(rank, epoch));
        // What is damaged says nothing, and keeps nobody from starting.
        segment::read(&path, epoch).ok()??.ok()
    });
    parts.map(|part| part.newest_time()).max().unwrap_or(0)
}

/// All parts of one rank.
#[derive(Debug)]
pub(super) struct History {
    documents: Arc<dyn Documents>,
    rank: u32,
    /// By their epochs; those that are damaged as a whole say how.
    parts: SortedMap<u64, Result<Segment, String>>,
    /// The newest epoch of which this machine has noted that something could not be kept, nor said here.
    lost: Option<u64>,
    /// The newest epoch that a checkpoint has begun: its part was on the disk.
    begun: u64,
    /// The newest time of other journals in the store that are older than what comes.
    others: u64,
}

impl History {
    /// Reads the parts of a rank of a run.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read(documents: Arc<dyn Documents>, run: RunId, rank: u32) -> io::Result<History> {
        let mut parts = SortedMap::new();
        for name in documents.names()?.iter().filter(|name| is_part(name)) {
            let Some(epoch) = epoch_in(name, rank) else {
                continue;
            };
            if let Some(part) = segment::read(&documents.path_of(name), epoch)? {
                let part = match part {
                    Ok(part) if (part.head.run, part.head.rank) != (run.number(), rank) => {
                        Err("it is of another run".to_owned())
                    }
                    other => other,
                };
                parts.insert(epoch, part);
            }
        }
        Ok(History {
            documents,
            rank,
            parts,
            lost: None,
            begun: 0,
            others: 0,
        })
    }

    /// Something of that epoch could not be kept, by what is noted elsewhere.
    pub fn has_lost(&mut self, epoch: Option<u64>) {
        self.lost = epoch;
    }

    /// A checkpoint has begun that epoch.
    pub fn has_begun(&mut self, epoch: u64) {
        self.begun = self.begun.max(epoch);
    }

    /// The newest epoch that there is a part of; 0 if there is none.
    pub fn newest(&self) -> u64 {
        self.parts.last_key_value().map_or(0, |(epoch, _)| *epoch)
    }

    /// What comes is newer than other journals of the store, of which this is the newest time.
    pub fn comes_after(&mut self, time: u64) {
        self.others = self.others.max(time);
    }

    /// The newest time that is known.
    fn newest_time(&self) -> u64 {
        let whole = self.parts.values().filter_map(|part| part.as_ref().ok());
        whole.map(Segment::newest_time).fold(self.others, u64::max)
    }

    /// When the files were last as they were when an epoch began: what others have changed since is newer. That was when it
    /// began, or when they were first brought back to it, where its part is of no use any more.
    pub fn time_of(&self, epoch: u64) -> Option<u64> {
        let own = self.parts.get(&epoch).and_then(|part| part.as_ref().ok());
        let returned = self.heads().filter(|head| head.undone_to == epoch);
        own.map(|part| part.head.time)
            .or_else(|| returned.map(|head| head.time).min())
    }

    /// The first epoch that began after a time, if there is one.
    ///
    /// # Errors
    /// What was done from then on is not known any more.
    pub fn first_since(&self, time: u64) -> Result<Option<u64>, String> {
        // Parts follow one another in time: what is older than one that began before needs not be whole.
        let began_before =
            |part: &Result<Segment, String>| part.as_ref().is_ok_and(|part| part.head.time <= time);
        let known = self.parts.iter().rev().find(|(_, part)| began_before(part));
        let from = known.map_or(0, |(epoch, _)| epoch + 1);
        if let Some((epoch, part)) = self.parts.range(from..).next() {
            let path = self.documents.path_of(&name(self.rank, *epoch));
            let part = part
                .as_ref()
                .map_err(|what| format!("the journal of files is damaged in `{}`: {what}", path.display()))?;
            let previous = part.head.previous;
            return match previous == 0 || self.parts.contains_key(&previous) {
                true => Ok(Some(*epoch)),
                false => Err(format!(
                    "the journal of files lacks the part `{}`",
                    self.documents.path_of(&name(self.rank, previous)).display()
                )),
            };
        }
        Ok(None)
    }

    /// The oldest epoch of which the part is there.
    pub fn oldest(&self) -> Option<u64> {
        self.parts.keys().next().copied()
    }

    /// Whether anything was kept, as far as the parts are there.
    fn has_records(&self) -> bool {
        let mut parts = self.parts.values();
        parts.any(|part| part.as_ref().map_or(true, |part| !part.records.is_empty()))
    }

    /// The folders that its parts say the program was started in.
    pub fn folders(&self) -> impl Iterator<Item = &Path> {
        self.places().map(|(folder, _)| folder)
    }

    /// Those folders, each with where the store was then, if that is known.
    pub fn places(&self) -> impl Iterator<Item = (&Path, Option<&Path>)> {
        let whole = self.parts.values().filter_map(|part| part.as_ref().ok());
        whole.filter_map(Segment::started_in)
    }

    /// Where the store is now, without links.
    pub fn store(&self) -> PathBuf {
        without_links(&self.documents.store())
    }

    fn heads(&self) -> impl Iterator<Item = &Head> {
        let whole = self.parts.values().filter_map(|part| part.as_ref().ok());
        whole.map(|part| &part.head)
    }

    /// Whether the files were brought back to before this epoch since.
    fn is_undone(&self, epoch: u64) -> bool {
        self.heads()
            .any(|head| head.undone_to != 0 && head.undone_to <= epoch && epoch < head.epoch)
    }

    /// The earlier epoch to whose begin the files were brought back, or began to be, so that none can be that began between
    /// the two.
    pub fn given_up_for(&self, to: u64) -> Option<u64> {
        let undone = self.heads().map(|head| (head.undone_to, head.epoch));
        let undone = undone.filter(|(earlier, _)| *earlier != 0);
        let mut undone = undone.filter(|(earlier, epoch)| *earlier < to && to < *epoch);
        if let Some((earlier, _)) = undone.next() {
            return Some(earlier);
        }
        let parts = self
            .parts
            .range(to..)
            .filter(|(epoch, _)| !self.is_undone(**epoch));
        let mut records = parts
            .filter_map(|(_, part)| part.as_ref().ok())
            .flat_map(|part| &part.records);
        records.find_map(|(_, record)| match record {
            Record::Returning { to: earlier } if *earlier < to => Some(*earlier),
            _ => None,
        })
    }

    /// Whether the files have been brought back to the begin of an epoch, and nothing has been changed since.
    pub fn is_back_at(&self, to: u64) -> bool {
        let left = self.to_undo(to);
        self.heads().any(|head| head.undone_to == to)
            && left.is_ok_and(|parts| parts.iter().all(|part| part.only_returns(to)))
    }

    /// Whether it is said that the files are about to be brought back to the begin of an epoch, and not that they have been.
    pub fn returns_to(&self, to: u64) -> bool {
        let parts = self.parts.iter().filter(|(epoch, _)| !self.is_undone(**epoch));
        let mut records = parts
            .filter_map(|(_, part)| part.as_ref().ok())
            .flat_map(|part| &part.records);
        records.any(|(_, record)| *record == Record::Returning { to })
    }

    /// Whether nothing has been noted after an epoch but that the files are about to be brought back to the begin of another.
    pub fn has_only_returned_since(&self, epoch: u64, to: u64) -> bool {
        let mut later = self.parts.range(epoch + 1..);
        later.all(|(_, part)| part.as_ref().is_ok_and(|part| part.only_returns(to)))
    }

    /// The epochs to undo, oldest first, to bring the files back to the begin of one.
    ///
    /// # Errors
    /// Why they cannot be brought back.
    pub fn to_undo(&self, to: u64) -> Result<Vec<&Segment>, String> {
        let lacks = |epoch: u64| {
            let path = self.documents.path_of(&name(self.rank, epoch));
            format!("the journal of files lacks the part `{}`", path.display())
        };
        if self.lost.is_some_and(|lost| lost >= to && !self.is_undone(lost)) {
            return Err(
                "what a file was since then could be kept nowhere: nothing could be written to the store"
                    .to_owned(),
            );
        }
        if let Some(at) = self.given_up_for(to) {
            return Err(format!(
                "the files were brought back to an older checkpoint after this one was taken (epoch {at} of their journal is the last that they can be brought back to); restart from a checkpoint that was taken since, or from that older one"
            ));
        }
        if !self.parts.contains_key(&to) && !self.is_undone(to) {
            return Err(lacks(to));
        }
        let was_there = |epoch: u64| self.parts.contains_key(&epoch) || self.is_undone(epoch);
        if self.begun > to && !was_there(self.begun) {
            return Err(lacks(self.begun));
        }
        let mut needed = Vec::new();
        for (&epoch, part) in self.parts.range(to..) {
            if self.is_undone(epoch) {
                continue;
            }
            let path = self.documents.path_of(&name(self.rank, epoch));
            let damaged =
                |what: &str| format!("the journal of files is damaged in `{}`: {what}", path.display());
            let part = part.as_ref().map_err(|what| damaged(what))?;
            if let Some(what) = &part.damage {
                return Err(damaged(what));
            }
            for (_, record) in &part.records {
                if let Record::Lost { path, why } = record {
                    return Err(format!(
                        "what `{}` was then could not be kept: {why}",
                        path.display()
                    ));
                }
            }
            let Head {
                previous,
                previous_length,
                ..
            } = part.head;
            if previous >= to && !self.is_undone(previous) {
                match self.parts.get(&previous) {
                    None => return Err(lacks(previous)),
                    Some(Ok(before)) if before.damage.is_none() && before.length < previous_length => {
                        let path = self.documents.path_of(&name(self.rank, previous));
                        return Err(format!(
                            "the journal of files is damaged in `{}`: it ends at {} and had {previous_length} bytes",
                            path.display(),
                            before.length
                        ));
                    }
                    Some(_) => {}
                }
            }
            needed.push(part);
        }
        for (path, length) in needed.iter().flat_map(|part| self.beside(part)) {
            let found = fs::metadata(&path).map(|found| found.len());
            if !found.is_ok_and(|found| found >= length) {
                return Err(format!(
                    "the journal of files lacks `{}`, or has not all of it",
                    path.display()
                ));
            }
        }
        Ok(needed)
    }

    /// The files beside a part, each with the length that it has at least.
    fn beside(&self, part: &Segment) -> Vec<(PathBuf, u64)> {
        let files = part.records.iter().filter_map(|(_, record)| match record {
            Record::Bytes { content, .. }
            | Record::Was {
                was:
                    Was::File {
                        held: Held::Apart(content),
                        ..
                    },
                ..
            } => match content {
                Content::Beside {
                    epoch,
                    number,
                    length,
                    ..
                } => Some((self.named(*epoch, *number), *length)),
                _ => None,
            },
            Record::Was {
                was:
                    Was::File {
                        held: Held::Named { epoch, number },
                        ..
                    },
                ..
            } => Some((self.named(*epoch, *number), 0)),
            _ => None,
        });
        files.collect()
    }

    /// The files beside the parts that are needed to bring the files back to the begin of an epoch, as far as they have checksums: with
    /// how many bytes, and their sum.
    ///
    /// # Errors
    /// Why the files cannot be brought back.
    pub fn sums(&self, to: u64) -> Result<SortedMap<PathBuf, (u64, u128)>, String> {
        let records = self.to_undo(to)?.into_iter().flat_map(|part| &part.records);
        let contents = records.filter_map(|(_, record)| match record {
            Record::Bytes { content, .. }
            | Record::Was {
                was:
                    Was::File {
                        held: Held::Apart(content),
                        ..
                    },
                ..
            } => Some(content),
            _ => None,
        });
        let beside = contents.filter_map(|content| match content {
            Content::Beside {
                epoch,
                number,
                length,
                sum,
            } => Some((self.named(*epoch, *number), (*length, *sum))),
            _ => None,
        });
        Ok(beside.collect())
    }

    /// The file of a number beside the part of an epoch.
    pub fn named(&self, epoch: u64, number: u32) -> PathBuf {
        self.documents.path_of(&name_beside(self.rank, epoch, number))
    }

    /// Where bytes that are kept can be read: a file, an offset in it, and whether their bits are turned over.
    pub fn place_of(&self, content: &Content) -> (PathBuf, u64, bool) {
        match content {
            Content::Beside { epoch, number, .. } => (self.named(*epoch, *number), 0, false),
            Content::Inside { epoch, at, .. } => {
                (self.documents.path_of(&name(self.rank, *epoch)), *at, true)
            }
            Content::New(_) => (PathBuf::new(), 0, false),
        }
    }
}

/// What the journal is written with: the part of the epoch that is under way.
#[derive(Debug)]
pub(super) struct Log {
    documents: Arc<dyn Documents>,
    run: RunId,
    rank: u32,
    epoch: u64,
    /// Bytes of the part that are whole.
    length: u64,
    /// The newest time in this journal, and in those before it: what is added is newer, even if the clock was set back.
    time: u64,
    open: Option<Box<dyn documents::Log>>,
    /// How many files lie beside the part.
    beside: u32,
    /// Where the store is, without links.
    store: PathBuf,
    /// What has to be said of this epoch, and could not be written yet.
    unsaid: Option<Record>,
    /// Whether an earlier epoch has kept anything.
    has_earlier: bool,
    /// Whether the part says that others were undone before it.
    has_undone: bool,
    /// Whether the part and its name are on the disk.
    is_on_disk: bool,
}

impl Log {
    /// Begins the part of an epoch, after all that there are, and after one that is known of otherwise.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn begin(
        documents: Arc<dyn Documents>,
        run: RunId,
        rank: u32,
        after: &History,
        at_least: u64,
    ) -> io::Result<Log> {
        let newest = after.newest();
        let length = match after.parts.get(&newest) {
            Some(Ok(part)) => part.length,
            _ => 0,
        };
        let mut log = Log {
            store: without_links(&documents.store()),
            documents,
            run,
            rank,
            epoch: newest,
            length,
            time: after.newest_time(),
            open: None,
            beside: 0,
            unsaid: None,
            has_earlier: after.has_records(),
            has_undone: false,
            is_on_disk: false,
        };
        log.next(newest.max(at_least) + 1, 0)?;
        Ok(log)
    }

    /// Whether the epoch begins now as well as when it did: nothing has been kept in it, and its part says nothing of others,
    /// which would go with it when it is undone.
    pub fn begins_now(&self) -> bool {
        self.length == HEAD && self.unsaid.is_none() && !self.has_undone
    }

    /// The part, where nobody has brought it to the disk yet.
    pub fn not_on_disk(&self) -> Option<PathBuf> {
        (!self.is_on_disk).then(|| self.path())
    }

    /// Somebody has brought this file and its name to the disk.
    pub fn is_on_disk_now(&mut self, path: &Path) {
        self.is_on_disk |= self.path() == path;
    }

    /// Whether the run has changed anything so far.
    pub fn has_records(&self) -> bool {
        self.has_earlier || self.length > HEAD || self.unsaid.is_some()
    }

    /// The run has changed something in a part that is not there any more.
    pub fn had_records(&mut self) {
        self.has_earlier = true;
    }

    /// It is the log of this run, of which there is no checkpoint yet: what was kept so far `stays`, and is no part of it, or
    /// is of no use.
    ///
    /// # Errors
    /// Its part cannot be made: what is there is of another run, and no checkpoint can rely on it.
    pub fn become_of(&mut self, run: RunId, stays: bool) -> io::Result<()> {
        if self.run == run {
            return Ok(());
        }
        self.run = run;
        self.open = None;
        if stays {
            let (unsaid, epoch) = (self.unsaid.take(), self.epoch);
            self.has_earlier |= self.length > HEAD || unsaid.is_some();
            // There is no part before it.
            (self.epoch, self.length) = (0, 0);
            let begun = self.next(epoch + 1, 0);
            self.unsaid = unsaid;
            return begun;
        }
        if !self.has_records() {
            // Nothing was changed before: it begins anew.
            (self.epoch, self.length) = (0, 0);
        }
        self.next(self.epoch + 1, 0)?;
        self.forget(|_| true);
        Ok(())
    }

    /// The epoch that is under way.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The file of the epoch.
    pub fn path(&self) -> PathBuf {
        self.documents.path_of(&name(self.rank, self.epoch))
    }

    /// The time of day, or later: time does not go back here.
    fn time(&mut self) -> u64 {
        self.time = now().max(self.time.saturating_add(1));
        self.time
    }

    /// Begins the next epoch. Its part is on the disk with the first record of it, or when somebody brings it there.
    ///
    /// # Errors
    /// Its part cannot be made, or what has to be said of this one cannot be written: this epoch goes on.
    pub fn next(&mut self, epoch: u64, undone_to: u64) -> io::Result<()> {
        self.say()?;
        let head = Head {
            run: self.run.number(),
            rank: self.rank,
            epoch,
            undone_to,
            previous: self.epoch,
            previous_length: self.length,
            time: self.time(),
        };
        let name = name(self.rank, epoch);
        // One that the machine stopped in may be there.
        self.documents.remove(&name)?;
        let made = self
            .documents
            .log(&name, Durability::Unsynced)
            .and_then(|mut part| part.add(&head.encode()));
        if let Err(error) = made {
            let _ = self.documents.remove(&name);
            return Err(error);
        }
        self.has_earlier |= self.length > HEAD;
        self.epoch = epoch;
        self.length = HEAD;
        self.open = None;
        self.beside = 0;
        self.has_undone = undone_to != 0;
        self.is_on_disk = false;
        Ok(())
    }

    /// Adds records in one piece; they are on the disk when this returns.
    ///
    /// # Errors
    /// They are not there.
    pub fn add(&mut self, records: &[Record]) -> io::Result<()> {
        let time = self.time();
        let first = (self.length == HEAD).then(|| Record::StartedIn {
            folder: start_folder().to_owned(),
            store: Some(self.store.clone()),
        });
        let records = first.iter().chain(records);
        let records: Vec<Vec<u8>> = records.map(|record| record.encode(time)).collect();
        let frame = segment::frame(&records, self.epoch, self.length);
        let name = name(self.rank, self.epoch);
        let part = match &mut self.open {
            Some(part) => part,
            empty => empty.insert(self.documents.log(&name, Durability::Synced)?),
        };
        match part.add(&frame) {
            Ok(()) => {
                self.length += frame.len() as u64;
                self.is_on_disk = true;
                // The frame is there without that.
                let _ = part.overwrite(REACHED, &segment::reached(self.length, self.epoch));
                Ok(())
            }
            Err(error) => {
                // What is there of it must not stand before what comes.
                let _ = part.cut(self.length);
                self.open = None;
                Err(error)
            }
        }
    }

    /// The part is on the disk when this returns, with records if there are any.
    ///
    /// # Errors
    /// It is not.
    pub fn bring_to_disk(&mut self, records: &[Record]) -> io::Result<()> {
        if !records.is_empty() {
            return self.add(records);
        }
        // Opening it so brings its name there.
        drop(
            self.documents
                .log(&name(self.rank, self.epoch), Durability::Synced)?,
        );
        File::open(self.path())?.sync_all()
    }

    /// No checkpoint up to this epoch can be restored any more, as something could not be kept. That is written as soon as
    /// it is possible: a frame that does not fit takes the place of the first ones.
    pub fn lost(&mut self, path: PathBuf, why: String) {
        self.unsaid.get_or_insert(Record::Lost { path, why });
        let _ = self.say();
    }

    /// Whether something has to be said that could not be written yet.
    pub fn has_unsaid(&self) -> bool {
        self.unsaid.is_some()
    }

    /// The run that it is of.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Writes what could not be written.
    ///
    /// # Errors
    /// It still cannot be.
    pub fn say(&mut self) -> io::Result<()> {
        let Some(record) = self.unsaid.take() else {
            return Ok(());
        };
        let said = self.add(std::slice::from_ref(&record)).or_else(|_| {
            let frame = segment::frame(&[record.encode(self.time())], self.epoch, HEAD);
            let file = File::options().write(true).open(self.path())?;
            file.write_all_at(&frame, HEAD)?;
            file.sync_data()
        });
        if said.is_err() {
            self.unsaid = Some(record);
        }
        said
    }

    /// A new file for bytes beside the part: its number and where it is.
    pub fn beside(&mut self) -> (u32, PathBuf) {
        self.beside += 1;
        let path = self.path_beside(self.epoch, self.beside);
        (self.beside, path)
    }

    fn path_beside(&self, epoch: u64, number: u32) -> PathBuf {
        self.documents.path_of(&name_beside(self.rank, epoch, number))
    }

    /// Removes the parts of these epochs, and what lies beside them.
    pub fn forget(&self, is_of_no_use: impl Fn(u64) -> bool) {
        let names = self.documents.names().unwrap_or_default();
        for name in names {
            if epoch_in(&name, self.rank).is_some_and(|epoch| epoch != self.epoch && is_of_no_use(epoch)) {
                // What stays is in nobody's way.
                let _ = self.documents.remove(&name);
            }
        }
    }
}

/// The checksum of the first bytes of a file.
///
/// # Errors
/// It cannot be read, or is shorter.
pub(super) fn sum_of(file: &File, length: u64) -> io::Result<u128> {
    /// Bytes of one block.
    const BLOCK: u64 = 1 << 20;
    let mut sums = Vec::new();
    let mut block = vec![0; BLOCK.min(length) as usize];
    // That of a block of zeros, which nobody has to read.
    let of_a_hole = xxh3(&block).to_le_bytes();
    let mut holes = Holes::of(file, length)?;
    let mut at = 0;
    while at < length {
        let count = BLOCK.min(length - at) as usize;
        if count == block.len() && holes.has(&(at..at + BLOCK))? {
            sums.extend(of_a_hole);
        } else {
            file.read_exact_at(&mut block[..count], at)?;
            sums.extend(xxh3(&block[..count]).to_le_bytes());
        }
        at += count as u64;
    }
    Ok(xxh3(&sums))
}

#[cfg(test)]
mod tests {
    use super::super::in_folder::Folder;
    use super::*;

    const RUN: RunId = RunId::numbered(7 << 100);
    const OTHER: RunId = RunId::numbered(7);

    fn absent(path: &str) -> Record {
        Record::Was {
            path: path.into(),
            was: Was::Absent,
        }
    }

    fn history(folder: &Arc<Folder>) -> History {
        History::read(folder.clone(), RUN, 0).unwrap()
    }

    fn begin(folder: &Arc<Folder>) -> Log {
        Log::begin(folder.clone(), RUN, 0, &history(folder), 0).unwrap()
    }

    /// The paths that are to be undone, or why they cannot be.
    fn undone(folder: &Arc<Folder>, to: u64) -> Result<Vec<String>, String> {
        let history = history(folder);
        let parts = history.to_undo(to)?;
        let records = parts.iter().flat_map(|part| &part.records);
        Ok(records
            .filter_map(|(_, record)| match record {
                Record::Was { path, .. } => Some(path.display().to_string()),
                _ => None,
            })
            .collect())
    }

    /// Three epochs with two records each.
    fn three() -> Arc<Folder> {
        let folder = Folder::new();
        let mut log = begin(&folder);
        for epoch in 1..=3 {
            if epoch > 1 {
                log.next(epoch, 0).unwrap();
            }
            log.add(&[absent(&format!("a{epoch}")), absent(&format!("b{epoch}"))])
                .unwrap();
            log.add(&[absent(&format!("c{epoch}"))]).unwrap();
        }
        folder
    }

    #[test]
    fn any_changed_byte_is_found() {
        let folder = three();
        assert_eq!(undone(&folder, 2).unwrap(), ["a2", "b2", "c2", "a3", "b3", "c3"]);
        for epoch in 1..=3 {
            let path = folder.path_of(&name(0, epoch));
            let whole = fs::read(&path).unwrap();
            let only_informs = REACHED as usize..HEAD as usize;
            for at in (0..whole.len()).filter(|at| !only_informs.contains(at)) {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << (at % 8);
                fs::write(&path, &bytes).unwrap();
                for to in 1..=3 {
                    let is_needed = to <= epoch;
                    assert_eq!(
                        undone(&folder, to).is_err(),
                        is_needed,
                        "epoch {epoch}, byte {at}, to {to}"
                    );
                }
            }
            fs::write(&path, whole).unwrap();
        }
    }

    #[test]
    fn what_is_no_plain_file_is_damaged_and_not_opened() {
        for epoch in 1..=3 {
            let folder = three();
            let path = folder.path_of(&name(0, epoch));
            let elsewhere = path.with_extension("elsewhere");
            fs::rename(&path, &elsewhere).unwrap();
            let link = || std::os::unix::fs::symlink(&elsewhere, &path).unwrap();
            let pipe = || {
                let kind = rustix::fs::FileType::Fifo;
                rustix::fs::mknodat(rustix::fs::CWD, &path, kind, 0o600.into(), 0).unwrap();
            };
            let makers: [(&dyn Fn(), &str); 2] = [(&link, "it is a link"), (&pipe, "a pipe")];
            for (make, what) in makers {
                make();
                for to in 1..=3 {
                    match undone(&folder, to) {
                        Err(why) => assert!(to <= epoch && why.contains(what), "{epoch}, {to}: {why}"),
                        Ok(_) => assert!(to > epoch, "{epoch}, {to}: {what} is not seen"),
                    }
                }
                fs::remove_file(&path).unwrap();
            }
        }
    }

    #[test]
    fn what_is_older_than_a_time_needs_not_be_whole() {
        let folder = three();
        let time = history(&folder).time_of(2).unwrap();
        assert_eq!(history(&folder).first_since(time), Ok(Some(3)));
        fs::write(folder.path_of(&name(0, 1)), [b'x'; HEAD as usize]).unwrap();
        assert_eq!(history(&folder).first_since(time), Ok(Some(3)));
        assert!(history(&folder).first_since(0).is_err());
    }

    #[test]
    fn what_comes_is_newer_than_all_that_is_there_even_if_the_clock_was_set_back() {
        // A session that ran a year later, as its clock said.
        let (folder, ahead) = (Folder::new(), now() + 365 * 86_400 * 1_000_000_000);
        let mut log = Log::begin(
            folder.clone(),
            RUN,
            1,
            &History::read(folder.clone(), RUN, 1).unwrap(),
            0,
        )
        .unwrap();
        log.time = ahead;
        log.add(&[absent("a")]).unwrap();
        let newest = newest_time(&*folder);
        assert!(newest > ahead);
        // Another run of the store, and the same rank of the same one.
        let other = Folder::new();
        let mut history = History::read(other.clone(), OTHER, 0).unwrap();
        history.comes_after(newest);
        let mut log = Log::begin(other.clone(), OTHER, 0, &history, 0).unwrap();
        log.add(&[absent("b")]).unwrap();
        let history = History::read(other.clone(), OTHER, 0).unwrap();
        assert_eq!(history.first_since(newest), Ok(Some(1)));
        let [(time, _)] = &history.to_undo(1).unwrap()[0].records[1..] else {
            panic!("there is one record");
        };
        assert!(history.time_of(1) < Some(*time));
        let again = Log::begin(
            folder.clone(),
            RUN,
            1,
            &History::read(folder.clone(), RUN, 1).unwrap(),
            0,
        );
        drop(again);
        let history = History::read(folder.clone(), RUN, 1).unwrap();
        assert!(history.time_of(1) < Some(ahead) && history.time_of(2) > Some(newest));
    }

    #[test]
    fn the_time_of_an_epoch_that_was_brought_back_is_known() {
        let folder = three();
        let time = history(&folder).time_of(2).unwrap();
        let mut log = begin(&folder);
        log.next(5, 2).unwrap();
        log.forget(|epoch| (2..5).contains(&epoch));
        let returned = history(&folder).time_of(2).unwrap();
        assert!(returned > time);
        log.next(6, 2).unwrap();
        assert_eq!(history(&folder).time_of(2), Some(returned));
        assert_eq!(history(&folder).time_of(3), None);
    }

    /// The head as it was before the last frame was on the disk.
    fn unreached(part: &mut [u8]) {
        part[REACHED as usize..HEAD as usize].fill(0);
    }

    #[test]
    fn a_part_that_was_cut_off_after_it_was_on_the_disk_is_damaged() {
        let folder = three();
        let path = folder.path_of(&name(0, 3));
        let whole = fs::read(&path).unwrap();
        for length in HEAD as usize..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            for to in 1..=3 {
                let why = undone(&folder, to).unwrap_err();
                assert!(why.contains("and had"), "{length}: {why}");
            }
        }
        for length in 0..HEAD as usize {
            fs::write(&path, &whole[..length]).unwrap();
            // The machine may have stopped while it was made, unless a checkpoint has begun it.
            assert_eq!(undone(&folder, 2).unwrap(), ["a2", "b2", "c2"]);
            let mut history = history(&folder);
            history.has_begun(3);
            for to in 1..=3 {
                assert!(history.to_undo(to).unwrap_err().contains("lacks the part"));
            }
        }
        fs::write(&path, &whole).unwrap();
        let mut log = begin(&folder);
        log.next(5, 2).unwrap();
        let mut history = history(&folder);
        history.has_begun(3);
        assert!(history.to_undo(1).is_ok(), "what was undone is not needed");
    }

    #[test]
    fn a_torn_end_is_dropped_where_it_is_the_last_and_found_elsewhere() {
        let folder = three();
        for epoch in [2, 3] {
            let path = folder.path_of(&name(0, epoch));
            let mut whole = fs::read(&path).unwrap();
            unreached(&mut whole);
            let frames = [HEAD as usize, whole.len()];
            for length in frames[0]..frames[1] {
                fs::write(&path, &whole[..length]).unwrap();
                match epoch {
                    2 => assert!(undone(&folder, 2).is_err(), "{length}"),
                    _ => {
                        let left = undone(&folder, 3).unwrap();
                        assert!(
                            ["a3", "b3", "c3"]
                                .starts_with(&left.iter().map(String::as_str).collect::<Vec<_>>())
                        );
                        assert!(left.len() < 3);
                    }
                }
            }
            fs::write(&path, whole).unwrap();
        }
        fs::remove_file(folder.path_of(&name(0, 2))).unwrap();
        assert!(undone(&folder, 1).unwrap_err().contains("lacks the part"));
        assert!(undone(&folder, 2).unwrap_err().contains("lacks the part"));
        assert_eq!(undone(&folder, 3).unwrap().len(), 3);
    }

    #[test]
    fn sectors_that_never_reached_the_disk_are_the_end() {
        let folder = Folder::new();
        let mut log = begin(&folder);
        log.add(&[absent("before")]).unwrap();
        let from = log.length as usize;
        let content = Content::New(vec![0; 4000]);
        let was = Was::File {
            mode: 0,
            length: 4000,
            held: Held::Apart(content),
        };
        log.add(&[Record::Was {
            path: "zeros".into(),
            was,
        }])
        .unwrap();
        let path = log.path();
        let mut whole = fs::read(&path).unwrap();
        unreached(&mut whole);
        for sector in from / 512..whole.len().div_ceil(512) {
            let mut bytes = whole.clone();
            let end = bytes.len().min((sector + 1) * 512);
            bytes[from.max(sector * 512)..end].fill(0);
            fs::write(&path, &bytes).unwrap();
            assert_eq!(undone(&folder, 1).unwrap(), ["before"], "{sector}");
            // One that has changed is not taken for that.
            let mut bytes = whole.clone();
            bytes[end - 1] ^= 4;
            fs::write(&path, &bytes).unwrap();
            undone(&folder, 1).unwrap_err();
        }
    }

    #[test]
    fn what_could_not_be_added_is_never_taken_for_what_was() {
        for (failures, more) in [(1, 0), (2, 0), (2, 5)] {
            let folder = Folder::new();
            let mut log = begin(&folder);
            log.add(&[absent("before")]).unwrap();
            folder.fail(failures);
            log.add(&[absent("lost")]).unwrap_err();
            log.lost("lost".into(), "no room".to_owned());
            folder.fail(more);
            assert!(undone(&folder, 1).is_err(), "{failures}");
            folder.fail(0);
            log.next(2, 0).unwrap();
            log.add(&[absent("later")]).unwrap();
            assert!(undone(&folder, 1).is_err());
            assert_eq!(undone(&folder, 2).unwrap(), ["later"]);
        }
    }

    #[test]
    fn what_was_given_up_is_known_and_what_was_undone_not_needed() {
        let folder = three();
        let mut log = begin(&folder);
        assert_eq!(log.epoch(), 4);
        log.add(&[Record::Returning { to: 2 }]).unwrap();
        // The restart stopped on its way.
        assert!(undone(&folder, 3).unwrap_err().contains("brought back"));
        assert_eq!(undone(&folder, 2).unwrap().len(), 6);
        log.next(5, 2).unwrap();
        log.forget(|epoch| (2..5).contains(&epoch));
        log.add(&[absent("new")]).unwrap();
        assert_eq!(undone(&folder, 2).unwrap(), ["new"]);
        assert_eq!(undone(&folder, 1).unwrap(), ["a1", "b1", "c1", "new"]);
        assert!(undone(&folder, 3).unwrap_err().contains("brought back"));
        assert!(undone(&folder, 6).is_err());
        let mut log = begin(&folder);
        assert_eq!(log.epoch(), 6);
        log.next(7, 1).unwrap();
        assert_eq!(undone(&folder, 1).unwrap(), [""; 0]);
        assert!(undone(&folder, 2).is_err());
        let other = History::read(folder.clone(), OTHER, 0).unwrap();
        assert!(other.to_undo(1).is_err());
    }

    #[test]
    fn a_run_that_has_only_begun_has_changed_nothing() {
        let folder = Folder::new();
        assert!(!may_have_changed(&*folder));
        let mut log = begin(&folder);
        assert!(!may_have_changed(&*folder));
        log.next(2, 0).unwrap();
        assert!(
            may_have_changed(&*folder),
            "what there was before may be forgotten"
        );
        let folder = Folder::new();
        let mut log = begin(&folder);
        log.add(&[Record::Returning { to: 1 }]).unwrap();
        assert!(may_have_changed(&*folder));
    }
}
