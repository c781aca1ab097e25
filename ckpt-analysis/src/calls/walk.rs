//! Goes over the body of a function once: what it calls, what its loops are, what it costs.

use super::look::{assigned_names, grown_names, statement_start};
use super::{Call, CallForm, CallGraph, CallId, InBlocks, Loop, LoopId, LoopKind, Results, Trap, Work};
use crate::items::amount::{Amount, Hop, Root, Shape};
use crate::items::comm_library::comm_model;
use crate::items::hints::Ty;
use crate::items::methods::{Methods, Signature};
use crate::items::resolve::Resolver;
use crate::items::{FnId, Function, SourceRange};
use crate::source::Program;
use ckpt_compiler::library::Library;
use proc_macro2::Span;
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{Block, Expr, Stmt};

/// What is known of a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    pub ty: Ty,
    /// What number it is.
    pub number: Amount,
    /// How many elements it has.
    pub length: Amount,
    /// What each of its elements is like; of something that can be called, what it gives.
    pub element: Option<Box<Shape>>,
    /// The parts of a tuple.
    pub parts: Vec<Shape>,
    /// The variable or field that it is, or is in.
    pub place: Option<(Root, Vec<Hop>)>,
    /// The closure that it is.
    pub closure: Option<LoopId>,
    /// The functions that it may be.
    pub functions: Vec<FnId>,
    /// The parameter that it is.
    pub parameter: Option<usize>,
    /// Closures that run when it is gone over.
    pub lazy: Vec<LoopId>,
}

impl Value {
    pub fn of(ty: Ty) -> Self {
        Self {
            ty,
            ..Self::default()
        }
    }

    pub fn number(number: Amount) -> Self {
        Self {
            ty: Ty::other("int", Vec::new()),
            number,
            ..Self::default()
        }
    }

    /// Something to go over.
    pub fn iterator(element: Ty, length: Amount) -> Self {
        Self {
            ty: Ty::iterator(element),
            length,
            ..Self::default()
        }
    }

    /// Of which this is known.
    pub fn shaped(ty: Ty, shape: Shape) -> Self {
        Self {
            length: array_length(&ty).unwrap_or(shape.length),
            ty,
            number: shape.number,
            element: shape.element,
            parts: shape.parts,
            place: shape.place,
            ..Self::default()
        }
    }

    /// Something that can be called and gives this.
    pub fn callable(output: &Value) -> Self {
        Self {
            ty: Ty::Callable(Box::new(output.ty.clone())),
            element: Some(Box::new(output.shape())),
            ..Self::default()
        }
    }

    /// What it gives when it is called; nothing for what cannot be.
    pub fn output(&self) -> Option<Value> {
        match &self.ty {
            Ty::Callable(output) => {
                let shape = self.element.as_deref().cloned().unwrap_or_default();
                Some(Value::shaped((**output).clone(), shape))
            }
            _ => None,
        }
    }

    /// What it is, or the other one: as far as numbers and lengths go.
    pub fn either(&mut self, other: Shape) {
        let own = std::mem::take(self);
        let shape = own.shape().either(other);
        *self = Value {
            closure: own.closure,
            functions: own.functions,
            parameter: own.parameter,
            lazy: own.lazy,
            ..Value::shaped(own.ty, shape)
        };
    }

    /// Its numbers and lengths.
    pub fn shape(&self) -> Shape {
        Shape {
            number: self.number.clone(),
            length: self.length.clone(),
            element: self.element.clone(),
            parts: self.parts.clone(),
            place: self.place.clone(),
        }
    }
}

/// What becomes of a closure that is called for each item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opening {
    /// The body of a loop.
    Turns,
    /// It stays a closure, and a site in it stands between blocks of items.
    Blocks(InBlocks),
}

impl Opening {
    pub fn in_blocks(self) -> Option<InBlocks> {
        match self {
            Self::Turns => None,
            Self::Blocks(what) => Some(what),
        }
    }
}

/// Goes over all functions.
pub fn build(library: &Library, program: &Program, resolver: &Resolver<'_>, methods: &Methods) -> CallGraph {
    let mut graph = CallGraph::default();
    let passes_messages = comm_model(resolver.items).is_some();
    for function in &resolver.items.functions {
        let default = Signature::default();
        let signature = methods.signatures.get(function.id.0).unwrap_or(&default);
        let mut walker = Walker {
            library,
            program,
            resolver,
            methods,
            function,
            signature,
            graph: &mut graph,
            body: Work::default(),
            results: Results::default(),
            in_closure: false,
            within: None,
            weight: 1.0,
            trap: None,
            arms: Vec::new(),
            branches: 0,
            locals: Vec::new(),
            opened: HashMap::new(),
            scopes: 0,
            passes_messages,
            assigned: assigned_names(library, &function.item.block),
            grown: grown_names(library, &function.item.block),
            statement: (function.body_at, function.place.line),
            depth: 0,
        };
        walker.function();
        let body = std::mem::take(&mut walker.body);
        let results = std::mem::take(&mut walker.results);
        graph.bodies.push(body);
        graph.results.push(results);
    }
    super::defaults::fields(&mut graph, resolver.items);
    super::resolve_values::tables(&mut graph, resolver, methods);
    super::resolve_values::variables(&mut graph, resolver.items);
    graph
}

pub(super) struct Walker<'a> {
    pub library: &'a Library,
    pub program: &'a Program,
    pub resolver: &'a Resolver<'a>,
    pub methods: &'a Methods,
    pub function: &'a Function,
    pub signature: &'a Signature,
    pub graph: &'a mut CallGraph,
    body: Work,
    results: Results,
    /// Whether what is returned is returned by a closure.
    pub in_closure: bool,
    pub within: Option<LoopId>,
    /// How often this is reached in one go through what is around it.
    pub weight: f64,
    pub trap: Option<Trap>,
    arms: Vec<(usize, usize)>,
    branches: usize,
    /// The closures, by their first byte, that can hold a site.
    pub opened: HashMap<usize, Opening>,
    /// How many closures of `thread::scope` are around this place: the threads that are started there can have sites.
    pub scopes: u32,
    /// Whether the program is one of several ranks.
    pub passes_messages: bool,
    locals: Vec<(String, Value)>,
    /// Names that are assigned to somewhere: their initial value says nothing.
    pub assigned: HashSet<String>,
    grown: HashSet<String>,
    /// Where the innermost statement outside of all loops begins, and its line.
    statement: (usize, usize),
    pub depth: usize,
}

impl<'a> Walker<'a> {
    fn function(&mut self) {
        let function = self.function;
        for (index, input) in function.item.sig.inputs.iter().enumerate() {
            let ty = self.signature.inputs.get(index).cloned().unwrap_or_default();
            let value = Value {
                parameter: Some(index),
                ..Value::shaped(ty, Shape::at(Root::Parameter(index), Vec::new()))
            };
            match input {
                syn::FnArg::Receiver(_) => self.declare("self", value),
                syn::FnArg::Typed(typed) => self.bind(&typed.pat, &value),
            }
        }
        let value = self.block(&function.item.block);
        self.take(&value);
        self.returned(&value);
    }

    /// A value that the function gives back.
    pub fn returned(&mut self, value: &Value) {
        let shape = value.shape();
        match shape.is_blank() {
            true => self.results.others = true,
            false => self.results.told.push(shape),
        }
    }

    pub fn declare(&mut self, name: &str, mut value: Value) {
        if self.assigned.contains(name) {
            // What it begins with is what it stays, unless the arguments of the program say otherwise.
            value.number = match value.number {
                Amount::Known(number) | Amount::Default(number) if number > 1.0 => Amount::Default(number),
                _ => Amount::Unknown,
            };
            value.parameter = None;
        }
        if self.grown.contains(name) || self.assigned.contains(name) {
            value = self.changed(value, self.grown.contains(name));
        }
        self.locals.push((name.to_owned(), value));
    }

    pub fn local(&self, name: &str) -> Option<&Value> {
        self.locals
            .iter()
            .rev()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }

    pub fn locals_mut(&mut self) -> &mut Vec<(String, Value)> {
        &mut self.locals
    }

    /// Names declared from here on are forgotten by [`Self::leave`].
    pub fn enter(&self) -> usize {
        self.locals.len()
    }

    pub fn leave(&mut self, mark: usize) {
        self.locals.truncate(mark);
    }

    pub fn work(&mut self) -> &mut Work {
        match self.within {
            Some(id) => &mut self.graph.loops[id.0].work,
            None => &mut self.body,
        }
    }

    /// Adds operations.
    pub fn spend(&mut self, operations: f64) {
        let weight = self.weight;
        self.work().own += weight * operations;
    }

    /// Adds operations for each of so many elements.
    pub fn spend_each(&mut self, operations: f64, length: &Amount) {
        let weight = self.weight;
        match length {
            Amount::Known(number) => self.work().own += weight * operations * number.max(0.0),
            other => {
                let bulk = (weight * operations, other.clone());
                self.work().bulk.push(bulk);
            }
        }
    }

    /// Does something that is reached only so often.
    pub fn with_weight<T>(&mut self, weight: f64, then: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.weight;
        self.weight *= weight;
        let value = then(self);
        self.weight = outer;
        value
    }

    /// The number of a new `if` or `match`.
    pub fn new_branch(&mut self) -> usize {
        self.branches += 1;
        self.branches
    }

    /// Does something in an arm of a branch.
    pub fn in_arm<T>(&mut self, arm: (usize, usize), weight: f64, then: impl FnOnce(&mut Self) -> T) -> T {
        self.arms.push(arm);
        let value = self.with_weight(weight, then);
        self.arms.pop();
        value
    }

    /// Does something in a place that no walk can enter.
    pub fn trapped<T>(&mut self, trap: Trap, then: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.trap.clone();
        self.trap.get_or_insert(trap);
        let value = then(self);
        self.trap = outer;
        value
    }

    pub fn place(&self, start: Span, end: Span) -> SourceRange {
        let file = self.function.place.file;
        let base = self.program.files.get(file.0).map_or(0, |file| file.base);
        let at = start.start();
        SourceRange {
            file,
            bytes: start.byte_range().start + base..end.byte_range().end + base,
            line: at.line,
            column: at.column,
        }
    }

    /// Does something in a new loop.
    pub fn in_loop(
        &mut self,
        kind: LoopKind,
        place: SourceRange,
        body_at: Option<Span>,
        trips: Amount,
        then: impl FnOnce(&mut Self),
    ) -> LoopId {
        let id = LoopId(self.graph.loops.len());
        let body_at = body_at.map(|open| self.place(open, open).bytes.end);
        let mut header = self.header(&place, body_at);
        if let (LoopKind::Each(name), true) = (&kind, header.starts_with(['|', 'm'])) {
            header = format!(".{name}({header} ..)");
        }
        let detached = kind == LoopKind::Closure;
        self.graph.loops.push(Loop {
            id,
            function: self.function.id,
            parent: self.within.filter(|_| !detached),
            kind,
            header,
            place,
            body_at,
            wraps: None,
            in_blocks: None,
            trips,
            weight: self.weight,
            arms: self.arms.clone(),
            trap: self.trap.clone(),
            work: Work::default(),
        });
        if !detached {
            self.work().loops.push(id);
        }
        let outer = (self.within.replace(id), std::mem::replace(&mut self.weight, 1.0));
        then(self);
        (self.within, self.weight) = outer;
        id
    }

    fn header(&self, place: &SourceRange, body_at: Option<usize>) -> String {
        let end = body_at.map_or(place.bytes.end, |at| at.saturating_sub(1));
        let text = self
            .program
            .files
            .get(place.file.0)
            .and_then(|file| file.text.get(place.bytes.start..end.max(place.bytes.start)))
            .unwrap_or_default();
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if line.chars().count() > 70 {
            let short: String = line.chars().take(67).collect();
            return format!("{short}...");
        }
        line
    }

    /// Enters a call of functions of the program.
    pub fn call(
        &mut self,
        callees: Vec<FnId>,
        certain: bool,
        form: CallForm,
        span: Span,
        arguments: &[Value],
    ) -> CallId {
        let id = CallId(self.graph.calls.len());
        self.lend(id, arguments);
        let passes = arguments
            .iter()
            .enumerate()
            .flat_map(|(index, value)| value.functions.iter().map(move |function| (index, *function)))
            .collect();
        let call = Call {
            id,
            caller: self.function.id,
            callees,
            certain,
            form,
            place: self.place(span, span),
            within: self.within,
            weight: self.weight,
            measured: Vec::new(),
            arms: self.arms.clone(),
            trap: self.trap.clone(),
            arguments: arguments.iter().map(Value::shape).collect(),
            passes,
            statement_at: self.statement.0,
            statement_line: self.statement.1,
        };
        self.graph.calls.push(call);
        self.work().calls.push(id);
        self.spend(3.0);
        id
    }

    /// Functions that something outside of the program is given to call, with these for arguments as far as that is known.
    pub fn handed(&mut self, arguments: &[Value], given: &[Value], span: Span) {
        for value in arguments {
            if !value.functions.is_empty() {
                let functions = value.functions.clone();
                self.trapped(Trap::Handed, |walker| {
                    walker.call(functions, true, CallForm::Unnamed, span, given);
                });
            }
            if let Some(closure) = value.closure {
                self.use_closure(closure);
            }
        }
    }

    /// A closure with a name is called, or may be.
    pub fn use_closure(&mut self, closure: LoopId) {
        let weight = self.weight;
        if self.within != Some(closure) {
            self.work().closures.push((closure, weight));
        }
    }

    /// Functions whose value is kept somewhere.
    pub fn take(&mut self, value: &Value) {
        self.graph.taken.extend(value.functions.iter().copied());
    }

    pub fn block(&mut self, block: &Block) -> Value {
        self.block_to(block, Self::eval)
    }

    /// A block whose last expression is looked at so.
    pub fn block_to(&mut self, block: &Block, at_end: impl FnOnce(&mut Self, &Expr) -> Value) -> Value {
        let mark = self.enter();
        let (end, before) = match block.stmts.split_last() {
            Some((Stmt::Expr(end, None), before)) => (Some(end), before),
            _ => (None, &block.stmts[..]),
        };
        let mut last = Value::default();
        for stmt in before {
            self.begin(stmt);
            last = self.stmt(stmt);
        }
        if let Some(end) = end {
            self.begin(&block.stmts[before.len()]);
            last = at_end(self, end);
        }
        self.leave(mark);
        last
    }

    fn begin(&mut self, stmt: &Stmt) {
        if self.within.is_none() && self.trap.is_none() {
            self.statement = self.start_of(stmt);
        }
    }

    fn start_of(&self, stmt: &Stmt) -> (usize, usize) {
        match statement_start(stmt) {
            Some(span) => {
                let place = self.place(span, span);
                (place.bytes.start, place.line)
            }
            None => self.statement,
        }
    }

    fn stmt(&mut self, stmt: &Stmt) -> Value {
        match stmt {
            Stmt::Local(local) => {
                self.local_statement(local);
                Value::default()
            }
            Stmt::Expr(expr, semicolon) => {
                let value = self.eval(expr);
                if semicolon.is_some() {
                    Value::default()
                } else {
                    value
                }
            }
            Stmt::Macro(one) => {
                let value = self.macro_call(&one.mac);
                if one.semi_token.is_some() {
                    Value::default()
                } else {
                    value
                }
            }
            Stmt::Item(_) => Value::default(),
        }
    }

    fn local_statement(&mut self, local: &syn::Local) {
        let Some(init) = &local.init else {
            self.bind(&local.pat, &Value::default());
            return;
        };
        self.spend(1.0);
        let value = match (&local.pat, &*init.expr) {
            (syn::Pat::Ident(_), Expr::Closure(closure)) => self.named_closure(closure),
            (_, expr) => self.eval(expr),
        };
        if let Some((_, diverge)) = &init.diverge {
            self.with_weight(0.01, |walker| walker.eval(diverge));
        }
        self.bind(&local.pat, &value);
    }

    /// `let f = |x| ..;`: costs nothing here, and something where it is called.
    fn named_closure(&mut self, closure: &syn::ExprClosure) -> Value {
        let place = self.place(closure.or1_token.span, closure.body.span());
        let mut output = Value::default();
        let id = self.trapped(Trap::Closure, |walker| {
            walker.in_loop(LoopKind::Closure, place, None, Amount::Known(1.0), |walker| {
                output = walker.closure_body(closure, &[]);
            })
        });
        Value {
            closure: Some(id),
            ..Value::callable(&output)
        }
    }

    /// The body of a closure whose parameters are bound to what it is given.
    pub fn closure_body(&mut self, closure: &syn::ExprClosure, given: &[Value]) -> Value {
        let mark = self.enter();
        let outside = std::mem::replace(&mut self.in_closure, true);
        for (index, pattern) in closure.inputs.iter().enumerate() {
            let value = given.get(index).cloned().unwrap_or_default();
            self.bind(pattern, &value);
        }
        let value = self.eval(&closure.body);
        self.in_closure = outside;
        self.leave(mark);
        value
    }
}

/// The length that a type says.
pub(super) fn array_length(ty: &Ty) -> Option<Amount> {
    match ty {
        Ty::Array(_, length) if *length != Amount::Unknown => Some(length.clone()),
        _ => None,
    }
}

/// The cost of a call of the standard library.
pub(super) fn outside_call(walker: &mut Walker<'_>, name: &str, length: &Amount) {
    walker.spend(walker.library.cost_of_call(name));
    if let Some(each) = walker.library.cost_per_element(name) {
        walker.spend_each(each, length);
    }
}
