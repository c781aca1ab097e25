//! The text of a function's body on one line, with other names for some of what it names.

use ckpt_compiler::syntax::captured;
use proc_macro2::{Delimiter, Literal, TokenStream, TokenTree};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// A token and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Bytes of the file.
    pub bytes: Range<usize>,
    /// As it is written.
    pub text: String,
    /// Whether it is an identifier.
    is_name: bool,
}

/// What is written instead of names.
#[derive(Debug, Default)]
pub struct Changes {
    /// Variables.
    pub renamed: HashMap<String, String>,
    /// First names of paths.
    pub paths: BTreeMap<String, String>,
}

/// The tokens, groups opened, of a file whose spans begin at `base`.
pub fn tokens(stream: &TokenStream, base: usize) -> Vec<Token> {
    let mut list = Vec::new();
    gather(stream, base, &mut list);
    list
}

fn gather(stream: &TokenStream, base: usize, list: &mut Vec<Token>) {
    let place = |span: proc_macro2::Span| {
        let range = span.byte_range();
        range.start + base..range.end + base
    };
    let other = |span, text: String, is_name| Token {
        bytes: place(span),
        text,
        is_name,
    };
    for token in stream.clone() {
        let TokenTree::Group(group) = token else {
            let is_name = matches!(token, TokenTree::Ident(_));
            list.push(other(token.span(), token.to_string(), is_name));
            continue;
        };
        let (open, close) = match group.delimiter() {
            Delimiter::Parenthesis => ("(", ")"),
            Delimiter::Brace => ("{", "}"),
            Delimiter::Bracket => ("[", "]"),
            Delimiter::None => {
                gather(&group.stream(), base, list);
                continue;
            }
        };
        list.push(other(group.span_open(), open.to_owned(), false));
        gather(&group.stream(), base, list);
        list.push(other(group.span_close(), close.to_owned(), false));
    }
}

/// All words in some tokens, those in texts too: `{step}` names a variable.
pub fn words(stream: &TokenStream) -> HashSet<String> {
    let mut words = HashSet::new();
    for token in tokens(stream, 0) {
        let pieces = token.text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.extend(pieces.map(str::to_owned));
    }
    words
}

/// The tokens on one line, apart where they are apart in the file, with what is to be changed in them.
pub fn written(list: &[Token], changes: &Changes) -> String {
    let mut text = String::new();
    for (index, token) in list.iter().enumerate() {
        let is_apart = |before: &Token| before.bytes.end < token.bytes.start && before.text != "&";
        if index > 0 && is_apart(&list[index - 1]) {
            text.push(' ');
        }
        if token.is_name {
            text += changed(list, index, changes);
        } else if token.text.starts_with('"') {
            text += &in_braces(&token.text, &changes.renamed);
        } else {
            text += &token.text;
        }
    }
    text
}

/// A name as it is to be written: `.name` is a field or a method, `name!` a macro, `a::name` not what its first name says.
fn changed<'t>(list: &'t [Token], index: usize, changes: &'t Changes) -> &'t str {
    let at = |index: Option<usize>| {
        index
            .and_then(|index| list.get(index))
            .map(|token| token.text.as_str())
    };
    let (before, after) = (at(index.checked_sub(1)), at(Some(index + 1)));
    let is_colon = |text: Option<&str>| text == Some(":");
    let name = &list[index].text;
    let is_last = is_colon(before) && is_colon(at(index.checked_sub(2)));
    let is_first = is_colon(after) && is_colon(at(Some(index + 2)));
    let is_field = is_colon(after) && !is_first && matches!(before, Some("{" | ","));
    if before == Some(".") || after == Some("!") || is_last || is_field {
        return name;
    }
    let other = match is_first {
        true => changes.paths.get(name),
        false => changes.renamed.get(name).or_else(|| changes.paths.get(name)),
    };
    other.unwrap_or(name)
}

/// A text with other names for what it captures, were it a format string.
fn in_braces(text: &str, renamed: &HashMap<String, String>) -> String {
    let literal = text.parse::<Literal>().ok();
    let other = |name: &str| renamed.get(name).cloned();
    let renamed = literal.and_then(|literal| captured::renamed(&literal, &other));
    renamed.map_or_else(|| text.to_owned(), |literal| literal.to_string())
}
