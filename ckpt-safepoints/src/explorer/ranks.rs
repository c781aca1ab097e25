//! The ranks of one state. States are many and differ in few ranks, so those that are the same are shared.

use crate::machine::Rank;
use std::hash::Hasher;
use std::ops::{Index, IndexMut};
use std::rc::Rc;

/// All ranks, by their number.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Ranks(Vec<Rc<Rank>>);

impl Ranks {
    /// These ranks.
    pub(crate) fn new(ranks: impl Iterator<Item = Rank>) -> Self {
        Self(ranks.map(Rc::new).collect())
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// One after the other.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Rank> + Clone {
        self.0.iter().map(|rank| &**rank)
    }

    /// The same, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Rank> {
        self.0.iter_mut().map(Rc::make_mut)
    }
}

impl Index<usize> for Ranks {
    type Output = Rank;
    fn index(&self, index: usize) -> &Rank {
        &self.0[index]
    }
}

impl IndexMut<usize> for Ranks {
    fn index_mut(&mut self, index: usize) -> &mut Rank {
        Rc::make_mut(&mut self.0[index])
    }
}

/// A hash of 128 bits in one pass: states are distinguished by it alone.
#[derive(Debug, Clone)]
pub(crate) struct Digest(u128);

impl Digest {
    /// Of nothing yet.
    pub(crate) fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    /// Of all that was written.
    pub(crate) fn whole(&self) -> u128 {
        // What was written last must reach every bit.
        let mixed = (self.0 ^ (self.0 >> 67)).wrapping_mul(Self::FACTOR);
        mixed ^ (mixed >> 59)
    }

    const FACTOR: u128 = 0x0123_4567_89ab_cdef_da94_2042_e4dd_58b5;

    fn add(&mut self, word: u128) {
        self.0 = (self.0 ^ word).wrapping_mul(Self::FACTOR).rotate_left(41);
    }
}

impl Hasher for Digest {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(16) {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u128::from_le_bytes(word));
        }
        self.add(bytes.len() as u128);
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word.into());
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u128);
    }

    fn write_u128(&mut self, word: u128) {
        self.add(word);
    }

    fn finish(&self) -> u64 {
        self.whole() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::Digest;
    use std::collections::HashSet;
    use std::hash::Hash;

    #[test]
    fn what_differs_has_another_digest() {
        let digest = |value: &dyn Fn(&mut Digest)| {
            let mut digest = Digest::new();
            value(&mut digest);
            digest.whole()
        };
        let mut seen = HashSet::new();
        for a in 0..200_u64 {
            for b in 0..200_i128 {
                assert!(seen.insert(digest(&|into| (a, b, "text").hash(into))), "{a} {b}");
            }
        }
        assert!(seen.insert(digest(&|into| (1_u64, 1_i128, "texu").hash(into))));
    }
}
