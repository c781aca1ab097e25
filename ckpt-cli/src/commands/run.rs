//! `cargo ckpt run`: builds the program and runs it with checkpoints.

use std::ffi::OsString;

use crate::cargo::CargoOptions;
use crate::failure::Outcome;
use crate::launch::restarts::{self, Run as Kept};
use crate::launch::{Begin, RankOptions, Record, RestartOptions, SessionOptions};
use crate::stores;

/// Build the program and run it with checkpoints
///
/// Options not given here are taken from CKPT_* variables, then from ckpt.toml in the current folder. If none of them
/// says when, a checkpoint is taken every ten minutes. SIGTERM and SIGUSR1 are passed on: the program takes a
/// checkpoint at its next site and ends with exit code 75.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Run {
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

Exit codes: that of the program; 128 + N if signal N killed it; 75 checkpointed and stopped
(requeue); 101 the build failed. With `--restarts`, endings with 0 and 75 to 79 are final.";

impl Run {
    /// Builds and runs.
    pub fn perform(&self) -> Outcome<u8> {
        self.ranks.have_a_number()?;
        let program = crate::package::program::program(&self.cargo, self.ranks.ranks)?;
        let store = stores::for_program(self.session.dir.as_deref(), &program.name)?;
        let cargo = self.cargo.pinned_to(&program);
        let executable = program.executable.clone();
        Record {
            cargo,
            session: self.session.clone(),
            ranks: self.ranks.clone(),
            executable,
        }
        .write_unless_locked(&store);
        let environment = self.session.environment(&store);
        let command = |begin| {
            let mut command = program.command();
            command
                .args(&self.arguments)
                .envs(environment.iter().map(|(name, value)| (name, value)));
            match begin {
                Begin::AsAsked => {}
                Begin::Latest => {
                    command.env("CKPT_RESTART", "latest");
                }
                Begin::Over => {
                    command.env_remove("CKPT_RESTART");
                }
            }
            self.ranks.wrap(command)
        };
        let run = Kept {
            store: &store,
            continues: false,
            origin: "the start".into(),
            command: &command,
            has_ranks: self.ranks.ranks.is_some(),
        };
        Ok(restarts::keep_running(&self.restarts, &run)?.exit_code())
    }
}
