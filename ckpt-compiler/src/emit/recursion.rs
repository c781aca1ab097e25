//! Functions that call themselves: deep down, where a call takes microseconds, it is a copy without sites that is called.
//!
//! A call that leads to a site costs more than a short call does: what the function has is lent to the runtime. Visits of
//! sites need not be closer to each other than some milliseconds, and the calls near the leaves are nearly all that there
//! are. So a function that calls itself, and nothing else that leads to a site, is written a second time beside itself,
//! as the user wrote it and with its calls leading to the copy. The runtime says from which depth on it is taken.

use crate::library::last_name;
use crate::names::made;
use crate::parse::options::Options;
use crate::syntax::mentions::names_in;
use crate::syntax::own_macros::is_punct;
use crate::syntax::without_ckpt::without_ckpt;
use proc_macro2::{Delimiter, Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, ItemFn, parse_quote};

/// A function that may call a copy of itself.
#[derive(Debug)]
pub struct Recursion {
    name: Ident,
    copy: Ident,
}

impl Recursion {
    /// What the emission needs for a function that calls itself by its plain name, and nothing else that leads to a site.
    /// `source` is the function as the user wrote it.
    pub(super) fn of(item: &ItemFn, source: &TokenStream, options: &Options) -> Option<Self> {
        let name = &item.sig.ident;
        let calls_itself_alone = !options.calls.is_empty()
            && options
                .calls
                .iter()
                .all(|path| last_name(path) == *name.to_string());
        if !options.is_recursive || !calls_itself_alone || options.opens_session {
            return None;
        }
        let names_are_plain = item
            .sig
            .inputs
            .iter()
            .all(|input| !names_in(&input.to_token_stream()).contains(&name.to_string()));
        let body = syn::parse2::<ItemFn>(source.clone())
            .ok()?
            .block
            .to_token_stream();
        let way = match item.sig.receiver() {
            Some(_) => Way::Method,
            None => Way::Function,
        };
        (names_are_plain && way.is_the_only_one(body, name)).then(|| Self {
            name: name.clone(),
            copy: made(format_args!("plain_{name}")),
        })
    }

    /// The copy: the function as the user wrote it, calling itself.
    pub(super) fn copy(&self, source: &TokenStream) -> TokenStream {
        let Ok(mut function) = syn::parse2::<ItemFn>(without_ckpt(source.clone())) else {
            return TokenStream::new();
        };
        let body = renamed(function.block.to_token_stream(), &self.name, &self.copy);
        let Ok(block) = syn::parse2(body) else {
            return TokenStream::new();
        };
        *function.block = block;
        function.sig.ident = self.copy.clone();
        function.vis = syn::Visibility::Inherited;
        function
            .attrs
            .retain(|attribute| KEPT.iter().any(|kept| attribute.path().is_ident(kept)));
        function
            .attrs
            .push(parse_quote!(#[allow(dead_code, clippy::all)]));
        function.into_token_stream()
    }

    /// The call of the copy with the same arguments, if this is one of the function.
    pub(super) fn call(&self, call: &Expr) -> Option<Expr> {
        let mut call = call.clone();
        let name = match &mut call {
            Expr::Call(inner) => match &mut *inner.func {
                Expr::Path(path) => &mut path.path.segments.last_mut()?.ident,
                _ => return None,
            },
            // Where a part of `self` stands in its place, the call is not one of the copy's.
            Expr::MethodCall(inner) => match &*inner.receiver {
                Expr::Path(receiver) if receiver.path.is_ident("self") => &mut inner.method,
                _ => return None,
            },
            _ => return None,
        };
        if *name != self.name {
            return None;
        }
        *name = self.copy.clone();
        Some(call)
    }
}

/// Attributes that say how a function is built, and not what it is for others.
const KEPT: [&str; 4] = ["inline", "cold", "target_feature", "allow"];

/// How a function calls itself.
#[derive(Debug, Clone, Copy)]
enum Way {
    /// `search(..)`
    Function,
    /// `self.search(..)` or `Self::search(..)`
    Method,
}

impl Way {
    /// Whether the name stands for nothing but the function, in calls of this kind.
    fn is_the_only_one(self, body: TokenStream, name: &Ident) -> bool {
        let tokens: Vec<TokenTree> = body.into_iter().collect();
        let token = |at: Option<usize>| at.and_then(|at| tokens.get(at));
        tokens.iter().enumerate().all(|(at, one)| match one {
            TokenTree::Group(group) => self.is_the_only_one(group.stream(), name),
            // What it brings into scope may have the name.
            TokenTree::Ident(ident) if ident == "use" => false,
            TokenTree::Ident(ident) if ident == name => {
                let is_called = match tokens.get(at + 1) {
                    Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Parenthesis,
                    Some(TokenTree::Punct(_)) => {
                        is_punct(tokens.get(at + 1), ':') && is_punct(tokens.get(at + 3), '<')
                    }
                    _ => false,
                };
                let (before, first) = (token(at.checked_sub(1)), token(at.checked_sub(2)));
                let is_by_this_way = match self {
                    Way::Function => match before {
                        Some(TokenTree::Punct(one)) => !matches!(one.as_char(), '.' | ':' | '\'' | '$' | '#'),
                        Some(TokenTree::Ident(word)) => {
                            !matches!(word.to_string().as_str(), "fn" | "macro_rules")
                        }
                        _ => true,
                    },
                    Way::Method if is_punct(before, '.') => is_word(first, "self"),
                    Way::Method => is_punct(before, ':') && is_word(token(at.checked_sub(3)), "Self"),
                };
                is_called && is_by_this_way
            }
            _ => true,
        })
    }
}

fn is_word(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident == word)
}

fn renamed(body: TokenStream, name: &Ident, copy: &Ident) -> TokenStream {
    let tokens = body.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let mut inner = proc_macro2::Group::new(group.delimiter(), renamed(group.stream(), name, copy));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        TokenTree::Ident(ident) if ident == *name => TokenTree::Ident(copy.clone()),
        token => token,
    });
    tokens.collect()
}
