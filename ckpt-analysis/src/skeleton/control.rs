//! Branches, matches and loops.

use super::{Lowerer, Target};
use ckpt_compiler::syntax::patterns::lends_exclusively;
use ckpt_safepoints::skeleton::{Access, ControlOp, MemoryOp, Op, Pattern, ValueOp};
use ckpt_safepoints::values::Value;
use std::rc::Rc;
use syn::spanned::Spanned;
use syn::{BinOp, Expr};

impl Lowerer<'_> {
    pub(super) fn if_expr(&mut self, one: &syn::ExprIf) {
        let mut branches = Vec::new();
        let mut jump = 0;
        self.scoped(|lowerer| {
            lowerer.condition(&one.cond, &mut branches);
            lowerer.block(&one.then_branch);
            jump = lowerer.op(ControlOp::Jump(0));
        });
        // The variables of the condition are cleared on the other way alone: they are the same slots.
        let other = self.here();
        match &one.else_branch {
            Some((_, otherwise)) => self.expr(otherwise),
            None => self.push(Value::Unit),
        }
        let join = self.here();
        self.patch(&branches, other, join);
        self.context().code.ops[jump] = Op::Control(ControlOp::Jump(join));
    }

    fn patch(&mut self, branches: &[usize], other: usize, join: usize) {
        for &branch in branches {
            self.context().code.ops[branch] = Op::Control(ControlOp::Branch(other, join));
        }
    }

    /// A condition with its `let`s; the branches are to be given their goals.
    pub(super) fn condition(&mut self, cond: &Expr, branches: &mut Vec<usize>) {
        match cond {
            Expr::Paren(inner) => self.condition(&inner.expr, branches),
            Expr::Binary(both) if matches!(both.op, BinOp::And(_)) => {
                self.condition(&both.left, branches);
                self.condition(&both.right, branches);
            }
            Expr::Let(one) => {
                self.expr_for(&one.expr, &one.pat);
                let subject = self.slot();
                self.op(MemoryOp::Declare(subject));
                let pattern = Rc::new(self.pattern(&one.pat));
                self.op(MemoryOp::Test(subject, Rc::clone(&pattern)));
                branches.push(self.op(ControlOp::Branch(0, 0)));
                self.op(MemoryOp::Bind(subject, pattern));
            }
            other => {
                self.expr(other);
                branches.push(self.op(ControlOp::Branch(0, 0)));
            }
        }
    }

    pub(super) fn match_expr(&mut self, one: &syn::ExprMatch) {
        let wants_place = one.arms.iter().any(|arm| lends_exclusively(&arm.pat));
        self.subject(&one.expr, wants_place);
        let subject = self.slot();
        self.op(MemoryOp::Declare(subject));
        let mut all = Vec::new();
        let mut jumps = Vec::new();
        for (index, arm) in one.arms.iter().enumerate() {
            // One of the arms fits: the last one needs no test.
            let is_last = index + 1 == one.arms.len() && arm.guard.is_none();
            let mut branches = Vec::new();
            self.scoped(|lowerer| {
                let pattern = Rc::new(lowerer.pattern(&arm.pat));
                if !is_last && !matches!(*pattern, Pattern::Any | Pattern::Name(_, _, None)) {
                    lowerer.op(MemoryOp::Test(subject, Rc::clone(&pattern)));
                    branches.push(lowerer.op(ControlOp::Branch(0, 0)));
                }
                lowerer.op(MemoryOp::Bind(subject, pattern));
                if let Some((_, guard)) = &arm.guard {
                    lowerer.condition(guard, &mut branches);
                }
                lowerer.expr(&arm.body);
                jumps.push(lowerer.op(ControlOp::Jump(0)));
            });
            let next = self.here();
            all.push((branches, next));
        }
        self.push(Value::Unit);
        let join = self.here();
        for (branches, next) in all {
            self.patch(&branches, next, join);
        }
        for jump in jumps {
            self.context().code.ops[jump] = Op::Control(ControlOp::Jump(join));
        }
        self.op(MemoryOp::Clear(subject..subject + 1));
    }

    pub(super) fn while_loop(&mut self, one: &syn::ExprWhile) {
        let label = one.label.as_ref().map(|label| label.name.ident.to_string());
        let body_at = one.body.brace_token.span.open().byte_range().end + self.base;
        self.a_loop(label, |lowerer, exits| {
            lowerer.condition(&one.cond, exits);
            lowerer.statements(&one.body, Some(body_at));
        });
        self.push(Value::Unit);
    }

    pub(super) fn endless_loop(&mut self, one: &syn::ExprLoop) {
        let label = one.label.as_ref().map(|label| label.name.ident.to_string());
        let body_at = one.body.brace_token.span.open().byte_range().end + self.base;
        let result = self.a_loop(label, |lowerer, _| {
            lowerer.statements(&one.body, Some(body_at));
        });
        self.op(MemoryOp::Load(ckpt_safepoints::skeleton::Var {
            up: 0,
            slot: result,
        }));
    }

    pub(super) fn for_loop(&mut self, one: &syn::ExprForLoop) {
        let label = one.label.as_ref().map(|label| label.name.ident.to_string());
        let body_at = one.body.brace_token.span.open().byte_range().end + self.base;
        self.for_each(&one.expr, label, |lowerer, element| {
            let pattern = lowerer.irrefutable(&one.pat);
            lowerer.op(MemoryOp::Bind(element, Rc::new(pattern)));
            lowerer.statements(&one.body, Some(body_at));
        });
    }

    /// A loop over what an expression gives; `body` leaves a value.
    pub(super) fn for_each(
        &mut self,
        over: &Expr,
        label: Option<String>,
        body: impl FnOnce(&mut Self, usize),
    ) {
        self.at = self.note(over.span());
        match over {
            Expr::Reference(one) if one.mutability.is_some() => {
                let place = self.place(&one.expr, Access::Written);
                self.of_elements(place);
            }
            over => self.expr(over),
        }
        self.op(ValueOp::Iterate);
        let iterator = self.slot();
        self.op(MemoryOp::Declare(iterator));
        self.a_loop(label, |lowerer, exits| {
            let element = lowerer.slot();
            exits.push(lowerer.op(ControlOp::Next(iterator, 0)));
            lowerer.op(MemoryOp::Declare(element));
            body(lowerer, element);
        });
        self.op(MemoryOp::Clear(iterator..iterator + 1));
        self.push(Value::Unit);
    }

    /// A loop; `turn` leaves a value and tells which branches end the loop. The slot of the loop's own value is returned.
    fn a_loop(&mut self, label: Option<String>, turn: impl FnOnce(&mut Self, &mut Vec<usize>)) -> usize {
        let result = self.slot();
        self.push(Value::Unit);
        self.op(MemoryOp::Declare(result));
        let enter = self.op(ControlOp::Enter(0));
        let head = self.op(MemoryOp::Clear(0..0));
        self.context().targets.push(Target {
            label,
            is_block: false,
            head,
            leaves: Vec::new(),
            result,
        });
        let mut exits = Vec::new();
        let first = self.context().code.slots;
        self.scoped(|lowerer| turn(lowerer, &mut exits));
        let last = self.context().code.slots;
        self.context().code.ops[head] = Op::Memory(MemoryOp::Clear(first..last));
        self.op(ValueOp::Pop);
        self.op(ControlOp::Jump(head));
        let exit = self.op(ControlOp::Exit);
        self.context().code.ops[enter] = Op::Control(ControlOp::Enter(exit));
        for index in exits {
            self.context().code.ops[index] = match self.context().code.ops[index] {
                Op::Control(ControlOp::Next(iterator, _)) => Op::Control(ControlOp::Next(iterator, exit)),
                _ => Op::Control(ControlOp::Branch(exit, exit)),
            };
        }
        self.end_target(first..last);
        result
    }

    fn end_target(&mut self, slots: std::ops::Range<usize>) {
        let end = self.here();
        let leaves = self
            .context()
            .targets
            .pop()
            .map(|target| target.leaves)
            .unwrap_or_default();
        for index in leaves {
            if let Op::Control(ControlOp::Break(loops, _)) = self.context().code.ops[index] {
                self.context().code.ops[index] = Op::Control(ControlOp::Break(loops, end));
            }
        }
        self.op(MemoryOp::Clear(slots));
    }

    /// `'a: { .. }`
    pub(super) fn labelled_block(&mut self, label: String, block: &syn::Block) {
        let result = self.slot();
        self.push(Value::Unit);
        self.op(MemoryOp::Declare(result));
        let enter = self.op(ControlOp::Enter(0));
        self.context().targets.push(Target {
            label: Some(label),
            is_block: true,
            head: enter,
            leaves: Vec::new(),
            result,
        });
        self.block(block);
        self.op(MemoryOp::Declare(result));
        let exit = self.op(ControlOp::Exit);
        self.context().code.ops[enter] = Op::Control(ControlOp::Enter(exit));
        let none = self.context().code.slots;
        self.end_target(none..none);
        self.op(MemoryOp::Load(ckpt_safepoints::skeleton::Var {
            up: 0,
            slot: result,
        }));
    }

    /// How many loops inward a target is, and its index.
    fn target(&mut self, label: Option<&syn::Lifetime>) -> Option<(usize, usize)> {
        let label = label.map(|label| label.ident.to_string());
        let targets = &self.context().targets;
        let index = targets.iter().rposition(|target| match &label {
            Some(label) => target.label.as_ref() == Some(label),
            None => !target.is_block,
        })?;
        Some((targets.len() - index, index))
    }

    pub(super) fn break_expr(&mut self, one: &syn::ExprBreak) {
        let Some((ends, index)) = self.target(one.label.as_ref()) else {
            self.push(Value::Unknown);
            return;
        };
        if let Some(value) = &one.expr {
            self.expr(value);
            let result = self.context().targets[index].result;
            self.op(MemoryOp::Declare(result));
        }
        let at = self.op(ControlOp::Break(ends, 0));
        self.context().targets[index].leaves.push(at);
        self.push(Value::Unit);
    }

    pub(super) fn continue_expr(&mut self, one: &syn::ExprContinue) {
        if let Some((ends, index)) = self.target(one.label.as_ref()) {
            let head = self.context().targets[index].head;
            self.op(ControlOp::Continue(ends - 1, head));
        }
        self.push(Value::Unit);
    }
}
