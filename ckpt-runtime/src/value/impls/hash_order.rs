//! The order in which a hash table is gone over, where its hasher is the same in every process (`FxHashMap` and others):
//! such a program has the same answer every time, also where that depends on the order. A table of std's own hasher has
//! another order in every process.
//!
//! A key stands in the first free place behind the one that its hash says, with the first place behind the last. Put in
//! by the order of their places, from a place behind a free one, all come to stand where they were. That holds of
//! tables that nothing was taken out of; of others as long as no free place is left where one stood.

use std::collections::HashSet;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::hint::black_box;

/// Tables may be this many times larger than their entries need, as powers of two; small ones up to so many places.
const LARGER: u32 = 6;
const SMALL: usize = 1 << 16;
/// More keys than this do not stand at the beginning of a table in place of its end.
const AROUND: usize = 64;
/// So many keys are looked at before one that may stand behind a free place.
const WINDOW: usize = 32;
/// So many of those are tried.
const TRIES: usize = 64;

/// Whether a hasher gives the key the same number whenever it is made.
pub(super) fn is_fixed<K: Hash, S: BuildHasher + Default>(key: Option<&K>, hasher: &S) -> bool {
    key.is_some_and(|key| hash_of(key, &S::default()) == hash_of(key, hasher))
}

/// The hash of a key. The compiler does not see which hasher gives it: rustc draws a hasher into the functions of the program
/// that use it only where they are few, and this would be one more.
pub(super) fn hash_of<K: Hash, S: BuildHasher>(key: &K, hasher: &S) -> u64 {
    let mut state = hasher.build_hasher();
    feed(key, black_box(&mut state));
    state.finish()
}

#[inline(never)]
fn feed<K: Hash>(key: &K, mut to: &mut dyn Hasher) {
    key.hash(&mut to);
}

/// How keys are put into a table.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Arrangement {
    /// What the table has room for.
    pub(super) capacity: usize,
    /// So many keys are put in behind all others.
    pub(super) last: usize,
}

/// How keys of these hashes are put into a table that is gone over in their order; nothing where that is not known.
/// A table that is as large as they need has room for `least`.
pub(super) fn arrangement(hashes: &[u64], least: usize) -> Option<Arrangement> {
    let fewest = least.checked_add(1)?.checked_next_power_of_two()?;
    let most = fewest.checked_shl(LARGER)?.max(SMALL);
    let sizes = std::iter::successors(Some(fewest), |places| places.checked_mul(2));
    sizes.take_while(|&places| places <= most).find_map(|places| {
        // One place of eight stays free, in small tables one in all.
        let capacity = if places <= 8 { places - 1 } else { places / 8 * 7 };
        let last = last_of(hashes, capacity, places)?;
        Some(Arrangement { capacity, last })
    })
}

fn last_of(hashes: &[u64], capacity: usize, places: usize) -> Option<usize> {
    match tried(hashes, capacity, 0) {
        Tried::Same => return Some(0),
        Tried::Other => return None,
        Tried::Nearly => {}
    }
    // Some at the beginning belong to the end: they are put in behind it, from where a place is free. That is so most
    // likely where the hashes of keys that follow each other are far apart.
    let place = |hash: &u64| *hash as usize & (places - 1);
    let gap = |index: usize| {
        let before = &hashes[index.saturating_sub(WINDOW)..index];
        let before = before.iter().map(place).max().unwrap_or(0);
        place(&hashes[index]).saturating_sub(before)
    };
    let mut likely: Vec<usize> = (1..hashes.len()).collect();
    likely.sort_by_cached_key(|&index| std::cmp::Reverse(gap(index)));
    likely.truncate(TRIES);
    likely
        .into_iter()
        .find(|&last| matches!(tried(hashes, capacity, last), Tried::Same))
}

enum Tried {
    Same,
    /// But for some at the beginning.
    Nearly,
    Other,
}

/// Puts stand-ins of the keys into a table.
fn tried(hashes: &[u64], capacity: usize, last: usize) -> Tried {
    let mut table: HashSet<Key, BuildHasherDefault<Told>> =
        HashSet::with_capacity_and_hasher(capacity, BuildHasherDefault::default());
    let keys = { hashes.iter().enumerate() }.map(|(index, &hash)| Key { hash, index });
    table.extend(keys.clone().skip(last).chain(keys.take(last)));
    let mut expected = 0;
    let mut jumps = 0;
    for key in &table {
        if key.index != expected {
            jumps += 1;
            if jumps > 2 * AROUND {
                return Tried::Other;
            }
        }
        expected = key.index + 1;
    }
    match jumps {
        0 => Tried::Same,
        _ => Tried::Nearly,
    }
}

/// A key, by its hash.
#[derive(PartialEq, Eq)]
struct Key {
    hash: u64,
    index: usize,
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// The hash is the number that it is told.
#[derive(Default)]
struct Told(u64);

impl Hasher for Told {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 << 8) | u64::from(byte);
        }
    }
    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::hash::{BuildHasherDefault, Hasher};

    use crate::value::tests::round_trip;

    /// A hasher as those of programs that need a fast one.
    #[derive(Default)]
    struct Fast(u64);

    impl Hasher for Fast {
        fn finish(&self) -> u64 {
            self.0.rotate_left(26)
        }
        fn write(&mut self, bytes: &[u8]) {
            for &byte in bytes {
                self.0 = (self.0.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95);
            }
        }
    }

    type Table = HashMap<u32, u32, BuildHasherDefault<Fast>>;

    fn drawn(seed: &mut u64) -> u32 {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 40) as u32
    }

    /// And it goes on as the table itself would have.
    fn goes_on_in_its_order(table: &Table) {
        let mut again = round_trip(table);
        let mut table = table.clone();
        assert!(again.iter().eq(table.iter()), "{} entries", table.len());
        let mut seed = 7;
        for _ in 0..table.len() * 2 + 20 {
            let key = drawn(&mut seed);
            table.insert(key, 0);
            again.insert(key, 0);
        }
        assert!(again.iter().eq(table.iter()), "{} entries later", table.len());
    }

    #[test]
    fn a_table_is_gone_over_in_its_order() {
        let mut seed = 1;
        for count in (0..300).chain([1000, 1792, 1793, 50_000]) {
            let table: Table = (0..count).map(|n| (drawn(&mut seed), n)).collect();
            // One that has grown, as a copy has not.
            let mut grown = Table::default();
            grown.extend(table.keys().map(|&key| (key, 1)).take(0));
            for n in 0..count {
                grown.insert(drawn(&mut seed), n);
            }
            goes_on_in_its_order(&grown);
        }
    }

    #[test]
    fn a_table_with_room_is_as_large_as_it_was() {
        let mut seed = 1;
        for count in [20, 100, 700] {
            for room in [100, 1000, 5000] {
                let mut table = Table::with_capacity_and_hasher(room, BuildHasherDefault::default());
                table.extend((0..count).map(|n| (drawn(&mut seed), n)));
                let again = round_trip(&table);
                assert!(again.iter().eq(table.iter()), "{count} of {room}");
                assert_eq!(again.capacity(), table.capacity(), "{count} of {room}");
            }
        }
    }

    #[test]
    fn what_has_no_order_of_its_own_comes_back_as_it_was() {
        let table: HashMap<u32, u32> = (0..100).map(|n| (n, n)).collect();
        assert_eq!(round_trip(&table), table);
        let mut emptied: Table = (0..1000).map(|n| (n, n)).collect();
        emptied.retain(|key, _| key % 3 == 0);
        assert_eq!(round_trip(&emptied), emptied);
    }
}
