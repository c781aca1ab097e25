//! `cargo ckpt restart`: continues a run from a checkpoint.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use ckpt::session::job::{COMMAND_NOTE, Job, RANKS_NOTE, State};
use ckpt::store::{Entry, Meta};

use crate::cargo::CargoOptions;
use crate::failure::{Failure, Outcome, says};
use crate::launch::mapping::Mapping;
use crate::launch::restarts::{self, Run as Kept};
use crate::launch::{Begin, RankOptions, Record, RestartOptions, SessionOptions};
use crate::output;
use crate::stores::checkpoint;
use crate::stores::{self, StoreOption, Which};

/// Continue a run from a checkpoint
///
/// What is not given is as in the last run: which program, how it is built, when checkpoints are taken, and, without
/// `--`, the program's arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Restart {
    /// Number of the checkpoint, or `latest`: the newest that is whole
    #[arg(value_name = "ID", default_value = "latest")]
    which: Which,
    /// Restart although the source of a function has changed, as long as its variables are the same
    #[arg(long)]
    force_layout: bool,
    /// What was at the path OLD is at NEW on this machine: open and closed files, paths in variables, arguments
    #[arg(long, value_name = "OLD=NEW", value_parser = Mapping::parse)]
    map: Vec<Mapping>,
    #[command(flatten)]
    session: SessionOptions,
    #[command(flatten)]
    restarts: RestartOptions,
    #[command(flatten)]
    ranks: RankOptions,
    #[command(flatten)]
    cargo: CargoOptions,
    /// Arguments for the program [default: those of the last run]
    #[arg(last = true, value_name = "ARGS")]
    arguments: Vec<OsString>,
}

const EXAMPLE: &str = "\
Example:
  cargo ckpt restart                      the newest checkpoint, everything else as before
  cargo ckpt restart 12 -- other.toml     checkpoint 12, with another argument
  cargo ckpt restart --map /home/a=/work  files that were below /home/a are below /work now

Exit codes: that of the program; 128 + N if signal N killed it; 75 checkpointed and stopped
(requeue); 76 no such checkpoint; 77 the checkpoint does not fit the program; 101 build failed.";

impl Restart {
    /// Finds, builds and continues.
    pub fn perform(&self) -> Outcome<u8> {
        let store = StoreOption {
            dir: self.session.dir.clone(),
        }
        .named()?;
        self.checkpoint_exists(&store)?;
        let job = stores::job(&store);
        self.there_is_something_left(job.as_ref(), &store)?;
        let record = Record::read(&store);
        let session = match &record {
            Some(record) => self
                .session
                .or(&record.session, &|name| std::env::var_os(name).is_some()),
            None => self.session.clone(),
        };
        let meta = self.meta(&store);
        let last = last_command(meta.as_ref(), job.as_ref());
        let arguments = self.arguments(last.as_deref(), &store)?;
        let cargo = self.cargo_options(last.as_deref(), record.as_ref());
        let cargo = cargo.on_this_machine();
        let recorded = record
            .as_ref()
            .map(|record| record.ranks.clone())
            .unwrap_or_default();
        let ranks = self
            .ranks
            .or(&recorded.of_checkpoint(meta.as_ref().and_then(ranks_of)));
        ranks.have_a_number()?;
        self.tell(&session, &cargo, &ranks, &arguments);
        let program = crate::package::program::program(&cargo, ranks.ranks)?;
        Record {
            cargo: cargo.pinned_to(&program),
            session: session.clone(),
            ranks: ranks.clone(),
            executable: program.executable.clone(),
        }
        .write_unless_locked(&store);
        let mut environment = session.environment(&store);
        if self.force_layout {
            environment.push(("CKPT_FORCE_LAYOUT", "1".into()));
        }
        environment.extend(Mapping::variable(&self.map));
        let command = |begin| {
            let mut command = program.command();
            command
                .args(&arguments)
                .envs(environment.iter().map(|(name, value)| (name, value)));
            let which = if begin == Begin::Latest {
                Which::Latest
            } else {
                self.which
            };
            command.env("CKPT_RESTART", which.to_string());
            ranks.wrap(command)
        };
        let continues = self.which == Which::Latest;
        let origin = self.which.words();
        let run = Kept {
            store: &store,
            continues,
            origin,
            command: &command,
            has_ranks: ranks.ranks.is_some(),
        };
        Ok(restarts::keep_running(&self.restarts, &run)?.exit_code())
    }

    /// Says before a long build that there is nothing to continue from.
    fn checkpoint_exists(&self, store: &Path) -> Outcome<()> {
        let ids = stores::ids(store);
        let none = || checkpoint::none(store, &ids, self.which);
        match self.which {
            _ if ids.is_empty() => Err(none().help("start the program with `cargo ckpt run`")),
            Which::Id(id) if !ids.contains(&id) => Err(none()),
            _ => Ok(()),
        }
    }

    /// The program would say so too, but only after the build.
    fn there_is_something_left(&self, job: Option<&Job>, store: &Path) -> Outcome<()> {
        match job {
            Some(job) if job.state == State::Completed && self.which == Which::Latest => {
                let what = says!(
                    "E3013: the run in `{}` completed at {}: nothing is left to do",
                    store.display(),
                    job.updated
                );
                let ids = stores::id_list(&stores::ids(store));
                Err(Failure::no_checkpoint(what).help(format!(
                    "`cargo ckpt run` starts anew; `cargo ckpt restart ID` repeats the part after a checkpoint ({ids})"
                )))
            }
            _ => Ok(()),
        }
    }

    /// What the checkpoint says of the run that wrote it.
    fn meta(&self, store: &Path) -> Option<Meta> {
        let entries = checkpoint::open(store).ok()?.list().ok()?;
        let is_it = |entry: &Entry| match self.which {
            Which::Latest => entry.meta.is_ok(),
            Which::Id(id) => entry.id.0 == id,
        };
        entries.into_iter().rev().find(is_it)?.meta.ok()
    }

    fn arguments(&self, last: Option<&[String]>, store: &Path) -> Outcome<Vec<OsString>> {
        if std::env::args_os().any(|argument| argument == "--") {
            return Ok(self.arguments.clone());
        }
        match last {
            Some(last) => {
                let words = last.iter().skip(1);
                Ok(words.map(|word| Mapping::of_argument(&self.map, word)).collect())
            }
            None => Err(Failure::usage(says!(
                "E3014: `{}` does not say how the program was started",
                store.display()
            ))
            .help("give the program's arguments after `--` (nothing after it if there are none)")),
        }
    }

    /// The options given, or those that built the program of the run that is continued.
    fn cargo_options(&self, last: Option<&[String]>, record: Option<&Record>) -> CargoOptions {
        if !self.cargo.is_unset() {
            // Without measured costs the sites were elsewhere.
            let by_estimates = record.is_some_and(|record| record.cargo.no_profile);
            return CargoOptions {
                no_profile: self.cargo.no_profile || by_estimates,
                ..self.cargo.clone()
            };
        }
        let last = last.and_then(|last| last.first()).map(PathBuf::from);
        match (record, last) {
            (Some(record), Some(last)) if record.executable != last && last.is_file() => by_hand(last),
            (Some(record), _) => CargoOptions {
                quiet: self.cargo.quiet,
                ..record.cargo.clone()
            },
            (None, Some(last)) if last.is_file() => by_hand(last),
            (None, _) => self.cargo.clone(),
        }
    }

    fn tell(
        &self,
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
        output::note(&format!("restarting from {}{how}", self.which.words()));
    }
}

fn note<'m>(meta: &'m Meta, name: &str) -> Option<&'m str> {
    let notes = meta.notes.iter();
    notes
        .map(|(known, text)| (known, text.as_str()))
        .find_map(|(known, text)| (known == name).then_some(text))
}

/// The command line of the run that wrote the checkpoint, as far as it says; else that of the last process.
fn last_command(meta: Option<&Meta>, job: Option<&Job>) -> Option<Vec<String>> {
    let noted = meta.and_then(|meta| note(meta, COMMAND_NOTE));
    let command = noted.and_then(|text| serde_json::from_str(text).ok());
    command.or_else(|| job.map(|job| job.command.clone()))
}

/// How many ranks wrote the line that the checkpoint is of.
fn ranks_of(meta: &Meta) -> Option<u32> {
    note(meta, RANKS_NOTE)?.parse().ok()
}

/// A program that was started without `cargo ckpt`: the executable itself.
fn by_hand(executable: PathBuf) -> CargoOptions {
    CargoOptions {
        exe: Some(executable),
        ..CargoOptions::default()
    }
}
