//! What `cargo ckpt` does about a run that has died before its first checkpoint: `faults-undo note STORE RUN PID` when it has seen that,
//! and `faults-undo undo STORE RUN` before it starts the program again.

use std::path::Path;
use std::process::ExitCode;

use ckpt::session::{note_left, undo_start};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let text: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
    let done = match text[..] {
        ["note", store, run, pid] => match (run.parse(), pid.parse()) {
            (Ok(run), Ok(pid)) => note_left(Path::new(store), run, Some(pid), 1),
            _ => return ExitCode::FAILURE,
        },
        ["undo", store, run] => match run.parse() {
            Ok(run) => undo_start(Path::new(store), run, 1, false, None).map(drop),
            Err(_) => return ExitCode::FAILURE,
        },
        _ => return ExitCode::FAILURE,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error[E3201]: {why}");
            ExitCode::from(77)
        }
    }
}
