//! Random programs of a fixed seed, as two ranks and as three: killed and restarted, each rank prints what it prints without
//! ckpt and leaves the same files. `cargo run -p generator -- --ranks 3 --programs 100 --seed 7` runs as many as one likes.

use std::process::{Command, Stdio};

use mpi_tests::{finished, target, tool};

/// A generator whose programs are refused tests nothing.
const LEAST_RUN: u32 = 4;

#[test]
fn random_programs_of_several_ranks() {
    // It is built with the command, and stands beside it.
    let child = Command::new(tool().with_file_name("generator"))
        .args(["--ranks", "2,3", "--programs", "6", "--seed", "5"])
        .args(["--visits", "2", "--keep-going", "--no-minimise"])
        .env("CARGO_TARGET_DIR", target())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    let ended = finished(child.expect("the generator is built: `cargo build -p generator`"));
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let last = ended.stdout.lines().last().unwrap_or_default();
    let run = last.split(", ").find_map(|part| part.split_once(" run"));
    let run = run.and_then(|(number, _)| number.parse::<u32>().ok());
    assert!(run.is_some_and(|run| run >= LEAST_RUN), "{}", ended.stdout);
}
