//! The environment variables that the program reads by name, as it was started with them. What a run has read from them is in its
//! variables: a restart with others goes on with the old ones.

use twox_hash::XxHash3_128;

use super::sources::Sources;
use crate::base::report::say;
use crate::base::sorted::SortedMap;
use crate::format::Restored;
use crate::state::process;
use crate::state::source::Recorded;

/// Name of the note in every checkpoint that says what these variables were, as JSON: of each that was set a hash, as some hold
/// what nobody is to read.
pub const VARIABLES_NOTE: &str = "variables";

type Hashes = SortedMap<String, Option<String>>;

/// What the variables of this process were at its start.
fn at_start(sources: &Sources) -> Hashes {
    let names = sources.variables.iter();
    let names = names.filter(|name| process::is_variable_of_the_program(name));
    names
        .map(|name| {
            let value = process::variable_at_start(name);
            let text = value.map(|value| [name.as_bytes(), b"=", value.as_encoded_bytes()].concat());
            let hash = text.map(|text| format!("{:032x}", XxHash3_128::oneshot(&text)));
            ((*name).to_owned(), hash)
        })
        .collect()
}

/// The note of this process.
pub(super) fn note(sources: Option<&Sources>) -> Option<(String, String)> {
    let hashes = at_start(sources?);
    let text = serde_json::to_string(&hashes).ok()?;
    (!hashes.is_empty()).then(|| (VARIABLES_NOTE.to_owned(), text))
}

/// Says which variables are others than those of the process that took the checkpoint.
pub(super) fn mention_changed(restored: &Restored, sources: Option<&Sources>) {
    let note = restored.note(VARIABLES_NOTE);
    let theirs = note.and_then(|text| serde_json::from_str::<Hashes>(text).ok());
    let (Some(theirs), Some(sources)) = (theirs, sources) else {
        return;
    };
    let ours = at_start(sources);
    let changed = ours.iter().filter_map(|(name, now)| {
        let before = theirs.get(name)?;
        let what = match (before, now) {
            _ if before == now => return None,
            (None, _) => "is set now, and was not",
            (_, None) => "was set, and is not now",
            _ => "has another value",
        };
        Some(format!("`{name}` {what}"))
    });
    let changed: Vec<String> = changed.collect();
    if changed.is_empty() {
        return;
    }
    let (id, variables) = (restored.id(), changed.join(", "));
    say(&format!(
        "warning[W2072]: checkpoint {id} was taken in another environment: {variables}\n  \
         why:   what the run has read of these variables is in what it has saved, and it goes on with that; where it reads them again, it gets what they are now\n  \
         help:  give the restart the values that the run had; to compute with others, start a run of its own (`cargo ckpt run --fresh`)"
    ));
}
