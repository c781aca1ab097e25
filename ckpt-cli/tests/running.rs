//! Real programs, really killed: `run`, `restart` and `crashtest` from the build to the answer.

#[path = "../../tests/harness/src/held.rs"]
mod held;
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
fn a_run_asked_to_stop_takes_a_checkpoint_and_says_requeue() {
    let (plain, here) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(plain.path(), &[], &[], &["400"]).success();
    let mut child = start_and_hold(here.path(), &["--every", "10", "--restarts", "3"], &["400"]);
    wait_until(&mut child, || has_a_checkpoint(here.path()));
    let command = child.id();
    let program = wait_until(&mut child, || program_of(command));
    // It goes on with a signal that has come, and not while the command is about to pass it on.
    kill(Pid::from_raw(program), Signal::SIGSTOP).unwrap();
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
    let child = start(here.path(), &options, &["100000", "20"]);
    wait_for_a_checkpoint(here.path());
    for _ in 0..2 {
        kill(Pid::from_raw(child.id() as i32), Signal::SIGINT).unwrap();
        // The second would not be told from the first while that is waiting to be delivered.
        let pending = || fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        while pending()
            .lines()
            .any(|line| line.starts_with("ShdPnd:") && !line.ends_with("0000000000000000"))
        {
            std::thread::yield_now();
        }
    }
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
