//! A run that died and cannot be continued is started again: `cargo ckpt run --restarts` and `--resume` do so.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::job::{Job, State};
use super::runs;
use crate::base::documents::Documents;
use crate::base::run_id::RunId;
use crate::base::sorted::SortedMap;
use crate::format::StoreError;
use crate::handles;
use crate::state::journal::{self, OtherRun};
use crate::storage::{Mode, Store, folder_of_rank};

/// Why what a run has changed is not undone.
#[derive(Debug)]
#[non_exhaustive]
pub enum NotUndone {
    /// A rank's part of the store cannot be opened: a process of the run may be at work there.
    Store(StoreError),
    /// What the files were is not known any more, or they cannot be changed.
    Files(String),
}

impl fmt::Display for NotUndone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotUndone::Store(error) => error.fmt(f),
            NotUndone::Files(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for NotUndone {}

impl From<StoreError> for NotUndone {
    fn from(error: StoreError) -> Self {
        NotUndone::Store(error)
    }
}

/// Notes what a run has left of the program's files of which all processes have ended, by whoever has seen that: [`undo_start`] tells
/// by that what somebody has written since. `pid` is that of its process, where there is one. Nothing is noted where the run has
/// completed, where a process is at work on the store, nor where each rank has a store of its own. This process works in the folder
/// that the program was started in.
///
/// # Errors
/// What it has left cannot be looked at, or the store not be written to.
pub fn note_left(store: &Path, run: RunId, pid: Option<u32>, ranks: u32) -> Result<(), NotUndone> {
    handles::note_start_folder();
    let folder = folder_of_rank(store, 0);
    if (1..ranks).any(|rank| folder_of_rank(store, rank) != folder) {
        return Ok(());
    }
    // One that is at work, or begins now, knows better.
    let mut parts = Vec::new();
    for rank in 0..ranks.max(1) {
        match Store::open_as(&folder, Mode::ReadWrite, rank) {
            Err(StoreError::Locked { .. }) => return Ok(()),
            opened => parts.push(opened?),
        }
    }
    let Some(store) = parts.first() else { return Ok(()) };
    let documents = store.documents_of(run);
    let job = Job::read_in(&*documents, run).map_err(|error| NotUndone::Files(error.to_string()))?;
    let is_meant = |job: &Job| pid.is_none_or(|pid| job.pid == pid);
    match job.filter(|job| is_meant(job) && !job.is_running() && job.state != State::Completed) {
        Some(_) => {
            let documents: Arc<dyn Documents> = documents;
            journal::note_left(&documents, run).map_err(NotUndone::Files)
        }
        None => Ok(()),
    }
}

/// Undoes what a run that has ended has changed of the program's files since it began, so that whoever starts the program again
/// finds them as that run did. `store` may have a place for the number of the rank; `ranks` is how many there were. This process
/// works in the folder that the program is started in. What other runs have changed since stays: with `keeps` also what those have
/// that have not completed. `map` says what is elsewhere now, as CKPT_MAP does. Gives whether there was anything to undo.
///
/// # Errors
/// The store is in use, what the files were is not known, or other runs, or somebody else, have changed them as well.
pub fn undo_start(
    store: &Path,
    run: RunId,
    ranks: u32,
    keeps: bool,
    map: Option<&OsStr>,
) -> Result<bool, NotUndone> {
    handles::note_start_folder();
    let moves = match map {
        Some(map) => handles::moved::read(map)
            .ok_or_else(|| NotUndone::Files("what has moved cannot be read: write OLD=NEW".to_owned()))?,
        None => handles::moved::moves(),
    };
    // Their locks are held until the end.
    let mut parts = Vec::new();
    for rank in 0..ranks.max(1) {
        let folder = folder_of_rank(store, rank);
        if folder.is_dir() {
            parts.push((folder.clone(), Store::open_as(folder, Mode::ReadWrite, rank)?));
        }
    }
    let folders: SortedMap<&PathBuf, &Store> = parts.iter().map(|(folder, part)| (folder, part)).collect();
    let Some((first, home)) = folders.first_key_value() else {
        return Ok(false);
    };
    // Ranks but the first have no records.
    let records = runs::records_in(home).map_err(|error| NotUndone::Files(error.to_string()))?;
    let record_of = |run: RunId| records.iter().find(|record| record.run == run);
    let command_of = |run: RunId| Some(&record_of(run)?.job.as_ref().ok()?.command);
    let mut own: Vec<Arc<dyn Documents>> = Vec::new();
    let mut others = Vec::new();
    let has_record = record_of(run).is_some();
    for (folder, part) in &folders {
        let documents = part.documents_of(run);
        let names = documents
            .names()
            .map_err(|error| NotUndone::Files(error.to_string()))?;
        let has_journal = names.iter().any(|name| journal::is_of_files(name));
        // A process that has not opened its session has changed nothing that is watched.
        if has_journal || has_record && folder == first {
            own.push(documents);
        }
        for other in part.runs()?.into_iter().filter(|other| *other != run) {
            let record = record_of(other);
            others.push(OtherRun {
                run: other,
                documents: part.documents_of(other),
                has_completed: record.is_some_and(|record| !record.is_unfinished()),
                has_record: record.is_some(),
                is_given_up: false,
                is_of_this_command: command_of(other).is_some_and(|theirs| Some(theirs) == command_of(run)),
            });
        }
    }
    journal::undo_start(run, own, others, (keeps, &moves), first).map_err(NotUndone::Files)
}
