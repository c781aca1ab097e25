//! The program of an unmodified package, rewritten and built; built as it stands when nothing has changed since.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use ckpt::store::{columns_of, wrapped};
use ckpt_analysis::{ChooseOptions, PackageAnalysis, PlacedSite, Placement};
use ckpt_compiler::SOURCES_RECORD;

use crate::cargo::choice::choose;
use crate::cargo::{Built, Program, SitesOf};
use crate::cargo::{CargoOptions, Choice};
use crate::failure::Outcome;
use crate::output::told;
use crate::package::build::driver::{Rewritten, Wanted, cargo_on_copy, rewrite, shown};
use crate::package::build::fingerprint::{Decided, Fingerprint, RewrittenCopy, sources_of};
use crate::package::build::oracle::Brief;
use crate::package::build::report;
use crate::package::copy::PackageCopy;
use crate::package::copy::features;
use crate::package::copy::home::Busy;
use crate::package::copy::others::Others;
use crate::package::profile;
use crate::package::read::runner::runner;
use crate::package::read::settings::cargo_home;
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
            ..as_it_is(options, &choice, &target, metadata.workspace_root.as_std_path())?
        },
    };
    built.print_messages();
    Ok(Program::of(&choice, built)?.started_by(runner(options)?))
}

/// Builds the package as it is. What rustc says of types that no checkpoint can hold is said in short.
fn as_it_is(options: &CargoOptions, choice: &Choice, target: &Path, folder: &Path) -> Outcome<Built> {
    let mut brief = Brief::of(folder);
    let built = options.cargo_build(choice, target, &mut |diagnostic| {
        if let Some(text) = brief.text(diagnostic) {
            anstream::eprint!("{}", wrapped(&text, columns_of(std::io::stderr())));
        }
    });
    if let Some(more) = brief.more() {
        told!("{more}");
    }
    built
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
    match Fingerprint::still_valid(&path, &words).map(|fingerprint| fingerprint.decided) {
        Some(Decided::AsItIs) => return Ok(Prepared::AsItIs(SitesOf::User)),
        Some(Decided::Copy(copy)) => {
            tell(options, &copy.summary);
            let built = cargo_on_copy(options, "build", choice, &copy.manifest, &copy.build_directory)?;
            if built.success && flags(&built) == copy.flags {
                return Ok(Prepared::Built(Built {
                    measured: copy.measured,
                    reaches_only: copy.reaches_only,
                    unseeded: copy.unseeded,
                    adds_in_blocks: copy.adds_in_blocks,
                    sites: SitesOf::Ckpt,
                    ..built
                }));
            }
        }
        None => {}
    }
    let (reading, mut package) = Reading::of(options)?;
    let analysis = profile::analyse(&mut package);
    if analysis.is_written_for_ckpt(&package.program) {
        sites_are_safe_points(&package, &analysis, ranks)?;
        let files = read_files(&package);
        // Only running the build scripts again would show that their flags are the same.
        if !package.has_asked_scripts && reading.still_holds(&package, &files) {
            Fingerprint::of(files, words, Decided::AsItIs).write(&path);
        }
        return Ok(Prepared::AsItIs(SitesOf::User));
    }
    let unseeded = analysis.unseeded(&package.program).map(|(place, what)| {
        let place = shown(&package.program, place, package.workspace_root());
        format!("`{what}`, {place}")
    });
    let Some(rewritten) = rewrite(
        options,
        Wanted::Program,
        (package, analysis),
        profile::analyse,
        ranks,
    )?
    else {
        told!(
            "ckpt: warning[W3005]: no loop that `main` reaches takes more than a moment, as far as the source tells: \
             the program runs without checkpoints"
        );
        return Ok(Prepared::AsItIs(SitesOf::Nobody));
    };
    let summary = summary(&rewritten);
    tell(options, &summary);
    let copy = &rewritten.copy;
    let mut watched = of_the_user(&rewritten.package, copy);
    let still_holds = reading.still_holds(&rewritten.package, &watched);
    watched.extend(of_the_copy(&rewritten.package, copy));
    let measured = rewritten.package.run.is_some();
    let placement = &rewritten.attempt.placement;
    let adds_in_blocks = { rewritten.analysis.adds_in_blocks(placement) }.map(|place| {
        shown(
            &rewritten.package.program,
            place,
            rewritten.package.workspace_root(),
        )
    });
    let reaches_only = placement.leaves_most_outside().then_some(placement.coverage);
    let decided = Decided::Copy(RewrittenCopy {
        manifest: copy.manifest.clone(),
        build_directory: copy.build_directory.clone(),
        summary,
        measured,
        reaches_only,
        unseeded: unseeded.clone(),
        adds_in_blocks: adds_in_blocks.clone(),
        flags: flags(&rewritten.built),
    });
    if still_holds {
        Fingerprint::of(watched, words, decided).write(&path);
    }
    Ok(Prepared::Built(Built {
        measured,
        reaches_only,
        unseeded,
        adds_in_blocks,
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
        told!("{summary}");
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
    let placement = &rewritten.attempt.placement;
    text += &together(placement);
    text += &report::outside(&rewritten.package, placement)
        .unwrap_or_else(|| report::refused_by_rustc(&rewritten.package, placement));
    text
}

/// What the sites reach where the shares of their loops say more, as some of these are within others.
fn together(placement: &Placement) -> String {
    const ROUNDED: f64 = 0.01;
    // A loop without messages has two sites.
    let mut loops: Vec<&PlacedSite> = placement.sites.iter().collect();
    loops.dedup_by_key(|site| (site.place.file, site.place.bytes.start));
    let all: f64 = loops.iter().map(|site| site.share).sum();
    match all > placement.coverage + ROUNDED {
        true => format!(
            "ckpt: together they reach {:.0} % of the run: some of these loops are within others\n",
            placement.coverage * 100.0
        ),
        false => String::new(),
    }
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
    words.extend(features::of_settings().map(str::to_owned));
    words.push((options.no_profile && profile::Kept::any(target, &choice.target)).to_string());
    let variables = std::env::vars_os().filter_map(|(name, value)| {
        let name = name.into_string().ok()?;
        let decides = VARIABLES.contains(&&*name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        decides.then(|| format!("{name}={}", value.display()))
    });
    let mut variables: Vec<String> = variables.collect();
    variables.sort();
    words.extend(variables);
    words
}

/// Variables that decide how a program is built, or which of its code.
const VARIABLES: [&str; 7] = [
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_HOME",
    "CKPT_RUNTIME_PATH",
    "MPICC",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
];

/// Variables that stand for settings of cargo which do.
const PREFIXES: [&str; 3] = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_"];

/// The flags for `#[cfg]` that build scripts have set.
fn flags(built: &Built) -> BTreeMap<String, Vec<String>> {
    let set = built.flags.iter();
    set.map(|(id, flags)| (id.repr.clone(), flags.clone())).collect()
}

/// How much older than the clock the time of a file may be that was just written.
const CLOCKS: Duration = Duration::from_millis(100);

/// When a file was renamed, linked or written, whatever the time of its bytes.
fn time_of_change(found: &fs::Metadata) -> SystemTime {
    let since = Duration::new(found.ctime().max(0) as u64, found.ctime_nsec() as u32);
    SystemTime::UNIX_EPOCH + since
}

/// When a package was read.
#[derive(Debug, Clone, Copy)]
struct Reading {
    began: SystemTime,
    ended: SystemTime,
}

impl Reading {
    /// Reads it.
    fn of(options: &CargoOptions) -> Outcome<(Reading, ReadPackage)> {
        let began = SystemTime::now();
        let package = read(options)?;
        let ended = SystemTime::now();
        Ok((Reading { began, ended }, package))
    }

    /// Whether the package is what was read: an edit while it is built belongs to no build yet.
    fn still_holds(self, package: &ReadPackage, files: &[PathBuf]) -> bool {
        let is_source = |path: &PathBuf| package.program.file_at(path).is_some();
        package.is_unchanged() && files.iter().all(|path| is_source(path) || self.is_before(path))
    }

    fn is_before(self, path: &Path) -> bool {
        let Ok(found) = fs::metadata(path) else {
            return true;
        };
        if found.is_dir() {
            return sources_of(path).iter().all(|path| self.is_before(path));
        }
        let changed = time_of_change(&found);
        match path.file_name().is_some_and(|name| name == "Cargo.lock") {
            // Cargo may have written it for this very reading.
            true => changed <= self.ended,
            false => changed + CLOCKS < self.began,
        }
    }
}

/// The user's files that the copy was made from: all that are not links in it, and the folders of the sources.
fn of_the_user(package: &ReadPackage, copy: &PackageCopy) -> Vec<PathBuf> {
    let mut list = read_files(package);
    for folder in folders_in(&copy.workspace_root) {
        list.extend(copy.to_original(&folder));
        list.extend(files_in(&folder).filter_map(|path| copy.to_original(&path)));
    }
    list.push(profile::Kept::path(package));
    list.sort();
    list.dedup();
    list
}

/// The sources of the program in the copy itself, which programs of one workspace share: another may be rewritten there next.
fn of_the_copy(package: &ReadPackage, copy: &PackageCopy) -> Vec<PathBuf> {
    let none = BTreeMap::new();
    let others = Others::of(package, &none);
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "rs")
            && !{ copy.to_original(path) }.is_some_and(|original| others.have(&original))
    };
    let folders = folders_in(&copy.workspace_root).into_iter();
    let sources = folders.flat_map(|folder| files_in(&folder).filter(is_source).collect::<Vec<_>>());
    // Programs of one package share the record of them.
    let record = copy.manifest.with_file_name(SOURCES_RECORD);
    sources.chain([record]).collect()
}

/// A folder and those below it that are no links.
fn folders_in(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.to_path_buf()];
    let mut next = 0;
    while let Some(folder) = found.get(next) {
        let below = entries(folder).filter(|(kind, _)| kind.is_dir());
        let below: Vec<PathBuf> = below.map(|(_, path)| path).collect();
        found.extend(below);
        next += 1;
    }
    found
}

fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    entries(folder)
        .filter(|(kind, _)| kind.is_file())
        .map(|(_, path)| path)
}

fn entries(folder: &Path) -> impl Iterator<Item = (fs::FileType, PathBuf)> {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    found.filter_map(|entry| Some((entry.file_type().ok()?, entry.path())))
}

/// The files that a package was read from: sources, manifests, and settings of ckpt, cargo and the toolchain.
fn read_files(package: &ReadPackage) -> Vec<PathBuf> {
    let files = package.program.files.iter().map(|file| file.path.clone());
    let sources = package.sources().files.into_values().map(|file| file.path);
    let manifests = package.workspace.packages.iter().map(|one| one.manifest.clone());
    let root = ["Cargo.toml", "Cargo.lock"].map(|name| package.workspace_root().join(name));
    let settings = settings_files(&package.workspace);
    let mut list: Vec<PathBuf> = files.chain(sources).chain(manifests).collect();
    list.extend(root.into_iter().chain(settings).chain(configuration_files()));
    let said = package.options.passed_on.settings_files();
    list.extend(said.filter_map(|path| std::path::absolute(path).ok()));
    list
}

/// Cargo's configuration and the toolchain file, in the working folder, above it and in cargo's own.
fn configuration_files() -> impl Iterator<Item = PathBuf> {
    const NAMES: [&str; 4] = [
        ".cargo/config.toml",
        ".cargo/config",
        "rust-toolchain.toml",
        "rust-toolchain",
    ];
    let folder = std::env::current_dir().unwrap_or_default();
    let above: Vec<PathBuf> = folder.ancestors().map(Path::to_path_buf).collect();
    let in_home = |home: PathBuf| ["config.toml", "config"].map(|name| home.join(name));
    let in_home = cargo_home().into_iter().flat_map(in_home);
    above
        .into_iter()
        .flat_map(|folder| NAMES.map(|name| folder.join(name)))
        .chain(in_home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::testing::{Tree, manifest, options};

    /// A package with a path whose file is changed after it was read.
    fn holds_after(change: impl FnOnce(&Tree)) -> bool {
        let tree = Tree::new(&[
            ("Cargo.toml", &manifest("app", "")),
            (
                "Cargo.lock",
                "version = 4\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\n",
            ),
            ("src/main.rs", "mod part; fn main() {}"),
            ("src/part.rs", ""),
        ]);
        let (_, package) = Reading::of(&options(&tree, "Cargo.toml")).unwrap();
        let files = read_files(&package);
        // As if it had been read just after the newest of them was written.
        let found = files.iter().filter_map(|path| fs::metadata(path).ok());
        let newest = found.map(|found| time_of_change(&found)).max().unwrap();
        let reading = Reading {
            began: newest + CLOCKS + Duration::from_nanos(1),
            ended: newest,
        };
        // Times of files go forwards in steps: what changes within one has the time of what was there before.
        let of_now = || {
            tree.write("clock", "");
            time_of_change(&fs::metadata(tree.path("clock")).unwrap())
        };
        while of_now() <= newest {
            std::thread::yield_now();
        }
        change(&tree);
        reading.still_holds(&package, &files)
    }

    #[test]
    fn what_is_edited_during_a_build_belongs_to_no_build() {
        assert!(holds_after(|_| {}));
        assert!(!holds_after(|tree| tree.write("src/part.rs", "// new")));
        assert!(!holds_after(
            |tree| tree.write("Cargo.toml", &manifest("app", "# new"))
        ));
        assert!(!holds_after(|tree| tree.write("ckpt.toml", "")));
        assert!(!holds_after(|tree| tree.write("Cargo.lock", "version = 4\n")));
    }
}
