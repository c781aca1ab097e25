//! What a user types to continue a run: a command where `cargo ckpt` has started the program, variables otherwise.

use crate::base::run_id::RunId;

/// As `cargo ckpt` says it to the program.
const RESTART_COMMAND: &str = "CKPT_RESTART_COMMAND";

/// The command, or the variables, that continue a run: the one that the store's restart would take unless one is named.
pub(crate) fn restart_command(run: Option<RunId>) -> String {
    let command = std::env::var(RESTART_COMMAND).unwrap_or_default();
    let run = run.map(RunId::short);
    match (command.as_str(), run) {
        ("", None) => "CKPT_RESTART=latest".into(),
        ("", Some(run)) => format!("CKPT_RESTART=latest with CKPT_RUN={run}"),
        (command, None) => format!("`{command}`"),
        (command, Some(run)) => format!("`{command} --run {run}`"),
    }
}
