//! The live view, in a terminal of its own.

use std::path::Path;

use assert_cmd::Command;
use predicates::str::contains;

use crate::store::{cargo_ckpt, two_runs};

/// In a terminal of its own, which `script` makes.
fn in_a_terminal(folder: &Path, keys: &str) -> String {
    let ckpt = env!("CARGO_BIN_EXE_cargo-ckpt");
    let line = format!("stty cols 120 rows 40; {ckpt} tui --dir a/heat.ckpt.d");
    // Keys come one after the other, as from a user.
    let keys: Vec<String> = keys
        .chars()
        .map(|key| format!("printf '%s' '{key}'; sleep 0.3; "))
        .collect();
    let keys = keys.concat().replace('>', "\t").replace('!', "\r");
    let shell = format!("(sleep 1; {keys}) | timeout 60 script -qec '{line}' /dev/null");
    let output = Command::new("bash")
        .current_dir(folder)
        .args(["-c", &shell])
        .env("TERM", "xterm-256color")
        .assert()
        .success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    // Blanks are jumped over; colours are not looked at.
    let mut plain = String::new();
    for piece in text.split('\u{1b}') {
        let end = piece
            .find(|c: char| c.is_ascii_alphabetic())
            .map_or(0, |end| end + 1);
        plain += if piece[..end].ends_with('H') { " " } else { "" };
        plain += &piece[end..];
    }
    plain
}

#[test]
fn a_store_is_looked_at_in_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    two_runs(here.path());
    let job = in_a_terminal(here.path(), "q");
    assert!(job.contains("No job has run on this store."), "{job}");
    let store = in_a_terminal(here.path(), ">!q");
    assert!(
        store.contains("000005") && store.contains("main/grid") && store.contains("f64 [30, 40]"),
        "{store}"
    );
    assert!(store.contains("1 .. 30, mean 15.5"), "{store}");
    let colors = store.matches("\u{2580}").count();
    assert!(colors >= 15 * 40, "a heat map of 30 rows in 15 lines: {colors}");
    cargo_ckpt(here.path(), &["tui", "--dir", "a/heat.ckpt.d"])
        .code(1)
        .stderr(contains("E3109"));
}
