//! Tests that pass without having tried what they are for, because the machine lacks something, say so.

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write;

/// Notes that `what` was not tried, and why, in the file that `TEST_SKIPPED` names. `./test` prints it at its end: a test's
/// own output is seen only if it fails.
pub fn skipped(what: &str, why: impl Display) {
    let line = format!("{what}: {why}\n");
    eprint!("skipped: {line}");
    let Some(path) = std::env::var_os("TEST_SKIPPED") else {
        return;
    };
    // One write, which other tests that append cannot part.
    let noted = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = noted {
        panic!("{}: {error}", path.display());
    }
}
