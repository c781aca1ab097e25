//! Copies of memory that the program waits for.

use std::mem::MaybeUninit;

use super::checksum::{xxh3_of_two, xxh3_step_by_step};

/// Lists from this size on are copied past the caches: they would not find room there, and only drive out what the program
/// needs next.
pub(crate) const BEYOND_CACHES: usize = 32 << 20;

/// Lists from this size on are taken in blocks.
pub(crate) const IN_BLOCKS: usize = 1 << 20;

/// Copies a piece of a list of `all` bytes; the two are of the same length.
///
/// An ordinary store reads the line that it writes to from memory first, which a store past the caches does not: two
/// thirds of the traffic. Four pages at a time keep more of the memory busy than one after the other.
pub(crate) fn copy(from: &[u8], to: &mut [MaybeUninit<u8>], all: usize) {
    let length = from.len().min(to.len());
    let done = match all >= BEYOND_CACHES {
        true => stream(&from[..length], &mut to[..length]),
        false => 0,
    };
    let (from, to) = (&from[done..length], &mut to[done..length]);
    // SAFETY: both have as many bytes, and a shared and an exclusive reference do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr().cast::<u8>(), from.len()) }
}

/// Copies two pieces of a list of `all` bytes, each to one of its length, and gives their checksums.
///
/// Where it goes past the caches, a few lines are copied as soon as they have been looked at: the memory takes the one while it
/// gives the next.
pub(crate) fn copy_two(from: [&[u8]; 2], mut to: [&mut [MaybeUninit<u8>]; 2], all: usize) -> [u128; 2] {
    if all < BEYOND_CACHES {
        let sums = xxh3_of_two(from);
        for (from, to) in from.into_iter().zip(to) {
            copy(from, to, all);
        }
        return sums;
    }
    // Up to a whole line of what is written.
    let mut done = to.each_ref().map(|to| to.as_ptr().align_offset(LINE));
    for ((from, to), head) in from.iter().zip(&mut to).zip(&mut done) {
        *head = (*head).min(from.len()).min(to.len());
        copy(&from[..*head], &mut to[..*head], 0);
    }
    let sums = xxh3_step_by_step(from, |number, end| {
        let (from, to, done) = (from[number], &mut *to[number], &mut done[number]);
        let lines = end.min(to.len()).saturating_sub(*done) / LINE * LINE;
        stream_lines(&from[*done..][..lines], &mut to[*done..][..lines]);
        *done += lines;
    });
    for ((from, to), done) in from.iter().zip(&mut to).zip(done) {
        copy(&from[done..], &mut to[done..], 0);
    }
    fence();
    sums
}

/// Bytes that the memory takes at once.
const LINE: usize = 64;

/// Copies whole lines past the caches, to where a line begins.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn stream_lines(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    const WORD: usize = size_of::<__m128i>();
    for (from, to) in from.chunks_exact(LINE).zip(to.chunks_exact_mut(LINE)) {
        debug_assert_eq!(to.as_ptr().align_offset(WORD), 0);
        let (from, to) = (from.as_ptr(), to.as_mut_ptr().cast::<u8>());
        // SAFETY: both are a line long and do not overlap; every x86-64 has these instructions, the loads take any place and the
        // stores an aligned one, as the callers begin where a line does.
        unsafe {
            let mut words = [_mm_loadu_si128(from.cast()); LINE / WORD];
            for (number, word) in words.iter_mut().enumerate().skip(1) {
                *word = _mm_loadu_si128(from.add(number * WORD).cast());
            }
            for (number, word) in words.into_iter().enumerate() {
                _mm_stream_si128(to.add(number * WORD).cast(), word);
            }
        }
    }
}

/// Not done on this machine.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn stream_lines(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    copy(from, to, 0);
}

/// Whoever reads a copy on another core finds it from here on.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn fence() {
    // SAFETY: every x86-64 has the instruction, which changes nothing.
    unsafe { std::arch::x86_64::_mm_sfence() };
}

/// Nothing was copied past the caches.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn fence() {}

/// Copies as much of the beginning as is worth it, past the caches; returns how many bytes. They are of the same length.
#[cfg(all(target_arch = "x86_64", not(miri)))]
fn stream(from: &[u8], to: &mut [MaybeUninit<u8>]) -> usize {
    use std::arch::x86_64::{
        __m128i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm_sfence, _mm_stream_si128,
    };
    const PAGE: usize = 4096;
    const WORD: usize = size_of::<__m128i>();
    /// How far ahead of a load memory is asked for.
    const AHEAD: usize = 2 * LINE;
    // The stores need places that are multiples of their size.
    let head = to.as_ptr().align_offset(WORD);
    let pages = to.len().saturating_sub(head) / (4 * PAGE) * (4 * PAGE);
    if pages == 0 {
        return 0;
    }
    // SAFETY: `head + pages` is at most the length of both, which do not overlap; every x86-64 has these instructions, the
    // loads take any place and the stores an aligned one, which `head` has made sure of. A look ahead does not fault.
    unsafe {
        let (source, target) = (from.as_ptr(), to.as_mut_ptr().cast::<u8>());
        std::ptr::copy_nonoverlapping(source, target, head);
        let (source, target) = (source.add(head), target.add(head));
        for four in (0..pages).step_by(4 * PAGE) {
            for line in (0..PAGE).step_by(LINE) {
                for page in 0..4 {
                    let at = four + page * PAGE + line;
                    _mm_prefetch::<_MM_HINT_T0>(source.wrapping_add(at + AHEAD).cast());
                    let mut words = [_mm_loadu_si128(source.add(at).cast()); LINE / WORD];
                    for (number, word) in words.iter_mut().enumerate().skip(1) {
                        *word = _mm_loadu_si128(source.add(at + number * WORD).cast());
                    }
                    for (number, word) in words.into_iter().enumerate() {
                        _mm_stream_si128(target.add(at + number * WORD).cast(), word);
                    }
                }
            }
        }
        // Whoever reads the copy on another core must find it.
        _mm_sfence();
    }
    head + pages
}

/// Not done on this machine; Miri does not know these stores.
#[cfg(any(not(target_arch = "x86_64"), miri))]
fn stream(_: &[u8], _: &mut [MaybeUninit<u8>]) -> usize {
    0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::checksum::xxh3;

    #[test]
    fn two_pieces_arrive_with_their_checksums() {
        let from: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 5) as u8).collect();
        for all in [from.len(), BEYOND_CACHES] {
            for (shift, lengths) in [
                (0, [65_536, 65_536]),
                (16, [65_536, 30_001]),
                (1, [17, 70_000]),
                (7, [0, 5]),
            ] {
                let mut memory = [1, 2].map(|_| vec![MaybeUninit::new(0_u8); 100_100]);
                let pieces = [&from[3..][..lengths[0]], &from[9..][..lengths[1]]];
                let [one, other] = &mut memory;
                let to = [&mut one[shift..][..lengths[0]], &mut other[shift..][..lengths[1]]];
                assert_eq!(copy_two(pieces, to, all), pieces.map(xxh3));
                for (piece, memory) in pieces.into_iter().zip(&memory) {
                    // SAFETY: all of it has been filled.
                    let bytes = memory.iter().map(|byte| unsafe { byte.assume_init() });
                    let bytes: Vec<u8> = bytes.collect();
                    assert!(bytes[shift..][..piece.len()] == *piece, "{shift} {lengths:?}");
                    assert!(bytes[shift + piece.len()..].iter().all(|byte| *byte == 0));
                }
            }
        }
    }

    #[test]
    fn every_byte_arrives_wherever_it_comes_from() {
        let from: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 5) as u8).collect();
        for all in [from.len(), BEYOND_CACHES] {
            for (first, shift, length) in [
                (0, 0, 100_000),
                (3, 0, 70_000),
                (1, 5, 16_390),
                (8, 9, 16_384),
                (0, 7, 10),
            ] {
                let mut memory = Vec::<u8>::with_capacity(length + shift + 16);
                memory.resize(shift, 0);
                let piece = &from[first..][..length.min(from.len() - first)];
                copy(piece, &mut memory.spare_capacity_mut()[..piece.len()], all);
                // SAFETY: `copy` has filled them.
                unsafe { memory.set_len(shift + piece.len()) };
                assert!(memory[shift..] == *piece, "{first} {shift} {length}");
            }
        }
    }
}
