//! Goes over the body of a function once: what it calls, what its loops are, what it costs.

use super::{Call, CallForm, CallGraph, CallId, FieldFact, Loop, LoopId, LoopKind, Trap, Work};
use crate::package::amount::{Amount, Operation};
use crate::package::hints::Ty;
use crate::package::items::{FnId, Function, Place};
use crate::package::library;
use crate::package::methods::{Methods, Signature};
use crate::package::resolve::Resolver;
use crate::package::source::Program;
use proc_macro2::Span;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Block, Expr, Stmt};

/// Expressions nested deeper than this are not looked into.
const DEEPEST: usize = 200;

/// What is known of a value.
#[derive(Debug, Clone, Default)]
pub(super) struct Value {
    pub ty: Ty,
    /// What number it is.
    pub number: Amount,
    /// How many elements it has.
    pub length: Amount,
    /// The closure that it is.
    pub closure: Option<LoopId>,
    /// The functions that it may be.
    pub functions: Vec<FnId>,
    /// The parameter that it is.
    pub parameter: Option<usize>,
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
            ty: Ty::other("Iterator", vec![element]),
            length,
            ..Self::default()
        }
    }
}

/// Goes over all functions.
pub fn build(program: &Program, resolver: &Resolver<'_>, methods: &Methods) -> CallGraph {
    let mut graph = CallGraph::default();
    for function in &resolver.items.functions {
        let default = Signature::default();
        let signature = methods.signatures.get(function.id.0).unwrap_or(&default);
        let mut walker = Walker {
            program,
            resolver,
            methods,
            function,
            signature,
            graph: &mut graph,
            body: Work::default(),
            within: None,
            weight: 1.0,
            trap: None,
            locals: Vec::new(),
            assigned: assigned_names(&function.item.block),
            statement_at: function.body_at,
            depth: 0,
        };
        walker.function();
        let body = std::mem::take(&mut walker.body);
        graph.bodies.push(body);
    }
    super::resolve_values::tables(&mut graph, resolver, methods);
    super::resolve_values::variables(&mut graph, resolver.items);
    graph
}

pub(super) struct Walker<'a> {
    pub program: &'a Program,
    pub resolver: &'a Resolver<'a>,
    pub methods: &'a Methods,
    pub function: &'a Function,
    pub signature: &'a Signature,
    pub graph: &'a mut CallGraph,
    body: Work,
    pub within: Option<LoopId>,
    /// How often this is reached in one go through what is around it.
    pub weight: f64,
    pub trap: Option<Trap>,
    locals: Vec<(String, Value)>,
    /// Names that are assigned to somewhere: their initial value says nothing.
    pub assigned: HashSet<String>,
    statement_at: usize,
    depth: usize,
}

impl<'a> Walker<'a> {
    fn function(&mut self) {
        let function = self.function;
        for (index, input) in function.item.sig.inputs.iter().enumerate() {
            let ty = self.signature.inputs.get(index).cloned().unwrap_or_default();
            let value = Value {
                length: array_length(&ty).unwrap_or(Amount::LengthOf(index)),
                ty,
                number: Amount::Parameter(index),
                parameter: Some(index),
                ..Value::default()
            };
            match input {
                syn::FnArg::Receiver(_) => self.declare("self", value),
                syn::FnArg::Typed(typed) => self.bind(&typed.pat, &value),
            }
        }
        self.block(&function.item.block);
    }

    pub fn declare(&mut self, name: &str, mut value: Value) {
        if self.assigned.contains(name) {
            value.number = Amount::Unknown;
            value.parameter = None;
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

    /// Does something in a place that no walk can enter.
    pub fn trapped<T>(&mut self, trap: Trap, then: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.trap.clone();
        self.trap.get_or_insert(trap);
        let value = then(self);
        self.trap = outer;
        value
    }

    pub fn place(&self, start: Span, end: Span) -> Place {
        let file = self.function.place.file;
        let base = self.program.files.get(file.0).map_or(0, |file| file.base);
        let at = start.start();
        Place {
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
        place: Place,
        body_at: Option<Span>,
        trips: Amount,
        then: impl FnOnce(&mut Self),
    ) -> LoopId {
        let id = LoopId(self.graph.loops.len());
        let body_at = body_at.map(|open| self.place(open, open).bytes.end);
        let header = self.header(&place, body_at);
        let detached = kind == LoopKind::Closure;
        self.graph.loops.push(Loop {
            id,
            function: self.function.id,
            parent: self.within.filter(|_| !detached),
            kind,
            header,
            place,
            body_at,
            trips,
            weight: self.weight,
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

    fn header(&self, place: &Place, body_at: Option<usize>) -> String {
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
    ) {
        let id = CallId(self.graph.calls.len());
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
            trap: self.trap.clone(),
            arguments: arguments
                .iter()
                .map(|one| (one.number.clone(), one.length.clone()))
                .collect(),
            passes,
            statement_at: self.statement_at,
        };
        self.graph.calls.push(call);
        self.work().calls.push(id);
        self.spend(3.0);
    }

    /// Functions that something outside of the program is given to call.
    pub fn handed(&mut self, arguments: &[Value], span: Span) {
        for value in arguments {
            if !value.functions.is_empty() {
                let functions = value.functions.clone();
                self.trapped(Trap::Handed, |walker| {
                    walker.call(functions, true, CallForm::Unnamed, span, &[]);
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

    pub fn field_fact(&mut self, fact: FieldFact) {
        self.graph.fields.push(fact);
    }

    pub fn block(&mut self, block: &Block) -> Value {
        let mark = self.enter();
        let mut last = Value::default();
        for stmt in &block.stmts {
            if self.within.is_none() && self.trap.is_none() {
                self.statement_at = self.start_of(stmt);
            }
            last = self.stmt(stmt);
        }
        self.leave(mark);
        last
    }

    fn start_of(&self, stmt: &Stmt) -> usize {
        match statement_start(stmt) {
            Some(span) => self.place(span, span).bytes.start,
            None => self.statement_at,
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
            ty: Ty::Callable(Box::new(output.ty)),
            closure: Some(id),
            ..Value::default()
        }
    }

    /// The body of a closure whose parameters are bound to what it is given.
    pub fn closure_body(&mut self, closure: &syn::ExprClosure, given: &[Value]) -> Value {
        let mark = self.enter();
        for (index, pattern) in closure.inputs.iter().enumerate() {
            let value = given.get(index).cloned().unwrap_or_default();
            self.bind(pattern, &value);
        }
        let value = self.eval(&closure.body);
        self.leave(mark);
        value
    }

    /// What an expression is worth; everything in it is entered once.
    pub fn eval(&mut self, expr: &Expr) -> Value {
        if self.depth >= DEEPEST {
            return Value::default();
        }
        self.depth += 1;
        let value = self.expr(expr);
        self.depth -= 1;
        value
    }

    fn expr(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::Lit(_) | Expr::Path(_) | Expr::Field(_) | Expr::Index(_) | Expr::Struct(_) => {
                self.place_expr(expr)
            }
            Expr::Paren(inner) => self.eval(&inner.expr),
            Expr::Group(inner) => self.eval(&inner.expr),
            Expr::Reference(inner) => self.eval(&inner.expr),
            Expr::RawAddr(inner) => self.eval(&inner.expr),
            Expr::Unary(unary) => self.unary(unary),
            Expr::Binary(_) => self.binary(expr),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Assign(assign) => self.assign(assign),
            Expr::Call(call) => self.call_expr(call),
            Expr::MethodCall(call) => self.method_call(call),
            Expr::Macro(one) => self.macro_call(&one.mac),
            Expr::Block(block) => self.block(&block.block),
            Expr::Unsafe(block) => self.block(&block.block),
            Expr::Const(block) => self.block(&block.block),
            Expr::If(branch) => self.branch(branch),
            Expr::Match(one) => self.match_expr(one),
            Expr::Let(one) => {
                let value = self.eval(&one.expr);
                self.bind(&one.pat, &value);
                Value::of(Ty::other("bool", Vec::new()))
            }
            Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => self.loop_expr(expr),
            Expr::Closure(closure) => self.trapped(Trap::Closure, |walker| {
                let output = walker.closure_body(closure, &[]);
                Value::of(Ty::Callable(Box::new(output.ty)))
            }),
            Expr::Async(block) => self.trapped(Trap::Async, |walker| walker.block(&block.block)),
            Expr::Try(inner) => {
                let value = self.eval(&inner.expr);
                super::std_types::unwrapped(value)
            }
            Expr::Await(inner) => self.eval(&inner.base),
            Expr::Tuple(tuple) => {
                let parts = tuple.elems.iter().map(|part| self.stored(part).ty).collect();
                Value::of(Ty::Tuple(parts))
            }
            Expr::Array(array) => {
                let mut element = Ty::Unknown;
                for part in &array.elems {
                    let ty = self.stored(part).ty;
                    if element == Ty::Unknown {
                        element = ty;
                    }
                }
                let length = Amount::Known(array.elems.len() as f64);
                Value {
                    ty: Ty::Array(Box::new(element), length.clone()),
                    length,
                    ..Value::default()
                }
            }
            Expr::Repeat(repeat) => {
                let element = self.eval(&repeat.expr);
                let length = self.eval(&repeat.len).number;
                self.spend_each(0.3, &length);
                Value {
                    ty: Ty::Array(Box::new(element.ty), length.clone()),
                    length,
                    ..Value::default()
                }
            }
            Expr::Range(range) => self.range(range),
            Expr::Return(syn::ExprReturn {
                expr: Some(value), ..
            })
            | Expr::Break(syn::ExprBreak {
                expr: Some(value), ..
            })
            | Expr::Yield(syn::ExprYield {
                expr: Some(value), ..
            }) => {
                self.stored(value);
                Value::default()
            }
            Expr::TryBlock(block) => self.block(&block.block),
            _ => Value::default(),
        }
    }

    /// A value that goes where it cannot be followed.
    pub fn stored(&mut self, expr: &Expr) -> Value {
        let value = self.eval(expr);
        self.take(&value);
        if let Some(closure) = value.closure {
            self.use_closure(closure);
        }
        value
    }

    fn cast(&mut self, cast: &syn::ExprCast) -> Value {
        let value = self.eval(&cast.expr);
        Value {
            ty: self.names().ty(&cast.ty),
            ..value
        }
    }

    fn branch(&mut self, branch: &syn::ExprIf) -> Value {
        let mark = self.enter();
        self.spend(1.0);
        self.eval(&branch.cond);
        let rarely = likelihood(
            &branch.cond,
            &branch.then_branch,
            branch.else_branch.as_ref().map(|(_, e)| &**e),
        );
        let mut value = self.with_weight(rarely, |walker| walker.block(&branch.then_branch));
        self.leave(mark);
        if let Some((_, otherwise)) = &branch.else_branch {
            let other = self.with_weight(1.0 - rarely, |walker| walker.eval(otherwise));
            if value.ty == Ty::Unknown {
                value.ty = other.ty;
            }
            value.functions.extend(other.functions);
            if value.number != other.number {
                value.number = Amount::Unknown;
            }
        }
        value
    }

    fn match_expr(&mut self, one: &syn::ExprMatch) -> Value {
        self.spend(1.0);
        let scrutinee = self.eval(&one.expr);
        let live = one.arms.iter().filter(|arm| !diverges(&arm.body)).count().max(1);
        let mut value = Value::default();
        for (index, arm) in one.arms.iter().enumerate() {
            let mark = self.enter();
            self.bind(&arm.pat, &scrutinee);
            let weight = if diverges(&arm.body) {
                0.01
            } else {
                1.0 / live as f64
            };
            let other = self.with_weight(weight, |walker| {
                if let Some((_, guard)) = &arm.guard {
                    walker.eval(guard);
                }
                walker.eval(&arm.body)
            });
            if value.ty == Ty::Unknown {
                value.ty = other.ty;
            }
            value.functions.extend(other.functions);
            if index == 0 {
                value.number = other.number;
            } else if value.number != other.number {
                value.number = Amount::Unknown;
            }
            self.leave(mark);
        }
        value
    }

    fn range(&mut self, range: &syn::ExprRange) -> Value {
        let start = range.start.as_ref().map(|one| self.eval(one).number);
        let end = range.end.as_ref().map(|one| self.eval(one).number);
        let start = start.unwrap_or(Amount::Known(0.0));
        let length = match (end, &range.limits) {
            (Some(end), syn::RangeLimits::HalfOpen(_)) => {
                Amount::two(Operation::Subtract, end, start.clone())
            }
            (Some(end), syn::RangeLimits::Closed(_)) => {
                let last = Amount::two(Operation::Add, end, Amount::Known(1.0));
                Amount::two(Operation::Subtract, last, start.clone())
            }
            (None, _) => Amount::Unknown,
        };
        // What the variable of a loop over it is on average.
        let half = Amount::two(Operation::Divide, length.clone(), Amount::Default(2.0));
        Value {
            number: Amount::two(Operation::Add, start, half),
            ..Value::iterator(Ty::other("int", Vec::new()), length)
        }
    }
}

/// How likely the first branch is taken.
fn likelihood(condition: &Expr, then: &Block, otherwise: Option<&Expr>) -> f64 {
    let leaves = |block: &Block| block.stmts.last().is_some_and(stmt_diverges);
    if leaves(then) {
        return 0.02;
    }
    if otherwise.is_some_and(diverges) {
        return 0.98;
    }
    struct Modulo(bool);
    impl<'ast> Visit<'ast> for Modulo {
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            self.0 |= matches!(binary.op, syn::BinOp::Rem(_));
            visit::visit_expr_binary(self, binary);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.0 |= call.method == "is_multiple_of";
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    }
    let mut modulo = Modulo(false);
    modulo.visit_expr(condition);
    if modulo.0 && otherwise.is_none() { 0.1 } else { 0.5 }
}

/// Whether control does not come out behind it, as far as a look tells.
fn diverges(expr: &Expr) -> bool {
    match expr {
        Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => true,
        Expr::Block(block) => block.block.stmts.last().is_some_and(stmt_diverges),
        Expr::Macro(one) => is_panic(&one.mac),
        Expr::Call(call) => matches!(&*call.func, Expr::Path(path)
            if path.path.segments.last().is_some_and(|last| last.ident == "exit" || last.ident == "abort")),
        _ => false,
    }
}

fn stmt_diverges(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Expr(expr, _) => diverges(expr),
        Stmt::Macro(one) => is_panic(&one.mac),
        _ => false,
    }
}

fn is_panic(mac: &syn::Macro) -> bool {
    let panics = ["panic", "unreachable", "todo", "unimplemented", "bail"];
    mac.path
        .segments
        .last()
        .is_some_and(|last| panics.iter().any(|name| last.ident == name))
}

/// The first token of a statement; nothing for an item.
pub fn statement_start(stmt: &Stmt) -> Option<Span> {
    Some(match stmt {
        Stmt::Local(local) => local
            .attrs
            .first()
            .map_or(local.let_token.span, |one| one.pound_token.span),
        Stmt::Item(_) => return None,
        Stmt::Expr(expr, _) => leftmost(expr),
        Stmt::Macro(one) => one.mac.path.span(),
    })
}

/// The first token of an expression.
fn leftmost(expr: &Expr) -> Span {
    let attributes = match expr {
        Expr::If(one) => &one.attrs[..],
        Expr::Match(one) => &one.attrs,
        Expr::ForLoop(one) => &one.attrs,
        Expr::While(one) => &one.attrs,
        Expr::Loop(one) => &one.attrs,
        Expr::Block(one) => &one.attrs,
        _ => &[],
    };
    if let Some(first) = attributes.first() {
        return first.pound_token.span;
    }
    let label =
        |label: &Option<syn::Label>, token: Span| label.as_ref().map_or(token, |one| one.name.apostrophe);
    match expr {
        Expr::If(one) => one.if_token.span,
        Expr::Match(one) => one.match_token.span,
        Expr::ForLoop(one) => label(&one.label, one.for_token.span),
        Expr::While(one) => label(&one.label, one.while_token.span),
        Expr::Loop(one) => label(&one.label, one.loop_token.span),
        Expr::Block(one) => label(&one.label, one.block.brace_token.span.open()),
        Expr::Unsafe(one) => one.unsafe_token.span,
        Expr::Assign(one) => leftmost(&one.left),
        Expr::Binary(one) => leftmost(&one.left),
        Expr::MethodCall(one) => leftmost(&one.receiver),
        Expr::Call(one) => leftmost(&one.func),
        Expr::Field(one) => leftmost(&one.base),
        Expr::Index(one) => leftmost(&one.expr),
        Expr::Try(one) => leftmost(&one.expr),
        Expr::Cast(one) => leftmost(&one.expr),
        other => other.span(),
    }
}

/// The length that a type says.
pub(super) fn array_length(ty: &Ty) -> Option<Amount> {
    match ty {
        Ty::Array(_, length) if *length != Amount::Unknown => Some(length.clone()),
        _ => None,
    }
}

/// Names that are assigned to, or borrowed exclusively.
fn assigned_names(block: &Block) -> HashSet<String> {
    struct Finder(HashSet<String>);
    impl Finder {
        fn root(&mut self, expr: &Expr) {
            match expr {
                Expr::Path(path) => {
                    if let Some(name) = path.path.get_ident() {
                        self.0.insert(name.to_string());
                    }
                }
                Expr::Tuple(tuple) => tuple.elems.iter().for_each(|part| self.root(part)),
                Expr::Paren(inner) => self.root(&inner.expr),
                Expr::Unary(inner) => self.root(&inner.expr),
                _ => {}
            }
        }
    }
    impl<'ast> Visit<'ast> for Finder {
        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            self.root(&assign.left);
            visit::visit_expr_assign(self, assign);
        }
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            if is_assignment(&binary.op) {
                self.root(&binary.left);
            }
            visit::visit_expr_binary(self, binary);
        }
        fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
            if one.mutability.is_some() {
                self.root(&one.expr);
            }
            visit::visit_expr_reference(self, one);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut finder = Finder(HashSet::new());
    finder.visit_block(block);
    finder.0
}

/// `+=` and the like.
pub(super) fn is_assignment(op: &syn::BinOp) -> bool {
    use syn::BinOp::{
        AddAssign, BitAndAssign, BitOrAssign, BitXorAssign, DivAssign, MulAssign, RemAssign, ShlAssign,
        ShrAssign, SubAssign,
    };
    matches!(
        op,
        AddAssign(_)
            | SubAssign(_)
            | MulAssign(_)
            | DivAssign(_)
            | RemAssign(_)
            | BitAndAssign(_)
            | BitOrAssign(_)
            | BitXorAssign(_)
            | ShlAssign(_)
            | ShrAssign(_)
    )
}

/// The cost of a call of the standard library.
pub(super) fn outside_call(walker: &mut Walker<'_>, name: &str, length: &Amount) {
    walker.spend(library::call(name));
    if let Some(each) = library::per_element(name) {
        walker.spend_each(each, length);
    }
}
