//! Walks macros: of those that take expressions, the expressions; of others, every name among their tokens counts, also
//! those that a format string captures, and they may leave the loop around them.

use super::Use;
use super::expr::Walker;
use crate::library::Tables;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::BTreeSet;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Expr, Macro, Token};

/// What a macro is given: expressions between commas, some of them named.
pub type Arguments = Punctuated<Expr, Token![,]>;

/// The expressions that a macro is given, where it is one of which that is known.
pub fn arguments(mac: &Macro) -> Option<Arguments> {
    let name = name_of(mac);
    if !Tables::current().formats(&name) || name == "matches" {
        return None;
    }
    Arguments::parse_terminated.parse2(mac.tokens.clone()).ok()
}

/// `vec![value; count]`.
fn repeated(mac: &Macro) -> Option<(Expr, Expr)> {
    let parser = |input: syn::parse::ParseStream<'_>| {
        let value = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok((value, input.parse()?))
    };
    (name_of(mac) == "vec").then(|| parser.parse2(mac.tokens.clone()).ok())?
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
    pub fn of(mac: &Macro) -> Self {
        if arguments(mac).is_some() {
            return Self::default();
        }
        let stays = Tables::current().stays(&name_of(mac)) || crate::syntax::marks::Marks::is_checkpoint(mac);
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

/// How many arguments of a macro are evaluated whatever happens.
fn always_evaluated(name: &str) -> usize {
    match name {
        "assert" => 1,
        "assert_eq" | "assert_ne" => 2,
        name if name.starts_with("debug_assert") => 0,
        _ => usize::MAX,
    }
}

/// The last word of a macro's path.
pub fn name_of(mac: &Macro) -> String {
    let last = mac.path.segments.last();
    last.map(|last| last.ident.to_string()).unwrap_or_default()
}

impl Walker {
    /// A macro in the place of an expression or statement.
    pub(super) fn macro_tokens(&mut self, mac: &Macro) {
        let name = name_of(mac);
        if let Some((value, count)) = repeated(mac) {
            self.expr(&value);
            self.expr(&count);
            return;
        }
        match arguments(mac) {
            Some(arguments) => self.arguments(&name, &arguments),
            None => self.unknown(&name, mac),
        }
        if matches!(name.as_str(), "panic" | "unreachable" | "todo" | "unimplemented") {
            self.here = self.node();
        }
    }

    fn arguments(&mut self, name: &str, arguments: &Arguments) {
        for (index, argument) in arguments.iter().enumerate() {
            let value = match argument {
                Expr::Assign(named) => &*named.right,
                other => other,
            };
            match (name, value) {
                (_, Expr::Lit(literal)) => self.tokens(&literal.to_token_stream(), Use::Read),
                // What stands behind a condition is evaluated when that does not hold.
                _ if index >= always_evaluated(name) => {
                    self.optionally(|walker| walker.operand(value, Use::Read));
                }
                ("write" | "writeln", _) if index == 0 => self.operand(value, Use::Change),
                ("vec" | "dbg" | "assert" | "debug_assert", _) => self.expr(value),
                _ => self.operand(value, Use::Read),
            }
        }
    }

    fn unknown(&mut self, name: &str, mac: &Macro) {
        let kind = match name {
            "vec" | "dbg" => Use::Move,
            known if Tables::current().formats(known) => Use::Read,
            _ => Use::Change,
        };
        self.tokens(&mac.tokens, kind);
        self.captured_by(name);
        let exits = Exits::of(mac);
        let innermost = exits.innermost.then_some(None);
        for label in innermost.into_iter().chain(exits.labels.iter().map(Some)) {
            for breaks in [true, false] {
                self.optionally(|walker| walker.jump(label.map(String::as_str), breaks));
            }
        }
    }

    pub(super) fn tokens(&mut self, tokens: &TokenStream, kind: Use) {
        for token in tokens.clone() {
            match token {
                TokenTree::Ident(ident) => self.name(&ident, kind),
                TokenTree::Group(group) => self.tokens(&group.stream(), kind),
                TokenTree::Literal(literal) => {
                    for name in captured(&literal.to_string()) {
                        self.text(&name, Use::Read);
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}

/// The names that a format string captures: `{name}`, `{name:..}`, `{:width$}`.
pub fn captured(literal: &str) -> Vec<String> {
    if !literal.ends_with('"') && !literal.ends_with('#') {
        return Vec::new();
    }
    let is_name = |part: &&str| part.starts_with(|c: char| c.is_alphabetic() || c == '_');
    let mut names = Vec::new();
    for piece in literal.split('{').skip(1) {
        let inside = piece.split('}').next().unwrap_or_default();
        let mut parts = inside
            .split(|c: char| !c.is_alphanumeric() && c != '_')
            .filter(is_name);
        names.extend(parts.by_ref().map(str::to_owned));
    }
    names
}
