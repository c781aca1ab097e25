//! What a package is made of: the artefact that costs, skeleton and placement begin with.

mod again;

use crate::calls::{self, CallGraph};
use crate::items::methods::Methods;
use crate::items::resolve::{Namespace, Resolver};
use crate::items::{self, Def, FnId, Items, MAIN};
use crate::source::Program;
use ckpt_compiler::library::{CallTable, Library};
use ckpt_compiler::syntax::own_macros::Definitions;
use ckpt_compiler::syntax::owners::Owners;
use quote::ToTokens;

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
    /// Whether the package asks anywhere how many pointers to one value there are.
    pub counts_owners: bool,
}

impl Facts {
    /// Of a program, with what the user says that calls mean.
    pub fn of(program: &Program, by_user: &CallTable) -> Self {
        let mut library = Library::default();
        library.add(by_user);
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
        Self {
            items,
            graph,
            bases: program.files.iter().map(|file| file.base).collect(),
            counts_owners: counts_owners(&library, program),
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

/// A destructor, an operator or an object may ask, so it does not matter where in the package.
fn counts_owners(library: &Library, program: &Program) -> bool {
    let mut owners = Owners::default();
    for file in &program.files {
        owners.add(Owners::of(library, &file.ast.to_token_stream()));
    }
    owners.are_counted()
}
