//! Expressions that may be evaluated at any time, and any number of times.

use crate::library::Library;
use syn::Expr;

/// Whether the expression may be evaluated again at any time.
pub fn is_pure(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_) => true,
        Expr::Field(one) => is_pure(library, &one.base),
        Expr::Index(one) => is_pure(library, &one.expr) && is_pure(library, &one.index),
        Expr::Paren(one) => is_pure(library, &one.expr),
        Expr::Group(one) => is_pure(library, &one.expr),
        Expr::Unary(one) => is_pure(library, &one.expr),
        Expr::Cast(one) => is_pure(library, &one.expr),
        Expr::Reference(one) => is_pure(library, &one.expr),
        Expr::Binary(one) => {
            !is_assignment(&one.op) && is_pure(library, &one.left) && is_pure(library, &one.right)
        }
        Expr::Tuple(one) => one.elems.iter().all(|one| is_pure(library, one)),
        Expr::Array(one) => one.elems.iter().all(|one| is_pure(library, one)),
        Expr::Range(one) => one
            .start
            .iter()
            .chain(&one.end)
            .all(|bound| is_pure(library, bound)),
        Expr::MethodCall(call) => {
            library.is_pure(&call.method.to_string())
                && is_pure(library, &call.receiver)
                && call.args.iter().all(|one| is_pure(library, one))
        }
        _ => false,
    }
}

/// `+=` and its like.
pub fn is_assignment(op: &syn::BinOp) -> bool {
    use syn::BinOp;
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}
