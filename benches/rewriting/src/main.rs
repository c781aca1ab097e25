//! What the compiler itself costs: `cargo ckpt run` against `cargo run`, after a change and without one.
//!
//! Packages of `testdata/`, each built once both ways before, so that no dependency is compiled in what is measured. Then,
//! in turn, several times: a comment is added to `main.rs` and the program run both ways; and run again without a change.
//! Times are processor times of cargo and all that it starts, which other work on the machine disturbs little.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use reach::programs::{Package, Run};
use reach::tool::root;

/// Without dependencies, of 160 to 400 lines; short runs.
const PACKAGES: [&str; 4] = ["lbm", "solver-dyn", "nas-is", "game-of-life"];
const TURNS: usize = 3;

const EXAMPLE: &str = "\
Example:
  cargo run --release -p rewriting -- lbm nas-is";

/// What the compiler itself costs: `cargo ckpt run` against `cargo run`, after a change and without one
#[derive(Debug, clap::Parser)]
#[command(after_help = EXAMPLE)]
struct Options {
    /// Packages of `testdata/`
    #[arg(value_name = "PACKAGE", default_values_t = PACKAGES.map(str::to_owned))]
    packages: Vec<String>,
}

fn main() -> Result<()> {
    let Options { packages: names } = Options::parse();
    let scratch = tempfile::tempdir()?;
    let tool = build_tool()?;
    println!(
        "{:<16} {:>22} {:>22}",
        "package", "after a change", "without a change"
    );
    for name in names {
        let package = Package::read(&root().join("testdata").join(&name))?;
        let folder = scratch.path().join(&name);
        copy(&package.folder, &folder)?;
        let subject = Subject {
            run: package.runs[0].clone(),
            tool: &tool,
            target: scratch.path().join("target"),
            folder,
        };
        let (changed, unchanged) = subject.ratios()?;
        println!("{name:<16} {changed:>22.2} {unchanged:>22.2}");
    }
    println!("\nprocessor time of `cargo ckpt run` over that of `cargo run`, medians of {TURNS} turns");
    Ok(())
}

struct Subject<'a> {
    run: Run,
    tool: &'a Path,
    target: PathBuf,
    folder: PathBuf,
}

impl Subject<'_> {
    /// After a change, and without one.
    fn ratios(&self) -> Result<(f64, f64)> {
        self.plain()?;
        self.with_checkpoints()?;
        let (mut changed, mut unchanged) = (Vec::new(), Vec::new());
        for turn in 0..TURNS {
            let main = self.folder.join("src/main.rs");
            let text = fs::read_to_string(&main).context("the program has no src/main.rs")?;
            fs::write(&main, format!("{text}\n// turn {turn}\n"))?;
            changed.push(self.with_checkpoints()? / self.plain()?);
            unchanged.push(self.with_checkpoints()? / self.plain()?);
        }
        Ok((median(changed), median(unchanged)))
    }

    fn plain(&self) -> Result<f64> {
        self.measured(Command::new(env!("CARGO")).arg("run"))
    }

    fn with_checkpoints(&self) -> Result<f64> {
        let store = self.folder.join("store");
        let mut command = Command::new(self.tool);
        command
            .args(["ckpt", "run", "--dir"])
            .arg(&store)
            .env("CKPT_RUNTIME_PATH", root().join("ckpt-runtime"));
        let seconds = self.measured(&mut command)?;
        if store.exists() {
            fs::remove_dir_all(store)?;
        }
        Ok(seconds)
    }

    /// Processor time of a run of the program, its build included, in seconds.
    fn measured(&self, command: &mut Command) -> Result<f64> {
        command.args(["--offline", "--quiet"]);
        if let Some(bin) = &self.run.bin {
            command.args(["--bin", bin]);
        }
        command
            .arg("--")
            .args(&self.run.args)
            .current_dir(&self.folder)
            .env("CARGO_TARGET_DIR", &self.target)
            .env("CARGO_INCREMENTAL", "0")
            .stdout(Stdio::null());
        let before = spent()?;
        let status = command.status().context("cannot start cargo")?;
        ensure!(status.success(), "{command:?} failed");
        Ok(spent()? - before)
    }
}

fn spent() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let micros = (usage.user_time() + usage.system_time()).num_microseconds();
    Ok(micros as f64 * 1e-6)
}

fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list[list.len() / 2]
}

/// `cargo ckpt`, optimised as one that is installed.
fn build_tool() -> Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--release",
            "-p",
            "ckpt-cli",
            "--manifest-path",
        ])
        .arg(root().join("Cargo.toml"))
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "cargo ckpt does not build");
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/cargo-ckpt"))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
