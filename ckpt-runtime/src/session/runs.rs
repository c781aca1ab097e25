//! The runs of a store: which there are, and which one a restart continues.

use std::io;
use std::path::Path;

use super::SessionError;
use super::auto::History;
use super::job::{Job, LAUNCH_FILE, State};
use crate::base::documents::Documents;
use crate::base::report::say;
use crate::base::run_id::{RunId, RunPrefix};
use crate::base::sorted;
use crate::base::typed::{has_command, restart_command};
use crate::format::{CheckpointId, Meta};
use crate::state::journal;
use crate::storage::{self, Journals, Store};

/// What a store says of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    /// The run.
    pub run: RunId,
    /// How it stands; why it cannot be read, where that is so.
    pub job: Result<Job, String>,
}

impl RunRecord {
    /// Whether something can be left to continue, as far as the record says.
    pub fn is_unfinished(&self) -> bool {
        self.job
            .as_ref()
            .map_or(true, |job| job.state != State::Completed)
    }

    /// Whether a restart that names no run continues it: one whose process ended with exit code 0 is continued by whoever names it.
    pub fn is_to_continue(&self) -> bool {
        let has_left = self.job.as_ref().is_ok_and(|job| job.state == State::Left);
        self.is_unfinished() && !has_left
    }

    /// The place among the runs of its store, in the order in which they began; 0 where nobody knows.
    fn order(&self) -> u64 {
        self.job.as_ref().map_or(0, |job| job.order)
    }
}

/// The runs that a store has a record of, in the order in which they began; first those whose record cannot be read.
///
/// # Errors
/// The store cannot be read.
///
/// # Examples
///
/// ```
/// let store = tempfile::tempdir()?;
/// assert!(ckpt::session::runs::records(store.path())?.is_empty()); // nothing has run yet
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn records(store: &Path) -> io::Result<Vec<RunRecord>> {
    let runs = storage::runs_in(store)?;
    Ok(in_order(runs, |run| Job::read(store, run)))
}

/// Those of an open store.
pub(super) fn records_in(store: &Store) -> Result<Vec<RunRecord>, SessionError> {
    Ok(in_order(store.runs()?, |run| {
        Job::read_in(&*store.documents_of(run), run)
    }))
}

/// A run that `cargo ckpt` has started and that may have changed files, but has no record among these: it is gone. One that died before
/// `main` had begun has none either, and has changed nothing.
///
/// # Errors
/// What the file system says.
pub fn without_record(store: &Path, records: &[RunRecord]) -> io::Result<Option<RunId>> {
    for run in storage::runs_in(store)? {
        let documents = storage::documents_of_run(store, run);
        let was_started = documents.names()?.iter().any(|name| name == LAUNCH_FILE);
        if was_started
            && journal::may_have_changed(&documents)
            && records.iter().all(|record| record.run != run)
        {
            return Ok(Some(run));
        }
    }
    Ok(None)
}

fn in_order(runs: Vec<RunId>, read: impl Fn(RunId) -> io::Result<Option<Job>>) -> Vec<RunRecord> {
    let record = |run| {
        let job = read(run).map_err(|error| error.to_string()).transpose()?;
        Some(RunRecord { run, job })
    };
    let mut records: Vec<RunRecord> = runs.into_iter().filter_map(record).collect();
    sorted::sort_by(&mut records, |one, other| {
        (one.order(), one.run).cmp(&(other.order(), other.run))
    });
    records
}

/// Whether a run, as a checkpoint names it, is one of these: what was copied into a store is of none that it has a record of.
///
/// ```
/// assert!(!ckpt::session::runs::has_record(&[], None));
/// ```
pub fn has_record(records: &[RunRecord], run: Option<RunId>) -> bool {
    records.iter().any(|record| Some(record.run) == run)
}

/// The place of the next run that begins.
pub(super) fn next_order(records: &[RunRecord]) -> u64 {
    let last = records.iter().map(RunRecord::order).max();
    last.unwrap_or(0).saturating_add(1)
}

/// What is known of the processes that ran on the store: the last of them has seen the most.
pub(super) fn history(records: &[RunRecord]) -> History {
    let jobs = records.iter().filter_map(|record| record.job.as_ref().ok());
    let histories = jobs.map(Job::history_after);
    histories.max_by_key(|history| history.runs).unwrap_or_default()
}

/// The earlier runs that nobody goes on with when this one has begun.
pub(super) fn completed(records: &[RunRecord], this: RunId) -> Vec<RunId> {
    let earlier = records.iter().take_while(|record| record.run != this);
    earlier
        .filter(|record| !record.is_unfinished())
        .map(|record| record.run)
        .collect()
}

/// The one run that is meant by the beginning of its identity.
pub(super) fn named(records: &[RunRecord], prefix: &RunPrefix, folder: &Path) -> Result<RunId, SessionError> {
    let mut found = records
        .iter()
        .map(|record| record.run)
        .filter(|run| prefix.is_of(*run));
    match (found.next(), found.next()) {
        (Some(run), None) => Ok(run),
        (first, _) => Err(SessionError::NoSuchRun {
            prefix: prefix.to_string(),
            folder: folder.to_owned(),
            several: first.is_some(),
        }),
    }
}

/// The run that a restart continues that names no checkpoint: the one that `CKPT_RUN` names, or the newest that has not
/// completed.
pub(super) fn to_continue(
    records: &[RunRecord],
    prefix: Option<&RunPrefix>,
    store: &Store,
) -> Result<RunId, SessionError> {
    let folder = || store.folder().to_owned();
    if let Some(prefix) = prefix {
        let run = named(records, prefix, store.folder())?;
        return match records.iter().find(|record| record.run == run) {
            Some(RunRecord { job: Ok(job), .. }) if job.state == State::Completed => {
                Err(completed_already(job, store))
            }
            _ => Ok(run),
        };
    }
    let damaged = records
        .iter()
        .find_map(|record| Some((record.run, record.job.as_ref().err()?)));
    match damaged {
        Some((run, why)) if records.len() > 1 => {
            return Err(SessionError::RecordUnreadable {
                run,
                folder: folder(),
                why: why.clone(),
            });
        }
        _ => {}
    }
    let newest = records.iter().rev().find(|record| record.is_to_continue());
    match (newest, records.last().map(|record| &record.job)) {
        (Some(record), _) => Ok(record.run),
        (None, Some(Ok(job))) if job.state == State::Left => Err(SessionError::Left {
            folder: folder(),
            run: job.run,
            when: job.updated.clone(),
        }),
        (None, Some(Ok(job))) => Err(completed_already(job, store)),
        (None, _) => Err(SessionError::NoCheckpoint {
            folder: folder(),
            run: None,
            passed_over: 0,
            others: Box::default(),
        }),
    }
}

fn completed_already(job: &Job, store: &Store) -> SessionError {
    SessionError::Completed {
        folder: store.folder().to_owned(),
        run: job.run,
        when: job.updated.clone(),
    }
}

/// The runs beside this one that could be continued, with the newest checkpoint of each that can be restored, newest run first.
pub(super) fn others_to_continue(
    records: &[RunRecord],
    but: Option<RunId>,
    store: &Store,
) -> Vec<(RunRecord, CheckpointId)> {
    let Ok(entries) = store.list() else {
        return Vec::new();
    };
    let mut journals = Journals::default();
    let mut newest_of = |run| {
        let entries = entries.iter().rev();
        let of = entries.filter_map(|entry| Some((entry.id, entry.meta.as_ref().ok()?)));
        let mut of = of.filter(|(_, meta)| meta.run == Some(run));
        let newest = of.find(|(_, meta)| journals.can_return(store, meta).is_ok());
        newest.map(|(id, _)| id)
    };
    let others = records
        .iter()
        .rev()
        .filter(|record| Some(record.run) != but && record.is_unfinished());
    others
        .filter_map(|record| Some((record.clone(), newest_of(record.run)?)))
        .collect()
}

/// How a run stands that has not completed, in the words of a sentence.
pub(super) fn not_completed(record: &RunRecord) -> &'static str {
    match record.is_to_continue() {
        true => "has not completed",
        false => "ended with exit code 0 without closing its session",
    }
}

/// How a run is called in a list: `run 1a2b3c4d (since 2026-01-31T12:00:00Z, newest checkpoint 000004)`.
pub(super) fn described(record: &RunRecord, newest: CheckpointId) -> String {
    let since = match &record.job {
        Ok(job) => format!("since {}, ", printable(&job.begun)),
        Err(_) => String::new(),
    };
    format!("run {} ({since}newest checkpoint {newest})", record.run.short())
}

/// What stands in a store may have been written by anybody.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Says what a restart does not continue: other runs that could be, and checkpoints that nobody knows the run of.
pub(super) fn mention_skipped(records: &[RunRecord], chosen: RunId, store: &Store) {
    for (record, newest) in others_to_continue(records, Some(chosen), store) {
        say(&format!(
            "not continued: {}; {} continues it",
            described(&record, newest),
            restart_command(Some(record.run))
        ));
    }
    if let Some(told) = of_no_run(&strangers(records, store), store.folder()) {
        say(&told);
    }
}

/// What is said of checkpoints that a restart passes over as nobody knows the run that they are of; nothing of none.
///
/// ```
/// assert_eq!(ckpt::session::runs::of_no_run(&[], "heat.ckpt.d".as_ref()), None);
/// ```
pub fn of_no_run(strangers: &[CheckpointId], folder: &Path) -> Option<String> {
    let (first, last) = (strangers.first()?, strangers.last()?);
    let which = match first == last {
        true => format!("checkpoint {first} is"),
        false => format!("checkpoints {first} to {last} ({} of them) are", strangers.len()),
    };
    let number = last.0;
    let by_number = match has_command() {
        true => format!("`cargo ckpt restart {number}`"),
        false => format!("`cargo ckpt restart {number}`, or CKPT_RESTART={number}"),
    };
    Some(format!(
        "warning[W2030]: {which} of no run that has a record in {}, and passed over\n  \
         help: they may have been copied there; by its number one is taken all the same: {by_number}",
        folder.display(),
    ))
}

/// Checkpoints of runs that have no record here.
fn strangers(records: &[RunRecord], store: &Store) -> Vec<CheckpointId> {
    let entries = store.list().unwrap_or_default().into_iter();
    let is_strange = |meta: &Meta| !has_record(records, meta.run);
    let strange = entries.filter(|entry| entry.meta.as_ref().is_ok_and(is_strange));
    strange.map(|entry| entry.id).collect()
}
