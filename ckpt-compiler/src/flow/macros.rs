//! Walks macros: every name among their tokens counts, also those that a format string captures.

use super::Use;
use super::expr::Walker;
use crate::tables::Tables;
use proc_macro2::{TokenStream, TokenTree};

impl Walker {
    /// A macro's tokens: every name in them counts, also those captured by a format string.
    pub(super) fn macro_tokens(&mut self, mac: &syn::Macro) {
        let name = mac
            .path
            .segments
            .last()
            .map(|last| last.ident.to_string())
            .unwrap_or_default();
        let kind = match name.as_str() {
            "vec" | "dbg" => Use::Move,
            "write" | "writeln" => Use::Change,
            known if Tables::current().formats(known) => Use::Read,
            _ => Use::Change,
        };
        if name == "write" || name == "writeln" {
            let mut tokens = mac.tokens.clone().into_iter();
            let first: TokenStream = tokens
                .by_ref()
                .take_while(|token| !matches!(token, TokenTree::Punct(one) if one.as_char() == ','))
                .collect();
            self.tokens(&first, Use::Change);
            self.tokens(&tokens.collect(), Use::Read);
        } else {
            self.tokens(&mac.tokens, kind);
        }
        if matches!(name.as_str(), "panic" | "unreachable" | "todo" | "unimplemented") {
            self.here = self.node();
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
