//! Runs the program on a tiny input and compares everything it says with what is kept beside this file.

use std::path::Path;
use std::process::Command;

fn run(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_quicksort-deep"))
        .args(args)
        .current_dir(folder)
        .output()
        .expect("the program starts");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("the output is text")
}

#[test]
fn four_kinds_of_short_arrays() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = run(
        folder.path(),
        &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tiny.toml")],
    );
    assert_eq!(said, include_str!("tiny.out"));
}
