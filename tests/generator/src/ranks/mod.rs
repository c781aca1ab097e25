//! Programs of several processes: every rank in a folder of its own, all started by `mpirun`, killed, and restarted together.
//!
//! `job` starts them and reads what each prints, `trial` kills them and compares.

mod job;
mod trial;

use crate::check::{Effort, Outcome};
use crate::package::{Package, PackageError, Processes, Variant};
use crate::tree::Program;
use crate::unmodified::{Rewriting, subject};
use harness::in_parallel;
use std::path::Path;

pub use job::Ranks;

/// Builds and runs `programs`, each as one of these numbers of ranks, each killed and restarted as often as `effort` says.
///
/// # Errors
/// When cargo fails for another reason than one of the programs.
pub fn check_ranks(
    package: &Package,
    programs: &[Program],
    ranks: &[Ranks],
    effort: Effort,
) -> Result<Outcome, PackageError> {
    let (valid, invalid) = package.build(programs, Variant::Plain)?;
    let (good, bad) = package.build(&valid, Variant::Instrumented)?;
    let (refused, broken) = bad.into_iter().partition(|(_, complaint)| complaint.refusal);
    let results = in_parallel(&good, |program| {
        trial::stand(&package.subject(program), of(program, ranks), effort)
    });
    Ok(Outcome {
        invalid,
        refused,
        broken,
        run: good.into_iter().zip(results).collect(),
    })
}

/// How many a program is started as: by its number.
fn of(program: &Program, ranks: &[Ranks]) -> Ranks {
    let digits: String = program.name.chars().filter(char::is_ascii_digit).collect();
    let number: usize = digits.parse().unwrap_or_default();
    ranks
        .get(number % ranks.len().max(1))
        .copied()
        .unwrap_or(Ranks(1))
}

/// The same without attributes and sites: `cargo ckpt rewrite` places them where no message crosses.
///
/// # Errors
/// When cargo or the command fails for another reason than one of the programs.
pub fn check_unmodified_ranks(
    folder: &Path,
    target: &Path,
    tool: &Path,
    programs: &[Program],
    ranks: &[Ranks],
    effort: Effort,
) -> Result<Outcome, PackageError> {
    let rewriting = Rewriting {
        folder,
        target,
        tool,
        processes: Processes::Ranks,
        ranks: match ranks {
            [ranks] => Some(ranks.0),
            _ => None,
        },
    };
    let (good, mut outcome) = rewriting.build(programs)?;
    let results = in_parallel(&good, |program| {
        trial::stand(&subject(target, program), of(program, ranks), effort)
    });
    outcome.run = good.into_iter().zip(results).collect();
    Ok(outcome)
}
