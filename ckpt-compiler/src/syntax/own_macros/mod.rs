//! Macros that the program defines itself: whether they can leave what is around them and ([`declarations`]) declare
//! variables there, told by the tokens of their definitions, and ([`captures`]) which variables they use without being
//! given them.

pub mod captures;
pub mod declarations;
#[cfg(test)]
mod tests;

use crate::library::{CallTable, Library, Meaning};
use crate::syntax::mentions::each_name;
use crate::visit::{self, Visit};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// What stands in the definitions of macros, by their names: of those with one name everything.
#[derive(Debug, Clone, Default)]
pub struct Definitions(BTreeMap<String, TokenStream>);

/// Where a macro may go on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Ways {
    /// Behind a loop around it, or at its next turn.
    out_of_loops: bool,
    /// Behind the call of the function or closure around it.
    out_of_functions: bool,
}

impl Ways {
    const ALL: Self = Self {
        out_of_loops: true,
        out_of_functions: true,
    };

    fn add(&mut self, other: Self) {
        self.out_of_loops |= other.out_of_loops;
        self.out_of_functions |= other.out_of_functions;
    }
}

impl Definitions {
    /// Those among the statements of a function, wherever they stand.
    pub fn of_block(block: &syn::Block) -> Self {
        let mut found = Self::default();
        found.visit_block(block);
        found
    }

    /// Those of a program.
    pub fn of_program(macros: &HashMap<String, TokenStream>) -> Self {
        let own = |(name, tokens): (&String, &TokenStream)| (name.clone(), tokens.clone());
        Self(macros.iter().map(own).collect())
    }

    /// What is to be said of these macros, where the user says nothing: that they are the program's own, where a library
    /// has one of that name, and where they go on. That they declare variables is said whatever the user says.
    pub fn table(&self, by_user: &CallTable) -> CallTable {
        let mut table = CallTable::default();
        let libraries = Library::builtin();
        for name in self.0.keys().filter(|name| !by_user.speaks_of_macro(name)) {
            let mut entered = BTreeSet::new();
            let ways = self.ways_of(name, by_user, &mut entered);
            if libraries.speaks_of_macro(name) {
                table.say_of_macro(Meaning::Own, name);
            }
            if !ways.out_of_loops {
                table.say_of_macro(Meaning::Stays, name);
            }
            if ways.out_of_functions {
                table.say_of_macro(Meaning::Returns, name);
            }
        }
        for name in self.0.keys().filter(|name| self.declares(name, by_user)) {
            table.say_of_macro(Meaning::Declares, name);
        }
        table
    }

    fn ways_of(&self, name: &str, by_user: &CallTable, entered: &mut BTreeSet<String>) -> Ways {
        let own = (!by_user.speaks_of_macro(name))
            .then(|| self.0.get(name))
            .flatten();
        let Some(definition) = own else {
            let known = Library::builtin();
            let stays = known.stays(name) || by_user.stays(name);
            return Ways {
                out_of_loops: !stays,
                out_of_functions: !stays || known.returns(name) || by_user.returns(name),
            };
        };
        let mut ways = Ways::default();
        if entered.insert(name.to_owned()) {
            for body in expansions(definition) {
                self.tokens(&body.stream(), false, by_user, entered, &mut ways);
            }
        }
        ways
    }

    /// Adds where tokens may go on that stand in a loop of the macro's own, or not.
    fn tokens(
        &self,
        tokens: &TokenStream,
        in_loop: bool,
        by_user: &CallTable,
        entered: &mut BTreeSet<String>,
        ways: &mut Ways,
    ) {
        let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
        let before = |index: usize, one: char| index > 0 && is_punct(list.get(index - 1), one);
        let mut loop_begins = false;
        for (index, token) in list.iter().enumerate() {
            match token {
                TokenTree::Ident(word) if before(index, '$') => {
                    let is_named_by_an_argument = is_call(&list, index) && word != "crate";
                    ways.out_of_loops |= is_named_by_an_argument;
                    ways.out_of_functions |= is_named_by_an_argument;
                }
                TokenTree::Ident(word) => match &*word.to_string() {
                    "break" | "continue" => {
                        let names_a_label =
                            is_punct(list.get(index + 1), '\'') || is_punct(list.get(index + 1), '$');
                        ways.out_of_loops |= !in_loop || names_a_label;
                    }
                    "return" | "await" | "yield" => ways.out_of_functions = true,
                    "loop" | "while" | "for" => loop_begins = true,
                    "macro_rules" => ways.add(Ways::ALL),
                    name if is_call(&list, index) => ways.add(self.ways_of(name, by_user, entered)),
                    _ => {}
                },
                TokenTree::Group(group) => {
                    let body = loop_begins && group.delimiter() == Delimiter::Brace;
                    self.tokens(&group.stream(), in_loop || body, by_user, entered, ways);
                    loop_begins &= !body;
                }
                TokenTree::Punct(one) if one.as_char() == '?' => {
                    let repeats = index > 1
                        && matches!(list[index - 1], TokenTree::Group(_))
                        && is_punct(list.get(index - 2), '$');
                    ways.out_of_functions |= !repeats;
                }
                _ => {}
            }
        }
    }
}

impl<'ast> Visit<'ast> for Definitions {
    fn visit_item_macro(&mut self, one: &'ast syn::ItemMacro) {
        if let (Some(name), true) = (&one.ident, one.mac.path.is_ident("macro_rules")) {
            let all = self.0.entry(name.to_string()).or_default();
            all.extend([one.mac.tokens.clone(), quote::quote!(;)]);
        }
        visit::visit_item_macro(self, one);
    }
}

/// What the rules of a definition expand to.
fn expansions(definition: &TokenStream) -> Vec<Group> {
    let list: Vec<TokenTree> = definition.clone().into_iter().collect();
    let follows =
        |index: usize| index > 1 && is_punct(list.get(index - 2), '=') && is_punct(list.get(index - 1), '>');
    let groups = list.iter().enumerate().filter_map(|(index, token)| match token {
        TokenTree::Group(group) if follows(index) => Some(group.clone()),
        _ => None,
    });
    groups.collect()
}

/// Each name in what a definition expands to that is none of its parameters.
pub fn each_name_used(definition: &TokenStream, found: &mut dyn FnMut(&str)) {
    for body in expansions(definition) {
        each_name(without_parameters(body.stream()), found);
    }
}

fn without_parameters(tokens: TokenStream) -> TokenStream {
    let mut is_parameter = false;
    let left = tokens.into_iter().filter_map(|token| {
        let skipped = is_parameter && matches!(token, TokenTree::Ident(_));
        is_parameter = is_punct(Some(&token), '$');
        match token {
            TokenTree::Group(group) => {
                let inner = Group::new(group.delimiter(), without_parameters(group.stream()));
                Some(TokenTree::Group(inner))
            }
            other => (!skipped).then_some(other),
        }
    });
    left.collect()
}

/// Whether the token is this sign.
pub(crate) fn is_punct(token: Option<&TokenTree>, one: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == one)
}

/// Whether the word there is followed by `!` and what a macro is given.
fn is_call(list: &[TokenTree], index: usize) -> bool {
    is_punct(list.get(index + 1), '!') && matches!(list.get(index + 2), Some(TokenTree::Group(_)))
}
