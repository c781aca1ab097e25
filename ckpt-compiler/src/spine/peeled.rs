//! The closures in the iterator of a `for` with a site: those around what it goes over are run in its body.
//!
//! `for x in list.into_iter().filter(f).map(g) { .. }` becomes
//! `for item in list.into_iter() { if !f(&item) { continue } let x = g(item); .. }`: what is gone over can then be saved, and a
//! restart runs no closure again.

use super::lower::Lowering;
use crate::borrow::{closure_in, effect_in_chain};
use quote::{quote, quote_spanned};
use syn::{Block, Expr, ExprClosure, ExprMethodCall, Pat, Stmt, parse_quote};

impl Lowering<'_> {
    /// Takes the closures off as long as there is one outermost.
    pub(super) fn peel(&mut self, iterable: &mut Expr, pat: &mut Pat, body: &mut Block) {
        loop {
            while let Expr::Paren(inner) = iterable {
                *iterable = (*inner.expr).clone();
            }
            if !self.peel_one(iterable, pat, body) {
                return;
            }
        }
    }

    fn peel_one(&mut self, iterable: &mut Expr, pat: &mut Pat, body: &mut Block) -> bool {
        let Expr::MethodCall(call) = iterable else {
            return false;
        };
        // `.map(f).enumerate()` is `.enumerate()` with `f` in the body.
        if let (true, Expr::MethodCall(inner), Pat::Tuple(pair)) =
            (is_enumerate(call), &*call.receiver, &mut *pat)
            && pair.elems.len() == 2
            && (inner.method == "map" || inner.method == "inspect")
            && let Some(closure) = closure_of(inner)
        {
            let item = self.names.fresh("item");
            let steps = turn(&inner.method, closure, &item, &pair.elems[1]);
            let under = (*inner.receiver).clone();
            pair.elems[1] = parse_quote!(#item);
            *call.receiver = under;
            body.stmts.splice(0..0, steps);
            return true;
        }
        let Some(closure) = closure_of(call) else {
            return false;
        };
        let item = self.names.fresh("item");
        let steps = turn(&call.method, closure, &item, pat);
        *iterable = (*call.receiver).clone();
        *pat = parse_quote!(#item);
        body.stmts.splice(0..0, steps);
        true
    }
}

/// The closure of an adaptor that can be taken off.
fn closure_of(call: &ExprMethodCall) -> Option<&ExprClosure> {
    let known = [
        "map",
        "inspect",
        "filter",
        "take_while",
        "filter_map",
        "map_while",
    ];
    if call.args.len() != 1 {
        return None;
    }
    let closure = closure_in(&call.args[0])?;
    let method = call.method.to_string();
    (known.contains(&method.as_str()) && !has_a_state_of_its_own(call, closure)).then_some(closure)
}

/// What a closure does in every turn of the loop.
fn turn(method: &syn::Ident, closure: &ExprClosure, item: &syn::Ident, pat: &Pat) -> Vec<Stmt> {
    let rt = crate::paths::rt();
    let run = quote_spanned!(method.span()=> #rt::run);
    let some = quote!(::core::option::Option::Some(__ckpt_item) => __ckpt_item);
    match method.to_string().as_str() {
        "map" => vec![parse_quote!(let #pat = #run(#item, #closure);)],
        "inspect" => vec![
            parse_quote!(#run(&#item, #closure);),
            parse_quote!(let #pat = #item;),
        ],
        "filter" => vec![
            parse_quote!(if !#run(&#item, #closure) { continue; }),
            parse_quote!(let #pat = #item;),
        ],
        "take_while" => vec![
            parse_quote!(if !#run(&#item, #closure) { break; }),
            parse_quote!(let #pat = #item;),
        ],
        "filter_map" => vec![parse_quote! {
            let #pat = match #run(#item, #closure) { #some, ::core::option::Option::None => continue };
        }],
        _ => vec![parse_quote! {
            let #pat = match #run(#item, #closure) { #some, ::core::option::Option::None => break };
        }],
    }
}

fn is_enumerate(call: &ExprMethodCall) -> bool {
    call.method == "enumerate" && call.args.is_empty()
}

/// A `move` closure that changes what it owns goes on from turn to turn.
fn has_a_state_of_its_own(call: &ExprMethodCall, closure: &ExprClosure) -> bool {
    let alone = ExprMethodCall {
        receiver: Box::new(parse_quote!(())),
        ..call.clone()
    };
    closure.capture.is_some() && effect_in_chain(&Expr::MethodCall(alone)).is_some()
}
