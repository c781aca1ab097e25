//! Texts of a store as they are shown: without what a terminal would obey.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal obeys a character, or draws what is around it in another order.
fn is_obeyed(one: char) -> bool {
    one.is_control()
        || matches!(one,
            // The order of writing, and lines that are none.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // What is not seen at all.
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

fn escaped(text: &str, keeps: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_meant = |one: char| is_obeyed(one) && !keeps(one);
    if !text.contains(is_meant) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for one in text.chars() {
        match is_meant(one) {
            // To a string it cannot fail.
            true => drop(write!(shown, "{}", one.escape_default())),
            false => shown.push(one),
        }
    }
    Cow::Owned(shown)
}

/// `1 checkpoint`, `2 checkpoints`.
pub(crate) fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", plural(number))
}

/// What a word ends with that is of so many.
pub(crate) fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

/// A text for a line of a message or a cell of a table. What a terminal would obey, and what changes the order of writing,
/// stands there as in a literal of Rust: `\u{1b}`, `\n`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, |_| false)
}

/// The same for a text of several lines.
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |one| matches!(one, '\n' | '\t'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_shown() {
        assert_eq!(printable("äß \u{200d}日本"), "äß \u{200d}日本");
        assert_eq!(
            printable("\u{1b}]0;x\u{7}\n\u{9b}\u{202e}"),
            "\\u{1b}]0;x\\u{7}\\n\\u{9b}\\u{202e}"
        );
        assert_eq!(printable_lines("a\n\tb\r"), "a\n\tb\\r");
    }
}
