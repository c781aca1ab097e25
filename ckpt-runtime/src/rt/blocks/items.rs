//! The items of a block: elements of a list, stretches of one, what an iterator uses up.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::ops::{Range, RangeInclusive};

use super::{Block, index};

/// How many elements a list has.
#[inline(always)]
pub fn elements<T>(list: &[T]) -> u64 {
    list.len() as u64
}

/// Where the elements of a block are.
#[inline(always)]
pub fn places(block: Block) -> Range<usize> {
    index(block.from)..index(block.to)
}

/// How many chunks of this size a list has, the last of which may be shorter.
#[inline]
pub fn chunks<T>(list: &[T], size: usize) -> u64 {
    assert!(size != 0, "chunk size must be non-zero");
    list.len().div_ceil(size) as u64
}

/// How many chunks of this size a list has without those elements that are left.
#[inline]
pub fn whole_chunks<T>(list: &[T], size: usize) -> u64 {
    assert!(size != 0, "chunk size must be non-zero");
    (list.len() / size) as u64
}

/// How many windows of this size a list has.
#[inline]
pub fn windows<T>(list: &[T], size: usize) -> u64 {
    assert!(size != 0, "window size must be non-zero");
    (list.len() + 1).saturating_sub(size) as u64
}

/// Where the elements of the chunks of a block are.
#[inline]
pub fn places_of_chunks<T>(block: Block, size: usize, list: &[T]) -> Range<usize> {
    let at = |chunk: u64| index(chunk).saturating_mul(size).min(list.len());
    at(block.from)..at(block.to)
}

/// Where the elements of the windows of a block are.
#[inline]
pub fn places_of_windows(block: Block, size: usize) -> Range<usize> {
    let end = match block.count() {
        0 => block.from,
        _ => block.to + size as u64 - 1,
    };
    index(block.from)..index(end)
}

/// Numbers the items of a block as they are numbered in the whole.
#[inline(always)]
pub fn numbered<T>(block: Block) -> impl Fn((usize, T)) -> (usize, T) + Clone + Send + Sync {
    let before = index(block.from);
    move |(number, item)| (before + number, item)
}

/// What a parallel iterator uses up, which can be cut and saved.
#[diagnostic::on_unimplemented(
    message = "E1217: what is gone over in parallel is a `{Self}`, which cannot be cut into blocks of items",
    label = "a checkpoint would be taken between blocks",
    note = "instead: collect it into a `Vec` and go over that, or go over a list with `par_iter`"
)]
pub trait Values {
    /// What is left of it.
    type All: AllValues;
    /// Begins.
    fn all(self) -> Self::All;
}

/// What is left of something that is used up block by block.
pub trait AllValues {
    /// The items of a block.
    type Part;
    /// How many there are.
    fn count(&self) -> u64;
    /// Those of the next block.
    fn part(&mut self, block: Block) -> Self::Part;
    /// The same where the first block is the one with the last items.
    fn part_from_the_end(&mut self, block: Block) -> Self::Part;
}

/// Begins with something that is used up.
#[inline(always)]
pub fn values<V: Values>(values: V) -> V::All {
    values.all()
}

/// How many there are.
#[inline(always)]
pub fn count_of_values<A: AllValues>(all: &A) -> u64 {
    all.count()
}

/// Those of the next block.
#[inline(always)]
pub fn values_of<A: AllValues>(all: &mut A, block: Block) -> A::Part {
    all.part(block)
}

/// The same where the first block is the one with the last items.
#[inline(always)]
pub fn values_from_the_end<A: AllValues>(all: &mut A, block: Block) -> A::Part {
    all.part_from_the_end(block)
}

/// Where the items of a block stand in what is gone over from its end, of so many items.
#[inline(always)]
pub fn turned(block: Block, count: u64) -> Block {
    Block {
        from: count - block.to,
        to: count - block.from,
    }
}

/// The numbers of a range. One implementation for all ranges lets the compiler find out later which number it is.
pub trait Number: Copy + PartialOrd {
    /// The number so many behind it.
    fn plus(self, count: u64) -> Self;
    /// How many there are from it up to another, and this one not among them.
    fn until(self, end: Self) -> u64;
}

macro_rules! numbers {
    ($($number:ty)+) => {$(
        impl Number for $number {
            // Exact also where the count is no number of this type: both ends of it are.
            #[inline(always)]
            fn plus(self, count: u64) -> Self {
                self.wrapping_add(count as $number)
            }
            #[inline(always)]
            fn until(self, end: Self) -> u64 {
                u64::try_from(end as i128 - self as i128).unwrap_or(0)
            }
        }
    )+};
}

numbers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

macro_rules! wide_numbers {
    ($($number:ty)+) => {$(
        impl Number for $number {
            #[inline(always)]
            fn plus(self, count: u64) -> Self {
                self.wrapping_add(<$number>::from(count))
            }
            // More than can be counted is more than can be computed.
            #[inline(always)]
            fn until(self, end: Self) -> u64 {
                match end > self {
                    true => u64::try_from(end.wrapping_sub(self)).unwrap_or(u64::MAX),
                    false => 0,
                }
            }
        }
    )+};
}

wide_numbers! { u128 i128 }

impl<N: Number> Values for Range<N> {
    type All = Self;
    #[inline(always)]
    fn all(self) -> Self {
        self
    }
}

impl<N: Number> AllValues for Range<N> {
    type Part = Self;
    #[inline]
    fn count(&self) -> u64 {
        self.start.until(self.end)
    }
    #[inline]
    fn part(&mut self, block: Block) -> Self {
        self.start.plus(block.from)..self.start.plus(block.to)
    }
    #[inline(always)]
    fn part_from_the_end(&mut self, block: Block) -> Self {
        self.part(block)
    }
}

impl<N: Number> Values for RangeInclusive<N> {
    type All = Self;
    #[inline(always)]
    fn all(self) -> Self {
        self
    }
}

impl<N: Number> AllValues for RangeInclusive<N> {
    type Part = Self;
    #[inline]
    fn count(&self) -> u64 {
        match self.is_empty() {
            true => 0,
            false => self.start().until(*self.end()).saturating_add(1),
        }
    }
    #[inline]
    fn part(&mut self, block: Block) -> Self {
        match block.count() {
            // Of nothing there is one empty block.
            0 => self.clone(),
            _ => self.start().plus(block.from)..=self.start().plus(block.to - 1),
        }
    }
    #[inline(always)]
    fn part_from_the_end(&mut self, block: Block) -> Self {
        self.part(block)
    }
}

impl<T> AllValues for std::vec::IntoIter<T> {
    type Part = Vec<T>;
    #[inline]
    fn count(&self) -> u64 {
        self.len() as u64
    }
    #[inline]
    fn part(&mut self, block: Block) -> Vec<T> {
        self.by_ref().take(block.count()).collect()
    }
    #[inline]
    fn part_from_the_end(&mut self, block: Block) -> Vec<T> {
        // What stands behind the first block is not gone over: another iterator that this one is zipped with is shorter.
        while self.len() as u64 > block.to {
            self.next_back();
        }
        let mut part: Vec<T> = self.by_ref().rev().take(block.count()).collect();
        part.reverse();
        part
    }
}

impl<T> Values for Vec<T> {
    type All = std::vec::IntoIter<T>;
    #[inline(always)]
    fn all(self) -> Self::All {
        self.into_iter()
    }
}

/// Collections whose items rayon collects into a list as well.
macro_rules! collections {
    ($([$($parameters:tt)*] $collection:ty => $item:ty;)+) => {$(
        impl<$($parameters)*> Values for $collection {
            type All = std::vec::IntoIter<$item>;
            fn all(self) -> Self::All {
                self.into_iter().collect::<Vec<_>>().into_iter()
            }
        }
    )+};
}

collections! {
    [T, const N: usize] [T; N] => T;
    [T] VecDeque<T> => T;
    [T] BTreeSet<T> => T;
    [T, S] HashSet<T, S> => T;
    [K, V] BTreeMap<K, V> => (K, V);
    [K, V, S] HashMap<K, V, S> => (K, V);
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCKS: [Block; 3] = [
        Block { from: 0, to: 2 },
        Block { from: 2, to: 3 },
        Block { from: 3, to: 5 },
    ];

    #[test]
    fn blocks_of_ranges_make_up_the_whole_and_of_nothing_there_is_an_empty_one() {
        let of = |mut all: Range<i8>| BLOCKS.map(|block| all.part(block)).concat_all();
        assert_eq!(of(-3..2), (-3..2).collect::<Vec<_>>());
        let of = |mut all: RangeInclusive<u8>| BLOCKS.map(|block| all.part(block)).concat_all();
        assert_eq!(of(251..=255), (251..=255).collect::<Vec<_>>());
        let nothing = Block { from: 0, to: 0 };
        assert!((5..5u8).part(nothing).is_empty());
        assert!((0..=0u8).rev().nth(1).is_none());
        let mut empty = RangeInclusive::new(1u8, 0);
        assert!(AllValues::count(&empty) == 0 && empty.part(nothing).is_empty());
    }

    trait ConcatAll<T> {
        fn concat_all(self) -> Vec<T>;
    }

    impl<T, I: IntoIterator<Item = T>, const N: usize> ConcatAll<T> for [I; N] {
        fn concat_all(self) -> Vec<T> {
            self.into_iter().flatten().collect()
        }
    }

    #[test]
    fn ranges_are_as_long_as_they_are() {
        assert_eq!(AllValues::count(&(i64::MIN..i64::MAX)), u64::MAX);
        assert_eq!(AllValues::count(&(0..=9u32)), 10);
        assert_eq!(AllValues::count(&RangeInclusive::new(9, 0u32)), 0);
        assert_eq!(
            AllValues::count(&Range {
                start: 9,
                end: 0usize
            }),
            0
        );
        let mut wide = i8::MIN..i8::MAX;
        assert_eq!(wide.part(Block { from: 200, to: 255 }), 72..127);
    }

    #[test]
    fn what_is_used_up_is_gone_after_its_block() {
        let mut all = values(vec!["a", "b", "c", "d", "e"]);
        assert_eq!(count_of_values(&all), 5);
        let parts = BLOCKS.map(|block| values_of(&mut all, block));
        assert_eq!(parts, [vec!["a", "b"], vec!["c"], vec!["d", "e"]]);
    }

    #[test]
    fn blocks_may_begin_at_the_end() {
        let turned = BLOCKS.map(|block| turned(block, 5));
        let mut all = values(vec!["a", "b", "c", "d", "e", "not gone over"]);
        let parts = turned.map(|block| values_from_the_end(&mut all, block));
        assert_eq!(parts, [vec!["d", "e"], vec!["c"], vec!["a", "b"]]);
        let mut numbers = values(10..=14);
        let parts = turned.map(|block| values_from_the_end(&mut numbers, block));
        assert_eq!(parts, [13..=14, 12..=12, 10..=11]);
        assert_eq!(
            super::turned(Block { from: 0, to: 0 }, 0),
            Block { from: 0, to: 0 }
        );
    }

    #[test]
    fn stretches_are_where_the_whole_list_has_them() {
        let list = [1, 2, 3, 4, 5, 6, 7, 8, 9];
        assert_eq!(
            (chunks(&list, 2), whole_chunks(&list, 2), windows(&list, 3)),
            (5, 4, 7)
        );
        let cut = |block| &list[places_of_chunks(block, 2, &list)];
        assert_eq!(BLOCKS.map(cut), [&list[..4], &list[4..6], &list[6..]]);
        let cut = |block| list[places_of_windows(block, 3)].windows(3).count();
        assert_eq!(BLOCKS.map(cut), [2, 1, 2]);
        assert_eq!(windows(&list, 10), 0);
        assert_eq!(places_of_windows(Block { from: 0, to: 0 }, 10), 0..0);
    }

    #[test]
    fn numbers_go_on_from_block_to_block() {
        let numbered = numbered(BLOCKS[2]);
        assert_eq!([(0, 'x'), (1, 'y')].map(numbered), [(3, 'x'), (4, 'y')]);
    }
}
