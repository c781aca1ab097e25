//! The examples one by one, as tables: what is there, what of it a checkpoint has, and what a restart is made of. Each is run once to
//! its end, once up to three quarters of its visits, where it dies behind a checkpoint, and then restarted.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

/// The examples, the words behind the verb, and the arguments.
const EXAMPLES: [(&str, &[&str], &[&str]); 7] = [
    ("floyd", &[], &["256"]),
    ("spmv", &[], &["20000", "60"]),
    ("ft", &[], &["32", "20"]),
    ("shwa", &[], &["128", "40"]),
    ("summa", &["-n", "4"], &["240", "4"]),
    ("life-gpu", &[], &["512", "60"]),
    ("nbody-gpu", &[], &["1024", "40"]),
];

/// Prints the table.
pub fn print() -> Result<()> {
    println!(
        "| program | arrays | variables, saved | visits | checkpoint | beginning and reading | way to the site, one step | against the way from the beginning |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, words, arguments) in EXAMPLES {
        println!(
            "{}",
            row(name, words, arguments).with_context(|| name.to_owned())?
        );
    }
    Ok(())
}

fn row(name: &str, words: &[&str], arguments: &[&str]) -> Result<String> {
    let example = Example {
        manifest: Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../../examples")
            .join(name)
            .join("Cargo.toml"),
        folder: tempfile::tempdir()?,
    };
    let plan = example.ckpt("plan", &["--release", "--format", "json"], &[], &[])?;
    let plan: Value = serde_json::from_str(&plan).context("the plan")?;
    let arrays: std::collections::BTreeSet<String> = { plan["devices"].as_array().into_iter().flatten() }
        .flat_map(|site| site["arrays"].as_array().into_iter().flatten())
        .map(|array| format!("{} {}", array["name"], array["line"]))
        .collect();
    let run = [words, &["--release", "--every", "1000000000"]].concat();
    example.ckpt("run", &run, arguments, &[])?;
    let visits = example
        .events()?
        .iter()
        .rev()
        .find_map(|event| event["visits"].as_u64());
    let visits = visits.filter(|visits| *visits > 3).context("too few visits")?;
    let last = (visits * 3 / 4).to_string();
    let fault = format!("visit:{}", visits * 3 / 4 + 1);
    fs::remove_dir_all(example.store()?)?;
    let began = now();
    let run = [words, &["--release", "--every", &last]].concat();
    let killed = example.ckpt(
        "run",
        &run,
        arguments,
        &[("CKPT_FAULT", &fault), ("CKPT_BACKGROUND", "0")],
    );
    ensure!(killed.is_err(), "it did not die at visit {fault}");
    let fresh = example.process_began()?.max(began);
    let way = example.stopped_at(0)? - fresh;
    let bytes: u64 = fs::read_dir(example.store()?)?
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "h5"))
        .filter_map(|entry| Some(entry.metadata().ok()?.len()))
        .sum();
    // The next site takes a checkpoint: its event says when the program came there.
    example.ckpt("restart", &["--every", "1"], &[], &[])?;
    let events = example.events()?;
    let read = { events.iter() }.find(|event| !event["restarted_from"].is_null());
    let read = read
        .and_then(|event| event["at"].as_f64())
        .context("no restart")?;
    let launched = example.process_began()?;
    let arrived = example.stopped_at(1)?;
    let all = arrived - launched;
    let totals = &plan["totals"];
    Ok(format!(
        "| {name} | {} | {}, {} | {visits} | {} kB | {:.0} % | {:.0} % | {:.2} |",
        arrays.len(),
        totals["variables_in_scope"],
        totals["variables_saved"],
        bytes / 1000,
        (read - launched) / all * 100.0,
        (arrived - read) / all * 100.0,
        all / way
    ))
}

/// Seconds since 1970.
fn now() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0.0, |since| since.as_secs_f64())
}

struct Example {
    manifest: PathBuf,
    folder: tempfile::TempDir,
}

impl Example {
    fn ckpt(
        &self,
        verb: &str,
        words: &[&str],
        arguments: &[&str],
        settings: &[(&str, &str)],
    ) -> Result<String> {
        let mut command = Command::new(super::idle::tool());
        command.args(["ckpt", verb]);
        if verb != "restart" {
            command.arg("--manifest-path").arg(&self.manifest);
        }
        command.args(words).current_dir(self.folder.path());
        if !arguments.is_empty() {
            command.arg("--").args(arguments);
        }
        let output = command
            .env("CKPT_RUNTIME_PATH", super::idle::runtime())
            .env("CARGO_TARGET_DIR", super::idle::target()?)
            .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
            .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("POCL_KERNEL_CACHE", if words.contains(&"-n") { "0" } else { "1" })
            .envs(settings.iter().copied())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "cargo ckpt {verb}: {said}");
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn store(&self) -> Result<PathBuf> {
        let entries = fs::read_dir(self.folder.path())?.flatten();
        let mut stores = entries.map(|entry| entry.path());
        let store = stores.find(|path| path.join("runs").is_dir());
        store.context("there is no store")
    }

    /// The folder of the only run.
    fn run(&self) -> Result<PathBuf> {
        let run = fs::read_dir(self.store()?.join("runs"))?.flatten().next();
        Ok(run.context("there is no run")?.path())
    }

    fn events(&self) -> Result<Vec<Value>> {
        let text = fs::read_to_string(self.run()?.join("events.log"))?;
        let events = text.lines().map(serde_json::from_str);
        Ok(events.collect::<Result<_, _>>()?)
    }

    /// When the program stopped for the checkpoint of this place.
    fn stopped_at(&self, place: usize) -> Result<f64> {
        let events = self.events()?;
        let mut checkpoints = events.iter().filter(|event| event["event"] == "checkpoint");
        let event = checkpoints.nth(place).context("there is no such checkpoint")?;
        let (at, took) = (event["at"].as_f64(), event["took"].as_f64());
        Ok(at.context("at")? - took.context("took")?)
    }

    /// When the last process was started: its launch was noted just before.
    fn process_began(&self) -> Result<f64> {
        let noted = fs::metadata(self.run()?.join("launch.json"))?.modified()?;
        Ok(noted.duration_since(UNIX_EPOCH)?.as_secs_f64())
    }
}
