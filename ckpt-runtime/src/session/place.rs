//! The folder that a run was started in. Paths below it are relative in all that a store keeps, so that a run can be moved with its
//! files. A run that was not moved is continued there and nowhere else: elsewhere the same names are those of other files.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::{SessionError, arguments};
use crate::format::Restored;
use crate::handles::{Place, moved, start_folder};
use crate::state::source::Recorded;

/// Name of the note in every checkpoint that says where its process was started, and where its store was.
pub const PLACE_NOTE: &str = "place";

/// The note of this process with this store; none where a path is no text.
pub(super) fn note(store: &Path) -> Option<(String, String)> {
    let place = Place::of_this_process(store);
    Some((PLACE_NOTE.to_owned(), serde_json::to_string(&place).ok()?))
}

/// A restart goes on in the folder of its run, or in the one that this has become.
///
/// # Errors
/// The run's folder is still there and its store where it was, so that it was not moved; and this process was started elsewhere. Or
/// it was moved, and an argument names a path in the old folder, of which nobody has said where that is now.
pub(super) fn is_the_same(restored: &Restored, store: &Path) -> Result<(), SessionError> {
    let note = restored.note(PLACE_NOTE);
    let Some(place) = note.and_then(|text| serde_json::from_str::<Place>(text).ok()) else {
        return Ok(());
    };
    let now = moved::now(place.folder.clone());
    let is_moved = !is_one(&start_folder().join(store), &moved::now(place.store.clone()));
    if is_one(start_folder(), &now) {
        return Ok(());
    }
    if is_moved || !now.is_dir() {
        moved::leave(place.clone());
        let arguments = arguments::theirs(restored).unwrap_or_default();
        return match arguments.into_iter().find(|one| names_left_behind(one)) {
            None => Ok(()),
            Some(argument) => Err(SessionError::NamesOldFolder {
                id: restored.id(),
                argument,
                theirs: place.folder,
                ours: start_folder().to_owned(),
            }),
        };
    }
    Err(SessionError::OtherFolder {
        id: restored.id(),
        theirs: now,
        ours: start_folder().to_owned(),
    })
}

/// Whether an argument names a path in the folder that was left, as a whole or behind a `=`.
fn names_left_behind(argument: &str) -> bool {
    let behind = argument.split_once('=').map(|(_, path)| path);
    let mut parts = [Some(argument), behind].into_iter().flatten();
    parts.any(|part| moved::is_left_behind(&moved::now(PathBuf::from(part))))
}

/// Whether both are there and the same, by whatever names.
fn is_one(one: &Path, other: &Path) -> bool {
    let number = |path| {
        let found = fs::metadata(path).ok()?;
        Some((found.dev(), found.ino()))
    };
    number(one).is_some_and(|one| Some(one) == number(other))
}
