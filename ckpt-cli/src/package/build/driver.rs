//! The loop around an unmodified package: analyse, place, rewrite a copy, build it, learn from what rustc says, again.
//!
//! Every round ends with a build of the copy. What rustc reports is either resolved by a decision (a derive, a bound, a
//! statement that is re-executed), or it means that a site cannot be where it is: then that loop is given up and the
//! placement looks further out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::PackageId;
use ckpt_analysis::{
    Attempt, ChooseOptions, Detector, Edited, FileId, FnId, Knowledge, PackageAnalysis, Position, Program,
    Sources, line_and_column, names_ckpt,
};

use crate::cargo::{Built, Diagnostics};
use crate::cargo::{CargoOptions, Choice};
use crate::failure::{Failure, Outcome, says};
use crate::package::build::decision_cache::DecisionCache;
use crate::package::build::oracle::{CopyRange, Finding, Prose};
use crate::package::build::report;
use crate::package::copy::features;
use crate::package::copy::lints::warn_only;
use crate::package::copy::manifest::Runtime;
use crate::package::copy::shared::SharedBuilds;
use crate::package::copy::{PackageCopy, make_copy};
use crate::package::read::{ReadPackage, read, read_asking_scripts};

/// More rounds than any sane package needs: each decides something, so the loop ends without this as well. `CKPT_MOST_ROUNDS`
/// is another number.
fn most_rounds() -> usize {
    let wanted = std::env::var("CKPT_MOST_ROUNDS").ok();
    wanted.and_then(|text| text.trim().parse().ok()).unwrap_or(40)
}

/// What is wanted from the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The executable.
    Program,
    /// Only the certainty that the rewritten sources compile.
    Sources,
}

impl Wanted {
    fn other(self) -> Wanted {
        match self {
            Wanted::Program => Wanted::Sources,
            Wanted::Sources => Wanted::Program,
        }
    }

    /// Asks cargo for it.
    fn of_copy(self, options: &CargoOptions, package: &ReadPackage, copy: &PackageCopy) -> Outcome<Built> {
        let verb = match self {
            Wanted::Program => "build",
            Wanted::Sources => "check",
        };
        let choice = &package.workspace.choice;
        cargo_on_copy(options, verb, choice, &copy.manifest, &copy.build_directory)
    }
}

/// A package that has been rewritten and compiles.
#[derive(Debug)]
pub struct Rewritten {
    /// What was read.
    pub package: ReadPackage,
    /// What is known of it.
    pub analysis: PackageAnalysis,
    /// What was tried last: the placement, what the oracle led to, the edited files.
    pub attempt: Attempt,
    /// The copy.
    pub copy: PackageCopy,
    /// What the last round of cargo gave.
    pub built: Built,
    /// How many times cargo was asked.
    pub rounds: usize,
}

/// What is found out about a package, with what has been measured of it.
pub type Analyse = fn(&mut ReadPackage) -> PackageAnalysis;

/// Rewrites a package until its copy compiles, for this many ranks; nothing if it has no loop that is worth a checkpoint.
/// `analyse` is what has led to the analysis: asked again if the package has to be read again.
pub fn rewrite(
    options: &CargoOptions,
    wanted: Wanted,
    (mut package, mut analysis): (ReadPackage, PackageAnalysis),
    analyse: Analyse,
    ranks: Option<usize>,
) -> Outcome<Option<Rewritten>> {
    let mut rounds = 0;
    let detectors = detectors_of(&package, &analysis)?;
    let found = loop {
        let all = Rounds {
            options,
            wanted,
            package: &package,
            analysis: &analysis,
            ranks,
            main: main_of(&package, &analysis)?,
            asked: 0,
        };
        let (found, asked) = all.until_the_end();
        rounds += asked;
        match found {
            // What is written out may not compile where it stands.
            Err(_) if package.read_as_it_is() => analysis = package.analyse(),
            // What was taken out of the copy may be what cargo builds.
            Ok(Some(found)) if package.has_missed_flags(&found.built) => {
                package = read_asking_scripts(options)?;
                analysis = analyse(&mut package);
            }
            found => break found?,
        }
    };
    if let Some(found) = &found {
        let derives = &found.attempt.known.decisions.derives;
        let is_seen = |one: &&Detector| one.is_saved || derives.contains(&one.place);
        if let Some(one) = detectors.iter().find(|one| !is_seen(one)) {
            return Err(report::looks_at_nothing(one));
        }
    }
    Ok(found.map(|found| Rewritten {
        rounds,
        attempt: found.attempt,
        copy: found.copy,
        built: found.built,
        package,
        analysis,
    }))
}

/// Rounds with rustc about one package.
struct Rounds<'a> {
    options: &'a CargoOptions,
    wanted: Wanted,
    package: &'a ReadPackage,
    analysis: &'a PackageAnalysis,
    ranks: Option<usize>,
    main: FnId,
    /// How many times cargo was asked about a copy.
    asked: usize,
}

/// What the last round has built.
struct Found {
    attempt: Attempt,
    copy: PackageCopy,
    built: Built,
}

/// How rounds end.
enum End {
    /// The copy compiles; or there is no loop that is worth a checkpoint.
    Done(Option<Box<Found>>),
    /// A site has to go, perhaps only because of what was remembered.
    CostsASite,
}

impl Rounds<'_> {
    /// What came of them, and how many there were.
    fn until_the_end(mut self) -> (Outcome<Option<Box<Found>>>, usize) {
        let found = match self.all() {
            Err(failure) => match self.or_does_not_build_anyway(failure) {
                Ok(failure) | Err(failure) => Err(failure),
            },
            found => found,
        };
        (found, self.asked)
    }

    /// From what the last time has led to, if that ends well; else from nothing.
    fn all(&mut self) -> Outcome<Option<Box<Found>>> {
        let cache = DecisionCache::of(self.package, self.wanted, self.ranks);
        // What was decided for a plan holds for the program as well, and the other way round.
        let recalled = recalled(
            self.package,
            self.analysis,
            self.main,
            self.ranks,
            [self.wanted, self.wanted.other()],
        );
        let found = match recalled.map(|start| self.go_round(start, true)) {
            Some(Ok(End::Done(Some(found)))) => Some(found),
            _ => match self.go_round(Knowledge::default(), false)? {
                End::Done(found) => found,
                End::CostsASite => None,
            },
        };
        if let (Some(cache), Some(found)) = (cache, &found) {
            cache.keep(self.package, &found.attempt.known);
        }
        Ok(found)
    }

    /// What a program that does not compile anyway makes ckpt say would be about ckpt.
    fn or_does_not_build_anyway(&self, failure: Failure) -> Outcome<Failure> {
        if self.asked == 0 {
            return Ok(failure);
        }
        let as_it_is = read(self.options)?;
        // What has sites of its user's does not compile by itself.
        if as_it_is.program.files.iter().any(|file| names_ckpt(&file.ast)) {
            return Ok(failure);
        }
        let copy = copy_of(&as_it_is, &BTreeMap::new(), self.wanted, false)?;
        let built = self.wanted.of_copy(self.options, &as_it_is, &copy)?;
        Ok(match built.success {
            true => failure,
            false => report::does_not_build_anyway(&as_it_is, &built),
        })
    }

    /// Goes round until the copy compiles; with `keeps_sites`, until a site would have to go.
    fn go_round(&mut self, start: Knowledge, keeps_sites: bool) -> Outcome<End> {
        let (package, analysis, program) = (self.package, self.analysis, &self.package.program);
        let offers_serde = !features::without_serde(package).is_empty();
        let lost = analysis.lost_statics(program);
        let mut known = start;
        let most = most_rounds();
        for _ in 0..most {
            let placement = analysis.place(self.main, &known.wishes(self.ranks));
            if placement.sites.is_empty() && placement.rejected.is_empty() {
                return Ok(End::Done(None));
            }
            if placement.sites.is_empty() {
                return Err(report::no_site(package, analysis, &placement));
            }
            if !lost.is_empty() {
                return Err(report::lost_statics(package, &lost));
            }
            let attempt = analysis.edits(
                program,
                known,
                placement,
                package.options.recompute,
                matches!(self.wanted, Wanted::Program),
            );
            let copy = copy_of(
                package,
                &attempt.edited,
                self.wanted,
                attempt.known.decisions.serde,
            )?;
            self.asked += 1;
            let built = self.wanted.of_copy(self.options, package, &copy)?;
            if built.success {
                return Ok(End::Done(Some(Box::new(Found { attempt, copy, built }))));
            }
            let (findings, rendered) = findings(program, &attempt.edited, &copy, &built);
            if findings.is_empty() {
                return Err(report::does_not_build(package));
            }
            let lesson = analysis.learn(program, &attempt, &findings, offers_serde);
            if keeps_sites && lesson.costs_a_site {
                return Ok(End::CostsASite);
            }
            if let Some(unsolved) = lesson.unsolved {
                return Err(report::unsolved(package, &findings, &rendered, &unsolved));
            }
            known = lesson.known;
        }
        Err(
            Failure::build(says!("E3062: no end after {most} rounds with rustc"))
                .help("CKPT_MOST_ROUNDS=100 lets it go on; if there is no end then, please report it with the package"),
        )
    }
}

/// The wishes for a placement: what rustc has refused when the same sources were built or checked is refused.
/// And whether they were.
pub fn known_of_builds(
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    main: FnId,
    ranks: Option<usize>,
) -> (ChooseOptions, bool) {
    let recalled = recalled(package, analysis, main, ranks, [Wanted::Program, Wanted::Sources]);
    let asked = recalled.is_some();
    (recalled.unwrap_or_default().wishes(ranks), asked)
}

/// What has led to a package that compiles, the last time that one of these was wanted.
fn recalled(
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    main: FnId,
    ranks: Option<usize>,
    wanted: [Wanted; 2],
) -> Option<Knowledge> {
    let mut each = wanted.into_iter();
    each.find_map(|wanted| DecisionCache::of(package, wanted, ranks)?.recall(package, analysis, main))
}

/// The functions that say whether a state is plausible.
pub fn detectors_of(package: &ReadPackage, analysis: &PackageAnalysis) -> Outcome<Vec<Detector>> {
    let detectors = analysis.detectors(&package.program);
    detectors.map_err(|wrong| report::no_detector(package, &wrong))
}

/// The `main` of the chosen program: the first crate's.
pub fn main_of(package: &ReadPackage, analysis: &PackageAnalysis) -> Outcome<FnId> {
    analysis.main().ok_or_else(|| {
        Failure::build(says!(
            "E3063: `{}` has no `fn main` in its root file",
            package.workspace.choice.target
        ))
        .help("write `fn main` there; one that a macro makes is not seen")
    })
}

fn copy_of(
    package: &ReadPackage,
    edited: &BTreeMap<FileId, Edited>,
    wanted: Wanted,
    serde: bool,
) -> Outcome<PackageCopy> {
    let mut texts: BTreeMap<PathBuf, String> = edited
        .iter()
        .map(|(&file, edited)| {
            let path = package.program.file(file).path.clone();
            // Sources that are shown or handed over keep their `#[cfg]`s, so that is how they must compile.
            let text = match wanted {
                Wanted::Program => package.compiled_text(file, edited),
                Wanted::Sources => edited.text.clone(),
            };
            (path, text)
        })
        .collect();
    if wanted == Wanted::Program {
        warn_only(&mut texts, &package.program);
    }
    make_copy(package, &texts, &features::needs_of(package, serde))
}

/// Runs `cargo build` or `cargo check` on a copy; what rustc says is kept.
pub fn cargo_on_copy(
    options: &CargoOptions,
    verb: &str,
    choice: &Choice,
    manifest: &Path,
    build_directory: &Path,
) -> Outcome<Built> {
    let mut options = options.clone();
    options.manifest_path = Some(manifest.to_path_buf());
    options.target_dir = Some(build_directory.to_path_buf());
    let shared = SharedBuilds::for_build(&options);
    options.build_dir = shared.as_ref().map(|shared| shared.folder.clone());
    options.builds_library = shared.as_ref().is_some_and(|shared| shared.is_new);
    let choice = Choice {
        manifest: manifest.to_path_buf(),
        ..choice.clone()
    };
    let mut built = options.run_cargo(verb, &choice, Diagnostics::Kept)?;
    // As `cargo run` has it: libraries of the system are found without.
    let is_built = |folder: &PathBuf| {
        folder.starts_with(build_directory)
            || options
                .build_dir
                .as_ref()
                .is_some_and(|built| folder.starts_with(built))
    };
    built.library_folders.retain(is_built);
    if let Runtime::Path(folder) | Runtime::Both(folder, _) = Runtime::find()
        && let Ok(folder) = fs::canonicalize(folder)
    {
        built.flags.retain(|id, _| !is_of_runtime(id, &folder));
    }
    Ok(built)
}

/// Whether a package lies in this folder, which is that of the library of ckpt: what its build script sets says nothing of the program.
fn is_of_runtime(id: &PackageId, folder: &Path) -> bool {
    let place = id.repr.strip_prefix("path+file://");
    let place = place.and_then(|place| place.split_once('#'));
    place.is_some_and(|(place, _)| fs::canonicalize(place).is_ok_and(|place| place == folder))
}

/// rustc's errors with their places in the user's own files, and what rustc shows of each.
pub fn findings(
    program: &Program,
    edited: &BTreeMap<FileId, Edited>,
    copy: &PackageCopy,
    built: &Built,
) -> (Vec<ckpt_analysis::Finding>, Vec<Prose>) {
    let original = |place: &CopyRange| -> Option<Position> {
        let file = program.file_at(&copy.to_original(&place.file)?)?;
        let offset = match edited.get(&file) {
            Some(edited) => edited.original_offset(place.start),
            None => place.start,
        };
        Some((file, offset))
    };
    built
        .diagnostics
        .iter()
        .filter_map(|diagnostic| Finding::of(diagnostic, &copy.workspace_root))
        .map(|finding| {
            let found = ckpt_analysis::Finding {
                kind: finding.kind,
                places: finding.places.iter().filter_map(original).collect(),
                definition: finding.definition.as_ref().and_then(original),
                is_about: finding.is_about,
                said: finding.said,
                type_name: finding.type_name,
            };
            (found, finding.rendered)
        })
        .unzip()
}

/// `src/main.rs:12:5`, the file below the folder.
pub fn shown(program: &Program, place: Position, folder: &Path) -> String {
    let file = program.file(place.0);
    let path = file.path.strip_prefix(folder).unwrap_or(&file.path);
    let (line, column) = line_and_column(&file.text, place.1);
    format!("{}:{line}:{column}", path.display())
}
