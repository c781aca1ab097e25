//! The threads that ckpt has started, or that leave their functions when it asks them to, and whether the process has others.

use std::fs;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use super::lock::locked;
use crate::base::sorted::SortedSet;

/// A thread that has been waited for may be on its way out for so long, and is looked for so often.
const ON_ITS_WAY: Duration = Duration::from_millis(1);
const LOOKS: u32 = 10;

/// The numbers of these threads, as long as they run. Of the process: one may outlive a session.
static OURS: Mutex<SortedSet<i32>> = Mutex::new(SortedSet::new());

/// This thread is ckpt's, or is asked to leave, until the value is dropped.
#[derive(Debug)]
#[must_use = "it holds until it is dropped"]
pub(crate) struct Ours {
    number: i32,
    of_this_thread: PhantomData<*const ()>,
}

/// This thread is ckpt's, or a member of a team, which leaves when it is asked to.
pub(crate) fn is_ours() -> Ours {
    let number = this_thread();
    locked(&OURS).insert(number);
    Ours {
        number,
        of_this_thread: PhantomData,
    }
}

impl Drop for Ours {
    fn drop(&mut self) {
        locked(&OURS).remove(&self.number);
    }
}

/// The number that the system has for this thread.
pub(crate) fn this_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Whether there are threads beside this one and ckpt's, and stay; if that cannot be told, there are.
pub(crate) fn are_others() -> bool {
    (0..LOOKS).all(|look| {
        if look > 0 {
            thread::sleep(ON_ITS_WAY);
        }
        are_others_now()
    })
}

/// Whether the thread of this number has not ended yet, whatever of it is still to run; if that cannot be told, it has not.
pub(crate) fn is_there(number: i32) -> bool {
    let of_threads = Path::new("/proc/self/task");
    !of_threads.exists() || of_threads.join(number.to_string()).exists()
}

/// How long the thread of this number has computed, in the system's units, if it waits for something now.
pub(crate) fn rests(number: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{number}/stat")).ok()?;
    // Its name may have anything in it, and ends with the last parenthesis.
    let (_, rest) = text.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    if fields.next() != Some("S") {
        return None;
    }
    let times = fields.skip(OF_TIMES).take(2);
    times.map(|time| time.parse::<u64>().ok()).sum()
}

/// Fields between the state of a thread and its times in its functions and in those of the system.
const OF_TIMES: usize = 10;

/// The threads that start meanwhile are those of a library, which neither end when functions are left nor have a part in what the
/// program computes.
pub(crate) fn of_a_library<R>(start: impl FnOnce() -> R) -> R {
    let before = all();
    let result = start();
    locked(&OURS).extend(all().difference(&before).copied());
    result
}

fn all() -> SortedSet<i32> {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .filter_map(|thread| thread.file_name().to_str()?.parse().ok())
        .collect()
}

fn are_others_now() -> bool {
    let Ok(threads) = fs::read_dir("/proc/self/task") else {
        return true;
    };
    let this = this_thread();
    let ours = locked(&OURS);
    threads.flatten().any(|thread| {
        let number = thread
            .file_name()
            .to_str()
            .and_then(|name| name.parse::<i32>().ok());
        number.is_none_or(|number| number != this && !ours.contains(&number))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn threads_of_the_program_are_told_from_ckpts() {
        // Tests have threads of their own.
        assert!(are_others());
        let (says, hears) = mpsc::channel();
        let thread = thread::spawn(move || {
            let ours = is_ours();
            says.send(ours.number).unwrap();
        });
        let number = hears.recv().unwrap();
        thread.join().unwrap();
        assert!(!locked(&OURS).contains(&number));
        assert!(!is_there(number) && is_there(this_thread()));
    }

    #[test]
    fn a_thread_that_waits_is_told_from_one_that_computes() {
        let (says, hears) = mpsc::channel();
        let (goes_on, waits) = mpsc::channel::<()>();
        let waits = thread::spawn(move || {
            says.send(this_thread()).unwrap();
            waits.recv()
        });
        let number = hears.recv().unwrap();
        while rests(number).is_none() {
            thread::yield_now();
        }
        assert_eq!(rests(this_thread()), None);
        drop(goes_on);
        assert!(waits.join().unwrap().is_err());
        assert_eq!(rests(number), None);
    }
}
