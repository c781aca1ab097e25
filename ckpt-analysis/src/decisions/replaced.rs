//! Types of std whose place ckpt's take, which are the same otherwise, and which a checkpoint can hold: `std::sync::Barrier`
//! does not say for how many threads it is, and the ends of `std::sync::mpsc` do not say what is under way between them.

use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Types, segments};
use ckpt_compiler::visit::{self, Visit};
use quote::ToTokens;
use syn::spanned::Spanned;
use syn::{ItemUse, UseTree};

/// The edits that put ckpt's types in the place of those that it replaces; with `modules`, also those of modules.
pub fn replacing_edits(library: &Library, program: &Program, modules: bool) -> Vec<Edit> {
    let mut edits = Vec::new();
    let replaced = Replaced { library, modules };
    for (index, file) in program.files.iter().enumerate() {
        let mut uses = Uses {
            replaced,
            program,
            file: FileId(index),
            edits: &mut edits,
            modules: imported(replaced, &file.ast),
        };
        uses.visit_file(&file.ast);
    }
    edits
}

/// Whether a type, as rustc writes it, is of a module whose place ckpt's takes where a checkpoint has to hold something of it.
pub fn is_of_replaced_module(library: &Library, type_name: &str) -> bool {
    let path = type_name.split(['<', ' ']).next().unwrap_or_default();
    let segments: Vec<String> = path.split("::").map(str::to_owned).collect();
    let all = Replaced {
        library,
        modules: true,
    };
    all.is_in(&segments)
}

/// What is replaced.
#[derive(Clone, Copy)]
struct Replaced<'p> {
    library: &'p Library,
    modules: bool,
}

impl Replaced<'_> {
    /// Whether a path leads to something whose place is taken by ckpt's, or into it.
    fn is_in(self, path: &[String]) -> bool {
        (1..=path.len()).any(|count| {
            let path = path[..count].join("::");
            self.library.says(&path, Types::Replaced)
                || self.modules && self.library.says(&path, Types::ReplacedModules)
        })
    }
}

struct Uses<'p> {
    replaced: Replaced<'p>,
    program: &'p Program,
    file: FileId,
    edits: &'p mut Vec<Edit>,
    /// What the file imports by its own name.
    modules: Vec<Vec<String>>,
}

/// The paths that a file imports by their own names, such as `std::sync`, but for what is replaced.
fn imported(replaced: Replaced<'_>, file: &syn::File) -> Vec<Vec<String>> {
    #[derive(Default)]
    struct Imports(Vec<Vec<String>>);
    impl<'ast> Visit<'ast> for Imports {
        fn visit_item_use(&mut self, item: &'ast ItemUse) {
            let own = leaves(&item.tree)
                .into_iter()
                .filter(|leaf| leaf.name == Named::Itself);
            self.0.extend(own.map(|leaf| leaf.path));
        }
    }
    let mut imports = Imports::default();
    imports.visit_file(file);
    imports.0.retain(|path| !replaced.is_in(path));
    imports.0
}

impl Uses<'_> {
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
        // What was taken out before it may have had the comma.
        let before = self
            .edits
            .iter()
            .rfind(|edit| edit.text.is_empty() && edit.file == self.file);
        start = start.max(before.map_or(0, |edit| edit.end.min(at.start)));
        self.edits.push(Edit {
            file: self.file,
            start,
            end,
            text: String::new(),
        });
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        let leaves = leaves(&item.tree);
        let replaced = self.replaced;
        // `use std::sync::Barrier;`, by itself.
        if let UseTree::Path(path) = &item.tree
            && !leaves.is_empty()
            && leaves.iter().all(|leaf| replaced.is_in(&leaf.path))
        {
            return self.replace(path.ident.span(), "ckpt");
        }
        for leaf in leaves.iter().filter(|leaf| replaced.is_in(&leaf.path)) {
            let visible = match item.vis.to_token_stream().to_string() {
                text if text.is_empty() => text,
                text => format!("{text} "),
            };
            let renamed = match leaf.name {
                Named::Itself => String::new(),
                Named::Other(name) => format!(" as {name}"),
                Named::All => "::*".to_owned(),
            };
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
        let replaced = self.replaced;
        if let Some(first) = path.segments.first() {
            let leads_there = |before: &[String]| replaced.is_in(&[before, &names[..]].concat());
            let through = self.modules.iter().find_map(|module| {
                let (last, before) = module.split_last()?;
                (first.ident == last && leads_there(before)).then(|| module[1..].join("::"))
            });
            if leads_there(&[]) {
                self.replace(first.ident.span(), "ckpt");
            } else if let Some(through) = through {
                self.replace(first.ident.span(), &format!("ckpt::{through}"));
            }
        }
        visit::visit_path(self, path);
    }
}

/// What a `use` brings in.
struct Leaf<'a> {
    /// Without `self` at its end.
    path: Vec<String>,
    name: Named<'a>,
    /// The whole of it in the list of braces that it is in.
    span: proc_macro2::Span,
}

/// Under which name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Named<'a> {
    Itself,
    Other(&'a syn::Ident),
    /// All that is in it.
    All,
}

fn leaves(tree: &UseTree) -> Vec<Leaf<'_>> {
    fn below<'a>(tree: &'a UseTree, path: &[String], whole: &'a UseTree, found: &mut Vec<Leaf<'a>>) {
        let with = |name: &syn::Ident| match name == "self" {
            true => path.to_vec(),
            false => [path, &[name.to_string()]].concat(),
        };
        let mut leaf = |path, name| {
            found.push(Leaf {
                path,
                name,
                span: whole.span(),
            });
        };
        match tree {
            UseTree::Path(one) => below(&one.tree, &with(&one.ident), whole, found),
            UseTree::Group(group) => group.items.iter().for_each(|one| below(one, path, one, found)),
            UseTree::Name(name) => leaf(with(&name.ident), Named::Itself),
            UseTree::Rename(one) => leaf(with(&one.ident), Named::Other(&one.rename)),
            UseTree::Glob(_) => leaf(path.to_vec(), Named::All),
        }
    }
    let mut found = Vec::new();
    below(tree, &[], tree, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edited;

    fn edited(text: &str) -> String {
        with_modules(text, false)
    }

    fn with_modules(text: &str, modules: bool) -> String {
        let edits = replacing_edits(Library::builtin(), &Program::of_text(text), modules);
        Edited::new(text, &edits).text
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
            (
                "use std::{sync::Barrier, thread};\n",
                "use ckpt::sync::Barrier;\nuse std::{thread};\n",
            ),
            ("use std::sync::mpsc;\n", "use std::sync::mpsc;\n"),
        ] {
            assert_eq!(edited(text), expected);
        }
    }

    #[test]
    fn every_import_and_path_of_channels_is_that_of_ckpt() {
        for (text, expected) in [
            ("use std::sync::mpsc;\n", "use ckpt::sync::mpsc;\n"),
            (
                "use std::sync::mpsc as ways;\n",
                "use ckpt::sync::mpsc as ways;\n",
            ),
            ("use std::sync::mpsc::*;\n", "use ckpt::sync::mpsc::*;\n"),
            (
                "use std::sync::mpsc::{self, channel, Sender};\n",
                "use ckpt::sync::mpsc::{self, channel, Sender};\n",
            ),
            (
                "use std::sync::{mpsc, Arc};\n",
                "use ckpt::sync::mpsc;\nuse std::sync::{Arc};\n",
            ),
            (
                "use std::sync::{mpsc::Sender, Arc};\n",
                "use ckpt::sync::mpsc::Sender;\nuse std::sync::{Arc};\n",
            ),
            (
                "use std::sync::{Arc, mpsc::*};\n",
                "use ckpt::sync::mpsc::*;\nuse std::sync::{Arc};\n",
            ),
            (
                "use std::sync::{mpsc::{self, Sender as To}, Arc};\n",
                "use ckpt::sync::mpsc;\nuse ckpt::sync::mpsc::Sender as To;\nuse std::sync::{mpsc::{}, Arc};\n",
            ),
            (
                "use std::sync;\nfn f() { let (a, b) = sync::mpsc::channel::<u8>(); }\n",
                "use std::sync;\nfn f() { let (a, b) = ckpt::sync::mpsc::channel::<u8>(); }\n",
            ),
            (
                "struct S { a: std::sync::mpsc::Sender<u8> }\n",
                "struct S { a: ckpt::sync::mpsc::Sender<u8> }\n",
            ),
            ("use tokio::sync::mpsc;\n", "use tokio::sync::mpsc;\n"),
        ] {
            assert_eq!(with_modules(text, true), expected);
        }
    }
}
