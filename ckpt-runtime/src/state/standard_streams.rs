//! The standard streams. What the program has printed leaves its buffer before a checkpoint is written: a restart does not
//! print it again. Where standard input is a file, a checkpoint keeps how far the program has read it, and a restart goes on
//! there.
//!
//! What the program has read is what the file's offset says, less what waits in the buffer that all readers of
//! `std::io::stdin()` share, and in readers of the program's around that.

use std::io::{self, BufRead, Write};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{SeekFrom, seek};
use rustix::stdio::stdin;

use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use crate::base::report::{Fatal, headline};
use crate::handles::HeldInput;
use crate::handles::standard_input::{Input, length, read_from};

/// Name of the note in every checkpoint of a program that has read some of it.
const INPUT_NOTE: &str = "standard_input";

/// How long to wait for the lock of standard input: a program that holds it has it as a variable, which says so itself.
const PATIENCE: Duration = Duration::from_millis(200);

/// The streams of the process.
#[derive(Debug, Default)]
pub(crate) struct StandardStreams {
    /// What the values of the checkpoint that is being taken have of standard input.
    input: HeldInput,
}

impl StateSource for StandardStreams {
    fn save(&mut self, to: &mut SnapshotBuilder) -> Result<(), Fatal> {
        self.input = to.held_input();
        Ok(())
    }

    fn notes(&mut self) -> Vec<(&'static str, String)> {
        let _ = io::stdout().flush();
        let says = match self.input {
            // Who holds its lock has how far it was read.
            HeldInput { is_locked: true, .. } => None,
            HeldInput { ahead, .. } => read_so_far(ahead).map(|input| input.to_string()),
        };
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

/// How far the program has read standard input, if so much of that waits in readers of its own; nothing where it is no file, or
/// has not been read.
fn read_so_far(ahead: u64) -> Option<Input> {
    length()?;
    if seek(stdin(), SeekFrom::Current(0)).ok()? == 0 {
        return None;
    }
    let buffered = with_buffer(|buffer| buffer.fill_buf().map(<[u8]>::len))?;
    Input::read_so_far(buffered as u64 + ahead)
}

/// Goes on where the checkpoint was taken.
///
/// # Errors
/// What is missing: the program had not read all of it, and it is no file now.
fn go_on(input: Input) -> Result<(), String> {
    if !input.is_here()? {
        return Ok(());
    }
    with_buffer(move |buffer| read_from(buffer, input.position))
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
        with_buffer(move |buffer| read_from(buffer, place));
    }
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
