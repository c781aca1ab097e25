//! What the tests of MPI programs have in common: `cargo ckpt` on a package of this workspace, in a folder of its own.
//!
//! `CARGO_CKPT` names the built `cargo-ckpt`; without it, the one in cargo's target folder is taken.

#[path = "../../../tests/harness/src/bounded.rs"]
mod bounded;
#[path = "../../../tests/harness/src/messages.rs"]
mod messages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use bounded::LIMIT;

/// What ckpt says to programs of several processes.
const MESSAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages.txt");

/// A job: its package and the folder that it runs in.
pub struct Job {
    package: PathBuf,
    name: String,
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Compares the messages with those that are noted beside the tests. For what is the same each time only: ranks that
    /// end each other may come to say more, or less.
    #[track_caller]
    pub fn noted(self) -> Self {
        messages::compare(Path::new(MESSAGES), &self.stderr);
        self
    }
}

impl Job {
    /// Of a package in `programs` or `examples`.
    pub fn new(package: &str) -> Self {
        Job::of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package))
    }

    /// Of the package in a folder.
    pub fn of(package: &Path) -> Self {
        let package = fs::canonicalize(package).expect("the package is there");
        let name = package.file_name().unwrap_or_default();
        Job {
            name: name.to_string_lossy().into_owned(),
            package,
            folder: tempfile::tempdir().expect("a folder for the job"),
            variables: Vec::new(),
        }
    }

    /// Sets a variable for all that follows.
    pub fn set(&mut self, name: &str, value: &str) {
        self.variables.retain(|(known, _)| known != name);
        self.variables.push((name.into(), value.into()));
    }

    /// The folder that the job runs in.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its store.
    pub fn store(&self) -> PathBuf {
        self.folder().join(format!("{}.ckpt.d", self.name))
    }

    /// A file that a run of the store keeps, once there is one.
    pub fn kept(&self, name: &str) -> Option<PathBuf> {
        kept_in(&self.store(), name)
    }

    /// Starts `cargo ckpt VERB` with these words: options, `---`, arguments; what is in single quotes is one word.
    pub fn start(&self, verb: &str, words: &str) -> Child {
        let (options, arguments) = words
            .split_once("--- ")
            .map_or((words, None), |(a, b)| (a, Some(b)));
        let mut command = Command::new(tool());
        command.args(["ckpt", verb]).args(words_of(options));
        if !["restart", "pack", "unpack", "verify"].contains(&verb) {
            command
                .arg("--manifest-path")
                .arg(self.package.join("Cargo.toml"));
        }
        if let Some(arguments) = arguments {
            command.arg("--").args(words_of(arguments));
        }
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ckpt-runtime");
        command
            .current_dir(self.folder())
            .env_remove("CKPT_BLESS")
            .env("CKPT_RUNTIME_PATH", runtime)
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().expect("cargo-ckpt is built: see CARGO_CKPT")
    }

    /// The same, to its end.
    pub fn ckpt(&self, verb: &str, words: &str) -> Ended {
        finished(self.start(verb, words))
    }

    /// Runs a program that was built by other means, with these options.
    pub fn run_built(&self, program: &Path, options: &str) -> Ended {
        let mut command = Command::new(tool());
        command.args(["ckpt", "run", "--exe"]).arg(program);
        command
            .args(words_of(options))
            .current_dir(self.folder())
            .env_remove("CKPT_BLESS");
        let streams = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        finished(streams.spawn().expect("cargo-ckpt is built: see CARGO_CKPT"))
    }

    /// The names of the files in a store, without the others.
    pub fn lines(&self, store: &Path) -> Vec<String> {
        let entries = fs::read_dir(store).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names.filter(|name| name.ends_with(".h5")).collect();
        names.sort();
        names
    }

    /// The processes of the program that run in the folder of this job, oldest first.
    pub fn ranks(&self) -> Vec<u32> {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let is_ours = |pid: &u32| {
            let link = |name: &str| fs::read_link(format!("/proc/{pid}/{name}")).ok();
            let here = fs::canonicalize(self.folder()).ok();
            let program = link("exe").and_then(|path| Some(path.file_name()? == self.name.as_str()));
            link("cwd") == here && program == Some(true)
        };
        let mut ranks: Vec<u32> = numbers.filter(is_ours).collect();
        ranks.sort_unstable();
        ranks
    }

    /// Waits until this many ranks run, and then for a checkpoint.
    pub fn wait_for_ranks(&self, count: usize) -> Vec<u32> {
        wait_until(|| Some(self.ranks()).filter(|ranks| ranks.len() == count))
    }
}

fn words_of(text: &str) -> Vec<&str> {
    let pieces = (0..).zip(text.split('\''));
    let words = pieces.flat_map(|(number, piece)| match number % 2 {
        0 => piece.split_whitespace().collect(),
        _ => vec![piece],
    });
    words.collect()
}

/// The process that started this one.
pub fn parent(pid: u32) -> u32 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix("PPid:"));
    line.and_then(|number| number.trim().parse().ok())
        .expect("it has a parent")
}

/// Asks again and again.
pub fn wait_until<T>(ask: impl Fn() -> Option<T>) -> T {
    let since = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(since.elapsed() < LIMIT, "waited in vain");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Waits until each of these processes has its own way with a signal of this number: those of a job have begun their
/// sessions then, and hear of it.
pub fn wait_until_heard(processes: &[u32], signal: u32) {
    let hears = |process: &u32| {
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
        let caught = u64::from_str_radix(caught.trim(), 16).ok()?;
        (caught & 1 << (signal - 1) != 0).then_some(())
    };
    wait_until(|| {
        processes
            .iter()
            .try_for_each(|process| hears(process).ok_or(()))
            .ok()
    });
}

/// The number of SIGUSR1.
pub const USR1: u32 = 10;
/// The number of SIGTERM.
pub const TERM: u32 = 15;

/// Waits for the end of a command.
pub fn finished(child: Child) -> Ended {
    let Output {
        status,
        stdout,
        stderr,
    } = bounded::output_of(child);
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended {
        code: status.code(),
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

/// Sends a signal to a process of a job.
pub fn send(pid: u32, signal: &str) {
    let status = Command::new("kill")
        .arg(format!("-{signal}"))
        .arg(pid.to_string())
        .status();
    assert!(status.is_ok_and(|status| status.success()), "{pid} is there");
}

/// The lines that all ranks print, in the order of the alphabet: ranks print when they like.
pub fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

/// Makes a folder that has sources a package that depends on the runtime, to be built by plain cargo.
pub fn make_package(folder: &Path, name: &str) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let runtime = fs::canonicalize(here.join("../../ckpt-runtime")).expect("the runtime is there");
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n\n[dependencies]\nmpi = \"0.8\"\n\
         ckpt = {{ package = \"ckpt-runtime\", path = '{}', features = [\"mpi\"] }}\n\n\
         [profile.dev]\nopt-level = 1\ndebug = \"line-tables-only\"\n[profile.dev.package.\"*\"]\nopt-level = 0\ndebug = false\n\n[workspace]\n",
        runtime.display()
    );
    fs::write(folder.join("Cargo.toml"), manifest).expect("it is written");
    fs::copy(here.join("../Cargo.lock"), folder.join("Cargo.lock")).expect("the versions that all use");
}

/// Builds a package of this source, which depends on the runtime, by plain cargo where all of them are built.
pub fn built_of(source: &str, name: &str) -> PathBuf {
    let package = tempfile::tempdir().expect("a folder");
    fs::create_dir(package.path().join("src")).expect("a folder for the program");
    fs::write(package.path().join("src/main.rs"), source).expect("it is written");
    make_package(package.path(), name);
    build(package.path(), name, &target().join("ckpt/build"), &[])
}

/// Builds a program by plain cargo in this target folder, with these variables.
pub fn build(package: &Path, program: &str, target: &Path, variables: &[(&str, &str)]) -> PathBuf {
    let status = Command::new("cargo")
        .args(["build", "--quiet", "--bin", program, "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .env("CARGO_TARGET_DIR", target)
        .envs(variables.iter().copied())
        .status();
    assert!(status.is_ok_and(|status| status.success()));
    target.join("debug").join(program)
}

/// Starts two ranks of a program by a launcher itself, in this folder, and waits for their end.
pub fn two_ranks(launcher: &str, program: &Path, folder: &Path, variables: &[(&str, &str)]) -> Ended {
    ranks_by(launcher, 2, program, folder, variables)
}

/// The same of so many.
pub fn ranks_by(
    launcher: &str,
    ranks: u32,
    program: &Path,
    folder: &Path,
    variables: &[(&str, &str)],
) -> Ended {
    let child = Command::new(launcher)
        .args(["-n", &ranks.to_string()])
        .arg(program)
        .current_dir(folder)
        .env_remove("CKPT_BLESS")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        // A library for OpenCL that hwloc finds on this machine would take SIGUSR1 from the launcher.
        .env("HWLOC_COMPONENTS", "-opencl")
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    finished(child.expect("the launcher is there"))
}

/// The built `cargo-ckpt`.
pub fn tool() -> PathBuf {
    if let Some(tool) = std::env::var_os("CARGO_CKPT") {
        return tool.into();
    }
    target().join("debug/cargo-ckpt")
}

/// The target folder that this test is built in.
pub fn target() -> PathBuf {
    let own = std::env::current_exe().expect("this test has a path");
    let target = own.ancestors().nth(3).expect("target/debug/deps/test");
    target.to_owned()
}

/// A file that a run of a store keeps, once there is one.
pub fn kept_in(store: &Path, name: &str) -> Option<PathBuf> {
    let runs = fs::read_dir(store.join("runs")).into_iter().flatten().flatten();
    runs.map(|run| run.path().join(name)).find(|path| path.is_file())
}
