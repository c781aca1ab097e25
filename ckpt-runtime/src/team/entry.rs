//! What members get from their region: values that it makes again at a restart, and parts that they change.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, VecDeque};
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::mpsc::{Sender, SyncSender};

use crate::plan::FunctionPlan;
use crate::state::snapshot::{Content, SnapshotBuilder};
use crate::sync::mpsc;
use crate::value::{Checkpoint, Column};

/// What a variable held when its region began, which lends it to its members: they save what they change of it. Nothing
/// where it cannot be kept.
type Entry = Option<(Column, &'static str)>;

thread_local! {
    /// The entries of the region that this thread has opened, by the variable.
    static ENTRIES: RefCell<HashMap<&'static str, Entry>> = RefCell::default();
}

/// Forgets the entries of an earlier region.
pub(crate) fn forget_entries() {
    ENTRIES.with_borrow_mut(HashMap::clear);
}

/// Keeps what a variable holds where a region begins.
pub(crate) fn keep_entry<T: Checkpoint + ?Sized>(key: &'static str, value: &T) {
    let entry = copied(value);
    ENTRIES.with_borrow_mut(|entries| entries.insert(key, entry));
}

/// Looks at what a variable held when the region began.
pub(crate) fn with_entry<R>(key: &str, look: impl FnOnce(Option<&(Column, &'static str)>) -> R) -> R {
    ENTRIES.with_borrow(|entries| look(entries.get(key).and_then(Option::as_ref)))
}

fn copied<T: Checkpoint + ?Sized>(value: &T) -> Entry {
    static NOWHERE: FunctionPlan = FunctionPlan::NOWHERE;
    let mut builder = SnapshotBuilder::new();
    let frame = builder.frame(&NOWHERE, 0);
    builder.value(frame, "entry", 0, None, value);
    let mut snapshot = builder.finish().ok()?;
    if !snapshot.tables.is_empty() || !snapshot.files.is_empty() {
        return None;
    }
    let record = snapshot
        .frames
        .first_mut()
        .and_then(|frame| frame.variables.pop())?;
    match record.content {
        Content::Value(column) => Some((column, record.rust_type)),
        Content::Link { .. } => None,
    }
}

/// What a member of a team may change in the place of another's: a list or a value behind a `&mut`.
#[diagnostic::on_unimplemented(
    message = "E1208: what `{Self}` holds cannot be saved in a checkpoint",
    label = "a thread of a team changes it; it does not implement `ckpt::Checkpoint`",
    note = "if the type is yours, derive it: `#[derive(ckpt::Checkpoint)]`"
)]
pub trait RestoreInPlace {
    /// What is read from the checkpoint.
    type Read: Checkpoint;

    /// Puts it in its place.
    ///
    /// # Errors
    /// How many values there are in the checkpoint, if it is another number.
    fn put(&mut self, read: Self::Read) -> Result<(), usize>;
}

impl<T: Checkpoint> RestoreInPlace for T {
    type Read = T;

    fn put(&mut self, read: T) -> Result<(), usize> {
        *self = read;
        Ok(())
    }
}

impl<T: Checkpoint> RestoreInPlace for [T] {
    type Read = Vec<T>;

    fn put(&mut self, read: Vec<T>) -> Result<(), usize> {
        if read.len() != self.len() {
            return Err(read.len());
        }
        self.iter_mut().zip(read).for_each(|(to, from)| *to = from);
        Ok(())
    }
}

/// Something that a member got from its region, and of which the compiler is asked whether it can have changed since.
#[derive(Debug)]
pub struct Seen<'a, T>(pub &'a T);

/// Whatever is `Copy` is not changed but by assignment, and then it is saved.
pub trait SeenAsCopy {
    /// Says nothing.
    fn is_reexecuted(&self) {}
}
impl<T: Copy> SeenAsCopy for &Seen<'_, T> {}

/// Nothing in a value of the type changes but by an assignment to the variable that owns it: there is no cell and no lock in it. A
/// derived `Checkpoint` says so of a type if it is so of all of its fields.
pub trait Fixed {}

/// Stands for a field: what is said of it with a lifetime that nothing is known of is asked only of who relies on it.
#[derive(Debug)]
pub struct Held<'a, T: ?Sized>(PhantomData<&'a ()>, PhantomData<T>);

impl<T: Fixed + ?Sized> Fixed for Held<'_, T> {}

macro_rules! fixed {
    ($($ty:ty;)*) => {
        $(impl Fixed for $ty {})*
    };
}

fixed! {
    u8; u16; u32; u64; u128; usize; i8; i16; i32; i64; i128; isize; f32; f64; bool; char; (); str; String;
    std::path::PathBuf; std::ffi::OsString; std::time::Duration;
}
impl<T: Fixed, const N: usize> Fixed for [T; N] {}
impl<T: Fixed + ?Sized> Fixed for &T {}
impl<T: ?Sized> Fixed for PhantomData<T> {}
impl<T: Fixed> Fixed for [T] {}
impl<T: Fixed> Fixed for Vec<T> {}
impl<T: Fixed> Fixed for VecDeque<T> {}
impl<T: Fixed> Fixed for BinaryHeap<T> {}
impl<T: Fixed> Fixed for BTreeSet<T> {}
impl<T: Fixed> Fixed for Option<T> {}
impl<T: Fixed + ?Sized> Fixed for Box<T> {}
impl<T: Fixed> Fixed for std::ops::Range<T> {}
impl<T: Fixed> Fixed for std::ops::RangeInclusive<T> {}
impl<T: Fixed, E: Fixed> Fixed for Result<T, E> {}
impl<A: Fixed> Fixed for (A,) {}
impl<A: Fixed, B: Fixed> Fixed for (A, B) {}
impl<A: Fixed, B: Fixed, C: Fixed> Fixed for (A, B, C) {}
impl<A: Fixed, B: Fixed, C: Fixed, D: Fixed> Fixed for (A, B, C, D) {}
impl<K: Fixed, V: Fixed> Fixed for BTreeMap<K, V> {}
impl<K: Fixed, V: Fixed, S> Fixed for HashMap<K, V, S> {}
impl<T: Fixed, S> Fixed for HashSet<T, S> {}
/// What it shares is saved by its owner.
impl<T: ?Sized> Fixed for Arc<T> {}
/// What is under way is saved by the owner of the end that receives.
impl<T> Fixed for mpsc::Sender<T> {}
impl<T> Fixed for mpsc::SyncSender<T> {}

/// The region makes it again, and the member has no way to change it.
pub trait SeenAsFixed {
    /// Says nothing.
    fn is_reexecuted(&self) {}
}
impl<T: Fixed> SeenAsFixed for &&Seen<'_, T> {}

/// What else the region makes again as it was.
pub trait SeenReexecuted<T> {
    /// Says nothing.
    fn is_reexecuted(&self)
    where
        T: Reexecuted,
    {
    }
}
impl<T> SeenReexecuted<T> for Seen<'_, T> {}

/// A value that the region makes again at a restart as it was: what it shares is saved by its owner.
#[diagnostic::on_unimplemented(
    message = "E1209: `{Self}` goes from a region to one of its threads, and a restart could not make it again as it was",
    label = "it may have changed since the thread began",
    note = "if the type is yours, derive `ckpt::Checkpoint` for it; declare it `mut` where it is made if the thread changes it, and it is saved; or share it behind an `Arc`"
)]
pub trait Reexecuted {}
impl<T: ?Sized> Reexecuted for Arc<T> {}
impl<T> Reexecuted for Sender<T> {}
impl<T> Reexecuted for SyncSender<T> {}
impl<T: Copy> Reexecuted for Vec<T> {}
impl<T: Copy> Reexecuted for Box<T> {}
impl Reexecuted for String {}
impl<T: Reexecuted> Reexecuted for Option<T> {}

/// What a member borrows from its region without an exclusive reference: it is the region's, which saves it.
pub trait SeenAsLent {
    /// Says nothing.
    fn is_lent(&self) {}
}
impl<T: Copy> SeenAsLent for &Seen<'_, T> {}

/// A type that can be saved owns what it holds: nothing is changed through it but what it shares.
pub trait SeenAsOwned {
    /// Says nothing.
    fn is_lent(&self) {}
}
impl<T: Checkpoint> SeenAsOwned for &&Seen<'_, T> {}

/// What else may be lent.
pub trait SeenInPlace<T> {
    /// Says nothing.
    fn is_lent(&self)
    where
        T: Lendable,
    {
    }
}
impl<T> SeenInPlace<T> for Seen<'_, T> {}

/// A value that threads share by reference, and that a restart makes again or restores before it starts them.
#[diagnostic::on_unimplemented(
    message = "E1210: `{Self}` is lent to a thread with a site, and ckpt cannot tell whether the thread changes what it holds",
    label = "it may hold exclusive references",
    note = "lend the thread a reference to what it reads, and a `&mut` by name to what it changes; write `move` on its closure"
)]
pub trait Lendable {}
impl Lendable for std::sync::Barrier {}
impl Lendable for std::sync::Condvar {}
impl<T: ?Sized> Lendable for Arc<T> {}
impl<T> Lendable for Sender<T> {}
impl<T> Lendable for SyncSender<T> {}
impl<T> Lendable for mpsc::Sender<T> {}
impl<T> Lendable for mpsc::SyncSender<T> {}
