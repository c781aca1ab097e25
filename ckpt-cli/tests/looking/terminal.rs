//! The live view, in a terminal of its own.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use predicates::str::contains;

use crate::store::{cargo_ckpt, two_runs};

/// In a terminal of its own, which `script` makes: each key is pressed when what is before it has been shown since the
/// last one.
fn in_a_terminal(folder: &Path, keys: &[(&str, &str)]) -> String {
    let ckpt = env!("CARGO_BIN_EXE_cargo-ckpt");
    let line = format!("stty cols 120 rows 40; {ckpt} tui --dir a/heat.ckpt.d");
    let mut child = Command::new("timeout")
        .args(["300", "script", "-qec", &line, "/dev/null"])
        .current_dir(folder)
        .env("TERM", "xterm-256color")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    let mut screen = child.stdout.take().unwrap();
    let (mut shown, mut since) = (Vec::new(), 0);
    for (awaited, key) in keys {
        while !plain(&shown[since..]).contains(awaited) {
            let mut piece = [0; 4096];
            let length = screen.read(&mut piece).unwrap();
            assert!(length > 0, "{awaited:?} does not appear: {}", plain(&shown));
            shown.extend(&piece[..length]);
        }
        since = shown.len();
        keyboard.write_all(key.as_bytes()).unwrap();
    }
    screen.read_to_end(&mut shown).unwrap();
    assert!(child.wait().unwrap().success(), "{}", plain(&shown));
    plain(&shown)
}

/// What a terminal shows: blanks are jumped over, colours are not looked at.
fn plain(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
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
    let job = in_a_terminal(here.path(), &[("No job has run on this store.", "q")]);
    assert!(job.contains("No job has run on this store."), "{job}");
    let store = in_a_terminal(
        here.path(),
        &[
            ("No job has run on this store.", "\t"),
            ("000005", "\r"),
            ("mean 15.5", "q"),
        ],
    );
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
