//! `cargo ckpt run`: builds the program and runs it with checkpoints.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use ckpt::session::job::{COMMAND_NOTE, Job, RANKS_NOTE};
use ckpt::session::runs::RunRecord;
use ckpt::session::{PLACE_NOTE, Place};
use ckpt::store::{Meta, RunId};

use crate::cargo::{CargoOptions, Program};
use crate::failure::{Failure, OrFail, Outcome, code, says};
use crate::launch::mapping::Mapping;
use crate::launch::restarts::{self, Run as Kept};
use crate::launch::{Begin, Ending, RankOptions, Record, RestartOptions, SessionOptions, starts_over};
use crate::output;
use crate::stores::continued::Continued;
use crate::stores::lines::Lines;
use crate::stores::runs::{self, metas, of_run};
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
    /// With `--resume`: what was at the path OLD is at NEW on this machine, as for `cargo ckpt restart`
    #[arg(long, value_name = "OLD=NEW", value_parser = Mapping::parse, requires = "resume")]
    map: Vec<Mapping>,
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
  cargo ckpt run --release --resume -- deck.toml  starts and continues: for batch
  cargo ckpt run --fallback /scratch/more         when the store's disk is full

Exit codes: that of the program; 128 + N if signal N killed it; 75 checkpointed and stopped (requeue); 78 \
ckpt.toml or the store is wrong; 79 there is no place for a checkpoint; 101 the build failed. With `--restarts`, endings with 0 and 75 to 79 are final.";

impl Run {
    /// Builds and runs.
    pub fn perform(&self) -> Outcome<u8> {
        self.ranks.have_a_number()?;
        // What the package is called does not matter to that, and building it takes its time.
        let named = stores::for_program(self.session.dir.as_deref(), "program")?;
        Mapping::are_clear(&self.map)?;
        stores::is_beside(&named, self.map.iter().map(Mapping::is_now_in))?;
        // Whose store it is, is said before anything is built or started.
        runs::records(&named)?;
        let program = crate::package::program::program(&self.cargo, self.ranks.ranks)?;
        program.has_checkpoints()?;
        let store = stores::for_program(self.session.dir.as_deref(), &program.name)?;
        runs::records(&store)?;
        let start = Start {
            store: &store,
            command_line: (&program.executable, &self.arguments),
            cargo: self.cargo.pinned_to(&program),
            map: &self.map,
            ranks: self.ranks.ranks,
            id: Cell::new(None),
            tried: RefCell::default(),
        };
        loop {
            let asked = start.asked(self.resume, self.fresh)?;
            let (run, before) = (start.id.get(), start.record());
            let launched = run.and_then(|run| Record::read(&store, run));
            let ending = self.keep_running(&start, asked, &program)?;
            // That a checkpoint is damaged is known only when all of it has been read.
            let has_begun = start.id.get() != run || start.record() != before;
            if let (Some(launched), false) = (launched, has_begun) {
                launched.put_back(&store);
            }
            let has_none = matches!(asked, Asked::ToContinue)
                && ending == Ending::Code(i32::from(code::NO_CHECKPOINT))
                && !has_begun;
            if !(self.resume && has_none && start.pass_over()) {
                return Ok(ending.exit_code());
            }
        }
    }

    fn keep_running(&self, start: &Start<'_>, asked: Asked, program: &Program) -> Outcome<Ending> {
        let store = start.store;
        let mut environment = self.session.environment(store);
        environment.extend(Mapping::variable(&self.map));
        let command = |begin| {
            let mut command = program.command();
            command
                .args(&self.arguments)
                .envs(environment.iter().map(|(name, value)| (name, value)));
            let run = match (begin, asked) {
                (Begin::AsAsked, Asked::ByVariables) => start.id.get(),
                (Begin::AsAsked, Asked::ToContinue) | (Begin::Latest, _) => {
                    command.env("CKPT_RESTART", "latest");
                    let run = start.id.get();
                    command.envs(run.map(|run| ("CKPT_RUN", run.to_string())));
                    run
                }
                (Begin::AsAsked, Asked::ToStart) | (Begin::Over, _) => {
                    command.env_remove("CKPT_RESTART");
                    // The run whose start this one is again.
                    if let Some(before) = start.id.get() {
                        let keeps = self.session.keeps_other_runs();
                        starts_over::undo(store, before, self.ranks.ranks, keeps, &self.map)?;
                    }
                    let run = start.new_run()?;
                    command.env("CKPT_RUN", run.to_string());
                    Some(run)
                }
            };
            if let Some(run) = run {
                Record {
                    run,
                    cargo: start.cargo.clone(),
                    session: self.session.clone(),
                    ranks: self.ranks.clone(),
                    executable: program.executable.clone(),
                }
                .write_unless_locked(store);
            }
            self.ranks.wrap(command)
        };
        let run = Kept {
            store,
            continues: !matches!(asked, Asked::ToStart),
            id: &start.id,
            origin: "the start".into(),
            command: &command,
            ranks: self.ranks.ranks,
            behind_runner: program.behind_runner(),
        };
        restarts::keep_running(&self.restarts, &run)
    }
}

/// Which run a start is of.
struct Start<'s> {
    store: &'s Path,
    command_line: (&'s Path, &'s [OsString]),
    /// Which program it is.
    cargo: CargoOptions,
    map: &'s [Mapping],
    ranks: Option<u32>,
    /// The run of the process that is started next, or was last.
    id: Cell<Option<RunId>>,
    /// Runs that could not be continued after all.
    tried: RefCell<BTreeSet<RunId>>,
}

/// How the first process begins.
#[derive(Clone, Copy)]
enum Asked {
    /// A run of its own.
    ToStart,
    /// With the newest checkpoint of a run.
    ToContinue,
    /// As `CKPT_RESTART` says.
    ByVariables,
}

impl Start<'_> {
    /// What the store says of the run.
    fn record(&self) -> Option<Job> {
        Job::read(&stores::home(self.store), self.id.get()?)
            .ok()
            .flatten()
    }

    /// The run is not continued; gives whether that is new.
    fn pass_over(&self) -> bool {
        let Some(run) = self.id.get() else { return false };
        output::note(&format!(
            "run {} is not resumed: none of its checkpoints could be restored",
            run.short()
        ));
        self.tried.borrow_mut().insert(run)
    }

    fn asked(&self, resume: bool, fresh: bool) -> Outcome<Asked> {
        let restart = std::env::var("CKPT_RESTART").ok().filter(|text| !text.is_empty());
        if resume {
            let records = runs::records(self.store)?;
            let found = self.resumable(&records)?;
            self.id.set(match found {
                Some(run) => Some(run),
                None => self.died(&records)?,
            });
            return Ok(match found {
                Some(_) => Asked::ToContinue,
                None => Asked::ToStart,
            });
        }
        let Some(text) = restart.filter(|_| !fresh) else {
            self.id.set(None);
            return Ok(Asked::ToStart);
        };
        self.id.set(self.continued(&text));
        Ok(Asked::ByVariables)
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

    /// The newest run of the same command line that has a checkpoint which can be restored, and has neither completed nor ended
    /// with exit code 0.
    fn resumable(&self, records: &[RunRecord]) -> Outcome<Option<RunId>> {
        let metas = metas(self.store)?;
        for record in records.iter().rev().filter(|record| record.is_to_continue()) {
            let newest = of_run(&metas, record.run).next_back();
            let is_tried = self.tried.borrow().contains(&record.run);
            let is_own = |meta: &Meta| self.wrote(meta) && self.is_of_this_program(record.run);
            if is_tried || !newest.is_some_and(|newest| is_own(&metas[&newest])) {
                continue;
            }
            let run = record.run.short();
            match Lines::of_run(self.store, Some(record.run))?.newest_restorable()? {
                Some(newest) => {
                    output::note(&format!(
                        "resuming run {run} from its newest checkpoint, {newest}"
                    ));
                    return Ok(Some(record.run));
                }
                None => output::note(&format!(
                    "run {run} is not resumed: it has no checkpoint that can be restored ({} says why)",
                    stores::command_about(self.store, "list", &[])
                )),
            }
        }
        Ok(None)
    }

    /// The run of this command line that began last, if it has died and has no checkpoint that can be restored: what it has left
    /// is not what a start finds.
    ///
    /// # Errors
    /// Of which command line a run is, or that it has completed, is not known.
    fn died(&self, records: &[RunRecord]) -> Outcome<Option<RunId>> {
        let mut unknown = records
            .iter()
            .filter(|record| record.job.is_err())
            .map(|record| record.run);
        if let Some(run) = unknown.next().or(runs::without_record(self.store, records)?) {
            return Err(Failure::no_checkpoint(says!(
                "E3202: whether run {} of `{}` is to be started again is not known",
                run.short(),
                self.store.display()
            ))
            .because("its record (`job.json`) is damaged or gone, and it may have changed files that a start from the beginning would find")
            .help(format!(
                "put the files in order, and start with `cargo ckpt run --fresh`; or, if it has a checkpoint, continue it by its number: {} ({} shows them)",
                stores::command_about(self.store, "restart", &["NUMBER"]),
                stores::command_about(self.store, "list", &[])
            )));
        }
        let is_own = |record: &&RunRecord| {
            let job = record.job.as_ref();
            job.is_ok_and(|job| {
                self.is_this(&job.command, job.ranks, job.place.as_ref())
                    && self.is_of_this_program(record.run)
            })
        };
        let last = records.iter().rev().find(is_own);
        Ok(last
            .filter(|record| record.is_to_continue())
            .map(|record| record.run))
    }

    /// Whether a process of this command line has written the checkpoint.
    fn wrote(&self, meta: &Meta) -> bool {
        let note = |name: &str| {
            let found = meta.notes.iter().find(|(known, _)| known == name);
            found.map(|(_, text)| text.as_str())
        };
        let command = note(COMMAND_NOTE).and_then(|text| serde_json::from_str::<Vec<String>>(text).ok());
        let ranks = note(RANKS_NOTE).and_then(|text| text.parse().ok());
        let place = note(PLACE_NOTE).and_then(|text| serde_json::from_str(text).ok());
        command.is_some_and(|command| self.is_this(&command, ranks, place.as_ref()))
    }

    /// Whether the run is not known to be of another program of that name: that of another package, an example beside a binary.
    fn is_of_this_program(&self, run: RunId) -> bool {
        let theirs = Record::read(self.store, run);
        theirs.is_none_or(|theirs| theirs.cargo.may_choose_the_same_as(&self.cargo))
    }

    /// Runs of several folders may have a store in common.
    fn is_this(&self, command: &[String], ranks: Option<u32>, place: Option<&Place>) -> bool {
        let (executable, arguments) = self.command_line;
        let name = |path: &Path| path.file_name().map(OsStr::to_owned);
        let program = command.first().map(Path::new).and_then(name);
        let place = place.map(|place| Place {
            folder: self.now(&place.folder.to_string_lossy()).into(),
            ..place.clone()
        });
        place.is_none_or(|place| place.is_now(Path::new("."), &stores::home(self.store)))
            && ranks.unwrap_or(1) == self.ranks.unwrap_or(1)
            && program == name(executable)
            && arguments.len() + 1 == command.len().max(1)
            && arguments
                .iter()
                .zip(command.iter().skip(1))
                .all(|(argument, word)| {
                    let argument = argument.to_string_lossy();
                    // One that has moved is refused by the program where the old path is given.
                    argument == *word || argument == self.now(word)
                })
    }

    /// An argument of a run, as it is now where it is a path that has moved.
    fn now(&self, word: &str) -> String {
        Mapping::of_argument(self.map, word)
            .to_string_lossy()
            .into_owned()
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
