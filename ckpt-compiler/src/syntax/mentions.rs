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
    each(tokens, &mut |name, _| found(name));
}

/// Each name in tokens, with what stands in front of it.
fn each(tokens: TokenStream, found: &mut dyn FnMut(&str, Before)) {
    let mut before = Before::Other;
    for token in tokens {
        let last = std::mem::replace(&mut before, Before::Other);
        match token {
            TokenTree::Ident(ident) => found(&spelling(&ident), last),
            TokenTree::Punct(one) => {
                before = match (last, one.as_char()) {
                    (Before::Dot | Before::Range, '.') => Before::Range,
                    (_, '.') => Before::Dot,
                    (Before::Colon, ':') => Before::Path,
                    (_, ':') => Before::Colon,
                    _ => Before::Other,
                };
            }
            TokenTree::Group(group) => each(group.stream(), found),
            TokenTree::Literal(literal) => captured_in_text(&literal.to_string())
                .iter()
                .for_each(|name| found(name, Before::Text)),
        }
    }
}

/// What stands in front of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Colon,
    Dot,
    Other,
    Path,
    Range,
    /// It is in a text.
    Text,
}

/// The variables that tokens mention, also those captured in a text: no field or method (`.x`, but `..x` is the end of a range),
/// and no name behind `::`.
pub fn locals_in(locals: &Locals, tokens: TokenStream) -> LocalSet {
    let mut found = LocalSet::default();
    each_variable(tokens, &mut |name, _| found.extend(locals.named(name)));
    found
}

/// Each name in tokens that may be that of a variable, as for [`locals_in`], and whether a text captures it.
pub fn each_variable(tokens: TokenStream, found: &mut dyn FnMut(&str, bool)) {
    each(tokens, &mut |name, before| {
        if !matches!(before, Before::Dot | Before::Path) {
            found(name, before == Before::Text);
        }
    });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_no_variable_of_its_name() {
        let names = |text: &str| {
            let mut names = std::collections::BTreeSet::new();
            each_variable(text.parse().unwrap(), &mut |name, _| {
                names.extend([name.to_owned()])
            });
            Vec::from_iter(names)
        };
        assert_eq!(
            names("sim.what.as_str(), 0..what, \"{which}\""),
            ["sim", "what", "which"]
        );
        assert_eq!(
            names("sim.what, a::b, (c..=d), x: y"),
            ["a", "c", "d", "sim", "x", "y"]
        );
    }
}
