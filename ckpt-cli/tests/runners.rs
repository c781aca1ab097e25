//! Programs that cargo's configuration has started by another one, a `runner`: an emulator, a script that sets something up.

mod noted;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::OnceLock;
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

/// A folder with a runner, a script that stays while the program runs and notes what it was given.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runner");
        let notes = folder.path().join("notes");
        let script = format!(
            "#!/bin/sh\necho \"$1 $(basename \"$2\")\" >>{}\nshift\n\"$@\"\n",
            notes.display()
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        Self { folder }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn runner(&self) -> PathBuf {
        self.path().join("runner")
    }

    /// What the runner was given: a word of the setting, and a program.
    fn notes(&self) -> Vec<String> {
        let text = fs::read_to_string(self.path().join("notes")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    fn answer(&self) -> String {
        fs::read_to_string(self.path().join("cells.txt")).unwrap()
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"));
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
            command.env_remove(name);
        }
        command.current_dir(self.path()).args(arguments);
        command
    }

    /// With the runner in the variable for this machine.
    fn by_variable(&self, arguments: &[&str], fault: Option<&str>) -> std::process::Command {
        let mut command = self.command(arguments);
        let variable = format!(
            "CARGO_TARGET_{}_RUNNER",
            host().to_uppercase().replace(['-', '.'], "_")
        );
        command.env(variable, format!("{} set", self.runner().display()));
        command.envs(fault.map(|fault| ("CKPT_FAULT", fault)));
        command
    }

    fn ckpt(&self, arguments: &[&str], fault: Option<&str>) -> assert_cmd::assert::Assert {
        noted(Command::from_std(self.by_variable(arguments, fault)).assert())
    }
}

fn host() -> String {
    let rustc = std::process::Command::new("rustc").arg("-vV").output().unwrap();
    let said = String::from_utf8(rustc.stdout).unwrap();
    let host = said.lines().find_map(|line| line.strip_prefix("host: "));
    host.unwrap().to_owned()
}

fn run<'a>(options: &[&'a str], arguments: &[&'a str]) -> Vec<&'a str> {
    [&["run"][..], &PROGRAM, options, &["--"], arguments].concat()
}

/// What the program says to 30 sweeps when it is started as it is.
fn plain_answer() -> &'static str {
    static ANSWER: OnceLock<String> = OnceLock::new();
    ANSWER.get_or_init(|| {
        let plain = Place::new();
        noted(Command::from_std(plain.command(&run(&[], &["30"]))).assert()).success();
        assert_eq!(plain.notes(), [""; 0]);
        plain.answer()
    })
}

#[test]
fn a_runner_starts_the_program_and_its_restarts() {
    let here = Place::new();
    // A shell passes on by 128 + 9 that the program was killed.
    here.ckpt(&run(&["--every", "5"], &["30"]), Some("visit:23"))
        .code(137)
        .stderr(contains("is 000004").and(contains("cargo ckpt restart")));
    here.ckpt(&["list"], None)
        .success()
        .stdout(contains("was killed"));
    here.ckpt(&["restart"], None)
        .success()
        .stderr(contains("restarts from checkpoint 000004"));
    assert_eq!(here.notes(), ["set resumable"; 2]);
    assert_eq!(here.answer(), plain_answer());
    here.ckpt(&["list"], None).success().stdout(contains("completed"));
}

#[test]
fn a_runner_may_stand_between_the_request_to_stop_and_the_program() {
    let here = Place::new();
    let child = here
        .by_variable(&run(&["--every", "10"], &["30", "20"]), None)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let end = Instant::now() + Duration::from_secs(300);
    let has_a_checkpoint = || {
        let entries = fs::read_dir(here.path().join("ckpt-cli.ckpt.d"));
        let mut entries = entries.into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name().to_string_lossy().ends_with(".h5"))
    };
    while !has_a_checkpoint() {
        assert!(Instant::now() < end, "no checkpoint appears");
        std::thread::sleep(Duration::from_millis(20));
    }
    kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(75), "{said}");
    here.ckpt(&["list"], None)
        .success()
        .stdout(contains("stopped").and(contains("SIGTERM")));
    here.ckpt(&["restart"], None).success();
    assert_eq!(here.answer(), plain_answer());
}

#[test]
fn a_crash_test_kills_what_a_runner_has_started() {
    let here = Place::new();
    let options = [
        &["crashtest"][..],
        &PROGRAM,
        &[
            "--sites",
            "3",
            "--commits",
            "1",
            "--random",
            "3",
            "--rows",
            "1",
            "--",
            "12",
            "3",
        ],
    ];
    here.ckpt(&options.concat(), None)
        .success()
        .stdout(contains("PASSED"));
    assert!(here.notes().len() > 10, "{:?}", here.notes());
    // The runner was killed, and what it had started as well.
    let left = fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
        let command = fs::read_to_string(entry.path().join("cmdline")).unwrap_or_default();
        command.contains("resumable\u{0}12\u{0}3") && command.contains(here.path().to_str().unwrap())
    });
    assert_eq!(left.count(), 0);
}

/// A package that has never heard of ckpt, and has nothing to save.
fn write_package(folder: &Path) {
    let manifest = "[package]\nname = \"small\"\nversion = \"1.2.3\"\nedition = \"2021\"\n[workspace]\n";
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::create_dir(folder.join("src")).unwrap();
    fs::write(folder.join("src/main.rs"), "fn main() { println!(\"small\"); }").unwrap();
}

#[test]
fn settings_name_the_runner_as_for_cargo_run() {
    let here = Place::new();
    write_package(here.path());
    let folder = here.path().join(".cargo");
    fs::create_dir(&folder).unwrap();
    // What has folders in it is meant from the folder that holds `.cargo`.
    let settings = "[target.'cfg(unix)']\nrunner = [\"./runner\", \"near\"]\n\
        [target.'cfg(windows)']\nrunner = \"not-here\"\n";
    fs::write(folder.join("config.toml"), settings).unwrap();
    let ckpt = |arguments: &[&str]| {
        let mut command = here.command(arguments);
        command.current_dir(here.path().join("src"));
        Command::from_std(command).assert()
    };
    ckpt(&["run", "--quiet"]).success().stdout("small\n");
    let of_host = |value: &str| format!("target.{}.runner={value}", host());
    let said = of_host(&format!("\"{} said\"", here.runner().display()));
    ckpt(&["run", "--quiet", "--config", &said, "--target", &host()]).success();
    assert_eq!(here.notes(), ["near small", "said small"]);
    // Cargo builds for no runner that it would not start.
    let several = "target.'cfg(target_os = \"linux\")'.runner=\"true\"";
    ckpt(&["run", "--quiet", "--config", several])
        .code(101)
        .stderr(contains("several matching instances").and(contains("cfg(unix)")));
    ckpt(&["run", "--quiet", "--config", &of_host("7")])
        .code(101)
        .stderr(contains("E3037").and(contains("runner")));
    let missing = ckpt(&["run", "--quiet", "--config", &of_host("\"no-such-runner\"")]);
    noted(missing)
        .code(127)
        .stderr(contains("E3043").and(contains("`no-such-runner`")));
    // What is there already is started as it is.
    let program = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| here.path().join("target"), Into::into);
    let program = program.join("debug/small");
    fs::remove_file(here.path().join("notes")).unwrap();
    ckpt(&["run", "--exe", program.to_str().unwrap()])
        .code(77)
        .stderr(contains("E3025"));
    assert_eq!(here.notes(), [""; 0]);
}
