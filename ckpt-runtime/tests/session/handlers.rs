//! Handlers of signals and threads with small stacks that change files, as any other part of the program may.

use crate::process::Job;
use crate::programs::STEPS;

crate::tests! {
    a_handler_that_writes_to_a_file_interrupts_no_change_of_another,
    a_thread_with_a_small_stack_changes_files,
}

const RESTART: (&str, &str) = ("CKPT_RESTART", "latest");

fn a_handler_that_writes_to_a_file_interrupts_no_change_of_another() {
    for background in ["0", "1"] {
        let job = Job::new("handlers").with("CKPT_BACKGROUND", background);
        let every = ("CKPT_EVERY", "2");
        job.run(&[every, ("CKPT_FAULT", "visit:5")]).expect_killed();
        let ended = job.run(&[every, RESTART]).expect_code(0);
        assert_eq!(ended.stdout, "ended\n");
    }
}

fn a_thread_with_a_small_stack_changes_files() {
    let job = Job::new("small-stacks");
    let every = ("CKPT_EVERY", "2");
    job.run(&[every, ("CKPT_FAULT", "visit:5")]).expect_killed();
    assert_eq!(job.checkpoints().len(), 2, "it came to its fifth visit");
    let ended = job.run(&[every, RESTART]).expect_code(0);
    assert_eq!(ended.stdout, format!("{}\n", 5 * STEPS + 5 * STEPS));
}
