use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{anyhow, ensure, Context, Result};
use clap::{Args, Parser, Subcommand, ValueEnum};

mod deck;
mod reactor;
mod results;

use deck::Deck;
use reactor::Reactor;
use results::{Outcome, Sample};

/// Gray-Scott reaction and diffusion from an input deck
#[derive(Parser, Debug)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,

    /// Say less
    #[arg(short, long, global = true)]
    quiet: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Run one deck
    Run {
        #[command(flatten)]
        common: Common,

        /// How the results are written
        #[arg(long, value_enum, default_value_t = Format::Json)]
        format: Format,
    },
    /// Run a deck for a range of feed rates
    Sweep {
        #[command(flatten)]
        common: Common,

        #[arg(long, default_value_t = 5)]
        points: usize,

        /// Relative width of the range
        #[arg(long, default_value = "0.2")]
        width: f64,
    },
}

#[derive(Args, Debug, Clone)]
struct Common {
    /// TOML or JSON
    deck: PathBuf,

    /// Override the deck's number of steps
    #[arg(long)]
    steps: Option<u32>,

    /// Override a rate of the chemistry: feed=0.03
    #[arg(long = "set", value_name = "KEY=VALUE")]
    overrides: Vec<String>,

    #[arg(long, default_value = ".")]
    out: PathBuf,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Json,
    Text,
}

fn load(common: &Common) -> Result<Deck> {
    let text = fs::read_to_string(&common.deck).with_context(|| format!("cannot read {}", common.deck.display()))?;
    let mut deck: Deck = match common.deck.extension().and_then(|e| e.to_str()) {
        Some("toml") => toml::from_str(&text)?,
        Some("json") => serde_json::from_str(&text)?,
        _ => return Err(anyhow!("{}: a deck is .toml or .json", common.deck.display())),
    };
    if let Some(steps) = common.steps {
        deck.time.steps = steps;
    }
    for word in &common.overrides {
        let (key, value) = word.split_once('=').ok_or_else(|| anyhow!("--set {word}: KEY=VALUE wanted"))?;
        deck.chemistry.set(key, value.parse()?)?;
    }
    deck.check()?;
    Ok(deck)
}

fn simulate(deck: &Deck, log: &mut dyn Write, quiet: bool) -> Result<(Reactor, Outcome)> {
    let mut reactor = Reactor::from_deck(deck);
    let mut samples = Vec::with_capacity((deck.time.steps / deck.time.report_every) as usize);
    for step in 1..=deck.time.steps {
        reactor.step(deck.time.dt);
        if step % deck.time.report_every != 0 && step != deck.time.steps {
            continue;
        }
        let sample = Sample::take(step, &reactor);
        ensure!(sample.mean_v.is_finite(), "blew up at step {step}: smaller dt?");
        writeln!(log, "{}", serde_json::to_string(&sample)?)?;
        if !quiet && step % (10 * deck.time.report_every) == 0 {
            println!("{}: step {step} mean u {:.6} mean v {:.6}", deck.title, sample.mean_u, sample.mean_v);
        }
        let dead = sample.mean_v < 1e-6;
        samples.push(sample);
        if dead {
            println!("{}: the reaction died out at step {step}", deck.title);
            break;
        }
    }
    let outcome = Outcome::new(deck, samples);
    Ok((reactor, outcome))
}

fn run(common: &Common, format: Format, quiet: bool) -> Result<()> {
    let deck = load(common)?;
    let at = |ext: &str| -> PathBuf { common.out.join(&deck.title).with_extension(ext) };
    let mut log = fs::File::create(at("log"))?;
    let (reactor, outcome) = simulate(&deck, &mut log, quiet)?;
    match format {
        Format::Json => serde_json::to_writer_pretty(fs::File::create(at("json"))?, &outcome)?,
        Format::Text => fs::write(at("txt"), outcome.to_string())?,
    }
    reactor.write_pgm(&at("pgm"))?;
    println!("{outcome}");
    Ok(())
}

fn sweep(common: &Common, points: usize, width: f64, quiet: bool) -> Result<()> {
    ensure!(points >= 2, "a sweep needs two points at least");
    let base = load(common)?;
    let mut outcomes = Vec::new();
    let mut sink = std::io::sink();
    for k in 0..points {
        let share = k as f64 / (points - 1) as f64 - 0.5;
        let deck = Deck {
            title: format!("{}-{k}", base.title),
            chemistry: deck::Chemistry { feed: base.chemistry.feed * (1.0 + width * share), ..base.chemistry.clone() },
            ..base.clone()
        };
        let (_, outcome) = simulate(&deck, &mut sink, quiet)?;
        println!("feed {:.5}: {}", deck.chemistry.feed, outcome.summary());
        outcomes.push(outcome);
    }
    outcomes.sort_by(|a, b| b.pattern().total_cmp(&a.pattern()));
    write_json(&common.out.join("sweep.json"), &outcomes)
}

fn write_json<T: serde::Serialize>(path: &Path, value: &T) -> Result<()> {
    let text = serde_json::to_string_pretty(value)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    match &cli.command {
        Command::Run { common, format } => run(common, *format, cli.quiet),
        Command::Sweep { common, points, width } => sweep(common, *points, *width, cli.quiet),
    }
}
