//! A large body on its way into a file: its blocks, and what the next checkpoint is to know of them.

use std::sync::Arc;

use super::CheckpointId;
use super::coding::Coding;
use super::extents::block_length;
use super::previous::{Held, Known};
use super::survey::{Found, Source, Survey};
use crate::value::{DType, Reference};

/// A large body that is about to be stored.
pub(super) struct Large<'a, 's> {
    pub dtype: &'a DType,
    /// Its dimensions, where it has any.
    pub dims: &'a [u64],
    pub source: &'a Source<'s>,
    pub survey: Survey,
    pub way: Coding,
}

impl Large<'_, '_> {
    /// The blocks, one after the other from `first` on.
    pub fn side_by_side(&self, id: CheckpointId, first: u64) -> Vec<Held> {
        let (bytes, size) = (self.source.len() as u64, self.survey.size as u64);
        let block = |(found, number): (&Found, u64)| match *found {
            Found::New(checksum) => Held::At {
                id,
                offset: first + number * size,
                length: block_length(bytes, size, number),
                coding: Coding::Raw,
                checksum,
            },
            Found::Same(held) => held,
            Found::Zero => Held::Hole,
        };
        self.survey.blocks.iter().zip(0..).map(block).collect()
    }

    /// Rows of a block.
    pub fn rows(&self) -> Option<u64> {
        let row = row_bytes(self.dtype, self.dims, self.source.len())?;
        let rows = self.survey.size / row;
        (rows > 0 && rows * row == self.survey.size).then_some(rows as u64)
    }

    /// A block as a chunk has it: the last one is filled up, where it is not the only one.
    pub fn padded(&self, number: usize) -> std::borrow::Cow<'_, [u8]> {
        let size = self.survey.size;
        let block = self.source.part(number * size, size).unwrap_or_default();
        if block.len() == size.min(self.source.len()) {
            return block.into();
        }
        let mut whole = Vec::with_capacity(size);
        whole.extend_from_slice(block);
        whole.resize(size, 0);
        whole.into()
    }

    /// The blocks that need not be stored.
    pub fn without_new(&self) -> Vec<Held> {
        let held = |found: &Found| match found {
            Found::Same(held) => *held,
            Found::Zero | Found::New(_) => Held::Hole,
        };
        self.survey.blocks.iter().map(held).collect()
    }

    /// What the next checkpoint is to know of this dataset.
    pub fn as_known(
        &self,
        blocks: Vec<Held>,
        before: Option<&Known>,
        id: CheckpointId,
        path: String,
    ) -> Known {
        let same = self.survey.blocks.iter();
        let same = same
            .filter(|found| matches!(found, Found::Same(Held::At { .. })))
            .count();
        let stored = blocks.iter().filter(|held| **held != Held::Hole).count();
        let reference = match self.source {
            Source::Blocks(body) => Some(Arc::new(Reference {
                dtype: self.dtype.clone(),
                row: body.row,
                bytes: body.len(),
                block: self.survey.size,
                checksums: blocks.iter().map(Held::checksum).collect(),
                pays: before.is_none() || same * 4 >= stored,
                watch: body.watch,
                owner: body.owner,
            })),
            Source::Plain(_) => None,
        };
        let mut known = Known {
            dtype: self.dtype.clone(),
            shape: self.dims.to_vec(),
            bytes: self.source.len() as u64,
            size: self.survey.size as u64,
            blocks,
            paths: before.map(|before| before.paths.clone()).unwrap_or_default(),
            reference,
        };
        known.paths.insert(id, path);
        let holders = known.holders();
        known.paths.retain(|id, _| holders.contains(id));
        known
    }
}

/// Bytes of a row of a dataset, if it has rows.
pub(super) fn row_bytes(dtype: &DType, dims: &[u64], bytes: usize) -> Option<usize> {
    let (rows, inner) = dims.split_first()?;
    let row = inner
        .iter()
        .try_fold(dtype.size() as u64, |row, &length| row.checked_mul(length))?;
    let is_all = row.checked_mul(*rows) == Some(bytes as u64);
    let row = usize::try_from(row).ok().filter(|_| is_all)?;
    crate::value::block_size(row).map(|_| row)
}
