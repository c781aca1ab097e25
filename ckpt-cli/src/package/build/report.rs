//! What ckpt cannot decide alone, put to the user: the variable, its type, its place, and the ways out.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::diagnostic::DiagnosticLevel;
use ckpt_analysis::{
    Cause, Detector, Finding, FindingKind, InTheWay, NoDetector, PackageAnalysis, Placement, Position,
    Program, Reason, RefusedStatic, Rejected, SourceFile, Unsolved, WaysOut, line_and_column, ways_out,
};

use crate::cargo::Built;
use crate::failure::{Failure, says};
use crate::package::build::driver::shown;
use crate::package::build::oracle::{Brief, Prose};
use crate::package::build::refused::{RefusedCause, refused};
use crate::package::read::ReadPackage;
use crate::render;
use ckpt_compiler::Words;

/// Cargo failed and said why itself.
pub fn does_not_build(package: &ReadPackage) -> Failure {
    let name = &package.workspace.choice.target;
    Failure::build(says!("E3078: `{name}` does not build")).help("cargo says why, above; nothing was started")
}

/// Without ckpt rustc finds errors as well: they are what people have to know.
pub fn does_not_build_anyway(package: &ReadPackage, built: &Built) -> Failure {
    let errors = built
        .diagnostics
        .iter()
        .filter(|one| one.level == DiagnosticLevel::Error);
    let mut brief = Brief::of(package.workspace_root());
    for text in errors.filter_map(|one| brief.text(one)) {
        anstream::eprintln!("{}", text.trim_end());
    }
    built.print_messages();
    let name = &package.workspace.choice.target;
    Failure::build(says!("E3079: `{name}` does not build, without ckpt either"))
        .help("rustc says why, above; nothing was started")
}

/// There is no loop in which a site can be: what was tried, and why not.
pub fn no_site(package: &ReadPackage, analysis: &PackageAnalysis, placement: &Placement) -> Failure {
    let name = &package.workspace.choice.target;
    let failure = Failure::no_site(says!("E3080: ckpt found no place for a checkpoint in `{name}`"));
    let failure = tried(failure, package, analysis, placement);
    let failure = failure.fields(
        "refused",
        &refused(placement, analysis, &package.program, package.workspace_root()),
    );
    failure.help("change one of these as it says under `instead`; the outermost that carries most of the run is the best")
}

/// A site of the user is no safe point.
pub fn unsafe_site(package: &ReadPackage, analysis: &PackageAnalysis, placement: &Placement) -> Failure {
    let name = &package.workspace.choice.target;
    let failure = Failure::no_site(says!(
        "E3081: a checkpoint in `{name}` is in a place that messages may cross"
    ));
    let failure = tried(failure, package, analysis, placement);
    failure.help("change it as it says under `instead`; `cargo ckpt plan` shows the same")
}

/// What was tried, and why not.
fn tried(
    failure: Failure,
    package: &ReadPackage,
    analysis: &PackageAnalysis,
    placement: &Placement,
) -> Failure {
    let folder = package.workspace_root();
    let mut before: Vec<(Option<Position>, &Cause)> = Vec::new();
    placement.rejected.iter().fold(failure, |failure, one| {
        let file = package.program.file(one.place.file);
        let path = file.path.strip_prefix(folder).unwrap_or(&file.path).display();
        let mut text = format!(
            "{path}:{}: `{}` in `{}`, {:.0} % of the run:",
            one.place.line,
            one.header,
            analysis.function(one.function).display,
            one.share * 100.0
        );
        for reason in said_once(&one.reasons) {
            let words = reason.cause.words();
            text += &format!("\n  {}", words.what);
            // What forbids an outer loop mostly forbids the inner ones as well.
            if before.contains(&(reason.cause.place(), &reason.cause)) && reason.cause.place().is_some() {
                text += " (see above)";
                continue;
            }
            before.push((reason.cause.place(), &reason.cause));
            let places = match reason.cause.place() {
                Some(place) => with_source(&package.program, place, folder),
                None => other_places(reason, one, package, analysis),
            };
            for (word, part) in [
                ("where", places.into()),
                ("why", words.why),
                ("instead", words.instead),
            ] {
                if !part.is_empty() {
                    text += &format!("\n    {word}: {part}");
                }
            }
        }
        failure.because(text)
    })
}

/// A place, and the line of the source under it.
fn with_source(program: &Program, place: Position, folder: &Path) -> String {
    let text = &program.file(place.0).text;
    let (line, column) = line_and_column(text, place.1);
    let source = render::source_line(text, line, Some(column));
    shown(program, place, folder) + &below(&source)
}

/// Lines of a source below what is said of them.
fn below(source: &str) -> String {
    source.lines().map(|line| format!("\n      {line}")).collect()
}

/// The reasons, those that read the same once.
fn said_once(reasons: &[Reason]) -> impl Iterator<Item = &Reason> {
    let is_first = |at: usize| {
        !reasons[..at]
            .iter()
            .any(|before| reads_the_same(before, &reasons[at]))
    };
    reasons
        .iter()
        .enumerate()
        .filter(move |(at, _)| is_first(*at))
        .map(|(_, one)| one)
}

fn reads_the_same(one: &Reason, other: &Reason) -> bool {
    one.cause.place() == other.cause.place() && one.cause.words() == other.cause.words()
}

/// Where what stands in a loop's way is, if it is not at the loop: the places of all reasons that read like this one.
fn other_places(
    reason: &Reason,
    rejected: &Rejected,
    package: &ReadPackage,
    analysis: &PackageAnalysis,
) -> String {
    let mut places: Vec<String> = Vec::new();
    let mut source = String::new();
    for one in rejected.reasons.iter().filter(|one| reads_the_same(one, reason)) {
        let function = &analysis.function(one.function).place;
        let file = function.file;
        // What ckpt has added has no line of the program: its first one is given.
        let is_elsewhere = |line: &usize| {
            *line >= function.line && (file, *line) != (rejected.place.file, rejected.place.line)
        };
        let Some(line) = one.line.filter(is_elsewhere) else {
            continue;
        };
        let SourceFile { path, text, .. } = package.program.file(file);
        let path = path.strip_prefix(package.workspace_root()).unwrap_or(path);
        let place = format!("{}:{line}", path.display());
        if !places.contains(&place) {
            places.push(place);
            source = below(&render::source_line(text, line, None));
        }
    }
    match places.len() {
        1 => places.concat() + &source,
        _ => places.join(", "),
    }
}

/// Loops outside that are named.
const MOST_NAMED: usize = 3;

/// What the sites leave outside, where that is most of the run: the loops, and why they have none.
pub fn outside(package: &ReadPackage, placement: &Placement) -> Option<String> {
    if !placement.leaves_most_outside() {
        return None;
    }
    let mut wanted: Vec<_> = placement.rejected.iter().filter(|one| one.share > 0.0).collect();
    wanted.sort_by(|a, b| b.share.total_cmp(&a.share));
    let measured = match package.run {
        Some(_) => "as measured",
        None => "as far as the source tells (`cargo ckpt plan --profile -- ARGS` measures it)",
    };
    let mut text = format!(
        "ckpt: warning[W3004]: the sites reach {:.0} % of the run, {measured}; without checkpoints remain:\n",
        placement.coverage * 100.0
    );
    for one in wanted.iter().take(MOST_NAMED) {
        let place = (one.place.file, one.place.bytes.start);
        let place = shown(&package.program, place, package.workspace_root());
        text += &format!(
            "  `{}`, {place}, {:.0} % of the run",
            one.header,
            one.share * 100.0
        );
        text += &reasons("    ", &one.reasons);
    }
    Some(text)
}

/// Why a loop has no site, a line each below the loop, and what to do instead.
fn reasons(indent: &str, reasons: &[Reason]) -> String {
    let mut text = String::new();
    for reason in said_once(reasons) {
        let words = reason.cause.words();
        text += &format!("\n{indent}{}", words.what);
        if !words.instead.is_empty() {
            text += &format!("; instead: {}", words.instead);
        }
    }
    text.push('\n');
    text
}

/// What rustc has left of the plan, where it would not have a site: the loops, why not, and what part of the run that was.
pub fn refused_by_rustc(package: &ReadPackage, placement: &Placement) -> String {
    let mut text = String::new();
    for one in placement.refused_by_rustc().iter().take(MOST_NAMED) {
        let place = (one.place.file, one.place.bytes.start);
        text += &format!(
            "ckpt: warning[W3007]: no checkpoints in `{}`, {}, {:.0} % of the run, after all:",
            one.header,
            shown(&package.program, place, package.workspace_root()),
            one.share * 100.0
        );
        text += &reasons("  ", &one.reasons);
    }
    text
}

/// There are statics whose values a restart would lose.
pub fn lost_statics(package: &ReadPackage, statics: &[RefusedStatic]) -> Failure {
    let name = &package.workspace.choice.target;
    let failure = Failure::no_site(says!(
        "E3082: `{name}` keeps state where no checkpoint can hold it"
    ));
    statics.iter().fold(failure, |failure, one| {
        let place = shown(&package.program, (one.file, one.at), package.workspace_root());
        let Words { what, why, instead } = one.lost.words();
        failure.because(format!("{place}: {what}\n    why: {why}\n    instead: {instead}"))
    })
}

/// A name in `detects` that stands for no detector.
pub fn no_detector(package: &ReadPackage, wrong: &NoDetector) -> Failure {
    let (name, why, help) = match wrong {
        NoDetector::Unknown { name } => (
            name,
            "no function of the package is called so".to_owned(),
            "name a function of the package, a method as `Type::name`; one that a macro makes is not seen",
        ),
        NoDetector::Ambiguous {
            name,
            functions: [a, b],
        } => (
            name,
            format!("`{a}` and `{b}` are called so"),
            "write its module or type in front of it: `module::name`, `Type::name`",
        ),
        NoDetector::Signature { function, place, why } => {
            let place = shown(&package.program, *place, package.workspace_root());
            let (why, help) = match why {
                InTheWay::Form => (
                    "it is no `fn(&T) -> bool`",
                    "write a function that takes the state by a shared reference and returns whether it is plausible",
                ),
                InTheWay::Type => (
                    "it takes no struct or enum of the package without parameters",
                    "write one that takes the struct which holds the state",
                ),
                InTheWay::Private => (
                    "it cannot be named where its type is declared",
                    "make it `pub(crate)`, or write it into the module of the type",
                ),
            };
            (function, format!("{why} ({place})"), help)
        }
        NoDetector::Second {
            of,
            functions: [first, second],
        } => (
            second,
            format!("`{first}` looks at `{of}` already"),
            "write one function that calls both",
        ),
    };
    Failure::build(says!(
        "E3118: `{name}` of `detects` in ckpt.toml can be no detector: {why}"
    ))
    .help(help)
}

/// A detector whose type is in no checkpoint.
pub fn looks_at_nothing(one: &Detector) -> Failure {
    let Detector { name, of, .. } = one;
    Failure::build(says!(
        "E3119: `{name}` of `detects` in ckpt.toml has nothing to look at: no checkpoint holds a `{of}`"
    ))
    .help("name a function that takes the type of a variable which is needed after a site: `cargo ckpt plan` lists them; or take it out of `detects`")
}

/// The failure that ends a rewrite: everything that no decision resolves, together.
pub fn unsolved(
    package: &ReadPackage,
    findings: &[Finding],
    rendered: &[Prose],
    left: &[Unsolved],
) -> Failure {
    let all: Vec<&Finding> = left.iter().filter_map(|one| findings.get(one.finding)).collect();
    let way = ways_out(&all);
    let name = &package.workspace.choice.target;
    let failure = match way {
        WaysOut::AsRefused => {
            Failure::no_site(says!("E3080: ckpt found no place for a checkpoint in `{name}`"))
        }
        WaysOut::AsRustcSays => {
            // The lines of the copy are not all lines of the program, so what rustc shows helps as well.
            for text in left.iter().filter_map(|one| rendered.get(one.finding)) {
                anstream::eprintln!("{}", text.to_string().trim_end());
            }
            Failure::build(says!("E3078: `{name}` does not build"))
        }
        WaysOut::Statics | WaysOut::Attributes => {
            Failure::build(says!("E3083: ckpt cannot tell how to save this"))
        }
    };
    // What else rustc says then follows from it.
    let is_meant = |one: &&Unsolved| {
        let kind = findings.get(one.finding).map(|finding| finding.kind);
        way != WaysOut::AsRefused || kind == Some(FindingKind::Refusal)
    };
    let (program, folder) = (&package.program, package.workspace_root());
    // rustc may say one thing at several places of the copy that are one in the program.
    let mut said = BTreeSet::new();
    let causes: Vec<RefusedCause> = left
        .iter()
        .filter(is_meant)
        .map(|one| RefusedCause::of_rustc(&one.obstacle, one.place, program, folder))
        .filter(|one| said.insert(one.text()))
        .collect();
    let failure = causes
        .iter()
        .fold(failure, |failure, one| failure.because(one.text()));
    let failure = failure.fields("causes", &causes);
    match way {
        WaysOut::AsRefused => failure
            .help("change what stands there as it says under `instead`, or write `ckpt::checkpoint!()` into another loop"),
        WaysOut::AsRustcSays => failure.help(
            "rustc says why, above; if it builds without ckpt, this is a bug in ckpt: please report it",
        ),
        WaysOut::Statics => failure.help(
            "keep what changes in a variable that is passed on, not in a static; or implement `ckpt::Global` for a type of your own",
        ),
        WaysOut::Attributes => failure.help(
            "put one of these on the `let`, or on the field of the type:\n\
             #[ckpt(reexecute)]  run the statement again at a restart: it gives the same value\n\
             #[ckpt(skip)]       leave the value out: it is not needed, or `Default` will do\n\
             (`cargo ckpt init` adds the dependency that these need)",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ckpt_analysis::FnId;

    #[test]
    fn what_reads_the_same_is_said_once() {
        let reason = |line, callee: &str| Reason {
            function: FnId(0),
            line: Some(line),
            cause: Cause::CalledInside {
                callee: callee.into(),
                trap: "a closure".into(),
                way_out: "make the call from the function's own body",
            },
        };
        let reasons = [reason(3, "f"), reason(7, "f"), reason(7, "g")];
        let said = said_once(&reasons).map(|one| one.cause.words().what.to_string());
        let said: Vec<String> = said.collect();
        assert_eq!(
            said,
            [
                "E1301: `f` is called inside a closure",
                "E1301: `g` is called inside a closure"
            ]
        );
    }
}
