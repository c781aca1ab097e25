//! Texts in the width of a terminal: lines are broken between words, and what is in backquotes stays together, so that a
//! command can be taken from where it stands. Elsewhere, in files and pipes, lines are as long as they are.

use std::os::fd::AsFd;

/// Less than that is no width to write in.
const NARROWEST: usize = 20;

/// The columns of the terminal that a stream leads to.
pub fn columns_of(stream: impl AsFd) -> Option<usize> {
    // What is no terminal has no size.
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns >= NARROWEST)
}

/// The text, with lines of no more columns where words allow that. What continues a line is indented as its text is.
pub fn wrapped(text: &str, columns: Option<usize>) -> String {
    let Some(columns) = columns else {
        return text.to_owned();
    };
    text.split_inclusive('\n')
        .map(|line| wrapped_line(line, columns))
        .collect()
}

fn wrapped_line(line: &str, columns: usize) -> String {
    let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
    if width(line) <= columns {
        return format!("{line}{end}");
    }
    let indent = indent_of(line).min(columns / 2);
    let mut wrapped = String::new();
    let mut used = 0;
    for piece in pieces(line, columns - indent) {
        let (blanks, word) = piece;
        if used > 0 && used + blanks.len() + width(word) > columns {
            wrapped.push('\n');
            wrapped += &" ".repeat(indent);
            used = indent;
        } else {
            wrapped += blanks;
            used += blanks.len();
        }
        wrapped += word;
        used += width(word);
    }
    wrapped + end
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Where the text of a line begins: behind blanks, and behind a label such as `help:  `.
fn indent_of(line: &str) -> usize {
    let text = line.trim_start_matches(' ');
    let blanks = line.len() - text.len();
    let label = text.split_once(": ").filter(|(label, _)| {
        !label.is_empty() && label.len() <= 8 && label.chars().all(|one| one.is_ascii_lowercase())
    });
    let label = label.map_or(0, |(label, rest)| {
        label.len() + 2 + (rest.len() - rest.trim_start_matches(' ').len())
    });
    blanks + label
}

/// The words with the blanks before them; what is in backquotes is one word, if it is no longer than a line.
fn pieces(line: &str, most: usize) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut rest = line;
    while !rest.is_empty() {
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let text = &rest[blanks..];
        let length = end_of_word(text, most);
        found.push((&rest[..blanks], &text[..length]));
        rest = &text[length..];
    }
    found
}

fn end_of_word(text: &str, most: usize) -> usize {
    let plain = text.find(' ').unwrap_or(text.len());
    let mut quoted = false;
    for (at, one) in text.char_indices() {
        match one {
            '`' => quoted = !quoted,
            ' ' if !quoted => return if width(&text[..at]) <= most { at } else { plain },
            _ => {}
        }
    }
    match quoted || width(text) > most {
        true => plain,
        false => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_between_words_and_continue_below_their_text() {
        let text = "help: one two three four five six\nshort\n  why:   seven eight nine ten eleven\n";
        assert_eq!(
            wrapped(text, Some(20)),
            "help: one two three\n      four five six\nshort\n  why:   seven eight\n         nine ten\n         eleven\n"
        );
        assert_eq!(wrapped(text, None), text);
    }

    #[test]
    fn a_command_stays_together() {
        assert_eq!(
            wrapped("then `cargo ckpt list` says which", Some(24)),
            "then `cargo ckpt list`\nsays which"
        );
        let long = "`a b c d e f g h i j k l m n o` x";
        assert_eq!(wrapped(long, Some(20)), "`a b c d e f g h i j\nk l m n o` x");
        assert_eq!(
            wrapped("it's a ` alone in a long line", Some(20)),
            "it's a ` alone in a\nlong line"
        );
    }
}
