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

impl Outcome {
    /// Programs that ckpt got wrong.
    pub fn failures(&self) -> impl Iterator<Item = (&Program, String)> {
        let broken = self
            .broken
            .iter()
            .map(|(program, complaint)| (program, complaint.rendered.clone()));
        let wrong = self
            .run
            .iter()
            .filter_map(|(program, result)| Some((program, result.as_ref().err()?.to_string())));
        broken.chain(wrong)
    }
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
