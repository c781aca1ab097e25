//! Packages of the testdata, which have never heard of ckpt: as they are, and instrumented by `cargo ckpt`.

use crate::instructions;
use crate::program::{UNMODIFIED, Variant, with_session};
use anyhow::{Context, Result, bail, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A package, what is run of it, and what is asked.
struct Package {
    /// Its name on the command line of the benchmark.
    name: &'static str,
    /// Its folder below `testdata/`.
    folder: &'static str,
    bin: &'static str,
    /// Arguments of a run that is subtracted; where the package has no shorter one, that of a program that does nothing.
    short: Option<&'static str>,
    /// Arguments of the run that is counted.
    long: &'static str,
    /// At most so many instructions, of the plain program's. Above 1.01 only where that is not reached yet.
    bar: f64,
}

/// All that are measured.
static PACKAGES: [Package; 12] = [
    package("nas-cg", "nas-cg", "cg", None, "", 1.01),
    package("nas-ft", "nas-ft", "npb-ft", None, "", 1.01),
    package("nas-mg", "nas-mg", "mg", Some("S"), "W", 1.01),
    package("nas-is", "nas-is", "is", None, "", 1.01),
    package("queens", "game-puzzles", "queens", None, "", 1.01),
    package("queens-place", "queens", "place", Some("10"), "11", 1.06),
    package("queens-turns", "queens", "turns", Some("9"), "10", 1.08),
    package("nbody", "game-orbits", "nbody", Some("50000"), "150000", 1.01),
    package("md", "md", "argon", None, "", 1.01),
    package("barnes-hut", "barnes-hut", "galaxy", None, "", 1.01),
    package("lbm", "lbm", "lbm2d", None, "", 1.01),
    package(
        "prk-stencil",
        "prk-stencil",
        "stencil",
        Some("5 400"),
        "15 400",
        1.01,
    ),
];

const fn package(
    name: &'static str,
    folder: &'static str,
    bin: &'static str,
    short: Option<&'static str>,
    long: &'static str,
    bar: f64,
) -> Package {
    Package {
        name,
        folder,
        bin,
        short,
        long,
        bar,
    }
}

/// The packages of these names; all of them if there are none.
///
/// # Errors
/// One of them is not there.
fn named(names: &[String]) -> Result<Vec<&'static Package>> {
    if names.is_empty() {
        return Ok(PACKAGES.iter().collect());
    }
    let known = || PACKAGES.iter().map(|one| one.name).collect::<Vec<_>>().join(", ");
    let find = |name: &String| {
        let found = PACKAGES.iter().find(|one| one.name == name);
        found.with_context(|| format!("no package `{name}` is measured; there are {}", known()))
    };
    names.iter().map(find).collect()
}

/// Measures them, and prints a line for each. With `check` it is an error if one is above its bar.
///
/// # Errors
/// Something does not build or run, or is above its bar.
pub fn measure(names: &[String], check: bool, binaries: &Path, folder: &Path) -> Result<()> {
    let packages = named(names)?;
    let tools = Tools::new(binaries)?;
    let nothing = tools.nothing(folder)?;
    println!("instructions of unmodified packages, to those of the plain one");
    println!(
        "{:<14} {:>10} {:>10} {:>12} {:>8}",
        "", "plain", "no session", "nothing due", "bar"
    );
    let mut above = Vec::new();
    for package in packages {
        let built = tools.package(package, folder)?;
        let count = |variant| package.count(variant, &built, &nothing);
        let plain = count(Variant::Plain)?;
        let (idle, session) = (count(Variant::Idle)? / plain, count(Variant::Session)? / plain);
        println!(
            "{:<14} {:>8.1} M {idle:>10.4} {session:>12.4} {:>8.3}",
            package.name,
            plain / 1e6,
            package.bar
        );
        if idle.max(session) > package.bar {
            above.push(package.name);
        }
    }
    ensure!(
        !check || above.is_empty(),
        "above their bar: {}",
        above.join(", ")
    );
    Ok(())
}

impl Package {
    /// Instructions of a run, without those of starting up.
    fn count(&self, variant: Variant, built: &Built, nothing: &Built) -> Result<f64> {
        let long = built.instructions(variant, self.long)?;
        let short = match self.short {
            Some(arguments) => built.instructions(variant, arguments)?,
            None => nothing.instructions(variant, "")?,
        };
        ensure!(long > short, "{}: starting up is all that it does", self.name);
        Ok((long - short) as f64)
    }
}

/// The two executables of a package, and the folder that they run in.
struct Built {
    plain: PathBuf,
    instrumented: PathBuf,
    folder: PathBuf,
}

impl Built {
    fn instructions(&self, variant: Variant, arguments: &str) -> Result<u64> {
        let mut command = Command::new(match variant {
            Variant::Plain => &self.plain,
            Variant::Idle | Variant::Session => &self.instrumented,
        });
        command
            .args(arguments.split_whitespace())
            .current_dir(&self.folder);
        if variant == Variant::Session {
            with_session(&mut command, &self.folder)?;
        }
        instructions(&command)
    }
}

/// What builds packages.
struct Tools {
    ckpt: PathBuf,
    target: PathBuf,
}

impl Tools {
    fn new(binaries: &Path) -> Result<Self> {
        let target = binaries.parent().context("cargo's target folder")?.to_owned();
        let ckpt = match std::env::var_os("CARGO_CKPT") {
            Some(tool) => PathBuf::from(tool),
            None => {
                let mut cargo = Command::new(env!("CARGO"));
                cargo
                    .args(["build", "--quiet", "-p", "ckpt-cli", "--target-dir"])
                    .arg(&target);
                finish(cargo.current_dir(root()))?;
                target.join("debug/cargo-ckpt")
            }
        };
        Ok(Self { ckpt, target })
    }

    fn package(&self, package: &Package, folder: &Path) -> Result<Built> {
        let copy = folder.join(package.name);
        copy_folder(&root().join("testdata").join(package.folder), &copy)?;
        self.build(&copy, package.bin)
    }

    /// A program with a loop and nothing in it.
    fn nothing(&self, folder: &Path) -> Result<Built> {
        let copy = folder.join("nothing");
        fs::create_dir_all(copy.join("src"))?;
        let manifest =
            "[package]\nname = \"nothing\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[workspace]\n";
        fs::write(copy.join("Cargo.toml"), manifest)?;
        let source = "fn main() {\n    for step in 0..5 {\n        println!(\"{step}\");\n    }\n}\n";
        fs::write(copy.join("src/main.rs"), source)?;
        self.build(&copy, "nothing")
    }

    /// Builds it both ways. `cargo ckpt` builds in a folder of ckpt's, and says in the record of the run where.
    fn build(&self, package: &Path, bin: &str) -> Result<Built> {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args(["build", "--quiet", "--release", "--bin", bin, "--target-dir"])
            .arg(&self.target);
        finish(cargo.current_dir(package))?;
        let plain = package.join("measured-plain");
        fs::copy(self.target.join("release").join(bin), &plain)?;
        let mut ckpt = Command::new(&self.ckpt);
        ckpt.args(["ckpt", "run", "--release", "--interval", "1h", "--bin", bin]);
        ckpt.env("CKPT_RUNTIME_PATH", root().join("ckpt-runtime"));
        ckpt.env("CARGO_TARGET_DIR", &self.target).current_dir(package);
        finish(&mut ckpt)?;
        let instrumented = package.join("measured-instrumented");
        fs::copy(executable(package)?, &instrumented)?;
        Ok(Built {
            plain,
            instrumented,
            folder: package.to_owned(),
        })
    }
}

/// What the last run in a folder has started.
fn executable(package: &Path) -> Result<PathBuf> {
    let stores = fs::read_dir(package)?.flatten().map(|entry| entry.path());
    let mut runs = stores
        .map(|store| store.join("runs"))
        .filter(|runs| runs.is_dir());
    let runs = runs.next().context("a run has begun")?;
    let run = fs::read_dir(runs)?.next().context("a run has begun")??;
    let record = fs::read_to_string(run.path().join("launch.json"))?;
    let record: serde_json::Value = serde_json::from_str(&record)?;
    match record["executable"].as_str() {
        Some(path) => Ok(PathBuf::from(path)),
        None => bail!("the record does not name what was built"),
    }
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let entry = entry?;
        let (path, copy) = (entry.path(), to.join(entry.file_name()));
        if entry.file_name() == "target" {
            continue;
        }
        match entry.file_type()?.is_dir() {
            true => copy_folder(&path, &copy)?,
            false => fs::copy(&path, copy).map(|_| ())?,
        }
    }
    Ok(())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds the one that is measured beside the programs with threads, and puts the executables where theirs are.
///
/// # Errors
/// It does not build.
pub fn build(binaries: &Path, folder: &Path) -> Result<()> {
    let package = package(UNMODIFIED.name, UNMODIFIED.name, UNMODIFIED.name, None, "", 1.01);
    let built = Tools::new(binaries)?.package(&package, folder)?;
    let put = |built: &Path, variant: &str| {
        fs::copy(built, binaries.join(format!("{}-{variant}", UNMODIFIED.name)))
    };
    put(&built.plain, "plain")?;
    put(&built.instrumented, "instrumented")?;
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
