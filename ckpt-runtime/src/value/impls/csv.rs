//! `csv::Writer` around a file: the file, what is not in it yet, how rows are written, and how far the current one is.
//!
//! A writer shows its buffer and its state only through `Debug`. What that says is read with care, and a writer that
//! is rebuilt must say the same: a version of `csv` that writes it otherwise is refused, not misread.

use std::borrow::Cow;
use std::fmt::Debug;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::fd::AsRawFd;

use ::csv::{QuoteStyle, Terminator, Writer, WriterBuilder};

use crate::handles::OpenFile;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

/// What a writer may write to: a file, with or without a buffer of its own.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "E1211: `csv::Writer<{Self}>` cannot be saved in a checkpoint",
    label = "a `csv::Writer` around `{Self}` cannot be saved",
    note = "it can be around a `File` or a `BufWriter<File>`; make the writer inside the loop otherwise"
)]
pub trait AroundFile: Write + Debug {
    /// The file.
    fn file(&self) -> &File;
    /// What it has not passed on to the file.
    fn waiting(&self) -> &[u8];
    /// One that has passed on everything.
    fn around(file: File) -> Self;
}

impl AroundFile for File {
    fn file(&self) -> &File {
        self
    }
    fn waiting(&self) -> &[u8] {
        &[]
    }
    fn around(file: File) -> Self {
        file
    }
}

impl AroundFile for BufWriter<File> {
    fn file(&self) -> &File {
        self.get_ref()
    }
    fn waiting(&self) -> &[u8] {
        self.buffer()
    }
    fn around(file: File) -> Self {
        BufWriter::new(file)
    }
}

const NAMES: &[Cow<'static, str>] = &[
    Cow::Borrowed("inner"),
    Cow::Borrowed("waiting"),
    Cow::Borrowed("manner"),
    Cow::Borrowed("state"),
];

const UNKNOWN: &str = "its `csv::Writer` is of a version of `csv` that ckpt does not know; make the writer anew where rows are written, around a `File` that stays open";

impl<W: AroundFile> Checkpoint for Writer<W> {
    fn save(&self, to: &mut Encoder<'_>) {
        let Some(seen) = Seen::of(&format!("{self:?}")) else {
            return to.fail(UNKNOWN);
        };
        if seen.in_state("fields_written") != Some("0") {
            return to.fail("its `csv::Writer` has written a part of a row; end the row before the site");
        }
        let inner = self.get_ref();
        if !inner.file().metadata().is_ok_and(|found| found.is_file()) {
            return to.fail("it has a `csv::Writer` around something that is no file; write rows where they are complete, or make the writer inside the loop");
        }
        let mut waiting = inner.waiting().to_vec();
        waiting.extend_from_slice(&seen.waiting);
        inner.file().save(&mut to.field(NAMES, 0));
        waiting.save(&mut to.field(NAMES, 1));
        seen.manner.save(&mut to.field(NAMES, 2));
        seen.state.save(&mut to.field(NAMES, 3));
    }

    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let nowhere = || File::create("/dev/null").map_err(LoadError::invalid);
        if from.is_stand_in() {
            return Ok(Writer::from_writer(W::around(nowhere()?)));
        }
        let was: OpenFile = from.field(&["inner"])?;
        let waiting: Vec<u8> = from.field(&["waiting"])?;
        let seen = Seen {
            waiting: Vec::new(),
            manner: from.field(&["manner"])?,
            state: from.field(&["state"])?,
        };
        let writer = seen.writer(W::around(nowhere()?)).ok_or_else(unknown)?;
        let file = from.files().reopen_to_add(was, waiting);
        put_under(writer.get_ref().file(), &file?).map_err(LoadError::invalid)?;
        Ok(writer)
    }
}

fn unknown() -> LoadError {
    LoadError::invalid(UNKNOWN)
}

/// Makes `handle` one of `file`: what has gone through it so far went nowhere.
fn put_under(handle: &File, file: &File) -> std::io::Result<()> {
    // SAFETY: both descriptors are open, and that of `handle` stays so: `dup3` replaces what it stands for in one step.
    let done = unsafe { libc::dup3(file.as_raw_fd(), handle.as_raw_fd(), libc::O_CLOEXEC) };
    if done < 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(())
}

/// What a writer says of itself.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    /// Rows, or the beginning of one, that are not in what it writes to.
    waiting: Vec<u8>,
    /// How fields are separated and quoted: `Writer { state: .., delimiter: 44, .. }`.
    manner: String,
    /// Where in the table it is: `WriterState { header: DidWrite, .. }`.
    state: String,
}

impl Seen {
    /// Takes `Writer { core: .., wtr: .., buf: Buffer { buf: [..], len: .. }, state: .. }` apart.
    fn of(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("Writer { core: ")?.strip_suffix(" }")?;
        let (manner, rest) = rest.split_once(", wtr: ")?;
        // What it writes to may have any text in it, and comes before these.
        let (_, rest) = rest.rsplit_once(", buf: Buffer { buf: [")?;
        let (bytes, rest) = rest.split_once("], len: ")?;
        let (length, state) = rest.split_once(" }, state: ")?;
        let bytes = bytes
            .split(", ")
            .take(length.parse().ok()?)
            .map(|byte| byte.parse().ok());
        let seen = Self {
            waiting: bytes.collect::<Option<Vec<u8>>>()?,
            manner: manner.to_owned(),
            state: state.to_owned(),
        };
        // One that has failed half way through passing on its rows cannot be gone on with.
        let is_known = seen.header().is_some() && seen.in_state("panicked")? == "false";
        is_known.then_some(seen)
    }

    fn in_state(&self, name: &str) -> Option<&str> {
        part(&self.state, name)
    }

    fn number(&self, name: &str) -> Option<u8> {
        part(&self.manner, name)?.parse().ok()
    }

    /// Whether the first struct that is written gets a row of names before it.
    fn header(&self) -> Option<bool> {
        match self.in_state("header")? {
            "Write" => Some(true),
            "DidWrite" | "DidNotWrite" | "None" => Some(false),
            _ => None,
        }
    }

    /// A writer in the same state. What has to be written to bring it there goes to `nowhere`.
    fn writer<W: Write + Debug>(&self, nowhere: W) -> Option<Writer<W>> {
        let terminator = match part(&self.manner, "term")? {
            "CRLF" => Terminator::CRLF,
            any => Terminator::Any(any.strip_prefix("Any(")?.strip_suffix(')')?.parse().ok()?),
        };
        let style = match part(&self.manner, "style")? {
            "Always" => QuoteStyle::Always,
            "Necessary" => QuoteStyle::Necessary,
            "NonNumeric" => QuoteStyle::NonNumeric,
            "Never" => QuoteStyle::Never,
            _ => return None,
        };
        let mut writer = WriterBuilder::new()
            .delimiter(self.number("delimiter")?)
            .terminator(terminator)
            .quote_style(style)
            .quote(self.number("quote")?)
            .escape(self.number("escape")?)
            .double_quote(part(&self.manner, "double_quote")? == "true")
            .flexible(self.in_state("flexible")? == "true")
            .has_headers(self.header()?)
            .from_writer(nowhere);
        if let Some(fields) = self.in_state("first_field_count")?.strip_prefix("Some(") {
            let fields: usize = fields.strip_suffix(')')?.parse().ok()?;
            writer.write_record(std::iter::repeat_n("0", fields)).ok()?;
        }
        writer.flush().ok()?;
        let now = Seen::of(&format!("{writer:?}"))?;
        let same = |name| now.in_state(name) == self.in_state(name);
        let is_same = now.manner == self.manner
            && now.header() == self.header()
            && ["flexible", "first_field_count", "fields_written"]
                .into_iter()
                .all(same);
        is_same.then_some(writer)
    }
}

/// `44` of `Writer { .., delimiter: 44, .. }`.
fn part<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let start = format!("{name}: ");
    let mut from = 0;
    // `fields_written` is no `written`.
    let at = loop {
        let found = from + text[from..].find(&start)?;
        if text[..found].ends_with([' ', '{']) {
            break found + start.len();
        }
        from = found + start.len();
    };
    let rest = &text[at..];
    Some(&rest[..rest.find([',', ' '])?])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows through a writer that is rebuilt before each.
    #[test]
    fn a_writer_made_again_goes_on() {
        let mut builder = WriterBuilder::new();
        builder.delimiter(b';').quote_style(QuoteStyle::NonNumeric);
        let rows = [("a", "b;c"), ("1.5", "d\"e"), ("", "f\ng")];
        let mut whole = builder.from_writer(Vec::new());
        let mut writer = builder.from_writer(Vec::new());
        let mut parts = Vec::new();
        for row in rows {
            whole
                .serialize(Row {
                    left: row.0,
                    right: row.1,
                })
                .unwrap();
            writer
                .serialize(Row {
                    left: row.0,
                    right: row.1,
                })
                .unwrap();
            let seen = Seen::of(&format!("{writer:?}")).unwrap();
            parts.extend_from_slice(&seen.waiting);
            let again = || seen.writer(Vec::new()).unwrap();
            assert!(
                again().write_record(["one field"]).is_err(),
                "rows have two fields"
            );
            writer = again();
            assert!(Seen::of(&format!("{writer:?}")).unwrap().waiting.is_empty());
        }
        let whole = String::from_utf8(whole.into_inner().unwrap()).unwrap();
        assert_eq!(String::from_utf8(parts).unwrap(), whole);
        assert!(whole.starts_with("\"left\";\"right\"\n\"a\";"), "{whole}");
    }

    struct Row {
        left: &'static str,
        right: &'static str,
    }

    impl serde::Serialize for Row {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use serde::ser::SerializeStruct;
            let mut row = serializer.serialize_struct("Row", 2)?;
            row.serialize_field("left", self.left)?;
            row.serialize_field("right", self.right)?;
            row.end()
        }
    }

    #[test]
    fn another_version_is_not_misread() {
        assert_eq!(Seen::of("Writer { core: Writer { .. }, wtr: None }"), None);
        let text = format!("{:?}", Writer::from_writer(Vec::new()));
        assert!(Seen::of(&text).is_some());
        assert_eq!(Seen::of(&text.replace("header: Write", "header: Later")), None);
    }
}
