//! Indices and other numbers by which a reference is found: `&list[k]`, `list.get(self.next)`, `&list[from..to]`.
//!
//! A restart finds the reference again. By then the number may have gone on, so it is put aside first, and saved like any
//! other variable.

use super::Step;
use super::lower::Lowering;
use crate::library::{Library, Numbers};
use crate::names::{Kind, LocalSet, Locals};
use crate::syntax::places::variable;
use crate::syntax::purity::is_pure;
use crate::visit::{self, Visit};
use syn::{Expr, ItemFn, PatIdent, parse_quote};

/// The variables that are declared `mut` in a function, by the user or by a pass.
pub(super) fn changing(locals: &Locals, function: &ItemFn) -> LocalSet {
    struct Changing<'l>(&'l Locals, LocalSet);
    impl<'ast> Visit<'ast> for Changing<'_> {
        fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
            if pat.by_ref.is_none() && pat.mutability.is_some() {
                self.1.extend(self.0.id(&pat.ident));
            }
            visit::visit_pat_ident(self, pat);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut changing = Changing(locals, LocalSet::default());
    changing.visit_item_fn(function);
    changing.1
}

impl Lowering<'_> {
    /// Puts the numbers aside by which an expression borrows; with `places_only` no arithmetic, which may be guarded by a
    /// condition in front of it.
    pub(super) fn put_keys_aside(&mut self, expr: &mut Expr, places_only: bool, out: &mut Vec<Step>) {
        match expr {
            Expr::Paren(inner) => self.put_keys_aside(&mut inner.expr, places_only, out),
            Expr::Group(inner) => self.put_keys_aside(&mut inner.expr, places_only, out),
            Expr::Reference(one) => self.put_keys_aside(&mut one.expr, places_only, out),
            Expr::Field(field) => self.put_keys_aside(&mut field.base, places_only, out),
            Expr::Index(one) => {
                self.put_keys_aside(&mut one.expr, places_only, out);
                self.key(&mut one.index, places_only, out);
            }
            Expr::MethodCall(call) => {
                let method = call.method.to_string();
                self.put_keys_aside(&mut call.receiver, places_only, out);
                if self.marks.library.borrows(&method) || self.marks.library.adapts(&method) {
                    for argument in &mut call.args {
                        self.key(argument, places_only, out);
                    }
                }
            }
            Expr::Tuple(tuple) => {
                for part in &mut tuple.elems {
                    self.put_keys_aside(part, places_only, out);
                }
            }
            _ => {}
        }
    }

    fn key(&mut self, key: &mut Expr, places_only: bool, out: &mut Vec<Step>) {
        match key {
            Expr::Range(range) => {
                for bound in range.start.iter_mut().chain(&mut range.end) {
                    self.key(bound, places_only, out);
                }
            }
            Expr::Paren(inner) => self.key(&mut inner.expr, places_only, out),
            key => {
                let is_place = matches!(key, Expr::Path(_) | Expr::Field(_));
                if (is_place || !places_only) && is_number(self.marks.library, key) && self.may_change(key) {
                    let name = self.names.fresh(Kind::Key);
                    let taken = std::mem::replace(key, parse_quote!(#name));
                    self.temporary(&name, taken, out);
                }
            }
        }
    }

    /// Whether something that the expression mentions may get another value.
    pub(super) fn may_change(&self, expr: &Expr) -> bool {
        struct Mentions<'a>(&'a Lowering<'a>, bool);
        impl<'ast> Visit<'ast> for Mentions<'_> {
            fn visit_expr(&mut self, expr: &'ast Expr) {
                match expr {
                    Expr::Field(_) => self.1 = true,
                    Expr::Path(_) => {
                        let local = variable(expr).and_then(|name| self.0.names.read().id(name));
                        self.1 |= local.is_some_and(|local| self.0.changing.contains(local));
                    }
                    other => visit::visit_expr(self, other),
                }
            }
        }
        let mut mentions = Mentions(self, false);
        mentions.visit_expr(expr);
        mentions.1
    }
}

/// Whether the expression looks like a number: no borrow, no call but `len`.
fn is_number(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::Path(_) | Expr::Lit(_) => true,
        Expr::Field(_) | Expr::Index(_) => is_pure(library, expr),
        Expr::Paren(inner) => is_number(library, &inner.expr),
        Expr::Unary(one) => is_number(library, &one.expr),
        Expr::Cast(one) => is_number(library, &one.expr),
        Expr::Binary(one) => {
            is_pure(library, expr) && is_number(library, &one.left) && is_number(library, &one.right)
        }
        Expr::MethodCall(call) => library.is_call(call, Numbers::Length) && is_pure(library, expr),
        _ => false,
    }
}
