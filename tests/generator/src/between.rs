//! Programs killed between their sites: before a call on files, the program's own or ckpt's, drawn from all that a run makes.
//!
//! What a killed run prints after its checkpoint is printed again by the restart: the output of each run has to lie in that of the
//! reference, and to begin no later than what is printed so far ends.

use crate::random::Random;
use faults::inject::Unharmed;
use faults::tracer::{Action, Call, Ended, Kind, Launch, Run, Tracee, Watcher};
use harness::{Disagreement, Place, Program, Reference};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What was done to a program that stood it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Kills {
    /// Runs that were killed, restarts among them.
    pub killed: usize,
    /// Of these, runs that were killed before they had a checkpoint: nothing was compared.
    pub too_early: usize,
    /// Restarts that were compared.
    pub compared: usize,
}

/// How often a program is restarted at most before it is let go on to its end.
const LONGEST_CHAIN: usize = 2;

/// Counts calls, and kills before the one of a number. Nothing is brought to the disk: nobody cuts the power.
struct Killer {
    work: PathBuf,
    store: PathBuf,
    /// How many are to be let pass.
    left: Option<usize>,
    seen: usize,
    /// How many there were when the first checkpoint had its name.
    first: Option<usize>,
}

impl Killer {
    fn new(place: &Place, left: Option<usize>) -> Self {
        Killer {
            work: place.work(),
            store: place.store(),
            left,
            seen: 0,
            first: None,
        }
    }
}

impl Watcher for Killer {
    fn call(&mut self, call: &Call, _: &Tracee) -> Action {
        let is_about = |folder: &Path| call.is_below(folder);
        if is_about(&self.work) || is_about(&self.store) {
            if self.left == Some(self.seen) {
                return Action::Kill;
            }
            self.seen += 1;
            let names_one = call.kind == Kind::Rename && is_about(&self.store);
            let is_checkpoint = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "h5");
            if names_one && call.other.as_ref().is_some_and(is_checkpoint) {
                self.first.get_or_insert(self.seen);
            }
        }
        match call.kind {
            Kind::Sync => Action::Fail(0),
            _ => Action::Go,
        }
    }
}

struct Trial<'a> {
    program: &'a Program,
    reference: &'a Reference,
    place: Place,
    settings: Vec<(String, String)>,
    /// How much of the reference's output has been printed.
    printed: usize,
    stage: String,
}

impl Trial<'_> {
    fn run(&self, is_restart: bool, watcher: &mut dyn Watcher) -> Result<Run, Disagreement> {
        let mut environment = self.place.settings();
        environment.extend(self.program.settings.iter().cloned());
        environment.extend(self.settings.iter().cloned());
        if is_restart {
            environment.push(("CKPT_RESTART".into(), "latest".into()));
        }
        let launch = Launch {
            program: self.program.instrumented.clone(),
            arguments: self.program.arguments.clone(),
            environment,
            folder: self.place.work(),
            output: self.place.work(),
        };
        let run = launch.watched(watcher);
        run.map_err(|error| self.disagreement(format!("it cannot be watched: {error}"), ""))
    }

    fn disagreement(&self, what: String, stderr: &str) -> Disagreement {
        let what = format!("{what} ({:?})", self.settings);
        self.program.disagreement(&self.stage, what, stderr)
    }

    /// Takes note of what a run has printed.
    fn has_printed(&mut self, run: &Run) -> Result<(), Disagreement> {
        let whole = &self.reference.run.stdout;
        let fits = |from: usize| whole[from..].starts_with(&run.stdout);
        // The furthest of the places where it fits: what is printed twice may fit at several.
        match (0..=self.printed).rev().find(|from| fits(*from)) {
            Some(from) => {
                self.printed = self.printed.max(from + run.stdout.len());
                Ok(())
            }
            None => Err(self.disagreement(
                format!(
                    "its output is no part of the reference's that begins before {}: {:?}",
                    self.printed,
                    String::from_utf8_lossy(&run.stdout)
                ),
                &run.stderr,
            )),
        }
    }

    /// Whether the run has ended by itself as the reference did; then it is compared with it.
    fn has_ended(&self, run: &Run) -> Result<bool, Disagreement> {
        let ended = match run.ended {
            Ended::Signal(libc::SIGKILL) => return Ok(false),
            Ended::Code(code) => harness::Ended::Code(code),
            Ended::Signal(signal) => harness::Ended::Signal(signal),
            Ended::Hung => harness::Ended::Hung,
        };
        if ended != self.reference.run.ended {
            return Err(self.disagreement(ended.to_string(), &run.stderr));
        }
        let whole = &self.reference.run.stdout;
        if !whole.ends_with(&run.stdout) || self.printed != whole.len() {
            let what = format!(
                "its output is not the end of the reference's: {:?}",
                String::from_utf8_lossy(&run.stdout)
            );
            return Err(self.disagreement(what, &run.stderr));
        }
        match self.reference.tree.difference(&self.place.tree()) {
            None => Ok(true),
            Some(difference) => Err(self.disagreement(difference, &run.stderr)),
        }
    }
}

/// Kills `program` at `instants` of its calls, and restarts it.
///
/// # Errors
/// The first output or file that is not that of the reference, a restart that is refused although there is a checkpoint.
pub fn between(
    program: &Program,
    reference: &Reference,
    mut random: Random,
    instants: usize,
) -> Result<Kills, Disagreement> {
    let mut kills = Kills::default();
    for _ in 0..instants {
        let mut trial = Trial {
            program,
            reference,
            place: Place::new(),
            settings: vec![
                ("CKPT_EVERY".into(), (1 + random.below(3)).to_string()),
                ("CKPT_BACKGROUND".into(), random.below(2).to_string()),
            ],
            printed: 0,
            stage: "between sites, not killed".into(),
        };
        let mut counter = Killer::new(&trial.place, None);
        let whole = trial.run(false, &mut counter)?;
        trial.has_printed(&whole)?;
        trial.has_ended(&whole)?;
        (trial.place, trial.printed) = (Place::new(), 0);
        trial.killed(
            counter.first.unwrap_or_default()..counter.seen,
            &mut random,
            &mut kills,
        )?;
    }
    Ok(kills)
}

impl Trial<'_> {
    /// Killed before one of `calls`; and again a few times after restarts; then let go on.
    fn killed(
        &mut self,
        calls: Range<usize>,
        random: &mut Random,
        kills: &mut Kills,
    ) -> Result<(), Disagreement> {
        let restarts = random.below(LONGEST_CHAIN + 1);
        for restart in 0..=restarts {
            let at = random.below(calls.len());
            // A restart begins with a checkpoint.
            let at = if restart == 0 { calls.start + at } else { at };
            self.stage = format!("between sites, restart {restart} killed at call {at}");
            let mut killer = Killer::new(&self.place, Some(at));
            let run = self.run(restart > 0, &mut killer)?;
            self.has_printed(&run)?;
            if self.has_ended(&run)? {
                return Ok(());
            }
            kills.killed += 1;
            if self.place.events().taken.is_empty() {
                kills.too_early += 1;
                return Ok(());
            }
            if self.is_complete() {
                return Ok(());
            }
        }
        self.stage = "between sites, restarted".into();
        let run = self.run(true, &mut Unharmed)?;
        self.has_printed(&run)?;
        self.has_ended(&run)?;
        kills.compared += 1;
        Ok(())
    }

    /// Whether all that the program does is done: its end may have been noted already.
    fn is_complete(&self) -> bool {
        self.printed == self.reference.run.stdout.len()
            && self.reference.tree.difference(&self.place.tree()).is_none()
    }
}
