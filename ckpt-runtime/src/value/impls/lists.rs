//! Lists of one type: vectors, slices, arrays, queues, heaps, and what is left of a consumed vector.

use std::borrow::Cow;
use std::collections::{BinaryHeap, LinkedList, VecDeque, binary_heap, linked_list, vec_deque};
use std::iter::Peekable;
use std::{array, vec};

use crate::value::items::{Items, collections, items};
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Reach, owned};

collections! {
    [T] VecDeque<T>;
    [T] LinkedList<T>;
    [T] BinaryHeap<T>;
    [T, const N: usize] [T; N];
}

// What a `for` over one of the others becomes: it can be saved as it is, so it is no `Owned`.
impl<T> Items for vec::IntoIter<T> {}

items! {
    [T] vec_deque::IntoIter<T>;
    [T] linked_list::IntoIter<T>;
    [T] binary_heap::IntoIter<T>;
    [T, const N: usize] array::IntoIter<T, N>;
}

fn save_list<T: Checkpoint>(items: &[T], to: &mut Encoder<'_>) {
    // The recursion of a type that contains itself ends here when it is too deep.
    if to.failed() {
        return;
    }
    if to.measures() && !T::PLAIN {
        return;
    }
    // A single empty list still shows the type of its items. In a batch it must not: a type that contains lists of
    // itself would have no end of columns.
    let shows_items = !items.is_empty() || !to.is_batch();
    let mut list = to.list(items.len());
    if shows_items {
        T::save_slice(items, &mut list);
    }
}

fn load_list<T: Checkpoint>(from: &mut Decoder<'_>) -> Result<Vec<T>, LoadError> {
    let (count, mut items) = from.list()?;
    T::load_vec(&mut items, count)
}

impl<T: Checkpoint> Checkpoint for [T] {
    fn save(&self, to: &mut Encoder<'_>) {
        save_list(self, to);
    }
}

macro_rules! lists {
    ($($type:ty, [$($bound:tt)*], |$value:ident| $slice:expr, |$items:ident| $load:expr;)*) => {$(
        impl<T: Checkpoint $($bound)*> Checkpoint for $type {
            const BITS: bool = true;
            const FIXED: bool = T::FIXED;
            fn save(&self, to: &mut Encoder<'_>) {
                owned::save(self, to, |$value, to| {
                    let items: &[T] = $slice;
                    to.owned($value, items, |to| save_list(items, to));
                });
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                owned::load(from, |from| {
                    let $items = load_list::<T>(from)?;
                    Ok($load)
                })
            }
            fn reach(to: &mut Reach) {
                to.into_part::<T>();
            }
        }
    )*};
}

lists! {
    Vec<T>, [], |list| list.as_slice(), |items| items;
    Box<[T]>, [], |list| &**list, |items| items.into_boxed_slice();
    std::vec::IntoIter<T>, [], |list| list.as_slice(), |items| items.into_iter();
    // In the inner order, which is a valid heap: making it a heap again moves nothing.
    BinaryHeap<T>, [+ Ord], |list| list.as_slice(), |items| BinaryHeap::from(items);
}

/// A part of a list that is elsewhere: after a restart a list of its own, which is never given back.
impl<'a, T: Checkpoint + Copy + 'a> Checkpoint for &'a [T] {
    const BITS: bool = true;
    const FIXED: bool = T::FIXED;
    fn save(&self, to: &mut Encoder<'_>) {
        (**self).save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        load_list(from).map(|items| &*items.leak())
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

/// What it still gives, whether it has been looked at or not: only a copy tells.
impl<T: Checkpoint + Clone> Checkpoint for Peekable<vec::IntoIter<T>> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.clone().collect::<Vec<T>>().save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        Vec::load(from).map(|items| items.into_iter().peekable())
    }
    fn reach(to: &mut Reach) {
        to.into_part::<Vec<T>>();
    }
}

impl<T: Checkpoint> Checkpoint for VecDeque<T> {
    const BITS: bool = true;
    const FIXED: bool = T::FIXED;
    fn save(&self, to: &mut Encoder<'_>) {
        owned::save(self, to, |queue, to| {
            if to.measures() && !T::PLAIN {
                return;
            }
            let (front, back) = queue.as_slices();
            let shows_items = !queue.is_empty() || !to.is_batch();
            let mut list = to.list(queue.len());
            if shows_items {
                T::save_slice(front, &mut list);
                T::save_slice(back, &mut list);
            }
        });
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        owned::load(from, |from| load_list(from).map(VecDeque::from))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl<T: Checkpoint> Checkpoint for LinkedList<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        owned::save(self, to, |list, to| {
            let shows_items = !list.is_empty() || !to.is_batch();
            let mut items = to.list(list.len());
            if shows_items {
                T::save_each(list.iter(), &mut items);
            }
        });
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        owned::load(from, |from| load_list(from).map(LinkedList::from_iter))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
}

impl<T: Checkpoint, const N: usize> Checkpoint for [T; N] {
    const BITS: bool = T::BITS;
    const FIXED: bool = T::FIXED;
    const PLAIN: bool = T::PLAIN;
    fn save(&self, to: &mut Encoder<'_>) {
        if to.is_batch() {
            Self::save_slice(std::slice::from_ref(self), to);
        } else {
            save_list(self, to);
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let batch = from.is_batch();
        let mut items = from.array(N)?;
        if N == 0 && batch {
            items.unit()?;
        }
        let items = if N == 0 {
            Vec::new()
        } else {
            T::load_vec(&mut items, N)?
        };
        let count = items.len();
        items
            .try_into()
            .map_err(|_| LoadError::invalid(format_args!("{count} items for an array of {N}")))
    }
    fn reach(to: &mut Reach) {
        to.into_part::<T>();
    }
    fn save_slice(arrays: &[Self], to: &mut Encoder<'_>) {
        let mut items = to.array(N);
        if N == 0 {
            // The one byte that every value has, so that they can be counted.
            arrays.iter().for_each(|_| items.unit());
        } else {
            T::save_slice(arrays.as_flattened(), &mut items);
        }
    }
    fn save_each<'a, I>(arrays: I, to: &mut Encoder<'_>)
    where
        Self: 'a,
        I: Iterator<Item = &'a Self> + Clone,
    {
        for array in arrays {
            Self::save_slice(std::slice::from_ref(array), to);
        }
    }
    fn load_vec(from: &mut Decoder<'_>, count: usize) -> Result<Vec<Self>, LoadError> {
        if from.has_none(count) {
            return Ok(Vec::new());
        }
        if N == 0 {
            return (0..count).map(|_| Self::load(from)).collect();
        }
        let all = count
            .checked_mul(N)
            .ok_or_else(|| LoadError::invalid(format_args!("{count} arrays are too many")))?;
        let items = T::load_vec(&mut from.array(N)?, all)?;
        into_arrays(items)
            .ok_or_else(|| LoadError::invalid(format_args!("the items do not make {count} arrays of {N}")))
    }
}

/// Cuts a vector into arrays without copying it. `N` is not 0.
fn into_arrays<T, const N: usize>(mut items: Vec<T>) -> Option<Vec<[T; N]>> {
    if !items.len().is_multiple_of(N) {
        return None;
    }
    items.shrink_to_fit();
    if items.capacity() != items.len() {
        let mut items = items.into_iter();
        let mut arrays = Vec::with_capacity(items.len() / N);
        while let Some(first) = items.next() {
            let mut first = Some(first);
            // The length is a multiple of N: an array that has begun ends.
            arrays.push(std::array::from_fn(|_| {
                first.take().or_else(|| items.next()).expect("a whole array")
            }));
        }
        return Some(arrays);
    }
    let mut items = std::mem::ManuallyDrop::new(items);
    let (pointer, count) = (items.as_mut_ptr(), items.len() / N);
    // SAFETY: `[T; N]` has the alignment of `T` and N times its size, so `count` arrays have exactly the layout of the
    // allocation, whose capacity is its length `count * N`; all items are initialised; the old vector is forgotten.
    Some(unsafe { Vec::from_raw_parts(pointer.cast::<[T; N]>(), count, count) })
}

impl<B> Checkpoint for Cow<'_, B>
where
    B: ToOwned + Checkpoint + ?Sized,
    B::Owned: Checkpoint,
{
    fn save(&self, to: &mut Encoder<'_>) {
        (**self).save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        B::Owned::load(from).map(Cow::Owned)
    }
    fn reach(to: &mut Reach) {
        to.into_part::<B::Owned>();
    }
}
