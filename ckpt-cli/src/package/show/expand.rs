//! Finding annotated functions in the sources of a package and instrumenting one of them, as the macros would.

use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::Package;
use ckpt_analysis::{OwnAttribute, own_attribute};
use ckpt_compiler::{Diagnostics, last_name};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::Attribute;
use syn::visit::{self, Visit};

use crate::cargo::CargoOptions;
use crate::failure::{Failure, OrFail, Outcome, says};
use crate::output::told;
use crate::package::read::shown;

/// A source file that could be parsed.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    file: syn::File,
}

/// A function that was found.
#[derive(Debug)]
pub struct Found {
    /// Its name with the modules of its file and the type around it: `grid::Grid::step`.
    pub name: String,
    path: PathBuf,
    line: usize,
    /// The head of the `impl` or `trait` that it stands in.
    around: Option<TokenStream>,
    annotation: Option<OwnAttribute>,
    /// The function without the annotation.
    item: TokenStream,
}

/// Parses the sources of the package that the options mean.
pub fn sources(options: &CargoOptions) -> Outcome<Vec<Source>> {
    let metadata = options.metadata()?;
    let mut paths = Vec::new();
    for package in options.packages(&metadata)? {
        source_paths(package, &mut paths);
    }
    paths.sort();
    paths.dedup();
    let mut files = Vec::new();
    for path in paths {
        let Ok(text) = fs::read_to_string(&path) else {
            continue;
        };
        match ckpt_compiler::parse_file(&text) {
            Ok(file) => files.push(Source { path, file }),
            Err(error) => {
                let at = error.span().start();
                told!(
                    "warning[W3006]: {}:{}:{}: {error}; the file is passed over",
                    shown(&path),
                    at.line,
                    at.column + 1
                );
            }
        }
    }
    Ok(files)
}

/// All `.rs` files in the folders of the package's targets.
fn source_paths(package: &Package, paths: &mut Vec<PathBuf>) {
    let mut folders: Vec<&Path> = Vec::new();
    for target in &package.targets {
        paths.push(target.src_path.clone().into());
        // A build script stands beside Cargo.toml: its folder is the whole package.
        let folder = target.src_path.as_std_path().parent();
        folders.extend(folder.filter(|folder| Some(*folder) != package.manifest_path.as_std_path().parent()));
    }
    let mut pending: Vec<PathBuf> = folders.into_iter().map(Path::to_path_buf).collect();
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !path.join("CACHEDIR.TAG").exists() => pending.push(path),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|end| end == "rs") => {
                    paths.push(path)
                }
                _ => {}
            }
        }
    }
}

/// The annotated functions of all files, in order.
pub fn annotated(files: &[Source]) -> Outcome<Vec<Found>> {
    let found: Vec<_> = all(files)
        .into_iter()
        .filter(|found| found.annotation.is_some())
        .collect();
    if found.is_empty() {
        return Err(
            Failure::no(says!("E3026: no function of this package is annotated")).help(
                "put `#[ckpt::main]` on `main` and `#[ckpt::instrument]` on functions that hold a site",
            ),
        );
    }
    Ok(found)
}

/// The one annotated function of this name.
pub fn only<'f>(annotated: &'f [Found], name: &str, files: &[Source]) -> Outcome<&'f Found> {
    let is_it = |found: &&Found| found.is_called(name);
    let list: Vec<_> = annotated.iter().filter(is_it).collect();
    match list.as_slice() {
        [one] => Ok(one),
        [] => Err(not_annotated(annotated, name, files)),
        several => {
            let places: Vec<_> = several
                .iter()
                .map(|found| format!("{} ({})", found.name, found.place()))
                .collect();
            Err(
                Failure::usage(says!("E3027: several functions are called `{name}`"))
                    .because(places.join("\n"))
                    .help("write more of its path, or choose the package with `-p`"),
            )
        }
    }
}

fn not_annotated(annotated: &[Found], name: &str, files: &[Source]) -> Failure {
    if let Some(plain) = all(files).iter().find(|found| found.is_called(name)) {
        return Failure::no(says!("E3028: `{}` is not annotated", plain.name))
            .because(plain.place())
            .help(match plain.name.as_str() {
                "main" => "put `#[ckpt::main]` on it",
                _ => "put `#[ckpt::instrument]` on it",
            });
    }
    Failure::no(says!("E3029: there is no function `{name}` in this package"))
        .help_list("annotated are", annotated.iter().map(|found| &found.name))
}

fn all(files: &[Source]) -> Vec<Found> {
    let mut list = Vec::new();
    for source in files {
        let mut finder = FunctionFinder {
            path: &source.path,
            scope: Vec::new(),
            around: None,
            found: &mut list,
        };
        finder.visit_file(&source.file);
    }
    list
}

impl Found {
    /// Where it stands, as an editor takes it.
    pub fn place(&self) -> String {
        format!("{}:{}", shown(&self.path), self.line)
    }

    /// Whether the name, or a path that ends the full one, is meant.
    fn is_called(&self, name: &str) -> bool {
        self.name
            .strip_suffix(name)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
    }

    /// The instrumented function, formatted.
    pub fn expansion(&self) -> Outcome<String> {
        let Some(own) = self.annotation.clone() else {
            return Ok(String::new());
        };
        let expanded = ckpt_compiler::try_expand(own.arguments, &self.item, own.opens_session)
            .map_err(|diagnostics| self.refused(&diagnostics))?;
        let whole = match &self.around {
            Some(head) => quote!(#head { #expanded }),
            None => expanded,
        };
        let file: syn::File = syn::parse2(whole).or_fail(|| {
            Failure::no(says!("E3030: `{}` does not expand to Rust", self.name))
                .help("this is a bug in ckpt; please report it with the function")
        })?;
        let text = prettyplease::unparse(&file);
        Ok(format!("// {}, {}\n{text}", self.name, self.place()))
    }

    /// What rustc would report, at the same places.
    fn refused(&self, diagnostics: &Diagnostics) -> Failure {
        let failure = Failure::no(says!("E3031: `{}` cannot be instrumented", self.name));
        diagnostics.iter().fold(failure, |failure, one| {
            let at = one.place.start();
            failure.because(format!(
                "{}:{}:{}: {}",
                shown(&self.path),
                at.line,
                at.column + 1,
                one.message()
            ))
        })
    }
}

struct FunctionFinder<'f> {
    path: &'f Path,
    scope: Vec<String>,
    around: Option<TokenStream>,
    found: &'f mut Vec<Found>,
}

impl FunctionFinder<'_> {
    fn note<F: ToTokens + Clone>(
        &mut self,
        ident: &syn::Ident,
        function: &F,
        attributes: fn(&mut F) -> &mut Vec<Attribute>,
    ) {
        let mut bare = function.clone();
        let all = attributes(&mut bare);
        let annotation = all.iter().find_map(own_attribute);
        all.retain(|attribute| own_attribute(attribute).is_none());
        let name: Vec<_> = self.scope.iter().cloned().chain([ident.to_string()]).collect();
        self.found.push(Found {
            name: name.join("::"),
            path: self.path.to_path_buf(),
            line: ident.span().start().line,
            around: self.around.clone(),
            annotation,
            item: bare.into_token_stream(),
        });
    }

    fn inside(&mut self, name: String, around: Option<TokenStream>, visit: impl FnOnce(&mut Self)) {
        self.scope.push(name);
        let outer = std::mem::replace(&mut self.around, around);
        visit(self);
        self.around = outer;
        self.scope.pop();
    }
}

impl<'ast> Visit<'ast> for FunctionFinder<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.note(&function.sig.ident, function, |function| &mut function.attrs);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.note(&function.sig.ident, function, |function| &mut function.attrs);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        self.note(&function.sig.ident, function, |function| &mut function.attrs);
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        self.inside(module.ident.to_string(), None, |finder| {
            visit::visit_item_mod(finder, module)
        });
    }

    fn visit_item_impl(&mut self, block: &'ast syn::ItemImpl) {
        let mut head = syn::ItemImpl {
            items: Vec::new(),
            ..block.clone()
        };
        head.attrs.clear();
        let name = type_name(&block.self_ty);
        self.inside(name, Some(without_braces(&head)), |finder| {
            visit::visit_item_impl(finder, block)
        });
    }

    fn visit_item_trait(&mut self, block: &'ast syn::ItemTrait) {
        let mut head = syn::ItemTrait {
            items: Vec::new(),
            ..block.clone()
        };
        head.attrs.clear();
        let around = Some(without_braces(&head));
        self.inside(block.ident.to_string(), around, |finder| {
            visit::visit_item_trait(finder, block)
        });
    }
}

/// `impl Grid` of `impl Grid {}`.
fn without_braces(item: &dyn ToTokens) -> TokenStream {
    let mut tokens: Vec<_> = item.to_token_stream().into_iter().collect();
    tokens.pop();
    tokens.into_iter().collect()
}

fn type_name(ty: &syn::Type) -> String {
    match ty {
        syn::Type::Path(path) => last_name(&path.path),
        other => other.to_token_stream().to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Vec<Source> {
        vec![Source {
            path: "/nowhere/main.rs".into(),
            file: syn::parse_file(text).unwrap(),
        }]
    }

    const TEXT: &str = "
        #[ckpt::main(calls(advance))] fn main() {}
        mod grid { impl<T> Grid<T> { #[ckpt::instrument] fn advance(&mut self) {} fn plain() {} } }
        mod other { #[ckpt::instrument] fn advance() {} }
    ";

    #[test]
    fn functions_are_named_by_module_and_type() {
        let files = source(TEXT);
        let names: Vec<_> = annotated(&files)
            .unwrap()
            .into_iter()
            .map(|found| found.name)
            .collect();
        assert_eq!(names, ["main", "grid::Grid::advance", "other::advance"]);
    }

    #[test]
    fn an_expansion_that_is_no_rust_is_refused() {
        let text = "impl Grid { #[ckpt::instrument] fn advance(&self) { loop { ckpt::checkpoint!(); } } }";
        let mut found = annotated(&source(text)).unwrap().remove(0);
        assert!(found.expansion().is_ok());
        found.around = Some(quote!(impl impl));
        let refused = found.expansion().unwrap_err();
        let told = serde_json::json!({
            "code": "E3030", "error": "`Grid::advance` does not expand to Rust",
            "help": "this is a bug in ckpt; please report it with the function",
        });
        assert_eq!(refused.as_data(), told);
    }

    #[test]
    fn a_name_must_mean_one_function() {
        let files = source(TEXT);
        let annotated = annotated(&files).unwrap();
        assert_eq!(only(&annotated, "Grid::advance", &files).unwrap().line, 3);
        assert!(
            only(&annotated, "advance", &files)
                .unwrap_err()
                .to_string()
                .contains("several")
        );
        assert!(
            only(&annotated, "vance", &files)
                .unwrap_err()
                .to_string()
                .contains("no function")
        );
        assert!(
            only(&annotated, "plain", &files)
                .unwrap_err()
                .to_string()
                .contains("not annotated")
        );
    }

    #[test]
    fn the_annotation_is_taken_off_and_its_options_kept() {
        let files = source(TEXT);
        let annotated = annotated(&files).unwrap();
        let own = annotated[0].annotation.clone().unwrap();
        assert!(own.opens_session);
        assert_eq!(own.arguments.to_string(), "calls (advance)");
        assert_eq!(annotated[0].item.to_string(), "fn main () { }");
        assert_eq!(
            annotated[1].around.as_ref().unwrap().to_string(),
            "impl < T > Grid < T >"
        );
    }
}
