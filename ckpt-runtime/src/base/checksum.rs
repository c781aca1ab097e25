//! The checksum of blocks: XXH3 of 128 bits, of memory that is not in a cache.

use twox_hash::xxhash3_128::Hasher;

/// Bytes that are hashed between two looks ahead.
const STEP: usize = 512;
/// How far ahead memory is asked for: far enough that it has arrived, and not so far that it has left the cache again.
const AHEAD: usize = 4 * STEP;

/// The XXH3-128 checksum of `bytes`.
///
/// Reading takes the time where these come from memory, and the processor by itself asks for no page before one is looked
/// at; the hash alone would wait at each.
pub(crate) fn xxh3(bytes: &[u8]) -> u128 {
    if bytes.len() < 2 * AHEAD {
        return twox_hash::XxHash3_128::oneshot(bytes);
    }
    let mut sum = Hasher::new();
    for step in bytes.chunks(STEP) {
        // Blocks lie side by side: what comes after this one is likely to be wanted next.
        ask_for(step.as_ptr().wrapping_add(AHEAD));
        sum.write(step);
    }
    sum.finish_128()
}

/// The checksums of two blocks, read side by side: two streams from memory are faster than one, and each waits for the
/// other's arithmetic instead of for itself.
pub(crate) fn xxh3_of_two(blocks: [&[u8]; 2]) -> [u128; 2] {
    xxh3_step_by_step(blocks, |_, _| {})
}

/// The same; `seen` is told of each how far it has come, while what comes before is in the nearest cache.
pub(crate) fn xxh3_step_by_step(blocks: [&[u8]; 2], mut seen: impl FnMut(usize, usize)) -> [u128; 2] {
    let mut sums = [(); 2].map(|()| Hasher::new());
    let steps = blocks.map(|block| block.len().div_ceil(STEP));
    for step in 0..steps[0].max(steps[1]) {
        for (number, (sum, block)) in sums.iter_mut().zip(blocks).enumerate() {
            let (from, to) = (step * STEP, block.len().min((step + 1) * STEP));
            if let Some(part) = block.get(from..to) {
                ask_for(part.as_ptr().wrapping_add(AHEAD));
                sum.write(part);
                seen(number, to);
            }
        }
    }
    sums.map(|sum| sum.finish_128())
}

/// The checksums of blocks of `size` bytes that lie side by side; the last may be shorter.
pub(crate) fn xxh3_of_blocks(bytes: &[u8], size: usize, sums: &mut [u128]) {
    let (mut blocks, mut sums) = (bytes.chunks(2 * size), sums.chunks_mut(2));
    while let (Some(both), Some(sums)) = (blocks.next(), sums.next()) {
        let (one, other) = both.split_at(size.min(both.len()));
        match sums {
            [sum, next] => [*sum, *next] = xxh3_of_two([one, other]),
            sums => sums.fill(xxh3(one)),
        }
    }
}

/// Asks for the memory of one step that begins `at`.
#[cfg(target_arch = "x86_64")]
fn ask_for(at: *const u8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    for line in (0..STEP).step_by(64) {
        // SAFETY: every x86-64 has the instruction. It changes nothing and does not fault, wherever `at` is.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(at.wrapping_add(line).cast()) };
    }
}

/// No such instruction is to be had in stable Rust.
#[cfg(not(target_arch = "x86_64"))]
fn ask_for(_: *const u8) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_side_by_side_have_theirs() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 3) as u8).collect();
        for (size, length) in [
            (4096, 100_000),
            (4096, 5 * 4096),
            (10_000, 100_000),
            (70_000, 100_000),
            (99, 40),
        ] {
            let blocks = bytes[..length].chunks(size);
            let mut sums = vec![0; blocks.len()];
            xxh3_of_blocks(&bytes[..length], size, &mut sums);
            assert_eq!(sums, blocks.map(xxh3).collect::<Vec<_>>(), "{size} of {length}");
        }
    }

    #[test]
    fn it_is_the_checksum_of_all_bytes() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 3) as u8).collect();
        for length in [0, 1, STEP, 2 * AHEAD, 2 * AHEAD + 1, 65_536, 70_001, 100_000] {
            let part = &bytes[..length];
            let sum = twox_hash::XxHash3_128::oneshot(part);
            assert_eq!(xxh3(part), sum, "{length}");
            for other in [0, 7, 2 * STEP, 99_999] {
                let both = [&bytes[1..][..other], part];
                assert_eq!(xxh3_of_two(both), both.map(xxh3), "{length} beside {other}");
                let both = [part, &bytes[1..][..other]];
                assert_eq!(xxh3_of_two(both), both.map(xxh3), "{other} beside {length}");
            }
        }
    }
}
