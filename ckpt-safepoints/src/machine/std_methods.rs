//! Methods of the standard library on values that are known, and of others as far as they matter.

use super::std_numbers::{of_float, of_int};
use super::{Continuation, LONGEST_LIST, Rank, View};
use crate::skeleton::call::CallKind;
use crate::skeleton::std_calls::{OptionCall, OtherCall, RangeCall, TruthCall};
use crate::skeleton::{Determinacy, Method};
use crate::values::numbers;
use crate::values::{Binary, Projection, Value};
use std::rc::Rc;

impl Rank {
    /// Calls a method.
    pub(crate) fn method(
        &mut self,
        method: &Method,
        receiver: Value,
        arguments: Vec<Value>,
        view: &mut View<'_>,
    ) {
        if self.told_method(&method.told, &receiver, &arguments, view) {
            return;
        }
        if !method.own.is_empty() {
            return self.own_method(method, receiver, arguments, view);
        }
        let value = self.value(&receiver);
        if self.library_method(method, &value, &arguments, view) {
            return;
        }
        if let Some(message) = method
            .message
            .as_ref()
            .filter(|message| message.kind != CallKind::Test)
        {
            let why = format!("it cannot be told which process `{}` means", message.name);
            return self.lose(&why);
        }
        if let Some(callee) = perhaps(method, &value) {
            let mut given = vec![receiver];
            given.extend(arguments);
            return self.call(callee, given, None, Continuation::Value, view);
        }
        if self.standard_method(method, &receiver, &value, &arguments, view) {
            return;
        }
        if method
            .perhaps
            .iter()
            .any(|(callee, _)| view.regions.has_events(*callee))
        {
            return self.lose(&format!("which `{}` is called cannot be told", method.name));
        }
        self.unknown_method(method, &receiver, &value, &arguments, view);
    }

    fn own_method(&mut self, method: &Method, receiver: Value, arguments: Vec<Value>, view: &mut View<'_>) {
        let chosen = match &method.own[..] {
            [(only, _)] => Some(*only),
            several => {
                let name = match self.value(&receiver) {
                    Value::Struct(name, _) | Value::Variant(name, _) => Some(name),
                    _ => None,
                };
                let fits = |one: &&(usize, Option<Rc<str>>)| name.is_some() && one.1 == name;
                several.iter().find(fits).map(|one| one.0)
            }
        };
        let mut given = vec![receiver];
        given.extend(arguments);
        match chosen {
            Some(callee) => self.call(callee, given, None, Continuation::Value, view),
            None if method
                .own
                .iter()
                .any(|(callee, _)| view.regions.has_events(*callee)) =>
            {
                self.lose(&format!("which `{}` is called cannot be told", method.name));
            }
            None => {
                given.iter().for_each(|one| self.leak(one));
                self.unseen(&given, view);
                self.push(Value::Unknown);
            }
        }
    }

    /// Whether the method is one of the standard library's on a value that is known.
    fn standard_method(
        &mut self,
        method: &Method,
        receiver: &Value,
        value: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let std = &method.std;
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        let found = match value {
            Value::Int(number) => std
                .numbers
                .and_then(|call| of_int(*number, call, method.unsigned, &plain)),
            Value::Float(bits) => std
                .floats
                .and_then(|call| of_float(f64::from_bits(*bits), call, &plain)),
            Value::Variant(variant, parts) if matches!(&**variant, "Some" | "None" | "Ok" | "Err") => {
                return std
                    .options
                    .is_some_and(|call| self.option(call, variant, parts, receiver, arguments, view));
            }
            Value::List(parts) => {
                return self.list(method, &Rc::clone(parts), receiver, arguments, view);
            }
            Value::Summary(parts) => {
                return self.summary(method, &Rc::clone(parts), receiver, arguments, view);
            }
            Value::Range(parts) => {
                return self.range(method, parts, &plain, receiver, arguments, view);
            }
            Value::Unordered(inner, is_hashed) => {
                self.unordered(method, inner, *is_hashed, receiver, &plain, view)
            }
            // Where it could not be made, the program goes on in a way that is not followed.
            Value::Handle(..) if std.options == Some(OptionCall::Unwrap) => Some(value.clone()),
            Value::Bool(truth) => match (std.truths, arguments) {
                (Some(TruthCall::ThenSome), [only]) => Some(if *truth {
                    Value::some(only.clone())
                } else {
                    Value::none()
                }),
                (Some(TruthCall::Then), [closure]) if *truth => {
                    let closure = self.value(closure);
                    self.call_value(closure, Vec::new(), Continuation::Some, view);
                    return true;
                }
                (Some(TruthCall::Then), [_]) => Some(Value::none()),
                _ => None,
            },
            _ => None,
        };
        let found = found.or_else(|| match (std.others?, arguments) {
            (OtherCall::Itself, []) if !value.is_unknown() => Some(value.clone()),
            (OtherCall::Place, []) => Some(receiver.clone()),
            (OtherCall::Equal, [_]) => Some(Binary::Eq.apply(value, &plain[0], &self.provenance)),
            (OtherCall::Unequal, [_]) => Some(Binary::Ne.apply(value, &plain[0], &self.provenance)),
            _ => None,
        });
        if let Some(found) = found {
            self.push(found);
            return true;
        }
        false
    }

    /// A method of an `Option` or a `Result`.
    fn option(
        &mut self,
        call: OptionCall,
        variant: &str,
        parts: &Rc<Vec<Value>>,
        receiver: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let good = matches!(variant, "Some" | "Ok");
        let inner = parts.first().cloned().unwrap_or(Value::Unit);
        let same = || Value::Variant(variant.into(), Rc::clone(parts));
        let found = match (call, arguments) {
            (OptionCall::Unwrap | OptionCall::UnwrapOrOther, _) if good => inner,
            (OptionCall::Unwrap, _) => {
                self.state = super::RankState::Ended;
                return true;
            }
            (OptionCall::UnwrapOr, [_]) if good => inner,
            (OptionCall::UnwrapOr, [other]) => other.clone(),
            (OptionCall::IsGood, []) => Value::Bool(good),
            (OptionCall::IsBad, []) => Value::Bool(!good),
            (OptionCall::Itself, []) => same(),
            (OptionCall::Iterate, []) => Value::list(if good { vec![inner] } else { Vec::new() }),
            (OptionCall::Option, []) if good => Value::some(inner),
            (OptionCall::Option, []) => Value::none(),
            (OptionCall::Result, [_]) if good => Value::Variant("Ok".into(), Rc::new(vec![inner])),
            (OptionCall::Alternative, [_]) if good => same(),
            (OptionCall::IterateExclusive, []) if !good => Value::list(Vec::new()),
            (OptionCall::Exclusive | OptionCall::IterateExclusive, []) => {
                match (good, self.followed(receiver.clone())) {
                    (true, Value::Ref(mut place)) => {
                        place.path.push(Projection::Part(0));
                        let inner = vec![Value::Ref(place)];
                        match call {
                            OptionCall::Exclusive => Value::Variant(variant.into(), Rc::new(inner)),
                            _ => Value::list(inner),
                        }
                    }
                    _ => same(),
                }
            }
            (OptionCall::Take, []) => {
                let place = self.followed(receiver.clone());
                self.write(&place, Value::none());
                same()
            }
            _ => return self.option_closure(call, good, inner, arguments, view),
        };
        self.push(found);
        true
    }

    /// The same of a method that is given closures.
    fn option_closure(
        &mut self,
        call: OptionCall,
        good: bool,
        inner: Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let (closure, given, after) = match (call, good, arguments) {
            (OptionCall::Map, true, [closure]) => (closure, vec![inner], Continuation::Some),
            (OptionCall::AndThen | OptionCall::IsSomeAnd | OptionCall::IsNoneOr, true, [closure])
            | (OptionCall::MapOr | OptionCall::MapOrElse, true, [_, closure]) => {
                (closure, vec![inner], Continuation::Value)
            }
            (OptionCall::UnwrapOrElse, false, [closure]) | (OptionCall::MapOrElse, false, [closure, ..]) => {
                (closure, Vec::new(), Continuation::Value)
            }
            _ => {
                let found = match (call, good) {
                    (OptionCall::Map | OptionCall::AndThen | OptionCall::Filter, false) => Value::none(),
                    (OptionCall::IsSomeAnd, false) => Value::Bool(false),
                    (OptionCall::IsNoneOr, false) => Value::Bool(true),
                    (OptionCall::MapOr, false) => arguments.first().cloned().unwrap_or_default(),
                    (OptionCall::UnwrapOrElse, true) => inner,
                    _ => return false,
                };
                self.push(found);
                return true;
            }
        };
        let closure = self.value(closure);
        self.call_value(closure, given, after, view);
        true
    }

    fn range(
        &mut self,
        method: &Method,
        parts: &[Value; 3],
        plain: &[Value],
        receiver: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let [from, to, by] = parts;
        let found = match (method.std.ranges, plain) {
            (Some(RangeCall::Itself), []) => Value::Range(Box::new(parts.clone())),
            (Some(RangeCall::Reverse), []) => match (from, to, by) {
                (Value::Int(from), Value::Int(to), Value::Int(1)) => {
                    let ends = [to - 1, from - 1, -1].map(Value::Int);
                    Value::Range(Box::new(ends))
                }
                _ => Value::uniform(&(RangeCall::Reverse, parts)),
            },
            (Some(RangeCall::StepBy), [Value::Int(step)]) if *by == Value::Int(1) && *step > 0 => {
                Value::Range(Box::new([from.clone(), to.clone(), Value::Int(*step)]))
            }
            (Some(RangeCall::Contains), [one]) => {
                let above = match from {
                    Value::Unit => Value::Bool(true),
                    from => Binary::Ge.apply(one, from, &self.provenance),
                };
                let below = match to {
                    Value::Unit => Value::Bool(true),
                    to => Binary::Lt.apply(one, to, &self.provenance),
                };
                Binary::And.apply(&above, &below, &self.provenance)
            }
            (Some(RangeCall::Length), []) => match (from, to) {
                (Value::Int(from), Value::Int(to)) => Value::Int((to - from).max(0)),
                _ => return false,
            },
            (Some(RangeCall::Map), [closure]) if self.is_vague(parts, closure, view) => {
                let count = match from {
                    Value::Int(0) => to.clone(),
                    from => Binary::Sub.apply(to, from, &self.provenance),
                };
                return self.mapped(&Value::summary(count, Value::At), closure, arguments, view);
            }
            _ => match numbers::numbers(parts, LONGEST_LIST) {
                Some(list) => return self.list(method, &Rc::new(list), receiver, arguments, view),
                None => return false,
            },
        };
        let same = parts.iter().all(Value::is_uniform);
        self.push(if same || !matches!(found, Value::Uniform(_)) {
            found
        } else {
            Value::Data
        });
        true
    }

    /// Whether a closure over numbers returns what differs between the ranks, in a list whose length is known to be the same.
    fn is_vague(&self, range: &[Value; 3], closure: &Value, view: &View<'_>) -> bool {
        let settled = match closure {
            Value::Closure(code, _) => self.closure_is_determined(*code, view),
            Value::Function(code) => self.is_determined(*code, view),
            _ => false,
        };
        let [from, to, by] = range;
        !settled
            && *by == Value::Int(1)
            && *to != Value::Unit
            && numbers::numbers(range, LONGEST_LIST).is_none()
            && from.is_uniform()
    }

    /// A method of which nothing is known but its name.
    fn unknown_method(
        &mut self,
        method: &Method,
        receiver: &Value,
        value: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) {
        if method.starts_threads && self.follow_body(arguments, Continuation::Thread, view) {
            return;
        }
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        let closures = plain
            .iter()
            .any(|one| matches!(one, Value::Closure(..) | Value::Function(_)));
        let settled = |one: &Value| match one {
            Value::Closure(code, _) => self.closure_is_determined(*code, view),
            Value::Function(code) => self.is_determined(*code, view),
            other => other.is_uniform(),
        };
        let same = value.is_uniform() && plain.iter().all(settled);
        arguments.iter().for_each(|one| self.leak(one));
        if closures {
            self.unseen(arguments, view);
            if !matches!(self.state, super::RankState::Runs) {
                return;
            }
        }
        let told: Vec<&Value> = plain.iter().filter(|one| one.is_uniform()).collect();
        let same = same && self.holds_now(method.determinacy, view);
        let result = match same {
            true => Value::uniform(&(&*method.name, value, told, self.at)),
            false if value.is_data() => Value::Data,
            false => Value::Unknown,
        };
        let result = if closures {
            result
        } else {
            unplaced(result, method, value, &plain, same)
        };
        self.leak_parts(value);
        if !method.pure
            && !matches!(value, Value::Handle(..))
            && let Value::Ref(place) = self.followed(receiver.clone())
        {
            // What is lent out may be written to as long as it is.
            if same && !method.lends {
                self.put(&place, Value::uniform(&("after", &result)));
            } else {
                self.forget(&place, None);
            }
        }
        self.push(result);
    }

    /// Whether what a closure returns depends on nothing but its arguments: it names nothing around it.
    pub(crate) fn closure_is_determined(&self, code: usize, view: &View<'_>) -> bool {
        let all = 0..view.skeleton.codes[code].ops.len();
        let region = view.regions.region(code, all);
        self.holds_now(region.determinacy, view) && region.reads.iter().all(|var| var.up == 0)
    }

    /// Whether what a function returns depends on nothing but its arguments.
    pub(crate) fn is_determined(&self, code: usize, view: &View<'_>) -> bool {
        self.holds_now(view.regions.is_determined(code), view)
    }

    /// Files are the same for all ranks as long as no messages are exchanged.
    pub(crate) fn holds_now(&self, settled: Determinacy, view: &View<'_>) -> bool {
        match settled {
            Determinacy::Always => true,
            Determinacy::BeforeMessages => !self.is_amid_messages(view),
            Determinacy::Never => false,
        }
    }
}

/// The program's own method of a value's type, where it was not known before which is meant.
fn perhaps(method: &Method, value: &Value) -> Option<usize> {
    let (Value::Struct(name, _) | Value::Variant(name, _)) = value else {
        return None;
    };
    let mut found = method.perhaps.iter().filter(|one| one.1.as_ref() == Some(name));
    match (found.next(), found.next()) {
        (Some((only, _)), None) => Some(*only),
        _ => None,
    }
}

/// The same call on the same things returns the same, wherever it stands.
fn unplaced(result: Value, method: &Method, value: &Value, plain: &[Value], same: bool) -> Value {
    match method.std.others {
        _ if !same => result,
        Some(OtherCall::Length) if plain.is_empty() => value.uniform_length(),
        _ => Value::uniform(&(&*method.name, value, plain)),
    }
}
