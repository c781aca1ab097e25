//! Real programs, really killed: `run`, `restart` and `crashtest` from the build to the answer.

mod noted;

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use noted::noted;
use predicates::prelude::*;
use predicates::str::contains;

const PROGRAM: [&str; 6] = [
    "--offline",
    "--quiet",
    "--manifest-path",
    concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
    "--example",
    "resumable",
];

fn command(folder: &Path, arguments: &[&str]) -> std::process::Command {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
        command.env_remove(name);
    }
    command.current_dir(folder).args(arguments);
    command
}

fn cargo_ckpt(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    noted(Command::from_std(command(folder, arguments)).assert())
}

/// Runs the example with options of `run`, CKPT_* variables, and arguments of its own.
fn run(
    folder: &Path,
    options: &[&str],
    variables: &[(&str, &str)],
    arguments: &[&str],
) -> assert_cmd::assert::Assert {
    let all = [&["run"][..], &PROGRAM, options, &["--"], arguments].concat();
    let mut command = command(folder, &all);
    command.envs(variables.iter().copied());
    noted(Command::from_std(command).assert())
}

fn answer(folder: &Path) -> String {
    fs::read_to_string(folder.join("cells.txt")).unwrap()
}

fn start(folder: &Path, options: &[&str], arguments: &[&str]) -> Child {
    let all = [&["run"][..], &PROGRAM, options, &["--"], arguments].concat();
    command(folder, &all)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits until the store holds a checkpoint.
fn wait_for_a_checkpoint(folder: &Path) {
    let end = Instant::now() + Duration::from_secs(300);
    let is_one = |entry: fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".h5");
    while !fs::read_dir(folder.join("ckpt-cli.ckpt.d"))
        .into_iter()
        .flatten()
        .flatten()
        .any(is_one)
    {
        assert!(Instant::now() < end, "no checkpoint appears");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_killed_run_is_restarted_as_it_was_started() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    run(
        here.path(),
        &["--every", "5", "--keep", "3"],
        &[("CKPT_FAULT", "visit:23")],
        &["12"],
    )
    .code(137)
    .stderr(
        contains("was killed by SIGKILL")
            .and(contains("is 000004"))
            .and(contains("cargo ckpt restart")),
    );
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("was killed").and(contains("000002")));
    cargo_ckpt(here.path(), &["restart"]).success().stderr(
        contains("from the latest checkpoint: --example resumable --every 5 --keep 3 -- 12")
            .and(contains("restarts from checkpoint 000004 (site visit 20)")),
    );
    assert_eq!(answer(here.path()), answer(plain.path()));
    cargo_ckpt(here.path(), &["restart"])
        .code(76)
        .stderr(contains("nothing is left to do"));
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("completed").and(contains("36 site visits")));
}

#[test]
fn a_dying_program_is_kept_running() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    // The fault strikes at visit 23 only: the second process resumes at visit 20 and dies there again.
    let fault = [("CKPT_FAULT", "visit:23")];
    run(
        here.path(),
        &["--every", "5", "--restarts", "5", "--backoff", "0s"],
        &fault,
        &["12"],
    )
    .code(137)
    .stderr(
        contains("restart 1 of 5 from checkpoint 000004").and(contains("died twice after checkpoint 000004")),
    );
    // With a checkpoint at the very visit, it is past the fault.
    let fault = [("CKPT_FAULT", "visit:25")];
    run(
        here.path(),
        &["--every", "5", "--restarts", "5", "--backoff", "0s"],
        &fault,
        &["12"],
    )
    .success();
    assert_eq!(answer(here.path()), answer(plain.path()));
}

#[test]
fn a_run_asked_to_stop_takes_a_checkpoint_and_says_requeue() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["30"]).success();
    let mut child = start(here.path(), &["--every", "10", "--restarts", "3"], &["30", "20"]);
    wait_for_a_checkpoint(here.path());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    assert_eq!(
        child.wait().unwrap().code(),
        Some(75),
        "the signal reaches the program, its code comes back"
    );
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("stopped").and(contains("SIGTERM")));
    cargo_ckpt(here.path(), &["restart"]).success();
    assert_eq!(answer(here.path()), answer(plain.path()));
}

#[test]
fn a_restart_does_not_take_the_checkpoints_of_an_earlier_run() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    run(
        here.path(),
        &["--every", "5"],
        &[("CKPT_FAULT", "visit:23")],
        &["11"],
    )
    .code(137);
    // A new run with another argument dies before its first checkpoint: it starts over, it does not continue that one.
    let fault = [("CKPT_FAULT", "visit:3")];
    run(
        here.path(),
        &["--every", "5", "--restarts", "1", "--backoff", "0s"],
        &fault,
        &["12"],
    )
    .code(137)
    .stderr(contains("restart 1 of 1 from the start"));
}

#[test]
fn a_restart_takes_the_arguments_of_the_run_that_wrote_the_checkpoint() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    run(
        here.path(),
        &["--every", "5"],
        &[("CKPT_FAULT", "visit:23")],
        &["12"],
    )
    .code(137);
    run(
        here.path(),
        &["--every", "5"],
        &[("CKPT_FAULT", "visit:2")],
        &["99"],
    )
    .code(137);
    cargo_ckpt(here.path(), &["restart"])
        .success()
        .stderr(contains("-- 12\n"));
    assert_eq!(answer(here.path()), answer(plain.path()));
}

#[test]
fn the_crash_test_passes_on_the_real_thing() {
    let here = tempfile::tempdir().unwrap();
    let arguments = [
        &[
            "crashtest",
            "--sites",
            "4",
            "--random",
            "2",
            "--commits",
            "3",
            "--rows",
            "1",
        ][..],
        &PROGRAM,
        &["--", "8"],
    ]
    .concat();
    cargo_ckpt(here.path(), &arguments)
        .success()
        .stdout(contains("PASSED").and(contains("compared: cells.txt")));
    assert_eq!(fs::read_dir(here.path()).unwrap().count(), 0);
}
