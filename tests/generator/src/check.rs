//! A batch of programs: built in both variants, every one killed and restarted at its site visits.

use crate::package::{Complaint, Package, PackageError, Variant};
use crate::tree::Program;
use harness::{Disagreement, Tally, every_visit, in_parallel};

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
    pub run: Vec<(Program, Result<Tally, Disagreement>)>,
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

/// A message without the names and numbers in it, so that those of one kind are counted together.
pub fn without_names(message: &str) -> String {
    let parts = message.split('`').enumerate();
    let text: String = parts
        .map(|(at, part)| if at % 2 == 1 { "`..`" } else { part })
        .collect();
    text.chars().filter(|letter| !letter.is_ascii_digit()).collect()
}

/// Builds and runs `programs`, each killed at no more than `most` of its site visits.
///
/// # Errors
/// When cargo fails for another reason than one of the programs.
pub fn check(package: &Package, programs: &[Program], most: usize) -> Result<Outcome, PackageError> {
    let (valid, invalid) = package.build(programs, Variant::Plain)?;
    let (good, bad) = package.build(&valid, Variant::Instrumented)?;
    let (refused, broken) = bad.into_iter().partition(|(_, complaint)| complaint.refusal);
    let results = in_parallel(&good, |program| every_visit(&subject(package, program, most)));
    Ok(Outcome {
        invalid,
        refused,
        broken,
        run: good.into_iter().zip(results).collect(),
    })
}

fn subject(package: &Package, program: &Program, most: usize) -> harness::Program {
    harness::Program {
        name: program.name.clone(),
        plain: package.executable(Variant::Plain),
        instrumented: package.executable(Variant::Instrumented),
        arguments: vec![program.name.clone()],
        most,
    }
}
