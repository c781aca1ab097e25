//! The variables that format strings capture.

use crate::names::replace_words;
use proc_macro2::Literal;
use std::borrow::Cow;
use std::cell::RefCell;

/// A literal with other names in the place of those that it captures, were it a format string: `{name}`, `{name:..}`,
/// `{:width$}`.
pub fn renamed(literal: &Literal, other: &dyn Fn(&str) -> Option<String>) -> Option<Literal> {
    let text = literal.to_string();
    if !is_text(&text) {
        return None;
    }
    let Cow::Owned(text) = rename(&text, other) else {
        return None;
    };
    let mut renamed = text.parse::<Literal>().ok()?;
    renamed.set_span(literal.span());
    Some(renamed)
}

/// The names that a format string captures.
pub fn captured_in_text(literal: &str) -> Vec<String> {
    let names = RefCell::new(Vec::new());
    let note = |name: &str| {
        if name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            names.borrow_mut().push(name.to_owned());
        }
        None
    };
    if is_text(literal) {
        rename(literal, &note);
    }
    names.into_inner()
}

fn is_text(literal: &str) -> bool {
    literal.ends_with('"') || literal.ends_with('#')
}

fn rename<'t>(text: &'t str, other: &dyn Fn(&str) -> Option<String>) -> Cow<'t, str> {
    let is_raw = text.starts_with('r') || text.starts_with("br") || text.starts_with("cr");
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = text[at..].find(['{', '\\']).map(|found| at + found) {
        at = found + 1;
        if text[found..].starts_with('\\') {
            // An escape: of `\u{41}` the braces are not those of an argument.
            let skipped = match is_raw {
                true => 0,
                false if text[at..].starts_with("u{") => text[at..].find('}').map_or(0, |close| close + 1),
                false => text[at..].chars().next().map_or(0, char::len_utf8),
            };
            at += skipped;
            continue;
        }
        if text[at..].starts_with('{') {
            at += 1;
            continue;
        }
        let Some(close) = text[at..].find('}').map(|found| at + found) else {
            break;
        };
        if let Cow::Owned(inside) = rename_argument(&text[at..close], other) {
            out += &text[copied..at];
            out += &inside;
            copied = close;
        }
        at = close + 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out += &text[copied..];
    Cow::Owned(out)
}

/// What stands between the braces: the argument, and behind a colon how it is formatted, in which `name$` is another.
fn rename_argument<'t>(inside: &'t str, other: &dyn Fn(&str) -> Option<String>) -> Cow<'t, str> {
    let (argument, how) = match inside.split_once(':') {
        Some((argument, how)) => (argument, Some(how)),
        None => (inside, None),
    };
    let argument = replace_words(argument, other);
    let how = how.map(|how| sizes(how, other));
    match (&argument, &how) {
        (Cow::Borrowed(_), None | Some(Cow::Borrowed(_))) => Cow::Borrowed(inside),
        (argument, None) => Cow::Owned(argument.clone().into_owned()),
        (argument, Some(how)) => Cow::Owned(format!("{argument}:{how}")),
    }
}

fn sizes<'t>(how: &'t str, other: &dyn Fn(&str) -> Option<String>) -> Cow<'t, str> {
    let mut pieces: Vec<Cow<'_, str>> = how.split('$').map(Cow::Borrowed).collect();
    let last = pieces.len() - 1;
    for piece in &mut pieces[..last] {
        let start = piece
            .rfind(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(0, |at| at + 1);
        // `{:0width$}`: no name begins with the flag in front of it.
        let digits = piece[start..].find(|c: char| !c.is_ascii_digit());
        let start = start + digits.unwrap_or(0);
        if let Some(name) = other(&piece[start..]) {
            *piece = Cow::Owned(format!("{}{name}", &piece[..start]));
        }
    }
    match pieces.iter().any(|piece| matches!(piece, Cow::Owned(_))) {
        true => Cow::Owned(pieces.join("$")),
        false => Cow::Borrowed(how),
    }
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
        let captured = captured_in_text(r#""{a} {b:>c$} {:x} {{\"d\": {e:?}}} \u{f}""#);
        assert_eq!(captured, ["a", "b", "c", "e"]);
    }
}
