//! `self` in the body of a thread. The body becomes a function of its own, and its parameters have names: where a method
//! only looks at `self`, a `let` in front of its statements gives it one, and the threads with sites use that.

use super::starts::{Spawns, has_site};
use super::teams::body_of_team;
use crate::names::{Kind, Names, located};
use crate::syntax::marks::Marks;
use crate::visit::{self, VisitMut};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Block, Expr, ExprClosure, FnArg, ItemFn, Macro, parse_quote};

/// Gives it that name.
pub fn name(function: &mut ItemFn, marks: Marks<'_>, names: &Names) {
    let Some(FnArg::Receiver(receiver)) = function.sig.inputs.first() else {
        return;
    };
    if receiver.reference.is_none() || receiver.mutability.is_some() {
        return;
    }
    let own = receiver.self_token;
    let mut renamer = Renamer { name: None, names };
    in_threads(&mut function.block, marks, &mut |closure| {
        renamer.visit_expr_mut(&mut closure.body);
    });
    if let Some(name) = renamer.name {
        function.block.stmts.insert(0, parse_quote!(let #name = &*#own;));
    }
}

/// Visits the bodies of threads that have sites.
fn in_threads(block: &mut Block, marks: Marks<'_>, visit: &mut dyn FnMut(&mut ExprClosure)) {
    let mut with_sites = |closure: &mut ExprClosure| {
        if has_site(marks, closure) {
            visit(closure);
        }
    };
    Spawns(marks.library, &mut with_sites).visit_block_mut(block);
    Teams(marks, &mut with_sites).visit_block_mut(block);
}

struct Teams<'a, F: FnMut(&mut ExprClosure)>(Marks<'a>, F);

impl<F: FnMut(&mut ExprClosure)> VisitMut for Teams<'_, F> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        let is_team = body_of_team(self.0.library, expr).is_some();
        match expr {
            Expr::MethodCall(call) if is_team => {
                if let Some(Expr::Closure(closure)) = call.args.last_mut() {
                    (self.1)(closure);
                }
            }
            _ => visit::visit_expr_mut(self, expr),
        }
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Writes the name for `self`.
struct Renamer<'a> {
    /// The name, once it is needed.
    name: Option<Ident>,
    names: &'a Names,
}

impl Renamer<'_> {
    fn at(&mut self, own: &Ident) -> Ident {
        let names = self.names;
        let name = self.name.get_or_insert_with(|| names.fresh(Kind::Receiver));
        located(name, own.span())
    }

    fn in_tokens(&mut self, tokens: TokenStream) -> TokenStream {
        let mut out = TokenStream::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let in_path = matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':');
            out.extend([match token {
                TokenTree::Ident(ident) if ident == "self" && !in_path => TokenTree::Ident(self.at(&ident)),
                TokenTree::Group(group) => {
                    let mut inner = Group::new(group.delimiter(), self.in_tokens(group.stream()));
                    inner.set_span(group.span());
                    TokenTree::Group(inner)
                }
                other => other,
            }]);
        }
        out
    }
}

impl VisitMut for Renamer<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Path(path) if path.path.is_ident("self") => {
                if let Some(own) = path.path.get_ident() {
                    let name = self.at(&own.clone());
                    *expr = parse_quote!(#name);
                }
            }
            _ => visit::visit_expr_mut(self, expr),
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut Macro) {
        mac.tokens = self.in_tokens(mac.tokens.to_token_stream());
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}
