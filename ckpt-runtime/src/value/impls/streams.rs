//! Readers and writers of `std::io`: their buffers, and where they are.
//!
//! What a writer has not passed on yet is in the checkpoint. What a reader has read ahead is not: a restart reads it
//! again, so it has to be read from something that can go back.

use std::borrow::Cow;
use std::fs::File;
use std::io::{
    BufReader, BufWriter, Bytes, Cursor, Empty, IsTerminal, LineWriter, Lines, Read, Seek, SeekFrom, Sink,
    Stderr, StderrLock, Stdin, StdinLock, Stdout, StdoutLock, Take, Write,
};
use std::os::unix::fs::FileExt;

use super::transparent;
use crate::handles::standard_input::{self, Input};
use crate::handles::tell;
use crate::value::{Checkpoint, Decoder, Encoder, LoadError};

const BUFFERED: &[Cow<'static, str>] = &[
    Cow::Borrowed("inner"),
    Cow::Borrowed("buffer"),
    Cow::Borrowed("capacity"),
];

/// Buffers are made as large as they were, within reason: the number comes from a file.
const LARGEST_BUFFER: usize = 1 << 30;

impl<W: Write + Checkpoint> Checkpoint for BufWriter<W> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.get_ref().save(&mut to.field(BUFFERED, 0));
        self.buffer().save(&mut to.field(BUFFERED, 1));
        self.capacity().save(&mut to.field(BUFFERED, 2));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let inner: W = from.field(&["inner"])?;
        let buffer: Vec<u8> = from.field(&["buffer"])?;
        let capacity: usize = from.field(&["capacity"])?;
        // What does not fit would be passed on now, before the files are as they were.
        let capacity = capacity.min(LARGEST_BUFFER).max(buffer.len());
        let mut writer = BufWriter::with_capacity(capacity, inner);
        // A buffer takes its last byte only by itself.
        let (last, most) = match buffer.split_last() {
            Some((last, most)) if buffer.len() == writer.capacity() => (std::slice::from_ref(last), most),
            _ => (&[][..], &buffer[..]),
        };
        let filled = writer.write_all(most).and_then(|()| writer.write_all(last));
        match filled {
            Ok(()) if writer.buffer() == buffer => Ok(writer),
            _ => Err(LoadError::invalid(format_args!(
                "a buffer of {capacity} bytes does not take the {} bytes that were in it",
                buffer.len()
            ))),
        }
    }
}

impl<W: Write + Checkpoint> Checkpoint for LineWriter<W> {
    fn save(&self, to: &mut Encoder<'_>) {
        match hidden::buf_writer(self) {
            Some(writer) => writer.save(to),
            None => to.fail(hidden::UNKNOWN),
        }
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let writer = BufWriter::<W>::load(from)?;
        hidden::line_writer(writer).ok_or_else(|| LoadError::invalid(hidden::UNKNOWN))
    }
}

/// Where a reader can give back what was read from it last.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "E1212: what is read ahead of `{Self}` cannot be given back",
    label = "a `BufReader` around `{Self}` cannot be saved in a checkpoint",
    note = "it can be around a `File`, a `Cursor` or `Empty`; read the whole input before the site, or keep the reader out of it"
)]
pub trait Unread {
    /// Gives back the last `count` bytes.
    ///
    /// # Errors
    /// They cannot be given back.
    fn unread(&mut self, count: u64) -> std::io::Result<()>;
    /// Whether it could give back `ahead`, the bytes that were read from it last; a checkpoint is only taken if it can.
    ///
    /// # Errors
    /// Why not.
    fn can_unread(&self, ahead: &[u8]) -> Result<(), &'static str> {
        let _ = ahead;
        Ok(())
    }
    /// Whether it is standard input, which is read again as a whole when a restart has arrived.
    fn is_input(&self) -> bool {
        false
    }
}

const NOT_AGAIN: &str = "a `BufReader` in it has read ahead of what the program took, from something that cannot be read again; read the whole input before the site";
const CHANGED: &str = "a `BufReader` in it has read ahead of what the program took, and the file has something else there by now; read what is \
                       needed before the file is written to, or read it without a buffer";

fn back(count: u64) -> std::io::Result<SeekFrom> {
    let count = i64::try_from(count).map_err(std::io::Error::other)?;
    Ok(SeekFrom::Current(-count))
}

impl Unread for File {
    fn unread(&mut self, count: u64) -> std::io::Result<()> {
        self.seek(back(count)?).map(drop)
    }
    fn can_unread(&self, ahead: &[u8]) -> Result<(), &'static str> {
        let mut now = vec![0; ahead.len()];
        let begin = tell(self).and_then(|at| at.checked_sub(ahead.len() as u64));
        match begin.map(|begin| self.read_exact_at(&mut now, begin)) {
            None => Err(NOT_AGAIN),
            // A program that writes to a file which it reads still sees what was there when it was read.
            Some(Ok(())) if now == ahead => Ok(()),
            Some(_) => Err(CHANGED),
        }
    }
}

impl<T: AsRef<[u8]>> Unread for Cursor<T> {
    fn unread(&mut self, count: u64) -> std::io::Result<()> {
        self.seek(back(count)?).map(drop)
    }
}

impl<R: Unread> Unread for Take<R> {
    fn unread(&mut self, count: u64) -> std::io::Result<()> {
        self.get_mut().unread(count)?;
        self.set_limit(self.limit().saturating_add(count));
        Ok(())
    }
    fn can_unread(&self, ahead: &[u8]) -> Result<(), &'static str> {
        self.get_ref().can_unread(ahead)
    }
}

impl<R: Unread + ?Sized> Unread for Box<R> {
    fn unread(&mut self, count: u64) -> std::io::Result<()> {
        (**self).unread(count)
    }
    fn can_unread(&self, ahead: &[u8]) -> Result<(), &'static str> {
        (**self).can_unread(ahead)
    }
}

/// What is read through a buffer is given back to what is behind it only while nothing is in the buffer.
impl<R: Read> Unread for BufReader<R> {
    fn unread(&mut self, count: u64) -> std::io::Result<()> {
        match count {
            0 => Ok(()),
            _ => Err(std::io::ErrorKind::Unsupported.into()),
        }
    }
    fn can_unread(&self, _: &[u8]) -> Result<(), &'static str> {
        Err(NOT_AGAIN)
    }
}

/// Those that hold nothing to give back.
macro_rules! cannot_unread {
    ($($type:ty)*) => {$(
        impl Unread for $type {
            fn unread(&mut self, count: u64) -> std::io::Result<()> {
                match count {
                    0 => Ok(()),
                    _ => Err(std::io::ErrorKind::Unsupported.into()),
                }
            }
            fn can_unread(&self, _: &[u8]) -> Result<(), &'static str> {
                Err(NOT_AGAIN)
            }
        }
    )*};
}

cannot_unread!(Empty);

/// What a reader around it has read ahead counts as not read.
impl Unread for Stdin {
    fn unread(&mut self, _: u64) -> std::io::Result<()> {
        Ok(())
    }
    fn can_unread(&self, _: &[u8]) -> Result<(), &'static str> {
        is_file().then_some(()).ok_or(NOT_AGAIN)
    }
    fn is_input(&self) -> bool {
        is_file()
    }
}

impl Unread for StdinLock<'_> {
    fn unread(&mut self, count: u64) -> std::io::Result<()> {
        match count {
            0 => Ok(()),
            _ => standard_input::give_back(self, count),
        }
    }
    fn can_unread(&self, _: &[u8]) -> Result<(), &'static str> {
        is_file().then_some(()).ok_or(NOT_AGAIN)
    }
}

const READER: &[Cow<'static, str>] = &[
    Cow::Borrowed("inner"),
    Cow::Borrowed("ahead"),
    Cow::Borrowed("capacity"),
];

impl<R: Read + Unread + Checkpoint> Checkpoint for BufReader<R> {
    fn save(&self, to: &mut Encoder<'_>) {
        let ahead = self.buffer().len();
        if ahead > 0
            && let Err(why) = self.get_ref().can_unread(self.buffer())
        {
            to.fail(why);
        }
        if ahead > 0 && self.get_ref().is_input() {
            let input = &mut to.objects().files.input;
            // Which of two is to read what first is not known.
            if input.ahead > 0 || input.is_locked {
                to.fail("it is the second reader of standard input that has read ahead; read all of it through one of them");
            } else {
                input.ahead = ahead as u64;
            }
        }
        self.get_ref().save(&mut to.field(READER, 0));
        ahead.save(&mut to.field(READER, 1));
        self.capacity().save(&mut to.field(READER, 2));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let mut inner: R = from.field(&["inner"])?;
        let ahead: u64 = from.field(&["ahead"])?;
        let capacity: usize = from.field(&["capacity"])?;
        inner.unread(ahead).map_err(|error| {
            LoadError::invalid(format_args!(
                "{ahead} bytes that were read ahead cannot be read again: {error}"
            ))
        })?;
        Ok(BufReader::with_capacity(capacity.min(LARGEST_BUFFER), inner))
    }
}

/// Iterators over a reader, which do not show it.
macro_rules! iterators {
    ($([$bound:ident $made:ident] $type:ident by $inside:ident;)*) => {$(
        impl<R: std::io::$bound + Checkpoint> Checkpoint for $type<R> {
            fn save(&self, to: &mut Encoder<'_>) {
                match hidden::$inside(self) {
                    Some(reader) => reader.save(to),
                    None => to.fail(hidden::UNKNOWN),
                }
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                R::load(from).map(std::io::$bound::$made)
            }
        }
    )*};
}

iterators! {
    [BufRead lines] Lines by reader_of_lines;
    [Read bytes] Bytes by reader_of_bytes;
}

/// Structs of the standard library that are one field and do not show it. Whether that holds for the library linked here
/// is tried out on known values before it is relied on.
mod hidden {
    use std::io::{BufRead, BufWriter, Bytes, Cursor, LineWriter, Lines, Read, Write};
    use std::mem::ManuallyDrop;
    use std::sync::OnceLock;

    pub const UNKNOWN: &str = "this version of the standard library hides what a `LineWriter`, `Lines` or `Bytes` is made of; use a `BufWriter`, or read through a `BufReader` itself";

    /// What is inside of a struct that is one field of the type `I`.
    fn field<O, I>(outer: &O) -> Option<&I> {
        if size_of::<O>() != size_of::<I>() || align_of::<O>() != align_of::<I>() {
            return None;
        }
        // SAFETY: the callers name structs of std whose only field is an `I`; with the same size it fills the struct.
        Some(unsafe { &*std::ptr::from_ref(outer).cast::<I>() })
    }

    pub fn reader_of_lines<R>(lines: &Lines<R>) -> Option<&R> {
        static USABLE: OnceLock<bool> = OnceLock::new();
        let usable = USABLE.get_or_init(|| {
            let mut lines = Cursor::new(*b"one\ntwo\n").lines();
            lines.next();
            let mut expected = Cursor::new(*b"one\ntwo\n");
            expected.set_position(4);
            field::<_, Cursor<[u8; 8]>>(&lines) == Some(&expected)
        });
        usable.then(|| field(lines)).flatten()
    }

    pub fn reader_of_bytes<R>(bytes: &Bytes<R>) -> Option<&R> {
        static USABLE: OnceLock<bool> = OnceLock::new();
        let usable = USABLE.get_or_init(|| {
            let mut bytes = Cursor::new(*b"some").bytes();
            bytes.next();
            let mut expected = Cursor::new(*b"some");
            expected.set_position(1);
            field::<_, Cursor<[u8; 4]>>(&bytes) == Some(&expected)
        });
        usable.then(|| field(bytes)).flatten()
    }

    fn line_writers_are_buf_writers() -> bool {
        static USABLE: OnceLock<bool> = OnceLock::new();
        *USABLE.get_or_init(|| {
            let mut writer = LineWriter::with_capacity(11, Vec::new());
            let written = writer.write_all(b"one\ntwo").is_ok();
            let inside = field::<_, BufWriter<Vec<u8>>>(&writer);
            written
                && inside.is_some_and(|inside| {
                    (inside.get_ref().as_slice(), inside.buffer(), inside.capacity())
                        == (b"one\n", b"two", 11)
                })
        })
    }

    pub fn buf_writer<W: Write>(writer: &LineWriter<W>) -> Option<&BufWriter<W>> {
        line_writers_are_buf_writers().then(|| field(writer)).flatten()
    }

    /// The writer of lines around a buffer that holds the beginning of one.
    pub fn line_writer<W: Write>(inside: BufWriter<W>) -> Option<LineWriter<W>> {
        if !line_writers_are_buf_writers() || size_of::<LineWriter<W>>() != size_of::<BufWriter<W>>() {
            return None;
        }
        let inside = ManuallyDrop::new(inside);
        // SAFETY: a `LineWriter` is a struct whose only field is a `BufWriter` (as tried out above), and they have the
        // same size; the old one is not dropped.
        Some(unsafe { std::mem::transmute_copy::<ManuallyDrop<BufWriter<W>>, LineWriter<W>>(&inside) })
    }
}

const CURSOR: &[Cow<'static, str>] = &[Cow::Borrowed("inner"), Cow::Borrowed("position")];

impl<T: Checkpoint> Checkpoint for Cursor<T> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.get_ref().save(&mut to.field(CURSOR, 0));
        self.position().save(&mut to.field(CURSOR, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let mut cursor = Cursor::new(from.field(&["inner"])?);
        cursor.set_position(from.field(&["position"])?);
        Ok(cursor)
    }
}

const TAKE: &[Cow<'static, str>] = &[Cow::Borrowed("inner"), Cow::Borrowed("limit")];

impl<R: Read + Checkpoint> Checkpoint for Take<R> {
    fn save(&self, to: &mut Encoder<'_>) {
        self.get_ref().save(&mut to.field(TAKE, 0));
        self.limit().save(&mut to.field(TAKE, 1));
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        let inner: R = from.field(&["inner"])?;
        Ok(inner.take(from.field(&["limit"])?))
    }
}

// What was printed has left its buffer before a checkpoint is written.
transparent! {
    [] Stdout => (), |_stdout| &(), |_unit| std::io::stdout();
    [] Stderr => (), |_stderr| &(), |_unit| std::io::stderr();
    [] Sink => (), |_sink| &(), |_unit| std::io::sink();
    [] Empty => (), |_empty| &(), |_unit| std::io::empty();
}

macro_rules! locks {
    ($($lock:ty, $make:expr;)*) => {$(
        impl Checkpoint for $lock {
            fn save(&self, to: &mut Encoder<'_>) {
                to.unit();
            }
            fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
                refuse_to_stand_in(from)?;
                from.unit().map(|()| $make)
            }
        }
    )*};
}

locks! {
    StdoutLock<'static>, std::io::stdout().lock();
    StderrLock<'static>, std::io::stderr().lock();
}

/// A lock that nobody needs would keep others out.
fn refuse_to_stand_in(from: &Decoder<'_>) -> Result<(), LoadError> {
    match from.is_stand_in() {
        true => Err(LoadError::invalid("a lock does not stand in for another")),
        false => Ok(()),
    }
}

/// Standard input is read anew by a restart. How much of it was read is known of a file; otherwise only that of a terminal or of
/// no one can be held across a site.
fn refuse_unknown(is_known: bool, to: &mut Encoder<'_>) {
    if !is_known && !is_null() {
        to.fail("it reads standard input, and a restart would read it from the beginning; read the whole input before the site (`std::io::read_to_string(std::io::stdin())`), or start the program with its input from a file, `< FILE`");
    }
}

impl Checkpoint for Stdin {
    fn save(&self, to: &mut Encoder<'_>) {
        refuse_unknown(self.is_terminal() || is_file(), to);
        to.unit();
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        from.unit().map(|()| std::io::stdin())
    }
}

/// Nobody else can say how far it was read while the lock is held: it says so itself.
impl Checkpoint for StdinLock<'_> {
    fn save(&self, to: &mut Encoder<'_>) {
        refuse_unknown(self.is_terminal() || is_file(), to);
        let mut says = String::new();
        if is_file() {
            let input = &mut to.objects().files.input;
            input.is_locked = true;
            if input.ahead > 0 {
                to.fail("it is the second reader of standard input that has read ahead; read all of it through one of them");
            }
            match standard_input::read_through(self) {
                Ok(input) => says = input.map_or_else(String::new, |input| input.to_string()),
                Err(error) => to.fail(format!("how far standard input was read cannot be told: {error}")),
            }
        }
        says.save(to);
    }
    fn load(from: &mut Decoder<'_>) -> Result<Self, LoadError> {
        refuse_to_stand_in(from)?;
        let says = String::load(from)?;
        let mut lock = std::io::stdin().lock();
        if !says.is_empty() {
            let input: Input = says.parse().map_err(|()| {
                LoadError::invalid(format_args!(
                    "how far standard input was read is not known: it says `{says}`"
                ))
            })?;
            if input.is_here().map_err(LoadError::invalid)? {
                standard_input::read_from(&mut lock, input.position).map_err(LoadError::invalid)?;
            }
        }
        Ok(lock)
    }
}

/// Whether standard input is a file.
fn is_file() -> bool {
    std::fs::metadata("/proc/self/fd/0").is_ok_and(|found| found.is_file())
}

/// Whether standard input is `/dev/null`.
fn is_null() -> bool {
    let of = |path| {
        std::fs::metadata(path)
            .ok()
            .map(|file| std::os::unix::fs::MetadataExt::rdev(&file))
    };
    of("/proc/self/fd/0").is_some_and(|device| device != 0) && of("/proc/self/fd/0") == of("/dev/null")
}
