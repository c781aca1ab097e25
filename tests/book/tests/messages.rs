//! Every error and refusal that ckpt can print has a code, an entry in `ckpt-cli/messages.toml` and a place in the book.

mod source;

use source::{Named, refusals_of, sources, unimplemented_says};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprCall, ExprMethodCall, Local};

#[derive(Deserialize)]
struct Messages {
    group: Vec<Group>,
    message: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
struct Group {
    first: String,
    title: String,
    place: String,
}

#[derive(Deserialize)]
struct Entry {
    says: String,
    shown: Option<String>,
    cause: String,
    next: String,
    example: Option<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn messages() -> Messages {
    let text = fs::read_to_string(root().join("ckpt-cli/messages.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// Collects the words of all messages of a file.
#[derive(Default)]
struct Words {
    /// Constants as well.
    named: Named,
    found: Vec<String>,
}

impl Words {
    fn add(&mut self, expr: &Expr) {
        self.found.extend(self.named.says(expr));
    }
}

impl<'ast> Visit<'ast> for Words {
    fn visit_local(&mut self, local: &'ast Local) {
        self.named.add_local(local);
        visit::visit_local(self, local);
    }

    fn visit_item_const(&mut self, constant: &'ast syn::ItemConst) {
        self.named.add(&constant.ident, &constant.expr);
    }

    fn visit_macro(&mut self, table: &'ast syn::Macro) {
        self.found
            .extend(refusals_of(table).into_iter().map(|(says, _)| says));
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.method == "error" && call.args.len() == 1 {
            self.add(&call.args[0]);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let Expr::Path(path) = &*call.func {
            let names = path.path.segments.iter().map(|one| one.ident.to_string());
            let names: Vec<String> = names.collect();
            match *names.iter().map(String::as_str).collect::<Vec<_>>() {
                ["Fatal", "site" | "refused"]
                | [
                    "Failure" | "Self",
                    "no" | "usage" | "no_checkpoint" | "refused" | "store" | "build" | "start" | "no_site",
                ] => self.add(&call.args[0]),
                ["Fatal" | "Self", "new"] | [.., "Error", "new" | "new_spanned"] if call.args.len() > 1 => {
                    self.add(&call.args[1]);
                }
                _ => {}
            }
        }
        visit::visit_expr_call(self, call);
    }

    /// `#[diagnostic::on_unimplemented(message = "..")]` and `#[error("..")]`.
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.found.extend(unimplemented_says(attribute));
        let last = attribute.path().segments.last();
        if last.is_some_and(|last| last.ident == "error") {
            let list = attribute.meta.require_list().unwrap();
            let first = list.tokens.clone().into_iter().next();
            let text = first.and_then(|first| syn::parse2::<syn::LitStr>(first.into()).ok());
            self.found.extend(text.map(|text| text.value()));
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if module.ident != "tests" {
            visit::visit_item_mod(self, module);
        }
    }
}

fn is_test(source: &Path) -> bool {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let in_folder = source.parent().is_some_and(|folder| folder.ends_with("tests"));
    in_folder || ["tests.rs", "testing.rs"].contains(&&*name) || name.ends_with("_tests.rs")
}

/// The code of a message and what it says.
fn code_of(text: &str) -> Option<(&str, &str)> {
    let (code, says) = text.split_once(": ")?;
    let digits = code.strip_prefix('E')?;
    (digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some((code, says))
}

/// Parts of other messages, which have the code.
const PARTS: [&str; 2] = ["{place}: {what}", "{}{problem}"];
/// Files whose errors are reasons in the messages of others.
const REASONS: [&str; 10] = [
    "library/read.rs",
    "read/cfg.rs",
    "values/rows.rs",
    "base/files.rs",
    "storage/fallback.rs",
    "base/noted.rs",
    "base/trust.rs",
    "base/run_id.rs",
    "session/job.rs",
    "storage/run_folder.rs",
];
const CRATES: [&str; 5] = [
    "ckpt-compiler/src",
    "ckpt-safepoints/src",
    "ckpt-analysis/src",
    "ckpt-runtime/src",
    "ckpt-cli/src",
];

#[test]
fn every_message_has_a_code_and_every_code_an_entry() {
    let messages = messages();
    let (mut without, mut unknown, mut other) = (Vec::new(), Vec::new(), Vec::new());
    let mut used = BTreeSet::new();
    let all = CRATES.iter().flat_map(|folder| sources(&root().join(folder)));
    for source in all.filter(|source| !is_test(source)) {
        let text = fs::read_to_string(&source).unwrap();
        let mut words = Words::default();
        words.visit_file(&syn::parse_file(&text).unwrap());
        for said in words.found {
            match code_of(&said) {
                None if said.contains("bug in ckpt") || PARTS.contains(&said.as_str()) => {}
                None if REASONS.iter().any(|file| source.ends_with(file)) => {}
                None => without.push(format!("{}: {said}", source.display())),
                Some((code, says)) => match messages.message.get(code) {
                    None => unknown.push(format!("{}: {said}", source.display())),
                    Some(entry) if !says_the_same(says, &entry.says) => {
                        other.push(format!("{code}: `{says}`, in the entry `{}`", entry.says));
                    }
                    Some(_) => {}
                },
            }
        }
        let mut rest = text.as_str();
        while let Some(at) = rest.find("\"E") {
            rest = &rest[at + 1..];
            used.extend(rest.get(..6).and_then(code_and_colon));
        }
        without.extend(bare_warnings(&text).map(|said| format!("{}: {said}", source.display())));
        for (code, says) in warnings(&text) {
            match messages.message.get(code) {
                None => unknown.push(format!("{}: {says}", source.display())),
                Some(entry) if !says.starts_with(&entry.says) => {
                    other.push(format!("{code}: `{says}`, in the entry `{}`", entry.says));
                }
                Some(_) => {}
            }
            used.insert(code.to_owned());
        }
    }
    assert!(used.len() > 200, "the search for messages finds {}", used.len());
    assert!(
        without.is_empty(),
        "these have no code: take the next of its group, write it in front (\"E1012: ..\"), and add an entry to \
         ckpt-cli/messages.toml:\n{}",
        without.join("\n")
    );
    assert!(
        unknown.is_empty(),
        "not in ckpt-cli/messages.toml:\n{}",
        unknown.join("\n")
    );
    assert!(
        other.is_empty(),
        "ckpt-cli/messages.toml says something else:\n{}",
        other.join("\n")
    );
    let unused: Vec<&String> = messages
        .message
        .keys()
        .filter(|code| !used.contains(*code))
        .collect();
    assert!(unused.is_empty(), "no source has these codes: {unused:?}");
}

/// `warning[W2001]: ..` in a literal, with what follows in it.
fn warnings(source: &str) -> impl Iterator<Item = (&str, &str)> {
    let found = source.split("warning[").skip(1);
    found.filter_map(|rest| rest.split_once("]: ").filter(|(code, _)| code.len() == 5))
}

/// Warnings without a code, at the beginning of a literal or behind what stands before all messages.
fn bare_warnings(source: &str) -> impl Iterator<Item = &str> {
    let found = ["\"warning: ", "\"ckpt: warning: ", "\"  warning: "];
    found
        .into_iter()
        .flat_map(|start| source.split(start).skip(1))
        .filter_map(|rest| rest.lines().next())
}

fn code_and_colon(text: &str) -> Option<String> {
    let code = text.strip_suffix(':')?;
    let digits = code.strip_prefix(['E', 'W'])?;
    digits
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| code.to_owned())
}

/// Whether two texts are equal but for the names of constants, which the entry writes out.
fn says_the_same(source: &str, entry: &str) -> bool {
    let is_constant =
        |name: &str| name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
    let mut rest = entry;
    for (index, part) in source.split(['{', '}']).enumerate() {
        if index % 2 == 1 && is_constant(part) {
            continue;
        }
        let part = if index % 2 == 1 {
            format!("{{{part}}}")
        } else {
            part.to_owned()
        };
        // What a source calls by a name may have none in the entry.
        let unnamed = (index % 2 == 1).then(|| rest.find("{}")).flatten();
        match rest
            .find(&part)
            .map(|at| at + part.len())
            .or(unnamed.map(|at| at + 2))
        {
            Some(behind) => rest = &rest[behind..],
            None => return false,
        }
    }
    rest.is_empty() || source.ends_with('}')
}

#[test]
fn entries_are_complete() {
    let messages = messages();
    for (code, entry) in &messages.message {
        let has_all = [&entry.says, &entry.cause, &entry.next]
            .iter()
            .all(|text| !text.trim().is_empty());
        assert!(has_all, "{code} lacks its cause or the next step");
        assert!(messages.group.iter().any(|group| &group.first <= code), "{code}");
    }
}

/// `CKPT_BLESS=1 cargo test -p book` writes the page anew.
#[test]
fn the_page_on_messages_is_that_of_the_entries() {
    let page = root().join("docs/src/messages.md");
    let text = page_of(&messages());
    if std::env::var_os("CKPT_BLESS").is_some() {
        fs::write(&page, &text).unwrap();
    }
    let found = fs::read_to_string(&page).unwrap_or_default();
    assert!(
        found == text,
        "docs/src/messages.md is not that of ckpt-cli/messages.toml: CKPT_BLESS=1 cargo test -p book"
    );
}

const HEAD: &str = "# Messages\n\n\
    Errors, refusals and warnings have a code in front, which stays the same when their words change. `cargo ckpt explain E1012` prints the entry of this page. \
    Names, places and numbers in the words are those of an example. A wrong command line (exit code 2) has no code where its message and `--help` say all there is to say. Exit codes are on [their own page](exit-codes.md); what a restart cannot do, and why, on the page about [limits](limits.md).\n";

fn page_of(messages: &Messages) -> String {
    let mut text = HEAD.to_owned();
    for (index, group) in messages.group.iter().enumerate() {
        text += &format!("\n## {}\n\nPlace: {}.\n", group.title, group.place);
        let after = messages
            .group
            .get(index + 1)
            .map_or("X", |next| next.first.as_str());
        let of_group = messages.message.range(group.first.clone()..after.to_owned());
        for (code, entry) in of_group {
            text += &format!(
                "\n### {code}\n\n```text\n{}\n```\n\n- Cause: {}.\n- Next: {}.\n",
                entry.shown.as_ref().unwrap_or(&entry.says),
                plain(&entry.cause),
                plain(&entry.next)
            );
            if let Some(example) = &entry.example {
                text += &format!("\nExample:\n\n```text\n{}\n```\n", example.trim_end());
            }
        }
    }
    text
}

/// Outside of code, `<` and `[` would be markup.
fn plain(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts: Vec<String> = parts
        .map(|(index, part)| match index % 2 {
            0 => part.replace('<', "&lt;").replace('[', "\\[").replace('*', "\\*"),
            _ => part.to_owned(),
        })
        .collect();
    parts.join("`")
}
