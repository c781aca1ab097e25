//! Methods of the standard library on values that are known, and of others as far as they matter.

use super::{Continuation, LONGEST_LIST, Rank, View};
use crate::skeleton::call::CallKind;
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
        let name = &*method.name;
        let plain: Vec<Value> = arguments.iter().map(|one| self.value(one)).collect();
        let found = match value {
            Value::Int(number) => numbers::of_int(*number, name, method.unsigned, &plain),
            Value::Float(bits) => numbers::of_float(f64::from_bits(*bits), name, &plain),
            Value::Variant(variant, parts) if matches!(&**variant, "Some" | "None" | "Ok" | "Err") => {
                return self.option(name, variant, parts, receiver, arguments, view);
            }
            Value::List(parts) => {
                return self.list(&method.name, &Rc::clone(parts), receiver, arguments, view);
            }
            Value::Summary(parts) => {
                return self.summary(method, &Rc::clone(parts), receiver, arguments, view);
            }
            Value::Range(parts) => {
                return self.range(&method.name, parts, &plain, receiver, arguments, view);
            }
            Value::Unordered(inner, is_hashed) => {
                self.unordered(name, inner, *is_hashed, receiver, &plain, view)
            }
            Value::Bool(truth) => match (name, arguments) {
                ("then_some", [only]) => Some(if *truth {
                    Value::some(only.clone())
                } else {
                    Value::none()
                }),
                ("then", [closure]) if *truth => {
                    let closure = self.value(closure);
                    self.call_value(closure, Vec::new(), Continuation::Some, view);
                    return true;
                }
                ("then", [_]) => Some(Value::none()),
                _ => None,
            },
            _ => None,
        };
        let found = found.or_else(|| match (name, arguments) {
            ("clone" | "to_owned" | "as_ref" | "borrow" | "to_vec" | "as_slice" | "into", [])
                if !value.is_unknown() =>
            {
                Some(value.clone())
            }
            ("as_mut" | "borrow_mut" | "by_ref" | "as_mut_slice" | "as_deref_mut", []) => {
                Some(receiver.clone())
            }
            ("eq", [_]) => Some(Binary::Eq.apply(value, &plain[0], &self.provenance)),
            ("ne", [_]) => Some(Binary::Ne.apply(value, &plain[0], &self.provenance)),
            _ => None,
        });
        if let Some(found) = found {
            self.push(found);
            return true;
        }
        false
    }

    fn option(
        &mut self,
        name: &str,
        variant: &str,
        parts: &Rc<Vec<Value>>,
        receiver: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let good = matches!(variant, "Some" | "Ok");
        let inner = parts.first().cloned().unwrap_or(Value::Unit);
        let wrapped = |value: Value| Value::Variant(variant.into(), Rc::new(vec![value]));
        let same = || Value::Variant(variant.into(), Rc::clone(parts));
        let callable = |at: usize| arguments.get(at).map(|one| self.value(one));
        let found = match (name, arguments) {
            ("unwrap" | "expect" | "unwrap_or_default" | "unwrap_unchecked", _) if good => inner,
            ("unwrap" | "expect", _) => {
                self.state = super::RankState::Ended;
                return true;
            }
            ("unwrap_or", [other]) => {
                if good {
                    inner
                } else {
                    other.clone()
                }
            }
            ("is_some" | "is_ok", []) => Value::Bool(good),
            ("is_none" | "is_err", []) => Value::Bool(!good),
            ("as_ref" | "as_deref" | "clone" | "copied" | "cloned" | "into_iter" | "iter", []) => {
                match name {
                    "iter" | "into_iter" => Value::list(if good { vec![inner] } else { Vec::new() }),
                    _ => same(),
                }
            }
            ("ok", []) => {
                if good {
                    Value::some(inner)
                } else {
                    Value::none()
                }
            }
            ("ok_or" | "ok_or_else", [_]) if good => Value::Variant("Ok".into(), Rc::new(vec![inner])),
            ("map_err" | "or" | "or_else", [_]) if good => same(),
            ("as_mut" | "iter_mut" | "as_deref_mut", []) => match (good, self.followed(receiver.clone())) {
                (true, Value::Ref(mut place)) => {
                    place.path.push(Projection::Part(0));
                    let inner = Value::Ref(place);
                    if name == "iter_mut" {
                        Value::list(vec![inner])
                    } else {
                        wrapped(inner)
                    }
                }
                (true, _) => same(),
                (false, _) if name == "iter_mut" => Value::list(Vec::new()),
                (false, _) => same(),
            },
            ("take", []) => {
                let place = self.followed(receiver.clone());
                self.write(&place, Value::none());
                same()
            }
            (
                "map" | "and_then" | "filter" | "map_or" | "map_or_else" | "is_some_and" | "is_none_or"
                | "unwrap_or_else" | "inspect",
                _,
            ) => {
                return self.option_closure(name, good, inner, arguments, callable(0), callable(1), view);
            }
            _ => return false,
        };
        self.push(found);
        true
    }

    #[allow(clippy::too_many_arguments)]
    fn option_closure(
        &mut self,
        name: &str,
        good: bool,
        inner: Value,
        arguments: &[Value],
        first: Option<Value>,
        second: Option<Value>,
        view: &mut View<'_>,
    ) -> bool {
        let (closure, given, after) = match (name, good, first, second) {
            ("map", true, Some(closure), None) => (closure, vec![inner], Continuation::Some),
            ("map" | "and_then" | "filter", false, ..) => {
                self.push(Value::none());
                return true;
            }
            ("and_then" | "is_some_and", true, Some(closure), None) => {
                (closure, vec![inner], Continuation::Value)
            }
            ("is_some_and", false, ..) => {
                self.push(Value::Bool(false));
                return true;
            }
            ("is_none_or", false, ..) => {
                self.push(Value::Bool(true));
                return true;
            }
            ("is_none_or", true, Some(closure), None) => (closure, vec![inner], Continuation::Value),
            ("map_or", true, _, Some(closure)) => (closure, vec![inner], Continuation::Value),
            ("map_or", false, ..) => {
                let default = arguments.first().cloned().unwrap_or_default();
                self.push(default);
                return true;
            }
            ("unwrap_or_else", true, ..) => {
                self.push(inner);
                return true;
            }
            ("unwrap_or_else", false, Some(closure), None) => (closure, Vec::new(), Continuation::Value),
            ("map_or_else", true, _, Some(closure)) => (closure, vec![inner], Continuation::Value),
            ("map_or_else", false, Some(closure), _) => (closure, Vec::new(), Continuation::Value),
            _ => return false,
        };
        self.call_value(closure, given, after, view);
        true
    }

    fn range(
        &mut self,
        name: &Rc<str>,
        parts: &[Value; 3],
        plain: &[Value],
        receiver: &Value,
        arguments: &[Value],
        view: &mut View<'_>,
    ) -> bool {
        let [from, to, by] = parts;
        let found = match (&**name, plain) {
            ("into_iter" | "iter" | "clone" | "by_ref", []) => Value::Range(Box::new(parts.clone())),
            ("rev", []) => match (from, to, by) {
                (Value::Int(from), Value::Int(to), Value::Int(1)) => {
                    let ends = [to - 1, from - 1, -1].map(Value::Int);
                    Value::Range(Box::new(ends))
                }
                _ => Value::uniform(&("rev", parts)),
            },
            ("step_by", [Value::Int(step)]) if *by == Value::Int(1) && *step > 0 => {
                Value::Range(Box::new([from.clone(), to.clone(), Value::Int(*step)]))
            }
            ("contains", [one]) => {
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
            ("len" | "count", []) => match (from, to) {
                (Value::Int(from), Value::Int(to)) => Value::Int((to - from).max(0)),
                _ => return false,
            },
            ("map", [closure]) if self.is_vague(parts, closure, view) => {
                let count = match from {
                    Value::Int(0) => to.clone(),
                    from => Binary::Sub.apply(to, from, &self.provenance),
                };
                return self.mapped(&Value::summary(count, Value::At), closure, arguments, view);
            }
            _ => match numbers::numbers(parts, LONGEST_LIST) {
                Some(list) => return self.list(name, &Rc::new(list), receiver, arguments, view),
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
            unplaced(result, &method.name, value, &plain, same)
        };
        self.leak_parts(value);
        if !method.pure
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
fn unplaced(result: Value, name: &str, value: &Value, plain: &[Value], same: bool) -> Value {
    if same {
        Value::uniform(&(name, value, plain))
    } else {
        result
    }
}
