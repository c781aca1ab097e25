//! Variables that are used in other branches than those with the sites: a restart needs no value for them. And those that a statement
//! which runs again uses up: it needs one, and no site has it.

use crate::placement::Placement;
use crate::placement::asked::Answer;
use crate::placement::expressible::{Marks, words_beside};
use crate::source::Position;
use crate::source::locate;
use crate::{Analysis, Program};
use ckpt_compiler::cfg::{BindingId, Declaration, Event, Flow};
use ckpt_compiler::liveness::is_done_with;
use ckpt_compiler::passes::Stages;
use std::rc::Rc;

/// Whether no site of its function leads to a use of what the `let` at this place declares, one variable, nor does a statement that
/// runs again at a restart use it: with these attributes on `let`s and `for` loops.
pub fn is_used_elsewhere(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    marks: &Marks,
    place: Position,
) -> bool {
    declared_at(program, analysis, placement, (marks, None), place).is_some_and(|(answer, first)| {
        answer.stages.as_ref().is_ok_and(|stages| {
            let flow = &stages.flow;
            let step = flow.bindings[first].step;
            let of_this = flow.bindings.iter().filter(|one| one.step == step).count();
            of_this == 1 && is_done_with(flow, first) && !runs_again(stages, first, |_| true)
        })
    })
}

/// Whether a statement that runs again at a restart, with these attributes, uses up what the `let` at this place declares, if that
/// runs again as well. What `has_content` must not be needed behind a site: it would not have it.
pub fn is_moved_again(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    marks: &Marks,
    (place, has_content): (Position, bool),
) -> bool {
    let marks = (marks, Some("reexecute"));
    declared_at(program, analysis, placement, marks, place).is_some_and(|(answer, first)| {
        answer.stages.as_ref().is_ok_and(|stages| {
            let flow = &stages.flow;
            let step = flow.bindings[first].step;
            let all = (0..flow.bindings.len()).filter(|one| flow.bindings[*one].step == step);
            let is_moved = |one| runs_again(stages, one, Event::may_move);
            all.clone().any(is_moved) && (!has_content || all.clone().all(|one| is_done_with(flow, one)))
        })
    })
}

/// Whether a statement that runs again, and not the one that declares the variable, does something with it that counts.
fn runs_again(stages: &Stages, variable: BindingId, counts: impl Fn(&Event) -> bool) -> bool {
    let again = &stages.plan.schedule.runs.reexecuted;
    let declared = stages.flow.bindings[variable].step;
    { stages.flow.events() }.any(|event| {
        event.binding == variable && event.step != declared && again.contains(&event.step) && counts(event)
    })
}

/// The first variable that the `let` at this place declares, and what becomes of its function with the sites and these attributes, and
/// with one of its own.
fn declared_at(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    (marks, own): (&Marks, Option<&str>),
    place: Position,
) -> Option<(Rc<Answer>, BindingId)> {
    let innermost = placement.candidate_around(analysis, place)?;
    let mut words = words_beside(marks, place);
    words.extend(own.map(|word| (place.1, word.to_owned())));
    let answer = analysis.asked.answer(analysis, &innermost, words).ok()?;
    let flow: &Flow = &answer.stages.as_ref().ok()?.flow;
    let written = |id: &usize| {
        let binding = &flow.bindings[*id];
        let at = locate::bytes(program, place.0, binding.ident.span()).start;
        (at >= place.1 && matches!(binding.declaration, Declaration::Let)).then_some(at)
    };
    let first = (0..flow.bindings.len())
        .filter(|id| written(id).is_some())
        .min_by_key(written)?;
    Some((answer, first))
}
