//! Runs a test program as a process of its own, in a folder of its own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

/// What a program reads as its standard input, if the job's folder has it.
pub const INPUT: &str = "input.txt";

/// The messages of all these programs.
const MESSAGES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/session/messages.txt");

/// A program and the folder that it runs in.
pub struct Job {
    program: &'static str,
    folder: TempDir,
    variables: Vec<(String, String)>,
}

/// How a process ended and what it said.
#[derive(Debug)]
pub struct Ended {
    /// `None`: killed by a signal.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Job {
    pub fn new(program: &'static str) -> Job {
        Job {
            program,
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        }
    }

    /// Sets a variable for all processes of this job.
    pub fn with(mut self, name: &str, value: impl ToString) -> Job {
        self.variables.push((name.into(), value.to_string()));
        self
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn store(&self) -> PathBuf {
        self.folder().join("test.ckpt.d")
    }

    /// Files of checkpoints in the store.
    pub fn checkpoints(&self) -> Vec<PathBuf> {
        let Ok(entries) = std::fs::read_dir(self.store()) else {
            return Vec::new();
        };
        let mut files: Vec<PathBuf> = entries
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "h5"))
            .collect();
        files.sort();
        files
    }

    pub fn job_file(&self) -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(self.store().join("job.json")).unwrap()).unwrap()
    }

    fn command(&self, variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CKPT_") {
                command.env_remove(name);
            }
        }
        command
            .current_dir(self.folder())
            .env("TEST_PROGRAM", self.program);
        if let Ok(input) = std::fs::File::open(self.folder().join(INPUT)) {
            command.stdin(input);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.envs(variables.iter().copied());
        command
    }

    pub fn run(&self, variables: &[(&str, &str)]) -> Ended {
        Ended::from(self.command(variables).output().unwrap())
    }

    /// Starts the process and gives it to `meanwhile` while it runs.
    pub fn run_while(&self, variables: &[(&str, &str)], meanwhile: impl FnOnce(&mut Child)) -> Ended {
        let mut command = self.command(variables);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        meanwhile(&mut child);
        Ended::from(child.wait_with_output().unwrap())
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Ended {
        let stderr = String::from_utf8(output.stderr).unwrap();
        crate::messages::compare(Path::new(MESSAGES), &stderr);
        Ended {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr,
        }
    }
}

impl Ended {
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Ended {
        assert_eq!(self.code, Some(code), "{self:#?}");
        self
    }

    #[track_caller]
    pub fn expect_killed(self) -> Ended {
        assert_eq!(self.code, None, "{self:#?}");
        self
    }

    /// Every one of `parts` is in what the process said on stderr.
    #[track_caller]
    pub fn expect_message(self, parts: &[&str]) -> Ended {
        for part in parts {
            assert!(self.stderr.contains(part), "{part:?} is not in\n{}", self.stderr);
        }
        self
    }
}
