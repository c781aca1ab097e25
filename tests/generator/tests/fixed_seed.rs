//! Fifty programs of a fixed seed. `cargo run -p generator -- --programs 5000 --seed 7` runs as many as one likes.

use generator::{Failure, Package, Program, check, program};
use std::path::Path;
use std::process::ExitCode;

const SEED: u64 = 2;
const PROGRAMS: u64 = 50;
const VISITS: usize = 8;
/// A generator whose programs are refused tests nothing.
const MOST_REFUSED: usize = 5;

fn main() -> ExitCode {
    let folder = harness::scratch_directory();
    let package = Package::new(
        folder.path(),
        &Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated"),
    );
    let programs: Vec<Program> = (0..PROGRAMS).map(|number| program(SEED, number)).collect();
    let outcome = match check(&package, &programs, VISITS) {
        Ok(outcome) => outcome,
        Err(error) => {
            println!("{error}");
            return ExitCode::FAILURE;
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
    println!(
        "{} programs run, {} refused, {failed} failed",
        outcome.run.len(),
        outcome.refused.len()
    );
    let tested = outcome.invalid.is_empty() && outcome.refused.len() <= MOST_REFUSED;
    if failed == 0 && tested {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
