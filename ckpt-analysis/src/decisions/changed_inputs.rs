//! Variables that would be another value if they were made a second time: what they are made from has changed by then,
//! or changes while they are made.

use crate::decisions::changed_places::ChangedPlaces;
use crate::placement::expressible::Words;
use crate::placement::{Candidate, Placement};
use crate::source::Position;
use crate::source::locate;
use crate::source::locate::Found;
use crate::{Analysis, Program};
use ckpt_compiler::cfg::{Binding, Declaration, Event, Passing, Use};
use ckpt_compiler::passes::Stages;
use ckpt_compiler::strategies::only_borrows;
use std::ops::Range;

/// Whether what the `let` at this place is made from changes in the initialiser, or while what it declares is in use.
/// A restart, which has all variables as they are at the site, would make something else of it.
pub fn inputs_change(
    program: &Program,
    analysis: &Analysis,
    placement: &Placement,
    place: Position,
    changed_places: &[ChangedPlaces],
) -> bool {
    let is_let = matches!(locate::locate(program, place.0, place.1), Some(Found::Let { start, .. }) if start == place.1);
    // The iterator of a `for` is looked at together with its loop.
    if !is_let {
        return false;
    }
    let around = |candidate: &Candidate| {
        let function = &analysis.items.function(candidate.function).place;
        function.file == place.0 && function.bytes.contains(&place.1)
    };
    let candidates = placement.candidates().into_iter().filter(around);
    let innermost = candidates.min_by_key(|one| analysis.items.function(one.function).place.bytes.len());
    let Some((candidate, statement)) = innermost.zip(locate::statement_at(program, place.0, place.1)) else {
        return false;
    };
    let Ok(answer) = analysis.asked.answer(analysis, &candidate, Words::new()) else {
        return false;
    };
    let stages = answer.stages.as_ref();
    stages.is_ok_and(|stages| change_in(program, stages, place, (&statement, changed_places)))
}

fn change_in(
    program: &Program,
    stages: &Stages,
    place: Position,
    (statement, changed_places): (&Range<usize>, &[ChangedPlaces]),
) -> bool {
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
    let is_as_declared = |binding: &Binding| {
        let at = (
            place.0,
            locate::bytes(program, place.0, binding.ident.span()).start,
        );
        changed_places.iter().any(|one| one.is_as_declared(at, place))
    };
    let here = step.is_some_and(|step| change_of(stages, step, &is_as_declared));
    here || stages
        .members
        .iter()
        .any(|member| change_in(program, member, place, (statement, changed_places)))
}

/// Whether something that is declared before the step changes in it, or, if it is needed to make what the step declares,
/// later, while that is in use.
fn change_of(
    stages: &Stages,
    step: ckpt_compiler::spine::StepId,
    is_as_declared: &dyn Fn(&Binding) -> bool,
) -> bool {
    let bindings = &stages.flow.bindings;
    let mut found = false;
    stages.liveness.for_each_event(&stages.flow, |event, live| {
        let changed = &bindings[event.binding];
        if changed.step >= step || !may_change(changed, event) || is_as_declared(changed) {
            return;
        }
        let needs_it = |id: usize| {
            let one = &bindings[id];
            let is_borrowed = one
                .init
                .as_ref()
                .is_some_and(|init| only_borrows(&stages.options.library, init, &changed.ident));
            one.step == step && !is_borrowed && one.inputs.iter().any(|(input, _)| *input == event.binding)
        };
        found |= event.step == step || live.ones().any(needs_it);
    });
    found
}

fn may_change(changed: &Binding, event: &Event) -> bool {
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
        _ => false,
    }
}
