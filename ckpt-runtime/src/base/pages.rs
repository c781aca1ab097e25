//! Which memory the program has written to since a checkpoint, as the kernel reports it: pages are write-protected for
//! `userfaultfd`, and the kernel takes the protection off by itself where the program writes (Linux 6.7 and newer,
//! `UFFD_FEATURE_WP_ASYNC` and `PAGEMAP_SCAN`). Nothing is read to find what has not changed.
//!
//! A watch says that the bytes between two addresses are those that a certain checkpoint has, as long as their pages have
//! not been written to. It does not ask whose they are: memory that was given back and taken again has been written to,
//! or is not watched any more.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::OwnedFd;

use rustix::ioctl::{Opcode, Updater, ioctl, opcode};
use rustix::mm::{UserfaultfdFlags, userfaultfd};

/// The watch over a list: its memory, and when it was last taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watch {
    address: usize,
    epoch: u64,
}

/// What the kernel is asked.
#[derive(Debug)]
pub(crate) struct Pages {
    watcher: OwnedFd,
    map: File,
    page: usize,
    /// How often pages have been protected: what a checkpoint relies on must be of the last time.
    epoch: u64,
    /// The lists that are watched: where they begin, and their bytes.
    watched: HashMap<usize, usize>,
    /// What is to be protected when the checkpoint has been gathered. Not before: two lists may share a page.
    pending: Vec<Range<usize>>,
    begun: Vec<Range<usize>>,
}

/// Memory that has not been written to: addresses of whole pages, in their order.
#[derive(Debug, Default)]
pub(crate) struct Untouched(Vec<Range<usize>>);

impl Untouched {
    /// Whether all of this lies in it.
    pub fn covers(&self, bytes: &[u8]) -> bool {
        let range = addresses(bytes);
        let next = self.0.partition_point(|known| known.end <= range.start);
        self.0
            .get(next)
            .is_some_and(|known| known.start <= range.start && range.end <= known.end)
    }
}

fn addresses(bytes: &[u8]) -> Range<usize> {
    let start = bytes.as_ptr().addr();
    start..start + bytes.len()
}

impl Pages {
    /// # Errors
    /// This kernel cannot do it, or this process may not ask for it.
    pub fn open() -> io::Result<Pages> {
        let flags = UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::NONBLOCK;
        // SAFETY: it takes no memory; what is done with the descriptor is below.
        let watcher = unsafe { userfaultfd(flags) };
        // Who has no privileges gets one that does not stop the kernel itself, which this never does.
        let watcher = watcher.or_else(|_| {
            // SAFETY: as above.
            unsafe { userfaultfd(flags | UserfaultfdFlags::from_bits_retain(USER_MODE_ONLY)) }
        })?;
        let mut api = Api {
            api: API,
            features: WP_ASYNC | WP_UNPOPULATED,
            ioctls: 0,
        };
        control::<{ opcode::read_write::<Api>(GROUP, 0x3f) }, _>(&watcher, &mut api)?;
        let pages = Pages {
            watcher,
            map: File::open("/proc/self/pagemap")?,
            page: rustix::param::page_size(),
            epoch: 0,
            watched: HashMap::new(),
            pending: Vec::new(),
            begun: Vec::new(),
        };
        // An old kernel has the one and lacks the other.
        pages.scan(0..pages.page, &mut Vec::new())?;
        Ok(pages)
    }

    /// What is left of a list as the checkpoint has it that `watch` reports; `None` if nothing is known of it.
    pub fn untouched(&self, watch: Option<Watch>, bytes: &[u8]) -> Option<Untouched> {
        let range = addresses(bytes);
        let is_last = watch.is_some_and(|watch| watch.epoch == self.epoch && watch.address == range.start);
        if !is_last || !self.watches(bytes) {
            return None;
        }
        let mut found = Vec::new();
        self.scan(self.whole_pages(range), &mut found).ok()?;
        Some(Untouched(found))
    }

    /// Whether a list of this length was watched here when the last checkpoint was taken.
    pub fn watches(&self, bytes: &[u8]) -> bool {
        let range = addresses(bytes);
        self.watched.get(&range.start) == Some(&range.len())
    }

    /// A list is to be watched from this checkpoint on. `untouched` is still protected.
    pub fn watch(&mut self, bytes: &[u8], untouched: Option<&Untouched>) -> Watch {
        let all = self.whole_pages(addresses(bytes));
        let mut next = all.start;
        for known in untouched.map_or(&[][..], |untouched| &untouched.0) {
            if next < known.start {
                self.pending.push(next..known.start);
            }
            next = known.end;
        }
        if next < all.end {
            self.pending.push(next..all.end);
        }
        self.begun.push(addresses(bytes));
        Watch {
            address: bytes.as_ptr().addr(),
            epoch: self.epoch + 1,
        }
    }

    /// The checkpoint has been gathered: what it has is watched from now on, and nothing else.
    pub fn begin(&mut self) {
        self.epoch += 1;
        self.watched.clear();
        let pending = std::mem::take(&mut self.pending);
        for list in self.begun.drain(..) {
            self.watched.insert(list.start, list.len());
        }
        for range in pending {
            if self.protect(&range).is_err() {
                // Memory of a kind that cannot be watched: what lies in it counts as written to.
                self.watched
                    .retain(|start, length| start + *length <= range.start || range.end <= *start);
            }
        }
    }

    /// What was to be watched is not: the checkpoint has failed.
    pub fn give_up(&mut self) {
        self.pending.clear();
        self.begun.clear();
    }

    fn whole_pages(&self, range: Range<usize>) -> Range<usize> {
        range.start / self.page * self.page..range.end.next_multiple_of(self.page)
    }

    fn protect(&self, range: &Range<usize>) -> io::Result<()> {
        let range = Span::of(range);
        let mut register = Register {
            range,
            mode: MODE_WP,
            ioctls: 0,
        };
        control::<{ opcode::read_write::<Register>(GROUP, 0x00) }, _>(&self.watcher, &mut register)?;
        let mut protect = WriteProtect { range, mode: 1 };
        control::<{ opcode::read_write::<WriteProtect>(GROUP, 0x06) }, _>(&self.watcher, &mut protect)
    }

    /// Finds the pages that are there, protected, and not written to.
    fn scan(&self, range: Range<usize>, found: &mut Vec<Range<usize>>) -> io::Result<()> {
        let mut regions = vec![Region::default(); 512];
        let mut start = range.start as u64;
        while start < range.end as u64 {
            let mut scan = Scan {
                size: size_of::<Scan>() as u64,
                start,
                end: range.end as u64,
                vec: regions.as_mut_ptr().addr() as u64,
                vec_len: regions.len() as u64,
                category_inverted: IS_WRITTEN,
                category_mask: IS_WPALLOWED | IS_WRITTEN | IS_PRESENT,
                return_mask: IS_PRESENT,
                ..Scan::default()
            };
            let count = counted::<{ opcode::read_write::<Scan>(b'f', 16) }, _>(&self.map, &mut scan)?;
            for region in regions.iter().take(count) {
                let (first, end) = (region.start as usize, region.end as usize);
                match found.last_mut() {
                    Some(last) if last.end == first => last.end = end,
                    _ => found.push(first..end),
                }
            }
            if scan.walk_end <= start {
                return Err(io::ErrorKind::Other.into());
            }
            start = scan.walk_end;
        }
        Ok(())
    }
}

/// Asks a descriptor for something that changes no memory but `value`, and what `value` says that it may.
fn control<const OPCODE: Opcode, T>(of: &OwnedFd, value: &mut T) -> io::Result<()> {
    // SAFETY: `OPCODE` is made from `T`, which is laid out as the kernel has it. Protected pages stay readable, and the
    // kernel itself lets the program write to them.
    Ok(unsafe { ioctl(of, Updater::<OPCODE, T>::new(value)) }?)
}

/// As [`control`], for a request that answers with a number.
fn counted<const OPCODE: Opcode, T>(of: &File, value: &mut T) -> io::Result<usize> {
    struct Counted<'a, const OPCODE: Opcode, T>(&'a mut T);
    // SAFETY: `OPCODE` is made from `T`, which is laid out as the kernel has it, and lives as long as the call.
    unsafe impl<const OPCODE: Opcode, T> rustix::ioctl::Ioctl for Counted<'_, OPCODE, T> {
        type Output = usize;
        const IS_MUTATING: bool = true;
        fn opcode(&self) -> Opcode {
            OPCODE
        }
        fn as_ptr(&mut self) -> *mut std::ffi::c_void {
            std::ptr::from_mut(self.0).cast()
        }
        unsafe fn output_from_ptr(
            out: rustix::ioctl::IoctlOutput,
            _: *mut std::ffi::c_void,
        ) -> rustix::io::Result<usize> {
            Ok(usize::try_from(out).unwrap_or(0))
        }
    }
    // SAFETY: the kernel writes at most `vec_len` regions to the list that `value` names, which the caller keeps.
    Ok(unsafe { ioctl(of, Counted::<OPCODE, T>(value)) }?)
}

/// `UFFD_USER_MODE_ONLY`.
const USER_MODE_ONLY: u32 = 1;
/// `UFFD_API`, and the group of its requests.
const API: u64 = 0xaa;
const GROUP: u8 = 0xaa;
/// `UFFD_FEATURE_WP_UNPOPULATED`: pages that are not there yet are protected, too.
const WP_UNPOPULATED: u64 = 1 << 13;
/// `UFFD_FEATURE_WP_ASYNC`: the kernel takes the protection off by itself.
const WP_ASYNC: u64 = 1 << 15;
/// `UFFDIO_REGISTER_MODE_WP`.
const MODE_WP: u64 = 1 << 1;
/// `PAGE_IS_WPALLOWED`, `PAGE_IS_WRITTEN`, `PAGE_IS_PRESENT`.
const IS_WPALLOWED: u64 = 1 << 0;
const IS_WRITTEN: u64 = 1 << 1;
const IS_PRESENT: u64 = 1 << 3;

/// `struct uffdio_api`.
#[repr(C)]
struct Api {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// `struct uffdio_range`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    length: u64,
}

impl Span {
    fn of(range: &Range<usize>) -> Span {
        Span {
            start: range.start as u64,
            length: range.len() as u64,
        }
    }
}

/// `struct uffdio_register`.
#[repr(C)]
struct Register {
    range: Span,
    mode: u64,
    ioctls: u64,
}

/// `struct uffdio_writeprotect`.
#[repr(C)]
struct WriteProtect {
    range: Span,
    mode: u64,
}

/// `struct pm_scan_arg`.
#[repr(C)]
#[derive(Default)]
struct Scan {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// `struct page_region`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Region {
    start: u64,
    end: u64,
    categories: u64,
}

#[cfg(test)]
#[path = "../../../tests/harness/src/skipped.rs"]
mod skipped;

#[cfg(test)]
mod tests {
    use super::*;

    /// `None` where this machine cannot do it.
    fn pages() -> Option<Pages> {
        let pages = Pages::open();
        if let Err(error) = &pages {
            super::skipped::skipped("memory that the kernel watches", error);
        }
        pages.ok()
    }

    /// The changed pages between the first two and the last two, which others may share.
    fn changed(untouched: &Untouched, bytes: &[u8], page: usize) -> Vec<usize> {
        let pages = bytes.chunks(page).enumerate();
        let inner = pages.skip(2).take(bytes.len() / page - 4);
        let changed = inner.filter(|(_, bytes)| !untouched.covers(bytes));
        changed.map(|(number, _)| number).collect()
    }

    #[test]
    fn what_was_written_to_is_told() {
        let Some(mut pages) = pages() else { return };
        let page = pages.page;
        let mut list = vec![1_u8; 64 * page];
        assert!(pages.untouched(None, &list).is_none());
        let watch = pages.watch(&list, None);
        pages.begin();
        let untouched = pages.untouched(Some(watch), &list).unwrap();
        assert!(changed(&untouched, &list, page).is_empty());
        list[5 * page + 7] = 2;
        let untouched = pages.untouched(Some(watch), &list).unwrap();
        let seen = changed(&untouched, &list, page);
        assert!(
            seen.contains(&5) && seen.len() <= 2,
            "a list need not begin with a page: {seen:?}"
        );
        let watch = pages.watch(&list, Some(&untouched));
        pages.begin();
        let untouched = pages.untouched(Some(watch), &list).unwrap();
        assert!(changed(&untouched, &list, page).is_empty());
        // What the kernel writes for the program counts as well.
        let (mut from, to) = io::pipe().unwrap();
        io::Write::write_all(&mut &to, &[3; 10]).unwrap();
        io::Read::read_exact(&mut from, &mut list[9 * page + 100..9 * page + 110]).unwrap();
        let untouched = pages.untouched(Some(watch), &list).unwrap();
        assert!(changed(&untouched, &list, page).contains(&9));
    }

    #[test]
    fn a_checkpoint_that_is_not_the_last_is_not_relied_on() {
        let Some(mut pages) = pages() else { return };
        let mut list = vec![1_u8; 16 * pages.page];
        let old = pages.watch(&list, None);
        pages.begin();
        list[0] = 2;
        let new = pages.watch(&list, None);
        pages.begin();
        assert!(pages.untouched(Some(old), &list).is_none());
        assert!(pages.untouched(Some(new), &list).is_some());
        assert!(pages.untouched(Some(new), &list[1..]).is_none());
        pages.watch(&list, None);
        pages.give_up();
        assert!(pages.untouched(Some(new), &list).is_some());
    }

    #[test]
    fn memory_that_was_given_back_counts_as_written_to() {
        let Some(mut pages) = pages() else { return };
        let page = pages.page;
        let length = 600 * page;
        let list = vec![1_u8; length];
        let watch = pages.watch(&list, None);
        let address = list.as_ptr().addr();
        pages.begin();
        drop(list);
        // The C library gives large blocks back to the system, and gets the same addresses again.
        let list = vec![0_u8; length];
        if list.as_ptr().addr() != address {
            super::skipped::skipped(
                "memory watched at an address that is used again",
                "it was not given again",
            );
            return;
        }
        let whole = changed(&pages.untouched(Some(watch), &list).unwrap(), &list, page);
        assert_eq!(whole.len(), length / page - 4);
    }

    #[test]
    fn lists_that_share_a_page_do_not_hide_each_others_changes() {
        let Some(mut pages) = pages() else { return };
        let page = pages.page;
        let mut all = vec![1_u8; 8 * page];
        let middle = page * 4 - all.as_ptr().addr() % page + page / 2;
        let (one, other) = all.split_at_mut(middle);
        let watches = [pages.watch(one, None), pages.watch(other, None)];
        pages.begin();
        *one.last_mut().unwrap() = 2;
        other[0] = 2;
        for (list, watch) in [(&*one, watches[0]), (&*other, watches[1])] {
            let untouched = pages.untouched(Some(watch), list).unwrap();
            let next = pages.watch(list, Some(&untouched));
            assert_ne!(next, watch);
            let shared = match list.as_ptr() == other.as_ptr() {
                true => &list[..8],
                false => &list[list.len() - 8..],
            };
            assert!(!untouched.covers(shared));
        }
    }
}
