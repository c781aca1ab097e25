//! `cargo ckpt crashtest`: proves, on the user's own program and input, that a killed and restarted run has the
//! answer of an uninterrupted one.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use indicatif::ProgressBar;
use regex::Regex;

use crate::cargo::CargoOptions;
use crate::cargo::SitesOf;
use crate::crashtest::flips::Fate;
use crate::crashtest::plan::{Amount, Kind, plan, plan_bit_flips, plan_in_process};
use crate::crashtest::process::Launcher;
use crate::crashtest::report::{Report, Restarts};
use crate::crashtest::scratch::Scratch;
use crate::crashtest::trial::{Comparison, Done, Test};
use crate::failure::{AboutFile, Failure, Outcome, code, says};
use crate::launch::RankOptions;
use crate::output;
use crate::render::{self, FormatOption};

/// Kill the program at many points, restart it each time and compare the answers
///
/// The program runs twice uninterrupted and without checkpoints; the numbers and words in which these runs differ (timings,
/// dates) vary. Then it is killed with SIGKILL at site visits, in the middle of writing a checkpoint, at
/// random instants and several times in a row, and restarted each time. Standard output, apart from what a restart prints again, and all files that the program
/// writes must be those of the uninterrupted run, byte for byte but for what varies. Where they are not, up to eight more uninterrupted
/// runs (under load, with one thread, with many) show whether they differ there as well. Every run starts in a fresh copy of the current
/// folder (files over 16 MiB are linked) with a store of its own: nothing of yours is touched.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub struct Crashtest {
    /// Kill at this many site visits, spread over the run; at all of them when there are fewer
    #[arg(long, value_name = "N", default_value_t = 20)]
    sites: u64,
    /// Kill at this many steps of writing a checkpoint, after others have been written; it has 11
    #[arg(long, value_name = "C", default_value_t = 11)]
    commits: u64,
    /// Kill at this many random instants
    #[arg(long, value_name = "M", default_value_t = 10)]
    random: u64,
    /// Kill several times in a row in this many trials
    #[arg(long, value_name = "R", default_value_t = 3)]
    rows: u64,
    /// Roll the program back in its process instead of killing it: at sites, some way behind a checkpoint, several times
    #[arg(long)]
    in_process: bool,
    /// Turn bits of the program's memory in N trials, with all detectors on, instead of killing it
    #[arg(long, value_name = "N", conflicts_with = "in_process")]
    bit_flips: Option<u64>,
    /// Take a checkpoint at every K-th site visit [default: where the program is killed; 50 per run otherwise]
    #[arg(long, value_name = "K", value_parser = crate::launch::session::one_or_more)]
    every: Option<u64>,
    /// Compare this file or folder only, below the current folder [default: every file that the program writes]
    #[arg(long, value_name = "FILE")]
    compare: Vec<PathBuf>,
    /// Compare standard output only, no files
    #[arg(long, conflicts_with = "compare")]
    stdout_only: bool,
    /// Leave out lines that match, on standard output and in text files
    #[arg(long, value_name = "REGEX")]
    ignore: Vec<Regex>,
    /// Give up if the program runs longer than this without being killed, as one that never ends
    #[arg(long, value_name = "TIME", default_value = "1h", value_parser = humantime::parse_duration)]
    run_limit: Duration,
    /// Seed of the random choices [default: a new one, printed]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// File to give the program as standard input
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Where the scratch folder is made [default: the system's folder for temporary files]
    #[arg(long, value_name = "FOLDER")]
    scratch: Option<PathBuf>,
    /// Leave the scratch folder on disk
    #[arg(long)]
    keep_scratch: bool,
    #[command(flatten)]
    format: FormatOption,
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
  cargo ckpt crashtest --release --sites 50 --ignore '^elapsed' -- deck.toml

Exit codes: 0 the same answer every time, 1 a difference, a failed restart or nothing tested.";

impl Crashtest {
    /// Builds, runs, kills, restarts, compares.
    pub fn perform(&self) -> Outcome<u8> {
        self.ranks.have_a_number()?;
        let program = crate::package::program::program(&self.cargo, self.ranks.ranks)?;
        let name = program.name.clone();
        let reaches_only = program.reaches_only;
        let unseeded = program.unseeded.clone();
        let adds_in_blocks = program.adds_in_blocks.clone();
        let folder = std::env::current_dir().about("cannot read", ".".as_ref())?;
        let mut scratch = Scratch::new(&folder, self.scratch.as_deref())?;
        let ranks = self.ranks.clone();
        let launcher = Launcher::new(program, self.arguments.clone(), ranks, self.stdin.as_deref())?;
        let comparison = Comparison {
            named: self.compare.clone(),
            stdout_only: self.stdout_only,
            ignore: self.ignore.clone(),
        };
        let mut test = Test {
            launcher: &launcher,
            scratch: &mut scratch,
            comparison: &comparison,
            limit: self.run_limit,
            is_unseeded: unseeded.is_some(),
            adds_in_blocks: adds_in_blocks.is_some(),
        };
        let seed = self.seed.unwrap_or_else(|| fastrand::u64(..1_000_000));
        let bar = output::spinner();
        let outcome = self.trials(&mut test, seed, &bar);
        bar.finish_and_clear();
        let mut report = Report {
            program: name,
            reaches_only,
            unseeded,
            adds_in_blocks,
            ..outcome?
        };
        report.scratch = self.keep_scratch.then(|| scratch.keep());
        if self.format.json() {
            render::print_json(&report);
        } else {
            report.print(self.cargo.passed_on.verbose > 0);
        }
        Ok(if report.passed { 0 } else { code::NO })
    }

    /// Options and arguments that start the same program with `cargo ckpt run`.
    fn words(&self) -> String {
        let mut words = self.ranks.words();
        words.extend(self.cargo.words());
        if !self.arguments.is_empty() {
            words.push("--".into());
            words.extend(
                self.arguments
                    .iter()
                    .map(|argument| argument.to_string_lossy().into_owned()),
            );
        }
        words.join(" ")
    }

    fn trials(&self, test: &mut Test, seed: u64, bar: &ProgressBar) -> Outcome<Report> {
        let mut expected = test.reference(&|what| bar.set_message(what.to_owned()))?;
        if expected.visits == 0 {
            return Err(nothing_to_test(test.launcher.sites()));
        }
        let amount = Amount {
            sites: self.sites,
            commits: self.commits,
            random: self.random,
            rows: self.rows,
            every: self.every,
            seed,
            ranks: self.ranks.ranks,
        };
        let planned = match (self.bit_flips, self.in_process) {
            (Some(number), _) => plan_bit_flips(expected.visits, number, amount),
            (None, false) => plan(expected.visits, amount),
            (None, true) => plan_in_process(expected.visits, amount),
        };
        bar.set_length(planned.len() as u64);
        bar.set_style(output::style("{spinner} {msg} {wide_bar} {pos}/{len} {eta}"));
        bar.set_message("trials");
        let mut trials = Vec::new();
        for trial in &planned {
            let done = test.carry_out(trial, &mut expected, &|what| bar.set_message(what.to_owned()))?;
            bar.set_message("trials");
            if trial.kind == Kind::Uninterrupted {
                expected.span = Duration::from_secs_f64(done.seconds);
            }
            trials.push(done);
            let wrong = trials.iter().filter(|done| !done.passed()).count();
            if wrong > 0 {
                bar.set_message(format!("trials, {wrong} wrong"));
            }
            bar.inc(1);
        }
        let restarts = Restarts::of(&trials);
        let turned = |done: &Done| done.bits.as_ref().is_some_and(|bits| bits.fate != Fate::None);
        let tests_bits = trials.iter().any(turned);
        Ok(Report {
            program: String::new(),
            command: self.words(),
            seed,
            // A test in which nothing was resumed has shown nothing.
            passed: trials.iter().all(|done| done.passed()) && (tests_bits || restarts.from_checkpoint > 0),
            reaches_only: None,
            unseeded: None,
            adds_in_blocks: None,
            reference: expected.summary(),
            checkpoint_bytes: trials.iter().filter_map(|done| done.checkpoint_bytes).max(),
            restarts,
            trials,
            scratch: None,
        })
    }
}

fn nothing_to_test(sites: SitesOf) -> Failure {
    let (why, help) = without_visits(sites);
    Failure::no(says!(
        "E3001: the program visited no site: there is nothing to test"
    ))
    .because(why)
    .help(help)
}

/// Why a program has visited no site, and what to do.
fn without_visits(sites: SitesOf) -> (&'static str, &'static str) {
    match sites {
        SitesOf::User => (
            "without a site no checkpoint is ever taken",
            "put `ckpt::checkpoint!();` into the main loop and `#[ckpt::main]` on `main`, and mark the calls between",
        ),
        SitesOf::Ckpt => (
            "ckpt has chosen loops by what the source tells, and with these arguments and this input the program enters none of them",
            "give it arguments and input with which it computes: `cargo ckpt crashtest -- ARGS`; or count what a run with \
             these does, `cargo ckpt plan --profile -- ARGS`: the next test chooses by that",
        ),
        SitesOf::Nobody => (
            "no loop that `main` reaches takes more than a moment, as far as the source tells",
            "count what a run does, `cargo ckpt plan --profile -- ARGS`: the next test chooses by that",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_put_the_sites_in_is_told_what_to_do_about_no_visit() {
        assert!(without_visits(SitesOf::User).1.contains("`#[ckpt::main]`"));
        for sites in [SitesOf::Ckpt, SitesOf::Nobody] {
            let (_, help) = without_visits(sites);
            assert!(help.contains("plan --profile -- ARGS") && !help.contains("checkpoint!"));
        }
    }
}
