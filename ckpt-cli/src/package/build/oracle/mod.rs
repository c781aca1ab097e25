//! The oracle: what rustc says about the rewritten copy, sorted by what it means for the plan.
//!
//! The compiler of ckpt knows no types. Where a variable cannot be saved, rustc reports it at the variable, with the type
//! and often with the place where the type is defined; this module reads such reports and leaves the rest as it is. It goes by
//! rustc's codes and by those of ckpt, with which the messages of its macros and of its traits begin; the few words of rustc
//! that have no code are in a table of their own.

mod brief;
mod rustc;

use std::fmt;
use std::path::{Path, PathBuf};

use cargo_metadata::diagnostic::{Diagnostic, DiagnosticLevel, DiagnosticSpan};
use ckpt_analysis::{Exchanged, FindingKind as Kind, Said, Stream};
use ckpt_compiler::{Code, Relayed};
use rustc::Saying;

pub use brief::Brief;

use crate::messages::Messages;

/// The code of rustc for a bound of a lifetime that does not hold.
const SHORT_BOUND: &str = "E0478";

/// That for a value that is used after it was moved.
const MOVED: &str = "E0382";

/// A part of a file of the copy.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CopyRange {
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
    pub definition: Option<CopyRange>,
    /// The places that it points to, the primary ones first.
    pub places: Vec<CopyRange>,
    /// What std's is exchanged for, as far as it is about that.
    pub is_about: Vec<Exchanged>,
    /// The text for people.
    pub rendered: Prose,
    /// What it says, taken apart.
    pub said: Said,
}

/// Words for people: they are shown, and nothing goes by them.
#[derive(Debug, Clone, Default)]
pub struct Prose(String);

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Finding {
    /// Reads one message of rustc; nothing where it is not an error.
    pub fn of(diagnostic: &Diagnostic, folder: &Path) -> Option<Self> {
        let is_error = matches!(diagnostic.level, DiagnosticLevel::Error | DiagnosticLevel::Ice);
        if !is_error || Saying::EndOfErrors.is_in(diagnostic) {
            return None;
        }
        let (kind, type_name) = meaning(diagnostic);
        let mut spans: Vec<&DiagnosticSpan> = diagnostic.spans.iter().collect();
        spans.sort_by_key(|span| !span.is_primary);
        let definition = Saying::DefinedWithoutTrait
            .found_in(diagnostic)
            .flat_map(|(_, spans)| spans)
            .find_map(|span| place(span, folder));
        Some(Self {
            kind,
            type_name,
            definition,
            places: spans.into_iter().filter_map(|span| place(span, folder)).collect(),
            is_about: [
                (Saying::NamesOutputTrait, Exchanged::Stream(Stream::Output)),
                (Saying::NamesInputTrait, Exchanged::Stream(Stream::Input)),
                (Saying::NamesChannels, Exchanged::Channels),
            ]
            .into_iter()
            .filter(|(saying, _)| saying.is_in(diagnostic))
            .map(|(_, exchanged)| exchanged)
            .collect(),
            rendered: Prose(diagnostic.rendered.clone().unwrap_or_default()),
            said: said(diagnostic),
        })
    }
}

/// What a report says, and who says it.
fn said(report: &Diagnostic) -> Said {
    match Relayed::read(&report.message) {
        Some(one) => {
            // A trait of ckpt has no room for more than what is wrong: the rest stands in the entry of the code.
            let entry = Messages::all().entry(one.code);
            let or_entry = |part: &str, of_entry: Option<&String>| match (part, of_entry) {
                ("", Some(text)) => text.clone(),
                (text, _) => text.to_owned(),
            };
            Said::Ckpt {
                code: one.code.0,
                what: one.what.to_owned(),
                why: or_entry(one.why, entry.map(|entry| &entry.cause)),
                instead: or_entry(one.instead, entry.map(|entry| &entry.next)),
            }
        }
        None => Said::Rustc {
            code: report.code.as_ref().map(|code| code.code.clone()),
            text: report.message.clone(),
        },
    }
}

/// What a report means, and the type that it is about.
fn meaning(report: &Diagnostic) -> (Kind, String) {
    let Some(Relayed {
        code, says: words, ..
    }) = Relayed::read(&report.message)
    else {
        if Saying::WantedBySerde.is_in(report) {
            let mut parts = Saying::LacksTrait
                .names_in(report)
                .chain(Saying::DefinedWithoutTrait.names_in(report));
            let part = parts.next();
            return (Kind::NotSerde, part.unwrap_or_default().to_owned());
        }
        let bound = Saying::BoundOfMethod.names_in(report).next();
        if let Some((name, _)) = bound.and_then(|bound| bound.split_once(": "))
            && Saying::LacksCheckpoint.is_in(report)
        {
            return (Kind::MissingBound, name.to_owned());
        }
        let among = Saying::CheckpointAmongBounds.types_in_lines_behind(Saying::BoundsOfMethod, report);
        // What holds a type has the bound once that type has it.
        if let Some(name) = among.min_by_key(|name| name.len()) {
            return (Kind::MissingBound, name.to_owned());
        }
        let codes = report.code.as_ref().map(|code| code.code.as_str());
        let kind = if codes == Some(MOVED) {
            Kind::Moved
        } else if codes == Some(SHORT_BOUND) || Saying::LifetimeTooShort.is_in(report) {
            Kind::ShortLifetime
        } else {
            Kind::Other
        };
        return (kind, String::new());
    };
    let ty = || {
        let entry = Messages::all().entry(code);
        let ty = entry.and_then(|entry| entry.filled_in("{Self}", words));
        ty.unwrap_or_default().to_owned()
    };
    match code {
        Code(1201) => (Kind::NotSplit, ty()),
        Code(1204) => (Kind::NotGlobal, ty()),
        Code(1207) => (Kind::Destructor, ty()),
        Code(1209) => (Kind::NotFixed, ty()),
        Code(1211) => (Kind::NotCheckpoint, format!("csv::Writer<{}>", ty())),
        Code(1208 | 1213) => {
            let ty = ty();
            let parameters = Saying::ParameterWithoutBound.names_in(report);
            let mut lacking = parameters.chain(Saying::OpaqueWithoutBound.names_in(report));
            match lacking.any(|name| name == ty) {
                true => (Kind::MissingBound, ty),
                false => (Kind::NotCheckpoint, ty),
            }
        }
        Code(1214) => (Kind::NotSerde, ty()),
        // Whatever the type: ckpt is built without serde, and the message does not name it.
        Code(1215) => {
            let ty = Saying::LacksTrait.names_in(report).next();
            (Kind::NotSerde, ty.unwrap_or_default().to_owned())
        }
        Code(..=1199) => (Kind::Refusal, String::new()),
        _ => (Kind::Other, String::new()),
    }
}

/// The span in a file of the folder: its own, or the one of the macro call that made it.
fn place(span: &DiagnosticSpan, folder: &Path) -> Option<CopyRange> {
    let mut span = span;
    loop {
        let file = folder.join(&span.file_name);
        if file.starts_with(folder) && !span.file_name.starts_with('<') && file.is_file() {
            return Some(CopyRange {
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
    use super::rustc::reports_on;
    use super::*;
    use quote::ToTokens;
    use syn::visit::Visit;

    /// The attributes of the runtime's traits that word what rustc says of a type which lacks one.
    fn attributes() -> Vec<syn::Attribute> {
        #[derive(Default)]
        struct Found(Vec<syn::Attribute>);
        impl<'ast> Visit<'ast> for Found {
            fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
                let is_one = |one: &&syn::Attribute| {
                    one.path()
                        .segments
                        .last()
                        .is_some_and(|last| last.ident == "on_unimplemented")
                };
                self.0.extend(item.attrs.iter().filter(is_one).cloned());
            }
        }
        let mut found = Found::default();
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../ckpt-runtime/src")];
        while let Some(folder) = folders.pop() {
            for path in std::fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                match path.extension() {
                    _ if path.is_dir() => folders.push(path),
                    Some(end) if end == "rs" => {
                        found.visit_file(&syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap());
                    }
                    _ => {}
                }
            }
        }
        found.0
    }

    /// What rustc says, with the attribute on a trait, of these lines.
    fn findings(attribute: &str, lines: &str) -> Vec<Finding> {
        let source = format!(
            "{attribute} pub trait Lacks {{}} pub fn save<T: Lacks>(_: T) {{}} pub struct Rule; {lines}"
        );
        let said = reports_on(&source);
        said.iter()
            .filter_map(|one| Finding::of(one, Path::new("/nowhere")))
            .collect()
    }

    #[test]
    fn what_rustc_says_with_the_attributes_of_the_runtime_is_understood() {
        let mut seen = Vec::new();
        for attribute in attributes() {
            let attribute = attribute.to_token_stream().to_string();
            let one = findings(&attribute, "pub fn f() { save(Rule) }").remove(0);
            let generic = findings(&attribute, "pub fn f<T>(value: T) { save(value) }").remove(0);
            let code_of = |one: &Finding| match one.said {
                Said::Ckpt { code, .. } => Code(code),
                Said::Rustc { .. } => panic!("{:?}", one.said),
            };
            assert_eq!(code_of(&generic), code_of(&one));
            let anonymous = findings(&attribute, "pub fn f(value: impl Copy) { save(value) }").remove(0);
            assert_eq!(anonymous.kind, generic.kind);
            let code = code_of(&one).to_string();
            seen.push((code, one.kind, one.type_name, generic.kind));
        }
        seen.sort();
        seen.dedup();
        let one = |code: &str, kind, name: &str, generic| (code.to_owned(), kind, name.to_owned(), generic);
        let named = |code, kind| one(code, kind, "Rule", kind);
        let other = |code| one(code, Kind::Other, "", Kind::Other);
        let expected = [
            named("E1201", Kind::NotSplit),
            other("E1202"),
            other("E1203"),
            named("E1204", Kind::NotGlobal),
            other("E1205"),
            other("E1206"),
            named("E1207", Kind::Destructor),
            one("E1208", Kind::NotCheckpoint, "Rule", Kind::MissingBound),
            named("E1209", Kind::NotFixed),
            other("E1210"),
            one(
                "E1211",
                Kind::NotCheckpoint,
                "csv::Writer<Rule>",
                Kind::NotCheckpoint,
            ),
            other("E1212"),
            one("E1213", Kind::NotCheckpoint, "Rule", Kind::MissingBound),
            named("E1214", Kind::NotSerde),
            one("E1215", Kind::NotSerde, "", Kind::NotSerde),
            other("E1216"),
            other("E1217"),
            other("E1218"),
        ];
        assert_eq!(seen, expected);
    }

    /// What of a type lacks a trait is all that rustc names, where std has the trait for the rest.
    #[test]
    fn what_rustc_says_of_parts_and_of_methods_is_understood() {
        let of = |source: &str| -> Vec<(Kind, String)> {
            let said = reports_on(source);
            let found = said
                .iter()
                .filter_map(|one| Finding::of(one, Path::new("/nowhere")));
            found.map(|one| (one.kind, one.type_name)).collect()
        };
        let serde = "pub trait Serialize {} impl<T: Serialize> Serialize for Option<T> {}
            pub trait SavedBySerde: Serialize {} impl<T: Serialize> SavedBySerde for T {} fn save(_: impl SavedBySerde) {}
            pub struct Rule; pub fn f() { save(Some(Rule)) }";
        assert_eq!(of(serde), [(Kind::NotSerde, "Rule".to_owned())]);
        let method = |bound: &str| {
            of(&format!(
                "pub trait {bound} {{}} pub struct Rule<T>(T); impl<T: {bound}> Rule<T> {{ fn apply(&self) {{}} }}
                 pub trait Go {{ fn go(&self); }} impl<T> Go for Rule<T> {{ fn go(&self) {{ self.apply() }} }}"
            ))
        };
        assert_eq!(method("Checkpoint"), [(Kind::MissingBound, "T".to_owned())]);
        // Several at once have a note of another form; another round asks for the next.
        let several = |calls: &str| {
            of(&format!(
                "pub mod ckpt {{ pub trait Checkpoint {{}} impl<T: Checkpoint> Checkpoint for Vec<T> {{}} }}
                 pub struct Log<W, S>(W, S); pub struct Rule;
                 impl<W: ckpt::Checkpoint, S: ckpt::Checkpoint> Log<W, S> {{ pub fn flush(&mut self) {{}} }} {calls}"
            ))
        };
        let of_parameters = several("pub fn f<O, Of>(mut log: Log<O, Of>) { log.flush() }");
        assert_eq!(of_parameters, [(Kind::MissingBound, "O".to_owned())]);
        let of_types = several("pub fn f(mut log: Log<Vec<Rule>, Rule>) { log.flush() }");
        assert_eq!(of_types, [(Kind::MissingBound, "Rule".to_owned())]);
        assert_eq!(method("Other"), [(Kind::Other, String::new())]);
    }

    #[test]
    fn refusals_and_what_is_no_error() {
        let of = |source: &str| -> Vec<Kind> {
            let said = reports_on(source);
            let found = said
                .iter()
                .filter_map(|one| Finding::of(one, Path::new("/nowhere")));
            found.map(|one| one.kind).collect()
        };
        assert_eq!(
            of("compile_error!(\"ckpt: E1014: `f` has no site\");"),
            [Kind::Refusal]
        );
        assert_eq!(of("pub fn f() -> u8 { x }"), [Kind::Other]);
        assert_eq!(of("pub fn f(x: String) -> String { drop(x); x }"), [Kind::Moved]);
        assert_eq!(of("pub fn f() { let x = 1; }"), []);
        let lent = "pub fn f<'a, 'b>(_: &'a u8, b: &'b u8) -> &'a u8 { b }";
        assert_eq!(of(lent), [Kind::ShortLifetime]);
    }
}
