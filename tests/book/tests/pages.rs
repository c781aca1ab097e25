//! What can be wrong about a page without anybody noticing: dead links, pages that the summary forgets, code that
//! nobody compiles.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The Markdown files of a folder, and of the folders in it.
fn pages(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let skipped = name == "target" || name.to_string_lossy().starts_with('.');
        if path.is_dir() && !skipped {
            found.extend(pages(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The lines outside code blocks, without `code`.
fn prose(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut lines = Vec::new();
    for line in page.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside {
            lines.push(line.split('`').step_by(2).collect::<Vec<_>>().join("_"));
        }
    }
    lines
}

/// The targets of `[text](target)` and `<img src="target">`.
fn links(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(page) {
        for (start, end) in [("](", ')'), ("src=\"", '"'), ("href=\"", '"')] {
            let targets = line
                .split(start)
                .skip(1)
                .filter_map(|rest| rest.split(end).next());
            found.extend(targets.map(str::to_owned));
        }
    }
    found
}

/// The anchors of a page's headings, as mdBook and GitHub make them.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in page.lines() {
        inside ^= line.trim_start().starts_with("```");
        if !inside && line.starts_with('#') {
            let text = line.trim_start_matches('#').trim().to_lowercase();
            let kept = text
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            found.insert(kept.map(|c| if c == ' ' { '-' } else { c }).collect());
        }
    }
    found
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut dead = Vec::new();
    for page in pages(&root()) {
        let text = read(&page);
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() {
                page.clone()
            } else {
                page.with_file_name("").join(file)
            };
            let found = target.exists() && (anchor.is_empty() || anchors(&read(&target)).contains(anchor));
            if !found {
                dead.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(dead.is_empty(), "dead links:\n{}", dead.join("\n"));
}

#[test]
fn the_summary_has_every_page_of_the_book() {
    let folder = root().join("docs/src");
    let summary = read(&folder.join("SUMMARY.md"));
    for page in pages(&folder) {
        let name = page.strip_prefix(&folder).unwrap().to_string_lossy().into_owned();
        assert!(
            name == "SUMMARY.md" || summary.contains(&format!("({name})")),
            "{name} is not in SUMMARY.md"
        );
    }
}

#[test]
fn all_rust_code_of_the_book_is_compiled() {
    let compiled = read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs"));
    let mut all = pages(&root().join("docs"));
    all.push(root().join("README.md"));
    for page in all {
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        let text = read(&page);
        let mut inside = false;
        for line in text.lines().filter(|line| line.trim_start().starts_with("```")) {
            inside = !inside;
            let language = line.trim_start().trim_start_matches('`');
            if inside {
                assert!(!language.is_empty(), "{name}: a code block without a language");
                assert!(
                    !language.contains("ignore"),
                    "{name}: Rust code that is not compiled"
                );
            }
            if inside && language.starts_with("rust") {
                assert!(
                    compiled.contains(&format!("/{name}\"")) || compiled.contains(&format!("\"{name}\"")),
                    "{name} has Rust code and is missing in tests/book/src/lib.rs"
                );
            }
        }
    }
}

#[test]
fn the_readme_states_the_oldest_rust() {
    let manifest = read(&root().join("Cargo.toml"));
    let version = manifest
        .split("rust-version = \"")
        .nth(1)
        .and_then(|rest| rest.split('"').next())
        .unwrap();
    let sentence = format!("Rust {version} and later");
    assert!(
        read(&root().join("README.md")).contains(&sentence),
        "README.md does not say: {sentence}"
    );
}

/// Every guarantee of the file format names tests, and they are there.
#[test]
fn guarantees_have_tests() {
    let page = read(&root().join("docs/src/format.md"));
    let (_, section) = page
        .split_once("## What holds, and the test that holds it")
        .expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| {
        line.starts_with("| ") && !line.starts_with("| ---") && !line.starts_with("| guarantee")
    });
    let mut count = 0;
    for row in rows {
        let tests = row.rsplit(" | ").next().unwrap_or_default();
        let mut source = String::new();
        let mut found = 0;
        for name in tests.split('`').skip(1).step_by(2) {
            if name.ends_with(".rs") {
                source = read(&root().join(name));
            } else {
                assert!(source.contains(&format!("fn {name}(")), "{name} of: {row}");
                found += 1;
            }
        }
        assert!(found > 0, "{row}");
        count += 1;
    }
    assert!(count > 15, "{count}");
}
