//! Everything at home in 80 columns: every command in a terminal of 80 by 24, where no line is longer and no word is broken.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::store::{damage, store, two_runs};
use crate::width::{in_a_pipe, in_a_terminal, too_long};

/// What is wrong with the output of a command; `changes` something, so that it cannot be asked twice.
fn faults(folder: &Path, line: &str, changes: bool) -> Vec<String> {
    let lines = in_a_terminal(folder, line);
    assert!(!lines.is_empty(), "{line}");
    let mut faults = too_long(line, &lines);
    if changes {
        return faults;
    }
    let is_table = lines.iter().any(|line| line.starts_with("---"));
    let shown: BTreeSet<&str> = lines.iter().flat_map(|line| line.split_whitespace()).collect();
    for word in in_a_pipe(folder, line).split_whitespace() {
        let is_of_a_line = word.chars().all(|one| "-─".contains(one));
        // A table that has become a list has its headings in small letters, and what is without one.
        let is_heading = !is_table && word.chars().all(|one| one.is_ascii_uppercase());
        let is_time = word.chars().any(|one| one.is_ascii_digit());
        let mut parts = word.split_inclusive(['/', '_', '.', ':']);
        let is_parted = parts.all(|part| shown.iter().any(|found| found.contains(part)));
        if !is_of_a_line && !is_heading && !is_time && !is_parted {
            faults.push(format!("{line}: the word {word} is broken, or not there"));
        }
    }
    faults
}

const HELPS: [&str; 24] = [
    "run",
    "restart",
    "plan",
    "rewrite",
    "init",
    "list",
    "inspect",
    "tui",
    "serve",
    "report",
    "verify",
    "diff",
    "prune",
    "export",
    "seal",
    "pack",
    "unpack",
    "crashtest",
    "expand",
    "clean",
    "doctor",
    "explain",
    "completions",
    "man",
];

#[test]
fn help_fits_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    let mut found = faults(here.path(), "--help", false);
    for command in HELPS {
        found.extend(faults(here.path(), &format!("{command} --help"), false));
        found.extend(faults(here.path(), &format!("{command} -h"), false));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Every page of the book is a topic.
#[test]
fn pages_of_the_book_fit_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    let pages = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/topics")).unwrap();
    let names = pages.map(|page| page.unwrap().file_name().into_string().unwrap());
    let topics = names.filter_map(|name| Some(name.strip_suffix(".md")?.to_owned()));
    let mut found = Vec::new();
    for topic in topics.filter(|topic| topic != "SUMMARY") {
        let line = format!("help {topic}");
        let lines = in_a_terminal(here.path(), &line);
        assert!(lines.len() > 10, "{line}: {}", lines.join("\n"));
        found.extend(too_long(&line, &lines));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_commands_say_of_stores_fits_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    store(here.path(), 5);
    damage(here.path(), 4);
    let looks = [
        "list",
        "inspect 1",
        "inspect 1 sim",
        "inspect 1 names",
        "inspect 1 nothing",
        "inspect 9",
        "verify",
        "diff 1 2",
        "diff 1 1",
        "prune --keep 2 --dry-run",
        "report",
        "restart",
        "seal 1",
        "explain",
        "explain E2029",
        "explain E0",
        "list --dir nowhere",
        "run --exe /bin/true",
        "run",
        "test",
        "lst",
        "run deck.toml",
        "clean --dry-run",
        "doctor",
        "diff a b",
        "man sail",
        "completions nosuch",
        "serve nowhere",
        "tui --dir nowhere",
        "crashtest --dir nowhere",
        "inspect latest --rank 3",
        "export 1 nothing",
        "verify 9",
    ];
    let changes = [
        "export 1 --all --to state.npz",
        "pack latest",
        "unpack heat.ckpt.tar --dir again.ckpt.d",
        "prune --keep 2",
    ];
    let mut found = Vec::new();
    looks
        .iter()
        .for_each(|line| found.extend(faults(here.path(), line, false)));
    changes
        .iter()
        .for_each(|line| found.extend(faults(here.path(), line, true)));
    let runs = tempfile::tempdir().unwrap();
    two_runs(runs.path());
    for line in ["diff a/heat.ckpt.d b/heat.ckpt.d", "list --dir a/heat.ckpt.d"] {
        found.extend(faults(runs.path(), line, false));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_commands_say_of_packages_fits_a_terminal() {
    let here = tempfile::tempdir().unwrap();
    fs::create_dir(here.path().join("src")).unwrap();
    fs::write(
        here.path().join("Cargo.toml"),
        "[package]\nname = \"wide\"\nedition = \"2024\"\n[workspace]\n",
    )
    .unwrap();
    let source = "struct ParticlesInTheBox { positions: Vec<[f64; 3]>, velocities: Vec<[f64; 3]> }\n\
        impl ParticlesInTheBox { fn advance_by_one_step_of_time(&mut self, step: f64) {\n\
        for (position, velocity) in self.positions.iter_mut().zip(&self.velocities) {\n\
        for axis in 0..3 { position[axis] += step * velocity[axis]; } } } }\n\
        fn main() {\n let mut particles = ParticlesInTheBox { positions: vec![[0.0; 3]; 1000], velocities: vec![[1.0; 3]; 1000] };\n\
        for time_of_the_simulation in 0..100000u32 {\n particles.advance_by_one_step_of_time(1e-3);\n\
        if time_of_the_simulation % 10000 == 0 { println!(\"{time_of_the_simulation} {}\", particles.positions[0][0]); }\n }\n}\n";
    fs::write(here.path().join("src/main.rs"), source).unwrap();
    let mut found = Vec::new();
    for line in [
        "plan --offline",
        "plan --offline --all",
        "plan --offline -- deck.toml",
        "expand",
        "run --bin other",
        "run --profile",
        "init -p other",
    ] {
        found.extend(faults(here.path(), line, false));
    }
    for line in ["init", "init --undo"] {
        found.extend(faults(here.path(), line, true));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
