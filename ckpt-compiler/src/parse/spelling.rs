//! One spelling for each name: `r#gain` is `gain`, and only what is a word of the language without keeps its `r#`.

use crate::names::respelled;
use proc_macro2::{Group, TokenStream, TokenTree};

/// The tokens with one spelling for each name. What macros are given stays, as they may look at it or show it, unless
/// `in_macros`.
pub(super) fn spelled(tokens: TokenStream, in_macros: bool) -> TokenStream {
    let mut out = TokenStream::new();
    // Behind `print!` and `macro_rules! name`.
    let mut behind_bang = 0;
    let mut behind_name = false;
    for token in tokens {
        let is_bang = matches!(&token, TokenTree::Punct(one) if one.as_char() == '!');
        let is_name = matches!(&token, TokenTree::Ident(_));
        let in_macro = behind_bang > 0;
        out.extend([match token {
            TokenTree::Group(group) if in_macros || !in_macro => {
                let mut inner = Group::new(group.delimiter(), spelled(group.stream(), in_macros));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            TokenTree::Ident(name) => TokenTree::Ident(respelled(&name).unwrap_or(name)),
            other => other,
        }]);
        behind_bang = match (is_bang && behind_name, in_macro && is_name) {
            (true, _) => 2,
            (_, true) => behind_bang - 1,
            _ => 0,
        };
        behind_name = is_name;
    }
    out
}

/// Whether a text may have names with `r#`: strings with a fence count as well.
pub(super) fn may_be_raw(text: &str) -> bool {
    text.contains("r#")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(in_macros: bool, text: &str, expected: &str) {
        let spelled = spelled(text.parse().unwrap(), in_macros);
        let expected: TokenStream = expected.parse().unwrap();
        assert_eq!(spelled.to_string(), expected.to_string());
    }

    #[test]
    fn only_words_of_the_language_are_raw() {
        let text = "let r#gain = r#type + r#self_ + r#gen; if x && !(r#a) { show!(r#gain) }";
        check(
            false,
            text,
            "let gain = r#type + self_ + r#gen; if x && !(a) { show!(r#gain) }",
        );
        check(
            true,
            text,
            "let gain = r#type + self_ + r#gen; if x && !(a) { show!(gain) }",
        );
    }
}
