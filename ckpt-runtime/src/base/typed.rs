//! What a user types to continue a run or to start one: a command where `cargo ckpt` has started the program, variables
//! otherwise.

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

/// Whether `cargo ckpt` has started the program: its user types commands and their options.
pub(crate) fn has_command() -> bool {
    std::env::var_os(RESTART_COMMAND).is_some_and(|command| !command.is_empty())
}

/// The first of these where `cargo ckpt` has started the program, the second where it was started by itself.
pub(crate) fn typed<'t>(as_options: &'t str, as_variables: &'t str) -> &'t str {
    if has_command() { as_options } else { as_variables }
}

/// How a run is started that continues nothing.
pub(crate) fn start_anew() -> &'static str {
    typed(
        "start anew with `cargo ckpt run --fresh`",
        "start anew without CKPT_RESTART",
    )
}

/// What to do where a checkpoint and a program do not fit each other.
pub(crate) fn right_program() -> String {
    format!(
        "restart with the program that wrote the checkpoint, or {}",
        start_anew()
    )
}
