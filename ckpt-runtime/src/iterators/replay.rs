//! Iterators that are used up bit by bit, and are half used up at a site.

use std::iter::{FusedIterator, Peekable};

use crate::value::{Checkpoint, Decoder, Encoder, LoadError, Refill};

/// An iterator that a restart makes again and brings to where it was; see [`replayed`].
#[derive(Debug, Clone)]
pub struct Replayed<I> {
    iter: I,
    /// How often the next item has been asked for.
    asked: u64,
}

/// An iterator that is kept in a variable across a site, with `#[ckpt(refill)]` on its `let`: a checkpoint holds how often
/// it was asked for an item, and a restart rebuilds it and asks it as often.
///
/// ```
/// #[ckpt::main]
/// fn main() {
///     let marks = [0.25, 0.5, 2.0];
///     #[ckpt(refill)]
///     let mut due = ckpt::replayed(marks.iter().peekable());
///     let mut t = 0.0;
///     while let Some(&&mark) = due.peek() {
///         ckpt::checkpoint!();
///         t += 0.125;
///         if t >= mark {
///             due.next();
///         }
///     }
///     assert_eq!(t, 2.0);
/// }
/// ```
///
/// Its items must be the same when it is iterated again: what its closures do besides computing them is done again.
pub fn replayed<I: Iterator>(iter: I) -> Replayed<I> {
    Replayed { iter, asked: 0 }
}

impl<I> Replayed<I> {
    /// How many items it has yielded, if these are as many as it was asked for.
    pub(crate) fn asked(&self) -> usize {
        usize::try_from(self.asked).unwrap_or(usize::MAX)
    }
}

impl<I: Iterator> Iterator for Replayed<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.asked += 1;
        self.iter.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.iter.size_hint()
    }
}

impl<I: ExactSizeIterator> ExactSizeIterator for Replayed<I> {
    fn len(&self) -> usize {
        self.iter.len()
    }
}

impl<I: FusedIterator> FusedIterator for Replayed<I> {}

/// As [`Peekable`]. There is no `peek_mut`: what it changes would not be changed again.
impl<I: Iterator> Replayed<Peekable<I>> {
    /// The next item, which stays the next one.
    #[inline]
    pub fn peek(&mut self) -> Option<&I::Item> {
        self.iter.peek()
    }

    /// The next item, if it is as wanted.
    pub fn next_if(&mut self, wanted: impl FnOnce(&I::Item) -> bool) -> Option<I::Item> {
        let item = self.iter.next_if(wanted);
        self.asked += u64::from(item.is_some());
        item
    }

    /// The next item, if it is this one.
    pub fn next_if_eq<T: ?Sized>(&mut self, expected: &T) -> Option<I::Item>
    where
        I::Item: PartialEq<T>,
    {
        self.next_if(|item| item == expected)
    }
}

impl Replayed<std::str::Chars<'_>> {
    /// The text that is left.
    pub fn as_str(&self) -> &str {
        self.iter.as_str()
    }
}

impl<'a, T> Replayed<std::slice::Iter<'a, T>> {
    /// The items that are left.
    pub fn as_slice(&self) -> &'a [T] {
        self.iter.as_slice()
    }
}

/// Whether the iterator takes messages of a channel away by reference: one that is made again does not find them.
pub(crate) fn takes_messages<I>() -> bool {
    let name = std::any::type_name::<I>();
    ["sync::mpsc::Iter<", "sync::mpsc::TryIter<"]
        .iter()
        .any(|part| name.contains(part))
}

impl<I: Iterator> Refill for Replayed<I> {
    fn save_part(&self, to: &mut Encoder<'_>) {
        if takes_messages::<I>() {
            to.fail("it takes the messages of a channel away, which are gone when it is made again; use `while let Ok(message) = receiver.recv()`");
        }
        // What a hash table has yielded so far is not what it yields first when it is rebuilt.
        let name = std::any::type_name::<I>();
        if ["hash_map::", "hash_set::", "hash::map::", "hash::set::"]
            .iter()
            .any(|part| name.contains(part))
        {
            to.fail("it goes over a hash map or hash set, whose order is another one after a restart; collect what it goes over into a `Vec` and go over that, or use a `BTreeMap` or `BTreeSet`");
        }
        to.number(self.asked);
    }

    fn refill(&mut self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        // It may go on after it has come to an end once: each question is asked again.
        let asked = u64::load(from)?;
        for _ in 0..asked {
            self.next();
        }
        Ok(())
    }
}
