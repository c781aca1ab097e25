//! One part of the journal: the file of an epoch. A head says whose it is; frames follow, each with the records of one
//! addition, which reach the disk before what they are about is changed.
//!
//! A frame has its length, a check of that, the records, and their checksum. What is stored of the records has some bits
//! turned over: sectors that never reached the disk, which are zeros, look like no records, not even like those of a file
//! of zeros. So a frame that was being added when the machine stopped is told from one that was damaged later. The head
//! says as well up to where the frames were on the disk some time ago: a part that ends before that was cut off since.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::record::Record;
use crate::base::checksum::xxh3;
use crate::base::files;

/// With what every part begins.
const MAGIC: [u8; 8] = *b"ckptfile";
/// Of the format.
const VERSION: u32 = 4;
/// The oldest that is read as well: 2 says nothing of the folder that the program was started in, 3 not where the store was then.
const OLDEST: u32 = 2;
/// Bytes of the head.
pub(super) const HEAD: u64 = 104;
/// Where in it stands up to where the frames are on the disk; what is there before that is known.
pub(super) const REACHED: u64 = 88;
const UNKNOWN: [u8; 16] = [0; 16];
/// Bytes of a frame beside its records: length and check, and the checksum behind.
const BEFORE: u64 = 8;
const BEHIND: u64 = 16;
/// What is written at once by a disk.
const SECTOR: u64 = 512;
/// The bits that are turned over.
const TURNED: u8 = 0x5a;
/// No frame is longer.
const LONGEST: u64 = 1 << 30;

/// What the head says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Head {
    pub run: u128,
    pub rank: u32,
    pub epoch: u64,
    /// Where the files were brought back to the begin of an earlier epoch before this one began: to which; otherwise 0.
    pub undone_to: u64,
    /// The epoch before, and how long its part is; zeros where there is none.
    pub previous: u64,
    pub previous_length: u64,
    /// When it began, in nanoseconds since 1970.
    pub time: u64,
}

/// A part that has been read.
#[derive(Debug)]
pub(super) struct Segment {
    pub head: Head,
    /// With the times at which they were made.
    pub records: Vec<(u64, Record)>,
    /// Bytes that are whole.
    pub length: u64,
    /// Where it is damaged, and how.
    pub damage: Option<String>,
}

impl Segment {
    /// The time of the last that it says.
    pub fn newest_time(&self) -> u64 {
        let times = self.records.iter().map(|(time, _)| *time);
        times.fold(self.head.time, u64::max)
    }

    /// Whether it says no more than that the files are about to be brought back to the begin of an epoch.
    pub fn only_returns(&self, to: u64) -> bool {
        self.records.iter().all(|(_, record)| match record {
            Record::StartedIn { .. } => true,
            Record::Returning { to: other } => *other == to,
            _ => false,
        })
    }

    /// The folder that its paths are relative to, if it says so, and where the store was then. Parts that do not say that are of before
    /// it had moved, if it has.
    pub fn started_in(&self) -> Option<(&Path, Option<&Path>)> {
        self.records.iter().find_map(|(_, record)| match record {
            Record::StartedIn { folder, store } => Some((folder.as_path(), store.as_deref())),
            _ => None,
        })
    }
}

impl Head {
    pub fn encode(&self) -> Vec<u8> {
        let mut to = MAGIC.to_vec();
        to.extend(VERSION.to_le_bytes());
        to.extend(self.rank.to_le_bytes());
        to.extend(self.run.to_le_bytes());
        for number in [
            self.epoch,
            self.undone_to,
            self.previous,
            self.previous_length,
            self.time,
        ] {
            to.extend(number.to_le_bytes());
        }
        let sum = xxh3(&to);
        to.extend(sum.to_le_bytes());
        to.extend(UNKNOWN);
        to
    }

    fn decode(bytes: &[u8]) -> Result<Head, String> {
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        let long = |at: usize| u128::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        if bytes[..8] != MAGIC {
            return Err("it does not begin as a part of the journal of files does".to_owned());
        }
        if long(72) != xxh3(&bytes[..72]) {
            return Err("its head does not have its checksum (offset 0)".to_owned());
        }
        if !(OLDEST..=VERSION).contains(&word(8)) {
            return Err(format!("it is of version {}; this ckpt reads {VERSION}", word(8)));
        }
        Ok(Head {
            rank: word(12),
            run: long(16),
            epoch: number(32),
            undone_to: number(40),
            previous: number(48),
            previous_length: number(56),
            time: number(64),
        })
    }
}

/// What a head says where the frames up to there are on the disk: the length, and its check.
pub(super) fn reached(length: u64, epoch: u64) -> [u8; 16] {
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(epoch.to_le_bytes());
    let check = xxh3(&bytes) as u64;
    let mut to = UNKNOWN;
    to[..8].copy_from_slice(&length.to_le_bytes());
    to[8..].copy_from_slice(&check.to_le_bytes());
    to
}

/// Up to where the frames were on the disk, if the head says so.
fn reached_by(head: &[u8], epoch: u64) -> Option<u64> {
    let said = head.get(REACHED as usize..HEAD as usize)?;
    let length = u64::from_le_bytes(said[..8].try_into().ok()?);
    (reached(length, epoch) == said).then_some(length)
}

/// The check of a frame's length, which holds at one place only.
fn check(length: u32, epoch: u64, at: u64) -> u32 {
    let mut bytes = length.to_le_bytes().to_vec();
    bytes.extend(epoch.to_le_bytes());
    bytes.extend(at.to_le_bytes());
    xxh3(&bytes) as u32
}

/// A frame of records, each as it is encoded, at a place of the part of an epoch.
pub(super) fn frame(records: &[Vec<u8>], epoch: u64, at: u64) -> Vec<u8> {
    let bytes: usize = records.iter().map(|record| record.len() + 4).sum();
    let mut to = Vec::with_capacity(bytes + (BEFORE + BEHIND) as usize);
    to.extend((bytes as u32).to_le_bytes());
    to.extend(check(bytes as u32, epoch, at).to_le_bytes());
    for record in records {
        to.extend((record.len() as u32).to_le_bytes());
        to.extend(record);
    }
    let sum = xxh3(&to[BEFORE as usize..]);
    to.extend(sum.to_le_bytes());
    turn(&mut to[BEFORE as usize..]);
    to
}

/// Turns the bits over, or back.
pub(super) fn turn(bytes: &mut [u8]) {
    for byte in bytes {
        *byte ^= TURNED;
    }
}

/// Reads a part. `None`: the machine stopped while it was being made, and nothing is in it. What is no plain file is damaged,
/// and is not opened: ckpt has never made that.
///
/// # Errors
/// It cannot be read.
pub(super) fn read(path: &Path, epoch: u64) -> io::Result<Option<Result<Segment, String>>> {
    match files::open(path) {
        Ok(file) => parse(&file, epoch),
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(Some(Err(error.to_string()))),
        Err(error) => Err(error),
    }
}

/// Reads an open part from its begin.
pub(super) fn parse(file: &File, epoch: u64) -> io::Result<Option<Result<Segment, String>>> {
    let length = file.metadata()?.len();
    let mut head = vec![0; length.min(HEAD) as usize];
    file.read_exact_at(&mut head, 0)?;
    if (head.len() as u64) < HEAD || head.iter().all(|byte| *byte == 0) {
        return Ok(None);
    }
    let reached = reached_by(&head, epoch);
    let head = match Head::decode(&head) {
        Ok(head) if head.epoch == epoch => head,
        Ok(head) => return Ok(Some(Err(format!("it says that it is of epoch {}", head.epoch)))),
        Err(why) => return Ok(Some(Err(why))),
    };
    let mut segment = Segment {
        head,
        records: Vec::new(),
        length: HEAD,
        damage: None,
    };
    while segment.length < length {
        match next(file, epoch, segment.length, length)? {
            Next::Records(records, end) => {
                segment.records.extend(records);
                segment.length = end;
            }
            Next::Torn => break,
            Next::Damaged(what) => {
                segment.damage = Some(format!("{what} (offset {})", segment.length));
                break;
            }
        }
    }
    if let Some(reached) = reached
        && segment.damage.is_none()
        && segment.length < reached
    {
        segment.damage = Some(format!("it ends at {} and had {reached} bytes", segment.length));
    }
    Ok(Some(Ok(segment)))
}

enum Next {
    Records(Vec<(u64, Record)>, u64),
    /// It was being added when the machine stopped.
    Torn,
    Damaged(&'static str),
}

fn next(file: &File, epoch: u64, at: u64, end: u64) -> io::Result<Next> {
    if end - at < BEFORE {
        return Ok(Next::Torn);
    }
    let mut words = [0; BEFORE as usize];
    file.read_exact_at(&mut words, at)?;
    let word = |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
    let length = word(0);
    if word(4) != check(length, epoch, at) || u64::from(length) > LONGEST {
        return Ok(match has_lost_sector(file, at, end.min(at + BEFORE), end)? {
            true => Next::Torn,
            false => Next::Damaged("a record's length does not have its checksum"),
        });
    }
    let frame_end = at + BEFORE + u64::from(length) + BEHIND;
    if frame_end > end {
        return Ok(Next::Torn);
    }
    let mut bytes = vec![0; length as usize + BEHIND as usize];
    file.read_exact_at(&mut bytes, at + BEFORE)?;
    turn(&mut bytes);
    let (payload, sum) = bytes.split_at(length as usize);
    if xxh3(payload).to_le_bytes() != sum {
        let is_torn = frame_end == end && has_lost_sector(file, at, end, end)?;
        return Ok(match is_torn {
            true => Next::Torn,
            false => Next::Damaged("a record does not have its checksum"),
        });
    }
    Ok(match records(payload, epoch, at + BEFORE) {
        Some(records) => Next::Records(records, frame_end),
        None => Next::Damaged("a record is of no kind that this ckpt knows"),
    })
}

fn records(payload: &[u8], epoch: u64, at: u64) -> Option<Vec<(u64, Record)>> {
    let (mut records, mut from) = (Vec::new(), 0);
    while from < payload.len() {
        let length = payload.get(from..from + 4)?;
        let length = u32::from_le_bytes(length.try_into().ok()?) as usize;
        from += 4;
        let record = payload.get(from..from.checked_add(length)?)?;
        records.push(Record::decode(record, epoch, at + from as u64)?);
        from += length;
    }
    Some(records)
}

/// Makes the checksums of a part fit what it holds, as far as its lengths do.
#[cfg(fuzzing)]
pub(super) fn reseal(bytes: &mut Vec<u8>, epoch: u64) {
    if bytes.len() < HEAD as usize {
        return;
    }
    bytes[..8].copy_from_slice(&MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[32..40].copy_from_slice(&epoch.to_le_bytes());
    let sum = xxh3(&bytes[..72]);
    bytes[72..88].copy_from_slice(&sum.to_le_bytes());
    let mut at = HEAD as usize;
    while let Some(words) = bytes.get(at..at + BEFORE as usize) {
        let length = u32::from_le_bytes([words[0], words[1], words[2], words[3]]);
        let length = length.min((bytes.len() - at) as u32);
        bytes[at..at + 4].copy_from_slice(&length.to_le_bytes());
        bytes[at + 4..at + 8].copy_from_slice(&check(length, epoch, at as u64).to_le_bytes());
        let from = at + BEFORE as usize;
        let to = from + length as usize;
        let Some(payload) = bytes.get(from..to) else {
            return;
        };
        let mut payload = payload.to_vec();
        turn(&mut payload);
        let mut sum = xxh3(&payload).to_le_bytes();
        turn(&mut sum);
        let Some(place) = bytes.get_mut(to..to + BEHIND as usize) else {
            return;
        };
        place.copy_from_slice(&sum);
        at = to + BEHIND as usize;
    }
}

/// Whether one of the sectors of these bytes is all zeros, as far as it belongs to the bytes from `at` to the end.
fn has_lost_sector(file: &File, at: u64, to: u64, end: u64) -> io::Result<bool> {
    let mut from = at;
    while from < to {
        let next = (from / SECTOR + 1) * SECTOR;
        let mut sector = vec![0; (next.min(end) - from) as usize];
        file.read_exact_at(&mut sector, from)?;
        if sector.iter().all(|byte| *byte == 0) {
            return Ok(true);
        }
        from = next;
    }
    Ok(false)
}
