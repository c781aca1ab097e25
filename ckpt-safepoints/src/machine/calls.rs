//! Calls of functions and closures, and lists that go through closures.

use super::control::hash;
use super::{BlockedOn, Continuation, Frame, Rank, RankState, Traversal, View};
use crate::skeleton::CallOp;
use crate::skeleton::std_calls::TraversalCall;
use crate::values::Value;

/// Calls nested deeper than this are not followed.
const DEEPEST_CALL: usize = 100;

impl Rank {
    /// Nothing where the stack has not what the step needs.
    pub(super) fn call_op(&mut self, op: &CallOp, view: &mut View<'_>) -> Option<()> {
        match op {
            CallOp::Function(callee, count) => {
                let arguments = self.pop_many(*count)?;
                self.call(*callee, arguments, None, Continuation::Value, view);
            }
            CallOp::Value(count) => {
                let arguments = self.pop_many(*count)?;
                let callee = self.pop()?;
                let callee = self.value(&callee);
                self.call_value(callee, arguments, Continuation::Value, view);
            }
            CallOp::Method(method) => {
                let arguments = self.pop_many(method.arguments)?;
                let receiver = self.pop()?;
                self.method(method, receiver, arguments, view);
            }
            CallOp::Outside(function) => {
                let arguments = self.pop_many(function.arguments)?;
                self.outside(function, arguments, view);
            }
            CallOp::Told(step) => self.told_step(step, view)?,
            CallOp::ToldHandle(of) => self.told_handle(of)?,
            CallOp::Text(pattern, count, writers) => {
                let parts = self.pop_many(*count)?;
                self.text(pattern, &parts, writers, view);
            }
            CallOp::Any(callees) => {
                if callees.iter().any(|callee| view.regions.has_events(*callee)) {
                    self.lose("which function is called here cannot be told");
                }
            }
        }
        Some(())
    }

    /// Calls a function or closure of the program.
    pub(crate) fn call(
        &mut self,
        code: usize,
        mut given: Vec<Value>,
        parent: Option<usize>,
        after: Continuation,
        view: &mut View<'_>,
    ) {
        let skeleton = view.skeleton;
        let Some(callee) = skeleton
            .codes
            .get(code)
            .filter(|_| self.frames.len() < DEEPEST_CALL)
        else {
            self.lose("calls are nested too deep to be followed");
            return;
        };
        if callee.consumes_self
            && let Some(first) = given.first_mut()
        {
            *first = self.value(first);
        }
        let key = match self.is_determined(code, view) && parent.is_none() {
            true => given.iter().map(|one| self.deep(one)).collect::<Option<Vec<_>>>(),
            false => None,
        };
        self.frames.push(Frame {
            code,
            pc: 0,
            slots: vec![Value::Unit; callee.slots],
            stack: Vec::new(),
            marks: Vec::new(),
            parent,
            after,
            given: given.clone(),
            key: key.map(|values| hash(&(code, values))),
        });
        if given.len() != callee.parameters.len() {
            given.resize(callee.parameters.len(), Value::Unknown);
        }
        for (value, pattern) in given.into_iter().zip(&callee.parameters) {
            self.bind(value, pattern);
        }
        if !view.regions.has_events(code) {
            self.be_quiet(self.frames.len() - 1, None, None, view);
        }
    }

    /// Calls what a value stands for.
    pub(crate) fn call_value(
        &mut self,
        callee: Value,
        given: Vec<Value>,
        after: Continuation,
        view: &mut View<'_>,
    ) {
        match callee {
            Value::Closure(code, frame) => self.call(code, given, Some(frame), after, view),
            Value::Function(code) => self.call(code, given, None, after, view),
            _ if view.regions.has_hidden_events() => {
                self.lose("which function is called here cannot be told")
            }
            _ => {
                given.iter().for_each(|one| self.leak(one));
                self.unseen(&given, view);
                self.push(Value::Unknown);
            }
        }
    }

    /// Closures and functions that are given away may be called any number of times.
    pub(crate) fn unseen(&mut self, given: &[Value], view: &View<'_>) {
        for value in given {
            let (code, parent) = match self.value(value) {
                Value::Closure(code, parent) => (code, Some(parent)),
                Value::Function(code) => (code, None),
                _ => continue,
            };
            if view.regions.has_events(code) {
                self.lose("a closure that exchanges messages is given to a function that is not followed");
                return;
            }
            let all = 0..view.skeleton.codes[code].ops.len();
            let region = view.regions.region(code, all);
            self.forget_captured(&region, parent);
        }
    }

    /// A call ends with this value.
    pub(crate) fn give_back(&mut self, value: Value, view: &mut View<'_>) -> Option<()> {
        let frame = self.frames.pop()?;
        if self.frames.is_empty() {
            self.frames.push(frame);
            self.state = RankState::Ended;
            return Some(());
        }
        self.left();
        let value = self.without_escaped_closures(value, view);
        match frame.after {
            Continuation::Value | Continuation::ParallelRegion => self.push(value),
            Continuation::Some => self.push(Value::some(value)),
            Continuation::Thread => self.thread_ended(frame.code, frame.parent, view),
            Continuation::Each(each) => self.each_done(each, value, view),
            Continuation::Drain(first) => {
                let open = self
                    .requests
                    .iter()
                    .map(|one| one.id)
                    .filter(|id| *id >= first)
                    .collect();
                self.state = RankState::Blocked(BlockedOn::Requests(open, value));
            }
        }
        Some(())
    }

    /// A value that a call returns: the variables of a closure that was made in it no longer exist, so it is not followed.
    fn without_escaped_closures(&mut self, value: Value, view: &View<'_>) -> Value {
        let frames = self.frames.len();
        let mut escaped = Vec::new();
        let value = value.map(&mut |part| match part {
            Value::Closure(_, parent) if *parent >= frames => {
                escaped.push(part.clone());
                Some(Value::Unknown)
            }
            Value::Ref(place) if place.frame >= frames => Some(Value::Unknown),
            _ => None,
        });
        for one in escaped {
            if let Value::Closure(code, _) = one
                && view.regions.has_events(code)
            {
                self.lose("a closure that exchanges messages is given to where it is not followed");
            }
        }
        value
    }

    /// `?`: an error that leaves a function which exchanges messages is taken to end the program, so what is not known is
    /// taken for a success there. Any other call is given up.
    pub(crate) fn question_mark(&mut self, top: Value, view: &mut View<'_>) -> Option<()> {
        let value = self.value(&top);
        match &value {
            Value::Variant(name, parts) if matches!(&**name, "Some" | "Ok") => {
                let inner = parts.first().cloned().unwrap_or(Value::Unit);
                self.push(inner);
            }
            Value::Variant(name, _) if matches!(&**name, "None" | "Err") => {
                return self.give_back(value, view);
            }
            _ if self.frames.len() > 1 && !view.regions.has_events(self.frame().code) => {
                self.abandon_call(self.frames.len() - 1, view);
            }
            Value::Unordered(..) | Value::Handle(..) => self.push(value),
            other if other.is_uniform() => self.push(Value::uniform(&("?", other))),
            other => self.push(other.blurred()),
        }
        Some(())
    }

    /// Starts a list on its way through a closure.
    pub(crate) fn each(
        &mut self,
        call: TraversalCall,
        closure: Value,
        mut todo: Vec<Value>,
        view: &mut View<'_>,
    ) {
        todo.reverse();
        let each = Traversal {
            call,
            closure,
            current: Value::Unit,
            todo,
            done: Vec::new(),
        };
        if let Value::Closure(code, parent) = each.closure
            && self.skips(code, None, view)
        {
            return self.skip_each(code, Some(parent), each, view);
        }
        self.each_next(each, view);
    }

    fn each_next(&mut self, mut each: Traversal, view: &mut View<'_>) {
        match each.todo.pop() {
            Some(next) => {
                each.current = next.clone();
                let closure = each.closure.clone();
                self.call_value(closure, vec![next], Continuation::Each(each), view);
            }
            None => {
                let value = match each.call {
                    TraversalCall::Any => Value::Bool(false),
                    TraversalCall::All => Value::Bool(true),
                    TraversalCall::Find => Value::none(),
                    TraversalCall::Map | TraversalCall::Filter | TraversalCall::FlatMap => {
                        self.listed(each.done)
                    }
                };
                self.push(value);
            }
        }
    }

    fn each_done(&mut self, mut each: Traversal, value: Value, view: &mut View<'_>) {
        let truth = match self.value(&value) {
            Value::Bool(truth) => Some(truth),
            _ => None,
        };
        match (each.call, truth) {
            (TraversalCall::Map, _) => each.done.push(value),
            (TraversalCall::Filter, Some(true)) => each.done.push(each.current.clone()),
            (TraversalCall::Any, Some(true)) => return self.push(Value::Bool(true)),
            (TraversalCall::All, Some(false)) => return self.push(Value::Bool(false)),
            (TraversalCall::Find, Some(true)) => return self.push(Value::some(each.current)),
            (_, Some(_)) if each.call != TraversalCall::FlatMap => {}
            (TraversalCall::FlatMap, _) => match value {
                Value::Variant(name, parts) if matches!(&*name, "Some" | "None") => {
                    each.done.extend(parts.iter().cloned())
                }
                Value::List(parts) => each.done.extend(parts.iter().cloned()),
                _ => return self.push(Value::Unknown),
            },
            _ => return self.push(Value::Unknown),
        }
        self.each_next(each, view);
    }
}
