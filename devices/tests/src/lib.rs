//! What the tests of programs on devices have in common: `cargo ckpt` on a package of this workspace, in a folder of its own.
//!
//! `CARGO_CKPT` names the built `cargo-ckpt`; without it, the one in cargo's target folder is taken.

#[path = "../../../tests/harness/src/bounded.rs"]
mod bounded;
#[path = "../../../tests/harness/src/messages.rs"]
mod messages;
#[path = "../../../tests/harness/src/skipped.rs"]
mod skipped;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use skipped::skipped;

/// What ckpt says to programs on devices.
const MESSAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messages.txt");

/// Three devices.
pub const THREE: &str = "basic basic pthread";

/// A package and the folder that it runs in.
pub struct Job {
    package: PathBuf,
    program: Option<&'static str>,
    folder: tempfile::TempDir,
    /// Dies at this visit.
    fault: Option<u32>,
    /// One checkpoint of so many holds everything.
    full_every: u32,
    /// It has several processes.
    has_ranks: bool,
    /// Where libraries are looked for first.
    libraries: Option<PathBuf>,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Ended {
    /// Compares the messages with those that are noted beside the tests.
    #[track_caller]
    pub fn noted(self) -> Self {
        messages::compare(Path::new(MESSAGES), &self.stderr);
        self
    }

    /// It has ended well.
    #[track_caller]
    pub fn well(self) -> Self {
        assert_eq!(self.code, Some(0), "{}{}", self.stdout, self.stderr);
        self
    }
}

impl Job {
    /// Of a package in `programs` or `examples`.
    pub fn new(package: &str) -> Job {
        Job {
            package: Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(package),
            program: None,
            fault: None,
            full_every: 1,
            has_ranks: false,
            libraries: None,
            folder: tempfile::tempdir().expect("a folder for the job"),
        }
    }

    /// One of several programs of a package.
    pub fn of(package: &str, program: &'static str) -> Job {
        Job {
            program: Some(program),
            ..Job::new(package)
        }
    }

    /// Its runs are killed at this visit of a site.
    pub fn dies_at(mut self, visit: u32) -> Job {
        self.fault = Some(visit);
        self
    }

    /// Its program has several processes.
    pub fn of_ranks(mut self) -> Job {
        self.has_ranks = true;
        self
    }

    /// Its programs look for libraries in a folder first.
    pub fn finds_libraries_in(mut self, folder: PathBuf) -> Job {
        self.libraries = Some(folder);
        self
    }

    /// Of its checkpoints, one of so many holds everything.
    pub fn full_every(mut self, checkpoints: u32) -> Job {
        self.full_every = checkpoints;
        self
    }

    /// How many bytes a checkpoint of its only run has.
    pub fn bytes_of(&self, checkpoint: u32) -> u64 {
        let name = format!("{checkpoint:06}.r0.h5");
        let mut open = vec![self.folder.path().to_owned()];
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).expect("a folder").flatten() {
                match entry.metadata() {
                    Ok(about) if about.is_dir() => open.push(entry.path()),
                    Ok(about) if entry.file_name() == *name => return about.len(),
                    _ => {}
                }
            }
        }
        panic!("there is no checkpoint {checkpoint}");
    }

    /// `cargo ckpt VERB` with these words, `--` among them, on these devices.
    pub fn ckpt(&self, devices: &str, verb: &str, words: &str) -> Ended {
        self.ckpt_with(devices, verb, words, &[])
    }

    /// The same, with these variables set.
    pub fn ckpt_with(&self, devices: &str, verb: &str, words: &str, variables: &[(&str, &str)]) -> Ended {
        let mut command = Command::new(tool());
        command.args(["ckpt", verb]);
        if !matches!(verb, "restart" | "inspect") {
            command
                .arg("--manifest-path")
                .arg(self.package.join("Cargo.toml"));
            command.args(self.program.map(|name| ["--bin", name]).iter().flatten());
        }
        let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../ckpt-runtime");
        let fault = self.fault.map(|visit| ("CKPT_FAULT", format!("visit:{visit}")));
        let child = command
            .args(words.split_whitespace())
            .current_dir(self.folder.path())
            .env("CKPT_RUNTIME_PATH", runtime)
            .env("POCL_DEVICES", devices)
            .env("CKPT_FULL_EVERY", self.full_every.to_string())
            // PoCL's cache fails where ranks compile the same kernel at once.
            .envs(self.has_ranks.then_some(("POCL_KERNEL_CACHE", "0")))
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .envs(fault.filter(|_| verb == "run"))
            .envs(self.libraries.as_ref().map(|folder| ("LD_LIBRARY_PATH", folder)))
            .envs(variables.iter().copied())
            .env_remove("CKPT_BLESS")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cargo-ckpt is built: see CARGO_CKPT");
        let output = bounded::output_of(child);
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Ended {
            code: output.status.code(),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

fn tool() -> PathBuf {
    env::var_os("CARGO_CKPT").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/debug/cargo-ckpt"),
        PathBuf::from,
    )
}
