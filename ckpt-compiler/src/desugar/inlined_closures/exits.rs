//! Closures that `return`, or end early by `?`, written out where they are called: the block in their place is left instead.

use crate::library::Library;
use crate::names::{Kind, Names, plain};
use crate::paths::rt;
use crate::syntax::macros::arguments_of_macro;
use crate::syntax::macros::name_of_macro;
use crate::syntax::marks::Marks;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{Block, Expr, ExprClosure, Lifetime, Pat, ReturnType, Stmt, Type, parse_quote};

/// Whether the body of a closure can stand where the closure is called: nothing that cannot be seen leaves it, and it is
/// not asynchronous.
pub fn can_be_written_out(library: &Library, closure: &ExprClosure) -> bool {
    let never = matches!(&closure.output, ReturnType::Type(_, ty) if matches!(**ty, Type::Never(_)));
    closure.asyncness.is_none()
        && !never
        && !leaves(library, &closure.body).unseen
        && !closure
            .inputs
            .iter()
            .any(|input| matches!(input, Pat::Verbatim(_)))
}

/// The value of a closure for what it is given, without the closure.
pub fn written_out(library: &Library, closure: &ExprClosure, given: &[Expr], names: &Names) -> Expr {
    let inputs = closure.inputs.iter();
    let body = body_of(library, closure, names);
    let bind = inputs
        .zip(given)
        .map(|(input, given)| quote!(let #input = #given;));
    match &closure.output {
        ReturnType::Type(_, ty) => {
            let value = names.fresh(Kind::Value);
            parse_quote!({ #(#bind)* let #value: #ty = #body; #value })
        }
        ReturnType::Default => {
            let body = as_last(&body);
            parse_quote!({ #(#bind)* #body })
        }
    }
}

/// The value of a closure that is called where it stands. What it owns is bound again in front, and ends with it; what is made on the way
/// to its value ends before the value is used.
pub fn written_out_in_place(
    library: &Library,
    closure: &ExprClosure,
    given: &[Expr],
    owned: &[Stmt],
    names: &Names,
) -> Expr {
    let body = body_of(library, closure, names);
    let inputs: Vec<&Pat> = closure.inputs.iter().collect();
    // All arguments are evaluated before any is bound.
    let bind = match (&inputs[..], given) {
        ([], _) => TokenStream::new(),
        ([input], [given]) => quote!(let #input = #given;),
        _ => {
            let patterns = inputs.iter().map(|input| match input {
                Pat::Type(typed) => &*typed.pat,
                other => other,
            });
            let types = inputs.iter().map(|input| match input {
                Pat::Type(typed) => typed.ty.to_token_stream(),
                _ => quote!(_),
            });
            quote!(let (#(#patterns),*): (#(#types),*) = (#(#given),*);)
        }
    };
    match &closure.output {
        ReturnType::Default if has_no_value(&body) => {
            let body = as_last(&body);
            parse_quote!({ #(#owned)* #bind #body })
        }
        output => {
            let value = names.fresh(Kind::Value);
            let ty = match output {
                ReturnType::Type(_, ty) => quote!(: #ty),
                ReturnType::Default => TokenStream::new(),
            };
            parse_quote!({ #(#owned)* #bind let #value #ty = #body; #value })
        }
    }
}

/// Whether a block ends with a statement, and not with a value.
fn has_no_value(body: &Expr) -> bool {
    let Expr::Block(block) = body else { return false };
    match block.block.stmts.last() {
        Some(Stmt::Expr(_, None)) => false,
        Some(Stmt::Macro(one)) => one.semi_token.is_some(),
        _ => true,
    }
}

fn body_of(library: &Library, closure: &ExprClosure, names: &Names) -> Expr {
    let mut body = (*closure.body).clone();
    if !leaves(library, &body).seen {
        return body;
    }
    let mut leaver = Leaver {
        library,
        label: label(names, Kind::Turn),
    };
    leaver.visit_expr_mut(&mut body);
    let label = leaver.label;
    let body = as_last(&body);
    parse_quote!(#label: { #body })
}

/// An expression as the value of a block: `match x { .. } == 1` would be a statement there, and something behind it.
fn as_last(value: &Expr) -> TokenStream {
    let alone = syn::parse2::<Block>(quote!({ #value }));
    match alone.as_ref().map(|block| &block.stmts[..]) {
        Ok([Stmt::Expr(_, None)]) => value.to_token_stream(),
        _ => quote!((#value)),
    }
}

/// A label that is new in the function.
pub fn label(names: &Names, kind: Kind) -> Lifetime {
    let name = names.fresh(kind);
    Lifetime::new(&format!("'{name}"), name.span())
}

/// How a closure's body is left.
struct Leaves<'l> {
    library: &'l Library,
    /// By a `return` or `?` in the syntax.
    seen: bool,
    /// Perhaps by a macro of unknown meaning, or by what goes on later.
    unseen: bool,
}

fn leaves<'l>(library: &'l Library, body: &Expr) -> Leaves<'l> {
    let mut leaves = Leaves {
        library,
        seen: false,
        unseen: false,
    };
    leaves.visit_expr(body);
    leaves
}

impl<'ast> Visit<'ast> for Leaves<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Return(_) | Expr::Try(_) => self.seen = true,
            Expr::Await(_) | Expr::Yield(_) => self.unseen = true,
            Expr::Async(_) => return,
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
    fn visit_expr_closure(&mut self, _: &'ast ExprClosure) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        if let Some(arguments) = arguments_of_macro(self.library, mac) {
            arguments.iter().for_each(|one| self.visit_expr(one));
            return;
        }
        let name = name_of_macro(mac);
        let tokens = quote!(#mac).to_string();
        let words = tokens.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.unseen |= words.into_iter().any(|word| word == "return")
            || tokens.contains('?')
            || self.library.returns(&name)
            || !self.library.stays(&name) && !Marks::is_checkpoint(mac);
    }
}

/// Writes `return` and `?` as ways out of a block.
struct Leaver<'l> {
    library: &'l Library,
    label: Lifetime,
}

impl VisitMut for Leaver<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if matches!(expr, Expr::Async(_)) {
            return;
        }
        visit::visit_expr_mut(self, expr);
        let (label, rt) = (&self.label, rt());
        match expr {
            Expr::Return(one) => {
                let value = one.expr.take().unwrap_or_else(|| parse_quote!(()));
                *expr = parse_quote!(break #label (#value));
            }
            Expr::Try(one) => {
                let (value, rest) = (plain(Kind::Value), plain(Kind::Rest));
                let tried = &one.expr;
                *expr = parse_quote!(match #rt::attempt(#tried) {
                    ::core::ops::ControlFlow::Continue(#value) => #value,
                    ::core::ops::ControlFlow::Break(#rest) => break #label (#rt::ended(#rest)),
                });
            }
            _ => {}
        }
    }
    fn visit_expr_closure_mut(&mut self, _: &mut ExprClosure) {}
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let Some(mut arguments) = arguments_of_macro(self.library, mac) else {
            return;
        };
        let leaves_here = arguments.iter().any(|one| leaves(self.library, one).seen);
        if leaves_here {
            arguments.iter_mut().for_each(|one| self.visit_expr_mut(one));
            mac.tokens = arguments.to_token_stream();
        }
    }
}
