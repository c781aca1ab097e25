//! A store knows whose it is: a start begins a run, a restart continues one and takes nothing of another.

use std::fs;
use std::path::{Path, PathBuf};

use ckpt::session::runs;
use ckpt::store::{Mode, RunId, Store};

use crate::files::{all_files, closed_job, expected_of_closed};
use crate::process::{Ended, Job};
use crate::programs::STEPS;

crate::tests! {
    a_completed_run_is_not_taken_for_one_without_a_checkpoint,
    a_run_that_completes_does_not_end_another,
    a_start_keeps_the_files_of_an_unfinished_run,
    what_another_run_has_changed_since_is_known_whatever_the_clocks_say,
    what_another_run_has_changed_since_a_restart_is_known_too,
    runs_that_share_no_file_do_not_give_each_other_up,
    what_another_run_has_replaced_is_told_of,
    what_a_run_has_changed_whose_record_was_removed_is_known,
    checkpoints_that_were_copied_are_not_taken_by_latest,
    other_arguments_are_refused_unless_they_are_meant,
    other_sources_are_named_and_refused_where_that_is_asked_for,
    sources_that_are_not_known_are_not_the_same,
    another_environment_is_told_of,
    retention_counts_per_run,
    a_run_is_named_by_its_identity,
    a_record_that_cannot_be_read_is_no_reason_to_guess,
    what_the_run_kept_has_to_be_there,
    the_history_of_failures_goes_over_the_runs,
    a_run_that_was_not_moved_is_continued_in_its_own_folder,
    a_run_that_was_moved_is_continued_where_it_is,
    arguments_that_name_the_old_folder_of_a_moved_run_are_refused,
}

const LATEST: (&str, &str) = ("CKPT_RESTART", "latest");

fn steps(steps: &str) -> Job {
    Job::new("steps").with("TEST_STEPS", steps)
}

fn whole(steps: &str) -> String {
    self::steps(steps).run(&[]).expect_code(0).stdout
}

/// The identities of the runs, in the order in which they began.
fn runs_of(job: &Job) -> Vec<RunId> {
    let records = runs::records(&job.store()).unwrap();
    records.iter().map(|record| record.run).collect()
}

/// The run of each checkpoint of a store, by the place of the run.
fn owners(job: &Job) -> Vec<(u64, Option<usize>)> {
    let runs = runs_of(job);
    let entries = Store::open(job.store(), Mode::ReadOnly).unwrap().list().unwrap();
    let owner = |run: Option<RunId>| runs.iter().position(|known| Some(*known) == run);
    entries
        .into_iter()
        .map(|entry| (entry.id.0, owner(entry.meta.unwrap().run)))
        .collect()
}

fn a_completed_run_is_not_taken_for_one_without_a_checkpoint() {
    let job = steps("10").with("CKPT_EVERY", 4);
    job.run_as(&["a"], &[]).expect_code(0);
    job.run_as(&["b"], &[("TEST_STEPS", "30"), ("CKPT_FAULT", "visit:2")])
        .expect_killed();
    let [_, second] = runs_of(&job)[..] else {
        panic!("two runs have begun");
    };
    let message = format!("there is no checkpoint of run {} to restart from", second.short());
    let ended = job.run_as(&["b"], &[LATEST, ("TEST_STEPS", "30")]);
    assert_eq!(ended.stdout, "");
    ended.expect_code(76).expect_message(&[&message]);
    // The first one is still there for whoever asks for it.
    let again = job.run_as(&["a"], &[("CKPT_RESTART", "1")]).expect_code(0);
    assert_eq!(again.stdout, whole("10"));
}

fn a_run_that_completes_does_not_end_another() {
    let job = steps("10");
    job.run_as(&["a"], &[("CKPT_EVERY", "4"), ("CKPT_FAULT", "visit:6")])
        .expect_killed();
    // What `--help` does.
    job.run_as(&["--help"], &[("CKPT_EVERY", "1000"), ("TEST_STEPS", "1")])
        .expect_code(0)
        .expect_message(&[
            "starts from the beginning",
            "which has not completed",
            "CKPT_RUN=",
        ]);
    let states: Vec<_> = job.jobs().iter().map(|job| job["state"].clone()).collect();
    assert_eq!(states, ["running", "completed"]);
    let rest = job.run_as(&["a"], &[LATEST]).expect_code(0);
    assert_eq!(rest.stdout, whole("10"));
    let all: Vec<_> = job.jobs().iter().map(|job| job["state"].clone()).collect();
    assert_eq!(all, ["completed", "completed"]);
    job.run_as(&["a"], &[LATEST])
        .expect_code(76)
        .expect_message(&["completed at", "nothing to restart"]);
}

fn a_start_keeps_the_files_of_an_unfinished_run() {
    let expected = expected_of_closed();
    let job = closed_job();
    job.run(&[("CKPT_EVERY", "3"), ("CKPT_FAULT", "visit:7")])
        .expect_killed();
    job.run(&[("CKPT_EVERY", "3"), ("CKPT_FAULT", "visit:2")])
        .expect_killed();
    let first = runs_of(&job)[0].short();
    // The newest run has no checkpoint, and the older one is named.
    job.run(&[LATEST])
        .expect_code(76)
        .expect_message(&["CKPT_RUN with CKPT_RESTART=latest", &first]);
    job.run(&[LATEST, ("CKPT_RUN", &first)]).expect_code(0);
    assert_eq!(all_files(job.folder()), expected);
}

fn what_another_run_has_changed_since_is_known_whatever_the_clocks_say() {
    let expected = expected_of_closed();
    for clock in ["-7200", "0", "7200"] {
        let job = closed_job();
        job.run(&[("CKPT_EVERY", "3"), ("CKPT_FAULT", "visit:7")])
            .expect_killed();
        job.run(&[
            ("CKPT_EVERY", "3"),
            ("CKPT_FAULT", "visit:5"),
            ("TEST_CLOCK", clock),
        ])
        .expect_killed();
        let first = runs_of(&job)[0].short();
        // The clock is right again, or still wrong.
        for (fault, clock) in [("visit:8", "0"), ("visit:99", clock)] {
            job.run(&[
                LATEST,
                ("CKPT_EVERY", "3"),
                ("CKPT_RUN", &first),
                ("CKPT_FAULT", fault),
                ("TEST_CLOCK", clock),
            ]);
        }
        assert_eq!(job.jobs()[0]["state"], "completed", "{clock}");
        assert_eq!(all_files(job.folder()), expected, "{clock}");
    }
}

fn what_another_run_has_changed_since_a_restart_is_known_too() {
    let expected = expected_of_closed();
    let job = closed_job();
    let every = ("CKPT_EVERY", "3");
    job.run(&[every, ("CKPT_FAULT", "visit:5")]).expect_killed();
    // It goes back to its checkpoint, and comes to no further one.
    job.run(&[every, LATEST, ("CKPT_FAULT", "visit:4")])
        .expect_killed();
    job.run(&[every, ("CKPT_FAULT", "visit:2")]).expect_killed();
    let first = runs_of(&job)[0].short();
    job.run(&[every, LATEST, ("CKPT_RUN", &first)])
        .expect_code(0)
        .expect_message(&["warning[W2081]"]);
    assert_eq!(all_files(job.folder()), expected);
}

fn runs_that_share_no_file_do_not_give_each_other_up() {
    const NAMES: [&str; 2] = ["a.txt", "b.txt"];
    const OTHERS: &str = "CKPT_OTHER_RUNS";
    let whole: String = (1..=STEPS).map(|step| format!("{step}\n")).collect();
    let every = ("CKPT_EVERY", "3");
    let both_killed = || {
        let job = Job::new("own-file");
        for name in NAMES {
            job.run_as(&[name], &[every, ("CKPT_FAULT", "visit:5")])
                .expect_killed();
        }
        job
    };
    let ids = |job: &Job| -> Vec<String> { runs_of(job).iter().map(RunId::to_string).collect() };
    let text = |job: &Job, name: &str| fs::read_to_string(job.folder().join(name)).unwrap();
    // The older one is not continued at the cost of the other without being told to: neither has lost anything.
    let job = both_killed();
    let [first, second] = &ids(&job)[..] else {
        panic!("two runs have begun")
    };
    job.run_as(&NAMES[..1], &[every, LATEST, ("CKPT_RUN", first)])
        .expect_code(77)
        .expect_message(&["other arguments", "b.txt", "--other-runs keep"]);
    job.run_as(&NAMES[1..], &[every, LATEST, ("CKPT_RUN", second)])
        .expect_code(0);
    job.run_as(&NAMES[..1], &[every, LATEST, ("CKPT_RUN", first)])
        .expect_code(0);
    assert_eq!(NAMES.map(|name| text(&job, name)), [&whole[..], &whole[..]]);
    // Its files stay, and it is continued afterwards.
    let job = both_killed();
    let [first, second] = &ids(&job)[..] else {
        panic!("two runs have begun")
    };
    let keep = (OTHERS, "keep");
    for (name, id) in NAMES.iter().zip([first, second]) {
        job.run_as(
            &[name],
            &[every, LATEST, ("CKPT_RUN", id), keep, ("CKPT_FAULT", "visit:8")],
        )
        .expect_killed();
    }
    for (name, id) in NAMES.iter().zip([first, second]) {
        job.run_as(&[name], &[every, LATEST, ("CKPT_RUN", id), keep])
            .expect_code(0);
        assert_eq!(text(&job, name), whole);
    }
    // They are undone, and that run is given up.
    let job = both_killed();
    let [first, second] = &ids(&job)[..] else {
        panic!("two runs have begun")
    };
    job.run_as(
        &NAMES[..1],
        &[every, LATEST, ("CKPT_RUN", first), (OTHERS, "undo")],
    )
    .expect_code(0)
    .expect_message(&["warning[W2081]", "it has changed `b.txt` in this folder"]);
    assert!(!job.folder().join("b.txt").exists());
    job.run_as(&NAMES[1..], &[every, LATEST, ("CKPT_RUN", second)])
        .expect_code(76)
        .expect_message(&["cannot be used"]);
}

/// A run that was killed after it had written its settings, and a later one that has written others.
fn with_other_settings(later: &[(&str, &str)]) -> (Job, Vec<RunId>) {
    let job = Job::new("own-file")
        .with("TEST_SETTINGS", 1)
        .with("CKPT_EVERY", 3);
    job.run_as(&["a.txt"], &[("CKPT_FAULT", "visit:5")])
        .expect_killed();
    job.run_as(&["b.txt"], later);
    assert_eq!(
        fs::read_to_string(job.folder().join("settings.txt")).unwrap(),
        "b.txt"
    );
    let runs = runs_of(&job);
    (job, runs)
}

fn what_another_run_has_replaced_is_told_of() {
    let (job, runs) = with_other_settings(&[]);
    let id = runs[0].to_string();
    job.run_as(&["a.txt"], &[LATEST, ("CKPT_RUN", &id)])
        .expect_code(0)
        .expect_message(&[
            "warning[W2085]",
            "which has completed, has changed `settings.txt`",
        ]);
    let (job, runs) = with_other_settings(&[("CKPT_FAULT", "visit:5")]);
    let id = runs[0].to_string();
    let restart = [LATEST, ("CKPT_RUN", &*id)];
    job.run_as(&["a.txt"], &restart)
        .expect_code(77)
        .expect_message(&["started with other arguments", "`settings.txt`"]);
    job.run_as(
        &["a.txt"],
        &[&restart[..], &[("CKPT_OTHER_RUNS", "keep")]].concat(),
    )
    .expect_code(0)
    .expect_message(&["warning[W2085]", "whose files are to be kept"]);
}

fn what_a_run_has_changed_whose_record_was_removed_is_known() {
    let (job, runs) = with_other_settings(&[("CKPT_FAULT", "visit:5")]);
    let mut store = Store::open(job.store(), Mode::ReadWrite).unwrap();
    for entry in store.list().unwrap() {
        if entry.meta.unwrap().run == Some(runs[1]) {
            store.remove(entry.id).unwrap();
        }
    }
    store.give_up_run(runs[1]).unwrap();
    drop(store);
    assert_eq!(runs_of(&job), &runs[..1]);
    job.run_as(&["a.txt"], &[LATEST])
        .expect_code(77)
        .expect_message(&["of which the record was removed", "`settings.txt`"]);
    job.run_as(&["a.txt"], &[LATEST, ("CKPT_OTHER_RUNS", "undo")])
        .expect_code(0)
        .expect_message(&["warning[W2081]"]);
    let settings = fs::read_to_string(job.folder().join("settings.txt")).unwrap();
    assert_eq!(settings, "a.txt");
}

fn copied_into(job: &Job, from: &Job) -> PathBuf {
    fs::create_dir_all(job.store()).unwrap();
    let copy = job.store().join("000009.r0.h5");
    fs::copy(from.checkpoints().last().unwrap(), &copy).unwrap();
    copy
}

fn checkpoints_that_were_copied_are_not_taken_by_latest() {
    let other = steps("30");
    other
        .run_as(&["b"], &[("CKPT_EVERY", "4"), ("CKPT_FAULT", "visit:8")])
        .expect_killed();
    let job = steps("10");
    job.run_as(&["a"], &[("CKPT_EVERY", "4"), ("CKPT_FAULT", "visit:4")])
        .expect_killed();
    copied_into(&job, &other);
    let rest = job.run_as(&["a"], &[LATEST]).expect_code(0);
    assert_eq!(rest.stdout, whole("10"));
    rest.expect_message(&[
        "warning[W2030]: checkpoint 000009 is of no run that has a record",
        "restarts from checkpoint 000001",
    ]);
    // By its number it is, if that is the right command line.
    job.run_as(&["a"], &[("CKPT_RESTART", "9")])
        .expect_code(77)
        .expect_message(&["error[E2182]"]);
    let there = job
        .run_as(&["b"], &[("CKPT_RESTART", "9"), ("TEST_STEPS", "30")])
        .expect_code(0);
    assert_eq!(there.stdout, whole("30"));
    // A store with nothing else has no run to continue.
    let empty = steps("30");
    copied_into(&empty, &other);
    empty.run_as(&["b"], &[LATEST]).expect_code(76);
}

fn other_arguments_are_refused_unless_they_are_meant() {
    let job = steps("10").with("CKPT_EVERY", 4);
    job.run_as(&["deck.toml", "a b"], &[("CKPT_FAULT", "visit:4")])
        .expect_killed();
    let refused = |arguments: &[&str]| -> Ended { job.run_as(arguments, &[LATEST]).expect_code(77) };
    refused(&["other.toml", "a b"]).expect_message(&[
        "error[E2182]: checkpoint 000001 was written with other arguments",
        "deck.toml \"a b\"",
        "other.toml \"a b\"",
        "CKPT_ARGS_CHANGED=1",
    ]);
    refused(&["deck.toml"]);
    refused(&["deck.toml", "a", "b"]);
    refused(&[]);
    let changed = ("CKPT_ARGS_CHANGED", "1");
    job.run_as(&["other.toml"], &[LATEST, changed, ("CKPT_FAULT", "visit:8")])
        .expect_killed();
    // From now on these are its arguments.
    refused(&["deck.toml", "a b"]);
    let rest = job.run_as(&["other.toml"], &[LATEST]).expect_code(0);
    assert_eq!(rest.stdout, whole("10"));
    // A path that has moved is the same argument.
    let job = steps("10").with("CKPT_EVERY", 4);
    job.run_as(&["/home/a/deck.toml"], &[("CKPT_FAULT", "visit:4")])
        .expect_killed();
    job.run_as(&["/work/deck.toml"], &[LATEST]).expect_code(77);
    let moved = [LATEST, ("CKPT_MAP", "/home/a=/work")];
    job.run_as(&["/home/a/deck.toml"], &moved).expect_code(77);
    job.run_as(&["/work/deck.toml"], &moved).expect_code(0);
}

const SOURCES: &str = "TEST_SOURCES";
const STRICT: (&str, &str) = ("CKPT_STRICT", "1");

fn other_sources_are_named_and_refused_where_that_is_asked_for() {
    let job = steps("10").with("CKPT_EVERY", 4);
    job.run(&[(SOURCES, "first"), ("CKPT_FAULT", "visit:4")])
        .expect_killed();
    let refused = job.run(&[LATEST, STRICT, (SOURCES, "changed")]).expect_code(77);
    assert_eq!(refused.stdout, "");
    refused.expect_message(&[
        "error[E2360]: checkpoint 000001 was taken by a build of other sources",
        "`src/flux.rs` has changed, `src/wall.rs` is new",
        "CKPT_STRICT=0",
    ]);
    // Only what differs is named, and the run goes on.
    let goes_on = [LATEST, (SOURCES, "changed"), ("CKPT_FAULT", "visit:8")];
    job.run(&goes_on).expect_killed().expect_message(&[
        "warning[W2071]: checkpoint 000001 was taken by a build of other sources",
        "`src/flux.rs` has changed, `src/wall.rs` is new",
    ]);
    // Its checkpoints are the new build's from then on; the record of the run has both.
    let third = job.run(&[LATEST, STRICT, (SOURCES, "third")]).expect_code(77);
    third.expect_message(&[
        "checkpoint 000002",
        "`src/flux.rs` is gone, `src/wall.rs` is gone",
    ]);
    let first = job.run(&[("CKPT_RESTART", "1"), STRICT, (SOURCES, "third")]);
    first
        .expect_code(77)
        .expect_message(&["checkpoint 000001", "`src/flux.rs` is gone\n"]);
    let rest = job.run(&[LATEST, STRICT, (SOURCES, "changed")]).expect_code(0);
    assert_eq!(rest.stdout, whole("10"));
    assert!(!rest.stderr.contains("sources"), "{}", rest.stderr);
}

fn sources_that_are_not_known_are_not_the_same() {
    let job = steps("10").with("CKPT_EVERY", 4);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    let message = "the checkpoint does not say what its program was made of";
    job.run(&[LATEST, STRICT, (SOURCES, "first")])
        .expect_code(77)
        .expect_message(&["E2360", message]);
    job.run(&[LATEST, (SOURCES, "first"), ("CKPT_FAULT", "visit:8")])
        .expect_killed()
        .expect_message(&["W2071", message]);
    job.run(&[LATEST, STRICT])
        .expect_code(77)
        .expect_message(&["E2360", "this program does not know what it was made of"]);
    // Where neither knows there is nothing to compare.
    let job = steps("10").with("CKPT_EVERY", 4);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    let rest = job.run(&[LATEST, STRICT]).expect_code(0);
    assert!(!rest.stderr.contains("sources"), "{}", rest.stderr);
}

fn another_environment_is_told_of() {
    let first = (SOURCES, "first");
    for (then, now, what) in [
        (Some("3"), Some("5"), "`TEST_FACTOR` has another value\n"),
        (None, Some("5"), "`TEST_FACTOR` is set now, and was not\n"),
        (Some("3"), None, "`TEST_FACTOR` was set, and is not now\n"),
        (Some("3"), Some("3"), ""),
    ] {
        let job = steps("10").with("CKPT_EVERY", 4);
        let with = |variables: &[(&'static str, &'static str)], factor: Option<&'static str>| {
            let factor = factor.map(|value| ("TEST_FACTOR", value));
            let all: Vec<_> = variables.iter().copied().chain(factor).collect();
            job.run(&all)
        };
        with(&[first, ("CKPT_FAULT", "visit:6")], then).expect_killed();
        // Variables of ckpt are not the program's.
        let rest = with(&[LATEST, first, ("CKPT_EVERY", "5")], now).expect_code(0);
        assert_eq!(rest.stdout, whole("10"));
        match what {
            "" => assert!(!rest.stderr.contains("environment"), "{}", rest.stderr),
            what => drop(rest.expect_message(&[
                "warning[W2072]: checkpoint 000001 was taken in another environment: ",
                what,
            ])),
        }
    }
}

fn retention_counts_per_run() {
    let job = steps("20").with("CKPT_EVERY", 2);
    job.run(&[("CKPT_FAULT", "visit:8")]).expect_killed();
    assert_eq!(owners(&job), [(3, Some(0)), (4, Some(0))]);
    job.run(&[]).expect_code(0);
    let first_two = [(3, Some(0)), (4, Some(0))];
    assert_eq!(
        owners(&job),
        [&first_two[..], &[(13, Some(1)), (14, Some(1))]].concat()
    );
    // A run that dies before its first checkpoint takes nothing away.
    job.run(&[("CKPT_FAULT", "visit:1")]).expect_killed();
    assert_eq!(owners(&job).len(), 4);
    job.run(&[("CKPT_FAULT", "visit:2")]).expect_killed();
    assert_eq!(owners(&job), [&first_two[..], &[(15, Some(3))]].concat());
    // What tells of the completed one stays.
    assert_eq!(job.jobs()[1]["state"], "completed");
    let first = runs_of(&job)[0].to_string();
    let rest = job.run(&[LATEST, ("CKPT_RUN", &first)]).expect_code(0);
    assert_eq!(rest.stdout, whole("20"));
}

fn a_run_is_named_by_its_identity() {
    let job = steps("10").with("CKPT_EVERY", 4);
    let run = "c0ffee00c0ffee00c0ffee00c0ffee00".to_owned();
    job.run(&[("CKPT_RUN", &run), ("CKPT_FAULT", "visit:4")])
        .expect_killed();
    assert_eq!(job.job_file()["run"], run.as_str());
    job.run(&[("CKPT_RUN", &run)])
        .expect_code(78)
        .expect_message(&["error[E2185]: run", "has begun before"]);
    job.run(&[("CKPT_RUN", &run[..8])])
        .expect_code(78)
        .expect_message(&["error[E2153]: CKPT_RUN"]);
    let other = "beef";
    job.run(&[LATEST, ("CKPT_RUN", other)])
        .expect_code(76)
        .expect_message(&["error[E2180]: no run in test.ckpt.d begins with"]);
    job.run(&[("CKPT_RESTART", "1"), ("CKPT_RUN", other)])
        .expect_code(77)
        .expect_message(&["error[E2183]: checkpoint 000001 is of run"]);
    job.run(&[("CKPT_RESTART", "1"), ("CKPT_RUN", &run[..8])])
        .expect_code(0);
    job.run(&[LATEST, ("CKPT_RUN", &run)])
        .expect_code(76)
        .expect_message(&["completed at"]);
}

fn a_record_that_cannot_be_read_is_no_reason_to_guess() {
    let job = steps("10").with("CKPT_EVERY", 4);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    let first = runs_of(&job)[0].to_string();
    let record = job.store().join("runs").join(&first).join("job.json");
    fs::write(&record, "{").unwrap();
    // There is only one run that can be meant.
    job.run(&[LATEST, ("CKPT_FAULT", "visit:6")]).expect_killed();
    assert_eq!(runs_of(&job).len(), 1);
    job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    fs::write(&record, "{").unwrap();
    job.run(&[LATEST])
        .expect_code(76)
        .expect_message(&["error[E2181]", &first, "CKPT_RUN"]);
    let rest = job.run(&[LATEST, ("CKPT_RUN", &first)]).expect_code(0);
    assert_eq!(rest.stdout, whole("10"));
}

fn what_the_run_kept_has_to_be_there() {
    let from = closed_job();
    from.run(&[("CKPT_EVERY", "3"), ("CKPT_FAULT", "visit:7")])
        .expect_killed();
    let job = closed_job();
    copied_into(&job, &from);
    job.run(&[("CKPT_RESTART", "9")])
        .expect_code(76)
        .expect_message(&["error[E2184]: checkpoint 000009 cannot be restored", "runs/"]);
}

fn the_history_of_failures_goes_over_the_runs() {
    let job = steps("10").with("CKPT_EVERY", 4);
    for _ in 0..2 {
        job.run(&[("CKPT_FAULT", "visit:4")]).expect_killed();
    }
    job.run(&[LATEST]).expect_code(0);
    let history = &job.job_file()["history"];
    assert_eq!((&history["runs"], &history["failures"]), (&2.into(), &2.into()));
}

/// A run that was killed, with its store in another folder if `store` is one.
fn killed_with_its_store_in(store: Option<&Path>) -> Job {
    let job = closed_job();
    let store = store.map_or_else(|| job.store(), |folder| folder.join("test.ckpt.d"));
    let job = job.with("CKPT_DIR", store.display());
    job.run(&[("CKPT_EVERY", "3"), ("CKPT_FAULT", "visit:7")])
        .expect_killed();
    job
}

fn real(folder: &Path) -> String {
    folder.canonicalize().unwrap().display().to_string()
}

fn a_run_that_was_not_moved_is_continued_in_its_own_folder() {
    let expected = expected_of_closed();
    let elsewhere = tempfile::tempdir().unwrap();
    for store in [None, Some(elsewhere.path())] {
        let job = killed_with_its_store_in(store);
        let other = tempfile::tempdir().unwrap();
        for name in all_files(job.folder()).keys() {
            fs::write(other.path().join(name), "another's").unwrap();
        }
        let before = all_files(other.path());
        let (theirs, ours) = (real(job.folder()), real(other.path()));
        for which in ["latest", "1"] {
            job.run_in(other.path(), &[("CKPT_RESTART", which)])
                .expect_code(77)
                .expect_message(&[
                    "error[E2187]",
                    &format!("was started in {theirs}, and this process in {ours}"),
                    &format!("cd {theirs}"),
                    &format!("CKPT_MAP='{theirs}={ours}'"),
                ]);
            assert_eq!(all_files(other.path()), before);
        }
        // By another name it is the same folder.
        let link = other.path().join("link");
        std::os::unix::fs::symlink(job.folder(), &link).unwrap();
        job.run_in(&link, &[LATEST]).expect_code(0);
        assert_eq!(all_files(job.folder()), expected);
    }
}

fn a_run_that_was_moved_is_continued_where_it_is() {
    let expected = expected_of_closed();
    // Its files, and not the store: gone from where they were, or said to be elsewhere.
    for is_said in [false, true] {
        let elsewhere = tempfile::tempdir().unwrap();
        let job = killed_with_its_store_in(Some(elsewhere.path()));
        let other = tempfile::tempdir().unwrap();
        let status = std::process::Command::new("cp")
            .args(["-a", "--"])
            .arg(job.folder().join("."))
            .arg(other.path())
            .status();
        assert!(status.unwrap().success());
        let map = format!("{}={}", real(job.folder()), real(other.path()));
        let ended = match is_said {
            true => job.run_in(other.path(), &[LATEST, ("CKPT_MAP", &map)]),
            false => {
                fs::remove_dir_all(job.folder()).unwrap();
                job.run_in(other.path(), &[LATEST])
            }
        };
        ended.expect_code(0);
        assert_eq!(all_files(other.path()), expected);
    }
}

/// The program would write to the old folder, and the journal bring back the files of the new one.
fn arguments_that_name_the_old_folder_of_a_moved_run_are_refused() {
    for form in ["", "--out=", "../", "a link", "a link that is gone"] {
        let job = closed_job().with("CKPT_DIR", "test.ckpt.d");
        let home = job.folder().join("heat");
        let entries: Vec<_> = fs::read_dir(job.folder()).unwrap().flatten().collect();
        fs::create_dir(&home).unwrap();
        for entry in entries {
            fs::rename(entry.path(), home.join(entry.file_name())).unwrap();
        }
        let old = real(&home);
        let links = tempfile::tempdir().unwrap();
        let link = links.path().join("link");
        std::os::unix::fs::symlink(&old, &link).unwrap();
        let argument = match form {
            "../" => "../heat/out".to_owned(),
            "" | "--out=" => format!("{form}{old}/out"),
            _ => format!("{}/out", link.display()),
        };
        // As a shell says where it is.
        let job = job.with("PWD", link.display().to_string());
        let job = job.with("CKPT_EVERY", "3");
        job.run_as_in(&home, &[&argument], &[("CKPT_FAULT", "visit:7")])
            .expect_killed();
        let other = tempfile::tempdir().unwrap();
        let new = real(other.path());
        fs::rename(&home, other.path().join("moved")).unwrap();
        fs::create_dir(&home).unwrap();
        if form.ends_with("gone") {
            fs::remove_file(&link).unwrap();
        }
        let moved = format!("{new}/moved");
        let before = all_files(Path::new(&moved));
        let again = |argument: &str, map: &str| {
            let mut variables = vec![LATEST];
            variables.extend((!map.is_empty()).then_some(("CKPT_MAP", map)));
            job.run_as_in(Path::new(&moved), &[argument], &variables)
        };
        again(&argument, "").expect_code(77).expect_message(&[
            "error[E2189]",
            &format!("was started in {old} and is continued in {moved}"),
            &format!("its argument `{argument}`"),
            &format!("CKPT_MAP='{old}={moved}'"),
        ]);
        assert_eq!(all_files(Path::new(&moved)), before);
        let argument = match form {
            "" => format!("{moved}/out"),
            _ => continue,
        };
        again(&argument, &format!("{old}={moved}")).expect_code(0);
        assert_eq!(all_files(Path::new(&moved)), expected_of_closed());
    }
}
