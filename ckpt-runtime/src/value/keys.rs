//! Maps by types and by addresses. Generic functions look into them, which are compiled with the program: a hasher of their
//! own is a few instructions there, and leaves the standard library's to the program. That is drawn into the functions that use it
//! only where they are few, and a program with maps would be slower by half.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Keys are numbers that nobody chooses.
pub(super) type Keyed<K, V> = HashMap<K, V, BuildHasherDefault<OfNumbers>>;
/// The same without values.
pub(super) type Keys<K> = HashSet<K, BuildHasherDefault<OfNumbers>>;

/// Multiplicative hashing (Knuth, The Art of Computer Programming 3, 6.4). The upper half of the product, in which every bit of
/// the key is, comes below, where maps look first.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct OfNumbers(u64);

impl Hasher for OfNumbers {
    #[inline]
    fn write_u64(&mut self, number: u64) {
        let mixed = self.0.rotate_left(5) ^ number;
        self.0 = mixed.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(32);
    }

    #[inline]
    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::any::TypeId;

    #[test]
    fn addresses_next_to_each_other_are_far_apart() {
        let hash = |address: usize| {
            let mut hasher = OfNumbers::default();
            hasher.write_usize(address);
            hasher.finish()
        };
        let low: Keys<u64> = (0..4096).map(|at| hash(0x7f00_0000 + 16 * at) % 4096).collect();
        assert!(low.len() > 2000, "{}", low.len());
        let high: Keys<u64> = (0..128).map(|at| hash(0x7f00_0000 + 16 * at) >> 57).collect();
        assert!(high.len() > 60, "{}", high.len());
    }

    #[test]
    fn types_are_found_again() {
        let mut names = Keyed::default();
        names.insert(TypeId::of::<u8>(), "u8");
        names.insert(TypeId::of::<String>(), "String");
        assert_eq!(names.get(&TypeId::of::<String>()), Some(&"String"));
        assert_eq!(names.get(&TypeId::of::<u16>()), None);
    }
}
