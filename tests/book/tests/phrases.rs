//! Sentences that readers stumbled over, and that are not to come back: neither in the pages, nor in messages, nor in comments.

use std::fs;
use std::path::{Path, PathBuf};

/// Each so far as it is unlike everything else.
const GONE: [&str; 9] = [
    "the life of a job, and how often pays",
    "too short to tell how often failures come",
    "is believed until there is experience",
    "what is remembered is never what makes an answer",
    "is gone over again",
    "cannot lock with it",
    "by looking again and again",
    "the compiler knows less of variables",
    "would be one that silently does nothing",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files below a folder that people read.
fn files(folder: &Path, list: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        let is_folder = entry.file_type().unwrap().is_dir();
        if is_folder && name != "target" && !name.starts_with('.') {
            files(&path, list);
        } else if [".rs", ".md", ".toml", ".html", ".js"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            list.push(path);
        }
    }
}

/// The words of a text without line ends, and without the marks of comments.
fn words(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| line.trim().trim_start_matches(['/', '!', '#', '*', '>']));
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    words.join(" ").to_lowercase()
}

#[test]
fn sentences_that_readers_stumbled_over_do_not_come_back() {
    let mut list = vec![
        root().join("README.md"),
        root().join("CONTRIBUTING.md"),
        root().join("ARCHITECTURE.md"),
    ];
    let folders = [
        "docs/src",
        "ckpt-analysis",
        "ckpt-cli",
        "ckpt-compiler",
        "ckpt-macros",
        "ckpt-runtime",
        "ckpt-safepoints",
    ];
    folders
        .iter()
        .for_each(|folder| files(&root().join(folder), &mut list));
    assert!(list.len() > 500, "{}", list.len());
    let mut found = Vec::new();
    for path in list {
        let text = words(&fs::read_to_string(&path).unwrap());
        let phrases = GONE.iter().filter(|phrase| text.contains(**phrase));
        found.extend(phrases.map(|phrase| format!("{}: {phrase}", path.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
