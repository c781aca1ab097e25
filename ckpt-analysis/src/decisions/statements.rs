//! What several decisions ask of statements and expressions.

use ckpt_compiler::visit::{self, VisitMut};
use syn::Expr;
use syn::spanned::Spanned;

/// Takes statements out of a function.
pub(crate) struct Without<'s>(pub(crate) &'s [&'s syn::Stmt]);

impl VisitMut for Without<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        // Others may read the same.
        let is = |one: &syn::Stmt, stmt: &syn::Stmt| one.span().start() == stmt.span().start() && one == stmt;
        block.stmts.retain(|stmt| !self.0.iter().any(|one| is(one, stmt)));
        visit::visit_block_mut(self, block);
    }
}

/// What makes the value of an expression: the function of its outermost call, or a struct.
pub(crate) fn maker(expr: &Expr) -> Option<&syn::Path> {
    match expr {
        Expr::Paren(inner) => maker(&inner.expr),
        Expr::Try(inner) => maker(&inner.expr),
        Expr::MethodCall(call) => maker(&call.receiver),
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => Some(&path.path),
            _ => None,
        },
        Expr::Struct(one) => Some(&one.path),
        _ => None,
    }
}
