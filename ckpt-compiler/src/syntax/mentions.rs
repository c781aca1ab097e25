//! Which names tokens mention.

use super::captured::captured_in_text;
use super::patterns::{is_binding, pattern_bindings};
use crate::names::{LocalSet, Locals, spelling};
use crate::visit::{self, Visit};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::HashSet;
use syn::{Pat, PatIdent, Stmt};

/// All names in some tokens, in their one spelling, also those captured in a text.
pub fn names_in(tokens: &TokenStream) -> HashSet<String> {
    let mut names = HashSet::new();
    each_name(tokens.clone(), &mut |name| {
        names.insert(name.to_owned());
    });
    names
}

/// Each name in tokens, also those captured in a text.
pub fn each_name(tokens: TokenStream, found: &mut dyn FnMut(&str)) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => found(&spelling(&ident)),
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

/// Whether a statement declares a variable that would hide one of these in what is emitted behind it.
pub fn declares(locals: &Locals, stmts: &[Stmt], some: &LocalSet) -> bool {
    stmts.iter().any(|stmt| match stmt {
        Stmt::Local(local) => locals.hide(&locals_of(locals, &local.pat), some),
        _ => false,
    })
}

/// The variables that a pattern binds.
pub fn locals_of(locals: &Locals, pattern: &Pat) -> LocalSet {
    let bound = pattern_bindings(locals, pattern).into_iter();
    bound.filter_map(|one| locals.id(&one.ident)).collect()
}

/// The variables that what is visited declares.
pub struct Declared<'l> {
    locals: &'l Locals,
    /// These.
    pub found: LocalSet,
}

impl<'l> Declared<'l> {
    /// None so far.
    pub fn new(locals: &'l Locals) -> Self {
        let found = LocalSet::default();
        Self { locals, found }
    }
}

impl<'ast> Visit<'ast> for Declared<'_> {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        if is_binding(self.locals, pat) {
            self.found.extend(self.locals.id(&pat.ident));
        }
        visit::visit_pat_ident(self, pat);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
