//! The bytes of a column, in memory that is used again: touching memory for the first time takes many times longer than
//! copying into it, so that a checkpoint would mostly wait for the system to hand out pages.

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use super::DType;
use super::body::{Body, Region};
use crate::base::checksum::xxh3;
use crate::base::copying;
use crate::base::forked;
use crate::base::from_outside;
use crate::base::lock::locked;
use crate::base::parallel::{self, PIECE};
use crate::base::room;
use crate::base::sorted::SortedMap;

/// Buffers from this size on are used again.
const SMALLEST: usize = 64 * 1024;

/// Buffers that no snapshot needs at the moment, by their capacity.
static POOL: Mutex<SortedMap<usize, Vec<Vec<u8>>>> = Mutex::new(SortedMap::new());

fn pool() -> MutexGuard<'static, SortedMap<usize, Vec<Vec<u8>>>> {
    locked(&POOL)
}

/// The capacities of those buffers, in their order.
pub(super) fn capacities() -> Vec<usize> {
    let pool = pool();
    let all = pool.iter();
    all.flat_map(|(capacity, same)| std::iter::repeat_n(*capacity, same.len()))
        .collect()
}

/// The smallest buffer that takes `bytes`, if there is one that is not far too large.
pub(super) fn used_before(bytes: usize) -> Option<Vec<u8>> {
    let mut pool = pool();
    let (&capacity, _) = pool.range(bytes..).next()?;
    if capacity > bytes.saturating_mul(2) {
        return None;
    }
    let same = pool.get_mut(&capacity)?;
    let buffer = same.pop();
    if same.is_empty() {
        pool.remove(&capacity);
    }
    buffer
}

/// Returns the memory of buffers to the system that the snapshot just taken had no use for.
pub(crate) fn release_unused() {
    let unused = std::mem::take(&mut *pool());
    drop(unused);
    forked::release_unused();
}

/// An empty buffer for `bytes`; `None` where there is no memory.
pub(crate) fn buffer_for(bytes: usize) -> Option<Vec<u8>> {
    used_before(bytes).or_else(|| {
        let mut buffer = Vec::new();
        if !room::grow_exact(&mut buffer, bytes) {
            return None;
        }
        parallel::large_pages(buffer.spare_capacity_mut());
        Some(buffer)
    })
}

/// Keeps a buffer to be used again.
pub(crate) fn give_back(mut buffer: Vec<u8>) {
    if buffer.capacity() >= SMALLEST {
        buffer.clear();
        pool().entry(buffer.capacity()).or_default().push(buffer);
    }
}

/// Bytes that are appended to, or a large list that was taken in blocks: then nothing is appended.
#[derive(Debug, Clone, Default)]
pub struct Bytes(Vec<u8>, Option<Arc<Body>>, Completeness);

/// Whether there was memory for all bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
enum Completeness {
    #[default]
    Complete,
    Incomplete,
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        let same_body = match (&self.1, &other.1) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            _ => false,
        };
        same_body && self.0 == other.0
    }
}

impl Bytes {
    pub(crate) fn in_blocks(body: Body) -> Bytes {
        Bytes(Vec::new(), Some(Arc::new(body)), Completeness::Complete)
    }

    /// Whether some are missing, for which there was no memory.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.2 == Completeness::Incomplete
    }

    /// The blocks, if that is what it is.
    pub(crate) fn body(&self) -> Option<&Arc<Body>> {
        self.1.as_ref()
    }

    /// How many there are.
    #[expect(clippy::len_without_is_empty, reason = "the vector's own counts for those")]
    pub fn len(&self) -> usize {
        self.0.len() + self.1.as_ref().map_or(0, |body| body.len())
    }

    /// How many of them are in memory.
    pub(crate) fn held(&self) -> usize {
        self.0.len() + self.1.as_ref().map_or(0, |body| body.copied())
    }

    /// Whether all of them are in memory, or known to be zero.
    pub(crate) fn is_all_here(&self) -> bool {
        !self.is_incomplete() && self.1.as_ref().is_none_or(|body| body.is_all_here())
    }

    /// Copies those from `offset` on, of bytes that are all here; whether there are so many.
    pub(crate) fn copy_to(&self, offset: usize, into: &mut [u8]) -> bool {
        match &self.1 {
            Some(body) => body.copy_to(offset, into),
            None => {
                let end = offset.checked_add(into.len());
                let Some(part) = end.and_then(|end| self.0.get(offset..end)) else {
                    return false;
                };
                let pieces = part.chunks(PIECE).zip(into.chunks_mut(PIECE));
                parallel::each(pieces, part.len(), |(from, to)| to.copy_from_slice(from));
                true
            }
        }
    }

    /// Fills `into` with those from `offset` on, if the blocks that they are of still have these checksums. It is for handlers of
    /// signals: nothing is allocated, nor locked.
    pub(crate) fn part_checked(&self, sums: &[u128], offset: usize, into: &mut [u8]) -> bool {
        let size = self.1.as_ref().map_or(PIECE, |body| body.block());
        let (mut at, mut rest) = (offset, into);
        while !rest.is_empty() {
            let number = at / size;
            let block = match &self.1 {
                Some(body) => body.copy_of(number),
                None => self.0.chunks(PIECE).nth(number),
            };
            let is_right = block.map_or(0, xxh3) == sums.get(number).copied().unwrap_or(1);
            let length = (size - at % size).min(rest.len());
            let (part, behind) = rest.split_at_mut(length);
            match block.map(|block| block.get(at % size..at % size + length)) {
                _ if !is_right => return false,
                Some(None) => return false,
                Some(Some(from)) => part.copy_from_slice(from),
                None => part.fill(0),
            }
            (at, rest) = (at + length, behind);
        }
        true
    }

    /// Writes to this place of the program's memory where it is not what it was: of `then` are the checksums that it had, which these bytes
    /// are to have as well, of `now` those that it has. Gives of how many bytes the blocks are; nothing where one could not be written.
    pub(crate) fn write_where_not(&self, place: Region, now: &[u128], then: &[u128]) -> Option<usize> {
        let size = self.1.as_ref().map_or(PIECE, |body| body.block());
        let (mut written, mut block) = (0, Vec::new());
        for (number, _) in now
            .iter()
            .zip(then)
            .enumerate()
            .filter(|(_, (now, then))| now != then)
        {
            let first = number * size;
            let length = size.min(place.bytes().checked_sub(first)?);
            if !room::is_there(length) {
                return None;
            }
            block.resize(length, 0);
            let is_right = self.part_checked(then, first, &mut block);
            if !is_right || !from_outside::write(place.first() + first, &block) {
                return None;
            }
            written += length;
        }
        Some(written)
    }

    /// The checksums of bytes that are all here, to be given to [`Bytes::copy_checked`].
    pub(crate) fn checksums(&self) -> Vec<u128> {
        match &self.1 {
            Some(body) => body.checksums(),
            None => self.0.chunks(PIECE).map(xxh3).collect(),
        }
    }

    /// Fills `into` with all of them; whether they still have these checksums.
    pub(crate) fn copy_checked(&self, sums: &[u128], into: &mut [MaybeUninit<u8>]) -> bool {
        if let Some(body) = &self.1 {
            return body.copy_checked(sums, into);
        }
        if into.len() != self.0.len() || sums.len() != self.0.len().div_ceil(PIECE) {
            return false;
        }
        let is_right = AtomicBool::new(true);
        let pieces = self.0.chunks(PIECE).zip(into.chunks_mut(PIECE)).zip(sums);
        parallel::each(pieces, self.0.len(), |((from, to), sum)| {
            if xxh3(from) != *sum {
                is_right.store(false, Ordering::Relaxed);
            }
            copying::copy(from, to, self.0.len());
        });
        is_right.into_inner()
    }

    /// Whether one of the floats that they store is a NaN or an infinity.
    pub(crate) fn have_not_finite(&self, dtype: &DType) -> bool {
        let Some(look) = not_finite_in(dtype) else {
            return false;
        };
        let found = AtomicBool::new(false);
        let note = |bytes: &[u8]| {
            if look(bytes) {
                found.store(true, Ordering::Relaxed);
            }
        };
        match &self.1 {
            Some(body) => {
                let blocks = (0..body.blocks().len()).filter_map(|number| body.copy_of(number));
                parallel::each(blocks, body.len(), note);
            }
            None => parallel::each(self.0.chunks(PIECE), self.0.len(), note),
        }
        found.into_inner()
    }

    /// Some of them that are in memory.
    pub(crate) fn held_part(&self) -> Option<&[u8]> {
        let own = (!self.0.is_empty()).then_some(self.0.as_slice());
        own.or_else(|| {
            let body = self.1.as_ref()?;
            (0..body.blocks().len()).find_map(|number| body.copy_of(number))
        })
    }

    /// Whether they still have these checksums.
    pub(crate) fn are_as_at(&self, sums: &[u128]) -> bool {
        self.checksums() == sums
    }

    /// Makes room for `more` bytes; whether there is memory for them. Where there is not, they are incomplete.
    #[must_use]
    pub fn make_room(&mut self, more: usize) -> bool {
        let has_room = self.has_room(more);
        if !has_room {
            self.2 = Completeness::Incomplete;
        }
        has_room
    }

    fn has_room(&mut self, more: usize) -> bool {
        let needed = self.0.len().saturating_add(more);
        if needed <= self.0.capacity() {
            return true;
        }
        if needed < SMALLEST {
            return room::grow(&mut self.0, more);
        }
        // What grows step by step would otherwise be copied at every step.
        let wanted = match self.0.len() {
            0 => needed,
            _ => needed.max(self.0.capacity().saturating_mul(2)),
        };
        match used_before(wanted) {
            Some(mut larger) => {
                larger.extend_from_slice(&self.0);
                self.0 = larger;
            }
            None => {
                let more = wanted - self.0.len();
                if !room::grow_exact(&mut self.0, more) {
                    return false;
                }
                parallel::large_pages(self.0.spare_capacity_mut());
            }
        }
        true
    }

    /// Appends `bytes`, with all cores where there are many; whether there is memory for them.
    #[must_use]
    pub fn append(&mut self, bytes: &[u8]) -> bool {
        let has_room = self.make_room(bytes.len());
        if has_room {
            copy(bytes, &mut self.0);
        }
        has_room
    }
}

impl Deref for Bytes {
    type Target = Vec<u8>;
    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes(bytes, None, Completeness::Complete)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        give_back(std::mem::take(&mut self.0));
    }
}

/// How floats of this type are looked at for what is not finite: all bits of their exponent are set. Others are not.
fn not_finite_in(dtype: &DType) -> Option<fn(&[u8]) -> bool> {
    // A fold without a way out in it is what compilers make vector instructions of.
    match dtype {
        DType::F32 | DType::Complex32 => Some(|bytes| {
            let (floats, _) = bytes.as_chunks::<4>();
            floats.chunks(256).any(|floats| {
                let all = floats
                    .iter()
                    .map(|float| u32::from_le_bytes(*float) & 0x7f80_0000);
                all.fold(false, |any, exponent| any | (exponent == 0x7f80_0000))
            })
        }),
        DType::F64 | DType::Complex64 => Some(|bytes| {
            let (floats, _) = bytes.as_chunks::<8>();
            floats.chunks(256).any(|floats| {
                let all = floats
                    .iter()
                    .map(|float| u64::from_le_bytes(*float) >> 52 & 0x7ff);
                all.fold(false, |any, exponent| any | (exponent == 0x7ff))
            })
        }),
        _ => None,
    }
}

fn copy(from: &[u8], to: &mut Vec<u8>) {
    if from.len() < 2 * PIECE {
        to.extend_from_slice(from);
        return;
    }
    to.reserve(from.len());
    let spare = &mut to.spare_capacity_mut()[..from.len()];
    let pieces = from.chunks(PIECE).zip(spare.chunks_mut(PIECE));
    let all = from.len();
    parallel::each(pieces, all, |(from, to)| copying::copy(from, to, all));
    // SAFETY: the pieces cover the `from.len()` bytes behind the length, and every one of them has been filled.
    unsafe { to.set_len(to.len() + from.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_copy_what_one_would() {
        let from: Vec<u8> = (0..3 * PIECE + 12_345).map(|n| (n % 251) as u8).collect();
        let mut to = Bytes::from(vec![7; 99]);
        assert!(to.append(&from));
        assert!(to[..99].iter().all(|&byte| byte == 7));
        assert!(to[99..] == from);
    }

    #[test]
    fn a_buffer_is_used_again() {
        // A size that no other test has.
        let size = SMALLEST + 54_321;
        let mut first = Bytes::default();
        assert!(first.append(&vec![1; size]));
        let place = first.as_ptr();
        drop(first);
        let mut second = Bytes::default();
        assert!(second.append(&vec![2; size]));
        assert_eq!(second.as_ptr(), place);
    }
}
