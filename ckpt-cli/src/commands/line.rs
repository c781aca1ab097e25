//! The command line as a whole: its options, its help, and what is said where it is wrong.

use super::Command;
use crate::failure::{Failure, says};
use crate::output::OutputOptions;
use ckpt::store::{columns_of, wrapped};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ColorChoice, CommandFactory, FromArgMatches, Parser};
use std::ffi::OsString;

/// Checkpoint/restart for Rust programs: run, kill, restart, look inside.
#[derive(Debug, Parser)]
#[command(
    name = "cargo ckpt",
    bin_name = "cargo ckpt",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_help = EXAMPLES)]
pub struct CommandLine {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub output_options: OutputOptions,
}

const EXAMPLES: &str = "\
Example:
  cargo ckpt run --release --interval 5m -- deck.toml   run, with checkpoints
  cargo ckpt restart                                    continue
  cargo ckpt crashtest -- deck.toml                     prove that that is right

Exit codes: 0 done, 1 the answer is no (a difference, damage), 2 wrong command line, 75 checkpointed and \
stopped (requeue), 76 no such checkpoint, 77 checkpoint refused, 78 configuration or store, 79 a site that \
cannot be honoured, 101 build failed. `run` and `restart` pass the program's own code on.";

impl CommandLine {
    /// Reads it; ends the process where it is wrong, or asks for help.
    pub fn read() -> Self {
        let arguments = arguments();
        let mut command = whole_command().color(color_of_help(&arguments));
        command
            .try_get_matches_from_mut(&arguments)
            .and_then(|matches| {
                CommandLine::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
            })
            .unwrap_or_else(|error| wrong_command_line(&error, &arguments))
    }
}

/// Everything that can be written on the command line.
pub fn whole_command() -> clap::Command {
    CommandLine::command().mut_subcommands(with_its_usage)
}

/// Where a command line is wrong, the usage is that of the help: clap would show the arguments that were given as if they were required.
fn with_its_usage(command: clap::Command) -> clap::Command {
    let name = format!("cargo ckpt {}", command.get_name());
    let usage = command.clone().bin_name(name).render_usage().to_string();
    match usage.strip_prefix("Usage: ") {
        Some(usage) => command.override_usage(usage.to_owned()),
        None => command,
    }
}

/// The command that a command line is of.
fn command_of(arguments: &[OsString]) -> Option<clap::Command> {
    let whole = whole_command();
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str());
    words.find_map(|word| whole.find_subcommand(word)).cloned()
}

/// What is said of an option with a negative number, which looks like an option itself.
fn negative_value(error: &clap::Error, arguments: &[OsString]) -> Option<clap::Error> {
    let ContextValue::String(found) = error.get(ContextKind::InvalidArg)? else {
        return None;
    };
    let is_number = found
        .strip_prefix('-')?
        .starts_with(|first: char| first.is_ascii_digit());
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let ours = words.split(|word| *word == "--").next()?;
    let mut pairs = ours.windows(2).map(|pair| (pair[0], pair[1]));
    let (option, value) =
        pairs.find(|(option, value)| option.starts_with('-') && value.starts_with(found.as_str()))?;
    let said = format!("'{value}' is no value for '{option}': nothing there is less than 0");
    let command = || command_of(arguments).unwrap_or_else(whole_command);
    is_number.then(|| command().error(ErrorKind::InvalidValue, said))
}

/// Help and version, or what is wrong with the command line.
fn wrong_command_line(error: &clap::Error, arguments: &[OsString]) -> ! {
    if let Some(ContextValue::String(command)) = error.get(ContextKind::InvalidSubcommand)
        && let Some(failure) = command_of_cargo(command)
    {
        failure.render();
        std::process::exit(failure.exit_code().into());
    }
    if let Some(ContextValue::String(argument)) = error.get(ContextKind::InvalidArg)
        && error.kind() == ErrorKind::UnknownArgument
        && !argument.starts_with('-')
        && command_of(arguments).is_some_and(|command| command.get_arguments().any(clap::Arg::is_last_set))
    {
        eprintln!("note: arguments for the program go behind two dashes: `-- {argument}`\n");
    }
    let negative = negative_value(error, arguments);
    let error = negative.as_ref().unwrap_or(error);
    // clap fits its help into a terminal, but not what it finds wrong.
    let plain = error.render().to_string();
    let columns = columns_of(std::io::stderr()).filter(|_| error.use_stderr());
    if columns.is_some_and(|columns| plain.lines().any(|line| line.chars().count() > columns)) {
        eprint!("{}", wrapped(&plain, columns));
        std::process::exit(error.exit_code());
    }
    error.exit()
}

/// Why there is no such command, where cargo has one of that name.
fn command_of_cargo(command: &str) -> Option<Failure> {
    const TESTS: &str = "tests and benchmarks take moments, so that they have nothing to continue";
    const NO_ATTRIBUTES: &str =
        "the sites are put into a copy of the package, and your sources stay as they are";
    const TESTS_HELP: &str = "`cargo test` (`cargo nextest run`) tests the package as it is, also one with attributes of ckpt;\n\
        `cargo ckpt crashtest` tests that a killed and restarted run has the answer of an uninterrupted one";
    let (why, help) = match command {
        "test" | "t" | "nextest" => (TESTS, TESTS_HELP),
        "bench" => (
            TESTS,
            "`cargo bench` measures the package as it is; what checkpoints cost a run, `cargo ckpt report` says after it",
        ),
        "build" | "b" => (
            NO_ATTRIBUTES,
            "`cargo ckpt run` builds the copy and starts it; \
             `cargo ckpt rewrite --to FOLDER` writes a package with sites, which `cargo build` builds without ckpt",
        ),
        "check" | "c" | "clippy" => (
            NO_ATTRIBUTES,
            "`cargo ckpt plan --check` has rustc check the copy; `cargo check` and `cargo clippy` are for the package itself",
        ),
        "new" | "add" => (
            "a package needs nothing of ckpt to be run with checkpoints",
            "`cargo ckpt run` takes packages as they are; `cargo ckpt init` adds the dependency for those who write attributes",
        ),
        _ => return None,
    };
    Some(
        Failure::usage(says!("E3113: there is no `cargo ckpt {command}`"))
            .because(why)
            .help(help),
    )
}

/// What `--color` says, before the command line has been read: help and errors about it come earlier.
fn color_of_help(arguments: &[OsString]) -> ColorChoice {
    let words: Vec<&str> = arguments.iter().filter_map(|word| word.to_str()).collect();
    let ours = words.split(|word| *word == "--").next().unwrap_or_default();
    let next = ours.iter().skip_while(|word| **word != "--color").nth(1);
    let joined = ours.iter().find_map(|word| word.strip_prefix("--color="));
    match joined.or(next.copied()) {
        Some("always") => ColorChoice::Always,
        Some("never") => ColorChoice::Never,
        _ => ColorChoice::Auto,
    }
}

/// The arguments without the word that cargo puts in front: `cargo ckpt run` starts `cargo-ckpt ckpt run`.
fn arguments() -> Vec<OsString> {
    let mut arguments: Vec<_> = std::env::args_os().collect();
    if arguments.get(1).is_some_and(|first| first == "ckpt") {
        arguments.remove(1);
    }
    arguments
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn help_has_the_colours_that_are_asked_for() {
        let of = |line: &str| super::color_of_help(&line.split(' ').map(Into::into).collect::<Vec<_>>());
        assert_eq!(of("x run --color never"), clap::ColorChoice::Never);
        assert_eq!(of("x --color=always run"), clap::ColorChoice::Always);
        assert_eq!(of("x run -- --color never"), clap::ColorChoice::Auto);
    }

    #[test]
    fn the_command_line_is_consistent() {
        super::CommandLine::command().debug_assert();
    }
}
