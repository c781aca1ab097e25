//! Functions of other crates.

use super::{Rank, View};
use crate::skeleton::std_calls::{FunctionCall, is_of_node};
use crate::skeleton::{Determinacy, Outside};
use crate::values::{Binary, Provenance, Value, numbers};
use std::rc::Rc;

impl Rank {
    /// Calls a function of another crate.
    pub(crate) fn outside(&mut self, function: &Outside, arguments: Vec<Value>, view: &mut View<'_>) {
        if let Some(call) = &function.message {
            return self.communicate_by_path(call, &arguments, view);
        }
        let names: Vec<&str> = function.path.iter().map(|name| &**name).collect();
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        if self.library_function(&names, &plain, view) {
            return;
        }
        let found = match &plain[..] {
            [only] if function.wraps => Some(only.clone()),
            _ => function
                .std
                .0
                .and_then(|call| self.std_function(call, &function.path, &arguments, &plain)),
        };
        if let Some(found) = found {
            self.push(found);
            return;
        }
        if self.begins_parallel_region(function.std.0, &arguments, view) {
            return;
        }
        for one in &arguments {
            // What stands for a communicator stands for it whatever the crate does with it.
            if !matches!(self.value(one), Value::Handle(..)) {
                self.leak(one);
            }
        }
        self.unseen(&arguments, view);
        let of_node = |name: &Value| matches!(name, Value::Text(name) if is_of_node(name));
        let same = match function.determinacy {
            Determinacy::Always => true,
            Determinacy::BeforeMessages => !plain.iter().any(of_node) && !self.is_amid_messages(view),
            Determinacy::Never => false,
        };
        let same = same && plain.iter().all(Value::is_uniform);
        self.push(match same {
            true => Value::uniform(&(&names, &plain)),
            false if plain.iter().all(Value::is_data) => Value::Data,
            false => Value::Unknown,
        });
    }

    /// What a function of the standard library returns, and what it does to what it is given.
    fn std_function(
        &mut self,
        call: FunctionCall,
        path: &[Rc<str>],
        arguments: &[Value],
        plain: &[Value],
    ) -> Option<Value> {
        let of = path.len().checked_sub(2).map_or("", |at| &*path[at]);
        Some(match (call, plain) {
            (FunctionCall::NewList, [] | [_]) => Value::list(Vec::new()),
            (FunctionCall::Greatest, [a, b]) => return extreme(Binary::Ge, a, b, &self.provenance),
            (FunctionCall::Least, [a, b]) => return extreme(Binary::Le, a, b, &self.provenance),
            (FunctionCall::Integer, [only @ Value::Int(_)])
            | (FunctionCall::Float, [only @ Value::Float(_)]) => only.clone(),
            (FunctionCall::Float, [Value::Int(number)]) => Value::float(*number as f64),
            (FunctionCall::Integer, [Value::Bool(truth)]) => Value::Int(i128::from(*truth)),
            // Nothing is lost on the way: it is the same number.
            (FunctionCall::Integer, [only @ Value::Uniform(_)]) => only.clone(),
            (FunctionCall::Float, [only @ Value::Uniform(_)]) => numbers::cast(only, of, &self.provenance),
            (FunctionCall::Convert, [only @ Value::Int(number)]) => match numbers::fits(*number, of) {
                true => Value::Variant("Ok".into(), Rc::new(vec![only.clone()])),
                false => Value::Variant("Err".into(), Rc::new(vec![Value::uniform(&("no", of))])),
            },
            (FunctionCall::Swap, [a, b]) => {
                self.write(&arguments[0], b.clone());
                self.write(&arguments[1], a.clone());
                Value::Unit
            }
            (FunctionCall::Replace, [old, _]) => {
                self.write(&arguments[0], arguments[1].clone());
                old.clone()
            }
            (FunctionCall::Drop, [_]) => Value::Unit,
            _ => return None,
        })
    }

    /// `format!(..)`
    pub(crate) fn text(
        &mut self,
        pattern: &Rc<str>,
        parts: &[Value],
        writers: &[usize],
        view: &mut View<'_>,
    ) {
        let parts: Vec<Value> = parts.iter().map(|one| self.value(one)).collect();
        let settled = writers.iter().all(|one| self.is_determined(*one, view));
        let text = match settled && parts.iter().all(Value::is_uniform) {
            true => Value::uniform(&(pattern, parts)),
            false => Value::Data,
        };
        self.push(text);
    }
}

fn extreme(order: Binary, a: &Value, b: &Value, provenance: &Provenance) -> Option<Value> {
    match order.apply(a, b, provenance) {
        Value::Bool(true) => Some(a.clone()),
        Value::Bool(false) => Some(b.clone()),
        _ => None,
    }
}
