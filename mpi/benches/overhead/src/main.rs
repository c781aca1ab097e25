//! What ckpt costs a program of several processes while no checkpoint is due: himeno with two ranks, as it is and
//! instrumented, with an interval that is never over, so that the ranks tell each other what their clocks say.
//!
//! Two measures, both as ratios to the plain program. Wall time of the iterations, by the program's own figure of merit:
//! runs in turn, median of the ratios, and best against best. Where a loop's code comes to lie in memory changes its speed by
//! more than what is looked for, and any change to a program moves it (Mytkowicz et al., "Producing wrong data without doing
//! anything obviously wrong", ASPLOS 2009): so both programs are built in several layouts, and the ratio is over all of them.
//! Instructions in the executable itself, the program's and
//! ckpt's but not those of the MPI library, which waits in a busy loop: as callgrind counts them on every rank,
//! as the difference of two run lengths, so that starting up does not count.
//!
//! Then the time of the reduction with which the ranks of a restart agree, for growing numbers of ranks.
//!
//! `--teams` measures the examples with threads in their ranks instead, one rank with two threads: instructions as above, and
//! the time of whole runs.
//! `CARGO_CKPT=... cargo run --release -p mpi-overhead -- [--pairs N] [--check] [--teams]`

mod built;
mod callgrind;
mod wall;

use std::num::NonZeroUsize;

use anyhow::{Result, ensure};
use built::{Built, Example, finish};
use clap::Parser;

/// `--check` fails above this many extra instructions.
const BAR: f64 = 0.01;
const RANKS: [u32; 4] = [1, 2, 4, 8];

const HIMENO: Example = Example {
    name: "himeno",
    ranks: 2,
    counted: ["XS 20 2 1 1", "XS 60 2 1 1"],
    timed: "S 1000 2 1 1",
};

/// Examples whose ranks have threads, two of them.
const TEAMS: [Example; 2] = [
    Example {
        name: "sphot-mpi",
        ranks: 1,
        counted: ["2 4 2000", "2 12 2000"],
        timed: "2 300 20000",
    },
    Example {
        name: "snap-like",
        ranks: 1,
        counted: ["2 48 64 2 8", "2 48 64 6 8"],
        timed: "2 256 256 40 40",
    },
];

const EXAMPLE: &str = "\
Example:
  CARGO_CKPT=target/debug/cargo-ckpt cargo run --release --manifest-path mpi/Cargo.toml -p mpi-overhead -- --pairs 5";

/// What checkpoints that are not due cost programs of several processes
#[derive(Debug, clap::Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    /// How many pairs of runs are compared in each layout
    #[arg(long, default_value = "21")]
    pairs: NonZeroUsize,
    /// Fail where a program is slower than the book says
    #[arg(long)]
    check: bool,
    /// Measure the examples with threads in their ranks
    #[arg(long)]
    teams: bool,
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').take(2).collect::<Vec<_>>().join(" ")
}

/// Compares instructions; the greatest share by which there are more.
fn report_instructions(built: &Built) -> Result<f64> {
    let [plain, instrumented] = built.programs().map(|program| built.instructions(program));
    let (plain, instrumented) = (plain?, instrumented?);
    let mut worst = 0.0_f64;
    for (rank, (plain, instrumented)) in plain.iter().zip(&instrumented).enumerate() {
        let ratio = instrumented / plain;
        worst = worst.max(ratio - 1.0);
        let Example { name, ranks, .. } = built.example;
        println!("{name}, rank {rank} of {ranks}: instructions {ratio:.5}");
    }
    Ok(worst)
}

/// Compares the time of whole runs.
fn report_runs(built: &Built, pairs: usize) -> Result<()> {
    let mut ratios = Vec::new();
    for number in 0..pairs {
        let mut times = [0.0; 2];
        let mut answers = Vec::new();
        // Neither is always the first.
        for program in [number % 2, 1 - number % 2] {
            let (time, answer, _) = built.timed(built.programs()[program])?;
            times[program] = time;
            answers.push(answer);
        }
        ensure!(answers[0] == answers[1], "the programs disagree");
        ratios.push(times[1] / times[0]);
    }
    let [low, median, high] = wall::quarters(&ratios);
    println!(
        "{}: wall {median:.4} (median of {pairs}, half between {low:.4} and {high:.4})",
        built.example.name
    );
    Ok(())
}

fn report_reduction(built: &Built) -> Result<()> {
    for ranks in RANKS {
        let mut command = built.launcher(ranks);
        let (told, _) = finish(command.arg(&built.reduction))?;
        let time = told.split_whitespace().nth(1).unwrap_or("?");
        println!("reduction, {ranks} rank(s): {time} us");
    }
    Ok(())
}

fn main() -> Result<()> {
    let options = Options::parse();
    let pairs = options.pairs.get();
    println!("load of the machine: {}", load());
    let mut worst = 0.0_f64;
    if options.teams {
        for example in &TEAMS {
            let built = Built::new(example, 0)?;
            worst = worst.max(report_instructions(&built)?);
            report_runs(&built, pairs)?;
        }
    } else {
        let built = Built::new(&HIMENO, 0)?;
        worst = report_instructions(&built)?;
        wall::report(pairs, &built)?;
        report_reduction(&built)?;
    }
    println!("load of the machine: {}", load());
    ensure!(
        !options.check || worst <= BAR,
        "instrumentation costs {:.2} % more instructions",
        100.0 * worst
    );
    Ok(())
}
