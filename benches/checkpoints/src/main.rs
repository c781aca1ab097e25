//! What checkpoints and restarts cost the programs that papers measure: run times as ratios of one run, what is registered and
//! written, where the time of a checkpoint and of a restart goes, and how long it takes from the death of a rank until the
//! program runs on.

mod built;
mod events;
mod programs;
mod runs;
mod table;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;

use built::{Built, Variant};
use events::{Parts, Resumed, Taken};
use programs::{PROGRAMS, Program};
use runs::{Recovered, Rule, Run, killed, whole};

/// The program is thought to fail once in so many of its run times.
const RUNS_TO_FAILURE: f64 = 10.0;

/// Measures run times, checkpoints, restarts and recovery.
#[derive(Parser)]
#[command(after_help = "\
Example:
  CARGO_CKPT=target/debug/cargo-ckpt cargo run -p checkpoints -- --only himeno --only md --markdown")]
struct Options {
    /// Measures this program only; may be given several times.
    #[arg(long, value_name = "PROGRAM")]
    only: Vec<String>,
    /// Builds without optimisation, which is sooner done: to try the benchmark itself.
    #[arg(long)]
    dev: bool,
    /// How often each run is made, in turn; medians count.
    #[arg(long, default_value = "3")]
    rounds: NonZeroUsize,
    /// Prints the table as it stands in the book.
    #[arg(long)]
    markdown: bool,
    /// Puts the table into this page of the book.
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
}

/// What was found out about a program.
pub struct Measured {
    /// Which one.
    pub program: &'static Program,
    /// Seconds of the plain program.
    pub plain: f64,
    /// Run times of the instrumented program to that: nothing due, one checkpoint, and by Young and Daly.
    pub ratios: [f64; 3],
    /// The interval by Young and Daly, in seconds, and how many checkpoints that made.
    pub daly: (f64, usize),
    /// Bytes of memory of a rank of the plain program.
    pub memory: u64,
    /// The one checkpoint, with the medians of its times.
    pub taken: Taken,
    /// The restart, by medians.
    pub recovered: Recovered,
}

/// The interval that pays, of what a checkpoint costs and the time from one failure to the next: Daly 2006, equation 37, in
/// seconds.
fn daly(cost: f64, failures: f64) -> f64 {
    let part = cost / (2.0 * failures);
    if part >= 1.0 {
        return failures;
    }
    (2.0 * cost * failures).sqrt() * (1.0 + part.sqrt() / 3.0 + part / 9.0) - cost
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

/// The medians of each part, over several of the same thing.
fn medians<T, const N: usize>(all: &[T], parts: impl Fn(&T) -> [f64; N]) -> [f64; N] {
    std::array::from_fn(|part| median(all.iter().map(|one| parts(one)[part]).collect()))
}

/// The one checkpoint of a run.
fn only_one(run: &Run) -> Result<Taken> {
    match run.taken()[..] {
        [taken] => Ok(taken),
        ref all => bail!("{} checkpoints were taken instead of one", all.len()),
    }
}

fn measure(program: &'static Program, rounds: usize, optimised: bool) -> Result<Measured> {
    let built = Built::new(program, optimised)?;
    let instrumented = |rule| whole(&built, Variant::Instrumented, rule, false);
    let looked_at = whole(&built, Variant::Plain, Rule::Never, true)?;
    let visits = instrumented(Rule::Never)?.visits()?;
    // Once only: the next would be behind the end.
    let every = (visits * 3).div_ceil(4).max(visits / 2 + 1);
    let at = Rule::Every(every);
    let cost = only_one(&instrumented(at)?)?.waited;
    let interval = daly(cost, RUNS_TO_FAILURE * looked_at.seconds).max(1e-3);
    let by_daly = Rule::Interval(Duration::from_secs_f64(interval));
    let (mut plain, mut ratios) = (Vec::new(), [const { Vec::new() }; 3]);
    let (mut taken, mut counts, mut recovered) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        let original = whole(&built, Variant::Plain, Rule::Never, false)?;
        plain.push(original.seconds);
        for (rule, ratios) in [Rule::Never, at, by_daly].into_iter().zip(&mut ratios) {
            let run = instrumented(rule)?;
            ensure!(
                run.lines == original.lines,
                "{}: the programs disagree",
                program.name
            );
            ratios.push(run.seconds / original.seconds);
            match rule {
                Rule::Never => ensure!(run.taken().is_empty(), "nothing was due"),
                Rule::Every(_) => taken.push(only_one(&run)?),
                Rule::Interval(_) => counts.push(run.taken().len() as f64),
            }
        }
        recovered.push(killed(&built, every, &original.lines)?);
    }
    let one = *taken.first().context("a checkpoint was taken")?;
    let [waited, agreed, copied, written, synced] = medians(&taken, |one| {
        let parts = one.parts;
        [
            one.waited,
            parts.agreed,
            parts.copied,
            parts.written,
            parts.synced,
        ]
    });
    let [read, checked, walked, after] = medians(&recovered, |one| {
        let Resumed {
            read,
            checked,
            walked,
        } = one.resumed;
        [read, checked, walked, one.after]
    });
    Ok(Measured {
        program,
        plain: median(plain),
        ratios: ratios.map(median),
        daly: (interval, median(counts) as usize),
        memory: looked_at.memory,
        taken: Taken {
            waited,
            parts: Parts {
                agreed,
                copied,
                written,
                synced,
            },
            ..one
        },
        recovered: Recovered {
            resumed: Resumed {
                read,
                checked,
                walked,
            },
            after,
        },
    })
}

fn main() -> Result<()> {
    let options = Options::parse();
    let is_known = |name: &String| PROGRAMS.iter().any(|program| program.name == *name);
    if let Some(unknown) = options.only.iter().find(|name| !is_known(name)) {
        let names = PROGRAMS.map(|program| program.name).join(", ");
        bail!("no program `{unknown}` is measured; there are {names}");
    }
    let is_wanted =
        |program: &&Program| options.only.is_empty() || options.only.iter().any(|name| name == program.name);
    let mut table = table::Table::begin(!options.dev);
    for program in PROGRAMS.iter().filter(is_wanted) {
        let measured = measure(program, options.rounds.get(), !options.dev)
            .with_context(|| format!("`{}` could not be measured", program.name))?;
        if !options.markdown {
            println!("{}", table::line(&measured));
        }
        table.add(measured);
        // A run that is ended early leaves what it has measured.
        if let Some(page) = &options.page {
            table.put_into(page)?;
        }
    }
    if options.markdown {
        print!("{}", table.markdown());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cheap_checkpoints_have_the_interval_of_young() {
        let (cost, failures) = (1e-6, 1e4);
        let young = (2.0_f64 * cost * failures).sqrt();
        assert!((daly(cost, failures) / young - 1.0).abs() < 1e-4);
        assert_eq!(daly(3.0, 1.0), 1.0, "dearer than a failure");
    }

    #[test]
    fn medians_are_taken_part_by_part() {
        let all = [[1.0, 9.0], [3.0, 7.0], [2.0, 8.0]];
        assert_eq!(medians(&all, |one| *one), [2.0, 8.0]);
    }
}
