//! What is left of a value that goes on changing.

use super::{MemoryPlace, Projection, Provenance, Value};
use std::rc::Rc;

/// The number of elements of a list, and where an iterator is and ends, as if they were parts of it.
pub(crate) const LENGTH: &str = "#length";
pub(crate) const START: &str = "#start";
pub(crate) const END: &str = "#end";

fn starts_at_zero(list: &Value) -> bool {
    !matches!(list, Value::Summary(parts) if parts[0] != Value::Int(0))
}

/// The new value of a place that held `old`.
pub(crate) fn widened(
    place: &MemoryPlace,
    old: &Value,
    new: &Value,
    provenance: &Provenance,
    give_up: &mut dyn FnMut(&MemoryPlace, &Value, &Value) -> Value,
) -> Value {
    if old == new {
        return new.clone();
    }
    let mut at = |step: Projection, old: &Value, new: &Value| {
        let mut inner = place.clone();
        inner.path.push(step);
        widened(&inner, old, new, provenance, give_up)
    };
    match (old, new) {
        (Value::Struct(a, old), Value::Struct(b, new)) if a == b && old.keys().eq(new.keys()) => {
            let fields = new.iter().map(|(name, value)| {
                let step = Projection::Field(name.clone());
                (name.clone(), at(step, &old[name], value))
            });
            Value::Struct(b.clone(), Rc::new(fields.collect()))
        }
        (Value::Tuple(old), Value::Tuple(new)) if old.len() == new.len() => {
            let parts = new.iter().enumerate();
            Value::tuple(
                parts
                    .map(|(index, value)| at(Projection::Field(index.to_string().into()), &old[index], value))
                    .collect(),
            )
        }
        (Value::List(old), Value::List(new)) if old.len() == new.len() => {
            let parts = new.iter().enumerate();
            Value::list(
                parts
                    .map(|(index, value)| at(Projection::Index(index), &old[index], value))
                    .collect(),
            )
        }
        (Value::Variant(a, old), Value::Variant(b, new)) if a == b && old.len() == new.len() => {
            let parts = new.iter().enumerate();
            let parts = parts
                .map(|(index, value)| at(Projection::Part(index), &old[index], value))
                .collect();
            Value::Variant(b.clone(), Rc::new(parts))
        }
        (Value::List(_), Value::List(_) | Value::Summary(_)) | (Value::Summary(_), Value::List(_))
            if old.length(provenance) != new.length(provenance)
                && [old, new].iter().all(|one| starts_at_zero(one)) =>
        {
            let count = |value: &Value| value.length(provenance).unwrap_or(Value::Data);
            let length = at(Projection::Field(LENGTH.into()), &count(old), &count(new));
            Value::summary(length, new.any_element().join(&old.any_element()))
        }
        (Value::Summary(old), Value::Summary(new)) => {
            let mut part = |index: usize, step: Projection| at(step, &old[index], &new[index]);
            let from = part(0, Projection::Field(START.into()));
            let count = part(1, Projection::Field(END.into()));
            Value::Summary(Rc::new([from, count, part(2, Projection::Any)]))
        }
        (Value::Range(old), Value::Range(new)) => {
            let mut part =
                |index: usize, name: &str| at(Projection::Field(name.into()), &old[index], &new[index]);
            let parts = [part(0, START), part(1, END), new[2].clone()];
            Value::Range(Box::new(parts))
        }
        (Value::Data, new) if new.is_data() => Value::Data,
        (Value::Unknown, _) => Value::Unknown,
        _ => give_up(place, old, new),
    }
}
