//! One round with rustc: what was tried, what it said, and what is tried next.

use super::{Decider, Finding, FindingKind, sites};
use crate::Analysis;
use crate::decisions::changed_inputs::changed_input;
use crate::decisions::device_arrays::device_arrays;
use crate::decisions::effects::Effects;
use crate::decisions::functions::naming_places;
use crate::decisions::knowledge::Knowledge;
use crate::decisions::other_branches::{is_moved_again, is_used_elsewhere};
use crate::decisions::reexecution::Reexecuted;
use crate::decisions::saved_types::Types;
use crate::diagnostics::RustcObstacle;
use crate::placement::{Placement, behind};
use crate::source::locate::{self, Found};
use crate::source::{Position, Program};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// What comes of rustc's answer.
#[derive(Debug, Clone)]
pub struct Lesson {
    /// What is known now.
    pub known: Knowledge,
    /// Whether a site has to go.
    pub costs_a_site: bool,
    /// Where no rule mends anything: what is left.
    pub unsolved: Option<Vec<Unsolved>>,
}

/// An error of rustc that no rule mends.
#[derive(Debug, Clone)]
pub struct Unsolved {
    /// Which of the findings it is.
    pub finding: usize,
    /// What it says, to be put to the user.
    pub obstacle: RustcObstacle,
    /// Where.
    pub place: Option<Position>,
}

/// Draws conclusions from what rustc has said about a copy with this placement, these statements re-executed, and all
/// that was known before. `offers_serde`: whether crates that the program depends on have serde behind a feature that is
/// off.
pub fn learn(
    program: &Program,
    analysis: &Analysis,
    (known, placement, again): (&Knowledge, &Placement, &Reexecuted),
    findings: &[Finding],
    offers_serde: bool,
) -> Lesson {
    let mut known = known.clone();
    // What is re-executed to save less must not cost a site.
    if !again.is_empty() && findings.iter().any(|one| one.kind.is_vague()) {
        known.saves_all = true;
        return Lesson {
            known,
            costs_a_site: false,
            unsolved: None,
        };
    }
    let types = Types::of(&analysis.library, program);
    let effects = Effects::of(program, analysis);
    let naming = analysis
        .items
        .main_of(0)
        .map(|main| naming_places(program, analysis, main))
        .unwrap_or_default();
    let marks = known.decisions.marks();
    // What certainly is one array: of another value nothing tells what has changed since it was made.
    let arrays = OnceCell::new();
    let is_array = |place: Position| {
        let arrays = arrays.get_or_init(|| {
            let main = analysis.items.main_of(0);
            let all = main.map_or_else(Vec::new, |main| device_arrays(program, analysis, main));
            let alone = all.into_iter().filter(|array| array.part.is_empty());
            alone.map(|array| array.place).collect::<BTreeSet<Position>>()
        });
        arrays.contains(&place) && !effects.is_gathered_on_device(place)
    };
    let may_be_made_without_content =
        |place: Position| is_array(place) && effects.may_be_filled_on_device(place);
    let can_be_made_again =
        |place: Position| effects.may_be_reexecuted(place) || may_be_made_without_content(place);
    // What rustc says is on a device, in this round, or has said in one before.
    let is_on_device = |one: &&Finding| {
        let name = &one.type_name;
        effects.are_saved_from_device(name)
            || effects.are_untyped_on_device(name)
            || effects.are_handles_on_device(name)
    };
    let refused: BTreeSet<Position> = { findings.iter().filter(is_on_device) }
        .flat_map(|one| &one.places)
        .filter_map(|&(file, offset)| match locate::locate(program, file, offset) {
            Some(Found::Let { start, .. }) => Some((file, start)),
            _ => None,
        })
        .collect();
    let is_made_again = |place: Position| {
        let decided = [
            &known.decisions.changing_places,
            &known.decisions.changing_handles,
        ];
        refused.contains(&place) || decided.into_iter().any(|places| places.contains(&place))
    };
    // What is made again, as far as it is decided, or may be decided in this round.
    let all_marks = OnceCell::new();
    let all_marks = || {
        all_marks.get_or_init(|| {
            let mut all = marks.clone();
            let others = refused.iter().filter(|place| can_be_made_again(**place));
            for other in others {
                all.entry(*other).or_insert_with(|| "reexecute".to_owned());
            }
            all
        })
    };
    let changed_input = |place, owns| {
        changed_input(
            program,
            analysis,
            (placement, all_marks()),
            (place, owns),
            &|at, place| effects.is_as_declared(at, place, &is_made_again),
        )
    };
    let mut decider = Decider {
        library: &analysis.library,
        program,
        items: &analysis.items,
        types: &types,
        leaves_a_trace_at: &|place| effects.trace_at(place),
        looks_at: &|place| effects.looked_at(place),
        can_be_made_again: &can_be_made_again,
        changes_at: &|place| effects.change_at(place),
        told_more_at: &|place| effects.told_more_at(place),
        grows_at: &|place| {
            effects.grows_at(place, &|(file, within)| {
                { placement.sites.iter() }.any(|one| {
                    analysis.items.function(one.function).place.file == *file && within.contains(&one.site.at)
                })
            })
        },
        making_leaves_a_trace: &|name| effects.trace_of_type(name),
        repeatable: &|place, owns| effects.may_be_reexecuted(place) && changed_input(place, owns).is_none(),
        moved_again: &|place, refused| {
            let is_same = effects.may_be_reexecuted(place);
            let others = refused
                .iter()
                .filter(|one| **one != place && can_be_made_again(**one));
            let mut marks = marks.clone();
            marks.extend(others.map(|one| (*one, "reexecute".to_owned())));
            // An array is made again without its content, which is saved as that of what it is moved to.
            (is_same || may_be_made_without_content(place))
                && is_moved_again(program, analysis, placement, &marks, (place, !is_same))
                && changed_input(place, true).is_none()
        },
        changed_input: &|place| changed_input(place, true),
        renewable: &|place| effects.may_be_made_anew(place),
        rebuildable: &|place, lent: &[String]| effects.may_be_rebuilt_from(place, lent),
        on_device: &|type_name| effects.change_on_device(type_name),
        device_crates: &|type_name| effects.crates_of_type(type_name),
        hidden_on_device: &|type_name| effects.hidden_behind(type_name),
        under_way_on_device: &|type_name| effects.are_under_way_on_device(type_name),
        saved_from_device: &|type_name| effects.are_saved_from_device(type_name),
        untyped_on_device: &|type_name| effects.are_untyped_on_device(type_name),
        made_on_device: &|place| effects.is_made_on_device(place),
        filled_on_device: &|place| effects.may_be_filled_on_device(place),
        gathered_on_device: &|place| effects.gathers_the_same(place),
        changing_places_with: &|place| effects.changing_places_with(place),
        file_written: &|| effects.file_written(),
        keeps_arguments: &|type_name| effects.keep_arguments_on_device(type_name),
        passed_on_device: &|place| effects.may_be_passed_on_device(place),
        handles_on_device: &|type_name| effects.are_handles_on_device(type_name),
        replayable: &|place| effects.may_be_replayed(place),
        is_elsewhere: &|place| is_used_elsewhere(program, analysis, placement, &marks, place),
        is_instrumented: &|place| behind::function_at(analysis, placement, place).is_some(),
        offers_serde,
        names_functions: &|place| naming.contains(&place),
        decisions: known.decisions.clone(),
    };
    let outcome = decider.decide(findings);
    let is_decided = decider.decisions != known.decisions;
    let left = match outcome.unsolved.is_empty() {
        true => (0..findings.len()).collect(),
        false => outcome.unsolved.clone(),
    };
    let left: Vec<Unsolved> = left
        .into_iter()
        .map(|finding| {
            let place = findings[finding].places.first().copied();
            let obstacle = decider.obstacle(&findings[finding], place);
            Unsolved {
                finding,
                obstacle,
                place,
            }
        })
        .collect();
    known.decisions = decider.decisions;
    // A site that the user has written stays where it is, whatever rustc says.
    let gives_up = sites::give_up(
        program,
        analysis,
        placement,
        &outcome.given_up,
        &mut known.refused,
    );
    Lesson {
        costs_a_site: !outcome.given_up.is_empty(),
        unsolved: (!outcome.changed || !is_decided && !gives_up).then_some(left),
        known,
    }
}

/// What people are told where no rule mends what rustc says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WaysOut {
    /// What ckpt itself says of a site that stays where it is.
    AsRefused,
    /// Nothing but what rustc says: it is not about what a checkpoint holds.
    AsRustcSays,
    /// Another place for what is in statics.
    Statics,
    /// An attribute on the variable, or on the field of its type.
    Attributes,
}

/// The ways out of what these findings have in common.
pub fn ways_out(findings: &[&Finding]) -> WaysOut {
    let is_refusal = |one: &&Finding| one.kind == FindingKind::Refusal;
    if findings.iter().all(|one| one.kind.is_vague()) && findings.iter().any(is_refusal) {
        WaysOut::AsRefused
    } else if findings.iter().all(|one| one.kind.is_vague()) {
        WaysOut::AsRustcSays
    } else if findings.iter().all(|one| one.kind == FindingKind::NotGlobal) {
        WaysOut::Statics
    } else {
        WaysOut::Attributes
    }
}
