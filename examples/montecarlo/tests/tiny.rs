//! Runs the program on a tiny input and compares everything it says with what is kept beside this file.

use std::path::Path;
use std::process::Command;

fn run(folder: &Path, args: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_montecarlo"))
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
fn two_layers() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = run(
        folder.path(),
        &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/tiny.toml")],
    );
    assert_eq!(said, include_str!("tiny.out"));
    let map = std::fs::read_to_string(folder.path().join("absorbed.txt")).expect("the map was written");
    assert_eq!(map, include_str!("tiny.absorbed.txt"));
}

/// The published answer lies within four standard errors.
#[test]
fn van_de_hulst() {
    let folder = tempfile::tempdir().expect("a folder");
    let said = run(
        folder.path(),
        &[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/van-de-hulst.toml")],
    );
    for (name, published) in [("reflected ", 0.09739), ("transmitted ", 0.66096)] {
        let line = said
            .lines()
            .find(|line| line.starts_with(name))
            .expect("the fraction is printed");
        let numbers: Vec<f64> = line
            .split_whitespace()
            .filter_map(|word| word.parse().ok())
            .collect();
        let (mean, error) = (numbers[0], numbers[1]);
        assert!(
            (mean - published).abs() < 4.0 * error,
            "{line}, published: {published}"
        );
    }
}
