//! The share of a region's work that its own thread does beside those that it has started. It becomes the body of one
//! more thread, for which the first waits, so that the thread that takes the checkpoints does nothing else.

use super::starts::{is_value, joins};
use crate::names::Locals;
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{locals_in, locals_of};
use crate::syntax::region_marks;
use crate::visit::{self, Visit};
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{Expr, Stmt, parse_quote};

/// Makes a thread of the statements from the first with a site on, up to the first that joins threads. Returns the index
/// of the statement that starts it and waits for it; nothing where there is no such share, or no thread can do it.
pub(super) fn give_away(
    statements: &mut Vec<Stmt>,
    from: usize,
    region: usize,
    marks: Marks<'_>,
    locals: &Locals,
) -> Option<usize> {
    let range = share(statements, from, marks)?;
    let (own, behind) = (&statements[range.clone()], &statements[range.end..]);
    if own.iter().any(leaves) {
        return None;
    }
    let span = own.first()?.span();
    let replaced = match own {
        [Stmt::Local(local)] => {
            let mut local = local.clone();
            let init = local.init.as_mut().filter(|init| init.diverge.is_none())?;
            *init.expr = syn::parse2(thread(&init.expr, region, span)).ok()?;
            Stmt::Local(local)
        }
        _ => {
            let used = locals_in(locals, quote!(#(#behind)*));
            let is_used = |stmt: &Stmt| match stmt {
                Stmt::Local(local) => !used.is_disjoint(&locals_of(locals, &local.pat)),
                _ => false,
            };
            if own.iter().any(is_used) {
                return None;
            }
            let semicolon = match own.last() {
                Some(Stmt::Expr(_, None)) if behind.is_empty() => None,
                _ => Some(Default::default()),
            };
            let body: Expr = parse_quote!({ #(#own)* });
            Stmt::Expr(syn::parse2(thread(&body, region, span)).ok()?, semicolon)
        }
    };
    let first = range.start;
    statements.splice(range, [replaced]);
    Some(first)
}

/// The statements of the share.
fn share(statements: &[Stmt], from: usize, marks: Marks<'_>) -> Option<Range<usize>> {
    let rest = statements.get(from..)?;
    let mut end = from
        + rest
            .iter()
            .position(|one| joins(marks.library, one))
            .unwrap_or(rest.len());
    if end == statements.len() && statements.last().is_some_and(is_value) {
        end -= 1;
    }
    let first = statements[from..end]
        .iter()
        .position(|stmt| marks.in_stmt(stmt))?;
    Some(from + first..end)
}

/// Starts a thread with this body, waits for the region's threads, and returns what the body gives.
fn thread(body: &impl ToTokens, region: usize, span: Span) -> TokenStream {
    let name = |text: &str| format_ident!("{}", text, span = Span::mixed_site());
    let (scope, own, value, panic) = (
        name("ckpt_scope"),
        name("ckpt_own"),
        name("ckpt_value"),
        name("ckpt_panic"),
    );
    let wait = region_marks::wait(region, span);
    let start = quote_spanned!(span=> #scope.spawn(|| #body));
    quote! {
        ::std::thread::scope(|#scope| {
            let #own = #start;
            #wait
            match #own.join() {
                ::core::result::Result::Ok(#value) => #value,
                ::core::result::Result::Err(#panic) => ::std::panic::resume_unwind(#panic),
            }
        })
    }
}

/// Whether a statement may leave what is around it: `return`, `?`, `break` of a loop that is not its own.
fn leaves(stmt: &Stmt) -> bool {
    #[derive(Default)]
    struct Leaves {
        found: bool,
        loops: u32,
    }
    impl Leaves {
        fn within(&mut self, walk: impl FnOnce(&mut Self)) {
            self.loops += 1;
            walk(self);
            self.loops -= 1;
        }
    }
    impl<'ast> Visit<'ast> for Leaves {
        fn visit_expr(&mut self, expr: &'ast Expr) {
            match expr {
                Expr::Return(_) | Expr::Try(_) | Expr::Await(_) => self.found = true,
                Expr::Break(one) => self.found |= self.loops == 0 || one.label.is_some(),
                Expr::Continue(one) => self.found |= self.loops == 0 || one.label.is_some(),
                Expr::ForLoop(_) | Expr::While(_) | Expr::Loop(_) => {
                    return self.within(|leaves| visit::visit_expr(leaves, expr));
                }
                Expr::Closure(_) => return,
                _ => {}
            }
            visit::visit_expr(self, expr);
        }
        fn visit_item(&mut self, _: &'ast syn::Item) {}
    }
    let mut leaves = Leaves::default();
    leaves.visit_stmt(stmt);
    leaves.found
}
