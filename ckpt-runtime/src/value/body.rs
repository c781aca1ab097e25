//! A large list of numbers in blocks, of which a snapshot copies only those that have to be written: blocks of zeros and
//! blocks that the checkpoint before has are noted instead.

mod beside;
mod capture;

use std::borrow::Cow;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use beside::Room;
pub(crate) use beside::{Read, Unread};
pub(crate) use capture::{Capture, Region, Seen};

use super::DType;
use super::bytes::{buffer_for, give_back};
use crate::base::checksum::{xxh3, xxh3_of_two};
use crate::base::copying::{copy, copy_two};
use crate::base::forked::Shared;
use crate::base::pages::{Untouched, Watch};
use crate::base::parallel::{self, PIECE};

/// Bytes of a block, about: large enough to be read and written in one go, small enough to stay in a cache between being
/// looked at, hashed and copied.
const BLOCK: usize = 256 << 10;
/// The largest block there may be, for rows that are as large.
pub(crate) const LARGEST_BLOCK: usize = 64 << 20;
/// A block is made of so many equal parts, where its rows allow it: lists with small islands in zeros are stored in those.
pub(crate) const PARTS: usize = 64;

/// The checksum of no bytes.
const NOTHING: u128 = 0x99aa_06d3_0147_98d8_6001_c324_468d_497f;

/// Bytes of a block of rows of `row` bytes; `None` if the rows are too large.
pub(crate) fn block_size(row: usize) -> Option<usize> {
    if row == 0 || row > LARGEST_BLOCK {
        return None;
    }
    let rows = if row * PARTS <= BLOCK {
        BLOCK / row / PARTS * PARTS
    } else {
        BLOCK.div_ceil(row)
    };
    Some(row * rows)
}

/// Whether all bytes are zero.
pub(crate) fn is_zero(bytes: &[u8]) -> bool {
    // Most of what is not zero shows that at once.
    if bytes.first_chunk::<16>().is_some_and(|first| *first != [0; 16]) {
        return false;
    }
    let mut pieces = bytes.chunks_exact(256);
    // A fold without a way out in it is what compilers make vector instructions of.
    pieces.all(|piece| piece.iter().fold(0, |all, byte| all | byte) == 0)
        && pieces.remainder().iter().all(|&byte| byte == 0)
}

/// What the checkpoint before has of a list.
#[derive(Debug, PartialEq)]
pub(crate) struct Reference {
    pub dtype: DType,
    /// Elements of a row.
    pub row: usize,
    pub bytes: usize,
    pub block: usize,
    pub checksums: Vec<u128>,
    /// Whether enough of it stayed the same lately for a comparison to cost less than a copy of all.
    pub pays: bool,
    /// The watch over its memory since.
    pub watch: Option<Watch>,
    /// Whose list it is, if that changes in the one place only that it was saved at.
    pub owner: Option<ListOf>,
}

/// A variable of one activation of a function, as it is at one site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Owner {
    pub activation: u64,
    pub site: u32,
    pub key: &'static str,
    /// It is of the function that the session ends with, and stays what and where it is until then.
    pub lasts: bool,
}

/// One of the lists of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ListOf {
    owner: Owner,
    number: usize,
}

/// Where large lists are written at once, while the program waits: no copy of them is made.
pub(crate) trait Sink: Send {
    /// Writes a list of items of `row` elements; `None` if it is to be copied.
    fn write(&mut self, dtype: &DType, row: usize, bytes: &[u8]) -> Option<Written>;
}

/// A list that has been written.
#[derive(Debug)]
pub(crate) struct Written {
    /// Its number among those.
    pub number: usize,
    pub block: usize,
    pub checksums: Vec<u128>,
}

/// What there is of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Taken {
    /// Nothing but zeros.
    Zero,
    /// The same as in the checkpoint before.
    Same,
    /// A copy, and its checksum if that is known.
    Copied(Option<u128>),
}

/// A list of numbers as a snapshot has it.
#[derive(Debug)]
pub(crate) struct Body {
    /// The copied blocks at their places.
    memory: Memory,
    length: usize,
    block: usize,
    blocks: Vec<Taken>,
    /// The number of the list among those of the snapshot.
    pub number: usize,
    /// What it was compared with.
    pub reference: Option<Arc<Reference>>,
    pub row: usize,
    /// What has been written of it already: then that is all of it, and nothing was copied.
    pub written: Option<Written>,
    /// The watch over its memory from here on.
    pub watch: Option<Watch>,
    pub owner: Option<ListOf>,
}

/// Where copies are.
#[derive(Debug)]
enum Memory {
    /// Beyond the length of the vector.
    Own(Vec<u8>),
    /// Another process makes them.
    Shared(Shared),
    /// Another thread reads them from elsewhere.
    Read(Arc<Room>),
}

impl Memory {
    fn as_ptr(&self) -> *const u8 {
        match self {
            Memory::Own(memory) => memory.as_ptr(),
            Memory::Shared(memory) => memory.as_ptr(),
            Memory::Read(memory) => memory.as_ptr(),
        }
    }

    fn capacity(&self) -> usize {
        match self {
            Memory::Own(memory) => memory.capacity(),
            Memory::Shared(memory) => memory.capacity(),
            Memory::Read(memory) => memory.capacity(),
        }
    }

    /// Whether what was to be copied is there.
    fn is_filled(&self) -> bool {
        match self {
            Memory::Own(_) | Memory::Shared(_) => true,
            Memory::Read(memory) => memory.is_filled(),
        }
    }
}

impl Body {
    /// A list of so many bytes, in blocks of `block` bytes, of which nothing has been taken.
    fn of(
        length: usize,
        (row, block): (usize, usize),
        number: usize,
        reference: Option<Arc<Reference>>,
        owner: Option<ListOf>,
    ) -> Body {
        Body {
            memory: Memory::Own(Vec::new()),
            length,
            block,
            blocks: vec![Taken::Zero; length.div_ceil(block)],
            number,
            reference,
            row,
            written: None,
            watch: None,
            owner,
        }
    }

    pub fn len(&self) -> usize {
        self.length
    }

    pub fn block_size(&self) -> usize {
        self.block
    }

    pub fn blocks(&self) -> &[Taken] {
        &self.blocks
    }

    /// Bytes of the blocks that were copied.
    pub fn copied(&self) -> usize {
        let copied = self.blocks.iter().zip(0..);
        let copied = copied.filter(|(taken, _)| matches!(taken, Taken::Copied(_)));
        copied.map(|(_, number)| self.range(number).len()).sum()
    }

    fn range(&self, number: usize) -> Range<usize> {
        let first = number * self.block;
        first..self.length.min(first + self.block)
    }

    /// The bytes of a block, if it was copied.
    pub fn copy_of(&self, number: usize) -> Option<&[u8]> {
        match self.blocks.get(number)? {
            Taken::Copied(_) => Some(self.filled(self.range(number))),
            Taken::Zero | Taken::Same => None,
        }
    }

    /// All bytes, if all blocks were copied.
    pub fn whole(&self) -> Option<&[u8]> {
        let all = self.blocks.iter().all(|taken| matches!(taken, Taken::Copied(_)));
        (all && self.written.is_none()).then(|| self.filled(0..self.length))
    }

    /// Whether all of it was copied, or is zero.
    pub fn is_all_here(&self) -> bool {
        self.written.is_none() && self.blocks.iter().all(|taken| !matches!(taken, Taken::Same))
    }

    /// Copies the bytes from `offset` on, where all of it is here; whether there are so many.
    pub fn copy_to(&self, offset: usize, into: &mut [u8]) -> bool {
        if offset.checked_add(into.len()).is_none_or(|end| end > self.length) {
            return false;
        }
        // Pieces that end where blocks do.
        let many = (PIECE / self.block).max(1) * self.block;
        let (mut pieces, mut at, mut rest) = (Vec::new(), offset, into);
        while !rest.is_empty() {
            let length = (many - at % many).min(rest.len());
            let (piece, behind) = rest.split_at_mut(length);
            pieces.push((at, piece));
            (at, rest) = (at + length, behind);
        }
        let all = pieces.iter().map(|(_, piece)| piece.len()).sum();
        parallel::each(pieces.into_iter(), all, |(at, piece)| self.copy_piece(at, piece));
        true
    }

    /// How many bytes a block has; the last may have fewer.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The checksum of each block that was copied; none of those of zeros.
    pub fn checksums(&self) -> Vec<u128> {
        let mut sums = vec![0; self.blocks.len()];
        let many = (PIECE / self.block).max(1);
        let pieces = sums.chunks_mut(many).enumerate();
        parallel::each(pieces, self.length, |(piece, sums)| {
            for (number, sum) in (piece * many..).zip(sums) {
                *sum = self.copy_of(number).map_or(0, xxh3);
            }
        });
        sums
    }

    /// Copies all of it, as [`Body::copy_to`] does, and fills `into`; whether every block still has its checksum.
    pub fn copy_checked(&self, sums: &[u128], into: &mut [MaybeUninit<u8>]) -> bool {
        if into.len() != self.length || sums.len() != self.blocks.len() {
            return false;
        }
        let is_right = AtomicBool::new(true);
        let many = (PIECE / self.block).max(1);
        let pieces = into.chunks_mut(many * self.block).enumerate();
        parallel::each(pieces, self.length, |(piece, into)| {
            let mut blocks =
                (piece * many..)
                    .zip(into.chunks_mut(self.block))
                    .filter_map(|(number, into)| {
                        let Some(bytes) = self.copy_of(number) else {
                            into.fill(MaybeUninit::new(0));
                            return None;
                        };
                        Some((bytes, sums[number], into))
                    });
            // Two at a time.
            while let Some((first, sum, into)) = blocks.next() {
                let (second, other, behind) = blocks.next().unwrap_or((&[], NOTHING, &mut []));
                if copy_two([first, second], [into, behind], self.length) != [sum, other] {
                    is_right.store(false, Ordering::Relaxed);
                }
            }
        });
        is_right.into_inner()
    }

    fn copy_piece(&self, mut at: usize, mut into: &mut [u8]) {
        while !into.is_empty() {
            let number = at / self.block;
            let range = self.range(number);
            let length = (range.end - at).min(into.len());
            let (part, behind) = into.split_at_mut(length);
            match self.copy_of(number) {
                Some(bytes) => {
                    let from = at - range.start;
                    part.copy_from_slice(&bytes[from..from + length]);
                }
                None => part.fill(0),
            }
            (at, into) = (at + length, behind);
        }
    }

    /// A part that lies in blocks that were copied.
    ///
    /// # Panics
    /// They are still being read.
    fn filled(&self, range: std::ops::Range<usize>) -> &[u8] {
        debug_assert!(range.end <= self.memory.capacity());
        assert!(self.memory.is_filled(), "a list is looked at before it was read");
        // SAFETY: the callers have seen that every block of the range is `Copied`, and `fill` fills those blocks before
        // it is done, or has another process fill them, which is waited for before a snapshot is looked at, or another thread, which
        // is done as was just seen; the range ends before `length`, which the capacity is not less than.
        unsafe { std::slice::from_raw_parts(self.memory.as_ptr().add(range.start), range.len()) }
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        match std::mem::replace(&mut self.memory, Memory::Own(Vec::new())) {
            Memory::Own(memory) => give_back(memory),
            Memory::Shared(memory) => memory.give_back(),
            // It gives itself back when the thread is done as well.
            Memory::Read(_) => {}
        }
    }
}

impl Body {
    /// Whether the compiler has seen that it is what the checkpoint before has: then that is noted, and nothing is read but
    /// one block, another one each time. Should that differ, somebody writes to memory that is not theirs.
    fn is_as_before(&mut self, bytes: &[u8]) -> bool {
        let sample = next_sample();
        self.is_as_before_at(sample, |part| bytes.get(part).map(Cow::Borrowed))
    }

    /// The same of a list that is not in memory, of which `read` gives any part: it is asked each fourth time, as each time is a
    /// wait of its own.
    fn is_as_before_unread(&mut self, read: impl FnOnce(Range<usize>) -> Option<Vec<u8>>) -> bool {
        let number = next_sample();
        // Spread, so that of as many lists as may be it is not always the same that are asked.
        if number.wrapping_mul(FAR_APART) >> (usize::BITS - 2) != 0 {
            return self.is_as_known();
        }
        self.is_as_before_at(number / 4, |part| read(part).map(Cow::Owned))
    }

    fn is_as_before_at<'b>(
        &mut self,
        sample: usize,
        read: impl FnOnce(Range<usize>) -> Option<Cow<'b, [u8]>>,
    ) -> bool {
        let Some(known) = self.reference.as_ref().filter(|known| known.owner == self.owner) else {
            return false;
        };
        let sample = sample % known.checksums.len().max(1);
        let Some(block) = read(self.range(sample)) else {
            return false;
        };
        let block: &[u8] = &block;
        let checksum = known.checksums.get(sample).copied();
        let is_same = match as_before(checksum) {
            Taken::Zero => is_zero(block),
            _ => Some(xxh3(block)) == checksum,
        };
        is_same && self.is_as_known()
    }

    /// Notes that all of it is what the checkpoint before has, if that has it.
    fn is_as_known(&mut self) -> bool {
        let Some(known) = self.reference.as_ref().filter(|known| known.owner == self.owner) else {
            return false;
        };
        self.blocks = known.checksums.iter().map(|sum| as_before(Some(*sum))).collect();
        true
    }

    /// Whether so little of it changes that the program may be stopped at the first write to each page that does.
    fn is_worth_watching(&self, was_watched: bool) -> bool {
        let copied = self
            .blocks
            .iter()
            .filter(|taken| matches!(taken, Taken::Copied(_)));
        match self.reference {
            Some(_) => copied.count() * 4 <= self.blocks.len(),
            // All of it is to be stored, whether it has changed or not.
            None => was_watched,
        }
    }

    /// Takes bytes that are in memory of their own already: no copy is made of them.
    fn keep(&mut self, bytes: Vec<u8>) {
        let many = (PIECE / 4 / self.block).max(1);
        let checksums = self.reference.as_ref().map(|known| known.checksums.as_slice());
        let size = self.block;
        let pieces = bytes
            .chunks(many * size)
            .zip(self.blocks.chunks_mut(many))
            .enumerate();
        // Whether a block is zero most of them show at once, which no thread is worth being started for.
        let work = if checksums.is_some() { bytes.len() } else { 0 };
        parallel::each(pieces, work, |(piece, (from, blocks))| {
            for (block, from) in blocks.iter_mut().zip(from.chunks(size)) {
                *block = look_at(from);
            }
            if let Some(checksums) = checksums {
                let known = checksums.get(piece * many..).unwrap_or_default();
                compare(from, size, blocks, known);
            }
        });
        let mut memory = bytes;
        memory.clear();
        self.memory = Memory::Own(memory);
    }

    /// Whether there was memory for it.
    fn fill(&mut self, bytes: &[u8], untouched: Option<&Untouched>) -> bool {
        // Several blocks at a time: a block may be as small as a page.
        let many = (PIECE / 4 / self.block).max(1);
        let checksums = self.reference.as_ref().map(|known| known.checksums.as_slice());
        let Some(mut memory) = buffer_for(bytes.len()) else {
            return false;
        };
        let (size, spare) = (self.block, &mut memory.spare_capacity_mut()[..bytes.len()]);
        let pieces = bytes
            .chunks(many * size)
            .zip(spare.chunks_mut(many * size))
            .zip(self.blocks.chunks_mut(many))
            .enumerate();
        parallel::each(pieces, bytes.len(), |(piece, ((from, to), blocks))| {
            for (at, (block, from)) in blocks.iter_mut().zip(from.chunks(size)).enumerate() {
                let known = checksums.map(|all| all.get(piece * many + at).copied());
                *block = match untouched {
                    Some(untouched) if untouched.covers(from) => as_before(known.flatten()),
                    _ => look_at(from),
                };
            }
            if let Some(checksums) = checksums {
                compare(
                    from,
                    size,
                    blocks,
                    checksums.get(piece * many..).unwrap_or_default(),
                );
            }
            for ((block, from), to) in blocks.iter().zip(from.chunks(size)).zip(to.chunks_mut(size)) {
                if matches!(block, Taken::Copied(_)) {
                    copy(from, to, bytes.len());
                }
            }
        });
        self.memory = Memory::Own(memory);
        true
    }
}

/// The golden ratio, as a share of all numbers: its multiples lie evenly among them.
#[cfg(target_pointer_width = "64")]
const FAR_APART: usize = 0x9E37_79B9_7F4A_7C15;
#[cfg(not(target_pointer_width = "64"))]
const FAR_APART: usize = 0x9E37_79B9;

/// Another one each time.
fn next_sample() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A block that is as it was; blocks of zeros have no checksum.
fn as_before(known: Option<u128>) -> Taken {
    match known {
        Some(0) | None => Taken::Zero,
        Some(_) => Taken::Same,
    }
}

/// What a block is without a look at the checkpoint before.
fn look_at(block: &[u8]) -> Taken {
    if is_zero(block) {
        Taken::Zero
    } else {
        Taken::Copied(None)
    }
}

/// Compares those of the blocks of `bytes` that would be copied with the checksums they had, two at a time.
fn compare(bytes: &[u8], size: usize, blocks: &mut [Taken], checksums: &[u128]) {
    let known = checksums.iter().copied().map(Some).chain(std::iter::repeat(None));
    let all = blocks.iter_mut().zip(bytes.chunks(size)).zip(known);
    let mut all = all.filter(|((block, _), _)| **block == Taken::Copied(None));
    let settle = |block: &mut Taken, sum: u128, known: Option<u128>| {
        *block = if known == Some(sum) {
            Taken::Same
        } else {
            Taken::Copied(Some(sum))
        };
    };
    while let Some(((first, bytes), known)) = all.next() {
        match all.next() {
            Some(((second, others), other)) => {
                let [sum, next] = xxh3_of_two([bytes, others]);
                settle(first, sum, known);
                settle(second, next, other);
            }
            None => settle(first, xxh3(bytes), known),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::copying::IN_BLOCKS;

    fn state() -> Vec<u8> {
        let mut state: Vec<u8> = (0..3 * IN_BLOCKS + 777).map(|n| (n % 251) as u8 | 1).collect();
        state[IN_BLOCKS..2 * IN_BLOCKS].fill(0);
        state
    }

    #[test]
    fn zeros_are_noted_and_the_rest_is_copied() {
        let state = state();
        let body = Capture::default().take(&DType::U8, 1, true, &state).unwrap();
        assert_eq!(body.blocks().len(), state.len().div_ceil(BLOCK));
        for (number, (block, bytes)) in body.blocks().iter().zip(state.chunks(BLOCK)).enumerate() {
            assert_eq!(*block == Taken::Zero, is_zero(bytes), "{number}");
            assert_eq!(
                body.copy_of(number),
                (!is_zero(bytes)).then_some(bytes),
                "{number}"
            );
        }
        assert_eq!(body.copied(), 2 * IN_BLOCKS + 777);
        assert!(body.whole().is_none());
    }

    #[test]
    fn what_has_not_changed_is_noted_too() {
        let mut state = state();
        let reference = Reference {
            dtype: DType::U8,
            row: 1,
            bytes: state.len(),
            block: BLOCK / 4,
            checksums: state.chunks(BLOCK / 4).map(xxh3).collect(),
            pays: true,
            watch: None,
            owner: None,
        };
        state[2 * IN_BLOCKS + 5] ^= 2;
        let mut capture = Capture::new(vec![Some(Arc::new(reference))]);
        let body = capture.take(&DType::U8, 1, true, &state).unwrap();
        let copied: Vec<usize> = (0..body.blocks().len())
            .filter(|&number| body.copy_of(number).is_some())
            .collect();
        assert_eq!(copied, [2 * IN_BLOCKS / (BLOCK / 4)]);
        assert_eq!(body.copied(), BLOCK / 4);
        // Another list, one of another size: nothing to compare with.
        assert!(
            capture
                .take(&DType::U8, 1, true, &state)
                .unwrap()
                .reference
                .is_none()
        );
    }

    #[test]
    fn what_is_copied_has_its_checksum() {
        assert_eq!(xxh3(&[]), NOTHING);
        let state = state();
        let body = Capture::default().take(&DType::U8, 1, true, &state).unwrap();
        let sums = body.checksums();
        let mut copy = Vec::<u8>::with_capacity(state.len());
        assert!(body.copy_checked(&sums, &mut copy.spare_capacity_mut()[..state.len()]));
        // SAFETY: it has filled all of them.
        unsafe { copy.set_len(state.len()) };
        assert!(copy == state);
        for number in [0, sums.len() - 1] {
            let mut sums = sums.clone();
            sums[number] ^= 1;
            let mut copy = Vec::<u8>::with_capacity(state.len());
            let room = &mut copy.spare_capacity_mut()[..state.len()];
            assert!(!body.copy_checked(&sums, room), "{number}");
        }
    }

    #[test]
    fn blocks_are_whole_rows() {
        for row in [1, 8, 24, 1000, 4096, 5000, 300_000, LARGEST_BLOCK] {
            let size = block_size(row).unwrap();
            assert!(size.is_multiple_of(row) && size <= LARGEST_BLOCK);
            assert!(size >= BLOCK / 2, "{row}: {size}");
        }
        assert_eq!(block_size(LARGEST_BLOCK + 1), None);
        assert_eq!(block_size(0), None);
    }

    #[test]
    fn zeros_are_zeros_up_to_the_last_byte() {
        for length in [0, 1, 255, 256, 257, 5000] {
            let mut bytes = vec![0; length];
            assert!(is_zero(&bytes));
            for at in [0, length / 2, length.saturating_sub(1)] {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = 0x80;
                    assert!(!is_zero(&bytes));
                    bytes[at] = 0;
                }
            }
        }
    }
}
