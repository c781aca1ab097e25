//! The names of libraries that stand in tables, and the places of sources where one stands as a text.

use crate::sources::Sources;
use anyhow::{Context, Result};
use proc_macro2::{TokenStream, TokenTree};
use std::collections::BTreeSet;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use toml::Value;

/// A name of a library in the sources.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Word {
    /// The file, from the folder of all crates.
    pub file: PathBuf,
    /// The line in it.
    pub line: usize,
    /// The name.
    pub name: String,
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, name } = self;
        write!(f, "{}:{line}: \"{name}\" stands in a table", file.display())
    }
}

/// The names in the tables of some crates.
///
/// # Errors
/// Tables that cannot be read.
pub fn names_in_tables(crates: &Path, of: &[&str]) -> Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    for krate in of {
        let folder = crates.join(krate).join("tables");
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
            let path = entry?.path();
            let text = fs::read_to_string(&path)?;
            let table: Value = toml::from_str(&text).with_context(|| path.display().to_string())?;
            collect(&table, &[], &mut names);
        }
    }
    Ok(names)
}

/// Names stand in lists, and as keys: in sections that give each a number (`[cost]`), and in those of `calls`, which tell of
/// each what it is given. Lists that have the name of a section are of its keys.
fn collect(value: &Value, sections: &[&str], names: &mut BTreeSet<String>) {
    match value {
        Value::Table(table) => {
            for (key, one) in table {
                let is_number = one.is_integer() || one.is_float();
                if matches!(sections, ["calls", _]) || matches!(sections, [_]) && is_number {
                    names.extend(parts(key));
                }
                if !(one.is_array() && matches!(key.as_str(), "adaptors" | "iterators")) {
                    collect(one, &[sections, &[key]].concat(), names);
                }
            }
        }
        Value::Array(list) => {
            for one in list {
                match one.as_str() {
                    Some(name) => names.extend(parts(name)),
                    None => collect(one, sections, names),
                }
            }
        }
        _ => {}
    }
}

/// The name of a method, or type and name of a function; `*_mut` is asked for as `_mut`, `len/0` is `len`.
fn parts(name: &str) -> impl Iterator<Item = String> {
    let name = name.split('/').next().unwrap_or_default();
    let segments = name
        .rsplit("::")
        .take(2)
        .map(|one| one.trim_matches('*').to_owned());
    segments
        .filter(|one| !one.is_empty())
        .collect::<Vec<_>>()
        .into_iter()
}

/// Where these names stand as texts in the sources of a crate, tests and comments aside.
///
/// # Errors
/// Sources that cannot be read.
pub fn words(crates: &Path, krate: &str, names: &BTreeSet<String>) -> Result<BTreeSet<Word>> {
    let mut found = BTreeSet::new();
    for file in Sources::read(crates, krate)?.files {
        each_text(file.tokens, &mut |text, line| {
            let mut parts: Vec<&str> = text.split(['/', ',', '|']).map(str::trim).collect();
            // Of several names in one text, all have to be names: `a/b.rs` is a file, `x, y` a list.
            if !parts.iter().all(|part| names.contains(*part)) {
                parts.clear();
            }
            found.extend(parts.into_iter().map(|name| Word {
                file: file.path.clone(),
                line,
                name: name.to_owned(),
            }));
        });
    }
    Ok(found)
}

/// Texts, of bytes as well, and those that `concat!`, `stringify!` and `quote!(..).to_string()` make.
fn each_text(tokens: TokenStream, found: &mut impl FnMut(&str, usize)) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut of_comment = false;
    let is = |at: Option<usize>, sign: char| {
        let token = at.and_then(|at| tokens.get(at));
        matches!(token, Some(TokenTree::Punct(one)) if one.as_char() == sign)
    };
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(group) => {
                let of = at.checked_sub(2).and_then(|at| tokens.get(at));
                if let Some(TokenTree::Ident(name)) = of
                    && is(at.checked_sub(1), '!')
                {
                    let given = group.stream();
                    let becomes = || match tokens.get(at + 2) {
                        Some(TokenTree::Ident(method)) => is(Some(at + 1), '.') && method == "to_string",
                        _ => false,
                    };
                    let made = match &*name.to_string() {
                        "concat" => Some(given.into_iter().filter_map(text_of).collect()),
                        "stringify" => Some(given.to_string()),
                        "quote" if becomes() => Some(given.to_string()),
                        _ => None,
                    };
                    if let Some(made) = made {
                        found(&made, name.span().start().line);
                    }
                }
                each_text(group.stream(), found);
            }
            TokenTree::Literal(literal) if !of_comment => {
                if let Some(text) = text_of(token.clone()) {
                    found(&text, literal.span().start().line);
                }
            }
            TokenTree::Ident(word) => of_comment = word == "doc",
            _ => {}
        }
    }
}

fn text_of(token: TokenTree) -> Option<String> {
    match syn::parse2::<syn::Lit>(token.into()).ok()? {
        syn::Lit::Str(text) => Some(text.value()),
        syn::Lit::ByteStr(text) => String::from_utf8(text.value()).ok(),
        _ => None,
    }
}
