//! Statics inside functions. Only their function can name them, and it may not have run yet when a restart needs them: so
//! the item moves out into the module, under a name of its own, and the function gets a `use` in its place.

use super::{Changing, Declared, is_late, is_lazy, late, registration, statics_of};
use crate::source::edits::Edit;
use crate::source::locate::bytes;
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, Prelude};
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::{Punct, Spacing, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::{Item, Stmt, UseTree};

/// What the statics inside the functions of a module come to.
#[derive(Debug, Default)]
pub(super) struct Inner {
    /// The `use`s in their places, and they themselves behind the items that they were in.
    pub edits: Vec<Edit>,
    /// The calls that name them.
    pub lines: Vec<String>,
    /// Those that lean on other items of their function: by name and byte.
    pub stuck: Vec<(String, usize)>,
    /// The types of all that are named.
    pub types: Vec<syn::Type>,
}

/// Those inside the functions of an item. `taken` are the names that are given already.
pub(super) fn of_item(
    library: &Library,
    changing: &Changing<'_>,
    program: &Program,
    file: FileId,
    item: &Item,
    taken: &mut HashSet<String>,
) -> Inner {
    let mut finder = InnerStatics {
        library,
        changing,
        program,
        file,
        behind: bytes(program, file, item.span()).end,
        functions: Vec::new(),
        local: Vec::new(),
        imported: HashMap::new(),
        taken,
        found: Inner::default(),
    };
    if matches!(item, Item::Fn(_) | Item::Impl(_) | Item::Trait(_)) {
        finder.visit_item(item);
    }
    finder.found
}

struct InnerStatics<'p> {
    library: &'p Library,
    changing: &'p Changing<'p>,
    program: &'p Program,
    file: FileId,
    /// The byte behind the item of the module.
    behind: usize,
    functions: Vec<String>,
    /// What the items of each block around are called.
    local: Vec<HashSet<String>>,
    /// Names that a block around imports from std, with their whole paths.
    imported: HashMap<String, String>,
    taken: &'p mut HashSet<String>,
    found: Inner,
}

impl InnerStatics<'_> {
    fn function(&mut self, name: &syn::Ident, body: &syn::Block) {
        self.functions.push(name.to_string());
        self.visit_block(body);
        self.functions.pop();
    }

    /// Moves an item that declares these.
    fn move_out(&mut self, item: &Item, all: &[Declared]) {
        let range = bytes(self.program, self.file, item.span());
        let own: HashSet<String> = all.iter().map(|one| one.name.to_string()).collect();
        let mentioned = names_in(&item.to_token_stream());
        let local = self.local.iter().flatten();
        let leans: Vec<&String> = local
            .filter(|name| !own.contains(*name) && mentioned.contains(*name))
            .collect();
        if leans.iter().any(|name| !self.imported.contains_key(*name)) {
            self.found
                .stuck
                .extend(all.iter().map(|one| (one.name.to_string(), range.start)));
            return;
        }
        let function = self.functions.join("_");
        let mut text = self.program.file(self.file).text[range.clone()].to_owned();
        let mut uses = Vec::new();
        // What the function imports from std is written out.
        let mut leaning = Vec::new();
        mentions(item.to_token_stream(), &leans, &mut leaning);
        let mut changes: Vec<(Range<usize>, String)> = leaning
            .iter()
            .map(|name| {
                (
                    bytes(self.program, self.file, name.span()),
                    self.imported[&name.to_string()].clone(),
                )
            })
            .collect();
        let mut notes = String::new();
        for one in all.iter().rev() {
            let name = &one.name;
            let (new, number) = self.new_name(&format!("{function}_{name}"));
            let at = bytes(self.program, self.file, name.span());
            changes.push((at, new.clone()));
            let mut path = format!("{}::{name}", self.functions.join("::"));
            if number > 1 {
                path += &format!("#{number}");
            }
            let in_lazy = matches!(item, Item::Macro(one) if is_lazy(self.library, one));
            let late = match item {
                Item::Static(one) => late::of_static(self.library, one),
                _ => late::of_macro(self.library, one, in_lazy),
            };
            let is_late = in_lazy || matches!(item, Item::Static(one) if is_late(self.library, &one.ty));
            let asks = late.as_ref().map(|late| late.asks(&new));
            self.found.lines.push(registration(&path, &new, is_late, asks));
            if let Some(late) = late {
                let at = bytes(self.program, self.file, late.computed.span());
                let (before, after) = late.around(&new);
                changes.push((at.start..at.start, before));
                changes.push((at.end..at.end, after));
                notes += &format!("\n{}", late.note(&new));
            }
            uses.push(format!("use self::{new} as {name};"));
        }
        changes.sort_by_key(|(at, _)| std::cmp::Reverse(at.start));
        for (at, new) in changes {
            text.replace_range(at.start - range.start..at.end - range.start, &new);
        }
        self.found.edits.push(Edit {
            file: self.file,
            start: range.start,
            end: range.end,
            text: uses.join(" "),
        });
        self.found
            .edits
            .push(Edit::insert(self.file, self.behind, format!("\n\n{text}{notes}")));
    }

    /// A name that no other static has, and how many others wanted it, this one included.
    fn new_name(&mut self, stem: &str) -> (String, usize) {
        let stem = format!("CKPT_{}", stem.to_uppercase());
        let mut name = stem.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        (name, number)
    }
}

impl<'ast> Visit<'ast> for InnerStatics<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.function(&item.sig.ident, &item.block);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.function(&item.sig.ident, &item.block);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(body) = &item.default {
            self.function(&item.sig.ident, body);
        }
    }

    fn visit_item_mod(&mut self, _: &'ast syn::ItemMod) {}

    fn visit_block(&mut self, block: &'ast syn::Block) {
        let mut names = HashSet::new();
        let around = self.imported.clone();
        for stmt in &block.stmts {
            if let Stmt::Item(item) = stmt {
                declared(item, &mut names);
            }
        }
        self.imported.retain(|name, _| !names.contains(name));
        for stmt in &block.stmts {
            if let Stmt::Item(Item::Use(one)) = stmt {
                imports(self.library, &one.tree, &mut Vec::new(), &mut self.imported);
            }
        }
        self.local.push(names);
        for stmt in &block.stmts {
            let item = match stmt {
                Stmt::Item(item) => Some(item.clone()),
                // `thread_local! { .. }` among statements.
                Stmt::Macro(one) => Some(Item::Macro(syn::ItemMacro {
                    attrs: one.attrs.clone(),
                    ident: None,
                    mac: one.mac.clone(),
                    semi_token: one.semi_token,
                })),
                _ => None,
            };
            if let Some(item) = item {
                let statics = statics_of(self.library, self.changing, &item);
                if !statics.is_empty() {
                    self.found.types.extend(statics.iter().map(|one| one.ty.clone()));
                    self.move_out(&item, &statics);
                    continue;
                }
            }
            self.visit_stmt(stmt);
        }
        self.local.pop();
        self.imported = around;
    }

    fn visit_macro(&mut self, _: &'ast syn::Macro) {}

    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        visit::visit_stmt(self, stmt);
    }
}

/// What a `use` takes from std, by the name that it gets: such a path means the same everywhere.
fn imports(library: &Library, tree: &UseTree, before: &mut Vec<String>, found: &mut HashMap<String, String>) {
    let is_std = |before: &[String]| {
        let first = before.first();
        first.is_some_and(|first| library.says(first, Prelude::Crates))
    };
    let path = |before: &[String], last: &syn::Ident| format!("::{}::{last}", before.join("::"));
    match tree {
        UseTree::Path(one) => {
            before.push(one.ident.to_string());
            imports(library, &one.tree, before, found);
            before.pop();
        }
        UseTree::Name(one) if is_std(before) && one.ident != "self" => {
            found.insert(one.ident.to_string(), path(before, &one.ident));
        }
        UseTree::Rename(one) if is_std(before) && one.ident != "self" => {
            found.insert(one.rename.to_string(), path(before, &one.ident));
        }
        UseTree::Group(group) => group
            .items
            .iter()
            .for_each(|tree| imports(library, tree, before, found)),
        _ => {}
    }
}

/// Where the tokens mention one of these names as the start of a path.
fn mentions(tokens: TokenStream, names: &[&String], found: &mut Vec<syn::Ident>) {
    let mut goes_on = false;
    for token in tokens {
        match &token {
            TokenTree::Group(group) => mentions(group.stream(), names, found),
            TokenTree::Ident(ident) if !goes_on && names.iter().any(|name| ident == *name) => {
                found.push(ident.clone())
            }
            _ => {}
        }
        let joint = |punct: &Punct| punct.as_char() == '.' || punct.as_char() == ':' && goes_on;
        goes_on = match &token {
            TokenTree::Punct(punct) => {
                joint(punct) || punct.spacing() == Spacing::Joint && punct.as_char() == ':'
            }
            _ => false,
        };
    }
}

/// The names that an item brings into its block.
fn declared(item: &Item, names: &mut HashSet<String>) {
    fn of_tree(tree: &UseTree, names: &mut HashSet<String>) {
        match tree {
            UseTree::Path(path) => of_tree(&path.tree, names),
            UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
            UseTree::Rename(rename) => drop(names.insert(rename.rename.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| of_tree(tree, names)),
            UseTree::Glob(_) => {}
        }
    }
    let name = match item {
        Item::Use(one) => return of_tree(&one.tree, names),
        Item::Const(one) => &one.ident,
        Item::Static(one) => &one.ident,
        Item::Struct(one) => &one.ident,
        Item::Enum(one) => &one.ident,
        Item::Fn(one) => &one.sig.ident,
        Item::Type(one) => &one.ident,
        Item::Trait(one) => &one.ident,
        _ => return,
    };
    names.insert(name.to_string());
}
