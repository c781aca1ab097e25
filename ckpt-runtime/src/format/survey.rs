//! What there is in a body: which blocks are zeros, which the checkpoint before has, and the checksums of the others.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::previous::{Held, Known};
use crate::base::checksum::xxh3;
use crate::base::parallel::{self, PIECE};
use crate::value::{Body, PARTS, Taken, block_size, is_zero};

/// The bytes of a dataset on their way into a file.
#[derive(Debug)]
pub(super) enum Source<'s> {
    Plain(Cow<'s, [u8]>),
    /// Taken in blocks, some of which were not copied.
    Blocks(&'s Arc<Body>),
}

/// A block of a body.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Found {
    Zero,
    /// As in the checkpoint before.
    Same(Held),
    /// To be stored.
    New(u128),
}

/// What has been found in a body.
#[derive(Debug)]
pub(super) struct Survey {
    /// Bytes of a block.
    pub size: usize,
    pub blocks: Vec<Found>,
}

/// What one block more costs in the index and in HDF5's own.
const PRICE: usize = 128;

impl Source<'_> {
    pub fn len(&self) -> usize {
        match self {
            Source::Plain(bytes) => bytes.len(),
            Source::Blocks(body) => body.len(),
        }
    }

    /// The number of the list in the snapshot, if it is one that was taken in blocks.
    pub fn number(&self) -> Option<usize> {
        match self {
            Source::Plain(_) => None,
            Source::Blocks(body) => Some(body.number),
        }
    }

    /// A part that lies in one block; `None` if that was not copied.
    pub fn part(&self, first: usize, length: usize) -> Option<&[u8]> {
        let end = self.len().min(first + length);
        match self {
            Source::Plain(bytes) => bytes.get(first..end),
            Source::Blocks(body) => {
                let size = body.block_size();
                body.copy_of(first / size)?
                    .get(first % size..)?
                    .get(..end - first)
            }
        }
    }

    /// All bytes, if they are there.
    pub fn whole(&self) -> Option<&[u8]> {
        match self {
            Source::Plain(bytes) => Some(bytes),
            Source::Blocks(body) => body.whole(),
        }
    }

    /// What a block was found to be when it was taken; `size` is not more than that of the body's own blocks.
    fn taken(&self, number: usize, size: usize) -> Taken {
        let Source::Blocks(body) = self else {
            return Taken::Copied(None);
        };
        match body.blocks().get(number * size / body.block_size()) {
            Some(Taken::Copied(_)) if body.block_size() != size => Taken::Copied(None),
            Some(taken) => *taken,
            None => Taken::Zero,
        }
    }
}

impl Survey {
    /// Looks at a body whose rows are of `row` bytes; `None` if it has no rows: then all of it is to be stored.
    /// `known` is the same dataset in the checkpoint before.
    pub fn of(source: &Source<'_>, row: Option<usize>, known: Option<&Known>) -> Survey {
        let whole = row.and_then(block_size);
        let own = own_size(source, row);
        let of_known = known.map(|known| known.size as usize);
        let fits = |size: &usize| own.is_some_and(|own| own.is_multiple_of(*size));
        let size = match (of_known.filter(fits), own) {
            (Some(size), _) => size,
            (None, Some(own)) => best_size(source, own, row),
            (None, None) => block_size(1).unwrap_or(1),
        };
        let known = known.filter(|known| known.size as usize == size);
        let mut blocks = vec![Found::Zero; source.len().div_ceil(size)];
        let many = (PIECE / 4 / size).max(1);
        let pieces = blocks.chunks_mut(many).enumerate();
        parallel::each(pieces, source.len(), |(piece, blocks)| {
            for (at, block) in blocks.iter_mut().enumerate() {
                let number = piece * many + at;
                *block = find(source, size, number, known, whole.is_some());
            }
        });
        Survey { size, blocks }
    }
}

/// The size of the blocks that a body would be taken in.
fn own_size(source: &Source<'_>, row: Option<usize>) -> Option<usize> {
    match source {
        Source::Plain(_) => row.and_then(block_size),
        Source::Blocks(body) => Some(body.block_size()),
    }
}

/// The size of the blocks of a body all of which is to be stored as it is; `None` where some of it is zeros.
pub(super) fn dense(source: &Source<'_>, row: Option<usize>) -> Option<usize> {
    let Some(own) = own_size(source, row) else {
        return block_size(1);
    };
    let bytes = source.whole()?;
    let is_dense = best_size(source, own, row) == own && !bytes.chunks(own).any(is_zero);
    is_dense.then_some(own)
}

fn find(
    source: &Source<'_>,
    size: usize,
    number: usize,
    known: Option<&Known>,
    may_be_left_out: bool,
) -> Found {
    let held = known.and_then(|known| known.blocks.get(number)).copied();
    let seen = match (source.taken(number, size), held) {
        (Taken::Zero, _) => return Found::Zero,
        (Taken::Same, Some(held)) => return Found::Same(held),
        (Taken::Same, None) => None,
        (Taken::Copied(sum), _) => sum,
    };
    let bytes = source.part(number * size, size).unwrap_or_default();
    if may_be_left_out && is_zero(bytes) {
        return Found::Zero;
    }
    let sum = seen.unwrap_or_else(|| xxh3(bytes));
    match held {
        Some(held @ Held::At { checksum, .. }) if checksum == sum => Found::Same(held),
        _ => Found::New(sum),
    }
}

/// The size of block that stores the body in the fewest bytes: small islands in zeros want small blocks.
fn best_size(source: &Source<'_>, own: usize, row: Option<usize>) -> usize {
    // Blocks are chunks of whole rows, small ones as well.
    if !row.is_some_and(|row| own.is_multiple_of(PARTS * row)) {
        return own;
    }
    // Every level divides the blocks of the one before by four.
    let sizes = [own, own / 4, own / 16, own / 64];
    let counts = [const { AtomicUsize::new(0) }; 4];
    parallel::each(0..source.len().div_ceil(own), source.len(), |number| {
        let Some(bytes) = source.part(number * own, own) else {
            return;
        };
        let full = bytes.chunks(own / PARTS).zip(0..);
        let mut full = full.fold(0_u64, |all, (part, at)| all | u64::from(!is_zero(part)) << at);
        for count in counts.iter().rev() {
            count.fetch_add(full.count_ones() as usize, Ordering::Relaxed);
            // A part of the next level is empty if its four parts are.
            full = (0..16).fold(0, |all, at| all | u64::from(full >> (4 * at) & 0xf != 0) << at);
        }
    });
    let price = |level: usize| counts[level].load(Ordering::Relaxed) * (sizes[level] + PRICE);
    let best = (0..sizes.len()).min_by_key(|&level| price(level)).unwrap_or(0);
    // What saves little is not worth many blocks.
    if price(best) < price(0) / 4 * 3 {
        sizes[best]
    } else {
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(state: &[u8]) -> Survey {
        Survey::of(&Source::Plain(state.into()), Some(8), None)
    }

    #[test]
    fn small_blocks_are_of_whole_rows() {
        // `[[[f64; 5]; 16]; 16]` with zeros around what is inside: a block of 26 rows has no quarter.
        let row = 16 * 16 * 5 * 8;
        let mut state = vec![0_u8; 16 * row];
        state[3 * row..3 * row + 900].fill(1);
        let survey = Survey::of(&Source::Plain(state.into()), Some(row), None);
        assert!(survey.size.is_multiple_of(row), "blocks of {} bytes", survey.size);
    }

    #[test]
    fn islands_in_zeros_are_stored_in_small_blocks() {
        let mut state = vec![0_u8; 4 << 20];
        assert_eq!(sizes(&state).blocks, vec![Found::Zero; 16]);
        for at in (0..state.len()).step_by(512 << 10) {
            state[at + 77] = 1;
        }
        let survey = sizes(&state);
        assert_eq!(survey.size, 4 << 10);
        let new = survey
            .blocks
            .iter()
            .filter(|found| matches!(found, Found::New(_)));
        assert_eq!(new.count(), 8);
        state.fill(3);
        let survey = sizes(&state);
        assert_eq!((survey.size, survey.blocks.len()), (256 << 10, 16));
    }
}
