//! The journal as a whole: its parts in the folder of the run, adding to the newest, and what all of them together say.
//!
//! Time is cut into epochs, of which each has its part. A checkpoint begins one and says its number: to bring the files back
//! to it is to undo what the epochs from there on say. Where that has been done, the epoch that follows says so, and those
//! that were undone are of no use any more: nor is a checkpoint that had begun one of them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use super::record::{Content, Record};
use super::segment::{self, HEAD, Head, Segment};
use crate::base::checksum::xxh3;
use crate::base::documents::{self, Documents, Durability};

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

fn is_part(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|kind| kind == "log")
}

/// The time of day, in nanoseconds.
pub(super) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as u64)
}

/// All parts of one rank.
#[derive(Debug)]
pub(super) struct History {
    documents: Arc<dyn Documents>,
    rank: u32,
    /// By their epochs; those that are damaged as a whole say how.
    parts: BTreeMap<u64, Result<Segment, String>>,
}

impl History {
    /// Reads the parts of a rank of a run.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn read(documents: Arc<dyn Documents>, run: u128, rank: u32) -> io::Result<History> {
        let mut parts = BTreeMap::new();
        for name in documents.names()?.iter().filter(|name| is_part(name)) {
            let Some(epoch) = epoch_in(name, rank) else {
                continue;
            };
            if let Some(part) = segment::read(&documents.path_of(name), epoch)? {
                let part = match part {
                    Ok(part) if (part.head.run, part.head.rank) != (run, rank) => {
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
        })
    }

    /// The newest epoch that there is a part of; 0 if there is none.
    pub fn newest(&self) -> u64 {
        self.parts.last_key_value().map_or(0, |(epoch, _)| *epoch)
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

    /// The epochs to undo, oldest first, to bring the files back to the begin of one.
    ///
    /// # Errors
    /// Why they cannot be brought back.
    pub fn to_undo(&self, to: u64) -> Result<Vec<&Segment>, String> {
        let given_up = |at: u64| {
            format!(
                "the files were brought back to an older checkpoint after this one was taken (epoch {at} of their journal is the last that they can be brought back to); restart from a checkpoint that was taken since, or from that older one"
            )
        };
        let lacks = |epoch: u64| {
            let path = self.documents.path_of(&name(self.rank, epoch));
            format!("the journal of files lacks the part `{}`", path.display())
        };
        if let Some(head) = self
            .heads()
            .find(|head| head.undone_to != 0 && head.undone_to < to && to < head.epoch)
        {
            return Err(given_up(head.undone_to));
        }
        if !self.parts.contains_key(&to) && !self.is_undone(to) {
            return Err(lacks(to));
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
                match record {
                    Record::Lost { path, why } => {
                        return Err(format!(
                            "what `{}` was then could not be kept: {why}",
                            path.display()
                        ));
                    }
                    Record::Returning { to: earlier } if *earlier < to => return Err(given_up(*earlier)),
                    _ => {}
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
        for content in needed.iter().flat_map(|part| contents(part)) {
            if let Content::Beside {
                epoch,
                number,
                length,
                ..
            } = content
            {
                let path = self.documents.path_of(&name_beside(self.rank, *epoch, *number));
                let found = fs::metadata(&path).map(|found| found.len());
                if !found.is_ok_and(|found| found >= *length) {
                    return Err(format!(
                        "the journal of files lacks `{}`, or has not all of it",
                        path.display()
                    ));
                }
            }
        }
        Ok(needed)
    }

    /// Where bytes that are kept can be read: a file, an offset in it, and whether their bits are turned over.
    pub fn place_of(&self, content: &Content) -> (PathBuf, u64, bool) {
        match content {
            Content::Beside { epoch, number, .. } => {
                let name = name_beside(self.rank, *epoch, *number);
                (self.documents.path_of(&name), 0, false)
            }
            Content::Inside { epoch, at, .. } => {
                (self.documents.path_of(&name(self.rank, *epoch)), *at, true)
            }
            Content::New(_) => (PathBuf::new(), 0, false),
        }
    }
}

/// All bytes that a part keeps.
fn contents(part: &Segment) -> impl Iterator<Item = &Content> {
    use super::record::{Held, Was};
    part.records.iter().filter_map(|(_, record)| match record {
        Record::Bytes { content, .. }
        | Record::Was {
            was: Was::File {
                held: Held::Apart(content),
                ..
            },
            ..
        } => Some(content),
        _ => None,
    })
}

/// What the journal is written with: the part of the epoch that is under way.
#[derive(Debug)]
pub(super) struct Log {
    documents: Arc<dyn Documents>,
    run: u128,
    rank: u32,
    epoch: u64,
    /// Bytes of the part that are whole.
    length: u64,
    open: Option<Box<dyn documents::Log>>,
    /// How many files lie beside the part.
    beside: u32,
    /// What has to be said of this epoch, and could not be written yet.
    unsaid: Option<Record>,
}

impl Log {
    /// Begins the part of an epoch, after all that there are, and after one that is known of otherwise.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn begin(
        documents: Arc<dyn Documents>,
        run: u128,
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
            documents,
            run,
            rank,
            epoch: newest,
            length,
            open: None,
            beside: 0,
            unsaid: None,
        };
        log.next(newest.max(at_least) + 1, 0)?;
        Ok(log)
    }

    /// The epoch that is under way.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The file of the epoch.
    pub fn path(&self) -> PathBuf {
        self.documents.path_of(&name(self.rank, self.epoch))
    }

    /// Begins the next epoch. Its part is on the disk with the first record of it, or when somebody brings it there.
    ///
    /// # Errors
    /// Its part cannot be made, or what has to be said of this one cannot be written: this epoch goes on.
    pub fn next(&mut self, epoch: u64, undone_to: u64) -> io::Result<()> {
        self.say()?;
        let head = Head {
            run: self.run,
            rank: self.rank,
            epoch,
            undone_to,
            previous: self.epoch,
            previous_length: self.length,
            time: now(),
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
        self.epoch = epoch;
        self.length = HEAD;
        self.open = None;
        self.beside = 0;
        Ok(())
    }

    /// Adds records in one piece; they are on the disk when this returns.
    ///
    /// # Errors
    /// They are not there.
    pub fn add(&mut self, records: &[Record]) -> io::Result<()> {
        let time = now();
        let records: Vec<Vec<u8>> = records.iter().map(|record| record.encode(time)).collect();
        let frame = segment::frame(&records, self.epoch, self.length);
        let name = name(self.rank, self.epoch);
        let part = match &mut self.open {
            Some(part) => part,
            empty => empty.insert(self.documents.log(&name, Durability::Synced)?),
        };
        match part.add(&frame) {
            Ok(()) => {
                self.length += frame.len() as u64;
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

    /// Writes what could not be written.
    ///
    /// # Errors
    /// It still cannot be.
    pub fn say(&mut self) -> io::Result<()> {
        let Some(record) = self.unsaid.take() else {
            return Ok(());
        };
        let said = self.add(std::slice::from_ref(&record)).or_else(|_| {
            let frame = segment::frame(&[record.encode(now())], self.epoch, HEAD);
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
    let mut at = 0;
    while at < length {
        let count = BLOCK.min(length - at) as usize;
        file.read_exact_at(&mut block[..count], at)?;
        sums.extend(xxh3(&block[..count]).to_le_bytes());
        at += count as u64;
    }
    Ok(xxh3(&sums))
}
