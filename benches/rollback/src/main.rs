//! What it costs to go back to a checkpoint, from the cheapest way to the dearest, as ratios of one run.

use std::hint::black_box;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use tempfile::TempDir;

/// Measures rollbacks from memory and from disk, a new process, and a restart of the job.
#[derive(Parser)]
struct Options {
    /// Megabytes of state.
    #[arg(default_value_t = 1000)]
    megabytes: usize,
    /// How often each is measured; the fastest counts.
    #[arg(long, default_value_t = 3)]
    times: u32,
    /// Leaves out what reads from the disk.
    #[arg(long)]
    memory_only: bool,
    /// Ends with an error where a bar is missed.
    #[arg(long)]
    check: bool,
}

/// Below this state, a rollback is the walk and nothing else.
const LITTLE: usize = 1 << 17;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Memory,
    Disk,
    NewProcess,
    Restart,
}

struct Trial {
    folder: TempDir,
    mark: PathBuf,
    cells: usize,
}

impl Trial {
    fn begin(cells: usize) -> Result<Trial> {
        let folder = TempDir::new()?;
        fs::create_dir(folder.path().join("work"))?;
        let mark = folder.path().join("mark");
        Ok(Trial { folder, mark, cells })
    }

    fn run(&self, way: Way, restarts: bool) -> Result<String> {
        let mut command = Command::new(program()?);
        command
            .current_dir(self.folder.path().join("work"))
            .env("BENCH_MARK", &self.mark)
            .env("BENCH_CELLS", self.cells.to_string())
            .env("CKPT_EVERY", "4")
            .env("CKPT_KEEP", "1")
            .env("CKPT_BACKGROUND", "0")
            .env("CKPT_QUIET", "1")
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        match way {
            Way::Memory => command.env("CKPT_SNAPSHOT_EVERY", "6").env("CKPT_SNAPSHOTS", "1"),
            Way::NewProcess => command.env("CKPT_ROLLBACK_IN_PROCESS", "0"),
            Way::Restart if !restarts => command.env("BENCH_DIES", "1"),
            Way::Disk | Way::Restart => &mut command,
        };
        if restarts {
            command.env("CKPT_RESTART", "latest");
        }
        let output = command.output().context("the program cannot be started")?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success() || way == Way::Restart && !restarts,
            "the program ended with {}: {text}",
            output.status
        );
        Ok(text)
    }

    /// From the moment at which the state is found wrong to the site of the checkpoint.
    fn time(&self, way: Way) -> Result<Duration> {
        let mut said = self.run(way, false)?;
        if way == Way::Restart {
            forget(&self.folder.path().join("work"))?;
            said += &self.run(way, true)?;
        }
        let struck = said
            .find("bench: struck")
            .with_context(|| format!("it was never struck: {said}"))?;
        let after = &said[struck..];
        let expected = if way == Way::Memory {
            "bench: at 6 "
        } else {
            "bench: at 4 "
        };
        let there = after
            .find(expected)
            .with_context(|| format!("it did not come back: {said}"))?;
        let number = |text: &str, word: usize| -> Result<u64> {
            Ok(text.split_whitespace().nth(word).context("no time")?.parse()?)
        };
        let (from, to) = (number(after, 2)?, number(&after[there..], 3)?);
        Ok(Duration::from_nanos(to - from))
    }
}

/// What is on the disk is read from there the next time, and not from memory.
fn forget(folder: &Path) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            forget(&path)?;
            continue;
        }
        let file = fs::File::open(&path)?;
        file.sync_all()?;
        // SAFETY: advice about a file that is open.
        unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    }
    Ok(())
}

fn program() -> Result<PathBuf> {
    let own = env::current_exe()?;
    let beside = own.parent().unwrap_or(Path::new(".")).join("rollback-heat");
    if !beside.exists() {
        bail!(
            "{} is not there: cargo build --release -p rollback-bench",
            beside.display()
        );
    }
    Ok(beside)
}

fn fastest(times: u32, cells: usize, way: Way) -> Result<Duration> {
    let mut all = Vec::new();
    for _ in 0..times {
        all.push(Trial::begin(cells)?.time(way)?);
    }
    all.into_iter().min().context("--times is 0")
}

/// A copy between two pieces of memory that have been touched before, by as many threads as a rollback has.
fn warm_copy(bytes: usize, times: u32) -> Duration {
    let from = vec![1_u8; bytes];
    let mut to = vec![2_u8; bytes];
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get().min(8));
    let mut best = Duration::MAX;
    for _ in 0..=times {
        let began = Instant::now();
        let piece = bytes.div_ceil(threads).max(1);
        thread::scope(|scope| {
            for (from, to) in from.chunks(piece).zip(to.chunks_mut(piece)) {
                scope.spawn(move || to.copy_from_slice(from));
            }
        });
        best = best.min(began.elapsed());
        black_box(&to);
    }
    best
}

fn main() -> Result<()> {
    let options = Options::parse();
    let bytes = options.megabytes * 1_000_000;
    let cells = bytes / 8;
    let copy = warm_copy(bytes, options.times);
    let walk = fastest(options.times, LITTLE.min(cells), Way::Memory)?;
    let in_memory = fastest(options.times, cells, Way::Memory)?;
    if options.memory_only {
        println!("copy {copy:?} walk {walk:?} memory {in_memory:?}");
        return Ok(());
    }
    let from_disk = fastest(options.times, cells, Way::Disk)?;
    let new_process = fastest(options.times, cells, Way::NewProcess)?;
    let restart = fastest(options.times, cells, Way::Restart)?;
    let row = |what: &str, time: Duration| {
        let of_copy = time.as_secs_f64() / copy.as_secs_f64();
        let faster = restart.as_secs_f64() / time.as_secs_f64();
        println!(
            "{what:44} {:9.1} ms {of_copy:8.2} {faster:8.1}",
            time.as_secs_f64() * 1e3
        );
    };
    println!(
        "{:44} {:>12} {:>8} {:>8}",
        format!("{} MB of state", options.megabytes),
        "time",
        "copies",
        "faster"
    );
    row("a warm copy of the state", copy);
    row("the walk alone (1 MB of state)", walk);
    row("rollback in the process, from memory", in_memory);
    row("rollback in the process, from disk", from_disk);
    row("the process begins anew, from disk", new_process);
    row("restart of the job, from disk", restart);
    let without_walk = in_memory.saturating_sub(walk).as_secs_f64() / copy.as_secs_f64();
    let faster = restart.as_secs_f64() / in_memory.as_secs_f64();
    println!("from memory without the walk: {without_walk:.2} of a warm copy (bar: at most 1.3)");
    println!("a restart of the job takes {faster:.1} times as long (bar: at least 10)");
    ensure!(
        !options.check || without_walk <= 1.3 && faster >= 10.0,
        "a bar was missed"
    );
    Ok(())
}
