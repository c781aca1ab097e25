//! A page of the book as text for a terminal.

use anstyle::{AnsiColor, Style};
use ckpt::store::wrapped;
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::render;

/// Wider lines are tiring to read.
const WIDEST: usize = 100;

/// The page without what only a browser shows, in lines of so many columns at most.
pub fn shown(page: &str, columns: usize, coloured: bool) -> String {
    let mut writer = Writer {
        columns: columns.min(WIDEST),
        coloured,
        ..Writer::default()
    };
    for event in Parser::new_ext(page, Options::ENABLE_TABLES) {
        writer.takes(event);
    }
    writer.written
}

/// What was read and is not written yet, and where it stands.
#[derive(Default)]
struct Writer {
    columns: usize,
    coloured: bool,
    written: String,
    /// Words of the paragraph, heading, item or cell.
    words: String,
    /// What stands before the first line of each item around: a number or a dash.
    items: Vec<Item>,
    /// The rows of a table, the header first.
    rows: Vec<Vec<String>>,
    code: Option<Code>,
    /// The address of the link that is read.
    link: Option<String>,
    is_picture: bool,
}

struct Item {
    /// The number of the next item, where they have numbers.
    next: Option<u64>,
    mark: String,
    /// Whether the mark is written.
    is_marked: bool,
}

struct Code {
    /// Whether lines with a `#` in front belong to what the book hides.
    is_rust: bool,
}

/// In front of the rest of a line of code or output that is longer than the terminal is wide.
const GOES_ON: &str = "\u{21aa} ";

/// A line in parts of at most so many columns, behind blanks where there are some.
fn broken(line: &str, columns: usize) -> Vec<String> {
    if line.len() > columns && line.bytes().all(|byte| byte == b'-') {
        return vec!["-".repeat(columns)];
    }
    let mut parts = vec![String::new()];
    for word in line.split_inclusive(' ').flat_map(|word| pieces(word, columns)) {
        let width = |text: &str| text.trim_end().chars().count();
        let last = parts.len() - 1;
        if width(&parts[last]) > 0 && parts[last].chars().count() + width(&word) > columns {
            parts.push(String::new());
        }
        let last = parts.len() - 1;
        parts[last] += &word;
    }
    parts
}

/// A word that is longer than a line in pieces that are not.
fn pieces(word: &str, columns: usize) -> Vec<String> {
    let all: Vec<char> = word.chars().collect();
    match word.trim_end().chars().count() > columns.max(1) {
        true => all
            .chunks(columns.max(1))
            .map(|piece| piece.iter().collect())
            .collect(),
        false => vec![word.to_owned()],
    }
}

impl Writer {
    fn takes(&mut self, event: Event) {
        match event {
            Event::Start(tag) => self.begins(tag),
            Event::End(tag) => self.ends(tag),
            Event::Text(text) if self.code.is_some() => self.code_lines(&text),
            Event::Text(text) if !self.is_picture => self.words.push_str(&text),
            Event::Code(text) => match self.may_be_coloured() {
                true => self.styled(&text, AnsiColor::Cyan.on_default()),
                false => self.words.push_str(&format!("`{text}`")),
            },
            Event::SoftBreak => self.words.push(' '),
            Event::HardBreak => self.words.push('\n'),
            Event::Rule => self.paragraph(&"-".repeat(self.columns)),
            // Comments, and pictures as HTML.
            _ => {}
        }
    }

    fn begins(&mut self, tag: Tag) {
        match tag {
            Tag::CodeBlock(kind) => {
                self.flush();
                let is_rust =
                    matches!(&kind, CodeBlockKind::Fenced(language) if language.starts_with("rust"));
                self.code = Some(Code { is_rust });
                self.separate();
            }
            Tag::List(first) => {
                self.flush();
                self.items.push(Item {
                    next: first,
                    mark: String::new(),
                    is_marked: true,
                });
            }
            Tag::Item => {
                if let Some(item) = self.items.last_mut() {
                    item.mark = item
                        .next
                        .map_or_else(|| "- ".to_owned(), |number| format!("{number}. "));
                    item.next = item.next.map(|number| number + 1);
                    item.is_marked = false;
                }
            }
            Tag::TableRow | Tag::TableHead => self.rows.push(Vec::new()),
            Tag::Link { dest_url, .. } => self.link = Some(dest_url.into_string()),
            Tag::Image { .. } => self.is_picture = true,
            _ => {}
        }
    }

    fn ends(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(level) => {
                let words = std::mem::take(&mut self.words);
                match self.may_be_coloured() {
                    true => self.styled(&words, Style::new().bold()),
                    false => self.words = format!("{} {words}", "#".repeat(level as usize)),
                }
                self.flush();
            }
            TagEnd::Paragraph => self.flush(),
            TagEnd::Item => self.flush(),
            TagEnd::List(_) => drop(self.items.pop()),
            TagEnd::CodeBlock => self.code = None,
            TagEnd::TableCell => {
                let cell = std::mem::take(&mut self.words);
                self.rows.last_mut().expect("a cell is in a row").push(cell);
            }
            TagEnd::Table => self.table(),
            // A page of the book is a topic; any other address is of use to the reader.
            TagEnd::Link => match self.link.take() {
                Some(address) if address.contains("://") && !self.words.ends_with(&address) => {
                    self.words.push_str(&format!(" ({address})"));
                }
                _ => {}
            },
            TagEnd::Image => self.is_picture = false,
            _ => {}
        }
    }

    /// The widths of a table's columns are those of plain text.
    fn may_be_coloured(&self) -> bool {
        self.coloured && self.rows.is_empty()
    }

    fn styled(&mut self, text: &str, style: Style) {
        self.words.push_str(&format!("{style}{text}{style:#}"));
    }

    /// An empty line between what stands one above the other.
    fn separate(&mut self) {
        if !self.written.is_empty() {
            self.written.push('\n');
        }
    }

    fn flush(&mut self) {
        let words = std::mem::take(&mut self.words);
        if !words.trim().is_empty() {
            self.paragraph(words.trim());
        }
    }

    /// Lines with the mark of their item in front of the first.
    fn paragraph(&mut self, words: &str) {
        let is_first_of_item = self.items.last().is_some_and(|item| !item.is_marked);
        if !is_first_of_item {
            self.separate();
        }
        let indent = self.indent();
        let inside = wrapped(words, Some(self.columns.saturating_sub(indent)));
        for (index, line) in inside.lines().enumerate() {
            let mut front = " ".repeat(indent);
            if let Some(item) = self.items.last_mut().filter(|item| !item.is_marked && index == 0) {
                item.is_marked = true;
                front.truncate(indent - item.mark.len());
                front.push_str(&item.mark);
            }
            self.written.push_str(&format!("{front}{}\n", line.trim_end()));
        }
    }

    fn indent(&self) -> usize {
        self.items.iter().map(|item| item.mark.len()).sum()
    }

    fn code_lines(&mut self, text: &str) {
        let hides = self.code.as_ref().is_some_and(|code| code.is_rust);
        let indent = " ".repeat(self.indent() + 4);
        for line in text.lines() {
            if hides && (line == "#" || line.starts_with("# ")) {
                continue;
            }
            let room = self
                .columns
                .saturating_sub(indent.len() + GOES_ON.chars().count());
            for (number, part) in broken(line, room).into_iter().enumerate() {
                let before = if number == 0 { "" } else { GOES_ON };
                self.written
                    .push_str(format!("{indent}{before}{part}").trim_end());
                self.written.push('\n');
            }
        }
    }

    fn table(&mut self) {
        self.separate();
        let rows = std::mem::take(&mut self.rows);
        let Some((header, rows)) = rows.split_first() else {
            return;
        };
        let names: Vec<String> = header.iter().map(|name| name.to_uppercase()).collect();
        let mut table = render::table(&names.iter().map(String::as_str).collect::<Vec<_>>());
        rows.iter().for_each(|row| table.add_row(row));
        self.written.push_str(&table.text(Some(self.columns), &[]));
    }
}
