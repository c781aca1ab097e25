//! A job is asked to take a checkpoint and stop: by SIGTERM, as a batch system does it.

use std::fs;
use std::path::Path;

use ckpt::session::job::Job;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use crate::failure::{Failure, OrFail, Outcome, says};
use crate::stores;

/// Asks the process of a run to stop.
///
/// # Errors
/// It does not run here, or is not at work on the store: which process it is, only the store says.
pub fn stop(store: &Path, job: &Job) -> Outcome<()> {
    let not = |why: &str| {
        let run = job.run.short();
        Failure::no(says!("E3231: run {run} cannot be stopped from here"))
            .because(why)
            .help("stop it where it was started: by Ctrl-C, or by SIGTERM to its process")
    };
    if !stores::is_running(job) {
        return Err(not("it does not run on this machine"));
    }
    let pid = i32::try_from(job.pid).ok().filter(|pid| *pid > 1);
    let pid = pid.filter(|_| has_open(job.pid, &stores::home(store)));
    let pid = pid.ok_or_else(|| not("the process that its record names is not at work on the store"))?;
    kill(Pid::from_raw(pid), Signal::SIGTERM).or_fail(|| not("the system refuses it"))
}

/// Whether the process has a file of the folder open, as one has that holds the lock of a store.
fn has_open(pid: u32, folder: &Path) -> bool {
    let Ok(folder) = fs::canonicalize(folder) else {
        return false;
    };
    let open = fs::read_dir(format!("/proc/{pid}/fd"))
        .into_iter()
        .flatten()
        .flatten();
    let mut targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets.any(|target| target.starts_with(&folder))
}
