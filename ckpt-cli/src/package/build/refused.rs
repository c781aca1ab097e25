//! What stands in the way of a site, as data: the fields of `--format json`, and what the text of a failure is made of.

use std::path::Path;

use ckpt_analysis::{
    Cause, PackageAnalysis, Placement, Position, Program, Rejected, RustcObstacle, line_and_column,
};
use ckpt_compiler::Words;
use serde::Serialize;

use crate::render;

/// A loop that cannot hold a site.
#[derive(Debug, Clone, Serialize)]
pub struct Refused {
    /// The file, below the workspace.
    pub file: String,
    /// The line.
    pub line: usize,
    /// Its first line.
    pub header: String,
    /// Share of the run, 0 to 1.
    pub share: f64,
    /// What cannot be done, why, and what to write instead.
    pub reasons: Vec<String>,
    /// The same, taken apart.
    pub causes: Vec<RefusedCause>,
}

/// One thing that stands in the way.
#[derive(Debug, Clone, Default, Serialize)]
pub struct RefusedCause {
    /// The code of the message; a place that was only not wanted has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// rustc's code, where rustc's error is all that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rustc_code: Option<String>,
    /// The variables that it is about.
    pub variables: Vec<String>,
    /// The file, below the workspace.
    pub file: String,
    /// The line, where there is one to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The column, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<usize>,
    /// The line of the source, with a mark under the column if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// What cannot be done, with the code in front.
    pub what: String,
    /// Why.
    pub why: String,
    /// What to write instead.
    pub instead: String,
}

impl RefusedCause {
    fn saying(words: &Words) -> Self {
        Self {
            what: words.what.to_string(),
            why: words.why.to_string(),
            instead: words.instead.to_string(),
            ..Self::default()
        }
    }

    /// What rustc has against a site, and the place that it points to.
    pub fn of_rustc(
        obstacle: &RustcObstacle,
        place: Option<Position>,
        program: &Program,
        folder: &Path,
    ) -> Self {
        Self {
            code: Some(obstacle.code().to_string()),
            rustc_code: obstacle.rustc_code().map(ToOwned::to_owned),
            variables: obstacle.variables(),
            ..Self::saying(&obstacle.words())
        }
        .at(place, program, folder)
    }

    fn of(cause: &Cause, program: &Program, folder: &Path) -> Self {
        match cause {
            Cause::Rustc { obstacle, place } => Self::of_rustc(obstacle, Some(*place), program, folder),
            _ => Self {
                code: cause.code().map(|code| code.to_string()),
                variables: cause.variables(),
                ..Self::saying(&cause.words())
            },
        }
    }

    fn at(mut self, place: Option<Position>, program: &Program, folder: &Path) -> Self {
        if let Some((file, at)) = place {
            let text = &program.file(file).text;
            let (line, column) = line_and_column(text, at);
            self.file = below(program, (file, at), folder);
            self.source = Some(render::source_line(text, line, Some(column)));
            (self.line, self.column) = (Some(line), Some(column));
        }
        self
    }

    /// Its lines, the first as it is, those below with an indent.
    pub fn text(&self) -> String {
        let mut text = self.what.clone();
        if let (Some(line), Some(column)) = (self.line, self.column) {
            text += &format!("\n  where: {}:{line}:{column}", self.file);
            for line in self.source.iter().flat_map(|source| source.lines()) {
                text += &format!("\n    {line}");
            }
        }
        for (label, part) in [("why", &self.why), ("instead", &self.instead)] {
            if !part.is_empty() {
                text += &format!("\n  {label}: {part}");
            }
        }
        text
    }
}

/// The loops in which a site was wanted and cannot be.
pub fn refused(
    placement: &Placement,
    analysis: &PackageAnalysis,
    program: &Program,
    folder: &Path,
) -> Vec<Refused> {
    let all = placement.rejected.iter();
    all.map(|one| of_loop(one, analysis, program, folder)).collect()
}

fn of_loop(one: &Rejected, analysis: &PackageAnalysis, program: &Program, folder: &Path) -> Refused {
    let file = below(program, (one.place.file, one.place.bytes.start), folder);
    let causes: Vec<RefusedCause> = one
        .reasons
        .iter()
        .map(|reason| {
            let mut cause = RefusedCause::of(&reason.cause, program, folder);
            if cause.file.is_empty() {
                let function = &analysis.function(reason.function).place;
                cause.file = below(program, (function.file, function.bytes.start), folder);
                // What ckpt has added has no line of the program.
                cause.line = reason.line.filter(|line| *line >= function.line);
                let text = &program.file(function.file).text;
                cause.source = cause.line.map(|line| render::source_line(text, line, None));
            }
            cause
        })
        .collect();
    let in_a_line = |cause: &RefusedCause| {
        let mut text = cause.what.clone();
        for (label, part) in [("why", &cause.why), ("instead", &cause.instead)] {
            if !part.is_empty() {
                text += &format!("; {label}: {part}");
            }
        }
        text
    };
    Refused {
        file,
        line: one.place.line,
        header: one.header.clone(),
        share: one.share,
        reasons: each_once(causes.iter().map(in_a_line)),
        causes,
    }
}

/// Lines in their order, those that read the same once: several statements may stand in the way for one reason.
fn each_once(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for line in lines {
        if !kept.contains(&line) {
            kept.push(line);
        }
    }
    kept
}

fn below(program: &Program, place: Position, folder: &Path) -> String {
    let path = &program.file(place.0).path;
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_that_several_statements_give_is_said_once() {
        let lines = ["E1033: `open`", "E1033: `panic!`", "E1033: `open`", "E1301: `f`"].map(String::from);
        let once = each_once(lines.into_iter());
        assert_eq!(once, ["E1033: `open`", "E1033: `panic!`", "E1301: `f`"]);
    }
}
