//! `generator --programs 5000 --seed 7`: as many random programs as one likes, in batches.

use clap::Parser;
use generator::{
    Effort, Failure, Outcome, Package, Program, Ranks, check, check_ranks, check_unmodified,
    check_unmodified_ranks, minimise, program, program_of_ranks, tool, without_names,
};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

const BATCH: u64 = 100;

const EXAMPLE: &str = "\
Example:
  cargo run -p generator -- --programs 5000 --seed 7
  cargo run -p generator -- --in-process --programs 500 --seed 7
  cargo run -p generator -- --seed 7 --print 42
  cargo run -p generator -- --ranks 3 --programs 20 --seed 7";

/// Random programs, plain and instrumented: run, killed at their sites, restarted, compared
#[derive(Debug, clap::Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    /// How many
    #[arg(long, default_value_t = 100)]
    programs: u64,
    /// The number of the first
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// What they are made from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Kill each at no more than so many of its site visits
    #[arg(long, default_value_t = 12)]
    visits: usize,
    /// Kill each that has files so often between its sites
    #[arg(long, default_value_t = 2)]
    between: usize,
    /// Print the program of this number, and nothing else
    #[arg(long, value_name = "NUMBER")]
    print: Option<u64>,
    /// Programs of several processes, which use MPI: each as so many, of several numbers (`2,3`) as one of them; killed as often
    /// as `--visits` says
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u8).range(1..))]
    ranks: Vec<u8>,
    /// Without attributes and sites: `cargo ckpt rewrite` places them
    #[arg(long)]
    unmodified: bool,
    /// Let them go back to checkpoints in their process, at no more than `--visits` of their site visits, instead of killing them
    #[arg(long)]
    in_process: bool,
    /// Go on after a failure
    #[arg(long)]
    keep_going: bool,
    /// Print failing programs as they are
    #[arg(long)]
    no_minimise: bool,
}

impl Options {
    /// The program of that number.
    fn program(&self, number: u64) -> Program {
        match self.ranks.is_empty() {
            false => program_of_ranks(self.seed, number),
            true => program(self.seed, number),
        }
    }
}

#[derive(Debug, Default)]
struct Totals {
    programs: usize,
    run: usize,
    with_files: usize,
    visits: usize,
    kills: usize,
    compared: usize,
    too_early: usize,
    rollbacks: usize,
    in_process: usize,
    failed: usize,
    invalid: usize,
    refused_visits: BTreeMap<String, usize>,
    refused_whole: usize,
    refused: BTreeMap<String, (usize, String)>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(number) = options.print {
        print!("{}", options.program(number).print());
        return ExitCode::SUCCESS;
    }
    match run(&options) {
        Ok(totals) => summary(&options, &totals),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<Totals, generator::PackageError> {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    let folder = harness::scratch_directory();
    let target = std::path::absolute(target.join("generated"))?;
    let ranks: Vec<Ranks> = options
        .ranks
        .iter()
        .map(|ranks| Ranks(usize::from(*ranks)))
        .collect();
    let package = match ranks.is_empty() {
        // What the tests of MPI have built with it.
        false => Package::of_ranks(folder.path(), &target.with_file_name("ckpt").join("build")),
        true => Package::new(folder.path(), &target),
    };
    let check = |programs: &[Program], effort: Effort| match (ranks.is_empty(), options.unmodified) {
        (true, false) => check(&package, programs, effort),
        (true, true) => {
            let target = target.join("unmodified");
            check_unmodified(folder.path(), &target, &tool(), programs, effort)
        }
        (false, false) => check_ranks(&package, programs, &ranks, effort),
        (false, true) => {
            let target = target.join("ranks");
            check_unmodified_ranks(folder.path(), &target, &tool(), programs, &ranks, effort)
        }
    };
    let effort = Effort {
        visits: options.visits,
        between: options.between,
        seed: options.seed,
        in_process: options.in_process,
    };
    let (mut totals, mut told) = (Totals::default(), BTreeSet::new());
    let last = options.first + options.programs;
    let mut next = options.first;
    while next < last {
        let batch: Vec<Program> = (next..last.min(next + BATCH))
            .map(|n| options.program(n))
            .collect();
        next += batch.len() as u64;
        let outcome = check(&batch, effort)?;
        totals.add(&outcome);
        println!(
            "{} of {} programs: {} run, {} failed",
            totals.programs, options.programs, totals.run, totals.failed
        );
        tell(&outcome, &check, options, &mut told)?;
        if totals.failed > 0 && !options.keep_going {
            break;
        }
    }
    Ok(totals)
}

impl Totals {
    fn add(&mut self, outcome: &Outcome) {
        let Outcome {
            invalid,
            refused,
            broken,
            run,
        } = outcome;
        self.programs += invalid.len() + refused.len() + broken.len() + run.len();
        self.run += run.len();
        self.with_files += run.iter().filter(|(program, _)| program.has_files()).count();
        for stood in run.iter().filter_map(|(_, result)| result.as_ref().ok()) {
            self.visits += stood.tally.visits;
            self.kills += stood.kills.killed;
            self.compared += stood.kills.compared;
            self.too_early += stood.kills.too_early;
            self.rollbacks += stood.rollbacks.all;
            self.in_process += stood.rollbacks.in_process;
            self.refused_whole += usize::from(stood.is_refused());
            for (why, visits) in stood.refused() {
                *self.refused_visits.entry(without_names(why)).or_default() += visits;
            }
        }
        self.failed += outcome.failures().count();
        self.invalid += invalid.len();
        for (program, complaint) in refused {
            let entry = self.refused.entry(without_names(&complaint.message));
            entry
                .or_insert_with(|| (0, format!("{}\n{}", program.name, complaint.rendered)))
                .0 += 1;
        }
    }
}

/// Builds and runs programs, each killed and restarted so often.
type Check<'c> = dyn Fn(&[Program], Effort) -> Result<Outcome, generator::PackageError> + 'c;

/// Prints what went wrong in a batch; of every kind of failure, the first is minimised.
fn tell(
    outcome: &Outcome,
    check: &Check<'_>,
    options: &Options,
    told: &mut BTreeSet<String>,
) -> Result<(), generator::PackageError> {
    for (program, complaint) in &outcome.invalid {
        println!(
            "INVALID {} of seed {}\n{}",
            program.name, options.seed, complaint.rendered
        );
    }
    for Failure { program, kind, what } in outcome.failures() {
        println!("FAILED {} of seed {}\n{what}", program.name, options.seed);
        if !options.no_minimise && told.insert(kind.clone()) {
            let most = Effort {
                visits: 1000,
                between: options.between * 10,
                seed: options.seed,
                in_process: options.in_process,
            };
            let least = minimise(program, |smaller| {
                check(std::slice::from_ref(smaller), most)
                    .is_ok_and(|outcome| outcome.failures().any(|failure| failure.kind == kind))
            });
            let again = check(std::slice::from_ref(&least), most)?;
            let what: String = again.failures().map(|failure| failure.what).collect();
            println!("minimised:\n{}\n{what}", least.print());
        }
        if !options.keep_going {
            break;
        }
    }
    Ok(())
}

fn summary(options: &Options, totals: &Totals) -> ExitCode {
    for (kind, (count, example)) in &totals.refused {
        println!("REFUSED {count} times: {kind}\nas in {example}");
    }
    for (why, visits) in &totals.refused_visits {
        println!("NO CHECKPOINT at {visits} visits: {why}");
    }
    let refused: usize = totals.refused.values().map(|(count, _)| count).sum();
    let done = match options.in_process {
        false => format!(
            "killed at {} visits, {} times between sites ({} compared, {} before a checkpoint)",
            totals.visits, totals.kills, totals.compared, totals.too_early
        ),
        true => format!(
            "gone back {} times, {} of them in their process",
            totals.rollbacks, totals.in_process
        ),
    };
    println!(
        "seed {}: {} programs, {} run ({} with files) and {done}; {refused} refused by the compiler, {} at all of their sites, \
         {} failed, {} invalid",
        options.seed,
        totals.programs,
        totals.run,
        totals.with_files,
        totals.refused_whole,
        totals.failed,
        totals.invalid
    );
    if totals.failed == 0 && totals.invalid == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
