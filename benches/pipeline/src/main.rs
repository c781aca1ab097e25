//! What checkpoints cost, against the least that they could: see README.md.

mod bars;
mod chart;
mod known;
mod measure;
mod plain;
mod state;

use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use clap::Parser;

use measure::Measured;

/// What is to be measured, and how much of it.
#[derive(Debug, Clone, clap::Args)]
pub struct Wish {
    /// Megabytes of the states that are large
    #[arg(long, default_value_t = 1024)]
    pub megabytes: usize,
    /// How often each is measured
    #[arg(long, default_value_t = 9)]
    pub rounds: usize,
    /// The largest of the states that show how the wait grows, in megabytes; three times that in memory is needed
    #[arg(long, default_value_t = 1024)]
    pub scale: usize,
    /// A folder to write to; may be given several times [default: the temporary folder and /dev/shm]
    #[arg(long = "folder", value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
}

const EXAMPLE: &str = "\
Example:
  cargo run --release -p pipeline -- --megabytes 256 --rounds 5
  cargo run --release -p pipeline -- --folder /scratch --page docs/src/performance.md";

/// What checkpoints cost, against the least that they could; see benches/pipeline/README.md
#[derive(Debug, clap::Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    #[command(flatten)]
    wish: Wish,
    /// Measure one bar, and print it as JSON
    #[arg(long, value_name = "BAR")]
    only: Option<String>,
    /// Write the results and their drawing into this page of the book
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Measure what it is worth that the compiler knows arrays that do not change: so many megabytes of them, and nothing else
    #[arg(long, value_name = "MEGABYTES")]
    known: Option<usize>,
    /// Measure what checkpoints of arrays cost that all change: so many megabytes of them, and nothing else
    #[arg(long, value_name = "MEGABYTES")]
    changing: Option<usize>,
}

fn main() -> anyhow::Result<()> {
    let Options {
        mut wish,
        only,
        page,
        known,
        changing,
    } = Options::parse();
    if let Some(megabytes) = known {
        known::known(megabytes, wish.rounds);
        return Ok(());
    }
    if let Some(megabytes) = changing {
        known::changing(megabytes, wish.rounds);
        return Ok(());
    }
    if wish.folders.is_empty() {
        wish.folders.push(std::env::temp_dir());
        wish.folders
            .extend(Some(PathBuf::from("/dev/shm")).filter(|folder| folder.is_dir()));
    }
    if let Some(name) = only {
        let (_, bar) = bars::ALL
            .iter()
            .find(|(known, _)| *known == name)
            .context("no such bar")?;
        println!("{}", serde_json::to_string(&bar(&wish)?)?);
        return Ok(());
    }
    let measured = all(&wish)?;
    if let Some(page) = page {
        chart::write(&page, &measured, &wish)?;
    }
    Ok(())
}

/// Every bar in a process of its own: none finds memory that another has used.
fn all(wish: &Wish) -> anyhow::Result<Vec<Measured>> {
    let mut all = Vec::new();
    println!(
        "{} MB, {} rounds, load {}",
        wish.megabytes,
        wish.rounds,
        measure::load()
    );
    for (name, _) in bars::ALL {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--only", name]);
        command.args(["--megabytes", &wish.megabytes.to_string()]);
        command.args(["--rounds", &wish.rounds.to_string()]);
        command.args(["--scale", &wish.scale.to_string()]);
        for folder in &wish.folders {
            command.arg("--folder").arg(folder);
        }
        let output = command.stderr(std::process::Stdio::inherit()).output()?;
        anyhow::ensure!(output.status.success(), "`{name}` failed");
        let measured: Vec<Measured> = serde_json::from_slice(&output.stdout)?;
        for one in &measured {
            println!("{}", one.line());
        }
        all.extend(measured);
    }
    Ok(all)
}
