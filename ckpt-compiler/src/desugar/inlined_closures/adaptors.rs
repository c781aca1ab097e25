//! The closures in the iterator of a `for` with a site: those around what it goes over are run in its body.
//!
//! `for x in list.into_iter().filter(f).map(g) { .. }` becomes
//! `for item in list.into_iter() { if !f(&item) { continue } let x = g(item); .. }`: what is gone over can then be saved, and a
//! restart runs no closure again.

use crate::desugar::inlined_closures::written_out;
use crate::library::{Adaptor, Library};
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
        let library = self.marks.library;
        if numbers(library, call) && is_over_a_map(library, call) && !matches!(pat, Pat::Tuple(_)) {
            let (index, inner) = (self.names.fresh(Kind::Index), self.names.fresh(Kind::Item));
            body.stmts.insert(0, parse_quote!(let #pat = (#index, #inner);));
            *pat = parse_quote!((#index, #inner));
        }
        // `.map(f).enumerate()` is `.enumerate()` with `f` in the body.
        if let (true, Expr::MethodCall(inner), Pat::Tuple(pair)) =
            (numbers(library, call), &*call.receiver, &mut *pat)
            && pair.elems.len() == 2
            && gives_as_many(library, inner)
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

/// The adaptor, if it is one whose closure can be taken off.
pub fn peeled(library: &Library, method: &syn::Ident) -> Option<Adaptor> {
    use Adaptor::*;
    let adaptor = library.key(&method.to_string())?;
    matches!(
        adaptor,
        Maps | Inspects | Keeps | KeepsWhile | MapsSome | MapsWhile
    )
    .then_some(adaptor)
}

/// The closure of an adaptor that can be taken off.
pub fn closure_of<'e>(library: &Library, call: &'e ExprMethodCall) -> Option<&'e ExprClosure> {
    if call.args.len() != 1 {
        return None;
    }
    let closure = closure_in(&call.args[0])?;
    let is_one = peeled(library, &call.method).is_some() && !has_a_state_of_its_own(library, call, closure);
    is_one.then_some(closure)
}

impl Peeler<'_> {
    /// What a closure does in every turn of the loop.
    fn turn(&self, method: &syn::Ident, closure: &ExprClosure, item: &syn::Ident, pat: &Pat) -> Vec<Stmt> {
        let taken = plain(Kind::Item);
        let some = quote!(::core::option::Option::Some(#taken) => #taken);
        let adaptor = self.marks.library.key(&method.to_string());
        let given: Expr = match adaptor {
            Some(Adaptor::Maps | Adaptor::MapsSome | Adaptor::MapsWhile) => parse_quote!(#item),
            _ => parse_quote!(&#item),
        };
        let run = self.run(method, closure, given);
        match adaptor {
            Some(Adaptor::Maps) => vec![parse_quote!(let #pat = #run;)],
            Some(Adaptor::Inspects) => vec![parse_quote!(#run;), parse_quote!(let #pat = #item;)],
            Some(Adaptor::Keeps) => vec![
                parse_quote!(if !#run { continue; }),
                parse_quote!(let #pat = #item;),
            ],
            Some(Adaptor::KeepsWhile) => {
                vec![parse_quote!(if !#run { break; }), parse_quote!(let #pat = #item;)]
            }
            Some(Adaptor::MapsSome) => vec![parse_quote! {
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

fn numbers(library: &Library, call: &ExprMethodCall) -> bool {
    library.is_call(call, Adaptor::Numbers) && call.args.is_empty()
}

/// Whether the adaptor gives something for every item.
fn gives_as_many(library: &Library, call: &ExprMethodCall) -> bool {
    matches!(
        library.key(&call.method.to_string()),
        Some(Adaptor::Maps | Adaptor::Inspects)
    )
}

fn is_over_a_map(library: &Library, call: &ExprMethodCall) -> bool {
    matches!(&*call.receiver, Expr::MethodCall(inner)
        if gives_as_many(library, inner) && closure_of(library, inner).is_some())
}

/// A `move` closure that changes what it owns goes on from turn to turn.
fn has_a_state_of_its_own(library: &Library, call: &ExprMethodCall, closure: &ExprClosure) -> bool {
    let alone = ExprMethodCall {
        receiver: Box::new(parse_quote!(())),
        ..call.clone()
    };
    closure.capture.is_some() && effect_in_chain(library, &Expr::MethodCall(alone)).is_some()
}
