//! Where the bodies of datasets go: one piece, chunks, or parts of what earlier checkpoints have.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use super::chunks::Part;
use super::coding::Coding;
use super::container::LARGE;
use super::extents::{Body, Extent, Other, block_length};
use super::hdf5::{Id, Shape, Type};
use super::index::Dataset;
use super::large::{Large, row_bytes};
use super::previous::{Held, Known};
use super::survey::{Found, Source, Survey, dense};
use super::write::{ObjectPath, Writer};
use super::{CheckpointId, StoreError};
use crate::base::checksum::{xxh3, xxh3_of_blocks};
use crate::base::fault::{Faults, Step};
use crate::base::parallel;
use crate::value::DType;

/// What a writer keeps in mind of bodies.
#[derive(Default)]
pub(super) struct Bodies<'s> {
    /// Those that are one piece, by the numbers of their datasets: they are written when HDF5 has made its own.
    later: Vec<(u32, Source<'s>)>,
    /// What the next checkpoint may rely on.
    pub known: Vec<(String, Option<usize>, Known)>,
    /// The group of blocks whose dataset is put together from several files.
    blocks: Option<Id>,
}

/// What a large body has become.
struct Stored {
    object: Id,
    blocks: Vec<Held>,
    /// The path of the dataset that the bytes of this file belong to.
    path: String,
}

impl Bodies<'_> {
    /// HDF5 closes a file when nothing of it is open any more.
    pub fn close_group(&mut self) {
        self.blocks = None;
    }
}

/// The text of the attribute `checksum`.
pub(super) fn checksum_text(body: &Body, sum: u128) -> String {
    match body {
        Body::Whole { .. } => format!("xxh3-128:{sum:032x}"),
        Body::Blocks { size, .. } => format!("xxh3-128/{size}:{sum:032x}"),
    }
}

impl<'s> Writer<'s> {
    /// Makes a dataset and sees to its bytes. Without a `shape` it has one element.
    pub(super) fn dataset_of(
        &mut self,
        place: &ObjectPath<'_>,
        dtype: &DType,
        of: &Type,
        shape: Option<&[u64]>,
        source: Source<'s>,
    ) -> Result<(u32, Id), StoreError> {
        let (path, bytes) = (format!("{}/{}", place.path, place.name), source.len() as u64);
        let (object, body, sum) = if bytes < LARGE {
            let (object, offset) = self.in_one_piece(place, of, shape, bytes)?;
            let sum = xxh3(source.whole().unwrap_or_default());
            self.bodies.later.push((self.index.datasets.len() as u32, source));
            (object, Body::Whole { offset }, sum)
        } else {
            self.large(place, (dtype, of), shape.unwrap_or_default(), source)?
        };
        self.structure
            .text(&object, "checksum", &checksum_text(&body, sum))?;
        if let DType::Object(table) = dtype {
            self.structure
                .text(&object, "table", &format!("/shared/{table}"))?;
        }
        let number = self.index.datasets.len() as u32;
        self.index.datasets.push(Dataset {
            path,
            dtype: dtype.clone(),
            shape: shape.unwrap_or_default().to_vec(),
            bytes,
            checksum: sum,
            body,
        });
        Ok((number, object))
    }

    fn in_one_piece(
        &self,
        place: &ObjectPath<'_>,
        of: &Type,
        shape: Option<&[u64]>,
        bytes: u64,
    ) -> Result<(Id, u64), StoreError> {
        let shape = match shape {
            Some(dims) => Shape::Block(dims),
            None if bytes == 0 => Shape::Null,
            None => Shape::Single,
        };
        let (object, offset) = self.structure.dataset(place.parent, place.name, of, &shape)?;
        Ok((object, if bytes == 0 { 0 } else { offset }))
    }

    fn large(
        &mut self,
        place: &ObjectPath<'_>,
        (dtype, of): (&DType, &Type),
        dims: &[u64],
        source: Source<'s>,
    ) -> Result<(Id, Body, u128), StoreError> {
        if let Source::Blocks(body) = &source
            && let Some(written) = &body.written
        {
            let staged = self.staged.get_mut(written.number).and_then(Option::take);
            let (object, first) = staged.ok_or_else(|| StoreError::Changed {
                path: place.name.to_owned(),
            })?;
            self.structure.name(&object, place.parent, place.name)?;
            let row = row_bytes(dtype, dims, source.len());
            let all = (written.block, row, written.checksums.clone());
            return self.as_written(place, dtype, dims, &source, (object, first), all);
        }
        let path = format!("{}/{}", place.path, place.name);
        let known = self.known(&path, dtype, dims, &source)?;
        let row = row_bytes(dtype, dims, source.len());
        if known.is_none()
            && self.compression.is_none()
            && let Some(size) = dense(&source, row)
        {
            return self.at_once(place, (dtype, of), dims, &source, (size, row));
        }
        let survey = Survey::of(&source, row, known.as_deref());
        let large = Large {
            way: self.way(&source, &survey, row, dtype),
            dtype,
            dims,
            source: &source,
            survey,
        };
        let in_parts = large
            .survey
            .blocks
            .iter()
            .any(|found| !matches!(found, Found::New(_)));
        let stored = if large.way != Coding::Raw || in_parts {
            self.in_chunks(place, of, &large, known.as_deref())?
        } else {
            self.side_by_side(place, of, &large)?
        };
        let sum = checksum_of(&stored.blocks);
        let extents = stored.blocks.iter().map(|held| self.extent(*held)).collect();
        let size = large.survey.size as u64;
        if row.is_some() && self.keeps_known {
            let known = large.as_known(stored.blocks, known.as_deref(), self.id, stored.path);
            self.bodies.known.push((path, source.number(), known));
        }
        if large.way == Coding::Raw && !in_parts {
            self.bodies.later.push((self.index.datasets.len() as u32, source));
        }
        Ok((stored.object, Body::Blocks { size, extents }, sum))
    }

    /// Stores a body as it is: every piece is written while its checksum has it in the cache.
    fn at_once(
        &mut self,
        place: &ObjectPath<'_>,
        (dtype, of): (&DType, &Type),
        dims: &[u64],
        source: &Source<'s>,
        (size, row): (usize, Option<usize>),
    ) -> Result<(Id, Body, u128), StoreError> {
        let bytes = source.whole().unwrap_or_default();
        let shape = (!dims.is_empty()).then_some(dims);
        let (object, first) = self.in_one_piece(place, of, shape, bytes.len() as u64)?;
        let sums = self
            .route
            .write_and_sum((self.file, self.path), bytes, size, first)
            .map_err(|error| StoreError::writing(self.path, self.needed, &error))?;
        self.as_written(place, dtype, dims, source, (object, first), (size, row, sums))
    }

    /// A body that is in the file already, side by side from `first` on.
    fn as_written(
        &mut self,
        place: &ObjectPath<'_>,
        dtype: &DType,
        dims: &[u64],
        source: &Source<'s>,
        (object, first): (Id, u64),
        (size, row, sums): (usize, Option<usize>, Vec<u128>),
    ) -> Result<(Id, Body, u128), StoreError> {
        let blocks = sums.into_iter().map(Found::New).collect();
        let large = Large {
            dtype,
            dims,
            source,
            survey: Survey { size, blocks },
            way: Coding::Raw,
        };
        let path = format!("{}/{}", place.path, place.name);
        let blocks = large.side_by_side(self.id, first);
        let sum = checksum_of(&blocks);
        let extents = blocks.iter().map(|held| self.extent(*held)).collect();
        if row.is_some() && self.keeps_known {
            let known = large.as_known(blocks, None, self.id, path.clone());
            self.bodies.known.push((path, source.number(), known));
        }
        let size = size as u64;
        Ok((object, Body::Blocks { size, extents }, sum))
    }

    /// The same dataset in the checkpoint before.
    fn known(
        &self,
        path: &str,
        dtype: &DType,
        dims: &[u64],
        source: &Source<'_>,
    ) -> Result<Option<Arc<Known>>, StoreError> {
        let is_same = |known: &&Arc<Known>| {
            known.dtype == *dtype && known.shape == dims && known.bytes == source.len() as u64
        };
        let reference = match source {
            Source::Blocks(body) => body.reference.as_ref().map(|reference| (body.number, reference)),
            Source::Plain(_) => None,
        };
        let Some((number, reference)) = reference else {
            let base = self.base.and_then(|base| base.datasets.get(path));
            return Ok(base.filter(is_same).cloned());
        };
        // Blocks that were not copied can only be had from what they were compared with.
        let known = self.base.and_then(|base| base.lists.get(number)?.as_ref());
        let known = known.filter(is_same);
        let known = known.filter(|known| {
            known
                .reference
                .as_ref()
                .is_some_and(|own| Arc::ptr_eq(own, reference))
        });
        match known {
            Some(known) => Ok(Some(Arc::clone(known))),
            None => Err(StoreError::Changed {
                path: path.to_owned(),
            }),
        }
    }

    fn way(&self, source: &Source<'_>, survey: &Survey, row: Option<usize>, dtype: &DType) -> Coding {
        let (Some(codec), Some(_)) = (self.compression, row) else {
            return Coding::Raw;
        };
        let size = survey.size;
        let new = survey.blocks.iter().enumerate();
        let new = new.filter(|(_, found)| matches!(found, Found::New(_)));
        let new = new.filter_map(|(number, _)| source.part(number * size, size));
        Coding::probe(codec, new, dtype.size())
    }

    fn side_by_side(
        &self,
        place: &ObjectPath<'_>,
        of: &Type,
        large: &Large<'_, '_>,
    ) -> Result<Stored, StoreError> {
        let shape = (!large.dims.is_empty()).then_some(large.dims);
        let (object, first) = self.in_one_piece(place, of, shape, large.source.len() as u64)?;
        Ok(Stored {
            object,
            blocks: large.side_by_side(self.id, first),
            path: format!("{}/{}", place.path, place.name),
        })
    }

    fn in_chunks(
        &mut self,
        place: &ObjectPath<'_>,
        of: &Type,
        large: &Large<'_, '_>,
        known: Option<&Known>,
    ) -> Result<Stored, StoreError> {
        let path = format!("{}/{}", place.path, place.name);
        let Some(rows) = large.rows() else {
            return Err(StoreError::Changed { path });
        };
        let is = |wanted: fn(&Found) -> bool| large.survey.blocks.iter().any(wanted);
        if !is(|found| matches!(found, Found::Same(Held::At { .. }))) {
            let object = self
                .structure
                .chunked(place.parent, place.name, of, large.dims, rows, large.way)?;
            let blocks = self.write_chunks(&object, large, rows)?;
            return Ok(Stored { object, blocks, path });
        }
        let (own, blocks) = if is(|found| matches!(found, Found::New(_))) {
            let name = self.index.datasets.len().to_string();
            if self.bodies.blocks.is_none() {
                self.bodies.blocks = Some(self.structure.group(self.structure.root(), "blocks")?);
            }
            let group = self.bodies.blocks.as_ref().unwrap_or(place.parent);
            let object = self
                .structure
                .chunked(group, &name, of, large.dims, rows, large.way)?;
            (
                format!("/blocks/{name}"),
                self.write_chunks(&object, large, rows)?,
            )
        } else {
            (path, large.without_new())
        };
        let part_of = |id: CheckpointId| {
            if id == self.id {
                return Some((".".to_owned(), own.clone()));
            }
            let path = known.and_then(|known| known.paths.get(&id));
            Some((self.file_name(id), path?.clone()))
        };
        let parts = parts(&blocks, rows, large.dims[0], part_of);
        let object = self
            .structure
            .assembled(place.parent, place.name, of, large.dims, &parts)?;
        Ok(Stored {
            object,
            blocks,
            path: own,
        })
    }

    /// Writes the new blocks of a body; they are packed by all cores.
    fn write_chunks(&self, object: &Id, large: &Large<'_, '_>, rows: u64) -> Result<Vec<Held>, StoreError> {
        let (size, element) = (large.survey.size, large.dtype.size());
        let mut blocks = large.without_new();
        let new = large.survey.blocks.iter().enumerate();
        let new: Vec<(usize, u128)> = new
            .filter_map(|(number, found)| match found {
                Found::New(sum) => Some((number, *sum)),
                _ => None,
            })
            .collect();
        // So many at a time as keep all cores busy, and not more in memory.
        let many = 4 * parallel::threads() * (parallel::PIECE / size).max(1);
        for new in new.chunks(many) {
            let mut packed: Vec<Option<Vec<u8>>> = vec![None; new.len()];
            if large.way != Coding::Raw {
                parallel::each(
                    packed.iter_mut().zip(new),
                    new.len() * size,
                    |(packed, (number, _))| {
                        let block = large.padded(*number);
                        *packed = large.way.pack(&block, element);
                    },
                );
            }
            for (packed, (number, checksum)) in packed.iter().zip(new) {
                let (is_packed, dims) = (packed.is_some(), large.dims.len());
                let raw;
                let stored: &[u8] = match packed {
                    Some(packed) => packed,
                    None => {
                        raw = large.padded(*number);
                        &raw
                    }
                };
                let row = *number as u64 * rows;
                let offset = self
                    .structure
                    .chunk(object, dims, row, stored, (large.way, is_packed))?;
                blocks[*number] = Held::At {
                    id: self.id,
                    offset,
                    length: match is_packed {
                        true => stored.len() as u64,
                        false => block_length(large.source.len() as u64, size as u64, *number as u64),
                    },
                    coding: if is_packed { large.way } else { Coding::Raw },
                    checksum: *checksum,
                };
            }
        }
        Ok(blocks)
    }

    /// A block as the index of this file has it.
    fn extent(&mut self, held: Held) -> Extent {
        let Held::At {
            id,
            offset,
            length,
            coding,
            checksum,
        } = held
        else {
            return Extent::Hole;
        };
        let file = if id == self.id { 0 } else { self.number_of(id) };
        Extent::At {
            file,
            offset,
            length,
            coding,
            checksum,
        }
    }

    /// The number of another file in the index.
    fn number_of(&mut self, id: CheckpointId) -> u32 {
        let files = &mut self.index.files;
        if let Some(at) = files.iter().position(|file| file.id == id) {
            return at as u32 + 1;
        }
        let known = self
            .base
            .and_then(|base| base.files.iter().find(|file| file.id == id));
        // What no base knows was not taken from one; a reader would find no such file.
        files.push(known.copied().unwrap_or(Other { id, seal: 0 }));
        files.len() as u32
    }

    /// Writes the bodies that are one piece.
    pub(super) fn write_later(
        file: &File,
        path: &Path,
        needed: u64,
        datasets: &[Dataset],
        bodies: &Bodies<'_>,
        faults: Faults,
    ) -> Result<(), StoreError> {
        if bodies.later.is_empty() {
            faults.reached(Step::HalfTheValues);
        }
        for (number, (dataset, source)) in bodies.later.iter().enumerate() {
            if number == bodies.later.len() / 2 {
                faults.reached(Step::HalfTheValues);
            }
            let offset = match datasets.get(*dataset as usize).map(|dataset| &dataset.body) {
                Some(Body::Whole { offset }) => *offset,
                Some(Body::Blocks { extents, .. }) => match extents.first() {
                    Some(Extent::At { offset, .. }) => *offset,
                    _ => continue,
                },
                None => continue,
            };
            file.write_all_at(source.whole().unwrap_or_default(), offset)
                .map_err(|error| StoreError::writing(path, needed, &error))?;
        }
        faults.reached(Step::Values);
        Ok(())
    }
}

/// Writes a body side by side; returns the checksums of its blocks.
///
/// One thread writes while the others sum: a file takes one write at a time, and the system lets a second thread look again
/// and again until it may. A thread that is alone sums every piece just before it writes it, so that it is read once.
pub(super) fn write_and_sum(
    file: &File,
    bytes: &[u8],
    size: usize,
    first: u64,
) -> std::io::Result<Vec<u128>> {
    let mut sums = vec![0; bytes.len().div_ceil(size)];
    let many = (parallel::PIECE / 4 / size).max(1);
    let pieces = bytes.chunks(many * size).zip(sums.chunks_mut(many));
    let sum = |(piece, sums): (&[u8], &mut [u128])| xxh3_of_blocks(piece, size, sums);
    if parallel::helpers(bytes.len()) > 0 {
        let mut written = Ok(());
        parallel::each_beside(
            || written = file.write_all_at(bytes, first),
            pieces,
            bytes.len(),
            sum,
        );
        written?;
    } else {
        let mut at = first;
        for (piece, sums) in pieces {
            sum((piece, sums));
            file.write_all_at(piece, at)?;
            at += piece.len() as u64;
        }
    }
    Ok(sums)
}

/// The checksum of a dataset in blocks: that of the checksums of its blocks, which are zero for those of zeros.
fn checksum_of(blocks: &[Held]) -> u128 {
    let sums = blocks.iter().map(Held::checksum);
    xxh3(&sums.flat_map(u128::to_le_bytes).collect::<Vec<u8>>())
}

/// The parts of a virtual dataset: runs of blocks that are in one file.
fn parts(
    blocks: &[Held],
    rows: u64,
    all_rows: u64,
    part_of: impl Fn(CheckpointId) -> Option<(String, String)>,
) -> Vec<Part> {
    let holder = |held: &Held| match held {
        Held::Hole => None,
        Held::At { id, .. } => Some(*id),
    };
    let mut parts = Vec::new();
    let mut first = 0_u64;
    for run in blocks.chunk_by(|one, next| holder(one) == holder(next)) {
        let end = first + run.len() as u64;
        if let Some((file, path)) = run.first().and_then(holder).and_then(&part_of) {
            let rows = first * rows..all_rows.min(end * rows);
            parts.push(Part { file, path, rows });
        }
        first = end;
    }
    parts
}
