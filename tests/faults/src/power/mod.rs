//! Power cuts: everything that a program does to its files is recorded with its bytes, and a disk is made of it as it may be
//! after a cut at any moment.
//!
//! [`record`] has what was done, [`disk`] what of it a disk may hold. The model is that of POSIX and no more: bytes are safe
//! when their file has been synced, a name when its folder has; all else may be there or not, in any order, torn at sectors
//! (Pillai et al., *All File Systems Are Not Created Equal*, OSDI 2014).

pub mod disk;
pub mod record;

use std::collections::HashSet;
use std::io;
use std::sync::Mutex;

use crate::program::{Place, Program, plant};
use crate::tracer::Ended;
use crate::verdict::{Outcome, known_at, of_restart};
use disk::{Disk, Survives};
use record::{Operation, Recorder};

/// What a program did to its files, from its beginning on an empty disk; it was killed and restarted on the way.
#[derive(Debug)]
pub struct Recording {
    program: Program,
    operations: Vec<Operation>,
    /// What was said in the runs.
    said: String,
}

/// A cut after so many operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cut {
    /// How many.
    pub after: usize,
    /// What the disk has of what was not synced.
    pub survives: Survives,
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
            said: first.stderr + &second.stderr,
        })
    }

    /// How many operations there are.
    pub fn length(&self) -> usize {
        self.operations.len()
    }

    /// All cuts of the plain kinds, and so many random ones at each moment.
    pub fn cuts(&self, random: u64) -> Vec<Cut> {
        let changes = |after: usize| after == 0 || !matches!(self.operations[after - 1], Operation::Said(_));
        let moments = (0..=self.operations.len()).filter(|after| changes(*after));
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
            after: random.usize(..=self.operations.len()),
            survives,
        }
    }

    /// Cuts the power, and judges the restart. `None` where the disk is as after another cut.
    ///
    /// # Errors
    /// The disk cannot be made, or the program not be run.
    pub fn cut(&self, cut: Cut, known: &Mutex<HashSet<u64>>) -> io::Result<Option<Outcome>> {
        let mut disk = Disk::default();
        let mut passed = 0;
        let mut first = 0;
        for operation in &self.operations[..cut.after] {
            match operation {
                Operation::Said(text) => {
                    let visits = text
                        .lines()
                        .filter_map(|line| line.strip_prefix("passed ")?.parse::<u64>().ok());
                    passed = visits.max().unwrap_or(0).max(passed);
                    first = first.min(passed);
                }
                change => disk.make(change),
            }
        }
        let had = known_at(&self.program, passed, first, &self.said);
        let tree = disk.after_cut(cut.survives);
        let state = fingerprint(&(&tree, had));
        if !known.lock().unwrap_or_else(|e| e.into_inner()).insert(state) {
            return Ok(None);
        }
        let place = Place::new()?;
        plant(&place.folder(), &tree)?;
        let restart = place.restart_unharmed(&self.program)?;
        let outcome = of_restart(&place, &self.program.reference()?, &restart, had)?;
        let from = cut.after.saturating_sub(12);
        let last: String = self.operations[from..cut.after]
            .iter()
            .map(|operation| format!("  {operation}\n"))
            .collect();
        let context = format!("{} {cut:?}, the last operations:\n{last}", self.program.name);
        Ok(Some(outcome.with(&context)))
    }
}

fn fingerprint(of: &impl std::hash::Hash) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}
