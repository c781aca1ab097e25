//! Calls of functions in other languages. Nothing is known of what they do, but of those that a table names: what they
//! give may stand for an open file, for memory, or for what else the system keeps for a process.

use crate::source::Program;
use ckpt_compiler::library::Library;
use ckpt_compiler::visit::{self, Visit};
use std::collections::{HashMap, HashSet};
use syn::{Path, UseTree};

/// Knows which functions of a program are in other languages.
#[derive(Debug, Default)]
pub struct Foreign {
    /// Declared in the program's own `extern` blocks.
    declared: HashSet<String>,
    /// Imported, by the names that they have here: as what.
    imported: HashMap<String, Vec<Vec<String>>>,
}

impl Foreign {
    /// Looks at the declarations of a program.
    pub fn of(program: &Program) -> Self {
        let mut found = Self::default();
        program.files.iter().for_each(|file| found.visit_file(&file.ast));
        found
    }

    /// Whether a call of this path is one of a function in another language that may leave a trace.
    pub fn may_leave_a_trace(&self, library: &Library, path: &Path) -> bool {
        let written: Vec<String> = path.segments.iter().map(|one| one.ident.to_string()).collect();
        let (Some(first), Some(last)) = (written.first(), written.last()) else {
            return false;
        };
        let leaves_one = |meant: &[String]| {
            let is_of_library = meant.len() > 1 && is_function(last) && library.is_foreign(&meant[0]);
            (is_of_library || self.declared.contains(last)) && !library.may_be_called_again(meant)
        };
        match self.imported.get(first) {
            Some(all) => all.iter().any(|from| leaves_one(&[from, &written[1..]].concat())),
            None => leaves_one(&written),
        }
    }

    fn import(&mut self, tree: &UseTree, before: &mut Vec<String>) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before);
                before.pop();
            }
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            UseTree::Name(name) => self.import_as(&name.ident, &name.ident, before),
            UseTree::Rename(one) => self.import_as(&one.ident, &one.rename, before),
            UseTree::Glob(_) => {}
        }
    }

    fn import_as(&mut self, name: &syn::Ident, here: &syn::Ident, before: &[String]) {
        let mut from = before.to_vec();
        from.push(name.to_string());
        self.imported.entry(here.to_string()).or_default().push(from);
    }
}

impl<'ast> Visit<'ast> for Foreign {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if let syn::Item::ForeignMod(block) = item {
            for item in &block.items {
                if let syn::ForeignItem::Fn(function) = item {
                    self.declared.insert(function.sig.ident.to_string());
                }
            }
        }
        visit::visit_item(self, item);
    }

    fn visit_item_use(&mut self, one: &'ast syn::ItemUse) {
        self.import(&one.tree, &mut Vec::new());
        visit::visit_item_use(self, one);
    }
}

/// Types and their functions are Rust's.
fn is_function(name: &str) -> bool {
    !name.starts_with(char::is_uppercase)
}
