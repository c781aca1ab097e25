//! Goes over the files of each crate, in the order of its modules.

use super::syntax::{Inner, Statics, ambiguous_constants, annotation, first_token, kind_of_statics};
use super::{
    AliasId, AliasItem, ConstId, ConstItem, Def, FnId, FnKind, Function, GlobalId, GlobalItem, GlobalKind,
    Items, Scope, ScopeId, SourceRange, TraitId,
};
use crate::source::{FileId, Program};
use ckpt_compiler::library::{Library, last_name};
use ckpt_compiler::resolve;
use ckpt_compiler::visit::Visit;
use proc_macro2::Span;
use std::collections::HashMap;
use syn::spanned::Spanned;
use syn::{Item, UseTree, Visibility};

/// Modules nested deeper than this are not read: a module map may be circular.
const DEEPEST_MODULE: usize = 64;

/// Gathers the items of all crates.
pub fn collect(library: &Library, program: &Program) -> Items {
    let mut items = Items::default();
    for (krate, source) in program.crates.iter().enumerate() {
        let root = items.add_scope(Scope {
            krate,
            ..Scope::default()
        });
        items.roots.push(root);
        items.externs.push(
            source
                .externs
                .iter()
                .map(|(name, of)| (name.clone(), *of))
                .collect(),
        );
        let Some(file) = program.files.get(source.root.0) else {
            continue;
        };
        let mut collector = Collector {
            library,
            program,
            items: &mut items,
            krate,
            file: source.root,
            inline: Vec::new(),
            includes: HashMap::new(),
            depth: 0,
        };
        collector.module(root, &file.ast.items);
    }
    items
}

impl Items {
    fn add_scope(&mut self, scope: Scope) -> ScopeId {
        self.scopes.push(scope);
        ScopeId(self.scopes.len() - 1)
    }

    pub(super) fn declare(&mut self, scope: ScopeId, name: &str, def: Def) {
        self.scopes[scope.0]
            .names
            .entry(name.to_owned())
            .or_default()
            .push(def);
    }

    /// A name with the modules around it.
    pub(super) fn display(&self, scope: ScopeId, name: &str) -> String {
        let mut parts = self.scope(scope).path.clone();
        parts.push(name.to_owned());
        parts.join("::")
    }
}

/// A function's surroundings.
#[derive(Clone, Default)]
pub(super) struct Owner {
    pub(super) of_impl: Option<usize>,
    pub(super) of_trait: Option<TraitId>,
    pub(super) self_type: Option<String>,
    pub(super) trait_name: Option<String>,
}

pub(super) struct Collector<'a> {
    library: &'a Library,
    program: &'a Program,
    pub(super) items: &'a mut Items,
    pub(super) krate: usize,
    pub(super) file: FileId,
    /// The inline modules around, in the file.
    inline: Vec<String>,
    /// How many `include!` each place has had so far.
    includes: HashMap<(FileId, Vec<String>), usize>,
    depth: usize,
}

impl Collector<'_> {
    fn module(&mut self, scope: ScopeId, list: &[Item]) {
        for item in list {
            self.item(scope, item);
        }
    }

    fn item(&mut self, scope: ScopeId, item: &Item) {
        match item {
            Item::Fn(function) => {
                let kind = if self.items.scope(scope).is_block {
                    FnKind::Nested
                } else {
                    FnKind::Free
                };
                let id = self.function(scope, kind, function.clone(), &Owner::default());
                self.items
                    .declare(scope, &function.sig.ident.to_string(), Def::Function(id));
            }
            Item::Mod(one) => self.submodule(scope, one),
            Item::Struct(one) => self.structure(scope, one),
            Item::Enum(one) => self.enumeration(scope, one),
            Item::Union(one) => self.union(scope, one),
            Item::Trait(one) => self.trait_item(scope, one),
            Item::Impl(one) => self.impl_item(scope, one),
            Item::Const(one) => {
                let name = one.ident.to_string();
                let id = self.constant(scope, None, &name, &one.ty, Some(&one.expr));
                self.items.declare(scope, &name, Def::Const(id));
            }
            Item::Static(one) => {
                let kind = match one.mutability {
                    syn::StaticMutability::Mut(_) => GlobalKind::StaticMut,
                    _ => GlobalKind::Static,
                };
                let place = self.place(one.static_token.span, one.span());
                let name = one.ident.to_string();
                self.global(scope, kind, &name, &one.ty, Some(&one.expr), place);
            }
            Item::Type(one) => {
                let id = AliasId(self.items.aliases.len());
                self.items.aliases.push(AliasItem {
                    scope,
                    generics: one.generics.clone(),
                    ty: (*one.ty).clone(),
                });
                self.items.declare(scope, &one.ident.to_string(), Def::Alias(id));
            }
            Item::Use(one) => self.import(scope, Vec::new(), &one.tree, one.leading_colon.is_some()),
            Item::ExternCrate(one) => {
                if let Some((_, name)) = &one.rename {
                    let uses = &mut self.items.scopes[scope.0].uses;
                    let path = vec![one.ident.to_string()];
                    uses.entry(name.to_string()).or_default().push(path);
                }
            }
            Item::Macro(one) => self.macro_item(scope, one),
            _ => {}
        }
    }

    fn submodule(&mut self, scope: ScopeId, one: &syn::ItemMod) {
        if self.depth >= DEEPEST_MODULE {
            return;
        }
        let name = one.ident.to_string();
        let mut path = self.items.scope(scope).path.clone();
        path.push(name.clone());
        let start = match &one.vis {
            Visibility::Inherited => one.mod_token.span,
            vis => vis.span(),
        };
        let place = self.place(start, one.ident.span());
        let inner = self.items.add_scope(Scope {
            krate: self.krate,
            parent: Some(scope),
            path,
            declared: Some((one.vis.clone(), place)),
            ..Scope::default()
        });
        self.items.declare(scope, &name, Def::Module(inner));
        self.inline.push(name);
        self.depth += 1;
        if let Some((_, content)) = &one.content {
            self.module(inner, content);
        } else {
            self.other_file(inner, self.inline.clone());
        }
        self.depth -= 1;
        self.inline.pop();
    }

    /// Goes on in the file that the module map has for this place.
    fn other_file(&mut self, scope: ScopeId, inline: Vec<String>) {
        let program = self.program;
        let Some(file) = program.crates[self.krate].modules.get(&(self.file, inline)) else {
            return;
        };
        let Some(source) = program.files.get(file.0) else {
            return;
        };
        let outer = std::mem::replace(&mut self.file, *file);
        let names = std::mem::take(&mut self.inline);
        self.module(scope, &source.ast.items);
        self.file = outer;
        self.inline = names;
    }

    fn macro_item(&mut self, scope: ScopeId, one: &syn::ItemMacro) {
        match last_name(&one.mac.path).as_str() {
            "macro_rules" => {
                if let Some(name) = &one.ident {
                    let tokens = one.mac.tokens.clone();
                    let all = self.items.macros.entry(name.to_string()).or_default();
                    all.extend([tokens, quote::quote!(;)]);
                }
            }
            "include" if self.depth < DEEPEST_MODULE => {
                let key = (self.file, self.inline.clone());
                let count = self.includes.entry(key).or_default();
                let mut inline = self.inline.clone();
                inline.push(format!("include!{count}"));
                *count += 1;
                self.depth += 1;
                self.other_file(scope, inline);
                self.depth -= 1;
            }
            name => {
                let Some(kind) = kind_of_statics(self.library, name) else {
                    return;
                };
                let Ok(Statics(list)) = syn::parse2(one.mac.tokens.clone()) else {
                    return;
                };
                for (ident, ty, value) in list {
                    let place = self.place(ident.span(), value.span());
                    self.global(scope, kind, &ident.to_string(), &ty, Some(&value), place);
                }
            }
        }
    }

    pub(super) fn function(
        &mut self,
        scope: ScopeId,
        kind: FnKind,
        item: syn::ItemFn,
        owner: &Owner,
    ) -> FnId {
        let id = FnId(self.items.functions.len());
        let name = item.sig.ident.to_string();
        let short = match owner.self_type.as_ref().or(owner.trait_name.as_ref()) {
            Some(of) => format!("{of}::{name}"),
            None => name.clone(),
        };
        let start = first_token(&item.vis, &item.sig);
        let place = self.place(start, item.block.brace_token.span.close());
        let body_at = self.range(item.block.brace_token.span.open()).end;
        let annotation = annotation(&item.attrs);
        let (told_apart, locals) = resolve::told_apart(self.library, &[], &item);
        self.items.functions.push(Function {
            id,
            display: self.items.display(scope, &short),
            name,
            kind,
            krate: self.krate,
            scope,
            body_scope: scope,
            of_impl: owner.of_impl,
            of_trait: owner.of_trait,
            self_type: owner.self_type.clone(),
            trait_name: owner.trait_name.clone(),
            insert_at: place.bytes.start,
            place,
            body_at,
            annotation,
            item: told_apart.clone(),
            written: item,
            locals,
        });
        self.nested(id, scope, &told_apart);
        id
    }

    /// The items in the body of a function: they share one scope.
    fn nested(&mut self, id: FnId, scope: ScopeId, item: &syn::ItemFn) {
        let mut finder = Inner::new(self.library);
        finder.visit_block(&item.block);
        if finder.items.is_empty() || self.depth >= DEEPEST_MODULE {
            return;
        }
        let outer = self.items.scope(scope);
        let mut path = outer.path.clone();
        path.push(item.sig.ident.to_string());
        let block = Scope {
            krate: self.krate,
            parent: Some(scope),
            is_block: true,
            path,
            ..Scope::default()
        };
        let block = self.items.add_scope(block);
        self.items.functions[id.0].body_scope = block;
        self.depth += 1;
        self.module(block, &finder.items);
        self.depth -= 1;
        // One scope cannot tell which of them is meant.
        for name in ambiguous_constants(item) {
            for def in self.items.scopes[block.0].names.get(&name).into_iter().flatten() {
                if let Def::Const(id) = def {
                    self.items.consts[id.0].value = None;
                }
            }
        }
    }

    pub(super) fn constant(
        &mut self,
        scope: ScopeId,
        owner: Option<&str>,
        name: &str,
        ty: &syn::Type,
        value: Option<&syn::Expr>,
    ) -> ConstId {
        let id = ConstId(self.items.consts.len());
        self.items.consts.push(ConstItem {
            id,
            name: name.to_owned(),
            owner: owner.map(str::to_owned),
            scope,
            file: self.file,
            ty: ty.clone(),
            value: value.cloned(),
        });
        id
    }

    fn global(
        &mut self,
        scope: ScopeId,
        kind: GlobalKind,
        name: &str,
        ty: &syn::Type,
        value: Option<&syn::Expr>,
        place: SourceRange,
    ) {
        let id = GlobalId(self.items.globals.len());
        self.items.globals.push(GlobalItem {
            name: name.to_owned(),
            kind,
            scope,
            ty: ty.clone(),
            value: value.cloned(),
            place,
        });
        self.items.declare(scope, name, Def::Global(id));
    }

    /// `use a::{b, c as d, e::*};`
    fn import(&mut self, scope: ScopeId, mut path: Vec<String>, tree: &UseTree, absolute: bool) {
        if absolute && path.is_empty() {
            path.push("::".into());
        }
        let uses = |collector: &mut Self, name: String, path: Vec<String>| {
            let scope = &mut collector.items.scopes[scope.0];
            scope.uses.entry(name).or_default().push(path);
        };
        match tree {
            UseTree::Path(one) => {
                path.push(one.ident.to_string());
                self.import(scope, path, &one.tree, false);
            }
            UseTree::Name(one) => {
                let name = one.ident.to_string();
                if name == "self" {
                    if let Some(last) = path.last().cloned() {
                        uses(self, last, path);
                    }
                } else {
                    path.push(name.clone());
                    uses(self, name, path);
                }
            }
            UseTree::Rename(one) => {
                if one.ident != "self" {
                    path.push(one.ident.to_string());
                }
                uses(self, one.rename.to_string(), path);
            }
            UseTree::Glob(_) => self.items.scopes[scope.0].globs.push(path),
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(scope, path.clone(), tree, false);
                }
            }
        }
    }

    pub(super) fn range(&self, span: Span) -> std::ops::Range<usize> {
        let base = self.program.files.get(self.file.0).map_or(0, |file| file.base);
        let range = span.byte_range();
        range.start + base..range.end + base
    }

    pub(super) fn place(&self, start: Span, end: Span) -> SourceRange {
        let at = start.start();
        SourceRange {
            file: self.file,
            bytes: self.range(start).start..self.range(end).end,
            line: at.line,
            column: at.column,
        }
    }
}
