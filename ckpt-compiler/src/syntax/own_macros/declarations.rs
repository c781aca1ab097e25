//! Whether a macro declares variables for the statements behind it. A name that it makes up itself no one else sees; one
//! that it is given, whoever calls it does.

use super::{Definitions, expansions, is_call, is_punct};
use crate::library::{CallTable, Library};
use crate::syntax::mentions::names_in;
use proc_macro2::{TokenStream, TokenTree};
use std::collections::{BTreeSet, HashSet};
use syn::Macro;

impl Definitions {
    /// Whether a macro may declare variables whose names it is given.
    pub(super) fn declares(&self, name: &str, by_user: &CallTable) -> bool {
        self.may_declare(name, by_user, &mut BTreeSet::new())
    }

    fn may_declare(&self, name: &str, by_user: &CallTable, entered: &mut BTreeSet<String>) -> bool {
        let Some(definition) = self.0.get(name) else {
            return by_user.declares(name) || Library::builtin().declares(name);
        };
        entered.insert(name.to_owned())
            && expansions(definition)
                .iter()
                .any(|body| self.declare_in(body.stream(), by_user, entered))
    }

    /// Whether what stands there as statements declares a variable whose name a parameter has.
    fn declare_in(&self, tokens: TokenStream, by_user: &CallTable, entered: &mut BTreeSet<String>) -> bool {
        let list: Vec<TokenTree> = tokens.into_iter().collect();
        let is_after = |index: usize, one: char| index > 0 && is_punct(list.get(index - 1), one);
        list.iter().enumerate().any(|(index, token)| match token {
            TokenTree::Ident(word) if word == "let" => {
                begins_a_statement(&list, index) && pattern_at(&list, index).any(has_parameter)
            }
            TokenTree::Ident(word) if is_call(&list, index) && is_called_as_a_statement(&list, index) => {
                let is_parameter = is_after(index, '$') && word != "crate";
                let called = word.to_string();
                let is_strange =
                    !self.0.contains_key(&called) && !Library::builtin().speaks_of_macro(&called);
                let given = &list[index + 2];
                has_parameter(given)
                    && (is_parameter
                        || self.may_declare(&called, by_user, entered)
                        || is_strange && self.declare_in(inside(given), by_user, entered))
            }
            TokenTree::Group(repeated) if is_after(index, '$') => {
                self.declare_in(repeated.stream(), by_user, entered)
            }
            _ => false,
        })
    }
}

/// The names in the patterns of the `let` statements that a macro is given to repeat: `quiet! { let x = x + 1; }`.
pub fn declared_in_arguments(mac: &Macro) -> HashSet<String> {
    let list: Vec<TokenTree> = mac.tokens.clone().into_iter().collect();
    let is_let = |index: &usize| matches!(&list[*index], TokenTree::Ident(word) if word == "let");
    let statements = (0..list.len()).filter(|index| is_let(index) && begins_a_statement(&list, *index));
    let patterns = statements.flat_map(|index| pattern_at(&list, index)).cloned();
    names_in(&patterns.collect())
}

/// Whether the `let` there is none of a condition.
fn begins_a_statement(list: &[TokenTree], index: usize) -> bool {
    match index.checked_sub(1).map(|before| &list[before]) {
        Some(TokenTree::Ident(word)) => word != "if" && word != "while",
        Some(TokenTree::Punct(one)) => !matches!(one.as_char(), '&' | '|'),
        _ => true,
    }
}

/// The tokens of the pattern behind a `let`, without its type.
fn pattern_at(list: &[TokenTree], index: usize) -> std::slice::Iter<'_, TokenTree> {
    let behind = &list[index + 1..];
    let is = |at: usize, one: char| is_punct(behind.get(at), one);
    let is_part_of_path = |at: usize| is(at + 1, ':') || at > 0 && is(at - 1, ':');
    let mut places = 0..behind.len();
    let end = places.find(|at| is(*at, '=') || is(*at, ';') || is(*at, ':') && !is_part_of_path(*at));
    behind[..end.unwrap_or(behind.len())].iter()
}

/// Whether the macro that is called there is no operand. A `*` may end what is repeated.
fn is_called_as_a_statement(list: &[TokenTree], index: usize) -> bool {
    let is = |at: usize, one: char| is_punct(list.get(at), one);
    let mut begin = index;
    while begin >= 2 && is(begin - 1, ':') && is(begin - 2, ':') {
        begin -= 2;
        let follows_a_name = begin > 0 && matches!(list[begin - 1], TokenTree::Ident(_));
        begin -= usize::from(follows_a_name);
    }
    begin -= usize::from(begin > 0 && is(begin - 1, '$'));
    match begin.checked_sub(1).map(|before| &list[before]) {
        Some(TokenTree::Punct(one)) => matches!(one.as_char(), ';' | '*' | '+' | '?' | ','),
        Some(TokenTree::Ident(_)) => begin > 1 && is(begin - 2, '$'),
        _ => true,
    }
}

fn has_parameter(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.stream().into_iter().any(|inner| has_parameter(&inner)),
        token => is_punct(Some(token), '$'),
    }
}

fn inside(token: &TokenTree) -> TokenStream {
    match token {
        TokenTree::Group(group) => group.stream(),
        _ => TokenStream::new(),
    }
}
