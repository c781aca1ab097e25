//! The state of a run: `STORE/runs/RUN/job.json`, one small file that says who runs, since when, how far it came and how it
//! ended. The command line reads it; a restart reads it to know which run began last, and whether it had completed.

use std::io;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::auto::{self, Estimate, History};
use super::config::{Config, Interval};
use super::events::{self, Totals, What};
use super::sources::Builds;
use crate::base::documents::{Documents, Durability};
use crate::base::lock::locked;
use crate::base::processes;
use crate::base::report::say;
use crate::base::rollback::NotRolledBack;
use crate::base::run_id::RunId;
use crate::context::rollback::Tries;
use crate::format::{CheckpointId, StoreError};
use crate::handles::Place;
use crate::storage::{Mode, Store, documents_of_run};

/// How a process ends that does not close its session.
const UNSEEN: &str = "by `_exit`, or as another program (`exec`)";

/// Name of the state file of a run.
pub const JOB_FILE: &str = "job.json";

/// Name of the record in which `cargo ckpt` keeps how it built and started the program.
pub const LAUNCH_FILE: &str = "launch.json";

/// More processes than any program has.
const MOST_RANKS: u32 = 1 << 20;

/// What tells of a run when its checkpoints are gone.
pub(crate) const RECORDS: &[&str] = &[JOB_FILE, super::events::EVENTS_FILE, LAUNCH_FILE];

/// Name of the note in every checkpoint that holds the command line of its process, a JSON list: `job.json` speaks of the
/// last process only, which may have been given other arguments.
pub const COMMAND_NOTE: &str = "command";

/// Name of the note in every checkpoint that says what its program was made of: the hash of all its sources, 32 hexadecimal digits.
pub const SOURCES_NOTE: &str = "sources";

/// Name of the note in every checkpoint of an MPI program that says how many ranks it had.
pub const RANKS_NOTE: &str = "mpi_ranks";

/// How a run stands, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The program runs; if no process has its pid any more, it was killed.
    Running,
    /// The session is closed, as where `main` has returned; with which exit code the process ends is not known yet. If no process
    /// has its pid any more, it was killed before its end, or left by `_exit`.
    Returned,
    /// The program ended with exit code 0.
    Completed,
    /// The process ended with exit code 0 without its session being closed: by `_exit`, or as another program (`exec`). Whether
    /// the run came to its end only its user knows.
    Left,
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
    /// The run that it tells of.
    pub run: RunId,
    /// The run's place among those of its store: each is one more than the last that had begun before. A clock may be wrong.
    #[serde(default)]
    pub order: u64,
    /// When the run began, RFC 3339, UTC.
    #[serde(default)]
    pub begun: String,
    /// The package's name.
    pub program: String,
    /// The package's version.
    pub version: String,
    /// Process id of the last process of the run.
    pub pid: u32,
    /// What tells that process from others of its number, on the same machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// In which namespace it has that number, where the system tells: a container has numbers of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
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
    /// The share of the process's time that lies within reach of a site, where that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<f64>,
    /// The checkpoint that this process was restarted from.
    pub restarted_from: Option<u64>,
    /// The newest checkpoint that this process wrote.
    pub last_checkpoint: Option<u64>,
    /// Checkpoints that this process could not write.
    pub failed_checkpoints: u64,
    /// The command line.
    pub command: Vec<String>,
    /// Where its process was started, and where the store was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// Why the run stopped, where it did not simply complete.
    pub reason: Option<String>,
    /// How many processes the program has, if it is one of MPI; this record is that of rank 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
    /// The processes that ran on the store before this one, of whatever run.
    #[serde(default)]
    pub history: History,
    /// Where the interval between checkpoints is `auto`: what it is, and why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Estimate>,
    /// When checkpoints are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<Rule>,
    /// How often the program has gone back to a checkpoint without being started again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rollbacks: Option<Rollbacks>,
    /// What the programs were made of that were processes of the run.
    #[serde(default, skip_serializing_if = "Builds::is_empty")]
    pub sources: Builds,
}

/// So often a program may go back from the same place.
const MOST_IN_A_ROW: u32 = 3;

/// So often from different places, without coming further than to where it was before: errors that have nothing to do with each other.
const MOST_IN_ALL: u32 = 12;

/// How often a program has gone back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rollbacks {
    /// In the whole run.
    pub count: u64,
    /// How many of the last were from the same place: the program came no further than to where it had gone back from the time before.
    pub in_a_row: u32,
    /// The site visit that the last one was from.
    #[serde(default)]
    pub at: u64,
    /// How many of the last were from site visits up to [`from`](Self::from).
    #[serde(default)]
    pub in_all: u32,
    /// The furthest site visit of those.
    pub from: u64,
    /// The site visit that the last one went back to.
    pub to: u64,
}

impl Rollbacks {
    /// With one more, from this site visit.
    ///
    /// # Errors
    /// There were so many from there that another one would not help.
    pub(crate) fn another(self, visits: u64) -> Result<Rollbacks, NotRolledBack> {
        let comes_further = self.in_a_row == 0 || visits > self.from;
        // Past where it went wrong the last time: this is something else, even if the program has been here before.
        let is_another = comes_further || visits > self.at;
        let no_progress = |times, visits| Err(NotRolledBack::NoProgress { times, visits });
        if !is_another && self.in_a_row >= MOST_IN_A_ROW {
            return no_progress(self.in_a_row, self.at);
        }
        if !comes_further && self.in_all >= MOST_IN_ALL {
            return no_progress(self.in_all, self.from);
        }
        let more = |stays, number| if stays { number + 1 } else { 1 };
        Ok(Rollbacks {
            count: self.count + 1,
            in_a_row: more(!is_another, self.in_a_row),
            at: visits,
            in_all: more(!comes_further, self.in_all),
            from: self.from.max(visits),
            to: self.to,
        })
    }

    /// What ranks know of them.
    pub(super) fn tries(self) -> Tries {
        Tries {
            in_a_row: self.in_a_row,
            at: self.at,
            in_all: self.in_all,
            from: self.from,
            to: self.to,
        }
    }

    /// From what ranks know of them.
    pub(super) fn of_tries(tries: Tries) -> Rollbacks {
        Rollbacks {
            count: 0,
            in_a_row: tries.in_a_row,
            at: tries.at,
            in_all: tries.in_all,
            from: tries.from,
            to: tries.to,
        }
    }

    /// Another process goes on, which somebody has started.
    pub(crate) fn in_another_process(self) -> Rollbacks {
        Rollbacks {
            count: self.count,
            ..Rollbacks::default()
        }
    }
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
    /// Reads the state of a run; `None` if the store has no record of it.
    ///
    /// # Errors
    /// The file cannot be read, or is not what ckpt writes.
    ///
    /// # Examples
    ///
    /// ```
    /// use ckpt::session::job::Job;
    /// use ckpt::store::RunId;
    ///
    /// let store = tempfile::tempdir()?;
    /// assert_eq!(Job::read(store.path(), RunId::new()?)?, None); // nothing has run yet
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn read(store: &Path, run: RunId) -> io::Result<Option<Job>> {
        Job::read_in(&documents_of_run(store, run), run)
    }

    /// Whether how the process ended is not said yet.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.state, State::Running | State::Returned)
    }

    /// Whether processes have the numbers here that they have where this one ran, on this machine: not in another container.
    pub fn has_our_numbers(&self) -> bool {
        self.namespace.is_none() || self.namespace == processes::namespace()
    }

    /// Whether the process of this job runs, which is one of this machine. A process that has ended is not taken for running, whoever
    /// has its number now.
    pub fn is_running(&self) -> bool {
        self.is_open() && self.pid > 0 && processes::runs(self.pid, self.process.as_deref())
    }

    /// Notes how the process of a run ended, which whoever started it knows: with an exit code, or without one, killed by a signal. It is noted if the run has said nothing of its end, or that it has completed where that was before the very end, and not so. Gives
    /// how the run stands then; `None` if there was nothing to note, or another process is at work on the store.
    ///
    /// # Errors
    /// The store cannot be written to.
    ///
    /// # Examples
    ///
    /// ```
    /// use ckpt::session::job::Job;
    /// use ckpt::store::RunId;
    ///
    /// let store = tempfile::tempdir()?;
    /// assert_eq!(Job::note_exit(store.path(), RunId::new()?, 1234, Some(0))?, None); // nothing has run yet
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn note_exit(store: &Path, run: RunId, pid: u32, code: Option<i32>) -> io::Result<Option<State>> {
        let state_then = |job: &Job| match (code, job.state) {
            (Some(0), State::Running) => Some(State::Left),
            (Some(0), State::Returned) => Some(State::Completed),
            (Some(0), _) => None,
            (Some(_), State::Running | State::Returned | State::Completed) => Some(State::Failed),
            (None, State::Completed) => Some(State::Returned),
            _ => None,
        };
        let is_meant = |job: &Job| job.pid == pid && !job.is_running() && state_then(job).is_some();
        let documents = documents_of_run(store, run);
        let read = || Ok::<_, io::Error>(Job::read_in(&documents, run)?.filter(is_meant));
        if read()?.is_none() {
            return Ok(None);
        }
        // A process that begins now says so itself.
        let _locked = match Store::open(store, Mode::ReadWrite) {
            Err(StoreError::Locked { .. }) => return Ok(None),
            opened => opened.map_err(io::Error::other)?,
        };
        let Some(mut job) = read()? else { return Ok(None) };
        let before = job.state;
        job.state = state_then(&job).unwrap_or(before);
        job.updated = now();
        job.reason = match (job.state, code) {
            (State::Failed, Some(code)) if before == State::Completed => Some(format!(
                "exit code {code}, which something chose that runs at the exit of the process"
            )),
            (State::Failed | State::Left, Some(code)) => Some(format!("exit code {code}, {UNSEEN}")),
            _ => None,
        };
        job.write(&documents, Durability::Synced)?;
        if job.state == before {
            return Ok(None);
        }
        let what = What::End {
            state: job.state,
            visits: job.visits,
            reason: job.reason.clone(),
        };
        events::add_late(&documents, &job, what);
        Ok(Some(job.state))
    }

    pub(super) fn read_in(documents: &dyn Documents, run: RunId) -> io::Result<Option<Job>> {
        let bytes = documents.read(JOB_FILE)?;
        let job: Option<Job> = bytes.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        match job {
            Some(job) if job.run != run => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("it tells of another run, {}", job.run),
            )),
            // Whoever looks for the files of so many would not come to an end.
            Some(Job {
                ranks: Some(ranks), ..
            }) if ranks > MOST_RANKS => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("it tells of {ranks} processes, and no program has more than {MOST_RANKS}"),
            )),
            job => Ok(job),
        }
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
            runs: self.history.runs.saturating_add(1),
            failures: self.history.failures.saturating_add(u64::from(failed)),
            seconds: self.history.seconds + ran.as_secs_f64(),
        }
    }

    /// Replaces the state file. A power cut must not leave an empty one: which run is the newest would be lost. That a run
    /// has begun or ended has to stay; how far it had come meanwhile its checkpoints say as well.
    fn write(&self, documents: &dyn Documents, durability: Durability) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        documents.replace(JOB_FILE, &text, durability)
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
    /// Where the numbers for monitoring go, which are those of the last run.
    store: Arc<dyn Documents>,
    job: Job,
    totals: Totals,
}

impl Open {
    fn add(&mut self, what: What) {
        events::add(&*self.documents, &*self.store, &self.job, &mut self.totals, what);
    }
}

impl Record {
    fn current(&self) -> MutexGuard<'_, Option<Open>> {
        locked(&self.0)
    }

    /// Starts the record.
    pub(crate) fn begin(
        &self,
        documents: Arc<dyn Documents>,
        store: Arc<dyn Documents>,
        job: Job,
        durability: Durability,
    ) -> io::Result<()> {
        job.write(&*documents, durability)?;
        let what = What::Start {
            pid: job.pid,
            host: job.host.clone(),
            visits: job.visits,
            restarted_from: job.restarted_from,
        };
        what.trace();
        let mut open = Open {
            documents,
            store,
            job,
            totals: Totals::default(),
        };
        open.add(what);
        *self.current() = Some(open);
        Ok(())
    }

    /// How often the program has gone back so far.
    pub(super) fn rollbacks(&self) -> Rollbacks {
        let current = self.current();
        let job = current.as_ref().map(|open| &open.job);
        job.and_then(|job| job.rollbacks).unwrap_or_default()
    }

    /// The program goes back, with so many rollbacks by now.
    pub(super) fn rolls_back(&self, rollbacks: Rollbacks, back: What, quiet: bool) {
        let What::Rollback {
            to,
            snapshot,
            visits,
            reason,
            alone,
            ..
        } = &back
        else {
            return;
        };
        self.update(|job| {
            job.rollbacks = Some(rollbacks);
            job.visits = *visits;
        });
        if !quiet {
            let to = match (to, snapshot) {
                (_, Some(then)) => format!("its state in memory of site visit {then}"),
                (Some(id), None) => format!("checkpoint {}", CheckpointId(*id)),
                (None, None) => "the newest checkpoint".to_owned(),
            };
            let alone = match alone {
                true => ", without the other ranks,",
                false => "",
            };
            say(&format!(
                "goes back to {to}{alone} from site visit {visits}: {reason}"
            ));
        }
        self.happened(back);
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
            let before = job.state;
            change(job);
            job.updated = now();
            let durability = match job.state == before {
                true => Durability::Whole,
                false => Durability::Synced,
            };
            let _ = job.write(&**documents, durability);
        }
    }

    /// Writes how the run ended and closes the record; later calls change nothing.
    pub(crate) fn ended(&self, state: State, reason: &str) {
        let state_of = |open: &Open| open.job.state;
        let has_returned = self.current().as_ref().map(state_of) == Some(State::Returned);
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
            // That it came so far was told when it did.
            if !(has_returned && state == State::Completed) {
                what.trace();
            }
            open.add(what);
        }
    }

    /// The session is closed, after so many visits: `main` returned, as a rule. `hears_status` says whether [`exited`](Self::exited) will
    /// be called with the exit code.
    pub(crate) fn returned(&self, visits: u64, reach: Option<f64>, hears_status: bool) {
        self.update(|job| {
            job.state = State::Returned;
            job.visits = visits;
            job.reach = reach;
        });
        let what = What::End {
            state: State::Returned,
            visits,
            reason: None,
        };
        what.trace();
        if !hears_status {
            self.completed();
        }
    }

    /// What was returned from has ended well.
    pub(crate) fn completed(&self) {
        if self.state_on_disk() == Some(State::Returned) {
            self.ended(State::Completed, "");
        }
    }

    /// The process exits with `status`, after `main` returned or because the program called `exit`.
    pub(crate) fn exited(&self, status: i32) {
        let now = self.state_on_disk();
        if now == Some(State::Running)
            && let Some(visits) = crate::frame::visits()
        {
            self.update(|job| job.visits = visits);
        }
        match (now, status) {
            (Some(State::Running), 0) => self.ended(State::Completed, "the program called exit(0)"),
            (Some(State::Returned), 0) => self.ended(State::Completed, ""),
            (Some(State::Running | State::Returned), 1..) => {
                self.ended(State::Failed, &format!("exit code {status}"))
            }
            _ => {}
        }
    }

    /// How the job stands, if it is still this process that the record tells of.
    fn state_on_disk(&self) -> Option<State> {
        match self.current().as_ref() {
            // A process that the program forked has nothing to say about the run.
            Some(Open { documents, job, .. }) if job.pid == std::process::id() => {
                // The store was free since the session was closed: another process may have begun on it.
                let there = Job::read_in(&**documents, job.run).ok().flatten();
                there
                    .filter(|there| there.pid == job.pid && there.host == job.host)
                    .map(|_| job.state)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_runs_as_long_as_its_own_process() {
        let text = r#"{"run": "0123456789abcdef0123456789abcdef", "program": "heat", "version": "1", "pid": 7, "host": "h", "started": "", "updated": "", "state": "running",
            "visits": 12, "restarted_from": null, "last_checkpoint": null, "failed_checkpoints": 1, "command": [], "reason": null}"#;
        let mut job: Job = serde_json::from_str(text).unwrap();
        job.pid = std::process::id();
        assert!(
            job.is_running(),
            "it does not say which process of that number it is"
        );
        job.process = processes::identity(job.pid);
        assert!(job.is_running());
        job.process = Some("another".into());
        assert!(!job.is_running());
        job.process = None;
        job.state = State::Stopped;
        assert!(!job.is_running());
    }
}
