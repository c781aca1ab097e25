//! A `for` over a `&mut` variable takes it; one with a site borrows through it instead, so that it can do so again.

use crate::library::{Adaptor, Library};
use crate::syntax::marks::Marks;
use crate::syntax::origins::is_exclusive_type;
use crate::syntax::patterns::pattern_bindings;
use std::collections::HashSet;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprForLoop, FnArg, ItemFn, Local, Pat, parse_quote};

/// Rewrites `for x in list` as `for x in &mut *list`, for parameters and loop variables that are `&mut`.
pub fn reborrow(function: &mut ItemFn, marks: Marks<'_>) {
    let mut names = ExclusiveNames {
        library: marks.library,
        exclusive: HashSet::new(),
        others: HashSet::new(),
    };
    for argument in &function.sig.inputs {
        if let FnArg::Typed(typed) = argument {
            let exclusive = matches!(&*typed.ty, syn::Type::Reference(_)) && is_exclusive_type(&typed.ty);
            names.add(&typed.pat, exclusive);
        }
    }
    names.visit_block_mut(&mut function.block);
    let mut rewriter = Rewriter { names, marks };
    rewriter.visit_block_mut(&mut function.block);
}

/// What the names of a function stand for.
struct ExclusiveNames<'l> {
    library: &'l Library,
    exclusive: HashSet<String>,
    others: HashSet<String>,
}

impl ExclusiveNames<'_> {
    fn add(&mut self, pattern: &Pat, exclusive: bool) {
        let alone = matches!(pattern, Pat::Ident(_));
        for one in pattern_bindings(pattern) {
            let set = if exclusive && alone {
                &mut self.exclusive
            } else {
                &mut self.others
            };
            set.insert(one.ident.to_string());
        }
    }

    fn are(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
                let name = name.to_string();
                self.exclusive.contains(&name) && !self.others.contains(&name)
            }),
            _ => false,
        }
    }

    /// Whether going over the expression gives `&mut` to items.
    fn give_exclusive(&self, iterable: &Expr) -> bool {
        match without_skips(self.library, iterable) {
            Expr::Reference(one) => one.mutability.is_some(),
            Expr::Paren(inner) => self.give_exclusive(&inner.expr),
            Expr::MethodCall(call) => self.library.goes_over_exclusively(&call.method.to_string()),
            path => self.are(path),
        }
    }
}

impl VisitMut for ExclusiveNames<'_> {
    fn visit_local_mut(&mut self, local: &mut Local) {
        self.add(&local.pat, false);
        visit_mut::visit_local_mut(self, local);
    }

    fn visit_expr_for_loop_mut(&mut self, one: &mut ExprForLoop) {
        match (without_skips(self.library, &one.expr), &*one.pat) {
            (Expr::MethodCall(call), Pat::Tuple(pair))
                if self.library.is_call(call, Adaptor::Numbers) && pair.elems.len() == 2 =>
            {
                let exclusive = self.give_exclusive(&call.receiver);
                self.add(&pair.elems[0], false);
                self.add(&pair.elems[1], exclusive);
            }
            (iterable, pattern) => {
                let exclusive = self.give_exclusive(iterable);
                self.add(pattern, exclusive);
            }
        }
        visit_mut::visit_expr_for_loop_mut(self, one);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// The iterator of which an adaptor only leaves items out.
fn without_skips<'e>(library: &Library, iterable: &'e Expr) -> &'e Expr {
    match iterable {
        Expr::MethodCall(call) if library.passes_on_items(&call.method.to_string()) => {
            without_skips(library, &call.receiver)
        }
        other => other,
    }
}

struct Rewriter<'a> {
    names: ExclusiveNames<'a>,
    marks: Marks<'a>,
}

impl VisitMut for Rewriter<'_> {
    fn visit_expr_for_loop_mut(&mut self, one: &mut ExprForLoop) {
        if self.names.are(&one.expr) && self.marks.in_block(&one.body) {
            let list = &one.expr;
            *one.expr = parse_quote!(&mut *#list);
        }
        visit_mut::visit_expr_for_loop_mut(self, one);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
