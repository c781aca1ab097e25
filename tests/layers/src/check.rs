//! The imports held against the picture.

use crate::imports::{Sources, named_behind};
use crate::picture::{Layers, Picture};
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::fs;
use std::path::Path;

/// Everything in which the crates of a folder are not what the picture in it shows, each with the line that it is about.
///
/// # Errors
/// Files that cannot be read.
pub fn differences(root: &Path) -> Result<Vec<String>> {
    let page = root.join("ARCHITECTURE.md");
    let page = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    let picture = Picture::read(&page)?;
    let crates = picture
        .layers
        .get("crates")
        .context("ARCHITECTURE.md draws no layers of the `crates`")?;
    let mut wrong = Vec::new();
    dependencies(root, crates, &mut wrong)?;
    for krate in crates.modules() {
        let sources = Sources::read(root, krate)?;
        match picture.layers.get(krate) {
            Some(layers) => imports(&sources, layers, &mut wrong),
            None if sources.modules.is_empty() => {}
            None => wrong.push(format!("ARCHITECTURE.md draws no layers of {krate}")),
        }
        words(&sources, &picture, &mut wrong);
    }
    for (krate, others) in &picture.roots {
        let sources = Sources::read(root, krate)?;
        for other in others {
            roots(&sources, &Sources::read(root, other)?, other, &mut wrong);
        }
    }
    Ok(wrong)
}

/// The dependencies of crates on each other, as their manifests have them.
fn dependencies(root: &Path, layers: &Layers, wrong: &mut Vec<String>) -> Result<()> {
    for krate in layers.modules() {
        let path = root.join(krate).join("Cargo.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: toml::Table = text.parse()?;
        let named = manifest.get("dependencies").and_then(toml::Value::as_table);
        for name in named.into_iter().flat_map(|table| table.keys()) {
            // The runtime's library is called `ckpt`.
            let name = if name == "ckpt" { "ckpt-runtime" } else { name };
            if layers.of(name).is_some() && layers.of(name) <= layers.of(krate) {
                wrong.push(format!(
                    "{krate}/Cargo.toml: {krate} depends on {name}, which is not below it"
                ));
            }
        }
    }
    Ok(())
}

fn imports(sources: &Sources, layers: &Layers, wrong: &mut Vec<String>) {
    let krate = &layers.name;
    for module in &sources.modules {
        if layers.of(module).is_none() {
            wrong.push(format!(
                "{krate}/src: `{module}` is in no layer of ARCHITECTURE.md"
            ));
        }
    }
    for module in layers.modules() {
        if !sources.modules.contains(module) {
            wrong.push(format!("ARCHITECTURE.md: there is no `{module}` in {krate}/src"));
        }
    }
    for one in &sources.imports {
        if let (Some(from), Some(to)) = (layers.of(&one.from), layers.of(&one.to)) {
            let how = match to {
                to if to > from => continue,
                to if to == from => "beside",
                _ => "above",
            };
            wrong.push(format!(
                "{}:{}: `{}` knows `{}`, which is {how} it",
                one.file.display(),
                one.line,
                one.from,
                one.to
            ));
        }
    }
}

/// Words that may stand in some folders only.
fn words(sources: &Sources, picture: &Picture, wrong: &mut Vec<String>) {
    for (word, folders) in &picture.only {
        let path: Vec<&str> = word.split("::").collect();
        for (file, tokens) in &sources.files {
            let module = file.with_extension("");
            if folders.iter().any(|folder| module.starts_with(folder)) {
                continue;
            }
            if let Some(line) = first_line(tokens.clone(), &path) {
                wrong.push(format!(
                    "{}:{line}: `{word}` stands outside of {}",
                    file.display(),
                    folders.join(", ")
                ));
            }
        }
    }
}

/// Modules of another crate that a crate names, where it has to know the root only.
fn roots(sources: &Sources, other: &Sources, name: &str, wrong: &mut Vec<String>) {
    let name = name.replace('-', "_");
    for (file, tokens) in &sources.files {
        for one in named_behind(tokens.clone(), &name) {
            let is_module =
                other.modules.contains(&one.name) && (one.leads_on || !other.passes_on(&one.name));
            if is_module {
                wrong.push(format!(
                    "{}:{}: `{name}::{}` is a module, and only the root of the crate may be named here",
                    file.display(),
                    one.line,
                    one.name
                ));
            }
        }
    }
}

/// The line of the first place with these names, with `::` between them.
fn first_line(tokens: TokenStream, path: &[&str]) -> Option<usize> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let is_name =
        |at: usize, name: &str| matches!(tokens.get(at), Some(TokenTree::Ident(one)) if one == name);
    (0..tokens.len()).find_map(|at| {
        if let TokenTree::Group(group) = &tokens[at] {
            return first_line(group.stream(), path);
        }
        let all = path.iter().enumerate().all(|(k, name)| is_name(at + 3 * k, name));
        // A lifetime is no word.
        let is_lifetime =
            at > 0 && matches!(&tokens[at - 1], TokenTree::Punct(before) if before.as_char() == '\'');
        (all && !is_lifetime).then(|| tokens[at].span().start().line)
    })
}
