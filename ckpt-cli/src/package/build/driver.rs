//! The loop around an unmodified package: analyse, place, rewrite a copy, build it, learn from what rustc says, again.
//!
//! Every round ends with a build of the copy. What rustc reports is either mended by a decision (a derive, a bound, a
//! statement that runs again), or it means that a site cannot be where it is: then that loop is given up and the
//! placement looks further out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use ckpt_analysis::decisions::changed_inputs::inputs_change;
use ckpt_analysis::decisions::effects::Effects;
use ckpt_analysis::decisions::globals::{global_edits, refused_statics};
use ckpt_analysis::decisions::mutable_loans::{lent_edits, lent_objects};
use ckpt_analysis::decisions::objects::object_edits;
use ckpt_analysis::decisions::other_branches::is_used_elsewhere;
use ckpt_analysis::decisions::outlined_kernels;
use ckpt_analysis::decisions::reexecution::{Again, again};
use ckpt_analysis::decisions::saved_types::Types;
use ckpt_analysis::decisions::threads::thread_edits;
use ckpt_analysis::edits::{self, Decisions};
use ckpt_analysis::items::FnId;
use ckpt_analysis::placement::Placement;
use ckpt_analysis::source::edits::{by_file, line_and_column};
use ckpt_analysis::{Analysis, Edited, FileId, Program, place};

use crate::cargo::{Built, Diagnostics};
use crate::cargo::{CargoOptions, Choice};
use crate::failure::{Failure, Outcome, code};
use crate::package::build::decide::{Decider, Located, file_of};
use crate::package::build::decision_cache::{DecisionCache, Refused, Start};
use crate::package::build::marks;
use crate::package::build::oracle::{Finding, Place};
use crate::package::build::report;
use crate::package::copy::features;
use crate::package::copy::{PackageCopy, make_copy};
use crate::package::read::{ReadPackage, read};

/// More rounds than any sane package needs: each decides something, so the loop ends without this as well.
const MOST_ROUNDS: usize = 40;

/// What is wanted from the loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The executable.
    Program,
    /// Only the certainty that the rewritten sources compile.
    Sources,
}

impl Wanted {
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
    pub analysis: Analysis,
    /// Where the sites are, and the functions that lead to them.
    pub placement: Placement,
    /// What the oracle led to.
    pub decisions: Decisions,
    /// Statements that are executed again though their values could be saved.
    pub again: Again,
    /// The edited files.
    pub edited: BTreeMap<FileId, Edited>,
    /// The copy.
    pub copy: PackageCopy,
    /// What the last round of cargo gave.
    pub built: Built,
    /// How many times cargo was asked.
    pub rounds: usize,
}

/// Rewrites a package until its copy compiles, for this many ranks; nothing if it has no loop that is worth a checkpoint.
pub fn rewrite(
    options: &CargoOptions,
    wanted: Wanted,
    mut package: ReadPackage,
    mut analysis: Analysis,
    ranks: Option<usize>,
) -> Outcome<Option<Rewritten>> {
    let mut rounds = 0;
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
            found => break found?,
        }
    };
    Ok(found.map(|found| Rewritten {
        rounds,
        placement: found.placement,
        decisions: found.known.decisions,
        again: found.again,
        edited: found.edited,
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
    analysis: &'a Analysis,
    ranks: Option<usize>,
    main: FnId,
    /// How many times cargo was asked about a copy.
    asked: usize,
}

/// What the last round has built.
struct Found {
    known: Start,
    placement: Placement,
    again: Again,
    edited: BTreeMap<FileId, Edited>,
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
        let recalled = cache
            .as_ref()
            .and_then(|cache| cache.recall(self.package, self.analysis, self.main));
        let found = match recalled.map(|start| self.go_round(start, true)) {
            Some(Ok(End::Done(Some(found)))) => Some(found),
            _ => match self.go_round(Start::default(), false)? {
                End::Done(found) => found,
                End::CostsASite => None,
            },
        };
        if let (Some(cache), Some(found)) = (cache, &found) {
            cache.keep(self.package, &found.known);
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
        if as_it_is
            .program
            .files
            .iter()
            .any(|file| file.text.contains("ckpt::"))
        {
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
    fn go_round(&mut self, start: Start, keeps_sites: bool) -> Outcome<End> {
        let (package, analysis) = (self.package, self.analysis);
        let types = Types::of(&package.program);
        let effects = Effects::of(&package.program, analysis);
        let offers_serde = !features::without_serde(package).is_empty();
        let mut known = start;
        for _ in 1..=MOST_ROUNDS {
            let placement = place(analysis, self.main, &known.wishes(self.ranks));
            if placement.sites.is_empty() && placement.rejected.is_empty() {
                return Ok(End::Done(None));
            }
            if placement.sites.is_empty() {
                return Err(report::no_site(package, analysis, &placement));
            }
            list_lent_objects(
                &package.program,
                analysis,
                &placement,
                &types,
                &mut known.decisions,
            );
            let lost = refused_statics(&package.program, analysis, self.main);
            if !lost.is_empty() {
                return Err(report::lost_statics(package, &lost));
            }
            let again = if known.saves_all {
                Again::new()
            } else {
                made_again(package, analysis, &placement)
            };
            let together = with_again(&known.decisions, &again);
            let edited = edit(&package.program, analysis, self.main, &placement, &together);
            let copy = copy_of(package, &edited, self.wanted, known.decisions.serde)?;
            self.asked += 1;
            let built = self.wanted.of_copy(self.options, package, &copy)?;
            if built.success {
                return Ok(End::Done(Some(Box::new(Found {
                    known,
                    placement,
                    again,
                    edited,
                    copy,
                    built,
                }))));
            }
            let findings = findings(&package.program, &edited, &copy, &built);
            if findings.is_empty() {
                return Err(report::does_not_build(package));
            }
            // What is executed again to save less must not cost a site.
            let is_vague = |one: &Located| one.finding.kind.is_vague();
            if !again.is_empty() && findings.iter().any(is_vague) {
                known.saves_all = true;
                continue;
            }
            let is_instrumented = |place| marks::function_at(analysis, &placement, place).is_some();
            let repeatable = |place| {
                effects.may_run_again(place) && !inputs_change(&package.program, analysis, &placement, place)
            };
            let remakable = |place, lent: &[String]| effects.may_be_made_again_from(place, lent);
            let replayable = |place| effects.may_be_gone_over_again(place);
            let is_elsewhere = |place| is_used_elsewhere(&package.program, analysis, &placement, place);
            let mut decider = Decider {
                program: &package.program,
                items: &analysis.items,
                types: &types,
                repeatable: &repeatable,
                remakable: &remakable,
                replayable: &replayable,
                is_elsewhere: &is_elsewhere,
                is_instrumented: &is_instrumented,
                offers_serde,
                decisions: known.decisions.clone(),
            };
            let outcome = decider.decide(&findings);
            let is_decided = decider.decisions != known.decisions;
            known.decisions = decider.decisions;
            if keeps_sites && !outcome.given_up.is_empty() {
                return Ok(End::CostsASite);
            }
            // A site that the user has written stays where it is, whatever rustc says.
            let gives_up = self.give_up(&placement, &outcome.given_up, &mut known.refused);
            if !outcome.changed || !is_decided && !gives_up {
                return Err(report::unsolved(package, &findings, &outcome.unsolved));
            }
        }
        Err(Failure::new(
            code::BUILD,
            format!("E3062: no end after {MOST_ROUNDS} rounds with rustc"),
        )
        .help("this is a bug in ckpt; please report it with the package"))
    }

    /// Notes the sites that have to go because of errors at these places; whether there are any.
    fn give_up(
        &self,
        placement: &Placement,
        given_up: &[(edits::Place, String)],
        refused: &mut Refused,
    ) -> bool {
        let (program, analysis) = (&self.package.program, self.analysis);
        let before: BTreeSet<_> = refused.keys().copied().collect();
        for (place, reason) in given_up {
            let Some(function) = marks::function_at(analysis, placement, *place) else {
                continue;
            };
            // What is said of the attribute alone may be about any site: what is said more exactly goes first.
            let body_at = analysis.items.function(function).body_at;
            let is_exact = |one: &(edits::Place, String)| {
                one.0.1 >= body_at && marks::function_at(analysis, placement, one.0) == Some(function)
            };
            if place.1 < body_at && given_up.iter().any(is_exact) {
                continue;
            }
            let mut sites = marks::sites_behind(program, analysis, placement, function, *place);
            if sites.iter().all(|site| before.contains(&marks::key(site))) {
                sites = marks::sites_of(analysis, placement, function);
            }
            let at = &analysis.items.function(function).place;
            for site in sites {
                refused
                    .entry(marks::key(site))
                    .or_insert_with(|| (reason.clone(), (at.file, at.bytes.start)));
            }
        }
        refused.len() > before.len()
    }
}

/// The statements that are executed again instead of saving what they declare.
pub fn made_again(package: &ReadPackage, analysis: &Analysis, placement: &Placement) -> Again {
    let effects = Effects::of(&package.program, analysis);
    let recompute = package.options.recompute.then_some(&effects);
    again(analysis, placement, recompute)
}

/// The decisions with these; what the oracle has led to goes first.
fn with_again(decisions: &Decisions, again: &Again) -> Decisions {
    let mut together = decisions.clone();
    for place in again.keys() {
        together.variables.entry(*place).or_insert("reexecute");
    }
    together
}

/// Objects that are lent have to be saved by the function that has them: rustc cannot tell that this is wanted, so the
/// types behind them are listed before it is asked.
fn list_lent_objects(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    types: &Types,
    decisions: &mut Decisions,
) {
    for name in lent_objects(analysis, placement) {
        if decisions.objects.contains_key(&name) {
            continue;
        }
        // Where they cannot be listed, the site says so when it is visited.
        if let Ok(needed) = object_edits(program, &analysis.items, types, &name) {
            decisions.objects.insert(name, needed.edits);
            decisions.derives.extend(needed.derives);
        }
    }
}

/// The `main` of the chosen program: the first crate's.
pub fn main_of(package: &ReadPackage, analysis: &Analysis) -> Outcome<FnId> {
    analysis.items.main_of(0).ok_or_else(|| {
        Failure::new(
            code::BUILD,
            format!(
                "E3063: `{}` has no `fn main` in its root file",
                package.workspace.choice.target
            ),
        )
        .help("write `fn main` there; one that a macro makes is not seen")
    })
}

fn edit(
    program: &Program,
    analysis: &Analysis,
    main: FnId,
    placement: &Placement,
    decisions: &Decisions,
) -> BTreeMap<FileId, Edited> {
    let functions = marks::function_marks(analysis, placement);
    let sites = marks::site_marks(placement);
    let mut edits = edits::edits(program, &functions, &sites, decisions);
    edits.extend(global_edits(program, &analysis.items, main).edits);
    edits.extend(thread_edits(program, &analysis.items, &analysis.tables));
    edits.extend(outlined_kernels::edits(program, analysis, placement));
    for edit in lent_edits(program, analysis, placement, &decisions.refilled) {
        // What is lent may be saved as well, by the same bound.
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    by_file(edits)
        .into_iter()
        .map(|(file, edits)| (file, Edited::new(&program.file(file).text, &edits)))
        .collect()
}

fn copy_of(
    package: &ReadPackage,
    edited: &BTreeMap<FileId, Edited>,
    wanted: Wanted,
    serde: bool,
) -> Outcome<PackageCopy> {
    let texts: BTreeMap<PathBuf, String> = edited
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
    let choice = Choice {
        manifest: manifest.to_path_buf(),
        ..choice.clone()
    };
    options.run_cargo(verb, &choice, Diagnostics::Kept)
}

/// rustc's errors with their places in the user's own files.
pub fn findings(
    program: &Program,
    edited: &BTreeMap<FileId, Edited>,
    copy: &PackageCopy,
    built: &Built,
) -> Vec<Located> {
    let original = |place: &Place| -> Option<edits::Place> {
        let file = file_of(program, &copy.to_original(&place.file)?)?;
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
        .map(|finding| Located {
            places: finding.places.iter().filter_map(original).collect(),
            definition: finding.definition.as_ref().and_then(original),
            finding,
        })
        .collect()
}

/// `src/main.rs:12:5`, the file below the folder.
pub fn shown(program: &Program, place: edits::Place, folder: &Path) -> String {
    let file = program.file(place.0);
    let path = file.path.strip_prefix(folder).unwrap_or(&file.path);
    let (line, column) = line_and_column(&file.text, place.1);
    format!("{}:{line}:{column}", path.display())
}
