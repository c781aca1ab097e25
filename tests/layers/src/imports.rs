//! Who names whom: the `use` lines and the paths of a crate's sources, without what is compiled for tests only.
//!
//! Sources are read as tokens, so that paths inside of macros count as well. A path that begins with `crate` leads to the
//! module that it names first, or to the one from which the crate's root takes that name; `super` to the module that
//! it reaches.

use anyhow::{Context, Result};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use syn::visit_mut::{self, VisitMut};

/// One module names another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The module directly below the crate's root in which it stands.
    pub from: String,
    /// The one that it names.
    pub to: String,
    /// The file, from the folder of all crates.
    pub file: PathBuf,
    /// The line in it.
    pub line: usize,
}

/// The sources of a crate.
#[derive(Debug, Default)]
pub struct Sources {
    /// The modules directly below its root.
    pub modules: BTreeSet<String>,
    /// What they name of each other.
    pub imports: Vec<Import>,
    /// The tokens of every file, the root's as well.
    pub files: Vec<(PathBuf, TokenStream)>,
    root: Root,
}

impl Sources {
    /// Reads the folder `src` of a crate, `krate`, in the folder of all crates.
    ///
    /// # Errors
    /// Files that cannot be read, or are no Rust.
    pub fn read(crates: &Path, krate: &str) -> Result<Self> {
        let source = crates.join(krate).join("src");
        let mut files = BTreeMap::new();
        collect(&source, &mut files)?;
        let mut parsed = BTreeMap::new();
        let mut for_tests = BTreeSet::new();
        for (path, text) in files {
            let mut file =
                syn::parse_file(&text).with_context(|| format!("{} is no Rust", path.display()))?;
            let mut strip = WithoutTests::default();
            strip.visit_file_mut(&mut file);
            let folder = folder_of(&path);
            for name in strip.modules {
                for_tests.insert(folder.join(format!("{name}.rs")));
                for_tests.insert(folder.join(name).join("mod.rs"));
            }
            parsed.insert(path, file);
        }
        let is_for_tests = |path: &Path| {
            let inside = path.strip_prefix(&source).unwrap_or(path);
            for_tests.contains(path) || inside.components().any(|part| part.as_os_str() == "tests")
        };
        parsed.retain(|path, _| !is_for_tests(path));
        let mut sources = Self::default();
        let relative = |path: &Path| path.strip_prefix(crates).unwrap_or(path).to_owned();
        let mut root = Root::default();
        for (path, file) in &parsed {
            match module_of(&source, path).first() {
                Some(module) => drop(sources.modules.insert(module.clone())),
                None => root.add(file),
            }
        }
        for (path, file) in &parsed {
            let tokens = file.to_token_stream();
            let place = module_of(&source, path);
            if let Some(from) = place.first() {
                let mut finder = Finder {
                    place: &place,
                    modules: &sources.modules,
                    root: &root,
                    found: Vec::new(),
                };
                finder.tokens(tokens.clone(), &place);
                let imports = finder.found.into_iter().filter(|(to, _)| to != from);
                sources.imports.extend(imports.map(|(to, line)| Import {
                    from: from.clone(),
                    to,
                    file: relative(path),
                    line,
                }));
            }
            sources.files.push((relative(path), tokens));
        }
        sources.imports.sort();
        sources.imports.dedup();
        sources.root = root;
        Ok(sources)
    }

    /// Whether the root takes this name from a module.
    pub fn passes_on(&self, name: &str) -> bool {
        self.root.names.contains_key(name)
    }
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
        Some("mod.rs" | "lib.rs" | "main.rs") => path.with_file_name(""),
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
    /// Modules in files of their own.
    modules: Vec<String>,
}

impl WithoutTests {
    fn keeps(&mut self, item: &syn::Item) -> bool {
        let (attributes, module) = match item {
            syn::Item::Mod(one) => (&one.attrs, one.content.is_none().then(|| one.ident.to_string())),
            syn::Item::Fn(one) => (&one.attrs, None),
            syn::Item::Use(one) => (&one.attrs, None),
            syn::Item::Impl(one) => (&one.attrs, None),
            syn::Item::Const(one) => (&one.attrs, None),
            syn::Item::Struct(one) => (&one.attrs, None),
            _ => return true,
        };
        let is_for_tests = attributes.iter().any(|one| {
            let list = one.meta.require_list();
            one.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
        });
        if is_for_tests {
            self.modules.extend(module);
        }
        !is_for_tests
    }
}

impl VisitMut for WithoutTests {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        file.items.retain(|item| self.keeps(item));
        visit_mut::visit_file_mut(self, file);
    }
    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| self.keeps(item));
        }
        visit_mut::visit_item_mod_mut(self, module);
    }
}

/// What the crate's root takes from its modules.
#[derive(Debug, Default)]
struct Root {
    names: BTreeMap<String, String>,
}

impl Root {
    fn add(&mut self, file: &syn::File) {
        for item in &file.items {
            if let syn::Item::Use(one) = item {
                self.tree(&one.tree, None);
            }
        }
    }

    fn tree(&mut self, tree: &syn::UseTree, module: Option<&str>) {
        match tree {
            syn::UseTree::Path(path) => {
                let name = path.ident.to_string();
                let module = match module {
                    None if name == "crate" || name == "self" => None,
                    None => Some(name.as_str()),
                    known => known,
                };
                self.tree(&path.tree, module);
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, module)),
            syn::UseTree::Name(name) => self.name(name.ident.to_string(), module),
            syn::UseTree::Rename(name) => self.name(name.rename.to_string(), module),
            syn::UseTree::Glob(_) => {}
        }
    }

    fn name(&mut self, name: String, module: Option<&str>) {
        if let Some(module) = module {
            self.names.insert(name, module.to_owned());
        }
    }
}

/// Goes through the tokens of a file for paths that lead to other modules.
struct Finder<'s> {
    place: &'s [String],
    modules: &'s BTreeSet<String>,
    root: &'s Root,
    found: Vec<(String, usize)>,
}

impl Finder<'_> {
    /// `place`: the module around the tokens.
    fn tokens(&mut self, tokens: TokenStream, place: &[String]) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Ident(name) if name == "mod" => {
                    if let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(body))) =
                        (tokens.get(at + 1), tokens.get(at + 2))
                    {
                        let mut inner = place.to_vec();
                        inner.push(name.to_string());
                        self.tokens(body.stream(), &inner);
                        at += 3;
                        continue;
                    }
                }
                TokenTree::Ident(name) if name == "crate" => {
                    if let Some(next) = behind_colons(&tokens, at) {
                        self.target(&tokens, next);
                    }
                }
                TokenTree::Ident(name) if name == "super" && !is_behind_colons(&tokens, at) => {
                    self.upwards(&tokens, at, place);
                }
                TokenTree::Group(group) => self.tokens(group.stream(), place),
                _ => {}
            }
            at += 1;
        }
    }

    fn upwards(&mut self, tokens: &[TokenTree], mut at: usize, place: &[String]) {
        let mut ups = 1;
        while let Some(next) = behind_colons(tokens, at) {
            match &tokens[next] {
                TokenTree::Ident(name) if name == "super" => {
                    ups += 1;
                    at = next;
                }
                _ if ups == place.len() => return self.target(tokens, next),
                _ => return,
            }
        }
    }

    /// What stands behind `crate::`.
    fn target(&mut self, tokens: &[TokenTree], at: usize) {
        debug_assert!(!self.place.is_empty());
        for Named { name, line, .. } in named_at(tokens, at) {
            let module = self.modules.get(&name).or_else(|| {
                let of_root = self.root.names.get(&name)?;
                self.modules.get(of_root)
            });
            self.found.extend(module.map(|module| (module.clone(), line)));
        }
    }
}

/// A name behind a `::`.
#[derive(Debug)]
pub struct Named {
    /// The name.
    pub name: String,
    /// Whether the path goes on behind it.
    pub leads_on: bool,
    /// Where it stands.
    pub line: usize,
}

/// What is named directly behind `word::`, in these tokens and in all groups of them.
pub fn named_behind(tokens: TokenStream, word: &str) -> Vec<Named> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) if name == word => {
                found.extend(behind_colons(&tokens, at).map(|next| named_at(&tokens, next)));
            }
            TokenTree::Group(group) => found.push(named_behind(group.stream(), word)),
            _ => {}
        }
    }
    found.into_iter().flatten().collect()
}

/// The name at a place, or the first one of each path in braces there.
fn named_at(tokens: &[TokenTree], at: usize) -> Vec<Named> {
    match &tokens[at] {
        TokenTree::Ident(name) => vec![Named {
            name: name.to_string(),
            leads_on: behind_colons(tokens, at).is_some(),
            line: name.span().start().line,
        }],
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            let inside: Vec<TokenTree> = group.stream().into_iter().collect();
            let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(one) if one.as_char() == ',');
            let is_first = |at: usize| at == 0 || is_comma(&inside[at - 1]);
            let firsts =
                (0..inside.len()).filter(|&at| is_first(at) && matches!(inside[at], TokenTree::Ident(_)));
            firsts.flat_map(|at| named_at(&inside, at)).collect()
        }
        _ => Vec::new(),
    }
}

/// The index of what follows the `::` behind a token.
fn behind_colons(tokens: &[TokenTree], at: usize) -> Option<usize> {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(one) if one.as_char() == ':');
    let both = is_colon(tokens.get(at + 1)?) && is_colon(tokens.get(at + 2)?);
    (both && tokens.len() > at + 3).then_some(at + 3)
}

fn is_behind_colons(tokens: &[TokenTree], at: usize) -> bool {
    at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(one) if one.as_char() == ':')
}
