//! A batch of programs: built in both variants, every one killed and restarted at its site visits.

use crate::between::{Kills, between};
use crate::package::{Complaint, Package, PackageError, Variant};
use crate::random::Random;
use crate::tree::Program;
use harness::{Disagreement, Marks, Reference, Rollbacks, Tally, every_rollback, every_visit, in_parallel};
use std::collections::BTreeMap;

/// What became of a batch.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Programs that rustc rejects without ckpt: the generator's own mistakes.
    pub invalid: Vec<(Program, Complaint)>,
    /// Programs that ckpt refuses, with what it says.
    pub refused: Vec<(Program, Complaint)>,
    /// Programs of which ckpt made something that rustc rejects.
    pub broken: Vec<(Program, Complaint)>,
    /// Programs that were run, with what was found.
    pub run: Vec<(Program, Result<Stood, Disagreement>)>,
}

/// How much is done to each program.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// It is killed at no more than so many of its site visits.
    pub visits: usize,
    /// It is killed so often between them, if it has files.
    pub between: usize,
    /// What the instants are drawn from.
    pub seed: u64,
    /// It goes back in its process at its site visits in place of all that, and is not killed.
    pub in_process: bool,
}

/// What was done to a program that stood it.
#[derive(Debug, Clone, Default)]
pub struct Stood {
    /// At its sites.
    pub tally: Tally,
    /// Between them.
    pub kills: Kills,
    /// In its process.
    pub rollbacks: Rollbacks,
}

impl Stood {
    /// Whether there was a checkpoint at none of its visits, and ckpt said why.
    pub fn is_refused(&self) -> bool {
        self.tally.visits + self.rollbacks.all == 0 && !self.refused().is_empty()
    }

    /// Visits at which there was none, by the reason.
    pub fn refused(&self) -> &BTreeMap<String, usize> {
        match self.tally.refused.is_empty() {
            false => &self.tally.refused,
            true => &self.rollbacks.refused,
        }
    }
}

/// What ckpt prints around a rollback.
pub(crate) const MARKS: Marks = Marks {
    leaving: ckpt::session::LEAVING_MARK,
    left: ckpt::session::ROLLBACK_MARK,
};

/// Kills a program at its sites and between them, and restarts it; or lets it go back.
///
/// # Errors
/// The first that is not as without ckpt.
pub fn stand(program: &harness::Program, effort: Effort) -> Result<Stood, Disagreement> {
    let program = &harness::Program {
        most: effort.visits,
        ..program.clone()
    };
    if effort.in_process {
        return Ok(Stood {
            rollbacks: every_rollback(program, MARKS)?,
            ..Stood::default()
        });
    }
    let tally = every_visit(program)?;
    if tally.visits == 0 || effort.between == 0 {
        return Ok(Stood {
            tally,
            ..Stood::default()
        });
    }
    let reference = Reference::of(program)?;
    let number = program
        .name
        .bytes()
        .fold(7_u64, |hash, byte| hash.wrapping_mul(31) + u64::from(byte));
    let random = Random::new(effort.seed, number);
    let kills = between(program, &reference, random, effort.between)?;
    Ok(Stood {
        tally,
        kills,
        ..Stood::default()
    })
}

/// A program that ckpt got wrong.
#[derive(Debug)]
pub struct Failure<'a> {
    /// The program.
    pub program: &'a Program,
    /// What went wrong, without names and numbers: the same for failures of one kind.
    pub kind: String,
    /// What went wrong.
    pub what: String,
}

impl Outcome {
    /// Programs that ckpt got wrong.
    pub fn failures(&self) -> impl Iterator<Item = Failure<'_>> {
        let broken = self.broken.iter().map(|(program, complaint)| Failure {
            program,
            kind: without_names(&complaint.message),
            what: complaint.rendered.clone(),
        });
        let wrong = self.run.iter().filter_map(|(program, result)| {
            let disagreement = result.as_ref().err()?;
            let kind = without_names(&disagreement.stage);
            Some(Failure {
                program,
                kind,
                what: disagreement.to_string(),
            })
        });
        broken.chain(wrong)
    }
}

/// A message without the names and numbers in it, so that those of one kind are counted together. Its code stays.
pub fn without_names(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let text: String = parts
        .map(|(at, part)| if at % 2 == 1 { "`..`" } else { part })
        .collect();
    text.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric())
        .flat_map(|word| {
            let is_code = word.starts_with(['E', 'W']);
            word.chars()
                .filter(move |letter| is_code || !letter.is_ascii_digit())
        })
        .collect()
}

/// Builds and runs `programs`, each killed and restarted as often as `effort` says.
///
/// # Errors
/// When cargo fails for another reason than one of the programs.
pub fn check(package: &Package, programs: &[Program], effort: Effort) -> Result<Outcome, PackageError> {
    let (valid, invalid) = package.build(programs, Variant::Plain)?;
    let (good, bad) = package.build(&valid, Variant::Instrumented)?;
    let (refused, broken) = bad.into_iter().partition(|(_, complaint)| complaint.refusal);
    let results = in_parallel(&good, |program| {
        stand(&package.subject(program), effort.of(program))
    });
    Ok(Outcome {
        invalid,
        refused,
        broken,
        run: good.into_iter().zip(results).collect(),
    })
}

impl Effort {
    /// What is done to this one.
    pub(crate) fn of(self, program: &Program) -> Effort {
        match program.has_files() {
            true => self,
            false => Effort { between: 0, ..self },
        }
    }
}

impl Package {
    /// What is run of a program of this package.
    pub(crate) fn subject(&self, program: &Program) -> harness::Program {
        harness::Program {
            name: program.name.clone(),
            plain: self.executable(Variant::Plain),
            instrumented: self.executable(Variant::Instrumented),
            arguments: vec![program.name.clone()],
            settings: deep_calls(&program.name),
            most: usize::MAX,
        }
    }
}

/// From which depth on a program's functions that call themselves do so without sites: for two programs of three.
pub(crate) fn deep_calls(name: &str) -> Vec<(String, String)> {
    let setting = |from: &str| vec![("CKPT_SKIP_DEEP_SITES".to_owned(), from.to_owned())];
    match name.bytes().map(u32::from).sum::<u32>() % 3 {
        0 => Vec::new(),
        1 => setting("from:1"),
        _ => setting("from:2"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_one_kind_are_counted_together_and_keep_their_code() {
        let message = |name: &str, line: u32| format!("ckpt: E1002: `{name}` borrows in line {line}");
        let kind = without_names(&message("a", 12));
        assert_eq!(kind, without_names(&message("b7", 3)));
        assert!(kind.contains("E1002"), "{kind}");
    }
}
