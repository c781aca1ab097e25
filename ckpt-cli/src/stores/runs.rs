//! The runs of a store: which there are, which one is meant, and what checkpoints it has.

use std::collections::BTreeMap;
use std::path::Path;

use ckpt::session::job::{Job, State};
use ckpt::session::runs::{self, RunRecord};
use ckpt::store::{
    CheckpointId, Meta, Mode, RunId, RunPrefix, Store, StoreError, folder_of_rank, path_of, printable_lines,
};

use serde_json::json;

use crate::failure::{AboutFile, Failure, Outcome, says};
use crate::output::told;
use crate::render;
use crate::stores::{self, checkpoint, home};

/// The `--run` option of the commands that look at one run of a store.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct RunOption {
    /// Only this run of the store: its identity, or how it begins
    #[arg(long, value_name = "RUN")]
    pub run: Option<RunPrefix>,
}

impl RunOption {
    /// The run that it names, of those that the store has a record of or checkpoints of.
    pub fn of(&self, store: &Path) -> Outcome<Option<RunId>> {
        let Some(prefix) = &self.run else { return Ok(None) };
        let mut all: Vec<RunId> = records(store)?.into_iter().map(|record| record.run).collect();
        let metas = metas(store)?;
        all.extend(metas.values().filter_map(|meta| meta.run));
        all.sort_unstable();
        all.dedup();
        let found: Vec<RunId> = all.iter().copied().filter(|run| prefix.is_of(*run)).collect();
        match found[..] {
            [run] => Ok(Some(run)),
            _ => Err(Failure::no_checkpoint(match found.is_empty() {
                true => says!("E3150: no run in `{}` begins with `{prefix}`", store.display()),
                false => says!(
                    "E3151: several runs in `{}` begin with `{prefix}`",
                    store.display()
                ),
            })
            .help(there_are(&all))),
        }
    }
}

fn there_are(runs: &[RunId]) -> String {
    match runs.is_empty() {
        true => "there is none yet: `cargo ckpt run` begins one".into(),
        false => {
            let names: Vec<String> = runs.iter().map(|run| run.short()).collect();
            format!("there are: {}", names.join(", "))
        }
    }
}

/// The runs that the store has a record of, in the order in which they began. A record that cannot be read is one of a run
/// that may be unfinished.
///
/// # Errors
/// The store cannot be looked at.
pub fn records(store: &Path) -> Outcome<Vec<RunRecord>> {
    let home = home(store);
    // The records of somebody else's store cannot be read, and are not damaged.
    if home.is_dir()
        && let Err(error @ StoreError::Stranger { .. }) = Store::open(&home, Mode::ReadOnly)
    {
        return Err(checkpoint::store_failure(error));
    }
    runs::records(&home).about("cannot look into", &home)
}

/// The same, with a warning for each record that cannot be read.
pub fn records_told(store: &Path) -> Outcome<Vec<RunRecord>> {
    let records = records(store)?;
    for record in &records {
        if let Err(error) = &record.job {
            let error = printable_lines(error);
            told!(
                "warning[W3001]: the record of run {} in `{}` cannot be read: {error}\n  \
                 the file was damaged or cut off; checkpoints are not touched by that",
                record.run,
                home(store).display()
            );
        }
    }
    Ok(records)
}

/// What the heads of the first rank's checkpoints say, but for those that are damaged.
///
/// # Errors
/// One cannot be looked at: it is not there, or damaged, only where that has been seen.
pub fn metas(store: &Path) -> Outcome<BTreeMap<CheckpointId, Meta>> {
    if !home(store).is_dir() {
        return Ok(BTreeMap::new());
    }
    let entries = checkpoint::open(store)?
        .list()
        .map_err(checkpoint::store_failure)?;
    let mut metas = BTreeMap::new();
    for entry in entries {
        match entry.meta {
            Ok(meta) => drop(metas.insert(entry.id, meta)),
            Err(error @ StoreError::Io { .. }) => return Err(checkpoint::store_failure(error)),
            Err(_) => {}
        }
    }
    Ok(metas)
}

/// What is wrong with the checkpoints of a run, and with those that may be its own: of which run one is of which the head is damaged
/// it does not say any more. A line for each; all of them are read.
///
/// # Errors
/// The store cannot be looked at.
pub fn damaged(store: &Path, record: &RunRecord) -> Outcome<Vec<String>> {
    if !home(store).is_dir() {
        return Ok(Vec::new());
    }
    let newest = match &record.job {
        Ok(job) => job.last_checkpoint.or(job.restarted_from),
        Err(_) => Some(u64::MAX),
    };
    let opened = checkpoint::open(store)?;
    let entries = opened.list().map_err(checkpoint::store_failure)?;
    let may_be_its = entries.into_iter().filter(|entry| Some(entry.id.0) <= newest);
    let damaged = may_be_its.filter_map(|entry| {
        let id = entry.id;
        match entry.meta {
            Err(error) => Some(format!("checkpoint {id} cannot be read: {error}")),
            Ok(meta) if meta.run == Some(record.run) => {
                let places = opened.verify(id).err()?;
                let places: Vec<String> = places.iter().map(ToString::to_string).collect();
                let path = opened.path(id);
                Some(format!(
                    "checkpoint {id} (`{}`) is damaged: {}",
                    path.display(),
                    places.join("; ")
                ))
            }
            Ok(_) => None,
        }
    });
    Ok(damaged.map(|what| printable_lines(&what).into_owned()).collect())
}

/// What to do about a run of which all checkpoints are damaged.
pub const PUT_BACK: &str =
    "put the file back from a copy, or from a pack (`cargo ckpt unpack`), to continue from it";

/// The checkpoints of a run, oldest first.
pub fn of_run(
    metas: &BTreeMap<CheckpointId, Meta>,
    run: RunId,
) -> impl DoubleEndedIterator<Item = CheckpointId> {
    let own = metas.iter().filter(move |(_, meta)| meta.run == Some(run));
    own.map(|(id, _)| *id)
}

/// The record of the run that is meant: the one that is named, or the one that began last.
pub fn of(store: &Path, named: Option<RunId>) -> Outcome<Option<RunRecord>> {
    Ok(meant(records(store)?, named))
}

/// The same, with a warning for each record that cannot be read.
pub fn told_of(store: &Path, named: Option<RunId>) -> Outcome<Option<RunRecord>> {
    Ok(meant(records_told(store)?, named))
}

fn meant(records: Vec<RunRecord>, named: Option<RunId>) -> Option<RunRecord> {
    let mut records = records.into_iter().rev();
    match named {
        Some(run) => records.find(|record| record.run == run),
        None => records.next(),
    }
}

/// The newest checkpoint of a run; of a program of several processes, the newest that all have.
///
/// # Errors
/// They cannot be looked at.
pub fn newest_of(store: &Path, run: RunId) -> Outcome<Option<u64>> {
    let job = Job::read(&home(store), run).ok().flatten();
    let ranks = job.and_then(|job| job.ranks);
    let metas = metas(store)?;
    newest_line(store, of_run(&metas, run).rev(), ranks)
}

/// The first of these that all ranks have.
///
/// # Errors
/// That cannot be looked at.
pub fn newest_line(
    store: &Path,
    ids: impl Iterator<Item = CheckpointId>,
    ranks: Option<u32>,
) -> Outcome<Option<u64>> {
    for id in ids {
        let mut all = true;
        for rank in 0..ranks.unwrap_or(0) {
            let file = path_of(&folder_of_rank(store, rank), id, rank);
            all = file.try_exists().about("cannot look for", &file)?;
            if !all {
                break;
            }
        }
        if all {
            return Ok(Some(id.0));
        }
    }
    Ok(None)
}

/// A run whose record is gone, if there is one.
///
/// # Errors
/// The store cannot be looked at.
pub fn without_record(store: &Path, records: &[RunRecord]) -> Outcome<Option<RunId>> {
    let home = home(store);
    runs::without_record(&home, records).about("cannot look into", &home)
}

/// Whether a restart has something to continue, as far as the record says.
pub fn is_completed(record: &RunRecord) -> bool {
    record.job.as_ref().is_ok_and(|job| job.state == State::Completed)
}

/// The runs that could be continued: the newest first, each with its newest checkpoint.
pub fn to_continue<'r>(
    records: &'r [RunRecord],
    metas: &BTreeMap<CheckpointId, Meta>,
) -> Vec<(&'r RunRecord, CheckpointId)> {
    let newest = |run| of_run(metas, run).next_back();
    let unfinished = records.iter().rev().filter(|record| record.is_unfinished());
    unfinished
        .filter_map(|record| Some((record, newest(record.run)?)))
        .collect()
}

/// `heat 0.1.0`; of a package with several programs `heat 0.1.0 (flow)`: which one was started is in the command line.
pub fn called(package: &str, version: &str, command: &[String]) -> String {
    let started = command.first().map(Path::new).and_then(Path::file_name);
    match started.map(|name| name.to_string_lossy()) {
        Some(name) if name != package => format!("{package} {version} ({name})"),
        _ => format!("{package} {version}"),
    }
}

/// The run as data.
pub fn as_json(record: &RunRecord) -> serde_json::Value {
    match &record.job {
        Ok(job) => json!({ "run": record.run, "job": job }),
        Err(error) => json!({ "run": record.run, "error": error }),
    }
}

/// So much of a reason is shown in one line.
const REASON: usize = 120;

/// What there is to say of a process that cannot be seen from here.
pub fn not_seen(job: &Job) -> String {
    format!("runs, or was killed, as pid {} on {}", job.pid, job.host)
}

/// How a run stands, in one line; `next` is what continues it, or why nothing does.
pub fn standing(record: &RunRecord, next: &str) -> String {
    let job = match &record.job {
        Ok(job) => job,
        Err(_) => return format!("its record cannot be read; {next}"),
    };
    let who = called(&job.program, &job.version, &job.command);
    let visits = render::count(job.visits as usize, "site visit");
    // What to do about it is said where it happens, and stands in the record.
    let reason = |otherwise: &str| render::shortened(job.reason.as_deref().unwrap_or(otherwise), REASON);
    match job.state {
        State::Running | State::Returned if stores::is_running(job) => format!(
            "{who} is running: pid {} on {} since {}",
            job.pid, job.host, job.started
        ),
        State::Running if stores::is_here(job) => {
            format!("{who} was killed (pid {}); {next}", job.pid)
        }
        State::Returned if stores::is_here(job) => format!(
            "{who} closed its session after {visits}, and no exit code of pid {} was seen: it was killed before its end, or left by `_exit`; {next}",
            job.pid
        ),
        State::Running | State::Returned => format!("{who} {}", not_seen(job)),
        State::Completed => format!("{who} completed at {} after {visits}", job.updated),
        State::Left => format!(
            "{who} ended at {} without closing its session ({}); {next}",
            job.updated,
            reason("exit code 0")
        ),
        State::Stopped => format!(
            "{who} stopped at {} ({}); {next}",
            job.updated,
            reason("asked to")
        ),
        State::Failed => format!("{who} failed at {}: {}", job.updated, reason("no reason given")),
        State::Refused => format!(
            "{who} was ended by ckpt at {}: {}",
            job.updated,
            reason("no reason given")
        ),
    }
}

/// `run 1a2b3c4d (heat a b, newest checkpoint 000004)`: a run that is not taken.
pub fn described(record: &RunRecord, newest: CheckpointId) -> String {
    let command = record.job.as_ref().map(|job| render::command_line(&job.command));
    format!(
        "run {} ({}newest checkpoint {newest})",
        record.run.short(),
        command.map_or_else(|_| String::new(), |command| format!("{command}, "))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_of_a_package_are_told_apart() {
        let called = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|word| (*word).to_owned()).collect();
            called("heat", "0.1.0", &command)
        };
        assert_eq!(called(&["/home/anna/target/release/heat", "40"]), "heat 0.1.0");
        assert_eq!(
            called(&["/home/anna/target/release/examples/flow"]),
            "heat 0.1.0 (flow)"
        );
        assert_eq!(called(&[]), "heat 0.1.0");
    }

    #[test]
    fn a_long_reason_takes_one_line() {
        let long = "run 1a2b3c4d has changed `b.txt` in this folder since; ".repeat(9);
        let shown = render::shortened(&long, REASON);
        assert!(
            long.starts_with(shown.trim_end_matches(" ...")) && shown.len() <= REASON + 4,
            "{shown}"
        );
        assert_eq!(render::shortened("exit code 1", REASON), "exit code 1");
    }
}
