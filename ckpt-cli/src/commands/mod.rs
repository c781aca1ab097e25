//! The commands, one file each. A command parses its own options, does its work through the rest of the crate and
//! returns the exit code; what goes wrong comes back as a `Failure`.

mod clean;
mod completions;
mod crashtest;
mod diff;
mod doctor;
mod expand;
mod explain;
mod export;
mod help;
pub mod init;
mod inspect;
pub mod line;
mod list;
mod man;
mod pack;
mod plan;
mod prune;
mod report;
mod restart;
mod rewrite;
mod run;
mod seal;
mod serve;
mod tui;
mod unpack;
mod verify;

use crate::failure::Outcome;

/// What `cargo ckpt` can do.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    Run(run::Run),
    #[command(visible_alias = "resume")]
    Restart(restart::Restart),
    Plan(plan::PlanCommand),
    Rewrite(rewrite::Rewrite),
    Init(init::Init),
    List(list::List),
    Inspect(inspect::Inspect),
    Tui(tui::Tui),
    Serve(serve::Serve),
    Report(report::ReportCommand),
    Verify(verify::Verify),
    Diff(diff::Diff),
    Prune(prune::Prune),
    Export(export::Export),
    Seal(seal::Seal),
    Pack(pack::Pack),
    Unpack(unpack::Unpack),
    Crashtest(crashtest::Crashtest),
    Expand(expand::Expand),
    Clean(clean::Clean),
    Doctor(doctor::Doctor),
    Explain(explain::Explain),
    Help(help::Help),
    Completions(completions::Completions),
    Man(man::ManPages),
}

impl Command {
    /// Whether what it prints is, for the greater part, what a program with a session says.
    pub fn starts_the_program(&self) -> bool {
        matches!(self, Command::Run(_) | Command::Restart(_))
    }

    /// Carries the command out; the number is the exit code.
    pub fn perform(&self) -> Outcome<u8> {
        match self {
            Command::Run(command) => command.perform(),
            Command::Restart(command) => command.perform(),
            Command::Plan(command) => command.perform(),
            Command::Rewrite(command) => command.perform(),
            Command::Init(command) => command.perform(),
            Command::List(command) => command.perform(),
            Command::Inspect(command) => command.perform(),
            Command::Tui(command) => command.perform(),
            Command::Serve(command) => command.perform(),
            Command::Report(command) => command.perform(),
            Command::Verify(command) => command.perform(),
            Command::Diff(command) => command.perform(),
            Command::Prune(command) => command.perform(),
            Command::Export(command) => command.perform(),
            Command::Seal(command) => command.perform(),
            Command::Pack(command) => command.perform(),
            Command::Unpack(command) => command.perform(),
            Command::Crashtest(command) => command.perform(),
            Command::Expand(command) => command.perform(),
            Command::Clean(command) => command.perform(),
            Command::Doctor(command) => command.perform(),
            Command::Explain(command) => command.perform(),
            Command::Help(command) => command.perform(),
            Command::Completions(command) => command.perform(),
            Command::Man(command) => command.perform(),
        }
    }
}
