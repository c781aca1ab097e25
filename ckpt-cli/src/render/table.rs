//! Tables for people: plain columns without lines between them, which `grep` and `awk` like. One that is wider than the
//! terminal is made narrower: first cells that may lose their end do, then cells go over several lines, in which what is
//! below something keeps its indent; where that is not enough a row becomes a list.

use ckpt::store::{printable, wrapped};
use comfy_table::Color;
use unicode_width::UnicodeWidthStr;

use crate::output;

/// Rows under headings.
#[derive(Debug, Clone)]
pub struct Table {
    columns: Vec<Column>,
    rows: Vec<Vec<Cell>>,
    is_coloured: bool,
}

#[derive(Debug, Clone)]
struct Column {
    head: String,
    /// Numbers stand at the right, and on one line.
    is_right: bool,
}

/// What stands in a row and a column.
#[derive(Debug, Clone, Default)]
pub struct Cell {
    text: String,
    colour: Option<Color>,
    /// Whether nothing of it may be cut off.
    is_whole: bool,
}

impl<T: ToString> From<T> for Cell {
    fn from(text: T) -> Self {
        Cell {
            text: text.to_string(),
            ..Cell::default()
        }
    }
}

/// A cell that does not lose its end: half of a number is another one.
pub fn whole_cell(text: impl ToString) -> Cell {
    Cell {
        text: text.to_string(),
        is_whole: true,
        ..Cell::default()
    }
}

/// A cell that says that something is as it should be, or not.
pub fn verdict(good: bool, text: impl ToString) -> Cell {
    Cell {
        text: text.to_string(),
        colour: Some(if good { Color::Green } else { Color::Red }),
        ..Cell::default()
    }
}

/// An empty table in the house style.
pub fn table(header: &[&str]) -> Table {
    let column = |head: &&str| Column {
        head: (*head).to_owned(),
        is_right: false,
    };
    Table {
        columns: header.iter().map(column).collect(),
        rows: Vec::new(),
        is_coloured: output::coloured(),
    }
}

/// Aligns the given columns to the right: numbers.
pub fn right(table: &mut Table, columns: &[usize]) {
    for &index in columns {
        if let Some(column) = table.columns.get_mut(index) {
            column.is_right = true;
        }
    }
}

/// Columns of which a cell may lose its end where the table is too wide, in this order, and how wide they are at least.
pub type MayBeCut<'c> = &'c [(usize, usize)];

/// Letters of the longest `f64`; whole numbers of 128 bits have more digits, which go over lines.
const LONGEST_FLOAT: usize = 24;

/// Blanks between two columns.
const GAP: usize = 3;

/// In a list, what is said of the first cell of a row is so far in.
const INDENT: usize = 4;

impl Table {
    /// Adds a row.
    pub fn add_row<C: Into<Cell>>(&mut self, row: impl IntoIterator<Item = C>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// The same without what a terminal would obey, which is shown.
    pub fn printable(mut self) -> Self {
        for cell in self.rows.iter_mut().flatten() {
            cell.text = printable(&cell.text).into_owned();
        }
        self
    }

    /// Whether it stands in so many columns as it is.
    pub fn fits(&self, columns: usize) -> bool {
        whole(&self.widths()) <= columns
    }

    /// The lines of the table, in so many columns where there are as many.
    pub fn text(&self, columns: Option<usize>, may_be_cut: MayBeCut<'_>) -> String {
        let mut widths = self.widths();
        let Some(most) = columns.filter(|most| whole(&widths) > *most) else {
            return self.as_table(columns);
        };
        let mut narrow = self.clone();
        for &(index, least) in may_be_cut {
            let excess = whole(&widths).saturating_sub(most);
            let Some(width) = widths.get_mut(index) else {
                continue;
            };
            let cells = self.rows.iter().filter_map(|row| row.get(index));
            let whole_cells = cells.filter(|cell| cell.is_whole);
            let widest = whole_cells
                .map(|cell| text_width(&cell.text).min(LONGEST_FLOAT))
                .max();
            let least = widest.unwrap_or(0).max(least);
            let less = width
                .saturating_sub(excess)
                .max(least.max(text_width(&self.columns[index].head)));
            if less < *width {
                *width = less;
                for cell in narrow.rows.iter_mut().filter_map(|row| row.get_mut(index)) {
                    cell.text = match cell.is_whole {
                        true => folded(&cell.text, less),
                        false => cut(&cell.text, less),
                    };
                }
            }
        }
        // Words are not broken, unless there is no other way: then behind the marks that paths are made of.
        for narrowest in [by_words as fn(&str) -> usize, by_parts] {
            let of = |index: usize| match self.columns[index].is_right || is_cut(may_be_cut, index) {
                true => widths[index],
                false => narrow.widest(index, narrowest),
            };
            let least: Vec<usize> = (0..widths.len()).map(of).collect();
            while whole(&widths) > most {
                let wide = (0..widths.len()).filter(|index| widths[*index] > least[*index]);
                let Some(index) = wide.max_by_key(|index| widths[*index]) else {
                    break;
                };
                widths[index] -= 1;
            }
            if whole(&widths) <= most {
                narrow.wrap(&widths);
                return narrow.as_table(columns);
            }
        }
        self.as_list(most)
    }

    /// How wide the columns are.
    fn widths(&self) -> Vec<usize> {
        let longest_line = |text: &str| text.split('\n').map(text_width).max().unwrap_or(0);
        let width = |index| self.widest(index, longest_line);
        (0..self.columns.len()).map(width).collect()
    }

    fn widest(&self, index: usize, width: impl Fn(&str) -> usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.get(index));
        let cells = cells.map(|cell| width(&cell.text)).max().unwrap_or(0);
        cells.max(width(&self.columns[index].head))
    }

    fn wrap(&mut self, widths: &[usize]) {
        for (column, width) in self.columns.iter_mut().zip(widths) {
            column.head = in_lines(&column.head, *width);
        }
        for row in &mut self.rows {
            for (cell, width) in row.iter_mut().zip(widths) {
                cell.text = in_lines(&cell.text, *width);
            }
        }
    }

    fn as_table(&self, columns: Option<usize>) -> String {
        let mut drawn = comfy_table::Table::new();
        drawn
            .load_preset("     --            ")
            .set_content_arrangement(comfy_table::ContentArrangement::Disabled);
        match self.is_coloured {
            true => drawn.enforce_styling(),
            false => drawn.force_no_tty(),
        };
        let head = |column: &Column| {
            comfy_table::Cell::new(&column.head).add_attribute(comfy_table::Attribute::Bold)
        };
        drawn.set_header(self.columns.iter().map(head));
        for row in &self.rows {
            let cell = |cell: &Cell| match cell.colour {
                Some(colour) => comfy_table::Cell::new(&cell.text).fg(colour),
                None => comfy_table::Cell::new(&cell.text),
            };
            drawn.add_row(row.iter().map(cell));
        }
        for (index, _) in self
            .columns
            .iter()
            .enumerate()
            .filter(|(_, column)| column.is_right)
        {
            if let Some(column) = drawn.column_mut(index) {
                column.set_cell_alignment(comfy_table::CellAlignment::Right);
            }
        }
        let most = columns.unwrap_or(usize::MAX);
        drawn.lines().fold(String::new(), |text, line| {
            text + &end_trimmed(&line, most) + "\n"
        })
    }

    /// A row below the other, what is in a cell behind the heading of its column.
    fn as_list(&self, columns: usize) -> String {
        let mut text = String::new();
        let mut say = |indent: usize, words: &str| {
            let indent = indent.min(columns / 2);
            for line in wrapped(words, Some(columns - indent)).lines() {
                text += &format!("{}{}\n", " ".repeat(indent), line.trim_end());
            }
        };
        for row in &self.rows {
            let mut cells = row.iter().zip(&self.columns);
            let first = cells.next().map_or("", |(cell, _)| cell.text.as_str());
            let indent = indent_of(first);
            if !first.is_empty() {
                say(indent, first.trim_start());
            }
            for (cell, column) in cells.filter(|(cell, _)| !cell.text.is_empty()) {
                let name = column.head.trim().to_lowercase();
                match name.is_empty() {
                    true => say(indent + INDENT, &cell.text),
                    false => say(indent + INDENT, &format!("{name}: {}", cell.text)),
                }
            }
        }
        text
    }
}

/// A line, which may be coloured, without blanks at its end; that below the headings is as wide as the terminal at most.
fn end_trimmed(line: &str, most: usize) -> String {
    // A heading ends bold letters, a verdict its colour.
    const ENDS: [&str; 2] = ["\u{1b}[0m", "\u{1b}[39m"];
    let line = line.trim_end();
    if line.bytes().all(|byte| byte == b'-') {
        return line.chars().take(most).collect();
    }
    let coloured = ENDS.iter().find_map(|end| Some((line.strip_suffix(end)?, end)));
    match coloured {
        Some((coloured, end)) => format!("{}{end}", coloured.trim_end()),
        None => line.to_owned(),
    }
}

fn is_cut(may_be_cut: MayBeCut<'_>, index: usize) -> bool {
    may_be_cut.iter().any(|(cut, _)| *cut == index)
}

/// How wide a table is whose columns are so wide.
fn whole(widths: &[usize]) -> usize {
    1 + widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1)
}

fn text_width(text: &str) -> usize {
    UnicodeWidthStr::width(text)
}

/// Blanks in front.
fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start_matches(' ').len()
}

/// The longest word, with what is in front of a line.
fn by_words(text: &str) -> usize {
    let words = text.split([' ', '\n']).map(text_width);
    indent_of(text) + words.max().unwrap_or(0)
}

/// The longest part of a word.
fn by_parts(text: &str) -> usize {
    let parts = text.split([' ', '\n']).flat_map(parts).map(text_width);
    indent_of(text) + parts.max().unwrap_or(0)
}

/// The text in lines that are so wide, all as far in as it is itself.
fn in_lines(text: &str, width: usize) -> String {
    if text.split('\n').all(|line| text_width(line) <= width) {
        return text.to_owned();
    }
    let indent = indent_of(text);
    let room = width.saturating_sub(indent);
    let mut lines: Vec<String> = Vec::new();
    for part in text.trim_start_matches(' ').split('\n') {
        let mut line = String::new();
        for word in part.split(' ') {
            let blank = if line.is_empty() { "" } else { " " };
            if text_width(&line) + blank.len() + text_width(word) <= room {
                line += blank;
                line += word;
                continue;
            }
            if !line.is_empty() && text_width(word) <= room {
                lines.push(std::mem::replace(&mut line, word.to_owned()));
                continue;
            }
            line += blank;
            for piece in parts(word) {
                if !line.is_empty() && text_width(&line) + text_width(piece) > room {
                    lines.push(std::mem::take(&mut line));
                }
                line += piece;
            }
        }
        lines.push(line);
    }
    let indent = " ".repeat(indent);
    let lines: Vec<String> = lines
        .iter()
        .map(|line| format!("{indent}{}", line.trim_end()))
        .collect();
    lines.join("\n")
}

/// A word in the parts behind which it may go on in the next line: a path, a name, a type.
fn parts(word: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut all = word.char_indices().peekable();
    while let Some((at, one)) = all.next() {
        let next = all.peek().map(|(_, next)| *next);
        let is_mark = matches!(one, '/' | '_' | '.' | ':' | '<' | '(' | ',')
            && next.is_some_and(|next| !"/_.:,<(".contains(next) && !next.is_ascii_digit());
        if is_mark {
            let end = at + one.len_utf8();
            parts.push(&word[from..end]);
            from = end;
        }
    }
    parts.push(&word[from..]);
    parts
}

/// A long number in lines, with all its digits.
fn folded(text: &str, width: usize) -> String {
    let digits: Vec<char> = text.chars().filter(|one| *one != '\n').collect();
    let lines = digits
        .chunks(width.max(1))
        .map(|line| line.iter().collect::<String>());
    lines.collect::<Vec<_>>().join("\n")
}

/// No more of a text than is so wide; what is cut off is seen to be.
pub fn cut(text: &str, most: usize) -> String {
    if text_width(text) <= most {
        return text.to_owned();
    }
    let mut kept = String::new();
    for one in text.chars() {
        let mut next = kept.clone();
        next.push(one);
        if text_width(&next) >= most {
            break;
        }
        kept = next;
    }
    let is_of_number = |c: char| c.is_ascii_digit() || ".e-+".contains(c);
    let whole = kept.trim_end_matches(is_of_number);
    let (begun, rest) = (&kept[whole.len()..], &text[kept.len()..]);
    let has_digit =
        begun.contains(|c: char| c.is_ascii_digit()) || rest.starts_with(|c: char| c.is_ascii_digit());
    let is_in_number = !begun.is_empty() && has_digit && rest.starts_with(is_of_number);
    // The beginning of a number is another number.
    if is_in_number && whole.ends_with([' ', '[']) {
        kept.truncate(whole.len());
    }
    // Behind a comma more follows: without it the last word would seem to be cut.
    if !kept.ends_with(", ") {
        kept.truncate(kept.trim_end_matches(' ').len());
    }
    kept + "\u{2026}"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(table: &Table, columns: usize) -> String {
        let text = table.text(Some(columns), &[]);
        assert!(text.lines().all(|line| text_width(line) <= columns), "{text}");
        text
    }

    #[test]
    fn what_fits_is_left_as_it_is_and_has_no_trailing_blanks() {
        let mut table = table(&["ID", "SIZE", "WHAT"]);
        table.add_row(["1", "3.0 GiB", ""]);
        table.add_row(["2", "12 B", "interval"]);
        right(&mut table, &[1]);
        let expected =
            " ID      SIZE   WHAT\n-------------------------\n 1    3.0 GiB\n 2       12 B   interval\n";
        assert_eq!(table.text(None, &[]), expected);
        assert!(table.fits(24) && !table.fits(22));
    }

    #[test]
    fn colours_take_no_room() {
        let mut table = table(&["ID", "VERDICT"]);
        table.add_row([Cell::from("1"), verdict(true, "whole")]);
        table.is_coloured = true;
        let text = table.text(Some(20), &[]);
        assert!(
            text.contains("\u{1b}[1m") && text.contains("\u{1b}[38;5;10m"),
            "{text:?}"
        );
        let plain = anstream::adapter::strip_str(&text).to_string();
        let lines: Vec<&str> = plain.lines().map(str::trim_end).collect();
        assert_eq!(lines, [" ID   VERDICT", "--------------", " 1    whole"]);
    }

    #[test]
    fn words_are_not_broken_where_there_is_another_way() {
        let mut table = table(&["NAME", "WHERE", "WHY"]);
        let place = "src/main.rs:7 in hydro::solver::advance_by_one";
        table.add_row(["grid", place, "it is used at the site"]);
        let text = text(&table, 36);
        for word in ["grid", "advance_by_one", "used", "src/main.rs:7"] {
            assert!(
                text.split_whitespace().any(|found| found == word),
                "{word}: {text}"
            );
        }
    }

    #[test]
    fn what_is_below_something_keeps_its_indent() {
        let mut table = table(&["VARIABLE", "SIZE", "WHY"]);
        table.add_row(["particles", "2.4 KiB", ""]);
        table.add_row(["    last_collision_of_all", "24 B", "it is used at the site"]);
        right(&mut table, &[1]);
        let text = text(&table, 34);
        assert!(text.contains("\n     last_"), "{text}");
        assert!(text.contains("\n     of_all"), "{text}");
        assert!(text.contains("2.4 KiB"), "{text}");
    }

    #[test]
    fn an_end_is_cut_off_before_words_go_to_the_next_line() {
        let mut table = table(&["VARIABLE", "VALUE"]);
        table.add_row(["particles", "0.123, 0.456, 0.789, 0.101112"]);
        let text = table.text(Some(28), &[(1, 8)]);
        assert!(text.contains(" particles   0.123, 0.456, \u{2026}\n"), "{text}");
    }

    #[test]
    fn numbers_keep_all_their_digits() {
        let mut table = table(&["VARIABLE", "VALUE"]);
        let long = u128::MAX.to_string();
        table.add_row([Cell::from("rng"), whole_cell(&long)]);
        table.add_row(["name", "a text that has no room beside what else there is"]);
        let text = table.text(Some(40), &[(1, 8)]);
        assert!(text.contains(&format!(" rng        {}\n", &long[..28])), "{text}");
        assert!(text.contains(&format!("            {}\n", &long[28..])), "{text}");
        let text = table.text(Some(24), &[(1, 8)]);
        assert!(text.contains(&long[..20]), "{text}");
    }

    #[test]
    fn a_row_with_no_room_is_a_list() {
        let mut table = table(&["VARIABLE", "TYPE", "SIZE"]);
        table.add_row(["  velocityofthecentre", "Option<Velocity>", "24 B"]);
        right(&mut table, &[2]);
        let list = "  velocityofthecentre\n      type: Option<Velocity>\n      size: 24 B\n";
        assert_eq!(text(&table, 30), list);
    }

    #[test]
    fn a_cut_off_text_shows_it() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab\u{2026}");
        assert_eq!(cut("ab, cd", 5), "ab, \u{2026}");
        assert_eq!(
            cut("0.0, -0.299, -0.598", 7),
            "0.0, \u{2026}",
            "a list is seen to be one"
        );
        assert_eq!(cut("0.5 .. 12.25, mean 3.125", 23), "0.5 .. 12.25, mean\u{2026}");
        assert_eq!(cut("[0.5, 1.25e-7, 3.5]", 12), "[0.5, \u{2026}");
        assert_eq!(cut("step 10, 20", 9), "step 10,\u{2026}");
        assert_eq!(cut("1234567", 5), "1234\u{2026}", "there is no other way");
    }
}
