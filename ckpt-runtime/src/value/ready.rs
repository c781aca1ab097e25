//! Buffers that are made ready before a checkpoint needs them. The system hands out memory when it is touched for the first
//! time, many times more slowly than a copy goes: a checkpoint that finds no memory that was used before would mostly wait
//! for that. So half-way to it the program's lists are looked at, and a thread of low priority touches as much memory as they
//! will be copied into.
//!
//! It touches no more than a checkpoint would take that was taken then: blocks that seem to be zeros are left out. Nothing is
//! taken where the system has less than twice as much left.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use super::bytes::{buffer_for, capacities, give_back, used_before};
use crate::base::copying::IN_BLOCKS;
use crate::base::lock::locked;
use crate::base::own_threads;
use crate::base::room;
use crate::base::signals::undisturbed;

/// Bytes of which one look tells whether they are zeros, and which are touched one after the other before the thread looks
/// whether it is to end.
const STRETCH: usize = 128 << 10;
/// What is looked at of them.
const LOOK: usize = 64;
/// The smallest pages that there are.
const PAGE: usize = 4096;
/// Bytes after which the thread asks again how much memory is left: others on the machine may do the same.
const ASKS_AGAIN: usize = 64 << 20;
/// How long a checkpoint waits for a thread that is at a stretch: the machine may have no time for it.
const PATIENCE: Duration = Duration::from_millis(20);

/// A list as the next checkpoint will copy it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    bytes: usize,
    /// Which of its stretches do not seem to be zeros.
    filled: Vec<bool>,
}

impl Wanted {
    /// Of a list of these bytes; `None` if it is so small that it is copied into whatever memory is at hand.
    pub fn of(list: &[u8]) -> Option<Wanted> {
        let filled = |stretch: &[u8]| stretch.iter().take(LOOK).any(|byte| *byte != 0);
        (list.len() >= IN_BLOCKS).then(|| Wanted {
            bytes: list.len(),
            filled: list.chunks(STRETCH).map(filled).collect(),
        })
    }

    /// How many bytes will be copied.
    fn copied(&self) -> usize {
        let stretches = self.filled.iter().filter(|filled| **filled).count();
        self.bytes.min(stretches * STRETCH)
    }
}

/// What is being made ready, and for which lists that was done before.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// The sizes of the lists when they were looked at last.
    seen: Vec<usize>,
    work: Option<Work>,
}

/// A thread at work.
#[derive(Debug)]
struct Work {
    state: Arc<Mutex<State>>,
    wish: Arc<AtomicU8>,
    ended: Receiver<()>,
    thread: JoinHandle<()>,
}

/// What the thread is to do with a buffer that it has touched.
#[derive(Debug, PartialEq, Eq)]
enum State {
    Keeps,
    /// Nobody has waited for it.
    LetsGo,
}

const GO_ON: u8 = 0;
const END: u8 = 1;

impl Ready {
    /// Begins to make buffers ready for these lists, all that the program has. Nothing is done for those that had theirs when
    /// they were looked at last, nor beyond `most` bytes.
    pub fn begin(&mut self, lists: Vec<Wanted>, most: Option<u64>) {
        self.end();
        let sizes: Vec<usize> = lists.iter().map(|list| list.bytes).collect();
        let seen = std::mem::replace(&mut self.seen, sizes);
        let wanted = lacking(&lists, &seen, capacities(), most);
        let needed = wanted.iter().map(Wanted::copied).sum();
        if needed == 0 {
            return;
        }
        // A list that has grown needs no buffer of its former size.
        let gone = without(&seen, &self.seen);
        gone.into_iter().for_each(|bytes| drop(used_before(bytes)));
        if has_plenty(needed) {
            self.work = Work::begin(wanted, needed);
        }
    }

    /// What is ready can be used from here on; the rest is left.
    pub fn end(&mut self) {
        if let Some(work) = self.work.take() {
            work.end();
        }
    }
}

impl Drop for Ready {
    fn drop(&mut self) {
        self.end();
    }
}

/// Those of the lists that were not there when they were looked at last, and for which there is no buffer among those of these
/// capacities; none of them where all would take more than `most` bytes.
fn lacking(lists: &[Wanted], seen: &[usize], mut there: Vec<usize>, most: Option<u64>) -> Vec<Wanted> {
    let sizes: Vec<usize> = lists.iter().map(|list| list.bytes).collect();
    let all: u64 = sizes.iter().map(|bytes| *bytes as u64).sum();
    if most.is_some_and(|most| all > most) {
        return Vec::new();
    }
    let mut new = without(&sizes, seen);
    new.retain(|bytes| match fitting(&there, *bytes) {
        Some(at) => {
            there.remove(at);
            false
        }
        None => true,
    });
    let mut is_new = |list: &&Wanted| match new.iter().position(|bytes| *bytes == list.bytes) {
        Some(at) => {
            new.swap_remove(at);
            true
        }
        None => false,
    };
    lists.iter().filter(|list| is_new(list)).cloned().collect()
}

/// What is in `all` and not in `others`, both with repetitions.
fn without(all: &[usize], others: &[usize]) -> Vec<usize> {
    let mut others = others.to_vec();
    let mut left = all.to_vec();
    left.retain(|one| match others.iter().position(|other| other == one) {
        Some(at) => {
            others.swap_remove(at);
            false
        }
        None => true,
    });
    left
}

/// Which of these capacities, in their order, a list of so many bytes would be given.
fn fitting(capacities: &[usize], bytes: usize) -> Option<usize> {
    let at = capacities.partition_point(|capacity| *capacity < bytes);
    let is_fitting = |capacity: &usize| *capacity <= bytes.saturating_mul(2);
    capacities
        .get(at)
        .filter(|capacity| is_fitting(capacity))
        .map(|_| at)
}

/// Whether the system has twice so much left, as far as it says.
fn has_plenty(bytes: usize) -> bool {
    let twice = bytes.saturating_mul(2);
    room::is_there(twice) && room::free().is_none_or(|free| twice as u64 <= free)
}

impl Work {
    /// `None` if the system has no thread for it.
    fn begin(wanted: Vec<Wanted>, needed: usize) -> Option<Work> {
        let state = Arc::new(Mutex::new(State::Keeps));
        let wish = Arc::new(AtomicU8::new(GO_ON));
        let (says, ended) = sync_channel(1);
        let (theirs, their_wish) = (Arc::clone(&state), Arc::clone(&wish));
        let work = move || {
            let _ours = own_threads::is_ours();
            has_low_priority();
            make(wanted, needed, &theirs, &their_wish);
            end(&says);
        };
        let thread = std::thread::Builder::new().name("ckpt-ready".into());
        let thread = undisturbed(|| thread.spawn(work)).ok()?;
        Some(Work {
            state,
            wish,
            ended,
            thread,
        })
    }

    fn end(self) {
        self.wish.store(END, Ordering::Relaxed);
        match self.ended.recv_timeout(PATIENCE) {
            Ok(()) | Err(RecvTimeoutError::Disconnected) => {
                let _ = self.thread.join();
            }
            // It ends by itself.
            Err(RecvTimeoutError::Timeout) => *locked(&self.state) = State::LetsGo,
        }
    }
}

fn end(says: &SyncSender<()>) {
    // Nobody listens where nobody has waited.
    let _ = says.try_send(());
}

/// Makes the buffers, one after the other, until it is to end.
fn make(wanted: Vec<Wanted>, needed: usize, state: &Mutex<State>, wish: &AtomicU8) {
    let (mut left, mut asked) = (needed, needed);
    let mut goes_on = |touched: usize| {
        left = left.saturating_sub(touched);
        if asked - left >= ASKS_AGAIN {
            asked = left;
            if !has_plenty(left) {
                wish.store(END, Ordering::Relaxed);
            }
        }
        wish.load(Ordering::Relaxed) == GO_ON
    };
    for list in wanted {
        if !goes_on(0) {
            return;
        }
        let Some(mut buffer) = buffer_for(list.bytes) else {
            return;
        };
        let stretches = buffer.spare_capacity_mut().chunks_mut(STRETCH).zip(&list.filled);
        for (stretch, _) in stretches.filter(|(_, filled)| **filled) {
            for page in stretch.chunks_mut(PAGE) {
                page[0].write(0);
            }
            if !goes_on(stretch.len()) {
                break;
            }
        }
        match *locked(state) {
            State::Keeps => give_back(buffer),
            State::LetsGo => return,
        }
    }
}

/// This thread gets what time the others leave. It is not made an idle one: the system may stop it in the middle of handing out
/// a page, when the program cannot have memory mapped, and on a full machine such a thread does not go on for seconds.
fn has_low_priority() {
    #[cfg(target_os = "linux")]
    {
        // Where it cannot be, it works as any other.
        let _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of lists of so many mebibytes.
    fn wanted(sizes: &[usize]) -> Vec<Wanted> {
        let list = |size: &usize| Wanted::of(&vec![1; *size * IN_BLOCKS]).unwrap();
        sizes.iter().map(list).collect()
    }

    #[test]
    fn buffers_are_made_for_lists_that_have_none() {
        let sizes = |lists: &[usize], seen: &[usize], there: &[usize], most: Option<u64>| -> Vec<usize> {
            let bytes = |sizes: &[usize]| sizes.iter().map(|size| size * IN_BLOCKS).collect();
            let seen: Vec<usize> = bytes(seen);
            let lacking = lacking(&wanted(lists), &seen, bytes(there), most);
            lacking.iter().map(|list| list.bytes / IN_BLOCKS).collect()
        };
        assert_eq!(sizes(&[3, 5, 3], &[], &[], None), [3, 5, 3], "the first time");
        assert_eq!(sizes(&[3, 5, 3], &[5], &[4], None), [3]);
        assert_eq!(sizes(&[3, 9], &[3, 5], &[3, 5], None), [9], "one has grown");
        assert!(
            sizes(&[3, 9], &[], &[], Some(11 << 20)).is_empty(),
            "it is too much"
        );
        assert!(
            sizes(&[3], &[3], &[], None).is_empty(),
            "no checkpoint has needed one"
        );
    }

    #[test]
    fn what_is_zero_is_not_taken() {
        let mut list = vec![0_u8; 4 * IN_BLOCKS];
        assert_eq!(Wanted::of(&list).unwrap().copied(), 0);
        list[IN_BLOCKS] = 1;
        assert_eq!(Wanted::of(&list).unwrap().copied(), STRETCH);
        assert_eq!(Wanted::of(&list[..IN_BLOCKS - 1]), None);
        let mut ready = Ready::default();
        ready.begin(vec![Wanted::of(&[0; IN_BLOCKS]).unwrap()], None);
        assert!(ready.work.is_none());
    }

    #[test]
    fn a_list_is_given_the_smallest_buffer_that_takes_it() {
        let there = [10, 20, 20, 50];
        assert_eq!(fitting(&there, 11), Some(1));
        assert_eq!(fitting(&there, 24), None);
        assert_eq!(fitting(&there, 25), Some(3));
        assert_eq!(fitting(&there, 51), None);
        assert_eq!(without(&[1, 2, 2, 3], &[2, 3, 4]), [1, 2]);
    }

    #[test]
    fn a_thread_that_is_to_end_gives_back_what_it_has() {
        let mut ready = Ready::default();
        ready.begin(wanted(&[61]), None);
        ready.end();
        assert!(ready.work.is_none());
        drop(used_before(61 * IN_BLOCKS));
    }
}
