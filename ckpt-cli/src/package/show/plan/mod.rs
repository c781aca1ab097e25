//! The plan as data: what `cargo ckpt plan` prints as text, JSON or a page.

mod devices;
mod loops;
mod protection;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ckpt_analysis::{
    Candidate, Decisions, DeviceArray, FileId, FnId, Holder, PackageAnalysis, PlacedFunction, PlacedSite,
    Placement, Position, Program, Reexecuted, SiteThreads, TeamSize, Why, line_and_column,
};
use ckpt_compiler::{Fate, Protection, SiteReport};
use serde::{Serialize, Serializer};

use crate::package::build::driver::Rewritten;
use crate::package::build::refused::{Refused, refused};
use crate::package::read::ReadPackage;
use crate::package::read::Run;
use crate::package::show::checked::Checked;
use crate::package::show::sizes::{Sizes, SizesHere};
pub use devices::{DeviceNumberPlan, SiteArrays};
pub use loops::LoopPlan;
pub use protection::{ProtectionPlan, SiteProtection};

/// Everything that was decided, and why.
#[derive(Debug, Serialize)]
pub struct Plan {
    /// The program.
    pub program: String,
    /// The instrumented run that the numbers come from; without it they are estimates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<Run>,
    /// Share of the run that the sites reach, 0 to 1, as far as estimates or the instrumented run tell.
    pub coverage: f64,
    /// The plan in numbers.
    pub totals: Totals,
    /// The functions that are instrumented, `main` first.
    pub functions: Vec<FunctionPlan>,
    /// The functions that are instrumented or cost something, and what they call of these; `main` first.
    pub call_graph: Vec<Called>,
    /// All loops that `main` reaches, the costliest first.
    pub loops: Vec<LoopPlan>,
    /// The arrays that the program has on devices, at each site and at each call that leads to one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub devices: Vec<SiteArrays>,
    /// What a restart may do with the number of devices, in a program that computes on some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_number: Option<DeviceNumberPlan>,
    /// Calls in whose place the body of the function stands, so that a restart can enter the closure that it is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub written_out: Vec<WrittenOutPlan>,
    /// Loops in which a site was wanted and cannot be.
    pub refused: Vec<Refused>,
    /// Statics that no checkpoint can hold: with one of them there are no checkpoints at all.
    pub lost_statics: Vec<LostStatic>,
    /// What rustc made of it, where it was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Checked>,
    /// What the memory of the program needs against soft errors, where that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protection: Option<ProtectionPlan>,
    /// Whether a build has yet to ask rustc, and may find that a site cannot be: the share is then no more than a bound.
    pub asks_rustc_yet: bool,
}

/// The plan in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// Loops that `main` reaches.
    pub loops: usize,
    /// Those that have a site.
    pub chosen: usize,
    /// Variables in scope at the sites and at the calls that lead to them, each once.
    pub variables_in_scope: usize,
    /// Those that a checkpoint holds.
    pub variables_saved: usize,
}

/// A function in the call graph.
#[derive(Debug, Serialize)]
pub struct Called {
    /// Its name, with module and type.
    pub name: String,
    /// Its file, below the workspace.
    pub file: String,
    /// Its line.
    pub line: usize,
    /// Share of the run, 0 to 1.
    pub share: f64,
    /// The functions that it calls.
    pub calls: Vec<String>,
}

/// A call in whose place the body of the function stands.
#[derive(Debug, Serialize)]
pub struct WrittenOutPlan {
    /// The function.
    pub name: String,
    /// The file of the call, below the workspace.
    pub file: String,
    /// Its line.
    pub line: usize,
}

/// A function that is instrumented.
#[derive(Debug, Serialize)]
pub struct FunctionPlan {
    /// Its name, with module and type.
    pub name: String,
    /// Its file, below the workspace.
    pub file: String,
    /// Its line.
    pub line: usize,
    /// The calls that lead to a site.
    pub calls: Vec<String>,
    /// The lines of these calls.
    pub call_lines: Vec<usize>,
    /// The sites that are put into it.
    pub sites: Vec<SitePlan>,
    /// What becomes of its variables, over all sites.
    pub variables: Vec<VariablePlan>,
}

/// A site.
#[derive(Debug, Serialize)]
pub struct SitePlan {
    /// The loop's first line.
    pub header: String,
    /// The loop's line in the file.
    pub line: usize,
    /// Share of the run, 0 to 1.
    pub share: f64,
    /// Iterations each time that the loop is reached.
    pub trips: f64,
    /// Whether that number is certain.
    pub trips_known: bool,
    /// Operations between two visits; nanoseconds where they were measured.
    pub operations_per_visit: f64,
    /// Seconds between two visits, where they were measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds_per_visit: Option<f64>,
    /// Variables of the function in scope here.
    pub variables_in_scope: usize,
    /// Those that a checkpoint taken here holds.
    pub variables_saved: usize,
    /// Why here.
    pub why: String,
    /// Why a checkpoint taken here is one of the whole program.
    pub safe_point: String,
    /// With how many threads a restart may come here, in a program that has some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<TeamSizePlan>,
}

/// What a restart may do with the number of threads at a site.
#[derive(Debug, Clone, Serialize)]
pub struct TeamSizePlan {
    /// `free`, `malleable`, `fixed`.
    pub kind: &'static str,
    /// Why.
    pub why: String,
    /// The site is in one of the threads of a region, which takes no more checkpoints once one of them has ended.
    pub until_one_ends: bool,
}

impl TeamSizePlan {
    fn of(SiteThreads { size, why }: SiteThreads) -> Self {
        Self {
            kind: size.word(),
            why,
            until_one_ends: size != TeamSize::Free,
        }
    }
}

/// A variable in scope at a site.
#[derive(Debug, Clone, Serialize)]
pub struct VariablePlan {
    /// Its name.
    pub name: String,
    /// Its type, where written.
    pub type_text: Option<String>,
    /// The line of its declaration.
    pub line: usize,
    /// What becomes of it: `saved`, `re-executed`, `not needed`, ..
    #[serde(serialize_with = "in_words")]
    pub fate: Fate,
    /// Whether its value is in the checkpoint.
    pub saved: bool,
    /// Its bytes, where they are known from the newest checkpoint, its type or its initialiser.
    pub bytes: Option<u64>,
    /// Why.
    pub why: &'static str,
}

/// A static whose value a restart would lose.
#[derive(Debug, Serialize)]
pub struct LostStatic {
    /// The file, below the workspace.
    pub file: String,
    /// The line.
    pub line: usize,
    /// What cannot be done.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to write instead.
    pub instead: String,
}

impl Plan {
    /// Gathers the plan.
    pub fn of(package: &ReadPackage, analysis: &PackageAnalysis, placement: &Placement) -> Self {
        let reexecuted = analysis.reexecuted(&package.program, placement, package.options.recompute);
        Self::with(package, analysis, placement, (&reexecuted, &Decisions::default()))
    }

    fn with(
        package: &ReadPackage,
        analysis: &PackageAnalysis,
        placement: &Placement,
        marks: (&Reexecuted, &Decisions),
    ) -> Self {
        let shown = Shown {
            program: &package.program,
            folder: package.workspace_root(),
            sizes: Sizes::of(package, analysis),
            marks: Marks::of(marks),
            arrays: analysis.device_arrays(&package.program),
            team_sizes: analysis
                .team_sizes(&package.program, placement)
                .into_iter()
                .map(|one| one.map(TeamSizePlan::of))
                .collect(),
        };
        let candidates = placement.candidates();
        let (mut functions, mut protection, mut devices) = (Vec::new(), Vec::new(), Vec::new());
        for (placed, candidate) in placement.functions.iter().zip(&candidates) {
            let of_function = function(analysis, placement, (placed, candidate), &shown);
            functions.push(of_function.plan);
            protection.extend(of_function.protection);
            devices.extend(of_function.devices);
        }
        let loops = loops::loops(analysis, placement, &shown);
        let lost_statics = lost_statics(package, analysis, &shown);
        let device_number = analysis.device_number(&package.program);
        Self {
            program: package.workspace.choice.target.clone(),
            measured: package.run.clone(),
            coverage: if lost_statics.is_empty() {
                placement.coverage
            } else {
                0.0
            },
            totals: totals(&functions, &loops),
            call_graph: call_graph(analysis, placement, &shown),
            functions,
            loops,
            devices,
            device_number: device_number.map(|number| DeviceNumberPlan::of(&number, &shown)),
            written_out: written_out(analysis, &shown),
            refused: refused(placement, analysis, shown.program, shown.folder),
            lost_statics,
            protection: Some(ProtectionPlan::of(protection, &shown.sizes)),
            checked: None,
            asks_rustc_yet: false,
        }
    }

    /// Whether a build has no checkpoint at all.
    pub fn has_none(&self) -> bool {
        self.functions.is_empty() || !self.lost_statics.is_empty()
    }

    /// The plan of a package that has been rewritten and compiles.
    pub fn of_checked(rewritten: &Rewritten) -> Self {
        Self {
            checked: Some(Checked::of(rewritten)),
            ..Self::with(
                &rewritten.package,
                &rewritten.analysis,
                &rewritten.attempt.placement,
                (&rewritten.attempt.reexecuted, &rewritten.attempt.known.decisions),
            )
        }
    }
}

fn written_out(analysis: &PackageAnalysis, shown: &Shown<'_>) -> Vec<WrittenOutPlan> {
    let calls = analysis.inlined().iter().map(|call| WrittenOutPlan {
        name: call.name.clone(),
        file: shown.file(call.file),
        line: call.line,
    });
    calls.collect()
}

fn lost_statics(package: &ReadPackage, analysis: &PackageAnalysis, shown: &Shown<'_>) -> Vec<LostStatic> {
    let all = analysis.lost_statics(&package.program);
    all.into_iter()
        .map(|one| {
            let words = one.lost.words();
            LostStatic {
                file: shown.file(one.file),
                line: line_and_column(&package.program.file(one.file).text, one.at).0,
                what: words.what.to_string(),
                why: words.why.to_string(),
                instead: words.instead.to_string(),
            }
        })
        .collect()
}

fn totals(functions: &[FunctionPlan], loops: &[LoopPlan]) -> Totals {
    let variables = || functions.iter().flat_map(|function| &function.variables);
    Totals {
        loops: loops.len(),
        chosen: loops.iter().filter(|one| one.chosen).count(),
        variables_in_scope: variables().count(),
        variables_saved: variables().filter(|variable| variable.saved).count(),
    }
}

struct Shown<'a> {
    program: &'a Program,
    folder: &'a Path,
    sizes: Sizes<'a>,
    marks: Marks,
    arrays: Vec<DeviceArray>,
    team_sizes: Vec<Option<TeamSizePlan>>,
}

/// What was decided for `let`s, loops and parameters, by the place where they begin, and why.
struct Marks {
    words: BTreeMap<Position, String>,
    reasons: BTreeMap<Position, &'static str>,
}

impl Marks {
    fn of((reexecuted, decisions): (&Reexecuted, &Decisions)) -> Self {
        let mut words: BTreeMap<Position, String> = BTreeMap::new();
        let mut reasons = BTreeMap::new();
        for (place, why) in reexecuted {
            words.insert(*place, "reexecute".to_owned());
            let why = match why {
                Why::Rewritten => "all of it is written before it is read: only its shape is made again",
                Why::Installs => {
                    "it is for what its statement, or a later one, installs in the process: it runs again"
                }
                Why::Recomputed => "it never changes and is cheap to make: its statement runs again",
            };
            reasons.insert(*place, why);
        }
        for (place, word) in decisions.variables.iter().chain(&decisions.parameters) {
            let why = match *word {
                "reexecute" => "rustc says that no checkpoint holds its type: it is made again",
                "refill" => "a checkpoint holds a part of it: it is made again and filled",
                "serde" => "its type is saved as serde sees it",
                "elsewhere" => "no site leads to a use of it, and no checkpoint holds its type",
                _ => "rustc says that its type asks for it",
            };
            reasons.insert(*place, why);
        }
        words.extend(decisions.marks());
        Self { words, reasons }
    }
}

impl Shown<'_> {
    fn file(&self, FileId(index): FileId) -> String {
        let path = &self.program.files[index].path;
        path.strip_prefix(self.folder)
            .unwrap_or(path)
            .display()
            .to_string()
    }

    /// The file and the line of something, for people.
    fn at(&self, file: FileId, line: usize) -> (String, usize) {
        (self.file(file), line)
    }
}

/// What is said of a function.
struct OfFunction {
    plan: FunctionPlan,
    protection: Vec<SiteProtection>,
    devices: Vec<SiteArrays>,
}

fn function(
    analysis: &PackageAnalysis,
    placement: &Placement,
    (placed, candidate): (&PlacedFunction, &Candidate),
    shown: &Shown<'_>,
) -> OfFunction {
    let function = analysis.function(candidate.function);
    let (file, line) = shown.at(function.place.file, function.place.line);
    let reports = reports(analysis, candidate, shown);
    let sizes = shown.sizes.of_function(analysis, candidate.function);
    let mut here: Vec<_> = placement
        .sites
        .iter()
        .zip(&shown.team_sizes)
        .filter(|(site, _)| site.function == candidate.function)
        .collect();
    here.sort_by_key(|(site, _)| site.place.bytes.start);
    // Both in program order.
    let mut lines = here.iter().map(|(site, _)| site.place.line);
    let (mut protection, mut devices) = (Vec::new(), Vec::new());
    for report in &reports {
        let line = match &report.0.callee {
            None => lines.next(),
            Some(_) => None,
        };
        let line = line.unwrap_or(report.0.line);
        protection.push(SiteProtection::of(
            (&function.display, &file),
            line,
            report,
            &sizes,
        ));
        let place = (candidate.function, &*function.display, &*file);
        devices.extend(SiteArrays::of(place, line, &report.0, &shown.arrays));
    }
    let reports: Vec<SiteReport> = reports.into_iter().map(|(report, _)| report).collect();
    let mut own = reports.iter().filter(|report| report.callee.is_none());
    let sites = here
        .into_iter()
        .map(|(site, threads)| {
            let variables = own.next().map_or(&[][..], |report| &report.variables);
            SitePlan {
                header: site.header.clone(),
                line: site.place.line,
                share: site.share,
                trips: site.trips,
                trips_known: site.known,
                operations_per_visit: site.per_visit,
                seconds_per_visit: site.measured.then_some(site.per_visit / 1e9),
                variables_in_scope: variables.len(),
                variables_saved: variables
                    .iter()
                    .filter(|variable| variable.fate.is_saved())
                    .count(),
                why: site.why.clone(),
                safe_point: safe_point(site),
                threads: threads.clone(),
            }
        })
        .collect();
    let plan = FunctionPlan {
        call_lines: call_lines(analysis, placed),
        name: function.display.clone(),
        file,
        line,
        calls: candidate.calls.clone(),
        sites,
        variables: variables(reports, &sizes),
    };
    OfFunction {
        plan,
        protection,
        devices,
    }
}

/// A function with a smaller share of the run is not drawn, unless it is instrumented.
const LEAST_SHARE: f64 = 0.01;

/// Functions that are drawn besides those that are instrumented.
const MOST_CALLED: usize = 16;

fn call_graph(analysis: &PackageAnalysis, placement: &Placement, shown: &Shown<'_>) -> Vec<Called> {
    let costs = &placement.costs.functions;
    let mut list: Vec<FnId> = placement.functions.iter().map(|one| one.function).collect();
    let mut others: Vec<FnId> = (0..costs.len())
        .map(FnId)
        .filter(|id| !list.contains(id) && costs[id.0].share >= LEAST_SHARE && costs[id.0].entries > 0.0)
        .collect();
    others.sort_by(|a, b| costs[b.0].share.total_cmp(&costs[a.0].share));
    list.extend(others.into_iter().take(MOST_CALLED));
    let name = |id: &FnId| analysis.function(*id).display.clone();
    list.iter()
        .map(|id| {
            let place = &analysis.function(*id).place;
            let (file, line) = shown.at(place.file, place.line);
            let called = analysis.called_by(*id);
            Called {
                name: name(id),
                file,
                line,
                share: costs.get(id.0).map_or(0.0, |cost| cost.share),
                calls: called
                    .iter()
                    .filter(|callee| list.contains(callee))
                    .map(name)
                    .collect(),
            }
        })
        .collect()
}

/// The lines of the calls that lead to a site.
fn call_lines(analysis: &PackageAnalysis, placed: &PlacedFunction) -> Vec<usize> {
    let calls = placed.calls.iter().flat_map(|marked| &marked.calls);
    let lines: BTreeSet<usize> = calls.map(|id| analysis.call(*id).place.line).collect();
    lines.into_iter().collect()
}

/// What the compiler says about each site of the function and each call that leads to one, in program order.
fn reports(
    analysis: &PackageAnalysis,
    candidate: &Candidate,
    shown: &Shown<'_>,
) -> Vec<(SiteReport, Vec<Protection>)> {
    let Ok(answer) = analysis.instrumented(candidate, &shown.marks.words) else {
        return Vec::new();
    };
    let mut sites = answer.protection().unwrap_or_default();
    let place = &analysis.function(candidate.function).place;
    let text = &shown.program.file(place.file).text;
    let here = shown.marks.reasons.iter();
    let here = here.filter(|((file, at), _)| *file == place.file && place.bytes.contains(at));
    let lines: Vec<(usize, &str)> = here
        .map(|((_, at), why)| (line_and_column(text, *at).0, *why))
        .collect();
    for variable in sites.iter_mut().flat_map(|(site, _)| &mut site.variables) {
        let why = lines.iter().find(|(line, _)| *line == variable.line);
        let is_decided = matches!(
            variable.fate,
            Fate::Reexecuted | Fate::Skipped | Fate::PassedAgain
        );
        if let (Some((_, why)), true) = (why, is_decided) {
            variable.why = why;
        }
    }
    sites
}

/// Why no message crosses the site, and how the place was found.
fn safe_point(site: &PlacedSite) -> String {
    let place = match site.site.holder {
        Holder::Loop(_) => "the first statement of the loop's body",
        Holder::Inside(_) => "between two statements of the loop's body",
        Holder::Recursion => "before the statement that leads into the recursion",
        Holder::User => "where you have put it",
        Holder::Phase(_) => {
            "the first statement of the loop's body, which each rank comes to as often as it does"
        }
        Holder::PhaseEnd(_) => "behind the loop, where the ranks wait for each other",
    };
    match &site.safe {
        Some(messages) => format!("{place}; {messages}"),
        // A program without messages.
        None => place.to_owned(),
    }
}

fn in_words<S: Serializer>(fate: &Fate, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(fate.word())
}

/// Each variable once: saved if any site saves it.
fn variables(sites: Vec<SiteReport>, sizes: &SizesHere<'_>) -> Vec<VariablePlan> {
    let mut list: Vec<VariablePlan> = Vec::new();
    for variable in sites.into_iter().flat_map(|site| site.variables) {
        let known = list
            .iter_mut()
            .find(|known| known.name == variable.name && known.line == variable.line);
        let rank = |fate: Fate| (fate.is_saved(), !matches!(fate, Fate::NotNeeded));
        let new = VariablePlan {
            fate: variable.fate,
            saved: variable.fate.is_saved(),
            bytes: sizes.of_variable(&variable),
            name: variable.name,
            type_text: variable.type_text,
            line: variable.line,
            why: variable.why,
        };
        match known {
            Some(known) if rank(new.fate) > rank(known.fate) => *known = new,
            Some(_) => {}
            None => list.push(new),
        }
    }
    list
}
