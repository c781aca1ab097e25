//! Expressions that may be evaluated at any time, and any number of times.

use crate::library::Tables;
use syn::Expr;

/// Whether the expression may be evaluated again at any time.
pub fn is_pure(expr: &Expr) -> bool {
    match expr {
        Expr::Lit(_) | Expr::Path(_) | Expr::Closure(_) => true,
        Expr::Field(one) => is_pure(&one.base),
        Expr::Index(one) => is_pure(&one.expr) && is_pure(&one.index),
        Expr::Paren(one) => is_pure(&one.expr),
        Expr::Group(one) => is_pure(&one.expr),
        Expr::Unary(one) => is_pure(&one.expr),
        Expr::Cast(one) => is_pure(&one.expr),
        Expr::Reference(one) => is_pure(&one.expr),
        Expr::Binary(one) => !is_assignment(&one.op) && is_pure(&one.left) && is_pure(&one.right),
        Expr::Tuple(one) => one.elems.iter().all(is_pure),
        Expr::Array(one) => one.elems.iter().all(is_pure),
        Expr::Range(one) => one.start.iter().chain(&one.end).all(|bound| is_pure(bound)),
        Expr::MethodCall(call) => {
            Tables::current().is_pure(&call.method.to_string())
                && is_pure(&call.receiver)
                && call.args.iter().all(is_pure)
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
