//! Walks macros: of those that take expressions, the expressions; of others, every name among their tokens counts, also
//! those that a format string captures, and they may leave the loop around them.

use super::Use;
use super::expr::Walker;
use crate::syntax::macros::{Arguments, Exits, arguments_of_macro, captured_in_text, name_of_macro};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::parse::Parser;
use syn::{Expr, Macro, Token};

/// `vec![value; count]`.
fn repeated(mac: &Macro) -> Option<(Expr, Expr)> {
    let parser = |input: syn::parse::ParseStream<'_>| {
        let value = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok((value, input.parse()?))
    };
    (name_of_macro(mac) == "vec").then(|| parser.parse2(mac.tokens.clone()).ok())?
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

impl Walker<'_> {
    /// A macro in the place of an expression or statement.
    pub(super) fn macro_tokens(&mut self, mac: &Macro) {
        let name = name_of_macro(mac);
        if let Some((value, count)) = repeated(mac) {
            self.expr(&value);
            self.expr(&count);
            return;
        }
        match arguments_of_macro(self.library, mac) {
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
            known if self.library.formats(known) => Use::Read,
            _ => Use::Change,
        };
        self.tokens(&mac.tokens, kind);
        self.captured_by(name);
        let exits = Exits::of(self.library, mac);
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
                    for name in captured_in_text(&literal.to_string()) {
                        self.text(&name, Use::Read);
                    }
                }
                TokenTree::Punct(_) => {}
            }
        }
    }
}
