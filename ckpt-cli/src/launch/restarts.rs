//! Keeping a program running: when it dies it is started again from its newest checkpoint, with growing pauses, until
//! it ends by itself, the restarts are used up, or it dies twice without having come further.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use ckpt::session::job::{Job, State};
use ckpt::session::{exit_code, note_left};
use ckpt::store::{CheckpointId, RunId, path_of};
use signal_hook::consts::SIGINT;

use super::heard::Ranks;
use super::{Ending, Record, Supervisor};
use crate::failure::Outcome;
use crate::launch::session::whole_number;
use crate::output::{self, told};
use crate::render;
use crate::stores::continued::unfinished;
use crate::stores::lines::Lines;
use crate::stores::{self, runs};

/// How often and how soon a program that died is started again.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Restart options")]
pub struct RestartOptions {
    /// When the program dies, start it again from its newest checkpoint, up to this many times
    #[arg(long, value_name = "K", default_value_t = 0, value_parser = whole_number::<u32>)]
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
    /// The executable, where another program starts it.
    pub behind_runner: Option<&'r Path>,
}

/// Runs the program, again and again if it dies.
pub fn keep_running(options: &RestartOptions, run: &Run<'_>) -> Outcome<Ending> {
    let store = run.store;
    let ranks = run.ranks.map(|number| Ranks {
        store: store.to_owned(),
        number,
    });
    let supervisor = Supervisor::new(ranks)?.of(run.behind_runner);
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
    let input = Input::now();
    loop {
        let job_before = job(store, run.id.get());
        let before = { job_before.clone() }.filter(|job| job.state == State::Stopped);
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
        note_exit(ending, &supervisor, run, job_before.as_ref());
        let stopped = stopped_job(store, run.id.get()).filter(|job| Some(job) != before.as_ref());
        let ending = meant(ending, stopped.as_ref(), supervisor.stopped());
        let newest = newest_of_run()?;
        match judge.after(ending, newest, supervisor.stopped().is_some()) {
            Next::Done => {
                // One that has stopped has said so, and how to go on.
                if stopped.is_none() {
                    farewell(ending, run, newest, judge.baseline);
                }
                return Ok(ending);
            }
            Next::GiveUp(why) => {
                told!("ckpt: the program {ending}; not restarting: {why}");
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
                told!(
                    "ckpt: the program {ending}; restart {number} of {} {from}{wait}",
                    options.restarts
                );
                if next == Begin::Over {
                    input.begin_again();
                }
                if input == Input::Gone {
                    told!(
                        "ckpt: warning[W3052]: standard input is a pipe: what the program had read of it is gone, and it goes on with what is left\n  \
                         why:   of a pipe nobody can tell how much was read of it, nor give it again\n  \
                         help:  a program that reads it all along needs a file (`< FILE`); one that has read all of it before its first site needs nothing"
                    );
                }
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

/// A process that ends by `_exit`, or as another program, cannot say in the store that it ended: it would be taken for one that was
/// killed; and one that is killed after all of its handlers has said that it has completed. A launcher's code is not that of a rank, which says in its own part how far it came.
/// `before` is what the store said before the process began.
fn note_exit(ending: Ending, supervisor: &Supervisor, run: &Run<'_>, before: Option<&Job>) {
    let last = match run.behind_runner {
        None => supervisor.last(),
        // What was started is not the program, which has said itself who it is.
        Some(_) => { job(run.store, run.id.get()) }
            .filter(|job| before.is_none_or(|before| before.pid != job.pid))
            .map(|job| job.pid),
    };
    let (Some(id), Some(pid)) = (run.id.get(), last) else {
        return;
    };
    if let Some(ranks) = run.ranks {
        let _ = note_left(run.store, id, None, ranks);
        return;
    }
    let code = match ending {
        // A runner that is a shell says so that a signal has ended the program.
        Ending::Code(129..160) if run.behind_runner.is_some() => None,
        Ending::Code(code) => Some(code),
        Ending::Signal(_) => None,
    };
    // It informs: a store that cannot be written to is told of by whoever needs it.
    let home = stores::home(run.store);
    let noted = Job::note_exit(&home, id, pid, code);
    let _ = note_left(&home, id, Some(pid), 1);
    if let Ok(Some(State::Left)) = noted {
        output::note(&format!(
            "warning[W3044]: the program ended with exit code 0 without closing its session: run {} is not called completed\n  \
             why:   it ended by `_exit`, or as another program (`exec`), so that ckpt has not seen it come to its end\n  \
             help:  `cargo ckpt restart` and `run --resume` do not continue it, {} does; let `main` return, or call `std::process::exit`",
            id.short(),
            stores::command_about(run.store, "restart", &["--run", &id.short()])
        ));
    }
}

/// What a store says of a run.
fn job(store: &Path, run: Option<RunId>) -> Option<Job> {
    Job::read(&stores::home(store), run?).ok().flatten()
}

/// The job of a store that has stopped with a checkpoint.
fn stopped_job(store: &Path, run: Option<RunId>) -> Option<Job> {
    job(store, run).filter(|job| job.state == State::Stopped)
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
fn farewell(ending: Ending, run: &Run<'_>, newest: Option<u64>, baseline: Option<u64>) {
    let store = run.store;
    match (ending, newest) {
        (Ending::Code(0 | 75..=79), _) => {}
        // Those behind it may not be restorable any more.
        (_, Some(id)) if Some(id) <= baseline => told!(
            "ckpt: the program {ending} before its next checkpoint; {} shows which of {} it can go on from",
            stores::command_about(store, "list", &[]),
            store.display()
        ),
        (_, Some(id)) if is_out_of_reach(store, id) => told!(
            "ckpt: the program {ending}; its files cannot be brought back to {}, the newest checkpoint in {}: {} shows which it can go on from",
            CheckpointId(id),
            store.display(),
            stores::command_about(store, "list", &[])
        ),
        (_, Some(id)) => told!(
            "ckpt: the program {ending}; the newest checkpoint in {} is {}: {} continues from it",
            folder_with(store, id).display(),
            CheckpointId(id),
            continuing(store, run.id.get())
        ),
        (Ending::Signal(_), None) => {
            told!(
                "ckpt: the program {ending}; there is no checkpoint of this run in {}",
                store.display()
            );
        }
        (Ending::Code(_), None) => {}
    }
}

/// The folder that a checkpoint lies in: the store, or its fallback.
fn folder_with(store: &Path, id: u64) -> PathBuf {
    let home = stores::home(store);
    let file = path_of(&home, CheckpointId(id), 0);
    match file.parent() {
        Some(folder) if folder != home => folder.to_owned(),
        _ => store.to_owned(),
    }
}

/// The command that continues a run: it is named where another one would be taken without that.
fn continuing(store: &Path, run: Option<RunId>) -> String {
    let records = runs::records(store).unwrap_or_default();
    let taken = unfinished(&records, store)
        .ok()
        .flatten()
        .map(|record| record.run);
    let named = run.filter(|run| taken != Some(*run));
    let words = named.map(|run| ["--run".to_owned(), run.short()]);
    stores::restart_command(store, words.as_ref().map_or(&[], |words| words))
}

/// What becomes of standard input, which the program shares with this process, when it is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Input {
    /// A file, from here on.
    File(u64),
    /// Of a pipe, what was read of it is gone.
    Gone,
    /// Nothing that is read to an end.
    Other,
}

impl Input {
    /// As it is before the program has read of it.
    fn now() -> Self {
        let found = std::fs::metadata("/dev/stdin").map(|found| found.file_type());
        match found {
            Ok(kind) if kind.is_file() => match own_input().and_then(|mut file| file.stream_position()) {
                Ok(position) => Input::File(position),
                Err(_) => Input::Other,
            },
            Ok(kind) if kind.is_fifo() || kind.is_socket() => Input::Gone,
            _ => Input::Other,
        }
    }

    /// A program that starts from the beginning reads it from there; a restart from a checkpoint knows where to go on.
    fn begin_again(self) {
        if let Input::File(position) = self {
            let moved = own_input().and_then(|mut file| file.seek(SeekFrom::Start(position)));
            if let Err(error) = moved {
                told!("ckpt: standard input cannot be read from its beginning again: {error}");
            }
        }
    }
}

/// Standard input, with the place that all who have it share.
fn own_input() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// Whether the program's files are known not to be what a restart from a checkpoint needs.
fn is_out_of_reach(store: &Path, id: u64) -> bool {
    let found = Lines::of(store).and_then(|lines| lines.out_of_reach(&lines.list()?));
    found.is_ok_and(|found| found.contains_key(&CheckpointId(id)))
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
