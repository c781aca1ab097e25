//! A session at work: the store, the policy, and what became of the checkpoints so far.

use std::collections::HashSet;
use std::io::Write;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::config::{self, Config, Restart};
use super::exit::{Fatal, exit_code, leave, say};
use super::job::{self, COMMAND_NOTE, Job, State};
use super::policy::{Policy, Reason};
use super::resume::Resume;
use super::{SessionError, at_exit, signals};
use crate::files::{self, closed};
use crate::globals;
use crate::snapshot::SnapshotBuilder;
use crate::store::{CheckpointId, Meta, Mode, Restored, Store};

/// A session of this process, whoever drives it: instrumented functions or the program itself.
#[derive(Debug)]
pub(crate) struct Run {
    program: String,
    version: String,
    host: String,
    quiet: bool,
    store: Store,
    pub(super) policy: Policy,
    pub(super) resume: Option<Resume>,
    /// Checkpoints that could not be taken, and why the last of them could not.
    failures: u64,
    failure: String,
    /// Files of the program whose entries in their folders are on the disk.
    entered: HashSet<(u64, u64)>,
}

impl Run {
    /// Opens the store, and the checkpoint to restart from if that is asked for.
    pub(super) fn open(config: &Config, program: &str, version: &str) -> Result<Run, SessionError> {
        files::note_start_folder();
        if !config.quiet {
            mention_unknown_variables();
        }
        let mut store = Store::open(&config.dir, Mode::ReadWrite)?;
        store.set_keep(config.keep);
        let restored = match config.restart {
            Some(which) => Some(find(&store, which, program)?),
            None => {
                if !config.quiet {
                    mention_earlier_run(&store);
                }
                None
            }
        };
        signals::listen().map_err(|error| SessionError::System {
            what: "listen for signals",
            error,
        })?;
        let policy = Policy::start(config).map_err(|error| SessionError::System {
            what: "start the timer of the checkpoint policy",
            error,
        })?;
        let run = Run {
            program: program.into(),
            version: version.into(),
            host: host_name(),
            quiet: config.quiet,
            store,
            policy,
            resume: restored.map(|restored| Resume::new(restored, config.force_layout)),
            failures: 0,
            failure: String::new(),
            entered: HashSet::new(),
        };
        run.begin_job()?;
        if !closed::begin(run.store.folder(), run.resume.is_some()) {
            say(FILES_UNWATCHED);
        }
        at_exit::watch();
        run.mention_restart();
        Ok(run)
    }

    fn begin_job(&self) -> Result<(), SessionError> {
        let restored = self.resume.as_ref().map(|resume| &resume.restored);
        let now = job::now();
        let job = Job {
            program: self.program.clone(),
            version: self.version.clone(),
            pid: std::process::id(),
            host: self.host.clone(),
            started: now.clone(),
            updated: now,
            state: State::Running,
            visits: restored.map_or(0, |restored| restored.meta().visit),
            restarted_from: restored.map(|restored| restored.id().0),
            last_checkpoint: None,
            failed_checkpoints: 0,
            command: command(),
            reason: None,
        };
        job::begin(self.store.folder(), job).map_err(|error| SessionError::System {
            what: "write the state of the job (job.json) into the store",
            error,
        })
    }

    fn mention_restart(&self) {
        if let (Some(resume), false) = (&self.resume, self.quiet) {
            let (id, visit) = (resume.restored.id(), resume.restored.meta().visit);
            say(&format!(
                "restarts from checkpoint {id} (site visit {visit}) in {}",
                self.store.folder().display()
            ));
        }
    }

    /// The walk is over: the file is closed, the policy goes on from the checkpoint's visit.
    pub(super) fn arrived(&mut self) -> Result<u64, Fatal> {
        let Some(resume) = &self.resume else { return Ok(0) };
        resume.arrive()?;
        globals::restore_all(&resume.restored)?;
        let settled = resume.restored.settle_files();
        let settled = settled.and_then(|()| closed::arrive(&resume.restored));
        settled.map_err(|error| Fatal::refused(error.to_string()).help(FILES_NEEDED))?;
        let visits = resume.restored.meta().visit;
        self.resume = None;
        self.policy.arm(visits);
        Ok(visits)
    }

    /// Takes a checkpoint if one is due at this visit; ends the run if that was asked for.
    /// Gives whether one was written.
    ///
    /// # Errors
    /// `gather`'s.
    pub(super) fn visit<E>(
        &mut self,
        visits: u64,
        gather: impl FnOnce(SnapshotBuilder) -> Result<SnapshotBuilder, E>,
    ) -> Result<bool, E> {
        let mut written = false;
        if let Some(reason) = self.policy.due(visits) {
            let started = Instant::now();
            let mut builder = gather(SnapshotBuilder::new())?;
            globals::save(&mut builder);
            closed::save(&mut builder);
            match self.commit(builder, visits, reason) {
                Ok(id) => {
                    written = true;
                    self.policy.committed(started.elapsed());
                    if reason.stops() {
                        self.stop(id, visits, reason);
                    }
                }
                Err(why) => self.failed(why, visits, reason),
            }
        }
        if self.policy.faults_at(visits) {
            kill_self();
        }
        self.policy.arm(visits);
        Ok(written)
    }

    /// Writes a checkpoint. What the program printed so far leaves its buffer first: a restart from this checkpoint does
    /// not print it again. What it wrote to its files is on the disk before the checkpoint is.
    fn commit(
        &mut self,
        builder: SnapshotBuilder,
        visits: u64,
        reason: Reason,
    ) -> Result<CheckpointId, String> {
        let snapshot = builder.finish().map_err(|error| error.to_string())?;
        let _ = std::io::stdout().flush();
        files::sync(&snapshot.files, &mut self.entered)?;
        let meta = Meta {
            program: self.program.clone(),
            version: self.version.clone(),
            visit: visits,
            time: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |since| since.as_nanos() as i64),
            reason: reason.to_string(),
            host: self.host.clone(),
            notes: vec![(COMMAND_NOTE.to_owned(), command_note())],
        };
        let id = self
            .store
            .commit(&snapshot, &meta)
            .map_err(|error| error.to_string())?;
        job::update(|job| {
            job.last_checkpoint = Some(id.0);
            job.visits = visits;
        });
        Ok(id)
    }

    /// A checkpoint that could not be taken is no reason to lose the computation: the program goes on.
    fn failed(&mut self, why: String, visits: u64, reason: Reason) {
        say(&format!(
            "warning: no checkpoint was taken at site visit {visits}: {why}\n  the program goes on and tries again when the next one is due"
        ));
        self.failures += 1;
        self.failure = why;
        let failures = self.failures;
        job::update(|job| job.failed_checkpoints = failures);
        self.policy.failed(reason);
    }

    fn stop(&self, id: CheckpointId, visits: u64, reason: Reason) -> ! {
        self.mention_failures();
        if !self.quiet {
            say(&format!(
                "{reason}: checkpoint {id} is written (site visit {visits}), the run stops; CKPT_RESTART=latest continues it"
            ));
        }
        job::ended(State::Stopped, &reason.to_string());
        leave(exit_code::STOPPED)
    }

    /// The program came to its end.
    pub(super) fn close(&self, visits: u64) {
        closed::end();
        self.mention_failures();
        signals::ignore();
        if std::thread::panicking() {
            job::update(|job| job.visits = visits);
            job::ended(State::Failed, "the program panicked");
        } else if self.resume.is_some() {
            at_exit::strand();
        } else {
            job::returned(visits);
        }
    }

    /// The walk of the restart ended on its way. The program may still say why: it is to return from `main` next.
    pub(super) fn strand(&self, fatal: &Fatal) {
        say(&format!(
            "{fatal}\n  note:  what follows is what the program itself says"
        ));
        job::ended(State::Refused, fatal.headline());
        at_exit::strand();
    }

    fn mention_failures(&self) {
        if self.failures > 0 {
            say(&format!(
                "warning: {} checkpoint(s) of this run could not be taken; the last because: {}",
                self.failures, self.failure
            ));
        }
    }
}

const FILES_UNWATCHED: &str = "warning: files that the program closes before a site are not watched: the C library of this program \
     is linked statically or unknown\n  help: keep a file that grows open across the site, or use a target with glibc";

const FILES_NEEDED: &str =
    "the program goes on writing where it was: it needs its output files, and the right to change them";

/// The checkpoint that a restart begins from.
fn find(store: &Store, which: Restart, program: &str) -> Result<Restored, SessionError> {
    let folder = || store.folder().to_owned();
    let restored = match which {
        Restart::Id(id) => store
            .load(id)
            .map_err(|error| SessionError::NotRestorable { id, error })?,
        Restart::Latest => {
            if let Ok(Some(Job {
                state: State::Completed,
                updated,
                ..
            })) = Job::read(store.folder())
            {
                return Err(SessionError::Completed {
                    folder: folder(),
                    when: updated,
                });
            }
            let mut passed_over = 0;
            let newest = store.newest_whole(&mut |id, error| {
                passed_over += 1;
                say(&format!(
                    "warning: checkpoint {id} cannot be used and is passed over: {error}"
                ));
            })?;
            newest.ok_or_else(|| SessionError::NoCheckpoint {
                folder: folder(),
                passed_over,
            })?
        }
    };
    let meta = restored.meta();
    if meta.program != program {
        let (id, theirs) = (restored.id(), meta.program.clone());
        return Err(SessionError::OtherProgram {
            id,
            theirs,
            ours: program.into(),
        });
    }
    Ok(restored)
}

/// A misspelt variable would be a setting that silently does nothing.
fn mention_unknown_variables() {
    for name in config::unknown_variables() {
        say(&format!(
            "warning: {name} is set, but ckpt knows no variable of that name"
        ));
    }
}

/// A fresh start over an earlier run's checkpoints is often a forgotten restart.
fn mention_earlier_run(store: &Store) {
    let Ok(entries) = store.list() else { return };
    let completed = matches!(
        Job::read(store.folder()),
        Ok(Some(Job {
            state: State::Completed,
            ..
        }))
    );
    if let (Some(newest), false) = (entries.last(), completed) {
        say(&format!(
            "starts from the beginning; {} holds {} checkpoint(s) of an earlier run, the newest is {} \
             (CKPT_RESTART=latest would continue that one; retention will remove them)",
            store.folder().display(),
            entries.len(),
            newest.id
        ));
    }
}

/// Kills this process as `kill -9` would: for tests.
fn kill_self() {
    let _ = signal_hook::low_level::raise(signal_hook::consts::SIGKILL);
}

/// The command line of this process.
fn command() -> Vec<String> {
    std::env::args_os()
        .map(|arg| arg.to_string_lossy().into_owned())
        .collect()
}

/// The command line as a checkpoint keeps it: a JSON list.
fn command_note() -> String {
    serde_json::to_string(&command()).unwrap_or_default()
}

fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}
