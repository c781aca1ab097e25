//! What rustc made of a plan: how often it was asked, and what its answers led to.

use serde::Serialize;

use ckpt_analysis::{Decisions, Position, Program, line_and_column};

use crate::package::build::driver::Rewritten;

/// A plan that rustc has seen.
#[derive(Debug, Serialize)]
pub struct Checked {
    /// How often cargo was asked until the rewritten package compiled.
    pub rounds: usize,
    /// What its answers led to, in the order of the source.
    pub decisions: Vec<Decision>,
}

/// One attribute that the types of the program ask for.
#[derive(Debug, Serialize)]
pub struct Decision {
    /// The file, below the workspace.
    pub file: String,
    /// The line.
    pub line: usize,
    /// The attribute or bound.
    pub attribute: String,
}

impl Checked {
    /// Gathers it.
    pub fn of(rewritten: &Rewritten) -> Self {
        let program = &rewritten.package.program;
        let folder = rewritten.package.workspace_root();
        let mut decisions: Vec<Decision> = all(&rewritten.attempt.known.decisions)
            .into_iter()
            .map(|(place, attribute)| {
                let file = program.file(place.0);
                let path = file.path.strip_prefix(folder).unwrap_or(&file.path);
                Decision {
                    file: path.display().to_string(),
                    line: line_and_column(&file.text, place.1).0,
                    attribute,
                }
            })
            .collect();
        decisions.extend(objects(program, rewritten));
        decisions.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        Self {
            rounds: rewritten.rounds,
            decisions,
        }
    }
}

fn all(decisions: &Decisions) -> Vec<(Position, String)> {
    let mut list: Vec<(Position, String)> = Vec::new();
    let derive = |place: &Position| (*place, "#[derive(ckpt::Checkpoint)]".to_owned());
    list.extend(decisions.derives.iter().map(derive));
    let bound = |place: &Position| (*place, "ckpt::Checkpoint".to_owned());
    list.extend(decisions.bounds.iter().map(bound));
    let fixed = |place: &Position| (*place, "ckpt::__rt::Fixed".to_owned());
    list.extend(decisions.fixed.iter().map(fixed));
    for marks in [&decisions.variables, &decisions.parameters, &decisions.fields] {
        list.extend(
            marks
                .iter()
                .map(|(place, mark)| (*place, format!("#[ckpt({})]", decisions.word(*place, mark)))),
        );
    }
    list
}

/// The attributes of traits whose objects are saved.
fn objects<'a>(program: &'a Program, rewritten: &'a Rewritten) -> impl Iterator<Item = Decision> + 'a {
    let folder = rewritten.package.workspace_root();
    rewritten
        .attempt
        .known
        .decisions
        .objects
        .values()
        .flatten()
        .map(move |edit| {
            let file = program.file(edit.file);
            let path = file.path.strip_prefix(folder).unwrap_or(&file.path);
            Decision {
                file: path.display().to_string(),
                line: line_and_column(&file.text, edit.start).0,
                attribute: edit.text.trim().to_owned(),
            }
        })
}
