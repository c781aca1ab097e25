//! Threads that a program starts beside its own: none may run while a checkpoint is taken that does not hold it.
//!
//! `cargo ckpt` has every thread of a program watched that is started by `thread::spawn` and the like; with attributes
//! that is done in the functions that have one. Threads of `std::thread::scope` end with their scope, and those of
//! `rayon`'s pool only work while somebody waits for them.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The threads that run, by number, with the place where each was started.
static RUNNING: Mutex<BTreeMap<u64, &'static Location<'static>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The number of this thread, if it is watched.
    static NUMBER: Cell<Option<u64>> = const { Cell::new(None) };
}

fn running() -> MutexGuard<'static, BTreeMap<u64, &'static Location<'static>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The body of a thread, watched: until it has ended no checkpoint is taken.
///
/// ```
/// use std::thread;
/// let answer = thread::spawn(ckpt::thread::watched(|| 42));
/// assert_eq!(answer.join().unwrap(), 42);
/// ```
#[track_caller]
pub fn watched<R, F: FnOnce() -> R>(body: F) -> impl FnOnce() -> R {
    let mut all = running();
    let number = all.last_key_value().map_or(0, |(last, _)| last + 1);
    all.insert(number, Location::caller());
    drop(all);
    let end = End(number);
    move || {
        NUMBER.set(Some(number));
        let _end = end;
        body()
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
    let mut places: Vec<String> = running()
        .values()
        .map(|place| format!("{}:{}", place.file(), place.line()))
        .collect();
    places.sort();
    places.dedup();
    places
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
    }
}
