//! A session: what happens between the start and the end of a run under ckpt. It reads the configuration, locks the
//! store, finds the checkpoint to restart from, decides at site visits whether a checkpoint is due, and writes how the
//! run ended.
//!
//! What a checkpoint holds is not decided here: the frames of the instrumented functions say that, or the program itself
//! through [`Session`].
//!
//! # Configuration
//!
//! A session exists if `ckpt.toml` is in the working directory, or one of the variables marked with * is set; otherwise
//! the program runs as if ckpt were not there. A variable overrules the file.
//!
//! | variable | `[session]` in `ckpt.toml` | meaning | default |
//! | --- | --- | --- | --- |
//! | `CKPT_DIR`* | `dir` | the store, a folder | `<program>.ckpt.d` |
//! | `CKPT_EVERY`* | `every` | a checkpoint every so many site visits | |
//! | `CKPT_INTERVAL`* | `interval` | a checkpoint every so often: `30s`, `5m`, `1h30m` | `10m` if nothing says how often |
//! | `CKPT_MTBF` | `mtbf` | time between failures, for the interval `auto` | what the store has seen |
//! | `CKPT_KEEP`* | `keep` | how many checkpoints stay, or `all` | 2 |
//! | `CKPT_FALLBACK` | `fallback` | the folder that checkpoints go to where writing one to the store has failed three times in a row; `off` | the one that the store had before |
//! | `CKPT_TIME_LIMIT`* | `time-limit` | the process takes a checkpoint and stops before it has run so long | |
//! | `CKPT_RESTART`* | | restart from `latest` or from the checkpoint of that number | |
//! | `CKPT_BACKGROUND` | `background` | 0: the program waits until a checkpoint is on the disk | 1: it goes on once its state has been copied |
//! | `CKPT_RUN` | | which run a restart continues: its identity, or how it begins; of a start, the identity of the new run | the newest that has not completed |
//! | `CKPT_ARGS_CHANGED` | | 1: restart although the arguments are not those that the run has read | |
//! | `CKPT_OTHER_RUNS` | | what becomes of the files that runs of another command line have changed in this folder since: `keep` or `undo` | the restart is refused where there are any |
//! | `CKPT_STRICT` | `strict` | 1: do not restart from a checkpoint that was taken by a build of other sources | 0: a warning says which files have changed |
//! | `CKPT_MAP` | | where files of the program are now: `OLD=NEW`, two absolute paths without `..`, one pair a line | |
//! | `CKPT_TRUST` | | numbers of users whose stores are taken beside your own, separated by commas | |
//! | `CKPT_SNAPSHOT_EVERY` | `snapshot-every` | the state is kept in memory every so many site visits, for [`rollback`](crate::rollback()) | |
//! | `CKPT_SNAPSHOT_INTERVAL` | `snapshot-interval` | the same every so often | |
//! | `CKPT_SNAPSHOTS` | `snapshots` | how many of these stay | 2 |
//! | `CKPT_ROLLBACK_IN_PROCESS` | `rollback-in-process` | 0: where the program goes back to a checkpoint, its process begins anew | 1: it stays, where that is possible |
//! | `CKPT_DETECT` | `detect` | errors that are looked for: `nan`, `unchanged`, `machine-check` | |
//! | `CKPT_FORCE_LAYOUT` | | 1: restart although the source of a function changed, if its sites and variables did not | |
//! | `CKPT_QUIET` | | 1: no messages but warnings and errors | |
//!
//! The first checkpoint follows the rule of all others: with every N it is taken at visit N, with an interval after that
//! time. Visits are counted over the whole run: a restart goes on counting where its checkpoint was taken.
//!
//! On SIGTERM or SIGUSR1 the next site takes a checkpoint and ends the process with exit code 75. So does the time limit,
//! early enough: a tenth of the limit before it, at most a minute, but at least twice the time of the slowest checkpoint.
//! SIGINT (Ctrl-C) does the same with exit code 130, and a second one ends the process at once.
//! A stop whose checkpoint cannot be written is not carried out: the program goes on, and it is tried again.
//!
//! What the program printed to stdout leaves its buffer before a checkpoint is written: a restart does not print again
//! what was printed before its checkpoint. It does print again what was printed after it.
//!
//! # Runs
//!
//! A start begins a run, which has an identity; it stands in all that the run leaves. A restart continues one run and takes
//! nothing of another. A store may hold several, in `STORE/runs/RUN/` what each keeps beside its checkpoints; `job.json`
//! there says how the run stands; see [`job`] and [`runs`]. `CKPT_RESTART=latest` is the newest checkpoint that is whole of
//! the newest run that has not completed: one that ended with exit code 0 has (exit code 76 where all have). The number of
//! a checkpoint restarts from that one, whatever became of its run.

mod again;
pub mod arguments;
mod at_exit;
pub mod auto;
mod by_hand;
pub mod config;
pub mod events;
pub(crate) mod functions;
pub(crate) mod globals;
mod inherited;
pub mod job;
mod line;
mod machine_check;
mod notices;
mod place;
mod policy;
mod reach;
pub(crate) mod rollback;
mod run;
pub mod runs;
mod signals;
mod sources;
mod starts_over;
pub mod stop;
mod variables;
mod writer;

use std::io;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::PathBuf;

use crate::base::allocator;
use crate::base::current;
use crate::base::forks::goes_on_alone;
use crate::base::printable::count;
pub use crate::base::report::exit_code;
use crate::base::report::{Code, Fatal, Headline, say};
use crate::base::run_id::RunId;
use crate::base::typed::{has_command, restart_command, right_program, start_anew, typed};
use crate::comm;
use crate::context;
pub use crate::devices::shown::{DEVICES_NOTE, Device, Noted as Devices};
pub use by_hand::{Saver, Session};

use crate::format::{CheckpointId, StoreError};
use crate::frame;
pub use crate::handles::Place;
use crate::state::process::{self, ProcessError};
use crate::value::LoadError;
use config::{CONFIG_FILE, Config, ConfigError};
pub use place::PLACE_NOTE;
use run::{Kind, Run};
pub use sources::{Builds, Sources, of_build_variable};
pub use starts_over::{NotUndone, note_left, undo_start};
pub use variables::VARIABLES_NOTE;

/// What a test of rollbacks (`CKPT_FAULT=rollback:N`) prints to standard output at each, before the functions of the program are
/// left: what is between it and [`ROLLBACK_MARK`] was printed by destructors.
pub const LEAVING_MARK: &[u8] = b"\x1e\x1e ckpt rolls back \x1e\x1e";

/// What it prints when the functions of the program have been left: whoever reads it knows what was printed before.
pub const ROLLBACK_MARK: &[u8] = b"\x1e\x1e ckpt has rolled back \x1e\x1e";

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
    /// The process cannot become what it was.
    #[error(transparent)]
    Process(#[from] ProcessError),
    /// The operating system refused something else.
    #[error("E2101: cannot {what}: {error}")]
    System {
        /// What was being done.
        what: &'static str,
        /// What the system said.
        #[source]
        error: io::Error,
    },
    /// This process has a session already.
    #[error("E2102: this process has a session already")]
    AlreadyOpen,
    /// The checkpoint asked for is not there, or not whole.
    #[error("E2103: checkpoint {id} cannot be restored: {error}")]
    NotRestorable {
        /// The checkpoint.
        id: CheckpointId,
        /// Why.
        #[source]
        error: StoreError,
    },
    /// The run has no checkpoint that could be restored.
    #[error("E2104: there is no checkpoint{} to restart from in {folder}{}", of_run(*.run), none_usable(*.passed_over), folder = .folder.display())]
    NoCheckpoint {
        /// The store.
        folder: PathBuf,
        /// The run that would be continued.
        run: Option<RunId>,
        /// Other runs that could be, in words.
        others: Box<[String]>,
        /// Checkpoints that are there, and cannot be used.
        passed_over: u64,
    },
    /// No line of checkpoints is whole on all ranks.
    #[error("E2105: there is no checkpoint that all {ranks} ranks have whole{}; rank {lacking} is the first that lacks one", in_folder(.folder))]
    NoLine {
        /// The store of the rank that says so.
        folder: PathBuf,
        /// How many ranks there are.
        ranks: u32,
        /// The first that has none.
        lacking: u32,
    },
    /// The checkpoints are of another number of ranks.
    #[error("E2106: the checkpoints were written by {saved} ranks, and this run has {ranks}")]
    OtherRanks {
        /// How many wrote them.
        saved: u32,
        /// How many there are.
        ranks: u32,
    },
    /// The files of one number are not of the same moment.
    #[error(
        "E2107: checkpoint {id} is no line: the ranks had not visited the same sites equally often when they took it"
    )]
    Apart {
        /// The number.
        id: CheckpointId,
    },
    /// Another rank has failed, and says why.
    #[error("E2108: another rank cannot restart")]
    Elsewhere,
    /// The run completed, or all did: there is nothing to go on with.
    #[error("E2109: run {} in {folder} completed at {when}: there is nothing to restart", .run.short(), folder = .folder.display())]
    Completed {
        /// The store.
        folder: PathBuf,
        /// The run, the newest of several.
        run: RunId,
        /// When it ended.
        when: String,
    },
    /// The process of the run ended with exit code 0, and did not close its session.
    #[error(
        "E2188: run {} in {folder} ended with exit code 0 at {when}, without closing its session: whether anything is left to do is not known", .run.short(), folder = .folder.display()
    )]
    Left {
        /// The store.
        folder: PathBuf,
        /// The run, the newest of several.
        run: RunId,
        /// When it ended.
        when: String,
    },
    /// The run was started in another folder, and was not moved.
    #[error("E2187: the run of checkpoint {id} was started in {theirs}, and this process in {ours}", theirs = .theirs.display(), ours = .ours.display())]
    OtherFolder {
        /// The checkpoint.
        id: CheckpointId,
        /// Where its process was started.
        theirs: PathBuf,
        /// Where this one was.
        ours: PathBuf,
    },
    /// The run was moved, and an argument that it has read names what is below its old folder.
    #[error("E2189: the run of checkpoint {id} was started in {theirs} and is continued in {ours}, and its argument `{argument}` names a path in the old folder", theirs = .theirs.display(), ours = .ours.display())]
    NamesOldFolder {
        /// The checkpoint.
        id: CheckpointId,
        /// The argument.
        argument: String,
        /// Where its process was started.
        theirs: PathBuf,
        /// Where this one was.
        ours: PathBuf,
    },
    /// The store belongs to another program.
    #[error("E2110: checkpoint {id} was written by `{theirs}`, this program is `{ours}`")]
    OtherProgram {
        /// The checkpoint.
        id: CheckpointId,
        /// Who wrote it.
        theirs: String,
        /// Who reads it.
        ours: String,
    },
    /// The checkpoint is one of instrumented functions, and the program restores by hand.
    #[error("E2111: checkpoint {id} was not taken through `ckpt::Session`, but by instrumented functions")]
    NotByHand {
        /// The checkpoint.
        id: CheckpointId,
    },
    /// A value of a checkpoint by hand cannot be restored.
    #[error("E2112: `{key}` cannot be restored: {error}")]
    Value {
        /// What was asked for.
        key: String,
        /// Why.
        #[source]
        error: LoadError,
    },
    /// A restart that has visited a site before it restored anything.
    #[error("E2113: this is a restart, but nothing was restored before the first visit")]
    NothingRestored,
    /// A value was asked for after the first visit.
    #[error(
        "E2114: `{key}` was to be restored after the first visit, when the checkpoint was closed already"
    )]
    TooLate {
        /// What was asked for.
        key: String,
    },
    /// Two values have the same key.
    #[error("E2115: `{key}` is saved twice in one checkpoint")]
    Twice {
        /// The key.
        key: String,
    },
    /// This process was forked from the one that has the session.
    #[error("E2117: this process was forked from the one that opened the session, and has none")]
    Forked,
    /// A folder of the run's files is the store, or lies below it.
    #[error("E2116: the store {store} is no folder beside the program's files: `{folder}`, where they are, lies in it", store = .store.display(), folder = .folder.display())]
    AroundFiles {
        /// The store.
        store: PathBuf,
        /// The folder of the program's files.
        folder: PathBuf,
    },
    /// `CKPT_RUN` names no run of the store, or several.
    #[error("E2180: {} in {folder} begins with `{prefix}`", if *.several { "more than one run" } else { "no run" }, folder = .folder.display())]
    NoSuchRun {
        /// What it says.
        prefix: String,
        /// The store.
        folder: PathBuf,
        /// Whether several begin so.
        several: bool,
    },
    /// The record of a run cannot be read, and there are others: which is the newest is not known.
    #[error("E2181: which run of {folder} is the newest is not known: the record of run {run} cannot be read: {why}", folder = .folder.display())]
    RecordUnreadable {
        /// The run.
        run: RunId,
        /// The store.
        folder: PathBuf,
        /// What is wrong with the record.
        why: String,
    },
    /// The restart has other arguments than its run has read.
    #[error("E2182: checkpoint {id} was written with other arguments than this process has")]
    OtherArguments {
        /// The checkpoint.
        id: CheckpointId,
        /// The command line of its process.
        theirs: String,
        /// That of this one.
        ours: String,
    },
    /// The program was shown another number of devices than at the checkpoint, before there was a session.
    #[error(
        "E2420: the program has asked for devices before its session was opened, and was shown others than at checkpoint {id}"
    )]
    DevicesAsked {
        /// The checkpoint.
        id: CheckpointId,
    },
    /// The checkpoint was taken by a build of other sources, and the restart is to be strict about that.
    #[error("E2360: checkpoint {id} was taken by a build of other sources: {files}")]
    OtherSources {
        /// The checkpoint.
        id: CheckpointId,
        /// What differs, in words.
        files: String,
    },
    /// The checkpoint is not of the run that is continued.
    #[error("E2183: checkpoint {id} is of {}, not of run {wanted}", the_run(*.theirs))]
    OfOtherRun {
        /// The checkpoint.
        id: CheckpointId,
        /// Its run.
        theirs: Option<RunId>,
        /// The one that is continued.
        wanted: String,
    },
    /// What a restart from the checkpoint needs beside it is not there.
    #[error("E2184: checkpoint {id} cannot be restored: {why}")]
    Lacks {
        /// The checkpoint.
        id: CheckpointId,
        /// What is missing.
        why: String,
    },
    /// A start was told to be a run that the store has already.
    #[error("E2185: run {} has begun before in {folder}", .run.short(), folder = .folder.display())]
    RunExists {
        /// The run.
        run: RunId,
        /// The store.
        folder: PathBuf,
    },
}

fn of_run(run: Option<RunId>) -> String {
    run.map(|run| format!(" of run {}", run.short()))
        .unwrap_or_default()
}

fn the_run(run: Option<RunId>) -> String {
    match run {
        Some(run) => format!("run {run}"),
        None => "no run".into(),
    }
}

fn in_folder(folder: &std::path::Path) -> String {
    match folder.as_os_str().is_empty() {
        true => String::new(),
        false => format!(" in {}", folder.display()),
    }
}

fn none_usable(count: u64) -> String {
    match count {
        0 => String::new(),
        1 => ": the only one cannot be used (see above)".into(),
        count => format!(": none of {count} can be used (see above)"),
    }
}

impl SessionError {
    /// The number of the code that the message begins with.
    fn code(&self) -> Option<u16> {
        match self {
            SessionError::Config(error) => Some(error.code()),
            SessionError::Store(error) => error.code(),
            SessionError::Process(error) => Some(error.code()),
            SessionError::System { .. } => Some(2101),
            SessionError::AlreadyOpen => Some(2102),
            SessionError::NotRestorable { .. } => Some(2103),
            SessionError::NoCheckpoint { .. } => Some(2104),
            SessionError::NoLine { .. } => Some(2105),
            SessionError::OtherRanks { .. } => Some(2106),
            SessionError::Apart { .. } => Some(2107),
            SessionError::Elsewhere => Some(2108),
            SessionError::Completed { .. } => Some(2109),
            SessionError::OtherProgram { .. } => Some(2110),
            SessionError::NotByHand { .. } => Some(2111),
            SessionError::Value { .. } => Some(2112),
            SessionError::NothingRestored => Some(2113),
            SessionError::TooLate { .. } => Some(2114),
            SessionError::Twice { .. } => Some(2115),
            SessionError::AroundFiles { .. } => Some(2116),
            SessionError::Forked => Some(2117),
            SessionError::NoSuchRun { .. } => Some(2180),
            SessionError::RecordUnreadable { .. } => Some(2181),
            SessionError::OtherArguments { .. } => Some(2182),
            SessionError::OtherSources { .. } => Some(2360),
            SessionError::DevicesAsked { .. } => Some(2420),
            SessionError::OfOtherRun { .. } => Some(2183),
            SessionError::Lacks { .. } => Some(2184),
            SessionError::RunExists { .. } => Some(2185),
            SessionError::OtherFolder { .. } => Some(2187),
            SessionError::Left { .. } => Some(2188),
            SessionError::NamesOldFolder { .. } => Some(2189),
        }
    }

    /// The exit code of a program that ends because of this; see [`exit_code`].
    pub fn exit_code(&self) -> i32 {
        match self {
            SessionError::NotRestorable { .. }
            | SessionError::NoCheckpoint { .. }
            | SessionError::NoLine { .. }
            | SessionError::NoSuchRun { .. }
            | SessionError::RecordUnreadable { .. }
            | SessionError::Lacks { .. }
            | SessionError::Left { .. }
            | SessionError::Completed { .. } => exit_code::NO_CHECKPOINT,
            SessionError::OtherProgram { .. }
            | SessionError::OtherRanks { .. }
            | SessionError::Apart { .. }
            | SessionError::NotByHand { .. }
            | SessionError::OtherArguments { .. }
            | SessionError::OtherSources { .. }
            | SessionError::DevicesAsked { .. }
            | SessionError::OtherFolder { .. }
            | SessionError::NamesOldFolder { .. }
            | SessionError::OfOtherRun { .. }
            | SessionError::Value { .. }
            | SessionError::Process(_)
            | SessionError::NothingRestored => exit_code::REFUSED,
            SessionError::Config(_)
            | SessionError::Store(_)
            | SessionError::System { .. }
            | SessionError::AlreadyOpen
            | SessionError::Elsewhere
            | SessionError::AroundFiles { .. }
            | SessionError::TooLate { .. }
            | SessionError::Forked
            | SessionError::RunExists { .. }
            | SessionError::Twice { .. } => exit_code::STORE,
        }
    }

    fn advice(&self) -> String {
        match self {
            SessionError::Config(ConfigError::Value { .. }) => "correct it, or leave it out for the default".into(),
            SessionError::Config(ConfigError::NotBuilt) => "the program has not run".into(),
            SessionError::Config(_) => {
                format!("correct {CONFIG_FILE}; `cargo ckpt init` writes one that explains every setting")
            }
            SessionError::Store(StoreError::Fallback { .. }) => {
                "name an empty folder; where its checkpoints are those of this store, which was moved, move their files into the store; the program has not run".into()
            }
            SessionError::Store(StoreError::Io { .. }) => {
                format!(
                    "see that you may read and write there and that the disk is sound, or name another folder for the checkpoints with {}, and start it once more: the program has not run, and nothing was changed",
                    typed("`--dir`", "CKPT_DIR")
                )
            }
            SessionError::Store(StoreError::Locked { .. }) => {
                format!(
                    "wait until that one has ended, or name another folder for the checkpoints of this one with {}; the program has not run",
                    typed("`--dir`", "CKPT_DIR")
                )
            }
            SessionError::Store(_) => "the program has not run; nothing was changed".into(),
            SessionError::System { .. } => {
                "start it once more when what the system says is mended: the program has not run, and nothing was changed".into()
            }
            SessionError::Process(error) => error.advice().into(),
            SessionError::AlreadyOpen => "close it first".into(),
            SessionError::NothingRestored | SessionError::TooLate { .. } => {
                "call `Session::restore` before the first `Session::save_if_due`".into()
            }
            SessionError::Forked => "open the session in the process that does the work".into(),
            SessionError::Twice { .. } => "give every value its own key".into(),
            SessionError::AroundFiles { .. } => {
                format!(
                    "name a folder that is for checkpoints only, for example {}: what lies in a store is not watched, so a restart could not bring the program's files back; the program has not run, and nothing was changed",
                    typed("`--dir checkpoints`", "CKPT_DIR=checkpoints")
                )
            }
            SessionError::NotByHand { .. } | SessionError::Value { .. } => {
                right_program()
            }
            SessionError::NotRestorable { .. } => {
                format!("`cargo ckpt list` shows the checkpoints; {} takes the newest that is whole; nothing was deleted", restart_command(None))
            }
            SessionError::NoLine { .. } => {
                format!(
                    "folders of ranks are named all at once, with `{{rank}}` in place of the number ({}), and those on the disk of a node are there only for ranks on that node;\nwhere the files of a rank are gone, {}; nothing was deleted",
                    typed("`--dir 'n-{rank}.ckpt.d'`", "CKPT_DIR='n-{rank}.ckpt.d'"),
                    start_anew()
                )
            }
            SessionError::OtherRanks { saved, .. } => format!("start it with {} (-n {saved})", count(*saved as u64, "rank")),
            SessionError::Apart { .. } => {
                "a run with CKPT_CHECK_SAFE_POINTS=1 names the site where they part; put sites only into loops that go round equally often on all ranks".into()
            }
            SessionError::Elsewhere => "see what that rank says".into(),
            SessionError::NoCheckpoint { others, .. } => {
                let begin = format!(
                    "{}, or {} the store of the run; nothing was deleted",
                    start_anew(),
                    typed("name with `--dir`", "set CKPT_DIR to")
                );
                match others.is_empty() {
                    true => begin,
                    false => format!(
                        "{begin};\n{} continues another run of this store: {}",
                        typed("`cargo ckpt restart --run RUN`", "CKPT_RUN with CKPT_RESTART=latest"),
                        others.join(", ")
                    ),
                }
            }
            SessionError::Completed { .. } => {
                format!(
                    "{}, or run its last part again with {}",
                    start_anew(),
                    typed(
                        "`cargo ckpt restart` and the number of a checkpoint",
                        "CKPT_RESTART and the number of a checkpoint"
                    )
                )
            }
            SessionError::OtherProgram { .. } => format!(
                "{} the store of this program",
                typed("name with `--dir`", "set CKPT_DIR to")
            ),
            SessionError::NoSuchRun { .. } => {
                "`cargo ckpt list` shows the runs; write more digits of the one that is meant".into()
            }
            SessionError::RecordUnreadable { .. } => {
                format!(
                    "name the run that is to be continued with {}: `cargo ckpt list` shows them; nothing was deleted",
                    typed("`cargo ckpt restart --run RUN`", "CKPT_RUN")
                )
            }
            SessionError::OtherArguments { theirs, ours, .. } => format!(
                "the checkpoint's: {theirs}\nthis process's:    {ours}\n\
                 what the run has read from its arguments stays as it was: restart with the same ones, or {};\n\
                 {} restarts all the same",
                start_anew(),
                typed(
                    "`cargo ckpt restart --args-changed -- ...`",
                    "CKPT_ARGS_CHANGED=1 (`cargo ckpt restart --args-changed -- ...`)"
                )
            ),
            SessionError::OtherSources { .. } => format!(
                "build the sources of the checkpoint again, or {};\n\
                 CKPT_STRICT=0 restarts all the same where the change was meant (`strict` in ckpt.toml asks for the refusal)",
                start_anew()
            ),
            SessionError::DevicesAsked { .. } => {
                "open the session before the program asks for devices; or restart where there are as many as there were".into()
            }
            SessionError::Left { run, .. } => format!(
                "{} continues it from its newest checkpoint, and does again what it did after that; or {}",
                restart_command(Some(*run)),
                start_anew()
            ),
            SessionError::OtherFolder { theirs, ours, .. } => format!(
                "that folder and the store in use there are where they were, and files of the same names in this one would be taken for the run's;\n\
                 continue it there: `cd {theirs}`; or, if its files are here now: {map}",
                theirs = theirs.display(),
                map = mapped(theirs, ours)
            ),
            SessionError::NamesOldFolder { theirs, ours, .. } => format!(
                "the program would go on with the files of the old folder, and those of this one be brought back;\n\
                 say where the old folder is now: {map}; where it has a part of the files only, map that part",
                map = mapped(theirs, ours)
            ),
            SessionError::OfOtherRun { .. } => {
                format!(
                    "name a checkpoint of that run, or leave {} out; `cargo ckpt list` shows which is of which",
                    typed("`--run`", "CKPT_RUN")
                )
            }
            SessionError::Lacks { .. } => {
                "take another checkpoint (`cargo ckpt list` shows them); a store is moved as a whole (`cargo ckpt pack`); nothing was changed".into()
            }
            SessionError::RunExists { .. } => {
                "CKPT_RESTART=latest continues it; leave CKPT_RUN out, and the start is a run of its own".into()
            }
        }
    }

    fn headline(&self) -> Headline {
        match self.code() {
            Some(code) => Headline::new(Code(code), self.to_string()),
            None => Headline::bug(&self.to_string()),
        }
    }

    fn fatal(&self) -> Fatal {
        Fatal::new(self.exit_code(), self.headline()).help(self.advice())
    }
}

/// The program as `#[ckpt::main]` knows it.
#[derive(Debug, Clone, Copy)]
pub struct Program {
    /// The package's name.
    pub name: &'static str,
    /// The package's version.
    pub version: &'static str,
    /// What the program is made of, where that is known.
    pub sources: Option<&'static Sources>,
}

/// Keeps the session of `main` open; its drop is the end of the run.
#[derive(Debug)]
#[must_use = "the session ends when this is dropped"]
pub struct MainSession {
    /// What it was opened with; nothing where there is none.
    open: Option<Opened>,
    /// Whether it ends because the program has panicked.
    panicked: bool,
    thread: PhantomData<*const ()>,
}

#[derive(Debug)]
struct Opened {
    config: Config,
    program: Program,
}

/// Opens the session of a program under `#[ckpt::main]`, if one is asked for. What cannot be opened ends the process.
pub fn open(program: Program) -> MainSession {
    open_as(program, Kind::Instrumented)
}

fn open_as(program: Program, kind: Kind) -> MainSession {
    match try_open(program, kind) {
        Ok(open) => MainSession {
            open,
            panicked: false,
            thread: PhantomData,
        },
        Err(error) => error.fatal().exit(),
    }
}

/// Runs the body of `main` under its session, if one is asked for: once, and again from a checkpoint whenever the program goes
/// back to one.
pub fn run_main<R>(program: Program, main: impl Fn() -> R) -> R {
    let mut session = open_as(program, Kind::RunsAgain);
    loop {
        // The only call: with several, each would be optimised by itself.
        let outcome = catch_unwind(AssertUnwindSafe(&main));
        if !session.goes_back(outcome.is_err()) {
            drop(session);
            return outcome.unwrap_or_else(|payload| resume_unwind(payload));
        }
        drop(outcome);
        session = session.again();
    }
}

fn try_open(program: Program, kind: Kind) -> Result<Option<Opened>, SessionError> {
    if inherited::are_anothers() {
        return Ok(None);
    }
    let Some(config) = Config::read(program.name)? else {
        if comm::rank_before_start().is_none_or(|rank| rank == 0) {
            notices::mention_unknown_variables(false);
        }
        return Ok(None);
    };
    let run = match Run::open(&config, program.named(), kind) {
        // `main` called itself, or opened a session by hand: the one that is there stays.
        Err(SessionError::AlreadyOpen) => return Ok(None),
        opened => opened?,
    };
    run.mention_restart();
    if kind == Kind::RunsAgain && config.keeps_snapshots() && config.rollback_in_process {
        allocator::keeps_what_is_freed();
    }
    begin(run, &config);
    inherited::take();
    Ok(Some(Opened { config, program }))
}

/// The functions of this thread have this session from now on.
fn begin(run: Run, config: &Config) {
    match run.resume {
        Some(_) => current::look_now(),
        None => run.policy.arm(0),
    }
    let deep_calls = config
        .deep_calls
        .at_first(run.resume.is_some(), run.policy.counts_visits());
    context::install(Box::new(run));
    frame::attach(0, deep_calls);
}

impl Program {
    fn named(&self) -> run::Named<'static> {
        run::Named {
            name: self.name,
            version: self.version,
            sources: self.sources,
        }
    }
}

impl MainSession {
    /// The body of `main` has ended, by a panic or not: whether it is to run again, from a checkpoint.
    fn goes_back(&mut self, panicked: bool) -> bool {
        self.panicked = panicked;
        if current::is_forked() {
            return false;
        }
        current::rolls_back()
    }

    /// Closes the session and opens it again, for the walk to the checkpoint that the program goes back to.
    fn again(mut self) -> MainSession {
        frame::detach();
        // Whoever has asked for a stop asks the session that goes on.
        let stop = current::stop_asked_for();
        let attention = current::attention();
        let left = context::remove().and_then(|mut driver| driver.has_left());
        let (Some(mut how), Some(Opened { config, program })) = (left, self.open.take()) else {
            Fatal::new(
                exit_code::STORE,
                Headline::bug("nothing to go back to; this is a bug in ckpt"),
            )
            .exit()
        };
        let damaged = how.make_ready();
        if how.alone.is_some() && !damaged.is_empty() {
            // It was whole when the functions were left.
            again::ends_the_job("its snapshot in memory is damaged").exit()
        }
        for visits in damaged {
            let instead = match &how.snapshot {
                Some(older) => format!("that of site visit {}", older.meta().visit),
                None => format!("checkpoint {}", how.id),
            };
            say(&format!(
                "warning[W2095]: the snapshot in memory of site visit {visits} is damaged: a checksum says so\n  \
                 {instead} is taken in its place"
            ));
        }
        let config = Config {
            restart: Some(match how.named() {
                Some(id) => config::Restart::Id(id),
                None => config::Restart::Latest,
            }),
            run: Some(how.run.clone()),
            rollbacks: how.rollbacks.clone(),
            flips: how.flips.clone(),
            time_limit: how.time_left(),
            ..config
        };
        again::as_at_start(&how);
        how.is_shown = false;
        if process::has_files_open() {
            let why = "a file that no variable holds is open, and is further on than it was";
            if comm::goes_back_with().is_some() {
                again::ends_the_job(why).exit()
            }
            again::say_why(why);
            again::not_begun(&again::as_a_new_process(&how)).exit()
        }
        match Run::open_from(&config, program.named(), Kind::RunsAgain, Some(&how)) {
            Ok(run) => {
                let is_alone = how.alone.is_some();
                run.goes_back_in_process(how);
                current::ask_for_stop(stop);
                if is_alone {
                    // The others go on, and know what this rank's clock has said: it says nothing of that again.
                    current::note(attention);
                }
                begin(run, &config);
            }
            Err(error) => {
                say(&error.to_string());
                again::not_begun(&again::as_a_new_process(&how)).exit()
            }
        }
        MainSession {
            open: Some(Opened { config, program }),
            panicked: false,
            thread: PhantomData,
        }
    }
}

impl Drop for MainSession {
    fn drop(&mut self) {
        if self.open.is_none() {
            return;
        }
        let visits = frame::detach();
        if let Some(mut run) = context::remove()
            && !goes_on_alone()
        {
            run.close(visits, self.panicked || std::thread::panicking());
        }
    }
}

/// How it is said that what was in one folder is in another.
fn mapped(theirs: &std::path::Path, ours: &std::path::Path) -> String {
    let pair = format!("'{}={}'", theirs.display(), ours.display());
    match has_command() {
        true => format!("`cargo ckpt restart --map {pair}`"),
        false => format!("CKPT_MAP={pair} (`cargo ckpt restart --map ...`)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_were_shown_too_early_are_refused_before_anything_is_changed() {
        let error = SessionError::DevicesAsked { id: CheckpointId(4) };
        assert!(error.to_string().starts_with("E2420: ") && error.to_string().contains("000004"));
        assert_eq!(
            (error.code(), error.exit_code()),
            (Some(2420), exit_code::REFUSED)
        );
    }
}
