//! What rustc says in English alone: the table `rustc.toml`, the only place where its words are matched.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cargo_metadata::diagnostic::Diagnostic;
use serde::Deserialize;

/// A thing that rustc has no code for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Saying {
    /// That it gives up after so many errors, which says nothing new.
    EndOfErrors,
    /// The borrow checker wants a longer lifetime.
    LifetimeTooShort,
    /// A help, which points to the definition of a type that lacks a trait.
    DefinedWithoutTrait,
    /// A label, with the type that lacks a trait.
    LacksTrait,
    /// A help, with the parameter that lacks a bound.
    ParameterWithoutBound,
    /// The same of a parameter `impl Trait`.
    OpaqueWithoutBound,
    /// A note, with the bound that the type of a method lacks.
    BoundOfMethod,
    /// The same note, of a bound that is ckpt's.
    LacksCheckpoint,
    /// A note, with the bounds that the type of a method lacks, a line for each.
    BoundsOfMethod,
    /// In a line of that note, that the bound is ckpt's.
    CheckpointAmongBounds,
    /// A note, that the whole of a type was to go through serde.
    WantedBySerde,
    /// Anywhere, the trait of ckpt that takes the place of `std::io::Write` in a box.
    NamesOutputTrait,
    /// The same of those for `std::io::Read` and `std::io::BufRead`.
    NamesInputTrait,
    /// The same of ckpt's channels.
    NamesChannels,
}

/// The part of a report that has the words.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Part {
    Message,
    Help,
    Label,
    Rendered,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "the sample and the versions are for the test")
)]
struct Row {
    says: String,
    stands: Part,
    seen_with: Vec<String>,
    sample: String,
}

static TABLE: LazyLock<BTreeMap<Saying, Row>> =
    LazyLock::new(|| toml::from_str(include_str!("rustc.toml")).expect("a test reads the table"));

impl Saying {
    /// Where rustc says so: what stands behind the words, with the spans of a help.
    pub(super) fn found_in(
        self,
        report: &Diagnostic,
    ) -> impl Iterator<Item = (&str, &[cargo_metadata::diagnostic::DiagnosticSpan])> {
        let row = &TABLE[&self];
        let parts: Vec<(&str, &[_])> = match row.stands {
            Part::Message => vec![(&report.message, &report.spans)],
            Part::Help => report
                .children
                .iter()
                .map(|one| (&*one.message, &*one.spans))
                .collect(),
            Part::Label => {
                let labels = report.spans.iter().filter_map(|span| span.label.as_deref());
                labels.map(|label| (label, &[][..])).collect()
            }
            Part::Rendered => report.rendered.iter().map(|text| (&**text, &[][..])).collect(),
        };
        parts
            .into_iter()
            .filter_map(|(text, spans)| Some((text.split_once(&row.says)?.1, spans)))
    }

    /// The types that lack a bound with these words at its end, of those in the lines behind another saying.
    pub(super) fn types_in_lines_behind(
        self,
        other: Saying,
        report: &Diagnostic,
    ) -> impl Iterator<Item = &str> {
        let says = &TABLE[&self].says;
        let lines = other.found_in(report).flat_map(|(behind, _)| behind.lines());
        let bounds = lines.filter_map(|line| Some(line.split_once(says.as_str())?.0));
        bounds.filter_map(|bound| Some(bound.trim_start().trim_start_matches('`').split_once(": ")?.0))
    }

    /// Whether rustc says so.
    pub(super) fn is_in(self, report: &Diagnostic) -> bool {
        self.found_in(report).next().is_some()
    }

    /// The names that stand behind the words, where these end with a backtick.
    pub(super) fn names_in(self, report: &Diagnostic) -> impl Iterator<Item = &str> {
        self.found_in(report)
            .filter_map(|(behind, _)| Some(behind.split_once('`')?.0))
    }
}

/// What the rustc that is installed says of a library.
#[cfg(test)]
pub(super) fn reports_on(source: &str) -> Vec<Diagnostic> {
    use std::io::Write;
    use std::process::{Command, Stdio};
    let folder = tempfile::tempdir().unwrap();
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args([
        "--error-format=json",
        "--emit=metadata",
        "--edition=2024",
        "--crate-type=lib",
        "-",
    ]);
    rustc
        .arg("--out-dir")
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped());
    let mut rustc = rustc.spawn().unwrap();
    rustc.stdin.take().unwrap().write_all(source.as_bytes()).unwrap();
    let said = rustc.wait_with_output().unwrap().stderr;
    let said = String::from_utf8(said).unwrap();
    let lines = said.lines().filter(|line| line.starts_with('{'));
    lines.map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rustc_still_says_so() {
        for (saying, row) in &*TABLE {
            let said = reports_on(&row.sample);
            assert!(
                said.iter().any(|report| saying.is_in(report)),
                "{saying:?}: this rustc does not say `{}` any more, as {} did; find its new words and correct \
                 ckpt-cli/src/package/build/oracle/rustc.toml: {said:#?}",
                row.says,
                row.seen_with.join(", "),
            );
        }
    }

    #[test]
    fn the_traits_of_streams_are_called_so() {
        let name = std::any::type_name::<dyn ckpt::output::Write>();
        assert!(name.ends_with(&TABLE[&Saying::NamesOutputTrait].says), "{name}");
        for name in [
            std::any::type_name::<dyn ckpt::input::Read>(),
            std::any::type_name::<dyn ckpt::input::BufRead>(),
        ] {
            assert!(name.contains(&TABLE[&Saying::NamesInputTrait].says), "{name}");
        }
    }

    /// Where a lifetime is too short by a bound, rustc has a code.
    #[test]
    fn the_code_of_a_bound_that_does_not_hold() {
        let said =
            reports_on("pub struct Long<'a>(&'a u8) where 'a: 'static; pub struct Short<'a>(Long<'a>);");
        let codes = said.iter().filter_map(|report| report.code.as_ref());
        assert!(
            codes
                .into_iter()
                .any(|code| code.code == super::super::SHORT_BOUND),
            "{said:#?}"
        );
    }
}
