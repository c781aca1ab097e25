//! `cargo ckpt`: run, kill, restart and look into restartable Rust programs.
//!
//! `commands/` has one file for each command. Below it, from the top down; each knows those below it only:
//!
//! | module | what it does |
//! | --- | --- |
//! | `crashtest` | kills and compares |
//! | `tui`, `report` | a job in the terminal; the life of a job |
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
mod stores;
mod tui;
mod values;

use std::process::ExitCode;

/// Sources are parsed and walked by recursion: generated types and long chains of operators nest deeply.
const STACK: usize = 256 << 20;

fn main() -> ExitCode {
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(perform);
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(_) => perform(),
    }
}

/// A misspelt variable would be a setting that silently does nothing. A program that is started with checkpoints says so itself.
fn mention_unknown_variables() {
    for name in ckpt::session::config::unknown_variables() {
        eprintln!("ckpt: warning[W3042]: {name} is set, but ckpt knows no variable of that name");
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
