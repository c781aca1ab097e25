//! Where a checkpoint cannot be written to the store, time and again, it goes to another folder that the user has named, and a
//! restart finds it there.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use crate::process::{Ended, Job, jobs_in};
use crate::programs::{clear, jam};
use crate::stops::at_the_wait;

crate::tests! {
    checkpoints_go_to_the_fallback_after_three_failures,
    without_a_fallback_nothing_changes,
    a_stop_that_cannot_be_written_to_the_store_is_written_to_the_fallback,
    a_stop_on_a_full_disk_is_written_to_the_fallback,
    a_death_at_any_step_of_a_commit_to_the_fallback_loses_nothing,
    the_programs_files_come_back_from_a_checkpoint_in_the_fallback,
    a_restart_goes_back_to_the_store_and_clears_the_fallback,
    where_the_fallback_fails_as_well_the_store_is_tried_again,
    a_fallback_that_is_gone_is_told_of,
    a_fallback_that_is_not_the_stores_is_refused,
    a_store_that_was_copied_does_not_share_the_fallback,
    a_number_that_is_in_both_is_the_stores,
    the_fallback_may_be_turned_off,
    a_program_that_goes_back_finds_a_checkpoint_in_the_fallback,
}

fn steps() -> Job {
    Job::new("steps")
        .with("TEST_STEPS", 12)
        .with("CKPT_EVERY", 1)
        .with("CKPT_BACKGROUND", 0)
}

fn whole() -> String {
    Job::new("steps")
        .run(&[("TEST_STEPS", "12")])
        .expect_code(0)
        .stdout
}

fn numbers(folder: &Path) -> Vec<u64> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let number = |name: String| name.strip_suffix(".r0.h5")?.parse().ok();
    let mut numbers: Vec<u64> = names.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

fn count(ended: &Ended, what: &str) -> usize {
    ended.stderr.matches(what).count()
}

/// A job whose newest checkpoints, the third to the fifth, are in its fallback, of which two are kept.
fn fallen_back(job: &Job) -> Ended {
    let variables = [
        ("CKPT_FALLBACK", "fb"),
        ("TEST_JAM", "3"),
        ("CKPT_FAULT", "visit:8"),
    ];
    let killed = job.run(&variables).expect_killed();
    assert_eq!(numbers(&job.store()), [1, 2]);
    assert_eq!(numbers(&job.folder().join("fb")), [4, 5]);
    killed
}

const RESTART: (&str, &str) = ("CKPT_RESTART", "latest");

fn checkpoints_go_to_the_fallback_after_three_failures() {
    for background in ["0", "1"] {
        let job = steps();
        let variables = [
            ("CKPT_FALLBACK", "fb"),
            ("TEST_JAM", "3"),
            ("CKPT_FAULT", "visit:8"),
            ("CKPT_BACKGROUND", background),
        ];
        let killed = job.run(&variables).expect_killed();
        assert_eq!(count(&killed, "warning[W2005]"), 3, "{killed:?}");
        assert_eq!(count(&killed, "warning[W2097]"), 1, "{killed:?}");
        assert!(numbers(&job.store()).starts_with(&[1]));
        assert!(!numbers(&job.folder().join("fb")).is_empty());
        // The store may be as full as before: what has been written is found all the same.
        let rest = job.run(&[RESTART, ("CKPT_FALLBACK", "fb")]).expect_code(0);
        assert_eq!(rest.stdout, whole());
        rest.expect_message(&["restarts from checkpoint 00000", " in fb\n"]);
    }
}

fn without_a_fallback_nothing_changes() {
    let job = steps();
    let ended = job.run(&[("TEST_JAM", "3")]).expect_code(0);
    assert_eq!(count(&ended, "warning[W2005]"), 10);
    assert_eq!(count(&ended, "warning[W2097]"), 0);
    assert_eq!(numbers(&job.store()), [1, 2]);
}

fn a_stop_that_cannot_be_written_to_the_store_is_written_to_the_fallback() {
    let job = Job::new("steps")
        .with("TEST_STEPS", u64::MAX)
        .with("TEST_WAIT", 5)
        .with("CKPT_EVERY", "1000000000000");
    let stopped = job.run_while(&[("TEST_JAM", "4"), ("CKPT_FALLBACK", "fb")], |child| {
        at_the_wait(child, |child| {
            kill_process(Pid::from_child(child), Signal::TERM).unwrap();
        });
    });
    let stopped = stopped.expect_code(75);
    assert_eq!(count(&stopped, "warning[W2005]"), 3);
    let place = fs::canonicalize(job.folder()).unwrap().join("fb");
    let written = "SIGTERM: checkpoint 000001 is written to `fb` (site visit";
    stopped.expect_message(&["warning[W2097]", written, "CKPT_RESTART=latest continues it"]);
    assert_eq!((numbers(&job.store()), numbers(&place)), (vec![], vec![1]));
    assert_eq!(job.job_file()["state"], "stopped");
    let steps = (job.job_file()["visits"].as_u64().unwrap() + 5).to_string();
    let rest = job.run(&[RESTART, ("TEST_STEPS", &steps)]).expect_code(0);
    let whole = Job::new("steps").run(&[("TEST_STEPS", &steps)]).expect_code(0);
    assert_eq!(rest.stdout, whole.stdout);
}

/// Fills a disk to the last byte.
fn fill(disk: &Path) {
    let mut size = 1 << 20;
    while size > 0 {
        let file = fs::File::options()
            .append(true)
            .create(true)
            .open(disk.join("filler"));
        if std::io::Write::write_all(&mut file.unwrap(), &vec![0; size]).is_err() {
            size /= 2;
        }
    }
}

fn a_stop_on_a_full_disk_is_written_to_the_fallback() {
    for file in [None, Some("out.txt")] {
        let mut job = Job::new("steps")
            .with("TEST_WAIT", 5)
            .with("CKPT_DIR", "disk/test.ckpt.d")
            .with("CKPT_FALLBACK", "fb")
            .with("CKPT_EVERY", 4);
        if let Some(file) = file {
            job = job.with("TEST_FILE", file);
        }
        let disk = job.folder().join("disk");
        fs::create_dir(&disk).unwrap();
        let Some(_mounted) = crate::small_disk::SmallDisk::mount(&disk, 1024) else {
            eprintln!("skipped: this user may not mount a small file system");
            return;
        };
        let many = if file.is_none() {
            "1000000000000"
        } else {
            "20000000"
        };
        let variables = [("CKPT_EVERY", "1000000000000"), ("TEST_STEPS", many)];
        let stopped = job.run_while(&variables, |child| {
            at_the_wait(child, |child| {
                fill(&disk);
                kill_process(Pid::from_child(child), Signal::TERM).unwrap();
            });
        });
        let stopped = stopped.expect_code(75);
        stopped.expect_message(&["o space left ", "warning[W2097]", "is written to `fb`"]);
        let state = jobs_in(&disk.join("test.ckpt.d")).pop().unwrap();
        assert_eq!(state["state"], "stopped", "there was some room left for that");
        // The disk is as full as before.
        let steps = (state["visits"].as_u64().unwrap() + 3).to_string();
        let rest = job.run(&[RESTART, ("TEST_STEPS", &steps)]).expect_code(0);
        let whole = Job::new("steps").run(&[("TEST_STEPS", &steps)]).expect_code(0);
        assert_eq!(rest.stdout, whole.stdout);
        if let Some(file) = file {
            let text = fs::read_to_string(job.folder().join(file)).unwrap();
            let steps = (1..=steps.parse().unwrap()).map(|step: u64| format!("step {step}\n"));
            assert!(text == steps.collect::<String>());
        }
    }
}

fn a_death_at_any_step_of_a_commit_to_the_fallback_loses_nothing() {
    for step in 2..=11 {
        let job = steps();
        job.run(&[("CKPT_FAULT", "visit:2"), ("CKPT_FALLBACK", "fb")])
            .expect_killed();
        jam(&job.store());
        let fault = format!("commit-step:{step}");
        job.run(&[RESTART, ("CKPT_FAULT", &fault)]).expect_killed();
        let there = numbers(&job.folder().join("fb"));
        assert_eq!(there.is_empty(), step <= 8, "{step}: {there:?}");
        job.run(&[RESTART, ("CKPT_FAULT", "visit:10")]).expect_killed();
        clear(&job.store());
        let rest = job.run(&[RESTART]).expect_code(0);
        assert_eq!(rest.stdout, whole(), "{step}");
        let hidden = |name: &fs::DirEntry| name.file_name().to_string_lossy().ends_with(".tmp");
        let left = fs::read_dir(job.folder().join("fb")).unwrap().flatten();
        assert_eq!(left.filter(hidden).count(), 0, "{step}");
    }
}

fn the_programs_files_come_back_from_a_checkpoint_in_the_fallback() {
    let of_whole = Job::new("steps").with("TEST_FILE", "out.txt");
    of_whole.run(&[("TEST_STEPS", "12")]).expect_code(0);
    let text = |job: &Job| fs::read_to_string(job.folder().join("out.txt")).unwrap();
    for kill in 3..12 {
        // At every other kill it has written more since its checkpoint.
        let job = steps().with("TEST_FILE", "out.txt").with("CKPT_EVERY", 2);
        let fault = format!("visit:{kill}");
        let variables = [("CKPT_FALLBACK", "fb"), ("TEST_JAM", "3"), ("CKPT_FAULT", &fault)];
        job.run(&variables).expect_killed();
        let restarted = job.run(&[RESTART]).expect_code(0);
        assert_eq!(restarted.stdout, whole(), "{kill}");
        assert_eq!(text(&job), text(&of_whole), "{kill}");
    }
    // An older one, in the store, is still of use: what was done since is in one journal.
    let job = steps().with("TEST_FILE", "out.txt");
    fallen_back(&job);
    job.run(&[("CKPT_RESTART", "1")]).expect_code(0);
    assert_eq!(text(&job), text(&of_whole));
}

fn a_restart_goes_back_to_the_store_and_clears_the_fallback() {
    let job = steps();
    fallen_back(&job);
    clear(&job.store());
    let rest = job.run(&[RESTART, ("CKPT_FAULT", "visit:9")]).expect_killed();
    rest.expect_message(&["restarts from checkpoint 000005 (site visit 8)"]);
    assert_eq!(numbers(&job.store()), [2, 6], "each keeps its own");
    assert_eq!(
        numbers(&job.folder().join("fb")),
        [5],
        "what has two newer ones goes"
    );
    let rest = job.run(&[RESTART]).expect_code(0);
    assert_eq!(rest.stdout, whole());
    assert!(numbers(&job.folder().join("fb")).is_empty());
}

fn where_the_fallback_fails_as_well_the_store_is_tried_again() {
    let job = steps().with("TEST_STEPS", 20);
    fs::create_dir(job.folder().join("fb")).unwrap();
    jam(&job.folder().join("fb"));
    let ended = job
        .run(&[("TEST_JAM", "3"), ("CKPT_FALLBACK", "fb")])
        .expect_code(0);
    assert!(count(&ended, "warning[W2097]") >= 4, "{ended:?}");
    ended.expect_message(&["checkpoints go to `fb`", "checkpoints go to `test.ckpt.d`"]);
}

fn a_fallback_that_is_gone_is_told_of() {
    let job = steps();
    fallen_back(&job);
    clear(&job.store());
    let (fallback, away) = (job.folder().join("fb"), job.folder().join("away"));
    fs::rename(&fallback, &away).unwrap();
    let rest = job.run(&[RESTART]).expect_code(0);
    assert_eq!(rest.stdout, whole());
    rest.expect_message(&[
        "warning[W2098]",
        "it is not there",
        "restarts from checkpoint 000002",
    ]);
}

/// Refuses to start with this fallback.
fn refused(job: &Job, fallback: &str, why: &str) {
    let before = numbers(&job.store());
    let refused = job.run(&[("CKPT_FALLBACK", fallback)]).expect_code(78);
    refused.expect_message(&["E2212", fallback, why]);
    assert_eq!(numbers(&job.store()), before);
}

fn a_fallback_that_is_not_the_stores_is_refused() {
    let job = steps();
    fallen_back(&job);
    let fallback = fs::canonicalize(job.folder().join("fb")).unwrap();
    let named = fallback.to_str().unwrap();
    // Of another store: it holds another run.
    let other = steps();
    refused(&other, named, "it holds checkpoints of the store `");
    let run = job.job_file()["run"].as_str().unwrap()[..8].to_owned();
    refused(&other, named, &run);
    // Of a store that was here before.
    fs::rename(job.store(), job.folder().join("old")).unwrap();
    refused(&job, "fb", "it holds checkpoints that the store knows nothing of");
    fs::remove_dir_all(job.store()).unwrap();
    fs::rename(job.folder().join("old"), job.store()).unwrap();
    // What is no place for it.
    refused(&job, "test.ckpt.d", "it is the store, or lies in it");
    refused(&job, "test.ckpt.d/fb", "it is the store, or lies in it");
    refused(&job, ".", "where the program's files are");
    refused(&job, "more", "which is its fallback");
    let own = steps();
    own.run(&[]).expect_code(0);
    let own_store = fs::canonicalize(own.store()).unwrap();
    refused(&job, own_store.to_str().unwrap(), "it is a store of its own");
    // Nothing of that is in the way of those who were refused nothing.
    clear(&job.store());
    assert_eq!(job.run(&[RESTART]).expect_code(0).stdout, whole());
    // Where nothing lies in it any more, another store may have it.
    assert!(numbers(&fallback).is_empty());
    other.run(&[("CKPT_FALLBACK", named)]).expect_code(0);
}

fn copy(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp")
        .arg("-a")
        .args([from, to])
        .status();
    assert!(copied.unwrap().success());
}

fn a_store_that_was_copied_does_not_share_the_fallback() {
    let job = steps();
    fallen_back(&job);
    clear(&job.store());
    let fallback = fs::canonicalize(job.folder().join("fb")).unwrap();
    let copied: PathBuf = job.folder().join("copy");
    fs::create_dir(&copied).unwrap();
    copy(&job.store(), &copied.join("test.ckpt.d"));
    let rest = job.run_in(&copied, &[RESTART]).expect_code(0);
    rest.expect_message(&[
        "warning[W2098]",
        "it is that of the store `",
        "from checkpoint 000002",
    ]);
    assert_eq!(numbers(&fallback), [4, 5]);
    let named = fallback.to_str().unwrap();
    let refused = job.run_in(&copied, &[("CKPT_FALLBACK", named)]).expect_code(78);
    refused.expect_message(&["E2212", "it holds checkpoints of the store `"]);
    // The files may be moved into the store: whose they are stands in them.
    let moved = job.folder().join("moved");
    fs::create_dir(&moved).unwrap();
    copy(&job.store(), &moved.join("test.ckpt.d"));
    for number in [4, 5] {
        let name = format!("{number:06}.r0.h5");
        fs::copy(fallback.join(&name), moved.join("test.ckpt.d").join(&name)).unwrap();
    }
    let rest = job.run_in(&moved, &[RESTART]).expect_code(0);
    assert_eq!(rest.stdout, whole());
    rest.expect_message(&["from checkpoint 000005"]);
}

fn a_number_that_is_in_both_is_the_stores() {
    let job = steps();
    fallen_back(&job);
    clear(&job.store());
    let (fallback, away) = (job.folder().join("fb"), job.folder().join("away"));
    fs::rename(&fallback, &away).unwrap();
    // The numbers of those that cannot be seen are given again.
    job.run(&[RESTART, ("CKPT_FAULT", "visit:4"), ("CKPT_KEEP", "all")])
        .expect_killed();
    assert_eq!(numbers(&job.store()), [1, 2, 3, 4]);
    fs::rename(&away, &fallback).unwrap();
    let rest = job
        .run(&[("CKPT_RESTART", "4"), ("CKPT_KEEP", "all")])
        .expect_code(0);
    assert_eq!(rest.stdout, whole());
    rest.expect_message(&["restarts from checkpoint 000004 (site visit 4)"]);
}

fn the_fallback_may_be_turned_off() {
    let job = steps();
    fallen_back(&job);
    let ended = job.run(&[RESTART, ("CKPT_FALLBACK", "off")]).expect_code(0);
    assert_eq!(
        (count(&ended, "W2097"), ended.stdout.as_str()),
        (0, whole().as_str())
    );
    assert_eq!(numbers(&job.folder().join("fb")), [4, 5]);
}

fn a_program_that_goes_back_finds_a_checkpoint_in_the_fallback() {
    for in_process in ["0", "1"] {
        let job = steps();
        let variables = [
            ("CKPT_FALLBACK", "fb"),
            ("TEST_JAM", "3"),
            ("CKPT_FAULT", "rollback:9"),
            ("CKPT_ROLLBACK_IN_PROCESS", in_process),
        ];
        let ended = job.run(&variables).expect_code(0);
        assert!(ended.stdout.ends_with(&whole()), "{ended:?}");
    }
}
