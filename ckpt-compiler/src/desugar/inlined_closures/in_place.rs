//! Closures that are called where they stand: `(|| { .. run(config)?; Ok(()) })()`.

use super::exits::{can_be_written_out, written_out_in_place};
use crate::library::Library;
use crate::names::{LocalSet, Locals, Names};
use crate::syntax::macros::arguments_of_macro;
use crate::syntax::mentions::{Declared, locals_in};
use crate::visit::{self, Visit};
use quote::ToTokens;
use syn::{Expr, ExprCall, ExprClosure, Stmt, parse_quote};

/// The closure that is called where it stands, if a block can be in its place.
pub fn called_in_place<'e>(library: &Library, call: &'e ExprCall) -> Option<&'e ExprClosure> {
    let closure = closure_called(&call.func)?;
    let fits = closure.inputs.len() == call.args.len()
        && can_be_written_out(library, closure)
        && (closure.capture.is_none() || owns_whole_variables(library, closure));
    fits.then_some(closure)
}

fn closure_called(func: &Expr) -> Option<&ExprClosure> {
    match func {
        Expr::Paren(inner) => closure_called(&inner.expr),
        Expr::Group(inner) => closure_called(&inner.expr),
        Expr::Closure(closure) => Some(closure),
        _ => None,
    }
}

/// The block in the place of the call. A closure that owns what it captures changes its own copy, and drops it where it ends: the block
/// binds it again. Nothing where an argument would see that.
pub(super) fn written_out(
    library: &Library,
    closure: &ExprClosure,
    call: &ExprCall,
    (names, references): (&Names, &LocalSet),
) -> Option<Expr> {
    let given: Vec<Expr> = call.args.iter().cloned().collect();
    let mut owned: Vec<Stmt> = Vec::new();
    if closure.capture.is_some() {
        let locals = names.locals();
        let captured = captured(closure, &locals);
        let in_arguments = locals_in(&locals, call.args.to_token_stream());
        if !captured.is_disjoint(&in_arguments) {
            return None;
        }
        // What is behind a reference stays there.
        for local in { locals.by_name(&captured).into_iter() }.filter(|local| !references.contains(*local)) {
            let mut own = locals.name(local).clone();
            if !locals.is_variable(&own) {
                continue;
            }
            own.set_span(closure.or1_token.spans[0]);
            let mutability = locals.is_mutable(local).then(<syn::Token![mut]>::default);
            owned.push(parse_quote!(let #mutability #own = #own;));
        }
    }
    Some(written_out_in_place(library, closure, &given, &owned, names))
}

/// Whether a closure that owns what it captures is called where it stands.
pub(super) fn is_any_owning(library: &Library, block: &syn::Block) -> bool {
    struct Owning<'l>(&'l Library, bool);
    impl<'ast> Visit<'ast> for Owning<'_> {
        fn visit_expr_call(&mut self, call: &'ast ExprCall) {
            self.1 |= called_in_place(self.0, call).is_some_and(|closure| closure.capture.is_some());
            visit::visit_expr_call(self, call);
        }
    }
    let mut owning = Owning(library, false);
    owning.visit_block(block);
    owning.1
}

/// The function's variables that the closure uses.
fn captured(closure: &ExprClosure, locals: &Locals) -> LocalSet {
    struct Used<'l>(&'l Locals, LocalSet);
    impl<'ast> Visit<'ast> for Used<'_> {
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            let local = path.path.get_ident().and_then(|name| self.0.id(name));
            self.1.extend(local);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            self.1.extend(locals_in(self.0, mac.tokens.clone()).iter());
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut own = Declared::new(locals);
    own.visit_expr_closure(closure);
    let mut used = Used(locals, LocalSet::default());
    used.visit_expr(&closure.body);
    used.1.remove_all(&own.found);
    used.1
}

/// Whether a closure is seen to own variables as wholes: of `s.x` it would own a part only, and `self` has no other name.
fn owns_whole_variables(library: &Library, closure: &ExprClosure) -> bool {
    struct Parts<'l>(&'l Library, bool);
    impl<'ast> Visit<'ast> for Parts<'_> {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            self.1 |= match expr {
                Expr::Field(_) => true,
                Expr::Path(path) => path.path.is_ident("self"),
                _ => false,
            };
            visit::visit_expr(self, expr);
        }
        fn visit_macro(&mut self, mac: &'ast syn::Macro) {
            match arguments_of_macro(self.0, mac) {
                Some(arguments) => arguments.iter().for_each(|one| self.visit_expr(one)),
                None => self.1 |= !mac.tokens.is_empty(),
            }
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut parts = Parts(library, false);
    parts.visit_expr(&closure.body);
    !parts.1
}
