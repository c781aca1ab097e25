//! The expansion of one function for every form of the transformation, as text.
//!
//! `UPDATE_SNAPSHOTS=1` writes down what comes out now. The package `tests/snapshots` compiles the same functions.

use ckpt_compiler::try_expand;
use quote::ToTokens;
use std::path::{Path, PathBuf};
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, ImplItemFn, ItemFn, Meta};

#[test]
fn expansions_are_as_they_were() {
    let inputs = inputs();
    assert!(!inputs.is_empty());
    let differences: Vec<String> = inputs.iter().filter_map(|input| difference(input)).collect();
    assert!(
        differences.is_empty(),
        "{}\n\nUPDATE_SNAPSHOTS=1 accepts what comes out now",
        differences.join("\n\n")
    );
}

fn inputs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let entries = std::fs::read_dir(folder).expect("the folder of snapshots can be read");
    let is_input = |path: &PathBuf| {
        path.file_name()
            .is_some_and(|name| !name.to_string_lossy().contains(".expanded."))
    };
    let mut inputs: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(is_input)
        .collect();
    inputs.sort();
    inputs
}

/// Where the expansion is not what was written down.
fn difference(input: &Path) -> Option<String> {
    let made = expanded(input);
    let path = input.with_extension("expanded.rs");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, made).expect("a snapshot can be written");
        return None;
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = kept.lines().map(Some).chain(std::iter::repeat(None));
    let first = made
        .lines()
        .map(Some)
        .chain([None])
        .zip(lines)
        .enumerate()
        .find(|(_, (made, kept))| made != kept);
    first.map(|(line, (made, kept))| {
        let (made, kept) = (made.unwrap_or("the end"), kept.unwrap_or("the end"));
        format!("{}:{}\n  was: {kept}\n  is:  {made}", path.display(), line + 1)
    })
}

/// The file with every attribute of ckpt on a function carried out.
fn expanded(input: &Path) -> String {
    let source = std::fs::read_to_string(input).expect("a snapshot's input can be read");
    let mut file = syn::parse_file(&source).expect("a snapshot's input is Rust");
    Expand.visit_file_mut(&mut file);
    prettyplease::unparse(&file)
}

struct Expand;

impl VisitMut for Expand {
    fn visit_item_fn_mut(&mut self, function: &mut ItemFn) {
        if let Some(attribute) = take_attribute(&mut function.attrs) {
            *function = expand(&attribute, function);
        }
    }

    fn visit_impl_item_fn_mut(&mut self, method: &mut ImplItemFn) {
        if let Some(attribute) = take_attribute(&mut method.attrs) {
            *method = expand(&attribute, method);
        }
        visit_mut::visit_impl_item_fn_mut(self, method);
    }
}

/// `#[ckpt::main(..)]` or `#[ckpt::instrument(..)]`.
fn take_attribute(attributes: &mut Vec<Attribute>) -> Option<Meta> {
    let is_ours = |one: &Attribute| one.path().segments.len() == 2 && one.path().segments[0].ident == "ckpt";
    let index = attributes.iter().position(is_ours)?;
    Some(attributes.remove(index).meta)
}

fn expand<F: ToTokens + syn::parse::Parse>(attribute: &Meta, function: &F) -> F {
    let arguments = match attribute {
        Meta::List(list) => list.tokens.clone(),
        _ => Default::default(),
    };
    let opens_session = attribute
        .path()
        .segments
        .last()
        .is_some_and(|last| last.ident == "main");
    let tokens = try_expand(arguments, &function.to_token_stream(), opens_session);
    let tokens = tokens.unwrap_or_else(|errors| {
        let messages: Vec<String> = errors.iter().map(|one| one.message()).collect();
        panic!("{}", messages.join("\n"))
    });
    syn::parse2(tokens).expect("an expansion is a function")
}
