//! The program of an unmodified package, rewritten and built; built as it stands when nothing has changed since.

use std::fs;
use std::path::{Path, PathBuf};

use ckpt_analysis::{ChooseOptions, PackageAnalysis};
use ckpt_compiler::SOURCES_RECORD;

use crate::cargo::choice::choose;
use crate::cargo::{Built, Program, SitesOf};
use crate::cargo::{CargoOptions, Choice};
use crate::failure::Outcome;
use crate::package::build::driver::{Rewritten, Wanted, cargo_on_copy, rewrite, shown};
use crate::package::build::fingerprint::Fingerprint;
use crate::package::build::report;
use crate::package::copy::PackageCopy;
use crate::package::copy::home::Busy;
use crate::package::profile;
use crate::package::read::{ReadPackage, read, settings_files};

/// Builds the program that the options mean, which is to be run as so many ranks, and says where its executable is.
pub fn program(options: &CargoOptions, ranks: Option<u32>) -> Outcome<Program> {
    if let Some(executable) = &options.exe {
        return Program::existing(executable);
    }
    let metadata = options.metadata()?;
    let choice = choose(&metadata, options)?;
    let target = options
        .target_dir
        .clone()
        .unwrap_or_else(|| metadata.target_directory.clone().into());
    let built = match build(options, &choice, &target, ranks)? {
        Prepared::Built(built) => built,
        Prepared::AsItIs(sites) => Built {
            sites,
            ..options.cargo_build(&choice, &target)?
        },
    };
    Program::of(&choice, built)
}

/// What is there to start.
enum Prepared {
    /// The program with checkpoints in it.
    Built(Built),
    /// The package is to be built as it is: the user has put the sites in, or there is no loop for one.
    AsItIs(SitesOf),
}

/// Builds the program with checkpoints in it, for this many ranks, unless the package is to be built as it is.
fn build(options: &CargoOptions, choice: &Choice, target: &Path, ranks: Option<u32>) -> Outcome<Prepared> {
    let _busy = Busy::with(target);
    let path = target.join("ckpt").join(format!("{}.stamp", choice.target));
    let ranks = ranks.map(|ranks| ranks as usize);
    let words = words_of_build(options, choice, target, ranks);
    if let Some(fingerprint) = Fingerprint::still_valid(&path, &words) {
        tell(options, &fingerprint.summary);
        let built = cargo_on_copy(
            options,
            "build",
            choice,
            &fingerprint.manifest,
            &fingerprint.build_directory,
        )?;
        if built.success {
            return Ok(Prepared::Built(Built {
                measured: fingerprint.measured,
                reaches_only: fingerprint.reaches_only,
                sites: SitesOf::Ckpt,
                ..built
            }));
        }
    }
    let mut package = read(options)?;
    let analysis = profile::analyse(&mut package);
    if analysis.is_written_for_ckpt(&package.program) {
        sites_are_safe_points(&package, &analysis, ranks)?;
        return Ok(Prepared::AsItIs(SitesOf::User));
    }
    let Some(rewritten) = rewrite(options, Wanted::Program, package, analysis, ranks)? else {
        eprintln!(
            "ckpt: warning[W3005]: no loop that `main` reaches takes more than a moment, as far as the source tells: \
             the program runs without checkpoints"
        );
        return Ok(Prepared::AsItIs(SitesOf::Nobody));
    };
    let summary = summary(&rewritten);
    tell(options, &summary);
    let watched = watched(&rewritten.package, &rewritten.copy);
    let copy = &rewritten.copy;
    let measured = rewritten.package.run.is_some();
    let placement = &rewritten.attempt.placement;
    let reaches_only = placement.leaves_most_outside().then_some(placement.coverage);
    let mut fingerprint = Fingerprint::of(watched, words, &copy.manifest, &copy.build_directory, summary);
    fingerprint.measured = measured;
    fingerprint.reaches_only = reaches_only;
    fingerprint.write(&path);
    Ok(Prepared::Built(Built {
        measured,
        reaches_only,
        sites: SitesOf::Ckpt,
        ..rewritten.built
    }))
}

/// Whether the sites that the user has put into a program which passes messages are safe points, or vouched for.
fn sites_are_safe_points(
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    ranks: Option<usize>,
) -> Outcome<()> {
    let Some(main) = analysis.main() else {
        return Ok(());
    };
    if !analysis.passes_messages(main, ranks) {
        return Ok(());
    }
    let wishes = ChooseOptions {
        ranks,
        ..ChooseOptions::default()
    };
    let placement = analysis.place(main, &wishes);
    match placement.rejected.is_empty() {
        true => Ok(()),
        false => Err(report::unsafe_site(package, analysis, &placement)),
    }
}

fn tell(options: &CargoOptions, summary: &str) {
    if !options.quiet {
        eprint!("{summary}");
    }
}

/// Which sites there are, and what was done for them.
fn summary(rewritten: &Rewritten) -> String {
    let folder = rewritten.package.workspace_root();
    let mut text = String::new();
    if let Some(run) = &rewritten.package.run {
        text += &format!("ckpt: costs are those of {}\n", run.words());
    }
    for site in &rewritten.attempt.placement.sites {
        let place = (site.place.file, site.place.bytes.start);
        text += &format!(
            "ckpt: checkpoints in `{}`, {}, {:.0} % of the run\n",
            site.header,
            shown(&rewritten.package.program, place, folder),
            site.share * 100.0
        );
    }
    text += &report::outside(&rewritten.package, &rewritten.attempt.placement).unwrap_or_default();
    text
}

/// What decides how a program is rewritten and built, besides its files. A restart names what `cargo ckpt run` may have
/// left to cargo, the program and that nothing was measured: that must not look like another build.
fn words_of_build(
    options: &CargoOptions,
    choice: &Choice,
    target: &Path,
    ranks: Option<usize>,
) -> Vec<String> {
    let mut words = CargoOptions {
        bin: None,
        example: None,
        ..options.clone()
    }
    .words();
    words.push(format!("{:?}", choice.kind));
    words.extend(ranks.map(|ranks| format!("-n {ranks}")));
    words.push(choice.manifest.display().to_string());
    words.push(choice.target.clone());
    words.push(options.no_default_features.to_string());
    words.push((options.no_profile && profile::Kept::any(target, &choice.target)).to_string());
    for name in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CKPT_RUNTIME_PATH",
        "CARGO_BUILD_TARGET",
    ] {
        words.push(std::env::var(name).unwrap_or_default());
    }
    words
}

/// The user's files that the copy was made from: all that are not links in it, and the folders of the sources; and the
/// sources in the copy themselves.
fn watched(package: &ReadPackage, copy: &PackageCopy) -> Vec<PathBuf> {
    let mut list: Vec<PathBuf> = package
        .program
        .files
        .iter()
        .map(|file| file.path.clone())
        .collect();
    let mut pending = vec![copy.workspace_root.clone()];
    while let Some(folder) = pending.pop() {
        list.extend(copy.to_original(&folder));
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(path),
                Ok(kind) if kind.is_file() => {
                    list.extend(copy.to_original(&path));
                    // Programs of one workspace share the copy: another one may be rewritten there next.
                    if path.extension().is_some_and(|extension| extension == "rs") {
                        list.push(path);
                    }
                }
                _ => {}
            }
        }
    }
    let sources = package.sources();
    list.extend(sources.files.into_values().map(|file| file.path));
    // Programs of one package share the record of them.
    list.push(copy.manifest.with_file_name(SOURCES_RECORD));
    list.extend(settings_files(&package.workspace));
    list.extend(configuration_files());
    list.push(profile::Kept::path(package));
    list.sort();
    list.dedup();
    list
}

/// Cargo's configuration and the toolchain file, in the working folder and above.
fn configuration_files() -> impl Iterator<Item = PathBuf> {
    const NAMES: [&str; 4] = [
        ".cargo/config.toml",
        ".cargo/config",
        "rust-toolchain.toml",
        "rust-toolchain",
    ];
    let folder = std::env::current_dir().unwrap_or_default();
    let above: Vec<PathBuf> = folder.ancestors().map(Path::to_path_buf).collect();
    above
        .into_iter()
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
}
