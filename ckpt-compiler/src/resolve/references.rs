//! Which variables stand for references, as far as syntax tells.

use crate::library::{Adaptor, Library};
use crate::names::{LocalSet, Locals};
use crate::syntax::origins::{Known, is_reference_type};
use crate::syntax::patterns::is_binding;
use crate::visit::{self, Visit};
use proc_macro2::Ident;
use syn::{Expr, FnArg, ItemFn, Local, Pat};

/// The variables that stand for references wherever the function declares them.
pub fn references(library: &Library, locals: &Locals, function: &ItemFn) -> LocalSet {
    let mut finder = Finder {
        library,
        locals,
        references: LocalSet::default(),
        others: LocalSet::default(),
    };
    for argument in &function.sig.inputs {
        match argument {
            FnArg::Receiver(receiver) => {
                let name = Ident::new("self", receiver.self_token.span);
                finder.add(&name, receiver.reference.is_some());
            }
            FnArg::Typed(typed) => {
                if let Pat::Ident(ident) = &*typed.pat {
                    let is_reference = is_reference_type(&typed.ty, ident.mutability.is_some());
                    finder.add(&ident.ident, is_reference);
                }
            }
        }
    }
    finder.visit_block(&function.block);
    let Finder {
        mut references,
        others,
        ..
    } = finder;
    references.remove_all(&others);
    references
}

/// A pass may declare a variable at more than one place.
struct Finder<'a> {
    library: &'a Library,
    locals: &'a Locals,
    references: LocalSet,
    others: LocalSet,
}

impl Finder<'_> {
    fn add(&mut self, name: &Ident, is_reference: bool) {
        let of = match is_reference {
            true => &mut self.references,
            false => &mut self.others,
        };
        of.extend(self.locals.id(name));
    }

    fn known(&self) -> Known<'_> {
        Known::with(self.library, self.locals, &self.references)
    }

    fn matched(&mut self, pattern: &Pat, value: &Expr) {
        match (pattern, value) {
            (Pat::Tuple(names), Expr::Tuple(parts)) if names.elems.len() == parts.elems.len() => {
                let pairs = names.elems.iter().zip(&parts.elems);
                pairs.for_each(|(name, part)| self.matched(name, part));
            }
            _ => {
                let is_borrow = self.known().borrows(value);
                self.bound(pattern, is_borrow);
            }
        }
    }

    /// What a pattern binds in a borrowed value: references, but for what stands behind a `&`.
    fn bound(&mut self, pattern: &Pat, is_borrow: bool) {
        match pattern {
            Pat::Reference(inner) => self.bound(&inner.pat, false),
            Pat::Ident(ident) if is_binding(self.locals, ident) => {
                self.add(&ident.ident, is_borrow || ident.by_ref.is_some());
                let inner = ident.subpat.iter();
                inner.for_each(|(_, inner)| self.bound(inner, is_borrow));
            }
            Pat::Tuple(one) => one.elems.iter().for_each(|part| self.bound(part, is_borrow)),
            Pat::TupleStruct(one) => one.elems.iter().for_each(|part| self.bound(part, is_borrow)),
            Pat::Slice(one) => one.elems.iter().for_each(|part| self.bound(part, is_borrow)),
            Pat::Or(one) => one.cases.iter().for_each(|part| self.bound(part, is_borrow)),
            Pat::Struct(one) => one
                .fields
                .iter()
                .for_each(|field| self.bound(&field.pat, is_borrow)),
            Pat::Paren(inner) => self.bound(&inner.pat, is_borrow),
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_local(&mut self, local: &'ast Local) {
        let (pattern, written) = match &local.pat {
            Pat::Type(typed) => {
                let changes = matches!(&*typed.pat, Pat::Ident(name) if name.mutability.is_some());
                (&*typed.pat, Some(is_reference_type(&typed.ty, changes)))
            }
            other => (other, None),
        };
        if let Pat::Ident(ident) = pattern {
            let made = local
                .init
                .as_ref()
                .is_some_and(|init| self.known().borrows(&init.expr));
            self.add(&ident.ident, written.unwrap_or(made));
        } else if let Some(init) = &local.init {
            self.matched(pattern, &init.expr);
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_let(&mut self, one: &'ast syn::ExprLet) {
        self.matched(&one.pat, &one.expr);
        visit::visit_expr_let(self, one);
    }

    fn visit_expr_match(&mut self, one: &'ast syn::ExprMatch) {
        one.arms.iter().for_each(|arm| self.matched(&arm.pat, &one.expr));
        visit::visit_expr_match(self, one);
    }

    fn visit_expr_for_loop(&mut self, one: &'ast syn::ExprForLoop) {
        let (iterable, pattern) = match (&*one.expr, &*one.pat) {
            (Expr::MethodCall(call), Pat::Tuple(pair))
                if self.library.is_call(call, Adaptor::Numbers) && pair.elems.len() == 2 =>
            {
                (&*call.receiver, &pair.elems[1])
            }
            (iterable, pattern) => (iterable, pattern),
        };
        if let Pat::Ident(ident) = pattern {
            let is_reference = gives_references(self.known(), iterable);
            self.add(&ident.ident, is_reference);
        }
        visit::visit_expr_for_loop(self, one);
    }
}
/// Whether going over the expression gives references.
fn gives_references(known: Known<'_>, iterable: &Expr) -> bool {
    match iterable {
        Expr::Reference(_) => true,
        Expr::Path(path) => path.path.get_ident().is_some_and(|name| known.is_reference(name)),
        Expr::Paren(inner) => gives_references(known, &inner.expr),
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            known.library.goes_over_references(&method)
                || known.library.passes_on_items(&method) && gives_references(known, &call.receiver)
        }
        _ => false,
    }
}
