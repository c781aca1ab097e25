//! Keeping a program running: when it dies it is started again from its newest checkpoint, with growing pauses, until
//! it ends by itself, the restarts are used up, or it dies twice without having come further.

use std::cell::Cell;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ckpt::session::exit_code;
use ckpt::session::job::{Job, State};
use ckpt::store::{CheckpointId, RunId};
use signal_hook::consts::SIGINT;

use super::heard::Ranks;
use super::{Ending, Record, Supervisor};
use crate::failure::Outcome;
use crate::render;
use crate::stores::{self, runs};

/// How often and how soon a program that died is started again.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Restart options")]
pub struct RestartOptions {
    /// When the program dies, start it again from its newest checkpoint, up to this many times
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub restarts: u32,
    /// Pause before the first restart; doubled for each one after it, up to a minute
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = humantime::parse_duration)]
    pub backoff: Duration,
}

const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Where a process begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// As the user asked for it.
    AsAsked,
    /// From the newest checkpoint.
    Latest,
    /// As asked once more, because this run has not written a checkpoint yet.
    Over,
}

/// What to do after a process has ended.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    /// Nothing: pass the ending on.
    Done,
    /// Start again.
    Again(Begin),
    /// Stop, and say why.
    GiveUp(String),
}

/// Decides after each end; knows what the store held before.
#[derive(Debug)]
struct Judge {
    left: u32,
    /// The newest checkpoint of the run when the command began: it does not lie behind it.
    baseline: Option<u64>,
    /// The newest checkpoint at the last failure.
    last: Option<Option<u64>>,
}

impl Judge {
    fn after(&mut self, ending: Ending, newest: Option<u64>, asked_to_stop: bool) -> Next {
        let died = match ending {
            Ending::Code(code) => !matches!(code, 0 | 75..=79 | exit_code::INTERRUPTED),
            Ending::Signal(_) => true,
        };
        if !died || asked_to_stop {
            return Next::Done;
        }
        let own = newest.filter(|newest| Some(*newest) > self.baseline);
        if self.last == Some(own) {
            return Next::GiveUp(match own {
                Some(id) => format!(
                    "it died twice after checkpoint {} without reaching the next one",
                    CheckpointId(id)
                ),
                None => "it died twice without reaching its first checkpoint".into(),
            });
        }
        self.last = Some(own);
        match self.left {
            0 => Next::Done,
            _ => {
                self.left -= 1;
                Next::Again(if own.is_some() { Begin::Latest } else { Begin::Over })
            }
        }
    }
}

/// A run that is to be kept going.
pub struct Run<'r> {
    /// Its store.
    pub store: &'r Path,
    /// Whether the checkpoints that its run has at the beginning are behind it.
    pub continues: bool,
    /// The run that the command that was prepared last is of; none of a checkpoint that has none.
    pub id: &'r Cell<Option<RunId>>,
    /// Where it begins as the user asked for it, in words: `the start`, `checkpoint 5`.
    pub origin: String,
    /// Prepares the program to begin there.
    pub command: &'r dyn Fn(Begin) -> Outcome<Command>,
    /// How many processes it starts, where a launcher starts them.
    pub ranks: Option<u32>,
}

/// Runs the program, again and again if it dies.
pub fn keep_running(options: &RestartOptions, run: &Run<'_>) -> Outcome<Ending> {
    let store = run.store;
    let ranks = run.ranks.map(|number| Ranks {
        store: store.to_owned(),
        number,
    });
    let supervisor = Supervisor::new(ranks)?;
    let newest_of_run = || match run.id.get() {
        Some(id) => runs::newest_of(store, id),
        None => Ok(None),
    };
    let baseline = if run.continues { None } else { newest_of_run()? };
    let mut judge = Judge {
        left: options.restarts,
        baseline,
        last: None,
    };
    let mut begin = Begin::AsAsked;
    let mut pause = options.backoff;
    loop {
        let before = stopped_job(store, run.id.get());
        let ending = match supervisor.run((run.command)(begin)?) {
            Ok(ending) => ending,
            Err(failure) => {
                run.id
                    .get()
                    .into_iter()
                    .for_each(|id| Record::take_back(store, id));
                return Err(failure);
            }
        };
        let stopped = stopped_job(store, run.id.get()).filter(|job| Some(job) != before.as_ref());
        let ending = meant(ending, stopped.as_ref(), supervisor.stopped());
        let newest = newest_of_run()?;
        match judge.after(ending, newest, supervisor.stopped().is_some()) {
            Next::Done => {
                // One that has stopped has said so, and how to go on.
                if stopped.is_none() {
                    farewell(ending, store, newest, judge.baseline);
                }
                return Ok(ending);
            }
            Next::GiveUp(why) => {
                eprintln!("ckpt: the program {ending}; not restarting: {why}");
                return Ok(ending);
            }
            Next::Again(next) => {
                let from = match (next, newest) {
                    (Begin::Latest, Some(id)) => format!("from checkpoint {}", CheckpointId(id)),
                    _ => format!("from {} (it has not written a checkpoint yet)", run.origin),
                };
                let wait = if pause.is_zero() {
                    String::new()
                } else {
                    format!(" in {}", render::duration(pause))
                };
                let number = options.restarts - judge.left;
                eprintln!(
                    "ckpt: the program {ending}; restart {number} of {} {from}{wait}",
                    options.restarts
                );
                begin = next;
            }
        }
        supervisor.pause(pause);
        if supervisor.stopped().is_some() {
            return Ok(ending);
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// The job of a store that has stopped with a checkpoint.
fn stopped_job(store: &Path, run: Option<RunId>) -> Option<Job> {
    let job = Job::read(&stores::home(store), run?).ok().flatten();
    job.filter(|job| job.state == State::Stopped)
}

/// How the program ended. A launcher that was told to stop as well, or that somebody else has told, ends with a code of its
/// own although all ranks have written their last checkpoint; and ranks that stop because of Ctrl-C have heard of it as
/// another signal.
fn meant(ending: Ending, stopped: Option<&Job>, signal: Option<i32>) -> Ending {
    let is_of_the_program = matches!(ending, Ending::Code(0 | 76..=79));
    match stopped {
        // The second Ctrl-C: whoever does not end by it is killed.
        None if signal == Some(SIGINT) && matches!(ending, Ending::Signal(_)) => Ending::Signal(SIGINT),
        None => ending,
        Some(_) if is_of_the_program => ending,
        Some(_) if signal == Some(SIGINT) => Ending::Code(exit_code::INTERRUPTED),
        Some(_) if ending == Ending::Code(exit_code::INTERRUPTED) => ending,
        Some(_) => Ending::Code(exit_code::STOPPED),
    }
}

/// Says how to go on after a failure. Endings that the library chose have their own message, and a program that says
/// why it failed before its first checkpoint needs no word from us.
fn farewell(ending: Ending, store: &Path, newest: Option<u64>, baseline: Option<u64>) {
    match (ending, newest) {
        (Ending::Code(0 | 75..=79), _) => {}
        // Those behind it may not be restorable any more.
        (_, Some(id)) if Some(id) <= baseline => eprintln!(
            "ckpt: the program {ending} before its next checkpoint; `cargo ckpt list` shows which of {} it can go on from",
            store.display()
        ),
        (_, Some(id)) => eprintln!(
            "ckpt: the program {ending}; the newest checkpoint in {} is {}: `cargo ckpt restart` continues from it",
            store.display(),
            CheckpointId(id)
        ),
        (Ending::Signal(_), None) => {
            eprintln!(
                "ckpt: the program {ending}; there is no checkpoint of this run in {}",
                store.display()
            );
        }
        (Ending::Code(_), None) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(left: u32, baseline: Option<u64>) -> Judge {
        Judge {
            left,
            baseline,
            last: None,
        }
    }

    const KILLED: Ending = Ending::Signal(9);

    #[test]
    fn endings_that_mean_something_are_passed_on() {
        for code in [0, 75, 76, 77, 78, 79, 130] {
            assert_eq!(
                judge(9, None).after(Ending::Code(code), Some(1), false),
                Next::Done,
                "{code}"
            );
        }
        assert_eq!(
            judge(9, None).after(KILLED, Some(1), true),
            Next::Done,
            "asked to stop"
        );
    }

    #[test]
    fn a_death_is_followed_by_a_restart_while_there_is_progress() {
        let mut judge = judge(9, None);
        assert_eq!(
            judge.after(Ending::Code(101), None, false),
            Next::Again(Begin::Over)
        );
        assert_eq!(judge.after(KILLED, Some(1), false), Next::Again(Begin::Latest));
        assert_eq!(
            judge.after(Ending::Code(1), Some(3), false),
            Next::Again(Begin::Latest)
        );
        assert!(matches!(judge.after(KILLED, Some(3), false), Next::GiveUp(_)));
    }

    #[test]
    fn two_deaths_before_the_first_checkpoint_are_enough() {
        let mut judge = judge(9, None);
        judge.after(KILLED, None, false);
        assert!(matches!(judge.after(KILLED, None, false), Next::GiveUp(_)));
    }

    #[test]
    fn checkpoints_of_an_earlier_run_are_not_continued() {
        let mut judge = judge(9, Some(5));
        assert_eq!(judge.after(KILLED, Some(5), false), Next::Again(Begin::Over));
        assert_eq!(judge.after(KILLED, Some(6), false), Next::Again(Begin::Latest));
    }

    fn stopped() -> Job {
        let text = r#"{"run": "0123456789abcdef0123456789abcdef", "program": "heat", "version": "1", "pid": 7, "host": "h", "started": "", "updated": "", "state": "stopped",
            "visits": 12, "restarted_from": null, "last_checkpoint": 3, "failed_checkpoints": 0, "command": [], "reason": "SIGUSR1"}"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn a_program_that_has_stopped_with_a_checkpoint_is_queued_again_whatever_its_launcher_says() {
        let job = stopped();
        let code = |ending, job, signal| meant(ending, job, signal).exit_code();
        for launcher in [
            Ending::Code(1),
            Ending::Code(143),
            Ending::Signal(15),
            Ending::Code(75),
        ] {
            assert_eq!(code(launcher, Some(&job), Some(15)), 75);
            assert_eq!(code(launcher, Some(&job), None), 75);
            assert_eq!(code(launcher, Some(&job), Some(SIGINT)), 130);
        }
        assert_eq!(code(Ending::Code(130), Some(&job), None), 130);
        assert_eq!(code(Ending::Signal(9), None, Some(SIGINT)), 130);
        assert_eq!(code(Ending::Signal(9), None, Some(15)), 137);
        assert_eq!(code(Ending::Code(1), None, Some(15)), 1);
        assert_eq!(code(Ending::Code(0), Some(&job), None), 0);
    }

    #[test]
    fn restarts_are_counted() {
        let mut judge = judge(1, None);
        assert_eq!(judge.after(KILLED, Some(1), false), Next::Again(Begin::Latest));
        assert_eq!(judge.after(KILLED, Some(2), false), Next::Done);
    }
}
