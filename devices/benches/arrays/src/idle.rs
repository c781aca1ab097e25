//! The instructions of `floyd`, as it is and under `cargo ckpt` with nothing due: the difference of two run lengths, so that
//! starting up, which compiles the kernel, does not count.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Vertices of the two runs.
const LENGTHS: [&str; 2] = ["32", "96"];

/// How many times as many instructions it takes.
pub fn ratio() -> Result<f64> {
    let folder = tempfile::tempdir()?;
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/floyd");
    let target = target()?;
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--release"]);
    finish(cargo.env("CARGO_TARGET_DIR", &target).current_dir(&example))?;
    let plain = target.join("release/floyd");
    let mut ckpt = Command::new(tool());
    ckpt.args(["ckpt", "run", "--release", "--interval", "1h", "--manifest-path"]);
    ckpt.arg(example.join("Cargo.toml")).args(["--", LENGTHS[0]]);
    ckpt.env("CKPT_RUNTIME_PATH", runtime());
    ckpt.env("CARGO_TARGET_DIR", &target).current_dir(folder.path());
    finish(&mut ckpt)?;
    let instrumented = executable(folder.path())?;
    let between = |program: &Path, session: bool| -> Result<f64> {
        let count = |length| instructions(program, length, session, folder.path());
        // The first run of each length compiles the kernel for it, which later ones find. What the library does besides differs a
        // little from run to run: the least is what has to be.
        let least = |length| -> Result<f64> {
            count(length)?;
            (0..3).try_fold(f64::INFINITY, |least, _| Ok(least.min(count(length)?)))
        };
        Ok(least(LENGTHS[1])? - least(LENGTHS[0])?)
    };
    Ok(between(&instrumented, true)? / between(&plain, false)?)
}

/// The built `cargo-ckpt`.
pub fn tool() -> PathBuf {
    env::var_os("CARGO_CKPT").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/debug/cargo-ckpt"),
        PathBuf::from,
    )
}

/// The library of this repository.
pub fn runtime() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ckpt-runtime")
}

/// Cargo's target folder.
pub fn target() -> Result<PathBuf> {
    let target = env::current_exe()?.ancestors().nth(2).map(Path::to_owned);
    target.context("cargo's target folder")
}

/// What the last run in a folder has started.
fn executable(folder: &Path) -> Result<PathBuf> {
    let runs = folder.join("floyd.ckpt.d/runs");
    let run = fs::read_dir(&runs)
        .with_context(|| runs.display().to_string())?
        .next();
    let record = fs::read_to_string(run.context("a run has begun")??.path().join("launch.json"))?;
    let record: serde_json::Value = serde_json::from_str(&record)?;
    let path = record["executable"].as_str();
    path.map(PathBuf::from)
        .context("the record does not name what was built")
}

/// As callgrind counts them, on a device that computes in the program's own thread.
fn instructions(program: &Path, length: &str, session: bool, folder: &Path) -> Result<f64> {
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .arg(length)
        .current_dir(folder)
        .env("POCL_DEVICES", "basic")
        .env("MALLOC_ARENA_MAX", "1");
    if session {
        valgrind
            .env("CKPT_DIR", folder.join("idle"))
            .env("CKPT_EVERY", "1000000000");
    }
    let said = finish(&mut valgrind)?;
    let count = said.lines().find_map(|line| line.split_once("Collected : "));
    Ok(count.context("callgrind counted nothing")?.1.trim().parse()?)
}

fn finish(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(said)
}
