//! Text edits on the user's own source: insertions that keep every other byte, and the way back from a place in the
//! edited text to the place in the original.

use crate::source::{FileId, Program};
use std::collections::BTreeMap;
use std::ops::Range;

/// Something put into a file, or in place of a part of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The file.
    pub file: FileId,
    /// The first byte that is replaced, in the original text; where nothing is, the place of the insertion.
    pub start: usize,
    /// The byte after the last one that is replaced.
    pub end: usize,
    /// What is put there.
    pub text: String,
}

impl Edit {
    /// An insertion.
    pub fn insert(file: FileId, at: usize, text: impl Into<String>) -> Self {
        Self {
            file,
            start: at,
            end: at,
            text: text.into(),
        }
    }

    /// A line of its own in front of the item or statement that begins at `at`, indented like it. Where something else
    /// stands before it on its line, the text goes in front of it on the same line.
    ///
    /// ```
    /// use ckpt_analysis::{Edit, Edited, FileId};
    /// let text = "mod a {\n    fn f() {}\n}\n";
    /// let edit = Edit::line_before(FileId(0), text, text.find("fn").unwrap(), "#[ckpt::instrument]");
    /// assert_eq!(Edited::new(text, &[edit]).text, "mod a {\n    #[ckpt::instrument]\n    fn f() {}\n}\n");
    /// ```
    pub fn line_before(file: FileId, text: &str, at: usize, inserted: &str) -> Self {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let indent = &text[line..at];
        let inserted = if indent.chars().all(char::is_whitespace) {
            format!("{inserted}{}{indent}", line_end(text))
        } else {
            format!("{inserted} ")
        };
        Self::insert(file, at, inserted)
    }

    /// A line of its own behind the statement that ends at `at`, indented like the line that it ends on.
    ///
    /// ```
    /// use ckpt_analysis::{Edit, Edited, FileId};
    /// let text = "{\n    for i in 0..3 {\n        f();\n    }\n}\n";
    /// let edit = Edit::line_behind(FileId(0), text, text.find("}\n}").unwrap() + 1, "g();");
    /// assert_eq!(Edited::new(text, &[edit]).text, "{\n    for i in 0..3 {\n        f();\n    }\n    g();\n}\n");
    /// ```
    pub fn line_behind(file: FileId, text: &str, at: usize, inserted: &str) -> Self {
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let indent: String = text[line..at]
            .chars()
            .take_while(|one| one.is_whitespace())
            .collect();
        Self::insert(file, at, format!("{}{indent}{inserted}", line_end(text)))
    }

    /// A first statement for the block whose `{` ends at `at`: a line of its own, indented like the statement that
    /// follows; in a block on one line it goes on that line.
    ///
    /// ```
    /// use ckpt_analysis::{Edit, Edited, FileId};
    /// let text = "for i in 0..3 {\n    f(i);\n}\n";
    /// let edit = Edit::first_statement(FileId(0), text, text.find('{').unwrap() + 1, "g();");
    /// assert_eq!(Edited::new(text, &[edit]).text, "for i in 0..3 {\n    g();\n    f(i);\n}\n");
    /// ```
    pub fn first_statement(file: FileId, text: &str, at: usize, statement: &str) -> Self {
        let rest = &text[at..];
        let first_line_ends = rest.find('\n');
        let is_block_of_lines = first_line_ends.is_some_and(|end| {
            let tail = rest[..end].trim();
            tail.is_empty() || tail.starts_with("//")
        });
        let (Some(end), true) = (first_line_ends, is_block_of_lines) else {
            let space = if rest.starts_with([' ', '\n', '\r']) {
                ""
            } else {
                " "
            };
            return Self::insert(file, at, format!(" {statement}{space}"));
        };
        let indent = indent_of_first_line(&rest[end + 1..]);
        let inserted = format!("{indent}{statement}{}", line_end(text));
        Self::insert(file, at + end + 1, inserted)
    }
}

/// The white space in front of the first line that has anything else.
fn indent_of_first_line(text: &str) -> &str {
    let Some(line) = text.lines().find(|line| !line.trim().is_empty()) else {
        return "";
    };
    &line[..line.len() - line.trim_start().len()]
}

fn line_end(text: &str) -> &'static str {
    match text.find('\n') {
        Some(end) if text[..end].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// A file with edits made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edited {
    /// The new text.
    pub text: String,
    /// For each edit, in the order of the file: where it starts in the new text, how long the new part is, and which
    /// part of the original it replaces.
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    new_start: usize,
    new_length: usize,
    old_start: usize,
    old_end: usize,
    /// Lines that end in the part of the original.
    old_lines: usize,
}

impl Edited {
    /// Makes the edits; those at the same place in their order. Of edits that replace overlapping parts, the first
    /// one counts.
    pub fn new(original: &str, edits: &[Edit]) -> Self {
        let mut ordered: Vec<&Edit> = edits.iter().collect();
        ordered.sort_by_key(|edit| edit.start);
        let mut text =
            String::with_capacity(original.len() + edits.iter().map(|edit| edit.text.len()).sum::<usize>());
        let mut pieces = Vec::with_capacity(edits.len());
        let mut done = 0;
        for edit in ordered {
            if edit.start < done || edit.end > original.len() {
                continue;
            }
            text.push_str(&original[done..edit.start]);
            pieces.push(Piece {
                new_start: text.len(),
                new_length: edit.text.len(),
                old_start: edit.start,
                old_end: edit.end,
                old_lines: original[edit.start..edit.end].matches('\n').count(),
            });
            text.push_str(&edit.text);
            done = edit.end;
        }
        text.push_str(&original[done..]);
        Self { text, pieces }
    }

    /// Where a byte of the new text was in the original; of what was put in, the place where it was put.
    pub fn original_offset(&self, new: usize) -> usize {
        let next = self.pieces.partition_point(|piece| piece.new_start <= new);
        let Some(piece) = next.checked_sub(1).map(|index| &self.pieces[index]) else {
            return new;
        };
        let beyond = new - piece.new_start;
        if beyond < piece.new_length {
            return piece.old_start;
        }
        piece.old_end + (beyond - piece.new_length)
    }

    /// Where a byte of the original is in the new text, unless it was replaced.
    pub fn new_offset(&self, original: usize) -> Option<usize> {
        let next = self.pieces.partition_point(|piece| piece.old_start <= original);
        let Some(piece) = next.checked_sub(1).map(|index| &self.pieces[index]) else {
            return Some(original);
        };
        let beyond = original.checked_sub(piece.old_end)?;
        Some(piece.new_start + piece.new_length + beyond)
    }

    /// The new text with spaces where parts of the original were, and where what was put in would begin a line more: every
    /// line of the original has its number, and every byte its place in the new text.
    ///
    /// ```
    /// use ckpt_analysis::{Edit, Edited, FileId};
    /// let text = "#[cfg(unix)]\nf();";
    /// let edited = Edited::new(text, &[Edit::insert(FileId(0), 0, "g(); ")]);
    /// assert_eq!(edited.text_on_lines_without(&[0..12]), "g();             \nf();");
    /// let edited = Edited::new("a();\nb();", &[Edit::insert(FileId(0), 5, "g();\n")]);
    /// assert_eq!(edited.text_on_lines_without(&[]), "a();\ng(); b();");
    /// ```
    pub fn text_on_lines_without(&self, parts: &[Range<usize>]) -> String {
        let mut bytes = self.text.clone().into_bytes();
        for original in parts.iter().cloned().flatten() {
            if let Some(byte) = self.new_offset(original).and_then(|new| bytes.get_mut(new))
                && !matches!(byte, b'\n' | b'\r')
            {
                *byte = b' ';
            }
        }
        for piece in &self.pieces {
            let put_in = &mut bytes[piece.new_start..piece.new_start + piece.new_length];
            // The rest of a line of its own would belong to a comment.
            if put_in.windows(2).any(|two| two == b"//") {
                continue;
            }
            let mut lines = piece.old_lines;
            for at in 0..put_in.len() {
                if put_in[at] != b'\n' {
                    continue;
                }
                if lines > 0 {
                    lines -= 1;
                    continue;
                }
                put_in[at] = b' ';
                if at > 0 && put_in[at - 1] == b'\r' {
                    put_in[at - 1] = b' ';
                }
            }
        }
        String::from_utf8(bytes).unwrap_or_else(|_| self.text.clone())
    }
}

/// The files of the program that these edits change.
pub fn edited(program: &Program, edits: Vec<Edit>) -> BTreeMap<FileId, Edited> {
    by_file(edits)
        .into_iter()
        .map(|(file, edits)| (file, Edited::new(&program.file(file).text, &edits)))
        .collect()
}

/// The edits of each file that has any.
pub fn by_file(edits: Vec<Edit>) -> BTreeMap<FileId, Vec<Edit>> {
    let mut files: BTreeMap<FileId, Vec<Edit>> = BTreeMap::new();
    for edit in edits {
        files.entry(edit.file).or_default().push(edit);
    }
    files
}

/// Line and column, both from 1, of a byte of a text.
pub fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    (line, before[start..].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: FileId = FileId(0);

    #[test]
    fn places_are_found_again() {
        let text = "abcdef";
        let edits = [
            Edit::insert(FILE, 4, "XY"),
            Edit::insert(FILE, 1, "__"),
            Edit {
                file: FILE,
                start: 2,
                end: 3,
                text: "long".into(),
            },
        ];
        let edited = Edited::new(text, &edits);
        assert_eq!(edited.text, "a__blongdXYef");
        let back: Vec<_> = (0..edited.text.len())
            .map(|new| edited.original_offset(new))
            .collect();
        assert_eq!(back, [0, 1, 1, 1, 2, 2, 2, 2, 3, 4, 4, 4, 5]);
    }

    #[test]
    fn nothing_to_do_changes_nothing() {
        assert_eq!(Edited::new("a\r\nb", &[]).text, "a\r\nb");
    }

    #[test]
    fn blocks_of_one_line_and_line_ends_are_kept() {
        let statement = |text: &str| {
            let edit = Edit::first_statement(FILE, text, text.find('{').unwrap() + 1, "s();");
            Edited::new(text, &[edit]).text
        };
        assert_eq!(statement("loop { f(); }"), "loop { s(); f(); }");
        assert_eq!(statement("loop {f();}"), "loop { s(); f();}");
        assert_eq!(statement("loop {}"), "loop { s(); }");
        assert_eq!(
            statement("loop { // why\r\n\r\n\tf();\r\n}"),
            "loop { // why\r\n\ts();\r\n\r\n\tf();\r\n}"
        );
        let text = "impl A { fn f() {} }";
        let edit = Edit::line_before(FILE, text, 9, "#[a]");
        assert_eq!(Edited::new(text, &[edit]).text, "impl A { #[a] fn f() {} }");
    }
}
