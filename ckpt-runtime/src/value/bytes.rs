//! The bytes of a column, in memory that is used again: touching memory for the first time takes many times longer than
//! copying into it, so that a checkpoint would mostly wait for the system to hand out pages.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::num::NonZeroUsize;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, OnceLock};

/// Buffers from this size on are used again.
const SMALLEST: usize = 64 * 1024;
/// A thread copies at least so much: less is done before it has begun.
const PIECE: usize = 4 << 20;

/// Buffers that no snapshot needs at the moment, by their capacity.
static POOL: Mutex<BTreeMap<usize, Vec<Vec<u8>>>> = Mutex::new(BTreeMap::new());

fn pool() -> MutexGuard<'static, BTreeMap<usize, Vec<Vec<u8>>>> {
    POOL.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The smallest buffer that takes `bytes`, if there is one that is not far too large.
fn used_before(bytes: usize) -> Option<Vec<u8>> {
    let mut pool = pool();
    let (&capacity, _) = pool.range(bytes..=bytes.saturating_mul(2)).next()?;
    let same = pool.get_mut(&capacity)?;
    let buffer = same.pop();
    if same.is_empty() {
        pool.remove(&capacity);
    }
    buffer
}

/// Gives the memory of buffers back that the snapshot just taken had no use for.
pub(crate) fn release_unused() {
    let unused = std::mem::take(&mut *pool());
    drop(unused);
}

/// Bytes that are appended to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// Makes room for `more` bytes.
    pub fn make_room(&mut self, more: usize) {
        let needed = self.0.len().saturating_add(more);
        if needed <= self.0.capacity() || needed < SMALLEST {
            return;
        }
        // What grows step by step would otherwise be copied at every step.
        let wanted = match self.0.len() {
            0 => needed,
            _ => needed.max(self.0.capacity().saturating_mul(2)),
        };
        match used_before(wanted) {
            Some(mut larger) => {
                larger.extend_from_slice(&self.0);
                self.0 = larger;
            }
            None => self.0.reserve_exact(wanted - self.0.len()),
        }
    }

    /// Appends `bytes`, with all cores where there are many.
    pub fn append(&mut self, bytes: &[u8]) {
        self.make_room(bytes.len());
        copy(bytes, &mut self.0);
    }
}

impl Deref for Bytes {
    type Target = Vec<u8>;
    fn deref(&self) -> &Vec<u8> {
        &self.0
    }
}

impl DerefMut for Bytes {
    fn deref_mut(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes(bytes)
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        if self.0.capacity() >= SMALLEST {
            let mut buffer = std::mem::take(&mut self.0);
            buffer.clear();
            pool().entry(buffer.capacity()).or_default().push(buffer);
        }
    }
}

/// How many threads copy.
fn threads() -> usize {
    static THREADS: OnceLock<usize> = OnceLock::new();
    // Few cores fill the memory's bandwidth.
    *THREADS.get_or_init(|| {
        std::thread::available_parallelism()
            .map_or(1, NonZeroUsize::get)
            .min(8)
    })
}

fn copy(from: &[u8], to: &mut Vec<u8>) {
    let helpers = threads().min(from.len() / PIECE).saturating_sub(1);
    if helpers == 0 {
        to.extend_from_slice(from);
        return;
    }
    to.reserve(from.len());
    let spare = &mut to.spare_capacity_mut()[..from.len()];
    let pieces = Mutex::new(from.chunks(PIECE).zip(spare.chunks_mut(PIECE)));
    let work = || {
        let next = || {
            pieces
                .lock()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
                .next()
        };
        while let Some((from, to)) = next() {
            fill(from, to);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            // Where the system gives no more threads, this one does all of the work.
            let helper = std::thread::Builder::new().name("ckpt-copy".into());
            let _ = helper.spawn_scoped(scope, work);
        }
        work();
    });
    // SAFETY: the pieces cover the `from.len()` bytes behind the length, and every one of them has been filled.
    unsafe { to.set_len(to.len() + from.len()) }
}

/// Copies one piece; the two are of the same length.
fn fill(from: &[u8], to: &mut [MaybeUninit<u8>]) {
    let length = from.len().min(to.len());
    // SAFETY: both have `length` bytes, and a shared and an exclusive reference do not overlap.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr().cast::<u8>(), length) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_copy_what_one_would() {
        let from: Vec<u8> = (0..3 * PIECE + 12_345).map(|n| (n % 251) as u8).collect();
        let mut to = Bytes::from(vec![7; 99]);
        to.append(&from);
        assert!(to[..99].iter().all(|&byte| byte == 7));
        assert!(to[99..] == from);
    }

    #[test]
    fn a_buffer_is_used_again() {
        // A size that no other test has.
        let size = SMALLEST + 54_321;
        let mut first = Bytes::default();
        first.append(&vec![1; size]);
        let place = first.as_ptr();
        drop(first);
        let mut second = Bytes::default();
        second.append(&vec![2; size]);
        assert_eq!(second.as_ptr(), place);
    }
}
