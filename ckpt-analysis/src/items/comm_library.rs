//! The communication library that a program uses.

use super::Items;
use ckpt_safepoints::models::{self, CommModel};
use std::rc::Rc;

/// The model of the library whose crate a program names anywhere; nothing for a program that uses none.
pub fn comm_model(items: &Items) -> Option<Rc<dyn CommModel>> {
    models::crates()
        .find(|name| names_crate(items, name))
        .and_then(models::of_crate)
}

/// Whether a package is one of a communication library's own, so that it is followed where a program calls it.
pub fn is_of_comm_library(package: &str) -> bool {
    models::packages().any(|one| one == package)
}

/// Whether a package that says in its manifest that it links this makes calls of such a library.
pub fn links_comm_library(links: &str) -> bool {
    models::linked().any(|one| one == links)
}

fn names_crate(items: &Items, name: &str) -> bool {
    let starts = |path: &Vec<String>| {
        let first = path.iter().find(|name| *name != "::");
        first.is_some_and(|first| first == name)
    };
    let imports = items
        .scopes
        .iter()
        .any(|scope| scope.globs.iter().any(starts) || scope.uses.values().flatten().any(starts));
    imports || items.functions.iter().any(|one| is_in_paths(&one.item, name))
}

fn is_in_paths(item: &syn::ItemFn, name: &str) -> bool {
    struct CratePaths<'a>(&'a str, bool);
    impl<'ast> ckpt_compiler::visit::Visit<'ast> for CratePaths<'_> {
        fn visit_path(&mut self, path: &'ast syn::Path) {
            let first = path.segments.first();
            self.1 |= path.segments.len() > 1 && first.is_some_and(|first| first.ident == self.0);
            ckpt_compiler::visit::visit_path(self, path);
        }
    }
    let mut paths = CratePaths(name, false);
    ckpt_compiler::visit::Visit::visit_item_fn(&mut paths, item);
    paths.1
}
