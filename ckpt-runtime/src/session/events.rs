//! What has happened to a run, in the order in which it did: `events.log` among its documents, one JSON object a line, for
//! reports; and the same in numbers, `metrics.prom` in the store, in the format of OpenMetrics, for monitoring that reads
//! text files: of the run that the last process was of. Both inform, nothing depends on them.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::job::{Job, State};
use crate::base::documents::{Documents, Durability};
#[cfg(feature = "tracing")]
use crate::base::events::event;
use crate::base::run_id::RunId;
use crate::storage::documents_of_run;

/// Name of the file with the events of a run.
pub const EVENTS_FILE: &str = "events.log";
/// Name of the file with the numbers, in the store folder.
pub const METRICS_FILE: &str = "metrics.prom";
/// Longer files are not made longer still: a hundred thousand checkpoints are enough for a report.
const LONGEST: u64 = 16 << 20;

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// When: seconds since 1970, UTC.
    pub at: f64,
    /// Of which run.
    pub run: RunId,
    /// What.
    #[serde(flatten)]
    pub what: What,
}

/// What has happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum What {
    /// A process began.
    Start {
        /// Its number.
        pid: u32,
        /// Where it runs.
        host: String,
        /// Site visits that lie behind it.
        visits: u64,
        /// The checkpoint that it continues from.
        restarted_from: Option<u64>,
    },
    /// A checkpoint is on the disk.
    Checkpoint {
        /// Its number.
        id: u64,
        /// The site visit.
        visits: u64,
        /// Seconds that the program stood still for it.
        waited: f64,
        /// Seconds until it was on the disk, from the same moment.
        took: f64,
        /// Size of its state.
        bytes: u64,
        /// Size of its file: zeros, and what older files have, are left out.
        #[serde(default)]
        file: u64,
        /// Why it was taken.
        reason: String,
        /// Where the time went.
        #[serde(default)]
        parts: Parts,
    },
    /// A process that continues from a checkpoint, or goes back to one, has come to its site: the program runs.
    Resume {
        /// The checkpoint.
        id: u64,
        /// The site visit.
        visits: u64,
        /// Seconds until the session was open, with the checkpoint read and checked.
        opened: f64,
        /// Seconds of that in which it was read.
        read: f64,
        /// Seconds of that in which it was compared with its checksums. Both were done side by side, by several threads.
        checked: f64,
        /// Seconds from then on until the program stood at the site, its files as they were.
        walked: f64,
    },
    /// A checkpoint could not be taken.
    Failed {
        /// The site visit.
        visits: u64,
        /// Why not.
        why: String,
    },
    /// The program goes back to a checkpoint without being started again.
    Rollback {
        /// The checkpoint, if not the newest that is whole.
        to: Option<u64>,
        /// The site visit of the state in memory that it goes back to, if it is that and no checkpoint.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        snapshot: Option<u64>,
        /// The site visit that it was at.
        visits: u64,
        /// Why.
        reason: String,
        /// Seconds since the snapshot that it goes back to was taken; when a checkpoint was, its own event tells.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<f64>,
        /// One rank does, without the others.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        alone: bool,
        /// Which.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rank: Option<u32>,
    },
    /// A variable was wrong, and was put right where the program stood: nothing went back.
    Repair {
        /// The site visit.
        visits: u64,
        /// The function.
        function: String,
        /// The variable.
        variable: String,
        /// How.
        how: Repair,
        /// How many bytes were put right, those of whole blocks.
        bytes: usize,
        /// Seconds that it took, the look that found it left out.
        took: f64,
    },
    /// A test has turned a bit, in a variable or, where none is named, in the newest snapshot in memory.
    Flip {
        /// The site visit behind which it did.
        visits: u64,
        /// The function.
        function: String,
        /// The variable.
        variable: String,
        /// The number of the bit in that.
        bit: u64,
        /// Whether no statement writes to the variable between two visits of its site.
        is_unchanged: bool,
    },
    /// The process ended, and knew it: one that was killed has no end.
    End {
        /// How.
        state: State,
        /// Site visits that lie behind it.
        visits: u64,
        /// Why, where it did not simply complete.
        reason: Option<String>,
    },
}

/// Where the time of a checkpoint went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// This rank waited, since the checkpoint before, to know what all ranks know, and for its threads to come to the site.
    pub agreed: f64,
    /// The state was gathered and copied; where the program waits for the disk, large lists were written as well.
    pub copied: f64,
    /// It was written.
    pub written: f64,
    /// The disk took what the system still had of it, and of the program's files.
    pub synced: f64,
}

/// How a variable is put right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repair {
    /// Its statement was evaluated again, and gave what it had been.
    MadeAgain,
    /// From the newest snapshot in memory.
    PutBack,
    /// The machine had lost a part of it, which was put back from there before the program had read it.
    MachineCheck,
}

impl Repair {
    /// In words, behind the variable.
    pub fn words(self) -> &'static str {
        match self {
            Repair::MadeAgain => "was made again",
            Repair::PutBack => "was put back from memory",
            Repair::MachineCheck => "was put back where the machine had lost it",
        }
    }
}

impl What {
    /// The same for a subscriber of `tracing`.
    pub(super) fn trace(&self) {
        #[cfg(feature = "tracing")]
        match self {
            What::Start {
                visits,
                restarted_from: Some(id),
                ..
            } => event!(info, id, visits, "restart"),
            What::Start { .. } => event!(info, "start"),
            What::Checkpoint {
                id,
                visits,
                waited,
                took,
                bytes,
                reason,
                ..
            } => event!(
                info,
                id,
                visits,
                waited,
                took,
                bytes,
                reason,
                "checkpoint written"
            ),
            What::Rollback {
                to,
                snapshot,
                visits,
                reason,
                alone,
                rank,
                ..
            } => event!(warn, to, snapshot, visits, reason, alone, rank, "rollback"),
            What::Repair {
                visits,
                function,
                variable,
                how,
                bytes,
                ..
            } => event!(warn, visits, function, variable, ?how, bytes, "repair"),
            What::Flip {
                visits,
                function,
                variable,
                bit,
                ..
            } => event!(info, visits, function, variable, bit, "bit flipped by a test"),
            What::Resume {
                id, visits, walked, ..
            } => event!(info, id, visits, walked, "resumed"),
            What::Failed { visits, why } => event!(warn, visits, why, "checkpoint failed"),
            What::End {
                state,
                visits,
                reason,
            } => event!(info, ?state, visits, reason, "end"),
        }
    }
}

/// All events of a run, the oldest first; what cannot be read is passed over, and what is of another run.
pub fn read(store: &Path, run: RunId) -> Vec<Event> {
    read_with_losses(store, run).0
}

/// The same, and how many lines say nothing that could be read: the file was damaged or cut off.
pub fn read_with_losses(store: &Path, run: RunId) -> (Vec<Event>, usize) {
    let text = documents_of_run(store, run)
        .read(EVENTS_FILE)
        .ok()
        .flatten()
        .unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let (mut events, mut unreadable) = (Vec::new(), 0);
    for line in lines {
        match serde_json::from_slice::<Event>(line) {
            Ok(event) => events.extend((event.run == run).then_some(event)),
            Err(_) => unreadable += 1,
        }
    }
    (events, unreadable)
}

/// What the session has done so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Totals {
    checkpoints: u64,
    waited: f64,
    took: f64,
    bytes: u64,
    last: f64,
}

/// Adds an event to those of a run, and writes its numbers into the store.
pub(super) fn add(
    documents: &dyn Documents,
    store: &dyn Documents,
    job: &Job,
    totals: &mut Totals,
    what: What,
) {
    let at = now();
    if let What::Checkpoint {
        waited, took, bytes, ..
    } = &what
    {
        *totals = Totals {
            checkpoints: totals.checkpoints + 1,
            waited: totals.waited + waited,
            took: totals.took + took,
            bytes: *bytes,
            last: at,
        };
    }
    // Nobody waits for these, and nothing is lost with them.
    let run = job.run;
    let _ = append(documents, &Event { at, run, what });
    let _ = write_metrics(store, job, *totals);
}

/// Adds what is known of the end of a process that has ended: its numbers stay what they were.
pub(super) fn add_late(documents: &dyn Documents, job: &Job, what: What) {
    add_of_rank(documents, job.run, what);
}

/// Adds what has happened to a rank that keeps no record of the run.
pub(super) fn add_of_rank(documents: &dyn Documents, run: RunId, what: What) {
    let at = now();
    let _ = append(documents, &Event { at, run, what });
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

fn append(documents: &dyn Documents, event: &Event) -> std::io::Result<()> {
    let mut log = documents.log(EVENTS_FILE, Durability::Unsynced)?;
    if log.length()? > LONGEST {
        return Ok(());
    }
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    log.add(&line)
}

/// The numbers of a job, replaced as a whole.
fn write_metrics(documents: &dyn Documents, job: &Job, totals: Totals) -> std::io::Result<()> {
    documents.replace(
        METRICS_FILE,
        metrics(job, totals).as_bytes(),
        Durability::Unsynced,
    )
}

fn metrics(job: &Job, totals: Totals) -> String {
    let label = job
        .program
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    let run = job.run;
    let mut text = String::new();
    let mut add = |kind: &str, name: &str, help: &str, value: f64| {
        let suffix = if kind == "counter" { "_total" } else { "" };
        text += &format!("# TYPE {name} {kind}\n");
        // OpenMetrics has a unit at the end of the name.
        if let Some((_, unit @ ("seconds" | "bytes" | "ratio"))) = name.rsplit_once('_') {
            text += &format!("# UNIT {name} {unit}\n");
        }
        text +=
            &format!("# HELP {name} {help}\n{name}{suffix}{{program=\"{label}\",run=\"{run}\"}} {value}\n");
    };
    macro_rules! add {
        ($($kind:ident $name:ident: $help:literal, $value:expr;)*) => {
            $(add(stringify!($kind), stringify!($name), $help, $value);)*
        };
    }
    add! {
        gauge ckpt_running: "Whether the process runs, as far as it has told.", f64::from(job.is_open());
        gauge ckpt_visits: "Site visits since the beginning of the run.", job.visits as f64;
        counter ckpt_checkpoints: "Checkpoints of this process that are on the disk.", totals.checkpoints as f64;
        counter ckpt_failed_checkpoints: "Checkpoints of this process that could not be taken.",
            job.failed_checkpoints as f64;
        counter ckpt_wait_seconds: "Time that the program stood still for checkpoints.", totals.waited;
        counter ckpt_write_seconds: "Time until checkpoints were on the disk.", totals.took;
        gauge ckpt_state_bytes: "Size of the state in the last checkpoint.", totals.bytes as f64;
        gauge ckpt_last_checkpoint_seconds: "When the last checkpoint was on the disk, since 1970; 0: none yet.",
            totals.last;
        gauge ckpt_former_runs: "Processes that ran on the store before.", job.history.runs as f64;
        gauge ckpt_former_failures: "How many of them were killed or failed.", job.history.failures as f64;
    }
    if let Some(estimate) = &job.interval {
        add! {
            gauge ckpt_interval_seconds: "The interval that pays, by Daly.", estimate.interval;
            gauge ckpt_expected_waste_ratio: "The share of the time that is lost, by the same model.", estimate.waste;
        }
    }
    text + "# EOF\n"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::base::documents::in_memory;

    fn job() -> Job {
        serde_json::from_str(
            r#"{"run": "00000000000000000000000000000007", "program": "he\"at", "version": "1", "pid": 7, "host": "h", "started": "", "updated": "", "state": "running",
            "visits": 12, "restarted_from": null, "last_checkpoint": null, "failed_checkpoints": 1, "command": [], "reason": null}"#,
        )
        .unwrap()
    }

    #[test]
    fn events_come_back_and_what_was_cut_off_is_passed_over() {
        let store = tempfile::tempdir().unwrap();
        let run = job().run;
        assert!(read(store.path(), run).is_empty());
        let what = What::Checkpoint {
            id: 3,
            visits: 12,
            waited: 0.5,
            took: 2.0,
            bytes: 100,
            file: 90,
            reason: "every 4".into(),
            parts: Parts::default(),
        };
        add(
            &documents_of_run(store.path(), run),
            &in_memory::Shelf::default(),
            &job(),
            &mut Totals::default(),
            what.clone(),
        );
        let path = documents_of_run(store.path(), run).path_of(EVENTS_FILE);
        let text = fs::read_to_string(&path).unwrap();
        let of_another = text.replace(&run.to_string(), &RunId::new().unwrap().to_string());
        fs::write(&path, format!("{text}{of_another}{}", &text[..20])).unwrap();
        let events = read(store.path(), run);
        assert_eq!(
            events.iter().map(|event| &event.what).collect::<Vec<_>>(),
            [&what]
        );
    }

    #[test]
    fn metrics_are_openmetrics() {
        let totals = Totals {
            checkpoints: 2,
            waited: 0.25,
            ..Totals::default()
        };
        let text = metrics(&job(), totals);
        assert!(text.contains("# TYPE ckpt_checkpoints counter\n"), "{text}");
        assert!(
            text.contains(
                "ckpt_checkpoints_total{program=\"he\\\"at\",run=\"00000000000000000000000000000007\"} 2\n"
            ),
            "{text}"
        );
        assert!(
            text.contains("ckpt_wait_seconds_total{program=\"he\\\"at\",run=\"00000000000000000000000000000007\"} 0.25\n"),
            "{text}"
        );
        assert!(
            text.ends_with("# EOF\n") && !text.contains("ckpt_interval"),
            "{text}"
        );
    }
}
