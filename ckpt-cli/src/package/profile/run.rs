//! The instrumented run: a copy with counters, built and run once, with or without a limit.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ckpt_analysis::{COUNTS, Counter, Counters, Edit, Edited, FileId, PackageAnalysis};

use super::found;
use super::kept::Kept;
use crate::cargo::CargoOptions;
use crate::cargo::{Built, Program};
use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::launch::Supervisor;
use crate::output;
use crate::package::build::driver::{cargo_on_copy, findings, main_of};
use crate::package::copy::home::Busy;
use crate::package::copy::home::Home;
use crate::package::copy::lints::warn_only;
use crate::package::copy::{Adds, PackageCopy, make_copy_in};
use crate::package::read::runner::runner;
use crate::package::read::{ReadPackage, Run, read};
use crate::render;

/// The crate that counts.
const LIBRARY: &str = include_str!("library.rs");

/// Nanoseconds below which most of a run may be its beginning.
const SHORT_RUN: f64 = 5e7;

/// Builds that leave out counters which do not compile where they stand.
const MOST_BUILDS: usize = 6;

/// Builds the program with counters and optimisations, runs it, and keeps what was counted. With a limit, the program is
/// ended after that time, and what it has done until then counts.
pub fn measure(options: &CargoOptions, arguments: &[OsString], limit: Option<Duration>) -> Outcome<()> {
    let options = CargoOptions {
        release: true,
        profile: None,
        ..options.clone()
    };
    let mut package = read(&options)?;
    let analysis = package.analyse_inlining();
    let counters = analysis.counters(&package.program, main_of(&package, &analysis)?);
    let home = Home::open(&package)?.part("profile")?;
    let program = built(&package, &analysis, &counters, &home)?;
    let name = &package.workspace.choice.target;
    let numbers = home.folder.join(format!("{name}.counts"));
    let _ = fs::remove_file(&numbers);
    let mut command = program.command();
    command
        .args(arguments)
        .env("CKPT_PROFILE", &numbers)
        // What the program prints must not get between the lines of the plan.
        .stdout(std::io::stderr());
    let at_most = limit.map_or_else(String::new, |limit| {
        format!(", for {} at most", render::duration(limit))
    });
    say(&options, &format!("measuring `{name}`{at_most}"));
    let (ending, stopped) = Supervisor::new(None)?
        .of(program.behind_runner())
        .run_for(command, limit)?;
    let Some((nanos, seen)) = found::read(&numbers) else {
        return Err(
            Failure::no(says!("E3071: nothing was measured: `{name}` {ending}"))
                .because("it ended before anything was counted, or replaced itself by another program")
                .help("run it with arguments with which it works for a second or more"),
        );
    };
    let run = Run {
        arguments: arguments
            .iter()
            .map(|one| one.to_string_lossy().into_owned())
            .collect(),
        ended: if stopped {
            "was stopped then".to_owned()
        } else {
            ending.to_string()
        },
        stopped,
        seconds: nanos / 1e9,
        ..Run::default()
    };
    let kept = Kept::of(&package, &analysis, (&counters.list, &seen), nanos, run);
    kept.write(&package)?;
    let Run {
        loops_reached,
        loops_counted,
        ..
    } = kept.run;
    let text = format!(
        "measured {}; {loops_reached} of {loops_counted} loops were reached",
        kept.run.words()
    );
    say(&options, &text);
    if nanos < SHORT_RUN {
        say(
            &options,
            "warning[W3003]: so short a run says little about a long one: measure with an input that takes a second or more",
        );
    }
    Ok(())
}

fn say(options: &CargoOptions, text: &str) {
    if !options.quiet {
        output::note(text);
    }
}

/// The program with counters. Where one does not compile, those of its function are left out.
fn built(
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    counters: &Counters,
    home: &Home,
) -> Outcome<Program> {
    let _busy = Busy::with(package.target_directory());
    let library = write_library(home, counters.list.len())?;
    let choice = &package.workspace.choice;
    let mut left_out: BTreeSet<usize> = BTreeSet::new();
    for _ in 0..MOST_BUILDS {
        let edited = edited(package, counters, &left_out);
        let mut texts: BTreeMap<PathBuf, String> = edited
            .iter()
            .map(|(file, edited)| (package.program.file(*file).path.clone(), edited.text.clone()))
            .collect();
        warn_only(&mut texts, &package.program);
        let copy = make_copy_in(home, package, &texts, &Adds::Counts(&library))?;
        let built = cargo_on_copy(
            &package.options,
            "build",
            choice,
            &copy.manifest,
            &copy.build_directory,
        )?;
        if built.success {
            return Ok(Program::of(choice, built)?.started_by(runner(&package.options)?));
        }
        let more = counters_at_errors(package, analysis, counters, (&edited, &copy, &built));
        let before = left_out.len();
        left_out.extend(more);
        if left_out.len() == before {
            for diagnostic in built.diagnostics.iter().filter_map(|one| one.rendered.as_ref()) {
                anstream::eprintln!("{}", diagnostic.trim_end());
            }
            break;
        }
    }
    Err(
        Failure::build(says!("E3073: `{}` does not build with counters", choice.target))
            .help("rustc says why, above; if it builds without, this is a bug in ckpt: please report it"),
    )
}

fn edited(
    package: &ReadPackage,
    counters: &Counters,
    left_out: &BTreeSet<usize>,
) -> BTreeMap<FileId, Edited> {
    let program = &package.program;
    let kept = counters.edits.iter().enumerate();
    let kept = kept.filter(|(number, _)| !left_out.contains(number));
    let mut edits: Vec<Edit> = kept.flat_map(|(_, edits)| edits.iter().cloned()).collect();
    for krate in program.crates.iter().filter(|krate| krate.edition == 2015) {
        let end = program.file(krate.root).text.len();
        let text = format!("\nextern crate {COUNTS};\n");
        edits.push(Edit::insert(krate.root, end, text));
    }
    ckpt_analysis::edited(program, edits)
}

/// The counters of the functions in which rustc finds an error.
fn counters_at_errors(
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    counters: &Counters,
    (edited, copy, built): (&BTreeMap<FileId, Edited>, &PackageCopy, &Built),
) -> Vec<usize> {
    let places: Vec<_> = findings(&package.program, edited, copy, built)
        .0
        .into_iter()
        .flat_map(|one| one.places)
        .collect();
    let has_error = |counter: &Counter| {
        let place = &analysis.counted(*counter).1.place;
        places
            .iter()
            .any(|(file, at)| *file == place.file && place.bytes.contains(at))
    };
    let all = counters.list.iter().enumerate();
    all.filter(|(_, counter)| has_error(counter))
        .map(|(number, _)| number)
        .collect()
}

/// Writes the crate that counts, and says where it is.
fn write_library(home: &Home, counters: usize) -> Outcome<PathBuf> {
    let folder = home.folder.join("counts");
    let manifest = "[package]\nname = \"ckpt-counts\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[lib]\n\
                    name = \"ckpt_counts\"\npath = \"lib.rs\"\n\n[workspace]\n";
    let text = format!("{LIBRARY}\nconst COUNTERS: usize = {};\n", counters.max(1));
    fs::create_dir_all(&folder).about("cannot make", &folder)?;
    for (name, text) in [("Cargo.toml", manifest), ("lib.rs", text.as_str())] {
        let path = folder.join(name);
        write_if_other(&path, text)?;
    }
    Ok(folder)
}

/// Cargo builds again what has been written.
fn write_if_other(path: &Path, text: &str) -> Outcome<()> {
    if fs::read(path).is_ok_and(|present| present == text.as_bytes()) {
        return Ok(());
    }
    fs::write(path, text).about("cannot write", path)
}
