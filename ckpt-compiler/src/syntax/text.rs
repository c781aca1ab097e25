//! Tokens as one line of text for people: what the stages show of statements and expressions.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Longer lines are cut.
const LONGEST: usize = 100;

/// Tokens on one line, spaced about as Rust is written, the end cut off where there are many.
pub fn line_of(tokens: TokenStream) -> String {
    let mut line = Line::default();
    line.tokens(tokens);
    if line.text.chars().count() <= LONGEST {
        return line.text;
    }
    let cut: String = line.text.chars().take(LONGEST).collect();
    format!("{}..", cut.trim_end())
}

/// A line that is being written.
#[derive(Default)]
struct Line {
    text: String,
    /// Whether what comes next follows without a space.
    joined: bool,
}

impl Line {
    fn tokens(&mut self, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Group(group) => self.group(group.delimiter(), group.stream()),
                TokenTree::Ident(ident) => self.word(&ident.to_string()),
                TokenTree::Literal(literal) => self.word(&literal.to_string()),
                TokenTree::Punct(punct) => self.punct(punct.as_char(), punct.spacing() == Spacing::Joint),
            }
        }
    }

    fn word(&mut self, word: &str) {
        if !self.joined && !self.text.is_empty() {
            self.text.push(' ');
        }
        self.text += word;
        self.joined = false;
    }

    fn ends_with_a_keyword(&self) -> bool {
        let last = self
            .text
            .rsplit(|c: char| !c.is_alphanumeric() && c != '_')
            .next();
        const KEYWORDS: [&str; 10] = [
            "let", "if", "match", "in", "while", "return", "else", "break", "mut", "move",
        ];
        last.is_some_and(|last| KEYWORDS.contains(&last))
    }

    fn group(&mut self, delimiter: Delimiter, inside: TokenStream) {
        let (open, close, spaced) = match delimiter {
            Delimiter::Parenthesis => ("(", ")", false),
            Delimiter::Bracket => ("[", "]", false),
            Delimiter::Brace => ("{", "}", true),
            Delimiter::None => ("", "", false),
        };
        let follows_a_name = self
            .text
            .ends_with(|c: char| c.is_alphanumeric() || "_!)]>".contains(c));
        self.joined |= !spaced && follows_a_name && !self.text.ends_with("=>") && !self.ends_with_a_keyword();
        self.word(open);
        self.joined = !spaced || inside.is_empty();
        let is_empty = inside.is_empty();
        self.tokens(inside);
        self.joined = !spaced || is_empty;
        self.word(close);
        self.joined = false;
    }

    fn punct(&mut self, sign: char, is_joint: bool) {
        let is_path = sign == ':' && is_joint && self.text.ends_with(|c: char| "=<>|&-+*/".contains(c));
        let is_tight = matches!(sign, ',' | ';' | '.' | ':' | '?' | '!');
        let is_tight = is_tight && !is_path && !(matches!(sign, ':' | '!') && self.ends_with_a_keyword());
        let before = self.text.ends_with(|c: char| "=<>+-*/%^&|!:.".contains(c)) && self.joined;
        self.joined |= is_tight || before;
        self.word(&sign.to_string());
        self.joined = is_joint
            || matches!(sign, '.' | '&' | '!' | '\'' | '#')
            || sign == ':' && self.text.ends_with("::");
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn tokens_are_spaced_as_rust_is_written() {
        for text in [
            "let mut sum = 0.0;",
            "let x: f64 = a.b[k](c, d)?;",
            "for i in 0..n { sum += i; }",
            "println!(\"{sum}\");",
            "std::mem::swap(&mut a, &b);",
            "let (a, b) = ::core::mem::take(x);",
            "if !(a > b) { break; }",
            "match ::core::iter::once(1) { _ => 2 }",
        ] {
            assert_eq!(line_of(text.parse().unwrap()), text);
        }
    }
}
