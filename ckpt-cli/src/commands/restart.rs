//! `cargo ckpt restart`: continues a run from a checkpoint.

use std::cell::Cell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ckpt::session::job::Job;

use crate::cargo::{CargoOptions, typed};
use crate::failure::{Failure, Outcome, says};
use crate::launch::mapping::Mapping;
use crate::launch::restarts::{self, Run as Kept};
use crate::launch::{Begin, RankOptions, Record, RestartOptions, SessionOptions, was_started_here};
use crate::output;
use crate::render;
use crate::stores::continued::Continued;
use crate::stores::runs::RunOption;
use crate::stores::{self, StoreOption, Which};

/// Continue a run from a checkpoint
///
/// Without a name it is the newest run of the store that has not completed; what else could be continued is named. What is not
/// given is as in that run: which program, how it is built, when checkpoints are taken, and, without `--`, the program's
/// arguments. Other arguments are refused: what the run has read from its own is in its variables.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Restart {
    /// Number of the checkpoint, or `latest`: the newest that is whole
    #[arg(value_name = "ID", default_value = "latest")]
    which: Which,
    /// Restart although the source of a function has changed, as long as its variables are the same
    #[arg(long)]
    force_layout: bool,
    /// The arguments after `--` are others than the run has read, and that is meant
    #[arg(long)]
    args_changed: bool,
    /// What was at the path OLD is at NEW on this machine: open and closed files, paths in variables, arguments
    #[arg(long, value_name = "OLD=NEW", value_parser = Mapping::parse)]
    map: Vec<Mapping>,
    #[command(flatten)]
    run: RunOption,
    #[command(flatten)]
    session: SessionOptions,
    #[command(flatten)]
    restarts: RestartOptions,
    #[command(flatten)]
    ranks: RankOptions,
    #[command(flatten)]
    cargo: CargoOptions,
    /// Arguments for the program [default: those of the run]
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt restart                      the newest checkpoint, else as before
  cargo ckpt restart 12                   checkpoint 12, of whatever run it is
  cargo ckpt restart --run 1a2b3c4d       the newest checkpoint of that run
  cargo ckpt restart --map /home/a=/work  what was in /home/a is in /work

Exit codes: that of the program; 128 + N if signal N killed it; 75 checkpointed and stopped (requeue); 76 no \
such checkpoint; 77 the checkpoint does not fit the program; 101 build failed.";

impl Restart {
    /// Finds, builds and continues.
    pub fn perform(&self) -> Outcome<u8> {
        let named = StoreOption {
            dir: self.session.dir.clone(),
        }
        .named()?;
        let store = stores::of_all_ranks(&named).unwrap_or_else(|| named.clone());
        if store != named {
            output::note(&format!(
                "`{}` has the checkpoints of one rank: those of all, `{}`, are restarted",
                named.display(),
                store.display()
            ));
        }
        Mapping::are_clear(&self.map)?;
        stores::is_beside(&store, self.map.iter().map(Mapping::is_now_in))?;
        let continued = Continued::find(&store, self.which, self.run.of(&store)?)?;
        let record = continued.run.and_then(|run| Record::read(&store, run));
        let session = match &record {
            Some(record) => self
                .session
                .or(&record.session, &|name| std::env::var_os(name).is_some()),
            None => self.session.clone(),
        };
        let last = continued.command();
        let arguments = self.arguments(last.as_deref(), &store)?;
        let cargo = self.cargo_options(last.as_deref(), record.as_ref(), &store)?;
        let cargo = cargo.on_this_machine();
        self.launcher_is_known(record.as_ref(), &store)?;
        let recorded = record
            .as_ref()
            .map(|record| record.ranks.clone())
            .unwrap_or_default();
        let ranks = self.ranks.or(&recorded.of_checkpoint(continued.ranks()));
        ranks.have_a_number()?;
        if let Some(ranks @ 2..) = self.ranks.ranks
            && continued.is_of_one_process()
        {
            return Err(several_of_one(ranks));
        }
        self.tell(&continued, &session, &cargo, &ranks, &arguments);
        let program = crate::package::program::program(&cargo, ranks.ranks)?;
        program.has_checkpoints()?;
        if let Some(run) = continued.run {
            Record {
                run,
                cargo: cargo.pinned_to(&program),
                session: session.clone(),
                ranks: ranks.clone(),
                executable: program.executable.clone(),
            }
            .write_unless_locked(&store);
        }
        let mut environment = session.environment(&store);
        environment.extend(continued.run.map(|run| ("CKPT_RUN", run.to_string().into())));
        if self.args_changed {
            environment.push(("CKPT_ARGS_CHANGED", "1".into()));
        }
        if self.force_layout {
            environment.push(("CKPT_FORCE_LAYOUT", "1".into()));
        }
        environment.extend(Mapping::variable(&self.map));
        let command = |begin| {
            let mut command = program.command();
            command
                .args(&arguments)
                .envs(environment.iter().map(|(name, value)| (name, value)));
            let which = match (begin, continued.instead_of_copies) {
                (Begin::Latest, _) => Which::Latest,
                (_, Some(newest)) => Which::Id(newest.0),
                _ => self.which,
            };
            command.env("CKPT_RESTART", which.to_string());
            ranks.wrap(command)
        };
        let id = Cell::new(continued.run);
        let continues = self.which == Which::Latest;
        let origin = self.which.words();
        let run = Kept {
            store: &store,
            continues,
            id: &id,
            origin,
            command: &command,
            ranks: ranks.ranks,
            behind_runner: program.behind_runner(),
        };
        let job = || Job::read(&stores::home(&store), continued.run?).ok().flatten();
        let before = job();
        let ended = restarts::keep_running(&self.restarts, &run);
        // A restart that was refused says nothing about the next.
        if let (Some(record), true) = (&record, job() == before) {
            record.put_back(&store);
        }
        Ok(ended?.exit_code())
    }

    fn arguments(&self, last: Option<&[String]>, store: &Path) -> Outcome<Vec<OsString>> {
        let read = last.map(|last| {
            let words = last.iter().skip(1);
            words
                .map(|word| Mapping::of_argument(&self.map, word))
                .collect::<Vec<_>>()
        });
        let given = std::env::args_os().any(|argument| argument == "--");
        match (read, given) {
            (Some(read), true) if read != self.arguments && !self.args_changed => {
                Err(other_arguments(&read, &self.arguments))
            }
            (_, true) => Ok(self.arguments.clone()),
            (Some(read), false) => Ok(read),
            (None, false) => Err(Failure::usage(says!(
                "E3014: `{}` does not say how the program was started",
                store.display()
            ))
            .help("give the program's arguments after `--` (nothing after it if there are none)")),
        }
    }

    /// The options given, and for what they do not say, those that built the program of the run that is continued, as far as they were given on this
    /// machine: a store that came from elsewhere does not say what is started here.
    fn cargo_options(
        &self,
        last: Option<&[String]>,
        record: Option<&Record>,
        store: &Path,
    ) -> Outcome<CargoOptions> {
        if !self.cargo.is_unset() {
            let before = record.filter(|record| record.was_said_here(store));
            let given = match before {
                Some(before) => self.cargo.clone().and_as_in(&before.cargo),
                None => self.cargo.clone(),
            };
            // Without measured costs the sites were elsewhere.
            let by_estimates = record.is_some_and(|record| record.cargo.no_profile);
            return Ok(CargoOptions {
                no_profile: given.no_profile || by_estimates,
                ..given
            });
        }
        let last = last.and_then(|last| last.first()).map(PathBuf::from);
        let started_here = last.clone().filter(|last| was_started_here(store, last));
        let said_here = record.filter(|record| record.was_said_here(store));
        match (said_here, started_here) {
            (Some(record), Some(last)) if record.executable != last => Ok(by_hand(last)),
            (Some(record), _) => Ok(CargoOptions {
                quiet: self.cargo.quiet,
                passed_on: record.cargo.passed_on.clone().saying_as(&self.cargo.passed_on),
                ..record.cargo.clone()
            }),
            (None, Some(last)) => {
                record
                    .into_iter()
                    .for_each(|record| is_not_built(record, &last, store));
                Ok(by_hand(last))
            }
            (None, None) => Err(not_from_here(record, last, store)),
        }
    }

    /// A launcher is started with the program: it has to have been named on this machine as well.
    fn launcher_is_known(&self, record: Option<&Record>, store: &Path) -> Outcome<()> {
        let recorded = record.filter(|record| !record.was_said_here(store));
        let Some(launcher) = recorded.and_then(|record| record.ranks.launcher.as_ref()) else {
            return Ok(());
        };
        if self.ranks.launcher.is_some() {
            return Ok(());
        }
        Err(Failure::store(says!(
            "E3181: `{}` names a launcher that was not given on this machine",
            store.display()
        ))
        .because(format!("it says: --launcher {}", typed(launcher)))
        .because(NOT_FROM_HERE)
        .help("give the launcher on the command line: `--launcher mpirun`, or this one if you trust it"))
    }

    fn tell(
        &self,
        continued: &Continued,
        session: &SessionOptions,
        cargo: &CargoOptions,
        ranks: &RankOptions,
        arguments: &[OsString],
    ) {
        let mut words = cargo.words();
        words.extend(ranks.words());
        words.extend(session.words());
        if !arguments.is_empty() {
            words.push("--".into());
            words.extend(
                arguments
                    .iter()
                    .map(|argument| argument.to_string_lossy().into_owned()),
            );
        }
        let how = if words.is_empty() {
            String::new()
        } else {
            format!(": {}", words.join(" "))
        };
        let of_run = continued.run.map(|run| format!(" of run {}", run.short()));
        output::note(&format!(
            "restarting from {}{}{how}",
            self.which.words(),
            of_run.unwrap_or_default()
        ));
    }
}

const NOT_FROM_HERE: &str = "a store that was unpacked, copied or made by somebody else does not decide what is started on this machine";

/// Nothing that was said or started on this machine tells which program this is of.
fn not_from_here(record: Option<&Record>, last: Option<PathBuf>, store: &Path) -> Failure {
    let mut words = record.map(Record::said_of_the_program).unwrap_or_default();
    if words.is_empty() {
        words.extend(last.map(|last| format!("--exe {}", typed(&last.to_string_lossy()))));
    }
    let failure = Failure::store(says!(
        "E3180: which program `{}` is of was not said on this machine",
        store.display()
    ));
    let failure = match words.is_empty() {
        true => failure,
        false => failure.because(format!("it says: {}", words.join(" "))),
    };
    failure.because(NOT_FROM_HERE).help(
        "in the folder of the program's source, say how it is built: `cargo ckpt restart --bin NAME --release`;\n\
         or name a built program that you trust: `--exe FILE`. From then on it is known",
    )
}

/// The executable that ran last here is started, whatever the store says about how it is built.
fn is_not_built(record: &Record, last: &Path, store: &Path) {
    output::note(&format!(
        "warning[W3043]: how `{}` says that its program is built was not said on this machine: `{}` is started, which ran last, and nothing is built\n  \
         why:   it says: {}; {NOT_FROM_HERE}\n  \
         help:  if the sources have changed, say how it is built, in their folder: `cargo ckpt restart --bin NAME --release`; from then on it is known",
        store.display(),
        last.display(),
        record.said_of_the_program().join(" "),
    ));
}

fn several_of_one(ranks: u32) -> Failure {
    Failure::refused(says!(
        "E3189: the checkpoint was written by one process, and `-n {ranks}` starts {ranks}"
    ))
    .because("each process goes on with its own part, and there is one")
    .help("leave `-n` out; a program with MPI is started anew to run with more: `cargo ckpt run -n N`")
}

fn other_arguments(read: &[OsString], given: &[OsString]) -> Failure {
    let line = |words: &[OsString]| {
        let words: Vec<String> = words
            .iter()
            .map(|word| word.to_string_lossy().into_owned())
            .collect();
        render::command_line(&words)
    };
    Failure::refused(says!("E3156: the run was started with other arguments"))
        .because(format!("the run's:   {}", line(read)))
        .because(format!("given now:   {}", line(given)))
        .because("what it has read from its arguments is in its variables, and stays as it was")
        .help(
            "leave `--` and what follows out to continue it with its own; `cargo ckpt run -- ...` starts a run with these;\n\
             `cargo ckpt restart --args-changed -- ...` where the program reads them again and it is meant",
        )
}

/// A program that was started without `cargo ckpt`: the executable itself.
fn by_hand(executable: PathBuf) -> CargoOptions {
    CargoOptions {
        exe: Some(executable),
        ..CargoOptions::default()
    }
}
