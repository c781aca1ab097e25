//! `std::sync::Barrier`: it does not say for how many threads it is, so no checkpoint can hold it. `ckpt::sync::Barrier`
//! does, and is the same otherwise: it takes its place.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::segments;
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{ItemUse, UseTree};

const NAME: &str = "Barrier";

/// The edits that put ckpt's barrier in the place of std's.
pub fn barrier_edits(program: &Program) -> Vec<Edit> {
    let mut edits = Vec::new();
    for (index, file) in program.files.iter().enumerate() {
        if !file.text.contains(NAME) {
            continue;
        }
        let mut barriers = Barriers {
            program,
            file: FileId(index),
            edits: &mut edits,
            names_sync: names_sync(&file.ast),
        };
        barriers.visit_file(&file.ast);
    }
    edits
}

struct Barriers<'p> {
    program: &'p Program,
    file: FileId,
    edits: &'p mut Vec<Edit>,
    /// Whether `sync` is `std::sync` in the file, and no module of another library.
    names_sync: bool,
}

/// Whether a file imports `std::sync` by its name.
fn names_sync(file: &syn::File) -> bool {
    struct Imports(bool);
    impl<'ast> Visit<'ast> for Imports {
        fn visit_item_use(&mut self, item: &'ast ItemUse) {
            let is_sync = |leaf: &Leaf<'_>| {
                let path: Vec<&str> = leaf.path.iter().map(String::as_str).collect();
                leaf.rename.is_none() && matches!(path[..], ["std", "sync"] | ["std", "sync", "self"])
            };
            self.0 |= leaves(&item.tree).iter().any(is_sync);
        }
    }
    let mut imports = Imports(false);
    imports.visit_file(file);
    imports.0
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
        // `use std::sync::Barrier;`, by itself.
        if let UseTree::Path(path) = &item.tree
            && path.ident == "std"
            && leaves(&item.tree).len() == 1
            && is_barrier(&leaves(&item.tree)[0])
        {
            return self.replace(path.ident.span(), "ckpt");
        }
        for leaf in leaves(&item.tree).iter().filter(|leaf| is_barrier(leaf)) {
            let visible = match item.vis.to_token_stream().to_string() {
                text if text.is_empty() => text,
                text => format!("{text} "),
            };
            let renamed = leaf.rename.map_or(String::new(), |name| format!(" as {name}"));
            let at = bytes(self.program, self.file, item.span()).start;
            let text = format!("{visible}use ckpt::sync::{NAME}{renamed};");
            let all = &self.program.file(self.file).text;
            self.edits.push(Edit::line_before(self.file, all, at, &text));
            self.take_out(leaf.span);
        }
    }

    /// `std::sync::Barrier`, `sync::Barrier::new`.
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = segments(path);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let first = path.segments.first();
        match (&names[..], first) {
            (["std", "sync", NAME, ..], Some(first)) => self.replace(first.ident.span(), "ckpt"),
            (["sync", NAME, ..], Some(first)) if self.names_sync => {
                self.replace(first.ident.span(), "ckpt::sync")
            }
            _ => {}
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

fn is_barrier(leaf: &Leaf<'_>) -> bool {
    leaf.path == ["std", "sync", NAME]
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
        Edited::new(text, &barrier_edits(&Program::of_text(text))).text
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
