//! Calls of functions that only call a closure, `timed(|| ..)`, written out in the copy where a loop in the closure could
//! not have a checkpoint otherwise.

use std::collections::{BTreeMap, BTreeSet};

use ckpt_analysis::decisions::closure_callers::{WrittenOut, calls_to_write_out};
use ckpt_analysis::items::Annotation;
use ckpt_analysis::placement::Placement;
use ckpt_analysis::{Analysis, ChooseOptions, Edited, FileId, place};

use crate::package::read::{CallWrittenOut, ReadPackage};

/// Where sites reach so much of the run anyway, nothing is written out.
const ENOUGH: f64 = 0.95;
/// What it has to add to that.
const WORTH_IT: f64 = 0.01;
/// Calls within calls that are written out.
const DEEPEST: usize = 3;

/// What the stages find in the package, with those calls written out in it that sites are behind.
pub fn analyse(package: &mut ReadPackage) -> Analysis {
    let analysis = package.analyse();
    if is_annotated(&analysis) || calls_to_write_out(&package.program, &analysis).is_empty() {
        return analysis;
    }
    let plain = placement(&analysis).coverage;
    if plain >= ENOUGH {
        return analysis;
    }
    let all = write_out(package, package.analyse(), |_| true);
    let placed = placement(&all);
    if placed.coverage < plain + WORTH_IT {
        package.read_as_it_is();
        return analysis;
    }
    let lines = lines_on_the_way(&all, &placed);
    let leads_to_sites = |call: &WrittenOut| {
        let line = |line| (call.file, line);
        lines
            .range(line(call.line)..=line(call.last_line))
            .next()
            .is_some()
    };
    package.read_as_it_is();
    write_out(package, analysis, leads_to_sites)
}

fn is_annotated(analysis: &Analysis) -> bool {
    let main = analysis.items.main_of(0);
    main.is_some_and(|main| matches!(analysis.items.function(main).annotation, Annotation::Main(_)))
}

fn placement(analysis: &Analysis) -> Placement {
    let main = analysis.items.main_of(0);
    main.map_or_else(Placement::default, |main| {
        place(analysis, main, &ChooseOptions::default())
    })
}

/// The lines of the sites, and of the calls that lead to them.
fn lines_on_the_way(analysis: &Analysis, placement: &Placement) -> BTreeSet<(FileId, usize)> {
    let calls = placement.functions.iter().flat_map(|function| &function.calls);
    let calls = calls
        .flat_map(|marked| &marked.calls)
        .map(|call| &analysis.graph.call(*call).place);
    let sites = placement.sites.iter().map(|site| &site.place);
    calls.chain(sites).map(|place| (place.file, place.line)).collect()
}

/// Writes the calls out that are wanted, then those in the closures that were given to them.
fn write_out(
    package: &mut ReadPackage,
    mut analysis: Analysis,
    is_wanted: impl Fn(&WrittenOut) -> bool,
) -> Analysis {
    for _ in 0..DEEPEST {
        let mut calls = calls_to_write_out(&package.program, &analysis);
        calls.retain(&is_wanted);
        let mut edits = BTreeMap::<FileId, Vec<_>>::new();
        for call in &calls {
            edits.entry(call.file).or_default().extend(call.edits.clone());
        }
        for (&file, edits) in &edits {
            let text = Edited::new(&package.program.file(file).text, edits).text;
            // What is no Rust where it stands is left as it was.
            if !package.set_text(file, text) {
                calls.retain(|call| call.file != file);
            }
        }
        if calls.is_empty() {
            break;
        }
        package
            .written_out
            .extend(calls.into_iter().map(|call| CallWrittenOut {
                name: call.name,
                file: call.file,
                line: call.line,
            }));
        analysis = package.analyse();
    }
    package.written_out.sort_by_key(|call| (call.file, call.line));
    analysis
}
