//! Calls of functions and methods, and closures given to them.

use super::walk::{Opening, Value, Walker, outside_call};
use super::{CallForm, InBlocks, LoopKind, Trap, Wrapped, std_calls};
use crate::items::Def;
use crate::items::amount::{Amount, Root, Shape};
use crate::items::hints::{Ty, TypeKey};
use crate::items::methods::functions_of_path;
use crate::items::resolve::segments;
use ckpt_compiler::desugar::inlined_closures::{closures_of_call, functions_of_call, parameters_of_end};
use ckpt_compiler::desugar::parallel_blocks;
use ckpt_compiler::desugar::regions::{is_given_nothing, made_by, watchable};
use ckpt_compiler::library::{Teams, Threads};
use ckpt_compiler::syntax::language::is_unsigned_type;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{Expr, ExprCall, ExprMethodCall};

/// The type that `ckpt::team` gives.
const TEAM: &str = "ckpt::Team";

impl Walker<'_> {
    pub(super) fn call_expr(&mut self, call: &ExprCall) -> Value {
        match &*call.func {
            Expr::Path(path) => self.call_path(call, path),
            Expr::Paren(inner) if matches!(&*inner.expr, Expr::Path(_)) => {
                let mut bare = call.clone();
                bare.func = inner.expr.clone();
                self.call_nameless(&bare)
            }
            _ => self.call_nameless(call),
        }
    }

    /// `(self.rule)(x)`, `make()(x)`.
    fn call_nameless(&mut self, call: &ExprCall) -> Value {
        let function = self.eval(&call.func);
        let arguments = self.arguments(call.args.iter());
        if let Some(closure) = function.closure {
            self.use_closure(closure);
        }
        self.handed(&arguments, &[], call.paren_token.span.open());
        if function.closure.is_none() {
            let form = CallForm::Variable(String::new(), function.parameter);
            let functions = function.functions.clone();
            self.trapped(Trap::Nameless, |walker| {
                walker.call(functions, false, form, call.func.span(), &arguments);
            });
        }
        function.output().unwrap_or_default()
    }

    fn call_path(&mut self, call: &ExprCall, path: &syn::ExprPath) -> Value {
        if let Some(name) = path.path.get_ident()
            && let Some(local) = self.local(&name.to_string()).cloned()
        {
            return self.call_variable(call, &name.to_string(), local);
        }
        let scope = self.function.body_scope;
        let functions = functions_of_path(self.resolver, self.methods, scope, self.signature, path);
        let list = segments(&path.path);
        let span = path.span();
        match functions {
            Some(functions) if !functions.is_empty() => {
                let arguments = self.arguments(call.args.iter());
                let output = self.output_of(&functions);
                for argument in &arguments {
                    if let Some(closure) = argument.closure {
                        self.use_closure(closure);
                    }
                }
                let output = match (&output, list.len()) {
                    (Ty::Bounded(_), _) => self.generic_output(&functions, &arguments).unwrap_or(output),
                    _ => output,
                };
                let call = self.call(functions, true, CallForm::Path(list), span, &arguments);
                Value::shaped(output, Shape::at(Root::Result(call.0), Vec::new()))
            }
            _ => self.call_outside(call, path, &list),
        }
    }

    /// `fn f<T: A>(x: T) -> T`: the type of the argument.
    fn generic_output(&self, functions: &[crate::items::FnId], arguments: &[Value]) -> Option<Ty> {
        let signature = self.methods.signatures.get(functions.first()?.0)?;
        let same = |ty: &Ty| *ty == signature.output;
        let index = signature.inputs.iter().position(same)?;
        let ty = &arguments.get(index)?.ty;
        (*ty != Ty::Unknown).then(|| ty.clone())
    }

    fn call_variable(&mut self, call: &ExprCall, name: &str, local: Value) -> Value {
        let arguments = self.arguments(call.args.iter());
        self.spend(2.0);
        if let Some(closure) = local.closure {
            self.handed(&arguments, &[], call.func.span());
            self.use_closure(closure);
        } else {
            let form = CallForm::Variable(self.function.name_in_source(name), local.parameter);
            let functions = local.functions.clone();
            self.call(
                functions,
                !local.functions.is_empty(),
                form,
                call.func.span(),
                &arguments,
            );
        }
        local.output().unwrap_or_default()
    }

    fn call_outside(&mut self, call: &ExprCall, path: &syn::ExprPath, list: &[String]) -> Value {
        let last = list.last().map_or("", String::as_str);
        let arguments = self.arguments(call.args.iter());
        self.handed(&arguments, &[], path.span());
        let is_constructor = last.starts_with(char::is_uppercase);
        if is_constructor {
            self.spend(1.0);
        } else {
            outside_call(
                self,
                last,
                &arguments
                    .first()
                    .map(|one| one.length.clone())
                    .unwrap_or_default(),
            );
        }
        let first = arguments.first().cloned().unwrap_or_default();
        if let Some(Def::Type(id)) = self.type_of_path(&path.path) {
            for (index, value) in arguments.iter().enumerate() {
                self.set_field(id, &index.to_string(), value);
            }
            return Value::of(Ty::Named(TypeKey::Own(id), Vec::new()));
        }
        if let Some(owner) = self.owner_of(&path.path) {
            return match (&owner, last) {
                (Ty::Named(TypeKey::Other(name), arguments), _) => {
                    std_calls::constructed(self.library, name, last, arguments, first, self.last_length(call))
                }
                (Ty::Unknown, _) => std_calls::constructed_by_any(self.library, last, first),
                _ => Value::of(owner),
            };
        }
        if self.is_ckpt_team(list) {
            return Value::of(Ty::other(TEAM, Vec::new()));
        }
        if let Some(number) = std_calls::few_threads(list) {
            return Value {
                number,
                ..Value::default()
            };
        }
        match last {
            "Some" => {
                let shape = first.shape();
                Value::shaped(Ty::other("Option", vec![first.ty]), shape)
            }
            "Ok" => {
                let shape = first.shape();
                Value::shaped(Ty::other("Result", vec![first.ty]), shape)
            }
            _ if std_calls::gives_first(last) => first,
            _ => Value::default(),
        }
    }

    fn last_length(&self, _: &ExprCall) -> Amount {
        Amount::Unknown
    }

    /// The type in front of the last segment of a path.
    fn owner_of(&self, path: &syn::Path) -> Option<Ty> {
        if path.segments.len() < 2 {
            return None;
        }
        let mut owner = path.clone();
        owner.segments.pop();
        owner.segments.pop_punct();
        let last = owner.segments.last()?;
        if !last.ident.to_string().starts_with(char::is_uppercase) {
            return None;
        }
        Some(self.names().ty(&syn::Type::Path(syn::TypePath {
            qself: None,
            path: owner,
        })))
    }

    pub(super) fn arguments<'e>(&mut self, arguments: impl Iterator<Item = &'e Expr>) -> Vec<Value> {
        arguments.map(|argument| self.eval(argument)).collect()
    }

    pub(super) fn method_call(&mut self, call: &ExprMethodCall) -> Value {
        self.open(&closures_of_call(self.library, call));
        self.open_functions(&functions_of_call(self.library, call));
        self.open_blocks(call);
        let receiver = self.eval(&call.receiver);
        let name = call.method.to_string();
        let meaning = self
            .methods
            .method(self.resolver, &receiver.ty, &name, call.args.len());
        let span = call.method.span();
        if !meaning.functions.is_empty() {
            let mut arguments = vec![receiver];
            arguments.extend(self.arguments(call.args.iter()));
            for argument in &arguments[1..] {
                if let Some(closure) = argument.closure {
                    self.use_closure(closure);
                }
            }
            let output = self.output_of(&meaning.functions);
            let call = self.call(
                meaning.functions,
                meaning.certain,
                CallForm::Method(name),
                span,
                &arguments,
            );
            return Value::shaped(output, Shape::at(Root::Result(call.0), Vec::new()));
        }
        self.outside_method(call, receiver, &name, span)
    }

    /// `ckpt::team`, or `team` where that is imported.
    fn is_ckpt_team(&self, path: &[String]) -> bool {
        let file = self.program.file(self.function.place.file);
        let makes = |name: &str| self.library.says(name, Teams::Makes);
        match path {
            [of, name] => of == "ckpt" && makes(name),
            [name] => makes(name) && [name, "*"].iter().any(|one| file.names(&["ckpt", one])),
            _ => false,
        }
    }

    fn outside_method(&mut self, call: &ExprMethodCall, receiver: Value, name: &str, span: Span) -> Value {
        if receiver.ty.outside_name().is_some_and(is_unsigned_type) {
            let at = self.place(span, span).bytes.start;
            self.graph.unsigned.insert((self.function.id, at));
        }
        let runs = self.library.calls_for_each(name)
            && call
                .args
                .iter()
                .any(|one| matches!(one, Expr::Closure(_) | Expr::Path(_)))
            && !matches!(receiver.ty.outside_name(), Some("Option" | "Result" | "Bounded"));
        let is_team = receiver.ty.outside_name() == Some(TEAM);
        let starts = self.library.says(name, Threads::Starts);
        let mut arguments = Vec::new();
        for argument in &call.args {
            let value = match argument {
                Expr::Closure(closure) if runs => self.each(&receiver, name, closure),
                body if starts && watchable::in_method_call(self.library, call).is_some() => {
                    self.started(body)
                }
                body if self.is_body_in_scope(name, body) => self.started(body),
                Expr::Closure(_)
                    if is_team
                        && (self.library.says(name, Teams::Runs)
                            || self.library.says(name, Teams::RunsOn)) =>
                {
                    self.started(argument)
                }
                Expr::Closure(closure) => self.once(&receiver, closure),
                Expr::Path(path) if runs && self.is_opened(path) => self.each_by_name(&receiver, name, path),
                other => self.eval(other),
            };
            arguments.push(value);
        }
        if runs
            && arguments
                .iter()
                .any(|one| !one.functions.is_empty() || one.closure.is_some())
        {
            let place = self.place(span, span);
            let item = self.item(&receiver);
            self.in_loop(
                LoopKind::Each(name.to_owned()),
                place,
                None,
                receiver.length.clone(),
                |walker| {
                    walker.handed(&arguments, &[item], span);
                },
            );
        } else {
            self.handed(&arguments, &[], span);
        }
        self.changes_length(&receiver, name, &arguments);
        let length = std_calls::gone_over(name, &receiver, &arguments).clone();
        outside_call(self, name, &length);
        if let Some(ty) = receiver.ty.outside_name() {
            self.spend(self.library.cost_of_look_up(ty));
        }
        let turbofish = call.turbofish.as_ref().and_then(|list| match list.args.first() {
            Some(syn::GenericArgument::Type(ty)) => Some(self.names().ty(ty)),
            _ => None,
        });
        let lazy = if self.library.adapts(name) {
            let of_arguments = arguments.iter().flat_map(|one| &one.lazy);
            receiver.lazy.iter().chain(of_arguments).copied().collect()
        } else {
            Vec::new()
        };
        let output = std_calls::method(self, receiver, name, &arguments, turbofish);
        Value { lazy, ..output }
    }

    /// A closure that is called for every element.
    fn each(&mut self, receiver: &Value, name: &str, closure: &syn::ExprClosure) -> Value {
        let item = self.item(receiver);
        let given = std_calls::given_to_closure(name, item);
        let place = self.place(closure.or1_token.span, closure.body.span());
        let mut output = Value::default();
        let opening = self.opened.get(&place.bytes.start).copied();
        let is_open = opening.is_some();
        let body_at = match &*closure.body {
            Expr::Block(body) if is_open => Some(body.block.brace_token.span.open()),
            _ => None,
        };
        let trips = receiver.length.clone();
        let each = |walker: &mut Self| {
            walker.in_loop(LoopKind::Each(name.to_owned()), place, body_at, trips, |walker| {
                output = walker.opened_as(opening, |walker| walker.closure_body(closure, &given));
            })
        };
        let id = if is_open {
            each(self)
        } else {
            self.trapped(Trap::Closure, each)
        };
        self.graph.loops[id.0].in_blocks = opening.and_then(Opening::in_blocks);
        if is_open && body_at.is_none() {
            let body = self.place(closure.body.span(), closure.body.span()).bytes;
            let one = &mut self.graph.loops[id.0];
            let (end, given) = (body.end, 0);
            (one.body_at, one.wraps) = (Some(body.start), Some(Wrapped { end, given }));
        }
        Value {
            lazy: vec![id],
            ..Value::callable(&output)
        }
    }

    /// Closures that become the bodies of loops. In a program that passes messages they stay closed: the items of a rank
    /// are its own, and the ranks would come to a site among them differently often.
    pub(super) fn open(&mut self, closures: &[&syn::ExprClosure]) {
        if self.passes_messages {
            return;
        }
        for closure in closures {
            let place = self.place(closure.or1_token.span, closure.body.span());
            self.opened.insert(place.bytes.start, Opening::Turns);
        }
    }

    /// Closures and functions of a parallel iterator that can be cut into blocks. Not among the threads of a region: they
    /// would come to a site differently often.
    fn open_blocks(&mut self, call: &ExprMethodCall) {
        if self.passes_messages || self.scopes > 0 || self.trap.is_some() {
            return;
        }
        let what = match parallel_blocks::depends_on_parts(self.library, call) {
            true => InBlocks::OfParts,
            false => InBlocks::Exact,
        };
        for closure in parallel_blocks::closures_of_call(self.library, call) {
            let place = self.place(closure.or1_token.span, closure.body.span());
            self.opened.insert(place.bytes.start, Opening::Blocks(what));
        }
        for path in parallel_blocks::functions_of_call(self.library, call) {
            self.open_function(path, Opening::Blocks(what));
        }
    }

    fn open_function(&mut self, path: &syn::ExprPath, opening: Opening) {
        let local = |name: &proc_macro2::Ident| self.local(&name.to_string()).is_some();
        if !path.path.get_ident().is_some_and(local) {
            let place = self.place(path.span(), path.span());
            self.opened.insert(place.bytes.start, opening);
        }
    }

    /// Does what is done for an item, which threads of the pool do if the items are in blocks.
    fn opened_as<T>(&mut self, opening: Option<Opening>, then: impl FnOnce(&mut Self) -> T) -> T {
        match opening {
            Some(Opening::Blocks(_)) => self.trapped(Trap::Pool, then),
            _ => then(self),
        }
    }

    /// The same for functions that are given by their names.
    pub(super) fn open_functions(&mut self, functions: &[&syn::ExprPath]) {
        if self.passes_messages {
            return;
        }
        for path in functions {
            self.open_function(path, Opening::Turns);
        }
    }

    fn is_opened(&self, path: &syn::ExprPath) -> bool {
        let start = self.place(path.span(), path.span()).bytes.start;
        self.opened.contains_key(&start)
    }

    /// A function that is called for every element.
    fn each_by_name(&mut self, receiver: &Value, name: &str, path: &syn::ExprPath) -> Value {
        let function = self.eval(&Expr::Path(path.clone()));
        if function.functions.is_empty() {
            return function;
        }
        let item = self.item(receiver);
        let output = self.output_of(&function.functions);
        let place = self.place(path.span(), path.span());
        let (bytes, trips) = (place.bytes.clone(), receiver.length.clone());
        let form = CallForm::Path(segments(&path.path));
        let opening = self.opened.get(&bytes.start).copied();
        let mut given = Value::of(output);
        let id = self.in_loop(LoopKind::Each(name.to_owned()), place, None, trips, |walker| {
            walker.opened_as(opening, |walker| {
                let call = walker.call(function.functions, true, form, path.span(), &[item]);
                let ty = std::mem::take(&mut given.ty);
                given = Value::shaped(ty, Shape::at(Root::Result(call.0), Vec::new()));
            });
        });
        let one = &mut self.graph.loops[id.0];
        one.in_blocks = opening.and_then(Opening::in_blocks);
        let (end, parameters) = (bytes.end, parameters_of_end(self.library, name));
        let wrapped = Wrapped {
            end,
            given: parameters,
        };
        (one.body_at, one.wraps) = (Some(bytes.start), Some(wrapped));
        one.header = format!(".{name}({})", one.header);
        Value {
            lazy: vec![id],
            ..Value::callable(&given)
        }
    }

    /// A closure that is called once at most, as far as anyone knows.
    fn once(&mut self, receiver: &Value, closure: &syn::ExprClosure) -> Value {
        let given = match receiver.ty.outside_name() {
            Some("Option" | "Result") => std_calls::unwrapped(receiver.clone()),
            _ => Value::default(),
        };
        let output = self.trapped(Trap::Closure, |walker| walker.closure_body(closure, &[given]));
        Value::callable(&output)
    }

    /// Whether `s.spawn(body)` has this body in a scope.
    fn is_body_in_scope(&self, name: &str, body: &Expr) -> bool {
        self.scopes > 0
            && self.library.says(name, Threads::Starts)
            && made_by(body).is_some_and(is_given_nothing)
    }

    /// A thread is started with this body.
    fn started(&mut self, body: &Expr) -> Value {
        Value::callable(&self.body_of_thread(body))
    }

    /// The body of a thread: a closure, or a block that makes one.
    pub(super) fn body_of_thread(&mut self, body: &Expr) -> Value {
        match body {
            Expr::Closure(closure) => self.closure_body(closure, &[]),
            Expr::Block(block) => self.block_to(&block.block, Self::body_of_thread),
            other => self.eval(other),
        }
    }

    /// What an iteration over a value gives, with its numbers and lengths.
    pub(super) fn item(&self, of: &Value) -> Value {
        let mut shape = of.shape().element();
        if shape.number == Amount::Unknown || of.ty.is_iterator() && of.number != Amount::Unknown {
            shape.number = of.number.clone();
        }
        Value::shaped(self.element(of), shape)
    }

    /// The type of what an iteration over a value gives.
    pub(super) fn element(&self, value: &Value) -> Ty {
        if let Ty::Named(key @ TypeKey::Own(_), _) = &value.ty {
            return self.methods.associated(key, "Item").cloned().unwrap_or_default();
        }
        value.ty.element(self.library)
    }
}
