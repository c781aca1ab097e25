//! What an expression is worth, and what is in it.

use super::Trap;
use super::look::{diverges, likelihood};
use super::walk::{Value, Walker};
use crate::items::amount::{Amount, Operation, Shape};
use crate::items::hints::Ty;
use ckpt_compiler::desugar::inlined_closures::called_in_place;
use ckpt_compiler::desugar::regions::{made_by, watchable};
use ckpt_compiler::library::{Library, Threads};
use syn::Expr;

/// Expressions nested deeper than this are not looked into.
const DEEPEST: usize = 200;

impl Walker<'_> {
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
            Expr::Call(call) => match (scope_of(self.library, call), started(self.library, call)) {
                (Some(closure), _) if !self.passes_messages || is_of_threads(self.library, call) => {
                    self.scope(closure)
                }
                _ if self.passes_messages => self.call_expr(call),
                // Whether the thread is joined where a checkpoint can wait for it is seen when a site is tried.
                (_, Some(body)) => self.body_of_thread(body),
                _ if is_of_pool(self.library, call) => {
                    self.trapped(Trap::Pool, |walker| walker.call_expr(call))
                }
                _ => match called_in_place(self.library, call) {
                    Some(closure) => {
                        let given = self.arguments(call.args.iter());
                        self.closure_body(closure, &given)
                    }
                    None => self.call_expr(call),
                },
            },
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
                Value::callable(&output)
            }),
            Expr::Async(block) => self.trapped(Trap::Async, |walker| walker.block(&block.block)),
            Expr::Try(inner) => {
                let value = self.eval(&inner.expr);
                super::std_calls::unwrapped(value)
            }
            Expr::Await(inner) => self.eval(&inner.base),
            Expr::Tuple(tuple) => {
                let values = tuple.elems.iter().map(|part| self.stored(part));
                let (types, shapes) = values.map(|value| (value.ty.clone(), value.shape())).unzip();
                Value::shaped(Ty::Tuple(types), Shape::tuple(shapes))
            }
            Expr::Array(array) => {
                let (mut element, mut shape) = (Ty::Unknown, Shape::default());
                for part in &array.elems {
                    let value = self.stored(part);
                    if shape.is_blank() {
                        shape = value.shape().copied();
                    }
                    if element == Ty::Unknown {
                        element = value.ty;
                    }
                }
                let length = Amount::Known(array.elems.len() as f64);
                let ty = Ty::Array(Box::new(element), length.clone());
                Value::shaped(ty, Shape::of(length, shape))
            }
            Expr::Repeat(repeat) => {
                let element = self.eval(&repeat.expr);
                let length = self.eval(&repeat.len).number;
                self.spend_each(0.3, &length);
                let shape = Shape::of(length.clone(), element.shape().copied());
                Value::shaped(Ty::Array(Box::new(element.ty), length), shape)
            }
            Expr::Range(range) => self.range(range),
            Expr::Return(syn::ExprReturn {
                expr: Some(value), ..
            }) => {
                let value = self.stored(value);
                if !self.in_closure {
                    self.returned(&value);
                }
                Value::default()
            }
            Expr::Break(syn::ExprBreak {
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
            self.library,
            &branch.cond,
            &branch.then_branch,
            branch.else_branch.as_ref().map(|(_, e)| &**e),
        );
        let number = self.new_branch();
        let mut value = self.in_arm((number, 0), rarely, |walker| walker.block(&branch.then_branch));
        self.leave(mark);
        if let Some((_, otherwise)) = &branch.else_branch {
            let other = self.in_arm((number, 1), 1.0 - rarely, |walker| walker.eval(otherwise));
            let shape = other.shape();
            if value.ty == Ty::Unknown {
                value.ty = other.ty;
            }
            if !diverges(self.library, otherwise) {
                value.either(shape);
            }
            value.functions.extend(other.functions);
        }
        value
    }

    fn match_expr(&mut self, one: &syn::ExprMatch) -> Value {
        self.spend(1.0);
        let scrutinee = self.eval(&one.expr);
        let live = one
            .arms
            .iter()
            .filter(|arm| !diverges(self.library, &arm.body))
            .count()
            .max(1);
        let (mut value, mut is_first) = (Value::default(), true);
        let number = self.new_branch();
        for (index, arm) in one.arms.iter().enumerate() {
            let mark = self.enter();
            self.bind(&arm.pat, &scrutinee);
            let weight = if diverges(self.library, &arm.body) {
                0.01
            } else {
                1.0 / live as f64
            };
            let other = self.in_arm((number, index), weight, |walker| {
                if let Some((_, guard)) = &arm.guard {
                    walker.eval(guard);
                }
                walker.eval(&arm.body)
            });
            let shape = other.shape();
            if value.ty == Ty::Unknown {
                value.ty = other.ty;
            }
            if !diverges(self.library, &arm.body) {
                match std::mem::take(&mut is_first) {
                    true => {
                        let ty = std::mem::take(&mut value.ty);
                        value = Value {
                            functions: std::mem::take(&mut value.functions),
                            ..Value::shaped(ty, shape)
                        };
                    }
                    false => value.either(shape),
                }
            }
            value.functions.extend(other.functions);
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
                Amount::both(Operation::Subtract, end, start.clone())
            }
            (Some(end), syn::RangeLimits::Closed(_)) => {
                let last = Amount::both(Operation::Add, end, Amount::Known(1.0));
                Amount::both(Operation::Subtract, last, start.clone())
            }
            (None, _) => Amount::Unknown,
        };
        // What the variable of a loop over it is on average.
        let half = Amount::both(Operation::Divide, length.clone(), Amount::Default(2.0));
        Value {
            number: Amount::both(Operation::Add, start, half),
            ..Value::iterator(Ty::other("int", Vec::new()), length)
        }
    }
}

/// The closure of a `thread::scope(|s| ..)`.
fn scope_of<'c>(library: &Library, call: &'c syn::ExprCall) -> Option<&'c syn::ExprClosure> {
    let is_scope = matches!(&*call.func, Expr::Path(path)
        if path.path.segments.len() > 1 && library.says_of_path(&path.path, Threads::Scopes)
            && !library.says_of_path(&path.path, Threads::Pooled));
    match call.args.first() {
        Some(Expr::Closure(closure)) if is_scope && call.args.len() == 1 => Some(closure),
        _ => None,
    }
}

/// Whether it says that its scope is one of threads, and not of requests, say.
fn is_of_threads(library: &Library, call: &syn::ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path)
        if path.path.segments.iter().rev().nth(1).is_some_and(|one| library.says(&one.ident.to_string(), Threads::Modules)))
}

/// `rayon::scope(|s| ..)`, `rayon::join(|| .., || ..)`: what they are given is run by the threads of the pool.
fn is_of_pool(library: &Library, call: &syn::ExprCall) -> bool {
    matches!(&*call.func, Expr::Path(path)
        if path.path.segments.len() > 1 && library.says(&path.path.segments[0].ident.to_string(), Threads::PoolCrates))
}

/// The body of a `thread::spawn(|| ..)`: a closure, or a block that makes one.
fn started<'e>(library: &Library, call: &'e syn::ExprCall) -> Option<&'e Expr> {
    watchable::in_call(library, call, true).filter(|body| made_by(body).is_some())
}

impl Walker<'_> {
    fn scope(&mut self, closure: &syn::ExprClosure) -> Value {
        self.scopes += 1;
        let value = self.closure_body(closure, &[]);
        self.scopes -= 1;
        value
    }
}
