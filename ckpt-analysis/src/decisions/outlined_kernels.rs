//! Which functions are compiled apart from their callers. A function with sites whose body does not stand twice can be
//! continued from each of them, so the optimiser knows less of its variables and has fewer registers for them; a kernel that
//! it draws into such a function is slower than in the program as it was. So kernels of these stay functions: called as
//! often as before, and compiled as before. For all others see `spares`, which are not for people to read: in sources that
//! are shown or handed over all kernels stay functions.

use crate::Analysis;
use crate::items::{FnId, Function};
use crate::placement::expressible::Words;
use crate::placement::{Candidate, Placement};
use crate::source::Program;
use crate::source::edits::Edit;
use ckpt_compiler::emit::twice::may_stand_twice;
use std::collections::BTreeSet;

/// Operations beside which a call is nothing.
const MANY: f64 = 1000.0;

/// The attribute, in front of each of them. `has_spares` says that kernels of functions that stand twice have spares.
pub fn edits(program: &Program, analysis: &Analysis, placement: &Placement, has_spares: bool) -> Vec<Edit> {
    functions(analysis, placement, has_spares)
        .into_iter()
        .map(|id| {
            let function = analysis.items.function(id);
            let text = &program.file(function.place.file).text;
            Edit::line_before(function.place.file, text, function.insert_at, "#[inline(never)]")
        })
        .collect()
}

/// Functions without sites that are called by those with sites, hold a loop, do much each time, and of which the user has
/// not said how they are to be compiled.
fn functions(analysis: &Analysis, placement: &Placement, has_spares: bool) -> BTreeSet<FnId> {
    let instrumented: BTreeSet<FnId> = placement.functions.iter().map(|one| one.function).collect();
    let candidates = placement.candidates();
    let standing_once = candidates
        .iter()
        .filter(|one| !(has_spares && stands_twice(analysis, one)));
    let standing_once: BTreeSet<FnId> = standing_once.map(|one| one.function).collect();
    let graph = &analysis.graph;
    let with_loops: BTreeSet<FnId> = graph.loops.iter().map(|one| one.function).collect();
    let called = graph
        .calls
        .iter()
        .filter(|call| standing_once.contains(&call.caller));
    called
        .flat_map(|call| call.callees.iter().copied())
        .filter(|id| !instrumented.contains(id))
        .filter(|id| with_loops.contains(id))
        .filter(|id| placement.costs.functions[id.0].per_call >= MANY)
        .filter(|id| is_open(analysis.items.function(*id)))
        .collect()
}

/// Whether its body stands there for restarts, and once more for calls that begin.
fn stands_twice(analysis: &Analysis, candidate: &Candidate) -> bool {
    let item = &analysis.items.function(candidate.function).item;
    let answer = analysis.asked.answer(analysis, candidate, Words::new());
    let stages = answer
        .as_ref()
        .ok()
        .and_then(|answer| answer.stages.as_ref().ok());
    may_stand_twice(&analysis.library, item) && stages.is_none_or(|stages| stages.regions.is_empty())
}

fn is_open(function: &Function) -> bool {
    let signature = &function.item.sig;
    let says = |name: &str| function.item.attrs.iter().any(|one| one.path().is_ident(name));
    signature.asyncness.is_none() && signature.constness.is_none() && !says("inline") && !says("cold")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::ChooseOptions;
    use crate::source::edits::Edited;
    use crate::{analyse, place};

    #[test]
    fn kernels_are_compiled_apart_and_small_helpers_are_not() {
        let text = "\
fn main() {
    let mut cells = vec![0.0; 100_000];
    for step in 0..1000 {
        sweep(&mut cells, step);
        smooth(&mut cells);
        let first = corner(&cells);
        println!(\"{first}\");
    }
    static ONCE: u8 = 0;
}

/// A kernel.
fn sweep(cells: &mut [f64], step: usize) {
    for cell in cells.iter_mut() {
        *cell += step as f64;
    }
}

#[inline]
fn smooth(cells: &mut [f64]) {
    for at in 1..99_999 {
        cells[at] = cells[at - 1] + cells[at + 1];
    }
}

fn corner(cells: &[f64]) -> f64 {
    let mut sum = 0.0;
    for at in 0..3 {
        sum += cells[at];
    }
    sum
}
";
        let program = Program::of_main(text);
        let analysis = analyse(&program);
        let main = analysis.items.main_of(0).unwrap();
        let placement = place(&analysis, main, &ChooseOptions::default());
        let edited = Edited::new(text, &edits(&program, &analysis, &placement, true)).text;
        let expected = text.replace(
            "/// A kernel.\nfn sweep",
            "/// A kernel.\n#[inline(never)]\nfn sweep",
        );
        assert_eq!(edited, expected);
    }
}
