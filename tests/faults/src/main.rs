//! `faults --trials 100000 --seed 7`: as much harm as one likes, counted by kind and outcome.

use std::io;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, ValueEnum};
use faults::campaign::{Catalogue, Kind, Tally};
use faults::commands;
use faults::program::{BOUNDED, PROGRAMS, Program};

const EXAMPLE: &str = "\
Example, after `cargo build --release -p faults -p ckpt-cli`, which builds the programs that harm is done to:
  cargo run --release -p faults -- --trials 100000 --seed 7
  cargo run --release -p faults -- --all --kind calls --program files";

/// Everything that a machine can do to a program and its store, done on purpose
///
/// An answer is right or there is a refusal that says why; what was reported as written is never lost. Ends with code 1 if that
/// does not hold.
#[derive(Debug, Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    /// How many trials
    #[arg(long, default_value_t = 1000)]
    trials: u64,
    /// The number of the first
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// What they are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// All that there are, instead
    #[arg(long)]
    all: bool,
    /// No more after so many seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Of one kind only
    #[arg(long, value_enum)]
    kind: Option<Name>,
    /// To one program only
    #[arg(long)]
    program: Option<String>,
}

/// The kinds as they are called on the command line.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Name {
    Calls,
    Short,
    Kills,
    Power,
    PowerOfCommand,
    Damage,
    Memory,
    Commands,
}

impl From<Name> for Kind {
    fn from(name: Name) -> Kind {
        match name {
            Name::Calls => Kind::Calls,
            Name::Short => Kind::Short,
            Name::Kills => Kind::Kills,
            Name::Power => Kind::Power,
            Name::PowerOfCommand => Kind::PowerOfCommand,
            Name::Damage => Kind::Damage,
            Name::Memory => Kind::Memory,
            Name::Commands => Kind::Commands,
        }
    }
}

fn main() -> io::Result<ExitCode> {
    let options = Options::parse();
    let chosen = |all: &[Program]| -> Vec<Program> {
        let is_meant = |program: &&Program| options.program.as_ref().is_none_or(|name| program.name == name);
        all.iter().filter(is_meant).copied().collect()
    };
    let (programs, bounded) = (chosen(&PROGRAMS), chosen(&BOUNDED));
    if programs.is_empty() && bounded.is_empty() {
        let names: Vec<&str> = PROGRAMS
            .iter()
            .chain(&BOUNDED)
            .map(|program| program.name)
            .collect();
        return Err(io::Error::other(format!(
            "the programs are: {}",
            names.join(", ")
        )));
    }
    if commands::executable().is_none() {
        println!(
            "nothing happens to the command: `cargo build -p ckpt-cli` makes it, or CARGO_CKPT names it"
        );
    }
    let catalogue = Catalogue::of(&programs, &bounded)?;
    let kind = options.kind.map(Kind::from);
    let trials = match options.all {
        true => catalogue.all(kind),
        false => (options.first..options.first + options.trials)
            .map(|number| catalogue.draw(options.seed, number, kind))
            .collect(),
    };
    let tally = Tally::of(&catalogue, &trials, options.seconds.map(Duration::from_secs))?;
    for broken in &tally.broken {
        println!("{broken}\n");
    }
    print!("{tally}");
    Ok(match tally.is_sound() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}
