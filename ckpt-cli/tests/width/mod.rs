//! What commands print in a terminal of 80 by 24.

// Every test uses one or the other.
#![allow(dead_code)]

#[path = "../../../tests/harness/src/screen.rs"]
mod screen;

use std::path::Path;
use std::process::Command;

use screen::plain;

/// As wide as a terminal is that nobody has made wider.
pub const COLUMNS: usize = 80;

/// What a command prints in a terminal, line by line.
pub fn in_a_terminal(folder: &Path, line: &str) -> Vec<String> {
    let ckpt = env!("CARGO_BIN_EXE_cargo-ckpt");
    of_a_line(folder, &format!("{ckpt} ckpt {line}"))
}

/// The same of any line of a shell.
pub fn of_a_line(folder: &Path, line: &str) -> Vec<String> {
    let line = format!("stty cols {COLUMNS} rows 24; {line}");
    let output = command(folder, "timeout")
        .args(["300", "script", "-qec", &line, "/dev/null"])
        .env("TERM", "xterm-256color")
        // Nobody is there to turn pages.
        .env("MANPAGER", "cat")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().map(plain).collect()
}

/// What a command prints where there is no terminal.
pub fn in_a_pipe(folder: &Path, line: &str) -> String {
    let ckpt = env!("CARGO_BIN_EXE_cargo-ckpt");
    in_a_file(folder, &format!("{ckpt} ckpt {line}"))
}

/// The same of any line of a shell.
pub fn in_a_file(folder: &Path, line: &str) -> String {
    let output = command(folder, "sh")
        .args(["-c", &format!("{line} 2>&1")])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn command(folder: &Path, name: &str) -> Command {
    let mut command = Command::new(name);
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("CKPT_")) {
        command.env_remove(name);
    }
    command.env_remove("COLUMNS").current_dir(folder);
    command
}

/// The lines that are too long.
pub fn too_long(line: &str, lines: &[String]) -> Vec<String> {
    let is_long = |line: &&String| line.chars().count() > COLUMNS && !is_one_word(line);
    let long = lines.iter().filter(is_long);
    long.map(|found| format!("{line}: {} columns: {found}", found.chars().count()))
        .collect()
}

/// A path has no place to be broken at.
fn is_one_word(line: &str) -> bool {
    line.split_whitespace()
        .any(|word| word.chars().count() > COLUMNS / 2)
        && line.split_whitespace().count() <= 3
}
