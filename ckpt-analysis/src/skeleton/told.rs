//! Calls of crates of which the user tells what they exchange (`[calls.messages.CRATE]`): each is a code of its own, that
//! does one thing after the other.

use super::{Context, Lowerer};
use crate::items::resolve::{Namespace, Resolved, segments};
use ckpt_compiler::library::{CrateMessages, Exchange, MessageCall, MessageStep, Named, Waits};
use ckpt_safepoints::skeleton::call::{CallKind, CollectiveOrder, CommCall};
use ckpt_safepoints::skeleton::{
    CallOp, Code, ControlOp, MemoryOp, Outside, Pattern, TellsOn, ToldCode, ToldStep, ValueOp, Var,
};
use ckpt_safepoints::values::Value;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

/// A crate of which calls are told, and one of them.
type Told<'a> = (&'a CrateMessages, &'a MessageCall);

impl<'a> Lowerer<'a> {
    /// Calls what a path that is none of the program's may stand for; the arguments are on the stack. Nothing is done where
    /// nothing is told of it.
    pub(super) fn told_function(&mut self, path: &syn::ExprPath, count: usize) -> bool {
        let found = self.told_by(path);
        let codes: Vec<ToldCode> = found.iter().map(|one| self.told_code(*one, count)).collect();
        match &codes[..] {
            [] => return false,
            [only] => {
                self.op(CallOp::Function(only.code, count));
            }
            [one, other, ..] => {
                let why = format!(
                    "whether this is `{}` or `{}` cannot be told",
                    one.name, other.name
                );
                self.op(ControlOp::Opaque(why.into()));
                self.op(ValueOp::Tuple(count));
            }
        }
        true
    }

    /// The methods of this name; `count` has what they are called on as well.
    pub(super) fn told_methods(&mut self, name: &str, count: usize) -> Vec<ToldCode> {
        let found: Vec<Told<'a>> = self.told().filter(|(_, call)| last(call) == name).collect();
        found.into_iter().map(|one| self.told_code(one, count)).collect()
    }

    /// A function that is a value is called where that is not seen.
    pub(super) fn told_as_value(&mut self, path: &syn::ExprPath) {
        if let Some((of, call)) = self.told_by(path).first() {
            let name = shown(of, call);
            let why = format!("`{name}` is a value here, and where it is called is not followed");
            self.op(ControlOp::Opaque(why.into()));
        }
    }

    /// The same of one that a macro mentions of which nothing is known.
    pub(super) fn told_in_macro(&mut self, names: &BTreeSet<String>) {
        let found = self.told().find(|(_, call)| names.contains(last(call)));
        if let Some((of, call)) = found {
            let why = format!("`{}` is in a macro whose meaning is not known", shown(of, call));
            self.op(ControlOp::Opaque(why.into()));
        }
    }

    fn told(&self) -> impl Iterator<Item = Told<'a>> + use<'a> {
        let crates = self.facts.library.added().messages().iter();
        crates.flat_map(|one| one.calls.iter().map(move |call| (one, call)))
    }

    /// What a path may stand for. One that begins with the crate does if it ends so; of one that an import of everything or
    /// another module of the program may lead there, only the last name is known.
    fn told_by(&self, path: &syn::ExprPath) -> Vec<Told<'a>> {
        let mut found = Vec::new();
        if self.told().next().is_none() {
            return found;
        }
        let scope = self.function.body_scope;
        let names = segments(&path.path);
        if matches!(
            self.resolver.path(scope, &names, Namespace::Values),
            Resolved::Item(_)
        ) {
            return found;
        }
        let full = self.full_path(names.clone());
        let full: Vec<&str> = full
            .iter()
            .map(String::as_str)
            .filter(|name| *name != "::")
            .collect();
        let (Some(first), Some(name)) = (full.first(), full.last()) else {
            return found;
        };
        let is_here =
            |name: &str| self.resolver.path(scope, &[name.to_owned()], Namespace::Types) != Resolved::Outside;
        let is_own = matches!(*first, "crate" | "$crate" | "self" | "super" | "Self")
            || is_here(first)
            || names.first().is_some_and(|name| is_here(name));
        for (of, call) in self.told() {
            let ends_so = full
                .iter()
                .rev()
                .zip(call.path.iter().rev())
                .all(|(one, other)| one == other)
                && full.len() > call.path.len();
            let may_be = *name == last(call) && (is_own || path.qself.is_some() || self.imports_all_of(of));
            if *first == of.name && ends_so || may_be && (*first != of.name || path.qself.is_some()) {
                found.push((of, call));
            }
        }
        found
    }

    /// Whether everything of a crate, or of a module of the program, is imported here.
    fn imports_all_of(&self, of: &CrateMessages) -> bool {
        let items = &self.facts.items;
        let mut scope = Some(self.function.body_scope);
        while let Some(at) = scope {
            let one = items.scope(at);
            let leads_there = |path: &Vec<String>| {
                let first = path.iter().find(|name| *name != "::");
                first.is_some_and(|first| {
                    *first == of.name
                        || matches!(first.as_str(), "crate" | "self" | "super")
                        || self
                            .resolver
                            .path(at, std::slice::from_ref(first), Namespace::Types)
                            != Resolved::Outside
                })
            };
            if one.globs.iter().any(leads_there) {
                return true;
            }
            scope = one.parent.filter(|_| one.is_block);
        }
        false
    }

    fn told_code(&mut self, (of, call): Told<'a>, count: usize) -> ToldCode {
        let name: Rc<str> = shown(of, call).into();
        self.skeleton.codes.push(Code::default());
        self.contexts.push(Context {
            index: self.skeleton.codes.len() - 1,
            code: Code {
                name: name.to_string(),
                ..Code::default()
            },
            scopes: vec![HashMap::new()],
            targets: Vec::new(),
        });
        let parameters: Vec<usize> = (0..count).map(|_| self.slot()).collect();
        self.context().code.parameters = parameters
            .iter()
            .map(|slot| Pattern::Name(*slot, false, None))
            .collect();
        match arguments(call).find(|at| *at >= count) {
            Some(at) => {
                let why = format!("`{name}` has no argument {at} here, which `[calls.messages]` speaks of");
                self.op(ControlOp::Opaque(why.into()));
                self.push(Value::Unknown);
            }
            None => self.told_steps(of, call, &parameters),
        }
        self.op(ControlOp::Return);
        let code = self.finish();
        ToldCode {
            of: of.name.as_str().into(),
            name,
            code,
            on: tells_on(call),
        }
    }

    /// What the arguments are is looked at first: the call may write to them.
    fn told_steps(&mut self, of: &CrateMessages, call: &MessageCall, parameters: &[usize]) {
        let values: Vec<usize> = parameters
            .iter()
            .map(|slot| {
                self.op(MemoryOp::Load(here(*slot)));
                self.op(ValueOp::Deref);
                let value = self.slot();
                self.op(MemoryOp::Declare(value));
                value
            })
            .collect();
        for slot in parameters {
            self.op(MemoryOp::Load(here(*slot)));
        }
        self.op(CallOp::Outside(Rc::new(Outside {
            arguments: parameters.len(),
            ..Outside::default()
        })));
        let result = self.slot();
        self.op(MemoryOp::Declare(result));
        for step in &call.steps {
            let (rank, any) = match &step.what {
                Exchange::Send(rank) | Exchange::Collective(_, Some(rank)) => (Some(rank), false),
                Exchange::Receive(rank) => (Some(rank), *rank == Named::Any),
                _ => (None, false),
            };
            let comm = match &step.what {
                Exchange::Handle(comm) | Exchange::Duplicate(comm) => Some(comm),
                _ => step.comm.as_ref(),
            };
            self.told_value(of, comm, &values);
            if !matches!(step.what, Exchange::Handle(_)) {
                self.told_value(of, rank, &values);
                match &step.tag {
                    None => self.push(Value::Text(of.name.as_str().into())),
                    tag => self.told_value(of, tag.as_ref(), &values),
                }
                match step.into {
                    Some(at) => {
                        self.op(MemoryOp::Load(here(parameters[at])));
                    }
                    None => self.push(Value::Unit),
                }
                let call = comm_call(of, call, step);
                self.op(CallOp::Told(Rc::new(ToldStep { call, any })));
            }
            let is_made = matches!(step.what, Exchange::Handle(_) | Exchange::Duplicate(_));
            if is_made {
                self.op(CallOp::ToldHandle(of.name.as_str().into()));
            }
            if is_made || step.same && step.into.is_none() {
                self.op(MemoryOp::Declare(result));
            } else {
                self.op(ValueOp::Pop);
            }
        }
        self.op(MemoryOp::Load(here(result)));
    }

    fn told_value(&mut self, of: &CrateMessages, named: Option<&Named>, values: &[usize]) {
        match named {
            Some(Named::Argument(at)) => {
                self.op(MemoryOp::Load(here(values[*at])));
            }
            Some(Named::Number(number)) => self.push(Value::Int(i128::from(*number))),
            Some(Named::World) => self.push(Value::Comm(0)),
            Some(Named::Own(name)) => self.push(Value::Text(format!("{}::{name}", of.name).into())),
            Some(Named::Any) | None => self.push(Value::Unit),
        }
    }
}

fn here(slot: usize) -> Var {
    Var { up: 0, slot }
}

fn last(call: &MessageCall) -> &str {
    call.path.last().map_or("", String::as_str)
}

fn shown(of: &CrateMessages, call: &MessageCall) -> String {
    format!("{}::{}", of.name, call.path.join("::"))
}

/// The arguments that a call's entry speaks of.
fn arguments(call: &MessageCall) -> impl Iterator<Item = usize> + '_ {
    call.steps.iter().flat_map(|step| {
        let named = match &step.what {
            Exchange::Send(one)
            | Exchange::Receive(one)
            | Exchange::Handle(one)
            | Exchange::Duplicate(one) => Some(one),
            Exchange::Collective(_, root) => root.as_ref(),
        };
        let all = [named, step.comm.as_ref(), step.tag.as_ref()];
        let numbers = all.into_iter().flatten().filter_map(|one| match one {
            Named::Argument(at) => Some(*at),
            _ => None,
        });
        numbers.chain(step.into)
    })
}

/// Whether all communicators of a call, of a method that is, are arguments behind what it is called on.
fn tells_on(call: &MessageCall) -> TellsOn {
    let is_argument = |named: &Named| matches!(named, Named::Argument(at) if *at > 0);
    let told = |step: &MessageStep| match (&step.what, &step.comm) {
        (Exchange::Handle(comm) | Exchange::Duplicate(comm), _) | (_, Some(comm)) => is_argument(comm),
        (Exchange::Send(rank) | Exchange::Receive(rank), None) => is_argument(rank),
        (Exchange::Collective(..), None) => false,
    };
    match !call.steps.is_empty() && call.steps.iter().all(told) {
        true => TellsOn::Arguments,
        false => TellsOn::Receiver,
    }
}

fn comm_call(of: &CrateMessages, call: &MessageCall, step: &MessageStep) -> CommCall {
    let kind = match &step.what {
        Exchange::Send(_) => CallKind::Send,
        Exchange::Receive(_) => CallKind::Receive,
        Exchange::Collective(waits, _) => CallKind::Collective(match waits {
            Waits::All => CollectiveOrder::All,
            Waits::FromRoot => CollectiveOrder::FromRoot,
            Waits::ToRoot => CollectiveOrder::ToRoot,
            Waits::Below => CollectiveOrder::Below,
            Waits::Some => CollectiveOrder::Some,
        }),
        Exchange::Handle(_) | Exchange::Duplicate(_) => CallKind::Communicator,
    };
    let is_message = matches!(step.what, Exchange::Send(_) | Exchange::Receive(_));
    let of_kind = step.kind.as_ref().map(|kind| format!("{}::{kind}", of.name));
    CommCall {
        collective: of_kind.unwrap_or_else(|| shown(of, call)).into(),
        tag: (is_message && step.tag != Some(Named::Any)).then_some(0),
        into: step.into.map(|_| 1),
        same: step.same,
        ..CommCall::new(last(call), kind)
    }
}
