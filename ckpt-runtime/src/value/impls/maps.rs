//! Maps and sets. Hash tables are stored in the order of their keys, so that equal states give equal files; those whose
//! hasher is the same every time in the order in which they are gone over, which a restart keeps.

use std::collections::{BTreeMap, BTreeSet, btree_map, btree_set, hash_map, hash_set};
use std::hash::{BuildHasher, Hash};

use super::hash_order;
use crate::value::items::{collections, items};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach, owned, rows};

/// Hash tables of the crates that have them, by the module of their `HashMap` and `HashSet`.
macro_rules! hash_tables {
    ($($from:ident)::+) => {
        impl<K: Checkpoint + Eq + Hash, V: Checkpoint, S: BuildHasher + Default> Checkpoint for $($from)::+::HashMap<K, V, S> {
            fn save(&self, to: &mut Encoder<'_>) {
                owned::save(self, to, |map, to| {
                    if !to.has_room(map.len() * size_of::<(&K, &V)>()) {
                        return;
                    }
                    if hash_order::is_fixed(map.keys().next(), map.hasher()) {
                        return save_map(map.len(), map.keys(), map.values(), to);
                    }
                    let entries: Vec<(&K, &V)> = map.iter().collect();
                    let Some(order) = rows::order_of(entries.iter().map(|entry| entry.0), to) else {
                        return;
                    };
                    let keys = order.iter().map(|&row| entries[row].0);
                    save_map(entries.len(), keys, order.iter().map(|&row| entries[row].1), to);
                });
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                owned::load(from, |from| {
                    let (keys, values) = from.map::<K, V>()?;
                    let count = keys.len();
                    let (capacity, last) = in_order::<K, S>(&keys, |count| {
                        Self::with_capacity_and_hasher(count, S::default()).capacity()
                    });
                    let mut map = Self::with_capacity_and_hasher(capacity, S::default());
                    let mut entries: Vec<(K, V)> = keys.into_iter().zip(values).collect();
                    entries.rotate_left(last);
                    map.extend(entries);
                    distinct(map.len(), count).map(|()| map)
                })
            }
            fn reach(to: &mut Reach) {
                to.into_part::<K>();
                to.into_part::<V>();
            }
        }
        impl<T: Checkpoint + Eq + Hash, S: BuildHasher + Default> Checkpoint for $($from)::+::HashSet<T, S> {
            fn save(&self, to: &mut Encoder<'_>) {
                owned::save(self, to, |set, to| {
                    if !to.has_room(set.len() * size_of::<&T>()) {
                        return;
                    }
                    if hash_order::is_fixed(set.iter().next(), set.hasher()) {
                        return save_set(set.len(), set.iter(), to);
                    }
                    let items: Vec<&T> = set.iter().collect();
                    let Some(order) = rows::order_of(items.iter().copied(), to) else {
                        return;
                    };
                    save_set(items.len(), order.iter().map(|&row| items[row]), to);
                });
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                owned::load(from, |from| {
                    let (count, mut items) = from.list()?;
                    let mut items = T::load_vec(&mut items, count)?;
                    let (capacity, last) = in_order::<T, S>(&items, |count| {
                        Self::with_capacity_and_hasher(count, S::default()).capacity()
                    });
                    let mut set = Self::with_capacity_and_hasher(capacity, S::default());
                    items.rotate_left(last);
                    set.extend(items);
                    distinct(set.len(), count).map(|()| set)
                })
            }
            fn reach(to: &mut Reach) {
                to.into_part::<T>();
            }
        }
        collections! {
            [K, V, S] $($from)::+::HashMap<K, V, S>;
            [T, S] $($from)::+::HashSet<T, S>;
        }
    };
}

hash_tables!(std::collections);
#[cfg(feature = "hashbrown-0.14")]
hash_tables!(hashbrown_0_14);
#[cfg(feature = "hashbrown-0.15")]
hash_tables!(hashbrown_0_15);
#[cfg(feature = "hashbrown")]
hash_tables!(hashbrown);

/// What a hash table of these keys has room for, and how many of its first keys are put in last, so that it is gone over
/// in their order if its hasher is the same every time.
fn in_order<K: Hash, S: BuildHasher + Default>(
    keys: &[K],
    capacity_for: impl Fn(usize) -> usize,
) -> (usize, usize) {
    let hasher = S::default();
    let found = hash_order::is_fixed(keys.first(), &hasher).then(|| {
        let hashes: Vec<u64> = keys.iter().map(|key| hash_order::hash_of(key, &hasher)).collect();
        hash_order::arrangement(&hashes, capacity_for(keys.len()))
    });
    found
        .flatten()
        .map_or((keys.len(), 0), |found| (found.capacity, found.last))
}

impl<K: Checkpoint + Ord, V: Checkpoint> Checkpoint for BTreeMap<K, V> {
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

collections! {
    [K, V] BTreeMap<K, V>;
    [T] BTreeSet<T>;
}

items! {
    [T] btree_set::IntoIter<T>;
    [T] hash_set::IntoIter<T>;
    [K, V] btree_map::IntoIter<K, V>;
    [K, V] btree_map::IntoKeys<K, V>;
    [K, V] btree_map::IntoValues<K, V>;
    [K, V] hash_map::IntoIter<K, V>;
    [K, V] hash_map::IntoKeys<K, V>;
    [K, V] hash_map::IntoValues<K, V>;
}

pub(super) fn save_map<'a, K: Checkpoint + 'a, V: Checkpoint + 'a>(
    count: usize,
    keys: impl Iterator<Item = &'a K> + Clone,
    values: impl Iterator<Item = &'a V> + Clone,
    to: &mut Encoder<'_>,
) {
    // As with lists: in a batch an empty map must not show its types.
    if count == 0 && to.is_batch() {
        to.map_length(0);
    } else {
        to.map(count, keys, values);
    }
}

pub(super) fn load_map<K: Checkpoint, V: Checkpoint, M: FromIterator<(K, V)>>(
    from: &mut Decoder<'_>,
    length: fn(&M) -> usize,
) -> Result<M, LoadError> {
    let (keys, values) = from.map::<K, V>()?;
    let count = keys.len();
    let map: M = keys.into_iter().zip(values).collect();
    distinct(length(&map), count).map(|()| map)
}

impl<T: Checkpoint + Ord> Checkpoint for BTreeSet<T> {
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

pub(super) fn save_set<'a, T: Checkpoint + 'a>(
    count: usize,
    items: impl Iterator<Item = &'a T> + Clone,
    to: &mut Encoder<'_>,
) {
    let shows_items = count > 0 || !to.is_batch();
    let mut list = to.list(count);
    if shows_items {
        T::save_each(items, &mut list);
    }
}

pub(super) fn load_set<T: Checkpoint, S: FromIterator<T>>(
    from: &mut Decoder<'_>,
    length: fn(&S) -> usize,
) -> Result<S, LoadError> {
    let (count, mut items) = from.list()?;
    let set: S = T::load_vec(&mut items, count)?.into_iter().collect();
    distinct(length(&set), count).map(|()| set)
}

/// Two keys of the file that are one to the program: its `Eq` looks at less, or at more, than is saved.
fn distinct(found: usize, stored: usize) -> Result<(), LoadError> {
    if found == stored {
        return Ok(());
    }
    Err(LoadError::invalid(format_args!(
        "of {stored} keys only {found} are different to the program; its `Eq` and what is saved of a key do not agree"
    )))
}

#[cfg(all(test, feature = "hashbrown"))]
mod tests {
    use std::hash::{BuildHasherDefault, DefaultHasher};

    use crate::value::tests::{everywhere, round_trip};

    #[test]
    fn tables_of_another_crate_come_back_in_their_order() {
        type Fixed = BuildHasherDefault<DefaultHasher>;
        let mut map = hashbrown::HashMap::<String, u32, Fixed>::default();
        let mut set = hashbrown::HashSet::<(i64, i64), Fixed>::default();
        for n in 0..500 {
            map.insert(format!("key {n}"), n);
            set.insert((i64::from(n) * 7 % 500, 1));
        }
        assert!(round_trip(&map).iter().eq(map.iter()));
        assert!(round_trip(&set).iter().eq(set.iter()));
        everywhere(&[set, hashbrown::HashSet::default()]);
    }
}
