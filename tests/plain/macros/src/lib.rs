//! Attributes and macros that do nothing, under the names of ckpt's. `ckpt-plain` says what they are for.

use proc_macro::{Delimiter, Group, TokenStream, TokenTree};

/// Gives the function back as it was written.
#[proc_macro_attribute]
pub fn instrument(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    without_steering(function)
}

/// Gives the function back as it was written; there is no session to open.
#[proc_macro_attribute]
pub fn main(_arguments: TokenStream, function: TokenStream) -> TokenStream {
    without_steering(function)
}

/// Gives the trait back as it was written.
#[proc_macro_attribute]
pub fn object(_arguments: TokenStream, item: TokenStream) -> TokenStream {
    item
}

/// An empty block.
#[proc_macro]
pub fn checkpoint(_arguments: TokenStream) -> TokenStream {
    "{}".parse().unwrap_or_default()
}

/// Derives nothing.
#[proc_macro_derive(Checkpoint, attributes(ckpt))]
pub fn derive_checkpoint(_item: TokenStream) -> TokenStream {
    TokenStream::new()
}

/// The tokens without any `#[ckpt(..)]`: no other attribute takes those off a `let`.
fn without_steering(tokens: TokenStream) -> TokenStream {
    let mut kept: Vec<TokenTree> = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) if is_steering(&group) && ends_with_hash(&kept) => {
                kept.pop();
            }
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), without_steering(group.stream()));
                inner.set_span(group.span());
                kept.push(inner.into());
            }
            other => kept.push(other),
        }
    }
    kept.into_iter().collect()
}

fn is_steering(group: &Group) -> bool {
    let mut inside = group.stream().into_iter();
    group.delimiter() == Delimiter::Bracket
        && matches!(inside.next(), Some(TokenTree::Ident(name)) if name.to_string() == "ckpt")
        && matches!(inside.next(), Some(TokenTree::Group(_)))
}

fn ends_with_hash(kept: &[TokenTree]) -> bool {
    matches!(kept.last(), Some(TokenTree::Punct(hash)) if hash.as_char() == '#')
}
