//! Packages of the testdata, which have never heard of ckpt: as they are, and instrumented by `cargo ckpt`.

use crate::instructions;
use crate::program::{UNMODIFIED, Variant, with_session};
use crate::table::{Row, Table};
use anyhow::{Context, Result, bail, ensure};
use reach::programs::{Expected, Package as Tested};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `--check` fails where a program needs more than that, of the plain program's instructions.
const BAR: f64 = 1.01;
/// And where an instrumented program that does nothing needs so many more than the plain one: some two milliseconds.
const START: f64 = 3e6;

/// A program of a package, what is run of it, and what is asked.
#[derive(Clone)]
struct Package {
    /// Its name on the command line of the benchmark.
    name: String,
    /// Its folder below `testdata/`.
    folder: String,
    /// Which of its programs, where it has several.
    bin: Option<String>,
    /// Arguments of a run that is subtracted; where the package has no shorter one, that of a program that does nothing.
    short: Option<Vec<String>>,
    /// Arguments of the run that is counted.
    long: Vec<String>,
    /// At most so many instructions, of the plain program's. Above [`BAR`] only where that is not reached yet.
    bar: f64,
}

/// Those with runs of a length of their own: longer than the tests' of the same package, or less their beginning.
fn of_own_length() -> Vec<Package> {
    vec![
        package("nas-cg", "nas-cg", "cg", None, "", BAR),
        package("nas-ft", "nas-ft", "npb-ft", None, "", BAR),
        package("nas-mg", "nas-mg", "mg", Some("S"), "W", BAR),
        package("nas-is", "nas-is", "is", None, "", BAR),
        package(
            "game-of-life",
            "game-of-life",
            "game-of-life",
            Some("20"),
            "150",
            BAR,
        ),
        package("queens", "game-puzzles", "queens", None, "", BAR),
        package("queens-place", "queens", "place", Some("10"), "11", 1.06),
        package("queens-turns", "queens", "turns", Some("9"), "10", 1.08),
        package("nbody", "game-orbits", "nbody", Some("50000"), "150000", BAR),
        package("md", "md", "argon", None, "", BAR),
        package("barnes-hut", "barnes-hut", "galaxy", None, "", BAR),
        package("lbm", "lbm", "lbm2d", None, "", BAR),
        package(
            "prk-stencil",
            "prk-stencil",
            "stencil",
            Some("5 400"),
            "15 400",
            BAR,
        ),
    ]
}

fn package(name: &str, folder: &str, bin: &str, short: Option<&str>, long: &str, bar: f64) -> Package {
    let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
    Package {
        name: name.to_owned(),
        folder: folder.to_owned(),
        bin: Some(bin.to_owned()),
        short: short.map(words),
        long: words(long),
        bar,
    }
}

/// Every run that a package of the testdata asks its tests for, where nothing stands in the way of it.
fn tested() -> Result<Vec<Package>> {
    let packages = Tested::all(&root().join("testdata"))?;
    let passes = packages.into_iter().filter(|one| one.expected == Expected::Pass);
    let runs = passes.flat_map(|one| {
        let is_alone = one.runs.len() == 1;
        let of = move |(number, run): (usize, reach::programs::Run)| Package {
            name: match is_alone {
                true => one.name.clone(),
                false => format!("{}:{number}", one.name),
            },
            folder: one.name.clone(),
            bin: run.bin,
            short: None,
            long: run.args,
            bar: BAR,
        };
        one.runs.clone().into_iter().enumerate().map(of)
    });
    Ok(runs.collect())
}

/// The packages of these names; all of them if there are none.
///
/// # Errors
/// One of them is not there.
fn named(names: &[String]) -> Result<Vec<Package>> {
    let mut all = of_own_length();
    let known = |all: &[Package], name: &str| all.iter().any(|one| one.name == name);
    for one in tested()? {
        if !known(&all, &one.name) {
            all.push(one);
        }
    }
    if names.is_empty() {
        return Ok(all);
    }
    let find = |name: &String| {
        let found = all.iter().find(|one| one.name == *name).cloned();
        found.with_context(|| {
            let known = all.iter().map(|one| &*one.name).collect::<Vec<_>>().join(", ");
            format!("no package `{name}` is measured; there are {known}")
        })
    };
    names.iter().map(find).collect()
}

/// Measures them, and prints a line for each; with a page, they are its table. With `check` it is an error if one is above its
/// bar. Of all packages, one that cannot be measured is a line that says why.
///
/// # Errors
/// Something does not build or run, or is above its bar.
pub fn measure(
    names: &[String],
    check: bool,
    page: Option<&Path>,
    binaries: &Path,
    folder: &Path,
) -> Result<()> {
    let packages = named(names)?;
    let tools = Tools::new(binaries)?;
    let mut table = Table::begin(names.is_empty());
    let nothing = tools.nothing(folder)?;
    let start = Start::of(&nothing)?;
    table.start(&start.counts);
    let mut above = Vec::new();
    if start.counts[1..]
        .iter()
        .any(|count| count - start.counts[0] > START)
    {
        above.push("starting up".to_owned());
    }
    for package in packages {
        let measured = tools
            .package(&package, folder)
            .and_then(|built| package.row(&built, &start));
        match measured {
            Ok(row) => {
                if row.ratios.iter().any(|ratio| *ratio > package.bar) {
                    above.push(package.name);
                }
                table.add(row);
            }
            Err(why) => table.cannot(&package.name, &why),
        }
        // A run that is ended early leaves what it has measured.
        if let Some(page) = page {
            table.put_into(page)?;
        }
    }
    ensure!(names.is_empty() || table.is_whole(), "not all could be measured");
    ensure!(
        !check || above.is_empty(),
        "above their bar: {}",
        above.join(", ")
    );
    Ok(())
}

/// What starting up takes: a run of a program that does nothing, in each variant.
struct Start {
    counts: [f64; 3],
}

impl Start {
    fn of(nothing: &Built) -> Result<Self> {
        let counts = nothing.each_variant(|nothing, variant| nothing.instructions(variant, &[]))?;
        Ok(Self { counts })
    }
}

impl Package {
    fn row(&self, built: &Built, start: &Start) -> Result<Row> {
        let [plain, idle, session] = built
            .each_variant(|built, variant| self.count(variant, built, start.counts[variant as usize]))?;
        Ok(Row {
            name: self.name.clone(),
            plain,
            ratios: [idle / plain, session / plain],
            bar: self.bar,
        })
    }

    /// Instructions of a run, without those of starting up.
    fn count(&self, variant: Variant, built: &Built, start: f64) -> Result<f64> {
        let long = built.instructions(variant, &self.long)?;
        let short = match &self.short {
            Some(arguments) => built.instructions(variant, arguments)?,
            None => start,
        };
        ensure!(long > short, "starting up is all that it does");
        Ok(long - short)
    }
}

/// The two executables of a package, and the folder that they run in.
struct Built {
    plain: PathBuf,
    instrumented: PathBuf,
    folder: PathBuf,
}

impl Built {
    /// What is measured of each variant. They run beside each other, each in a copy of the folder: the counts are the same, and they
    /// are most of the time that all of this takes.
    fn each_variant(&self, measured: impl Fn(&Built, Variant) -> Result<f64> + Sync) -> Result<[f64; 3]> {
        let of = |variant: Variant| {
            let folder = tempfile::tempdir()?;
            copy_folder(&self.folder, folder.path())?;
            let built = Built {
                plain: self.plain.clone(),
                instrumented: self.instrumented.clone(),
                folder: folder.path().to_owned(),
            };
            measured(&built, variant)
        };
        std::thread::scope(|scope| {
            let runs = Variant::ALL.map(|variant| scope.spawn(move || of(variant)));
            let [plain, idle, session] = runs.map(|run| run.join().expect("no run panics"));
            Ok([plain?, idle?, session?])
        })
    }

    fn instructions(&self, variant: Variant, arguments: &[String]) -> Result<f64> {
        let mut command = Command::new(match variant {
            Variant::Plain => &self.plain,
            Variant::Idle | Variant::Session => &self.instrumented,
        });
        command.args(arguments).current_dir(&self.folder);
        if variant == Variant::Session {
            with_session(&mut command, &self.folder)?;
        }
        Ok(instructions(&command)? as f64)
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
        let copy = folder.join(package.name.replace(':', "-"));
        copy_folder(&root().join("testdata").join(&package.folder), &copy)?;
        self.build(&copy, package.bin.as_deref(), &package.long)
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
        self.build(&copy, None, &[])
    }

    /// Builds it both ways. `cargo ckpt` builds in a folder of ckpt's, runs the program once with these arguments, and says in
    /// the record of the run where it is.
    fn build(&self, package: &Path, bin: Option<&str>, arguments: &[String]) -> Result<Built> {
        let which: Vec<&str> = bin.map_or(Vec::new(), |bin| vec!["--bin", bin]);
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .args([
                "build",
                "--quiet",
                "--release",
                "--message-format=json",
                "--target-dir",
            ])
            .arg(&self.target)
            .args(&which);
        let said = finish(cargo.current_dir(package))?;
        let plain = package.join("measured-plain");
        fs::copy(built_program(&said)?, &plain)?;
        let mut ckpt = Command::new(&self.ckpt);
        ckpt.args(["ckpt", "run", "--release", "--interval", "1h"])
            .args(&which)
            .arg("--")
            .args(arguments);
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

/// The program that cargo has built, as its messages say.
fn built_program(said: &str) -> Result<PathBuf> {
    let messages = said.lines().rev();
    let mut messages = messages.filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
    let program = messages.find_map(|message| Some(PathBuf::from(message["executable"].as_str()?)));
    program.context("cargo does not say what it has built")
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
    let package = package(UNMODIFIED.name, UNMODIFIED.name, UNMODIFIED.name, None, "", BAR);
    let built = Tools::new(binaries)?.package(&package, folder)?;
    let put = |built: &Path, variant: &str| {
        fs::copy(built, binaries.join(format!("{}-{variant}", UNMODIFIED.name)))
    };
    put(&built.plain, "plain")?;
    put(&built.instrumented, "instrumented")?;
    Ok(())
}

/// Runs it to its end; what it has printed.
fn finish(command: &mut Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot start {command:?}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
