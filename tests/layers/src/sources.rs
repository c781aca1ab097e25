//! The files of a crate, each with the module that it is, without what is compiled for tests only.
//!
//! Files are found along `mod` from the crate's root, so that a file that `#[path]` or `include!` puts elsewhere is read where
//! it is put. Files that nothing leads to are read as the modules that their names say.

use crate::imports::{Finder, Import, Root};
use anyhow::{Context, Result};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};
use syn::visit_mut::{self, VisitMut};

/// A file of a crate.
#[derive(Debug)]
pub struct SourceFile {
    /// From the folder of all crates.
    pub path: PathBuf,
    /// What is compiled for more than tests.
    pub parsed: syn::File,
    /// Its tokens.
    pub tokens: TokenStream,
}

/// The sources of a crate.
#[derive(Debug, Default)]
pub struct Sources {
    /// The modules directly below its root.
    pub modules: BTreeSet<String>,
    /// What they name of each other.
    pub imports: Vec<Import>,
    /// Forms through which a module could name another one unseen, with what to write instead.
    pub refused: Vec<String>,
    /// Every file, the root's as well.
    pub files: Vec<SourceFile>,
    /// What the root passes on.
    pub root: Root,
}

impl Sources {
    /// Reads the folder `src` of a crate, `krate`, in the folder of all crates.
    ///
    /// # Errors
    /// Files that cannot be read, or are no Rust.
    pub fn read(crates: &Path, krate: &str) -> Result<Self> {
        let source = crates.join(krate).join("src");
        let mut tree = Tree::read(&source)?;
        for root in ["lib.rs", "main.rs"] {
            tree.follow(&source.join(root), &[]);
        }
        tree.forget_tests();
        let relative = |path: &Path| path.strip_prefix(crates).unwrap_or(path).to_owned();
        let at =
            |path: &Path, line: usize, what: &str| format!("{}:{line}: {what}", relative(path).display());
        let mut sources = Self::default();
        for (path, file) in &tree.files {
            match module_of(&source, path).first() {
                Some(module) => {
                    sources.modules.insert(module.clone());
                    sources.root.add_macros(file, module);
                }
                None => {
                    let refused = sources.root.add(file, |name| tree.stage_of(name));
                    let refused = refused.into_iter().map(|(line, what)| at(path, line, &what));
                    sources.refused.extend(refused);
                }
            }
        }
        let refused = tree
            .refused
            .iter()
            .filter(|(path, ..)| tree.files.contains_key(path));
        sources
            .refused
            .extend(refused.map(|(path, line, what)| at(path, *line, what)));
        let mut open = tree.places.clone();
        for path in tree.files.keys().filter(|path| !tree.places.contains_key(*path)) {
            open.insert(path.clone(), BTreeSet::from([module_of(&source, path)]));
        }
        let mut included = BTreeSet::new();
        while let Some((path, places)) = open.pop_first() {
            let Some(file) = tree.files.get(&path) else {
                continue;
            };
            let Some(stage) = module_of(&source, &path).first().cloned() else {
                continue;
            };
            for place in places {
                let mut finder = Finder::new(&stage, &sources.modules, &sources.root);
                finder.file(file.to_token_stream(), &place);
                let found = finder.found;
                sources
                    .imports
                    .extend(found.imports.into_iter().map(|(to, line)| Import {
                        from: stage.clone(),
                        to,
                        file: relative(&path),
                        line,
                    }));
                let refused = found.refused.into_iter();
                sources
                    .refused
                    .extend(refused.map(|(what, line)| at(&path, line, &what)));
                for (text, inside, line) in found.included {
                    let text = text.map(|text| path.with_file_name(text));
                    let target = text.filter(|file| {
                        module_of(&source, file).first() == Some(&stage) && tree.is_plain(file)
                    });
                    match target {
                        Some(file) if included.insert((file.clone(), inside.clone())) => {
                            open.entry(file).or_default().insert(inside);
                        }
                        Some(_) => {}
                        None => sources.refused.push(at(
                            &path,
                            line,
                            "`include!` of what is no file of the same stage: make it a module",
                        )),
                    }
                }
            }
        }
        sources.imports.sort();
        sources.imports.dedup();
        sources.refused.sort();
        sources.refused.dedup();
        sources.files = tree
            .files
            .into_iter()
            .map(|(path, parsed)| SourceFile {
                path: relative(&path),
                tokens: parsed.to_token_stream(),
                parsed,
            })
            .collect();
        Ok(sources)
    }
}

/// The files, and the modules that they are.
struct Tree {
    source: PathBuf,
    files: BTreeMap<PathBuf, syn::File>,
    places: BTreeMap<PathBuf, BTreeSet<Vec<String>>>,
    for_tests: BTreeSet<PathBuf>,
    refused: Vec<(PathBuf, usize, String)>,
}

/// A `mod name;`.
struct Declared {
    /// The modules of the same file around it.
    inside: Vec<String>,
    name: String,
    path: Option<String>,
    line: usize,
}

impl Tree {
    fn read(source: &Path) -> Result<Self> {
        let mut texts = BTreeMap::new();
        collect(source, &mut texts)?;
        let mut files = BTreeMap::new();
        let mut for_tests = BTreeSet::new();
        for (path, text) in texts {
            let mut file =
                syn::parse_file(&text).with_context(|| format!("{} is no Rust", path.display()))?;
            let mut strip = WithoutTests::default();
            strip.visit_file_mut(&mut file);
            for (name, written) in strip.modules {
                let folder = folder_of(&path);
                match written {
                    Some(written) => drop(for_tests.insert(path.with_file_name(written))),
                    None => {
                        for_tests.insert(folder.join(format!("{name}.rs")));
                        for_tests.insert(folder.join(name));
                    }
                }
            }
            files.insert(path, file);
        }
        Ok(Self {
            source: source.to_owned(),
            files,
            places: BTreeMap::new(),
            for_tests,
            refused: Vec::new(),
        })
    }

    fn forget_tests(&mut self) {
        let for_tests = &self.for_tests;
        self.files
            .retain(|path, _| !path.ancestors().any(|one| for_tests.contains(one)));
    }

    /// In the sources, and without `..`: a file has one name.
    fn is_plain(&self, path: &Path) -> bool {
        let inside = path.strip_prefix(&self.source);
        inside.is_ok_and(|inside| !inside.components().any(|one| one == Component::ParentDir))
    }

    /// The file of a module of the root that has another name than its file.
    fn stage_of(&self, file: &str) -> Option<String> {
        module_of(&self.source, &self.source.join(file)).first().cloned()
    }

    fn follow(&mut self, path: &Path, place: &[String]) {
        let is_new = self.places.get(path).is_none_or(|places| !places.contains(place));
        let Some(file) = self.files.get(path).filter(|_| is_new) else {
            return;
        };
        let mut declared = Vec::new();
        let mut refused = Vec::new();
        modules_in(&file.items, &mut Vec::new(), &mut declared, &mut refused);
        self.places
            .entry(path.to_owned())
            .or_default()
            .insert(place.to_vec());
        for line in refused {
            let what = "a `#[path]` that does not always hold: write it plainly".to_owned();
            self.refused.push((path.to_owned(), line, what));
        }
        for one in declared {
            let folder = one.inside.iter().fold(folder_of(path), |at, name| at.join(name));
            let file = match &one.path {
                // Inside of modules in braces it counts from their folder, otherwise from that of the file.
                Some(text) if one.inside.is_empty() => path.with_file_name(text),
                Some(text) => folder.join(text),
                None => {
                    let plain = folder.join(format!("{}.rs", one.name));
                    if self.files.contains_key(&plain) {
                        plain
                    } else {
                        folder.join(&one.name).join("mod.rs")
                    }
                }
            };
            let stage = module_of(&self.source, path).first().cloned();
            let own = module_of(&self.source, &file).first().cloned();
            if !self.is_plain(&file) || stage.is_some() && stage != own {
                let what = format!("`{}` is a file of another stage: `use` what it has", one.name);
                self.refused.push((path.to_owned(), one.line, what));
                continue;
            }
            let mut inside: Vec<String> = place.iter().chain(&one.inside).cloned().collect();
            // A stage is known by its file.
            let name = if place.is_empty() {
                own.unwrap_or(one.name)
            } else {
                one.name
            };
            inside.push(name);
            self.follow(&file, &inside);
        }
    }
}

fn modules_in(
    items: &[syn::Item],
    inside: &mut Vec<String>,
    declared: &mut Vec<Declared>,
    refused: &mut Vec<usize>,
) {
    for item in items {
        let syn::Item::Mod(module) = item else { continue };
        let name = plain(&module.ident);
        let line = module.ident.span().start().line;
        let conditional = module.attrs.iter().any(|one| {
            let tokens = one.meta.require_list().map(|list| list.tokens.clone());
            one.path().is_ident("cfg_attr")
                && tokens.is_ok_and(|tokens| {
                    tokens
                        .into_iter()
                        .any(|token| matches!(token, proc_macro2::TokenTree::Ident(word) if word == "path"))
                })
        });
        refused.extend(conditional.then_some(line));
        match &module.content {
            Some((_, items)) => {
                inside.push(name);
                modules_in(items, inside, declared, refused);
                inside.pop();
            }
            None => declared.push(Declared {
                inside: inside.clone(),
                name,
                path: path_of(&module.attrs),
                line,
            }),
        }
    }
}

/// What `#[path = ".."]` says.
fn path_of(attributes: &[syn::Attribute]) -> Option<String> {
    attributes.iter().find_map(|one| match &one.meta {
        syn::Meta::NameValue(pair) if pair.path.is_ident("path") => match &pair.value {
            syn::Expr::Lit(syn::ExprLit {
                lit: syn::Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// A name without `r#`.
pub(crate) fn plain(name: &proc_macro2::Ident) -> String {
    let name = name.to_string();
    name.strip_prefix("r#").map_or(name.clone(), str::to_owned)
}

fn collect(folder: &Path, files: &mut BTreeMap<PathBuf, String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            files.insert(path, text);
        }
    }
    Ok(())
}

/// Where the files of the modules that a file declares are.
fn folder_of(path: &Path) -> PathBuf {
    match path.file_name().and_then(|name| name.to_str()) {
        Some("mod.rs" | "lib.rs" | "main.rs") => path.parent().unwrap_or(path).to_owned(),
        _ => path.with_extension(""),
    }
}

/// The names of the modules down to a file; none for the crate's root.
fn module_of(source: &Path, path: &Path) -> Vec<String> {
    let inside = path.strip_prefix(source).unwrap_or(path).with_extension("");
    let mut names: Vec<String> = inside
        .components()
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    if names.last().is_some_and(|last| last == "mod") {
        names.pop();
    }
    if names.len() == 1 && matches!(names[0].as_str(), "lib" | "main") {
        names.clear();
    }
    names
}

/// Takes out what is compiled for tests only.
#[derive(Default)]
struct WithoutTests {
    /// Modules in files of their own, with what `#[path]` says.
    modules: Vec<(String, Option<String>)>,
}

impl WithoutTests {
    fn items(&mut self, items: &mut Vec<syn::Item>) {
        items.retain(|item| {
            let is_for_tests = of_item(item).iter().any(is_for_tests);
            if let syn::Item::Mod(module) = item
                && is_for_tests
                && module.content.is_none()
            {
                self.modules.push((plain(&module.ident), path_of(&module.attrs)));
            }
            !is_for_tests
        });
    }
}

fn of_item(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(one) => &one.attrs,
        syn::Item::Enum(one) => &one.attrs,
        syn::Item::ExternCrate(one) => &one.attrs,
        syn::Item::Fn(one) => &one.attrs,
        syn::Item::ForeignMod(one) => &one.attrs,
        syn::Item::Impl(one) => &one.attrs,
        syn::Item::Macro(one) => &one.attrs,
        syn::Item::Mod(one) => &one.attrs,
        syn::Item::Static(one) => &one.attrs,
        syn::Item::Struct(one) => &one.attrs,
        syn::Item::Trait(one) => &one.attrs,
        syn::Item::Type(one) => &one.attrs,
        syn::Item::Union(one) => &one.attrs,
        syn::Item::Use(one) => &one.attrs,
        _ => &[],
    }
}

/// `#[cfg(test)]`, `#[cfg(all(test, unix))]`
fn is_for_tests(attribute: &syn::Attribute) -> bool {
    let list = attribute.meta.require_list();
    attribute.path().is_ident("cfg") && list.is_ok_and(|list| needs_test(list.tokens.clone()))
}

fn needs_test(condition: TokenStream) -> bool {
    match syn::parse2::<syn::Meta>(condition) {
        Ok(syn::Meta::Path(path)) => path.is_ident("test"),
        Ok(syn::Meta::List(list)) if list.path.is_ident("all") => {
            let parser = syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated;
            let all = list.parse_args_with(parser);
            all.is_ok_and(|all| all.iter().any(|one| needs_test(one.to_token_stream())))
        }
        _ => false,
    }
}

impl VisitMut for WithoutTests {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        self.items(&mut file.items);
        visit_mut::visit_file_mut(self, file);
    }
    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            self.items(items);
        }
        visit_mut::visit_item_mod_mut(self, module);
    }
    fn visit_item_impl_mut(&mut self, one: &mut syn::ItemImpl) {
        one.items.retain(|item| {
            let attributes = match item {
                syn::ImplItem::Fn(one) => &one.attrs,
                syn::ImplItem::Const(one) => &one.attrs,
                _ => return true,
            };
            !attributes.iter().any(is_for_tests)
        });
        visit_mut::visit_item_impl_mut(self, one);
    }
}
