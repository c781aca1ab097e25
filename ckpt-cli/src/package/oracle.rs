//! The oracle: what rustc says about the rewritten copy, sorted by what it means for the plan.
//!
//! The compiler of ckpt knows no types. Where a variable cannot be saved, rustc reports it at the variable, with the type
//! and often with the place where the type is defined; this module reads such reports and leaves the rest as it is.

use std::path::{Path, PathBuf};

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};

/// A place in a file of the copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, absolute.
    pub file: PathBuf,
    /// Byte from the start of the file.
    pub start: usize,
    /// The byte behind.
    pub end: usize,
}

/// One error of rustc, and what it says to ckpt.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What it means.
    pub kind: Kind,
    /// The type that it is about, as rustc writes it; empty where it is about none.
    pub type_name: String,
    /// Where the type is defined, if rustc says so and it is in the copy.
    pub definition: Option<Place>,
    /// The places that it points to, the primary ones first.
    pub places: Vec<Place>,
    /// The text for people.
    pub rendered: String,
    /// rustc's first line.
    pub message: String,
}

/// What a finding means for the plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A value of the type cannot be saved.
    NotCheckpoint,
    /// A static of the type cannot be saved.
    NotGlobal,
    /// A type parameter lacks the bound `Checkpoint`.
    MissingBound,
    /// The type does not go through serde.
    NotSerde,
    /// A value that is left out has a destructor.
    Destructor,
    /// A field of the type is lent, and the type cannot be taken apart.
    NotSplit,
    /// A refusal in ckpt's own words.
    Refusal,
    /// Anything else.
    Other,
}

impl Finding {
    /// Reads one message of rustc; nothing where it is not an error.
    pub fn of(diagnostic: &Diagnostic, folder: &Path) -> Option<Self> {
        let is_error = matches!(diagnostic.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
        // "aborting due to 3 previous errors" points nowhere and says nothing new.
        if !is_error || diagnostic.message.starts_with("aborting due to") {
            return None;
        }
        let (kind, type_name) = meaning(diagnostic);
        let mut spans: Vec<&DiagnosticSpan> = diagnostic.spans.iter().collect();
        spans.sort_by_key(|span| !span.is_primary);
        let definition = diagnostic
            .children
            .iter()
            .filter(|child| child.message.contains("is not implemented for"))
            .flat_map(|child| &child.spans)
            .find_map(|span| place(span, folder));
        Some(Self {
            kind,
            type_name,
            definition,
            places: spans.into_iter().filter_map(|span| place(span, folder)).collect(),
            rendered: diagnostic.rendered.clone().unwrap_or_default(),
            message: diagnostic.message.clone(),
        })
    }
}

fn meaning(diagnostic: &Diagnostic) -> (Kind, String) {
    let message = diagnostic.message.as_str();
    let quoted = || between(message, "`", "`").unwrap_or_default().to_owned();
    if message.starts_with("ckpt: ") {
        return (Kind::Refusal, String::new());
    }
    if message.ends_with("cannot be saved in a checkpoint") {
        let name = quoted();
        let is_parameter = diagnostic.children.iter().any(|child| {
            child.message.contains("restricting type parameter")
                && child.message.contains(&format!("`{name}`"))
        });
        let kind = if is_parameter {
            Kind::MissingBound
        } else {
            Kind::NotCheckpoint
        };
        return (kind, name);
    }
    if message.ends_with("is not a static that can be put back at a restart") {
        return (Kind::NotGlobal, quoted());
    }
    if message.contains("cannot be saved through serde") {
        return (Kind::NotSerde, quoted());
    }
    if message.contains("needs the feature `serde`") {
        let labels = diagnostic.spans.iter().filter_map(|span| span.label.as_deref());
        let behind = |label| between(label, "is not implemented for `", "`");
        return (
            Kind::NotSerde,
            labels.filter_map(behind).next().unwrap_or_default().to_owned(),
        );
    }
    if message.contains("has a destructor, and a value of it") {
        return (Kind::Destructor, quoted());
    }
    if message.contains("is lent to a call that leads to a site, and")
        && message.contains("cannot be taken apart")
    {
        return (
            Kind::NotSplit,
            between(message, "field of `", "`").unwrap_or_default().to_owned(),
        );
    }
    (Kind::Other, String::new())
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let rest = &text[text.find(start)? + start.len()..];
    Some(&rest[..rest.find(end)?])
}

/// The span in a file of the folder: its own, or the one of the macro call that made it.
fn place(span: &DiagnosticSpan, folder: &Path) -> Option<Place> {
    let mut span = span;
    loop {
        let file = folder.join(&span.file_name);
        if file.starts_with(folder) && !span.file_name.starts_with('<') && file.is_file() {
            return Some(Place {
                file,
                start: span.byte_start as usize,
                end: span.byte_end as usize,
            });
        }
        span = &span.expansion.as_deref()?.span;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn diagnostic(message: &str, children: &[&str]) -> Diagnostic {
        let child = |text: &&str| serde_json::json!({"message": text, "code": null, "level": "help", "spans": [], "children": [], "rendered": null});
        let value = serde_json::json!({
            "message": message, "code": null, "level": "error", "spans": [], "rendered": message,
            "children": children.iter().map(child).collect::<Vec<_>>(),
        });
        serde_json::from_value(value).unwrap()
    }

    fn kind(message: &str, children: &[&str]) -> (Kind, String) {
        let finding = Finding::of(&diagnostic(message, children), Path::new("/nowhere")).unwrap();
        (finding.kind, finding.type_name)
    }

    #[test]
    fn messages_of_the_library_are_understood() {
        let saved = "`grid::Sim<f64>` cannot be saved in a checkpoint";
        assert_eq!(kind(saved, &[]), (Kind::NotCheckpoint, "grid::Sim<f64>".into()));
        let parameter = "consider restricting type parameter `T` with trait `Checkpoint`";
        assert_eq!(
            kind("`T` cannot be saved in a checkpoint", &[parameter]),
            (Kind::MissingBound, "T".into())
        );
        assert_eq!(
            kind("`#[ckpt(serde)]` needs the feature `serde` of ckpt", &[]).0,
            Kind::NotSerde
        );
        assert_eq!(kind("cannot find value `x` in this scope", &[]).0, Kind::Other);
        assert_eq!(kind("ckpt: `f` has no site", &[]).0, Kind::Refusal);
        let part = "a field of `Sim` is lent to a call that leads to a site, and `Sim` cannot be taken apart";
        assert_eq!(kind(part, &[]), (Kind::NotSplit, "Sim".into()));
        let global = "`&LocalKey<RefCell<[Timer; 64]>>` is not a static that can be put back at a restart";
        assert_eq!(
            kind(global, &[]),
            (Kind::NotGlobal, "&LocalKey<RefCell<[Timer; 64]>>".into())
        );
    }

    #[test]
    fn what_is_no_error_is_no_finding() {
        assert!(
            Finding::of(
                &diagnostic("aborting due to 2 previous errors", &[]),
                Path::new("/")
            )
            .is_none()
        );
    }
}
