//! What it costs to put wrong state right, from the cheapest way to the dearest, as ratios of one run.

mod himeno;

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

/// Measures the repair of a variable, rollbacks from memory and from disk, a new process, and a restart of the job.
#[derive(Parser)]
struct Options {
    /// Megabytes of state.
    #[arg(default_value_t = 1000)]
    megabytes: usize,
    /// How often each is measured, in turn; the median counts.
    #[arg(long, default_value_t = 5)]
    times: u32,
    /// Leaves out what reads from the disk.
    #[arg(long)]
    memory_only: bool,
    /// Ends with an error where a bar is missed.
    #[arg(long)]
    check: bool,
    /// Measures this program of two ranks instead: himeno, as `cargo ckpt run --release` has built it.
    #[arg(long, value_name = "EXECUTABLE")]
    himeno: Option<PathBuf>,
}

/// Below this state, a rollback is the walk and nothing else.
const LITTLE: usize = 1 << 17;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// One variable is put right, half of the state.
    Repair(u32),
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
            Way::Repair(seed) => command
                .env("BENCH_KEEPS_START", "1")
                .env("BENCH_CELLS", (self.cells / 2).to_string())
                .env("BENCH_MARK", "")
                .env("CKPT_SNAPSHOT_EVERY", "1")
                .env("CKPT_SNAPSHOTS", "1")
                .env("CKPT_DETECT", "unchanged")
                .env("CKPT_EVERY", "100")
                .env("CKPT_QUIET", "0")
                .env("CKPT_FAULT", format!("flip:5:{seed}")),
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

    /// By how much longer the look takes that finds a bit turned, and puts it right, than the one before.
    fn repair(&self) -> Result<Duration> {
        for seed in 0..32 {
            let said = self.run(Way::Repair(seed), false)?;
            if !said.contains("W2413") {
                continue;
            }
            let at = |word: &str, turn: u32| -> Result<u64> {
                let line = format!("bench: {word} {turn} ");
                let (_, rest) = said.split_once(&line).with_context(|| said.clone())?;
                Ok(rest.split_whitespace().next().context("no time")?.parse()?)
            };
            let look = |turn: u32| -> Result<u64> { Ok(at("at", turn)? - at("before", turn)?) };
            return Ok(Duration::from_nanos(look(6)?.saturating_sub(look(5)?)));
        }
        bail!("no bit was turned in what is put right")
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

fn timed(cells: usize, way: Way) -> Result<Duration> {
    let trial = Trial::begin(cells)?;
    match way {
        Way::Repair(_) => trial.repair(),
        _ => trial.time(way),
    }
}

fn median(mut all: Vec<Duration>) -> Result<Duration> {
    all.sort_unstable();
    all.get(all.len() / 2).copied().context("--times is 0")
}

/// A copy between two pieces of memory that have been touched before, by as many threads as a rollback has.
fn warm_copy(bytes: usize) -> Duration {
    let from = vec![1_u8; bytes];
    let mut to = vec![2_u8; bytes];
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get().min(8));
    let mut best = Duration::MAX;
    for _ in 0..3 {
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
    match &options.himeno {
        Some(program) => himeno::measure(program, options.times, options.check),
        None => measure_heat(&options),
    }
}

fn measure_heat(options: &Options) -> Result<()> {
    let bytes = options.megabytes * 1_000_000;
    let cells = bytes / 8;
    let little = LITTLE.min(cells);
    // In turn, as what else the machine does changes.
    let ways: [(&str, &dyn Fn() -> Result<Duration>); 7] = [
        ("a warm copy of the state", &|| Ok(warm_copy(bytes))),
        ("the walk alone (1 MB of state)", &|| timed(little, Way::Memory)),
        ("repair of one variable, half of the state", &|| {
            timed(cells, Way::Repair(0))
        }),
        ("rollback in the process, from memory", &|| {
            timed(cells, Way::Memory)
        }),
        ("rollback in the process, from disk", &|| timed(cells, Way::Disk)),
        ("the process begins anew, from disk", &|| {
            timed(cells, Way::NewProcess)
        }),
        ("restart of the job, from disk", &|| timed(cells, Way::Restart)),
    ];
    let wanted = if options.memory_only { 4 } else { ways.len() };
    let mut all = vec![Vec::new(); wanted];
    for _ in 0..options.times {
        for ((_, time), all) in ways.iter().zip(&mut all) {
            all.push(time()?);
        }
    }
    // Each against the copy beside it.
    let without_walk = |number: usize| {
        let spent = all[3][number].saturating_sub(all[1][number]);
        spent.as_secs_f64() / all[0][number].as_secs_f64()
    };
    let mut of_copy: Vec<f64> = (0..all[0].len()).map(without_walk).collect();
    of_copy.sort_by(f64::total_cmp);
    let of_copy = *of_copy.get(of_copy.len() / 2).context("--times is 0")?;
    let medians: Vec<Duration> = all.into_iter().map(median).collect::<Result<_>>()?;
    let names = ways.iter().map(|(name, _)| *name);
    let dearest = medians.last().copied().filter(|_| !options.memory_only);
    table(
        &format!("{} MB of state", options.megabytes),
        names.zip(medians.iter().copied()),
        dearest,
    );
    println!("from memory without the walk: {of_copy:.2} of a warm copy (bar: at most 1.3)");
    let faster = |time: Duration| {
        dearest.map_or(f64::INFINITY, |dearest| {
            dearest.as_secs_f64() / time.as_secs_f64()
        })
    };
    let slowest = faster(medians[2]).min(faster(medians[3]));
    if dearest.is_some() {
        println!(
            "a restart of the job takes {slowest:.1} times as long as the slower of repair and rollback (bar: at least 10)"
        );
    }
    ensure!(
        !options.check || of_copy <= 1.3 && slowest >= 10.0,
        "a bar was missed"
    );
    Ok(())
}

/// Times, and how much faster each is than the dearest.
fn table<'n>(title: &str, rows: impl Iterator<Item = (&'n str, Duration)>, dearest: Option<Duration>) {
    println!("{title:44} {:>12} {:>8}", "time", "faster");
    for (name, time) in rows {
        let faster = dearest.map_or(String::new(), |dearest| {
            format!("{:8.1}", dearest.as_secs_f64() / time.as_secs_f64())
        });
        println!("{name:44} {:9.3} ms {faster}", time.as_secs_f64() * 1e3);
    }
}
