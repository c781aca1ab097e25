//! Drawing for people: sizes, durations, JSON, and tables in `table`. Colours are off when the output is no terminal or
//! `NO_COLOR` is set.

mod table;

use std::borrow::Cow;
use std::time::Duration;

use ckpt::store::{columns_of, printable, printable_lines, wrapped};

pub use table::{Cell, MayBeCut, Table, cut, right, table, verdict, whole_cell};

/// How a command prints its result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// A table for people.
    #[default]
    Table,
    /// One JSON document, for scripts.
    Json,
}

/// The `--format` option, shared by all commands that print a result.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct FormatOption {
    /// A table for people, or JSON for scripts
    #[arg(long, value_enum, default_value = "table", value_name = "FORMAT")]
    pub format: Format,
}

impl FormatOption {
    /// Whether JSON was asked for.
    pub fn json(&self) -> bool {
        self.format == Format::Json
    }
}

/// A command line as one would type it, with quotes where they are needed.
pub fn command_line(words: &[String]) -> String {
    let quoted = |word: &String| match shlex::try_quote(word) {
        Ok(quoted) if !word.chars().any(char::is_control) => quoted.into_owned(),
        _ => format!("{word:?}"),
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

/// Prints a table on standard output. A closed pipe (`| head`) is no error. What a terminal would obey in a cell is shown
/// there.
pub fn print_table(table: &Table) {
    print_table_cut(table, &[]);
}

/// The same of a table of which some cells may lose their end where it is too wide.
pub fn print_table_cut(table: &Table, may_be_cut: MayBeCut<'_>) {
    let columns = columns_of(std::io::stdout());
    print_as_it_is(&table.clone().printable().text(columns, may_be_cut));
}

/// Prints text on standard output, in which what a terminal would obey is shown: it may be from a store. Ends quietly when
/// nobody reads it any more.
pub fn print(text: &str) {
    let columns = columns_of(std::io::stdout());
    print_as_it_is(&wrapped(&printable_lines(text), columns));
}

/// The same of a text that is to be just that: sources, scripts.
pub fn print_as_it_is(text: &str) {
    use std::io::Write;
    let mut out = std::io::stdout().lock();
    if out.write_all(text.as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

/// Of what commands print as JSON. It grows where a field goes away or comes to mean something else; the schemas are in
/// `docs/src/schemas`.
const SCHEMA_VERSION: u32 = 1;

/// Prints an object as JSON, with the version of its schema.
pub fn print_json(value: &impl serde::Serialize) {
    #[derive(serde::Serialize)]
    struct Document<'v, T> {
        schema_version: u32,
        #[serde(flatten)]
        value: &'v T,
    }
    let document = Document {
        schema_version: SCHEMA_VERSION,
        value,
    };
    match serde_json::to_string_pretty(&document) {
        Ok(text) => print_as_it_is(&(escaped_json(&text) + "\n")),
        Err(error) => print(&format!("{{\"error\": {:?}}}\n", error.to_string())),
    }
}

/// JSON in which what a terminal would obey is escaped, as what is below a blank is by itself. Outside of strings it has
/// nothing of the kind.
fn escaped_json(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut units = [0; 2];
    for line in text.split_inclusive('\n') {
        let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
        for one in line.chars() {
            let mut bytes = [0; 4];
            match printable(one.encode_utf8(&mut bytes)) {
                Cow::Borrowed(same) => escaped.push_str(same),
                Cow::Owned(_) => {
                    for unit in one.encode_utf16(&mut units) {
                        escaped += &format!("\\u{unit:04x}");
                    }
                }
            }
        }
        escaped.push_str(end);
    }
    escaped
}

/// A line of a source, with a mark under a column where there is one; both are counted from 1.
pub fn source_line(text: &str, line: usize, column: Option<usize>) -> String {
    let source = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let number = line.to_string();
    let blank = " ".repeat(number.len());
    let shown = format!("{blank} |\n{number} | {}", source.trim_end());
    let Some(column) = column else { return shown };
    let before: String = source
        .chars()
        .take(column.saturating_sub(1))
        .map(|one| if one == '\t' { '\t' } else { ' ' })
        .collect();
    format!("{shown}\n{blank} | {before}^")
}

/// A text as it stands in HTML and SVG.
pub fn escaped(text: &str) -> String {
    printable_lines(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A number of bytes for people: `3.2 MiB`.
pub fn bytes(count: u64) -> String {
    const UNITS: [&str; 5] = ["KiB", "MiB", "GiB", "TiB", "PiB"];
    if count < 1024 {
        return format!("{count} B");
    }
    let mut value = count as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1023.95 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// A duration for people: `412 ms`, `3.1 s`, `2 min 5 s`.
pub fn duration(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60),
        _ => format!("{} h {} min", time.as_secs() / 3600, time.as_secs() % 3600 / 60),
    }
}

/// A duration in seconds as settings are written: `2h 5m`, `45s`, `2300ms`, `96ms`. Rounded to what matters, and in one unit where that is
/// below a minute.
pub fn setting(seconds: f64) -> String {
    let rounded = match seconds {
        3600.0.. => Duration::from_secs(60 * (seconds / 60.0).round() as u64),
        5.0.. => Duration::from_secs(seconds.round() as u64),
        1.0.. => return format!("{}ms", (seconds * 10.0).round() as u64 * 100),
        0.01.. => Duration::from_millis((seconds * 1e3).round() as u64),
        _ => Duration::from_micros((seconds * 1e6).round() as u64),
    };
    humantime::format_duration(rounded).to_string()
}

/// A time of so many nanoseconds, however short: `9.2 ns`, `1.3 ms`.
pub fn short_time(nanos: f64) -> String {
    match nanos {
        ns if ns < 1e3 => format!("{ns:.1} ns"),
        ns if ns < 1e6 => format!("{:.1} µs", ns / 1e3),
        ns if ns < 1e9 => format!("{:.1} ms", ns / 1e6),
        ns => duration(Duration::from_secs_f64(ns / 1e9)),
    }
}

/// No more than so many letters of a text, cut off between words.
pub fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let begin: String = text.chars().take(most).collect();
    let whole = begin.rsplit_once(' ').map_or(&*begin, |(whole, _)| whole);
    format!("{} ...", whole.trim_end_matches([',', ';', ':']))
}

/// The end of a name, as much of it as fits into so many letters.
pub fn end_of(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let end = name.chars().skip(length - most.saturating_sub(1));
    std::iter::once('\u{2026}').chain(end).collect()
}

/// A name in so many letters: where it begins, `main/container.`, and its end.
pub fn middle_out(name: &str, most: usize) -> String {
    let length = name.chars().count();
    if length <= most {
        return name.to_owned();
    }
    let root = name.find('.').map_or(0, |at| name[..=at].chars().count());
    let front = match root + most / 3 < most {
        true => root,
        false => most / 2,
    };
    let end = most.saturating_sub(front + 1);
    let begin: String = name.chars().take(front).collect();
    let end: String = name.chars().skip(length - end).collect();
    format!("{begin}\u{2026}{end}")
}

/// `1 checkpoint`, `2 checkpoints`.
pub fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times_are_short() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1023), "1023 B");
        assert_eq!(bytes(1024), "1.0 KiB");
        assert_eq!(bytes(1024 * 1024 - 1), "1.0 MiB");
        assert_eq!(bytes(3 << 30), "3.0 GiB");
        assert_eq!(duration(Duration::from_millis(412)), "412 ms");
        assert_eq!(duration(Duration::from_secs(125)), "2 min 5 s");
        assert_eq!(short_time(9.21), "9.2 ns");
        assert_eq!(short_time(1.3e6), "1.3 ms");
        assert_eq!(short_time(2e9), "2.0 s");
    }

    #[test]
    fn a_long_name_keeps_its_root_and_its_end() {
        assert_eq!(middle_out("main/sim.pos", 12), "main/sim.pos");
        let name = "main/container.value.ring.value.0";
        assert_eq!(middle_out(name, 26), "main/container.\u{2026}ng.value.0");
        assert_eq!(middle_out(name, 12), "main/c\u{2026}lue.0");
        assert!((0..40).all(|most| middle_out(name, most).chars().count() <= most.max(1)));
    }

    #[test]
    fn json_says_the_same_without_what_a_terminal_obeys() {
        let value = serde_json::json!({ "a\u{202e}": "\u{9b}\u{1b}\n\u{e0041}ä" });
        let text = escaped_json(&serde_json::to_string_pretty(&value).unwrap());
        assert_eq!(printable_lines(&text), text);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
