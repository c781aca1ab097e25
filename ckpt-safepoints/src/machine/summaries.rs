//! Lists whose elements are not distinguished: how many there are is known, or the same on all ranks, and what they have in
//! common.

use super::lists::some_element;
use super::{Rank, View};
use crate::skeleton::Method;
use crate::skeleton::std_calls::{OtherCall, SummaryCall};
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
        let found = match (method.std.summaries, &plain[..]) {
            (Some(SummaryCall::Itself), []) => whole,
            (Some(SummaryCall::Iterate), []) if !self.is_lent(receiver) => whole,
            (Some(SummaryCall::Iterate | SummaryCall::IterateExclusive), []) => {
                match self.followed(receiver.clone()) {
                    Value::Ref(place) => self.lent_iterator(&place),
                    _ => return false,
                }
            }
            (Some(SummaryCall::Length), []) => whole.length(&self.provenance).unwrap_or(Value::Data),
            (Some(SummaryCall::IsEmpty), []) => {
                Binary::Lt.apply(&parts[0], &parts[1], &self.provenance).not()
            }
            (Some(SummaryCall::Enumerate), []) if parts[0] == Value::Int(0) => {
                Value::summary(parts[1].clone(), Value::tuple(vec![Value::At, parts[2].clone()]))
            }
            (Some(SummaryCall::Reverse), []) => Value::summary(
                whole.length(&self.provenance).unwrap_or(Value::Data),
                whole.any_element(),
            ),
            (Some(SummaryCall::Shorten), [count]) => Value::summary(
                shorter(&method.name, &whole, count, &self.provenance),
                whole.any_element(),
            ),
            (Some(SummaryCall::Windows), [count]) => {
                let inner = Value::summary(Value::Data, whole.any_element());
                Value::summary(shorter(&method.name, &whole, count, &self.provenance), inner)
            }
            (Some(SummaryCall::Zip), [other]) => zipped(parts, &whole, other, &self.provenance),
            (Some(SummaryCall::Map), [closure]) if !whole.is_uniform() => {
                return self.mapped(&whole, closure, arguments, view);
            }
            (_, given) if method.keeps_length => return self.changed(method, receiver, given),
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

    /// Elements are written to in place, or lent to be.
    fn changed(&mut self, method: &Method, receiver: &Value, given: &[Value]) -> bool {
        let Value::Ref(mut place) = self.followed(receiver.clone()) else {
            return false;
        };
        if method.std.others == Some(OtherCall::Place) && given.is_empty() {
            self.push(Value::Ref(place));
            return true;
        }
        let element = some_element(&place);
        match (method.std.summaries, given) {
            (Some(SummaryCall::Fill), [value]) => self.write(&element, value.clone()),
            (Some(SummaryCall::Copy), [from]) => self.write(&element, from.any_element()),
            (Some(SummaryCall::Permute), _) => {
                let moved = self.value(&element);
                self.write(&element, moved);
            }
            _ => {
                place.path.push(Projection::Any);
                self.forget(&place, None);
            }
        }
        let gives_nothing = matches!(
            method.std.summaries,
            Some(SummaryCall::Fill | SummaryCall::Copy | SummaryCall::Permute | SummaryCall::Change)
        );
        self.push(if gives_nothing {
            Value::Unit
        } else {
            Value::Unknown
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
            Value::uniform(&(SummaryCall::Zip, own, count))
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
