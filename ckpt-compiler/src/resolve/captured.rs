//! The variables that format strings capture.

use crate::names::replace_words;
use proc_macro2::Literal;
use std::borrow::Cow;

/// A literal with other names in the place of those that it captures, were it a format string: `{name}`, `{name:..}`,
/// `{:width$}`.
pub(super) fn renamed(literal: &Literal, other: &dyn Fn(&str) -> Option<String>) -> Option<Literal> {
    let text = literal.to_string();
    if !text.ends_with('"') && !text.ends_with('#') {
        return None;
    }
    let Cow::Owned(text) = rename(&text, other) else {
        return None;
    };
    let mut renamed = text.parse::<Literal>().ok()?;
    renamed.set_span(literal.span());
    Some(renamed)
}

fn rename<'t>(text: &'t str, other: &dyn Fn(&str) -> Option<String>) -> Cow<'t, str> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(open) = text[at..].find('{').map(|found| at + found) {
        at = open + 1;
        if text[at..].starts_with('{') {
            at += 1;
            continue;
        }
        let Some(close) = text[at..].find('}').map(|found| at + found) else {
            break;
        };
        let is_escape = text[..open].ends_with("\\u");
        let inside = rename_argument(&text[at..close], other);
        if let (false, Cow::Owned(inside)) = (is_escape, inside) {
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
        assert_eq!(of(r#""{b:>1$} a""#), None);
        assert_eq!(of("12"), None);
    }
}
