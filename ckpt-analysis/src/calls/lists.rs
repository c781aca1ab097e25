//! What makes lists longer: what the program does to its variables and fields, noted for [`crate::cost`] to sum up.

use super::walk::{Value, Walker};
use super::{CallId, Change, Changed, Occasion, WhatChanges, std_calls};
use crate::items::amount::{Amount, Hop, Root, Shape};
use crate::items::hints::Ty;

impl Walker<'_> {
    fn occasion(&self) -> Occasion {
        Occasion {
            function: self.function.id,
            within: self.within,
            weight: self.weight,
        }
    }

    /// Something happens to a place; nothing is noted of a value that is in none.
    pub(super) fn change(&mut self, place: Option<&(Root, Vec<Hop>)>, what: WhatChanges) {
        let Some((root, way)) = place else { return };
        let change = Change {
            root: root.clone(),
            way: way.clone(),
            at: self.occasion(),
            what,
        };
        self.graph.changes.push(change);
    }

    /// A variable that the function changes, and what it begins with. One that stands for something else, behind a
    /// reference, is that.
    pub(super) fn changed(&mut self, value: Value, grows: bool) -> Value {
        let is_list =
            grows || std_calls::is_list(&value.ty) || value.ty == Ty::Unknown && value.element.is_some();
        let parameter = match &value.place {
            Some((Root::Parameter(index), way)) if way.is_empty() => Some(*index),
            Some((Root::Changed(_) | Root::Field(..), _)) => return value,
            _ => None,
        };
        if !is_list {
            return value;
        }
        let root = Root::Changed(self.graph.changed.len());
        self.graph.changed.push(Changed {
            function: self.function.id,
            parameter,
        });
        let place = (root.clone(), Vec::new());
        self.change(Some(&place), WhatChanges::Set(value.shape()));
        let shape = Shape {
            number: value.number.clone(),
            ..Shape::at(root, Vec::new())
        };
        Value {
            closure: value.closure,
            functions: value.functions,
            parameter: value.parameter,
            lazy: value.lazy,
            ..Value::shaped(value.ty, shape)
        }
    }

    /// The arguments of a call that may be changed by it.
    pub(super) fn lend(&mut self, call: CallId, arguments: &[Value]) {
        for (index, argument) in arguments.iter().enumerate() {
            if let Some((Root::Changed(_) | Root::Field(..), _)) = &argument.place {
                self.change(argument.place.as_ref(), WhatChanges::Lent(call.0, index));
            }
        }
    }

    /// What a method of the standard library does to how many elements its receiver has.
    pub(super) fn changes_length(&mut self, receiver: &Value, name: &str, arguments: &[Value]) {
        let last = arguments.last().map(Value::shape).unwrap_or_default();
        let what = match std_calls::list_change(name) {
            Some(std_calls::ListChange::AddsOne) => {
                WhatChanges::Adds(Amount::Known(1.0), Box::new(last.copied()))
            }
            Some(std_calls::ListChange::AddsAll) => {
                WhatChanges::Adds(last.length.clone(), Box::new(last.element().copied()))
            }
            Some(std_calls::ListChange::Sets) => {
                let length = arguments
                    .first()
                    .map(|one| one.number.clone())
                    .unwrap_or_default();
                WhatChanges::Set(Shape::of(length, last.copied()))
            }
            Some(std_calls::ListChange::Empties) => WhatChanges::Empties,
            Some(std_calls::ListChange::Takes) => WhatChanges::Takes,
            None => return,
        };
        self.change(receiver.place.as_ref(), what);
    }
}
