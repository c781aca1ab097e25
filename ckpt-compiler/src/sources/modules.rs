//! The files of a crate: from its root along `mod name;`, `#[path]`, `include!` and its relatives.
//!
//! Tokens are all that is looked at: a declaration counts wherever it stands, also in what a macro is given, and whatever
//! `#[cfg]` says. A file that is named so and is not there is none of the crate's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use super::{ReadFile, cleaned, tokens_of};
use crate::library::words_of_text;

/// What a file is to the crate.
pub(super) enum File {
    /// A part of its code.
    Rust(TokenStream),
    /// What it includes as text or bytes, or what is no Rust after all.
    Data(Vec<u8>),
}

/// The files of a crate, by their paths.
pub(super) struct Crate<'r> {
    package: PathBuf,
    read: ReadFile<'r>,
    pub(super) files: BTreeMap<PathBuf, File>,
    /// Whether each `include!` says which file it means.
    is_whole: bool,
}

/// Where the files of modules are looked for that are declared at some place.
#[derive(Clone)]
struct Place {
    /// The folder of the file: paths in `include!` begin there.
    of_file: PathBuf,
    /// Where `#[path]` begins.
    of_paths: PathBuf,
    /// Where modules without it are.
    of_modules: PathBuf,
}

impl Place {
    /// In a crate's root, a `mod.rs`, or a file that `#[path]` or `include!` names.
    fn beside(file: &Path) -> Self {
        let folder = file.parent().unwrap_or(Path::new("")).to_path_buf();
        Place {
            of_file: folder.clone(),
            of_paths: folder.clone(),
            of_modules: folder,
        }
    }

    /// In the file `name.rs` of a module.
    fn of_module(file: &Path, name: &str) -> Self {
        let beside = Place::beside(file);
        Place {
            of_modules: beside.of_modules.join(name),
            ..beside
        }
    }

    /// Inside `mod name { .. }`.
    fn inside(&self, name: &str, path: Option<&str>) -> Self {
        let folder = match path {
            Some(path) => cleaned(&self.of_paths.join(path)),
            None => self.of_modules.join(name),
        };
        Place {
            of_file: self.of_file.clone(),
            of_paths: folder.clone(),
            of_modules: folder,
        }
    }
}

impl<'r> Crate<'r> {
    pub(super) fn read(root: &Path, package: &Path, read: ReadFile<'r>) -> Self {
        let mut krate = Crate::empty(package, read);
        krate.code(root.to_path_buf(), Place::beside(root));
        krate
    }

    /// The files that any of these leads to, and whether these are all.
    pub(super) fn read_all(
        roots: &[PathBuf],
        package: &Path,
        read: ReadFile<'r>,
    ) -> (BTreeMap<PathBuf, File>, bool) {
        let mut krate = Crate::empty(package, read);
        for root in roots {
            krate.code(root.clone(), Place::beside(root));
        }
        (krate.files, krate.is_whole)
    }

    fn empty(package: &Path, read: ReadFile<'r>) -> Self {
        Crate {
            package: package.to_path_buf(),
            read,
            files: BTreeMap::new(),
            is_whole: true,
        }
    }

    fn code(&mut self, path: PathBuf, place: Place) {
        if self.files.contains_key(&path) {
            return;
        }
        let Some(bytes) = (self.read)(&path) else { return };
        match tokens_of(&bytes) {
            Some(tokens) => {
                self.files.insert(path, File::Rust(tokens.clone()));
                self.declared(tokens, &place);
            }
            None => {
                self.files.insert(path, File::Data(bytes));
            }
        }
    }

    fn data(&mut self, path: PathBuf) {
        if !self.files.contains_key(&path)
            && let Some(bytes) = (self.read)(&path)
        {
            self.files.insert(path, File::Data(bytes));
        }
    }

    /// Follows what is declared in tokens.
    fn declared(&mut self, tokens: TokenStream, place: &Place) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut paths = Paths::default();
        let mut rest = tokens.as_slice();
        loop {
            rest = match rest {
                [] => return,
                [TokenTree::Punct(hash), TokenTree::Group(attribute), rest @ ..]
                    if hash.as_char() == '#' && attribute.delimiter() == Delimiter::Bracket =>
                {
                    paths.note(attribute.stream(), true);
                    rest
                }
                [
                    TokenTree::Ident(word),
                    TokenTree::Ident(name),
                    TokenTree::Punct(end),
                    rest @ ..,
                ] if word == "mod" && end.as_char() == ';' => {
                    self.module(&unraw(&name.to_string()), &std::mem::take(&mut paths), place);
                    rest
                }
                [
                    TokenTree::Ident(word),
                    TokenTree::Ident(name),
                    TokenTree::Group(body),
                    rest @ ..,
                ] if word == "mod" && body.delimiter() == Delimiter::Brace => {
                    let paths = std::mem::take(&mut paths);
                    let name = unraw(&name.to_string());
                    for path in paths.always.iter().chain(&paths.sometimes) {
                        self.declared(body.stream(), &place.inside(&name, Some(path)));
                    }
                    if paths.always.is_none() {
                        self.declared(body.stream(), &place.inside(&name, None));
                    }
                    rest
                }
                [
                    TokenTree::Ident(word),
                    TokenTree::Punct(bang),
                    TokenTree::Group(given),
                    rest @ ..,
                ] if bang.as_char() == '!' => {
                    self.called(&word.to_string(), given.stream(), place);
                    rest
                }
                [TokenTree::Group(group), rest @ ..] => {
                    if group.delimiter() != Delimiter::Parenthesis {
                        paths = Paths::default();
                    }
                    self.declared(group.stream(), place);
                    rest
                }
                [TokenTree::Punct(end), rest @ ..] if end.as_char() == ';' => {
                    paths = Paths::default();
                    rest
                }
                [_, rest @ ..] => rest,
            };
        }
    }

    fn module(&mut self, name: &str, paths: &Paths, place: &Place) {
        for path in paths.always.iter().chain(&paths.sometimes) {
            let file = cleaned(&place.of_paths.join(path));
            let place = Place::beside(&file);
            self.code(file, place);
        }
        if paths.always.is_none() {
            let file = place.of_modules.join(format!("{name}.rs"));
            let beside = Place::of_module(&file, name);
            self.code(file, beside);
            let file = place.of_modules.join(name).join("mod.rs");
            let beside = Place::beside(&file);
            self.code(file, beside);
        }
    }

    /// A call of a macro: `include!` or one of its relatives, or one that is given code.
    fn called(&mut self, name: &str, given: TokenStream, place: &Place) {
        let path = || {
            let path = text_of(given.clone(), &self.package)?;
            Some(cleaned(&place.of_file.join(path)))
        };
        match name {
            "include" => {
                if let Some(path) = path() {
                    let place = Place::beside(&path);
                    self.code(path, place);
                } else {
                    self.is_whole = false;
                }
            }
            "include_str" | "include_bytes" | "include_wgsl" => {
                if let Some(path) = path() {
                    self.data(path);
                }
            }
            _ => self.declared(given, place),
        }
    }
}

/// The files that attributes in front of a module name.
#[derive(Default)]
struct Paths {
    always: Option<String>,
    /// Where some `#[cfg_attr]` holds.
    sometimes: Vec<String>,
}

impl Paths {
    fn note(&mut self, attribute: TokenStream, is_outermost: bool) {
        let tokens: Vec<TokenTree> = attribute.into_iter().collect();
        let parts = tokens.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ','));
        for part in parts {
            match part {
                [
                    TokenTree::Ident(word),
                    TokenTree::Punct(is),
                    TokenTree::Literal(text),
                ] if word == "path" && is.as_char() == '=' => {
                    let Some(path) = string(text) else { continue };
                    match is_outermost {
                        true => self.always = Some(path),
                        false => self.sometimes.push(path),
                    }
                }
                [TokenTree::Ident(word), TokenTree::Group(inner)] if word == "cfg_attr" => {
                    self.note(inner.stream(), false);
                }
                _ => {}
            }
        }
    }
}

/// What a literal, `env!("CARGO_MANIFEST_DIR")` or a `concat!` of these comes to.
fn text_of(tokens: TokenStream, package: &Path) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let tokens = match tokens.as_slice() {
        [all @ .., TokenTree::Punct(comma)] if comma.as_char() == ',' => all,
        all => all,
    };
    match tokens {
        [TokenTree::Literal(text)] => string(text),
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => text_of(group.stream(), package),
        [
            TokenTree::Ident(word),
            TokenTree::Punct(bang),
            TokenTree::Group(given),
        ] if bang.as_char() == '!' => match word.to_string().as_str() {
            "env" => {
                let name = text_of(given.stream(), package)?;
                (name == "CARGO_MANIFEST_DIR").then(|| package.to_string_lossy().into_owned())
            }
            "concat" => {
                let given: Vec<TokenTree> = given.stream().into_iter().collect();
                let is_comma =
                    |token: &TokenTree| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',');
                let parts = given.split(is_comma).filter(|part| !part.is_empty());
                parts
                    .map(|part| text_of(part.iter().cloned().collect(), package))
                    .collect()
            }
            _ => None,
        },
        _ => None,
    }
}

/// The text that a literal is.
pub(super) fn string(literal: &proc_macro2::Literal) -> Option<String> {
    syn::parse_str::<syn::LitStr>(&literal.to_string())
        .ok()
        .map(|text| text.value())
}

fn unraw(name: &str) -> String {
    name.strip_prefix("r#").unwrap_or(name).to_owned()
}

/// Whether modules of the file, or what it includes, may lie elsewhere than below its folder.
pub fn may_lead_away(text: &str) -> bool {
    let words = words_of_text(text);
    let leads = |three: &[&str]| matches!(three, ["[" | ",", "path", "="] | ["include", "!", _]);
    words.windows(3).any(leads)
}
