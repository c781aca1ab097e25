//! Which names stand for references, as far as syntax tells.

use super::origins::{Origin, is_reference_type, origin};
use super::patterns::is_binding;
use crate::library::{Adaptor, Library};
use std::collections::HashSet;
use syn::visit::{self, Visit};
use syn::{FnArg, ItemFn, Local, Pat};

/// The names that stand for references wherever the function declares them.
pub fn reference_names(library: &Library, function: &ItemFn) -> HashSet<String> {
    struct Names<'l> {
        library: &'l Library,
        references: HashSet<String>,
        others: HashSet<String>,
    }
    impl Names<'_> {
        fn add(&mut self, name: String, is_reference: bool) {
            if is_reference {
                self.references.insert(name)
            } else {
                self.others.insert(name)
            };
        }
    }
    impl Names<'_> {
        fn is_borrow(&self, value: &syn::Expr) -> bool {
            matches!(
                origin(self.library, value, &self.references),
                Origin::Borrow { .. }
            )
        }

        fn matched(&mut self, pattern: &Pat, value: &syn::Expr) {
            match (pattern, value) {
                (Pat::Tuple(names), syn::Expr::Tuple(parts)) if names.elems.len() == parts.elems.len() => {
                    let pairs = names.elems.iter().zip(&parts.elems);
                    pairs.for_each(|(name, part)| self.matched(name, part));
                }
                _ => {
                    let is_borrow = self.is_borrow(value);
                    self.bound(pattern, is_borrow);
                }
            }
        }

        /// What a pattern binds in a borrowed value: references, but for what stands behind a `&`.
        fn bound(&mut self, pattern: &Pat, is_borrow: bool) {
            match pattern {
                Pat::Reference(inner) => self.bound(&inner.pat, false),
                Pat::Ident(ident) if is_binding(ident) => {
                    self.add(ident.ident.to_string(), is_borrow || ident.by_ref.is_some());
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

    impl<'ast> Visit<'ast> for Names<'_> {
        fn visit_local(&mut self, local: &'ast Local) {
            let (pattern, written) = match &local.pat {
                Pat::Type(typed) => (&*typed.pat, Some(is_reference_type(&typed.ty))),
                other => (other, None),
            };
            if let Pat::Ident(ident) = pattern {
                let made = local.init.as_ref().is_some_and(|init| self.is_borrow(&init.expr));
                self.add(ident.ident.to_string(), written.unwrap_or(made));
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
                (syn::Expr::MethodCall(call), Pat::Tuple(pair))
                    if self.library.is_call(call, Adaptor::Numbers) && pair.elems.len() == 2 =>
                {
                    (&*call.receiver, &pair.elems[1])
                }
                (iterable, pattern) => (iterable, pattern),
            };
            if let Pat::Ident(ident) = pattern {
                let is_reference = gives_references(self.library, iterable, &self.references);
                self.add(ident.ident.to_string(), is_reference);
            }
            visit::visit_expr_for_loop(self, one);
        }
    }
    let mut names = Names {
        library,
        references: HashSet::new(),
        others: HashSet::new(),
    };
    for argument in &function.sig.inputs {
        match argument {
            FnArg::Receiver(receiver) => names.add("self".into(), receiver.reference.is_some()),
            FnArg::Typed(typed) => {
                if let Pat::Ident(ident) = &*typed.pat {
                    names.add(ident.ident.to_string(), is_reference_type(&typed.ty));
                }
            }
        }
    }
    names.visit_block(&function.block);
    names.references.difference(&names.others).cloned().collect()
}

/// Whether going over the expression gives references; `known` are the names of some.
fn gives_references(library: &Library, iterable: &syn::Expr, known: &HashSet<String>) -> bool {
    match iterable {
        syn::Expr::Reference(_) => true,
        syn::Expr::Path(path) => path
            .path
            .get_ident()
            .is_some_and(|name| known.contains(&name.to_string())),
        syn::Expr::Paren(inner) => gives_references(library, &inner.expr, known),
        syn::Expr::MethodCall(call) => {
            let method = call.method.to_string();
            library.goes_over_references(&method)
                || library.passes_on_items(&method) && gives_references(library, &call.receiver, known)
        }
        _ => false,
    }
}
