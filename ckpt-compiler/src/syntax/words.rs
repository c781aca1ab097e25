//! Tokens as the words that a program is made of: the same for two texts that differ in layout and comments only.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Hands over the words in their order, without what is not the program's and differs from one compiler to the next: the
/// white space between them, the groups around what a macro was given, which nobody sees, and comments, which are raw
/// strings to some.
pub fn words(tokens: &TokenStream, take: &mut dyn FnMut(&str)) {
    let mut tokens = tokens.clone().into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
                words(&group.stream(), take);
            }
            TokenTree::Group(group) => {
                take(match group.delimiter() {
                    Delimiter::Brace => "{",
                    Delimiter::Bracket => "[",
                    _ => "(",
                });
                words(&group.stream(), take);
                take(")");
            }
            TokenTree::Punct(punct) => {
                let follows =
                    |token: &TokenTree| matches!(token, TokenTree::Group(group) if is_comment(group));
                let bang =
                    |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == '!');
                if punct.as_char() == '#' {
                    let inner = tokens.next_if(bang).is_some();
                    if tokens.next_if(follows).is_some() {
                        continue;
                    }
                    take("#");
                    if inner {
                        take("!");
                    }
                    continue;
                }
                take(&punct.as_char().to_string());
            }
            other => take(&other.to_string()),
        }
    }
}

/// Whether it is the `[doc = "..."]` that a `///` is to a macro.
fn is_comment(group: &Group) -> bool {
    let first = group.stream().into_iter().next();
    group.delimiter() == Delimiter::Bracket && matches!(first, Some(TokenTree::Ident(word)) if word == "doc")
}
