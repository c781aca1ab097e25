//! The threads that ckpt has started, and whether the process has others.

use std::collections::BTreeSet;
use std::fs;
use std::marker::PhantomData;
use std::sync::Mutex;

use super::lock::locked;

/// The numbers of ckpt's threads that run. Of the process: one may outlive a session.
static OURS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

/// This thread is ckpt's until the value is dropped.
#[derive(Debug)]
#[must_use = "it holds until it is dropped"]
pub(crate) struct Ours {
    number: i32,
    of_this_thread: PhantomData<*const ()>,
}

/// This thread is ckpt's.
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

fn this_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// Whether there are threads beside this one and ckpt's; if that cannot be told, there are.
pub(crate) fn are_others() -> bool {
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
    }
}
