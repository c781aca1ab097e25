//! What is the same on all ranks but for its order.

use super::{Rank, View};
use crate::skeleton::std_calls::UnorderedCall;
use crate::skeleton::{ElementOrder, Method};
use crate::values::Value;

impl Rank {
    /// Whether the rank is in a loop that exchanges messages: what it looks at then, others may have looked at earlier.
    pub(crate) fn is_amid_messages(&self, view: &View<'_>) -> bool {
        (0..self.frames.len()).any(|frame| {
            (0..self.marks_of(frame)).any(|mark| {
                self.loop_region(frame, mark, view)
                    .is_none_or(|(region, _)| region.events)
            })
        })
    }

    /// A value, or what is at a place, in the order of what holds it from now on.
    pub(crate) fn in_order(&mut self, top: Value, shape: &ElementOrder) -> Value {
        let followed = self.followed(top.clone());
        let Value::Ref(place) = &followed else {
            return reordered(&top, shape);
        };
        if let Some(old) = self.at_place(place) {
            let new = reordered(&old, shape);
            if new != old {
                self.put(place, new);
            }
        }
        top
    }

    /// Methods on what is in another order on each rank; nothing where what comes of them may differ.
    pub(crate) fn unordered(
        &mut self,
        method: &Method,
        inner: &Value,
        is_hashed: bool,
        receiver: &Value,
        plain: &[Value],
        view: &View<'_>,
    ) -> Option<Value> {
        let list = |of: Value| Value::Unordered(Box::new(of), false);
        let place = match self.followed(receiver.clone()) {
            Value::Ref(place) => Some(place),
            _ => None,
        };
        let settled = |one: &Value| match one {
            Value::Closure(code, _) => self.closure_is_determined(*code, view),
            Value::Function(code) => self.is_determined(*code, view),
            _ => false,
        };
        let same = plain.iter().all(Value::is_uniform);
        let name = &*method.name;
        Some(match (method.std.unordered?, plain) {
            (UnorderedCall::Measure, []) => Value::uniform(&(name, inner)),
            (UnorderedCall::Contains, [one]) if same => Value::uniform(&(name, inner, one)),
            (UnorderedCall::LookUp, [one]) if is_hashed && same => Value::uniform(&(name, inner, one)),
            (UnorderedCall::Itself, _) => Value::Unordered(Box::new(inner.clone()), is_hashed),
            (UnorderedCall::Iterate, []) => list(Value::uniform(&(name, inner))),
            (UnorderedCall::Traverse, [closure @ (Value::Closure(code, _) | Value::Function(code))])
                if settled(closure) =>
            {
                list(Value::uniform(&(name, inner, code)))
            }
            (UnorderedCall::Sort, []) if !is_hashed => {
                self.put(&place?, Value::uniform(&("sorted", inner)));
                Value::Unit
            }
            (UnorderedCall::Change, _) if is_hashed && same => {
                let after = Value::uniform(&(name, inner, plain));
                self.put(&place?, Value::Unordered(Box::new(after), true));
                Value::uniform(&("result", name, inner, plain))
            }
            _ => return None,
        })
    }
}

fn reordered(value: &Value, shape: &ElementOrder) -> Value {
    match (shape, value) {
        (ElementOrder::Kept, _) => value.clone(),
        (_, Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Text(_) | Value::Unit) => value.clone(),
        (ElementOrder::Tuple(shapes), Value::Tuple(parts)) if shapes.len() == parts.len() => Value::tuple(
            parts
                .iter()
                .zip(shapes)
                .map(|(part, shape)| reordered(part, shape))
                .collect(),
        ),
        (ElementOrder::Tuple(shapes), _) => {
            let parts = shapes.iter().enumerate();
            let part = |(at, shape): (usize, &ElementOrder)| {
                let part = match value.is_uniform() {
                    true => Value::uniform(&(at.to_string(), value)),
                    false => value.blurred(),
                };
                reordered(&part, shape)
            };
            Value::tuple(parts.map(part).collect())
        }
        // `Some`, `Ok`: what is in it.
        (_, Value::Variant(name, parts)) if matches!(&**name, "Some" | "None" | "Ok" | "Err") => {
            let parts: Vec<Value> = parts.iter().map(|part| reordered(part, shape)).collect();
            Value::Variant(name.clone(), parts.into())
        }
        (ElementOrder::Hashed, Value::Unordered(inner, _)) => Value::Unordered(inner.clone(), true),
        (ElementOrder::Sorted, Value::Unordered(inner, _)) => Value::uniform(&("sorted", inner)),
        (ElementOrder::Hashed, value) if value.is_uniform() => {
            Value::Unordered(Box::new(Value::uniform(&("hashed", value))), true)
        }
        (ElementOrder::Sorted, value) if value.is_uniform() => Value::uniform(&("sorted", value)),
        (_, value) => value.blurred(),
    }
}
