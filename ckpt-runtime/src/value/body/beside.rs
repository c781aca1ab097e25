//! Lists that are not in memory, as arrays on devices: a thread of their own reads them, one after the other, while the program's
//! are copied.

use std::mem::MaybeUninit;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Builder, JoinHandle};

use crate::value::bytes::{buffer_for, give_back};

/// Reads a list into memory of its size; where it succeeds, every byte was written.
pub(crate) type Read = Box<dyn FnOnce(&mut [MaybeUninit<u8>]) -> Result<(), String> + Send>;

/// A list that could not be read, by the order in which they were given.
pub(crate) struct Unread {
    pub number: usize,
    pub why: String,
}

struct Job {
    to: Arc<Room>,
    read: Read,
}

/// The thread, and what it was given. It is waited for when this is dropped.
#[derive(Debug, Default)]
pub(super) struct Readers {
    thread: Option<(Sender<Job>, JoinHandle<Vec<Unread>>)>,
}

impl Readers {
    /// Has a list of so many bytes read; gives `read` back where there is no memory, or no thread.
    ///
    /// # Safety
    /// Where `read` succeeds, it has written every byte.
    pub unsafe fn begin(&mut self, length: usize, read: Read) -> Result<Arc<Room>, Read> {
        let Some(to) = Room::of(length).map(Arc::new) else {
            return Err(read);
        };
        if self.thread.is_none() {
            self.thread = start();
        }
        let Some((jobs, _)) = &self.thread else {
            return Err(read);
        };
        let job = Job { to: to.clone(), read };
        jobs.send(job).map(|()| to).map_err(|job| job.0.read)
    }

    /// All of them have been read, but for these.
    pub fn wait(&mut self) -> Vec<Unread> {
        let Some((jobs, thread)) = self.thread.take() else {
            return Vec::new();
        };
        drop(jobs);
        match thread.join() {
            Ok(unread) => unread,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        // Without a snapshot nobody wants to know of what could not be read.
        if let Some((jobs, thread)) = self.thread.take() {
            drop(jobs);
            let _ = thread.join();
        }
    }
}

fn start() -> Option<(Sender<Job>, JoinHandle<Vec<Unread>>)> {
    let (jobs, given) = channel::<Job>();
    let work = move || {
        let all = given.into_iter().enumerate();
        let read = |(number, job): (usize, Job)| match job.to.fill(job.read) {
            Ok(()) => None,
            Err(why) => Some(Unread { number, why }),
        };
        all.filter_map(read).collect()
    };
    let thread = Builder::new().name("ckpt-read".into()).spawn(work).ok()?;
    Some((jobs, thread))
}

/// Memory that the thread fills, and a snapshot looks at when it has.
#[derive(Debug)]
pub(super) struct Room {
    first: NonNull<u8>,
    capacity: usize,
    length: usize,
    is_filled: AtomicBool,
}

// SAFETY: the bytes are written by the one thread to which the job was sent, before it sets `is_filled`, and read by others after they
// have seen that; nobody writes there again.
unsafe impl Send for Room {}
// SAFETY: as above.
unsafe impl Sync for Room {}

impl Room {
    fn of(length: usize) -> Option<Room> {
        let mut memory = std::mem::ManuallyDrop::new(buffer_for(length)?);
        Some(Room {
            first: NonNull::new(memory.as_mut_ptr())?,
            capacity: memory.capacity(),
            length,
            is_filled: AtomicBool::new(false),
        })
    }

    fn fill(&self, read: Read) -> Result<(), String> {
        // SAFETY: the memory has room for so many, and until `is_filled` is set this is the only reference to it: each room has one job,
        // and this is called for that alone.
        let to = unsafe { std::slice::from_raw_parts_mut(self.first.as_ptr().cast(), self.length) };
        read(to)?;
        self.is_filled.store(true, Ordering::Release);
        Ok(())
    }

    /// Whether all of it is there.
    pub fn is_filled(&self) -> bool {
        self.is_filled.load(Ordering::Acquire)
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.first.as_ptr()
    }

    pub fn capacity(&self) -> usize {
        self.capacity
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // SAFETY: these are the parts of a vector of bytes that was left alone, whose length was zero; nobody refers to it any more.
        give_back(unsafe { Vec::from_raw_parts(self.first.as_ptr(), 0, self.capacity) });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::super::Capture;
    use super::*;
    use crate::value::DType;

    const LENGTH: usize = 3 << 20;

    fn all(byte: u8) -> Read {
        Box::new(move |to| {
            to.fill(MaybeUninit::new(byte));
            Ok(())
        })
    }

    #[test]
    fn what_is_read_beside_is_there_when_it_was_waited_for() {
        let (go, gone) = mpsc::channel();
        let mut capture = Capture::default();
        let waits: Read = Box::new(move |to| {
            gone.recv().expect("the test sends it");
            all(7)(to)
        });
        // SAFETY: both fill what they are given.
        let bodies = unsafe {
            [waits, all(0)].map(|read| {
                capture
                    .take_beside(&DType::U8, LENGTH, read)
                    .ok()
                    .expect("there is memory")
            })
        };
        // The first waits for this thread, which was not kept by it.
        go.send(()).expect("it is waited for");
        assert!(capture.wait_for_lists().is_empty());
        for (body, byte) in bodies.iter().zip([7, 0]) {
            let whole = body.whole().expect("all of it was read");
            assert!(whole.len() == LENGTH && whole.iter().all(|one| *one == byte));
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let mut capture = Capture::default();
        let fails: Read = Box::new(|_| Err("the device is gone".into()));
        // SAFETY: the one that succeeds fills what it is given.
        let bodies =
            unsafe { [all(1), fails].map(|read| capture.take_beside(&DType::U8, LENGTH, read).ok()) };
        let unread = capture.wait_for_lists();
        assert_eq!(
            (unread[0].number, unread[0].why.as_str()),
            (1, "the device is gone")
        );
        drop(bodies);
        // Without a snapshot: its memory stays until it was read.
        // SAFETY: it fills what it is given.
        let body = unsafe { capture.take_beside(&DType::U8, LENGTH, all(2)) };
        drop(body);
        drop(capture);
    }

    #[test]
    #[should_panic(expected = "before it was read")]
    fn nobody_looks_at_it_before() {
        let mut capture = Capture::default();
        let fails: Read = Box::new(|_| Err("never".into()));
        // SAFETY: it does not succeed.
        let body = unsafe { capture.take_beside(&DType::U8, LENGTH, fails) }
            .ok()
            .expect("there is memory");
        body.whole();
    }
}
