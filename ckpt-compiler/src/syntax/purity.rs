//! Expressions that may be evaluated at any time, and any number of times.

use super::macros::{items_of_list, repeated_in_list};
use crate::library::Library;
use syn::{Expr, Stmt};

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

/// Whether the expression computes a value from numbers and does nothing else, whatever that takes: chains of iterators and lists too.
/// Every call in it, in closures as well, is one of which the tables say so, and no way leads out of it.
pub fn computes(library: &Library, expr: &Expr) -> bool {
    let part = |one: &Expr| computes(library, one);
    match expr {
        Expr::Lit(_) | Expr::Path(_) => true,
        Expr::Paren(one) => part(&one.expr),
        Expr::Group(one) => part(&one.expr),
        Expr::Unary(one) => part(&one.expr),
        Expr::Cast(one) => part(&one.expr),
        Expr::Field(one) => part(&one.base),
        Expr::Index(one) => part(&one.expr) && part(&one.index),
        Expr::Binary(one) => !is_assignment(&one.op) && part(&one.left) && part(&one.right),
        Expr::Tuple(one) => one.elems.iter().all(part),
        Expr::Array(one) => one.elems.iter().all(part),
        Expr::Repeat(one) => part(&one.expr) && part(&one.len),
        Expr::Range(one) => one.start.iter().chain(&one.end).all(|bound| part(bound)),
        Expr::Struct(one) => one.rest.is_none() && one.fields.iter().all(|field| part(&field.expr)),
        Expr::Closure(one) => one.capture.is_none() && part(&one.body),
        Expr::Block(one) => {
            one.label.is_none()
                && matches!(one.block.stmts.as_slice(), [Stmt::Expr(last, None)] if part(last))
        }
        Expr::Macro(one) => match repeated_in_list(library, &one.mac) {
            Some((value, length)) => part(&value) && part(&length),
            None => items_of_list(library, &one.mac).is_some_and(|items| items.iter().all(part)),
        },
        Expr::Call(call) => {
            let is_known = matches!(&*call.func, Expr::Path(path) if library.is_pure_function(&path.path));
            is_known && call.args.iter().all(part)
        }
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            let is_known = library.is_pure(&method) || library.adapts(&method) || library.collects(&method);
            is_known && part(&call.receiver) && call.args.iter().all(part)
        }
        _ => false,
    }
}

/// Whether an operator takes both operands and makes a third value: `+`, `-`, `*` and their like.
pub fn is_arithmetic(op: &syn::BinOp) -> bool {
    use syn::BinOp;
    matches!(
        op,
        BinOp::Add(_)
            | BinOp::Sub(_)
            | BinOp::Mul(_)
            | BinOp::Div(_)
            | BinOp::Rem(_)
            | BinOp::BitXor(_)
            | BinOp::BitAnd(_)
            | BinOp::BitOr(_)
            | BinOp::Shl(_)
            | BinOp::Shr(_)
    )
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_computes_and_does_nothing_else() {
        let library = Library::builtin();
        let is = |text: &str| computes(library, &syn::parse_str(text).expect("an expression"));
        for computed in [
            "vec![0.5; n]",
            "vec![1.0, h * 2.0]",
            "(0..n).map(|at| at as f64 * h + 1.0).collect::<Vec<_>>()",
            "(0..n).map(|at| at as f64).sum()",
            "Grid { width: n, cells: vec![0.0; n * n] }",
            "[[0.0; 3]; 3]",
        ] {
            assert!(is(computed), "{computed}");
        }
        for other in [
            "start(n)",
            "(0..n).map(|at| draw(at)).collect::<Vec<_>>()",
            "(0..n).map(|at| { count += 1; at }).collect::<Vec<_>>()",
            "lines.next()",
            "vec![0.5; n]?",
            "format!(\"{n}\")",
            "&mut n",
        ] {
            assert!(!is(other), "{other}");
        }
    }
}
