//! The program's global state: statics and thread-locals that a checkpoint holds beside the variables of its functions.
//!
//! A static cannot be replaced by a restored one, so it is put back in place: [`Global`] is for what can be. A program
//! names its globals at the start of `main`, each time it starts; a restart puts each back as soon as it is named, for
//! code that is re-executed, and once more when it has arrived, because that code may have changed it.

use std::borrow::Cow;
use std::cell::{Cell, LazyCell, OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::mem;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{self, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, RwLock, TryLockError};
use std::thread::LocalKey;
use std::time::{Duration, Instant};

use super::journal::FILES_NEEDED;
use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use crate::base::current;
use crate::base::report::{Fatal, headline};
use crate::base::typed::right_program;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError, LoadProblem, let_go};

/// Name of the note in a checkpoint in which statics are shared pointers that others have clones of.
pub(crate) const SHARED_STATICS_NOTE: &str = "shared_statics";

/// State that is saved with each checkpoint and put back in place by a restart; see [`global`](crate::global).
pub trait Global {
    /// Appends the state to the columns of `to`.
    fn save(&self, to: &mut Encoder<'_>);

    /// Puts back the state that `from` holds.
    ///
    /// # Errors
    /// The columns do not hold it, or it cannot be changed now.
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError>;
}

/// Where a [`Global`] lives: a static, or the key of a `thread_local!`.
#[diagnostic::on_unimplemented(
    message = "E1204: `{Self}` is not a static that can be put back at a restart",
    label = "not a `&'static` of a `ckpt::Global`, nor the key of a `thread_local!` of one",
    note = "atomics, `Mutex`, `RwLock`, `OnceLock`, `LazyLock` and `thread_local!` keys of `Cell`, `RefCell` and `OnceCell` can be, if what they hold can be saved",
    note = "a static that never changes need not be named; for a struct of your own implement `ckpt::Global` field by field"
)]
pub trait Place {
    /// See [`Global::save`].
    fn save(&self, to: &mut Encoder<'_>);

    /// See [`Global::restore`].
    ///
    /// # Errors
    /// As there.
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError>;
}

impl<G: Global> Place for &'static G {
    fn save(&self, to: &mut Encoder<'_>) {
        (**self).save(to);
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        (**self).restore(from)
    }
}

/// What is computed when it is first asked for.
impl<G: Global + ?Sized> Place for fn() -> &'static G {
    fn save(&self, to: &mut Encoder<'_>) {
        self().save(to);
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        self().restore(from)
    }
}

impl<G: Global> Place for &'static LocalKey<G> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.with(|global| global.save(to));
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        self.with(|global| global.restore(from))
    }
}

/// State that a library keeps to itself, by the function that gives it and the one that takes it: the generator of random numbers of
/// `fastrand`, which is named with [`global`](crate::global).
///
/// ```
/// # mod fastrand { use std::cell::Cell; thread_local!(static SEED: Cell<u64> = const { Cell::new(1) });
/// #     pub fn get_seed() -> u64 { SEED.get() } pub fn seed(seed: u64) { SEED.set(seed) } }
/// #[ckpt::main]
/// fn main() {
///     ckpt::global("generator", ckpt::Accessors::new(fastrand::get_seed, fastrand::seed));
///     fastrand::seed(7);
///     for _ in 0..100 {
///         ckpt::checkpoint!();
///     }
///     assert_eq!(fastrand::get_seed(), 7);
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Accessors<T> {
    get: fn() -> T,
    set: fn(T),
}

impl<T> Accessors<T> {
    /// `get` gives the state, and `set` puts back what it has given.
    pub fn new(get: fn() -> T, set: fn(T)) -> Self {
        Self { get, set }
    }
}

impl<T: Checkpoint> Place for Accessors<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        (self.get)().save(to);
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        (self.set)(T::load(from)?);
        Ok(())
    }
}

/// A static that the program has named.
pub(crate) struct Registered {
    name: &'static str,
    rust_type: &'static str,
    global: Box<dyn Place>,
}

/// The statics that the program has named since the session began.
#[derive(Default)]
pub(crate) struct Statics(Vec<Registered>);

impl Statics {
    /// One more, or another in the place of the one of that name.
    pub fn register(&mut self, registered: Registered) {
        match self.0.iter_mut().find(|known| known.name == registered.name) {
            Some(known) => *known = registered,
            None => self.0.push(registered),
        }
    }
}

impl fmt::Debug for Statics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|one| one.name)).finish()
    }
}

impl StateSource for Statics {
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        for one in &self.0 {
            to.global(one.name, one.rust_type, &*one.global);
        }
        Ok(())
    }

    /// Puts them back once more. The checkpoint must hold no other that has not been named.
    fn restore(&mut self, from: &dyn Recorded) -> Result<(), Fatal> {
        let unnamed = from
            .names()
            .into_iter()
            .find(|name| self.0.iter().all(|one| one.name != *name));
        match unnamed {
            Some(name) => Err(gone(from, name)),
            None => self.0.iter().try_for_each(|one| one.restore(from)),
        }
    }
}

impl Registered {
    pub fn new<P: Place + 'static>(name: &'static str, global: P) -> Registered {
        Registered {
            name,
            rust_type: std::any::type_name::<P>(),
            global: Box::new(global),
        }
    }

    /// Puts it back.
    ///
    /// # Errors
    /// The checkpoint does not hold it, or something else in its place.
    pub fn restore(&self, from: &dyn Recorded) -> Result<(), Fatal> {
        if !from.names().contains(&self.name) {
            return Err(unknown(from, self.name));
        }
        from.put_back(self.name, &*self.global).map_err(|error| {
            // It has nothing to do with the static, which is only the first to ask for its file.
            if let LoadProblem::Files { error } = &error.problem {
                return Fatal::refused(headline!("E2029: {error}")).help(FILES_NEEDED);
            }
            Fatal::refused(headline!(
                "E2014: the static `{}` cannot be restored: {error}",
                self.name
            ))
            .at(from.place())
            .why(format!("the program expects `{}`", self.rust_type))
            .help(right_program())
        })
    }
}

fn gone(from: &dyn Recorded, name: &str) -> Fatal {
    Fatal::refused(headline!(
        "E2015: the checkpoint holds the static `{name}`, which the program does not name now"
    ))
    .at(from.place())
    .why("the static is gone or was renamed, or `ckpt::global` is called for it only after the site")
    .help(right_program())
}

fn unknown(from: &dyn Recorded, name: &str) -> Fatal {
    Fatal::refused(headline!("E2016: the static `{name}` is not in the checkpoint"))
        .at(from.place())
        .why("it is new or was renamed since the checkpoint")
        .help(right_program())
}

macro_rules! atomics {
    ($($type:ident of $number:ty;)*) => {$(
        impl Global for atomic::$type {
            fn save(&self, to: &mut Encoder<'_>) {
                Checkpoint::save(self, to);
            }
            fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                self.store(<$number>::load(from)?, Ordering::SeqCst);
                Ok(())
            }
        }
    )*};
}

atomics! {
    AtomicBool of bool;
    AtomicU8 of u8; AtomicU16 of u16; AtomicU32 of u32; AtomicUsize of usize;
    AtomicI8 of i8; AtomicI16 of i16; AtomicI32 of i32; AtomicIsize of isize;
}

#[cfg(target_has_atomic = "64")]
atomics! { AtomicU64 of u64; AtomicI64 of i64; }

/// What is held by code that a restart executes again could not be put back.
fn held() -> LoadError {
    LoadError::invalid(
        "it is locked or borrowed by code that the restart executed again; let the guard go before the site",
    )
}

fn unlocked<G>(tried: Result<G, TryLockError<G>>) -> Result<G, LoadError> {
    match tried {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => Err(held()),
    }
}

impl<T: Checkpoint> Global for Mutex<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        Checkpoint::save(self, to);
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let mut place = unlocked(self.try_lock())?;
        let before = mem::replace(&mut *place, T::load(from)?);
        drop(place);
        let_go(before);
        // Where the program goes back in its process, whoever held it has unwound.
        self.clear_poison();
        Ok(())
    }
}

impl<T: Checkpoint> Global for RwLock<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        Checkpoint::save(self, to);
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let mut place = unlocked(self.try_write())?;
        let before = mem::replace(&mut *place, T::load(from)?);
        drop(place);
        let_go(before);
        self.clear_poison();
        Ok(())
    }
}

impl<T: Checkpoint + Copy> Global for Cell<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        Checkpoint::save(self, to);
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        self.set(T::load(from)?);
        Ok(())
    }
}

impl<T: Checkpoint> Global for RefCell<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        Checkpoint::save(self, to);
    }
    fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
        let mut place = self.try_borrow_mut().map_err(|_| held())?;
        let before = mem::replace(&mut *place, T::load(from)?);
        drop(place);
        let_go(before);
        Ok(())
    }
}

/// Set once: what code that was re-executed has set to is what the checkpoint has.
macro_rules! once {
    ($($once:ident)*) => {$(
        impl<T: Checkpoint> Global for $once<T> {
            fn save(&self, to: &mut Encoder<'_>) {
                Checkpoint::save(self, to);
            }
            fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                match (Option::<T>::load(from)?, self.get().is_some()) {
                    (Some(value), false) => self.set(value).map_err(|value| {
                        let_go(value);
                        LoadError::invalid("another thread has set it meanwhile")
                    }),
                    (None, true) => Err(LoadError::invalid(
                        "it is set already and was not when the checkpoint was taken",
                    )),
                    (Some(value), true) => {
                        let_go(value);
                        // It was set before the checkpoint, and nobody sets it again in this process.
                        match current::comes_back() && !T::FIXED {
                            true => Err(LoadError::invalid(
                                "it was set once in this process, and what is in it may have changed since the checkpoint",
                            )),
                            false => Ok(()),
                        }
                    }
                    (None, false) => Ok(()),
                }
            }
        }
    )*};
}

once!(OnceCell OnceLock);

/// Shared pointers stay what they are, and what they lead to is put back. Others that led there before do so after a restart.
macro_rules! shared {
    ($($pointer:ident)*) => {$(
        impl<T: Global + ?Sized + 'static> Global for $pointer<T> {
            fn save(&self, to: &mut Encoder<'_>) {
                to.lasts(self);
                (**self).save(to);
            }
            fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                let number = from.next_of_static();
                from.lasts(number, self)?;
                (**self).restore(from)
            }
        }
    )*};
}

shared! { Rc Arc }

/// Those that lead to a global.
macro_rules! pointers {
    ($([$($generics:tt)*] $type:ty;)*) => {$(
        impl<$($generics)*> Global for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                (**self).save(to);
            }
            fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                (**self).restore(from)
            }
        }
    )*};
}

pointers! {
    [T: Global + ?Sized] Box<T>;
    [T: Global + ?Sized] &'static T;
    [T: Global, F: FnOnce() -> T] LazyLock<T, F>;
    [T: Global, F: FnOnce() -> T] LazyCell<T, F>;
}

/// What cannot change behind a shared reference: nothing is saved of it, the program has made it again.
macro_rules! fixed {
    ($($type:ty)*) => {$(
        impl Global for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                to.unit();
            }
            fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                from.unit()
            }
        }
    )*};
}

fixed! {
    () u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 bool char str String PathBuf Duration
    Instant
}

/// Each in its place; what is in them may change, how many they are may not.
fn save_all<'a, T: Global + 'a>(items: impl ExactSizeIterator<Item = &'a T>, to: &mut Encoder<'_>) {
    let mut list = to.list(items.len());
    items.for_each(|item| item.save(&mut list));
}

fn restore_all_of<'a, T: Global + 'a>(
    mut items: impl ExactSizeIterator<Item = &'a T>,
    from: &mut Decoder<'_>,
) -> Result<(), LoadError> {
    let (count, mut list) = from.list()?;
    if count != items.len() {
        return Err(LoadError::invalid(format_args!(
            "it has {} items and had {count}",
            items.len()
        )));
    }
    items.try_for_each(|item| item.restore(&mut list))
}

macro_rules! lists {
    ($([$($generics:tt)*] $type:ty, |$list:ident| $items:expr;)*) => {$(
        impl<$($generics)*> Global for $type {
            fn save(&self, to: &mut Encoder<'_>) {
                let $list = self;
                save_all($items, to);
            }
            fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                let $list = self;
                restore_all_of($items, from)
            }
        }
    )*};
}

lists! {
    [T: Global] [T], |list| list.iter();
    [T: Global] Vec<T>, |list| list.iter();
    [T: Global] VecDeque<T>, |list| list.iter();
    [T: Global, const N: usize] [T; N], |list| list.iter();
    [K: Ord, V: Global] BTreeMap<K, V>, |map| map.values();
    [T: Ord + Global] BTreeSet<T>, |set| set.iter();
    [K: Ord, V: Global, S] HashMap<K, V, S>, |map| by_key(map).into_iter();
}

/// The order of a hash map is another one in every process, that of its keys is not.
fn by_key<K: Ord, V, S>(map: &HashMap<K, V, S>) -> Vec<&V> {
    let mut entries: Vec<(&K, &V)> = map.iter().collect();
    entries.sort_unstable_by(|a, b| a.0.cmp(b.0));
    entries.into_iter().map(|(_, value)| value).collect()
}

macro_rules! tuples {
    ($($($index:tt $name:ident),*;)*) => {$(
        impl<$($name: Global),*> Global for ($($name,)*) {
            fn save(&self, to: &mut Encoder<'_>) {
                const NAMES: &[Cow<'static, str>] = &[$(Cow::Borrowed(stringify!($index))),*];
                $(self.$index.save(&mut to.field(NAMES, $index));)*
            }
            fn restore(&self, from: &mut Decoder<'_>) -> Result<(), LoadError> {
                $(from.field_with(&[stringify!($index)], |part| self.$index.restore(part), None)?;)*
                Ok(())
            }
        }
    )*};
}

tuples! {
    0 A;
    0 A, 1 B;
    0 A, 1 B, 2 C;
    0 A, 1 B, 2 C, 3 D;
}
