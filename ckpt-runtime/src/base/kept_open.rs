//! Files that ckpt keeps open while the program runs: the lock of the store, its journal. A program that closes what it has
//! not opened, as daemons do, does not close these: to it they are not there. Their numbers are high, so that the program's own files have
//! the numbers that they would have without ckpt.

use std::fs::File;
use std::ops::{Deref, DerefMut};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicU32, Ordering};

use super::current;

/// The first number that is tried.
const FIRST: i32 = 200;

/// What has a higher number is not told from the program's files.
const MOST: usize = 4096;

const WORD: usize = u32::BITS as usize;

/// A bit for each number that is one of ckpt's.
static OURS: [AtomicU32; MOST / WORD] = [const { AtomicU32::new(0) }; MOST / WORD];

/// A file of ckpt's that stays open. When it is dropped it is closed.
#[derive(Debug)]
pub(crate) struct KeptOpen(File);

impl KeptOpen {
    pub fn new(file: File) -> KeptOpen {
        let high = rustix::io::fcntl_dupfd_cloexec(&file, FIRST);
        // Where the process may not have such numbers the first one will do.
        let file = high.map_or(file, File::from);
        is_ours_now(file.as_raw_fd());
        KeptOpen(file)
    }
}

impl Drop for KeptOpen {
    fn drop(&mut self) {
        is_nobodys(self.0.as_raw_fd());
    }
}

/// A library has opened this for ckpt, and closes it on a thread that works for ckpt.
pub(crate) fn is_ours_now(number: i32) {
    if let Some((word, bit)) = place(number) {
        word.fetch_or(bit, Ordering::SeqCst);
    }
}

/// It is about to be closed.
pub(crate) fn is_nobodys(number: i32) {
    if let Some((word, bit)) = place(number) {
        word.fetch_and(!bit, Ordering::SeqCst);
    }
}

impl Deref for KeptOpen {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for KeptOpen {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

impl AsFd for KeptOpen {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn place(number: i32) -> Option<(&'static AtomicU32, u32)> {
    let number = usize::try_from(number).ok()?;
    Some((OURS.get(number / WORD)?, 1 << (number % WORD)))
}

/// Whether the program is to know nothing of this number. For functions of the C library: nothing is allocated or locked. A
/// process that was forked has no use for what it has inherited.
pub(crate) fn is_ours(number: i32) -> bool {
    let is_set = place(number).is_some_and(|(word, bit)| word.load(Ordering::SeqCst) & bit != 0);
    is_set && !current::is_forked()
}

/// The first number from this one on that is ckpt's, and not above `last`.
pub(crate) fn first_of_ours(from: u32, last: u32) -> Option<u32> {
    let last = last.min(MOST as u32 - 1);
    (from..=last).find(|number| is_ours(*number as i32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_open_is_told_from_other_files() {
        let file = KeptOpen::new(tempfile::tempfile().unwrap());
        let number = file.as_raw_fd();
        assert!(number >= FIRST && is_ours(number) && !is_ours(0) && !is_ours(-1));
        assert_eq!(first_of_ours(number as u32, u32::MAX), Some(number as u32));
        drop(file);
        assert!(!is_ours(number));
    }
}
