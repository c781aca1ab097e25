//! Two jobs on one store; stops on request.

use crate::victim::{FINISHED, Job, SMALL, expect_end_of, small_reference};
use harness::{Ended, Runner, hold_when_it_has_printed};
use std::path::Path;
use std::process::Child;
use std::time::Duration;

/// Starts a process that stays in the middle of `job` until what it prints is read, and waits for its first checkpoint: it
/// holds the lock.
fn start_and_hold(job: &Job, visits: usize) -> Child {
    let mut child = job.every(visits).start();
    hold_when_it_has_printed(child.stdout.as_ref().expect("it is a pipe"));
    while job.checkpoints().is_empty() {
        let ended = child.try_wait().expect("it can be waited for");
        assert!(ended.is_none(), "it ended without a checkpoint: {ended:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_second_job_is_refused_and_the_first_is_not_disturbed() {
    let job = Job::new(60_000);
    let reference = job.reference();
    let first = start_and_hold(&job, 2);
    let pid = first.id().to_string();
    let second = job.every(2).run();
    let third = job.restart(2).run();
    let first = first.wait_with_output().expect("the first job can be waited for");
    for refused in [second, third] {
        assert_eq!(refused.ended, Ended::Code(78), "{}", refused.stderr);
        assert!(refused.stdout.is_empty());
        assert!(
            refused.stderr.contains(&pid),
            "the message does not name process {pid}: {}",
            refused.stderr
        );
    }
    assert_eq!(first.status.code(), Some(0));
    assert!(first.stdout == reference);
}

#[test]
fn the_lock_of_a_killed_job_does_not_last() {
    let job = Job::new(SMALL);
    let killed = job.every(10).with("CKPT_FAULT", "visit:15").run();
    assert_eq!(killed.ended, crate::victim::KILLED, "{}", killed.stderr);
    assert_eq!(expect_end_of(small_reference(), &job.restart(10).run()), 9);
}

#[test]
fn a_signal_stops_the_run_at_the_next_site() {
    for signal in ["TERM", "USR1"] {
        let job = Job::new(60_000);
        let reference = job.reference();
        let child = start_and_hold(&job, 3);
        let pid = child.id().to_string();
        let sent = Runner::new(
            Path::new("kill"),
            &["-s".into(), signal.into(), pid],
            Path::new("/"),
        )
        .run();
        assert_eq!(sent.ended, FINISHED, "{}", sent.stderr);
        let stopped = child.wait_with_output().expect("the job can be waited for");
        assert_eq!(
            stopped.status.code(),
            Some(75),
            "{}",
            String::from_utf8_lossy(&stopped.stderr)
        );
        let rest = job.restart(1000).run();
        assert_eq!(rest.ended, FINISHED, "{}", rest.stderr);
        assert!(
            [stopped.stdout, rest.stdout].concat() == reference,
            "{}",
            rest.stderr
        );
    }
}
