//! The package of the testdata that is measured, as it is and instrumented by `cargo ckpt`.

use crate::program::UNMODIFIED;
use anyhow::{Context, Result, ensure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds both, and puts the executables where those of the other programs are.
pub fn build(binaries: &Path, folder: &Path) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let target = binaries.parent().context("cargo's target folder")?;
    let tool = match std::env::var_os("CARGO_CKPT") {
        Some(tool) => PathBuf::from(tool),
        None => {
            let mut cargo = Command::new(env!("CARGO"));
            cargo
                .args(["build", "--quiet", "-p", "ckpt-cli", "--target-dir"])
                .arg(target);
            finish(cargo.current_dir(&root))?;
            target.join("debug/cargo-ckpt")
        }
    };
    let package = folder.join(UNMODIFIED.name);
    let (from, to) = (root.join("testdata").join(UNMODIFIED.name), package.join("src"));
    std::fs::create_dir_all(&to)?;
    std::fs::copy(from.join("Cargo.toml"), package.join("Cargo.toml"))?;
    std::fs::copy(from.join("src/main.rs"), to.join("main.rs"))?;
    let put = |built: &Path, variant: &str| {
        std::fs::copy(built, binaries.join(format!("{}-{variant}", UNMODIFIED.name)))
    };
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args(["build", "--quiet", "--release", "--target-dir"])
        .arg(target);
    finish(cargo.current_dir(&package))?;
    put(&binaries.join(UNMODIFIED.name), "plain")?;
    let mut ckpt = Command::new(tool);
    ckpt.args("ckpt run --release --interval 1h -- --steps 1".split(' '));
    ckpt.env("CKPT_RUNTIME_PATH", root.join("ckpt-runtime"));
    ckpt.env("CARGO_TARGET_DIR", target).current_dir(&package);
    finish(&mut ckpt)?;
    let runs = package.join(format!("{}.ckpt.d/runs", UNMODIFIED.name));
    let run = std::fs::read_dir(runs)?.next().context("a run has begun")??;
    let record = run.path().join("launch.json");
    let record: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(record)?)?;
    let built = record["executable"]
        .as_str()
        .context("the record names what was built")?;
    put(Path::new(built), "instrumented")?;
    Ok(())
}

fn finish(command: &mut Command) -> Result<()> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(())
}
