//! A program as it is and instrumented, built for release, and how it is started.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::programs::{Home, Program};

/// It is built both ways.
pub struct Built {
    pub program: &'static Program,
    plain: PathBuf,
    instrumented: PathBuf,
}

/// Which of the two.
#[derive(Clone, Copy, PartialEq)]
pub enum Variant {
    Plain,
    Instrumented,
}

/// The folder of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs it to its end.
///
/// # Errors
/// It does not start, or ends with an error.
pub fn finish(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

impl Built {
    /// Builds it. `cargo ckpt` runs it once, and says in the record of that run where the program is.
    ///
    /// # Errors
    /// It does not build, or there is no `cargo-ckpt`.
    pub fn new(program: &'static Program, optimised: bool) -> Result<Built> {
        let own = std::env::current_exe()?;
        let target = own.ancestors().nth(2);
        let target = target.context("it is run from cargo's target folder")?;
        let folder = match program.home {
            Home::Mpi(_) => root().join("mpi/examples"),
            Home::Alone => root().join("testdata"),
        };
        let manifest = folder.join(program.name).join("Cargo.toml");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--bin", program.bin]);
        let (profile, folder): (&[&str], _) = match optimised {
            true => (&["--release"], "release"),
            false => (&[], "debug"),
        };
        cargo.args(profile);
        cargo.arg("--manifest-path").arg(&manifest);
        cargo.arg("--target-dir").arg(target);
        finish(&mut cargo)?;
        let tool = std::env::var_os("CARGO_CKPT");
        let tool = tool.map_or_else(|| target.join("debug/cargo-ckpt"), PathBuf::from);
        ensure!(
            tool.exists(),
            "{} is not there: cargo build -p ckpt-cli, or say with CARGO_CKPT where it is",
            tool.display()
        );
        let scratch = TempDir::new()?;
        let mut ckpt = Command::new(tool);
        ckpt.args(["ckpt", "run", "--interval", "1h"]).args(profile);
        ckpt.args(["--bin", program.bin])
            .arg("--manifest-path")
            .arg(&manifest);
        if let Home::Mpi(ranks) = program.home {
            ckpt.args(["-n", &ranks.to_string()]);
        }
        ckpt.arg("--").args(program.arguments.split_whitespace());
        ckpt.env("CKPT_RUNTIME_PATH", root().join("ckpt-runtime"));
        ckpt.env("CARGO_TARGET_DIR", target).current_dir(scratch.path());
        finish(&mut ckpt)?;
        let record = fs::read(runs_in(scratch.path())?.join("launch.json"))?;
        let record: serde_json::Value = serde_json::from_slice(&record)?;
        let instrumented = record["executable"].as_str();
        Ok(Built {
            program,
            plain: target.join(folder).join(program.bin),
            instrumented: instrumented.context("the record names what was built")?.into(),
        })
    }

    pub fn executable(&self, variant: Variant) -> &Path {
        match variant {
            Variant::Plain => &self.plain,
            Variant::Instrumented => &self.instrumented,
        }
    }

    /// The command that starts it in a folder, with all of its ranks.
    pub fn command(&self, variant: Variant, folder: &Path) -> Command {
        let executable = self.executable(variant);
        let mut command = match self.program.home {
            Home::Alone => Command::new(executable),
            Home::Mpi(ranks) => {
                let mut launcher = Command::new("mpirun");
                launcher.args(["-n", &ranks.to_string(), "--bind-to", "none"]);
                let settings = [
                    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
                    ("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"),
                    // As `cargo ckpt run` says.
                    ("HWLOC_COMPONENTS", "-opencl"),
                ];
                launcher.envs(settings).arg(executable);
                launcher
            }
        };
        command.args(self.program.arguments.split_whitespace());
        command.current_dir(folder);
        command
    }
}

/// The documents of the one run that was made in a folder.
///
/// # Errors
/// There was none.
pub fn runs_in(folder: &Path) -> Result<PathBuf> {
    let entries = fs::read_dir(folder)?.flatten();
    let mut runs = entries
        .map(|entry| entry.path().join("runs"))
        .filter(|runs| runs.is_dir());
    let runs = runs.next().context("a run has begun")?;
    let named = |entry: &fs::DirEntry| !entry.file_name().to_string_lossy().starts_with('.');
    let run = fs::read_dir(runs)?.flatten().find(named);
    Ok(run.context("a run has begun")?.path())
}
