//! Where an instrumented run counts, and the text that does it.

use crate::calls::{Loop, LoopId, LoopKind, Trap, Work};
use crate::cost::Costs;
use crate::facts::Facts;
use crate::items::{FnId, Function};
use crate::source::Program;
use crate::source::edits::Edit;

/// The crate that the inserted text calls.
pub const COUNTS: &str = "ckpt_counts";

/// Operations below which a count would cost more than what is counted.
const TINY: f64 = 1000.0;

/// Operations of an iteration below which a loop is only counted at its end.
const SHORT: f64 = 40.0;

/// A short loop that is entered more often than this says enough at its ends.
const OFTEN: f64 = 10.0;

/// What a number stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Calls of a function.
    Function(FnId),
    /// Entries and iterations of a loop.
    Loop(LoopId),
}

/// The counters of a program.
#[derive(Debug, Default)]
pub struct Counters {
    /// What each number stands for.
    pub list: Vec<Counter>,
    /// The text that does each of the counts.
    pub edits: Vec<Vec<Edit>>,
}

/// Counts every loop and every function on the way to one, for a run that begins in `main`.
pub fn counters(program: &Program, facts: &Facts, costs: &Costs, main: FnId) -> Counters {
    let matters = functions_that_matter(facts, costs, main);
    let mut counters = Counters::default();
    for function in &facts.items.functions {
        if matters[function.id.0] && can_count(program, function) {
            counters.function(function);
        }
    }
    for one in &facts.graph.loops {
        let function = facts.items.function(one.function);
        let cost = costs.loops[one.id.0];
        let tiny = cost.known && !cost.guessed && cost.trips * cost.per_iteration < TINY;
        let reached = matters[function.id.0] && cost.entries > 0.0;
        if reached && !tiny && runs_at_run_time(function) && is_written(program, one) {
            let is_leaf = one.work.calls.is_empty() && one.work.loops.is_empty();
            let tells = !is_leaf || cost.per_iteration >= SHORT || cost.entries <= OFTEN;
            counters.one_loop(program, one, tells);
        }
    }
    counters
}

impl Counters {
    fn function(&mut self, function: &Function) {
        let number = self.list.len();
        self.list.push(Counter::Function(function.id));
        let text = format!(" let _ckpt_count = ::{COUNTS}::enter({number});");
        self.edits
            .push(vec![Edit::insert(function.place.file, function.body_at, text)]);
    }

    fn one_loop(&mut self, program: &Program, one: &Loop, tells: bool) {
        let Some(body_at) = one.body_at else { return };
        let number = self.list.len();
        self.list.push(Counter::Loop(one.id));
        let file = one.place.file;
        let start = before_label(&program.file(file).text, one.place.bytes.start);
        let name = format!("_ckpt_count_{number}");
        let turn = if tells { "turn" } else { "turn_quietly" };
        let enter = format!("{{ let mut {name} = ::{COUNTS}::enter({number}); ");
        let turn = format!(" {name}.{turn}();");
        self.edits.push(vec![
            Edit::insert(file, start, enter),
            Edit::insert(file, body_at, turn),
            Edit::insert(file, one.place.bytes.end, " }"),
        ]);
    }
}

/// Functions that a run may enter and that hold a loop, are recursive, or lead to such a function; all others are part
/// of what calls them.
fn functions_that_matter(facts: &Facts, costs: &Costs, main: FnId) -> Vec<bool> {
    let graph = &facts.graph;
    let mut matters: Vec<bool> = facts
        .items
        .functions
        .iter()
        .map(|one| {
            let cost = &costs.functions[one.id.0];
            let tiny = !cost.guessed && cost.per_call < TINY;
            let works = has_loops(&graph.bodies[one.id.0]) && !tiny;
            cost.entries > 0.0 && (works || cost.is_recursive() || one.id == main)
        })
        .collect();
    let mut changed = true;
    while changed {
        changed = false;
        for call in &graph.calls {
            let leads = call.callees.iter().any(|callee| matters[callee.0]);
            let caller = call.caller.0;
            if leads && !matters[caller] && costs.functions[caller].entries > 0.0 {
                matters[caller] = true;
                changed = true;
            }
        }
    }
    matters
}

fn has_loops(work: &Work) -> bool {
    !work.loops.is_empty() || !work.closures.is_empty()
}

fn runs_at_run_time(function: &Function) -> bool {
    let signature = &function.item.sig;
    signature.constness.is_none() && signature.asyncness.is_none()
}

/// Whether a statement can stand first in the body: nothing else may stand before `#![..]`.
fn can_count(program: &Program, function: &Function) -> bool {
    let text = &program.file(function.place.file).text;
    let is_body = text
        .get(..function.body_at)
        .is_some_and(|before| before.ends_with('{'));
    let rest = text.get(function.body_at..).unwrap_or_default().trim_start();
    runs_at_run_time(function) && is_body && !rest.starts_with("#!")
}

/// Whether a loop is there in the text as it is in the tree, and no other task can go on with it.
fn is_written(program: &Program, one: &Loop) -> bool {
    let keyword = match one.kind {
        LoopKind::For => "for",
        LoopKind::While => "while",
        LoopKind::Loop => "loop",
        LoopKind::Each(_) | LoopKind::Closure => return false,
    };
    if matches!(one.trap, Some(Trap::Async | Trap::Macro(_))) {
        return false;
    }
    let text = &program.file(one.place.file).text;
    let written = text.get(one.place.bytes.clone()).unwrap_or_default();
    let opens = one
        .body_at
        .and_then(|at| text.get(..at))
        .is_some_and(|before| before.ends_with('{'));
    let inner = one.body_at.and_then(|at| text.get(at..)).unwrap_or_default();
    written.starts_with(keyword) && written.ends_with('}') && opens && !inner.trim_start().starts_with("#!")
}

/// Where the label of a loop begins, or the loop itself.
fn before_label(text: &str, start: usize) -> usize {
    let label = || {
        let before = text[..start].trim_end().strip_suffix(':')?.trim_end();
        let name = before.rfind(|c: char| !c.is_alphanumeric() && c != '_')?;
        before[name..].starts_with('\'').then_some(name)
    };
    label().unwrap_or(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::edits::Edited;

    fn counted(text: &str) -> String {
        let program = Program::of_main(text);
        let analysis = crate::analyse(&program);
        let main = analysis.items.main_of(0).expect("a main");
        let counters = counters(&program, &analysis, &analysis.costs(main), main);
        Edited::new(text, &counters.edits.concat()).text
    }

    #[test]
    fn loops_and_the_functions_that_lead_to_them_are_counted() {
        let text = "\
fn main() { let n: usize = read(); 'outer: for i in 0..n { step(i); if i > 7 { break 'outer; } } }
fn read() -> usize { 4 }
fn step(i: usize) { let mut k = i; while k > 1 { k = half(k); } }
fn half(k: usize) -> usize { k / 2 }
const fn table() -> usize { let mut i = 0; while i < 9 { i += 1; } i }
";
        assert_eq!(
            counted(text),
            "\
fn main() { let _ckpt_count = ::ckpt_counts::enter(0); let n: usize = read(); \
{ let mut _ckpt_count_2 = ::ckpt_counts::enter(2); 'outer: for i in 0..n { _ckpt_count_2.turn(); step(i); if i > 7 { break 'outer; } } } }
fn read() -> usize { 4 }
fn step(i: usize) { let _ckpt_count = ::ckpt_counts::enter(1); let mut k = i; \
{ let mut _ckpt_count_3 = ::ckpt_counts::enter(3); while k > 1 { _ckpt_count_3.turn(); k = half(k); } } }
fn half(k: usize) -> usize { k / 2 }
const fn table() -> usize { let mut i = 0; while i < 9 { i += 1; } i }
"
        );
    }

    #[test]
    fn what_is_tiny_or_made_by_macros_is_not_counted() {
        let text = "\
macro_rules! twice { ($e:expr) => { for _ in 0..2 { $e } } }
fn dot(a: [f64; 3]) -> f64 { let mut s = 0.0; for k in 0..3 { s += a[k]; } s }
fn main() { let mut s = 0.0; twice!(s += dot([1.0; 3])); }
";
        assert_eq!(
            counted(text),
            text.replace(
                "fn main() {",
                "fn main() { let _ckpt_count = ::ckpt_counts::enter(0);"
            )
        );
    }
}
