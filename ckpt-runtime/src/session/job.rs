//! The job's state: `job.json` in the store folder, one small file that says who runs on the store, since when, how far
//! it came and how it ended. The command line reads it; a restart reads it to know whether the run had completed.

use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::auto::{self, Estimate, History};
use super::config::{Config, Interval};
use super::events::{self, Totals, What};
use crate::base::documents::{Documents, Durability};
use crate::base::lock::locked;
use crate::storage::documents_of;

/// Name of the state file in the store folder.
pub const JOB_FILE: &str = "job.json";

/// Name of the note in every checkpoint that holds the command line of its run, a JSON list: `job.json` speaks of the
/// last process only, which may have been another run that ended before its first checkpoint.
pub const COMMAND_NOTE: &str = "command";

/// Name of the note in every checkpoint of an MPI program that says how many ranks it had.
pub const RANKS_NOTE: &str = "mpi_ranks";

/// How a run stands, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The program runs; if no process has its pid any more, it was killed.
    Running,
    /// The program ended with exit code 0.
    Completed,
    /// A checkpoint was taken and the run stopped, on a signal or before its time limit.
    Stopped,
    /// The program panicked or ended with another exit code.
    Failed,
    /// ckpt ended the run with an error: see the reason.
    Refused,
}

/// What `job.json` holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The package's name.
    pub program: String,
    /// The package's version.
    pub version: String,
    /// Process id of the last process that ran on the store.
    pub pid: u32,
    /// Host it ran on.
    pub host: String,
    /// When this process started, RFC 3339, UTC.
    pub started: String,
    /// When this file was last written, RFC 3339, UTC.
    pub updated: String,
    /// How the run stands.
    pub state: State,
    /// Site visits since the beginning of the run, all its processes together.
    pub visits: u64,
    /// The checkpoint that this process was restarted from.
    pub restarted_from: Option<u64>,
    /// The newest checkpoint that this process wrote.
    pub last_checkpoint: Option<u64>,
    /// Checkpoints that this process could not write.
    pub failed_checkpoints: u64,
    /// The command line.
    pub command: Vec<String>,
    /// Why the run stopped, where it did not simply complete.
    pub reason: Option<String>,
    /// How many processes the program has, if it is one of MPI; this record is that of rank 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// The processes that ran on the store before this one.
    #[serde(default)]
    pub history: History,
    /// Where the interval between checkpoints is `auto`: what it is, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Estimate>,
    /// When checkpoints are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
}

/// When a process takes checkpoints without being asked to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// One every so many site visits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<u64>,
    /// One every so many seconds; where that is [`auto`](Self::auto), the first after so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The interval follows from what checkpoints cost: [`Job::interval`] has it from the first checkpoint on.
    #[serde(default)]
    pub auto: bool,
}

impl Rule {
    pub(crate) fn of(config: &Config) -> Rule {
        let first = config.interval.map(|interval| match interval {
            Interval::Every(interval) => interval,
            Interval::Auto => auto::FIRST,
        });
        Rule {
            every: config.every.map(NonZeroU64::get),
            seconds: first.map(|first| first.as_secs_f64()),
            auto: config.interval == Some(Interval::Auto),
        }
    }
}

impl Job {
    /// Reads the state of the last run on a store; `None` if there has been none.
    ///
    /// # Errors
    /// The file cannot be read, or is not what ckpt writes.
    ///
    /// # Examples
    ///
    /// ```
    /// use ckpt::session::job::Job;
    ///
    /// let store = tempfile::tempdir()?;
    /// assert_eq!(Job::read(store.path())?, None); // nothing has run yet
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read(store: &Path) -> io::Result<Option<Job>> {
        Job::read_in(&documents_of(store))
    }

    pub(super) fn read_in(documents: &dyn Documents) -> io::Result<Option<Job>> {
        let bytes = documents.read(JOB_FILE)?;
        Ok(bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose()?)
    }

    /// What is known of the processes on this store when this one, the last so far, has ended.
    pub(crate) fn history_after(&self) -> History {
        let seconds = |text: &str| humantime::parse_rfc3339(text).ok();
        let ran = match (seconds(&self.started), seconds(&self.updated)) {
            (Some(started), Some(updated)) => updated.duration_since(started).unwrap_or_default(),
            _ => std::time::Duration::ZERO,
        };
        let failed = matches!(self.state, State::Running | State::Failed);
        History {
            runs: self.history.runs + 1,
            failures: self.history.failures + u64::from(failed),
            seconds: self.history.seconds + ran.as_secs_f64(),
        }
    }

    /// Replaces the state file.
    fn write(&self, documents: &dyn Documents) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        documents.replace(JOB_FILE, &text, Durability::Unsynced)
    }
}

/// Now, as RFC 3339 in UTC.
pub(crate) fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// What a session says of its job, until it has ended. A leaf lock: nothing is called while it is held. Shared, because a
/// fatal error can come from any thread.
#[derive(Debug, Default)]
pub(crate) struct Record(Mutex<Option<Open>>);

#[derive(Debug)]
struct Open {
    documents: Arc<dyn Documents>,
    job: Job,
    totals: Totals,
}

impl Open {
    fn add(&mut self, what: What) {
        events::add(&*self.documents, &self.job, &mut self.totals, what);
    }
}

impl Record {
    fn current(&self) -> MutexGuard<'_, Option<Open>> {
        locked(&self.0)
    }

    /// Starts the record.
    pub(crate) fn begin(&self, documents: Arc<dyn Documents>, job: Job) -> io::Result<()> {
        job.write(&*documents)?;
        let what = What::Start {
            pid: job.pid,
            host: job.host.clone(),
            visits: job.visits,
            restarted_from: job.restarted_from,
        };
        what.trace();
        let mut open = Open {
            documents,
            job,
            totals: Totals::default(),
        };
        open.add(what);
        *self.current() = Some(open);
        Ok(())
    }

    /// Something has happened to the job.
    pub(super) fn happened(&self, what: What) {
        // A subscriber may do anything: the lock is not held.
        what.trace();
        if let Some(open) = self.current().as_mut() {
            open.add(what);
        }
    }

    /// Changes the record and writes it. A failure is not an error of the run: the record informs, nothing depends on it.
    pub(crate) fn update(&self, change: impl FnOnce(&mut Job)) {
        if let Some(Open { documents, job, .. }) = self.current().as_mut() {
            change(job);
            job.updated = now();
            let _ = job.write(&**documents);
        }
    }

    /// Writes how the run ended and closes the record; later calls change nothing.
    pub(crate) fn ended(&self, state: State, reason: &str) {
        self.update(|job| {
            job.state = state;
            job.reason = (!reason.is_empty()).then(|| reason.to_owned());
        });
        let record = self.current().take();
        if let Some(mut open) = record {
            let what = What::End {
                state,
                visits: open.job.visits,
                reason: open.job.reason.clone(),
            };
            what.trace();
            open.add(what);
        }
    }

    /// `main` returned, after so many visits. With which exit code is not known yet.
    pub(crate) fn returned(&self, visits: u64) {
        self.update(|job| {
            job.state = State::Completed;
            job.visits = visits;
        });
        self.happened(What::End {
            state: State::Completed,
            visits,
            reason: None,
        });
    }

    /// The process exits with `status`, after `main` returned or because the program called `exit`.
    pub(crate) fn exited(&self, status: i32) {
        let now = match self.current().as_ref() {
            // A process that the program forked has nothing to say about the run.
            Some(Open { documents, job, .. }) if job.pid == std::process::id() => {
                // The store was free since `main` returned: another process may have begun on it.
                let there = Job::read_in(&**documents).ok().flatten();
                there
                    .filter(|there| there.pid == job.pid && there.host == job.host)
                    .map(|_| job.state)
            }
            _ => None,
        };
        if now == Some(State::Running)
            && let Some(visits) = crate::frame::visits()
        {
            self.update(|job| job.visits = visits);
        }
        match (now, status) {
            (Some(State::Running), 0) => self.ended(State::Completed, "the program called exit(0)"),
            (Some(State::Running | State::Completed), 1..) => {
                self.ended(State::Failed, &format!("exit code {status}"))
            }
            _ => {}
        }
    }
}
