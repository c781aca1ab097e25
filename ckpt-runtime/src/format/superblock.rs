//! Where HDF5 takes a file to end. It cuts off what lies behind when another program has changed the file: where the file says that the
//! index belongs to the data, HDF5 leaves the index alone.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::hdf5::USER_BLOCK;

/// Length of a superblock of versions 2 and 3 with addresses of 8 bytes, the checksum at its end included.
const LENGTH: usize = 48;
const END_OF_FILE: usize = 28;

/// Has HDF5 take the file to end at `end`. One whose superblock is of another form is left as it is.
pub(super) fn set_end(file: &File, end: u64) -> std::io::Result<()> {
    let mut bytes = [0; LENGTH];
    file.read_exact_at(&mut bytes, USER_BLOCK)?;
    let is_known = bytes[..8] == *b"\x89HDF\r\n\x1a\n" && matches!(bytes[8..10], [2 | 3, 8]);
    let sum = |bytes: &[u8; LENGTH]| lookup3(&bytes[..LENGTH - 4]).to_le_bytes();
    if !is_known || bytes[LENGTH - 4..] != sum(&bytes) {
        return Ok(());
    }
    bytes[END_OF_FILE..END_OF_FILE + 8].copy_from_slice(&end.to_le_bytes());
    let sum = sum(&bytes);
    bytes[LENGTH - 4..].copy_from_slice(&sum);
    file.write_all_at(&bytes, USER_BLOCK)
}

/// The checksum of HDF5's own structures: Jenkins' lookup3 (`hashlittle`, 2006) from 0.
fn lookup3(bytes: &[u8]) -> u32 {
    let start = 0xdead_beef_u32.wrapping_add(bytes.len() as u32);
    let [mut a, mut b, mut c] = [start; 3];
    let mut rest = bytes;
    let word = |bytes: &[u8], at: usize| {
        u32::from_le_bytes(std::array::from_fn(|k| {
            bytes.get(4 * at + k).copied().unwrap_or(0)
        }))
    };
    while rest.len() > 12 {
        a = a.wrapping_add(word(rest, 0));
        b = b.wrapping_add(word(rest, 1));
        c = c.wrapping_add(word(rest, 2));
        for (turn, then) in [(4, 6), (8, 16), (19, 4)] {
            (a, c) = (a.wrapping_sub(c) ^ c.rotate_left(turn), c.wrapping_add(b));
            // The three change places after each half of the mixing.
            (a, b, c) = (b, c, a);
            (a, c) = (a.wrapping_sub(c) ^ c.rotate_left(then), c.wrapping_add(b));
            (a, b, c) = (b, c, a);
        }
        rest = &rest[12..];
    }
    if rest.is_empty() {
        return c;
    }
    a = a.wrapping_add(word(rest, 0));
    b = b.wrapping_add(word(rest, 1));
    c = c.wrapping_add(word(rest, 2));
    for turn in [14, 11, 25, 16, 4, 14, 24] {
        c = (c ^ b).wrapping_sub(b.rotate_left(turn));
        (a, b, c) = (b, c, a);
    }
    // After seven turns the last one written is `b`.
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From the comments of Jenkins' `lookup3.c`.
    #[test]
    fn the_checksum_is_that_of_its_author() {
        assert_eq!(lookup3(b""), 0xdead_beef);
        assert_eq!(lookup3(b"Four score and seven years ago"), 0x1777_0551);
    }
}
