//! One program, made to go back to its checkpoints and its snapshots in memory at its visits of sites, without being started again.
//!
//! What it prints until a rollback, and behind the site that it has gone back to, is known to the byte: at each visit it has
//! printed the same every time. What destructors print on the way is not compared.

use crate::compare::Difference;
use crate::every_visit::{Disagreement, Program, Trial};
use crate::place::{Leap, Place};
use crate::process::Run;
use std::collections::BTreeMap;

/// What an instrumented program writes to standard error when its `main` begins once more in the same process.
pub const AGAIN: &str = "harness: once more in this process";

/// How often it goes back from the same visit.
const IN_A_ROW: usize = 3;

/// What ckpt prints around a rollback; who runs the program knows ckpt.
#[derive(Debug, Clone, Copy)]
pub struct Marks {
    /// Before the functions are left.
    pub leaving: &'static [u8],
    /// When they have been.
    pub left: &'static [u8],
}

impl Marks {
    /// What a program has printed until each rollback, and after the last one.
    pub fn parts(&self, stdout: &[u8]) -> Vec<Vec<u8>> {
        let mut parts = Vec::new();
        let mut rest = stdout;
        while let Some(at) = position(rest, self.left) {
            let part = &rest[..at];
            let leaving = position(part, self.leaving).unwrap_or(at);
            parts.push(part[..leaving].to_vec());
            rest = &rest[at + self.left.len()..];
        }
        parts.push(rest.to_vec());
        parts
    }
}

/// What was done to a program that stood it.
#[derive(Debug, Clone, Default)]
pub struct Rollbacks {
    /// How often it has gone back.
    pub all: usize,
    /// Of these, how often in its process.
    pub in_process: usize,
    /// Visits at which no checkpoint could be taken, by what ckpt said.
    pub refused: BTreeMap<String, usize>,
}

/// Runs `program` plain and with a checkpoint at every visit; then lets it go back: right behind each checkpoint, from all of these
/// visits in one run, and several times in a row from some way behind one; to checkpoints and to snapshots in memory. What it prints
/// and leaves in its folder has to be the same.
///
/// # Errors
/// The first output or file that is not that of the reference, a rollback that did not come.
pub fn every_rollback(program: &Program, marks: Marks) -> Result<Rollbacks, Disagreement> {
    let trial = Trial::of(program)?;
    let (taken, refused) = trial.with_a_checkpoint_at_every_visit()?;
    let visits = program.chosen(&taken);
    let rollbacks = Rollbacks {
        refused,
        ..Rollbacks::default()
    };
    let (Some(first), Some(_)) = (taken.first(), visits.first()) else {
        return Ok(rollbacks);
    };
    let printed = BTreeMap::new();
    let mut back = Back {
        trial,
        marks,
        printed,
        rollbacks,
    };
    for visit in &visits {
        back.right_behind(*visit)?;
    }
    back.goes_back(&[("CKPT_EVERY", 1)], &visits, Some)?;
    let snapshots = [("CKPT_EVERY", *first), ("CKPT_SNAPSHOT_EVERY", 1)];
    back.goes_back(&snapshots, &visits, |_| None)?;
    for nearby in taken.windows(3) {
        let [checkpoint, snapshot, from] = [nearby[0], nearby[1], nearby[2]];
        // One more checkpoint would come between them.
        if from >= 2 * checkpoint || !visits.contains(&from) {
            continue;
        }
        back.right_behind(checkpoint)?;
        back.right_behind(snapshot)?;
        let every = ("CKPT_EVERY", checkpoint);
        back.goes_back(&[every], &[from; IN_A_ROW], |_| Some(checkpoint))?;
        let snapshots = [every, ("CKPT_SNAPSHOT_EVERY", snapshot)];
        back.goes_back(&snapshots, &[from; IN_A_ROW], |_| None)?;
    }
    Ok(back.rollbacks)
}

struct Back<'a> {
    trial: Trial<'a>,
    marks: Marks,
    /// How much the program has printed at a visit.
    printed: BTreeMap<usize, usize>,
    rollbacks: Rollbacks,
}

impl Back<'_> {
    /// From a visit to the checkpoint that was taken there, with which nothing is printed twice.
    fn right_behind(&mut self, visit: usize) -> Result<(), Disagreement> {
        if self.printed.contains_key(&visit) {
            return Ok(());
        }
        let settings = [("CKPT_EVERY", visit)];
        let stage = stage(&settings, &[visit]);
        let place = Place::new();
        let run = self.run(&place, &settings, &[visit]);
        self.expect_leaps(&stage, &run, &place, &[visit], Some)?;
        let parts = self.marks.parts(&run.stdout);
        self.printed.insert(visit, parts[0].len());
        let whole = Run {
            stdout: parts.concat(),
            ..run
        };
        self.trial.expect_reference(&stage, b"", &whole, &place)
    }

    /// From these visits, one after the other, with such settings; to the checkpoints of the visits that `to` says.
    fn goes_back(
        &mut self,
        settings: &[(&str, usize)],
        from: &[usize],
        to: impl Fn(usize) -> Option<usize>,
    ) -> Result<(), Disagreement> {
        let stage = stage(settings, from);
        let place = Place::new();
        let run = self.run(&place, settings, from);
        let parts = self.marks.parts(&run.stdout);
        let leaps = self.expect_leaps(&stage, &run, &place, from, to)?;
        let reference = &self.trial.reference.run.stdout;
        for (number, part) in parts.iter().enumerate() {
            // From the visit that it has gone back to, to that from which it goes back next.
            let begins = match number.checked_sub(1).map(|before| leaps[before]) {
                None => vec![Some(0)],
                Some(leap) if has_begun_anew(&run) => vec![self.at(leap.to), self.at(leap.checkpoint)],
                Some(leap) => vec![self.at(leap.to)],
            };
            let end = match leaps.get(number) {
                Some(leap) => self.at(leap.from),
                None => Some(reference.len()),
            };
            let (Some(begins), Some(end)) = (begins.into_iter().collect::<Option<Vec<_>>>(), end) else {
                // Of a visit that is not among those that are tried it is not known how much is printed.
                continue;
            };
            let between = |begin: usize| reference.get(begin..end).unwrap_or_default();
            if !begins.iter().any(|begin| between(*begin) == part)
                && let Some(difference) = Difference::between(between(begins[0]), part)
            {
                let what = format!("printed behind rollback {number} of {leaps:?}: {difference}");
                return Err(self.trial.disagreement(&stage, what, &run));
            }
        }
        let whole = Run {
            stdout: reference.clone(),
            ..run
        };
        self.trial.expect_reference(&stage, b"", &whole, &place)
    }

    /// How much it has printed at a visit that is tried.
    fn at(&self, visit: usize) -> Option<usize> {
        self.printed.get(&visit).copied()
    }

    fn run(&mut self, place: &Place, settings: &[(&str, usize)], from: &[usize]) -> Run {
        let mut runner = self.trial.session(place);
        for (name, value) in settings {
            runner = runner.with(name, value);
        }
        let run = runner.with("CKPT_FAULT", rollback(from)).run();
        self.rollbacks.in_process += run.stderr.lines().filter(|line| *line == AGAIN).count();
        run
    }

    /// It has gone back from these visits to those that `to` says.
    fn expect_leaps(
        &mut self,
        stage: &str,
        run: &Run,
        place: &Place,
        from: &[usize],
        to: impl Fn(usize) -> Option<usize>,
    ) -> Result<Vec<Leap>, Disagreement> {
        let leaps = place.events().rollbacks;
        let is_one = |(leap, from): (&Leap, &usize)| {
            leap.from == *from && to(*from).is_none_or(|expected| leap.to == expected)
        };
        let marks = self.marks.parts(&run.stdout).len() - 1;
        if leaps.len() != from.len() || !leaps.iter().zip(from).all(is_one) || marks != from.len() {
            let what = format!("it has gone back so, and ended with {}: {leaps:?}", run.ended);
            return Err(self.trial.disagreement(stage, what, run));
        }
        self.rollbacks.all += leaps.len();
        Ok(leaps)
    }
}

/// Whether it could not go back in its process after it had begun to.
fn has_begun_anew(run: &Run) -> bool {
    run.stderr.contains("warning[W2092]")
}

fn stage(settings: &[(&str, usize)], from: &[usize]) -> String {
    let settings: String = settings
        .iter()
        .map(|(name, value)| format!("{name}={value} "))
        .collect();
    format!("{settings}CKPT_FAULT={}", rollback(from))
}

fn rollback(from: &[usize]) -> String {
    let visits: Vec<String> = from.iter().map(usize::to_string).collect();
    format!("rollback:{}", visits.join(","))
}

fn position(text: &[u8], mark: &[u8]) -> Option<usize> {
    text.windows(mark.len()).position(|bytes| bytes == mark)
}
