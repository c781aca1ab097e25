//! Variables that would be another value if they were made a second time: what they are made from has changed by then,
//! or changes while they are made.

use crate::placement::Placement;
use crate::placement::expressible::{Marks, words_beside};
use crate::source::Position;
use crate::source::locate;
use crate::source::locate::Found;
use crate::{Analysis, Program};
use ckpt_compiler::cfg::{Binding, Declaration, Event, Passing, Use};
use ckpt_compiler::parse::options::Treatment;
use ckpt_compiler::passes::Stages;
use ckpt_compiler::spine::StepId;
use ckpt_compiler::strategies::{Strategy, is_moved_parameter, leads_to_others, only_borrows};
use std::collections::BTreeSet;
use std::ops::Range;

/// Whether a variable, by where its name stands where it is declared, is as it was declared, as far as what stands at the second
/// place goes.
pub type IsAsDeclared<'f> = &'f dyn Fn(Position, Position) -> bool;

/// Whether what the `let` at this place is made from changes in the initialiser, or while what it declares is in use.
/// A restart, which has all variables as they are at the site, would make something else of it. What borrows is changed by nobody while
/// it is in use: rustc sees to that. What `owns` all that it has may have been made from what it was lent. What is made again by the
/// `marks`, the attributes of other variables, is made from it, and has it in use.
pub fn inputs_change(
    program: &Program,
    analysis: &Analysis,
    (placement, marks): (&Placement, &Marks),
    (place, owns): (Position, bool),
    is_as_declared: IsAsDeclared<'_>,
) -> bool {
    changed_input(
        program,
        analysis,
        (placement, marks),
        (place, owns),
        is_as_declared,
    )
    .is_some()
}

/// The first variable of which that is so.
pub fn changed_input(
    program: &Program,
    analysis: &Analysis,
    (placement, marks): (&Placement, &Marks),
    (place, owns): (Position, bool),
    is_as_declared: IsAsDeclared<'_>,
) -> Option<String> {
    let is_let = matches!(locate::locate(program, place.0, place.1), Some(Found::Let { start, .. }) if start == place.1);
    // The iterator of a `for` is looked at together with its loop.
    if !is_let {
        return None;
    }
    let candidate = placement.candidate_around(analysis, place)?;
    let statement = locate::statement_at(program, place.0, place.1)?;
    let words = words_beside(marks, place);
    let answer = analysis.asked.answer(analysis, &candidate, words).ok()?;
    let stages = answer.stages.as_ref().ok()?;
    let changed = changed_in(program, stages, (place, owns), (&statement, is_as_declared))?;
    Some(
        analysis
            .items
            .function(candidate.function)
            .name_in_source(&changed),
    )
}

fn changed_in(
    program: &Program,
    stages: &Stages,
    (place, owns): (Position, bool),
    (statement, is_as_declared): (&Range<usize>, IsAsDeclared<'_>),
) -> Option<String> {
    let is_declared_here = |binding: &&Binding| {
        let at = locate::bytes(program, place.0, binding.ident.span()).start;
        matches!(binding.declaration, Declaration::Let) && statement.contains(&at)
    };
    let step = stages
        .flow
        .bindings
        .iter()
        .filter(is_declared_here)
        .map(|one| one.step)
        .min();
    // What changes places later does so at a restart as well.
    let is_the_same = |binding: &Binding| {
        let at = locate::bytes(program, place.0, binding.ident.span()).start;
        is_as_declared((place.0, at), place)
    };
    let here = step.and_then(|step| changed_for(stages, (step, owns), &is_the_same));
    here.or_else(|| {
        let mut members = stages.members.iter();
        members.find_map(|member| changed_in(program, member, (place, owns), (statement, is_as_declared)))
    })
}

/// What is declared before the step and changes in it, or, if it is needed to make what the step declares, later, while that is in use.
fn changed_for(
    stages: &Stages,
    (step, owns): (StepId, bool),
    is_as_declared: &dyn Fn(&Binding) -> bool,
) -> Option<String> {
    let bindings = &stages.flow.bindings;
    // What a call is lent is in use until it returns, also where it is named before what the call changes.
    let mut used = BTreeSet::new();
    stages.liveness.for_each_event(&stages.flow, |event, _| {
        used.insert((event.step, event.binding));
    });
    let mut found = None;
    stages.liveness.for_each_event(&stages.flow, |event, live| {
        let changed = &bindings[event.binding];
        let is_parameter = matches!(changed.declaration, Declaration::Parameter { .. });
        let is_declared_before = changed.step < step || is_parameter;
        // Parameters are declared in the step in which the first statement is.
        let declares = is_parameter && event.kind == Use::Write && event.step == changed.step;
        let is_gone = is_moved_parameter(&stages.flow, event.binding, step);
        let changes = is_gone || may_change(changed, event, step);
        if !is_declared_before || declares || !changes || is_as_declared(changed) {
            return;
        }
        let is_made_from = |id, owns| {
            let made = in_use(stages, id, step);
            made.into_iter().any(|made| needs(stages, made, event, owns))
        };
        // Beside it in a call, rustc lets nothing be used that borrows from it.
        let lends_all = event.kind == Use::Lend && event.field.is_none();
        let counts = event.step == step
            || is_gone
            || live.ones().any(|id| is_made_from(id, owns))
            || used_in(&used, event.step).any(|id| is_made_from(id, owns || lends_all));
        if counts {
            found.get_or_insert_with(|| changed.ident.to_string());
        }
    });
    found
}

/// What is used in a step.
fn used_in(used: &BTreeSet<(StepId, usize)>, step: StepId) -> impl Iterator<Item = usize> {
    used.range((step, 0)..=(step, usize::MAX))
        .map(|(_, binding)| *binding)
}

/// What a step declares that is in use where a variable is: it itself, or what it is made again from.
fn in_use(stages: &Stages, id: usize, step: StepId) -> Vec<usize> {
    let (mut open, mut seen, mut found) = (vec![id], Vec::new(), Vec::new());
    while let Some(next) = open.pop() {
        let one = &stages.flow.bindings[next];
        if seen.contains(&next) || matches!(one.declaration, Declaration::Parameter { .. }) {
            continue;
        }
        seen.push(next);
        if one.step == step {
            found.push(next);
        } else if is_made_again(stages, next) {
            open.extend(one.inputs.iter().map(|(input, _)| *input));
        }
    }
    found
}

/// Whether a variable has what others have: a restart makes it from what those are by then.
fn is_made_again(stages: &Stages, id: usize) -> bool {
    let one = &stages.flow.bindings[id];
    leads_to_others(one)
        || one.treatment.is_some_and(Treatment::fills)
        || matches!(stages.plan.strategies[id], Strategy::Reexecuted { .. })
}

/// Whether a variable is made from what changes there, itself or through a reference or a closure.
fn needs(stages: &Stages, id: usize, event: &Event, owns: bool) -> bool {
    let (flow, library) = (&stages.flow, &stages.options.library);
    let changed = &flow.bindings[event.binding];
    let one = &flow.bindings[id];
    let init = one.init.as_ref();
    one.inputs.iter().any(|(input, _)| {
        if *input != event.binding {
            return owns
                && *input < id
                && is_made_again(stages, *input)
                && needs(stages, *input, event, owns);
        }
        let is_borrowed = init.is_some_and(|init| only_borrows(library, init, &changed.ident));
        (owns || !is_borrowed) && !init.is_some_and(|init| flow.is_in_another_field(event, init))
    })
}

/// `made` is the step that makes the value: whether that changes what it is lent is known elsewhere.
fn may_change(changed: &Binding, event: &Event, made: StepId) -> bool {
    let is_behind = matches!(
        changed.declaration,
        Declaration::Parameter {
            passing: Passing::Exclusive,
            ..
        }
    );
    match event.kind {
        Use::Write => true,
        Use::Change | Use::Lend => changed.mutable || is_behind,
        Use::Move => is_behind && event.step != made,
        _ => event.by_own && (changed.mutable || is_behind),
    }
}
