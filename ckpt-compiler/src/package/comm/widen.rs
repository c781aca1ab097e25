//! What makes states that come again look the same: names of values that are not known are numbered anew, and values
//! that go on changing are given up.

use super::machine::Rank;
use super::value::{Place, Step, Value};
use super::world::World;
use std::collections::HashMap;
use std::rc::Rc;

/// Numbers the unknown values that are the same on all ranks in the order in which they are met.
pub(super) fn renumber(world: &mut World) {
    let mut names: HashMap<u64, u64> = HashMap::new();
    let mut rename = |number: u64| {
        let next = names.len() as u64;
        let new = *names.entry(number).or_insert(next);
        match Value::uniform(&("renumbered", new)) {
            Value::Uniform(number) => number,
            _ => number,
        }
    };
    world.decisions.clear();
    world.together.clear();
    for rank in &mut world.ranks {
        rank.calls.clear();
        rank.restart_numbers();
        rank.rename(&mut rename);
    }
}

/// Gives up what differs from the state before: what is the same on all ranks stays that.
pub(super) fn widen(world: &mut World, before: &World) {
    let now: Vec<Rank> = world.ranks.clone();
    for (rank, old) in world.ranks.iter_mut().zip(&before.ranks) {
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
