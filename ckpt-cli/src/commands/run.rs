//! `cargo ckpt run`: builds the program and runs it with checkpoints.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use ckpt::session::job::{COMMAND_NOTE, RANKS_NOTE};
use ckpt::store::{CheckpointId, Meta, RunId};

use crate::cargo::CargoOptions;
use crate::failure::{Failure, OrFail, Outcome, says};
use crate::launch::restarts::{self, Run as Kept};
use crate::launch::{Begin, RankOptions, Record, RestartOptions, SessionOptions};
use crate::output;
use crate::stores::continued::Continued;
use crate::stores::runs::{self, metas, to_continue};
use crate::stores::{self, Which};

/// Build the program and run it with checkpoints
///
/// Options not given here are taken from CKPT_* variables, then from ckpt.toml in the current folder. If none of them
/// says when, a checkpoint is taken every ten minutes. A start begins a run of its own; what else the store holds stays. With
/// `--resume` the same command starts a job and continues it, as batch scripts want. SIGTERM and SIGUSR1 are passed on: the
/// program takes a checkpoint at its next site and ends with exit code 75; on Ctrl-C with 130, and a second Ctrl-C ends it at once.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Run {
    /// Continue the newest unfinished run of this command line that has a checkpoint; start one where there is none
    #[arg(long)]
    resume: bool,
    /// Start a run, whatever the store holds and whatever CKPT_RESTART says
    #[arg(long, conflicts_with = "resume")]
    fresh: bool,
    #[command(flatten)]
    session: SessionOptions,
    #[command(flatten)]
    restarts: RestartOptions,
    #[command(flatten)]
    ranks: RankOptions,
    #[command(flatten)]
    cargo: CargoOptions,
    /// Arguments for the program
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt run --release --interval 5m --restarts 3 -- deck.toml
  cargo ckpt run --release -n 4 -- deck.toml      four processes of MPI
  cargo ckpt run --release --resume -- deck.toml  the same to start and to continue: for batch scripts

Exit codes: that of the program; 128 + N if signal N killed it; 75 checkpointed and stopped
(requeue); 101 the build failed. With `--restarts`, endings with 0 and 75 to 79 are final.";

impl Run {
    /// Builds and runs.
    pub fn perform(&self) -> Outcome<u8> {
        self.ranks.have_a_number()?;
        let program = crate::package::program::program(&self.cargo, self.ranks.ranks)?;
        let store = stores::for_program(self.session.dir.as_deref(), &program.name)?;
        let start = Start {
            store: &store,
            command_line: (&program.executable, &self.arguments),
            ranks: self.ranks.ranks,
            id: Cell::new(None),
        };
        let asked = start.asked(self.resume, self.fresh)?;
        let cargo = self.cargo.pinned_to(&program);
        let environment = self.session.environment(&store);
        let command = |begin| {
            let mut command = program.command();
            command
                .args(&self.arguments)
                .envs(environment.iter().map(|(name, value)| (name, value)));
            let run = match (begin, asked) {
                (Begin::AsAsked, Asked::ByVariables(_)) => start.id.get(),
                (Begin::AsAsked, Asked::ToContinue(_)) | (Begin::Latest, _) => {
                    command.env("CKPT_RESTART", "latest");
                    let run = start.id.get();
                    command.envs(run.map(|run| ("CKPT_RUN", run.to_string())));
                    run
                }
                (Begin::AsAsked, Asked::ToStart) | (Begin::Over, _) => {
                    command.env_remove("CKPT_RESTART");
                    let run = start.new_run()?;
                    command.env("CKPT_RUN", run.to_string());
                    Some(run)
                }
            };
            if let Some(run) = run {
                Record {
                    run,
                    cargo: cargo.clone(),
                    session: self.session.clone(),
                    ranks: self.ranks.clone(),
                    executable: program.executable.clone(),
                }
                .write_unless_locked(&store);
            }
            self.ranks.wrap(command)
        };
        let run = Kept {
            store: &store,
            continues: !matches!(asked, Asked::ToStart),
            id: &start.id,
            origin: "the start".into(),
            command: &command,
            ranks: self.ranks.ranks,
        };
        Ok(restarts::keep_running(&self.restarts, &run)?.exit_code())
    }
}

/// Which run a start is of.
struct Start<'s> {
    store: &'s Path,
    command_line: (&'s Path, &'s [OsString]),
    ranks: Option<u32>,
    /// The run of the process that is started next, or was last.
    id: Cell<Option<RunId>>,
}

/// How the first process begins.
#[derive(Clone, Copy)]
enum Asked {
    /// A run of its own.
    ToStart,
    /// With the newest checkpoint of a run.
    ToContinue(RunId),
    /// As `CKPT_RESTART` says.
    ByVariables(Option<RunId>),
}

impl Start<'_> {
    fn asked(&self, resume: bool, fresh: bool) -> Outcome<Asked> {
        let restart = std::env::var("CKPT_RESTART").ok().filter(|text| !text.is_empty());
        let asked = match restart {
            _ if resume => self.resumable()?.map_or(Asked::ToStart, Asked::ToContinue),
            Some(text) if !fresh => Asked::ByVariables(self.continued(&text)),
            _ => Asked::ToStart,
        };
        self.id.set(match asked {
            Asked::ToStart => None,
            Asked::ToContinue(run) => Some(run),
            Asked::ByVariables(run) => run,
        });
        Ok(asked)
    }

    /// The run that the variables mean, if there is something to continue: where there is not, the program says so.
    fn continued(&self, restart: &str) -> Option<RunId> {
        let which: Which = restart.trim().parse().ok()?;
        let named = std::env::var("CKPT_RUN")
            .ok()
            .and_then(|text| text.trim().parse().ok());
        let named = stores::runs::RunOption { run: named }.of(self.store).ok()?;
        Continued::find(self.store, which, named).ok()?.run
    }

    /// The newest run of the same command line that has not completed and has a checkpoint.
    fn resumable(&self) -> Outcome<Option<RunId>> {
        let metas = metas(self.store)?;
        let wrote = |newest: &CheckpointId| metas.get(newest).is_some_and(|meta| self.wrote(meta));
        let records = runs::records(self.store)?;
        let mut found = to_continue(&records, &metas).into_iter();
        let Some((record, newest)) = found.find(|(_, newest)| wrote(newest)) else {
            return Ok(None);
        };
        output::note(&format!(
            "resuming run {} from its newest checkpoint, {newest}",
            record.run.short()
        ));
        Ok(Some(record.run))
    }

    /// Whether a process of this command line has written the checkpoint.
    fn wrote(&self, meta: &Meta) -> bool {
        let note = |name: &str| {
            let found = meta.notes.iter().find(|(known, _)| known == name);
            found.map(|(_, text)| text.as_str())
        };
        let Some(command) =
            note(COMMAND_NOTE).and_then(|text| serde_json::from_str::<Vec<String>>(text).ok())
        else {
            return false;
        };
        let ranks = note(RANKS_NOTE).map_or(Some(1), |text| text.parse().ok());
        let (executable, arguments) = self.command_line;
        let name = |path: &Path| path.file_name().map(OsStr::to_owned);
        let program = command.first().map(Path::new).and_then(name);
        ranks == Some(self.ranks.unwrap_or(1))
            && program == name(executable)
            && arguments
                .iter()
                .map(|argument| argument.to_string_lossy())
                .eq(command.iter().skip(1).map(String::as_str))
    }

    /// A run that begins.
    fn new_run(&self) -> Outcome<RunId> {
        let run = identity(RunId::new())?;
        self.id.set(Some(run));
        Ok(run)
    }
}

/// That of a new run, if the system has given one.
fn identity(drawn: io::Result<RunId>) -> Outcome<RunId> {
    drawn.or_fail(|| {
        Failure::no(says!("E3157: there is no identity for the new run"))
            .help("the system gives no random numbers: see to what forbids `getrandom`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_system_without_random_numbers_begins_no_run() {
        let refused = identity(Err(io::ErrorKind::PermissionDenied.into())).unwrap_err();
        assert_eq!(
            refused.to_string(),
            "E3157: there is no identity for the new run: permission denied"
        );
        let told = serde_json::json!({
            "code": "E3157", "error": "there is no identity for the new run",
            "help": "the system gives no random numbers: see to what forbids `getrandom`",
        });
        assert_eq!(refused.as_data(), told);
    }
}
