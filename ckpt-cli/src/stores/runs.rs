//! The runs of a store: which there are, which one is meant, and what checkpoints it has.

use std::collections::BTreeMap;
use std::path::Path;

use ckpt::session::job::{Job, State};
use ckpt::session::runs::{self, RunRecord};
use ckpt::store::{CheckpointId, Meta, RunId, RunPrefix, Store, file_name, folder_of_rank};

use crate::failure::{Failure, Outcome, says};
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
        let mut all: Vec<RunId> = records(store).into_iter().map(|record| record.run).collect();
        let metas = metas(store);
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
pub fn records(store: &Path) -> Vec<RunRecord> {
    runs::records(&home(store)).unwrap_or_default()
}

/// The same, with a warning for each record that cannot be read.
pub fn records_told(store: &Path) -> Vec<RunRecord> {
    let records = records(store);
    for record in &records {
        if let Err(error) = &record.job {
            eprintln!(
                "warning[W3001]: the record of run {} in `{}` cannot be read: {error}",
                record.run,
                home(store).display()
            );
        }
    }
    records
}

/// What the heads of the first rank's checkpoints say, as far as they can be read.
pub fn metas(store: &Path) -> BTreeMap<CheckpointId, Meta> {
    let entries =
        checkpoint::open(store).and_then(|store: Store| store.list().map_err(checkpoint::store_failure));
    let entries = entries.unwrap_or_default().into_iter();
    entries
        .filter_map(|entry| Some((entry.id, entry.meta.ok()?)))
        .collect()
}

/// The record of the run that is meant: the one that is named, or the one that began last.
pub fn of(store: &Path, named: Option<RunId>) -> Option<RunRecord> {
    meant(records(store), named)
}

/// The same, with a warning for each record that cannot be read.
pub fn told_of(store: &Path, named: Option<RunId>) -> Option<RunRecord> {
    meant(records_told(store), named)
}

fn meant(records: Vec<RunRecord>, named: Option<RunId>) -> Option<RunRecord> {
    let mut records = records.into_iter().rev();
    match named {
        Some(run) => records.find(|record| record.run == run),
        None => records.next(),
    }
}

/// The newest checkpoint of a run; of a program of several processes, the newest that all have.
pub fn newest_of(store: &Path, run: RunId) -> Option<u64> {
    let job = Job::read(&home(store), run).ok().flatten();
    let ranks = job.and_then(|job| job.ranks);
    let has = |id: CheckpointId, rank| folder_of_rank(store, rank).join(file_name(id, rank)).is_file();
    let is_line = |id: CheckpointId| ranks.is_none_or(|ranks| (0..ranks).all(|rank| has(id, rank)));
    let metas = metas(store);
    let mut own = metas.iter().rev().filter(|(_, meta)| meta.run == Some(run));
    own.find(|(id, _)| is_line(**id)).map(|(id, _)| id.0)
}

/// Whether a restart has something to continue, as far as the record says.
pub fn is_completed(record: &RunRecord) -> bool {
    record.job.as_ref().is_ok_and(|job| job.state == State::Completed)
}

/// The runs that could be continued: the newest first, each with its newest checkpoint.
pub fn to_continue(store: &Path) -> Vec<(RunRecord, CheckpointId)> {
    let metas = metas(store);
    let newest = |run| {
        let mut own = metas.iter().rev().filter(|(_, meta)| meta.run == Some(run));
        own.next().map(|(id, _)| *id)
    };
    let unfinished = records(store).into_iter().rev().filter(RunRecord::is_unfinished);
    unfinished
        .filter_map(|record| newest(record.run).map(|newest| (record, newest)))
        .collect()
}

/// How a run stands, in one line; `how` is what continues it.
pub fn standing(record: &RunRecord, how: &str) -> String {
    let job = match &record.job {
        Ok(job) => job,
        Err(_) => return format!("its record cannot be read; `{how}` continues it"),
    };
    let who = format!("{} {}", job.program, job.version);
    let visits = format!("{} site visits", job.visits);
    let reason = |otherwise: &str| job.reason.clone().unwrap_or_else(|| otherwise.to_owned());
    match job.state {
        State::Running if stores::is_running(job) => format!(
            "{who} is running: pid {} on {} since {}",
            job.pid, job.host, job.started
        ),
        State::Running if stores::is_here(job) => {
            format!("{who} was killed (pid {}); `{how}` continues it", job.pid)
        }
        State::Running => format!("{who} runs, or was killed, as pid {} on {}", job.pid, job.host),
        State::Completed => format!("{who} completed at {} after {visits}", job.updated),
        State::Stopped => format!(
            "{who} stopped at {} ({}); `{how}` continues it",
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
