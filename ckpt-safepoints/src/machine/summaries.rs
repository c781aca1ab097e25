//! Lists whose elements are not distinguished: how many there are is known, or the same on all ranks, and what they have in
//! common.

use super::lists::some_element;
use super::{Rank, View};
use crate::skeleton::Method;
use crate::values::{Binary, Projection, Provenance, Value};
use std::rc::Rc;

impl Rank {
    /// Whether the method is one that is known.
    pub(crate) fn summary(
        &mut self,
        method: &Method,
        parts: &Rc<[Value; 3]>,
        receiver: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        let whole = Value::Summary(Rc::clone(parts));
        let found = match (&*method.name, &plain[..]) {
            ("iter_mut", []) => match self.followed(receiver.clone()) {
                Value::Ref(place) => self.lent_iterator(&place),
                _ => return false,
            },
            ("into_iter", []) if self.is_lent(receiver) => match self.followed(receiver.clone()) {
                Value::Ref(place) => self.lent_iterator(&place),
                _ => return false,
            },
            (
                "iter" | "into_iter" | "collect" | "copied" | "cloned" | "to_vec" | "clone" | "as_slice"
                | "as_ref" | "into_boxed_slice" | "into_vec" | "to_owned",
                [],
            ) => whole,
            ("len" | "count", []) => whole.length(&self.provenance).unwrap_or(Value::Data),
            ("is_empty", []) => Binary::Lt.apply(&parts[0], &parts[1], &self.provenance).not(),
            ("enumerate", []) if parts[0] == Value::Int(0) => {
                Value::summary(parts[1].clone(), Value::tuple(vec![Value::At, parts[2].clone()]))
            }
            ("rev", []) => Value::summary(
                whole.length(&self.provenance).unwrap_or(Value::Data),
                whole.any_element(),
            ),
            ("skip" | "take" | "step_by", [count]) => Value::summary(
                shorter(&method.name, &whole, count, &self.provenance),
                whole.any_element(),
            ),
            ("windows" | "chunks" | "chunks_exact", [count]) => {
                let inner = Value::summary(Value::Data, whole.any_element());
                Value::summary(shorter(&method.name, &whole, count, &self.provenance), inner)
            }
            ("zip", [other]) => zipped(parts, &whole, other, &self.provenance),
            ("map", [closure]) if !whole.is_uniform() => {
                return self.mapped(&whole, closure, arguments, view);
            }
            (name, given) if method.keeps_length => match self.followed(receiver.clone()) {
                Value::Ref(_) => return self.changed(name, receiver, given),
                _ => return false,
            },
            _ => return false,
        };
        self.push(found);
        true
    }

    /// Elements that go through a closure without messages.
    pub(crate) fn mapped(
        &mut self,
        whole: &Value,
        closure: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        if let Value::Closure(code, _) | Value::Function(code) = closure
            && view.regions.has_events(*code)
        {
            return false;
        }
        self.leak_parts(whole);
        self.unseen(arguments, view);
        let count = whole.length(&self.provenance).unwrap_or(Value::Data);
        self.push(Value::summary(count, Value::Unknown));
        true
    }

    /// Elements are written to in place.
    fn changed(&mut self, name: &str, receiver: &Value, given: &[Value]) -> bool {
        let Value::Ref(mut place) = self.followed(receiver.clone()) else {
            return false;
        };
        let element = some_element(&place);
        match (name, given) {
            ("fill", [value]) => self.write(&element, value.clone()),
            ("copy_from_slice" | "clone_from_slice", [from]) => self.write(&element, from.any_element()),
            ("swap" | "reverse" | "rotate_left" | "rotate_right", _) => {
                let moved = self.value(&element);
                self.write(&element, moved);
            }
            _ => {
                place.path.push(Projection::Any);
                self.forget(&place, None);
            }
        }
        self.push(if name.ends_with("_mut") {
            Value::Unknown
        } else {
            Value::Unit
        });
        true
    }
}

/// The length of what an iterator leaves out something of.
fn shorter(name: &str, whole: &Value, by: &Value, provenance: &Provenance) -> Value {
    match whole.length(provenance) {
        Some(count) if count.is_uniform() && by.is_uniform() => Value::uniform(&(name, count, by)),
        _ => Value::Data,
    }
}

fn zipped(parts: &[Value; 3], whole: &Value, other: &Value, provenance: &Provenance) -> Value {
    let endless = matches!(other, Value::Range(range) if range[1] == Value::Unit);
    let count = match (whole.length(provenance), other.length(provenance)) {
        (Some(own), _) if endless => own,
        (Some(own), Some(count)) if own == count => own,
        (Some(own), Some(count)) if own.is_uniform() && count.is_uniform() => {
            Value::uniform(&("zip", own, count))
        }
        _ => Value::Data,
    };
    let first = if parts[0] == Value::Int(0) {
        parts[2].clone()
    } else {
        whole.any_element()
    };
    let second = match other {
        Value::Range(_) => Value::Data,
        other => other.any_element(),
    };
    Value::summary(count, Value::tuple(vec![first, second]))
}
