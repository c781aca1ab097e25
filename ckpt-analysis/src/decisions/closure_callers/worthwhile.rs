//! Calls of functions that only call a closure, `timed(|| ..)`, written out in the copy where a loop in the closure could
//! not have a checkpoint otherwise.

use std::collections::{BTreeMap, BTreeSet};

use super::{WrittenOut, calls_to_write_out};
use crate::items::Annotation;
use crate::placement::{ChooseOptions, Placement};
use crate::source::edits::Edited;
use crate::source::{FileId, Program};
use crate::{Analysis, analyse_with, place};
use ckpt_compiler::library::CallTable;

/// Sources whose texts may be changed before they are analysed.
pub trait Sources {
    /// They, as they are now.
    fn program(&self) -> &Program;

    /// Puts another text in the place of a file's; whether that is Rust.
    fn set_text(&mut self, file: FileId, text: String) -> bool;

    /// Puts the texts of the files back.
    fn read_as_it_is(&mut self) -> bool;
}

/// A call in whose place the body of the function stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlinedCall {
    /// The function.
    pub name: String,
    /// The file.
    pub file: FileId,
    /// The line.
    pub line: usize,
}

/// Where sites reach so much of the run anyway, nothing is written out.
const ENOUGH: f64 = 0.95;
/// What it has to add to that.
const WORTH_IT: f64 = 0.01;
/// Calls within calls that are written out.
const DEEPEST: usize = 3;

/// What the stages find in the package, with those calls written out in it that sites are behind.
pub fn analyse(sources: &mut dyn Sources, tables: &CallTable) -> (Analysis, Vec<InlinedCall>) {
    let analysis = analyse_with(sources.program(), tables);
    if is_annotated(&analysis) || calls_to_write_out(sources.program(), &analysis).is_empty() {
        return (analysis, Vec::new());
    }
    let plain = placement(&analysis).coverage;
    if plain >= ENOUGH {
        return (analysis, Vec::new());
    }
    let again = analyse_with(sources.program(), tables);
    let (all, _) = write_out((sources, tables), again, |_| true);
    let placed = placement(&all);
    if placed.coverage < plain + WORTH_IT {
        sources.read_as_it_is();
        return (analysis, Vec::new());
    }
    let lines = lines_on_the_way(&all, &placed);
    let leads_to_sites = |call: &WrittenOut| {
        let line = |line| (call.file, line);
        lines
            .range(line(call.line)..=line(call.last_line))
            .next()
            .is_some()
    };
    sources.read_as_it_is();
    write_out((sources, tables), analysis, leads_to_sites)
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
    (sources, tables): (&mut dyn Sources, &CallTable),
    mut analysis: Analysis,
    is_wanted: impl Fn(&WrittenOut) -> bool,
) -> (Analysis, Vec<InlinedCall>) {
    let mut inlined = Vec::new();
    for _ in 0..DEEPEST {
        let mut calls = calls_to_write_out(sources.program(), &analysis);
        calls.retain(&is_wanted);
        let mut edits = BTreeMap::<FileId, Vec<_>>::new();
        for call in &calls {
            edits.entry(call.file).or_default().extend(call.edits.clone());
        }
        for (&file, edits) in &edits {
            let text = Edited::new(&sources.program().file(file).text, edits).text;
            // What is no Rust where it stands is left as it was.
            if !sources.set_text(file, text) {
                calls.retain(|call| call.file != file);
            }
        }
        if calls.is_empty() {
            break;
        }
        inlined.extend(calls.into_iter().map(|call| InlinedCall {
            name: call.name,
            file: call.file,
            line: call.line,
        }));
        analysis = analyse_with(sources.program(), tables);
    }
    inlined.sort_by_key(|call| (call.file, call.line));
    (analysis, inlined)
}
