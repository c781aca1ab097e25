//! A `for` over a `&mut` variable takes it; one with a site borrows through it instead, so that it can do so again.

use crate::library::{Adaptor, Library};
use crate::names::{LocalSet, Locals};
use crate::syntax::marks::Marks;
use crate::visit::{self, Visit, VisitMut};
use syn::{Expr, ExprForLoop, FnArg, ItemFn, Pat, parse_quote};

/// Rewrites `for x in list` as `for x in &mut *list`, for parameters and loop variables that are `&mut`.
pub fn reborrow(function: &mut ItemFn, marks: Marks<'_>, locals: &Locals) {
    let mut exclusive = ExclusiveVariables {
        library: marks.library,
        locals,
        found: LocalSet::default(),
    };
    for argument in &function.sig.inputs {
        if let FnArg::Typed(typed) = argument
            && matches!(&*typed.ty, syn::Type::Reference(one) if one.mutability.is_some())
        {
            exclusive.add(&typed.pat);
        }
    }
    exclusive.visit_block(&function.block);
    let mut rewriter = Rewriter { exclusive, marks };
    rewriter.visit_block_mut(&mut function.block);
}

/// The parameters and loop variables that are `&mut`.
struct ExclusiveVariables<'l> {
    library: &'l Library,
    locals: &'l Locals,
    found: LocalSet,
}

impl ExclusiveVariables<'_> {
    fn add(&mut self, pattern: &Pat) {
        if let Pat::Ident(name) = pattern {
            self.found.extend(self.locals.id(&name.ident));
        }
    }

    fn is_one(&self, expr: &Expr) -> bool {
        let Expr::Path(path) = expr else { return false };
        let local = path.path.get_ident().and_then(|name| self.locals.id(name));
        local.is_some_and(|local| self.found.contains(local))
    }

    /// Whether going over the expression gives `&mut` to items.
    fn give_exclusive(&self, iterable: &Expr) -> bool {
        match without_skips(self.library, iterable) {
            Expr::Reference(one) => one.mutability.is_some(),
            Expr::Paren(inner) => self.give_exclusive(&inner.expr),
            Expr::MethodCall(call) => self.library.goes_over_exclusively(&call.method.to_string()),
            path => self.is_one(path),
        }
    }
}

impl<'ast> Visit<'ast> for ExclusiveVariables<'_> {
    fn visit_expr_for_loop(&mut self, one: &'ast ExprForLoop) {
        let (iterable, pattern) = match (without_skips(self.library, &one.expr), &*one.pat) {
            (Expr::MethodCall(call), Pat::Tuple(pair))
                if self.library.is_call(call, Adaptor::Numbers) && pair.elems.len() == 2 =>
            {
                (&*call.receiver, &pair.elems[1])
            }
            other => other,
        };
        if self.give_exclusive(iterable) {
            self.add(pattern);
        }
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
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
    exclusive: ExclusiveVariables<'a>,
    marks: Marks<'a>,
}

impl VisitMut for Rewriter<'_> {
    fn visit_expr_for_loop_mut(&mut self, one: &mut ExprForLoop) {
        if self.exclusive.is_one(&one.expr) && self.marks.in_block(&one.body) {
            let list = &one.expr;
            *one.expr = parse_quote!(&mut *#list);
        }
        visit::visit_expr_for_loop_mut(self, one);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
