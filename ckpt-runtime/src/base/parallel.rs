//! Work on pieces of memory by several threads.

use std::num::NonZeroUsize;
use std::sync::{Mutex, OnceLock};

use super::lock::locked;

/// A thread does at least so many bytes: less is done before it has begun.
pub(crate) const PIECE: usize = 4 << 20;

/// How many threads work on one thing.
pub(crate) fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    // Few cores fill the memory's bandwidth.
    *THREADS.get_or_init(|| {
        std::thread::available_parallelism()
            .map_or(1, NonZeroUsize::get)
            .min(8)
    })
}

/// How many threads help the one that has work on so many bytes.
pub(crate) fn helpers(bytes: usize) -> usize {
    threads().min(bytes / PIECE).saturating_sub(1)
}

/// Does `work` for every item, with as many threads as `bytes` are worth.
pub(crate) fn each<T: Send>(
    items: impl Iterator<Item = T> + Send,
    bytes: usize,
    work: impl Fn(T) + Sync + Send,
) {
    each_beside(|| {}, items, bytes, work);
}

/// The same, while this thread does something of its own before it helps.
pub(crate) fn each_beside<T: Send>(
    own: impl FnOnce(),
    items: impl Iterator<Item = T> + Send,
    bytes: usize,
    work: impl Fn(T) + Sync + Send,
) {
    let helpers = helpers(bytes);
    if helpers == 0 {
        own();
        items.for_each(work);
        return;
    }
    let items = Mutex::new(items);
    let all = || {
        let next = || locked(&items).next();
        while let Some(item) = next() {
            work(item);
        }
    };
    let mut own = Some(own);
    let mut own = || {
        if let Some(own) = own.take() {
            own();
        }
    };
    with_helpers(helpers, &mut own, &all);
}

/// `all` by so many threads more than this one, which does `own` before.
fn with_helpers(helpers: usize, own: &mut dyn FnMut(), all: &(dyn Fn() + Sync)) {
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            // Where the system starts no more threads, this one does all of the work.
            let helper = std::thread::Builder::new().name("ckpt-copy".into());
            let _ = helper.spawn_scoped(scope, all);
        }
        own();
        all();
    });
}

/// Asks for large pages in memory that is about to be filled: touching it for the first time takes most of the time.
pub(crate) fn large_pages(memory: &mut [std::mem::MaybeUninit<u8>]) {
    const PAGE: usize = 2 << 20;
    let first = memory.as_ptr().align_offset(PAGE);
    let length = memory.len().saturating_sub(first) / PAGE * PAGE;
    if length > 0 {
        // SAFETY: the range lies in `memory`; the advice changes how the system hands out pages and nothing in them. It is
        // free not to follow.
        unsafe { libc::madvise(memory[first..].as_mut_ptr().cast(), length, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_item_is_worked_on_once() {
        for bytes in [0, 100 * PIECE] {
            let sum = AtomicUsize::new(0);
            each(0..1000_usize, bytes, |n| {
                sum.fetch_add(n, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 499_500);
        }
    }
}
