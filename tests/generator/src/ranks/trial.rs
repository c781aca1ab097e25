//! One program of several processes: run plain, instrumented, with a checkpoint at every visit; then killed, one rank or all, and
//! restarted. Each rank has to print what it prints without ckpt, and to leave the same in its folder.
//!
//! A rank that is not killed itself dies wherever it is when the launcher hears of it, and a restart begins at the newest line that
//! all ranks have. So what each run prints has to lie in the reference's output, and to begin no later than what is printed so
//! far ends.

use super::job::{Place, Ranks, Run, Signal};
use crate::between::Kills;
use crate::check::{Effort, MARKS, Stood};
use crate::random::Random;
use harness::{AGAIN, Difference, Disagreement, Program, Rollbacks, Tally, Tree};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How often a program is restarted at most before it is let go on to its end.
const LONGEST_CHAIN: usize = 2;
/// Steps of a commit at which a rank can be made to die.
const COMMIT_STEPS: usize = 11;
/// What the launcher ends with when a rank was killed.
const KILLED: i32 = 128 + libc::SIGKILL;
/// What a program ends with that took a checkpoint and stopped, and one that has none to restart from.
const STOPPED: i32 = 75;
const NO_CHECKPOINT: i32 = 76;

/// What each rank prints and leaves without ckpt.
struct Reference {
    stdout: Vec<Vec<u8>>,
    trees: Vec<Tree>,
}

struct Trial<'a> {
    program: &'a Program,
    ranks: Ranks,
    reference: &'a Reference,
    place: Place,
    settings: Vec<(String, String)>,
    /// How much of the reference's output each rank has printed.
    printed: Vec<usize>,
    stage: String,
}

/// Runs `program`, kills it as often as `effort` says, and restarts it.
pub(super) fn stand(program: &Program, ranks: Ranks, effort: Effort) -> Result<Stood, Disagreement> {
    let reference = &reference(program, ranks)?;
    let trial = |stage: &str| Trial::new(program, ranks, reference, stage);
    let mut alone = trial("instrumented, without a session")?;
    let run = alone.run_without_session()?;
    alone.expect_reference(&run)?;

    let mut whole = trial("a checkpoint at every visit, checked for safe points")?;
    whole.set("CKPT_EVERY", 1);
    whole.set("CKPT_KEEP", "all");
    whole.set("CKPT_CHECK_SAFE_POINTS", 1);
    let since = Instant::now();
    let run = whole.run(false, None)?;
    let took = since.elapsed();
    whole.expect_reference(&run)?;
    let events = whole.place.events();
    let mut refused = BTreeMap::new();
    for (_, why) in events.failed {
        *refused.entry(why).or_default() += 1;
    }
    let visits = events.taken.len();
    if visits > 0 && refused.is_empty() && whole.place.lines().len() != visits {
        return Err(whole.disagreement(
            format!(
                "{visits} checkpoints of the first rank, {:?} of all",
                whole.place.lines()
            ),
            &run.stderr,
        ));
    }

    let mut random = Random::new(effort.seed, number_of(program));
    let (mut kills, mut rollbacks) = (Kills::default(), Rollbacks::default());
    if let Some(last) = events.taken.last() {
        for _ in 0..effort.visits {
            match effort.in_process {
                false => trial("killed")?.killed(*last, took, &mut random, &mut kills)?,
                true => trial("gone back")?.goes_back(*last, &mut random, &mut rollbacks)?,
            }
        }
    }
    let tally = Tally {
        visits,
        relays: 0,
        refused,
    };
    Ok(Stood {
        tally,
        kills,
        rollbacks,
    })
}

fn number_of(program: &Program) -> u64 {
    let letters = program.name.bytes().map(u64::from);
    letters.fold(7, |hash: u64, letter| hash.wrapping_mul(31) + letter)
}

fn reference(program: &Program, ranks: Ranks) -> Result<Reference, Disagreement> {
    let fails = |error: std::io::Error| program.disagreement("plain", error.to_string(), "");
    let place = Place::new(ranks).map_err(fails)?;
    let run = place
        .run(&program.plain, &program.arguments, &[], None)
        .map_err(fails)?;
    if run.code != Some(0) {
        return Err(program.disagreement("plain", ending(&run), &run.stderr));
    }
    Ok(Reference {
        stdout: run.stdout,
        trees: place.trees().map_err(fails)?,
    })
}

fn ending(run: &Run) -> String {
    match (run.is_hung, run.code) {
        (true, _) => "hung and killed".to_string(),
        (false, Some(code)) => format!("exit code {code}"),
        (false, None) => "ended by a signal".to_string(),
    }
}

impl<'a> Trial<'a> {
    fn new(
        program: &'a Program,
        ranks: Ranks,
        reference: &'a Reference,
        stage: &str,
    ) -> Result<Self, Disagreement> {
        let place = Place::new(ranks);
        let place = place.map_err(|error| program.disagreement(stage, error.to_string(), ""))?;
        Ok(Trial {
            program,
            ranks,
            reference,
            settings: place.settings(),
            place,
            printed: vec![0; ranks.0],
            stage: stage.to_string(),
        })
    }

    fn set(&mut self, name: &str, value: impl ToString) {
        self.settings.push((name.to_string(), value.to_string()));
    }

    fn start(&self, settings: &[(String, String)], signal: Option<Signal>) -> Result<Run, Disagreement> {
        let Program {
            instrumented,
            arguments,
            ..
        } = self.program;
        let run = self.place.run(instrumented, arguments, settings, signal);
        run.map_err(|error| self.disagreement(format!("it cannot be run: {error}"), ""))
    }

    fn run_without_session(&self) -> Result<Run, Disagreement> {
        self.start(&[], None)
    }

    /// With one of the faults that `CKPT_FAULT` knows, or a signal.
    fn run(&self, is_restart: bool, fault: Option<&Fault>) -> Result<Run, Disagreement> {
        let mut settings = self.settings.clone();
        if is_restart {
            settings.push(("CKPT_RESTART".into(), "latest".into()));
        }
        let signal = match fault {
            Some(Fault::Own(fault)) => {
                settings.push(("CKPT_FAULT".into(), fault.clone()));
                None
            }
            Some(Fault::Signal(signal)) => Some(*signal),
            None => None,
        };
        self.start(&settings, signal)
    }

    fn disagreement(&self, what: String, stderr: &str) -> Disagreement {
        let drawn: Vec<String> = self.settings[self.place.settings().len()..]
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let what = format!("{what} ({} ranks {})", self.ranks.0, drawn.join(" "));
        self.program.disagreement(&self.stage, what, stderr)
    }

    /// It ended by itself, printed all and left what the plain program leaves.
    fn expect_reference(&mut self, run: &Run) -> Result<(), Disagreement> {
        self.has_printed(run)?;
        match self.has_ended(run)? {
            true => Ok(()),
            false => Err(self.disagreement(ending(run), &run.stderr)),
        }
    }

    /// Takes note of what a run has printed.
    fn has_printed(&mut self, run: &Run) -> Result<(), Disagreement> {
        for (rank, output) in run.stdout.iter().enumerate() {
            let whole = &self.reference.stdout[rank];
            let fits = |from: &usize| whole[*from..].starts_with(output);
            // The furthest of the places where it fits: what is printed twice may fit at several.
            match (0..=self.printed[rank]).rev().find(fits) {
                Some(from) => self.printed[rank] = self.printed[rank].max(from + output.len()),
                None => {
                    let what = format!(
                        "the output of rank {rank} is no part of the reference's that begins before byte {}:\n{}\n{}",
                        self.printed[rank],
                        String::from_utf8_lossy(output),
                        self.parting(whole, output)
                    );
                    return Err(self.disagreement(what, &run.stderr));
                }
            }
        }
        Ok(())
    }

    /// Where an output parts from the reference that begins as it does.
    fn parting(&self, whole: &[u8], output: &[u8]) -> String {
        let first = output
            .split_inclusive(|byte| *byte == b'\n')
            .next()
            .unwrap_or(&[]);
        let from = whole.windows(first.len().max(1)).position(|part| part == first);
        let difference = from.and_then(|from| Difference::between(&whole[from..], output));
        difference.map_or_else(
            || "its first line is nowhere in it".into(),
            |difference| difference.to_string(),
        )
    }

    /// Whether the run has ended by itself; then it is compared with the reference.
    fn has_ended(&self, run: &Run) -> Result<bool, Disagreement> {
        if run.is_hung {
            return Err(self.disagreement(ending(run), &run.stderr));
        }
        if run.code != Some(0) {
            return Ok(false);
        }
        for (rank, whole) in self.reference.stdout.iter().enumerate() {
            if !whole.ends_with(&run.stdout[rank]) || self.printed[rank] != whole.len() {
                let what = format!(
                    "the output of rank {rank} is not the end of the reference's: {:?}",
                    String::from_utf8_lossy(&run.stdout[rank])
                );
                return Err(self.disagreement(what, &run.stderr));
            }
        }
        match self.difference()? {
            None => Ok(true),
            Some(difference) => Err(self.disagreement(difference, &run.stderr)),
        }
    }

    /// What is not the same in a folder of a rank.
    fn difference(&self) -> Result<Option<String>, Disagreement> {
        let trees = self.place.trees();
        let trees = trees.map_err(|error| self.disagreement(error.to_string(), ""))?;
        let pairs = self.reference.trees.iter().zip(&trees).enumerate();
        let mut found = pairs.filter_map(|(rank, (expected, found))| {
            let difference = expected.difference(found)?;
            Some(format!("rank {rank}: {difference}"))
        });
        Ok(found.next())
    }

    /// Whether all that the program does is done: its end may have been noted already.
    fn is_complete(&self) -> Result<bool, Disagreement> {
        let lengths = self.reference.stdout.iter().map(Vec::len);
        Ok(lengths.eq(self.printed.iter().copied()) && self.difference()?.is_none())
    }
}

/// How a run is made to end.
enum Fault {
    /// What `CKPT_FAULT` says.
    Own(String),
    Signal(Signal),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Own(fault) => f.write_str(fault),
            Fault::Signal(signal) => write!(f, "{signal:?}"),
        }
    }
}

impl Trial<'_> {
    fn fault(&self, visits: usize, took: Duration, is_restart: bool, random: &mut Random) -> Fault {
        let rank = random.below(self.ranks.0);
        let visit = 1 + random.below(visits);
        // Most of the time goes into starting.
        let after = random.below(took.as_millis() as usize / 2) as u64;
        match random.below(10) {
            0..=3 => Fault::Own(format!("visit:{visit}@{rank}")),
            4..=5 => Fault::Own(format!("visit:{visit}")),
            6..=7 if is_restart => {
                Fault::Own(format!("commit-step:{}@{rank}", 1 + random.below(COMMIT_STEPS)))
            }
            6..=8 => Fault::Signal(Signal::Kill { after, rank }),
            _ => Fault::Signal(Signal::Stop { after, rank }),
        }
    }

    /// Killed; and again a few times after restarts; then let go on.
    fn killed(
        &mut self,
        visits: usize,
        took: Duration,
        random: &mut Random,
        kills: &mut Kills,
    ) -> Result<(), Disagreement> {
        self.set("CKPT_EVERY", 1 + random.below(3));
        self.set("CKPT_BACKGROUND", random.below(2));
        let restarts = random.below(LONGEST_CHAIN + 1);
        let mut faults: Vec<String> = Vec::new();
        for restart in 0..=restarts {
            let fault = self.fault(visits, took, restart > 0, random);
            faults.push(fault.to_string());
            self.stage = format!("ended by {}", faults.join(", then by "));
            let had_line = !self.place.lines().is_empty();
            let run = self.run(restart > 0, Some(&fault))?;
            self.has_printed(&run)?;
            if self.has_ended(&run)? {
                kills.compared += usize::from(restart > 0);
                return Ok(());
            }
            let is_stop = matches!(fault, Fault::Signal(Signal::Stop { .. }));
            let is_meant = match run.code {
                Some(KILLED) => true,
                Some(STOPPED) => is_stop,
                // It may have heard of it before it had a session, or been sent it before it was the program.
                Some(code) => is_stop && code == 128 + libc::SIGTERM,
                None => false,
            };
            if !is_meant {
                return Err(self.disagreement(
                    format!("{}, there was a line: {had_line}", ending(&run)),
                    &run.stderr,
                ));
            }
            kills.killed += 1;
            if self.is_complete()? {
                return Ok(());
            }
            if self.place.lines().is_empty() {
                self.stage = format!("{}, restarted without a line", self.stage);
                let run = self.run(true, None)?;
                kills.too_early += 1;
                return match run.code {
                    Some(NO_CHECKPOINT) => Ok(()),
                    _ => Err(self.disagreement(ending(&run), &run.stderr)),
                };
            }
        }
        self.stage = format!("{}, restarted", self.stage);
        let run = self.run(true, None)?;
        self.expect_reference(&run)?;
        kills.compared += 1;
        Ok(())
    }
}

/// How often a program goes back in one run.
const MOST_ROLLBACKS: usize = 4;

impl Trial<'_> {
    /// All ranks go back, a few times, and go on to their end.
    fn goes_back(
        &mut self,
        visits: usize,
        random: &mut Random,
        rollbacks: &mut Rollbacks,
    ) -> Result<(), Disagreement> {
        let every = 1 + random.below(visits.min(3));
        self.set("CKPT_EVERY", every);
        self.set("CKPT_BACKGROUND", random.below(2));
        let count = 1 + random.below(MOST_ROLLBACKS);
        let mut at: Vec<usize> = (0..count)
            .map(|_| every + random.below(visits - every + 1))
            .collect();
        at.sort_unstable();
        let at: Vec<String> = at.iter().map(usize::to_string).collect();
        let fault = format!("rollback:{}", at.join(","));
        self.stage = format!("goes back by {fault}");
        let run = self.run(false, Some(&Fault::Own(fault)))?;
        let parts: Vec<Vec<Vec<u8>>> = run.stdout.iter().map(|own| MARKS.parts(own)).collect();
        let marks = parts.iter().map(|own| own.len() - 1).max().unwrap_or_default();
        let leaps = self.place.events().rollbacks;
        if leaps.len() != marks || parts.iter().any(|own| own.len() != marks + 1) {
            let what = format!("not all ranks have gone back so, {}: {leaps:?}", ending(&run));
            return Err(self.disagreement(what, &run.stderr));
        }
        for number in 0..=marks {
            let of_all = parts.iter().map(|own| own[number].clone()).collect();
            let part = Run {
                stdout: of_all,
                ..run.clone()
            };
            match number == marks {
                false => self.has_printed(&part)?,
                true => self.expect_reference(&part)?,
            }
        }
        rollbacks.all += marks;
        rollbacks.in_process +=
            run.stderr.lines().filter(|line| line.ends_with(AGAIN)).count() / self.ranks.0;
        Ok(())
    }
}
