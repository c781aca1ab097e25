//! A run of the traveller in a folder of its own, on one machine after the other.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use super::build::target;
use super::{Machine, Version, program};

/// Turns of a journey, of three visits each.
pub const TURNS: u32 = 12;

/// How a program ended.
#[derive(Debug, PartialEq, Eq)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A folder with a store and the program's files.
#[derive(Debug)]
pub struct Journey {
    folder: tempfile::TempDir,
    /// What the program is asked beyond the usual.
    pub more: Vec<&'static str>,
    /// How its checkpoints are stored.
    pub storing: Vec<(&'static str, &'static str)>,
}

impl Default for Journey {
    fn default() -> Self {
        let folder = tempfile::tempdir().expect("a folder for a journey");
        Journey {
            folder,
            more: Vec::new(),
            storing: Vec::new(),
        }
    }
}

impl Journey {
    /// Where it goes on.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> PathBuf {
        self.folder().join("traveller.ckpt.d")
    }

    /// A file that the one run of the store keeps.
    pub fn kept(&self, name: &str) -> PathBuf {
        let mut runs = fs::read_dir(self.store().join("runs")).expect("a run has begun");
        runs.next()
            .expect("there is one")
            .expect("it can be read")
            .path()
            .join(name)
    }

    /// Another journey that has come as far.
    pub fn copy(&self) -> Journey {
        let copy = Journey {
            more: self.more.clone(),
            storing: self.storing.clone(),
            ..Journey::default()
        };
        copy_folder(self.folder(), copy.folder());
        copy
    }

    /// Sets out on a machine, and is killed at a visit.
    pub fn begin(&self, machine: Machine, killed_at: u32) {
        let ended = self.run(
            machine,
            Version::This,
            &[("CKPT_FAULT", &format!("visit:{killed_at}"))],
        );
        assert!(self.was_killed(&ended), "{}: {ended:?}", machine.name);
    }

    /// Goes on on a machine, and is killed again.
    pub fn go_on(&self, machine: Machine, killed_at: u32) {
        self.go_on_with(machine, Version::This, killed_at);
    }

    /// The same as another version of the program.
    pub fn go_on_with(&self, machine: Machine, version: Version, killed_at: u32) {
        let fault = format!("visit:{killed_at}");
        let ended = self.run(
            machine,
            version,
            &[("CKPT_RESTART", "latest"), ("CKPT_FAULT", &fault)],
        );
        assert!(self.was_killed(&ended), "{}: {ended:?}", machine.name);
    }

    /// Is killed on each of these, one after the other, after it has written a checkpoint there.
    pub fn goes_round(&self, machines: &[Machine]) {
        let [first, others @ ..] = machines else {
            panic!("a journey begins somewhere");
        };
        self.begin(*first, 10);
        for (hop, &machine) in (1..).zip(others) {
            let before = self.newest();
            self.go_on(machine, 10 + 5 * hop);
            assert!(before < self.newest(), "nothing was written on {}", machine.name);
        }
    }

    /// The name of the newest checkpoint.
    fn newest(&self) -> Option<String> {
        let entries = fs::read_dir(self.store()).expect("a store").flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| name.ends_with(".h5") && !name.starts_with('.'))
            .max()
    }

    fn was_killed(&self, ended: &Ended) -> bool {
        // Killed by a signal, or an emulator that says so.
        ended.code.is_none() || ended.code == Some(137)
    }

    /// Arrives on a machine.
    pub fn arrive(&self, machine: Machine, version: Version) -> Ended {
        self.run(machine, version, &[("CKPT_RESTART", "latest")])
    }

    fn run(&self, machine: Machine, version: Version, variables: &[(&str, &str)]) -> Ended {
        let mut command = Command::new(program_once(machine, version));
        command
            .args([&TURNS.to_string(), "trace.txt", "log.txt"])
            .args(&self.more)
            .envs([("CKPT_DIR", "traveller.ckpt.d"), ("CKPT_EVERY", "4")])
            .envs(self.storing.iter().copied())
            .envs(variables.iter().copied());
        finished(command.current_dir(self.folder()))
    }

    /// What a run has left: what it printed, and what is in its files.
    pub fn outcome(&self, ended: &Ended) -> [String; 3] {
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let read = |name| fs::read_to_string(self.folder().join(name)).expect("it has been written");
        [ended.stdout.clone(), read("trace.txt"), read("log.txt")]
    }
}

/// What a run leaves that nobody interrupts, without a session.
pub fn uninterrupted(machine: Machine, more: &[&'static str]) -> [String; 3] {
    let journey = Journey::default();
    let mut command = Command::new(program_once(machine, Version::This));
    command
        .args([&TURNS.to_string(), "trace.txt", "log.txt"])
        .args(more);
    let ended = finished(command.current_dir(journey.folder()));
    journey.outcome(&ended)
}

/// `cargo ckpt` with these words in a folder.
pub fn cargo_ckpt<S: AsRef<OsStr>>(
    folder: &Path,
    words: impl IntoIterator<Item = S>,
    variables: &[(&str, &str)],
) -> Ended {
    let own = std::env::var_os("CARGO_CKPT").map(PathBuf::from);
    let tool = own.unwrap_or_else(|| target().join("debug/cargo-ckpt"));
    let mut command = Command::new(tool);
    command.arg("ckpt").args(words).envs(variables.iter().copied());
    // It may build a program, and wait for others that do.
    finished_within("1500", command.current_dir(folder))
}

/// Runs it to its end, with no settings but its own; an emulator that hangs does not stop the tests.
pub(crate) fn finished(command: &mut Command) -> Ended {
    finished_within("300", command)
}

fn finished_within(seconds: &str, command: &mut Command) -> Ended {
    let program = command.get_program().to_owned();
    let mut limited = Command::new("timeout");
    limited
        .args(["--signal=KILL", seconds])
        .arg(program)
        .args(command.get_args());
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("CKPT_") {
            limited.env_remove(name);
        }
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        limited.current_dir(folder);
    }
    let Output {
        status,
        stdout,
        stderr,
    } = limited.stdin(Stdio::null()).output().expect("it can be started");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended {
        code: status.code(),
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

/// Built once in the life of this process.
fn program_once(machine: Machine, version: Version) -> PathBuf {
    use std::collections::HashMap;
    use std::sync::{Mutex, PoisonError};
    static BUILT: Mutex<Option<HashMap<String, PathBuf>>> = Mutex::new(None);
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let key = format!("{} {version:?}", machine.name);
    built
        .get_or_insert_default()
        .entry(key)
        .or_insert_with(|| program(machine, version))
        .clone()
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let there = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy_folder(&entry.path(), &there);
        } else {
            fs::copy(entry.path(), there).expect("a copy");
        }
    }
}
