//! Keeping a program running: when it dies it is started again from its newest checkpoint, with growing pauses, until
//! it ends by itself, the restarts are used up, or it dies twice without having come further.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use ckpt::store::CheckpointId;

use super::{Ending, Supervisor};
use crate::failure::Outcome;
use crate::{render, stores};

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
    /// The newest checkpoint when the run began: it is not of this run.
    baseline: Option<u64>,
    /// The newest checkpoint at the last failure.
    last: Option<Option<u64>>,
}

impl Judge {
    fn after(&mut self, ending: Ending, newest: Option<u64>, asked_to_stop: bool) -> Next {
        let died = match ending {
            Ending::Code(code) => !matches!(code, 0 | 75..=79),
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
    /// Whether the checkpoints that the store holds at the beginning are of this run.
    pub continues: bool,
    /// Where it begins as the user asked for it, in words: `the start`, `checkpoint 5`.
    pub origin: String,
    /// Prepares the program to begin there.
    pub command: &'r dyn Fn(Begin) -> Outcome<Command>,
    /// Whether it starts several processes.
    pub has_ranks: bool,
}

/// Runs the program, again and again if it dies.
pub fn keep_running(options: &RestartOptions, run: &Run<'_>) -> Outcome<Ending> {
    let supervisor = Supervisor::new(run.has_ranks)?;
    let store = run.store;
    let baseline = if run.continues {
        None
    } else {
        stores::newest_id(store)
    };
    let mut judge = Judge {
        left: options.restarts,
        baseline,
        last: None,
    };
    let mut begin = Begin::AsAsked;
    let mut pause = options.backoff;
    loop {
        let ending = supervisor.run((run.command)(begin)?)?;
        let newest = stores::newest_id(store);
        match judge.after(ending, newest, supervisor.stopped().is_some()) {
            Next::Done => {
                farewell(
                    ending,
                    store,
                    newest.filter(|newest| Some(*newest) > judge.baseline),
                );
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

/// Says how to go on after a failure. Endings that the library chose have their own message, and a program that says
/// why it failed before its first checkpoint needs no word from us.
fn farewell(ending: Ending, store: &Path, newest: Option<u64>) {
    match (ending, newest) {
        (Ending::Code(0 | 75..=79), _) => {}
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
        for code in [0, 75, 76, 77, 78, 79] {
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

    #[test]
    fn restarts_are_counted() {
        let mut judge = judge(1, None);
        assert_eq!(judge.after(KILLED, Some(1), false), Next::Again(Begin::Latest));
        assert_eq!(judge.after(KILLED, Some(2), false), Next::Done);
    }
}
