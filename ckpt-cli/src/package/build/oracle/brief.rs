//! What rustc says of a program whose sites are its own, as people read it. Of a type that no checkpoint can hold rustc says
//! the same in fifty lines each time: all notes, of which one fits, and what other types there are. Here it is the place, and
//! what to write.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel};
use ckpt_analysis::{FindingKind as Kind, Said};
use ckpt_compiler::Code;

use super::{CopyRange, Finding, rustc::Saying};
use crate::package::copy::features::is_known;

/// Messages of rustc on their way to people.
pub struct Brief {
    folder: PathBuf,
    /// What was said in short.
    codes: BTreeSet<String>,
    /// What was said to write, each with the type that it was for.
    advised: BTreeMap<String, String>,
}

/// Whose type it is that lacks `Checkpoint`, as far as that decides what to write.
#[derive(Debug, PartialEq, Eq)]
enum Whose<'t> {
    /// Of the program: where it is defined.
    Own(&'t CopyRange),
    /// An object of a trait.
    Object,
    /// A closure.
    Closure,
    /// A pointer to a function.
    Function,
    Reference,
    /// Of std: what a checkpoint can hold of it has `Checkpoint`.
    Std,
    /// Of a crate that ckpt has a feature for.
    Known(&'t str),
    /// Of another crate.
    Foreign(&'t str),
    /// Of std or another crate: rustc says a name without its path where there is one of that name.
    Elsewhere,
    /// A type parameter, a tuple.
    Other,
}

impl<'t> Whose<'t> {
    fn of(finding: &'t Finding) -> Self {
        let ty = finding.type_name.trim_start_matches('(');
        let root = ty.split_once("::").map_or("", |(root, _)| root);
        let is_name = !root.is_empty() && root.chars().all(|one| one.is_alphanumeric() || one == '_');
        match (&finding.definition, root) {
            (Some(definition), _) => Whose::Own(definition),
            _ if ty.starts_with("dyn Fn") || ty.starts_with("{closure") => Whose::Closure,
            _ if ty.starts_with("dyn ") => Whose::Object,
            _ if ty.starts_with("fn(") || ty.starts_with("for<") => Whose::Function,
            _ if ty.starts_with('&') => Whose::Reference,
            (None, "std" | "core" | "alloc") => Whose::Std,
            (None, root) if is_name && is_known(root) => Whose::Known(root),
            (None, root) if is_name => Whose::Foreign(root),
            _ if is_named_alone(ty) => Whose::Elsewhere,
            _ => Whose::Other,
        }
    }

    /// What to write.
    fn advice(&self, folder: &Path) -> String {
        match self {
            Whose::Own(at) => format!(
                "`#[derive(ckpt::Checkpoint)]` on the type, {}",
                at.file.strip_prefix(folder).unwrap_or(&at.file).display()
            ),
            Whose::Object => "the types behind it on the trait: `#[ckpt::object(TypeA, TypeB)]`".into(),
            Whose::Closure => "closures cannot be saved: an enum of the rules, or a trait with `#[ckpt::object(..)]`".into(),
            Whose::Function => "pointers to functions of many references cannot be saved: fewer parameters, or an enum".into(),
            Whose::Reference => "references are made again from what they borrow: borrow from a variable that is saved".into(),
            Whose::Std => "it belongs to this process: `#[ckpt(reexecute)]` on its `let` makes it again at a restart, or make it where it is used, so that no site is in between".into(),
            Whose::Known(root) => format!(
                "ckpt's feature for `{root}`, in Cargo.toml: `cargo ckpt help libraries` has its name"
            ),
            Whose::Foreign(root) => format!(
                "if `{root}` has serde for it, `#[ckpt(serde)]` on its `let` or field (ckpt's feature `serde`); if making it again gives the same, `#[ckpt(reexecute)]` on its `let`; `#[ckpt(skip)]` leaves a field out"
            ),
            Whose::Elsewhere => "if making it again gives the same, `#[ckpt(reexecute)]` on its `let`; if its crate has serde for it, `#[ckpt(serde)]` on its `let` or field; `#[ckpt(skip)]` leaves a field out".into(),
            Whose::Other => "derive `ckpt::Checkpoint` for what it is made of; `#[ckpt(reexecute)]` on its `let` if making it again gives the same".into(),
        }
    }
}

/// `TcpStream`, `Pool<u8>`: a name of several letters with a capital in front, as type parameters seldom have.
fn is_named_alone(ty: &str) -> bool {
    let name: String = ty
        .chars()
        .take_while(|one| one.is_alphanumeric() || *one == '_')
        .collect();
    name.len() > 1 && name.starts_with(char::is_uppercase)
}

impl Brief {
    /// Those of a build in a folder.
    pub fn of(folder: &Path) -> Self {
        Brief {
            folder: folder.to_path_buf(),
            codes: BTreeSet::new(),
            advised: BTreeMap::new(),
        }
    }

    /// What is shown of a message; nothing of those that say that others were said.
    pub fn text(&mut self, diagnostic: &Diagnostic) -> Option<String> {
        let is_end =
            diagnostic.level == DiagnosticLevel::FailureNote || Saying::EndOfErrors.is_in(diagnostic);
        if is_end {
            return None;
        }
        let as_it_is = || diagnostic.rendered.clone();
        let finding = Finding::of(diagnostic, &self.folder)
            .filter(|finding| matches!(finding.kind, Kind::NotCheckpoint));
        let Some((finding, code, what)) = finding.as_ref().and_then(|finding| match &finding.said {
            Said::Ckpt { code, what, .. } => Some((finding, Code(*code).to_string(), what)),
            Said::Rustc { .. } => None,
        }) else {
            return as_it_is();
        };
        let Some(span) = diagnostic.spans.iter().find(|span| span.is_primary) else {
            return as_it_is();
        };
        let error = AnsiColor::BrightRed.on_default().bold();
        let bold = Style::new().bold();
        let words = what.strip_prefix(&format!("{code}: ")).unwrap_or(what);
        let mut text = format!(
            "{error}error[{code}]{error:#}{bold}: {words}{bold:#}\n --> {}:{}:{}\n",
            span.file_name, span.line_start, span.column_start
        );
        let number = span.line_start.to_string();
        let blank = " ".repeat(number.len());
        if let Some(line) = span.text.first() {
            let before: String = line
                .text
                .chars()
                .take(line.highlight_start.saturating_sub(1))
                .collect();
            let before: String = before
                .chars()
                .map(|one| if one == '\t' { '\t' } else { ' ' })
                .collect();
            let marks = "^".repeat(line.highlight_end.saturating_sub(line.highlight_start).max(1));
            text += &format!(
                "{blank} |\n{number} | {}\n{blank} | {before}{error}{marks}{error:#}\n",
                line.text.trim_end()
            );
        }
        let advice = Whose::of(finding).advice(&self.folder);
        text += &match self.advised.get(&advice) {
            Some(before) => format!("  instead: as of `{before}`\n\n"),
            None => format!("  instead: {advice}\n\n"),
        };
        self.advised
            .entry(advice)
            .or_insert_with(|| finding.type_name.clone());
        self.codes.insert(code);
        Some(text)
    }

    /// Where there is more to read of what was said in short; nothing where nothing was.
    pub fn more(&self) -> Option<String> {
        let codes: Vec<&str> = self.codes.iter().map(String::as_str).collect();
        (!codes.is_empty()).then(|| format!("more: cargo ckpt explain {}\n", codes.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rustc::reports_on;
    use super::*;

    const TRAIT: &str = "#[diagnostic::on_unimplemented(message = \"E1213: `{Self}` cannot be saved in a checkpoint\", note = \"one\", note = \"two\")]
        pub trait Checkpoint {} impl Checkpoint for u8 {} pub fn save<T: Checkpoint + ?Sized>(_: &T) {} pub trait Rule {}\n";

    fn said(lines: &str) -> Vec<String> {
        let mut brief = Brief::of(Path::new("/nowhere"));
        let said = reports_on(&format!("{TRAIT}{lines}"));
        let said: Vec<String> = said.iter().filter_map(|one| brief.text(one)).collect();
        said.iter()
            .map(|text| anstream::adapter::strip_str(text).to_string())
            .collect()
    }

    #[test]
    fn a_type_that_cannot_be_saved_is_said_in_a_few_lines() {
        let said = said("pub fn f(sender: std::sync::mpsc::Sender<u8>) { save(&sender) }");
        let expected = "error[E1213]: `std::sync::mpsc::Sender<u8>` cannot be saved in a checkpoint\n --> <anon>:3:54\n  |\n\
            3 | pub fn f(sender: std::sync::mpsc::Sender<u8>) { save(&sender) }\n  |                                                      ^^^^^^^\n  \
            instead: it belongs to this process: ";
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with(expected), "{}", said[0]);
    }

    #[test]
    fn the_advice_is_for_the_type() {
        let advice = |lines: &str| said(lines).concat();
        assert!(advice("pub fn f(rule: &dyn Rule) { save(rule) }").contains("#[ckpt::object(TypeA, TypeB)]"));
        assert!(advice("pub fn f(rule: &dyn Fn()) { save(rule) }").contains("closures"));
        assert!(
            advice("pub fn f(to: &std::net::TcpStream) { save(to) }")
                .contains("`#[ckpt(reexecute)]` on its `let`")
        );
        assert!(advice("pub fn f(text: &&str) { save(text) }").contains("references"));
    }

    #[test]
    fn what_was_said_is_not_said_again() {
        let said = said(
            "pub fn f(a: std::sync::mpsc::Sender<u8>, b: std::sync::mpsc::Sender<i8>) { save(&a); save(&b) }",
        );
        assert!(
            said[1].ends_with("instead: as of `std::sync::mpsc::Sender<u8>`\n\n"),
            "{said:?}"
        );
    }

    #[test]
    fn all_else_is_shown_as_rustc_has_it() {
        assert!(said("pub fn f() -> u8 { missing }").concat().contains("E0425"));
        assert!(said("pub fn f() -> u8 { missing }").len() == 1);
    }
}
