//! The files of a crate: from its root along `mod name;`, `#[path]` and `include!`, by the rules of rustc.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use ckpt_analysis::{FileId, SourceFile};
use proc_macro2::Span;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, Expr, Ident, Item, Lit, LitStr, Token};

use crate::failure::{Failure, OrFail, Outcome, says};
use crate::package::read::cfg::{Configuration, string_value};
use crate::package::read::strip::strip;
use crate::render;

/// Key of a module in its crate: the file of the declaration, and the modules from there.
pub type ModuleKey = (FileId, Vec<String>);

/// All files that have been read so far.
#[derive(Debug, Default)]
pub struct Files {
    /// Each once.
    pub files: Vec<SourceFile>,
    /// For each file, the bytes of its text that rustc passes over because of a `#[cfg]`.
    pub passed_over: Vec<Vec<Range<usize>>>,
    /// For each file, what its `#[cfg]`s mean.
    pub configurations: Vec<Configuration>,
    by_path: BTreeMap<PathBuf, FileId>,
}

/// What the files of one crate have in common.
#[derive(Debug)]
pub struct CrateFiles<'c> {
    /// The folder of the package's Cargo.toml.
    pub package_folder: &'c Path,
    /// What its `#[cfg]`s mean.
    pub configuration: &'c Configuration,
}

/// Where the files of modules are looked for that are declared at some place.
#[derive(Debug, Clone)]
struct ModuleFolder {
    folder: PathBuf,
    /// In a file `a.rs` that is not a `mod.rs`, modules are in the folder `a`, but `#[path]` starts from the file's own.
    below: Option<String>,
}

/// A `mod name;` or `include!(..)`.
struct Declaration {
    key: Vec<String>,
    span: Span,
    wants: Wants,
}

enum Wants {
    Module {
        name: String,
        path: Option<String>,
        place: ModuleFolder,
    },
    Included(PathBuf),
}

impl Files {
    /// Reads a crate from its root file.
    pub fn read_crate(
        &mut self,
        root: &Path,
        krate: &CrateFiles<'_>,
    ) -> Outcome<(FileId, BTreeMap<ModuleKey, FileId>)> {
        let id = self.file(root, krate.configuration)?;
        let mut modules = BTreeMap::new();
        let mut walked = BTreeSet::from([id]);
        let mut pending = vec![(id, ModuleFolder::beside(root))];
        while let Some((id, place)) = pending.pop() {
            for declaration in self.declarations(id, &place, krate) {
                let (path, place) = self.locate(id, &declaration)?;
                let found = self.file(&path, krate.configuration)?;
                modules.insert((id, declaration.key), found);
                if walked.insert(found) {
                    pending.push((found, place));
                }
            }
        }
        Ok((id, modules))
    }

    /// Reads and parses a file, unless that has been done.
    fn file(&mut self, path: &Path, configuration: &Configuration) -> Outcome<FileId> {
        let same = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        if let Some(&id) = self.by_path.get(&same) {
            self.check_shared(id, configuration)?;
            return Ok(id);
        }
        let text = fs::read_to_string(path)
            .or_fail(|| Failure::build(says!("E3067: cannot read `{}`", shown(path))))?;
        let (file, passed_over) = parsed(path, text, configuration)?;
        let id = FileId(self.files.len());
        self.files.push(file);
        self.passed_over.push(passed_over);
        self.configurations.push(configuration.clone());
        self.by_path.insert(same, id);
        Ok(id)
    }

    /// A file of two packages must mean the same in both.
    fn check_shared(&self, id: FileId, configuration: &Configuration) -> Outcome<()> {
        let file = &self.files[id.0];
        if !file.text.contains("cfg") {
            return Ok(());
        }
        let Ok(mut ast) = ckpt_compiler::parse_file(&file.text) else {
            return Ok(());
        };
        strip(&mut ast, configuration);
        if ast == file.ast {
            return Ok(());
        }
        Err(Failure::build(says!(
            "E3069: `{}` belongs to two packages, with different features",
            shown(&file.path)
        ))
        .because("its `#[cfg]`s do not hold alike in both, so one rewritten file cannot serve both")
        .help("give each package its own copy of the file, or turn on the same features"))
    }

    fn declarations(&self, id: FileId, place: &ModuleFolder, krate: &CrateFiles<'_>) -> Vec<Declaration> {
        let file = &self.files[id.0];
        let mut search = Search {
            file_folder: folder_of(&file.path),
            package_folder: krate.package_folder,
            found: Vec::new(),
        };
        search.items(&file.ast.items, &mut Vec::new(), place);
        search.found
    }

    /// The file that a declaration means, and where its own modules are looked for.
    fn locate(&self, id: FileId, declaration: &Declaration) -> Outcome<(PathBuf, ModuleFolder)> {
        let candidates = match &declaration.wants {
            Wants::Included(path) => vec![path.clone()],
            Wants::Module { name, path, place } => place.candidates(name, path.as_deref()),
        };
        let there: Vec<_> = candidates.iter().filter(|path| path.is_file()).collect();
        match there.as_slice() {
            [path] => {
                let mut place = ModuleFolder::beside(path);
                if let Wants::Module { name, path: None, .. } = &declaration.wants
                    && **path == candidates[0]
                {
                    place.below = Some(name.clone());
                }
                Ok(((*path).clone(), place))
            }
            [] => Err(self.missing(id, declaration, &candidates)),
            several => {
                let names: Vec<_> = several.iter().map(|path| format!("`{}`", shown(path))).collect();
                let what = format!("two files for one module: {}", names.join(" and "));
                Err(self.at(id, declaration.span, &what).help("remove one of the two"))
            }
        }
    }

    fn missing(&self, id: FileId, declaration: &Declaration, candidates: &[PathBuf]) -> Failure {
        let what = match &declaration.wants {
            Wants::Included(_) => "the included file is not there".to_owned(),
            Wants::Module { name, .. } => format!("there is no file for the module `{name}`"),
        };
        let names: Vec<_> = candidates
            .iter()
            .map(|path| format!("`{}`", shown(path)))
            .collect();
        self.at(id, declaration.span, &what)
            .help(format!("looked for {}", names.join(" and ")))
    }

    fn at(&self, id: FileId, span: Span, what: &str) -> Failure {
        let file = &self.files[id.0];
        located(&file.path, &file.text, span, what)
    }
}

/// The file of a text, and the bytes of it that rustc passes over.
///
/// # Errors
/// It is not Rust.
pub fn parsed(
    path: &Path,
    text: String,
    configuration: &Configuration,
) -> Outcome<(SourceFile, Vec<Range<usize>>)> {
    let mut ast = ckpt_compiler::parse_file(&text).map_err(|error| not_rust(path, &text, &error))?;
    let passed_over = strip(&mut ast, configuration);
    let mark = if text.starts_with('\u{feff}') { 3 } else { 0 };
    let base = mark + ast.shebang.as_ref().map_or(0, String::len);
    let in_text = |range: Range<usize>| range.start + base..range.end + base;
    let file = SourceFile {
        path: path.to_path_buf(),
        text,
        ast,
        base,
    };
    Ok((file, passed_over.into_iter().map(in_text).collect()))
}

impl ModuleFolder {
    /// Beside a file that is a crate's root, a `mod.rs`, or named by `#[path]`.
    fn beside(file: &Path) -> Self {
        ModuleFolder {
            folder: folder_of(file),
            below: None,
        }
    }

    /// The folder where modules are by default.
    fn default_folder(&self) -> PathBuf {
        match &self.below {
            Some(name) => self.folder.join(name),
            None => self.folder.clone(),
        }
    }

    /// Inside `mod name { .. }`.
    fn inside(&self, name: &str, path: Option<&str>) -> Self {
        ModuleFolder {
            folder: match path {
                Some(path) => cleaned(&self.folder.join(path)),
                None => self.default_folder().join(name),
            },
            below: None,
        }
    }

    fn candidates(&self, name: &str, path: Option<&str>) -> Vec<PathBuf> {
        match path {
            Some(path) => vec![cleaned(&self.folder.join(path))],
            None => {
                let folder = self.default_folder();
                vec![
                    folder.join(format!("{name}.rs")),
                    folder.join(name).join("mod.rs"),
                ]
            }
        }
    }
}

/// Gathers the declarations of one file.
struct Search<'f> {
    file_folder: PathBuf,
    package_folder: &'f Path,
    found: Vec<Declaration>,
}

impl Search<'_> {
    fn items(&mut self, items: &[Item], within: &mut Vec<String>, place: &ModuleFolder) {
        let mut included = 0;
        for item in items {
            match item {
                Item::Mod(module) => self.module(module, within, place),
                Item::Macro(call) if call.ident.is_none() && is_include(&call.mac.path) => {
                    let number = included;
                    included += 1;
                    if let Some(path) = self.included(&call.mac) {
                        let key = [within.as_slice(), &[format!("include!{number}")]].concat();
                        self.found.push(Declaration {
                            key,
                            span: call.mac.path.span(),
                            wants: Wants::Included(path),
                        });
                    }
                }
                _ => {}
            }
        }
    }

    fn module(&mut self, module: &syn::ItemMod, within: &mut Vec<String>, place: &ModuleFolder) {
        let name = unraw(&module.ident);
        let path = path_attribute(&module.attrs);
        within.push(module.ident.to_string());
        match &module.content {
            Some((_, items)) => self.items(items, within, &place.inside(&name, path.as_deref())),
            None => self.found.push(Declaration {
                key: within.clone(),
                span: module.mod_token.span,
                wants: Wants::Module {
                    name,
                    path,
                    place: place.clone(),
                },
            }),
        }
        within.pop();
    }

    /// The file of an `include!`; none where only the build knows it.
    fn included(&self, call: &syn::Macro) -> Option<PathBuf> {
        let path = text_of(&call.parse_body::<Expr>().ok()?, self.package_folder)?;
        Some(cleaned(&self.file_folder.join(path)))
    }
}

/// A string literal, `env!("CARGO_MANIFEST_DIR")`, or a `concat!` of these.
pub fn text_of(expression: &Expr, package_folder: &Path) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => Some(text.value()),
            Lit::Int(number) => Some(number.base10_digits().to_owned()),
            Lit::Char(one) => Some(one.value().to_string()),
            Lit::Bool(one) => Some(one.value.to_string()),
            _ => None,
        },
        Expr::Macro(call) if is_named(&call.mac.path, "concat") => {
            let parts = Punctuated::<Expr, Token![,]>::parse_terminated;
            let parts = call.mac.parse_body_with(parts).ok()?;
            parts.iter().map(|part| text_of(part, package_folder)).collect()
        }
        Expr::Macro(call) if is_named(&call.mac.path, "env") => {
            let first = |input: ParseStream<'_>| {
                let name = input.parse::<LitStr>()?;
                input.parse::<proc_macro2::TokenStream>()?;
                Ok(name)
            };
            let name = first.parse2(call.mac.tokens.clone()).ok()?;
            (name.value() == "CARGO_MANIFEST_DIR").then(|| package_folder.display().to_string())
        }
        Expr::Paren(inner) => text_of(&inner.expr, package_folder),
        Expr::Group(inner) => text_of(&inner.expr, package_folder),
        _ => None,
    }
}

fn is_include(path: &syn::Path) -> bool {
    is_named(path, "include")
}

/// `name`, `std::name` or `core::name`.
fn is_named(path: &syn::Path, name: &str) -> bool {
    let names: Vec<_> = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    match names.as_slice() {
        [only] => only == name,
        [first, last] => (first == "std" || first == "core") && last == name,
        _ => false,
    }
}

fn path_attribute(attributes: &[Attribute]) -> Option<String> {
    attributes
        .iter()
        .find_map(|attribute| string_value(attribute, "path"))
}

fn unraw(ident: &Ident) -> String {
    use syn::ext::IdentExt;
    ident.unraw().to_string()
}

fn folder_of(file: &Path) -> PathBuf {
    file.parent().map_or_else(PathBuf::new, Path::to_path_buf)
}

/// The path without `.` and `..`, as far as these can be taken out of the text.
pub fn cleaned(path: &Path) -> PathBuf {
    let mut clean = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if clean.file_name().is_some() => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    // Through a symbolic link, `..` leads elsewhere.
    if path.exists() && !clean.exists() {
        return fs::canonicalize(path).unwrap_or(clean);
    }
    clean
}

fn not_rust(path: &Path, text: &str, error: &syn::Error) -> Failure {
    located(path, text, error.span(), &error.to_string())
        .help("`cargo check` says more; where cargo does build the package, this file has syntax that ckpt does not know yet")
}

/// A failure at a place in a file, with the line of the source under it.
fn located(path: &Path, text: &str, span: Span, what: &str) -> Failure {
    let start = span.start();
    let source = render::source_line(text, start.line, Some(start.column + 1));
    let place = format!("{}:{}:{}", shown(path), start.line, start.column + 1);
    Failure::build(says!("E3070: {place}: {what}")).because(source)
}

/// The path from the working folder, where it is below that.
pub fn shown(path: &Path) -> String {
    let folder = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(&folder).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::read::read;
    use crate::package::testing::{Tree, failure, manifest, options, shape};

    /// The files that rustc itself opens for a crate.
    fn opened_by_rustc(tree: &Tree, root: &str) -> Vec<String> {
        let notes = tree.path("notes.d");
        let status = std::process::Command::new("rustc")
            .args(["--edition", "2021", "--emit", "dep-info", "-o"])
            .args([&notes, &tree.path(root)])
            .status();
        assert!(status.expect("rustc").success());
        let text = std::fs::read_to_string(notes).expect("notes");
        let files = text.lines().filter_map(|line| line.strip_suffix(':'));
        let mut files: Vec<_> = files.map(|file| tree.below(&cleaned(Path::new(file)))).collect();
        files.sort();
        files
    }

    #[test]
    fn modules_are_found_by_the_rules_of_rustc() {
        let tree = Tree::new(&[
            ("Cargo.toml", &manifest("deep", "")),
            (
                "src/main.rs",
                "mod a { mod b; #[path = \"x.rs\"] mod c; } #[path = \"far\"] mod d { mod e; }\n\
                 #[path = \"../lib/other.rs\"] mod other; mod side; mod r#loop;\n\
                 fn main() {}",
            ),
            (
                "src/a/b.rs",
                "mod inner { mod last; #[path = \"y.rs\"] mod named; }",
            ),
            ("src/a/b/inner/last.rs", ""),
            ("src/a/b/inner/y.rs", ""),
            ("src/a/x.rs", ""),
            ("src/far/e.rs", ""),
            ("lib/other.rs", "mod sibling;"),
            ("lib/sibling.rs", ""),
            (
                "src/side.rs",
                "#[cfg_attr(unix, path = \"near.rs\")] mod near; #[cfg(windows)] mod absent;",
            ),
            ("src/near.rs", "#![cfg(unix)]"),
            ("src/loop.rs", ""),
        ]);
        let package = read(&options(&tree, "Cargo.toml")).expect("read");
        assert_eq!(
            shape(&tree, &package, 0),
            [
                "deep Bin src/main.rs",
                "lib/other.rs sibling: lib/sibling.rs",
                "src/a/b.rs inner::last: src/a/b/inner/last.rs",
                "src/a/b.rs inner::named: src/a/b/inner/y.rs",
                "src/main.rs a::b: src/a/b.rs",
                "src/main.rs a::c: src/a/x.rs",
                "src/main.rs d::e: src/far/e.rs",
                "src/main.rs other: lib/other.rs",
                "src/main.rs r#loop: src/loop.rs",
                "src/main.rs side: src/side.rs",
                "src/side.rs near: src/near.rs",
            ]
        );
        let files = package.program.files.iter();
        let mut files: Vec<_> = files.map(|file| tree.below(&file.path)).collect();
        files.sort();
        assert_eq!(files, opened_by_rustc(&tree, "src/main.rs"));
    }

    #[test]
    fn included_files_are_read_where_the_path_is_known() {
        let tree = Tree::new(&[
            ("Cargo.toml", &manifest("inc", "")),
            (
                "src/main.rs",
                "include!(concat!(env!(\"OUT_DIR\"), \"/made.rs\")); include!(\"parts/a.rs\");\n\
                 mod m { include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/shared/\", 'b', 1, \".rs\")); }",
            ),
            ("src/parts/a.rs", "mod c;"),
            ("src/parts/c.rs", ""),
            ("shared/b1.rs", ""),
        ]);
        let package = read(&options(&tree, "Cargo.toml")).expect("read");
        assert_eq!(
            shape(&tree, &package, 0),
            [
                "inc Bin src/main.rs",
                "src/main.rs include!1: src/parts/a.rs",
                "src/main.rs m::include!0: shared/b1.rs",
                "src/parts/a.rs c: src/parts/c.rs",
            ]
        );
    }

    #[test]
    fn what_is_missing_is_named_with_its_place() {
        let tree = Tree::new(&[
            ("Cargo.toml", &manifest("app", "")),
            ("src/main.rs", "fn main() {}\n  mod gone;\n"),
        ]);
        let text = failure(&tree);
        assert!(
            text.contains("src/main.rs:2:3: there is no file for the module `gone`"),
            "{text}"
        );
        assert!(text.contains("2 |   mod gone;"), "{text}");
        tree.write("src/gone.rs", "");
        tree.write("src/gone/mod.rs", "");
        let text = failure(&tree);
        assert!(text.contains("two files for one module"), "{text}");
    }

    #[test]
    fn a_file_that_is_not_rust_is_shown() {
        let tree = Tree::new(&[
            ("Cargo.toml", &manifest("app", "")),
            ("src/main.rs", "fn main() {\n\tlet x = = 1;\n}\n"),
        ]);
        let text = failure(&tree);
        assert!(text.contains("src/main.rs:2:10: "), "{text}");
        assert!(text.contains("2 | \tlet x = = 1;\n  | \t        ^"), "{text}");
        tree.write("src/main.rs", "fn main() {\n  \"never closed\n");
        assert!(failure(&tree).contains("src/main.rs:"), "{}", failure(&tree));
    }

    #[test]
    fn spans_count_from_behind_byte_order_mark_and_first_line() {
        let text = "\u{feff}#!/usr/bin/env run\r\nuse x;\r\nfn main() { let é = 1; }\r\n";
        let tree = Tree::new(&[("Cargo.toml", &manifest("app", "")), ("src/main.rs", text)]);
        let package = read(&options(&tree, "Cargo.toml")).expect("read");
        let file = &package.program.files[0];
        let syn::Item::Fn(main) = &file.ast.items[1] else {
            panic!("a function");
        };
        let range = main.block.brace_token.span.join().byte_range();
        assert_eq!(
            &file.text[range.start + file.base..range.end + file.base],
            "{ let é = 1; }"
        );
    }

    #[test]
    fn a_file_of_two_packages_must_mean_the_same_in_both() {
        let part = |name: &str, more: &str| {
            let features = format!("[features]\nf = []\n{more}[lib]\npath = \"../../shared.rs\"\n");
            manifest(name, &features)
        };
        let tree = Tree::new(&[
            (
                "Cargo.toml",
                &manifest(
                    "app",
                    "[dependencies]\na = { path = \"parts/a\" }\nb = { path = \"parts/b\" }\n",
                ),
            ),
            ("src/main.rs", "fn main() {}"),
            ("shared.rs", "#[cfg(feature = \"f\")] pub fn f() {}"),
            ("parts/a/Cargo.toml", &part("a", "")),
            ("parts/b/Cargo.toml", &part("b", "")),
        ]);
        let package = read(&options(&tree, "Cargo.toml")).expect("the same in both");
        assert_eq!(package.program.files.len(), 2);
        tree.write("parts/b/Cargo.toml", &part("b", "default = [\"f\"]\n"));
        assert!(
            failure(&tree).contains("`#[cfg]`s do not hold alike"),
            "{}",
            failure(&tree)
        );
    }
}
