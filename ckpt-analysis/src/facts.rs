//! What a package is made of: the artefact that costs, skeleton and placement begin with.

use crate::calls::{self, CallGraph};
use crate::items::methods::Methods;
use crate::items::resolve::Resolver;
use crate::items::{self, Items};
use crate::source::Program;
use ckpt_compiler::library::{CallTable, Library};
use ckpt_compiler::syntax::own_macros::Definitions;

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
}

impl Facts {
    /// Of a program, with what the user says that calls mean.
    pub fn of(program: &Program, by_user: &CallTable) -> Self {
        let mut library = Library::default();
        library.add(by_user);
        let items = items::collect(&library, program);
        library.add(&Definitions::of_program(&items.macros).table(by_user));
        let graph = {
            let resolver = Resolver::new(&items, &library);
            let methods = Methods::new(&items, &resolver);
            calls::build(&library, program, &resolver, &methods)
        };
        Self {
            items,
            graph,
            bases: program.files.iter().map(|file| file.base).collect(),
            library,
        }
    }
}
