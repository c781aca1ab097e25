//! What blocks give, joined in their order.
//!
//! Each function is given what comes of the blocks before, nothing in front of the first, and what comes of this one. With one
//! block everything is as it would be without blocks; with more of them, what is exact stays exact, and a
//! sum of floats is one of sums of parts, as those that rayon itself makes.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::hash::{BuildHasher, Hash};

use super::super::chains::Attempt;

/// What a parallel iterator collects its items in, which those of another block can be added to.
#[diagnostic::on_unimplemented(
    message = "E1218: what is collected in parallel is a `{Self}`, which cannot be put together of blocks of items",
    label = "a checkpoint would be taken between blocks",
    note = "instead: collect it into a `Vec`, and make of that what is wanted"
)]
pub trait Joined: Sized {
    /// Adds what another block has collected.
    fn join(&mut self, part: Self);

    /// Whether no block can change it any more.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        false
    }
}

macro_rules! joined {
    ($([$($parameters:tt)*] $collection:ty: $add:ident;)+) => {$(
        impl<$($parameters)*> Joined for $collection {
            #[inline]
            fn join(&mut self, #[allow(unused_mut)] mut part: Self) {
                joined!(@ $add self part);
            }
        }
    )+};
    (@ extend $all:ident $part:ident) => { $all.extend($part) };
    (@ append $all:ident $part:ident) => { $all.append(&mut $part) };
    (@ push_str $all:ident $part:ident) => { $all.push_str(&$part) };
}

joined! {
    [T] Vec<T>: append;
    [T] VecDeque<T>: append;
    [T] LinkedList<T>: append;
    [T: Ord] BinaryHeap<T>: append;
    [T: Ord] BTreeSet<T>: append;
    [K: Ord, V] BTreeMap<K, V>: append;
    [T: Eq + Hash, S: BuildHasher] HashSet<T, S>: extend;
    [K: Eq + Hash, V, S: BuildHasher] HashMap<K, V, S>: extend;
    [] String: push_str;
}

impl<T> Joined for Box<[T]> {
    fn join(&mut self, part: Self) {
        let mut all = std::mem::take(self).into_vec();
        all.extend(part.into_vec());
        *self = all.into_boxed_slice();
    }
}

impl Joined for () {
    #[inline(always)]
    fn join(&mut self, (): ()) {}
}

impl<A: Joined, B: Joined> Joined for (A, B) {
    #[inline]
    fn join(&mut self, part: Self) {
        self.0.join(part.0);
        self.1.join(part.1);
    }
}

/// As it is without blocks: nothing as soon as one item is nothing.
impl<C: Joined> Joined for Option<C> {
    fn join(&mut self, part: Self) {
        match (self.as_mut(), part) {
            (Some(all), Some(part)) => all.join(part),
            _ => *self = None,
        }
    }
    #[inline]
    fn is_settled(&self) -> bool {
        self.is_none()
    }
}

/// As it is without blocks: an error as soon as one item is one.
impl<C: Joined, E> Joined for Result<C, E> {
    fn join(&mut self, part: Self) {
        match (self.as_mut(), part) {
            (Ok(all), Ok(part)) => all.join(part),
            (Ok(_), Err(error)) => *self = Err(error),
            (Err(_), _) => {}
        }
    }
    #[inline]
    fn is_settled(&self) -> bool {
        self.is_err()
    }
}

/// A `collect`, `unzip` or `partition`.
#[inline]
pub fn joined<C: Joined>(before: Option<C>, part: C) -> Option<C> {
    Some(match before {
        Some(mut all) => {
            all.join(part);
            all
        }
        None => part,
    })
}

/// Whether no block can change what has been collected.
#[inline(always)]
pub fn is_settled<C: Joined>(before: &Option<C>) -> bool {
    before.as_ref().is_some_and(Joined::is_settled)
}

/// A `sum`, or `count`.
#[inline]
pub fn summed<S: std::iter::Sum<S>>(before: Option<S>, part: S) -> Option<S> {
    Some(match before {
        Some(sum) => [sum, part].into_iter().sum(),
        None => part,
    })
}

/// A `product`.
#[inline]
pub fn multiplied<P: std::iter::Product<P>>(before: Option<P>, part: P) -> Option<P> {
    Some(match before {
        Some(product) => [product, part].into_iter().product(),
        None => part,
    })
}

/// A `reduce`.
#[inline]
pub fn reduced<T>(before: Option<T>, part: T, by: impl FnOnce(T, T) -> T) -> Option<T> {
    Some(match before {
        Some(before) => by(before, part),
        None => part,
    })
}

/// A `reduce_with`: what has no items does not count.
#[inline]
pub fn reduced_items<T>(
    before: Option<Option<T>>,
    part: Option<T>,
    by: impl FnOnce(T, T) -> T,
) -> Option<Option<T>> {
    Some(match (before.flatten(), part) {
        (Some(before), Some(part)) => Some(by(before, part)),
        (before, part) => before.or(part),
    })
}

/// A `max`: the last of equals.
#[inline]
pub fn largest<T: Ord>(before: Option<Option<T>>, part: Option<T>) -> Option<Option<T>> {
    reduced_items(before, part, |before, part| match part.cmp(&before) {
        Ordering::Less => before,
        _ => part,
    })
}

/// A `min`: the first of equals.
#[inline]
pub fn smallest<T: Ord>(before: Option<Option<T>>, part: Option<T>) -> Option<Option<T>> {
    reduced_items(before, part, |before, part| match part.cmp(&before) {
        Ordering::Less => part,
        _ => before,
    })
}

/// A `max_by` and the like: the one of two items that `choose` takes.
#[inline]
pub fn chosen<T>(
    before: Option<Option<T>>,
    part: Option<T>,
    choose: impl FnOnce(std::array::IntoIter<T, 2>) -> Option<T>,
) -> Option<Option<T>> {
    Some(match (before.flatten(), part) {
        (Some(before), Some(part)) => choose([before, part].into_iter()),
        (before, part) => before.or(part),
    })
}

/// What ends with the first block that settles it: it is what the last block says.
#[inline(always)]
pub fn last<T>(_: Option<T>, part: T) -> Option<T> {
    Some(part)
}

/// Whether an `any` or `all` is answered.
#[inline(always)]
pub fn is_answered(before: &Option<bool>, answer: bool) -> bool {
    *before == Some(answer)
}

/// Whether something has been found.
#[inline(always)]
pub fn is_found<T>(before: &Option<Option<T>>) -> bool {
    matches!(before, Some(Some(_)))
}

/// Whether a `try_for_each` is left.
#[inline(always)]
pub fn is_left<A: Attempt>(before: &Option<A>) -> bool {
    before.as_ref().is_some_and(Attempt::is_end)
}

/// What all blocks have given.
#[inline]
pub fn whole<T>(all: Option<T>) -> T {
    match all {
        Some(all) => all,
        None => unreachable!("this is a bug in ckpt: a parallel iterator without a block"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all<T>(parts: impl IntoIterator<Item = T>, join: impl Fn(Option<T>, T) -> Option<T>) -> T {
        whole(parts.into_iter().fold(None, join))
    }

    #[test]
    fn collections_are_those_of_all_items_in_their_order() {
        assert_eq!(all([vec![1, 2], vec![], vec![3]], joined), [1, 2, 3]);
        assert_eq!(all(["ab".to_string(), "c".to_string()], joined), "abc");
        let boxed = |list: &[u8]| -> Box<[u8]> { list.into() };
        assert_eq!(*all([boxed(&[1]), boxed(&[2, 3])], joined), [1, 2, 3]);
        let maps = [[(1, 'a'), (2, 'b')], [(2, 'c'), (3, 'd')]];
        let expected: HashMap<_, _> = maps.concat().into_iter().collect();
        assert_eq!(all(maps.map(HashMap::from), joined), expected);
        let expected: BTreeMap<_, _> = maps.concat().into_iter().collect();
        assert_eq!(all(maps.map(BTreeMap::from), joined), expected);
        assert_eq!(
            all([(vec![1], vec!['a']), (vec![2], vec![])], joined),
            (vec![1, 2], vec!['a'])
        );
    }

    #[test]
    fn the_first_error_ends_it() {
        let parts = [Ok(vec![1]), Err("second"), Ok(vec![3]), Err("fourth")];
        let mut out = None;
        let mut seen = 0;
        for part in parts {
            out = joined(out, part);
            seen += 1;
            if is_settled(&out) {
                break;
            }
        }
        assert_eq!((out, seen), (Some(Err("second")), 2));
        assert_eq!(all([Some(vec![1]), Some(vec![2])], joined), Some(vec![1, 2]));
        assert_eq!(all([Some(vec![1]), None], joined), None);
    }

    #[test]
    fn reductions_are_those_of_all_items() {
        assert_eq!(all([5u64, 7], summed), 12);
        assert_eq!(all([5u64, 7], multiplied), 35);
        assert_eq!(all([0.1f64], summed).to_bits(), 0.1f64.to_bits());
        assert_eq!(all([2, 9, 4], |a, b| reduced(a, b, i32::max)), 9);
        assert_eq!(
            all([None, Some(2), None, Some(1)], |a, b| reduced_items(
                a,
                b,
                |a, b| a * 10 + b
            )),
            Some(21)
        );
        assert_eq!(all([Some(2), None, Some(5), Some(1)], largest), Some(5));
        assert_eq!(all([None, Some(2), Some(5), Some(1)], smallest), Some(1));
        assert_eq!(all([None::<u8>, None], largest), None);
    }

    #[test]
    fn of_equals_the_same_one_is_chosen_as_without_blocks() {
        let parts = [Some((1, 'a')), Some((1, 'b')), Some((0, 'c'))];
        let key = |one: &(i32, char)| one.0;
        let items = || parts.into_iter().flatten();
        assert_eq!(
            all(parts, |a, b| chosen(a, b, |all| all.max_by_key(key))),
            items().max_by_key(key)
        );
        assert_eq!(
            all(parts, |a, b| chosen(a, b, |all| all.min_by_key(key))),
            items().min_by_key(key)
        );
    }

    #[test]
    fn what_is_known_early_ends_with_its_block() {
        assert!(is_answered(&last(Some(false), true), true));
        assert!(!is_answered(&None, false));
        assert!(is_found(&Some(Some(3))) && !is_found(&Some(None::<u8>)));
        assert!(is_left(&Some(Err::<(), _>("x"))) && !is_left(&Some(Ok::<(), ()>(()))));
    }
}
