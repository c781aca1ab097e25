//! Calls of functions and methods.

use super::expr::member;
use super::{Lowerer, determinacy};
use crate::items::Def;
use crate::items::resolve::{Namespace, Resolved, segments};
use ckpt_compiler::library::{Ending, Functions, Library, Methods, Numbers, Prelude, Threads};
use ckpt_compiler::syntax::language::is_integer_type;
use ckpt_compiler::syntax::places::place_root;
use ckpt_safepoints::skeleton::call::{CallKind, CommCall};
use ckpt_safepoints::skeleton::{
    Access, CallOp, ControlOp, ElementOrder, MemoryOp, Method, Op, Outside, StdFunction, StdMethod, ValueOp,
};
use ckpt_safepoints::values::Value;
use proc_macro2::Span;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

impl Lowerer<'_> {
    pub(super) fn call(&mut self, call: &ExprCall) {
        let Expr::Path(path) = &*call.func else {
            self.expr(&call.func);
            self.arguments(call);
            self.op(CallOp::Value(call.args.len()));
            return;
        };
        if let Some(name) = path.path.get_ident()
            && let Some((variable, _)) = self.variable(&name.to_string())
        {
            self.op(MemoryOp::Load(variable));
            self.arguments(call);
            self.at = self.note(path.span());
            let at = self.op(CallOp::Value(call.args.len()));
            let code = &mut self.context().code;
            if variable.up == 0
                && let Some(closure) = code.closures.get(&variable.slot)
            {
                code.told_calls.insert(at, *closure);
            }
            return;
        }
        let own = self.own_functions(path.span());
        if let [only] = &own[..] {
            self.given_arguments(call, *only);
            self.at = self.note(path.span());
            self.op(CallOp::Function(*only, call.args.len()));
            self.reorder_result(*only);
            return;
        }
        self.arguments(call);
        self.at = self.note(path.span());
        if self.told_function(path, call.args.len()) {
            return;
        }
        if !own.is_empty() {
            self.op(CallOp::Any(own));
        }
        self.outside(call, path);
    }

    fn outside(&mut self, call: &ExprCall, path: &syn::ExprPath) {
        let names = segments(&path.path);
        let last = super::patterns::last(&path.path);
        let count = call.args.len();
        let resolved = self
            .resolver
            .path(self.function.body_scope, &names, Namespace::Values);
        let is_tuple_struct = matches!(
            self.resolver
                .path(self.function.body_scope, &names, Namespace::Types),
            Resolved::Item(Def::Type(_))
        );
        if matches!(resolved, Resolved::Item(Def::Variant(_)))
            || is_tuple_struct
            || matches!(&*last, "Some" | "Ok" | "Err")
            || names == ["Self"]
        {
            let name = match names == ["Self"] {
                true => self.function.self_type.as_deref().unwrap_or("Self").into(),
                false => last,
            };
            let holds = self.holds_hashed(&name);
            self.op(ValueOp::Variant(name, count));
            if holds {
                self.reorder(ElementOrder::Lost);
            }
            return;
        }
        if self.library().ends(&last) && count <= 1 {
            self.op(ControlOp::End);
            (0..count).for_each(|_| {
                self.op(ValueOp::Pop);
            });
            self.push(Value::Unit);
            return;
        }
        let message = self.model.function(&names);
        let names = self.full_path(names);
        // `T::run(..)`: a function of the program, most likely.
        let is_outside = names.first().is_some_and(|first| {
            self.library().says(first, Prelude::Crates) || first == self.model.crate_name()
        });
        let perhaps = match names.len() {
            // A plain name that means nothing in this program.
            0 | 1 => self.named(&last, false),
            // Of a type or a trait: what is free is not that.
            _ => self.associated(&last),
        };
        if message.is_none() && !is_outside && !perhaps.is_empty() {
            self.op(CallOp::Any(perhaps));
        }
        let function = Outside {
            determinacy: determinacy::of_function(self.library(), &names),
            wraps: self.library().says(
                &names[names.len().saturating_sub(2)..].join("::"),
                Functions::Boxes,
            ),
            std: self.std_function(&names),
            path: names.into_iter().map(Rc::from).collect(),
            arguments: count,
            message,
        };
        self.op(CallOp::Outside(Rc::new(function)));
        self.reorder_given(&path.path);
    }

    /// What a function of the standard library is to the machine, the number types of the communication library told by theirs.
    fn std_function(&self, path: &[String]) -> StdFunction {
        let number = |name: &String| {
            self.model
                .number_type(name)
                .map_or_else(|| name.clone(), str::to_owned)
        };
        StdFunction::of_path(&path.iter().map(number).collect::<Vec<_>>())
    }

    /// A path with what its first name is imported from.
    pub(super) fn full_path(&self, names: Vec<String>) -> Vec<String> {
        let items = &self.facts.items;
        let mut scope = Some(self.function.body_scope);
        while let Some(at) = scope {
            let one = items.scope(at);
            if let Some(path) = names
                .first()
                .and_then(|first| one.uses.get(first))
                .and_then(|all| all.first())
            {
                return path.iter().cloned().chain(names.into_iter().skip(1)).collect();
            }
            scope = one.parent.filter(|_| one.is_block);
        }
        names
    }

    fn arguments(&mut self, call: &ExprCall) {
        for argument in &call.args {
            self.expr(argument);
        }
    }

    /// The arguments of a function of the program, which may write to what it is given.
    fn given_arguments(&mut self, call: &ExprCall, callee: usize) {
        for (index, argument) in call.args.iter().enumerate() {
            self.given(argument, callee, index);
        }
    }

    fn given(&mut self, argument: &Expr, callee: usize, index: usize) {
        match argument {
            Expr::Reference(one) if one.mutability.is_some() => {
                self.place(&one.expr, Access::Given(callee, index));
            }
            Expr::Path(_) => {
                self.place(argument, Access::Passed(callee, index));
            }
            other => self.expr(other),
        }
    }

    /// What is sent of a variable: `&x`, `&x.part`.
    fn name(&mut self, argument: &Expr) {
        let Expr::Reference(reference) = argument else {
            return;
        };
        let mut path: Vec<Rc<str>> = Vec::new();
        let mut place = &*reference.expr;
        while let Expr::Field(field) = place {
            path.insert(0, member(&field.member));
            place = &field.base;
        }
        let Expr::Path(root) = place else { return };
        let name = root.path.get_ident().map(ToString::to_string);
        if let Some((variable, _)) = name.and_then(|name| self.variable(&name)) {
            self.op(MemoryOp::Name(variable, path));
        }
    }

    /// The functions of the program that a call at this place may mean.
    fn own_functions(&self, span: Span) -> Vec<usize> {
        let key = (self.function.id, span.byte_range().start + self.base);
        let found = self.callees.get(&key);
        found.into_iter().flatten().map(|id| id.0).collect()
    }

    pub(super) fn method_call(&mut self, call: &ExprMethodCall) {
        let name: Rc<str> = call.method.to_string().into();
        if self.library().says(&name, Methods::Unwraps)
            && let Some(number) = self.converted(&call.receiver)
        {
            // Where it is none of the other type, the program ends.
            self.expr(number);
            self.op(ValueOp::Deref);
            return;
        }
        if self.library().says(&name, Ending::Each)
            && let Some(Expr::Closure(closure)) = call.args.first()
            && closure.inputs.len() == 1
        {
            self.for_each_closure(call, closure);
            return;
        }
        let own = self.own_functions(call.method.span());
        let message = if own.is_empty() {
            self.model.method(&name)
        } else {
            None
        };
        let pure = self.model.leaves_receiver(&name) || leaves_receiver(self.library(), &name);
        let access = match &own[..] {
            [] if pure || message.is_some() => Access::Never,
            [] => Access::Through,
            [only] => Access::Given(*only, 0),
            _ => Access::Written,
        };
        self.receiver(&call.receiver, access, own.is_empty().then_some(&*name));
        match &own[..] {
            [only] => {
                for (index, argument) in call.args.iter().enumerate() {
                    self.given(argument, *only, index + 1);
                }
            }
            _ => {
                for (index, argument) in call.args.iter().enumerate() {
                    let sends = |one: &Rc<CommCall>| one.kind == CallKind::Send && one.data == Some(index);
                    if message.as_ref().is_some_and(sends) {
                        self.name(argument);
                    }
                    self.expr(argument);
                }
            }
        }
        self.at = self.note(call.method.span());
        if self.library().says(&name, Methods::Ends) && own.is_empty() {
            self.op(ControlOp::End);
        }
        let result = own.first().copied();
        let functions = &self.facts.items.functions;
        let with_type = |id: usize| (id, functions[id].self_type.as_deref().map(Rc::from));
        let perhaps: Vec<usize> = match own.is_empty() {
            true => self.named(&name, true),
            false => Vec::new(),
        };
        let told = self.told_methods(&name, call.args.len() + 1);
        let method = Method {
            told,
            own: own.into_iter().map(with_type).collect(),
            perhaps: perhaps.into_iter().map(with_type).collect(),
            std: StdMethod::named(&name),
            lends: lends(self.library(), &name),
            exclusive: self.library().says(&name, Methods::Lends),
            keeps_length: self.library().says(&name, Methods::KeepsLength),
            starts_threads: self.library().says(&name, Threads::MayHaveSites),
            determinacy: determinacy::of_method(self.library(), &name),
            name,
            message,
            pure,
            unsigned: {
                let at = call.method.span().byte_range().start + self.base;
                self.facts.graph.unsigned.contains(&(self.function.id, at))
            },
            arguments: call.args.len(),
        };
        self.op(CallOp::Method(Rc::new(method)));
        match result {
            Some(own) => self.reorder_result(own),
            None => self.reorder_collected(call),
        }
    }

    /// The value on top is that of a function of the program.
    fn reorder_result(&mut self, own: usize) {
        let function = &self.facts.items.functions[own];
        if let syn::ReturnType::Type(_, ty) = &function.item.sig.output {
            self.reorder_type(ty);
        }
    }

    /// What is converted to a number of another type, if that succeeds: `x.try_into()`, `usize::try_from(x)`.
    fn converted<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        let library = self.library();
        match expr {
            Expr::Paren(inner) => self.converted(&inner.expr),
            Expr::MethodCall(call) => {
                let is = |what| library.says(&call.method.to_string(), what);
                let is_own = || !self.own_functions(call.method.span()).is_empty();
                if is(Methods::PassesSuccess) {
                    return self.converted(&call.receiver);
                }
                // A type of the program's own may be made of numbers.
                let from = || {
                    self.facts
                        .items
                        .functions
                        .iter()
                        .any(|one| is_conversion(library, &one.name))
                };
                (is(Methods::TriesToBe) && call.args.is_empty() && !is_own() && !from())
                    .then_some(&*call.receiver)
            }
            Expr::Call(call) => {
                let (Expr::Path(path), Some(only), 1) = (&*call.func, call.args.first(), call.args.len())
                else {
                    return None;
                };
                let names = segments(&path.path);
                let [.., of, last] = &names[..] else { return None };
                let is_integer = is_integer_type(of) || self.model.number_type(of).is_some();
                (is_conversion(library, last) && is_integer).then_some(only)
            }
            _ => None,
        }
    }

    /// The functions of the program that have this name: methods alone, or all.
    fn named(&self, name: &str, methods: bool) -> Vec<usize> {
        let functions = self.facts.items.functions.iter();
        functions
            .filter(|one| one.name == name && (one.has_receiver() || !methods))
            .map(|one| one.id.0)
            .collect()
    }

    /// The functions of types and traits of the program that have this name.
    fn associated(&self, name: &str) -> Vec<usize> {
        let functions = self.facts.items.functions.iter();
        functions
            .filter(|one| one.name == name && (one.of_impl.is_some() || one.of_trait.is_some()))
            .map(|one| one.id.0)
            .collect()
    }

    /// The receiver of a method, and the name of that unless it is one of the program.
    fn receiver(&mut self, receiver: &Expr, access: Access, method: Option<&str>) {
        let is_mut = match place_root(receiver) {
            Some(name) => self.variable(&name.to_string()).is_none_or(|(_, is_mut)| is_mut),
            None => false,
        };
        let access = match access {
            Access::Through if is_mut => Access::Written,
            other => other,
        };
        let place = self.place(receiver, access);
        let library = self.library();
        let says = |what| method.is_some_and(|name| library.says(name, what));
        let code = &mut self.context().code;
        if let Some(at) = place.filter(|_| says(Methods::ByKey))
            && matches!(&code.ops[at], Op::Memory(MemoryOp::Address(_, names, _)) if names.is_empty())
        {
            code.by_key.insert(at);
        }
        if says(Methods::KeepsLength) {
            self.of_elements(place);
        }
    }

    /// `iterator.for_each(|x| ..)` is a loop.
    fn for_each_closure(&mut self, call: &ExprMethodCall, closure: &syn::ExprClosure) {
        let over = &call.receiver;
        self.for_each(over, None, |lowerer, element| {
            let pattern = lowerer.irrefutable(&closure.inputs[0]);
            lowerer.op(MemoryOp::Bind(element, Rc::new(pattern)));
            lowerer.expr(&closure.body);
        });
    }
}

/// Whether a method of another crate, which is none of the communication library's, leaves its receiver as it is.
fn leaves_receiver(library: &Library, name: &str) -> bool {
    library.says(name, Methods::Leaves)
        || (library.is_pure(name) && !library.changes(name) && !library.borrows_mutably(name))
}

/// Whether a function of this name gives what it is given as a number of another type, where it is one.
fn is_conversion(library: &Library, name: &str) -> bool {
    library.says(name, Numbers::TriesFrom)
}

/// Whether a method may give an exclusive reference to its receiver, or to a part of it.
fn lends(library: &Library, method: &str) -> bool {
    library.says(method, Methods::MayLend) || library.borrows_mutably(method)
}
