//! From the moment at which a checkpoint is due to that at which all members of a team stand, as shares of an iteration;
//! and how long they stand, where they share a large array.
//!
//! `../stop.rs` asks for one itself, in every part of an iteration, and says when its threads come to their sites. The
//! examples are sent a signal from outside, at some time; what their stores tell of the checkpoint says when they stood.

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Runs of each program.
const RUNS: u32 = 30;
/// Two threads each, with iterations that are long enough to be hit in their midst.
const EXAMPLES: [(&str, &str); 2] = [("team-heat", "2 1500 2000"), ("sphot-like", "2 1000 20000")];

pub fn measure(binaries: &Path, folder: &Path) -> Result<()> {
    println!("from due to stopped, in iterations   median    mean    most");
    print("in step", (0..RUNS).map(|run| in_step(binaries, folder, run)))?;
    for (name, arguments) in EXAMPLES {
        let program = binaries.join(format!("{name}-instrumented"));
        let runs = (0..RUNS).map(|run| {
            let mut command = Command::new(&program);
            command.args(arguments.split(' ')).current_dir(folder);
            signalled(command, &folder.join(format!("{name}-{run}")), run)
        });
        print(name, runs)?;
    }
    println!("standing still, in copies of the array by all members together");
    print("a shared array", (0..3).map(|run| standing(binaries, run)))
}

fn print(name: &str, shares: impl Iterator<Item = Result<f64>>) -> Result<()> {
    let mut shares = shares.collect::<Result<Vec<f64>>>()?;
    shares.sort_by(f64::total_cmp);
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let (median, most) = (shares[shares.len() / 2], shares[shares.len() - 1]);
    println!("{name:<34} {median:8.2} {mean:7.2} {most:7.2}");
    Ok(())
}

fn in_step(binaries: &Path, folder: &Path, run: u32) -> Result<f64> {
    let output = Command::new(binaries.join("stop"))
        .arg((run % 10).to_string())
        .current_dir(folder)
        .env("CKPT_DIR", folder.join(format!("store-{run}")))
        .env("CKPT_INTERVAL", "1h")
        .output()
        .context("cannot start the program")?;
    let said = String::from_utf8(output.stdout)?;
    let times = |who: &str| -> Vec<f64> {
        let lines = said.lines().filter_map(|line| line.split_once(' '));
        let own = lines.filter(|(name, _)| *name == who);
        own.filter_map(|(_, time)| time.parse().ok()).collect()
    };
    let (first, second, asked) = (times("0"), times("1"), times("asked"));
    let (Some(one), Some(other), [asked]) = (first.last(), second.last(), &asked[..]) else {
        bail!("the program said: {said}");
    };
    // Before the signal came, nothing but the program's own barrier held anybody.
    let iteration = (first[5] - first[1]) / 4.0;
    Ok((one.max(*other) - asked) / iteration)
}

fn signalled(mut command: Command, store: &Path, run: u32) -> Result<f64> {
    let mut child = command
        .env("CKPT_DIR", store)
        .env("CKPT_INTERVAL", "1h")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start the program")?;
    // Some iterations later, and each time at another moment of one.
    std::thread::sleep(Duration::from_micros(400_000 + 3_700 * u64::from(run)));
    let pid = Pid::from_child(&child);
    let asked = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs_f64();
    kill_process(pid, Signal::USR1)?;
    let _ = child.wait()?;
    let events = events_of(store)?;
    let find = |kind: &str| {
        let events = events
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut of_kind = events.filter(|event| event["event"] == kind);
        of_kind.next().with_context(|| format!("{command:?}: no {kind}"))
    };
    let number = |event: &Value, name: &str| event[name].as_f64().context("a number");
    let (start, taken) = (find("start")?, find("checkpoint")?);
    let stood = number(&taken, "at")? - number(&taken, "took")?;
    let visits = number(&taken, "visits")?;
    ensure!(
        visits > 5.0,
        "{command:?} came to {visits} sites before the signal"
    );
    let iteration = (stood - number(&start, "at")?) / visits;
    Ok((stood - asked) / iteration)
}

/// How long a program stands still for a checkpoint of a large array, as a multiple of what its threads need to copy it
/// together: medians of one run. The store is in memory.
fn standing(binaries: &Path, run: u32) -> Result<f64> {
    let folder = tempfile::tempdir_in("/dev/shm")?;
    let store = folder.path().join(run.to_string());
    let output = Command::new(binaries.join("share"))
        .args(["256", "8"])
        .current_dir(folder.path())
        .env("CKPT_DIR", &store)
        .env("CKPT_EVERY", "1")
        .output()
        .context("cannot start the program")?;
    let copies = String::from_utf8(output.stdout)?;
    let copies = copies.lines().filter_map(|line| line.parse::<f64>().ok());
    let taken = events(&store, "checkpoint")?;
    let waits = taken.iter().map(|event| number(event, "waited"));
    // The first of both meets memory that nobody has touched yet; the last line is the answer.
    let waits = waits.skip(1).collect::<Result<Vec<f64>>>()?;
    Ok(median(waits) / median(copies.skip(1).take(7).collect()))
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all.get(all.len() / 2).copied().unwrap_or(f64::NAN)
}

/// What the one run of a store has noted.
fn events_of(store: &Path) -> Result<String> {
    let run = std::fs::read_dir(store.join("runs"))?
        .next()
        .context("a run has begun")??;
    Ok(std::fs::read_to_string(run.path().join("events.log"))?)
}

/// The events of a kind that a store tells of.
fn events(store: &Path, kind: &str) -> Result<Vec<Value>> {
    let all = events_of(store)?;
    let all = all
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    Ok(all.filter(|event| event["event"] == kind).collect())
}

fn number(event: &Value, name: &str) -> Result<f64> {
    event[name]
        .as_f64()
        .with_context(|| format!("no {name} in {event}"))
}
