//! The checksum of blocks: XXH3 of 128 bits, of memory that is not in a cache.

use twox_hash::xxhash3_128::Hasher;

/// Bytes that are hashed between two looks ahead.
const STEP: usize = 512;
/// How far ahead memory is asked for: far enough that it has arrived, and not so far that it is gone again.
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
    fn it_is_the_checksum_of_all_bytes() {
        let bytes: Vec<u8> = (0..100_000_u32).map(|n| (n.wrapping_mul(n) >> 3) as u8).collect();
        for length in [0, 1, STEP, 2 * AHEAD, 2 * AHEAD + 1, 65_536, 70_001, 100_000] {
            let part = &bytes[..length];
            assert_eq!(xxh3(part), twox_hash::XxHash3_128::oneshot(part), "{length}");
        }
    }
}
