//! What makes states that come again look the same: names of values that are not known are numbered anew, and values
//! that go on changing are given up.

use super::facts;
use super::machine::Rank;
use super::value::{Place, Step, Value};
use super::world::World;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Numbers the unknown values that are the same on all ranks in the order in which they are met.
pub(super) fn renumber(world: &mut World) {
    let mut names: HashMap<u64, u64> = HashMap::new();
    let mut rename = |number: u64| {
        let next = names.len() as u64;
        let new = *names.entry(number & !1).or_insert(next);
        own_name(&("renumbered", new)) | (number & 1)
    };
    world.decisions.clear();
    world.together.clear();
    for rank in world.ranks.iter_mut() {
        rank.calls.clear();
        rank.restart_numbers();
        rank.rename(&mut rename);
    }
    for message in world.queues.values_mut().flatten() {
        message.rename(&mut rename);
    }
}

/// The same where the ranks are between two visits: what has been decided, and can be asked again, stays decided.
pub(super) fn renumber_between(world: &mut World) {
    let names = names_between(world);
    let mut rename = |number: u64| {
        names
            .get(&(number & !1))
            .map_or(number, |name| name ^ (number & 1))
    };
    for rank in world.ranks.iter_mut() {
        rank.restart_numbers();
        rank.rename(&mut rename);
    }
    for message in world.queues.values_mut().flatten() {
        message.rename(&mut rename);
    }
    let decisions = std::mem::take(&mut world.decisions);
    for (question, answer) in decisions {
        if let Some(new) = facts::renamed(question, &names) {
            world.decisions.insert(new & !1, answer == (new & 1 == 0));
        }
    }
}

/// The new names: a value that was computed from others that are still there stays computed from them.
fn names_between(world: &mut World) -> HashMap<u64, u64> {
    let mut live = Vec::new();
    let mut note = |number: u64| {
        live.push(number & !1);
        number
    };
    for rank in world.ranks.iter_mut() {
        rank.rename(&mut note);
    }
    for message in world.queues.values_mut().flatten() {
        message.rename(&mut note);
    }
    let there: HashSet<u64> = live.iter().copied().collect();
    let of_others = |number: u64| {
        let operands = facts::operands(number)?;
        operands.iter().all(|one| there.contains(one)).then_some(operands)
    };
    let mut names: HashMap<u64, u64> = HashMap::new();
    let mut made = Vec::new();
    for number in live {
        if names.contains_key(&number) || made.contains(&number) {
            continue;
        }
        if of_others(number).is_some() {
            made.push(number);
        } else {
            names.insert(number, own_name(&("between", names.len())));
        }
    }
    let made: Vec<(u64, u64)> = made
        .into_iter()
        .filter_map(|number| Some((number, facts::renamed(number, &names)?)))
        .collect();
    names.extend(made);
    names
}

fn own_name(of: &impl std::hash::Hash) -> u64 {
    match Value::uniform(of) {
        Value::Uniform(number) => number,
        _ => 0,
    }
}

/// Puts known values in the place of numbers that stand for values.
pub(super) fn substitute(world: &mut World, case: &[(u64, Value)]) {
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
    for rank in world.ranks.iter_mut() {
        rank.replace(&mut known);
    }
    for message in world.queues.values_mut().flatten() {
        message.replace(&mut known);
    }
}

/// Gives up what differs from the state before: what is the same on all ranks stays that.
pub(super) fn widen(world: &mut World, before: &World) {
    let now = world.ranks.clone();
    for (rank, old) in world.ranks.iter_mut().zip(before.ranks.iter()) {
        rank.widen(old, &mut |place: &Place, value: &Value| {
            let here =
                |other: &Rank| other.at_place(place).as_ref() == Some(value) && other.same_shape(&now[0]);
            if value.is_same() && now.iter().all(here) {
                Value::uniform(&("widened", place))
            } else if value.is_data() {
                Value::Data
            } else {
                Value::Unknown
            }
        });
    }
}

/// Gives up numbers that have grown since the state before, on each rank for itself: each is a value that is not known,
/// with a name of its own. What grows less comes to an end.
pub(super) fn widen_each(world: &mut World, before: &World) {
    for (rank, old) in world.ranks.iter_mut().zip(before.ranks.iter()) {
        let index = rank.index;
        let was = old.clone();
        rank.widen(
            old,
            &mut |place: &Place, value: &Value| match (was.at_place(place), value) {
                (Some(Value::Int(was)), Value::Int(now)) if *now > was => {
                    Value::uniform(&("own", index, place))
                }
                _ => value.clone(),
            },
        );
    }
}

/// The new value of a place that held `old`.
pub(super) fn widened(
    place: &Place,
    old: &Value,
    new: &Value,
    give_up: &mut dyn FnMut(&Place, &Value) -> Value,
) -> Value {
    if old == new {
        return new.clone();
    }
    let mut at = |step: Step, old: &Value, new: &Value| {
        let mut inner = place.clone();
        inner.path.push(step);
        widened(&inner, old, new, give_up)
    };
    match (old, new) {
        (Value::Struct(a, old), Value::Struct(b, new)) if a == b && old.keys().eq(new.keys()) => {
            let fields = new.iter().map(|(name, value)| {
                let step = Step::Field(name.clone());
                (name.clone(), at(step, &old[name], value))
            });
            Value::Struct(b.clone(), Rc::new(fields.collect()))
        }
        (Value::Tuple(old), Value::Tuple(new)) if old.len() == new.len() => {
            let parts = new.iter().enumerate();
            Value::tuple(
                parts
                    .map(|(index, value)| at(Step::Field(index.to_string().into()), &old[index], value))
                    .collect(),
            )
        }
        (Value::List(old), Value::List(new)) if old.len() == new.len() => {
            let parts = new.iter().enumerate();
            Value::list(
                parts
                    .map(|(index, value)| at(Step::Index(index), &old[index], value))
                    .collect(),
            )
        }
        (Value::Variant(a, old), Value::Variant(b, new)) if a == b && old.len() == new.len() => {
            let parts = new.iter().enumerate();
            let parts = parts
                .map(|(index, value)| at(Step::Part(index), &old[index], value))
                .collect();
            Value::Variant(b.clone(), Rc::new(parts))
        }
        (Value::Many(old), Value::Many(new)) if old[..2] == new[..2] => {
            let element = at(Step::Any, &old[2], &new[2]);
            Value::Many(Rc::new([new[0].clone(), new[1].clone(), element]))
        }
        (Value::Range(old), Value::Range(new)) => {
            let mut part = |index: usize, name: &str| at(Step::Field(name.into()), &old[index], &new[index]);
            let parts = [part(0, "start"), part(1, "end"), new[2].clone()];
            Value::Range(Box::new(parts))
        }
        (Value::Data, new) if new.is_data() => Value::Data,
        (Value::Unknown, _) => Value::Unknown,
        _ => give_up(place, new),
    }
}
