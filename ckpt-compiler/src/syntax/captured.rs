//! The variables that format strings capture.

use crate::names::{replaced, spelling_of_captured, with_text, words};
use proc_macro2::Literal;
use std::borrow::Cow;
use std::ops::Range;

/// A literal with other names in the place of those that it captures, were it a format string; `other` knows them by
/// their spelling.
pub fn renamed(literal: &Literal, other: &dyn Fn(&str) -> Option<String>) -> Option<Literal> {
    let text = literal.to_string();
    match replaced(&text, captures(&text), |name| other(&spelling_of_captured(name))) {
        Cow::Owned(renamed) => with_text(literal, &renamed),
        Cow::Borrowed(_) => None,
    }
}

/// The names that a format string captures, in their spelling elsewhere.
pub fn captured_in_text(literal: &str) -> Vec<String> {
    let names = captures(literal).into_iter();
    names.map(|name| spelling_of_captured(&literal[name])).collect()
}

/// Where the names stand that a literal captures, were it a format string: `{name}`, `{name:..}`, `{:width$}`.
fn captures(literal: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if !literal.ends_with('"') && !literal.ends_with('#') {
        return found;
    }
    let is_raw = literal.starts_with('r') || literal.starts_with("br") || literal.starts_with("cr");
    let mut at = 0;
    while let Some(next) = literal[at..].find(['{', '\\']).map(|next| at + next) {
        at = next + 1;
        let rest = &literal[at..];
        if literal[next..].starts_with('\\') {
            // An escape: of `\u{41}` the braces are not those of an argument.
            at += match rest.find('}') {
                _ if is_raw => 0,
                Some(close) if rest.starts_with("u{") => close + 1,
                _ => rest.chars().next().map_or(0, char::len_utf8),
            };
        } else if rest.starts_with('{') {
            at += 1;
        } else {
            let Some(close) = rest.find('}') else { break };
            let names = in_argument(&rest[..close]);
            found.extend(names.map(|name| at + name.start..at + name.end));
            at += close + 1;
        }
    }
    let is_name = |c: char| c.is_alphabetic() || c == '_';
    found.retain(|name| literal[name.clone()].starts_with(is_name));
    found
}

/// The names between the braces: in the argument, and behind a colon, in how it is formatted, those in front of a `$`.
fn in_argument(inside: &str) -> impl Iterator<Item = Range<usize>> {
    let colon = inside.find(':').unwrap_or(inside.len());
    words(inside).filter_map(move |word| {
        if word.start < colon {
            return Some(word);
        }
        // `{:0width$}`: no name begins with the flag in front of it.
        let name = inside[word.clone()].trim_start_matches(|c: char| c.is_ascii_digit());
        inside[word.end..]
            .starts_with('$')
            .then(|| word.end - name.len()..word.end)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_captures_are_renamed() {
        let other = |name: &str| ["a", "x"].contains(&name).then(|| format!("{name}_2"));
        let of = |text: &str| {
            let literal: Literal = text.parse().unwrap();
            renamed(&literal, &other).map(|one| one.to_string())
        };
        assert_eq!(
            of(r#""{a} {b:>a$} {:x} {x:x} {{a}} a \u{a}""#).unwrap(),
            r#""{a_2} {b:>a_2$} {:x} {x_2:x} {{a}} a \u{a}""#
        );
        assert_eq!(of(r##"r#"{a:?}"#"##).unwrap(), r##"r#"{a_2:?}"#"##);
        assert_eq!(
            of(r#""\\u{a} {x:0a$} {x:>08.a$}""#).unwrap(),
            r#""\\u{a_2} {x_2:0a_2$} {x_2:>08.a_2$}""#
        );
        assert_eq!(of(r##"r"\u{a}""##).unwrap(), r##"r"\u{a_2}""##);
        assert_eq!(
            of(r#""{{{a}}} \\mu{a} \u{a}{x}""#).unwrap(),
            r#""{{{a_2}}} \\mu{a_2} \u{a}{x_2}""#
        );
        assert_eq!(of(r#""{b:>1$} a""#), None);
        assert_eq!(of("12"), None);
        assert_eq!(captured_in_text(r#""{type} {self}""#), ["r#type", "self"]);
        let captured = captured_in_text(r#""{a} {b:>c$} {:x} {{\"d\": {e:?}}} \u{f}""#);
        assert_eq!(captured, ["a", "b", "c", "e"]);
    }
}
