//! What generated code uses, and nothing else does. Not a public interface: it changes with the macros.

mod blocks;
mod chains;

pub use blocks::*;
pub use chains::*;

pub use crate::devices::shown::any_number as any_number_of_devices;
pub use crate::frame::{
    Begun, Cut, CutIndex, Frame, KnownToLender, Lend, Measured, Pace, Recursion, Registrar, SaveParts, Split,
    SplitValue, Splitter, Strip, UnknownToLender, Walk, behind, cut, part, shared, split,
};
pub use crate::iterators::adaptors::{Enumerated, Skipped, Taken, enumerate, skip, take_first, value};
pub use crate::iterators::replay::replayed;
pub use crate::plan::{FunctionPlan, SiteKind, SitePlan, VariablePlan};
pub use crate::session::{MainSession, Program, Sources, of_build_variable, open, run_main};
pub use crate::state::late_statics::{
    Late, LatePlace, Lately, Lazily, MadeInPlace, MadeOfCheckpoint, Whole, reached,
};
pub use crate::value::items::{Items, Owned};
pub use crate::value::{
    DynTable, DynType, MakeObject, Object, ObjectMaker, Pointee, SendIn, SyncIn, dead_object,
    dead_object_sync, list_maker, list_object, load_boxed, load_object, reach_objects, save_boxed,
    save_object,
};

pub use crate::frame::lasting::{Lasting, lasting};
pub use crate::frame::{address, member};
pub use crate::team::{
    Fixed, Held, Lendable, Reexecuted, RestoreInPlace, Seen, SeenAsCopy, SeenAsFixed, SeenAsLent,
    SeenAsOwned, SeenInPlace, SeenReexecuted,
};
pub use crate::thread::watched;
pub use crate::value::{BySerde, FromSerde, from_serde};

use std::fmt;
use std::marker::PhantomData;

use crate::base::report::{Fatal, headline};
use crate::iterators::replay::takes_messages;
use crate::sync::mpsc::LetGo;
use crate::value::{Checkpoint, Refill};

/// A value that moves into one which a restart makes again and fills: something of its type stands in for it then.
pub fn with_stand_in<T: Checkpoint>(value: T) -> T {
    if crate::value::can_stand_in::<T>() {
        value
    } else {
        no_stand_in::<T>().exit()
    }
}

/// What stands in for a value until the one that it was moved into is filled.
#[cold]
pub fn stand_in<T: Checkpoint>() -> T {
    crate::value::stand_in().unwrap_or_else(|| no_stand_in::<T>().exit())
}

/// The type of a variable that is borrowed exclusively for as long as a value lives which a restart fills: that one saves
/// what the variable holds, and something of its type stands in for it in the checkpoint.
#[derive(Debug)]
pub struct Kind<T>(PhantomData<fn() -> T>);

impl<T: Checkpoint> Kind<T> {
    /// Of the variable before it is borrowed.
    pub fn of(_: &T) -> Self {
        if !crate::value::can_stand_in::<T>() {
            no_stand_in::<T>().exit()
        }
        Kind(PhantomData)
    }

    /// What is saved in its place.
    pub fn stand_in(&self) -> T {
        stand_in()
    }
}

fn no_stand_in<T>() -> Fatal {
    Fatal::site(headline!(
        "E2033: nothing can stand in for a `{}` until the value that it is moved into is filled",
        std::any::type_name::<T>()
    ))
    .why("a restart makes the value again with something of that type, and ckpt cannot make any")
    .help("take it out of `#[ckpt(refill(..))]`, and make the value from what does not move")
}

/// The condition of a [`check!`](crate::check) does not hold.
#[cold]
#[track_caller]
pub fn check_failed(what: fmt::Arguments<'_>) {
    let why = match crate::rollback(what) {
        Ok(never) => match never {},
        // The other ranks wait for what this one has to send them.
        Err(crate::NotRolledBack::Later) => return,
        Err(why) => why,
    };
    crate::session::rollback::ends_job(what, &why);
    panic!("{what}, and the program cannot go back: {why}")
}

/// The next item of an iterator that is rebuilt at restart. `count` items were taken when a checkpoint was saved; the
/// walk of a restart takes the last of them again.
#[inline(always)]
pub fn fetch<I: Iterator>(frame: &impl Walk, iterator: &mut I, count: &mut u64) -> Option<I::Item> {
    if frame.runs() {
        *count += 1;
        iterator.next()
    } else {
        refetch(frame, iterator, *count)
    }
}

const MESSAGES_ARE_GONE: &str = "an iterator was made again that takes the messages of a channel away, which are gone; take the receiver itself (`for message in receiver`), or `while let Ok(message) = receiver.recv()`";

#[cold]
fn refetch<I: Iterator>(frame: &impl Walk, iterator: &mut I, count: u64) -> Option<I::Item> {
    if takes_messages::<I>() {
        frame.lost(MESSAGES_ARE_GONE);
    }
    let item = usize::try_from(count)
        .ok()
        .and_then(|count| iterator.nth(count.checked_sub(1)?));
    if item.is_none() {
        frame.lost("an iterator that was made again has fewer items than before");
    }
    item
}

/// An iterator that was rebuilt in the middle of its loop, before the item that is being worked on.
#[inline]
pub fn up_to<I: Iterator>(mut iterator: I, count: u64) -> I {
    let before = usize::try_from(count).unwrap_or(usize::MAX).saturating_sub(1);
    if before > 0 {
        let _ = iterator.nth(before - 1);
    }
    iterator
}

/// The item that is being worked on, from the rebuilt iterator.
#[inline]
pub fn item_at_restart<I: Iterator>(frame: &impl Walk, iterator: &mut I) -> I::Item {
    if takes_messages::<I>() {
        frame.lost(MESSAGES_ARE_GONE);
    }
    match iterator.next() {
        Some(item) => item,
        None => frame.lost("an iterator that was made again has fewer items than before"),
    }
}

/// Runs a closure of the iterator of a `for` on the item of a turn.
#[inline(always)]
pub fn run<T, R>(item: T, closure: impl FnOnce(T) -> R) -> R {
    closure(item)
}

/// What a pattern bound, handed on to the body of its branch.
#[inline(always)]
pub fn bound<T>(held: Option<T>) -> T {
    take_or_die(held)
}

/// Tells the type checker what travels in a slot.
#[inline(always)]
pub fn same_type<T>(_: &Option<T>, _: &T) {}

/// A variable that travels from statement to statement in an `Option`.
#[inline(always)]
pub fn take<T>(slot: &mut Option<T>) -> T {
    take_or_die(slot.take())
}

/// What a site saves of such a variable while it is in its slot.
#[inline(always)]
pub fn parked<T>(slot: &Option<T>) -> &T {
    take_or_die(slot.as_ref())
}

#[inline(always)]
fn take_or_die<T>(held: Option<T>) -> T {
    match held {
        Some(value) => value,
        None => unreachable!("this is a bug in ckpt: a value is used that the restart did not need"),
    }
}

/// Ends a value while the threads of a region run, and leaves what a restart in these needs to start them again.
#[inline(always)]
pub fn let_go<T: LetGo>(value: &T) {
    value.let_go();
}

/// For references that trade places: `seating[i]` is the number of the value that reference `i` stands for. Values that
/// cannot be distinguished by their addresses are empty, and interchangeable.
pub fn seating<const N: usize>(now: [usize; N], homes: [usize; N]) -> [u32; N] {
    let mut taken = [false; N];
    now.map(|address| {
        let free = |home: &usize| homes[*home] == address && !taken[*home];
        let home = (0..N).find(free).unwrap_or(0);
        taken[home] = true;
        home as u32
    })
}

/// Brings references that were made anew, each for its own value, into the order of a seating.
pub fn reseat<T, const N: usize>(references: [T; N], seating: [u32; N]) -> [T; N] {
    let mut references = references.map(Some);
    let taken = seating.map(|home| references.get_mut(home as usize).and_then(Option::take));
    taken.map(take_or_die)
}

/// A parameter offered to the caller, which is possible where its type can be saved.
///
/// `(&Probe(&x)).offer(..)` picks [`OfferSaved`] for a `Checkpoint` type and [`OfferNothing`] for any other: method lookup
/// takes the candidate that needs fewer references.
#[derive(Debug)]
pub struct Probe<'a, T: ?Sized>(pub &'a T);

/// See [`Probe`].
pub trait OfferSaved {
    /// Offers the parameter.
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str);
}

impl<T: Refill + ?Sized> OfferSaved for Probe<'_, T> {
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str) {
        registrar.parameter(index, key, self.0);
    }
}

/// See [`Probe`].
pub trait OfferNothing {
    /// Offers nothing: a caller that needs the parameter is refused at the first visit of the site.
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str);
}

impl<T: ?Sized> OfferNothing for &Probe<'_, T> {
    fn offer(&self, registrar: &mut Registrar, index: u32, key: &'static str) {
        registrar.cannot_offer(index, key, self.0, std::any::type_name::<T>());
    }
}

mod peek;
pub use peek::{Peek, peek};

mod holds;

pub use crate::{check_apart, check_dead, check_early, check_owners};
pub use ckpt_macros::{Holds, spare};
pub use holds::{ApartKnown, ApartNothing, ApartWhole, Holds, KnownParts, NoParts};

/// The iterable of a `for` that goes over a value: `(&mut Source::new(x)).start()` turns a collection into a vector's
/// iterator, which can be saved half-way, and leaves every other iterator as it is.
#[derive(Debug)]
pub struct Source<T>(Option<T>);

impl<T> Source<T> {
    /// Holds the iterable.
    #[inline(always)]
    pub fn new(iterable: T) -> Self {
        Self(Some(iterable))
    }
}

/// See [`Source`].
pub trait StartOwned {
    /// What is iterated.
    type Item;
    /// Starts going over it.
    fn start(&mut self) -> std::vec::IntoIter<Self::Item>;
}

impl<T: Owned> StartOwned for Source<T> {
    type Item = T::Item;
    fn start(&mut self) -> std::vec::IntoIter<T::Item> {
        take_or_die(self.0.take())
            .into_iter()
            .collect::<Vec<_>>()
            .into_iter()
    }
}

/// See [`Source`].
pub trait StartAny {
    /// The iterator.
    type Iterator;
    /// Starts going over it.
    fn start(&mut self) -> Self::Iterator;
}

impl<T: IntoIterator> StartAny for &mut Source<T> {
    type Iterator = T::IntoIter;
    #[inline(always)]
    fn start(&mut self) -> T::IntoIter {
        take_or_die(self.0.take()).into_iter()
    }
}

/// Checks at compile time that an iterator that is rebuilt at restart has its items in the same order as before.
#[derive(Debug)]
pub struct Order<'a, T>(pub &'a T);

/// An iterator whose order differs from one map to the next, though they hold the same, or that takes away what it gives.
pub trait Unordered {}

/// What no unordered iterator implements.
#[diagnostic::on_unimplemented(
    message = "E1205: a loop with a site in it goes over a hash map, a hash set or the messages of a channel by reference",
    label = "gives other items after a restart",
    note = "instead: collect copies of what it goes over into a `Vec` (`map.keys().cloned().collect()`) and go over that, or use a `BTreeMap` or `BTreeSet`; of a channel, take the receiver itself (`for message in receiver`), or `while let Ok(message) = receiver.recv()`"
)]
pub trait Ordered {}

/// See [`Order`].
pub trait OutOfOrder {
    /// Does not compile.
    fn check(&self)
    where
        Self: Ordered;
}

impl<T: Unordered> OutOfOrder for Order<'_, T> {
    fn check(&self)
    where
        Self: Ordered,
    {
    }
}

/// See [`Order`].
pub trait InOrder {
    /// Does nothing.
    fn check(&self) {}
}

impl<T> InOrder for &Order<'_, T> {}

mod unordered {
    use super::Unordered;
    use crate::sync::mpsc;
    use std::collections::{hash_map, hash_set};
    use std::iter;

    impl<T> Unordered for mpsc::Iter<'_, T> {}
    impl<T> Unordered for mpsc::TryIter<'_, T> {}
    impl<I: Unordered> Unordered for &mut I {}
    impl<I: Unordered> Unordered for iter::Fuse<I> {}
    impl<I: Unordered, F> Unordered for iter::Inspect<I, F> {}
    impl<I: Unordered, F> Unordered for iter::TakeWhile<I, F> {}
    impl<I: Unordered, F> Unordered for iter::SkipWhile<I, F> {}
    impl<I: Unordered, F> Unordered for iter::MapWhile<I, F> {}
    impl<I: Unordered, S, F> Unordered for iter::Scan<I, S, F> {}
    impl<I: Unordered, U: IntoIterator, F> Unordered for iter::FlatMap<I, U, F> {}
    impl<I: Unordered + Iterator<Item: IntoIterator>> Unordered for iter::Flatten<I> {}

    impl<K, V> Unordered for hash_map::Iter<'_, K, V> {}
    impl<K, V> Unordered for hash_map::IterMut<'_, K, V> {}
    impl<K, V> Unordered for hash_map::Keys<'_, K, V> {}
    impl<K, V> Unordered for hash_map::Values<'_, K, V> {}
    impl<K, V> Unordered for hash_map::ValuesMut<'_, K, V> {}
    impl<K, V> Unordered for hash_map::IntoIter<K, V> {}
    impl<K, V> Unordered for hash_map::Drain<'_, K, V> {}
    impl<T> Unordered for hash_set::Iter<'_, T> {}
    impl<T> Unordered for hash_set::IntoIter<T> {}
    impl<I: Unordered> Unordered for iter::Enumerate<I> {}
    impl<I: Unordered> Unordered for iter::Copied<I> {}
    impl<I: Unordered> Unordered for iter::Cloned<I> {}
    impl<I: Unordered> Unordered for iter::Skip<I> {}
    impl<I: Unordered> Unordered for iter::Take<I> {}
    impl<I: Unordered> Unordered for iter::StepBy<I> {}
    impl<I: Unordered + Iterator> Unordered for iter::Peekable<I> {}
    impl<I: Unordered, F> Unordered for iter::Map<I, F> {}
    impl<I: Unordered, F> Unordered for iter::Filter<I, F> {}
    impl<I: Unordered, F> Unordered for iter::FilterMap<I, F> {}
    impl<I: Unordered, B> Unordered for iter::Zip<I, B> {}
    impl<I: Unordered, B> Unordered for iter::Chain<I, B> {}
}

/// A copy of an argument that is passed by value, where its type can be copied: it can then be saved after the call has
/// taken it. An iterator is cloned, for the callee goes over it again from where it was. `(&&Keep(&x)).keep()`: method
/// lookup takes [`KeepCopy`] if it can, then [`KeepClone`], then [`KeepNothing`].
#[derive(Debug)]
pub struct Keep<'a, T>(pub &'a T);

/// See [`Keep`].
pub trait KeepCopy {
    /// The argument's type.
    type Value;
    /// The copy.
    fn keep(&self) -> Option<Self::Value>;
}

impl<T: Copy> KeepCopy for &Keep<'_, T> {
    type Value = T;
    #[inline(always)]
    fn keep(&self) -> Option<T> {
        Some(*self.0)
    }
}

/// See [`Keep`].
pub trait KeepClone {
    /// The argument's type.
    type Value;
    /// The clone.
    fn keep(&self) -> Option<Self::Value>;
}

impl<T: Iterator + Clone> KeepClone for &&Keep<'_, T> {
    type Value = T;
    #[inline(always)]
    fn keep(&self) -> Option<T> {
        Some(self.0.clone())
    }
}

/// See [`Keep`].
pub trait KeepNothing {
    /// The argument's type.
    type Value;
    /// Nothing: the value moves into the call.
    fn keep(&self) -> Option<Self::Value>;
}

impl<T> KeepNothing for Keep<'_, T> {
    type Value = T;
    #[inline(always)]
    fn keep(&self) -> Option<T> {
        None
    }
}

/// What a closure can own and the function still has.
#[diagnostic::on_unimplemented(
    message = "E1206: a closure that is in use at a site owns a `{Self}`",
    label = "moves into a `move` closure, where it could not be saved",
    note = "instead: let the closure borrow it, without `move`, or make it a function that takes it as an argument"
)]
pub trait StaysWithTheFunction {}

impl<T: Copy> StaysWithTheFunction for T {}

/// Checks at compile time that a variable is still there after a closure has taken it.
#[inline(always)]
pub fn owned_by_a_closure<T: StaysWithTheFunction>(_: &T) {}

/// Nothing, of the type of a value.
#[inline(always)]
pub fn nothing_like<T>(_: &T) -> Option<T> {
    None
}

/// Tells the type checker that an argument has the type of a value. Only ever mentioned, never called.
pub fn like<T>(_: &T) -> T {
    unreachable!("this is a bug in ckpt: a call is made that only names types")
}

/// An argument that a restart passes only because the call needs one: the function had used it up before its site.
/// `(&&UsedUp(Some(x))).put_away()`: what only owns memory is dropped, a destructor with effects must not be re-executed.
#[expect(missing_debug_implementations, reason = "made and used up in one expression")]
pub struct UsedUp<T>(std::cell::Cell<Option<T>>);

impl<T> UsedUp<T> {
    /// Takes the argument.
    pub fn new(argument: T) -> Self {
        Self(std::cell::Cell::new(Some(argument)))
    }
}

/// See [`UsedUp`].
pub trait PutAwayInert {
    /// Drops the argument.
    fn put_away(&self);
}

impl<T: Inert> PutAwayInert for UsedUp<T> {
    fn put_away(&self) {
        if let Some(argument) = self.0.take() {
            argument.put_away();
        }
    }
}

/// See [`UsedUp`].
pub trait PutAwayAny {
    /// Forgets the argument.
    fn put_away(&self);
}

impl<T> PutAwayAny for &UsedUp<T> {
    fn put_away(&self) {
        std::mem::forget(self.0.take());
    }
}

/// A destructor that only frees memory or closes what was open. Not one that passes on what a writer has in its buffer.
pub trait Inert {
    /// Drops one that only stands in.
    fn put_away(self)
    where
        Self: Sized,
    {
        drop(self);
    }
}

/// One that does no more, and is no pointer that counts as an owner.
pub trait Uncounted {}

/// What no type with a destructor of its own implements.
#[diagnostic::on_unimplemented(
    message = "E1207: `{Self}` has a destructor, and a value of it that no one uses any more is alive at a site",
    label = "its destructor would not run after a restart",
    note = "instead: put `#[ckpt(save)]` or `#[ckpt(reexecute)]` on its `let` if the destructor must run, `drop(..)` the value before the site, or `#[ckpt(skip)]` if its destructor does not matter"
)]
pub trait Undestructed {}

/// Checks at compile time that a value which a restart leaves out has no destructor that would be missed.
/// `(&&Dead::of(&x)).check()` tries [`DeadInert`], then [`DeadDrop`], then [`DeadPlain`]: method lookup looks at the receiver as
/// it is, then with a reference more, then with one less.
#[derive(Debug)]
pub struct Dead<T>(PhantomData<T>);

impl<T> Dead<T> {
    /// Keeps the type only: by the time of the check the value may be partly moved away.
    #[inline(always)]
    pub fn of(_: &T) -> Self {
        Dead(PhantomData)
    }

    /// For a variable that has no value yet: `if false { x = dead.never(); }` fixes its type.
    #[inline(always)]
    pub fn unknown() -> Self {
        Dead(PhantomData)
    }

    /// Is not called, see [`Dead::unknown`].
    #[cold]
    pub fn never(&self) -> T {
        unreachable!("what only tells a type is not run")
    }
}

/// See [`Dead`].
pub trait DeadInert {
    /// Does nothing.
    #[inline(always)]
    fn check(&self) {}
}

impl<T: Inert> DeadInert for &Dead<T> {}

/// In the place of [`DeadInert`] where owners are counted.
pub trait DeadUncounted {
    /// Does nothing.
    #[inline(always)]
    fn check(&self) {}
}

impl<T: Uncounted> DeadUncounted for &Dead<T> {}

/// See [`Dead`].
pub trait DeadDrop {
    /// What must have no destructor.
    type Value;
    /// Does not compile.
    #[inline(always)]
    fn check(&self)
    where
        Self::Value: Undestructed,
    {
    }
}

#[allow(drop_bounds)]
impl<T: Drop> DeadDrop for &&Dead<T> {
    type Value = T;
}

/// See [`Dead`].
pub trait DeadPlain {
    /// Does nothing.
    #[inline(always)]
    fn check(&self) {}
}

impl<T> DeadPlain for Dead<T> {}

/// A destructor that only frees memory: nobody sees when it runs.
pub trait Unseen {}

/// What no type with a destructor of its own implements.
#[diagnostic::on_unimplemented(
    message = "E1216: `{Self}` has a destructor, and a value of it that has no name would be dropped before a site",
    label = "it lives to the end of the statement, and the site is in the middle of it",
    note = "instead: give the value a name with `let`, or put what stands before the call with the site into a statement of its own"
)]
pub trait DroppedUnseen {}

/// In the place of [`DeadInert`] where it matters when a value is dropped.
pub trait EarlyUnseen {
    /// Does nothing.
    #[inline(always)]
    fn check(&self) {}
}

impl<T: Unseen> EarlyUnseen for &Dead<T> {}

/// In the place of [`DeadDrop`] where it matters when a value is dropped.
pub trait EarlyDrop {
    /// What must have no destructor.
    type Value;
    /// Does not compile.
    #[inline(always)]
    fn check(&self)
    where
        Self::Value: DroppedUnseen,
    {
    }
}

#[allow(drop_bounds)]
impl<T: Drop> EarlyDrop for &&Dead<T> {
    type Value = T;
}

mod inert {
    use super::{Inert, Uncounted, Unseen};
    use std::rc::Rc;
    use std::sync::Arc;

    // What is behind a pointer to an object is not known: `Box<dyn Write>` may have a buffer.
    macro_rules! pointers {
        ($($pointer:ident: $($of:ident)+;)*) => {$($(
            pointers!(# $of $pointer);
            impl<T> $of for $pointer<[T]> {}
            impl $of for $pointer<str> {}
            impl $of for $pointer<std::path::Path> {}
            impl $of for $pointer<std::ffi::OsStr> {}
            impl $of for $pointer<std::ffi::CStr> {}
            impl $of for $pointer<dyn std::error::Error> {}
            impl $of for $pointer<dyn std::error::Error + Send> {}
            impl $of for $pointer<dyn std::error::Error + Send + Sync> {}
        )+)*};
        // What it is alone in owning has been made to stand in, whose destructor must not be run.
        (# Inert $pointer:ident) => {
            impl<T> Inert for $pointer<T> {
                fn put_away(self) {
                    match std::mem::needs_drop::<T>() && self.is_alone() {
                        true => std::mem::forget(self),
                        false => drop(self),
                    }
                }
            }
        };
        (# $of:ident $pointer:ident) => {
            impl<T> $of for $pointer<T> {}
        };
    }
    pointers! {
        Box: Inert Uncounted Unseen;
        Rc: Inert Unseen;
        Arc: Inert Unseen;
    }

    /// Whether nobody else owns what is behind a pointer.
    trait Alone {
        fn is_alone(&self) -> bool;
    }
    impl<T> Alone for Box<T> {
        fn is_alone(&self) -> bool {
            true
        }
    }
    impl<T> Alone for Rc<T> {
        fn is_alone(&self) -> bool {
            Rc::strong_count(self) == 1
        }
    }
    impl<T> Alone for Arc<T> {
        fn is_alone(&self) -> bool {
            Arc::strong_count(self) == 1
        }
    }

    impl<T: ?Sized> Inert for std::rc::Weak<T> {}
    impl<T: ?Sized> Inert for std::sync::Weak<T> {}
    impl<T: ?Sized> Unseen for std::rc::Weak<T> {}
    impl<T: ?Sized> Unseen for std::sync::Weak<T> {}

    macro_rules! others {
        ($($of:ident)+: $([$($parameters:tt)*] $name:ty;)*) => {
            others!(@ [$($of)+] $([$($parameters)*] $name;)*);
        };
        (@ $all:tt $([$($parameters:tt)*] $name:ty;)*) => {$(
            others!(# $all [$($parameters)*] $name);
        )*};
        (# [$($of:ident)+] $parameters:tt $name:ty) => {$(
            others!(! $of $parameters $name);
        )+};
        (! $of:ident [$($parameters:tt)*] $name:ty) => {
            impl<$($parameters)*> $of for $name {}
        };
    }
    others! {
        Inert Uncounted Unseen:
        [T] Vec<T>;
        [K, V] std::collections::BTreeMap<K, V>;
        [T] std::collections::LinkedList<T>;
        [T] std::collections::VecDeque<T>;
        [T] std::vec::IntoIter<T>;
        [T, const N: usize] std::array::IntoIter<T, N>;
    }
    // Nobody can look at what they borrow before they are dropped.
    others! {
        Unseen:
        [T] std::vec::Drain<'_, T>;
        [T] std::collections::vec_deque::Drain<'_, T>;
        [] std::string::Drain<'_>;
    }
    others! {
        Inert Uncounted:
        [T: ?Sized] std::sync::MutexGuard<'_, T>;
        [T: ?Sized] std::sync::RwLockReadGuard<'_, T>;
        [T: ?Sized] std::sync::RwLockWriteGuard<'_, T>;
        // Whoever has the other end is no other thread, as none runs, and cannot be saved: an end that is in use is refused.
        [T] std::sync::mpsc::Sender<T>;
        [T] std::sync::mpsc::SyncSender<T>;
        [T] std::sync::mpsc::Receiver<T>;
    }
    // What a device has of them is given back: a command that is done, a kernel that nobody starts.
    #[cfg(feature = "ocl")]
    others! {
        Inert Uncounted:
        [] ocl::Event;
        [] ocl::Kernel;
    }
    #[cfg(feature = "opencl3")]
    others! {
        Inert Uncounted:
        [] opencl3::event::Event;
        [] opencl3::kernel::Kernel;
    }
}
