//! The same for a program that has never heard of ckpt, with two ranks: the Himeno benchmark of `mpi/examples`. It says no times, so
//! runs in which something happens several times are compared with runs in which nothing does. Rollbacks and deaths are right
//! behind the state that they go back to, so that nothing is computed again. What one variable takes that is put right, the run's
//! own log says: a page of the coefficients, which the machine has lost.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use tempfile::TempDir;

use super::{forget, median, table};

/// The size, iterations, and the ranks in each dimension: 235 MB of state.
const ARGUMENTS: [&str; 5] = ["M", "24", "2", "1", "1"];
/// Visits behind which the ranks go back, or one variable of a rank is put right.
const STRUCK: [u64; 4] = [8, 12, 16, 20];

/// What happens.
#[derive(Clone, Copy, PartialEq)]
enum What {
    Nothing,
    Repairs,
    Rollbacks,
    Death,
}

fn run(program: &Path, folder: &Path, what: What, restarts: bool) -> Result<(Duration, Output)> {
    let mut command = Command::new("mpirun");
    command
        .args(["-n", "2", "--bind-to", "core"])
        .arg(program)
        .args(ARGUMENTS);
    command
        .current_dir(folder)
        .env("OMPI_ALLOW_RUN_AS_ROOT", "1")
        .env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
        .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
        .env("HWLOC_COMPONENTS", "-opencl")
        .env("CKPT_EVERY", "4")
        .env("CKPT_KEEP", "1")
        .env("CKPT_BACKGROUND", "0")
        .env("CKPT_SNAPSHOT_EVERY", "4")
        .env("CKPT_SNAPSHOTS", "1")
        .env("CKPT_QUIET", "1")
        .stdin(Stdio::null());
    let visits = STRUCK.map(|visit| visit.to_string()).join(",");
    match what {
        _ if restarts => command.env("CKPT_RESTART", "latest"),
        What::Nothing => &mut command,
        What::Repairs => {
            let lost = STRUCK.map(|visit| format!("{visit}:{visit}:page")).join(",");
            command
                .env("CKPT_EVERY", "100")
                .env("CKPT_DETECT", "machine-check")
                .env("CKPT_FAULT", format!("flip:{lost}"))
        }
        What::Rollbacks => command.env("CKPT_FAULT", format!("rollback:{visits}")),
        What::Death => command.env("CKPT_FAULT", format!("visit:{}", STRUCK[0])),
    };
    let began = Instant::now();
    let output = command.output().context("mpirun cannot be started")?;
    Ok((began.elapsed(), output))
}

/// How long one run takes in all, with restarts.
fn time(program: &Path, what: What) -> Result<Duration> {
    let folder = TempDir::new()?;
    let (mut time, output) = run(program, folder.path(), what, false)?;
    let told = |output: &Output| String::from_utf8_lossy(&output.stderr).into_owned();
    if what == What::Death {
        ensure!(!output.status.success(), "nothing has died: {}", told(&output));
        forget(folder.path())?;
        let (more, output) = run(program, folder.path(), what, true)?;
        ensure!(
            output.status.success(),
            "the restart has failed: {}",
            told(&output)
        );
        time += more;
    } else {
        ensure!(
            output.status.success(),
            "the program has failed: {}",
            told(&output)
        );
    }
    Ok(time)
}

/// How long each repair of a run took.
fn repairs(program: &Path) -> Result<Vec<Duration>> {
    let folder = TempDir::new()?;
    let (_, output) = run(program, folder.path(), What::Repairs, false)?;
    let told = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the program has failed: {told}");
    let runs = fs::read_dir(folder.path().join("himeno.ckpt.d/runs"))?;
    let mut took = Vec::new();
    for run in runs {
        let log = fs::read_to_string(run?.path().join("events.log"))?;
        for line in log.lines() {
            let event: Value = serde_json::from_str(line)?;
            if event["event"] == "repair" {
                took.push(Duration::from_secs_f64(
                    event["took"].as_f64().context("no time")?,
                ));
            }
        }
    }
    ensure!(!took.is_empty(), "nothing was put right: {told}");
    Ok(took)
}

/// Prints the table.
pub fn measure(program: &Path, times: u32, check: bool) -> Result<()> {
    let mut all = [const { Vec::new() }; 3];
    let mut repaired = Vec::new();
    for _ in 0..times {
        repaired.extend(repairs(program)?);
        for (what, all) in [What::Nothing, What::Rollbacks, What::Death]
            .into_iter()
            .zip(&mut all)
        {
            all.push(time(program, what)?);
        }
    }
    let [nothing, rollbacks, death] = all.map(median);
    let repair = median(repaired)?;
    let nothing = nothing?;
    let rollback = rollbacks?.saturating_sub(nothing) / STRUCK.len() as u32;
    let restart = death?.saturating_sub(nothing);
    let rows = [
        ("a run without anything", nothing),
        ("repair of one variable, a page of it", repair),
        ("rollback in the processes, from memory", rollback),
        ("restart of the job, from disk", restart),
    ];
    table(
        "himeno, 2 ranks, 235 MB of state",
        rows.into_iter(),
        Some(restart),
    );
    let faster = restart.as_secs_f64() / rollback.max(repair).as_secs_f64();
    println!(
        "a restart of the job takes {faster:.1} times as long as the slower of repair and rollback (bar: at least 10)"
    );
    ensure!(!check || faster >= 10.0, "a bar was missed");
    Ok(())
}
