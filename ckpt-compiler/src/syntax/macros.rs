//! What a macro is given, how it may be left, and which names a format string captures.

use crate::library::{Library, Macros, last_name};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Token};

/// What a macro is given: expressions between commas, some of them named.
pub type Arguments = Punctuated<Expr, Token![,]>;

/// The expressions that a macro is given, where it is one of which that is known.
pub fn arguments_of_macro(library: &Library, mac: &Macro) -> Option<Arguments> {
    let name = name_of_macro(mac);
    if !library.formats(&name) || library.says(&name, Macros::Matches) {
        return None;
    }
    Arguments::parse_terminated.parse2(mac.tokens.clone()).ok()
}

/// What stands in `vec![a, b]`.
pub fn items_of_list(library: &Library, mac: &Macro) -> Option<Arguments> {
    let is_list = makes_a_list(library, mac);
    is_list.then(|| Arguments::parse_terminated.parse2(mac.tokens.clone()).ok())?
}

/// The value and the count in `vec![value; count]`.
pub fn repeated_in_list(library: &Library, mac: &Macro) -> Option<(Expr, Expr)> {
    let parser = |input: syn::parse::ParseStream<'_>| {
        let value = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok((value, input.parse()?))
    };
    let is_list = makes_a_list(library, mac);
    is_list.then(|| parser.parse2(mac.tokens.clone()).ok())?
}

/// How many arguments of a macro stand in front of its text.
pub fn arguments_before_text(library: &Library, name: &str) -> usize {
    match library.key(name) {
        Some(Macros::Condition | Macros::Writes) => 1,
        Some(Macros::Comparison) => 2,
        Some(Macros::Takes) => usize::MAX,
        _ => 0,
    }
}

/// How many arguments of a macro, from the first, it evaluates whenever it is reached; the others only if it needs them.
pub fn arguments_evaluated_always(library: &Library, name: &str) -> usize {
    if library.says(name, Macros::Debugs) || library.says(name, Macros::IfWanted) {
        return 0;
    }
    match library.key(name) {
        Some(Macros::Condition | Macros::Comparison) => arguments_before_text(library, name),
        _ => usize::MAX,
    }
}

/// Whether the argument may hold a site: it is evaluated always, or it is known when it is.
pub fn may_hold_a_site(library: &Library, name: &str, index: usize) -> bool {
    match library.key(name) {
        Some(Macros::Condition) => true,
        Some(Macros::Comparison) => index < arguments_before_text(library, name),
        _ => index < arguments_evaluated_always(library, name),
    }
}

/// Where a macro of unknown meaning may go on: out of the loop around it or to its next turn, and to the labels among
/// its tokens.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Exits {
    /// Whether it may leave the innermost loop.
    pub innermost: bool,
    /// The labels that it mentions, without their ticks.
    pub labels: BTreeSet<String>,
}

impl Exits {
    /// What is known of a macro.
    pub fn of(library: &Library, mac: &Macro) -> Self {
        if arguments_of_macro(library, mac).is_some() {
            return Self::default();
        }
        let stays = library.stays(&name_of_macro(mac)) || super::marks::Marks::is_checkpoint(mac);
        let mut exits = Self {
            innermost: !stays,
            ..Self::default()
        };
        exits.tokens(&mac.tokens);
        exits
    }

    fn tokens(&mut self, tokens: &TokenStream) {
        let mut tick = false;
        for token in tokens.clone() {
            match &token {
                TokenTree::Group(group) => self.tokens(&group.stream()),
                TokenTree::Ident(ident) if tick => {
                    self.labels.insert(ident.to_string());
                }
                TokenTree::Ident(ident) if ident == "break" || ident == "continue" => self.innermost = true,
                _ => {}
            }
            tick = matches!(&token, TokenTree::Punct(one) if one.as_char() == '\'');
        }
    }
}

/// Whether the macro makes a list of what it is given: `vec![..]`.
pub fn makes_a_list(library: &Library, mac: &Macro) -> bool {
    library.says(&name_of_macro(mac), Macros::Lists)
}

/// The last word of a macro's path.
pub fn name_of_macro(mac: &Macro) -> String {
    last_name(&mac.path)
}
