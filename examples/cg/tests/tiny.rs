//! Runs the program on a tiny input and compares everything it says with what is kept beside this file.

use std::path::Path;
use std::process::Command;

fn run(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_cg"))
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
fn five_loads_on_a_small_membrane() {
    let folder = tempfile::tempdir().expect("a folder");
    let matrix = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tiny.mtx");
    let said = run(folder.path(), &[matrix, "--loads", "5"]);
    assert_eq!(said, include_str!("tiny.out"));
    let table =
        std::fs::read_to_string(folder.path().join("flexibility.csv")).expect("the table was written");
    assert_eq!(table, include_str!("tiny.csv"));
}
