//! Generators of random numbers that crates keep to themselves: a checkpoint holds the state of those that give it, and a program
//! that draws from another is refused.

use crate::source::locate::bytes;
use crate::source::{CrateSource, FileId, Position, Program};
use ckpt_compiler::syntax::mentions::names_in;
use quote::ToTokens;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;

#[derive(Debug, Deserialize)]
struct Table {
    generator: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(rename = "crate")]
    krate: String,
    seed: Option<String>,
    state: Option<String>,
}

static KNOWN: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../../tables/generators.toml")).expect("a test reads the table")
});

/// A generator that a crate of the program seeds, and whose state is the number that it would be seeded with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seeded {
    /// The number of the crate that seeds it.
    pub by: usize,
    /// The crate that keeps it.
    pub krate: String,
    /// Its function that gives the state.
    pub state: String,
    /// Its function that takes it.
    pub seed: String,
}

/// A generator that a program draws from, and that no checkpoint can hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The crate that keeps it.
    pub krate: String,
    /// Where the program first names that.
    pub place: Position,
}

/// The generators of a program that crates keep to themselves.
#[derive(Debug, Default)]
pub struct Generators {
    /// Those that a checkpoint holds.
    pub seeded: Vec<Seeded>,
    /// Those that none can hold.
    pub kept: Vec<Kept>,
}

impl Generators {
    /// Of a program, by the crates and functions that its files name.
    pub fn of(program: &Program) -> Self {
        let mut found = Self::default();
        for row in &KNOWN.generator {
            match (&row.seed, &row.state) {
                (Some(seed), Some(state)) => {
                    let all = program.crates.iter().enumerate();
                    let by = all.filter(|(_, krate)| seeds(program, krate, &row.krate, seed));
                    found.seeded.extend(by.map(|(by, _)| Seeded {
                        by,
                        krate: row.krate.clone(),
                        state: state.clone(),
                        seed: seed.clone(),
                    }));
                }
                _ => found.kept.extend(named(program, &row.krate).map(|place| Kept {
                    krate: row.krate.clone(),
                    place,
                })),
            }
        }
        found
    }
}

/// Whether a file of a crate names both.
fn seeds(program: &Program, by: &CrateSource, krate: &str, seed: &str) -> bool {
    files_of(by).into_iter().any(|file| {
        let source = program.file(file);
        source.names_crate(krate).is_some() && names_in(&source.ast.to_token_stream()).contains(seed)
    })
}

/// Where the program first names a crate.
fn named(program: &Program, krate: &str) -> Option<Position> {
    let files: BTreeSet<FileId> = program.crates.iter().flat_map(files_of).collect();
    files.into_iter().find_map(|file| {
        let span = program.file(file).names_crate(krate)?;
        Some((file, bytes(program, file, span).start))
    })
}

fn files_of(krate: &CrateSource) -> Vec<FileId> {
    let modules = krate.modules.values().copied();
    [krate.root].into_iter().chain(modules).collect()
}
