//! Real programs, really killed: `run`, `restart` and `crashtest` from the build to the answer.

#[path = "../../tests/harness/src/held.rs"]
mod held;
mod noted;
mod schema;
mod width;

use std::fs;
use std::path::{Path, PathBuf};
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

/// Starts a run that stays where it is when it has printed some lines, until they are read.
fn start_and_hold(folder: &Path, options: &[&str], arguments: &[&str]) -> Child {
    let all = [&["run"][..], &PROGRAM, options, &["--"], arguments].concat();
    let child = command(folder, &all)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    held::hold_when_it_has_printed(child.stdout.as_ref().unwrap());
    child
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
    let end = Instant::now() + Duration::from_secs(500);
    while has_a_checkpoint(folder).is_none() {
        assert!(Instant::now() < end, "no checkpoint appears");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Asks again and again, as long as the command runs, which is ended when nothing comes of it.
fn wait_until<T>(child: &mut Child, ask: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(500);
    loop {
        if Instant::now() > end {
            child.kill().unwrap();
        }
        if let Some(answer) = ask() {
            return answer;
        }
        let ended = child.try_wait().unwrap();
        assert!(ended.is_none(), "it has ended before: {ended:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Presses Ctrl-C again and again, as somebody does who does not want to wait. What comes at once is one press.
fn press_until_it_ends(child: &mut Child) {
    while child.try_wait().unwrap().is_none() {
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
        std::thread::sleep(Duration::from_millis(150));
    }
}

/// The store holds a checkpoint.
fn has_a_checkpoint(folder: &Path) -> Option<()> {
    let is_one = |entry: fs::DirEntry| entry.file_name().to_string_lossy().ends_with(".h5");
    let mut entries = fs::read_dir(folder.join("ckpt-cli.ckpt.d"))
        .into_iter()
        .flatten()
        .flatten();
    entries.any(is_one).then_some(())
}

/// The process of the example that a command has started.
fn program_of(command: u32) -> Option<i32> {
    let threads = fs::read_dir(format!("/proc/{command}/task")).ok()?.flatten();
    let children = threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let children: String = children.collect();
    let is_it =
        |pid: &i32| fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe.ends_with(PROGRAM[5]));
    children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
        .find(is_it)
}

/// The process is asleep until a time that it has chosen.
fn rests(process: i32) -> bool {
    fs::read_to_string(format!("/proc/{process}/wchan"))
        .is_ok_and(|asleep_in| asleep_in.contains("nanosleep"))
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
    cargo_ckpt(here.path(), &["restart", "-n", "2"])
        .code(77)
        .stderr(contains("E3189").and(contains("`-n 2`")));
    cargo_ckpt(here.path(), &["restart"]).success().stderr(
        contains("from the latest checkpoint of run ")
            .and(contains(": --example resumable --every 5 --keep 3 -- 12"))
            .and(contains("restarts from checkpoint 000004 (site visit 20)")),
    );
    assert_eq!(answer(here.path()), answer(plain.path()));
    cargo_ckpt(here.path(), &["restart"])
        .code(76)
        .stderr(contains("nothing is left to do"));
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("completed").and(contains("36 site visits")));
    for command in ["list", "report"] {
        let printed = cargo_ckpt(here.path(), &[command, "--format", "json"]).success();
        let document = serde_json::from_slice(&printed.get_output().stdout).unwrap();
        schema::check(command, &document);
    }
}

#[test]
fn a_restart_from_an_older_checkpoint_that_is_killed_says_that_there_are_some() {
    let here = tempfile::tempdir().unwrap();
    let fault = [("CKPT_FAULT", "visit:23")];
    run(here.path(), &["--every", "5", "--keep", "3"], &fault, &["12"]).code(137);
    let mut restart = command(here.path(), &["restart", "3"]);
    restart.env("CKPT_FAULT", "visit:17");
    Command::from_std(restart).assert().code(137).stderr(
        contains("was killed by SIGKILL before its next checkpoint; `cargo ckpt list` shows")
            .and(contains("there is no checkpoint").not()),
    );
    cargo_ckpt(here.path(), &["restart"]).success();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

#[test]
fn a_restart_from_a_copy_of_the_store_builds_the_program_as_well() {
    let here = tempfile::tempdir().unwrap();
    let folder = here.path().join("here");
    fs::create_dir(&folder).unwrap();
    run(
        &folder,
        &["--every", "5", "--keep", "3"],
        &[("CKPT_FAULT", "visit:23")],
        &["12"],
    )
    .code(137);
    let put_back = |from: &Path, to: &Path| {
        let _ = fs::remove_dir_all(to);
        copy(from, to);
    };
    let aside = here.path().join("aside");
    put_back(&folder, &aside);
    cargo_ckpt(&folder, &["restart", "--keep", "4"]).success();
    put_back(&aside, &folder);
    cargo_ckpt(&folder, &["restart"])
        .success()
        .stderr(contains(": --example resumable --every 5 --keep 3 -- 12"));
    // What nobody has said here is not built, and that is not done in silence.
    put_back(&aside, &folder);
    let launch = fs::read_dir(folder.join("ckpt-cli.ckpt.d/runs"))
        .unwrap()
        .map(|run| run.unwrap().path().join("launch.json"))
        .find(|path| path.exists())
        .unwrap();
    let said = fs::read_to_string(&launch).unwrap();
    fs::write(&launch, said.replace("\"resumable\"", "\"another\"")).unwrap();
    cargo_ckpt(&folder, &["restart"])
        .success()
        .stderr(contains("warning[W3043]").and(contains(" --example another --manifest-path ")));
    cargo_ckpt(&folder, &["restart", "--map", "/a=/b", "--map", "/a=/c"])
        .code(2)
        .stderr(contains("E3159"));
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
fn what_was_read_of_a_pipe_is_gone_when_a_program_is_started_again() {
    let here = tempfile::tempdir().unwrap();
    let options = ["--every", "5", "--restarts", "1", "--backoff", "0s"];
    let all = [&["run"][..], &PROGRAM, &options, &["--", "12"]].concat();
    let mut command = command(here.path(), &all);
    command.env("CKPT_FAULT", "visit:25");
    let ended = Command::from_std(command).write_stdin("read and gone").assert();
    noted(ended.success().stderr(contains("W3052")));
}

#[test]
fn a_run_asked_to_stop_takes_a_checkpoint_and_says_requeue() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["400"]).success();
    let mut child = start_and_hold(here.path(), &["--every", "10", "--restarts", "3"], &["400"]);
    wait_until(&mut child, || has_a_checkpoint(here.path()));
    let command = child.id();
    let program = wait_until(&mut child, || program_of(command));
    // It goes on with a signal that has come, and not while the command is about to pass it on.
    kill(Pid::from_raw(program), Signal::SIGSTOP).unwrap();
    wait_until(&mut child, || held::is_stopped(program as u32).then_some(()));
    kill(Pid::from_raw(command as i32), Signal::SIGTERM).unwrap();
    wait_until(&mut child, || {
        held::is_pending(program as u32, Signal::SIGTERM as i32).then_some(())
    });
    kill(Pid::from_raw(program), Signal::SIGCONT).unwrap();
    assert_eq!(
        child.wait_with_output().unwrap().status.code(),
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
fn ctrl_c_takes_a_checkpoint_and_ends_with_130() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["30"]).success();
    let child = start(here.path(), &["--every", "10", "--restarts", "3"], &["30", "20"]);
    wait_for_a_checkpoint(here.path());
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let ended = child.wait_with_output().unwrap();
    noted::compare(&ended.stderr);
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(130), "{said}");
    for told in [
        "press Ctrl-C again to end at once",
        "SIGINT: checkpoint",
        "is written",
    ] {
        assert!(said.contains(told), "{told}: {said}");
    }
    assert!(
        !said.contains("newest checkpoint"),
        "it says itself how to go on: {said}"
    );
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("stopped").and(contains("SIGINT")));
    cargo_ckpt(here.path(), &["restart"]).success();
    assert_eq!(answer(here.path()), answer(plain.path()));
}

/// A launcher of one process: a script.
fn launcher(folder: &Path, text: &str) -> String {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("launcher");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    format!("{} {{cmd}}", path.display())
}

#[test]
fn a_launcher_that_keeps_a_request_to_stop_to_itself_is_noticed() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["30"]).success();
    // It catches the signal, and ends with a code of its own.
    let deaf = launcher(here.path(), "trap : USR1 INT TERM\n\"$@\"\nexit 1");
    for (signal, code) in [(Signal::SIGTERM, 75), (Signal::SIGINT, 130)] {
        let options = ["-n", "1", "--launcher", &deaf, "--every", "10"];
        let child = start(here.path(), &options, &["100000", "20"]);
        wait_for_a_checkpoint(here.path());
        kill(Pid::from_raw(child.id() as i32), signal).unwrap();
        let ended = child.wait_with_output().unwrap();
        noted::compare(&ended.stderr);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(code), "{said}");
        assert!(
            said.contains("warning[W3040]: `") && said.contains("/launcher` has not passed"),
            "{said}"
        );
        assert!(said.contains("SIGUSR1: checkpoint"), "{said}");
        fs::remove_dir_all(here.path().join("ckpt-cli.ckpt.d")).unwrap();
    }
}

#[test]
fn the_second_ctrl_c_ends_ranks_at_once() {
    let here = tempfile::tempdir().unwrap();
    let deaf = launcher(here.path(), "trap : USR1 INT TERM\n\"$@\"\nexit 1");
    let options = ["-n", "1", "--launcher", &deaf, "--every", "10"];
    let mut child = start(here.path(), &options, &["100000", "20"]);
    wait_for_a_checkpoint(here.path());
    press_until_it_ends(&mut child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(
        ended.status.code(),
        Some(130),
        "{}",
        String::from_utf8_lossy(&ended.stderr)
    );
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("was killed"));
}

#[test]
fn ranks_elsewhere_that_do_not_confirm_a_request_to_stop_are_told_of() {
    use std::io::{BufRead, BufReader};
    let here = tempfile::tempdir().unwrap();
    // Ranks on another machine, for all that can be seen here: one listens, and hears nothing.
    let text =
        "trap '' USR1\nmkdir -p ckpt-cli.ckpt.d\necho '1 elsewhere' >ckpt-cli.ckpt.d/stop.r0\nexec cat pipe";
    let elsewhere = launcher(here.path(), text);
    nix::unistd::mkfifo(&here.path().join("pipe"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let mut child = start(here.path(), &["-n", "1", "--launcher", &elsewhere], &["1"]);
    let listens = here.path().join("ckpt-cli.ckpt.d/stop.r0");
    let end = Instant::now() + Duration::from_secs(300);
    while !listens.exists() {
        assert!(Instant::now() < end, "the launcher does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    while !said.contains("Until then the program goes on") {
        assert_ne!(stderr.read_line(&mut said).unwrap(), 0, "{said}");
    }
    noted::compare(said.as_bytes());
    assert!(said.contains("warning[W3041]: no rank has confirmed"), "{said}");
    // It ends when nobody writes to the pipe any more.
    drop(
        fs::File::options()
            .write(true)
            .open(here.path().join("pipe"))
            .unwrap(),
    );
    assert_eq!(child.wait().unwrap().code(), Some(0));
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

/// The beginning of the identities of the runs of the store, in the order in which they began.
fn runs(folder: &Path) -> Vec<String> {
    let all = ckpt::session::runs::records(&folder.join("ckpt-cli.ckpt.d")).unwrap();
    all.iter().map(|record| record.run.short()).collect()
}

#[test]
fn a_restart_continues_one_run_and_not_what_another_has_left() {
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
    .code(137)
    .stderr(contains("which has not completed").and(contains("cargo ckpt prune --run")));
    let runs = runs(here.path());
    // The newest run has nothing to continue from, and the other one is not it.
    cargo_ckpt(here.path(), &["restart"]).code(76).stderr(
        contains(format!("E3155]: run {}", runs[1]))
            .and(contains(format!("cargo ckpt restart --run {}", runs[0]))),
    );
    let other = ["restart", "--run", &runs[0], "--", "99"];
    cargo_ckpt(here.path(), &other)
        .code(77)
        .stderr(contains("E3156").and(contains("12")).and(contains("99")));
    cargo_ckpt(here.path(), &["restart", "--run", &runs[0]])
        .success()
        .stderr(contains("-- 12\n"));
    assert_eq!(answer(here.path()), answer(plain.path()));
    cargo_ckpt(here.path(), &["list"]).success().stdout(
        contains("2 runs")
            .and(contains(format!("{}: ckpt-cli", runs[0])))
            .and(contains("completed")),
    );
    cargo_ckpt(here.path(), &["restart", "--run", "xyz"]).code(2);
    // It names both runs, by what is another each time.
    let unknown = format!("{}{}", runs[0], runs[0]);
    Command::from_std(command(here.path(), &["restart", "--run", &unknown]))
        .assert()
        .code(76)
        .stderr(contains("E3150"));
    cargo_ckpt(here.path(), &["restart", "7", "--run", &runs[1]])
        .code(77)
        .stderr(contains("E3152"));
    // A run that is removed leaves nothing, and a completed one is found by that.
    cargo_ckpt(here.path(), &["prune", "--run", &runs[1]])
        .success()
        .stdout(contains(format!("removed 1 run ({})", runs[1])));
    cargo_ckpt(here.path(), &["prune", "--completed"])
        .success()
        .stdout(contains(format!("1 run ({})", runs[0])).and(contains("; 0 left")));
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("holds no checkpoint yet"));
}

#[test]
fn a_batch_script_starts_and_continues_with_one_command() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    let resume = |fault: &str, arguments: &[&str]| {
        let variables = [("CKPT_FAULT", fault)];
        run(here.path(), &["--every", "5", "--resume"], &variables, arguments)
    };
    // Killed before its first checkpoint, it is not stranded: there is nothing to continue, and it starts again.
    resume("visit:3", &["12"]).code(137);
    resume("visit:7", &["12"]).code(137);
    // Of another command line nothing is continued.
    resume("visit:6", &["7"])
        .code(137)
        .stderr(contains("starts from the beginning"));
    let [_, second, _] = &runs(here.path())[..] else {
        panic!("three runs have begun");
    };
    resume("visit:99", &["12"]).success().stderr(contains(format!(
        "restarts from checkpoint 000001 (site visit 5) of run {second}"
    )));
    assert_eq!(answer(here.path()), answer(plain.path()));
    // It has completed: the next one begins.
    resume("visit:3", &["12"]).code(137);
    assert_eq!(runs(here.path()).len(), 4);
    // `--fresh` starts one whatever the variables say.
    let asked = [("CKPT_RESTART", "latest"), ("CKPT_FAULT", "visit:3")];
    run(here.path(), &["--every", "5", "--fresh"], &asked, &["7"])
        .code(137)
        .stderr(contains("starts from the beginning"));
    assert_eq!(runs(here.path()).len(), 5);
}

/// From now on no checkpoint can be written to a store: folders are in the way of their files.
fn jam(store: &Path) {
    for number in 1..40 {
        fs::create_dir_all(store.join(format!(".{number:06}.r0.h5.tmp"))).unwrap();
    }
}

#[test]
fn checkpoints_in_the_fallback_are_found_by_all_commands() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    let store = here.path().join("ckpt-cli.ckpt.d");
    jam(&store);
    let options = ["--every", "2", "--fallback", "more.ckpt.d"];
    let variables = [("CKPT_FAULT", "visit:23"), ("CKPT_BACKGROUND", "0")];
    run(here.path(), &options, &variables, &["12"]).code(137).stderr(
        contains("warning[W2097]").and(contains("/more.ckpt.d is 000009: `cargo ckpt restart` continues")),
    );
    cargo_ckpt(here.path(), &["list"]).success().stdout(
        contains("was killed (pid ")
            .and(contains("In the fallback `"))
            .and(contains("/more.ckpt.d`: 000008, 000009")),
    );
    let printed = cargo_ckpt(here.path(), &["list", "--format", "json"]).success();
    let document: serde_json::Value = serde_json::from_slice(&printed.get_output().stdout).unwrap();
    schema::check("list", &document);
    let path = document["checkpoints"][0]["path"].as_str().unwrap();
    assert!(path.ends_with("more.ckpt.d/000008.r0.h5"), "{path}");
    for arguments in [
        &["inspect", "latest"][..],
        &["verify", "all"],
        &["verify", "000008"],
        &["report"],
        &["diff", "8", "9"],
        &["export", "latest", "cells", "--to", "out.npz"],
        &["pack", "all"],
        &["prune", "--keep", "1", "--dry-run"],
    ] {
        let code = i32::from(arguments[0] == "diff");
        cargo_ckpt(here.path(), arguments).code(code);
    }
    let fallback = here.path().join("more.ckpt.d");
    // A pack needs none.
    let unpacked = here.path().join("unpacked");
    fs::create_dir(&unpacked).unwrap();
    let pack = fs::read_dir(here.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let pack = { pack }.find(|path| path.extension().is_some_and(|kind| kind == "tar"));
    cargo_ckpt(&unpacked, &["unpack", pack.unwrap().to_str().unwrap()]).success();
    cargo_ckpt(&unpacked, &["list"])
        .success()
        .stdout(contains("000009").and(contains("fallback").not()));
    cargo_ckpt(here.path(), &["prune", "--keep", "1"])
        .success()
        .stdout(contains("removed 1 checkpoint (000008)"));
    assert!(!fallback.join("000008.r0.h5").exists());
    // Where it is not there, nobody says that there is nothing to continue.
    let away = here.path().join("away");
    fs::rename(&fallback, &away).unwrap();
    let resume = ["--every", "2", "--resume"];
    run(here.path(), &resume, &[], &["12"])
        .code(76)
        .stderr(contains("E3203").and(contains("it is not there")));
    cargo_ckpt(here.path(), &["restart"])
        .code(76)
        .stderr(contains("the fallback of the store").and(contains("mount its disk")));
    cargo_ckpt(here.path(), &["list"])
        .success()
        .stdout(contains("not looked at: the fallback `"));
    fs::rename(&away, &fallback).unwrap();
    // Another program does not get it.
    let other = tempfile::tempdir().unwrap();
    let named = fallback.to_str().unwrap();
    run(other.path(), &["--fallback", named], &[], &["12"])
        .code(78)
        .stderr(contains("E2212").and(contains("it holds checkpoints of the store `")));
    run(here.path(), &resume, &[("CKPT_FAULT", "visit:30")], &["12"])
        .code(137)
        .stderr(contains("restarts from checkpoint 000009 (site visit 22)"));
    cargo_ckpt(here.path(), &["restart"]).success();
    assert_eq!(answer(here.path()), answer(plain.path()));
}

#[test]
fn what_another_run_does_is_not_the_end_of_an_interrupted_one() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    let fault = [("CKPT_FAULT", "visit:23")];
    run(here.path(), &["--every", "5"], &fault, &["12"]).code(137);
    // As `-- --help` does: it ends well, without a checkpoint.
    run(here.path(), &["--every", "500"], &[], &["0"]).success();
    cargo_ckpt(here.path(), &["restart"]).success();
    assert_eq!(answer(here.path()), answer(plain.path()));
}

/// The commands that `diff` suggests, and the visit at which it says that the runs part.
fn suggested(folder: &Path, stores: &[String]) -> (Vec<String>, u64) {
    let words: Vec<&str> = stores.iter().map(String::as_str).collect();
    let told = cargo_ckpt(folder, &[&["diff"][..], &words].concat()).code(1);
    let told = String::from_utf8_lossy(&told.get_output().stdout).into_owned();
    assert!(told.contains("only a has: 8\n  only b has: 9\n"), "{told}");
    let parts = told.split("The runs part at visit ").nth(1).expect(&told);
    let visit = parts.split(':').next().unwrap().parse().expect(&told);
    let joined = told.replace("\\\n", "");
    let commands = joined
        .lines()
        .filter(|line| line.starts_with("  cargo ckpt ") || line.starts_with("  (cd "));
    (commands.map(str::to_owned).collect(), visit)
}

#[test]
fn the_commands_that_diff_suggests_bring_the_parting_closer() {
    let here = tempfile::tempdir().unwrap();
    let keep = ["--every", "12", "--keep", "all", "--dir"];
    for (store, sweeps) in [("a.ckpt.d", "8"), ("b.ckpt.d", "9")] {
        run(here.path(), &[&keep[..], &[store]].concat(), &[], &[sweeps]).success();
    }
    let old = || fs::read_dir(here.path().join("a.ckpt.d")).unwrap().count();
    let before = old();
    let mut stores = ["a.ckpt.d", "b.ckpt.d"].map(str::to_owned).to_vec();
    let (mut commands, mut visit) = suggested(here.path(), &stores);
    while !commands.is_empty() {
        let [a, b, next] = &commands[..] else {
            panic!("{commands:?}")
        };
        for run in [a, b] {
            let words = shlex::split(run).unwrap();
            let words: Vec<&str> = words.iter().skip(2).map(String::as_str).collect();
            cargo_ckpt(here.path(), &words).success();
        }
        stores = shlex::split(next).unwrap().split_off(3);
        let (again, closer) = suggested(here.path(), &stores);
        assert!(closer < visit, "{closer} is no closer than {visit}");
        (commands, visit) = (again, closer);
    }
    assert_eq!(visit, 1);
    assert_eq!(old(), before, "the compared checkpoints are still there");
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

/// What ends past ckpt cannot say in the store that it ended; the command has seen it.
#[test]
fn a_process_that_ends_as_another_program_was_not_killed() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    let told: Vec<&str> = { PROGRAM }
        .into_iter()
        .filter(|word| *word != "--quiet")
        .collect();
    let ends = [&["run"][..], &told, &["--every", "5", "--", "12", "0", "exit 0"]].concat();
    cargo_ckpt(here.path(), &ends)
        .success()
        .stderr(contains("warning[W3044]").and(contains("is not called completed")));
    let run_of = || runs(here.path())[0][..8].to_owned();
    let by_name = format!("`cargo ckpt restart --run {}` continues it", run_of());
    cargo_ckpt(here.path(), &["list"]).success().stdout(
        contains("without closing its session (exit code 0, ")
            .and(contains(by_name))
            .and(contains("was killed").not()),
    );
    // Its end is not executed again unasked.
    let latest = [("CKPT_RESTART", "latest")];
    run(here.path(), &["--every", "5"], &latest, &["12", "0", "exit 0"])
        .failure()
        .stderr(contains("E2188"));
    fs::remove_file(here.path().join("cells.txt")).unwrap();
    cargo_ckpt(here.path(), &["restart"])
        .code(76)
        .stderr(contains("E3160").and(contains("whether anything is left to do is not known")));
    assert!(!here.path().join("cells.txt").exists());
    cargo_ckpt(here.path(), &["restart", "--run", &run_of()]).success();
    assert_eq!(answer(here.path()), answer(plain.path()));
    let resumes = [
        &["run"][..],
        &told,
        &["--every", "5", "--resume", "--", "12", "0", "exit 0"],
    ]
    .concat();
    cargo_ckpt(here.path(), &resumes).success().stderr(
        contains("starts from the beginning")
            .and(contains("ended with exit code 0 without closing its session")),
    );
    // Nor has one completed that failed so.
    let other = tempfile::tempdir().unwrap();
    run(other.path(), &["--every", "5"], &[], &["12", "0", "exit 3"])
        .code(3)
        .stderr(contains("W3044").not());
    cargo_ckpt(other.path(), &["list"])
        .success()
        .stdout(contains("failed at").and(contains("exit code 3, by `_exit`")));
    cargo_ckpt(other.path(), &["restart"]).code(3);
}

/// Without a site on the way the first Ctrl-C waits for ever.
#[test]
fn the_second_ctrl_c_ends_a_program_at_once() {
    use std::io::{BufRead, BufReader};
    let here = tempfile::tempdir().unwrap();
    let mut child = start(here.path(), &["--every", "1000"], &["30", "600000"]);
    let mut said = BufReader::new(child.stderr.take().unwrap());
    wait_until(&mut child, || (!runs(here.path()).is_empty()).then_some(()));
    let command = child.id();
    let program = wait_until(&mut child, || program_of(command));
    // It has passed its site: one that comes upon it now would take a checkpoint.
    wait_until(&mut child, || rests(program).then_some(()));
    kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
    let mut line = String::new();
    while !line.contains("press Ctrl-C again to end at once") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it has ended");
    }
    press_until_it_ends(&mut child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(has_a_checkpoint(here.path()), None);
    cargo_ckpt(here.path(), &["list"]).stdout(contains("was killed"));
}

/// Runs the example that adds lines to a file.
fn append(folder: &Path, options: &[&str], fault: &str) -> assert_cmd::assert::Assert {
    append_to(folder, options, fault, "lines.txt")
}

fn append_to(folder: &Path, options: &[&str], fault: &str, file: &str) -> assert_cmd::assert::Assert {
    // Not quietly: what becomes of earlier runs is told.
    let program = [&PROGRAM[..1], &PROGRAM[2..5], &["appending"]].concat();
    let all = [&["run"][..], &program, options, &["--", "12", file]].concat();
    let mut command = command(folder, &all);
    command.env("CKPT_FAULT", fault);
    noted(Command::from_std(command).assert())
}

fn lines(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("lines.txt")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn all_lines() -> Vec<String> {
    (0..12).map(|line| format!("line {line}")).collect()
}

/// As a batch script does it, and a program that dies before its first checkpoint.
#[test]
fn a_start_that_is_made_again_finds_the_files_of_the_first() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("lines.txt"), "from before\n").unwrap();
    append(here.path(), &["--resume", "--every", "100"], "visit:5").code(137);
    assert_eq!(lines(here.path()).len(), 5);
    append(here.path(), &["--resume", "--every", "100"], "visit:8")
        .code(137)
        .stderr(contains("is undone: it has no checkpoint to go on from"));
    append(here.path(), &["--every", "100", "--resume"], "")
        .success()
        .stderr(contains("is undone"));
    let expected = [vec!["from before".to_owned()], all_lines()].concat();
    assert_eq!(lines(here.path()), expected);
    // One that has completed is none that died; and a run that is started without `--resume` goes on with what is there.
    append(here.path(), &["--resume"], "").success();
    assert_eq!(lines(here.path()).len(), 25);
    append(here.path(), &["--every", "100"], "visit:3").code(137);
    append(here.path(), &[], "").success();
    assert_eq!(lines(here.path()).len(), 25 + 2 + 12);
}

/// Nothing but the run's own traces is taken away.
#[test]
fn what_somebody_has_written_since_the_run_died_is_not_undone() {
    let here = tempfile::tempdir().unwrap();
    fs::write(here.path().join("lines.txt"), "from before\n").unwrap();
    append(here.path(), &["--resume", "--every", "100"], "visit:5").code(137);
    let path = here.path().join("lines.txt");
    fs::write(&path, "what somebody has written\n").unwrap();
    let later = std::time::SystemTime::now() + Duration::from_secs(1);
    fs::File::options()
        .write(true)
        .open(&path)
        .unwrap()
        .set_modified(later)
        .unwrap();
    append(here.path(), &["--resume", "--every", "100"], "")
        .code(77)
        .stderr(contains("E3201").and(contains("`lines.txt` was written at")));
    assert_eq!(lines(here.path()), ["what somebody has written"]);
    append(here.path(), &["--fresh"], "").success();
    assert_eq!(lines(here.path()).len(), 1 + 12);
}

/// One that is put back has the time that it had before.
#[test]
fn an_older_file_that_was_put_back_since_the_run_died_is_not_undone() {
    const OLD: &str = "somebody's older file, put back\n";
    type Way = (&'static str, fn(&Path, &Path));
    let keeping_time = |from: &Path, to: &Path| {
        fs::write(to, fs::read(from).unwrap()).unwrap();
        let time = fs::metadata(from).unwrap().modified().unwrap();
        let to = fs::File::options().write(true).open(to).unwrap();
        to.set_modified(time).unwrap();
    };
    let ways: [Way; 3] = [
        ("is another file", |from, to| fs::rename(from, to).unwrap()),
        // As `cp -p` does it.
        ("has changed since the run had died", keeping_time),
        // As `tar x` does it.
        ("is another file", |from, to| {
            fs::rename(to, to.with_extension("other")).unwrap();
            fs::copy(from, to).unwrap();
            let time = fs::metadata(from).unwrap().modified().unwrap();
            let to = fs::File::options().write(true).open(to).unwrap();
            to.set_modified(time).unwrap();
        }),
    ];
    for (told, put_back) in ways {
        let here = tempfile::tempdir().unwrap();
        let (path, older) = (here.path().join("lines.txt"), here.path().join("older.txt"));
        fs::write(&older, OLD).unwrap();
        let time = std::time::SystemTime::now() - Duration::from_secs(3600);
        let file = fs::File::options().write(true).open(&older).unwrap();
        file.set_modified(time).unwrap();
        append(here.path(), &["--resume", "--every", "100"], "visit:5").code(137);
        put_back(&older, &path);
        append(here.path(), &["--resume", "--every", "100"], "")
            .code(77)
            .stderr(contains("E3201").and(contains(told)));
        assert_eq!(fs::read_to_string(&path).unwrap(), OLD);
    }
}

/// What changes no file is no reason to give a start up.
#[test]
fn a_folder_that_was_copied_since_the_run_died_is_undone_there() {
    let sh = |folder: &Path, text: &str| {
        let done = std::process::Command::new("sh")
            .args(["-c", text])
            .current_dir(folder)
            .status();
        assert!(done.unwrap().success(), "{text}");
    };
    for way in [
        "cp -a work other && rm -r work",
        "tar cf work.tar work && mkdir there && tar xf work.tar -C there && mv there/work other && rm -r work",
        "mv work other",
        "chmod 600 work/lines.txt && mv work other",
        "chmod 600 work/lines.txt && ln work/lines.txt work/link && mv work other",
    ] {
        let here = tempfile::tempdir().unwrap();
        let (work, other) = (here.path().join("work"), here.path().join("other"));
        fs::create_dir(&work).unwrap();
        fs::write(work.join("lines.txt"), "from before\n").unwrap();
        append(&work, &["--resume", "--every", "100"], "visit:5").code(137);
        sh(here.path(), way);
        append(&other, &["--resume", "--every", "100"], "")
            .success()
            .stderr(contains("is undone"));
        let expected = [vec!["from before".to_owned()], all_lines()].concat();
        assert_eq!(lines(&other), expected, "{way}");
    }
}

/// Of a file elsewhere that this machine knows nothing of, and one that is elsewhere now.
#[test]
fn a_start_that_is_made_again_is_told_where_files_are() {
    let here = tempfile::tempdir().unwrap();
    let path = |name: &str| here.path().join(name);
    for folder in ["work", "one"] {
        fs::create_dir(path(folder)).unwrap();
    }
    let start = |options: &[&str], file: &str, fault: &str, state: &str| {
        let program = [&PROGRAM[..1], &PROGRAM[2..5], &["appending"]].concat();
        let file = path(file).display().to_string();
        let all = [
            &["run"][..],
            &program,
            &["--resume", "--every", "100"],
            options,
            &["--", "12", &file],
        ]
        .concat();
        let mut command = command(&path("work"), &all);
        command
            .env("CKPT_FAULT", fault)
            .env("XDG_STATE_HOME", path(state));
        noted(Command::from_std(command).assert())
    };
    let map = |old: &str, new: &str| format!("{}={}", path(old).display(), path(new).display());
    start(&[], "one/lines.txt", "visit:5", "state").code(137);
    let same = map("one", "one");
    start(&[], "one/lines.txt", "", "other")
        .code(77)
        .stderr(contains("E3201").and(contains(format!("say `--resume` with `--map {same}`"))));
    start(&["--map", &same], "one/lines.txt", "visit:5", "other")
        .code(137)
        .stderr(contains("is undone"));
    fs::rename(path("one"), path("two")).unwrap();
    start(&["--map", &map("one", "two")], "two/lines.txt", "", "other")
        .success()
        .stderr(contains("is undone"));
    assert_eq!(lines(&path("two")), all_lines());
    cargo_ckpt(&path("work"), &["run", "--map", &same]).code(2);
}

/// What a completed run has made is no less somebody's result when its checkpoints are removed.
#[test]
fn the_record_of_a_completed_run_stays_as_long_as_another_waits() {
    let here = tempfile::tempdir().unwrap();
    append(here.path(), &["--every", "3"], "visit:8").code(137);
    append(here.path(), &["--every", "3"], "").success();
    let result = lines(here.path());
    let refused = || {
        cargo_ckpt(here.path(), &["restart"])
            .code(77)
            .stderr(contains("which has completed"));
        assert_eq!(lines(here.path()), result);
    };
    refused();
    let (waits, completed) = (&runs(here.path())[0], &runs(here.path())[1]);
    for prune in [&["prune", "--completed"][..], &["prune", "--run", completed]] {
        cargo_ckpt(here.path(), prune).success().stdout(contains(format!(
            "the record of {completed} stays: it has completed, and {waits} must not undo what it has made"
        )));
        refused();
    }
    cargo_ckpt(here.path(), &["prune", "--run", waits]).success();
    cargo_ckpt(here.path(), &["prune", "--completed"])
        .success()
        .stdout(contains(format!("removed 1 run ({completed})")));
}

/// That a checkpoint is damaged is known when it has been read: an older run is continued then.
#[test]
fn a_run_of_which_all_checkpoints_are_damaged_is_passed_over() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["12"]).success();
    let fault = [("CKPT_FAULT", "visit:23")];
    let checkpoints = || -> Vec<PathBuf> {
        let files = fs::read_dir(here.path().join("ckpt-cli.ckpt.d"))
            .unwrap()
            .flatten();
        let paths = files.map(|file| file.path());
        paths
            .filter(|path| path.extension().is_some_and(|kind| kind == "h5"))
            .collect()
    };
    run(here.path(), &["--every", "5"], &fault, &["12"]).code(137);
    let of_first = checkpoints();
    run(here.path(), &["--every", "5"], &fault, &["12"]).code(137);
    let runs = runs(here.path());
    let of_second = checkpoints().into_iter().filter(|path| !of_first.contains(path));
    for path in of_second {
        let mut bytes = fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle..middle + 64]
            .iter_mut()
            .for_each(|byte| *byte ^= 0x55);
        fs::write(&path, bytes).unwrap();
    }
    run(here.path(), &["--every", "5", "--resume"], &[], &["12"])
        .success()
        .stderr(
            contains(format!("there is no checkpoint of run {}", runs[1])).and(contains(format!(
                "restarts from checkpoint 000004 (site visit 20) of run {}",
                runs[0]
            ))),
        );
    assert_eq!(answer(here.path()), answer(plain.path()));
}

/// What is started next is what went on with the run last, and not what was refused.
#[test]
fn a_restart_that_is_refused_does_not_say_what_the_next_one_starts() {
    let (here, there) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    append(here.path(), &["--every", "3"], "visit:8").code(137);
    let store = here.path().join("ckpt-cli.ckpt.d");
    let dir = store.to_str().unwrap();
    let built = Path::new(env!("CARGO_BIN_EXE_cargo-ckpt")).with_file_name("examples");
    let other = there.path().join("appending");
    fs::copy(built.join("appending"), &other).unwrap();
    let of_run = fs::read_dir(store.join("runs")).unwrap().next().unwrap();
    let said = || fs::read_to_string(of_run.as_ref().unwrap().path().join("launch.json")).unwrap();
    let before = said();
    let exe = other.to_str().unwrap();
    cargo_ckpt(there.path(), &["restart", "--dir", dir, "--exe", exe])
        .code(77)
        .stderr(contains("E2187"));
    assert_eq!(said(), before);
    cargo_ckpt(here.path(), &["list"]).stdout(contains(" (appending)"));
    cargo_ckpt(here.path(), &["restart"]).success();
    assert_eq!(lines(here.path()), all_lines());
}

/// What has become of it is said by everyone who would continue from it.
#[test]
fn the_only_checkpoint_of_a_run_is_named_where_it_is_damaged() {
    let here = tempfile::tempdir().unwrap();
    append(
        here.path(),
        &["--resume", "--every", "3", "--keep", "1"],
        "visit:8",
    )
    .code(137);
    let store = here.path().join("ckpt-cli.ckpt.d");
    let whole = fs::read(store.join("000002.r0.h5")).unwrap();
    fs::write(store.join("000002.r0.h5"), &whole[..100]).unwrap();
    let before = lines(here.path());
    let named = || contains("checkpoint 000002 cannot be read: ").and(contains("000002.r0.h5"));
    let what_to_do = || contains("put the file back from a copy").and(contains("cargo ckpt run --fresh"));
    let refused = |ended: assert_cmd::assert::Assert, code, told| {
        ended
            .code(code)
            .stderr(contains(told))
            .stderr(named())
            .stderr(what_to_do());
        assert_eq!(lines(here.path()), before);
    };
    refused(cargo_ckpt(here.path(), &["restart"]), 76, "E3155");
    let resumed = append(here.path(), &["--resume", "--every", "3"], "");
    refused(resumed, 77, "E3201");
    // What is damaged behind its head is known when all of it is read.
    let mut bytes = whole.clone();
    let behind_head = &mut bytes[512..];
    let value = behind_head
        .windows(8)
        .position(|bytes| bytes == 6_u64.to_le_bytes());
    behind_head[value.unwrap()] ^= 0x55;
    fs::write(store.join("000002.r0.h5"), bytes).unwrap();
    append(here.path(), &["--resume", "--every", "3"], "")
        .code(77)
        .stderr(contains("E3201").and(contains("is damaged: ")))
        .stderr(what_to_do());
    assert_eq!(lines(here.path()), before);
    fs::write(store.join("000002.r0.h5"), &whole).unwrap();
    append(here.path(), &["--resume", "--every", "3"], "").success();
    assert_eq!(lines(here.path()), all_lines());
}

#[test]
fn a_start_that_cannot_be_undone_is_not_made_again() {
    let here = tempfile::tempdir().unwrap();
    append(here.path(), &["--resume", "--every", "100"], "visit:5").code(137);
    for run in fs::read_dir(here.path().join("ckpt-cli.ckpt.d/runs"))
        .unwrap()
        .flatten()
    {
        for part in fs::read_dir(run.path()).unwrap().flatten() {
            let name = part.file_name().to_string_lossy().into_owned();
            if name.starts_with("files.") && name.ends_with(".log") {
                fs::write(part.path(), "nothing that a journal could be\n".repeat(100)).unwrap();
            }
        }
    }
    append(here.path(), &["--resume", "--every", "100"], "")
        .code(77)
        .stderr(contains("E3201"));
    append(here.path(), &["--fresh", "--every", "100"], "").success();
    assert_eq!(lines(here.path()).len(), 4 + 12);
}

/// What a power cut may leave of a run's folder.
#[test]
fn a_start_is_not_made_again_where_what_is_known_of_the_first_is_damaged() {
    type Harm = (&'static str, fn(&Path));
    let harms: [Harm; 4] = [
        ("E3202", |run| fs::write(run.join("job.json"), "").unwrap()),
        ("E3202", |run| fs::remove_file(run.join("job.json")).unwrap()),
        ("E3201", |run| {
            fs::write(run.join("files.000001.log"), "").unwrap()
        }),
        ("E3201", |run| {
            fs::remove_file(run.join("files.000001.log")).unwrap()
        }),
    ];
    for (code, harm) in harms {
        let here = tempfile::tempdir().unwrap();
        append(here.path(), &["--resume", "--every", "100"], "visit:5").code(137);
        let store = here.path().join("ckpt-cli.ckpt.d");
        let run = fs::read_dir(store.join("runs"))
            .unwrap()
            .flatten()
            .next()
            .unwrap();
        harm(&run.path());
        let again = append(here.path(), &["--resume", "--every", "100"], "").failure();
        again.stderr(contains(code).and(contains("cargo ckpt run --fresh")));
        assert_eq!(lines(here.path()).len(), 4, "{code}");
        append(here.path(), &["--fresh", "--every", "100"], "").success();
        assert_eq!(lines(here.path()).len(), 4 + 12, "{code}");
    }
}

/// The same store, and another working copy.
#[test]
fn a_start_in_another_folder_undoes_nothing_there() {
    let (one, two, stores) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let store = stores.path().join("a.ckpt.d");
    let options = ["--resume", "--every", "100", "--dir", store.to_str().unwrap()];
    append(one.path(), &options, "visit:5").code(137);
    fs::write(two.path().join("lines.txt"), "mine\n").unwrap();
    append(two.path(), &options, "").success();
    assert_eq!(lines(two.path()), [vec!["mine".to_owned()], all_lines()].concat());
    assert_eq!(lines(one.path()).len(), 4);
}

/// Runs of two folders that have a store in common: each continues its own.
#[test]
fn a_run_is_resumed_in_its_own_folder_alone() {
    let (one, two, stores) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
    );
    let store = stores.path().join("a.ckpt.d");
    let options = ["--resume", "--every", "3", "--dir", store.to_str().unwrap()];
    append(one.path(), &options, "visit:8").code(137);
    append(two.path(), &options, "").success();
    assert_eq!(lines(two.path()), all_lines());
    append(one.path(), &options, "")
        .success()
        .stderr(contains("resuming run"));
    assert_eq!(lines(one.path()), all_lines());
}

fn copy_with_times(from: &Path, to: &Path) {
    Command::new("cp").arg("-a").args([from, to]).assert().success();
}

/// The folder that it was copied from is still there.
#[test]
fn a_start_that_is_made_again_in_a_copy_undoes_what_the_first_did_there() {
    let here = tempfile::tempdir().unwrap();
    let (one, two) = (here.path().join("one"), here.path().join("two"));
    fs::create_dir(&one).unwrap();
    append(&one, &["--resume", "--every", "100"], "visit:5").code(137);
    copy_with_times(&one, &two);
    append(&two, &["--resume", "--every", "100"], "").success();
    assert_eq!((lines(&two), lines(&one).len()), (all_lines(), 4));
}

/// However often the folder was moved since, or copied.
#[test]
fn what_another_run_has_made_in_a_folder_that_moved_is_not_undone() {
    for copies in [false, true] {
        let here = tempfile::tempdir().unwrap();
        let folders = ["one", "two", "three"].map(|name| here.path().join(name));
        let becomes = |old: usize| match copies {
            true => copy_with_times(&folders[old], &folders[old + 1]),
            false => fs::rename(&folders[old], &folders[old + 1]).unwrap(),
        };
        fs::create_dir(&folders[0]).unwrap();
        append(&folders[0], &["--every", "3"], "visit:8").code(137);
        becomes(0);
        // Another command line, and the same file.
        append_to(&folders[1], &["--every", "3"], "", "./lines.txt").success();
        assert_eq!(lines(&folders[1]).len(), 7 + 12);
        becomes(1);
        append(&folders[2], &["--resume", "--every", "3"], "")
            .code(77)
            .stderr(contains("which has completed"));
        assert_eq!(lines(&folders[2]).len(), 7 + 12, "{copies}");
    }
}

/// What other runs have made since is not undone with what a dead one has left.
#[test]
fn a_start_that_is_made_again_leaves_the_files_of_other_runs() {
    const NEVER: [&str; 3] = ["--resume", "--every", "100"];
    let dies = |folder: &Path| drop(append_to(folder, &NEVER, "visit:5", "a.txt").code(137));
    let of = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).unwrap().lines().count();
    let here = tempfile::tempdir().unwrap();
    dies(here.path());
    append_to(here.path(), &[], "", "b.txt").success();
    append_to(here.path(), &NEVER, "", "a.txt").success();
    assert_eq!((of(here.path(), "a.txt"), of(here.path(), "b.txt")), (12, 12));

    // The same file, by two names.
    let here = tempfile::tempdir().unwrap();
    dies(here.path());
    append_to(here.path(), &[], "", "./a.txt").success();
    append_to(here.path(), &NEVER, "", "a.txt")
        .code(77)
        .stderr(contains("E3201").and(contains("which has completed, has changed `a.txt` since as well")));
    assert_eq!(of(here.path(), "a.txt"), 4 + 12);

    let here = tempfile::tempdir().unwrap();
    dies(here.path());
    append_to(here.path(), &["--every", "3"], "visit:8", "b.txt").code(137);
    let other = runs(here.path()).pop().unwrap();
    append_to(here.path(), &NEVER, "", "a.txt")
        .code(77)
        .stderr(contains(format!(
            "run {other}, which has not completed, has changed `b.txt` since"
        )));
    append_to(here.path(), &["--resume", "--other-runs", "keep"], "", "a.txt").success();
    cargo_ckpt(here.path(), &["restart", "--run", &other, "--other-runs", "keep"]).success();
    assert_eq!((of(here.path(), "a.txt"), of(here.path(), "b.txt")), (12, 12));
}

#[test]
fn a_log_that_was_cut_off_is_told_of() {
    let here = tempfile::tempdir().unwrap();
    append(here.path(), &["--every", "3"], "visit:5").code(137);
    let run = runs(here.path()).pop().unwrap();
    let folders = fs::read_dir(here.path().join("ckpt-cli.ckpt.d/runs")).unwrap();
    let folder = folders
        .flatten()
        .find(|one| one.file_name().to_string_lossy().starts_with(&run));
    let log = folder.unwrap().path().join("events.log");
    let text = fs::read(&log).unwrap();
    fs::write(&log, &text[..100]).unwrap();
    let told = format!("warning[W3009]: 1 line of the log of run {run}");
    cargo_ckpt(here.path(), &["report"])
        .success()
        .stderr(contains(&told));
}

/// The newest was given up: the older one can be restored, and is the one to continue.
#[test]
fn an_older_run_is_resumed_where_the_newer_cannot_be() {
    let here = tempfile::tempdir().unwrap();
    append(here.path(), &["--every", "3"], "visit:5").code(137);
    let older = runs(here.path()).pop().unwrap();
    append(here.path(), &["--every", "3"], "visit:5").code(137);
    let told = format!("The store has 1 other run: {older}. `cargo ckpt report --run {older}` reports one.");
    cargo_ckpt(here.path(), &["report"])
        .success()
        .stdout(contains(&told));
    let mut again = command(here.path(), &["restart", "--run", &older]);
    again.env("CKPT_FAULT", "visit:8");
    noted(Command::from_std(again).assert())
        .code(137)
        .stderr(contains(format!(
            "`cargo ckpt restart --run {older}` continues from it"
        )));
    append(here.path(), &["--resume"], "")
        .success()
        .stderr(contains(
            "is not resumed: it has no checkpoint that can be restored",
        ))
        .stderr(contains(format!("resuming run {older}")));
    assert_eq!(lines(here.path()), all_lines());
}

/// Both the command and the program, which says itself what ckpt has to say of its session.
#[test]
fn what_is_said_of_runs_fits_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    run(
        here.path(),
        &["--every", "5"],
        &[("CKPT_FAULT", "visit:22")],
        &["12"],
    )
    .code(137);
    let program = Path::new(env!("CARGO_BIN_EXE_cargo-ckpt"))
        .with_file_name("examples")
        .join("resumable");
    let program = program.to_str().unwrap();
    let build = PROGRAM.join(" ");
    let in_order = [
        format!("restart --map /a=/b --dir ckpt-cli.ckpt.d/{}", "x".repeat(60)),
        "list".to_owned(),
        "report".to_owned(),
        "inspect latest".to_owned(),
        "restart 4".to_owned(),
        "restart".to_owned(),
        "restart".to_owned(),
        format!("run {build} --resume -- 13"),
        format!("crashtest {build} --sites 2 --commits 1 --random 0 -- 4"),
        format!("run --exe {program} --every 0 -- 3"),
        format!("run --exe {program} --dir /dev/null/no/such/folder -- 3"),
    ];
    let mut found = Vec::new();
    for line in &in_order {
        let lines = width::in_a_terminal(here.path(), line);
        assert!(!lines.is_empty(), "{line}");
        found.extend(width::too_long(line, &lines));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    // A program that is started by itself.
    for variables in [
        "CKPT_RESTART=latest CKPT_DIR=ckpt-cli.ckpt.d",
        "CKPT_EVERY=often",
        "CKPT_EVERY=1 CKPT_MISSPELT=1 CKPT_DIR=other.ckpt.d CKPT_FAULT=visit:3",
        "CKPT_EVERY=1 CKPT_DIR=other.ckpt.d",
        "CKPT_RESTART=9 CKPT_DIR=other.ckpt.d",
    ] {
        let lines = width::of_a_line(here.path(), &format!("{variables} {program} 5"));
        let said: Vec<&String> = lines.iter().filter(|line| line.starts_with("ckpt: ")).collect();
        assert!(!said.is_empty(), "{variables}: {lines:?}");
        found.extend(width::too_long(variables, &lines));
        // In a file lines are as long as they are.
        let piped = width::in_a_file(here.path(), &format!("{variables} {program} 5"));
        assert!(piped.lines().all(|line| !line.starts_with("      ")), "{piped}");
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
