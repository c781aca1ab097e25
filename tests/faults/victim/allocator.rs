//! The program's memory: the system's, bounded while a checkpoint is taken.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

#[global_allocator]
static MEMORY: Bounded = Bounded;

struct Bounded;

/// Bytes that are in use.
static LIVE: AtomicUsize = AtomicUsize::new(0);
/// Whether a checkpoint is being taken.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Bytes that were in use when it began.
static BEFORE: AtomicUsize = AtomicUsize::new(0);
/// Bytes that there are beyond those; none where nothing is bounded.
static ROOM: AtomicUsize = AtomicUsize::new(usize::MAX);
/// Whether the first that cannot be had is the last.
static ONCE: AtomicBool = AtomicBool::new(false);
/// Pieces that could not be had.
static REFUSED: AtomicUsize = AtomicUsize::new(0);
/// Whether needs are noted.
static MEASURES: AtomicBool = AtomicBool::new(false);
/// What was needed beyond all that was needed before, in the order in which it was.
static NEEDS: [AtomicUsize; 1 << 15] = [const { AtomicUsize::new(0) }; 1 << 15];
static COUNT: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

/// Whether there are so many bytes more.
fn has(bytes: usize) -> bool {
    if !TAKEN.load(SeqCst) {
        return true;
    }
    let need = (LIVE.load(SeqCst) + bytes).saturating_sub(BEFORE.load(SeqCst));
    if MEASURES.load(SeqCst) && MOST.fetch_max(need, SeqCst) < need {
        let at = COUNT.fetch_add(1, SeqCst);
        if let Some(place) = NEEDS.get(at) {
            place.store(need, SeqCst);
        }
    }
    if need <= ROOM.load(SeqCst) {
        return true;
    }
    REFUSED.fetch_add(1, SeqCst);
    if ONCE.load(SeqCst) {
        ROOM.store(usize::MAX, SeqCst);
    }
    false
}

// SAFETY: all memory is the system's; what is counted beside has no part in it.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !has(layout.size()) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let at = unsafe { System.alloc(layout) };
        if !at.is_null() {
            LIVE.fetch_add(layout.size(), SeqCst);
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) };
        LIVE.fetch_sub(layout.size(), SeqCst);
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // It may have to be somewhere else.
        if size > layout.size() && !has(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let moved = unsafe { System.realloc(at, layout, size) };
        if !moved.is_null() {
            LIVE.fetch_add(size, SeqCst);
            LIVE.fetch_sub(layout.size(), SeqCst);
        }
        moved
    }
}

/// A checkpoint is taken from here on, if one is due at this visit.
pub fn begin(visit: u64) {
    let every = std::env::var("CKPT_EVERY")
        .ok()
        .and_then(|every| every.parse::<u64>().ok());
    if every.is_none_or(|every| !visit.is_multiple_of(every)) {
        return;
    }
    if BEFORE.load(SeqCst) == 0
        && let Ok(wish) = std::env::var("FAULTS_MEMORY")
    {
        match wish.split_once(':') {
            Some((bytes, lasts)) => {
                ROOM.store(bytes.parse().unwrap_or(usize::MAX), SeqCst);
                ONCE.store(lasts == "once", SeqCst);
            }
            None => MEASURES.store(true, SeqCst),
        }
    }
    BEFORE.store(LIVE.load(SeqCst), SeqCst);
    TAKEN.store(true, SeqCst);
}

/// It has been taken.
pub fn end() {
    TAKEN.store(false, SeqCst);
}

/// Says what was needed.
pub fn tell() {
    if MEASURES.load(SeqCst) {
        let count = COUNT.load(SeqCst).min(NEEDS.len());
        let needs: Vec<String> = NEEDS[..count]
            .iter()
            .map(|need| need.load(SeqCst).to_string())
            .collect();
        eprintln!("needs: {}", needs.join(" "));
    }
    eprintln!("refused: {}", REFUSED.load(SeqCst));
}
