//! What a program makes of its process: working folder, environment variables, umask, limits of resources, signals, locks
//! on files. A checkpoint keeps what is not as it was at the start; a restart makes it so again before its walk, as the
//! code that is executed again relies on it. Locks are taken when the files are open, at the end of the walk.
//!
//! What cannot be brought back is an [`Obstacle`]: while there is one, no checkpoint is taken. What a process is made of
//! beside this has a file of its own one folder up.

mod environment;
mod limits;
mod locks;
mod obstacles;
mod signals;
mod text;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

use rustix::fs::Mode;
use serde::{Deserialize, Serialize};

use super::descriptors::{self};
use super::snapshot::SnapshotBuilder;
use super::source::{Recorded, StateSource};
use crate::base::children;
use crate::base::current;
use crate::base::lock::locked;
use crate::base::report::{Fatal, headline};
use crate::devices;
use crate::handles::{moved, start_folder, without_links};
use environment::{Changed, Variables};
use limits::Limit;
use locks::{Held, Lock};
use obstacles::Identity;
pub(crate) use obstacles::Obstacle;
use signals::{Signal, Signals};
use text::Text;

/// Name of the note in every checkpoint of a program that has changed its process.
const NOTE: &str = "process";

/// What the process was when its first session opened: of the process, whatever session there is.
static START: OnceLock<Start> = OnceLock::new();

#[derive(Debug)]
struct Start {
    variables: Variables,
    identity: Identity,
    /// What was open.
    descriptors: descriptors::Open,
    /// A leaf lock.
    given: Mutex<Given>,
}

/// What the program has not made itself: as it was started, with what MPI and ckpt have changed as they came up.
#[derive(Debug, Clone)]
struct Given {
    umask: Option<u32>,
    limits: Vec<Limit>,
    signals: Signals,
    /// Files that are locked by the one that started the program, or by MPI.
    locked: Vec<(RawFd, PathBuf)>,
}

fn start() -> &'static Start {
    START.get_or_init(|| {
        children::set_apart();
        Start {
            variables: environment::now(),
            identity: Identity::now(),
            descriptors: descriptors::now(),
            given: Mutex::new(Given::now()),
        }
    })
}

/// What an environment variable was when the process began.
pub(crate) fn variable_at_start(name: &str) -> Option<OsString> {
    start().variables.get(OsStr::new(name)).cloned()
}

/// Whether a variable is the program's, and not one of ckpt or of a launcher.
pub(crate) fn is_variable_of_the_program(name: &str) -> bool {
    environment::is_the_programs(OsStr::new(name))
}

impl Start {
    fn given(&self) -> Given {
        locked(&self.given).clone()
    }
}

impl Given {
    fn now() -> Given {
        Given {
            umask: umask(),
            limits: limits::now(),
            signals: Signals::now(),
            locked: locks::inherited(),
        }
    }

    /// What has changed from the first of these to the second is not the program's.
    fn take_over(&mut self, before: &Given, after: Given) {
        if before.umask != after.umask {
            self.umask = after.umask;
        }
        limits::take_over(&mut self.limits, &before.limits, after.limits);
        self.signals.take_over(&before.signals, after.signals);
        let locked = after.locked.into_iter();
        self.locked
            .extend(locked.filter(|one| !before.locked.contains(one)));
    }
}

/// What the program has made of its process is undone, as far as it can be: code that is executed again is to find what it found
/// when the program was started. Handlers of signals stay, as the libraries that have them would not install them again.
pub(crate) fn as_at_start() {
    let Some(start) = START.get() else { return };
    let given = start.given();
    // What cannot be undone would be missing at a restart as well, which says so.
    let _ = std::env::set_current_dir(start_folder());
    environment::restore(&environment::changed(
        &environment::now(),
        &start.variables,
        &Changed::new(),
    ));
    if let Some(umask) = given.umask {
        rustix::process::umask(Mode::from_raw_mode(umask as _));
    }
    for limit in &given.limits {
        let _ = limits::restore(std::slice::from_ref(limit));
    }
    given.signals.as_at_start();
}

/// Whether a file or folder is open that the program was not started with, and that is not ckpt's: a number (`libc::open`), or in a
/// static. Nothing closes it when functions are left, and it is further on than it was.
pub(crate) fn has_files_open() -> bool {
    START
        .get()
        .is_none_or(|start| descriptors::has_files_beside(&start.descriptors))
}

/// What was not open when the process was started is not open in a program that takes its place.
pub(crate) fn closes_when_replaced() {
    if let Some(start) = START.get() {
        descriptors::close_when_replaced(&start.descriptors);
    }
}

/// MPI is about to come up, or ckpt to listen for signals, and installs handlers: what these make of the process is not the
/// program's. To be called once that is done: what is returned.
pub(crate) fn before_others() -> Box<dyn FnOnce()> {
    // Without a start nothing is the program's yet.
    let Some(start) = START.get() else {
        return Box::new(|| ());
    };
    let before = Given::now();
    Box::new(move || {
        let after = Given::now();
        locked(&start.given).take_over(&before, after);
    })
}

/// The permissions that new files do not get. Linux tells without changing it.
fn umask() -> Option<u32> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Umask:"))?;
    u32::from_str_radix(line.trim(), 8).ok()
}

/// What is not as it was at the start of the run, at any checkpoint so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Changes {
    /// Relative to the folder that the program was started in, if it lies below it.
    #[serde(skip_serializing_if = "Option::is_none")]
    folder: Option<Text>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    variables: Changed,
    #[serde(skip_serializing_if = "Option::is_none")]
    umask: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<Limit>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    signals: Vec<Signal>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locks: Vec<Lock>,
}

/// Why a process cannot become what it was.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The note of the checkpoint makes no sense.
    #[error("E2330: what the checkpoint says about its process cannot be read: {0}")]
    Note(#[source] serde_json::Error),
    /// The folder that the program had gone to is not there.
    #[error("E2331: the program was working in the folder `{}`, which cannot be entered now: {error}", .folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// A limit that the program had set cannot be set here.
    #[error(
        "E2332: the program had set its limit RLIMIT_{name} to {was}; it is {now} now, and cannot be changed to that: {error}"
    )]
    Limit {
        /// Which.
        name: String,
        /// What the program had set.
        was: String,
        /// What it is.
        now: String,
        /// What the system says.
        #[source]
        error: io::Error,
    },
    /// What the program had set to happen on a signal cannot be set here.
    #[error("E2333: the program had changed what happens on {signal}, and that cannot be done now: {error}")]
    Signal {
        /// Which.
        signal: String,
        /// What the system says.
        #[source]
        error: io::Error,
    },
}

impl ProcessError {
    /// The number of the code that the message begins with.
    pub(crate) fn code(&self) -> u16 {
        match self {
            ProcessError::Note(_) => 2330,
            ProcessError::Folder { .. } => 2331,
            ProcessError::Limit { .. } => 2332,
            ProcessError::Signal { .. } => 2333,
        }
    }

    /// What to do.
    pub(crate) fn advice(&self) -> &'static str {
        match self {
            ProcessError::Note(_) => {
                "restart with the version of ckpt that wrote the checkpoint, or from another checkpoint"
            }
            ProcessError::Folder { .. } => {
                "put the folder back, or say with `--map OLD=NEW` (CKPT_MAP) where it is now; a folder below the one that the program is started in is looked for there"
            }
            ProcessError::Limit { .. } => {
                "start the program where its limits may be as high (`ulimit -H`), or start anew"
            }
            ProcessError::Signal { .. } => "start anew, and report this as a bug of ckpt",
        }
    }
}

impl Changes {
    /// What a checkpoint says.
    ///
    /// # Errors
    /// It makes no sense.
    fn read(note: &str) -> Result<Changes, ProcessError> {
        serde_json::from_str(note).map_err(ProcessError::Note)
    }

    /// What is not as it was at the start, and what has been changed before, as it is now.
    fn since(start: &Start, before: &Changes, locks: Vec<Lock>) -> Changes {
        let here = std::env::current_dir().ok();
        let folder = here.filter(|here| before.folder.is_some() || here != start_folder());
        let given = start.given();
        let relative = |folder: PathBuf| {
            let below = folder.strip_prefix(start_folder()).unwrap_or(&folder);
            Text::from(below.as_os_str())
        };
        Changes {
            folder: folder.map(relative),
            variables: environment::changed(&start.variables, &environment::now(), &before.variables),
            umask: umask().filter(|now| before.umask.is_some() || Some(*now) != given.umask),
            limits: limits::changed(&given.limits, &limits::now(), &before.limits),
            signals: Signals::now().changed(&given.signals, &before.signals),
            locks,
        }
    }

    /// The process becomes what it was, apart from what has to wait for the end of the walk.
    ///
    /// # Errors
    /// The first that it cannot become.
    fn restore(&self, make: &dyn Fn(&Path) -> Result<(), String>) -> Result<(), ProcessError> {
        if let Some(folder) = &self.folder {
            let folder = moved::now(start_folder().join(OsString::from(folder)));
            // A link in its place leads into another one.
            let made = make(&folder).map_err(io::Error::other);
            let entered = made.and_then(|()| std::env::set_current_dir(&folder));
            entered.map_err(|error| ProcessError::Folder { folder, error })?;
        }
        environment::restore(&self.variables);
        if let Some(umask) = self.umask {
            rustix::process::umask(Mode::from_raw_mode(umask as _));
        }
        limits::restore(&self.limits).map_err(|(was, now, error)| ProcessError::Limit {
            name: was.name.clone(),
            was: was.to_string(),
            now: now.to_string(),
            error,
        })?;
        signals::restore(&self.signals).map_err(|(signal, error)| ProcessError::Signal {
            signal: signal.name(),
            error,
        })
    }
}

/// The process of a program, from the beginning of a session to its end.
#[derive(Debug)]
pub(crate) struct Process {
    start: &'static Start,
    /// The folder of the session, whose locks are no business of the program.
    store: PathBuf,
    changes: Changes,
}

impl Process {
    /// A session begins; it listens for signals already.
    pub fn begin(store: &Path) -> Process {
        Process {
            start: start(),
            store: without_links(store),
            changes: Changes::default(),
        }
    }

    /// A restart begins, and has not begun its walk: the process becomes what it was. `make` makes a folder that is not there,
    /// if it comes back when the restart has arrived.
    ///
    /// # Errors
    /// It cannot.
    pub fn begin_walk(
        &mut self,
        from: &dyn Recorded,
        make: &dyn Fn(&Path) -> Result<(), String>,
    ) -> Result<(), ProcessError> {
        self.changes = from
            .note(NOTE)
            .map(Changes::read)
            .transpose()?
            .unwrap_or_default();
        self.changes.restore(make)
    }

    /// The locks of the program.
    fn held(&self) -> Held {
        Held::now(&self.store, &self.start.given().locked)
    }

    /// What a restart could not bring back, if there is such a thing.
    pub fn obstacle(&self) -> Option<Obstacle> {
        obstacles::find(&self.start.identity, &self.held())
    }
}

impl StateSource for Process {
    fn save(&mut self, _: &mut SnapshotBuilder) -> Result<(), Fatal> {
        Ok(())
    }

    fn notes(&mut self) -> Vec<(&'static str, String)> {
        let locks = self.held().files;
        self.changes = Changes::since(self.start, &self.changes, locks);
        let is_as_it_was = self.changes == Changes::default();
        let says = (!is_as_it_was).then(|| serde_json::to_string(&self.changes).unwrap_or_default());
        says.into_iter().map(|says| (NOTE, says)).collect()
    }

    /// What code that has been executed again was to do has been done; what needs open files is done now.
    fn restore(&mut self, _: &dyn Recorded) -> Result<(), Fatal> {
        // What a library for other devices has installed it needs for itself.
        let without_libraries = devices::shown::are_of_another_kind();
        let start = self.start.given();
        if let Some(signal) = Signals::now().lacks(&start.signals, &self.changes.signals, without_libraries) {
            return Err(Fatal::refused(headline!(
                "E2334: the program had a handler for {}, and has none now",
                signal.name()
            ))
            .why("a handler is code, which no checkpoint holds: what installs it was not executed again")
            .help("install it in a statement with `#[ckpt(reexecute)]` of a function that has a site; or start anew"));
        }
        if current::comes_back()
            && let Some(signal) = Signals::now().has_more(&self.start.given().signals, &self.changes.signals)
        {
            return Err(Fatal::refused(headline!(
                "E2336: the program has a handler for {}, and had none at the checkpoint",
                signal.name()
            ))
            .why("a handler that was installed since stays in the process in which the program goes back")
            .help("nothing: the process begins anew"));
        }
        for lock in &self.changes.locks {
            lock.take().map_err(|error| {
                Fatal::refused(headline!(
                    "E2335: the program held a lock on `{}`, and cannot have it now: {error}",
                    lock.path().display()
                ))
                .help("see that the file is there, and that no other process holds it")
            })?;
        }
        Ok(())
    }
}
