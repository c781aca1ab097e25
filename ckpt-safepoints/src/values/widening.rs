//! What is left of a value that goes on changing.

use super::{Place, Step, Value};
use std::rc::Rc;

/// The number of elements of a list, and where an iterator is and ends, as if they were parts of it.
pub(crate) const LENGTH: &str = "#length";
pub(crate) const START: &str = "#start";
pub(crate) const END: &str = "#end";

fn starts_at_zero(list: &Value) -> bool {
    !matches!(list, Value::Many(parts) if parts[0] != Value::Int(0))
}

/// The new value of a place that held `old`.
pub(crate) fn widened(
    place: &Place,
    old: &Value,
    new: &Value,
    give_up: &mut dyn FnMut(&Place, &Value, &Value) -> Value,
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
        (Value::List(_), Value::List(_) | Value::Many(_)) | (Value::Many(_), Value::List(_))
            if old.length() != new.length() && [old, new].iter().all(|one| starts_at_zero(one)) =>
        {
            let count = |value: &Value| value.length().unwrap_or(Value::Data);
            let length = at(Step::Field(LENGTH.into()), &count(old), &count(new));
            Value::many(length, new.any_element().join(&old.any_element()))
        }
        (Value::Many(old), Value::Many(new)) => {
            let mut part = |index: usize, step: Step| at(step, &old[index], &new[index]);
            let from = part(0, Step::Field(START.into()));
            let count = part(1, Step::Field(END.into()));
            Value::Many(Rc::new([from, count, part(2, Step::Any)]))
        }
        (Value::Range(old), Value::Range(new)) => {
            let mut part = |index: usize, name: &str| at(Step::Field(name.into()), &old[index], &new[index]);
            let parts = [part(0, START), part(1, END), new[2].clone()];
            Value::Range(Box::new(parts))
        }
        (Value::Data, new) if new.is_data() => Value::Data,
        (Value::Unknown, _) => Value::Unknown,
        _ => give_up(place, old, new),
    }
}
