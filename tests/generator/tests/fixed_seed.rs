//! Thirty programs of a fixed seed: the first half is killed, and the others go back; with `SWEEPS=all`, each does both. `cargo run -p generator -- --programs 5000 --seed 7` runs as many as one likes.

use generator::{
    Effort, Failure, Outcome, Package, PackageError, Program, check, check_unmodified, program, tool,
};
use std::path::Path;
use std::process::ExitCode;

const SEED: u64 = 2;
const PROGRAMS: u64 = 30;
const EFFORT: Effort = Effort {
    visits: 8,
    between: 1,
    seed: SEED,
    in_process: false,
};
/// And with rollbacks.
const IN_PROCESS: Effort = Effort {
    visits: 4,
    in_process: true,
    ..EFFORT
};
/// So many of them also without attributes.
const UNMODIFIED: usize = 6;
/// A generator whose programs are refused tests nothing.
const MOST_REFUSED: usize = 3;

fn main() -> ExitCode {
    let folder = harness::scratch_directory();
    let package = Package::new(
        folder.path(),
        &Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated"),
    );
    let programs: Vec<Program> = (0..PROGRAMS).map(|number| program(SEED, number)).collect();
    let (killed, go_back) = match harness::is_all_swept() {
        true => (&programs[..], &programs[..]),
        false => programs.split_at(programs.len() / 2),
    };
    let annotated = is_right("with attributes", check(&package, killed, EFFORT));
    let in_process = is_right("in their process", check(&package, go_back, IN_PROCESS));
    let folder = harness::scratch_directory();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated/unmodified");
    let some = &programs[..UNMODIFIED];
    let outcome = check_unmodified(folder.path(), &target, &tool(), some, EFFORT);
    match is_right("without attributes", outcome) && annotated && in_process {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

/// Whether nothing went wrong, and enough was tried.
fn is_right(how: &str, outcome: Result<Outcome, PackageError>) -> bool {
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            println!("{how}: {error}");
            return false;
        }
    };
    for (program, complaint) in outcome.refused.iter().chain(&outcome.invalid) {
        println!("not run: {} of seed {SEED}: {}", program.name, complaint.rendered);
    }
    let mut failed = 0;
    for Failure { program, what, .. } in outcome.failures() {
        failed += 1;
        println!(
            "FAILED {} of seed {SEED}: {what}\n{}",
            program.name,
            program.print()
        );
    }
    let stood = || outcome.run.iter().filter_map(|(_, result)| result.as_ref().ok());
    let visits: usize = stood().map(|stood| stood.tally.visits).sum();
    let rollbacks: usize = stood().map(|stood| stood.rollbacks.in_process).sum();
    println!(
        "{how}: {} programs run, killed at {visits} visits and gone back {rollbacks} times, {} refused, {failed} failed",
        outcome.run.len(),
        outcome.refused.len()
    );
    failed == 0
        && visits + rollbacks > 0
        && outcome.invalid.is_empty()
        && outcome.refused.len() <= MOST_REFUSED
}
