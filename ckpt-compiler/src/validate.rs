//! The last look at what was written: every name and number of the user's function is in it.
//!
//! The stages are many and each may have a mistake. One that loses a statement would go unnoticed until a result is wrong;
//! so the emitted function is held against the source, token by token, before rustc sees it.

use crate::diagnostics::{Diagnostics, Refusal};
use crate::library::Library;
use crate::names::Locals;
use crate::resolve::{self, Hiding};
use crate::syntax::macros::arguments_of_macro;
use crate::visit::{self, Visit};
use proc_macro2::{Delimiter, Ident, LineColumn, Spacing, Span, TokenStream, TokenTree};
use std::collections::{HashMap, HashSet};
use syn::{Block, ItemFn, PatIdent, PatOr};

/// Refuses the function if a name, number or text of the source is missing in what was emitted, and not replaced either.
pub fn check(source: &TokenStream, accounted: &[&TokenStream], errors: &mut Diagnostics) {
    let mut written = HashSet::new();
    for tokens in accounted {
        places(tokens, &mut |span, _| {
            written.insert(key(span.start()));
        });
    }
    for alternatives in same_variables(source) {
        if alternatives.iter().any(|at| written.contains(at)) {
            written.extend(alternatives);
        }
    }
    let mut lost: Option<(Span, String)> = None;
    places(&without_ckpt(source), &mut |span, text| {
        if lost.is_none() && !written.contains(&key(span.start())) && !is_keyword(text) {
            lost = Some((span, text.to_owned()));
        }
    });
    if let Some((span, text)) = lost {
        errors.refuse(span, Refusal::WouldBeLost { text });
    }
}

/// Refuses the function if a variable in what was emitted stands for another than before its name became that of the
/// source again, because one that hides it has come between.
pub fn check_names(library: &Library, written: &TokenStream, locals: &Locals, errors: &mut Diagnostics) {
    if !locals.has_renamed() {
        return;
    }
    let resolved = |tokens: TokenStream| {
        let function = syn::parse2::<ItemFn>(tokens).ok()?;
        let (function, _) = resolve::resolved(library, &[], &function, &Locals::default(), Hiding::AsWritten);
        let mut variables = Variables {
            library,
            names: Vec::new(),
        };
        variables.visit_item_fn(&function);
        Some(variables.names)
    };
    let before = resolved(written.clone());
    let after = resolved(locals.restore(written.clone()));
    let Some((before, after)) = before.zip(after) else {
        return;
    };
    let (mut there, mut back) = (HashMap::new(), HashMap::new());
    for (one, other) in before.iter().zip(&after) {
        let same = *there.entry(one).or_insert(other) == other && *back.entry(other).or_insert(one) == one;
        if !same {
            let text = locals.written(one).to_string();
            errors.refuse(one.span(), Refusal::WouldBeLost { text });
            return;
        }
    }
}

/// Each name that stands for a variable or may do so, in the order of the syntax.
struct Variables<'l> {
    library: &'l Library,
    names: Vec<Ident>,
}

impl<'ast> Visit<'ast> for Variables<'_> {
    fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
        self.names.push(pattern.ident.clone());
        visit::visit_pat_ident(self, pattern);
    }
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        self.names.extend(path.path.get_ident().cloned());
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        for argument in arguments_of_macro(self.library, mac).iter().flatten() {
            match argument {
                syn::Expr::Assign(named) => self.visit_expr(&named.right),
                other => self.visit_expr(other),
            }
        }
    }
    /// An item sees none of the function's variables: what has their names there is its own.
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// The places where the alternatives of a pattern bind one variable, `i` in `Ok(i) | Err(i)`: it may be written for any.
fn same_variables(source: &TokenStream) -> Vec<Vec<(usize, usize)>> {
    #[derive(Default)]
    struct Alternatives {
        inside: usize,
        of_name: HashMap<String, Vec<(usize, usize)>>,
        found: Vec<Vec<(usize, usize)>>,
    }
    impl<'ast> Visit<'ast> for Alternatives {
        fn visit_pat_or(&mut self, pattern: &'ast PatOr) {
            self.inside += 1;
            visit::visit_pat_or(self, pattern);
            self.inside -= 1;
            if self.inside == 0 {
                self.found.extend(self.of_name.drain().map(|(_, places)| places));
            }
        }
        fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
            if self.inside > 0 {
                let places = self.of_name.entry(pattern.ident.to_string()).or_default();
                places.push(key(pattern.ident.span().start()));
            }
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut alternatives = Alternatives::default();
    if let Ok(body) = syn::parse2::<Block>(source.clone()) {
        alternatives.visit_block(&body);
    }
    alternatives.found
}

fn key(at: LineColumn) -> (usize, usize) {
    (at.line, at.column)
}

/// Every name and literal.
fn places(tokens: &TokenStream, found: &mut dyn FnMut(Span, &str)) {
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => places(&group.stream(), found),
            TokenTree::Ident(ident) => found(ident.span(), &ident.to_string()),
            TokenTree::Literal(literal) => found(literal.span(), &literal.to_string()),
            TokenTree::Punct(_) => {}
        }
    }
}

/// Without attributes, and without the calls of `checkpoint!`.
fn without_ckpt(tokens: &TokenStream) -> TokenStream {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut kept = TokenStream::new();
    let mut at = 0;
    while at < all.len() {
        let skipped = attribute(&all[at..]).or_else(|| checkpoint(&all[at..]));
        if let Some(length) = skipped {
            at += length;
            continue;
        }
        kept.extend([match &all[at] {
            TokenTree::Group(group) => {
                let mut inner = proc_macro2::Group::new(group.delimiter(), without_ckpt(&group.stream()));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            other => other.clone(),
        }]);
        at += 1;
    }
    kept
}

fn is_punct(token: Option<&TokenTree>, sign: char) -> bool {
    matches!(token, Some(TokenTree::Punct(one)) if one.as_char() == sign)
}

/// `#[..]` or `#![..]`: how many tokens.
fn attribute(tokens: &[TokenTree]) -> Option<usize> {
    let bang = usize::from(is_punct(tokens.get(1), '!'));
    let is_attribute = is_punct(tokens.first(), '#')
        && matches!(tokens.get(1 + bang), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
    is_attribute.then_some(2 + bang)
}

/// `ckpt::checkpoint!(..)`, with any path before it.
fn checkpoint(tokens: &[TokenTree]) -> Option<usize> {
    let mut at = 0;
    loop {
        while matches!(tokens.get(at), Some(TokenTree::Punct(one)) if one.as_char() == ':' && one.spacing() == Spacing::Joint)
            && is_punct(tokens.get(at + 1), ':')
        {
            at += 2;
        }
        let Some(TokenTree::Ident(name)) = tokens.get(at) else {
            return None;
        };
        at += 1;
        if *name == "checkpoint" && is_punct(tokens.get(at), '!') {
            return Some(at + 2);
        }
        if !is_punct(tokens.get(at), ':') {
            return None;
        }
    }
}

/// Words of the language: `for`, `while` and `in` are written otherwise.
fn is_keyword(text: &str) -> bool {
    syn::parse_str::<syn::Ident>(text).is_err()
        && text.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
}

#[cfg(test)]
mod tests {
    use crate::diagnostics::Diagnostics;
    use crate::passes::try_expand;
    use quote::quote;

    #[test]
    fn what_is_not_in_what_was_written_is_refused() {
        let source = "fn f() { let steps = 3; go(steps); }".parse().unwrap();
        let mut errors = Diagnostics::default();
        super::check(&source, &[&source], &mut errors);
        assert!(errors.is_empty());
        // The same tokens without the call, at their places.
        let part = source.clone().into_iter().take(1).collect();
        super::check(&source, &[&part], &mut errors);
        let said: Vec<String> = errors.iter().map(|one| one.message()).collect();
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with("ckpt: E1006: `f` would be lost"), "{said:?}");
    }

    #[test]
    fn a_function_inside_may_have_parameters_of_the_same_names() {
        let item = quote! {
            fn f(board: &mut [u64]) {
                let mut process = |cells: &[usize]| raise(board, cells);
                for row in 0..9 {
                    ckpt::checkpoint!();
                    let cells = cells_of(row);
                    process(&cells);
                }
                fn raise(board: &mut [u64], cells: &[usize]) {
                    for cell in cells {
                        board[*cell] += 1;
                    }
                }
            }
        };
        if let Err(errors) = try_expand(quote!(), &item, false) {
            panic!("{}", errors.to_tokens());
        }
    }

    #[test]
    fn a_variable_may_have_the_name_of_the_function_that_makes_it() {
        let item = quote! {
            fn f() {
                let weight = weight();
                for i in 0..10 {
                    ckpt::checkpoint!();
                    show(weight);
                }
            }
        };
        if let Err(errors) = try_expand(quote!(), &item, false) {
            panic!("{}", errors.to_tokens());
        }
    }

    #[test]
    fn what_a_closure_takes_may_be_hidden_by_what_its_call_gives() {
        let item = quote! {
            fn f(slot: &mut Option<Work>) -> Result<u64, Failure> {
                let mut work = slot.take().expect("there is work");
                let (result, work) = run(|| (work.next(), work))?;
                match result {
                    Ok(Step::More) => {
                        *slot = Some(work);
                        Ok(0)
                    }
                    Ok(Step::Done(count)) => Ok(count),
                    Err(failure) => Err(failure),
                }
            }
        };
        if let Err(errors) = try_expand(quote!(calls(run)), &item, false) {
            panic!("{}", errors.to_tokens());
        }
    }
}
