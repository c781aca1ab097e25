//! `cargo ckpt list`: the checkpoints of a store and how its run stands.

use std::collections::BTreeSet;

use ckpt::session::auto::Estimate;
use ckpt::session::job::Job;
use ckpt::store::{Entry, Meta};
use serde_json::json;

use crate::failure::Outcome;
use crate::render;
use crate::stores::lines::{Line, Lines, rank_list};
use crate::stores::{self, StoreArgs};

/// List the checkpoints of a store, oldest first
///
/// Reads headers only; `verify` checks every byte. Of a program of several processes each line is what all its ranks
/// have with one number, as far as their files are on this machine.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct List {
    #[command(flatten)]
    store: StoreArgs,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt list
  cargo ckpt list --dir heat.ckpt.d --format json

Exit codes: 0 done (also when there is no checkpoint yet), 76 there is no store.";

impl List {
    /// Lists.
    pub fn perform(&self) -> Outcome<u8> {
        let store = self.store.named()?;
        let lines = Lines::of(&store);
        let list = lines.list()?;
        let job = stores::job(&store);
        let folder = if lines.several {
            store
        } else {
            stores::home(&store)
        };
        if self.store.json() {
            let checkpoints: Vec<_> = list.iter().map(|line| as_json(line, lines.several)).collect();
            let mut value = json!({ "store": folder, "job": job, "checkpoints": checkpoints });
            if lines.several {
                value["elsewhere"] = json!(lines.elsewhere);
            }
            render::print_json(&value);
            return Ok(0);
        }
        if let Some(job) = &job {
            render::print(&format!("{}: {}\n", folder.display(), standing(job)));
            let often = job.interval.as_ref().map(how_often).unwrap_or_default();
            render::print(&format!("{often}\n"));
        }
        match list.is_empty() {
            true => render::print(&format!("{} holds no checkpoint yet.\n", folder.display())),
            false => print_lines(&list, &lines),
        }
        if let Some(not_here) = lines.not_here() {
            render::print(&format!("\n{not_here}\n"));
        }
        Ok(0)
    }
}

/// What the first rank whose file can be read says.
fn meta(line: &Line) -> Option<&Meta> {
    line.entries
        .iter()
        .find_map(|(_, entry)| entry.meta.as_ref().ok())
}

/// The lines that this one cannot be restored without.
fn needs(line: &Line) -> Vec<u64> {
    let needs = line.entries.iter().flat_map(|(_, entry)| &entry.needs);
    let needs: BTreeSet<u64> = needs.map(|id| id.0).collect();
    needs.into_iter().collect()
}

/// Which ranks have their part.
fn ranks(line: &Line) -> String {
    match rank_list(&line.lacking) {
        None => format!("all {}", line.entries.len()),
        Some(lacking) => format!("{}, not {lacking}", line.entries.len()),
    }
}

fn print_lines(list: &[Line], lines: &Lines) {
    let mut header = vec!["ID", "TAKEN (UTC)", "VISIT", "REASON", "SIZE"];
    header.extend(lines.several.then_some("RANKS"));
    let some_need = list.iter().any(|line| !needs(line).is_empty());
    header.extend(some_need.then_some("BUILDS ON"));
    header.push("PROGRAM");
    let mut table = render::table(&header);
    render::right(&mut table, &[2, 4]);
    for line in list {
        let size = render::bytes(line.bytes());
        let (mut row, program) = match meta(line) {
            Some(meta) => (
                vec![
                    line.id.to_string(),
                    meta.time_text().replace('T', " ").replace('Z', ""),
                    meta.visit.to_string(),
                    meta.reason.clone(),
                    size,
                ],
                format!("{} {}", meta.program, meta.version),
            ),
            None => (
                vec![
                    line.id.to_string(),
                    "damaged".into(),
                    "-".into(),
                    "-".into(),
                    size,
                ],
                "-".into(),
            ),
        };
        row.extend(lines.several.then(|| ranks(line)));
        row.extend(some_need.then(|| match needs(line) {
            none if none.is_empty() => "-".to_owned(),
            needs => stores::id_list(&needs),
        }));
        row.push(program);
        table.add_row(row);
    }
    render::print_table(&table);
    for line in list {
        for (rank, entry) in &line.entries {
            if let Err(error) = &entry.meta {
                let whose = if lines.several {
                    format!(", rank {rank}")
                } else {
                    String::new()
                };
                render::print(&format!("\n{}{whose}: {error}\n", entry.id));
            }
        }
    }
}

/// Why checkpoints come as often as they do, where ckpt has found that out.
fn how_often(estimate: &Estimate) -> String {
    let time = render::setting;
    format!(
        "interval auto: a checkpoint every {}, as one makes the program wait for {} and a failure is expected every {};\n\
         together they will cost {:.1} % of the time\n",
        time(estimate.interval),
        time(estimate.cost),
        time(estimate.between_failures),
        100.0 * estimate.waste
    )
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

/// Of several ranks: what the first says of the line, and the file of each.
fn as_json(line: &Line, several: bool) -> serde_json::Value {
    let readable = line.entries.iter().find(|(_, entry)| entry.meta.is_ok());
    let mut value = match readable.or(line.entries.first()) {
        Some((_, entry)) => entry_as_json(entry),
        None => json!({ "id": line.id.0 }),
    };
    if several {
        let file = |(rank, entry): &(u32, Entry)| {
            let error = entry.meta.as_ref().err().map(ToString::to_string);
            json!({ "rank": rank, "path": entry.path, "bytes": entry.bytes, "error": error })
        };
        value["bytes"] = json!(line.bytes());
        value["ranks"] = line.entries.iter().map(file).collect();
        value["lacking"] = json!(line.lacking);
    }
    value
}

fn entry_as_json(entry: &Entry) -> serde_json::Value {
    match &entry.meta {
        Ok(meta) => json!({
            "id": entry.id.0,
            "path": entry.path,
            "bytes": entry.bytes,
            "needs": entry.needs.iter().map(|id| id.0).collect::<Vec<_>>(),
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
