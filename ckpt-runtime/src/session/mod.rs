//! A session: what happens between the start and the end of a run under ckpt. It reads the configuration, locks the
//! store, finds the checkpoint to restart from, decides at site visits whether a checkpoint is due, and writes how the
//! run ended.
//!
//! What a checkpoint holds is not decided here: the frames of the instrumented functions say that, or the program itself
//! through [`Session`].

pub(crate) mod active;
pub mod config;
pub(crate) mod exit;
pub mod job;
pub(crate) mod policy;
pub(crate) mod resume;
mod run;
mod signals;

use std::io;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

pub use exit::exit_code;

use crate::store::{CheckpointId, StoreError};
use config::{CONFIG_FILE, Config, ConfigError};
use exit::Fatal;
use run::Run;

/// One session at a time in a process.
static OPEN: AtomicBool = AtomicBool::new(false);

/// Why a session could not be opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system refused something else.
    #[error("cannot {what}: {error}")]
    System {
        /// What was being done.
        what: &'static str,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// This process has a session already.
    #[error("this process has a session already")]
    AlreadyOpen,
    /// The checkpoint asked for is not there, or not whole.
    #[error("checkpoint {id} cannot be restored: {error}")]
    NotRestorable {
        /// The checkpoint.
        id: CheckpointId,
        /// Why.
        #[source]
        error: StoreError,
    },
    /// The store has no checkpoint that could be restored.
    #[error("there is no checkpoint to restart from in {folder}{}", all_damaged(*.passed_over), folder = .folder.display())]
    NoCheckpoint {
        /// The store.
        folder: PathBuf,
        /// Checkpoints that are there, and damaged.
        passed_over: u64,
    },
    /// The latest run completed: there is nothing to go on with.
    #[error("the run in {folder} completed at {when}: there is nothing to restart", folder = .folder.display())]
    Completed {
        /// The store.
        folder: PathBuf,
        /// When it ended.
        when: String,
    },
    /// The store belongs to another program.
    #[error("checkpoint {id} was written by `{theirs}`, this program is `{ours}`")]
    OtherProgram {
        /// The checkpoint.
        id: CheckpointId,
        /// Who wrote it.
        theirs: String,
        /// Who reads it.
        ours: String,
    },
}

fn all_damaged(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => ": the only one is damaged (see above)".into(),
        count => format!(": all {count} are damaged (see above)"),
    }
}

impl SessionError {
    /// The exit code of a program that ends because of this; see [`exit_code`].
    pub fn exit_code(&self) -> i32 {
        match self {
            SessionError::NotRestorable { .. }
            | SessionError::NoCheckpoint { .. }
            | SessionError::Completed { .. } => exit_code::NO_CHECKPOINT,
            SessionError::OtherProgram { .. } => exit_code::REFUSED,
            SessionError::Config(_)
            | SessionError::Store(_)
            | SessionError::System { .. }
            | SessionError::AlreadyOpen => exit_code::STORE,
        }
    }

    fn advice(&self) -> String {
        match self {
            SessionError::Config(ConfigError::Value { .. }) => "correct it, or leave it out for the default".into(),
            SessionError::Config(_) => {
                format!("{CONFIG_FILE} may have [session] with dir, every, interval, keep, time-limit")
            }
            SessionError::Store(_) | SessionError::System { .. } => {
                "the program has not run; nothing was changed".into()
            }
            SessionError::AlreadyOpen => "close it first".into(),
            SessionError::NotRestorable { .. } => {
                "`cargo ckpt list` shows the checkpoints; CKPT_RESTART=latest takes the newest that is whole; nothing was deleted".into()
            }
            SessionError::NoCheckpoint { .. } => {
                "start anew without CKPT_RESTART, or set CKPT_DIR to the store of the run; nothing was deleted".into()
            }
            SessionError::Completed { .. } => {
                "start anew without CKPT_RESTART, or run its last part again with CKPT_RESTART and the number of a checkpoint".into()
            }
            SessionError::OtherProgram { .. } => "set CKPT_DIR to the store of this program".into(),
        }
    }

    fn fatal(&self) -> Fatal {
        Fatal::new(self.exit_code(), self.to_string()).help(self.advice())
    }
}

/// The program as `#[ckpt::main]` knows it.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The package's name.
    pub name: &'static str,
    /// The package's version.
    pub version: &'static str,
}

/// Keeps the session of `main` open; its drop is the end of the run.
#[derive(Debug)]
#[must_use = "the session ends when this is dropped"]
pub struct MainSession {
    open: bool,
    thread: PhantomData<*const ()>,
}

/// Opens the session of a program under `#[ckpt::main]`, if one is asked for. What cannot be opened ends the process.
pub fn open(program: Program) -> MainSession {
    let opened = try_open(program);
    match opened {
        Ok(open) => MainSession {
            open,
            thread: PhantomData,
        },
        Err(error) => error.fatal().exit(),
    }
}

fn try_open(program: Program) -> Result<bool, SessionError> {
    let Some(config) = Config::read(program.name)? else {
        return Ok(false);
    };
    if OPEN.swap(true, Ordering::SeqCst) {
        // `main` called itself, or opened a session by hand: the one that is there stays.
        return Ok(false);
    }
    let run = Run::open(&config, program.name, program.version)?;
    active::install(run);
    crate::frame::attach(0);
    Ok(true)
}

impl Drop for MainSession {
    fn drop(&mut self) {
        if !self.open {
            return;
        }
        let visits = crate::frame::detach();
        if let Some(run) = active::remove() {
            run.close(visits);
        }
        OPEN.store(false, Ordering::SeqCst);
    }
}
