//! What is known of each open file, by its number: whether writing through it needs anything kept. Asked at every write, so
//! nothing is locked and nothing allocated here.
//!
//! A number says nothing any more when its file is closed, and what is known of a file ends with the epoch. What holds only
//! for the place where a handle stands ends as soon as any handle is moved: clones share their place. Stamps are words of
//! the machine: where those are short, nothing is watched.

use std::ffi::{c_int, c_uint};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::base::changes::Where;
use crate::base::current;

/// Files of higher numbers are looked at with every write.
const KNOWN: usize = 16_384;

/// Nothing is known.
const UNKNOWN: usize = 0;
/// It is no file that is watched.
const UNWATCHED: usize = 1;
/// The first stamp.
const FIRST: usize = 2;

/// What is known of one number.
struct Slot {
    /// The epoch in which everything that the file was at its begin has been kept, or a value from above.
    kept: AtomicUsize,
    /// The moment since which writing where the handle stands needs nothing kept.
    beyond: AtomicUsize,
}

/// Of the process: numbers are the process's.
static SLOTS: [Slot; KNOWN] = [const {
    Slot {
        kept: AtomicUsize::new(UNKNOWN),
        beyond: AtomicUsize::new(UNKNOWN),
    }
}; KNOWN];
/// Counts epochs, of all sessions of the process.
static EPOCH: AtomicUsize = AtomicUsize::new(FIRST);
/// Counts epochs and movements of handles.
static MOMENT: AtomicUsize = AtomicUsize::new(FIRST);

fn slot(file: c_int) -> Option<&'static Slot> {
    SLOTS.get(usize::try_from(file).ok()?)
}

/// Whether this can be written without asking.
#[inline]
pub(super) fn needs_nothing(file: c_int, at: Where) -> bool {
    let Some(slot) = slot(file) else { return false };
    let kept = slot.kept.load(Ordering::Acquire);
    kept == UNWATCHED
        || kept == EPOCH.load(Ordering::Acquire)
        || (at == Where::Here && slot.beyond.load(Ordering::Acquire) == MOMENT.load(Ordering::Acquire))
}

/// The number is that of another file now, or of none.
pub(super) fn forget(file: c_int) {
    if let Some(slot) = slot(file) {
        slot.kept.store(UNKNOWN, Ordering::Release);
        slot.beyond.store(UNKNOWN, Ordering::Release);
    }
}

/// The same of all numbers from the first to the last.
pub(super) fn forget_all(first: c_uint, last: c_uint) {
    let end = (last as usize).saturating_add(1).min(KNOWN);
    for file in first as usize..end {
        forget(file as c_int);
    }
}

/// A file has been opened under this number.
pub(super) fn opened(file: c_int) {
    forget(file);
    if current::is_aside() {
        unwatched(file);
    }
}

/// The second number is another one for the file of the first.
pub(super) fn copied(file: c_int, copy: c_int) {
    forget(copy);
    if let (Some(from), Some(to)) = (slot(file), slot(copy))
        && from.kept.load(Ordering::Acquire) == UNWATCHED
    {
        to.kept.store(UNWATCHED, Ordering::Release);
    }
}

/// A handle is about to be moved.
pub(super) fn moved(file: c_int) {
    let was_beyond = slot(file).is_none_or(|slot| slot.kept.load(Ordering::Acquire) != UNWATCHED);
    if was_beyond && current::observes() {
        MOMENT.fetch_add(1, Ordering::AcqRel);
    }
}

/// It is no file that is watched, as long as it is open.
pub(super) fn unwatched(file: c_int) {
    if let Some(slot) = slot(file) {
        slot.kept.store(UNWATCHED, Ordering::Release);
    }
}

/// What the file was has been kept, all of it.
pub(super) fn kept(file: c_int) {
    if let Some(slot) = slot(file) {
        slot.kept.store(EPOCH.load(Ordering::Acquire), Ordering::Release);
    }
}

/// A moment, to say later that something has held since.
pub(super) fn moment() -> usize {
    MOMENT.load(Ordering::Acquire)
}

/// Since that moment, the handle stands where writing needs nothing.
pub(super) fn beyond(file: c_int, since: usize) {
    if let Some(slot) = slot(file) {
        slot.beyond.store(since, Ordering::Release);
    }
}

/// An epoch begins: nothing is kept yet.
pub(super) fn next_epoch() {
    EPOCH.fetch_add(1, Ordering::AcqRel);
    MOMENT.fetch_add(1, Ordering::AcqRel);
}
