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

    /// A file that the only run of the store keeps.
    pub fn kept(&self, name: &str) -> PathBuf {
        let mut runs = std::fs::read_dir(self.store().join("runs")).expect("there are runs");
        runs.next()
            .expect("there is a run")
            .expect("it can be read")
            .path()
            .join(name)
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

    /// What the store says of the run that began last.
    pub fn job_file(&self) -> serde_json::Value {
        self.jobs().pop().expect("a run has begun")
    }

    /// What the store says of its runs, in the order in which they began.
    pub fn jobs(&self) -> Vec<serde_json::Value> {
        jobs_in(&self.store())
    }

    /// Starts the process with arguments.
    pub fn run_as(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        Ended::from(self.command(variables).args(arguments).output().unwrap())
    }

    /// Starts it with arguments in another folder.
    pub fn run_as_in(&self, folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Ended {
        let mut command = self.command(variables);
        Ended::from(command.args(arguments).current_dir(folder).output().unwrap())
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

    /// Runs it in another folder.
    pub fn run_in(&self, folder: &Path, variables: &[(&str, &str)]) -> Ended {
        Ended::from(self.command(variables).current_dir(folder).output().unwrap())
    }

    /// Runs it with an open file, which it does not know of.
    pub fn run_with(&self, file: &std::fs::File, variables: &[(&str, &str)]) -> Ended {
        let mut command = self.command(variables);
        let descriptor = std::os::fd::AsRawFd::as_raw_fd(file);
        let pass_on = move || {
            // SAFETY: a plain system call.
            match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: only a system call is made between the fork and the start of the program.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, pass_on) };
        Ended::from(command.output().unwrap())
    }

    /// Runs it where no more than so many files may be open, and nobody may change that.
    pub fn run_with_few_files(&self, files: u64, variables: &[(&str, &str)]) -> Ended {
        let mut command = self.command(variables);
        let limit = move || {
            /// The right to raise limits, among those that a superuser's process begins with.
            const CAP_SYS_RESOURCE: libc::c_ulong = 24;
            let limit = libc::rlimit {
                rlim_cur: files,
                rlim_max: files,
            };
            // SAFETY: a plain system call; who is no superuser does not have the right, nor that to give it back.
            unsafe { libc::prctl(libc::PR_CAPBSET_DROP, CAP_SYS_RESOURCE) };
            // SAFETY: the same; only reads the limit.
            match unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &limit) } {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        };
        // SAFETY: only system calls are made between the fork and the start of the program.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, limit) };
        Ended::from(command.output().unwrap())
    }

    /// Runs it without a superuser's right to go and write everywhere.
    pub fn run_as_owner(&self, variables: &[(&str, &str)]) -> Ended {
        let mut command = self.command(variables);
        let lessen = || {
            const CAP_DAC_OVERRIDE: libc::c_ulong = 1;
            const CAP_DAC_READ_SEARCH: libc::c_ulong = 2;
            // SAFETY: plain system calls; who is no superuser does not have these rights, nor that to give them back.
            unsafe {
                libc::prctl(libc::PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
                libc::prctl(libc::PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
            }
            Ok(())
        };
        // SAFETY: only system calls are made between the fork and the start of the program.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, lessen) };
        Ended::from(command.output().unwrap())
    }

    /// Starts the process and gives it to `meanwhile` while it runs.
    pub fn run_while(&self, variables: &[(&str, &str)], meanwhile: impl FnOnce(&mut Child)) -> Ended {
        Job::start(self.command(variables), meanwhile)
    }

    /// The same of a process that ignores interrupts from its beginning on.
    pub fn run_deaf(&self, variables: &[(&str, &str)], meanwhile: impl FnOnce(&mut Child)) -> Ended {
        let mut command = self.command(variables);
        let ignore = || {
            // SAFETY: a plain system call.
            unsafe { libc::signal(libc::SIGINT, libc::SIG_IGN) };
            Ok(())
        };
        // SAFETY: only a system call is made between the fork and the start of the program.
        unsafe { std::os::unix::process::CommandExt::pre_exec(&mut command, ignore) };
        Job::start(command, meanwhile)
    }

    fn start(mut command: Command, meanwhile: impl FnOnce(&mut Child)) -> Ended {
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

/// What a store says of its runs, in the order in which they began.
pub fn jobs_in(store: &Path) -> Vec<serde_json::Value> {
    let runs = std::fs::read_dir(store.join("runs"));
    let runs = runs.into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = runs.filter_map(|run| std::fs::read(run.join("job.json")).ok());
    let mut jobs: Vec<serde_json::Value> = files
        .map(|bytes| serde_json::from_slice(&bytes).unwrap())
        .collect();
    jobs.sort_by_key(|job| job["order"].as_u64());
    jobs
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
