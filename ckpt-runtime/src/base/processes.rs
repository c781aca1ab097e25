//! Processes of this machine, by their numbers. The system gives the number of one that has ended to another: when it
//! began tells them apart.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// What the system says of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The name of its program, cut off.
    pub name: String,
    /// Who has started it.
    pub parent: u32,
    /// Whether it has ended, and is only waited for.
    pub has_ended: bool,
    /// When it began, in ticks since the machine started.
    began: u64,
}

/// Looks at a process; `None` where there is none of this number, or where the system does not tell.
pub(crate) fn look(pid: u32) -> Option<Seen> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in brackets, and may have any in it.
    let (head, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    // Of `man proc_pid_stat` the fields 3, 4 and 22.
    let (state, parent, began) = (fields.first()?, fields.get(1)?, fields.get(19)?);
    Some(Seen {
        name: head.split_once('(')?.1.to_owned(),
        parent: parent.parse().ok()?,
        has_ended: ["Z", "X"].contains(state),
        began: began.parse().ok()?,
    })
}

/// What tells the process that has this number now from all others that have had it, or will.
pub(crate) fn identity(pid: u32) -> Option<String> {
    Some(identity_of(&look(pid)?))
}

/// In which namespace processes have their numbers here.
pub(crate) fn namespace() -> Option<u64> {
    fs::metadata("/proc/self/ns/pid").ok().map(|seen| seen.ino())
}

fn identity_of(seen: &Seen) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    format!("{}:{}", boot.trim(), seen.began)
}

/// Whether the process of this number runs, and is the one that had this identity, if one is known.
pub(crate) fn runs(pid: u32, identity: Option<&str>) -> bool {
    match look(pid) {
        Some(seen) => !seen.has_ended && identity.is_none_or(|known| known == identity_of(&seen)),
        None => is_there(pid),
    }
}

/// Whether there is a process of this number, where the system says no more than that.
fn is_there(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    let asked = pid.map(rustix::process::test_kill_process);
    !matches!(asked, None | Some(Err(rustix::io::Errno::SRCH)))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    use super::*;

    #[test]
    fn a_process_is_told_from_others_of_its_number() {
        let own = std::process::id();
        let known = identity(own).unwrap();
        assert!(runs(own, Some(&known)) && runs(own, None));
        assert!(!runs(own, Some("another boot:1")));
        assert!(!runs(0, None));
        assert_eq!(look(own).unwrap().parent, std::os::unix::process::parent_id());
    }

    #[test]
    fn one_that_has_ended_does_not_run_although_its_number_is_taken() {
        let mut child = Command::new("true").spawn().unwrap();
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&child)), options).unwrap();
        assert!(is_there(child.id()), "nobody has waited for it");
        assert!(!runs(child.id(), None));
        child.wait().unwrap();
        assert!(!runs(child.id(), None));
    }
}
