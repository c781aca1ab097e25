//! The closures in the iterator of a `for` with a site: those around what it goes over are run in its body.
//!
//! `for x in list.into_iter().filter(f).map(g) { .. }` becomes
//! `for item in list.into_iter() { if !f(&item) { continue } let x = g(item); .. }`: what is gone over can then be saved, and a
//! restart runs no closure again.

use crate::desugar::inlined_closures::written_out;
use crate::library::Library;
use crate::names::{Kind, Names, plain};
use crate::syntax::marks::Marks;
use crate::syntax::origins::{closure_in, effect_in_chain};
use quote::{quote, quote_spanned};
use syn::{Block, Expr, ExprClosure, ExprMethodCall, Pat, Stmt, parse_quote};

/// Takes closures off the iterator of a `for`.
pub struct Peeler<'a> {
    /// Where new names come from.
    pub names: &'a Names,
    /// A closure with a site is written out in the body, others are called there.
    pub marks: Marks<'a>,
}

impl Peeler<'_> {
    /// Takes the closures off as long as there is one outermost.
    pub fn peel(&self, iterable: &mut Expr, pat: &mut Pat, body: &mut Block) {
        loop {
            while let Expr::Paren(inner) = iterable {
                *iterable = (*inner.expr).clone();
            }
            if !self.peel_one(iterable, pat, body) {
                return;
            }
        }
    }

    /// Takes the outermost closure off, if there is one.
    pub fn peel_one(&self, iterable: &mut Expr, pat: &mut Pat, body: &mut Block) -> bool {
        let Expr::MethodCall(call) = iterable else {
            return false;
        };
        if is_enumerate(call) && is_over_a_map(self.marks.library, call) && !matches!(pat, Pat::Tuple(_)) {
            let (index, inner) = (self.names.fresh(Kind::Index), self.names.fresh(Kind::Item));
            body.stmts.insert(0, parse_quote!(let #pat = (#index, #inner);));
            *pat = parse_quote!((#index, #inner));
        }
        // `.map(f).enumerate()` is `.enumerate()` with `f` in the body.
        if let (true, Expr::MethodCall(inner), Pat::Tuple(pair)) =
            (is_enumerate(call), &*call.receiver, &mut *pat)
            && pair.elems.len() == 2
            && (inner.method == "map" || inner.method == "inspect")
            && let Some(closure) = closure_of(self.marks.library, inner)
        {
            let item = self.names.fresh(Kind::Item);
            let steps = self.turn(&inner.method, closure, &item, &pair.elems[1]);
            let under = (*inner.receiver).clone();
            pair.elems[1] = parse_quote!(#item);
            *call.receiver = under;
            body.stmts.splice(0..0, steps);
            return true;
        }
        let Some(closure) = closure_of(self.marks.library, call) else {
            return false;
        };
        let item = self.names.fresh(Kind::Item);
        let steps = self.turn(&call.method, closure, &item, pat);
        *iterable = (*call.receiver).clone();
        *pat = parse_quote!(#item);
        body.stmts.splice(0..0, steps);
        true
    }
}

/// The adaptors whose closures can be taken off.
pub const PEELED: [&str; 6] = [
    "map",
    "inspect",
    "filter",
    "take_while",
    "filter_map",
    "map_while",
];

/// The closure of an adaptor that can be taken off.
pub fn closure_of<'e>(library: &Library, call: &'e ExprMethodCall) -> Option<&'e ExprClosure> {
    if call.args.len() != 1 {
        return None;
    }
    let closure = closure_in(&call.args[0])?;
    let method = call.method.to_string();
    (PEELED.contains(&method.as_str()) && !has_a_state_of_its_own(library, call, closure)).then_some(closure)
}

impl Peeler<'_> {
    /// What a closure does in every turn of the loop.
    fn turn(&self, method: &syn::Ident, closure: &ExprClosure, item: &syn::Ident, pat: &Pat) -> Vec<Stmt> {
        let taken = plain(Kind::Item);
        let some = quote!(::core::option::Option::Some(#taken) => #taken);
        let given: Expr = match method.to_string().as_str() {
            "map" | "filter_map" | "map_while" => parse_quote!(#item),
            _ => parse_quote!(&#item),
        };
        let run = self.run(method, closure, given);
        match method.to_string().as_str() {
            "map" => vec![parse_quote!(let #pat = #run;)],
            "inspect" => vec![parse_quote!(#run;), parse_quote!(let #pat = #item;)],
            "filter" => vec![
                parse_quote!(if !#run { continue; }),
                parse_quote!(let #pat = #item;),
            ],
            "take_while" => vec![parse_quote!(if !#run { break; }), parse_quote!(let #pat = #item;)],
            "filter_map" => vec![parse_quote! {
                let #pat = match #run { #some, ::core::option::Option::None => continue };
            }],
            _ => vec![parse_quote! {
                let #pat = match #run { #some, ::core::option::Option::None => break };
            }],
        }
    }

    /// The value of a closure for what it is given.
    fn run(&self, method: &syn::Ident, closure: &ExprClosure, given: Expr) -> Expr {
        let (rt, body) = (crate::paths::rt(), &*closure.body);
        match closure.inputs.first() {
            Some(_) if self.marks.in_expr(body) => {
                written_out(self.marks.library, closure, &[given], self.names)
            }
            _ => {
                let run = quote_spanned!(method.span()=> #rt::run);
                parse_quote!(#run(#given, #closure))
            }
        }
    }
}

fn is_enumerate(call: &ExprMethodCall) -> bool {
    call.method == "enumerate" && call.args.is_empty()
}

fn is_over_a_map(library: &Library, call: &ExprMethodCall) -> bool {
    matches!(&*call.receiver, Expr::MethodCall(inner)
        if (inner.method == "map" || inner.method == "inspect") && closure_of(library, inner).is_some())
}

/// A `move` closure that changes what it owns goes on from turn to turn.
fn has_a_state_of_its_own(library: &Library, call: &ExprMethodCall, closure: &ExprClosure) -> bool {
    let alone = ExprMethodCall {
        receiver: Box::new(parse_quote!(())),
        ..call.clone()
    };
    closure.capture.is_some() && effect_in_chain(library, &Expr::MethodCall(alone)).is_some()
}
