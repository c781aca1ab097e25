//! The program's memory: the system's, bounded while a checkpoint is taken and for the thread that writes it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::SeqCst};

#[global_allocator]
static MEMORY: Bounded = Bounded;

struct Bounded;

thread_local! {
    /// Whether this is the thread that computes: what it does with memory between checkpoints is its own business.
    static COMPUTES: Cell<bool> = const { Cell::new(false) };
}

/// Bytes that checkpoints have taken beyond those that they have let go.
static LIVE: AtomicIsize = AtomicIsize::new(0);
/// Whether a checkpoint is being taken.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether one has been.
static BEGUN: AtomicBool = AtomicBool::new(false);
/// Whether the program waits for each to be written.
static WAITS: AtomicBool = AtomicBool::new(false);
/// Bytes that there are for them; none where nothing is bounded.
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

/// Whether what is done with memory now is done for a checkpoint.
fn is_for_checkpoints() -> bool {
    // A thread that ends is none that computes.
    let computes = COMPUTES.try_with(Cell::get).unwrap_or(false);
    match computes {
        true => TAKEN.load(SeqCst),
        false => BEGUN.load(SeqCst),
    }
}

/// There are so many bytes more, or fewer, in use.
fn count(bytes: isize) {
    if is_for_checkpoints() {
        LIVE.fetch_add(bytes, SeqCst);
    }
}

/// Whether there are so many bytes more.
fn has(bytes: usize) -> bool {
    if !is_for_checkpoints() {
        return true;
    }
    let need = usize::try_from(LIVE.load(SeqCst) + bytes as isize).unwrap_or(0);
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
            count(layout.size() as isize);
        }
        at
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(at, layout) };
        count(-(layout.size() as isize));
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // It may have to be somewhere else.
        if size > layout.size() && !has(size) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller's promise.
        let moved = unsafe { System.realloc(at, layout, size) };
        if !moved.is_null() {
            count(size as isize - layout.size() as isize);
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
    if !BEGUN.load(SeqCst)
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
    if !BEGUN.load(SeqCst) {
        COMPUTES.set(true);
        WAITS.store(
            std::env::var("CKPT_BACKGROUND").is_ok_and(|wish| wish == "0"),
            SeqCst,
        );
    }
    if WAITS.load(SeqCst) || !BEGUN.load(SeqCst) {
        LIVE.store(0, SeqCst);
    }
    BEGUN.store(true, SeqCst);
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
