//! Patterns for what is lent to be looked at, `let Simulation { queue, now, .. } = &simulation;`: under the names that its parts have there
//! nobody changes them, so such patterns are left out by what looks for changes.

use ckpt_compiler::visit::{self, Visit};
use syn::{Expr, ExprLet, ExprMatch, Local};

pub(super) fn local<'a>(visitor: &mut impl Visit<'a>, local: &'a Local) {
    match &local.init {
        Some(init) if is_lent(&init.expr) => {
            visitor.visit_expr(&init.expr);
            init.diverge
                .iter()
                .for_each(|(_, leaves)| visitor.visit_expr(leaves));
        }
        _ => visit::visit_local(visitor, local),
    }
}

/// The condition of an `if let`.
pub(super) fn condition<'a>(visitor: &mut impl Visit<'a>, one: &'a ExprLet) {
    match is_lent(&one.expr) {
        true => visitor.visit_expr(&one.expr),
        false => visit::visit_expr_let(visitor, one),
    }
}

pub(super) fn branches<'a>(visitor: &mut impl Visit<'a>, one: &'a ExprMatch) {
    if !is_lent(&one.expr) {
        return visit::visit_expr_match(visitor, one);
    }
    visitor.visit_expr(&one.expr);
    for arm in &one.arms {
        arm.guard.iter().for_each(|(_, guard)| visitor.visit_expr(guard));
        visitor.visit_expr(&arm.body);
    }
}

fn is_lent(expr: &Expr) -> bool {
    match expr {
        Expr::Reference(one) => one.mutability.is_none(),
        Expr::Paren(inner) => is_lent(&inner.expr),
        _ => false,
    }
}
