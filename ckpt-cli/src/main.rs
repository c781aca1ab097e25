//! `cargo ckpt`: run, kill, restart and look into restartable Rust programs.
//!
//! `commands/` has one file for each command. Below it, from the top down; each knows those below it only:
//!
//! | module | what it does |
//! | --- | --- |
//! | `crashtest` | kills and compares |
//! | `tui`, `serve`, `report` | a job in the terminal, and in a browser; the life of a job |
//! | `doctor` | looks at the machine |
//! | `package` | unmodified programs: read, copied, rewritten, built, shown |
//! | `launch` | starts programs, again where they die |
//! | `cargo` | which program is meant, and building it |
//! | `plot`, `export`, `pack` | draws arrays, writes them for other programs; makes one file of a store |
//! | `values` | what checkpoints hold |
//! | `stores` | the store that a command is about, and the parts of its ranks |
//! | `messages` | what each message means |
//! | `render`, `output`, `failure` | tables; how much is said, and in which colours; what is said when it fails |
//!
//! Nothing here knows HDF5: stores are read through the library's own reader.

mod cargo;
mod commands;
mod crashtest;
mod doctor;
mod export;
mod failure;
mod launch;
mod messages;
mod output;
mod pack;
mod package;
mod plot;
mod render;
mod report;
mod serve;
mod stores;
mod tui;
mod values;

use output::told;
use std::process::ExitCode;

/// Sources are parsed and walked by recursion: generated types and long chains of operators nest deeply.
const STACK: usize = 256 << 20;

/// What a program with a session has started inherits the variables that asked for it, and the run and checkpoint that they name:
/// none of them was meant for this command, which becomes itself without them. Gives why it cannot.
fn leave_session_of_another() -> Option<std::io::Error> {
    use std::os::unix::process::CommandExt;
    std::env::var_os(TAKEN_BY).filter(|by| !by.is_empty())?;
    let mut arguments = std::env::args_os();
    let mut again = std::process::Command::new(std::env::current_exe().ok()?);
    again.arg0(arguments.next()?).args(arguments);
    for name in ckpt::session::config::variables_of_a_session() {
        again.env_remove(name);
    }
    Some(again.exec())
}

/// Names the process whose session the other `CKPT_*` variables ask for, for its children.
const TAKEN_BY: &str = "CKPT_TAKEN_BY";

fn main() -> ExitCode {
    if let Some(error) = leave_session_of_another() {
        told!("ckpt: cannot start again without the variables of another session: {error}");
        return ExitCode::FAILURE;
    }
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(perform);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => perform(),
    }
}

/// Nobody would notice a misspelt variable: it has no effect. A program that is started with checkpoints says so itself.
fn mention_unknown_variables() {
    for name in ckpt::session::config::unknown_variables() {
        told!("ckpt: warning[W3042]: {name} is set, but ckpt knows no variable of that name");
    }
}

fn perform() -> ExitCode {
    let line = commands::line::CommandLine::read();
    line.output_options.apply();
    if !line.command.starts_the_program() {
        mention_unknown_variables();
    }
    match line.command.perform() {
        Ok(code) => ExitCode::from(code),
        Err(failure) => {
            failure.render();
            ExitCode::from(failure.exit_code())
        }
    }
}
