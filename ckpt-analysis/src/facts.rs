//! What a package is made of: the artefact that costs, skeleton and placement begin with.

mod again;
pub mod generators;
pub mod state;

use crate::calls::{self, CallGraph};
use crate::facts::generators::Generators;
use crate::facts::state::OuterState;
use crate::items::methods::Methods;
use crate::items::resolve::{Namespace, Resolver};
use crate::items::{self, Def, FnId, Items, MAIN};
use crate::source::{CommunicatingCrate, Program};
use ckpt_compiler::library::{CallTable, Library};
use ckpt_compiler::syntax::own_macros::Definitions;
use ckpt_compiler::syntax::owners::Owners;
use ckpt_safepoints::skeleton::SourcePlace;
use quote::ToTokens;
use std::sync::Arc;

/// What can be known without looking at a particular `main`.
#[derive(Debug, Default)]
pub struct Facts {
    /// What the package is made of.
    pub items: Items,
    /// Its calls and loops.
    pub graph: CallGraph,
    /// For each file the bytes at its start that its spans do not count.
    pub bases: Vec<usize>,
    /// What the user says that calls mean, and what is known of the program's own macros.
    pub library: Library,
    /// The crates that may exchange messages which are not seen, and where the package names each first.
    pub communicating: Vec<(CommunicatingCrate, SourcePlace)>,
    /// Whether the package asks anywhere how many pointers to one value there are.
    pub counts_owners: bool,
    /// Whether the program asks where in memory something is.
    pub asks_where: bool,
    /// The generators of random numbers that crates keep to themselves.
    pub generators: Generators,
    /// State that statements do not name as variables which change.
    pub outer_state: OuterState,
}

impl Facts {
    /// Of a program, with what the user says that calls mean.
    pub fn of(program: &Program, by_user: &CallTable) -> Self {
        let mut library = Library::default();
        library.add(by_user);
        let mut own = program.others.clone();
        program.files.iter().for_each(|file| own.read(&file.text));
        library.set_own(&Arc::new(own));
        let mut items = items::collect(&library, program);
        items.imported_main = imported_main(&items, &library);
        library.add(&Definitions::of_program(&items.macros).table(by_user));
        if program.speaks_of_threads() {
            library.add(&again::table(&library, &items));
        }
        let graph = {
            let resolver = Resolver::new(&items, &library);
            let methods = Methods::new(&items, &resolver);
            calls::build(&library, program, &resolver, &methods)
        };
        let outer_state = OuterState::of(program, &library, &items, &graph);
        Self {
            items,
            graph,
            outer_state,
            bases: program.files.iter().map(|file| file.base).collect(),
            communicating: named_communicating(program),
            counts_owners: counts_owners(&library, program),
            asks_where: program.asks_where(),
            generators: Generators::of(program),
            library,
        }
    }
}

fn imported_main(items: &Items, library: &Library) -> Option<FnId> {
    let root = *items.roots.first()?;
    match Resolver::new(items, library).in_module(root, MAIN, Namespace::Values)? {
        Def::Function(id) => Some(id),
        _ => None,
    }
}

fn named_communicating(program: &Program) -> Vec<(CommunicatingCrate, SourcePlace)> {
    let first = |name: &str| {
        let files = program.files.iter().enumerate();
        { files }.find_map(|(file, one)| {
            let span = one.names_crate(name)?;
            let bytes = span.byte_range();
            Some(SourcePlace {
                file,
                bytes: bytes.start + one.base..bytes.end + one.base,
                line: span.start().line,
                column: span.start().column,
            })
        })
    };
    let crates = program.communicating.iter();
    crates
        .filter_map(|one| Some((one.clone(), first(&one.name)?)))
        .collect()
}

/// A destructor, an operator or an object may ask, so it does not matter where in the package.
fn counts_owners(library: &Library, program: &Program) -> bool {
    let mut owners = Owners::default();
    for file in &program.files {
        owners.add(Owners::of(library, &file.ast.to_token_stream()));
    }
    owners.are_counted()
}
