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

use measure::Measured;

/// What is to be measured, and how much of it.
#[derive(Debug, Clone)]
pub struct Wish {
    /// Megabytes of the states that are large.
    pub megabytes: usize,
    /// How often each is measured.
    pub rounds: usize,
    /// Folders to write to.
    pub folders: Vec<PathBuf>,
}

fn main() -> anyhow::Result<()> {
    let mut wish = Wish {
        megabytes: 1024,
        rounds: 9,
        folders: Vec::new(),
    };
    let (mut only, mut page) = (None, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .with_context(|| format!("{argument} needs a value"))
        };
        match argument.as_str() {
            "--megabytes" => wish.megabytes = value()?.parse().context("--megabytes")?,
            "--rounds" => wish.rounds = value()?.parse().context("--rounds")?,
            "--folder" => wish.folders.push(value()?.into()),
            "--page" => page = Some(PathBuf::from(value()?)),
            "--only" => only = Some(value()?),
            "--known" => {
                known::known(value()?.parse().context("--known")?, wish.rounds);
                return Ok(());
            }
            "--changing" => {
                known::changing(value()?.parse().context("--changing")?, wish.rounds);
                return Ok(());
            }
            _ => anyhow::bail!("unknown argument {argument}; see benches/pipeline/README.md"),
        }
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
