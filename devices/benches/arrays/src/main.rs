//! What checkpoints of arrays on devices cost, as ratios of one run: how long the program waits for one, with all arrays written
//! since the one before or one of twenty; a restart; and the instructions of a program in which none is due.

mod idle;
mod table;

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use tempfile::TempDir;

/// Measures waits, a restart, and a program in which nothing is due.
#[derive(Parser)]
struct Options {
    /// Millions of bytes on the device, in twenty arrays.
    #[arg(default_value_t = 160)]
    megabytes: usize,
    /// Checkpoints of each run; the first does not count.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Leaves out what callgrind counts.
    #[arg(long)]
    no_instructions: bool,
    /// Prints the tables of the examples, and nothing else.
    #[arg(long)]
    table: bool,
    /// Ends with an error where a bar is missed.
    #[arg(long)]
    check: bool,
    /// The folder for the stores: in memory, so that no disk is waited for.
    #[arg(long, default_value = "/dev/shm")]
    folder: PathBuf,
}

/// A run of the program that is measured.
struct Run {
    folder: TempDir,
    megabytes: usize,
    rounds: usize,
}

/// What a run has said: nanoseconds.
#[derive(Default)]
struct Said {
    /// Until the first site, from before the process was there.
    first_site: f64,
    waits: Vec<f64>,
    reads: Vec<f64>,
    write: f64,
}

fn now() -> f64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes to `time` only.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

impl Run {
    fn new(options: &Options) -> Result<Run> {
        Ok(Run {
            folder: TempDir::new_in(&options.folder)?,
            megabytes: options.megabytes,
            rounds: options.rounds,
        })
    }

    fn says(&self, settings: &[(&str, &str)]) -> Result<Said> {
        let began = now();
        let output = Command::new(program()?)
            .current_dir(self.folder.path())
            .env("BENCH_COUNT", (self.megabytes * 1_000_000 / 20 / 4).to_string())
            .env("BENCH_HOST", (self.megabytes * 1_000_000 / 5 / 8).to_string())
            .env("BENCH_ROUNDS", self.rounds.to_string())
            .env("CKPT_DIR", self.folder.path().join("store"))
            .env("CKPT_EVERY", "1")
            .env("CKPT_KEEP", "2")
            .env("CKPT_QUIET", "1")
            .env_remove("CKPT_RESTART")
            .envs(settings.iter().copied())
            .stdin(Stdio::null())
            .output()
            .context("the program cannot be started")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let mut said = Said::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words[..] {
                ["site", _, "at", there, "wait", wait] => {
                    let (there, wait): (f64, f64) = (there.parse()?, wait.parse()?);
                    if said.first_site == 0.0 {
                        said.first_site = there - wait - began;
                    }
                    said.waits.push(wait);
                }
                ["read", time] => said.reads.push(time.parse()?),
                ["write", time] => said.write = time.parse()?,
                _ => {}
            }
        }
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(!said.waits.is_empty(), "{}: {errors}", output.status);
        Ok(said)
    }
}

fn program() -> Result<PathBuf> {
    let own = env::current_exe()?;
    let beside = own.with_file_name("arrays");
    ensure!(beside.exists(), "{} is not there", beside.display());
    Ok(beside)
}

/// The one in the middle.
fn median(mut all: Vec<f64>) -> f64 {
    all.sort_unstable_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Without the first, for which memory is touched for the first time.
fn later(times: &[f64]) -> Vec<f64> {
    times.get(1..).unwrap_or_default().to_vec()
}

/// Each restart against the beginning before it.
fn restarts(options: &Options) -> Result<f64> {
    let mut ratios = Vec::new();
    for _ in 0..options.rounds {
        let run = Run::new(options)?;
        let fresh = run.says(&[("BENCH_ROUNDS", "1")])?;
        fs::remove_dir_all(run.folder.path().join("store"))?;
        run.says(&[("BENCH_DIES", "2"), ("BENCH_ROUNDS", "2")])?;
        // The first site that it comes to is that of the checkpoint, which it leaves at once.
        let again = run.says(&[("CKPT_RESTART", "latest"), ("BENCH_ROUNDS", "2")])?;
        ensure!(again.waits.len() == 1, "it did not restart");
        ratios.push((again.first_site + again.waits[0]) / (fresh.first_site + fresh.write));
    }
    Ok(median(ratios))
}

fn main() -> Result<()> {
    let options = Options::parse();
    if options.table {
        return table::print();
    }
    let all = Run::new(&options)?.says(&[])?;
    let few = Run::new(&options)?.says(&[("BENCH_FEW", "1"), ("CKPT_FULL_EVERY", "1000")])?;
    let restart = restarts(&options)?;
    let mut missed = Vec::new();
    let mut row = |what: &str, against: &str, ratio: f64, bar: f64| {
        println!("{what:44} / {against:44} {ratio:7.3}   at most {bar}");
        if ratio > bar {
            missed.push(what.to_owned());
        }
    };
    let (waits, reads) = (later(&all.waits), later(&all.reads));
    row(
        "wait, all arrays written",
        "reading them and memcpy of the list",
        median(waits.iter().zip(&reads).map(|(wait, read)| wait / read).collect()),
        1.2,
    );
    row(
        "wait, 5 % of the arrays written",
        "wait, all",
        median(later(&few.waits)) / median(waits),
        0.2,
    );
    row("restart", "set-up and writing the arrays", restart, 1.2);
    if !options.no_instructions {
        row("instructions, nothing due", "plain program", idle::ratio()?, 1.01);
    }
    println!("load {}", fs::read_to_string("/proc/loadavg")?.trim());
    ensure!(
        !options.check || missed.is_empty(),
        "above their bar: {}",
        missed.join(", ")
    );
    Ok(())
}
