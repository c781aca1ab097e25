//! The processes that this one has started and that run.
//!
//! Some are no business of a checkpoint: those that a library of the machine starts for itself, those that ckpt starts,
//! and those that a restart starts again.

use std::fs;
use std::sync::Mutex;

use super::lock::locked;
use super::processes::look;
use crate::base::sorted::SortedSet;

/// Numbers of those that hold no checkpoint back. Of the process: a child may outlive a session.
static APART: Mutex<SortedSet<u32>> = Mutex::new(SortedSet::new());

/// Those that run now hold no checkpoint back.
pub(crate) fn set_apart() {
    locked(&APART).extend(all());
}

/// Those that this call starts hold no checkpoint back.
pub(crate) fn apart<R>(call: impl FnOnce() -> R) -> R {
    let before = all();
    let result = call();
    since(&before);
    result
}

/// Those that run now, and did not among `before`, hold no checkpoint back.
pub(crate) fn since(before: &SortedSet<u32>) {
    let now = all();
    locked(&APART).extend(now.difference(before).copied());
}

/// The numbers of all children, also of those that have ended and that nobody has waited for.
pub(crate) fn all() -> SortedSet<u32> {
    of_threads().unwrap_or_else(of_all_processes)
}

/// The number and the name of each that runs and holds checkpoints back.
pub(crate) fn running() -> Vec<(u32, String)> {
    let all = all();
    let mut apart = locked(&APART);
    // The system gives the number of one that has ended to another.
    apart.retain(|child| all.contains(child));
    let others = all.difference(&apart).copied();
    others
        .filter_map(|child| Some((child, name_if_running(child)?)))
        .collect()
}

/// What the kernel lists for each thread; `None` where it does not.
fn of_threads() -> Option<SortedSet<u32>> {
    let threads = fs::read_dir("/proc/self/task").ok()?;
    let mut found = SortedSet::new();
    for thread in threads.flatten() {
        match fs::read_to_string(thread.path().join("children")) {
            Ok(list) => found.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok())),
            // The thread has ended meanwhile: its children are listed for another one.
            Err(_) if !thread.path().exists() => {}
            Err(_) => return None,
        }
    }
    Some(found)
}

fn of_all_processes() -> SortedSet<u32> {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|pid| look(*pid).is_some_and(|process| process.parent == own))
        .collect()
}

/// One that has ended has nothing left to lose.
fn name_if_running(pid: u32) -> Option<String> {
    let child = look(pid)?;
    (!child.has_ended).then_some(child.name)
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    /// A child that runs until its input is closed.
    fn child() -> std::process::Child {
        Command::new("cat").stdin(Stdio::piped()).spawn().unwrap()
    }

    #[test]
    fn children_are_seen_while_they_run_unless_they_are_set_apart() {
        let sees = |pid: u32| running().iter().any(|(child, _)| *child == pid);
        let mut first = child();
        assert!(sees(first.id()));
        assert!(of_all_processes().contains(&first.id()));
        assert!(of_threads().is_none_or(|all| all.contains(&first.id())));
        let mut second = apart(child);
        assert!(sees(first.id()) && !sees(second.id()));
        drop(first.stdin.take());
        // It has ended, and nobody has waited for it.
        let pid = rustix::process::Pid::from_child(&first);
        let options = rustix::process::WaitIdOptions::EXITED | rustix::process::WaitIdOptions::NOWAIT;
        rustix::process::waitid(rustix::process::WaitId::Pid(pid), options).unwrap();
        assert!(!sees(first.id()) && all().contains(&first.id()));
        first.wait().unwrap();
        drop(second.stdin.take());
        second.wait().unwrap();
    }
}
