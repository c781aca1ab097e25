//! The standard streams. What the program has printed leaves its buffer before a checkpoint is written: a restart does not
//! print it again. Where standard input is a file, a checkpoint keeps how far the program has read it, and a restart goes on
//! there.
//!
//! What the program has read is what the file's offset says, less what waits in the buffer that all readers of
//! `std::io::stdin()` share.

use std::io::{self, BufRead, Write};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{FileType, SeekFrom, fstat, seek};
use rustix::io::pread;
use rustix::stdio::stdin;

use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use crate::base::checksum::xxh3;
use crate::base::report::{Fatal, headline, say};

/// Name of the note in every checkpoint of a program that has read some of it.
const INPUT_NOTE: &str = "standard_input";

/// How long to wait for the lock of standard input: a program that holds it has it as a variable, which says so itself.
const PATIENCE: Duration = Duration::from_millis(200);

/// The streams of the process.
#[derive(Debug)]
pub(crate) struct StandardStreams;

impl StateSource for StandardStreams {
    fn save(&mut self, _: &mut SnapshotBuilder) -> Result<(), Fatal> {
        Ok(())
    }

    fn notes(&mut self) -> Vec<(&'static str, String)> {
        let _ = io::stdout().flush();
        let says = read_so_far().map(|input| input.to_string());
        says.into_iter().map(|says| (INPUT_NOTE, says)).collect()
    }

    fn restore(&mut self, from: &dyn Recorded) -> Result<(), Fatal> {
        let Some(note) = from.note(INPUT_NOTE) else {
            return Ok(());
        };
        let input = note.parse::<Input>();
        let input = input.map_err(|()| {
            format!("how far standard input was read is not known: the checkpoint says `{note}`")
        });
        input
            .and_then(go_on)
            .map_err(|what| Fatal::refused(headline!("E2030: {what}")).help(INPUT_NEEDED))
    }
}

const INPUT_NEEDED: &str =
    "the program had read a part of it and goes on reading there: give it the same file again, `< FILE`";

/// How much of what was read tells one file from another: so many bytes at its beginning, and as many before the place that was
/// read to. More would cost time at each checkpoint.
const SAMPLE: u64 = 4096;

/// How far standard input was read, how long it is, and a checksum of samples of what was read, if that could be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Input {
    position: u64,
    length: u64,
    sum: Option<u128>,
}

impl std::fmt::Display for Input {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} of {}", self.position, self.length)?;
        self.sum.map_or(Ok(()), |sum| write!(f, " {sum:032x}"))
    }
}

impl std::str::FromStr for Input {
    type Err = ();

    fn from_str(text: &str) -> Result<Input, ()> {
        let words: Vec<&str> = text.split(' ').collect();
        let (position, length, sum) = match words[..] {
            [position, _, length] => (position, length, None),
            [position, _, length, sum] => (position, length, Some(sum)),
            _ => return Err(()),
        };
        let sum = sum.map(|sum| u128::from_str_radix(sum, 16)).transpose();
        Ok(Input {
            position: position.parse().map_err(drop)?,
            length: length.parse().map_err(drop)?,
            sum: sum.map_err(drop)?,
        })
    }
}

/// How far the program has read standard input; nothing where it is no file, or has not been read.
fn read_so_far() -> Option<Input> {
    let length = length()?;
    if seek(stdin(), SeekFrom::Current(0)).ok()? == 0 {
        return None;
    }
    let buffered = with_buffer(|buffer| buffer.fill_buf().map(<[u8]>::len))?;
    let offset = seek(stdin(), SeekFrom::Current(0)).ok()?;
    let position = offset.checked_sub(buffered as u64)?;
    if position == 0 {
        return None;
    }
    Some(Input {
        position,
        length,
        sum: sum_of_samples(position),
    })
}

/// The checksum of samples of what stands before a place of standard input; nothing where it cannot be read again.
fn sum_of_samples(position: u64) -> Option<u128> {
    let length = position.min(SAMPLE);
    let mut samples = Vec::new();
    for at in [0, position - length] {
        let mut sample = vec![0; usize::try_from(length).ok()?];
        let mut read = 0;
        while read < sample.len() {
            match pread(stdin(), &mut sample[read..], at + read as u64) {
                Ok(0) | Err(_) => return None,
                Ok(more) => read += more,
            }
        }
        samples.extend(sample);
    }
    Some(xxh3(&samples))
}

/// Goes on where the checkpoint was taken.
///
/// # Errors
/// What is missing: the program had not read all of it, and it is no file now.
fn go_on(input: Input) -> Result<(), String> {
    let Input {
        position,
        length,
        sum,
    } = input;
    let now = self::length();
    if now.is_none() && position == length {
        // Nobody needs to give again what has been read to its end.
        return Ok(());
    }
    if now.is_none_or(|now| now < position) {
        return Err(format!(
            "standard input was a file of {length} bytes, of which {position} had been read; it is not that file now"
        ));
    }
    if sum.is_some() && sum_of_samples(position) != sum {
        return Err(format!(
            "standard input was a file of {length} bytes, of which {position} had been read; what is given now begins with something else"
        ));
    }
    if let Some(now) = now.filter(|now| *now != length) {
        say(&format!(
            "warning[W2052]: standard input was a file of {length} bytes at the checkpoint, and has {now} now: the program goes on reading at byte {position}\n  \
             why:   what was read of it is the same, and what comes after it is not\n  \
             help:  that is right where the file has grown; else give the program the same file again, `< FILE`"
        ));
    }
    let moved = with_buffer(move |buffer| {
        let waiting = buffer.fill_buf()?.len();
        buffer.consume(waiting);
        seek(stdin(), SeekFrom::Start(position)).map_err(io::Error::from)
    });
    moved
        .map(drop)
        .ok_or_else(|| "standard input cannot be brought to where it was read".to_owned())
}

/// Where standard input is read from, if it is a file: what waits in the buffer has been read already.
pub(crate) fn place_of_input() -> Option<u64> {
    length()?;
    seek(stdin(), SeekFrom::Current(0)).ok()
}

/// Prints this behind what the program has printed.
pub(crate) fn print(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

/// Standard input is read from that place next, as in a process that begins; what the program has printed leaves its buffer.
pub(crate) fn begin_anew(input: Option<u64>) {
    let _ = io::stdout().flush();
    if let Some(place) = input {
        with_buffer(move |buffer| {
            let waiting = buffer.fill_buf()?.len();
            buffer.consume(waiting);
            seek(stdin(), SeekFrom::Start(place)).map_err(io::Error::from)
        });
    }
}

/// The length of standard input, if it is a file.
fn length() -> Option<u64> {
    let status = fstat(stdin()).ok()?;
    let is_file = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile;
    u64::try_from(status.st_size).ok().filter(|_| is_file)
}

/// Does something with the buffer of standard input, on a thread of its own: the program may hold the lock.
fn with_buffer<R: Send + 'static>(
    work: impl FnOnce(&mut io::StdinLock<'static>) -> io::Result<R> + Send + 'static,
) -> Option<R> {
    let (done, result) = mpsc::channel();
    std::thread::Builder::new()
        .name("ckpt-input".into())
        .spawn(move || {
            let mut lock = io::stdin().lock();
            let _ = done.send(work(&mut lock));
        })
        .ok()?;
    result.recv_timeout(PATIENCE).ok()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_note_is_read_as_it_was_written() {
        let input = Input {
            position: 12,
            length: 40,
            sum: Some(3),
        };
        assert_eq!(input.to_string().parse(), Ok(input));
        let without = Input { sum: None, ..input };
        assert_eq!("12 of 40".parse(), Ok(without));
        assert_eq!("12".parse::<Input>(), Err(()));
    }
}
