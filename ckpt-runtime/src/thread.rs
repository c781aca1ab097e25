//! Threads that a program starts beside its own: none may run while a checkpoint is taken that does not hold it.
//!
//! `cargo ckpt` has every thread of a program watched that is started by `thread::spawn` and the like; with attributes
//! that is done in the functions that have one. Threads of `std::thread::scope` end with their scope, and those of
//! `rayon`'s pool only work while somebody waits for them.

use std::cell::Cell;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::base::children;
use crate::base::sorted::{SortedMap, SortedSet};

/// The threads that run, by number, with the place where each was started. Of the process: a thread may outlive a session,
/// and holds back the checkpoints of the next one as well.
static RUNNING: Mutex<SortedMap<u64, &'static Location<'static>>> = Mutex::new(SortedMap::new());

thread_local! {
    /// The number of this thread, if it is watched.
    static NUMBER: Cell<Option<u64>> = const { Cell::new(None) };
    /// How many calls this thread is in whose threads a restart starts again.
    static MADE_AGAIN: Cell<u32> = const { Cell::new(0) };
}

fn running() -> MutexGuard<'static, SortedMap<u64, &'static Location<'static>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body of a thread, watched: until it has ended no checkpoint is taken. A thread that is started while
/// [`made_again`] holds is not watched.
///
/// ```
/// use std::thread;
/// let answer = thread::spawn(ckpt::thread::watched(|| 42));
/// assert_eq!(answer.join().unwrap(), 42);
/// ```
#[track_caller]
pub fn watched<R, F: FnOnce() -> R>(body: F) -> impl FnOnce() -> R {
    let end = (MADE_AGAIN.get() == 0).then(|| {
        let mut all = running();
        let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
        all.insert(number, Location::caller());
        End(number)
    });
    move || {
        NUMBER.set(end.as_ref().map(|End(number)| *number));
        let _end = end;
        body()
    }
}

/// Until what it returns is dropped, threads and processes that this thread starts hold no checkpoint back: those that a restart
/// starts anew. `cargo ckpt` puts it into functions of which the user has said that they are called again at a restart.
///
/// ```
/// use std::thread;
/// let workers: Vec<_> = {
///     let _again = ckpt::thread::made_again();
///     (0..2).map(|n| thread::spawn(ckpt::thread::watched(move || n))).collect()
/// };
/// assert_eq!(workers.into_iter().map(|worker| worker.join().unwrap()).sum::<i32>(), 1);
/// ```
pub fn made_again() -> MadeAgain {
    MADE_AGAIN.set(MADE_AGAIN.get() + 1);
    MadeAgain {
        children: children::all(),
        of_this_thread: PhantomData,
    }
}

/// See [`made_again`].
#[derive(Debug)]
#[must_use = "it holds until it is dropped"]
pub struct MadeAgain {
    /// Processes that had been started before.
    children: SortedSet<u32>,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for MadeAgain {
    fn drop(&mut self) {
        MADE_AGAIN.set(MADE_AGAIN.get() - 1);
        children::since(&self.children);
    }
}

/// The thread ends, or has never been started.
struct End(u64);

impl Drop for End {
    fn drop(&mut self) {
        running().remove(&self.0);
    }
}

/// This thread is part of the checkpoints from now on.
pub(crate) fn is_held() {
    if let Some(number) = NUMBER.take() {
        running().remove(&number);
    }
}

/// Where threads were started that run now and that no checkpoint holds, without repetitions.
pub(crate) fn others() -> Vec<String> {
    let places: SortedSet<String> = running()
        .values()
        .map(|place| format!("{}:{}", place.file(), place.line()))
        .collect();
    places.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_watched_from_its_start_to_its_end() {
        let here = || {
            others()
                .into_iter()
                .filter(|place| place.contains("thread.rs"))
                .count()
        };
        let body = watched(|| ());
        assert_eq!(here(), 1);
        std::thread::spawn(body).join().unwrap();
        assert_eq!(here(), 0);
        drop(watched(|| ()));
        let panics = watched(|| panic!("in a thread"));
        assert!(std::thread::spawn(panics).join().is_err());
        assert_eq!(here(), 0);
        let again = made_again();
        let unwatched = watched(|| ());
        assert_eq!(here(), 0);
        drop(again);
        let _watched = watched(|| ());
        assert_eq!(here(), 1);
        drop(unwatched);
        assert_eq!(here(), 1);
    }
}
