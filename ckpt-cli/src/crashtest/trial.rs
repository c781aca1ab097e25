//! The runs of a crash test: two without checkpoints as the reference, one that counts site visits, and the
//! trials with their kills and restarts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ckpt::session::job::State;
use regex::Regex;
use serde::Serialize;

use super::files::{self, Contents, Files, Listed};
use super::plan::{Trial, Victim};
use super::process::{Finished, Launcher, Until};
use super::scratch::Scratch;
use super::text::{Difference, Reference};
use super::{cover, text};
use crate::failure::{Failure, Outcome, says};
use crate::launch::Ending;
use crate::{render, stores};

/// A checkpoint interval in visits that no run reaches: the session only counts.
const NEVER: u64 = 1 << 60;

/// What is compared.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The output files to compare; all that the program writes if none is named.
    pub named: Vec<PathBuf>,
    /// Compare no files.
    pub stdout_only: bool,
    /// Lines that are left out.
    pub ignore: Vec<Regex>,
}

/// The uninterrupted run that everything is compared with.
#[derive(Debug)]
pub struct Expected {
    /// Of every process.
    stdout: Vec<Reference>,
    files: Files,
    /// Time of the slower of the uninterrupted runs.
    pub time: Duration,
    /// Time over which kills at random instants are spread: that of a run with checkpoints, once one is known.
    pub span: Duration,
    /// Site visits of a whole run.
    pub visits: u64,
    /// The most memory that the program had resident in the uninterrupted runs without a session, in bytes.
    pub peak_bytes: Option<u64>,
}

/// The reference as the report shows it.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// Seconds of an uninterrupted run.
    pub seconds: f64,
    /// Site visits.
    pub visits: u64,
    /// The most memory that the program had resident, in bytes, without a session; null where the system does not tell.
    pub peak_bytes: Option<u64>,
    /// Lines on standard output that are compared or masked.
    pub lines: usize,
    /// Lines on standard output that two uninterrupted runs do not have in common.
    pub masked: Vec<String>,
    /// Output files.
    pub files: Vec<Listed>,
}

/// How a trial ended.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
pub enum Verdict {
    /// Everything is as in the uninterrupted run.
    Same,
    /// Something is not.
    Different(Difference),
    /// The program did not run to its end.
    Failed {
        /// What happened.
        what: String,
        /// The end of its standard error.
        stderr: String,
    },
}

/// A trial that was carried out.
#[derive(Debug, Clone, Serialize)]
pub struct Done {
    /// What was tried.
    #[serde(flatten)]
    pub trial: Trial,
    /// How many of the kills struck before the program ended by itself.
    pub killed: usize,
    /// The checkpoint that each restart began from; none: it started over.
    pub resumed: Vec<Option<u64>>,
    /// Seconds of its last process.
    pub seconds: f64,
    /// Size of the largest checkpoint file that it left, in bytes.
    pub checkpoint_bytes: Option<u64>,
    /// Why a checkpoint that was due was not taken, if the program said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_taken: Option<String>,
    /// What came out.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// What a program says where a checkpoint could not be taken: the warning with the lines that belong to it.
fn not_taken(stderr: &str) -> Option<String> {
    let from = ["W2004", "W2005"]
        .iter()
        .filter_map(|code| stderr.find(&format!("warning[{code}]")))
        .min()?;
    let lines = stderr[from..].lines();
    let own = lines
        .enumerate()
        .take_while(|(index, line)| *index == 0 || line.starts_with("  "));
    Some(own.map(|(_, line)| line).collect::<Vec<_>>().join("\n"))
}

/// A crash test in progress.
#[derive(Debug)]
pub struct Test<'t> {
    /// Starts the program.
    pub launcher: &'t Launcher,
    /// Where it runs.
    pub scratch: &'t mut Scratch,
    /// What is compared.
    pub comparison: &'t Comparison,
}

/// One uninterrupted run: what it printed and wrote.
struct Whole {
    finished: Finished,
    contents: Contents,
    store: PathBuf,
}

impl Test<'_> {
    /// Runs the program without a session, twice, and once with a session that only counts; makes the reference.
    pub fn reference(&mut self, tell: &dyn Fn(&str)) -> Outcome<Expected> {
        tell("uninterrupted run 1 of 2");
        let one = self.uninterrupted(&|_| Vec::new(), None)?;
        tell("uninterrupted run 2 of 2");
        // Slower than the first, so that what is printed of clocks shows.
        let two = self.uninterrupted(&|_| Vec::new(), Some(one.finished.time))?;
        let ignore = &self.comparison.ignore;
        let outputs = one.finished.stdout.iter().zip(&two.finished.stdout);
        let stdout: Vec<Reference> = outputs
            .enumerate()
            .map(|(rank, (one, two))| Reference::of_two_runs(&self.stdout_of(rank), one, two, ignore))
            .collect::<Result<_, _>>()
            .map_err(|unsteady| not_steady(&unsteady))?;
        let files = Files::of_two_runs(&one.contents, &two.contents, ignore);
        tell("counting site visits");
        let has_ranks = self.launcher.ranks.ranks.is_some();
        let mut counted = self.uninterrupted(
            &|store| {
                let mut variables = environment(store, NEVER);
                // Where messages cross a site, no restart could be right.
                variables.extend(has_ranks.then(|| ("CKPT_CHECK_SAFE_POINTS", "1".into())));
                variables
            },
            None,
        )?;
        let mut job = stores::job(&counted.store, None)?;
        if job.as_ref().is_some_and(|job| job.state == State::Running) {
            // It leaves through `std::process::exit`, past the end of the session: the last checkpoint shows it.
            tell("counting site visits, with a checkpoint at each");
            counted = self.uninterrupted(&|store| environment(store, 1), None)?;
            job = stores::job(&counted.store, None)?;
        }
        let visits = job.map_or(0, |job| job.visits);
        let time = one
            .finished
            .time
            .max(two.finished.time / 2)
            .max(counted.finished.time);
        Ok(Expected {
            stdout,
            files,
            time,
            span: time,
            visits,
            peak_bytes: one.finished.peak_bytes.max(two.finished.peak_bytes),
        })
    }

    /// Carries one trial out.
    pub fn carry_out(&mut self, trial: &Trial, expected: &Expected) -> Outcome<Done> {
        let (initial, store) = self.scratch.fresh()?;
        let mut done = Done {
            trial: trial.clone(),
            killed: 0,
            resumed: Vec::new(),
            seconds: 0.0,
            checkpoint_bytes: None,
            not_taken: None,
            verdict: Verdict::Same,
        };
        let limit = Some(expected.time.max(expected.span) * 10 + Duration::from_secs(60));
        let mut outputs: Vec<Vec<Vec<u8>>> = Vec::new();
        let kills = trial.kills.iter().copied().map(Some).chain([None]);
        for (run, kill) in kills.enumerate() {
            let newest = stores::newest_id(&store)?;
            let mut variables = environment(&store, if run == 0 { trial.every } else { trial.then_every });
            if run > 0 {
                done.resumed.push(newest);
                variables.extend(newest.map(|_| ("CKPT_RESTART", OsString::from("latest"))));
            }
            variables.extend(
                kill.and_then(|kill| kill.fault(trial.victim))
                    .map(|fault| ("CKPT_FAULT", fault.into())),
            );
            let until = Until {
                kill: kill.and_then(|kill| kill.instant(expected.span)),
                victim: trial.victim,
                limit,
                stretched: None,
            };
            let finished = self.launch(&variables, until)?;
            done.seconds = finished.time.as_secs_f64();
            done.checkpoint_bytes = done.checkpoint_bytes.max(stores::largest_bytes(&store));
            if done.not_taken.is_none() {
                done.not_taken = not_taken(&finished.stderr);
            }
            outputs.push(finished.stdout.clone());
            match finished.ending {
                ending if kill.is_some() && !finished.too_long && self.launcher.was_killed(ending) => {
                    done.killed += 1;
                }
                Ending::Code(0) => break,
                _ => {
                    done.verdict = failed(run, &finished);
                    return Ok(done);
                }
            }
            if stores::runs::records(&store)?
                .iter()
                .any(stores::runs::is_completed)
            {
                // Killed on its way out, after the end of `main`: there is nothing left to do.
                break;
            }
        }
        let written = initial.written_since(self.scratch.working())?;
        let contents = self.contents(files::among(written, &self.comparison.named))?;
        let ignore = &self.comparison.ignore;
        let all_runs =
            |rank: usize| -> Vec<&[u8]> { outputs.iter().map(|run| run[rank].as_slice()).collect() };
        let mut each = expected.stdout.iter().enumerate();
        let compared = each
            .try_for_each(|(rank, reference)| {
                cover::check(reference, &all_runs(rank), ignore).map_err(|mut difference| {
                    difference.place = self.stdout_of(rank);
                    difference
                })
            })
            .and_then(|()| expected.files.compare(&contents, ignore));
        if let Err(difference) = compared {
            done.verdict = Verdict::Different(*difference);
        }
        Ok(done)
    }

    fn launch(&self, variables: &[(&str, OsString)], until: Until) -> Outcome<Finished> {
        self.launcher
            .run(self.scratch.working(), self.scratch.root(), variables, until)
    }

    fn uninterrupted(
        &mut self,
        variables: &dyn Fn(&Path) -> Vec<(&'static str, OsString)>,
        stretched: Option<Duration>,
    ) -> Outcome<Whole> {
        let (initial, store) = self.scratch.fresh()?;
        let variables = variables(&store);
        let finished = self.launch(
            &variables,
            Until {
                kill: None,
                victim: Victim::Process,
                limit: None,
                stretched,
            },
        )?;
        if finished.ending != Ending::Code(0) {
            let with = if variables.is_empty() {
                ""
            } else {
                " with a ckpt session"
            };
            let mut failure = Failure::no(says!(
                "E3024: the program {} when it ran uninterrupted{with}",
                finished.ending
            ));
            if !finished.stderr.is_empty() {
                failure = failure.because(&finished.stderr);
            }
            return Err(failure
                .help("a crash test needs a run that succeeds; arguments for the program go after `--`"));
        }
        let written = initial.written_since(self.scratch.working())?;
        let contents = self.contents(files::chosen(written, &self.comparison.named)?)?;
        Ok(Whole {
            finished,
            contents,
            store,
        })
    }

    /// The name of a process's standard output.
    fn stdout_of(&self, rank: usize) -> String {
        match self.launcher.ranks.ranks {
            Some(_) => format!("stdout of rank {rank}"),
            None => "stdout".into(),
        }
    }

    fn contents(&self, paths: Vec<PathBuf>) -> Outcome<Contents> {
        if self.comparison.stdout_only {
            return Ok(Contents::new());
        }
        files::read(self.scratch.working(), &paths)
    }
}

impl Expected {
    /// The reference as the report shows it.
    pub fn summary(&self) -> Summary {
        Summary {
            seconds: self.time.as_secs_f64(),
            visits: self.visits,
            peak_bytes: self.peak_bytes,
            lines: self.stdout.iter().map(|one| one.lines.len()).sum(),
            masked: self
                .stdout
                .iter()
                .flat_map(Reference::masked)
                .map(|(_, text)| text)
                .collect(),
            files: self.files.listed(),
        }
    }
}

fn environment(store: &Path, every: u64) -> Vec<(&'static str, OsString)> {
    vec![
        ("CKPT_DIR", store.into()),
        ("CKPT_EVERY", every.to_string().into()),
    ]
}

fn failed(run: usize, finished: &Finished) -> Verdict {
    let which = if run == 0 {
        "the first process".to_owned()
    } else {
        format!("restart {run}")
    };
    let what = if finished.too_long {
        format!("{which} did not end within {}", render::duration(finished.time))
    } else {
        format!("{which} {}", finished.ending)
    };
    Verdict::Failed {
        what,
        stderr: finished.stderr.clone(),
    }
}

fn not_steady(unsteady: &text::Unsteady) -> Failure {
    let shown = |line: &Option<String>| line.clone().unwrap_or_else(|| "(nothing)".into());
    Failure::no(says!(
        "E3025: two uninterrupted runs print different numbers of lines: there is nothing to compare with"
    ))
    .because(format!(
        "{} lines, then {}; the first difference is in line {}:",
        unsteady.counts.0, unsteady.counts.1, unsteady.first.line
    ))
    .because(format!("- {}", shown(&unsteady.first.expected)))
    .because(format!("+ {}", shown(&unsteady.first.found)))
    .help("leave the lines that come and go out with `--ignore REGEX`")
}
