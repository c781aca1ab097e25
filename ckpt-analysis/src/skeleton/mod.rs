//! From the functions of the program to the skeleton, in which `ckpt-safepoints` looks for safe points. Every expression
//! leaves one value on the stack.

mod calls;
mod control;
mod determinacy;
mod expr;
mod macros;
mod order;
mod patterns;
mod told;

use crate::calls::statement_start;
use crate::facts::Facts;
use crate::items::comm_library::comm_model;
use crate::items::resolve::Resolver;
use crate::items::{FnId, Function};
use ckpt_compiler::library::Library;
use ckpt_compiler::syntax::marks::{Marks, SiteSort};
use ckpt_safepoints::SafePoints;
use ckpt_safepoints::models::{self, CommModel};
use ckpt_safepoints::skeleton::{
    Boundary, Code, ControlOp, MemoryOp, Op, Pattern, Skeleton, SourcePlace, Unseen, ValueOp, Var,
};
use ckpt_safepoints::values::Value;
use proc_macro2::Span;
use std::collections::HashMap;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{Block, Stmt};

/// What tells the safe points of a program that begins in `main`, run with this many ranks or with any number; nothing
/// for a program that uses no communication library.
pub fn safe_points(facts: &Facts, main: FnId, ranks: Option<usize>) -> Option<SafePoints> {
    let is_told = !facts.library.added().messages().is_empty();
    let of_crates = || {
        models::crates()
            .next()
            .filter(|_| is_told || !facts.communicating.is_empty())
    };
    let model = comm_model(&facts.items).or_else(|| of_crates().and_then(models::of_crate))?;
    Some(SafePoints::new(lower(facts, main, &*model), model, ranks))
}

/// The skeleton of a program that begins in `main`.
fn lower(facts: &Facts, main: FnId, model: &dyn CommModel) -> Skeleton {
    let resolver = Resolver::new(&facts.items, &facts.library);
    let orders = order::Orders::of(&facts.items, &facts.library);
    let mut callees = HashMap::new();
    for call in &facts.graph.calls {
        let key = (call.caller, call.place.bytes.start);
        callees.insert(key, call.callees.clone());
    }
    let mut skeleton = Skeleton {
        main: main.0,
        ..Skeleton::default()
    };
    let told = facts.library.added().messages();
    let is_unseen = |name: &str| !told.iter().any(|one| one.name == name);
    let unseen = facts.communicating.iter().filter(|(one, _)| is_unseen(&one.name));
    let unseen = unseen.map(|(one, place)| Unseen {
        name: one.name.clone(),
        library: one.library.clone(),
        place: place.clone(),
    });
    skeleton.unseen.extend(unseen);
    for field in facts.items.types.iter().flat_map(|one| &one.fields) {
        if quote::ToTokens::to_token_stream(&field.ty)
            .to_string()
            .contains("mut")
        {
            skeleton.references.insert(field.name.as_str().into());
        }
    }
    skeleton
        .codes
        .resize_with(facts.items.functions.len(), Code::default);
    for function in &facts.items.functions {
        let lowerer = Lowerer {
            facts,
            resolver: &resolver,
            callees: &callees,
            model,
            function,
            base: facts.bases.get(function.place.file.0).copied().unwrap_or(0),
            skeleton: &mut skeleton,
            expected: order::Ends::of(&orders, &function.item),
            orders: Rc::clone(&orders),
            contexts: Vec::new(),
            at: 0,
            depth: 0,
            irrefutable: false,
        };
        lowerer.function();
    }
    skeleton
}

/// A loop, or a block with a label, that the code is in.
struct Target {
    label: Option<String>,
    is_block: bool,
    /// Where it begins its next turn.
    head: usize,
    /// Jumps to behind it, to be given their goal.
    leaves: Vec<usize>,
    /// What a `break` with a value sets.
    result: usize,
}

/// A function or closure that is being lowered.
#[derive(Default)]
struct Context {
    index: usize,
    code: Code,
    scopes: Vec<HashMap<String, (usize, bool)>>,
    targets: Vec<Target>,
}

pub(super) struct Lowerer<'a> {
    facts: &'a Facts,
    resolver: &'a Resolver<'a>,
    callees: &'a HashMap<(FnId, usize), Vec<FnId>>,
    model: &'a dyn CommModel,
    function: &'a Function,
    base: usize,
    skeleton: &'a mut Skeleton,
    orders: Rc<order::Orders>,
    expected: order::Expected,
    contexts: Vec<Context>,
    /// Index of the place that steps are being made for.
    at: u32,
    depth: usize,
    /// Whether the pattern at hand always matches.
    irrefutable: bool,
}

impl<'a> Lowerer<'a> {
    fn library(&self) -> &'a Library {
        &self.facts.library
    }

    fn function(mut self) {
        let function = self.function;
        self.at = self.note(function.item.sig.ident.span());
        self.contexts.push(Context {
            index: function.id.0,
            code: Code {
                name: function.display.clone(),
                ..Code::default()
            },
            scopes: vec![HashMap::new()],
            targets: Vec::new(),
        });
        let mut parameters = Vec::new();
        for input in &function.item.sig.inputs {
            let is_shared = match input {
                syn::FnArg::Receiver(one) => one.reference.is_some() && one.mutability.is_none(),
                syn::FnArg::Typed(typed) => {
                    matches!(&*typed.ty, syn::Type::Reference(one) if one.mutability.is_none())
                }
            };
            self.context().code.shared.push(is_shared);
            parameters.push(match input {
                syn::FnArg::Receiver(receiver) => {
                    let is_mut = receiver.mutability.is_some() && receiver.reference.is_none();
                    self.context().code.consumes_self =
                        receiver.reference.is_none() && receiver.colon_token.is_none();
                    Pattern::Name(self.declare("self", is_mut), false, None)
                }
                syn::FnArg::Typed(typed) => self.irrefutable(&typed.pat),
            });
        }
        self.context().code.parameters = parameters;
        self.reorder_parameters();
        self.block(&function.item.block);
        self.op(ControlOp::Return);
        self.finish();
    }

    /// The innermost code is done.
    fn finish(&mut self) -> usize {
        let Some(context) = self.contexts.pop() else {
            return 0;
        };
        self.skeleton.codes[context.index] = context.code;
        context.index
    }

    fn context(&mut self) -> &mut Context {
        // A lowerer always has the function's own context.
        let last = self.contexts.len() - 1;
        &mut self.contexts[last]
    }

    /// Remembers where something is written.
    fn note(&mut self, span: Span) -> u32 {
        let at = span.start();
        self.skeleton.places.push(SourcePlace {
            file: self.function.place.file.0,
            bytes: span.byte_range().start + self.base..span.byte_range().end + self.base,
            line: at.line,
            column: at.column,
        });
        self.skeleton.places.len() as u32 - 1
    }

    fn op(&mut self, op: impl Into<Op>) -> usize {
        let at = self.at;
        let code = &mut self.context().code;
        code.ops.push(op.into());
        code.places.push(at);
        code.ops.len() - 1
    }

    fn push(&mut self, value: Value) {
        self.op(ValueOp::Push(value));
    }

    fn here(&mut self) -> usize {
        self.context().code.ops.len()
    }

    fn slot(&mut self) -> usize {
        let code = &mut self.context().code;
        code.slots += 1;
        code.slots - 1
    }

    fn declare(&mut self, name: &str, is_mut: bool) -> usize {
        let slot = self.slot();
        if let Some(scope) = self.context().scopes.last_mut() {
            scope.insert(name.to_owned(), (slot, is_mut));
        }
        slot
    }

    /// The variable of a name, and whether it is `mut`.
    fn variable(&self, name: &str) -> Option<(Var, bool)> {
        for (up, context) in self.contexts.iter().rev().enumerate() {
            for scope in context.scopes.iter().rev() {
                if let Some(&(slot, is_mut)) = scope.get(name) {
                    return Some((Var { up, slot }, is_mut));
                }
            }
        }
        None
    }

    /// Does something in a scope of its own, whose variables are no more behind it.
    fn scoped<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> T {
        let first = self.context().code.slots;
        self.context().scopes.push(HashMap::new());
        let result = inside(self);
        self.context().scopes.pop();
        let last = self.context().code.slots;
        if last > first {
            self.op(MemoryOp::Clear(first..last));
        }
        result
    }

    fn block(&mut self, block: &Block) {
        self.scoped(|lowerer| lowerer.statements(block, None));
    }

    /// The statements of a block; between those of a loop's body there are boundaries, the first of them just behind the brace.
    fn statements(&mut self, block: &Block, body_at: Option<usize>) {
        let mut has_value = false;
        for (index, stmt) in block.stmts.iter().enumerate() {
            if let Some(body_at) = body_at {
                self.boundary(stmt, body_at, index == 0);
            }
            let last = index + 1 == block.stmts.len();
            let first = self.here();
            has_value = self.statement(stmt, last);
            self.behind_loop(stmt, first);
        }
        if !has_value {
            self.push(Value::Unit);
        }
    }

    fn boundary(&mut self, stmt: &Stmt, body_at: usize, is_first: bool) {
        let Some(span) = statement_start(stmt) else { return };
        let at = if is_first {
            body_at
        } else {
            span.byte_range().start + self.base
        };
        self.mark(at, body_at, span, None);
    }

    /// A boundary behind a loop that is a statement of the function's own.
    fn behind_loop(&mut self, stmt: &Stmt, first: usize) {
        let body = match stmt {
            Stmt::Expr(syn::Expr::ForLoop(one), _) => &one.body,
            Stmt::Expr(syn::Expr::While(one), _) => &one.body,
            _ => return,
        };
        if self.contexts.len() > 1 {
            return;
        }
        let body_at = body.brace_token.span.open().byte_range().end + self.base;
        let (span, steps) = (stmt.span(), first..self.here());
        self.mark(span.byte_range().end + self.base, body_at, span, None);
        if let Some(boundary) = self.skeleton.boundaries.last_mut() {
            boundary.line = span.end().line;
            boundary.behind = Some(steps);
        }
    }

    fn mark(&mut self, at: usize, body_at: usize, span: Span, user: Option<bool>) {
        self.skeleton.boundaries.push(Boundary {
            function: self.function.id.0,
            at,
            line: span.start().line,
            body_at,
            user,
            for_itself: false,
            behind: None,
        });
        let index = self.skeleton.boundaries.len() - 1;
        self.at = self.note(span);
        self.op(ControlOp::Boundary(index));
    }

    /// A statement; whether it leaves the block's value on the stack.
    fn statement(&mut self, stmt: &Stmt, last: bool) -> bool {
        match stmt {
            Stmt::Local(local) => {
                self.local(local);
                false
            }
            Stmt::Expr(expr, semicolon) => {
                self.expr(expr);
                if last && semicolon.is_none() {
                    return true;
                }
                self.op(ValueOp::Pop);
                false
            }
            Stmt::Macro(one) => {
                if Marks::is_checkpoint(&one.mac) {
                    self.user_site(&one.mac);
                    return false;
                }
                self.macro_call(&one.mac);
                if last && one.semi_token.is_none() {
                    return true;
                }
                self.op(ValueOp::Pop);
                false
            }
            Stmt::Item(_) => false,
        }
    }

    fn user_site(&mut self, mac: &syn::Macro) {
        let for_itself =
            Marks::sort(mac).is_some_and(|sort| matches!(sort, SiteSort::Phase | SiteSort::PhaseEnd));
        let vouched = Marks::is_vouched(mac) || for_itself;
        let span = syn::spanned::Spanned::span(&mac.path);
        self.mark(span.byte_range().start + self.base, 0, span, Some(vouched));
        if let Some(boundary) = self.skeleton.boundaries.last_mut() {
            boundary.for_itself = for_itself;
        }
    }

    fn local(&mut self, local: &syn::Local) {
        let Some(init) = &local.init else {
            let pattern = self.irrefutable(&local.pat);
            let mut slots = Vec::new();
            pattern.slots(&mut slots);
            for slot in slots {
                self.push(Value::Unit);
                self.op(MemoryOp::Declare(slot));
            }
            return;
        };
        self.expr_for(&init.expr, &local.pat);
        if let syn::Pat::Type(typed) = &local.pat {
            self.reorder_type(&typed.ty);
            if matches!(&*typed.ty, syn::Type::Path(path) if path.path.is_ident("f32")) {
                self.op(ValueOp::Cast("f32".into()));
            }
        }
        let subject = self.slot();
        self.op(MemoryOp::Declare(subject));
        if let Some((_, otherwise)) = &init.diverge {
            // The names are bound behind the block that does not come back.
            let probe = self.scoped(|lowerer| lowerer.pattern(&local.pat));
            self.op(MemoryOp::Test(subject, Rc::new(probe)));
            let branch = self.op(ControlOp::Branch(0, 0));
            self.push(Value::Unit);
            let jump = self.op(ControlOp::Jump(0));
            let other = self.here();
            self.expr(otherwise);
            let join = self.here();
            self.context().code.ops[branch] = Op::Control(ControlOp::Branch(other, join));
            self.context().code.ops[jump] = Op::Control(ControlOp::Jump(join));
            self.op(ValueOp::Pop);
        }
        let pattern = match init.diverge {
            Some(_) => self.pattern(&local.pat),
            None => self.irrefutable(&local.pat),
        };
        if let syn::Expr::Closure(_) = &*init.expr
            && let Some(Op::Value(ValueOp::Closure(closure))) =
                self.context().code.ops.iter().rev().nth(1).cloned()
        {
            let mut slots = Vec::new();
            pattern.slots(&mut slots);
            let closures = &mut self.context().code.closures;
            closures.extend(slots.into_iter().map(|slot| (slot, closure)));
        }
        self.op(MemoryOp::Bind(subject, Rc::new(pattern)));
        self.op(MemoryOp::Clear(subject..subject + 1));
    }
}
