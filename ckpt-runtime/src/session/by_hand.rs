//! The session of a program that says itself what it saves, without macros.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use super::SessionError;
use super::config::Config;
use super::run::{Kind, Named, Run};
use crate::base::current;
use crate::base::forks::{Ours, goes_on_alone};
use crate::base::report::Fatal;
use crate::context::{Driver, Gather};
use crate::plan::{FunctionPlan, SiteKind, SitePlan};
use crate::state::snapshot::SnapshotBuilder;
use crate::state::source::Recorded;
use crate::value::Checkpoint;

/// The one frame of a checkpoint by hand.
static PLAN: FunctionPlan = FunctionPlan {
    function: "Session",
    module: "ckpt",
    file: "",
    line: 0,
    layout: 0,
    source: 0,
    attribute: "",
    sites: &[SitePlan {
        line: 0,
        column: 0,
        kind: SiteKind::Checkpoint,
        variables: &[],
    }],
};

/// A session for programs that place their checkpoints themselves.
///
/// It follows the same configuration as instrumented programs (`ckpt.toml`, then `CKPT_*` variables), writes the same
/// files and stops on the same signals, but it is there even if nothing asks for it: then a checkpoint is taken every
/// ten minutes.
///
/// The program restores its state before the first visit, then visits [`save_if_due`](Session::save_if_due) in its main
/// loop. Whatever decides how it goes on has to be part of what it saves. Instrumented functions have no part in a session
/// by hand; use `#[ckpt::main]` for those.
///
/// ```standalone_crate
/// # let folder = tempfile::tempdir()?;
/// # std::env::set_current_dir(folder.path())?;
/// let mut session = ckpt::Session::open("power")?;
/// let (mut step, mut value) = session.restore::<(u32, f64)>("state")?.unwrap_or((0, 1.0));
/// while step < 100 {
///     value *= 1.01;
///     step += 1;
///     session.save_if_due(|state| state.save("state", &(step, value)))?;
/// }
/// println!("{value}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Killed and started again with `CKPT_RESTART=latest`, it continues from its last checkpoint.
#[derive(Debug)]
pub struct Session {
    /// Taken at the end only.
    run: Option<Ours<Box<Run>>>,
    visits: u64,
    /// Whether something of the checkpoint has been restored.
    restored: bool,
}

/// Takes the values of a checkpoint by hand.
pub struct Saver<'a> {
    builder: &'a mut SnapshotBuilder,
    keys: HashSet<Cow<'static, str>>,
    twice: Option<String>,
}

impl Session {
    /// Opens the session of this process. `program` names it: a store belongs to one program.
    ///
    /// # Errors
    /// The configuration or the store cannot be used, or the checkpoint to restart from is not there; see
    /// [`SessionError::exit_code`] for what to exit with.
    pub fn open(program: &str) -> Result<Session, SessionError> {
        let config = Config::read_or_default(program)?;
        let program = Named {
            name: program,
            version: "",
            sources: None,
        };
        let run = Run::open(&config, program, Kind::ByHand)?;
        run.mention_restart();
        if let Some(resume) = &run.resume {
            match resume.restored.frames() {
                [frame]
                    if (frame.module.as_str(), frame.function.as_str()) == (PLAN.module, PLAN.function) => {}
                _ => {
                    return Err(SessionError::NotByHand {
                        id: resume.restored.id(),
                    });
                }
            }
        }
        let visits = run
            .resume
            .as_ref()
            .map_or(0, |resume| resume.restored.meta().visit);
        run.policy.arm(visits);
        Ok(Session {
            run: Some(Ours::new(Box::new(run))),
            visits,
            restored: false,
        })
    }

    /// Whether this process continues an earlier one.
    pub fn is_restart(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.resume.is_some()) || self.restored
    }

    /// The value that was saved under `key`; `None` if this process does not continue an earlier one.
    ///
    /// # Errors
    /// The checkpoint has no such value or it is of another type; or the first visit is past, so that it is too late.
    pub fn restore<T: Checkpoint>(&mut self, key: &str) -> Result<Option<T>, SessionError> {
        let run = self.run.as_ref();
        match run.and_then(|run| Some((run, run.resume.as_ref()?))) {
            Some(_) if current::is_forked() => Err(SessionError::Forked),
            Some((run, resume)) => {
                let value = resume.restored.decode::<T>(0, key);
                // The program may write to its files from now on.
                let value = value.and_then(|value| {
                    run.journal.arrive()?;
                    resume.restored.settle_files()?;
                    if !self.restored {
                        run.files_are_back()?;
                    }
                    Ok(value)
                });
                let value = value.map_err(|error| SessionError::Value {
                    key: key.into(),
                    error,
                })?;
                self.restored = true;
                Ok(Some(value))
            }
            None if self.visits > 0 => Err(SessionError::TooLate { key: key.into() }),
            None => Ok(None),
        }
    }

    /// Waits until the last checkpoint is on the disk, or could not be written, which is reported on stderr.
    ///
    /// ```standalone_crate
    /// # let folder = tempfile::tempdir()?;
    /// # std::env::set_current_dir(folder.path())?;
    /// # std::fs::write("ckpt.toml", "[session]\nevery = 1")?;
    /// let mut session = ckpt::Session::open("once")?;
    /// session.save_if_due(|state| state.save("state", &7_u32))?;
    /// session.wait();
    /// assert!(std::path::Path::new("once.ckpt.d/000001.r0.h5").exists());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(&mut self) {
        if let Some(run) = &mut self.run
            && !goes_on_alone()
        {
            run.wait_for_writer();
        }
    }

    /// A visit: takes a checkpoint if one is due, of what `save` saves. Gives whether one was taken.
    ///
    /// `save` is called half-way to a checkpoint as well, to see how large the state is, and where the state is kept in memory.
    ///
    /// A checkpoint that cannot be written is reported on stderr and tried again when the next one is due; the program
    /// goes on. On SIGTERM, SIGUSR1 or before the time limit the process ends here, after the checkpoint, with
    /// [`exit_code::STOPPED`](super::exit_code::STOPPED).
    ///
    /// # Errors
    /// A key is saved twice, or this is a restart and nothing of the checkpoint has been restored.
    pub fn save_if_due(&mut self, save: impl FnOnce(&mut Saver<'_>)) -> Result<bool, SessionError> {
        if self.run.as_ref().is_some_and(|run| run.resume.is_some()) {
            self.begin()?;
        }
        self.visits += 1;
        if self.visits < current::next() || goes_on_alone() {
            return Ok(false);
        }
        let Some(run) = &mut self.run else {
            return Ok(false);
        };
        if let Err(fatal) = run
            .world()
            .verify(self.visits, &|| "`Session::save_if_due`".to_owned())
        {
            fatal.exit();
        }
        let mut twice = None;
        let mut save = Some(save);
        let gather: Gather<'_> = &mut |mut builder| {
            builder.frame(&PLAN, 1);
            let mut saver = Saver {
                builder: &mut builder,
                keys: HashSet::new(),
                twice: None,
            };
            if let Some(save) = save.take() {
                save(&mut saver);
            }
            twice = saver.twice.take();
            match &twice {
                Some(key) => Err(Fatal::site(SessionError::Twice { key: key.clone() }.headline())),
                None => Ok(builder),
            }
        };
        let written = run.take_due(self.visits, gather);
        match (written, twice) {
            (_, Some(key)) => Err(SessionError::Twice { key }),
            (Ok(written), None) => Ok(written),
            (Err(fatal), None) => fatal.exit(),
        }
    }

    /// What was to be restored has been: the file is closed.
    fn begin(&mut self) -> Result<(), SessionError> {
        let Some(run) = &mut self.run else { return Ok(()) };
        if !self.restored {
            return Err(SessionError::NothingRestored);
        }
        run.resume = None;
        Ok(())
    }
}

impl Saver<'_> {
    /// Saves a value under `key`.
    pub fn save<T: Checkpoint + ?Sized>(&mut self, key: impl Into<Cow<'static, str>>, value: &T) {
        let key = key.into();
        if !self.keys.insert(key.clone()) {
            self.twice.get_or_insert_with(|| key.into_owned());
            return;
        }
        self.builder.value(0, key, 0, None, value);
    }
}

impl fmt::Debug for Saver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Saver")
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if let Some(mut run) = self.run.take()
            && !goes_on_alone()
        {
            // A program by hand may look at a checkpoint and end: that is no walk that went astray.
            run.resume = None;
            run.close(self.visits, std::thread::panicking());
        }
    }
}
