//! Whether statements change what an expression looks at behind a reference: behind them it would have another value.

use crate::library::Library;
use crate::syntax::places::{Place, Projection};
use crate::syntax::purity::is_assignment;
use crate::visit::{self, Visit};
use syn::{Expr, Stmt};

/// Whether the statements may change a part of a variable, or what it points to, that the expression looks at. Variables
/// as a whole are those that are declared `mut`.
pub fn change(library: &Library, stmts: &[Stmt], expr: &Expr) -> bool {
    let mut parts = Parts(Vec::new());
    parts.visit_expr(expr);
    let mut changes = Changes {
        library,
        parts: parts.0,
        found: false,
    };
    stmts.iter().for_each(|stmt| changes.visit_stmt(stmt));
    changes.found
}

/// The parts of variables that an expression looks at.
struct Parts<'e>(Vec<Place<'e>>);

impl<'e> Parts<'e> {
    fn in_indices(&mut self, place: &'e Expr) {
        match place {
            Expr::Field(field) => self.in_indices(&field.base),
            Expr::Paren(inner) => self.in_indices(&inner.expr),
            Expr::Unary(one) => self.in_indices(&one.expr),
            Expr::Index(one) => {
                self.in_indices(&one.expr);
                self.visit_expr(&one.index);
            }
            _ => {}
        }
    }
}

impl<'e> Visit<'e> for Parts<'e> {
    fn visit_expr(&mut self, expr: &'e Expr) {
        let Some(place) = Place::of(expr) else {
            return visit::visit_expr(self, expr);
        };
        self.in_indices(expr);
        if !place.is_whole() || place.derefs > 0 {
            self.0.push(place);
        }
    }
}

struct Changes<'a> {
    library: &'a Library,
    parts: Vec<Place<'a>>,
    found: bool,
}

impl Changes<'_> {
    fn changes(&mut self, place: &Expr) {
        let is_same = |steps: (&Projection, &Projection)| match steps {
            (Projection::Field(one), Projection::Field(other)) => one == other,
            _ => true,
        };
        let overlap = |one: &Place<'_>, other: &Place<'_>| {
            one.root == other.root && one.path.iter().zip(&other.path).all(is_same)
        };
        let place = Place::of(place);
        self.found |= place.is_some_and(|place| self.parts.iter().any(|part| overlap(part, &place)));
    }

    /// `f(x)` changes what `x` points to, if that is an exclusive reference.
    fn passes(&mut self, argument: &Expr) {
        if matches!(argument, Expr::Path(_)) {
            self.changes(argument);
        }
    }
}

impl<'ast> Visit<'ast> for Changes<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Assign(one) => self.changes(&one.left),
            Expr::Binary(one) if is_assignment(&one.op) => self.changes(&one.left),
            Expr::Reference(one) if one.mutability.is_some() => self.changes(&one.expr),
            Expr::MethodCall(call) => {
                if !self.library.only_looks(&call.method.to_string()) {
                    self.changes(&call.receiver);
                }
                call.args.iter().for_each(|one| self.passes(one));
            }
            Expr::Call(call) => call.args.iter().for_each(|one| self.passes(one)),
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
