//! Nothing goes by words: messages are made in one place and are only shown, names of ckpt are made in one place and ask
//! to be told apart by what has made them.

use std::fs;
use std::path::{Path, PathBuf};

/// The files of the compiler and of what is built on it, without tests, with the text in front of their own.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let crates = ["ckpt-compiler", "ckpt-analysis", "ckpt-safepoints"];
    let mut folders: Vec<PathBuf> = crates.iter().map(|one| root.join(one).join("src")).collect();
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.extend((!path.ends_with("tests")).then_some(path));
            } else if !path.ends_with("tests.rs") && path.extension().is_some_and(|end| end == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                let text = text.split("#[cfg(test)]").next().unwrap_or_default().to_owned();
                let name = path.strip_prefix(&root).unwrap().display().to_string();
                found.push((name, text));
            }
        }
    }
    assert!(found.len() > 150, "{}", found.len());
    found
}

/// The files, other than these, with a line in which this stands.
fn others(allowed: &[&str], is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (name, text) in sources() {
        let lines = text.lines().enumerate().filter(|(_, line)| is_there(line));
        let lines: Vec<String> = lines
            .map(|(at, line)| format!("{name}:{}: {}", at + 1, line.trim()))
            .collect();
        if !allowed.iter().any(|one| name.ends_with(one)) {
            found.extend(lines);
        }
    }
    found
}

#[test]
fn names_of_ckpt_are_made_in_one_place() {
    let allowed = [
        "ckpt-compiler/src/names/mod.rs",
        // A lifetime, and a variable of a macro: no stage meets them again.
        "ckpt-compiler/src/derive/parts.rs",
        "ckpt-compiler/src/syntax/own_macros/captures.rs",
    ];
    let found = others(&allowed, |line| line.contains("__ckpt"));
    assert!(
        found.is_empty(),
        "`names` makes the names of ckpt, and `Binding::origin` tells them from the user's:\n{}",
        found.join("\n")
    );
}

#[test]
fn refusals_are_worded_in_one_place() {
    let begins_with_a_code = |line: &str| {
        line.match_indices("\"E").any(|(at, _)| {
            let rest = &line.as_bytes()[at + 2..];
            rest.len() > 5 && rest[..4].iter().all(u8::is_ascii_digit) && &rest[4..6] == b": "
        })
    };
    let allowed = [
        "ckpt-compiler/src/diagnostics/words.rs",
        "ckpt-analysis/src/diagnostics.rs",
    ];
    let found = others(&allowed, begins_with_a_code);
    assert!(
        found.is_empty(),
        "a refusal is a value of `Refusal` or `Cause`, which have the words:\n{}",
        found.join("\n")
    );
}

/// They are shown by rustc and by the command; of the stages only what prints them as text asks for them.
#[test]
fn no_stage_asks_for_the_words_of_a_refusal() {
    let allowed = [
        "ckpt-compiler/src/diagnostics/mod.rs",
        "ckpt-compiler/src/diagnostics/words.rs",
        "ckpt-analysis/src/diagnostics.rs",
        "ckpt-analysis/src/placement/show.rs",
        "ckpt-compiler/src/passes/show.rs",
        // What the reader of TOML says.
        "ckpt-compiler/src/library/read.rs",
    ];
    let found = others(&allowed, |line| {
        line.contains(".words()") || line.contains(".message()")
    });
    assert!(
        found.is_empty(),
        "go by `code`, `binding` or `recovery`:\n{}",
        found.join("\n")
    );
}
