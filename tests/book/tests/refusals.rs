//! The page on limits names every refusal of the compiler, every message that rustc shows for a trait of ckpt, and every
//! ending of the runtime.

use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, ExprLit, ExprMacro, ExprMethodCall, Lit, Local, Pat};

/// Collects what `refuse(..)`, `Fatal::site(..)` and `Fatal::refused(..)` say.
#[derive(Default)]
struct Headlines {
    /// `let what = ..` in the function being read.
    named: Vec<(String, String)>,
    found: Vec<String>,
}

impl Headlines {
    fn add(&mut self, expr: &Expr) {
        let text = match expr {
            Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string);
                let of_name = |(key, _): &&(String, String)| Some(key) == name.as_ref();
                self.named.iter().rfind(of_name).map(|(_, text)| text.clone())
            }
            other => text_of(other),
        };
        self.found.extend(text);
    }
}

impl<'ast> Visit<'ast> for Headlines {
    fn visit_local(&mut self, local: &'ast Local) {
        if let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) {
            let text = text_of(&init.expr);
            self.named.extend(text.map(|text| (name.ident.to_string(), text)));
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.method == "refuse" && call.args.len() == 4 {
            self.add(&call.args[1]);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let names: Vec<String> = path
                .path
                .segments
                .iter()
                .map(|one| one.ident.to_string())
                .collect();
            if let ["Fatal", "site" | "refused"] = *names.iter().map(String::as_str).collect::<Vec<_>>() {
                self.add(&call.args[0]);
            }
        }
        visit::visit_expr_call(self, call);
    }

    /// `#[diagnostic::on_unimplemented(message = "..")]`.
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        for attribute in &item.attrs {
            if attribute
                .path()
                .segments
                .last()
                .is_some_and(|last| last.ident == "on_unimplemented")
            {
                let message = attribute.parse_nested_meta(|meta| {
                    let text: syn::LitStr = meta.value()?.parse()?;
                    if meta.path.is_ident("message") {
                        self.found.push(text.value());
                    }
                    Ok(())
                });
                message.unwrap();
            }
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }
}

/// A literal, or the format string of a `format!`.
fn text_of(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text), ..
        }) => Some(text.value()),
        Expr::Macro(ExprMacro { mac, .. }) if mac.path.is_ident("format") => {
            let first = mac.tokens.clone().into_iter().next()?;
            syn::parse2::<syn::LitStr>(first.into())
                .ok()
                .map(|text| text.value())
        }
        _ => None,
    }
}

fn sources(folder: &Path) -> Vec<PathBuf> {
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

/// The parts of a format string between its placeholders.
fn fragments(format: &str) -> Vec<String> {
    let mut parts = format.split('{');
    let mut fragments = vec![parts.next().unwrap_or_default().to_owned()];
    fragments.extend(parts.map(|part| part.split_once('}').map_or("", |(_, after)| after).to_owned()));
    fragments
        .iter()
        .map(|part| part.replace('`', "").trim().to_owned())
        .collect()
}

fn says(line: &str, fragments: &[String]) -> bool {
    let line = line.replace('`', "");
    let mut rest = line.as_str();
    fragments
        .iter()
        .all(|fragment| match rest.find(fragment.as_str()) {
            Some(at) => {
                rest = &rest[at + fragment.len()..];
                true
            }
            None => false,
        })
}

#[test]
fn the_page_on_limits_names_every_refusal() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/src/limits.md")).unwrap();
    let mut headlines = Headlines::default();
    for folder in ["ckpt-compiler/src", "ckpt-runtime/src"] {
        for source in sources(&root.join(folder)) {
            let file = syn::parse_file(&fs::read_to_string(&source).unwrap()).unwrap();
            headlines.visit_file(&file);
        }
    }
    assert!(
        headlines.found.len() > 20,
        "the search for refusals finds nothing"
    );
    let missing: Vec<&str> = headlines
        .found
        .iter()
        .filter(|headline| !headline.contains("bug in ckpt"))
        // The code in front has a page of its own.
        .map(|headline| {
            headline
                .split_once(": ")
                .filter(|(code, _)| code.len() == 5)
                .map_or(headline.as_str(), |(_, says)| says)
        })
        .filter(|headline| !page.lines().any(|line| says(line, &fragments(headline))))
        .collect();
    assert!(missing.is_empty(), "not in docs/src/limits.md: {missing:#?}");
}
