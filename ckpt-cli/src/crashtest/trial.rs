//! The runs of a crash test: two without checkpoints as the reference, one that counts site visits, and the
//! trials with their kills and restarts. Where a trial's answer is another one, as many more uninterrupted runs as it takes
//! to see whether they differ there as well.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ckpt::session::events::What;
use ckpt::session::job::State;
use ckpt::session::{LEAVING_MARK, ROLLBACK_MARK};
use regex::Regex;
use serde::Serialize;

use super::cover::{self, Chance};
use super::files::{self, Contents, Files, Listed};
use super::flips::Flips;
use super::plan::{Kill, Trial, Victim, snapshots_every};
use super::process::{Finished, Launcher, Stretched, Until};
use super::scratch::{Initial, Scratch};
use super::text::{Difference, Reference, Unsteady};
use super::varying::{Alike, Numbers};
use crate::failure::{Failure, Outcome, says};
use crate::launch::Ending;
use crate::{render, stores};

/// A checkpoint interval in visits that no run reaches: the session only counts.
const NEVER: u64 = 1 << 60;
/// Uninterrupted runs that agree, before an answer that is another one is wrong.
const ENOUGH: usize = 10;
/// Runs that stand still as a trial did, for each of the rules by which trials take checkpoints: so often, and longer each time.
const HELD_UP: [u32; 2] = [1, 4];
/// A run that may take twenty times as long.
const SHORT: Duration = Duration::from_secs(5);

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

/// The uninterrupted runs that everything is compared with.
#[derive(Debug)]
pub struct Expected {
    /// Of every process.
    stdout: Vec<Reference>,
    /// The same as the first run printed it.
    printed: Vec<Vec<u8>>,
    files: Files,
    /// How many have been seen.
    runs: usize,
    /// The rules of trials whose checkpoints some of them have imitated.
    held_up: BTreeSet<u64>,
    /// Time of the first of them.
    first: Duration,
    /// Time of the slower of the uninterrupted runs.
    pub time: Duration,
    /// Time over which kills at random instants are spread: that of a run with checkpoints, once one is known.
    pub span: Duration,
    /// Site visits of a whole run.
    pub visits: u64,
    /// The share of its time that lies within reach of a site, from 0 to 1, if the program lets that be measured.
    pub reach: Option<f64>,
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
    /// The share of its time that lies within reach of a site, from 0 to 1; null where that could not be measured.
    pub reach: Option<f64>,
    /// The most memory that the program had resident, in bytes, without a session; null where the system does not tell.
    pub peak_bytes: Option<u64>,
    /// Uninterrupted runs that were made.
    pub runs: usize,
    /// Lines on standard output.
    pub lines: usize,
    /// Where uninterrupted runs print other numbers of lines, so that nothing of that is compared.
    pub unsteady: Option<Unsteady>,
    /// Lines on standard output that uninterrupted runs do not have in common, with a star wherever they differ.
    pub varying: Vec<String>,
    /// Numbers on standard output and in files, and those that are compared.
    pub numbers: Numbers,
    /// Output files.
    pub files: Vec<Listed>,
}

/// How a trial ended.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase", tag = "verdict")]
pub enum Verdict {
    /// Everything is as in the first uninterrupted run.
    Same,
    /// It differs from that in the last digits of numbers with a fraction, and nowhere else.
    #[serde(rename = "in-last-digits")]
    InLastDigits,
    /// It differs from that as other uninterrupted runs do, and nowhere else.
    #[serde(rename = "as-runs-differ")]
    AsRunsDiffer,
    /// Something is not as in any of them, but the program draws random numbers that no two runs have alike, and that may be why.
    Unsettled(Difference),
    /// Something is not as in any of them.
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
    /// How many of the rollbacks were those of one rank, without the others.
    #[serde(skip_serializing_if = "is_zero")]
    pub alone: usize,
    /// Seconds of its last process.
    pub seconds: f64,
    /// Size of the largest checkpoint file that it left, in bytes.
    pub checkpoint_bytes: Option<u64>,
    /// Why a checkpoint that was due was not taken, if the program said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_taken: Option<String>,
    /// The bits that were turned, where that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bits: Option<Flips>,
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
    /// An uninterrupted run that takes longer does not end.
    pub limit: Duration,
    /// Whether it draws random numbers that no two runs have alike.
    pub is_unseeded: bool,
    /// Whether it adds floats up in parallel, block by block: blocks hang on when checkpoints are taken.
    pub adds_in_blocks: bool,
}

/// What is different about an uninterrupted run, so that what depends on chance has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    /// Nothing.
    Plain,
    /// It is stopped and continued; where that is done finely, other work keeps all processors busy as well.
    Stretched(Stretched),
    /// Other work keeps all processors busy.
    Loaded,
    /// Its pool of threads has so many.
    Threads(usize),
    /// It stands still wherever checkpoints were taken, as long as those took.
    HeldUp(HeldUp),
}

/// How long a run stands still at every so many site visits. Checkpoints do not hold all parts of a program up alike: whoever
/// prints which of them was the fastest may see another one with them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct HeldUp {
    every: u64,
    each: Duration,
}

impl HeldUp {
    /// As the checkpoints of a trial with this rule did, as its store has it, and no more often in a run of so many visits: a trial
    /// that is killed soon may take one at each. None if it took none.
    fn by_checkpoints(store: &Path, every: u64, visits: u64) -> Outcome<Option<HeldUp>> {
        let waits: Vec<f64> = events_of(store)?
            .into_iter()
            .filter_map(|what| match what {
                What::Checkpoint { waited, .. } => Some(waited),
                _ => None,
            })
            .collect();
        let mean = waits.iter().sum::<f64>() / waits.len() as f64;
        let each = Duration::try_from_secs_f64(mean).ok();
        let every = every.max(visits / (waits.len() as u64).max(1));
        Ok(each.map(|each| HeldUp { every, each }))
    }

    /// What asks the program for it.
    fn fault(self) -> OsString {
        format!("pause:{}:{}", self.every, self.each.as_micros()).into()
    }
}

impl Manner {
    /// That of the run of this number, from 0; the first takes so long.
    fn of(run: usize, first: Duration) -> Manner {
        match run % 5 {
            0 if run == 0 => Manner::Plain,
            0 | 1 if run > 1 && first < SHORT => Manner::Stretched(Stretched::finely(first)),
            0 | 1 => Manner::Stretched(Stretched::of(first)),
            2 => Manner::Threads(1),
            3 => Manner::Loaded,
            _ => Manner::Threads(2 * processors()),
        }
    }
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
        let one = self.plain(Manner::Plain)?;
        let ignore = &self.comparison.ignore;
        let mut expected = Expected {
            stdout: one
                .finished
                .stdout
                .iter()
                .map(|output| Reference::of_run(output, ignore))
                .collect(),
            printed: one.finished.stdout.clone(),
            files: Files::of_run(&one.contents, ignore),
            runs: 1,
            held_up: BTreeSet::new(),
            first: one.finished.time,
            time: one.finished.time,
            span: one.finished.time,
            visits: 0,
            reach: None,
            peak_bytes: one.finished.peak_bytes,
        };
        if self.adds_in_blocks {
            expected.stdout.iter_mut().for_each(Reference::in_last_digits);
            expected.files.in_last_digits();
        }
        tell("uninterrupted run 2 of 2");
        // Slower than the first, so that what is printed of clocks shows.
        let two = self.plain(Manner::of(1, expected.first))?;
        self.learn(&mut expected, &two, true);
        expected.time = expected.time.max(two.finished.time / 2);
        expected.peak_bytes = expected.peak_bytes.max(two.finished.peak_bytes);
        tell("counting site visits");
        let has_ranks = self.launcher.ranks.ranks.is_some();
        let mut counted = self.uninterrupted(
            &|store| {
                let mut variables = environment(store, NEVER);
                variables.push(("CKPT_MEASURE", "1".into()));
                // Where messages cross a site, no restart could be right.
                variables.extend(has_ranks.then(|| ("CKPT_CHECK_SAFE_POINTS", "1".into())));
                variables
            },
            Manner::Plain,
        )?;
        let mut job = stores::job(&counted.store, None)?;
        if job.as_ref().is_some_and(|job| job.state == State::Running) {
            // It leaves through `std::process::exit`, past the end of the session: the last checkpoint shows it.
            tell("counting site visits, with a checkpoint at each");
            counted = self.uninterrupted(&|store| environment(store, 1), Manner::Plain)?;
            job = stores::job(&counted.store, None)?;
        }
        if self.adds_in_blocks {
            // It has blocks, as no run without a session: what hangs on the difference of two sums varies by more than digits.
            self.learn(&mut expected, &counted, true);
        }
        expected.reach = job.as_ref().and_then(|job| job.reach);
        expected.visits = job.map_or(0, |job| job.visits);
        expected.time = expected.time.max(counted.finished.time);
        expected.span = expected.time;
        Ok(expected)
    }

    /// The run of an unchanged program without a session, or with one that takes no checkpoint.
    fn plain(&mut self, manner: Manner) -> Outcome<Whole> {
        let variables = |store: &Path| match manner {
            Manner::Threads(number) => vec![(POOL, number.to_string().into())],
            Manner::HeldUp(held_up) => {
                let mut variables = environment(store, NEVER);
                variables.push((FAULT, held_up.fault()));
                variables
            }
            _ => Vec::new(),
        };
        self.uninterrupted(&variables, manner)
    }

    /// What varies, as another uninterrupted run shows it. Where its lines are of another number, nothing of them can be compared;
    /// `counts` says whether that is believed of this run.
    fn learn(&self, expected: &mut Expected, whole: &Whole, counts: bool) {
        expected.runs += 1;
        let ignore = &self.comparison.ignore;
        let outputs = expected.stdout.iter_mut().zip(&whole.finished.stdout);
        for (rank, (reference, output)) in outputs.enumerate() {
            match reference.learn(&self.stdout_of(rank), output, ignore) {
                Err(unsteady) if counts => reference.gives_up(unsteady),
                _ => {}
            }
        }
        expected.files.learn(&whole.contents, ignore);
    }

    /// Whether the outputs of all runs of a trial, and the files that it left, are an uninterrupted run's.
    fn compare(&self, expected: &Expected, outputs: &[Vec<Vec<u8>>], contents: &Contents) -> Verdict {
        let ignore = &self.comparison.ignore;
        let all_runs =
            |rank: usize| -> Vec<&[u8]> { outputs.iter().map(|run| run[rank].as_slice()).collect() };
        let mut each = expected.stdout.iter().enumerate();
        let printed = each.try_fold(Alike::Same, |alike, (rank, reference)| {
            let found = cover::check(reference, &all_runs(rank), ignore);
            found.map(|found| alike.max(found)).map_err(|mut difference| {
                difference.place = self.stdout_of(rank);
                difference
            })
        });
        let written = || expected.files.compare(contents, ignore);
        match printed.and_then(|alike| written().map(|found| alike.max(found))) {
            Ok(Alike::Same) => Verdict::Same,
            Ok(Alike::InLastDigits) => Verdict::InLastDigits,
            Ok(Alike::AsRunsDiffer) => Verdict::AsRunsDiffer,
            Err(difference) => Verdict::Different(*difference),
        }
    }

    /// The verdict on a trial that differs from what is known of uninterrupted runs: theirs may have agreed by chance. More
    /// are made until one differs there as well, or there are enough.
    fn judge(
        &mut self,
        expected: &mut Expected,
        outputs: &[Vec<Vec<u8>>],
        contents: &Contents,
        held_up: Option<HeldUp>,
        tell: &dyn Fn(&str),
    ) -> Outcome<Verdict> {
        let mut verdict = self.compare(expected, outputs, contents);
        let held_up = held_up.filter(|_| matches!(verdict, Verdict::Different(_)));
        if let Some(HeldUp { every, each }) = held_up
            && expected.held_up.insert(every)
        {
            for times in HELD_UP {
                tell("an answer differs: an uninterrupted run that stands still where the checkpoints were");
                let each = each * times;
                let whole = self.plain(Manner::HeldUp(HeldUp { every, each }))?;
                self.learn(expected, &whole, true);
                verdict = self.compare(expected, outputs, contents);
                if !matches!(verdict, Verdict::Different(_)) {
                    break;
                }
            }
        }
        while matches!(verdict, Verdict::Different(_)) && expected.runs < ENOUGH {
            tell(&format!(
                "an answer differs: uninterrupted run {} of {ENOUGH}, to see whether they do as well",
                expected.runs + 1
            ));
            let manner = Manner::of(expected.runs, expected.first);
            let whole = self.plain(manner)?;
            // A line for every thread is nothing that chance could have brought about.
            self.learn(expected, &whole, !matches!(manner, Manner::Threads(_)));
            verdict = self.compare(expected, outputs, contents);
        }
        let found = (outputs, contents);
        Ok(match verdict {
            Verdict::Different(_) if self.could_be(expected, found, Chance::Order) => Verdict::AsRunsDiffer,
            Verdict::Different(difference)
                if self.is_unseeded && self.could_be(expected, found, Chance::Draws) =>
            {
                Verdict::Unsettled(difference)
            }
            verdict => verdict,
        })
    }

    /// Whether chance may be why something is not as in any uninterrupted run.
    fn could_be(
        &self,
        expected: &Expected,
        (outputs, contents): (&[Vec<Vec<u8>>], &Contents),
        chance: Chance,
    ) -> bool {
        let ignore = &self.comparison.ignore;
        let mut each = expected.stdout.iter().enumerate();
        each.all(|(rank, reference)| {
            let all_runs: Vec<&[u8]> = outputs.iter().map(|run| run[rank].as_slice()).collect();
            cover::could_be(reference, &all_runs, ignore, chance)
        }) && expected.files.could_be(contents, ignore, chance)
    }

    /// Carries one trial out.
    pub fn carry_out(
        &mut self,
        trial: &Trial,
        expected: &mut Expected,
        tell: &dyn Fn(&str),
    ) -> Outcome<Done> {
        let (initial, store) = self.scratch.fresh()?;
        let mut done = Done {
            trial: trial.clone(),
            killed: 0,
            resumed: Vec::new(),
            alone: 0,
            seconds: 0.0,
            checkpoint_bytes: None,
            not_taken: None,
            bits: None,
            verdict: Verdict::Same,
        };
        let limit = Some(expected.time.max(expected.span) * 10 + Duration::from_secs(60));
        let flips: Vec<String> = trial.kills.iter().filter_map(|kill| kill.flip()).collect();
        if !flips.is_empty() {
            self.turn_bits(&flips, trial, (&initial, &store), expected, &mut done)?;
            return Ok(done);
        }
        if let Some(rollbacks) = Kill::rollbacks(&trial.kills, trial.victim) {
            let mut variables = environment(&store, trial.every);
            variables.push((FAULT, rollbacks.into()));
            let snapshots = trial.snapshot_every.map(|every| every.to_string());
            variables.extend(snapshots.map(|every| ("CKPT_SNAPSHOT_EVERY", every.into())));
            let finished = self.run_on(&variables, &store, limit, &mut done)?;
            if finished.ending != Ending::Code(0) {
                done.verdict = failed(0, &finished);
                return Ok(done);
            }
            let outputs = between_rollbacks(&finished.stdout);
            let written = initial.written_since(self.scratch.working())?;
            let contents = self.contents(files::among(written, &self.comparison.named))?;
            let held_up = HeldUp::by_checkpoints(&store, trial.every, expected.visits)?;
            done.verdict = self.judge(expected, &outputs, &contents, held_up, tell)?;
            return Ok(done);
        }
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
                    .map(|fault| (FAULT, fault.into())),
            );
            let until = Until {
                kill: kill.and_then(|kill| kill.instant(expected.span)),
                victim: trial.victim,
                limit,
                is_told_of: false,
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
        let held_up = HeldUp::by_checkpoints(&store, trial.every, expected.visits)?;
        done.verdict = self.judge(expected, &outputs, &contents, held_up, tell)?;
        Ok(done)
    }

    /// Runs the program to its end, in one process that may go back to its checkpoints.
    fn run_on(
        &mut self,
        variables: &[(&'static str, OsString)],
        store: &Path,
        limit: Option<Duration>,
        done: &mut Done,
    ) -> Outcome<Finished> {
        let until = Until {
            kill: None,
            victim: done.trial.victim,
            limit,
            is_told_of: false,
            stretched: None,
        };
        let finished = self.launch(variables, until)?;
        done.seconds = finished.time.as_secs_f64();
        done.checkpoint_bytes = stores::largest_bytes(store);
        done.not_taken = not_taken(&finished.stderr);
        let rollbacks = rollbacks_in(store)?;
        done.alone = rollbacks.iter().filter(|back| back.is_alone).count();
        done.resumed = rollbacks.iter().map(|back| back.to).collect();
        done.killed = done.resumed.len();
        Ok(finished)
    }

    /// Carries a trial out in which bits are turned, with all detectors on.
    fn turn_bits(
        &mut self,
        flips: &[String],
        trial: &Trial,
        (initial, store): (&Initial, &Path),
        expected: &Expected,
        done: &mut Done,
    ) -> Outcome<()> {
        let mut variables = environment(store, trial.every);
        let snapshots = snapshots_every(expected.visits).to_string();
        variables.push((FAULT, format!("flip:{}", flips.join(",")).into()));
        variables.push(("CKPT_SNAPSHOT_EVERY", snapshots.into()));
        variables.push(("CKPT_DETECT", "nan,unchanged".into()));
        let limit = Some(expected.time.max(expected.span) * 10 + Duration::from_secs(60));
        let finished = self.run_on(&variables, store, limit, done)?;
        done.verdict = match finished.ending {
            Ending::Code(0) => {
                // What was printed before the program went back may be wrong, and was printed again.
                let parts = between_rollbacks(&finished.stdout);
                let mut outputs: Vec<Vec<Vec<u8>>> = parts.into_iter().rev().take(1).collect();
                if done.killed > 0 {
                    outputs.insert(0, expected.printed.clone());
                }
                let written = initial.written_since(self.scratch.working())?;
                let contents = self.contents(files::among(written, &self.comparison.named))?;
                self.compare(expected, &outputs, &contents)
            }
            _ => failed(0, &finished),
        };
        let events = events_of(store)?;
        let is_right = done.has_its_answer();
        done.bits = Some(Flips::of(&events, expected.visits, &done.verdict, is_right));
        Ok(())
    }

    fn launch(&self, variables: &[(&str, OsString)], until: Until) -> Outcome<Finished> {
        self.launcher
            .run(self.scratch.working(), self.scratch.root(), variables, until)
    }

    fn uninterrupted(
        &mut self,
        variables: &dyn Fn(&Path) -> Vec<(&'static str, OsString)>,
        manner: Manner,
    ) -> Outcome<Whole> {
        let (initial, store) = self.scratch.fresh()?;
        let variables = variables(&store);
        let is_loaded = match manner {
            Manner::Stretched(how) => how.is_fine(),
            manner => manner == Manner::Loaded,
        };
        let _busy = is_loaded.then(|| Busy::on(processors()));
        let finished = self.launch(
            &variables,
            Until {
                kill: None,
                victim: Victim::Process,
                limit: Some(self.limit),
                is_told_of: true,
                stretched: match manner {
                    Manner::Stretched(how) => Some(how),
                    _ => None,
                },
            },
        )?;
        if finished.too_long {
            return Err(never_ends(self.limit));
        }
        if finished.ending != Ending::Code(0) {
            let has_session = variables.iter().any(|(name, _)| *name == STORE);
            let with = if has_session { " with a ckpt session" } else { "" };
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
            reach: self.reach,
            peak_bytes: self.peak_bytes,
            runs: self.runs,
            lines: self.stdout.iter().map(|one| one.lines.len()).sum(),
            unsteady: self
                .stdout
                .iter()
                .find_map(|one| one.unsteady.as_deref().cloned()),
            varying: self
                .stdout
                .iter()
                .flat_map(Reference::varying)
                .map(|(_, text)| text)
                .collect(),
            numbers: [
                self.stdout.iter().map(Reference::numbers).sum(),
                self.files.numbers(),
            ]
            .into_iter()
            .sum(),
            files: self.files.listed(),
        }
    }
}

fn never_ends(limit: Duration) -> Failure {
    Failure::no(says!(
        "E3220: the program did not end within {} when it ran uninterrupted",
        render::duration(limit)
    ))
    .because("a crash test compares with a whole run")
    .help("give it arguments or an input with which it ends by itself: it is run many times; `--run-limit 8h` waits longer")
}

/// The variable that asks for a session.
const STORE: &str = "CKPT_DIR";
/// The variable that asks it to do what only tests want.
const FAULT: &str = "CKPT_FAULT";
/// The variable that says how many threads rayon's pool has.
const POOL: &str = "RAYON_NUM_THREADS";

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Threads that keep processors busy until this is dropped.
#[derive(Debug)]
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn on(processors: usize) -> Busy {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..processors {
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Busy(over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn environment(store: &Path, every: u64) -> Vec<(&'static str, OsString)> {
    vec![
        (STORE, store.into()),
        ("CKPT_EVERY", every.to_string().into()),
        // Trials have no folder in common.
        ("CKPT_FALLBACK", "off".into()),
    ]
}

/// What the newest run on a store has noted of itself.
fn events_of(store: &Path) -> Outcome<Vec<What>> {
    let Some(job) = stores::job(store, None)? else {
        return Ok(Vec::new());
    };
    let events = ckpt::session::events::read(store, job.run);
    Ok(events.into_iter().map(|event| event.what).collect())
}

/// A rollback of the program.
struct Back {
    /// The checkpoint that it went back to, or that before its snapshot.
    to: Option<u64>,
    /// One rank did, without the others.
    is_alone: bool,
}

/// Whether there is nothing to tell.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The rollbacks of the program.
fn rollbacks_in(store: &Path) -> Outcome<Vec<Back>> {
    let rollbacks = events_of(store)?.into_iter().filter_map(|what| match what {
        What::Rollback { to, alone, .. } => Some(Back { to, is_alone: alone }),
        _ => None,
    });
    Ok(rollbacks.collect())
}

/// What the processes have printed until each rollback, and after the last one.
fn between_rollbacks(stdout: &[Vec<u8>]) -> Vec<Vec<Vec<u8>>> {
    let parts: Vec<Vec<Vec<u8>>> = stdout.iter().map(|own| parts_of(own)).collect();
    let most = parts.iter().map(Vec::len).max().unwrap_or_default();
    // A rank that has gone back alone has printed more parts than the others, whose last one is their whole.
    let part = |of: &Vec<Vec<u8>>, number: usize| {
        let own = number.checked_sub(most - of.len());
        own.and_then(|number| of.get(number)).cloned().unwrap_or_default()
    };
    (0..most)
        .map(|number| parts.iter().map(|of| part(of, number)).collect())
        .collect()
}

/// Without what destructors have printed while the functions of the program were left: no run without a rollback prints that.
fn parts_of(own: &[u8]) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = own;
    while let Some(at) = position(rest, ROLLBACK_MARK) {
        let part = &rest[..at];
        let leaving = position(part, LEAVING_MARK).unwrap_or(at);
        parts.push(part[..leaving].to_vec());
        rest = &rest[at + ROLLBACK_MARK.len()..];
    }
    parts.push(rest.to_vec());
    parts
}

fn position(text: &[u8], mark: &[u8]) -> Option<usize> {
    text.windows(mark.len()).position(|bytes| bytes == mark)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_destructors_print_on_the_way_back_is_left_out() {
        let printed: [&[u8]; 7] = [
            b"step 1\n",
            LEAVING_MARK,
            b"dropped\n",
            ROLLBACK_MARK,
            b"step 1\n",
            ROLLBACK_MARK,
            b"step 2\n",
        ];
        let parts: [&[u8]; 3] = [b"step 1\n", b"step 1\n", b"step 2\n"];
        assert_eq!(parts_of(&printed.concat()), parts);
    }
}
