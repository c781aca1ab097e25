//! Variables that are used in other branches than those with the sites: a restart needs no value for them.

use crate::placement::expressible::Words;
use crate::placement::{Candidate, Placement};
use crate::source::Position;
use crate::source::locate;
use crate::{Analysis, Program};
use ckpt_compiler::cfg::{Declaration, Flow};
use ckpt_compiler::liveness::is_done_with;

/// Whether no site of its function leads to a use of what the `let` at this place declares, one variable.
pub fn is_used_elsewhere(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    place: Position,
) -> bool {
    let around = |candidate: &Candidate| {
        let function = &analysis.items.function(candidate.function).place;
        function.file == place.0 && function.bytes.contains(&place.1)
    };
    let candidates = placement.candidates().into_iter().filter(around);
    let innermost = candidates.min_by_key(|one| analysis.items.function(one.function).place.bytes.len());
    innermost.is_some_and(|candidate| is_elsewhere_in(program, analysis, &candidate, place).unwrap_or(false))
}

fn is_elsewhere_in(
    program: &Program,
    analysis: &Analysis,
    candidate: &Candidate,
    place: Position,
) -> Option<bool> {
    let answer = analysis.asked.answer(analysis, candidate, Words::new()).ok()?;
    let stages = answer.stages.as_ref().ok()?;
    let flow: &Flow = &stages.flow;
    let written = |id: &usize| {
        let binding = &flow.bindings[*id];
        let at = locate::bytes(program, place.0, binding.ident.span()).start;
        (at >= place.1 && matches!(binding.declaration, Declaration::Let)).then_some(at)
    };
    let first = (0..flow.bindings.len())
        .filter(|id| written(id).is_some())
        .min_by_key(written)?;
    let step = flow.bindings[first].step;
    let of_this = flow.bindings.iter().filter(|one| one.step == step).count();
    Some(of_this == 1 && is_done_with(flow, first))
}
