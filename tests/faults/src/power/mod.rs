//! Power cuts: everything that a program does to its files is recorded with its bytes, and a disk is made of it as it may be
//! after a cut at any moment.
//!
//! [`record`] has what was done, [`disk`] what of it a disk may hold. The model is that of POSIX and no more: bytes are safe
//! when their file has been synced, a name when its folder has; all else may be there or not, in any order, torn at sectors
//! (Pillai et al., *All File Systems Are Not Created Equal*, OSDI 2014).
//!
//! What is recorded is a run and its restart ([`Recording::of`]), the same by way of the command, which notes how it was started
//! (`launch`), or what the command does to a store (`commands`).

mod commands;
pub mod disk;
mod launch;
pub mod record;

use std::collections::HashSet;
use std::io;
use std::sync::Mutex;

use crate::program::{Place, Program, Tree, plant};
use crate::tracer::Ended;
use crate::verdict::{Outcome, known_at, of_restart};
use disk::{Disk, Survives};
use record::{Operation, Recorder};

/// What was done to files, by a program or by the command.
#[derive(Debug)]
pub struct Recording {
    program: Program,
    operations: Vec<Operation>,
    /// So many of them only say what was there before.
    begins: usize,
    subject: Subject,
}

/// Of what there is a recording.
#[derive(Debug)]
enum Subject {
    /// Of a run from its beginning on an empty disk; it was killed and restarted on the way. What was said in it.
    Run { said: String },
    /// Of the same by way of the command.
    Launch(launch::Launch),
    /// Of what the command does with the store of a killed run.
    Command(commands::Command),
}

/// A cut after so many operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many.
    pub after: usize,
    /// What the disk has of what was not synced.
    pub survives: Survives,
}

/// What there is after a cut.
struct Found {
    tree: Tree,
    /// What had been printed until then.
    said: String,
    /// Whether all that was recorded had been done.
    is_over: bool,
}

impl Recording {
    /// Runs a program, kills it, restarts it and kills it again.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn of(program: &Program) -> io::Result<Recording> {
        let place = Place::new()?;
        let mut recorder = Recorder::new(&place.folder());
        let middle = program.steps / 2 + 1;
        let first = place.begin(program, Some(middle), &mut recorder)?;
        let second = place.restart(program, Some(program.steps), &mut recorder)?;
        for run in [&first, &second] {
            if run.ended != Ended::Signal(libc::SIGKILL) {
                return Err(io::Error::other(format!("it was not killed: {}", run.stderr)));
            }
        }
        Ok(Recording {
            program: *program,
            operations: recorder.operations()?,
            begins: 0,
            subject: Subject::Run {
                said: first.stderr + &second.stderr,
            },
        })
    }

    /// What the command does when it starts, restarts, packs, unpacks, removes and seals.
    ///
    /// # Errors
    /// It has not been built, or cannot be run.
    pub fn of_the_command(program: &Program) -> io::Result<Vec<Recording>> {
        let mut all = vec![launch::record(program)?];
        for kind in commands::Kind::ALL {
            all.extend(commands::record(program, kind)?);
        }
        Ok(all)
    }

    /// Whether it is of what the command does.
    pub fn is_of_the_command(&self) -> bool {
        !matches!(self.subject, Subject::Run { .. })
    }

    /// How many operations there are.
    pub fn length(&self) -> usize {
        self.operations.len() - self.begins
    }

    /// All cuts of the plain kinds, and so many random ones at each moment.
    pub fn cuts(&self, random: u64) -> Vec<Cut> {
        let changes =
            |after: usize| after == self.begins || !matches!(self.operations[after - 1], Operation::Said(_));
        let moments = (self.begins..=self.operations.len()).filter(|after| changes(*after));
        let cuts = moments.flat_map(|after| {
            let plain = Survives::PLAIN.into_iter();
            let random = (0..random).map(move |seed| Survives::Some(seed ^ (after as u64) << 20));
            plain.chain(random).map(move |survives| Cut { after, survives })
        });
        cuts.collect()
    }

    /// A cut at some moment.
    pub fn draw(&self, random: &mut fastrand::Rng) -> Cut {
        let survives = match random.usize(..Survives::PLAIN.len() + 4) {
            plain if plain < Survives::PLAIN.len() => Survives::PLAIN[plain],
            _ => Survives::Some(random.u64(..)),
        };
        Cut {
            after: random.usize(self.begins..=self.operations.len()),
            survives,
        }
    }

    fn found(&self, cut: Cut) -> Found {
        let mut disk = Disk::default();
        let mut said = String::new();
        for operation in &self.operations[..cut.after] {
            match operation {
                Operation::Said(text) => said += text,
                change => disk.make(change),
            }
        }
        Found {
            tree: disk.after_cut(cut.survives),
            said,
            is_over: cut.after == self.operations.len(),
        }
    }

    /// Cuts the power, and judges the restart. `None` where the disk is as after another cut.
    ///
    /// # Errors
    /// The disk cannot be made, or the program not be run.
    pub fn cut(&self, cut: Cut, known: &Mutex<HashSet<u64>>) -> io::Result<Option<Outcome>> {
        let found = self.found(cut);
        let (of, promised) = match &self.subject {
            Subject::Run { said } => (String::new(), self.known(&found, said)),
            Subject::Launch(launch) => ("start".to_owned(), self.known(&found, &launch.said)),
            Subject::Command(command) => (format!("{:?}", command.kind), u64::from(command.is_done(&found))),
        };
        let state = fingerprint(&(self.program, &of, &found.tree, promised));
        if !known.lock().unwrap_or_else(|e| e.into_inner()).insert(state) {
            return Ok(None);
        }
        let outcome = match &self.subject {
            Subject::Run { .. } => {
                let place = Place::new()?;
                plant(&place.folder(), &found.tree)?;
                let restart = place.restart_unharmed(&self.program)?;
                of_restart(&place, &self.program.reference()?, &restart, promised)?
            }
            Subject::Launch(launch) => launch.judge(&self.program, &found, promised)?,
            Subject::Command(command) => command.judge(&self.program, &found)?,
        };
        let from = cut.after.saturating_sub(12).max(self.begins);
        let last: String = self.operations[from..cut.after]
            .iter()
            .map(|operation| format!("  {operation}\n"))
            .collect();
        let context = format!("{} {of} {cut:?}, the last operations:\n{last}", self.program.name);
        Ok(Some(outcome.with(&context)))
    }

    /// The visit of a checkpoint that was known to be there when the power was cut.
    fn known(&self, found: &Found, said_of_all: &str) -> u64 {
        let visits = found
            .said
            .lines()
            .filter_map(|line| line.strip_prefix("passed ")?.parse::<u64>().ok());
        known_at(&self.program, visits.max().unwrap_or(0), 0, said_of_all)
    }
}

fn fingerprint(of: &impl std::hash::Hash) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
