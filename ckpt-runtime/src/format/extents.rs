//! Where the bytes of a dataset are: side by side, or block by block, each in this file, in another one, or nowhere
//! because it is all zeros.

use super::CheckpointId;
use super::coding::Coding;
use super::hdf5::USER_BLOCK;
use crate::value::LARGEST_BLOCK;

/// Another checkpoint of the same rank with blocks of this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Other {
    pub id: CheckpointId,
    /// The checksum of its index: no other file can stand in for it.
    pub seal: u128,
}

/// The bytes of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    /// Side by side in this file.
    Whole { offset: u64 },
    /// In blocks of `size` bytes; the last may be shorter.
    Blocks { size: u64, extents: Vec<Extent> },
}

/// One block of a dataset.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Extent {
    /// Zeros, stored nowhere.
    Hole,
    At {
        /// 0 is this file, 1 the first of the others.
        file: u32,
        offset: u64,
        /// Bytes there.
        length: u64,
        coding: Coding,
        /// Of the block as it is in memory.
        checksum: u128,
    },
}

impl Body {
    /// Whether a reader may rely on every number: `bytes` are those of the dataset, `element` those of one of its elements,
    /// `limit` is where the bodies of this file end, `files` how many others there are.
    pub fn holds(&self, bytes: u64, element: u64, limit: u64, files: usize) -> bool {
        let inside = |offset: u64, length: u64| {
            let end = offset.checked_add(length);
            offset >= USER_BLOCK && end.is_some_and(|end| end <= limit)
        };
        let (size, extents) = match self {
            Body::Whole { offset } => return bytes == 0 || inside(*offset, bytes),
            Body::Blocks { size, extents } => (*size, extents),
        };
        let is_size =
            (1..=LARGEST_BLOCK as u64).contains(&size) && element > 0 && size.is_multiple_of(element);
        if !is_size || bytes.div_ceil(size) != extents.len() as u64 {
            return false;
        }
        extents.iter().zip(0..).all(|(extent, number)| match *extent {
            Extent::Hole => true,
            Extent::At {
                file,
                offset,
                length,
                coding,
                ..
            } => {
                let is_length = match coding {
                    Coding::Raw => length == block_length(bytes, size, number),
                    _ => (1..=size).contains(&length),
                };
                is_length && (file as usize <= files) && (file > 0 || inside(offset, length))
            }
        })
    }
}

/// Bytes of block `number` of a dataset.
pub(super) fn block_length(bytes: u64, size: u64, number: u64) -> u64 {
    size.min(bytes.saturating_sub(number.saturating_mul(size)))
}
