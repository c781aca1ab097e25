//! `std::sync::Barrier`: it does not say for how many threads it is, so no checkpoint can hold it. `ckpt::sync::Barrier`
//! does, and is the same otherwise: it takes its place.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Types, segments};
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{ItemUse, UseTree};

/// The edits that put ckpt's types in the place of those that it replaces.
pub fn barrier_edits(library: &Library, program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (index, file) in program.files.iter().enumerate() {
        let mut barriers = Barriers {
            library,
            program,
            file: FileId(index),
            edits: &mut edits,
            modules: modules(library, &file.ast),
        };
        barriers.visit_file(&file.ast);
    }
    edits
}

struct Barriers<'p> {
    library: &'p Library,
    program: &'p Program,
    file: FileId,
    edits: &'p mut Vec<Edit>,
    /// What the file imports by its own name.
    modules: Vec<Vec<String>>,
}

/// The paths that a file imports by their own names, such as `std::sync`, but for types that are replaced.
fn modules(library: &Library, file: &syn::File) -> Vec<Vec<String>> {
    #[derive(Default)]
    struct Imports(Vec<Vec<String>>);
    impl<'ast> Visit<'ast> for Imports {
        fn visit_item_use(&mut self, item: &'ast ItemUse) {
            let own = leaves(&item.tree)
                .into_iter()
                .filter(|leaf| leaf.rename.is_none());
            self.0.extend(own.map(|mut leaf| {
                leaf.path.pop_if(|last| last == "self");
                leaf.path
            }));
        }
    }
    let mut imports = Imports::default();
    imports.visit_file(file);
    imports.0.retain(|path| !is_replaced(library, path));
    imports.0
}

/// Whether a path is that of a type whose place is taken by ckpt's.
fn is_replaced(library: &Library, path: &[String]) -> bool {
    library.says(&path.join("::"), Types::Replaced)
}

impl Barriers<'_> {
    fn replace(&mut self, span: proc_macro2::Span, text: &str) {
        let at = bytes(self.program, self.file, span);
        self.edits.push(Edit {
            file: self.file,
            start: at.start,
            end: at.end,
            text: text.into(),
        });
    }

    /// Takes a name out of a list in braces, with its comma.
    fn take_out(&mut self, span: proc_macro2::Span) {
        let at = bytes(self.program, self.file, span);
        let text = &self.program.file(self.file).text;
        let behind = text[at.end..].trim_start();
        let (mut start, mut end) = (at.start, at.end);
        if let Some(rest) = behind.strip_prefix(',') {
            end = text.len() - rest.trim_start().len();
        } else if let Some(before) = text[..at.start].trim_end().strip_suffix(',') {
            start = before.len();
        }
        self.edits.push(Edit {
            file: self.file,
            start,
            end,
            text: String::new(),
        });
    }
}

impl<'ast> Visit<'ast> for Barriers<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let leaves = leaves(&item.tree);
        // `use std::sync::Barrier;`, by itself.
        if let (UseTree::Path(path), [leaf]) = (&item.tree, &leaves[..])
            && is_replaced(self.library, &leaf.path)
        {
            return self.replace(path.ident.span(), "ckpt");
        }
        let library = self.library;
        for leaf in leaves.iter().filter(|leaf| is_replaced(library, &leaf.path)) {
            let visible = match item.vis.to_token_stream().to_string() {
                text if text.is_empty() => text,
                text => format!("{text} "),
            };
            let renamed = leaf.rename.map_or(String::new(), |name| format!(" as {name}"));
            let at = bytes(self.program, self.file, item.span()).start;
            let path = leaf.path[1..].join("::");
            let text = format!("{visible}use ckpt::{path}{renamed};");
            let all = &self.program.file(self.file).text;
            self.edits.push(Edit::line_before(self.file, all, at, &text));
            self.take_out(leaf.span);
        }
    }

    /// `std::sync::Barrier`, `sync::Barrier::new`.
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = segments(path);
        let library = self.library;
        if let Some(first) = path.segments.first() {
            let ends_at_type = |before: &[String]| {
                (1..=names.len()).any(|count| is_replaced(library, &[before, &names[..count]].concat()))
            };
            let through = self.modules.iter().find_map(|module| {
                let (last, before) = module.split_last()?;
                (first.ident == last && ends_at_type(before)).then(|| module[1..].join("::"))
            });
            if ends_at_type(&[]) {
                self.replace(first.ident.span(), "ckpt");
            } else if let Some(through) = through {
                self.replace(first.ident.span(), &format!("ckpt::{through}"));
            }
        }
        visit::visit_path(self, path);
    }
}

/// A name that a `use` brings in.
struct Leaf<'a> {
    path: Vec<String>,
    rename: Option<&'a syn::Ident>,
    span: proc_macro2::Span,
}

fn leaves(tree: &UseTree) -> Vec<Leaf<'_>> {
    fn below<'a>(tree: &'a UseTree, path: &[String], found: &mut Vec<Leaf<'a>>) {
        let with = |name: &syn::Ident| [path, &[name.to_string()]].concat();
        let mut leaf = |name, rename| {
            found.push(Leaf {
                path: with(name),
                rename,
                span: tree.span(),
            });
        };
        match tree {
            UseTree::Path(one) => below(&one.tree, &with(&one.ident), found),
            UseTree::Group(group) => group.items.iter().for_each(|one| below(one, path, found)),
            UseTree::Name(name) => leaf(&name.ident, None),
            UseTree::Rename(one) => leaf(&one.ident, Some(&one.rename)),
            UseTree::Glob(_) => {}
        }
    }
    let mut found = Vec::new();
    below(tree, &[], &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edited;

    fn edited(text: &str) -> String {
        Edited::new(text, &barrier_edits(Library::builtin(), &Program::of_text(text))).text
    }

    #[test]
    fn every_import_and_path_of_the_barrier_is_that_of_ckpt() {
        for (text, expected) in [
            ("use std::sync::Barrier;\n", "use ckpt::sync::Barrier;\n"),
            (
                "pub use std::sync::Barrier as Gate;\n",
                "pub use ckpt::sync::Barrier as Gate;\n",
            ),
            (
                "use std::sync::{Arc, Barrier, Mutex};\n",
                "use ckpt::sync::Barrier;\nuse std::sync::{Arc, Mutex};\n",
            ),
            (
                "use std::{sync::{Arc, Barrier}, thread};\n",
                "use ckpt::sync::Barrier;\nuse std::{sync::{Arc}, thread};\n",
            ),
            (
                "use std::sync;\nstruct S { a: sync::Barrier, b: Vec<std::sync::Barrier> }\n",
                "use std::sync;\nstruct S { a: ckpt::sync::Barrier, b: Vec<ckpt::sync::Barrier> }\n",
            ),
            (
                "use tokio::sync;\nfn f(b: &sync::Barrier) {}\n",
                "use tokio::sync;\nfn f(b: &sync::Barrier) {}\n",
            ),
            (
                "use tokio::sync::Barrier;\nfn f(b: &Barrier) {}\n",
                "use tokio::sync::Barrier;\nfn f(b: &Barrier) {}\n",
            ),
        ] {
            assert_eq!(edited(text), expected);
        }
    }
}
