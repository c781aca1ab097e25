//! A checkpoint that another program has changed becomes one of ours again: values may be others, types and shapes may not.
//!
//! The index is as it was; what the datasets hold now is read through HDF5, which knows where its own program has put it.
//! What does not lie where the index says is written once more, behind the rest.

use std::ffi::c_uint;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use hdf5_metno_sys as sys;

use super::bodies::checksum_text;
use super::coding::Coding;
use super::container::{self, Container};
use super::extents::{Body, Extent, block_length};
use super::hdf5::{Id, begin, c_string, done, failure, id, locked};
use super::index::Dataset;
use super::library::h5;
use super::packed;
use super::tree;
use super::write::object_name;
use super::{CheckpointId, Damage, Files, StoreError};
use crate::base::checksum::xxh3;
use crate::base::fault::Faults;

/// A dataset whose values another program has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Its path.
    pub path: String,
    /// How many elements it has.
    pub elements: u64,
    /// How many of them differ; `None` where the bytes that were there are nowhere any more.
    pub changed: Option<u64>,
    /// Some of them: the first that differ, or the first of the changed part.
    pub edits: Vec<Edit>,
    /// The checksum of what was there, in hexadecimal digits.
    pub checksum: String,
}

/// An element that another program has changed, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// Its number in the flat array.
    pub at: u64,
    /// What it was, where that is known.
    pub before: Option<String>,
    /// What it is.
    pub after: String,
}

/// So many elements of a dataset are shown.
const SHOWN: usize = 8;

/// What is found in a dataset.
struct Taken {
    body: Body,
    checksum: u128,
    change: Option<Change>,
    /// Whether a block has changed that HDF5 may have put elsewhere.
    may_have_moved: bool,
}

/// Makes checksums anew in `copy`, which is one of the file of checkpoint `id`, if `accept` agrees to what has changed.
/// Returns what that is; where it is nothing, or was not agreed to, `copy` is of no use.
///
/// Only values may have changed, in their places. The structure is what it was, byte for byte; only where HDF5 has stored
/// compressed values anew, or such that were zeros, it is what HDF5 reads.
pub(crate) fn renew(
    copy: &Path,
    id: CheckpointId,
    files: &dyn Files,
    accept: &mut dyn FnMut(&[Change]) -> bool,
    faults: Faults,
) -> Result<Vec<Change>, StoreError> {
    let mut container = Container::open_changed(copy, id, files)?;
    let path = &files.path(id);
    let structure = container.verify_structure();
    if let Err(damage) = &structure
        && !container.index.datasets.iter().any(can_move)
    {
        // HDF5 is not given what cannot be right.
        return Err(StoreError::damaged(path, damage.clone()));
    }
    // The files of other checkpoints that it reads are opened as it is: HDF5 writes to the head of what is opened to be changed.
    let edited = Edited::open(copy, sys::h5f::H5F_ACC_RDONLY)?;
    let mut behind = Vec::new();
    let mut taken = Vec::new();
    for (number, dataset) in container.index.datasets.iter().enumerate() {
        taken.push(take_up(
            &structure,
            &container,
            &edited,
            (number, dataset),
            path,
            &mut behind,
        )?);
    }
    let changes: Vec<Change> = taken.iter().filter_map(|taken| taken.change.clone()).collect();
    let may_have_moved = taken.iter().any(|taken| taken.may_have_moved);
    // What HDF5 stores elsewhere it puts behind all that there is, or where another block was, and says where in the structure.
    if !may_have_moved {
        structure.map_err(|damage| StoreError::damaged(path, damage))?;
    }
    if !may_have_moved && !container.is_as_written {
        let what = "it is longer than it was, and no value is there that needs the room";
        return Err(StoreError::damaged(path, Damage::at(Damage::FILE, what)));
    }
    if changes.is_empty() || !accept(&changes) {
        return Ok(changes);
    }
    drop(edited);
    let edited = Edited::open(copy, sys::h5f::H5F_ACC_RDWR)?;
    for (dataset, taken) in container.index.datasets.iter_mut().zip(taken) {
        (dataset.body, dataset.checksum) = (taken.body, taken.checksum);
        if taken.change.is_some() {
            edited.renew_attribute(dataset, &checksum_text(&dataset.body, dataset.checksum))?;
        }
    }
    drop(edited);
    finish(copy, container, &behind, faults)?;
    Ok(changes)
}

/// What a dataset holds now.
fn take_up(
    structure: &Result<(), Damage>,
    container: &Container,
    edited: &Edited,
    (number, dataset): (usize, &Dataset),
    path: &Path,
    behind: &mut Vec<(usize, usize, Vec<u8>)>,
) -> Result<Taken, StoreError> {
    let mut bytes = edited.read(dataset, path)?.ok_or_else(|| {
        let what = "HDF5 cannot read it: it is damaged, or stored in a way in which ckpt cannot see whether it was \
                    changed; take checkpoints that are to be changed with `full-every = 1`, or with `deflate`";
        StoreError::damaged(path, Damage::at(&dataset.path, what))
    })?;
    if let Body::Whole { offset } = dataset.body {
        // Where HDF5 says it is does not count, but has to be there.
        let seen = std::mem::replace(&mut bytes, vec![0; dataset.bytes as usize]);
        let read = container.file.read_exact_at(&mut bytes, offset);
        read.map_err(|error| StoreError::io("read", path, &error))?;
        if seen != bytes {
            let what = "HDF5 finds it elsewhere than it was written";
            return Err(StoreError::damaged(path, Damage::at(&dataset.path, what)));
        }
    }
    if let Err(damage) = structure
        && !edited.holds(dataset, &bytes)
    {
        return Err(StoreError::damaged(path, damage.clone()));
    }
    let (body, checksum) = match bytes.is_empty() {
        true => (dataset.body.clone(), dataset.checksum),
        false => taken_up(container, (number, dataset), &bytes, behind)?,
    };
    let has_changed = checksum != dataset.checksum;
    let change = has_changed.then(|| change(container, dataset, &bytes, &body));
    let may_have_moved = match (&dataset.body, &body) {
        (Body::Blocks { extents: before, .. }, Body::Blocks { extents: after, .. }) => {
            let pairs = before.iter().zip(after);
            pairs
                .filter(|(before, after)| before != after)
                .any(|(before, _)| !is_raw_here(before))
        }
        _ => false,
    };
    Ok(Taken {
        body,
        checksum,
        change,
        may_have_moved,
    })
}

/// Whether HDF5 may put values of a dataset elsewhere when they change.
fn can_move(dataset: &Dataset) -> bool {
    match &dataset.body {
        Body::Whole { .. } => false,
        Body::Blocks { extents, .. } => !extents.iter().all(is_raw_here),
    }
}

/// Whether HDF5 writes a block in its place.
fn is_raw_here(extent: &Extent) -> bool {
    matches!(
        extent,
        Extent::At {
            file: 0,
            coding: Coding::Raw,
            ..
        }
    )
}

/// What has changed in a dataset, as far as its old bytes are somewhere: blocks that lie in other files, or that HDF5 has
/// put elsewhere.
fn change(container: &Container, dataset: &Dataset, bytes: &[u8], body: &Body) -> Change {
    let element = dataset.dtype.size().max(1);
    let mut change = Change {
        path: dataset.path.clone(),
        elements: bytes.len() as u64 / element as u64,
        changed: Some(0),
        edits: Vec::new(),
        checksum: format!("{:032x}", dataset.checksum),
    };
    let (size, differs): (usize, Box<dyn Fn(usize) -> bool>) = match (&dataset.body, body) {
        (
            Body::Blocks {
                size,
                extents: before,
            },
            Body::Blocks { extents: after, .. },
        ) => {
            let sum = |extents: &[Extent], block: usize| match extents.get(block) {
                Some(Extent::At { checksum, .. }) => *checksum,
                _ => 0,
            };
            let (before, after) = (before.clone(), after.clone());
            (
                *size as usize,
                Box::new(move |block| sum(&before, block) != sum(&after, block)),
            )
        }
        _ => (bytes.len(), Box::new(|_| true)),
    };
    for (block, now) in bytes
        .chunks(size.max(1))
        .enumerate()
        .filter(|(block, _)| differs(*block))
    {
        let before = container.block_before(dataset, block as u64);
        let first = block * size / element;
        for (at, after) in now.chunks(element).enumerate() {
            let was = before
                .as_ref()
                .and_then(|before| before.get(at * element..(at + 1) * element));
            if was == Some(after) {
                continue;
            }
            if let Some(changed) = &mut change.changed {
                *changed += 1;
            }
            if change.edits.len() < SHOWN {
                change.edits.push(Edit {
                    at: (first + at) as u64,
                    before: was.map(|was| tree::as_text(&dataset.dtype, was)),
                    after: tree::as_text(&dataset.dtype, after),
                });
            }
        }
        if before.is_none() {
            change.changed = None;
        }
    }
    change
}

/// Appends what has no place and seals the file.
fn finish(
    copy: &Path,
    mut container: Container,
    behind: &[(usize, usize, Vec<u8>)],
    faults: Faults,
) -> Result<(), StoreError> {
    let io = |error: std::io::Error| StoreError::writing(copy, 0, &error);
    let file = File::options().read(true).write(true).open(copy).map_err(io)?;
    let mut end = file.metadata().map_err(io)?.len();
    for (dataset, block, bytes) in behind {
        file.write_all_at(bytes, end).map_err(io)?;
        place(&mut container.index.datasets[*dataset].body, *block, end);
        end += bytes.len() as u64;
    }
    container::seal(&file, copy, &container.index, faults).map(drop)
}

fn place(body: &mut Body, block: usize, at: u64) {
    match body {
        Body::Whole { offset } => *offset = at,
        Body::Blocks { extents, .. } => {
            if let Some(Extent::At { offset, .. }) = extents.get_mut(block) {
                *offset = at;
            }
        }
    }
}

/// Where the bytes of a dataset are from now on, and their checksum; those without a place are put `behind`, by dataset and block.
fn taken_up(
    container: &Container,
    (number, dataset): (usize, &Dataset),
    bytes: &[u8],
    behind: &mut Vec<(usize, usize, Vec<u8>)>,
) -> Result<(Body, u128), StoreError> {
    let is_there = |offset: u64, bytes: &[u8]| {
        let mut found = vec![0; bytes.len()];
        container.file.read_exact_at(&mut found, offset).is_ok() && found == bytes
    };
    let (size, extents) = match &dataset.body {
        Body::Whole { .. } => return Ok((dataset.body.clone(), xxh3(bytes))),
        Body::Blocks { size, extents } => (*size, extents),
    };
    let mut renewed = Vec::new();
    let mut sums = Vec::new();
    for (block, (part, extent)) in bytes.chunks(size as usize).zip(extents).enumerate() {
        let sum = xxh3(part);
        let is_zero = part.iter().all(|&byte| byte == 0);
        debug_assert_eq!(part.len() as u64, block_length(dataset.bytes, size, block as u64));
        let extent = match *extent {
            Extent::Hole if is_zero => Extent::Hole,
            Extent::At { checksum, .. }
                if checksum == sum && container.block_is_whole(dataset, block as u64) =>
            {
                *extent
            }
            Extent::At {
                file: 0,
                offset,
                length,
                coding: Coding::Raw,
                ..
            } if is_there(offset, part) => Extent::At {
                file: 0,
                offset,
                length,
                coding: Coding::Raw,
                checksum: sum,
            },
            _ => {
                behind.push((number, block, part.to_vec()));
                Extent::At {
                    file: 0,
                    offset: 0,
                    length: part.len() as u64,
                    coding: Coding::Raw,
                    checksum: sum,
                }
            }
        };
        sums.extend(match extent {
            Extent::Hole => [0; 16],
            Extent::At { checksum, .. } => checksum.to_le_bytes(),
        });
        renewed.push(extent);
    }
    Ok((
        Body::Blocks {
            size,
            extents: renewed,
        },
        xxh3(&sums),
    ))
}

/// The file as HDF5 sees it.
struct Edited {
    file: Id,
    path: std::path::PathBuf,
}

impl Edited {
    fn open(path: &Path, access_to: c_uint) -> Result<Edited, StoreError> {
        begin(path)?;
        let name = c_string(path.as_os_str().as_encoded_bytes());
        locked(|| {
            // SAFETY: the lock is held; every id is checked before it is used; `name` outlives the call.
            let file = unsafe {
                let access = id(h5!(sys::h5p::H5Pcreate(h5!(*sys::h5p::H5P_CLS_FILE_ACCESS))))
                    .ok_or_else(|| failure(path, "start"))?;
                h5!(sys::h5p::H5Pset_file_locking(access.0, 0, 1));
                h5!(sys::h5f::H5Fopen(name.as_ptr(), access_to, access.0))
            };
            let file = id(file).ok_or_else(|| failure(path, "open what was changed"))?;
            Ok(Edited {
                file,
                path: path.to_owned(),
            })
        })
    }

    fn dataset(&self, dataset: &Dataset) -> Option<Id> {
        let names: Vec<String> = dataset
            .path
            .split('/')
            .filter(|name| !name.is_empty())
            .map(object_name)
            .collect();
        let name = c_string(format!("/{}", names.join("/")).as_bytes());
        // SAFETY: called with the lock held; the file is open and the name outlives the call.
        id(unsafe { h5!(sys::h5d::H5Dopen2(self.file.0, name.as_ptr(), 0)) })
    }

    /// All bytes of a dataset, in the form that the file has; nothing where they cannot be read.
    fn read(&self, dataset: &Dataset, of: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        locked(|| {
            let Some(open) = self.dataset(dataset) else {
                return Ok(None);
            };
            // SAFETY: the lock is held; ids are checked before use; the vector has the bytes that HDF5 says it will write.
            unsafe {
                let (of_type, space) = (
                    id(h5!(sys::h5d::H5Dget_type(open.0))),
                    id(h5!(sys::h5d::H5Dget_space(open.0))),
                );
                let (Some(of_type), Some(space)) = (of_type, space) else {
                    return Ok(None);
                };
                let number = h5!(sys::h5s::H5Sget_simple_extent_npoints(space.0)).max(0) as u64;
                let bytes = number.saturating_mul(h5!(sys::h5t::H5Tget_size(of_type.0)) as u64);
                if bytes != dataset.bytes {
                    let what = format!(
                        "it has {bytes} bytes instead of {}: values may be changed, types and shapes may not",
                        dataset.bytes
                    );
                    return Err(StoreError::damaged(of, Damage::at(&dataset.path, what)));
                }
                let mut values = vec![0_u8; bytes as usize];
                let status = h5!(sys::h5d::H5Dread(
                    open.0,
                    of_type.0,
                    0,
                    0,
                    0,
                    values.as_mut_ptr().cast()
                ));
                if status < 0 {
                    // It may lack the filter.
                    return Ok(packed::read(&open, dataset.dtype.size(), bytes));
                }
                Ok(Some(values))
            }
        })
    }

    /// Whether these are the bytes of a dataset by what is known of it otherwise than from the file's structure, as far as HDF5
    /// can be asked: it takes no block away that was stored, and stores as the dataset was stored before.
    fn holds(&self, dataset: &Dataset, bytes: &[u8]) -> bool {
        let Body::Blocks { size, extents } = &dataset.body else {
            return true;
        };
        let is_stored = |block: usize| matches!(extents.get(block), Some(Extent::At { file: 0, .. }));
        let way = extents.iter().find_map(|extent| match extent {
            Extent::At {
                coding: way @ Coding::Packed { .. },
                ..
            } => Some(*way),
            _ => None,
        });
        let element = dataset.dtype.size();
        let holds = || {
            let open = self.dataset(dataset)?;
            // SAFETY: the lock is held, and the dataset open.
            unsafe { packed::holds(&open, element, (bytes, *size as usize), way, is_stored) }
        };
        locked(holds).unwrap_or(way.is_none())
    }

    /// Writes the new checksum where people read it.
    fn renew_attribute(&self, dataset: &Dataset, text: &str) -> Result<(), StoreError> {
        let name = c_string(b"checksum");
        locked(|| {
            let fail = || failure(&self.path, "renew a checksum");
            let open = self.dataset(dataset).ok_or_else(fail)?;
            // SAFETY: the lock is held; ids are checked before use; the text is as long as the attribute, which is compared.
            unsafe {
                let attribute = id(h5!(sys::h5a::H5Aopen(open.0, name.as_ptr(), 0))).ok_or_else(fail)?;
                let of_type = id(h5!(sys::h5a::H5Aget_type(attribute.0))).ok_or_else(fail)?;
                if h5!(sys::h5t::H5Tget_size(of_type.0)) < text.len() {
                    return Err(fail());
                }
                let mut bytes = text.as_bytes().to_vec();
                bytes.resize(h5!(sys::h5t::H5Tget_size(of_type.0)), 0);
                done(h5!(sys::h5a::H5Awrite(
                    attribute.0,
                    of_type.0,
                    bytes.as_ptr().cast()
                )))
                .ok_or_else(fail)
            }
        })
    }
}
