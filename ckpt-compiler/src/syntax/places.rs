//! Places: variables and parts of them, `local.field[index]`.

use crate::library::Library;
use crate::syntax::purity::is_pure;
use proc_macro2::Ident;
use syn::{Expr, Member, UnOp};

/// A place as the way to it from a variable.
#[derive(Debug, Clone)]
pub struct Place<'e> {
    /// The variable.
    pub root: &'e Ident,
    /// The way from there.
    pub path: Vec<Projection>,
    /// How many boxes or references are looked into at its end: `*a.b`. On the way it makes no difference.
    pub derefs: usize,
}

/// One step from a variable towards a part of it.
#[derive(Debug, Clone)]
pub enum Projection {
    /// A field.
    Field(Member),
    /// An element or a range of a list.
    Index(Box<Expr>),
}

impl<'e> Place<'e> {
    /// The place that an expression is.
    pub fn of(expr: &'e Expr) -> Option<Self> {
        let (mut at, mut path, mut derefs) = (expr, Vec::new(), 0);
        while let Some(base) = base(at) {
            match at {
                Expr::Field(field) => path.push(Projection::Field(field.member.clone())),
                Expr::Index(index) => path.push(Projection::Index(index.index.clone())),
                Expr::Unary(_) if path.is_empty() => derefs += 1,
                _ => {}
            }
            at = base;
        }
        path.reverse();
        let root = variable(at)?;
        Some(Self { root, path, derefs })
    }

    /// Whether it is a whole variable, or all that a reference points to.
    pub fn is_whole(&self) -> bool {
        self.path.is_empty()
    }

    /// Whether its indices may be looked at twice.
    pub fn is_pure(&self, library: &Library) -> bool {
        let is_pure = |step: &Projection| match step {
            Projection::Field(_) => true,
            Projection::Index(index) => is_pure(library, index),
        };
        self.path.iter().all(is_pure)
    }
}

/// What a place is a part of, or is behind.
fn base(place: &Expr) -> Option<&Expr> {
    match place {
        Expr::Field(field) => Some(&field.base),
        Expr::Index(index) => Some(&index.expr),
        Expr::Paren(inner) => Some(&inner.expr),
        Expr::Group(inner) => Some(&inner.expr),
        Expr::Unary(unary) if matches!(unary.op, UnOp::Deref(_)) => Some(&unary.expr),
        _ => None,
    }
}

/// The variable at the root of a place: `a` for `a`, `a.b[c].d`, `*a`.
pub fn place_root(place: &Expr) -> Option<&Ident> {
    base(place).map_or_else(|| variable(place), place_root)
}

/// The variable that is borrowed as a whole or in part: `a` for `&a`, `&mut a.b`.
pub fn loan_root(loan: &Expr) -> Option<&Ident> {
    match loan {
        Expr::Reference(one) => place_root(&one.expr),
        _ => None,
    }
}

/// The variable that a chain of methods begins at: `a` for `a.b.iter().rev()`.
pub fn chain_root(chain: &Expr) -> Option<&Ident> {
    match chain {
        Expr::MethodCall(call) => chain_root(&call.receiver),
        other => base(other).map_or_else(|| variable(other), chain_root),
    }
}

/// A variable, or a field of one.
pub fn is_place(expr: &Expr) -> bool {
    match expr {
        Expr::Path(path) => path.path.get_ident().is_some(),
        Expr::Field(field) => is_place(&field.base),
        _ => false,
    }
}

/// The variable that an expression names.
pub fn variable(expr: &Expr) -> Option<&Ident> {
    match expr {
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
}
