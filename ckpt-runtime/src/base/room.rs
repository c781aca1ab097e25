//! Memory that may not be there. Where Rust's own collections end the process if they cannot grow, a checkpoint is to be given
//! up: what grows with the state asks here first.
//!
//! Small pieces are not asked for one by one. A [`Reserve`] is kept for them, and let go while a checkpoint is taken; what is
//! large is only taken if there is still some room beside it.

use std::fs;
use std::hint::black_box;
use std::path::Path;

/// What has to be free beside a large piece.
const MARGIN: usize = 256 << 10;
/// What is kept while no checkpoint is taken.
const KEPT: usize = 1 << 20;
/// Pieces below this size count as small.
const LARGE: usize = 4 << 10;

/// What is said of a checkpoint for which there is no memory.
pub(crate) const NO_MEMORY: &str = "there is no memory for it";

/// Whether there is memory for so many bytes, and some beside them. It is not taken.
pub(crate) fn is_there(bytes: usize) -> bool {
    let mut probe: Vec<u8> = Vec::new();
    let has = probe.try_reserve_exact(bytes.saturating_add(MARGIN)).is_ok();
    // Memory that nobody looks at need not be asked for, says the compiler.
    black_box(probe.as_ptr());
    has
}

/// Bytes of memory that are free, as far as the system says: on the machine, and of what the process's group may have.
pub(crate) fn free() -> Option<u64> {
    let of_machine = fs::read_to_string("/proc/meminfo").ok();
    let of_machine = of_machine.as_deref().and_then(available);
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let of_groups = groups
        .lines()
        .filter_map(|line| line.strip_prefix("0::/"))
        .flat_map(|group| {
            Path::new("/sys/fs/cgroup")
                .join(group)
                .ancestors()
                .map(Path::to_owned)
                .collect::<Vec<_>>()
        });
    of_groups
        .filter_map(|group| left_in(&group))
        .chain(of_machine)
        .min()
}

/// What `/proc/meminfo` says to be there for programs, in bytes.
fn available(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// What a control group has left of the memory that it may have, if there is a limit. Files that nothing has looked at lately
/// do not count.
fn left_in(group: &Path) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let limit = number("memory.max")?;
    let taken = number("memory.current")?;
    let of_files = read("memory.stat").and_then(|text| {
        let mut lines = text.lines().filter_map(|line| line.split_once(' '));
        let (_, bytes) = lines.find(|(name, _)| *name == "inactive_file")?;
        bytes.trim().parse::<u64>().ok()
    });
    Some(limit.saturating_sub(taken.saturating_sub(of_files.unwrap_or(0))))
}

/// Makes room for `more` items in a vector; whether there is memory for them.
pub(crate) fn grow<T>(items: &mut Vec<T>, more: usize) -> bool {
    if items.capacity() - items.len() >= more {
        return true;
    }
    let before = items.capacity();
    items.try_reserve(more).is_ok() && spares(items, before)
}

/// The same for no more than that.
pub(crate) fn grow_exact<T>(items: &mut Vec<T>, more: usize) -> bool {
    if items.capacity() - items.len() >= more {
        return true;
    }
    let before = items.capacity();
    items.try_reserve_exact(more).is_ok() && spares(items, before)
}

/// Whether a vector that has grown has left some memory to others; if not, it has what it had before again.
fn spares<T>(items: &mut Vec<T>, before: usize) -> bool {
    let spares = items.capacity().saturating_mul(size_of::<T>()) < LARGE || is_there(0);
    if !spares {
        items.shrink_to(before);
    }
    spares
}

/// Memory for the small pieces of a checkpoint, and for what is said if there is none for them.
#[derive(Debug, Default)]
pub(crate) struct Reserve {
    pieces: Vec<u8>,
    words: Vec<u8>,
}

/// What is kept to say that there is no memory.
const WORDS: usize = 64 << 10;

impl Reserve {
    /// Takes what of it is not there; whether all of it is now.
    pub fn fill(&mut self) -> bool {
        // The words first: they are few.
        let has_all = [(&mut self.words, WORDS), (&mut self.pieces, KEPT)]
            .into_iter()
            .all(|(part, bytes)| part.try_reserve_exact(bytes).is_ok());
        black_box((self.pieces.as_ptr(), self.words.as_ptr()));
        has_all
    }

    /// Lets go what is for pieces.
    pub fn release(&mut self) {
        self.pieces = Vec::new();
    }

    /// Lets all of it go, to say that there is no memory.
    pub fn release_all(&mut self) {
        (self.pieces, self.words) = (Vec::new(), Vec::new());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_had_is_known_before_it_is_taken() {
        assert!(is_there(1 << 20));
        assert!(!is_there(usize::MAX / 4));
        let mut items = vec![1_u64];
        assert!(grow(&mut items, 1000) && items.capacity() > 1000);
        assert!(!grow(&mut items, usize::MAX / 32));
        assert!(!grow_exact(&mut items, usize::MAX / 32));
        assert_eq!(items, [1]);
    }

    #[test]
    fn what_is_free_is_the_least_that_is_said() {
        let text = "MemTotal:       1000 kB\nMemFree:  100 kB\nMemAvailable:     250 kB\n";
        assert_eq!(available(text), Some(250 * 1024));
        assert_eq!(available("MemTotal: 1 kB"), None);
        let group = tempfile::tempdir().unwrap();
        let says = |name: &str, text: &str| fs::write(group.path().join(name), text).unwrap();
        says("memory.max", "max\n");
        says("memory.current", "700\n");
        assert_eq!(left_in(group.path()), None);
        says("memory.max", "1000\n");
        assert_eq!(left_in(group.path()), Some(300));
        says("memory.stat", "anon 500\ninactive_file 200\nactive_file 9\n");
        assert_eq!(left_in(group.path()), Some(500));
    }

    #[test]
    fn the_reserve_is_filled_again() {
        let mut reserve = Reserve::default();
        let sizes = |reserve: &Reserve| (reserve.pieces.capacity(), reserve.words.capacity());
        assert!(reserve.fill());
        assert_eq!(sizes(&reserve), (KEPT, WORDS));
        reserve.release();
        assert_eq!(sizes(&reserve), (0, WORDS));
        assert!(reserve.fill());
        reserve.release_all();
        assert_eq!(sizes(&reserve), (0, 0));
    }
}
