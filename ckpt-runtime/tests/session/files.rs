//! Files that a program holds open: after a kill and a restart they are what they would have been without.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::process::{INPUT, Job};

crate::tests! {
    files_are_what_they_would_have_been,
    a_file_that_lost_bytes_is_named,
    a_restart_that_fails_cuts_nothing,
    what_is_no_matter_of_a_variable_is_not_said_of_one,
    what_cannot_be_opened_again_is_refused,
    files_that_are_closed_at_the_site_are_what_they_would_have_been,
    an_older_checkpoint_has_its_files_too,
    standard_input_goes_on_where_it_was_read,
    a_start_that_is_made_again_finds_the_files_of_the_first,
}

const OUTPUTS: [&str; 6] = [
    "plain.txt",
    "append.txt",
    "buffered.txt",
    "lines.txt",
    "counter.txt",
    "twin.txt",
];

fn job() -> Job {
    let job = Job::new("files");
    let input: String = (0..40)
        .map(|line| format!("line {line} of the input\n"))
        .collect();
    std::fs::write(job.folder().join("input.txt"), input).unwrap();
    std::fs::write(job.folder().join("append.txt"), "from before\n").unwrap();
    job
}

fn outputs(folder: &Path) -> BTreeMap<&'static str, String> {
    let text = |name| std::fs::read_to_string(folder.join(name)).unwrap();
    OUTPUTS.into_iter().map(|name| (name, text(name))).collect()
}

/// Killed before its first checkpoint and started again, as `--restarts` and `--resume` do it.
fn a_start_that_is_made_again_finds_the_files_of_the_first() {
    const FIRST: &str = "0123456789abcdef0123456789abcdef";
    const AGAIN: &str = "fedcba9876543210fedcba9876543210";
    let whole = job();
    whole.run(&[]).expect_code(0);
    for visit in [3, crate::programs::STEPS] {
        let job = job();
        let fault = format!("visit:{visit}");
        let never = ("CKPT_EVERY", "1000");
        job.run(&[never, ("CKPT_RUN", FIRST), ("CKPT_FAULT", &fault)])
            .expect_killed();
        let store = job.store();
        let undo = [
            ("TEST_PROGRAM", "undo-start"),
            ("TEST_RUN", FIRST),
            ("CKPT_DIR", store.to_str().unwrap()),
        ];
        job.run(&undo).expect_code(0);
        job.run(&[never, ("CKPT_RUN", AGAIN)]).expect_code(0);
        assert_eq!(
            outputs(job.folder()),
            outputs(whole.folder()),
            "killed at visit {visit}"
        );
    }
}

fn files_are_what_they_would_have_been() {
    let whole = job();
    whole.run(&[]).expect_code(0);
    let expected = outputs(whole.folder());
    assert_eq!(expected["append.txt"].lines().count(), 10);
    for every in ["1", "2", "3"] {
        for visit in 3..=crate::programs::STEPS {
            let job = job();
            let fault = format!("visit:{visit}");
            job.run(&[("CKPT_EVERY", every), ("CKPT_FAULT", &fault)])
                .expect_killed();
            job.run(&[("CKPT_EVERY", every), ("CKPT_RESTART", "latest")])
                .expect_code(0);
            assert_eq!(
                outputs(job.folder()),
                expected,
                "killed at visit {visit}, a checkpoint every {every}"
            );
        }
    }
}

fn killed() -> Job {
    let job = job();
    job.run(&[("CKPT_EVERY", "4"), ("CKPT_FAULT", "visit:6")])
        .expect_killed();
    job
}

const RESTART: &[(&str, &str)] = &[("CKPT_RESTART", "latest")];

fn a_file_that_lost_bytes_is_named() {
    let job = killed();
    std::fs::write(job.folder().join("plain.txt"), "short").unwrap();
    job.run(RESTART).expect_code(77).expect_message(&[
        "variable `state` of `main` cannot be restored",
        "the file `plain.txt` has 5 bytes now and had ",
        "restart from an older checkpoint",
    ]);
    std::fs::remove_file(job.folder().join("plain.txt")).unwrap();
    job.run(RESTART).expect_code(77).expect_message(&[
        "the file `plain.txt`, which was open for writing at the checkpoint, cannot be opened: No such file",
        "put it back where it was",
    ]);
}

fn a_restart_that_fails_cuts_nothing() {
    let job = killed();
    let before = outputs(job.folder());
    std::fs::remove_file(job.folder().join("twin.txt")).unwrap();
    job.run(RESTART).expect_code(77);
    std::fs::write(job.folder().join("twin.txt"), &before["twin.txt"]).unwrap();
    assert_eq!(outputs(job.folder()), before);
    job.run(RESTART).expect_code(0);
    let whole = self::job();
    whole.run(&[]).expect_code(0);
    assert_eq!(outputs(job.folder()), outputs(whole.folder()));
}

/// The first variable that holds a file open asks for all of them.
fn what_is_no_matter_of_a_variable_is_not_said_of_one() {
    let job = killed();
    job.run_as(
        &["b.txt"],
        &[
            ("TEST_PROGRAM", "own-file"),
            ("CKPT_EVERY", "3"),
            ("CKPT_FAULT", "visit:5"),
        ],
    )
    .expect_killed();
    let first = ckpt::session::runs::records(&job.store()).unwrap()[0]
        .run
        .to_string();
    let ended = job.run(&[RESTART[0], ("CKPT_RUN", &first)]).expect_code(77);
    let ended = ended.expect_message(&["error[E2029]: run ", "has changed `b.txt` in this folder since"]);
    assert!(!ended.stderr.contains("variable"), "{}", ended.stderr);
}

fn what_cannot_be_opened_again_is_refused() {
    let refused = |what: &'static str, message: &str| {
        let ended = Job::new(what)
            .run_while(&[("CKPT_EVERY", "1")], |_| ())
            .expect_code(0);
        ended.expect_message(&[
            "no checkpoint was taken at site visit 1: E2301: variable `state` cannot be saved",
            message,
        ]);
    };
    refused(
        "held-pipe",
        "it has a pipe open, which a restart could not open again",
    );
    refused("held-deleted", "gone.txt (deleted)`) open");
    refused("held-stdin", "it reads standard input");
    for taken in ["held-null", "held-moved", "held-stdin"] {
        let job = Job::new(taken);
        assert_eq!(job.run(&[("CKPT_EVERY", "1")]).expect_code(0).stderr, "");
        assert_eq!(job.checkpoints().len(), 1);
    }
}

/// Every file of the folder but those of ckpt.
pub fn all_files(folder: &Path) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files
        .map(|entry| {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            (entry.file_name().into_string().unwrap(), text)
        })
        .collect()
}

pub fn closed_job() -> Job {
    let job = Job::new("closed");
    std::fs::write(job.folder().join("old.log"), "from before\n").unwrap();
    std::fs::write(job.folder().join("counter.txt"), "7").unwrap();
    job
}

pub fn expected_of_closed() -> BTreeMap<String, String> {
    let whole = closed_job();
    assert_eq!(whole.run(&[]).expect_code(0).stderr, "");
    let expected = all_files(whole.folder());
    assert_eq!(expected["frames.txt"].lines().count(), 11);
    assert_eq!(expected["counter.txt"], "16");
    expected
}

fn files_that_are_closed_at_the_site_are_what_they_would_have_been() {
    let expected = expected_of_closed();
    for every in ["1", "3"] {
        for visit in 3..=crate::programs::STEPS {
            let job = closed_job();
            let fault = format!("visit:{visit}");
            job.run(&[("CKPT_EVERY", every), ("CKPT_FAULT", &fault)])
                .expect_killed();
            if visit < 8 {
                let again = [
                    ("CKPT_EVERY", every),
                    ("CKPT_RESTART", "latest"),
                    ("CKPT_FAULT", "visit:8"),
                ];
                job.run(&again).expect_killed();
            }
            job.run(&[("CKPT_EVERY", every), ("CKPT_RESTART", "latest")])
                .expect_code(0);
            assert_eq!(
                all_files(job.folder()),
                expected,
                "killed at visit {visit}, a checkpoint every {every}"
            );
        }
    }
}

fn an_older_checkpoint_has_its_files_too() {
    let expected = expected_of_closed();
    let keep = [("CKPT_EVERY", "1"), ("CKPT_KEEP", "all")];
    for id in 1..=8 {
        let job = closed_job();
        job.run(&[keep[0], keep[1], ("CKPT_FAULT", "visit:9")])
            .expect_killed();
        let id = id.to_string();
        job.run(&[keep[0], keep[1], ("CKPT_RESTART", &id)]).expect_code(0);
        assert_eq!(all_files(job.folder()), expected, "from checkpoint {id}");
    }
}

fn standard_input_goes_on_where_it_was_read() {
    let job = || {
        let job = Job::new("input");
        let lines: String = (0..9).map(|line| format!("line {line};\n")).collect();
        std::fs::write(job.folder().join(INPUT), lines).unwrap();
        job
    };
    let expected = job().run(&[]).expect_code(0).stdout;
    assert_eq!(expected, "line 0;line 1;line 2;line 3; line 4;\n");
    let held = ["", "handle", "lock", "reader", "both"];
    for visit in 1..=6 * held.len() {
        let held = held[(visit - 1) / 6];
        let holds = if held.is_empty() {
            "TEST_ASKS"
        } else {
            "TEST_HOLDS"
        };
        let job = job().with(holds, held);
        let fault = format!("visit:{}", (visit - 1) % 6 + 1);
        job.run(&[("CKPT_EVERY", "1"), ("CKPT_FAULT", &fault)])
            .expect_killed();
        let restarted = job.run(&[("CKPT_RESTART", "latest")]).expect_code(0);
        assert_eq!(restarted.stdout, expected, "killed at visit {visit}");
    }
    let without = job();
    without
        .run(&[("CKPT_EVERY", "1"), ("CKPT_FAULT", "visit:3")])
        .expect_killed();
    std::fs::remove_file(without.folder().join(INPUT)).unwrap();
    without
        .run(&[("CKPT_RESTART", "latest")])
        .expect_code(77)
        .expect_message(&[
            "standard input was a file of 72 bytes, of which 16 had been read",
            "< FILE",
        ]);
    // Another file, and the same one, which has grown.
    let input = fs::read_to_string(job().folder().join(INPUT)).unwrap();
    for (text, code) in [
        (input.replacen("line 0", "line 8", 1), 77),
        (format!("{input}more\n"), 0),
    ] {
        let other = job();
        other
            .run(&[("CKPT_EVERY", "1"), ("CKPT_FAULT", "visit:3")])
            .expect_killed();
        fs::write(other.folder().join(INPUT), text).unwrap();
        let ended = other.run(&[("CKPT_RESTART", "latest")]).expect_code(code);
        let (told, stdout) = match code {
            0 => ("warning[W2052]", &expected[..]),
            _ => ("begins with something else", ""),
        };
        assert_eq!(ended.expect_message(&[told]).stdout, stdout);
    }
}
