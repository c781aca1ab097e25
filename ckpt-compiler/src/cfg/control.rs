//! Walks the control flow inside statements that hold no site: branches, loops and jumps.

use super::expr::{Jumps, Walker};
use proc_macro2::{TokenStream, TokenTree};
use syn::Expr;

impl Walker<'_> {
    pub(super) fn control(&mut self, expr: &Expr) {
        match expr {
            Expr::Let(one) => {
                self.matched_with(&one.expr, [&*one.pat]);
                self.lends_to(&one.expr, [&*one.pat]);
                self.declare_inner(&one.pat);
            }
            Expr::Block(block) => self.labelled(block.label.as_ref(), |walker| walker.stmts(&block.block)),
            Expr::Unsafe(block) => self.stmts(&block.block),
            Expr::Const(block) => self.stmts(&block.block),
            Expr::Async(block) => self.capturing(block.capture.is_some(), |walker| {
                walker.apart(|walker| walker.stmts(&block.block));
            }),
            Expr::If(branch) => {
                self.enter();
                self.expr(&branch.cond);
                let (start, end) = (self.here, self.node());
                self.here = self.node();
                let here = self.here;
                self.edge(start, here);
                self.stmts(&branch.then_branch);
                self.leave();
                let here = self.here;
                self.edge(here, end);
                self.here = self.node();
                let here = self.here;
                self.edge(start, here);
                if let Some((_, otherwise)) = &branch.else_branch {
                    self.expr(otherwise);
                }
                let here = self.here;
                self.edge(here, end);
                self.here = end;
            }
            Expr::Match(branch) => {
                self.matched_with(&branch.expr, branch.arms.iter().map(|arm| &arm.pat));
                self.lends_to(&branch.expr, branch.arms.iter().map(|arm| &arm.pat));
                let (start, end) = (self.here, self.node());
                for arm in &branch.arms {
                    self.here = self.node();
                    let here = self.here;
                    self.edge(start, here);
                    self.enter();
                    self.declare_inner(&arm.pat);
                    if let Some((_, guard)) = &arm.guard {
                        self.expr(guard);
                    }
                    self.expr(&arm.body);
                    self.leave();
                    let here = self.here;
                    self.edge(here, end);
                }
                self.here = end;
            }
            Expr::Loop(one) => self.endless(one.label.as_ref(), |walker| walker.stmts(&one.body)),
            Expr::While(one) => {
                self.looping(
                    one.label.as_ref(),
                    |walker| walker.expr(&one.cond),
                    |walker| walker.stmts(&one.body),
                );
            }
            Expr::ForLoop(one) => {
                self.expr(&one.expr);
                self.looping(
                    one.label.as_ref(),
                    |walker| walker.declare_inner(&one.pat),
                    |walker| walker.stmts(&one.body),
                );
            }
            Expr::Return(jump) => {
                jump.expr.iter().for_each(|value| self.expr(value));
                self.leave_all();
            }
            Expr::Break(jump) => {
                jump.expr.iter().for_each(|value| self.expr(value));
                self.jump(
                    jump.label
                        .as_ref()
                        .map(|label| label.ident.to_string())
                        .as_deref(),
                    true,
                );
            }
            Expr::Continue(jump) => {
                self.jump(
                    jump.label
                        .as_ref()
                        .map(|label| label.ident.to_string())
                        .as_deref(),
                    false,
                );
            }
            _ => {}
        }
    }

    pub(super) fn labelled(&mut self, label: Option<&syn::Label>, walk: impl FnOnce(&mut Self)) {
        let after = self.node();
        let label = label.map(|label| label.name.ident.to_string());
        self.loops.push(Jumps {
            label,
            to_break: after,
            to_continue: None,
        });
        walk(self);
        self.loops.pop();
        let here = self.here;
        self.edge(here, after);
        self.here = after;
    }

    pub(super) fn looping(
        &mut self,
        label: Option<&syn::Label>,
        test: impl FnOnce(&mut Self),
        body: impl FnOnce(&mut Self),
    ) {
        let (head, after) = (self.node(), self.node());
        let here = self.here;
        self.edge(here, head);
        self.here = head;
        self.enter();
        test(self);
        let (tested, inside) = (self.here, self.node());
        self.edge(tested, after);
        self.edge(tested, inside);
        self.here = inside;
        let label = label.map(|label| label.name.ident.to_string());
        self.loops.push(Jumps {
            label,
            to_break: after,
            to_continue: Some(head),
        });
        body(self);
        self.loops.pop();
        self.leave();
        let here = self.here;
        self.edge(here, head);
        self.here = after;
    }

    /// A `loop`: only a `break` goes on behind it.
    fn endless(&mut self, label: Option<&syn::Label>, body: impl FnOnce(&mut Self)) {
        let (head, after) = (self.node(), self.node());
        let here = self.here;
        self.edge(here, head);
        self.here = head;
        let label = label.map(|label| label.name.ident.to_string());
        self.loops.push(Jumps {
            label,
            to_break: after,
            to_continue: Some(head),
        });
        body(self);
        self.loops.pop();
        let here = self.here;
        self.edge(here, head);
        self.here = after;
    }

    pub(super) fn jump(&mut self, label: Option<&str>, breaks: bool) {
        let target = self.loops.iter().rev().find(|jumps| match label {
            Some(label) => jumps.label.as_deref() == Some(label),
            None => jumps.to_continue.is_some(),
        });
        let target = target.and_then(|jumps| {
            if breaks {
                Some(jumps.to_break)
            } else {
                jumps.to_continue
            }
        });
        if let Some(target) = target {
            let here = self.here;
            self.edge(here, target);
        }
        self.here = self.node();
    }

    /// `return` or `break 'label`, as tokens.
    pub(super) fn jump_tokens(&mut self, prefix: &TokenStream) {
        let mut words = prefix.clone().into_iter().filter_map(|token| match token {
            TokenTree::Ident(ident) => Some(ident.to_string()),
            _ => None,
        });
        if words.next().as_deref() == Some("break") {
            let label = words.next();
            self.jump(label.as_deref(), true);
        } else {
            self.leave_all();
        }
    }
}
