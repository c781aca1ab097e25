//! What instrumentation costs while no checkpoint is due: plain programs against instrumented ones.
//!
//! The same sources are built twice, in the packages `overhead-plain` (attributes and sites vanish) and
//! `overhead-instrumented`, and run in three variants: plain, instrumented without a session, instrumented with a
//! session in which no checkpoint becomes due. Two measures, both as ratios to plain: instructions as
//! valgrind counts them, as the difference of two run lengths so that starting up does not count; and wall times of
//! interleaved runs, median and best.
//! `cargo run -p overhead -- [--check] [--pairs N] [--instructions] [--threads] [--stop] [--unmodified [PACKAGE ..] [--page FILE]]`

mod program;
mod stop;
mod table;
mod unmodified;

use anyhow::{Context, Result, ensure};
use clap::Parser;
use program::{PHOTONS, PROGRAMS, Program, UNMODIFIED, Variant};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// `--check` fails above this many extra instructions.
const BAR: f64 = 0.01;

const EXAMPLE: &str = "\
Example:
  cargo run --release -p overhead -- --pairs 21
  cargo run --release -p overhead -- --check --instructions
  cargo run --release -p overhead -- --unmodified nas-cg queens
  cargo run --release -p overhead -- --unmodified --page docs/src/performance.md";

/// What sites cost where no checkpoint is due: every program with them and without, in turn
#[derive(Debug, clap::Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    /// Fail where a program is slower than the book says
    #[arg(long)]
    check: bool,
    /// How many pairs of runs are compared
    #[arg(long, default_value = "9")]
    pairs: NonZeroUsize,
    /// Count instructions with valgrind, and take no times
    #[arg(long)]
    instructions: bool,
    /// Measure more programs with threads as well: `sphot-like`, and a package that `cargo ckpt` instruments
    #[arg(long)]
    threads: bool,
    /// Measure how fast teams stop, and nothing else
    #[arg(long)]
    stop: bool,
    /// Count instructions of packages that `cargo ckpt` instruments, of these or of all, and measure nothing else
    #[arg(long, value_name = "PACKAGE", num_args = 0..)]
    unmodified: Option<Vec<String>>,
    /// Write the table of these packages into a page of the book
    #[arg(long, value_name = "FILE", requires = "unmodified")]
    page: Option<PathBuf>,
}

fn target() -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let target = own.parent().and_then(Path::parent);
    Ok(target
        .context("the benchmark is run from cargo's target folder")?
        .to_owned())
}

/// Builds both packages and says where the executables are.
fn build() -> Result<PathBuf> {
    let target = target()?;
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--release",
            "-p",
            "overhead-plain",
            "-p",
            "overhead-instrumented",
        ])
        .arg("--target-dir")
        .arg(&target)
        .arg("--manifest-path")
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.toml"))
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the build failed");
    Ok(target.join("release"))
}

/// Instructions of one run, as valgrind counts them. Cachegrind without its caches takes half of callgrind's time for the same number.
fn instructions(command: &Command) -> Result<u64> {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args([
            "--tool=cachegrind",
            "--cache-sim=no",
            "--cachegrind-out-file=/dev/null",
        ])
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().context("every run has a folder")?)
        // In which arenas threads meet that free each other's rows is chance, and worth 6 % of `team-heat`.
        .env("MALLOC_ARENA_MAX", "1");
    for (name, value) in command.get_envs() {
        valgrind.env(name, value.context("variables are only set")?);
    }
    let output = valgrind
        .output()
        .context("cannot start valgrind; `apt-get install valgrind`")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "under valgrind:\n{said}");
    // `==4711== I   refs:      680,726,432`
    let count = said.lines().find_map(|line| {
        let (before, count) = line.split_once("refs:")?;
        before.trim_end().ends_with(" I").then_some(count)
    });
    let count = count.context("valgrind counted nothing")?;
    Ok(count.trim().replace(',', "").parse()?)
}

/// Instructions of the loop itself: a run twice as long less a run.
fn loop_instructions(program: &Program, variant: Variant, binaries: &Path, folder: &Path) -> Result<f64> {
    let count = |size| instructions(&program.command(variant, binaries, folder, size)?);
    let (short, long) = (count(program.short)?, count(2 * program.short)?);
    ensure!(
        long > short,
        "{}: a longer run needs no more instructions",
        program.name
    );
    Ok((long - short) as f64)
}

fn wall(mut command: Command) -> Result<(Duration, Vec<u8>)> {
    let start = Instant::now();
    let output = command.output().context("cannot start the program")?;
    let time = start.elapsed();
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok((time, output.stdout))
}

/// Ratios of wall times to plain, median of the pairs and best against best, for each instrumented variant.
fn wall_ratios(program: &Program, pairs: usize, binaries: &Path, folder: &Path) -> Result<[(f64, f64); 2]> {
    let mut times = [const { Vec::new() }; 3];
    for _ in 0..pairs {
        let mut outputs = Vec::new();
        for (variant, times) in Variant::ALL.into_iter().zip(&mut times) {
            // Without the start of the program.
            let (start, _) = wall(program.command(variant, binaries, folder, program.short)?)?;
            let (time, output) = wall(program.command(variant, binaries, folder, program.long)?)?;
            times.push(time.saturating_sub(start).as_secs_f64());
            outputs.push(output);
        }
        ensure!(
            outputs.windows(2).all(|two| two[0] == two[1]),
            "{}: the variants disagree",
            program.name
        );
    }
    let best = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    Ok([1, 2].map(|variant| {
        let mut ratios: Vec<f64> = times[variant]
            .iter()
            .zip(&times[0])
            .map(|(time, plain)| time / plain)
            .collect();
        ratios.sort_by(f64::total_cmp);
        (ratios[pairs / 2], best(&times[variant]) / best(&times[0]))
    }))
}

fn main() -> Result<()> {
    let options = Options::parse();
    let folder = tempfile::tempdir()?;
    if let Some(names) = &options.unmodified {
        let binaries = target()?.join("release");
        return unmodified::measure(
            names,
            options.check,
            options.page.as_deref(),
            &binaries,
            folder.path(),
        );
    }
    let binaries = build()?;
    if options.stop {
        return stop::measure(&binaries, folder.path());
    }
    if options.threads {
        unmodified::build(&binaries, folder.path())?;
    }
    let mut worst = 0.0_f64;
    println!(
        "ratios to the plain program        instructions   wall, median of {}   wall, best",
        options.pairs
    );
    let more: &[Program] = match options.threads {
        true => &[PHOTONS, UNMODIFIED],
        false => &[],
    };
    let programs = PROGRAMS.iter().chain(more);
    for program in programs {
        let plain = loop_instructions(program, Variant::Plain, &binaries, folder.path())?;
        let walls = match !options.instructions {
            true => Some(wall_ratios(
                program,
                options.pairs.get(),
                &binaries,
                folder.path(),
            )?),
            false => None,
        };
        for (k, variant) in [Variant::Idle, Variant::Session].into_iter().enumerate() {
            let ratio = loop_instructions(program, variant, &binaries, folder.path())? / plain;
            worst = worst.max(ratio - 1.0);
            let (median, best) = walls.map_or(("-".into(), "-".into()), |walls| {
                (format!("{:.4}", walls[k].0), format!("{:.4}", walls[k].1))
            });
            println!(
                "{:<12} {:<22} {ratio:11.5} {median:>19} {best:>12}",
                program.name,
                variant.describe()
            );
        }
    }
    ensure!(
        !options.check || worst <= BAR,
        "instrumentation costs {:.2} % more instructions",
        100.0 * worst
    );
    Ok(())
}
