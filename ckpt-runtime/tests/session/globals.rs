//! Global state: part of every checkpoint, put back at a restart, and refused where it does not fit.

use ckpt::store::{Mode, Store};

use crate::process::Job;

crate::tests! {
    statics_and_thread_locals_come_back,
    a_static_that_comes_or_goes_is_named,
    a_locked_static_is_named,
    statics_can_be_looked_at,
    what_a_static_had_before_it_was_put_back_has_no_effect_any_more,
    a_static_that_nobody_has_used_stays_so_and_no_initialiser_runs_again,
    what_has_clones_of_a_static_that_is_a_shared_pointer_has_them_after_a_restart,
    a_clone_of_such_a_static_inside_what_another_static_shares_is_named,
}

const RESTART: (&str, &str) = ("CKPT_RESTART", "latest");

fn killed() -> Job {
    let job = Job::new("globals").with("CKPT_EVERY", 1);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    job
}

fn statics_and_thread_locals_come_back() {
    let whole = Job::new("globals").run(&[]).expect_code(0);
    let rest = killed().run(&[RESTART]).expect_code(0);
    assert_eq!(rest.stdout, whole.stdout);
    assert!(whole.stdout.starts_with("21 Mutex { data: [0, 1, 3, 6, 10, 15]"));
}

fn a_static_that_comes_or_goes_is_named() {
    let refused = |version: &str, messages: &[&str]| {
        let ended = killed().run(&[RESTART, ("TEST_VERSION", version)]);
        ended.expect_code(77).expect_message(messages);
    };
    refused(
        "more",
        &[
            "the static `test::OTHER` is not in the checkpoint",
            "checkpoint 000004 in ",
        ],
    );
    refused(
        "fewer",
        &["the checkpoint holds the static `test::LOG`, which the program does not name now"],
    );
    refused(
        "type",
        &[
            "the static `test::LOG` cannot be restored: E2302: the program expects one text",
            "Mutex<",
        ],
    );
}

fn a_locked_static_is_named() {
    let job = Job::new("globals").with("CKPT_EVERY", 1);
    job.run(&[("TEST_VERSION", "locked")])
        .expect_code(0)
        .expect_message(&["variable `test::LOG` cannot be saved: a `Mutex` in it is locked at the site"]);
    assert!(job.checkpoints().is_empty());
    let locked = killed()
        .run(&[RESTART, ("TEST_VERSION", "locked")])
        .expect_code(77);
    locked.expect_message(&[
        "the static `test::LOG` cannot be restored: E2308: it is locked or borrowed by code",
    ]);
}

fn statics_can_be_looked_at() {
    let job = killed();
    let store = Store::open(job.store(), Mode::ReadOnly).unwrap();
    let newest = store.newest_whole(&mut |_, _| ()).unwrap().unwrap();
    let names: Vec<&str> = newest.statics().iter().map(|one| one.key.as_str()).collect();
    assert_eq!(names, ["test::COUNT", "test::LOCAL", "test::LOG"]);
    let log = newest.tree().find("statics/test::LOG").unwrap();
    assert_eq!(newest.text(log, 0, 9).unwrap(), ["0", "1", "3", "6"]);
}

/// A run that is killed and restarted prints what one prints that nobody kills, beginning with this.
fn prints_the_same_after_a_restart(program: &'static str, begins: &str) {
    let whole = Job::new(program).run(&[]).expect_code(0);
    assert!(whole.stdout.starts_with(begins), "{}", whole.stdout);
    let job = Job::new(program).with("CKPT_EVERY", 1);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    let rest = job.run(&[RESTART]).expect_code(0);
    assert_eq!(rest.stdout, whole.stdout);
}

fn what_a_static_had_before_it_was_put_back_has_no_effect_any_more() {
    prints_the_same_after_a_restart("ended_globals", "9 3\nstep 1\n");
}

fn a_static_that_nobody_has_used_stays_so_and_no_initialiser_runs_again() {
    let begins = "Ok(105) (7, Mutex { data: 121, poisoned: false, .. })\nstep 1\n";
    prints_the_same_after_a_restart("late_globals", begins);
}

fn what_has_clones_of_a_static_that_is_a_shared_pointer_has_them_after_a_restart() {
    prints_the_same_after_a_restart("shared_globals", "LazyLock(Mutex { data: [1, 10, 2, 20, 3, 30");
}

fn a_clone_of_such_a_static_inside_what_another_static_shares_is_named() {
    let job = Job::new("shared_globals").with("CKPT_EVERY", 1);
    job.run(&[("TEST_VERSION", "hides")])
        .expect_code(0)
        .expect_message(&[
            "variable `test::HIDDEN` cannot be saved: it leads to what another static is a shared pointer to",
        ]);
    assert!(job.checkpoints().is_empty());
}
