//! What the tests read from the sources of ckpt: the words of its messages.

use proc_macro2::TokenTree;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Attribute, Expr, ExprLit, ExprMacro, Lit, Local, Pat};

/// The texts that names stand for in the function being read.
#[derive(Default)]
pub struct Named(Vec<(String, String)>);

impl Named {
    /// `name` stands for what an expression says, if it says something.
    pub fn add(&mut self, name: &syn::Ident, expr: &Expr) {
        self.0.extend(text_of(expr).map(|text| (name.to_string(), text)));
    }

    /// `let what = ..`
    pub fn add_local(&mut self, local: &Local) {
        if let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) {
            self.add(&name.ident, &init.expr);
        }
    }

    /// What an expression says, by itself or by a name.
    pub fn says(&self, expr: &Expr) -> Option<String> {
        let Expr::Path(path) = expr else {
            return text_of(expr);
        };
        let name = path.path.get_ident()?.to_string();
        self.0
            .iter()
            .rfind(|(key, _)| *key == name)
            .map(|(_, text)| text.clone())
    }
}

/// A literal, or the format string of a `format!`.
fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Some(text.value()),
        Expr::Macro(ExprMacro { mac, .. })
            if ["format", "headline", "says"]
                .iter()
                .any(|name| mac.path.is_ident(name)) =>
        {
            let first = mac.tokens.clone().into_iter().next()?;
            syn::parse2::<syn::LitStr>(first.into())
                .ok()
                .map(|text| text.value().replace("{{", "{").replace("}}", "}"))
        }
        _ => None,
    }
}

/// The message of `#[diagnostic::on_unimplemented(message = "..")]`.
pub fn unimplemented_says(attribute: &Attribute) -> Option<String> {
    let last = attribute.path().segments.last();
    if last.is_none_or(|last| last.ident != "on_unimplemented") {
        return None;
    }
    let mut found = None;
    let message = attribute.parse_nested_meta(|meta| {
        let text: syn::LitStr = meta.value()?.parse()?;
        if meta.path.is_ident("message") {
            found = Some(text.value());
        }
        Ok(())
    });
    message.unwrap();
    found
}

/// What the entries of a table of refusals say, `Name { .. } says ".." why ".."`, and whether each says why.
pub fn refusals_of(table: &syn::Macro) -> Vec<(String, bool)> {
    if !table.path.is_ident("refusals") {
        return Vec::new();
    }
    let tokens: Vec<TokenTree> = table.tokens.clone().into_iter().collect();
    let is = |at: usize, word: &str| matches!(tokens.get(at), Some(TokenTree::Ident(found)) if found == word);
    let said = |at: usize| syn::parse2::<syn::LitStr>(tokens.get(at)?.clone().into()).ok();
    let entries = (0..tokens.len()).filter(|at| is(*at, "says"));
    entries
        .filter_map(|at| Some((said(at + 1)?.value(), is(at + 2, "why"))))
        .collect()
}

/// All source files below a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}
