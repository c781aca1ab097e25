//! The container around the HDF5 file: header and index, and the proof that every byte is the one that was written.
//! `docs/src/format.md`, section Container, is its specification.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use twox_hash::xxhash3_128::Hasher;

use super::coding::Coding;
use super::extents::{Body, Extent, Other};
use super::hdf5::USER_BLOCK;
use super::index::{Dataset, Index};
use super::superblock;
use super::{CheckpointId, Damage, FORMAT_VERSION, Files, Meta, StoreError};
use crate::base::checksum::xxh3;
use crate::base::fault::{Faults, Step};
use crate::base::files;
use crate::base::kept_open::KeptOpen;
use crate::base::lock::locked;

const MAGIC: [u8; 8] = *b"\x89CKPT\r\n\x1a";
const HEADER: usize = USER_BLOCK as usize;
/// Bodies of at least this size are stored in blocks.
pub(super) const LARGE: u64 = 65_536;
/// What `statfs` calls a file system in memory.
const TMPFS: u64 = 0x0102_1994;
/// Bytes read at a time while checking.
const PIECE: usize = 1 << 20;

/// Opens the file that HDF5 has made and takes the disk space for `needed` bytes, without changing its length.
pub(super) fn reserve(path: &Path, needed: u64) -> Result<KeptOpen, StoreError> {
    let file = files::open_as(path, rustix::fs::OFlags::RDWR)
        .map_err(|error| StoreError::io("open", path, &error))?;
    let file = KeptOpen::new(file);
    if is_in_memory(&file) {
        // Taking its space means clearing it: as much work as writing it.
        return room_for(&file, path, needed).map(|()| file);
    }
    let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
    match rustix::io::retry_on_intr(|| rustix::fs::fallocate(&file, flags, 0, needed)) {
        Ok(()) => Ok(file),
        // Not every file system can: the writes themselves will tell then.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS | rustix::io::Errno::INVAL) => Ok(file),
        Err(error) => Err(StoreError::writing(path, needed, &error.into())),
    }
}

/// Whether a file is in a file system in memory.
pub(super) fn is_in_memory(file: &File) -> bool {
    rustix::fs::fstatfs(file).is_ok_and(|of| of.f_type as u64 == TMPFS)
}

/// An error where a disk has no room for so many bytes more. Where it has they are not taken: whoever writes them learns
/// of it if others were faster.
pub(super) fn room_for(file: &File, path: &Path, bytes: u64) -> Result<(), StoreError> {
    let space = rustix::fs::fstatvfs(file);
    match space.map(|space| space.f_bavail.saturating_mul(space.f_frsize)) {
        Ok(free) if free < bytes => Err(StoreError::DiskFull {
            path: path.to_owned(),
            needed: bytes,
        }),
        _ => Ok(()),
    }
}

/// That the disk is full, if no more than `free` bytes are; otherwise `error`.
pub(super) fn full_or(error: StoreError, path: &Path, needed: u64, free: Option<u64>) -> StoreError {
    match free {
        Some(free) if free < needed => StoreError::DiskFull {
            path: path.to_owned(),
            needed,
        },
        _ => error,
    }
}

/// A file that proves itself.
pub(super) struct Sealed {
    /// The checksum of its index, which no other file has.
    pub seal: u128,
    pub length: u64,
    /// How long the disk took with what the system still had of it.
    pub synced: Duration,
}

/// Appends the index, fills in the header and syncs: from here on the file proves itself.
pub(super) fn seal(file: &File, path: &Path, index: &Index, faults: Faults) -> Result<Sealed, StoreError> {
    let io = |error: std::io::Error| StoreError::writing(path, 0, &error);
    let start = file.metadata().map_err(io)?.len();
    let bytes = index.to_bytes();
    superblock::set_end(file, start + bytes.len() as u64).map_err(io)?;
    let structure = structure_checksum(file, start, &index.datasets).map_err(io)?;
    let index = bytes;
    file.write_all_at(&index, start).map_err(io)?;
    // What was reserved beyond goes back.
    file.set_len(start + index.len() as u64).map_err(io)?;
    faults.reached(Step::Index);
    let header = Header {
        length: start + index.len() as u64,
        index_offset: start,
        index_length: index.len() as u64,
        index_checksum: xxh3(&index),
        structure_checksum: structure,
    };
    file.write_all_at(&header.to_bytes(), 0).map_err(io)?;
    faults.reached(Step::Header);
    let began = Instant::now();
    file.sync_all().map_err(io)?;
    faults.reached(Step::Synced);
    Ok(Sealed {
        seal: header.index_checksum,
        length: header.length,
        synced: began.elapsed(),
    })
}

struct Header {
    length: u64,
    index_offset: u64,
    index_length: u64,
    index_checksum: u128,
    structure_checksum: u128,
}

impl Header {
    fn to_bytes(&self) -> [u8; HEADER] {
        let mut bytes = [0; HEADER];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&(HEADER as u32).to_le_bytes());
        bytes[16..24].copy_from_slice(&self.length.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.index_offset.to_le_bytes());
        bytes[32..40].copy_from_slice(&self.index_length.to_le_bytes());
        bytes[40..56].copy_from_slice(&self.index_checksum.to_le_bytes());
        bytes[56..72].copy_from_slice(&self.structure_checksum.to_le_bytes());
        let own = xxh3(&bytes[..496]);
        bytes[496..].copy_from_slice(&own.to_le_bytes());
        bytes
    }
}

fn u64_at(bytes: &[u8; HEADER], at: usize) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

fn u128_at(bytes: &[u8; HEADER], at: usize) -> u128 {
    u128::from_le_bytes(std::array::from_fn(|k| bytes[at + k]))
}

/// A checkpoint file that has been opened; header and index are those that were written.
#[derive(Debug)]
pub(super) struct Container {
    pub path: PathBuf,
    pub file: File,
    /// The files of `index.files`.
    pub others: Vec<File>,
    pub index: Index,
    pub length: u64,
    index_offset: u64,
    structure_checksum: u128,
    /// Whether the file has the length that it was written with.
    pub is_as_written: bool,
    /// What all threads together have spent on blocks of it.
    pub spent: Mutex<Spent>,
}

/// Time that reading takes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spent {
    /// To get bytes out of the file, and to unpack them.
    pub reading: Duration,
    /// To compare them with their checksums.
    pub checking: Duration,
}

impl Spent {
    /// Both as parts of `all`, the time in which several threads have spent them side by side.
    pub fn of(self, all: Duration) -> Spent {
        let both = (self.reading + self.checking).as_secs_f64();
        let checking = match both > 0.0 {
            true => all.mul_f64(self.checking.as_secs_f64() / both),
            false => Duration::ZERO,
        };
        Spent {
            reading: all.saturating_sub(checking),
            checking,
        }
    }
}

impl Container {
    /// Opens the file of a checkpoint and checks length, header and index.
    pub fn open(id: CheckpointId, files: &dyn Files) -> Result<Container, StoreError> {
        let path = &files.path(id);
        let (file, header, bytes) = read_index(files.open(id), path, path, false)?;
        Container::of(path, path, Some(files), file, &header, &bytes)
    }

    /// Opens a copy of the file of a checkpoint that another program has changed: it may be longer than it was.
    pub fn open_changed(path: &Path, id: CheckpointId, files: &dyn Files) -> Result<Container, StoreError> {
        let home = &files.path(id);
        let (file, header, bytes) = read_index(files::open(path), path, home, true)?;
        Container::of(path, home, Some(files), file, &header, &bytes)
    }

    fn of(
        path: &Path,
        home: &Path,
        files: Option<&dyn Files>,
        file: File,
        header: &Header,
        bytes: &[u8],
    ) -> Result<Container, StoreError> {
        let malformed = |_| {
            damaged(
                path,
                "index",
                "its checksum is right but it makes no sense; it was not written by ckpt",
            )
        };
        let index = Index::from_bytes(bytes, header.index_offset).map_err(malformed)?;
        if !index.datasets.iter().all(is_built) {
            return Err(StoreError::Compressed {
                path: path.to_owned(),
            });
        }
        let others = match files {
            Some(files) => index
                .files
                .iter()
                .map(|other| open_other(home, other, files))
                .collect::<Result<_, _>>()?,
            None => Vec::new(),
        };
        let file_length = file
            .metadata()
            .map_err(|error| StoreError::io("read", path, &error))?
            .len();
        Ok(Container {
            path: path.to_owned(),
            file,
            others,
            index,
            length: header.length,
            index_offset: header.index_offset,
            structure_checksum: header.structure_checksum,
            spent: Mutex::default(),
            is_as_written: file_length == header.length,
        })
    }

    /// Checks every byte that is not one of a value as it is in memory.
    pub fn verify_structure(&self) -> Result<(), Damage> {
        let found = structure_checksum(&self.file, self.index_offset, &self.index.datasets);
        found
            .map_err(|error| error.to_string())
            .and_then(|found| check(self.structure_checksum, found))
            .map_err(|what| Damage::at("HDF5 structure", what))
    }

    /// Checks a body that is one piece.
    pub fn verify_whole(&self, dataset: &Dataset, offset: u64) -> Result<(), Damage> {
        let mut sum = Hasher::new();
        let mut piece = vec![0; PIECE.min(usize::try_from(dataset.bytes).unwrap_or(PIECE))];
        let mut feed = || {
            let (mut at, end) = (offset, offset + dataset.bytes);
            while at < end {
                let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(piece.len());
                let began = Instant::now();
                self.file.read_exact_at(&mut piece[..length], at)?;
                let read = Instant::now();
                sum.write(&piece[..length]);
                self.spends(began, read);
                at += length as u64;
            }
            Ok(())
        };
        feed()
            .map_err(|error: std::io::Error| error.to_string())
            .and_then(|()| check(dataset.checksum, sum.finish_128()))
            .map_err(|what| Damage::at(&dataset.path, what))
    }

    /// A piece was begun, had been read, and has been compared by now.
    pub fn spends(&self, began: Instant, read: Instant) {
        let checking = read.elapsed();
        let mut spent = locked(&self.spent);
        spent.reading += read - began;
        spent.checking += checking;
    }

    /// Which of the other files that is, for messages.
    pub fn other_name(&self, file: u32) -> String {
        let other = (file as usize)
            .checked_sub(1)
            .and_then(|at| self.index.files.get(at));
        other.map_or(String::new(), |other| format!(" in checkpoint {}", other.id))
    }

    /// Checks everything.
    pub fn verify(&self) -> Result<(), Vec<Damage>> {
        let datasets: Vec<&Dataset> = self.index.datasets.iter().collect();
        let mut damage: Vec<Damage> = self.verify_structure().err().into_iter().collect();
        damage.extend(self.verify_datasets(&datasets));
        if damage.is_empty() { Ok(()) } else { Err(damage) }
    }
}

/// Whether this build can undo how a dataset is compressed.
fn is_built(dataset: &Dataset) -> bool {
    let Body::Blocks { extents, .. } = &dataset.body else {
        return true;
    };
    let ways = extents.iter().filter_map(|extent| match extent {
        Extent::At { coding, .. } => Some(coding),
        Extent::Hole => None,
    });
    ways.copied().all(Coding::is_built)
}

/// Checks every byte of a file, and nothing of those that it builds on.
///
/// # Errors
/// It cannot be read at all; otherwise all damage found.
pub(crate) fn verify_file(
    id: CheckpointId,
    files: &dyn Files,
) -> Result<Result<(), Vec<Damage>>, StoreError> {
    let path = &files.path(id);
    let (file, header, bytes) = read_index(files.open(id), path, path, false)?;
    let mut container = Container::of(path, path, None, file, &header, &bytes)?;
    for dataset in &mut container.index.datasets {
        if let Body::Blocks { extents, .. } = &mut dataset.body {
            // What lies elsewhere is like what lies nowhere.
            for extent in extents.iter_mut() {
                if matches!(extent, Extent::At { file: 1.., .. }) {
                    *extent = Extent::Hole;
                }
            }
        }
    }
    Ok(container.verify())
}

/// What is known of a checkpoint, and the others that it needs, without the rest of the file.
pub(crate) fn read_head(
    id: CheckpointId,
    files: &dyn Files,
) -> Result<(Meta, Vec<CheckpointId>), StoreError> {
    let path = &files.path(id);
    let (_, _, bytes) = read_index(files.open(id), path, path, false)?;
    let (meta, files) =
        Index::head_from_bytes(&bytes).map_err(|_| damaged(path, "index", "it makes no sense"))?;
    Ok((meta, files.iter().map(|file| file.id).collect()))
}

/// Opens the file of another checkpoint that the one at `path` needs.
fn open_other(path: &Path, other: &Other, files: &dyn Files) -> Result<File, StoreError> {
    let found = files.path(other.id);
    let place = format!("checkpoint {}, which it builds on", other.id);
    let opened = files
        .open(other.id)
        .and_then(|file| Ok((file.metadata()?.len(), file)));
    let (length, file) = opened.map_err(|error| damaged(path, &place, &error.to_string()))?;
    let header = read_header(&file, &found, length, false)
        .map_err(|error| damaged(path, &place, &error.to_string()))?;
    if header.index_checksum == other.seal {
        Ok(file)
    } else {
        Err(damaged(path, &place, "it is another one than it was"))
    }
}

/// `path` is what is read, `home` is what messages name; a file that `may_be_longer` has been changed by another program.
fn read_index(
    file: std::io::Result<File>,
    path: &Path,
    home: &Path,
    may_be_longer: bool,
) -> Result<(File, Header, Vec<u8>), StoreError> {
    let io = |error: std::io::Error| StoreError::io("read", path, &error);
    let file = file.map_err(io)?;
    let metadata = file.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err(damaged(path, Damage::FILE, "it is not a plain file"));
    }
    let header = read_header(&file, home, metadata.len(), may_be_longer)?;
    let path = home;
    let mut bytes = vec![
        0;
        usize::try_from(header.index_length).map_err(|_| damaged(
            path,
            "header",
            "the index is too long"
        ))?
    ];
    file.read_exact_at(&mut bytes, header.index_offset).map_err(io)?;
    check(header.index_checksum, xxh3(&bytes)).map_err(|what| damaged(path, "index", &what))?;
    Ok((file, header, bytes))
}

fn read_header(file: &File, path: &Path, length: u64, may_be_longer: bool) -> Result<Header, StoreError> {
    let mut bytes = [0; HEADER];
    if length < USER_BLOCK {
        return Err(damaged(
            path,
            Damage::FILE,
            &format!("it has {length} bytes; it was cut off or is no checkpoint"),
        ));
    }
    file.read_exact_at(&mut bytes, 0)
        .map_err(|error| StoreError::io("read", path, &error))?;
    if bytes[..8] != MAGIC {
        return Err(damaged(path, "header", "it does not begin as a checkpoint does"));
    }
    check(u128_at(&bytes, 496), xxh3(&bytes[..496])).map_err(|what| damaged(path, "header", &what))?;
    let version = u32::from_le_bytes(std::array::from_fn(|k| bytes[8 + k]));
    if version != FORMAT_VERSION {
        return Err(StoreError::Version {
            path: path.to_owned(),
            found: version,
            known: FORMAT_VERSION,
        });
    }
    let header = Header {
        length: u64_at(&bytes, 16),
        index_offset: u64_at(&bytes, 24),
        index_length: u64_at(&bytes, 32),
        index_checksum: u128_at(&bytes, 40),
        structure_checksum: u128_at(&bytes, 56),
    };
    let is_longer = may_be_longer && length > header.length;
    if header.length != length && !is_longer {
        return Err(damaged(
            path,
            Damage::FILE,
            &format!("it has {length} bytes instead of {}", header.length),
        ));
    }
    let end = header.index_offset.checked_add(header.index_length);
    if header.index_offset < USER_BLOCK || end != Some(header.length) {
        return Err(damaged(
            path,
            "header",
            "the index does not lie at the end of the file",
        ));
    }
    Ok(header)
}

/// The checksum of every byte of `USER_BLOCK..end` but those that are values as they are in memory: these have their own.
/// What is stored compressed belongs to it, as other bytes may expand to the same values.
fn structure_checksum(file: &File, end: u64, datasets: &[Dataset]) -> std::io::Result<u128> {
    let mut values: Vec<(u64, u64)> = Vec::new();
    for dataset in datasets {
        match &dataset.body {
            Body::Whole { offset } => values.push((*offset, offset.saturating_add(dataset.bytes))),
            Body::Blocks { extents, .. } => values.extend(raw_ranges(extents)),
        }
    }
    values.sort_unstable();
    let mut sum = Hasher::new();
    let mut piece = vec![0; PIECE];
    let mut at = USER_BLOCK;
    let mut small = Vec::new();
    for (first, last) in values {
        // Over what is small one reads on.
        if last.saturating_sub(first) < LARGE {
            small.push((first, last));
        } else {
            feed_without(file, (at, first.min(end)), &small, &mut piece, &mut sum)?;
            small.clear();
            at = at.max(last);
        }
    }
    feed_without(file, (at, end), &small, &mut piece, &mut sum)?;
    Ok(sum.finish_128())
}

/// From where to where values lie in this file as they are in memory.
fn raw_ranges(extents: &[Extent]) -> impl Iterator<Item = (u64, u64)> + '_ {
    extents.iter().filter_map(|extent| match extent {
        Extent::At {
            file: 0,
            offset,
            length,
            coding: Coding::Raw,
            ..
        } => Some((*offset, offset.saturating_add(*length))),
        _ => None,
    })
}

/// Feeds what lies in the range and not in the others, which are in order.
fn feed_without(
    file: &File,
    (mut at, end): (u64, u64),
    others: &[(u64, u64)],
    piece: &mut [u8],
    sum: &mut Hasher,
) -> std::io::Result<()> {
    let mut others = others.iter().peekable();
    while at < end {
        let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(piece.len());
        let read = &mut piece[..length];
        file.read_exact_at(read, at)?;
        let to = at + length as u64;
        let mut from = at;
        while let Some(&&(first, last)) = others.peek() {
            if first >= to {
                break;
            }
            if first > from {
                sum.write(&read[(from - at) as usize..(first - at) as usize]);
            }
            from = from.max(last.min(to));
            if last > to {
                break;
            }
            others.next();
        }
        sum.write(&read[(from - at) as usize..]);
        at = to;
    }
    Ok(())
}

/// Whether a checksum is the one that was written.
pub(super) fn check(stored: u128, found: u128) -> Result<(), String> {
    match found == stored {
        true => Ok(()),
        false => Err(format!("checksum {found:032x} instead of {stored:032x}")),
    }
}

fn damaged(path: &Path, place: &str, what: &str) -> StoreError {
    StoreError::damaged(path, Damage::at(place, what))
}

/// Makes the checksums of a file fit what it holds, as far as its header says where that is.
#[cfg(fuzzing)]
pub(super) fn reseal(file: &File) -> std::io::Result<()> {
    let mut bytes = [0; HEADER];
    let length = file.metadata()?.len();
    if length < USER_BLOCK {
        return Ok(());
    }
    file.read_exact_at(&mut bytes, 0)?;
    let offset = u64_at(&bytes, 24);
    if offset < USER_BLOCK || offset > length {
        return Ok(());
    }
    let mut index = vec![0; (length - offset) as usize];
    file.read_exact_at(&mut index, offset)?;
    let datasets = Index::from_bytes(&index, offset).map_or_else(|_| Vec::new(), |index| index.datasets);
    let header = Header {
        length,
        index_offset: offset,
        index_length: length - offset,
        index_checksum: xxh3(&index),
        structure_checksum: structure_checksum(file, offset, &datasets)?,
    };
    file.write_all_at(&header.to_bytes(), 0)
}
