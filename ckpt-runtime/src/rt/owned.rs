//! What a `for` with a site in it may go over by value: collections, and adaptors that only choose or number their items.
//!
//! It becomes a vector's iterator, which can be saved half-way. Adaptors that run a closure are not among these: it would
//! run for all items before the first turn of the loop.

use std::collections::{
    BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque, binary_heap, btree_map,
    btree_set, hash_map, hash_set, linked_list, vec_deque,
};
use std::{array, iter, option, vec};

/// What owns its items, none of which is computed on the way.
pub trait Owned: IntoIterator {}

impl<K, V> Owned for BTreeMap<K, V> {}
impl<T> Owned for BTreeSet<T> {}
impl<T> Owned for BinaryHeap<T> {}
impl<K, V, S> Owned for HashMap<K, V, S> {}
impl<T, S> Owned for HashSet<T, S> {}
impl<T> Owned for LinkedList<T> {}
impl<T> Owned for VecDeque<T> {}
impl<T> Owned for Option<T> {}
impl<T, const N: usize> Owned for [T; N] {}

/// An iterator over items that it owns: of a collection, or an adaptor that chooses, orders or numbers them.
pub trait Items: Iterator {}

impl<T> Items for vec::IntoIter<T> {}

macro_rules! items {
    ($([$($parameters:tt)*] $iterator:ty $(, $($bound:ty: $traits:path),*)?;)*) => {
        $(
            impl<$($parameters)*> Items for $iterator where Self: Iterator $(, $($bound: $traits),*)? {}
            impl<$($parameters)*> Owned for $iterator where Self: Iterator $(, $($bound: $traits),*)? {}
        )*
    };
}

items! {
    [T, const N: usize] array::IntoIter<T, N>;
    [T] option::IntoIter<T>;
    [T] vec_deque::IntoIter<T>;
    [T] linked_list::IntoIter<T>;
    [T] binary_heap::IntoIter<T>;
    [T] btree_set::IntoIter<T>;
    [T] hash_set::IntoIter<T>;
    [K, V] btree_map::IntoIter<K, V>;
    [K, V] btree_map::IntoKeys<K, V>;
    [K, V] btree_map::IntoValues<K, V>;
    [K, V] hash_map::IntoIter<K, V>;
    [K, V] hash_map::IntoKeys<K, V>;
    [K, V] hash_map::IntoValues<K, V>;
    [I] iter::Enumerate<I>, I: Items;
    [I] iter::Fuse<I>, I: Items;
    [I] iter::Rev<I>, I: Items;
    [I] iter::Skip<I>, I: Items;
    [I] iter::StepBy<I>, I: Items;
    [I] iter::Take<I>, I: Items;
    [I: Iterator] iter::Peekable<I>, I: Items;
    [I] iter::Flatten<I>, I: Items, I::Item: IntoIterator;
    [A, B] iter::Chain<A, B>, A: Items, B: Items;
    [A, B] iter::Zip<A, B>, A: Items, B: Items;
}
