//! What a `for` with a site in it may go over by value: collections, and adaptors that only choose or number their items. What
//! a collection has of it stands beside its `Checkpoint`, in `impls`.
//!
//! It becomes a vector's iterator, which can be saved half-way. Adaptors that run a closure are not among these: it would
//! run for all items before the first turn of the loop.

use std::iter;

/// What owns its items, none of which is computed on the way.
pub trait Owned: IntoIterator {}

/// An iterator over items that it owns: of a collection, or an adaptor that chooses, orders or numbers them.
pub trait Items: Iterator {}

/// Collections, by their parameters.
macro_rules! collections {
    ($([$($parameters:tt)*] $collection:ty;)*) => {
        $(impl<$($parameters)*> $crate::value::items::Owned for $collection {})*
    };
}
pub(super) use collections;

/// Iterators, by their parameters, and what these have to be.
macro_rules! items {
    ($([$($parameters:tt)*] $iterator:ty $(, $($bound:ty: $traits:path),*)?;)*) => {
        $(
            impl<$($parameters)*> $crate::value::items::Items for $iterator
            where Self: Iterator $(, $($bound: $traits),*)? {}
            impl<$($parameters)*> $crate::value::items::Owned for $iterator
            where Self: Iterator $(, $($bound: $traits),*)? {}
        )*
    };
}
pub(super) use items;

items! {
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
