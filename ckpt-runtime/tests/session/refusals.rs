//! What ckpt refuses, with which message and which exit code.

use crate::process::Job;
use crate::programs;
use crate::stops::at_the_wait;

crate::tests! {
    an_unmarked_call_is_found_at_the_first_site,
    an_unmarked_call_further_out_is_found_too,
    a_function_between_is_named,
    two_functions_under_one_call_are_told_apart,
    an_argument_may_be_computed_by_another_function,
    a_site_on_another_thread_is_refused,
    a_consumed_argument_is_found,
    slips_do_not_matter_without_a_session,
    a_callee_that_lost_its_attribute_is_named,
    a_function_on_the_way_that_was_none_is_named,
    a_call_that_is_gone_is_named,
    a_site_before_the_one_of_the_checkpoint_is_refused,
    a_thread_that_comes_to_its_end_before_its_site_is_refused,
    what_nothing_can_stand_in_for_is_named,
    what_a_checkpoint_says_of_its_process_has_to_be_understood,
    what_nobody_can_save_is_named,
    a_value_that_changes_unseen_is_found,
    a_thread_beside_the_site_is_told,
    what_excludes_another_setting_is_told,
    another_source_is_refused_unless_forced,
    another_layout_names_the_variables,
    another_type_names_both,
    a_walk_that_does_not_arrive_is_an_error,
    a_session_by_hand_says_what_is_wrong,
    nothing_to_restart_from,
    a_damaged_checkpoint_is_passed_over,
    a_copied_checkpoint_is_passed_over,
    two_jobs_cannot_share_a_store,
    a_store_that_cannot_be_made,
    a_store_around_the_programs_files_is_refused,
    bad_settings_are_named,
    settings_come_from_the_file,
}

/// The checkpoint is never due in these: the slip is found anyway.
fn slip(program: &'static str) -> crate::process::Ended {
    Job::new(program).run(&[("CKPT_INTERVAL", "1h")]).expect_code(79)
}

fn an_unmarked_call_is_found_at_the_first_site() {
    slip("unmarked").expect_message(&[
        "error[E2008]: `advance` was reached from `main` through a call that `main` does not mark",
        "src/main.rs:22:9, in `advance`",
        "#[ckpt::main(calls(advance))]",
    ]);
    slip("unmarked-beside").expect_message(&["#[ckpt::main(calls(advance, other))]"]);
}

fn an_unmarked_call_further_out_is_found_too() {
    slip("unmarked-above").expect_message(&["`advance` was reached from `main`", "in `inner`"]);
}

fn a_function_between_is_named() {
    slip("between").expect_message(&[
        "`advance` was reached from `main` through `wrapper` (src/main.rs:4), which is not instrumented",
        "#[ckpt::instrument(calls(advance))] on `wrapper`",
    ]);
}

fn two_functions_under_one_call_are_told_apart() {
    slip("second")
        .expect_message(&["second instrumented function under one marked call of `main` (src/main.rs:4)"]);
}

fn an_argument_may_be_computed_by_another_function() {
    let job = Job::new("argument").with("CKPT_EVERY", 1);
    job.run(&[("CKPT_FAULT", "visit:1")]).expect_killed();
    assert_eq!(
        job.run(&[("CKPT_RESTART", "latest")]).expect_code(0).stdout,
        "done\n"
    );
}

fn a_site_on_another_thread_is_refused() {
    slip("thread").expect_message(&["on thread `worker`, not on the thread of `main`"]);
}

fn a_consumed_argument_is_found() {
    let message = [
        "argument 0 of `advance` (src/main.rs:4) is consumed before the site at src/main.rs:22",
        "pass it by reference, or mark its `let` in the caller `#[ckpt(reexecute)]`",
    ];
    assert_eq!(slip("consumed").expect_message(&message).stdout, "");
    // A pair of call and site is looked at once; a checkpoint looks at it again.
    let later = Job::new("consumed-later")
        .run(&[("CKPT_EVERY", "3")])
        .expect_code(79)
        .expect_message(&message);
    assert_eq!(later.stdout, "round 0\nround 1\n");
}

fn slips_do_not_matter_without_a_session() {
    for program in [
        "unmarked",
        "unmarked-above",
        "between",
        "second",
        "thread",
        "consumed",
    ] {
        let ended = Job::new(program).run(&[]).expect_code(0);
        assert_eq!(ended.stderr, "");
    }
}

fn a_callee_that_lost_its_attribute_is_named() {
    let job = Job::new("not-instrumented").with("CKPT_EVERY", 1);
    job.run(&[("CKPT_FAULT", "visit:1")]).expect_killed();
    job.run(&[("CKPT_RESTART", "latest")])
        .expect_code(77)
        .expect_message(&[
            "the checkpoint was taken below `advance`, which is not instrumented now",
            "src/main.rs:4:9",
        ]);
}

/// Killed at the first site, and restarted.
fn restarted(program: &'static str) -> crate::process::Ended {
    let job = Job::new(program).with("CKPT_EVERY", 1);
    job.run(&[("CKPT_FAULT", "visit:1")]).expect_killed();
    job.run(&[("CKPT_RESTART", "latest")]).expect_code(77)
}

fn a_function_on_the_way_that_was_none_is_named() {
    restarted("calls-further")
        .expect_message(&["E2021", "ends in a function that `advance` is called from now"]);
}

fn a_call_that_is_gone_is_named() {
    restarted("calls-no-more")
        .expect_message(&["E2022", "goes on in `advance`, but the program has no call there"]);
}

fn a_site_before_the_one_of_the_checkpoint_is_refused() {
    let ended = restarted("goes-on").expect_message(&[
        "E2012",
        "error[E2003]: a site of `main` was visited before the restart had arrived at its own",
        "src/main.rs:7:9, in `main`",
    ]);
    assert_eq!(ended.stdout, "the input file is gone\n");
}

fn a_thread_that_comes_to_its_end_before_its_site_is_refused() {
    let ended = restarted("member-not-instrumented").expect_message(&[
        "error[E2027]: thread 1 of the team came to its end before the restart had arrived at its site",
    ]);
    assert_eq!(ended.stdout, "from its beginning\n");
}

fn what_nothing_can_stand_in_for_is_named() {
    slip("refilled").expect_message(&["E2033", "refilled::Order` until the value", "refill(..)"]);
}

/// A checkpoint says what its process was in words of its own, which another version may not know.
fn what_a_checkpoint_says_of_its_process_has_to_be_understood() {
    let says = |note: &str| {
        let job = killed();
        programs::steps_with_note(&job.store(), ("process", note));
        job.run(&[("CKPT_RESTART", "latest")])
    };
    says("no longer a process")
        .expect_code(77)
        .expect_message(&["E2330", "another checkpoint"]);
    // The number of no signal of this system.
    says(r#"{"signals":[{"number":65,"action":"ignored","blocked":false}]}"#)
        .expect_code(77)
        .expect_message(&["E2333", "signal 65", "Invalid argument"]);
    says("{}").expect_code(0);
}

fn what_nobody_can_save_is_named() {
    slip("unsaveable").expect_message(&[
        "E2007",
        "`state` of `advance` cannot be saved: its type `Cell<T>`",
    ]);
}

fn a_value_that_changes_unseen_is_found() {
    let job = Job::new("changed-unseen").with("CKPT_CHECK_UNWRITTEN", 1);
    job.run(&[("CKPT_EVERY", "1")])
        .expect_code(77)
        .expect_message(&["E2031", "`round` of `main` has changed, and was not to"]);
}

fn a_thread_beside_the_site_is_told() {
    let job = Job::new("beside").with("CKPT_EVERY", 2);
    let ended = job.run(&[]).expect_code(0);
    assert_eq!(
        ended.stderr.matches("W2004").count(),
        1,
        "said once: {}",
        ended.stderr
    );
}

fn what_excludes_another_setting_is_told() {
    let job = Job::new("steps").with("TEST_STEPS", 2).with("CKPT_EVERY", 1);
    job.run(&[("CKPT_COPY_ON_WRITE", "1"), ("CKPT_WATCH_PAGES", "1")])
        .expect_code(0)
        .expect_message(&["W2003", "`watch-pages` is on"]);
}

/// A job with a checkpoint at step 4 of 10.
fn killed() -> Job {
    let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 4);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    job
}

fn restart(job: &Job, version: &str) -> crate::process::Ended {
    job.run(&[("CKPT_RESTART", "latest"), ("TEST_VERSION", version)])
}

fn another_source_is_refused_unless_forced() {
    let job = killed();
    restart(&job, "source").expect_code(77).expect_message(&[
        "the source of `main` (src/main.rs:1) changed",
        "CKPT_FORCE_LAYOUT=1",
        "line 10",
    ]);
    assert_eq!(job.job_file()["state"], "refused");
    let forced = [
        ("CKPT_RESTART", "latest"),
        ("TEST_VERSION", "source"),
        ("CKPT_FORCE_LAYOUT", "1"),
    ];
    let rest = job.run(&forced).expect_code(0);
    assert_eq!(rest.stdout, Job::new("steps").run(&[("TEST_STEPS", "10")]).stdout);
}

fn another_layout_names_the_variables() {
    let job = killed();
    restart(&job, "variables").expect_code(77).expect_message(&[
        "`main` is not the function that was checkpointed",
        "variable `total` appeared at",
        "variable `sum` disappeared",
    ]);
    restart(&job, "kind")
        .expect_code(77)
        .expect_message(&["site 1 was a checkpoint, and is a call of `work`"]);
    restart(&job, "function")
        .expect_code(77)
        .expect_message(&["`test::main`", "`test::new::main`"]);
    job.run(&[
        ("CKPT_RESTART", "latest"),
        ("TEST_VERSION", "variables"),
        ("CKPT_FORCE_LAYOUT", "1"),
    ])
    .expect_code(77);
    restart(&job, "").expect_code(0);
}

fn another_type_names_both() {
    restart(&killed(), "text").expect_code(77).expect_message(&[
        "variable `sum` of `main` cannot be restored",
        "saved as `u64` (line 6), the program now expects `alloc::string::String`",
    ]);
}

fn a_walk_that_does_not_arrive_is_an_error() {
    restart(&killed(), "early")
        .expect_code(77)
        .expect_message(&["the restart did not reach the site at src/main.rs:10 in `main`"]);
    let job = killed();
    let parts = [
        "the restart did not reach the site",
        "Error: \"the input file is gone\"",
    ];
    restart(&job, "error").expect_code(77).expect_message(&parts);
    assert_eq!(job.job_file()["state"], "refused");
    restart(&job, "").expect_code(0);
}

fn a_session_by_hand_says_what_is_wrong() {
    let late = Job::new("manual-restores-late").run(&[]).expect_code(1);
    assert_eq!(late.stdout, "E2102: this process has a session already\n");
    late.expect_message(&["`state` was to be restored after the first visit", "(78)"]);
    let twice = Job::new("manual-saves-twice")
        .run(&[("CKPT_EVERY", "1")])
        .expect_code(1);
    twice.expect_message(&["`state` is saved twice in one checkpoint (78)"]);

    let job = Job::new("manual").with("TEST_STEPS", 5).with("CKPT_EVERY", 1);
    job.run(&[("CKPT_FAULT", "visit:2")]).expect_killed();
    let restart = |program| {
        job.run(&[("CKPT_RESTART", "latest"), ("TEST_PROGRAM", program)])
            .expect_code(1)
    };
    restart("manual-never-restores").expect_message(&["nothing was restored before the first visit (77)"]);
    restart("manual-restores-text").expect_message(&["`state` cannot be restored", "(77)"]);
}

fn nothing_to_restart_from() {
    let job = Job::new("steps").with("TEST_STEPS", 10);
    job.run(&[("CKPT_RESTART", "latest")])
        .expect_code(76)
        .expect_message(&[
            "there is no checkpoint to restart from in test.ckpt.d",
            "nothing was deleted",
        ]);
    let job = killed();
    job.run(&[("CKPT_RESTART", "7")])
        .expect_code(76)
        .expect_message(&["checkpoint 000007"]);
}

fn a_damaged_checkpoint_is_passed_over() {
    let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 2);
    job.run(&[("CKPT_FAULT", "visit:6")]).expect_killed();
    let files = job.checkpoints();
    assert_eq!(files.len(), 2);
    let whole = std::fs::read(&files[1]).unwrap();
    std::fs::write(&files[1], &whole[..whole.len() / 2]).unwrap();
    let rest = job
        .run(&[("CKPT_RESTART", "latest"), ("CKPT_EVERY", "100")])
        .expect_code(0);
    assert_eq!(rest.stdout, Job::new("steps").run(&[("TEST_STEPS", "10")]).stdout);
    rest.expect_message(&[
        "warning[W2008]: checkpoint 000003 cannot be used and is passed over",
        "restarts from checkpoint 000002",
    ]);

    let job = killed();
    std::fs::write(&job.checkpoints()[0], "no checkpoint at all").unwrap();
    job.run(&[("CKPT_RESTART", "latest")])
        .expect_code(76)
        .expect_message(&["the only one cannot be used (see above)"]);
    assert_eq!(job.checkpoints().len(), 1, "nothing was deleted");
}

fn a_copied_checkpoint_is_passed_over() {
    let job = Job::new("steps").with("TEST_STEPS", 10).with("CKPT_EVERY", 2);
    job.run(&[("CKPT_FAULT", "visit:6")]).expect_killed();
    let files = job.checkpoints();
    std::fs::copy(&files[0], files[0].with_file_name("000090.r0.h5")).unwrap();
    let rest = job
        .run(&[("CKPT_RESTART", "latest"), ("CKPT_EVERY", "100")])
        .expect_code(0);
    assert_eq!(rest.stdout, Job::new("steps").run(&[("TEST_STEPS", "10")]).stdout);
    rest.expect_message(&[
        "warning[W2008]: checkpoint 000090 cannot be used and is passed over: it is a copy of checkpoint 000002 under another number",
        "restarts from checkpoint 000003",
    ]);
}

fn two_jobs_cannot_share_a_store() {
    let job = Job::new("steps")
        .with("TEST_STEPS", 10)
        .with("TEST_WAIT", 5)
        .with("CKPT_EVERY", 2);
    let first = job.run_while(&[], |child| {
        at_the_wait(child, |child| {
            job.run(&[])
                .expect_code(78)
                .expect_message(&["test.ckpt.d is in use by process", &child.id().to_string()]);
        });
    });
    first.expect_code(0);
    assert_eq!(
        job.job_file()["state"],
        "completed",
        "the refused one left the first one's state alone"
    );
}

fn a_store_around_the_programs_files_is_refused() {
    use std::fs;
    let job = Job::new("steps").with("TEST_STEPS", 3).with("CKPT_EVERY", 1);
    let here = job.folder().join("run");
    let (elsewhere, beside) = (job.folder().join("elsewhere"), job.folder().join("beside"));
    for folder in [&here, &elsewhere] {
        fs::create_dir(folder).unwrap();
    }
    std::os::unix::fs::symlink("..", elsewhere.join("up")).unwrap();
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    for store in [
        ".".to_owned(),
        "..".to_owned(),
        "new/..".to_owned(),
        "../elsewhere/up/run".to_owned(),
        path(&elsewhere.join("up")),
        path(&here),
        path(job.folder()),
        "/".to_owned(),
    ] {
        job.run_in(&here, &[("CKPT_DIR", &store)])
            .expect_code(78)
            .expect_message(&[
                "error[E2116]",
                &format!("the store {store} is"),
                "/run`",
                "CKPT_DIR=checkpoints",
            ]);
    }
    // A folder that the user says the files are in now.
    let map = format!("/old={}", beside.join("deep").display());
    job.run_in(&here, &[("CKPT_DIR", "../beside"), ("CKPT_MAP", &map)])
        .expect_code(78)
        .expect_message(&["error[E2116]", "/beside/deep`"]);
    assert_eq!(fs::read_dir(&here).unwrap().count(), 0, "nothing was written");
    for store in [
        "../beside",
        "below/deep",
        "../elsewhere",
        &path(&here.join("other")),
        "../run.ckpt.d",
    ] {
        job.run_in(&here, &[("CKPT_DIR", store)]).expect_code(0);
    }
}

fn a_store_that_cannot_be_made() {
    let job = Job::new("steps").with("TEST_STEPS", 10);
    std::fs::write(job.folder().join("file"), "").unwrap();
    let ended = job.run(&[("CKPT_DIR", "file/store")]).expect_code(78);
    assert_eq!(ended.stdout, "");
    ended.expect_message(&["file/store", "help:"]);
}

fn bad_settings_are_named() {
    let job = Job::new("steps").with("TEST_STEPS", 10);
    job.run(&[("CKPT_EVERY", "often")])
        .expect_code(78)
        .expect_message(&["CKPT_EVERY is \"often\"; expected"]);
    job.run(&[("CKPT_EVERY", "5"), ("CKPT_KEP", "1")])
        .expect_code(0)
        .expect_message(&["warning[W2001]: CKPT_KEP is set"]);
    std::fs::write(
        job.folder().join("ckpt.toml"),
        "[session]\nevery = 2\nintervall = '5m'\n",
    )
    .unwrap();
    job.run(&[]).expect_code(78).expect_message(&[
        "ckpt.toml is not valid",
        "line 3",
        "unknown field `intervall`",
    ]);
}

fn settings_come_from_the_file() {
    let job = Job::new("steps").with("TEST_STEPS", 10);
    std::fs::write(
        job.folder().join("ckpt.toml"),
        "[session]\nevery = 2\nkeep = 'all'\ndir = 'there'\n",
    )
    .unwrap();
    job.run(&[]).expect_code(0);
    let files = std::fs::read_dir(job.folder().join("there")).unwrap();
    let files = files.filter(|entry| {
        entry
            .as_ref()
            .unwrap()
            .path()
            .extension()
            .is_some_and(|e| e == "h5")
    });
    assert_eq!(files.count(), 5);
}
