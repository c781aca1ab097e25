//! Child processes: started in a folder of their own without any `CKPT_*` from outside, read to the end, never left behind.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest time that a child may take: a restart that loops for ever is a failure, not a hung test. What takes a second
/// takes many where others want the machine too.
const PATIENCE: Duration = Duration::from_secs(300);

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// It left with this code.
    Code(i32),
    /// A signal of this number ended it.
    Signal(i32),
    /// It was still running after five minutes and was killed.
    Hung,
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::Code(code) => write!(f, "exit code {code}"),
            Ended::Signal(signal) => write!(f, "signal {signal}"),
            Ended::Hung => write!(f, "hung and killed"),
        }
    }
}

/// What a child printed and how it ended.
#[derive(Debug, Clone)]
pub struct Run {
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// All of its standard error.
    pub stderr: String,
    /// How it ended.
    pub ended: Ended,
}

/// A program with its arguments, its folder and its environment; one may start it many times.
#[derive(Debug, Clone)]
pub struct Runner {
    program: PathBuf,
    arguments: Vec<String>,
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

impl Runner {
    /// `program` with `arguments`, working in `folder`.
    pub fn new(program: &Path, arguments: &[String], folder: &Path) -> Self {
        Runner {
            program: program.to_path_buf(),
            arguments: arguments.to_vec(),
            folder: folder.to_path_buf(),
            environment: Vec::new(),
        }
    }

    /// The same with one more variable in its environment.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.environment.push((name.to_string(), value.to_string()));
        self
    }

    /// Starts it and returns at once.
    ///
    /// # Panics
    /// When the program cannot be started: that is a fault of the test.
    pub fn start(&self) -> Child {
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).current_dir(&self.folder);
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CKPT_") {
                command.env_remove(name);
            }
        }
        command
            .envs(self.environment.iter().cloned())
            .env("RUST_BACKTRACE", "0");
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", self.program.display()))
    }

    /// Starts it and waits until it has ended.
    pub fn run(&self) -> Run {
        self.run_for(PATIENCE).unwrap_or_else(|killed| Run {
            ended: Ended::Hung,
            ..killed
        })
    }

    /// Starts it and kills it with SIGKILL unless it has ended within `time`.
    ///
    /// # Errors
    /// What it had printed, if it was killed.
    pub fn run_for(&self, time: Duration) -> Result<Run, Run> {
        let mut child = self.start();
        let stdout = read_all(child.stdout.take());
        let stderr = read_all(child.stderr.take());
        let mut printed = stdout.recv_timeout(time).ok();
        let in_time = printed.is_some();
        if !in_time {
            // It may have ended this instant; then there is nothing to kill.
            let _ = child.kill();
            printed = stdout.recv().ok();
        }
        let status = child
            .wait()
            .unwrap_or_else(|error| panic!("cannot wait for a child: {error}"));
        let run = Run {
            stdout: printed.unwrap_or_default(),
            stderr: String::from_utf8_lossy(&stderr.recv().unwrap_or_default()).into_owned(),
            ended: match (status.code(), status.signal()) {
                (Some(code), _) => Ended::Code(code),
                (None, signal) => Ended::Signal(signal.unwrap_or(0)),
            },
        };
        if in_time || run.ended == Ended::Code(0) {
            Ok(run)
        } else {
            Err(run)
        }
    }
}

fn read_all(pipe: Option<impl Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // A read error ends the text here; the comparison shows what is missing.
            let _ = pipe.read_to_end(&mut bytes);
        }
        let _ = sender.send(bytes);
    });
    receiver
}

/// A folder that is removed with its value, in memory where the system has such a place: a commit waits for the disk.
///
/// # Panics
/// When no folder can be made anywhere.
pub fn scratch_directory() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("ckpt-test-")
        .tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap_or_else(|error| panic!("cannot make a folder for a test: {error}"))
}
