//! `cargo ckpt list`: the checkpoints of a store and how its run stands.

use ckpt::session::job::Job;
use ckpt::store::Entry;
use serde_json::json;

use crate::failure::Outcome;
use crate::render::{self, FormatOption};
use crate::stores::{self, StoreOption};
use crate::values::checkpoint;

/// List the checkpoints of a store, oldest first
///
/// Reads headers only; `verify` checks every byte.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct List {
    #[command(flatten)]
    store: StoreOption,
    #[command(flatten)]
    format: FormatOption,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt list
  cargo ckpt list --dir heat.ckpt.d --format json

Exit codes: 0 done (also when there is no checkpoint yet), 76 there is no store.";

impl List {
    /// Lists.
    pub fn perform(&self) -> Outcome<u8> {
        let folder = self.store.existing()?;
        let entries = checkpoint::open(&folder)?
            .list()
            .map_err(checkpoint::store_failure)?;
        let job = stores::job(&folder);
        if self.format.json() {
            let checkpoints: Vec<_> = entries.iter().map(as_json).collect();
            render::print_json(&json!({ "store": folder, "job": job, "checkpoints": checkpoints }));
            return Ok(0);
        }
        if let Some(job) = &job {
            render::print(&format!("{}: {}\n\n", folder.display(), standing(job)));
        }
        match entries.is_empty() {
            true => render::print(&format!("{} holds no checkpoint yet.\n", folder.display())),
            false => print_entries(&entries),
        }
        Ok(0)
    }
}

fn print_entries(entries: &[Entry]) {
    let mut table = render::table(&["ID", "TAKEN (UTC)", "VISIT", "REASON", "SIZE", "PROGRAM"]);
    render::right(&mut table, &[2, 4]);
    for entry in entries {
        let size = render::bytes(entry.bytes);
        match &entry.meta {
            Ok(meta) => table.add_row([
                entry.id.to_string(),
                meta.time_text().replace('T', " ").replace('Z', ""),
                meta.visit.to_string(),
                meta.reason.clone(),
                size,
                format!("{} {}", meta.program, meta.version),
            ]),
            Err(_) => table.add_row([
                entry.id.to_string(),
                "damaged".into(),
                "-".into(),
                "-".into(),
                size,
                "-".into(),
            ]),
        };
    }
    render::print_table(&table);
    for entry in entries {
        if let Err(error) = &entry.meta {
            render::print(&format!("\n{}: {error}\n", entry.id));
        }
    }
}

/// How the run stands, in one line.
fn standing(job: &Job) -> String {
    use ckpt::session::job::State;
    let who = format!("{} {}", job.program, job.version);
    let visits = format!("{} site visits", job.visits);
    match (job.state, &job.reason) {
        (State::Running, _) if stores::is_running(job) => {
            format!(
                "{who} is running: pid {} on {} since {}",
                job.pid, job.host, job.started
            )
        }
        (State::Running, _) if stores::is_here(job) => {
            format!(
                "{who} was killed (pid {}); `cargo ckpt restart` continues it",
                job.pid
            )
        }
        (State::Running, _) => format!("{who} runs, or was killed, as pid {} on {}", job.pid, job.host),
        (State::Completed, _) => format!("{who} completed at {} after {visits}", job.updated),
        (State::Stopped, reason) => format!(
            "{who} stopped at {} ({}); `cargo ckpt restart` continues it",
            job.updated,
            reason.as_deref().unwrap_or("asked to")
        ),
        (State::Failed, reason) => {
            format!(
                "{who} failed at {}: {}",
                job.updated,
                reason.as_deref().unwrap_or("no reason given")
            )
        }
        (State::Refused, reason) => {
            format!(
                "{who} was ended by ckpt at {}: {}",
                job.updated,
                reason.as_deref().unwrap_or("no reason given")
            )
        }
    }
}

fn as_json(entry: &Entry) -> serde_json::Value {
    match &entry.meta {
        Ok(meta) => json!({
            "id": entry.id.0,
            "path": entry.path,
            "bytes": entry.bytes,
            "time": meta.time_text(),
            "visit": meta.visit,
            "reason": meta.reason,
            "program": meta.program,
            "version": meta.version,
            "host": meta.host,
        }),
        Err(error) => json!({
            "id": entry.id.0,
            "path": entry.path,
            "bytes": entry.bytes,
            "error": error.to_string(),
        }),
    }
}
