//! Standard input that is a file: how far it was read, and going on there.

use std::io::{self, BufRead, StdinLock};
use std::mem::ManuallyDrop;
use std::sync::Mutex;

use rustix::fs::{FileType, SeekFrom, fstat, seek};
use rustix::io::pread;
use rustix::stdio::stdin;

use crate::base::checksum::xxh3;
use crate::base::lock::locked;
use crate::base::report::say;

/// How much of what was read tells one file from another: so many bytes at its beginning, and as many before the place that was
/// read to. More would cost time at each checkpoint.
const SAMPLE: u64 = 4096;

/// How far standard input was read, how long it is, and a checksum of samples of what was read, if that could be read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Input {
    pub position: u64,
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

impl Input {
    /// How far it has been read, if so much of what was read waits in buffers; nothing where it is no file, or has not been read.
    pub fn read_so_far(buffered: u64) -> Option<Self> {
        let length = length()?;
        let offset = seek(stdin(), SeekFrom::Current(0)).ok()?;
        let position = offset.checked_sub(buffered).filter(|position| *position > 0)?;
        Some(Self {
            position,
            length,
            sum: sum_of_samples(position),
        })
    }

    /// Whether it can be gone on with: the same file is there. Nobody needs to give again what was read to its end.
    ///
    /// # Errors
    /// What is missing: the program had not read all of it, and it is no file now, or another one.
    pub fn is_here(&self) -> Result<bool, String> {
        let Self {
            position,
            length,
            sum,
        } = *self;
        let now = self::length();
        if now.is_none() && position == length {
            return Ok(false);
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
        Ok(true)
    }
}

/// What is in the buffer that all readers of standard input share is read again from a place of the file.
///
/// # Errors
/// It is no file.
pub(crate) fn read_from(buffer: &mut StdinLock<'_>, place: u64) -> io::Result<()> {
    let waiting = buffer.fill_buf()?.len();
    buffer.consume(waiting);
    seek(stdin(), SeekFrom::Start(place))
        .map(drop)
        .map_err(io::Error::from)
}

/// Gives back the last bytes that were read.
///
/// # Errors
/// It is no file.
pub(crate) fn give_back(buffer: &mut StdinLock<'_>, count: u64) -> io::Result<()> {
    let waiting = buffer.fill_buf()?.len();
    let offset = seek(stdin(), SeekFrom::Current(0))?;
    let place = offset.checked_sub(waiting as u64 + count);
    read_from(buffer, place.ok_or(io::ErrorKind::InvalidInput)?)
}

/// How far a file was read whose lock is held, as a checkpoint keeps it: nothing where it was not read, or is no file.
///
/// # Errors
/// The buffer cannot be looked at.
pub(crate) fn read_through(lock: &StdinLock<'_>) -> io::Result<Option<Input>> {
    // Two threads may have a reference to the lock.
    static LOOKING: Mutex<()> = Mutex::new(());
    let _alone = locked(&LOOKING);
    // SAFETY: a lock is a reference to what all of the process share and a note on panics: the copy is used while the lock is, and
    // never dropped. Who has a reference to the lock cannot read through it meanwhile.
    let mut same = ManuallyDrop::new(unsafe { std::ptr::read(lock) });
    let buffered = same.fill_buf()?.len();
    Ok(Input::read_so_far(buffered as u64))
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

/// The length of standard input, if it is a file.
pub(crate) fn length() -> Option<u64> {
    let status = fstat(stdin()).ok()?;
    let is_file = FileType::from_raw_mode(status.st_mode) == FileType::RegularFile;
    u64::try_from(status.st_size).ok().filter(|_| is_file)
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
