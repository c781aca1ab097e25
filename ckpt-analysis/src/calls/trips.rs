//! Loops, and how often they go round.

use super::walk::{Value, Walker, array_length};
use super::{CallForm, LoopId, LoopKind, Trap};
use crate::items::amount::{Amount, Operation, Root, Shape};
use crate::items::hints::{Ty, TypeKey};
use ckpt_compiler::desugar::inlined_closures::{closures_of_for, functions_of_for};
use ckpt_compiler::library::Numbers;
use ckpt_compiler::visit::{self, Visit};
use syn::{BinOp, Expr, ExprForLoop, ExprWhile};

/// Trips of a loop over the row of a sparse structure, or of a search.
const FEW: f64 = 10.0;

impl Walker<'_> {
    pub(super) fn loop_expr(&mut self, expr: &Expr) -> Value {
        match expr {
            Expr::ForLoop(one) => self.for_loop(one),
            Expr::While(one) => self.while_loop(one),
            Expr::Loop(one) => {
                let open = one.body.brace_token.span.open();
                let place = self.place(one.loop_token.span, one.body.brace_token.span.close());
                let trips = self.loop_trips(&one.body);
                let id = self.in_loop(LoopKind::Loop, place, Some(open), trips, |walker| {
                    walker.block(&one.body);
                });
                self.search(id);
            }
            _ => {}
        }
        Value::default()
    }

    fn for_loop(&mut self, one: &ExprForLoop) {
        self.open(&closures_of_for(self.library, one));
        self.open_functions(&functions_of_for(self.library, one));
        let iterable = self.eval(&one.expr);
        let mut length = array_length(&iterable.ty).unwrap_or_else(|| iterable.length.clone());
        if length.is_open() && ends_at_an_element(&one.expr, self.within.is_some()) {
            length = Amount::Default(FEW);
        }
        let open = one.body.brace_token.span.open();
        let place = self.place(one.for_token.span, one.body.brace_token.span.close());
        let next = match &iterable.ty {
            Ty::Named(key @ TypeKey::Own(_), _) => self.methods.of_type(self.resolver.items, key, "next"),
            _ => Vec::new(),
        };
        let item = self.item(&iterable);
        let lazy = self.withdraw(&iterable.lazy);
        self.in_loop(LoopKind::For, place, Some(open), length, |walker| {
            walker.spend(1.0);
            walker.run_lazily(lazy);
            if !next.is_empty() {
                walker.trapped(Trap::Implicit("the iterator of a `for`".into()), |walker| {
                    walker.call(next, true, CallForm::Unnamed, one.for_token.span, &[]);
                });
            }
            let mark = walker.enter();
            walker.bind(&one.pat, &item);
            walker.block(&one.body);
            walker.leave(mark);
        });
    }

    /// The closures of an iterator run in the loop that goes over it, and not where the iterator is made.
    fn withdraw(&mut self, lazy: &[LoopId]) -> Vec<LoopId> {
        let work = self.work();
        let (taken, kept) = work.loops.drain(..).partition(|id| lazy.contains(id));
        work.loops = kept;
        taken
    }

    /// Once in every turn.
    fn run_lazily(&mut self, lazy: Vec<LoopId>) {
        for id in &lazy {
            let within = self.within;
            let one = &mut self.graph.loops[id.0];
            one.parent = within;
            one.trips = Amount::Known(1.0);
            one.weight = 1.0;
        }
        self.work().loops.extend(lazy);
    }

    fn while_loop(&mut self, one: &ExprWhile) {
        let open = one.body.brace_token.span.open();
        let place = self.place(one.while_token.span, one.body.brace_token.span.close());
        let trips = self.while_trips(&one.cond, &one.body);
        let id = self.in_loop(LoopKind::While, place, Some(open), trips, |walker| {
            walker.spend(1.0);
            let mark = walker.enter();
            walker.eval(&one.cond);
            walker.block(&one.body);
            walker.leave(mark);
        });
        self.search(id);
    }

    /// An innermost loop without a count, inside another loop: most likely a search, which is short.
    fn search(&mut self, id: super::LoopId) {
        let one = &mut self.graph.loops[id.0];
        let innermost = one.work.loops.is_empty() && one.work.calls.is_empty();
        if innermost && one.parent.is_some() && one.trips.is_open() {
            one.trips = Amount::Default(FEW);
        }
    }

    /// `loop { .. if i >= n { break; } .. i += 1; .. }`
    fn loop_trips(&mut self, body: &syn::Block) -> Amount {
        for stmt in &body.stmts {
            let syn::Stmt::Expr(Expr::If(branch), _) = stmt else {
                continue;
            };
            let breaks = matches!(
                branch.then_branch.stmts.last(),
                Some(syn::Stmt::Expr(Expr::Break(_), _))
            );
            if let (true, Expr::Binary(test)) = (breaks, &*branch.cond)
                && matches!(test.op, BinOp::Ge(_) | BinOp::Gt(_) | BinOp::Eq(_))
            {
                return self.counted(&test.left, &test.right, body);
            }
        }
        Amount::Unknown
    }

    /// `while i < n { .. i += 1; }`
    fn while_trips(&mut self, condition: &Expr, body: &syn::Block) -> Amount {
        match condition {
            Expr::Paren(inner) => self.while_trips(&inner.expr, body),
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
                match self.while_trips(&both.left, body) {
                    Amount::Unknown => self.while_trips(&both.right, body),
                    known => known,
                }
            }
            Expr::Binary(test) if matches!(test.op, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Ne(_)) => {
                self.counted(&test.left, &test.right, body)
            }
            Expr::Binary(test) if matches!(test.op, BinOp::Gt(_) | BinOp::Ge(_)) => {
                self.counted(&test.right, &test.left, body)
            }
            _ => Amount::Unknown,
        }
    }

    fn counted(&mut self, counter: &Expr, limit: &Expr, body: &syn::Block) -> Amount {
        let Some((operation, step)) = step_of(counter, body) else {
            return Amount::Unknown;
        };
        if is_element(limit) {
            return Amount::Default(FEW);
        }
        let Some(limit) = self.quietly(limit) else {
            return Amount::Unknown;
        };
        let step = self.quietly(&step).unwrap_or(Amount::Unknown);
        Amount::both(operation, limit, step)
    }

    /// The number of an expression, without entering anything.
    pub(super) fn quietly(&self, expr: &Expr) -> Option<Amount> {
        match expr {
            Expr::Paren(inner) => self.quietly(&inner.expr),
            Expr::Cast(inner) => self.quietly(&inner.expr),
            Expr::Path(path) => {
                if let Some(name) = path.path.get_ident()
                    && let Some(local) = self.local(&name.to_string())
                {
                    return Some(local.number.clone());
                }
                Some(self.constant(expr))
            }
            Expr::Binary(binary) => {
                let operation = crate::items::fold::operation(&binary.op)?;
                let (left, right) = (self.quietly(&binary.left)?, self.quietly(&binary.right)?);
                Some(Amount::both(operation, left, right))
            }
            Expr::MethodCall(call) if self.library.says(&call.method.to_string(), Numbers::Length) => {
                match &*call.receiver {
                    Expr::Path(path) => {
                        let name = path.path.get_ident()?.to_string();
                        self.local(&name).map(|local| local.length.clone())
                    }
                    _ => None,
                }
            }
            Expr::Field(field) => {
                let Expr::Path(base) = &*field.base else {
                    return None;
                };
                let local = self.local(&base.path.get_ident()?.to_string())?;
                match (&local.ty, &field.member) {
                    (Ty::Named(TypeKey::Own(id), _), syn::Member::Named(name)) => {
                        Some(Shape::at(Root::Field(*id, name.to_string()), Vec::new()).number)
                    }
                    _ => None,
                }
            }
            Expr::Lit(_) => Some(self.constant(expr)),
            _ => None,
        }
    }

    fn constant(&self, expr: &Expr) -> Amount {
        let own = self.function.self_type.as_deref();
        crate::items::fold::constant(self.resolver, self.function.body_scope, own, expr)
    }
}

/// `start[i]..start[i + 1]`, and inside another loop `0..count[i]`: as many as an element of a table says.
fn ends_at_an_element(iterable: &Expr, inside: bool) -> bool {
    let row = |range: &syn::ExprRange| {
        let element = |bound: &Option<Box<Expr>>| bound.as_ref().is_some_and(|bound| is_element(bound));
        element(&range.end) && (inside || element(&range.start))
    };
    match iterable {
        Expr::Paren(inner) => ends_at_an_element(&inner.expr, inside),
        Expr::MethodCall(call) => ends_at_an_element(&call.receiver, inside),
        Expr::Range(range) => row(range),
        Expr::Index(index) => matches!(&*index.index, Expr::Range(range) if row(range)),
        Expr::Reference(one) => ends_at_an_element(&one.expr, inside),
        _ => false,
    }
}

fn is_element(expr: &Expr) -> bool {
    match expr {
        Expr::Index(_) => true,
        Expr::Paren(inner) => is_element(&inner.expr),
        Expr::Cast(inner) => is_element(&inner.expr),
        Expr::Binary(binary) => is_element(&binary.left),
        _ => false,
    }
}

/// By how much the body counts up: `i += step` for the counter `i`; or how many times as large it makes it, `i *= 2`.
fn step_of(counter: &Expr, body: &syn::Block) -> Option<(Operation, Expr)> {
    struct CounterStep<'a> {
        counter: &'a Expr,
        step: Option<(Operation, Expr)>,
    }
    impl<'ast> Visit<'ast> for CounterStep<'_> {
        fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
            if *binary.left == *self.counter
                && let Some(operation) = how_it_steps(&binary.op)
            {
                self.step
                    .get_or_insert_with(|| (operation, (*binary.right).clone()));
            }
            visit::visit_expr_binary(self, binary);
        }
        fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
            if let Expr::Binary(sum) = &*assign.right
                && *assign.left == *self.counter
                && *sum.left == *self.counter
                && let Some(operation) = match &sum.op {
                    BinOp::Add(_) => Some(Operation::Divide),
                    BinOp::Mul(_) => Some(Operation::Factors),
                    _ => None,
                }
            {
                self.step.get_or_insert_with(|| (operation, (*sum.right).clone()));
            }
            visit::visit_expr_assign(self, assign);
        }
        fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut finder = CounterStep { counter, step: None };
    finder.visit_block(body);
    finder.step
}

/// How the number of turns comes of the limit and the step.
fn how_it_steps(op: &BinOp) -> Option<Operation> {
    match op {
        BinOp::AddAssign(_) => Some(Operation::Divide),
        BinOp::MulAssign(_) => Some(Operation::Factors),
        _ => None,
    }
}
