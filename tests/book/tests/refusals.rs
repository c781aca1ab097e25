//! The page on limits names every refusal of the compiler, every message that rustc shows for a trait of ckpt, and every
//! ending of the runtime.

mod source;

use source::{Named, refusals_of, sources, unimplemented_says};
use std::fs;
use std::path::Path;
use syn::visit::{self, Visit};
use syn::{Expr, ExprCall, Local};

/// Collects what the table of refusals, `Fatal::site(..)` and `Fatal::refused(..)` say.
#[derive(Default)]
struct Headlines {
    named: Named,
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Headlines {
    fn visit_local(&mut self, local: &'ast Local) {
        self.named.add_local(local);
        visit::visit_local(self, local);
    }

    fn visit_macro(&mut self, table: &'ast syn::Macro) {
        // What is said of attributes alone, and of what is no Rust, has no reason behind it.
        let refused = refusals_of(table)
            .into_iter()
            .filter(|(_, has_reason)| *has_reason);
        self.found.extend(refused.map(|(says, _)| says));
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
                self.found.extend(self.named.says(&call.args[0]));
            }
        }
        visit::visit_expr_call(self, call);
    }

    /// `#[diagnostic::on_unimplemented(message = "..")]`.
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        self.found
            .extend(item.attrs.iter().filter_map(unimplemented_says));
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }
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
    for folder in ["ckpt-compiler/src", "ckpt-analysis/src", "ckpt-runtime/src"] {
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
