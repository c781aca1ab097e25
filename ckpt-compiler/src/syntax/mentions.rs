//! Which names tokens mention.

use super::macros::captured_in_text;
use super::patterns::pattern_bindings;
use crate::names::{LocalSet, Locals, Names};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::HashSet;
use syn::Stmt;

/// All identifiers in some tokens.
pub fn names_in(tokens: &TokenStream) -> HashSet<String> {
    let mut names = HashSet::new();
    collect_names(tokens, &mut names);
    names
}

fn collect_names(tokens: &TokenStream, names: &mut HashSet<String>) {
    for token in tokens.clone() {
        match token {
            TokenTree::Ident(ident) => {
                names.insert(ident.to_string());
            }
            TokenTree::Group(group) => collect_names(&group.stream(), names),
            _ => {}
        }
    }
}

/// Each name in tokens, also those captured in a text.
pub fn each_name(tokens: TokenStream, found: &mut dyn FnMut(&str)) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => found(&ident.to_string()),
            TokenTree::Group(group) => each_name(group.stream(), found),
            TokenTree::Literal(literal) => captured_in_text(&literal.to_string())
                .iter()
                .for_each(|name| found(name)),
            TokenTree::Punct(_) => {}
        }
    }
}

/// The variables that tokens mention, also those captured in a text.
pub fn locals_in(locals: &Locals, tokens: TokenStream) -> LocalSet {
    let mut found = LocalSet::default();
    each_name(tokens, &mut |name| found.extend(locals.named(name)));
    found
}

/// Whether a statement gives a name another meaning.
pub fn declares(names: &Names, stmts: &[Stmt], name: &str) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Local(local) => pattern_bindings(&local.pat)
            .iter()
            .any(|one| names.same_text(&one.ident.to_string(), name)),
        _ => false,
    })
}
