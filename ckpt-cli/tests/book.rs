//! The book's page on commands knows every command and option, and no other.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn help(command: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"))
        .args(["ckpt", command, "--help"])
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Words such as `--dry-run`.
fn options(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
    let options = words.filter(|word| word.starts_with("--") && word.len() > 3);
    options.map(str::to_owned).collect()
}

#[test]
fn every_command_and_option_is_in_the_book() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/src/commands.md");
    let page = fs::read_to_string(page).unwrap();
    let overview = Command::new(env!("CARGO_BIN_EXE_cargo-ckpt"))
        .arg("--help")
        .output()
        .unwrap();
    let overview = String::from_utf8(overview.stdout).unwrap();
    let listed = overview
        .split("Commands:")
        .nth(1)
        .unwrap()
        .split("Options:")
        .next()
        .unwrap();
    let commands = listed
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help");
    let mut known = options("--help --version --path");
    for command in commands {
        assert!(
            page.contains(&format!("\n## {command}\n")),
            "`{command}` is not in the book"
        );
        known.extend(options(&help(command)));
    }
    let in_page = options(&page);
    let missing: Vec<_> = known
        .difference(&in_page)
        .filter(|name| *name != "--version")
        .collect();
    assert!(missing.is_empty(), "not in docs/src/commands.md: {missing:?}");
    // Dashes in tables are not options; what begins with two and a letter is.
    let letters = |name: &&String| name.as_bytes()[2].is_ascii_alphabetic();
    let invented: Vec<_> = in_page.difference(&known).filter(letters).collect();
    assert!(invented.is_empty(), "no option of any command: {invented:?}");
}
