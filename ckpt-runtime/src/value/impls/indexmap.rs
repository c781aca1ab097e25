//! `IndexMap` and `IndexSet` of `indexmap` 2 (feature `indexmap`): stored in their order.

use std::hash::{BuildHasher, Hash};

use ::indexmap::{IndexMap, IndexSet};

use super::maps::{load_map, load_set, save_map, save_set};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach, owned};

impl<K: Checkpoint + Eq + Hash, V: Checkpoint, S: BuildHasher + Default> Checkpoint for IndexMap<K, V, S> {
    fn save(&self, to: &mut Encoder<'_>) {
        owned::save(self, to, |map, to| {
            save_map(map.len(), map.keys(), map.values(), to)
        });
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        owned::load(from, |from| load_map(from, Self::len))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<K>();
        to.into_part::<V>();
    }
}

impl<T: Checkpoint + Eq + Hash, S: BuildHasher + Default> Checkpoint for IndexSet<T, S> {
    fn save(&self, to: &mut Encoder<'_>) {
        owned::save(self, to, |set, to| save_set(set.len(), set.iter(), to));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        owned::load(from, |from| load_set(from, Self::len))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::{everywhere, round_trip};

    #[test]
    fn the_order_comes_back() {
        let map =
            IndexMap::<_, _>::from_iter([("z".to_owned(), 1), ("a".to_owned(), 2), ("m".to_owned(), 3)]);
        assert!(round_trip(&map).iter().eq(map.iter()));
        everywhere(&[map, IndexMap::new()]);
        let set = IndexSet::<_>::from_iter([9, 3, 7]);
        assert!(round_trip(&set).iter().eq(set.iter()));
        everywhere(&[set, IndexSet::new()]);
    }
}
