//! What became of a trial: whether an answer is right, whether a refusal says why, whether something was lost.

use std::io;

use crate::program::{Place, Program, Reference};
use crate::tracer::{Ended, Run};

/// What became of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The right answer, at once or after a restart.
    Right,
    /// A refusal that says why; nothing was lost that had been reported as written.
    Refused,
    /// A checkpoint had been reported as written, and there was no way to restart.
    Lost(String),
    /// A wrong answer.
    Wrong(String),
    /// The program ended without saying why, or did not end.
    Unexplained(String),
}

impl Outcome {
    /// The same, with where it was.
    #[must_use]
    pub fn with(self, context: &str) -> Outcome {
        match self {
            Outcome::Lost(text) => Outcome::Lost(format!("{context}\n{text}")),
            Outcome::Wrong(text) => Outcome::Wrong(format!("{context}\n{text}")),
            Outcome::Unexplained(text) => Outcome::Unexplained(format!("{context}\n{text}")),
            fine => fine,
        }
    }

    /// Whether ckpt promises that this does not happen.
    pub fn is_broken(&self) -> bool {
        !matches!(self, Outcome::Right | Outcome::Refused)
    }
}

/// What a run that something happened to has left.
#[derive(Debug)]
pub enum Left {
    /// It was killed, or said why it ended: a restart must go on from the checkpoint at this visit at least; 0 means that
    /// there need not be one.
    Restartable(u64),
    /// It ended well.
    Completed,
}

/// Judges the run that something happened to, a restart or not, from which a checkpoint at visit `had` is known.
///
/// # Errors
/// What is wrong with it.
pub fn of_struck(
    place: &Place,
    program: &Program,
    reference: &Reference,
    run: &Run,
    had: u64,
) -> io::Result<Result<Left, Outcome>> {
    let whole = reference.stdout.as_slice();
    let said = || {
        format!(
            "{:?}\n--- stdout\n{}\n--- stderr\n{}",
            run.ended,
            String::from_utf8_lossy(&run.stdout),
            run.stderr
        )
    };
    if run.stderr.contains("bug in ckpt") {
        return Ok(Err(Outcome::Unexplained(said())));
    }
    Ok(match run.ended {
        Ended::Code(0) => {
            let is_right = match had {
                0 => run.stdout == whole,
                _ => ends(whole, &run.stdout).is_some(),
            };
            match is_right && place.own_files()? == reference.files {
                true => Ok(Left::Completed),
                false => Err(Outcome::Wrong(differs(place, reference, &said())?)),
            }
        }
        Ended::Signal(libc::SIGKILL) => {
            let mut told = run.stdout.as_slice();
            // A kill may come between the two parts of a line.
            if let Some(at) = told.iter().rposition(|byte| *byte == b'\n') {
                told = &told[..=at];
            } else {
                told = &[];
            }
            match find(whole, told) {
                // Its end had no time to be noted everywhere.
                true if whole.ends_with(told)
                    && is_the_last(told)
                    && place.own_files()? == reference.files =>
                {
                    Ok(Left::Completed)
                }
                true => Ok(Left::Restartable(restorable(program, run, had))),
                false => Err(Outcome::Wrong(said())),
            }
        }
        Ended::Code(_) if explains(&run.stderr) => Ok(Left::Restartable(restorable(program, run, had))),
        _ => Err(Outcome::Unexplained(said())),
    })
}

/// Judges a restart to which nothing happened, from a store that must have a checkpoint at visit `had` or later.
///
/// # Errors
/// What is there cannot be read.
pub fn of_restart(place: &Place, reference: &Reference, run: &Run, had: u64) -> io::Result<Outcome> {
    let said = || {
        format!(
            "a checkpoint at visit {had} is there; {:?}\n--- stdout\n{}\n--- stderr\n{}",
            run.ended,
            String::from_utf8_lossy(&run.stdout),
            run.stderr
        )
    };
    Ok(match run.ended {
        Ended::Code(0) => match ends(&reference.stdout, &run.stdout) {
            Some(from) if place.own_files()? == reference.files => match from < had {
                true => Outcome::Lost(format!("it began at visit {from}; {}", said())),
                false => Outcome::Right,
            },
            _ => Outcome::Wrong(differs(place, reference, &said())?),
        },
        Ended::Code(_) if explains(&run.stderr) => match had {
            0 => Outcome::Refused,
            _ => Outcome::Lost(said()),
        },
        _ => Outcome::Unexplained(said()),
    })
}

/// Whether the program or ckpt says what happened.
fn explains(stderr: &str) -> bool {
    stderr.contains("error[E")
        || stderr.contains("own file: cannot")
        || stderr.contains("failed printing to stdout")
}

/// The visit at which a restart began, if its output is the end of the right one.
pub(crate) fn ends(whole: &[u8], stdout: &[u8]) -> Option<u64> {
    if !whole.ends_with(stdout) {
        return None;
    }
    let text = String::from_utf8_lossy(stdout);
    let first = text.lines().next()?;
    match first.strip_prefix("passed ") {
        Some(visit) => visit.parse().ok(),
        // All of it.
        None => (whole.len() == stdout.len()).then_some(0),
    }
}

fn find(whole: &[u8], part: &[u8]) -> bool {
    part.is_empty() || whole.windows(part.len()).any(|at| at == part)
}

/// The visit of a checkpoint from which a restart must go on. None need be where the program was told that it has changed a file
/// which cannot be brought back.
fn restorable(program: &Program, run: &Run, had: u64) -> u64 {
    match run.stderr.contains("warning[W2040]") {
        true => 0,
        false => had.max(known(program, run)),
    }
}

/// The visit of the newest checkpoint that the program knows to be on the disk.
pub fn known(program: &Program, run: &Run) -> u64 {
    let text = String::from_utf8_lossy(&run.stdout);
    let passed = text
        .lines()
        .filter_map(|line| line.strip_prefix("passed ")?.parse::<u64>().ok());
    let passed = passed.max().unwrap_or(0);
    let first = text
        .lines()
        .find_map(|line| line.strip_prefix("passed ")?.parse::<u64>().ok());
    known_at(program, passed, first.unwrap_or(0), &run.stderr)
}

/// The same, when it has passed a visit, and had begun at another.
pub fn known_at(program: &Program, passed: u64, first: u64, stderr: &str) -> u64 {
    let taken = (1..=passed).filter(|visit| visit % program.every == 0 && *visit >= first);
    let failed = |visit: &u64| {
        stderr.contains(&format!("at site visit {visit}:")) && stderr.contains("warning[W2005]")
    };
    // One that is written in the background is known to be there when the next one is taken.
    let behind = if program.waits() { 0 } else { 1 };
    let mut taken: Vec<u64> = taken.collect();
    taken.truncate(taken.len().saturating_sub(behind));
    taken.into_iter().rev().find(|visit| !failed(visit)).unwrap_or(0)
}

fn differs(place: &Place, reference: &Reference, said: &str) -> io::Result<String> {
    let mut text = said.to_owned();
    let files = place.own_files()?;
    for path in files.keys().chain(reference.files.keys()) {
        let (is, should) = (files.get(path), reference.files.get(path));
        if is != should {
            let show = |bytes: Option<&Option<Vec<u8>>>| match bytes {
                None => "not there".to_owned(),
                Some(None) => "a folder".to_owned(),
                Some(Some(bytes)) => format!("{:?}", String::from_utf8_lossy(bytes)),
            };
            text += &format!(
                "\n--- {}: {} instead of {}",
                path.display(),
                show(is),
                show(should)
            );
        }
    }
    Ok(text)
}

/// Whether an output has the last line of the program.
fn is_the_last(stdout: &[u8]) -> bool {
    let text = String::from_utf8_lossy(stdout);
    text.lines().last().is_some_and(|line| line.starts_with("end: "))
}
