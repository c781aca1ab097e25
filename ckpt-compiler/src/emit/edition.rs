//! What is written anew means what it means in the edition of the user's package.
//!
//! The edition of a block says when the temporaries of its last expression are dropped (before the block's variables from
//! 2024 on), that of an `if let` when those of its condition are. rustc takes it from the spans of the braces and of the
//! `if`, and what a macro writes has the edition of the macro's own crate. So all braces and keywords are given the user's.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};

/// Keywords whose span decides about the edition of what begins with them.
const KEYWORDS: [&str; 7] = ["if", "let", "else", "match", "while", "for", "loop"];

/// The same with braces and keywords of the edition of `user`, the place of any token that the user has written.
pub fn in_edition_of(user: Span, tokens: TokenStream) -> TokenStream {
    let tokens = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            let (delimiter, span) = (group.delimiter(), group.span());
            let mut written = Group::new(delimiter, in_edition_of(user, group.stream()));
            written.set_span(match delimiter {
                Delimiter::Brace => span.resolved_at(user),
                _ => span,
            });
            TokenTree::Group(written)
        }
        TokenTree::Ident(mut word) => {
            if KEYWORDS.iter().any(|keyword| word == keyword) {
                word.set_span(word.span().resolved_at(user));
            }
            TokenTree::Ident(word)
        }
        token => token,
    });
    tokens.collect()
}
