//! What ckpt notes in a function about its parallel regions: the site where one begins, the closures that were the bodies
//! of its threads, and where these are waited for. Each note holds a number; all are made and read here only.

use super::marks::Marks;
use crate::visit::{self, Visit};
use proc_macro2::{Span, TokenTree};
use syn::{Attribute, ExprClosure, LitInt, Local, Macro, Stmt, parse_quote, parse_quote_spanned};

/// The attribute of a closure whose body is a function of its own now.
const MEMBER: &str = "ckpt_member";

/// The attribute of the statement behind which the threads of a region are done.
const WAIT: &str = "ckpt_wait";

/// The site at which a region begins.
pub fn site(region: usize, span: Span) -> Stmt {
    parse_quote_spanned!(span=> ckpt::checkpoint!(region #region);)
}

/// The region that begins at a site.
pub fn region_of_site(site: &Macro) -> Option<usize> {
    let mut tokens = site.tokens.clone().into_iter();
    match (Marks::is_checkpoint(site), tokens.next(), tokens.next()) {
        (true, Some(TokenTree::Ident(word)), Some(TokenTree::Literal(number))) if word == "region" => {
            let number: LitInt = syn::parse2(TokenTree::from(number).into()).ok()?;
            number.base10_parse().ok()
        }
        _ => None,
    }
}

/// Notes that the body of a closure has been taken out.
pub fn note_member(closure: &mut ExprClosure, member: usize) {
    closure.attrs.push(parse_quote!(#[ckpt_member(#member)]));
}

/// Whether the body of a closure has been taken out: it has no sites any more.
pub fn is_member(closure: &ExprClosure) -> bool {
    closure
        .attrs
        .iter()
        .any(|attribute| attribute.path().is_ident(MEMBER))
}

/// Takes the note off a closure: which member its body is.
pub fn take_member(closure: &mut ExprClosure) -> Option<usize> {
    let member = number_of(&closure.attrs, MEMBER)?;
    closure
        .attrs
        .retain(|attribute| !attribute.path().is_ident(MEMBER));
    Some(member)
}

/// The statement that stands where the threads of a region are waited for.
pub fn wait(region: usize, span: Span) -> Stmt {
    parse_quote_spanned!(span=> #[ckpt_wait(#region)] let _ = ();)
}

/// The region whose threads are waited for there.
pub fn region_awaited(statement: &Local) -> Option<usize> {
    number_of(&statement.attrs, WAIT)
}

/// The regions whose threads are waited for anywhere in a statement.
pub fn regions_awaited_in(statement: &Stmt) -> Vec<usize> {
    struct Awaited(Vec<usize>);
    impl<'ast> Visit<'ast> for Awaited {
        fn visit_local(&mut self, local: &'ast Local) {
            self.0.extend(region_awaited(local));
            visit::visit_local(self, local);
        }
    }
    let mut awaited = Awaited(Vec::new());
    awaited.visit_stmt(statement);
    awaited.0
}

fn number_of(attributes: &[Attribute], name: &str) -> Option<usize> {
    let note = attributes
        .iter()
        .find(|attribute| attribute.path().is_ident(name))?;
    note.parse_args::<LitInt>().ok()?.base10_parse().ok()
}
