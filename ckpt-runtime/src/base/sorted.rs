//! Maps and sets in the order of their keys, in lists: for what is small, or changes seldom. A tree of the standard library is
//! quicker where there are many thousands; but it is compiled again for every type, and was a fifth of the code of this library.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::ops::{Deref, Index, RangeFrom};
use std::{slice, vec};

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A map in the order of its keys.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortedMap<K, V>(Vec<(K, V)>);

/// A set in order.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SortedSet<T>(Vec<T>);

/// The place of the first element that is not before what is looked for, and whether it is that.
fn found(count: usize, compare: &dyn Fn(usize) -> Ordering) -> Result<usize, usize> {
    let (mut first, mut end) = (0, count);
    while first < end {
        let middle = first + (end - first) / 2;
        match compare(middle) {
            Ordering::Less => first = middle + 1,
            Ordering::Equal => return Ok(middle),
            Ordering::Greater => end = middle,
        }
    }
    Err(first)
}

/// The places of the elements in their order, where they do not stand so: those that are equal as they stood, or only the last of
/// them.
fn order(count: usize, is_set: bool, compare: &dyn Fn(usize, usize) -> Ordering) -> Option<Vec<usize>> {
    let are_right = |at| match compare(at - 1, at) {
        Ordering::Less => true,
        Ordering::Equal => !is_set,
        Ordering::Greater => false,
    };
    if (1..count).all(are_right) {
        return None;
    }
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&one, &other| compare(one, other));
    if is_set {
        let is_last = |place: &usize| {
            let next = order.get(place + 1);
            next.is_none_or(|&next| compare(order[*place], next) != Ordering::Equal)
        };
        order = (0..count).filter(is_last).map(|place| order[place]).collect();
    }
    Some(order)
}

fn in_order<T>(list: Vec<T>, is_set: bool, compare: fn(&T, &T) -> Ordering) -> Vec<T> {
    let Some(order) = order(list.len(), is_set, &|one, other| {
        compare(&list[one], &list[other])
    }) else {
        return list;
    };
    let mut rest = Vec::with_capacity(list.len());
    for element in list {
        rest.push(Some(element));
    }
    let mut sorted = Vec::with_capacity(order.len());
    for place in order {
        if let Some(element) = rest[place].take() {
            sorted.push(element);
        }
    }
    sorted
}

/// Sorts as the standard library does, with a tenth of the code for each type.
pub(crate) fn sort_by<T>(list: &mut Vec<T>, compare: fn(&T, &T) -> Ordering) {
    *list = in_order(std::mem::take(list), false, compare);
}

impl<K, V> SortedMap<K, V> {
    pub const fn new() -> Self {
        SortedMap(Vec::new())
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> Pairs<'_, K, V> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    pub fn first_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next()
    }

    pub fn last_key_value(&self) -> Option<(&K, &V)> {
        self.iter().next_back()
    }

    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &K> + ExactSizeIterator + Clone {
        self.0.iter().map(|(key, _)| key)
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = &V> + ExactSizeIterator + Clone {
        self.0.iter().map(|(_, value)| value)
    }

    pub fn into_values(self) -> impl DoubleEndedIterator<Item = V> + ExactSizeIterator {
        self.0.into_iter().map(|(_, value)| value)
    }

    pub fn retain(&mut self, mut stays: impl FnMut(&K, &mut V) -> bool) {
        self.0.retain_mut(|(key, value)| stays(key, value));
    }
}

impl<K: Ord, V> SortedMap<K, V> {
    fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Result<usize, usize>
    where
        K: Borrow<Q>,
    {
        found(self.0.len(), &|at| self.0[at].0.borrow().cmp(key))
    }

    /// What stands at this key and behind it.
    pub fn range(&self, from: RangeFrom<K>) -> Pairs<'_, K, V> {
        let (Ok(first) | Err(first)) = self.find(&from.start);
        self.0[first..].iter().map(|(key, value)| (key, value))
    }

    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(at) => Some(&self.0[at].1),
            Err(_) => None,
        }
    }

    pub fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(at) => Some(&mut self.0[at].1),
            Err(_) => None,
        }
    }

    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.find(key).is_ok()
    }

    /// Puts a value under a key, and gives back the one that was there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.find(&key) {
            Ok(at) => Some(std::mem::replace(&mut self.0[at].1, value)),
            Err(at) => {
                self.0.insert(at, (key, value));
                None
            }
        }
    }

    pub fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        match self.find(key) {
            Ok(at) => Some(self.0.remove(at).1),
            Err(_) => None,
        }
    }

    /// The place of a key.
    pub fn entry(&mut self, key: K) -> Entry<'_, K, V> {
        Entry { map: self, key }
    }
}

/// The place of a key, which may have a value.
pub(crate) struct Entry<'a, K, V> {
    map: &'a mut SortedMap<K, V>,
    key: K,
}

impl<'a, K: Ord, V> Entry<'a, K, V> {
    /// The value, made if there is none.
    pub fn or_insert_with(self, make: impl FnOnce() -> V) -> &'a mut V {
        let at = match self.map.find(&self.key) {
            Ok(at) => at,
            Err(at) => {
                self.map.0.insert(at, (self.key, make()));
                at
            }
        };
        &mut self.map.0[at].1
    }

    pub fn or_insert(self, value: V) -> &'a mut V {
        self.or_insert_with(|| value)
    }

    pub fn or_default(self) -> &'a mut V
    where
        V: Default,
    {
        self.or_insert_with(V::default)
    }
}

/// Keys with values.
pub(crate) type Pairs<'a, K, V> = std::iter::Map<slice::Iter<'a, (K, V)>, fn(&'a (K, V)) -> (&'a K, &'a V)>;

impl<'a, K, V> IntoIterator for &'a SortedMap<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Pairs<'a, K, V>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<K, V> IntoIterator for SortedMap<K, V> {
    type Item = (K, V);
    type IntoIter = vec::IntoIter<(K, V)>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for SortedMap<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        SortedMap(in_order(
            pairs.into_iter().collect(),
            true,
            |(one, _), (other, _)| one.cmp(other),
        ))
    }
}

impl<K: Ord, V> Extend<(K, V)> for SortedMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, pairs: I) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(pairs);
        *self = all.into_iter().collect();
    }
}

impl<K: Ord, V, const N: usize> From<[(K, V); N]> for SortedMap<K, V> {
    fn from(pairs: [(K, V); N]) -> Self {
        pairs.into_iter().collect()
    }
}

impl<K, V> Default for SortedMap<K, V> {
    fn default() -> Self {
        SortedMap::new()
    }
}

impl<K: Debug, V: Debug> Debug for SortedMap<K, V> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.debug_map().entries(self).finish()
    }
}

impl<K: Ord + Borrow<Q>, V, Q: Ord + ?Sized> Index<&Q> for SortedMap<K, V> {
    type Output = V;
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("the key is there")
    }
}

impl<K: Serialize, V: Serialize> Serialize for SortedMap<K, V> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self)
    }
}

impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Deserialize<'de> for SortedMap<K, V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OfPairs<K, V>(PhantomData<(K, V)>);
        impl<'de, K: Ord + Deserialize<'de>, V: Deserialize<'de>> Visitor<'de> for OfPairs<K, V> {
            type Value = SortedMap<K, V>;
            fn expecting(&self, to: &mut Formatter<'_>) -> fmt::Result {
                to.write_str("a map")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = from.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs.into_iter().collect())
            }
        }
        from.deserialize_map(OfPairs(PhantomData))
    }
}

impl<T> SortedSet<T> {
    pub const fn new() -> Self {
        SortedSet(Vec::new())
    }

    pub fn retain(&mut self, stays: impl FnMut(&T) -> bool) {
        self.0.retain(stays);
    }
}

impl<T: Ord> SortedSet<T> {
    fn find<Q: Ord + ?Sized>(&self, wanted: &Q) -> Result<usize, usize>
    where
        T: Borrow<Q>,
    {
        found(self.0.len(), &|at| self.0[at].borrow().cmp(wanted))
    }

    pub fn contains<Q: Ord + ?Sized>(&self, wanted: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        self.find(wanted).is_ok()
    }

    /// Puts a value in, and says whether it was not there.
    pub fn insert(&mut self, value: T) -> bool {
        match self.find(&value) {
            Ok(_) => false,
            Err(at) => {
                self.0.insert(at, value);
                true
            }
        }
    }

    /// Takes a value out, and says whether it was there.
    pub fn remove<Q: Ord + ?Sized>(&mut self, wanted: &Q) -> bool
    where
        T: Borrow<Q>,
    {
        match self.find(wanted) {
            Ok(at) => {
                self.0.remove(at);
                true
            }
            Err(_) => false,
        }
    }
}

impl<T: Ord> SortedSet<T> {
    /// The values that are not in another set.
    pub fn difference<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = &'a T> + Clone {
        self.0.iter().filter(|value| !other.contains(*value))
    }
}

impl<T> Deref for SortedSet<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<'a, T> IntoIterator for &'a SortedSet<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<T> IntoIterator for SortedSet<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;
    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<T: Ord> FromIterator<T> for SortedSet<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        SortedSet(in_order(values.into_iter().collect(), true, T::cmp))
    }
}

impl<T: Ord> Extend<T> for SortedSet<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        let mut all = std::mem::take(&mut self.0);
        all.extend(values);
        *self = all.into_iter().collect();
    }
}

impl<T: Ord, const N: usize> From<[T; N]> for SortedSet<T> {
    fn from(values: [T; N]) -> Self {
        values.into_iter().collect()
    }
}

impl<T> Default for SortedSet<T> {
    fn default() -> Self {
        SortedSet::new()
    }
}

impl<T: Debug> Debug for SortedSet<T> {
    fn fmt(&self, to: &mut Formatter<'_>) -> fmt::Result {
        to.debug_set().entries(self).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, rng_seed: proptest::test_runner::RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn they_do_what_trees_do(pairs in prop::collection::vec((0_u8..20, any::<u16>()), 0..30), more in prop::collection::vec((0_u8..20, any::<u16>()), 0..30)) {
            let mut tree: BTreeMap<u8, u16> = pairs.iter().copied().collect();
            let mut map: SortedMap<u8, u16> = pairs.iter().copied().collect();
            for (key, value) in &more {
                match value % 3 {
                    0 => prop_assert_eq!(map.remove(key), tree.remove(key)),
                    1 => prop_assert_eq!(map.insert(*key, *value), tree.insert(*key, *value)),
                    _ => prop_assert_eq!(map.entry(*key).or_insert(*value), tree.entry(*key).or_insert(*value)),
                }
                prop_assert_eq!(map.get(key), tree.get(key));
            }
            prop_assert!(map.iter().eq(&tree));
            tree.extend(pairs.iter().copied());
            map.extend(pairs.iter().copied());
            prop_assert!(map.iter().eq(&tree));
            let text = serde_json::to_string(&map).unwrap();
            prop_assert_eq!(&text, &serde_json::to_string(&tree).unwrap());
            prop_assert_eq!(&serde_json::from_str::<SortedMap<u8, u16>>(&text).unwrap(), &map);
            tree.retain(|_, value| *value % 2 == 0);
            map.retain(|_, value| *value % 2 == 0);
            prop_assert!(map.iter().eq(&tree));
        }

        #[test]
        fn lists_are_sorted_as_elsewhere(list in prop::collection::vec((0_u8..5, any::<u16>()), 0..30)) {
            let (mut one, mut other) = (list.clone(), list);
            one.sort_by_key(|(key, _)| *key);
            sort_by(&mut other, |(one, _), (other, _)| one.cmp(other));
            prop_assert_eq!(one, other);
        }

        #[test]
        fn sets_do_what_trees_do(values in prop::collection::vec(0_u8..20, 0..30), more in prop::collection::vec((0_u8..20, any::<bool>()), 0..30)) {
            let mut tree: BTreeSet<u8> = values.iter().copied().collect();
            let mut set: SortedSet<u8> = values.iter().copied().collect();
            for (value, goes) in more {
                match goes {
                    true => prop_assert_eq!(set.remove(&value), tree.remove(&value)),
                    false => prop_assert_eq!(set.insert(value), tree.insert(value)),
                }
                prop_assert_eq!(set.contains(&value), tree.contains(&value));
            }
            set.extend(values.iter().copied());
            tree.extend(values);
            prop_assert!(set.iter().eq(&tree));
        }
    }
}
