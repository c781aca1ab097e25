//! What makes states that come again look the same: names of values that are not known are numbered anew, and values
//! that go on changing are given up.

use crate::explorer::ranks::Ranks;
use crate::explorer::state::GlobalState;
use crate::machine::Rank;
use crate::values::widening::START;
use crate::values::{MemoryPlace, Projection, Provenance, Value};
use std::collections::{HashMap, HashSet};

/// Numbers the unknown values that are the same on all ranks in the order in which they are met.
pub(crate) fn renumber(state: &mut GlobalState, provenance: &Provenance) {
    let mut names: HashMap<u64, u64> = HashMap::new();
    let mut rename = |number: u64| {
        let next = names.len() as u64;
        let new = *names.entry(number & !1).or_insert(next);
        own_name(&("renumbered", new), number, provenance) | (number & 1)
    };
    state.decisions.clear();
    state.collectives.clear();
    state.forget_lost_communicators();
    for rank in state.ranks.iter_mut() {
        rank.calls.clear();
        rank.restart_numbers();
        rank.rename(&mut rename);
        rank.named = 0;
    }
    for message in state.in_transit.values_mut().flatten() {
        message.rename(&mut rename);
    }
}

/// The same where the ranks are between two visits: what has been decided, and can be asked again, stays decided.
pub(crate) fn renumber_between(state: &mut GlobalState, provenance: &Provenance) {
    state.forget_finished_collectives();
    state.forget_lost_communicators();
    let names = names_between(state, provenance);
    each_name(state, &mut |number: u64| {
        names
            .get(&(number & !1))
            .map_or(number, |name| name ^ (number & 1))
    });
    // What they have named before has other names now.
    state.ranks.iter_mut().for_each(|rank| rank.named = 0);
    let decisions = std::mem::take(&mut state.decisions);
    for (question, answer) in decisions {
        if let Some(new) = provenance.renamed(question, &names) {
            state.decisions.insert(new & !1, answer == (new & 1 == 0));
        }
    }
}

fn each_name(state: &mut GlobalState, rename: &mut dyn FnMut(u64) -> u64) {
    for rank in state.ranks.iter_mut() {
        rank.restart_numbers();
        rank.rename(rename);
    }
    for message in state.in_transit.values_mut().flatten() {
        message.rename(rename);
    }
    for together in state.collectives.values_mut() {
        together.rename(rename);
    }
}

/// The new names: a value that was computed from others that are still there stays computed from them.
fn names_between(state: &mut GlobalState, provenance: &Provenance) -> HashMap<u64, u64> {
    let mut live = Vec::new();
    each_name(state, &mut |number: u64| {
        live.push(number & !1);
        number
    });
    let there: HashSet<u64> = live.iter().copied().collect();
    let of_others = |number: u64| {
        let operands = provenance.operands(number)?;
        let is_there = |one: &u64| there.contains(one) || provenance.is_of_turn(*one);
        operands.iter().all(is_there).then_some(operands)
    };
    let mut names: HashMap<u64, u64> = HashMap::new();
    let mut made = Vec::new();
    for number in live {
        if names.contains_key(&number) || made.contains(&number) {
            continue;
        }
        if provenance.is_of_turn(number) {
            names.insert(number, number);
        } else if of_others(number).is_some() {
            made.push(number);
        } else {
            names.insert(number, own_name(&("between", names.len()), number, provenance));
        }
    }
    let made: Vec<(u64, u64)> = made
        .into_iter()
        .filter_map(|number| Some((number, provenance.renamed(number, &names)?)))
        .collect();
    names.extend(made);
    names
}

/// A new name, with what is known of the least that the value can be.
fn own_name(of: &impl std::hash::Hash, old: u64, provenance: &Provenance) -> u64 {
    match provenance.at_least(of, provenance.least(&Value::Uniform(old & !1))) {
        Value::Uniform(number) => number,
        _ => 0,
    }
}

/// Puts known values in the place of numbers that stand for values.
pub(crate) fn substitute(state: &mut GlobalState, case: &[(u64, Value)]) {
    let case: HashMap<u64, &Value> = case.iter().map(|(number, value)| (*number, value)).collect();
    let mut known = |value: &Value| match value {
        Value::Uniform(number) => {
            let found = *case.get(&(number & !1))?;
            Some(if number & 1 == 0 {
                found.clone()
            } else {
                found.not()
            })
        }
        _ => None,
    };
    for rank in state.ranks.iter_mut() {
        rank.replace(&mut known);
    }
    for message in state.in_transit.values_mut().flatten() {
        message.replace(&mut known);
    }
}

/// Gives up what differs from the state before: what is the same on all ranks stays that.
pub(crate) fn widen(state: &mut GlobalState, before: &GlobalState, provenance: &Provenance) {
    let now = state.ranks.clone();
    for (rank, old) in state.ranks.iter_mut().zip(before.ranks.iter()) {
        rank.widen(
            old,
            &mut |place: &MemoryPlace, old: &Value, value: &Value| match common(
                &now, place, old, value, provenance,
            ) {
                Some(known) => known,
                None if value.is_data() => Value::Data,
                None => Value::Unknown,
            },
        );
    }
}

/// The same, and only what all ranks have in common or what has grown on one of them: that is a value with a name of its
/// own. What grows less comes to an end.
pub(crate) fn widen_each(state: &mut GlobalState, before: &GlobalState, provenance: &Provenance) {
    let now = state.ranks.clone();
    for (rank, old) in state.ranks.iter_mut().zip(before.ranks.iter()) {
        let index = rank.index;
        rank.widen(old, &mut |place: &MemoryPlace, old: &Value, value: &Value| {
            match (common(&now, place, old, value, provenance), old, value) {
                (Some(known), ..) => known,
                (None, Value::Int(was), Value::Int(is)) if is > was => {
                    provenance.at_least(&("own", index, place), Some(*is))
                }
                // It goes on growing: the least that it can be does not.
                (None, Value::Uniform(_), Value::Uniform(_))
                    if provenance.least(old) != provenance.least(value) =>
                {
                    let least = provenance.least(old).zip(provenance.least(value));
                    provenance.at_least(&("again", value), least.map(|(a, b)| a.min(b)))
                }
                _ => value.clone(),
            }
        });
    }
}

/// What differs from the turn before is what it may be in any turn: one value for all that hold the same now.
pub(crate) fn widen_turn(state: &mut GlobalState, before: &GlobalState, provenance: &Provenance) {
    for (rank, old) in state.ranks.iter_mut().zip(before.ranks.iter()) {
        rank.widen(old, &mut |place: &MemoryPlace, _, value: &Value| match value {
            Value::Uniform(_) => value.clone(),
            // How often it has gone round follows from that, and from nothing else.
            Value::Int(_) if matches!(place.path.last(), Some(Projection::Field(name)) if &**name == START) => {
                value.clone()
            }
            value if value.is_uniform() => provenance.in_any_turn(value),
            value => value.blurred(),
        });
    }
}

/// A value that is not known and the same on all ranks, if it is that now.
fn common(
    now: &Ranks,
    place: &MemoryPlace,
    old: &Value,
    value: &Value,
    provenance: &Provenance,
) -> Option<Value> {
    let here = |other: &Rank| other.at_place(place).as_ref() == Some(value) && other.same_shape(&now[0]);
    if !value.is_uniform() || !now.iter().all(here) {
        return None;
    }
    // A number that grows was never less than now; what has been given up once stays as it was.
    let least = match (old, value) {
        (Value::Int(was), Value::Int(is)) => (is > was).then_some(*is),
        (old, new) => provenance
            .least(old)
            .zip(provenance.least(new))
            .map(|(a, b)| a.min(b)),
    };
    Some(provenance.at_least(&("widened", place), least))
}
