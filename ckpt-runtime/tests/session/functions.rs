//! Pointers to functions: saved by the names that the program has given, and refused where there is none.

use crate::process::Job;

crate::tests! {
    functions_come_back,
    a_function_without_a_name_is_refused,
    two_functions_of_one_name_are_refused,
    a_function_that_is_not_named_any_more_is_refused,
}

const RESTART: (&str, &str) = ("CKPT_RESTART", "latest");

fn killed() -> Job {
    let job = Job::new("functions").with("CKPT_EVERY", 1);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    job
}

fn functions_come_back() {
    let whole = Job::new("functions").run(&[]).expect_code(0);
    let rest = killed().run(&[RESTART]).expect_code(0);
    assert_eq!(rest.stdout, whole.stdout);
}

fn a_function_without_a_name_is_refused() {
    let job = Job::new("functions").with("CKPT_EVERY", 1);
    job.run(&[("TEST_VERSION", "fewer")])
        .expect_code(0)
        .expect_message(&[
            "variable `rules` cannot be saved: it holds a function of type `fn(f64) -> f64` that has no name for checkpoints",
            "grow",
        ]);
    assert!(job.checkpoints().is_empty());
}

fn two_functions_of_one_name_are_refused() {
    let job = Job::new("functions").with("CKPT_EVERY", 1);
    job.run(&[("TEST_VERSION", "twice")])
        .expect_code(0)
        .expect_message(&["it holds the function `test::halve` (`fn(f64) -> f64`), and several functions have been given this name"]);
    assert!(job.checkpoints().is_empty());
}

fn a_function_that_is_not_named_any_more_is_refused() {
    let ended = killed().run(&[RESTART, ("TEST_VERSION", "fewer")]);
    ended.expect_code(77).expect_message(&[
        "the checkpoint holds the function `test::grow`, and the program has named no such `fn(f64) -> f64`",
    ]);
}
