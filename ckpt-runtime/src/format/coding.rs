//! How a block is stored: as it is, or compressed in a way that HDF5's filters undo.

use std::io::{Read, Write};

/// What is done to a block before it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coding {
    Raw,
    Packed {
        codec: Compression,
        /// The bytes of the elements stand in the order of their weight, as HDF5's shuffle filter has them.
        shuffled: bool,
    },
}

/// How checkpoints are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compression {
    /// HDF5's own filter, which every reader has.
    Deflate,
    /// Faster; `h5py` reads it with `hdf5plugin`.
    Lz4,
    /// Smaller and faster than deflate; `h5py` reads it with `hdf5plugin`.
    Zstd,
}

impl Compression {
    /// Whether this build can do it.
    pub fn is_built(self) -> bool {
        match self {
            Compression::Deflate | Compression::Lz4 => true,
            Compression::Zstd => cfg!(feature = "zstd"),
        }
    }

    /// The number of the HDF5 filter that undoes it.
    pub(super) fn filter(self) -> i32 {
        match self {
            Compression::Deflate => 1,
            Compression::Lz4 => 32004,
            Compression::Zstd => 32015,
        }
    }

    /// The one that a filter of this number undoes.
    pub(super) fn of_filter(filter: i32) -> Option<Compression> {
        Self::built().find(|codec| codec.filter() == filter)
    }

    /// Those that this build can do.
    fn built() -> impl Iterator<Item = Compression> {
        CODECS.into_iter().filter(|codec| codec.is_built())
    }
}

const SHUFFLED: u8 = 0x10;
const CODECS: [Compression; 3] = [Compression::Deflate, Compression::Lz4, Compression::Zstd];
/// What is not this much smaller stays as it is.
const WORTH: (usize, usize) = (9, 10);
/// Bytes of each piece of a sample, and how many pieces there are.
const SAMPLE: (usize, usize) = (16 << 10, 8);

impl Coding {
    pub fn code(self) -> u8 {
        match self {
            Coding::Raw => 0,
            Coding::Packed { codec, shuffled } => {
                let codec = match codec {
                    Compression::Deflate => 1,
                    Compression::Lz4 => 2,
                    Compression::Zstd => 3,
                };
                codec | if shuffled { SHUFFLED } else { 0 }
            }
        }
    }

    /// Whether this build can undo it.
    pub fn is_built(self) -> bool {
        match self {
            Coding::Raw => true,
            Coding::Packed { codec, .. } => codec.is_built(),
        }
    }

    pub fn from_code(code: u8) -> Option<Coding> {
        if code == 0 {
            return Some(Coding::Raw);
        }
        let codec = usize::from(code & !SHUFFLED).checked_sub(1)?;
        Some(Coding::Packed {
            codec: *CODECS.get(codec)?,
            shuffled: code & SHUFFLED != 0,
        })
    }

    /// The stored form of a block, if it is enough smaller than the block.
    pub fn pack(self, block: &[u8], element: usize) -> Option<Vec<u8>> {
        let Coding::Packed { codec, shuffled } = self else {
            return None;
        };
        let packed = match shuffled {
            true => compress(codec, &shuffle(block, element))?,
            false => compress(codec, block)?,
        };
        (packed.len() / WORTH.0 <= block.len() / WORTH.1).then_some(packed)
    }

    /// The block that `stored` is the stored form of, `size` bytes; `None` if it is not one.
    pub fn unpack(self, stored: &[u8], element: usize, size: usize) -> Option<Vec<u8>> {
        let Coding::Packed { codec, shuffled } = self else {
            return None;
        };
        let block = expand(codec, stored, size)?;
        Some(if shuffled {
            unshuffle(&block, element)
        } else {
            block
        })
    }

    /// The way to store blocks such as these with `codec`, if one pays.
    pub fn probe<'b>(
        codec: Compression,
        blocks: impl Iterator<Item = &'b [u8]> + Clone,
        element: usize,
    ) -> Coding {
        let count = blocks.clone().count();
        let (length, pieces) = SAMPLE;
        let mut sample = Vec::with_capacity(length * pieces);
        for block in blocks.step_by(count.div_ceil(pieces).max(1)) {
            let piece = length.min(block.len()) / element * element;
            let middle = (block.len() - piece) / 2 / element * element;
            sample.extend_from_slice(&block[middle..middle + piece]);
        }
        let ways: &[bool] = if element > 1 { &[false, true] } else { &[false] };
        let ways = ways.iter().map(|&shuffled| Coding::Packed { codec, shuffled });
        let tried = ways.filter_map(|way| Some((way.pack(&sample, element)?.len(), way)));
        tried
            .min_by_key(|(length, _)| *length)
            .map_or(Coding::Raw, |(_, way)| way)
    }
}

fn compress(codec: Compression, block: &[u8]) -> Option<Vec<u8>> {
    match codec {
        Compression::Deflate => {
            let mut to = flate2::write::ZlibEncoder::new(
                Vec::with_capacity(block.len() / 2),
                flate2::Compression::fast(),
            );
            to.write_all(block).ok()?;
            to.finish().ok()
        }
        Compression::Lz4 => {
            // The frame of HDF5's filter: length of all, length of a block, and each block with its own; big-endian.
            let packed = lz4_flex::block::compress(block);
            let length = u32::try_from(packed.len()).ok()?;
            let all = u32::try_from(block.len()).ok().filter(|all| *all != length)?;
            let mut framed = Vec::with_capacity(packed.len() + 16);
            framed.extend_from_slice(&u64::from(all).to_be_bytes());
            framed.extend_from_slice(&all.to_be_bytes());
            framed.extend_from_slice(&length.to_be_bytes());
            framed.extend_from_slice(&packed);
            Some(framed)
        }
        #[cfg(feature = "zstd")]
        Compression::Zstd => zstd::bulk::compress(block, 1).ok(),
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => None,
    }
}

/// Exactly `size` bytes, or nothing: what is stored is not trusted.
fn expand(codec: Compression, stored: &[u8], size: usize) -> Option<Vec<u8>> {
    let mut block = Vec::new();
    block.try_reserve_exact(size).ok()?;
    match codec {
        Compression::Deflate => {
            let from = flate2::read::ZlibDecoder::new(stored);
            from.take(size as u64 + 1).read_to_end(&mut block).ok()?;
        }
        Compression::Lz4 => {
            block.resize(size, 0);
            let (all, rest) = stored.split_first_chunk::<8>()?;
            let (of_block, rest) = rest.split_first_chunk::<4>()?;
            let (length, rest) = rest.split_first_chunk::<4>()?;
            let is_one = u64::from_be_bytes(*all) == size as u64
                && u32::from_be_bytes(*of_block) as usize == size
                && u32::from_be_bytes(*length) as usize == rest.len();
            if is_one && rest.len() == size {
                // What does not get smaller is left as it is.
                return Some(rest.to_vec());
            }
            let written = lz4_flex::block::decompress_into(rest, &mut block).ok();
            return (is_one && written == Some(size)).then_some(block);
        }
        #[cfg(not(feature = "zstd"))]
        Compression::Zstd => return None,
        #[cfg(feature = "zstd")]
        Compression::Zstd => {
            block.resize(size, 0);
            let written = zstd::bulk::decompress_to_buffer(stored, &mut block[..]).ok();
            return (written == Some(size)).then_some(block);
        }
    }
    (block.len() == size).then_some(block)
}

/// The first bytes of all elements, then the second ones, and so on; what is left over at the end stays as it is.
fn shuffle(block: &[u8], element: usize) -> Vec<u8> {
    let count = block.len() / element;
    let mut to = vec![0; block.len()];
    for (at, plane) in to.chunks_exact_mut(count.max(1)).take(element).enumerate() {
        let from = block.iter().skip(at).step_by(element);
        plane.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
    }
    to[count * element..].copy_from_slice(&block[count * element..]);
    to
}

fn unshuffle(block: &[u8], element: usize) -> Vec<u8> {
    let count = block.len() / element;
    let mut to = vec![0; block.len()];
    for (at, plane) in block.chunks_exact(count.max(1)).take(element).enumerate() {
        let to = to.iter_mut().skip(at).step_by(element);
        to.zip(plane).for_each(|(to, from)| *to = *from);
    }
    to[count * element..].copy_from_slice(&block[count * element..]);
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smooth() -> Vec<u8> {
        (0..8000)
            .flat_map(|n| (f64::from(n) * 0.25).to_le_bytes())
            .collect()
    }

    #[test]
    fn what_is_packed_comes_back() {
        let block = smooth();
        for codec in Compression::built() {
            for shuffled in [false, true] {
                let way = Coding::Packed { codec, shuffled };
                assert_eq!(Coding::from_code(way.code()), Some(way));
                let packed = way.pack(&block, 8).unwrap();
                assert_eq!(way.unpack(&packed, 8, block.len()).as_deref(), Some(&block[..]));
                assert_eq!(way.unpack(&packed, 8, block.len() - 8), None);
                assert_eq!(way.unpack(&packed, 8, block.len() + 8), None);
                assert_eq!(way.unpack(&packed[..packed.len() / 2], 8, block.len()), None);
            }
        }
        assert_eq!(Coding::from_code(4), None);
        assert_eq!(Coding::from_code(0x10), None);
    }

    #[test]
    fn what_is_damaged_does_no_harm() {
        let block = smooth();
        for codec in Compression::built() {
            let way = Coding::Packed {
                codec,
                shuffled: false,
            };
            let packed = way.pack(&block, 8).unwrap();
            for at in 0..packed.len().min(200) {
                let mut damaged = packed.clone();
                damaged[at] ^= 0x55;
                let _ = way.unpack(&damaged, 8, block.len());
            }
        }
    }

    #[test]
    fn shuffling_is_undone() {
        let bytes: Vec<u8> = (0..=250).collect();
        for element in [1, 2, 3, 8, 16, 300] {
            assert_eq!(unshuffle(&shuffle(&bytes, element), element), bytes);
        }
        assert_eq!(shuffle(&[1, 2, 3, 4, 5, 6, 7], 2), [1, 3, 5, 2, 4, 6, 7]);
    }

    #[test]
    fn a_probe_tells_noise_from_numbers() {
        let smooth = smooth();
        let noise: Vec<u8> = (0..64_000_u32)
            .scan(1_u64, |state, _| {
                *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                Some((*state >> 56) as u8)
            })
            .collect();
        for codec in Compression::built() {
            assert_ne!(Coding::probe(codec, smooth.chunks(8000), 8), Coding::Raw);
            assert_eq!(Coding::probe(codec, noise.chunks(8000), 8), Coding::Raw);
        }
    }

    #[cfg(not(feature = "zstd"))]
    #[test]
    fn without_zstd_nothing_is_packed_and_nothing_is_taken_for_damage() {
        let way = Coding::from_code(3).unwrap();
        assert!(!way.is_built() && Coding::from_code(2).unwrap().is_built());
        assert_eq!(way.pack(&smooth(), 8), None);
        assert_eq!(Compression::of_filter(Compression::Zstd.filter()), None);
    }
}
