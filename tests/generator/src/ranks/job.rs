//! A job: the ranks of a program, started by `mpirun`. Each works in a folder of its own, and prints into a pipe of its own, whose
//! other end this process holds: what a rank has printed before it dies is never lost with the launcher.

use harness::{Events, Tree, scratch_directory};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How many processes a program is started as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ranks(pub usize);

/// Longest time that a job may take: two seconds where nobody else wants the machine.
const PATIENCE: Duration = Duration::from_secs(120);
/// What is left behind by a launcher that has ended is given so long to end as well.
const GRACE: Duration = Duration::from_secs(10);

/// Where a job runs: a folder of each rank, and the store of all.
pub(super) struct Place {
    scratch: tempfile::TempDir,
    ranks: usize,
}

/// What a job printed and how it ended.
#[derive(Debug, Clone)]
pub(super) struct Run {
    /// By rank.
    pub stdout: Vec<Vec<u8>>,
    pub stderr: String,
    /// The launcher's exit code; `None` if it had to be killed, or a signal ended it.
    pub code: Option<i32>,
    /// It was killed as it did not end.
    pub is_hung: bool,
}

/// What is done to a job while it runs: so many milliseconds after all ranks have printed something, as `mpirun` itself may wait
/// for ever for a rank that dies while it brings MPI up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// SIGKILL to the rank of this number.
    Kill { after: u64, rank: usize },
    /// SIGTERM to the rank of this number.
    Stop { after: u64, rank: usize },
}

impl Place {
    pub fn new(Ranks(ranks): Ranks) -> std::io::Result<Place> {
        let place = Place {
            scratch: scratch_directory(),
            ranks,
        };
        for rank in 0..ranks {
            std::fs::create_dir_all(place.work(rank))?;
            let pipe = CString::new(place.pipe(rank).as_os_str().as_bytes())?;
            // SAFETY: the path ends with a zero byte and outlives the call.
            if unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) } != 0 {
                return Err(std::io::Error::last_os_error());
            }
        }
        Ok(place)
    }

    /// Where a rank works.
    fn work(&self, rank: usize) -> PathBuf {
        self.scratch.path().join(rank.to_string()).join("work")
    }

    fn pipe(&self, rank: usize) -> PathBuf {
        self.scratch.path().join(rank.to_string()).join("out")
    }

    fn store(&self) -> PathBuf {
        self.scratch.path().join("store")
    }

    /// What sessions here are told.
    pub fn settings(&self) -> Vec<(String, String)> {
        [
            ("CKPT_DIR", self.store().display().to_string()),
            ("CKPT_FULL_EVERY", "3".to_string()),
            ("CKPT_CHECK_UNWRITTEN", "1".to_string()),
            ("CKPT_QUIET", "1".to_string()),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into()
    }

    /// What the ranks have left.
    pub fn trees(&self) -> std::io::Result<Vec<Tree>> {
        (0..self.ranks).map(|rank| Tree::of(&self.work(rank))).collect()
    }

    /// What the store says of the checkpoints of the first rank.
    pub fn events(&self) -> Events {
        Events::of(&self.store())
    }

    /// Numbers of the lines that all ranks have.
    pub fn lines(&self) -> Vec<u64> {
        let mut found: BTreeMap<u64, BTreeSet<usize>> = BTreeMap::new();
        for entry in std::fs::read_dir(self.store()).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let parts: Vec<&str> = name.to_str().unwrap_or_default().split('.').collect();
            if let [line, rank, "h5"] = parts[..]
                && let Some(Ok(rank)) = rank.strip_prefix('r').map(str::parse)
                && let Ok(line) = line.parse()
            {
                found.entry(line).or_default().insert(rank);
            }
        }
        let whole = found.into_iter().filter(|(_, of)| of.len() == self.ranks);
        whole.map(|(line, _)| line).collect()
    }

    /// Runs a program as all ranks, to its end.
    pub fn run(
        &self,
        program: &Path,
        arguments: &[String],
        settings: &[(String, String)],
        signal: Option<Signal>,
    ) -> std::io::Result<Run> {
        let pipes: Vec<(Output, File)> = (0..self.ranks)
            .map(|rank| self.reader(rank))
            .collect::<std::io::Result<_>>()?;
        let mut command = self.launcher(program, arguments);
        command.envs(settings.iter().map(|(name, value)| (name, value)));
        let mut child = command.spawn()?;
        let stderr = read_all(child.stderr.take());
        let have_printed = || {
            pipes
                .iter()
                .all(|(output, _)| output.has_begun.load(Ordering::Relaxed))
        };
        let is_hung = !self.wait(&mut child, signal, have_printed)?;
        if is_hung {
            // SAFETY: a call without memory; the group is that of the child, which has not been waited for.
            unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
        }
        let ended = child.wait()?;
        self.end_left_behind();
        // As long as somebody could write into it, a pipe has no end: this process holds one end for writing until now.
        let stdout = pipes.into_iter().map(|(output, own_end)| {
            drop(own_end);
            output.whole.recv_timeout(GRACE).unwrap_or_default()
        });
        Ok(Run {
            stdout: stdout.collect(),
            stderr: String::from_utf8_lossy(&stderr.whole.recv_timeout(GRACE).unwrap_or_default())
                .into_owned(),
            code: ended.code().or(ended.signal().map(|signal| 128 + signal)),
            is_hung,
        })
    }

    fn launcher(&self, program: &Path, arguments: &[String]) -> Command {
        let mut command = Command::new("mpirun");
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("CKPT_") {
                command.env_remove(name);
            }
        }
        let script = "cd \"$0/$OMPI_COMM_WORLD_RANK/work\" && exec \"$@\" >../out";
        command
            .args(["-n", &self.ranks.to_string(), "sh", "-c", script])
            .arg(self.scratch.path())
            .arg(program)
            .args(arguments)
            .current_dir(self.scratch.path())
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("OMPI_MCA_mpi_yield_when_idle", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("HWLOC_COMPONENTS", "-opencl")
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        command
    }

    /// Whether it has ended in time.
    fn wait(
        &self,
        child: &mut Child,
        mut signal: Option<Signal>,
        have_printed: impl Fn() -> bool,
    ) -> std::io::Result<bool> {
        let since = Instant::now();
        let mut running = None;
        while child.try_wait()?.is_none() {
            if since.elapsed() > PATIENCE {
                return Ok(false);
            }
            if running.is_none() && have_printed() {
                running = Some(Instant::now());
            }
            if let Some(Signal::Kill { after, rank } | Signal::Stop { after, rank }) = signal
                && running.is_some_and(|since| since.elapsed() >= Duration::from_millis(after))
            {
                let number = match signal {
                    Some(Signal::Kill { .. }) => libc::SIGKILL,
                    _ => libc::SIGTERM,
                };
                for pid in Place::processes_below(&self.work(rank)) {
                    // SAFETY: a call without memory; a process that works in the folder of a test is the test's own.
                    unsafe { libc::kill(pid, number) };
                    signal = None;
                }
            }
            std::thread::sleep(Duration::from_millis(3));
        }
        Ok(true)
    }

    fn processes_below(folder: &Path) -> Vec<i32> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let works_there = |pid: &i32| {
            let at = std::fs::read_link(format!("/proc/{pid}/cwd"));
            at.is_ok_and(|at| at.starts_with(folder))
        };
        numbers.filter(works_there).collect()
    }

    /// Ends the ranks that a launcher has left: they end by themselves where it only was quicker.
    fn end_left_behind(&self) {
        let since = Instant::now();
        loop {
            let left = Place::processes_below(self.scratch.path());
            if left.is_empty() || since.elapsed() > GRACE {
                return;
            }
            if since.elapsed() > GRACE / 5 {
                for pid in left {
                    // SAFETY: a call without memory; a process that works in the folder of a test is the test's own.
                    unsafe { libc::kill(pid, libc::SIGKILL) };
                }
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// What is printed into the pipe of a rank; it ends when its other end, which is given as well, is closed by all.
    fn reader(&self, rank: usize) -> std::io::Result<(Output, File)> {
        let path = self.pipe(rank);
        // Without waiting for a writer, which is opened next.
        let reading = File::options()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(&path)?;
        let own_end = File::options().write(true).open(&path)?;
        let blocking = File::open(&path)?;
        drop(reading);
        Ok((read_all(Some(blocking)), own_end))
    }
}

/// What comes out of a pipe.
struct Output {
    whole: Receiver<Vec<u8>>,
    has_begun: Arc<AtomicBool>,
}

fn read_all(mut pipe: Option<impl Read + Send + 'static>) -> Output {
    let (sender, whole) = channel();
    let has_begun = Arc::new(AtomicBool::new(false));
    let begins = has_begun.clone();
    std::thread::spawn(move || {
        let (mut bytes, mut part) = (Vec::new(), [0; 4096]);
        // A read error ends the text here; the comparison shows what is missing.
        while let Some(Ok(count @ 1..)) = pipe.as_mut().map(|pipe| pipe.read(&mut part)) {
            bytes.extend(&part[..count]);
            begins.store(true, Ordering::Relaxed);
        }
        let _ = sender.send(bytes);
    });
    Output { whole, has_begun }
}
