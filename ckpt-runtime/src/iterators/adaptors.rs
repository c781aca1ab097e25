//! Iterator adaptors that can be saved half-way, in the place of those of the standard library, which hide their state.

use std::borrow::Cow;

use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// The value of an expression, known to own what it holds.
#[inline(always)]
pub fn value<T>(value: T) -> T {
    value
}

/// An iterator and a count.
macro_rules! adaptor {
    ($(#[$doc:meta])* $name:ident { $count:ident }) => {
        $(#[$doc])*
        #[derive(Debug, Clone)]
        pub struct $name<I> {
            iter: I,
            $count: usize,
        }

        impl<I: Checkpoint> Checkpoint for $name<I> {
            fn save(&self, to: &mut Encoder<'_>) {
                const NAMES: &[Cow<'static, str>] = &[Cow::Borrowed("iter"), Cow::Borrowed(stringify!($count))];
                self.iter.save(&mut to.field(NAMES, 0));
                self.$count.save(&mut to.field(NAMES, 1));
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                Ok($name {
                    iter: from.field(&["iter"])?,
                    $count: from.field(&[stringify!($count)])?,
                })
            }
        }
    };
}

adaptor! {
    /// See [`enumerate`].
    Enumerated { count }
}
adaptor! {
    /// See [`skip`].
    Skipped { left }
}
adaptor! {
    /// See [`take_first`].
    Taken { left }
}

/// `iter.enumerate()`.
#[inline]
pub fn enumerate<I: Iterator>(iter: I) -> Enumerated<I> {
    Enumerated { iter, count: 0 }
}

impl<I: Iterator> Iterator for Enumerated<I> {
    type Item = (usize, I::Item);
    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let item = self.iter.next()?;
        let count = self.count;
        self.count += 1;
        Some((count, item))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.iter.size_hint()
    }
}

/// `iter.skip(count)`.
#[inline]
pub fn skip<I: Iterator>(iter: I, count: usize) -> Skipped<I> {
    Skipped { iter, left: count }
}

impl<I: Iterator> Iterator for Skipped<I> {
    type Item = I::Item;
    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        match std::mem::take(&mut self.left) {
            0 => self.iter.next(),
            left => self.iter.nth(left),
        }
    }
}

/// `iter.take(count)`.
#[inline]
pub fn take_first<I: Iterator>(iter: I, count: usize) -> Taken<I> {
    Taken { iter, left: count }
}

impl<I: Iterator> Iterator for Taken<I> {
    type Item = I::Item;
    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        self.left = self.left.checked_sub(1)?;
        self.iter.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::tests::round_trip;

    fn rest<I: Iterator + Checkpoint>(iter: &I) -> Vec<I::Item> {
        round_trip(iter).collect()
    }

    #[test]
    fn adaptors_go_on_where_they_were_and_give_what_those_of_std_give() {
        let items = || vec![5, 6, 7, 8, 9].into_iter();
        for at in 0..6 {
            let mut numbered = enumerate(items());
            let mut after = skip(items(), 2);
            let mut first = take_first(items(), 3);
            for _ in 0..at {
                let _ = (numbered.next(), after.next(), first.next());
            }
            assert_eq!(rest(&numbered), items().enumerate().skip(at).collect::<Vec<_>>());
            assert_eq!(rest(&after), items().skip(2).skip(at).collect::<Vec<_>>());
            assert_eq!(rest(&first), items().take(3).skip(at).collect::<Vec<_>>());
        }
    }
}
