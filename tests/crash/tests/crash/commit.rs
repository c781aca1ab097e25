//! A kill in every step of a commit.

use crate::victim::{FINISHED, Job, KILLED, MODES, SMALL, expect_end_of, small_reference};
use harness::Run;

/// The step is in the second commit, so that one line is whole.
fn interrupted(job: &Job, step: usize) -> Run {
    let first = job.every(10).with("CKPT_FAULT", "visit:12").run();
    assert_eq!(first.ended, KILLED, "{}", first.stderr);
    job.restart(10)
        .with("CKPT_FAULT", format!("commit-step:{step}"))
        .run()
}

#[test]
fn every_step_of_a_commit() {
    interrupt_every_step(&Job::new(SMALL), small_reference());
}

#[test]
fn every_step_of_a_commit_in_every_mode() {
    // All of them take minutes.
    let all = std::env::var_os("CKPT_CRASH_KILLS").is_some();
    for mode in MODES.iter().step_by(if all { 1 } else { 3 }) {
        let job = Job::in_mode(SMALL, mode);
        interrupt_every_step(&job, &job.reference());
    }
}

fn interrupt_every_step(like: &Job, reference: &[u8]) {
    let mut steps = 0;
    loop {
        let job = like.again();
        let run = interrupted(&job, steps + 1);
        if run.ended == FINISHED {
            break;
        }
        assert_eq!(run.ended, KILLED, "{}", run.stderr);
        steps += 1;
        let left_out = expect_end_of(reference, &job.restart(10).run());
        assert!(
            left_out >= 9,
            "after step {steps} the restart began at line {left_out}"
        );
    }
    assert!(steps >= 4, "only {steps} steps were found");
}

#[test]
fn the_first_commit_leaves_nothing_or_a_whole_line() {
    for step in 1.. {
        let job = Job::new(SMALL);
        let run = job
            .every(10)
            .with("CKPT_FAULT", format!("commit-step:{step}"))
            .run();
        if run.ended == FINISHED {
            break;
        }
        let restarted = job.restart(10).run();
        if job.checkpoints().is_empty() {
            assert_eq!(
                restarted.ended,
                crate::victim::NOTHING_TO_RESTART,
                "step {step}: {}",
                restarted.stderr
            );
        } else {
            expect_end_of(small_reference(), &restarted);
        }
    }
}
