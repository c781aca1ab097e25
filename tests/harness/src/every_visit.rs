//! One program, killed and restarted at every visit of a site.

use crate::compare::Difference;
use crate::place::Place;
use crate::process::{Ended, Run, Runner};
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::path::PathBuf;

const SIGKILL: i32 = 9;

/// A program in two variants that must print the same.
#[derive(Debug, Clone)]
pub struct Program {
    /// Name to report it by.
    pub name: String,
    /// The variant that is not instrumented.
    pub plain: PathBuf,
    /// The variant that is.
    pub instrumented: PathBuf,
    /// Arguments of both.
    pub arguments: Vec<String>,
    /// Variables of all its sessions.
    pub settings: Vec<(String, String)>,
    /// Visits at which it is killed at most; of more than that, so many spread over the run.
    pub most: usize,
}

/// What was done to a program that stood it.
#[derive(Debug, Clone, Default)]
pub struct Tally {
    /// Visits of a site in an uninterrupted run: it was killed and restarted at each.
    pub visits: usize,
    /// Links of the chain in which every restarted run was killed again at its next visit.
    pub relays: usize,
    /// Visits at which no checkpoint could be taken, by what ckpt said.
    pub refused: BTreeMap<String, usize>,
}

/// The first thing that went wrong with a program.
#[derive(Debug, thiserror::Error)]
#[error("{name}: {stage}\n    {what}{}", tail(.stderr))]
pub struct Disagreement {
    /// The program.
    pub name: String,
    /// What was being tried.
    pub stage: String,
    /// How it failed.
    pub what: String,
    /// What the run had to say on its standard error.
    pub stderr: String,
}

fn tail(stderr: &str) -> String {
    stderr
        .lines()
        .take(12)
        .map(|line| format!("\n      | {line}"))
        .collect()
}

impl Disagreement {
    /// A program that was never at a site: nothing was tested.
    pub fn no_visit(program: &Program) -> Self {
        Disagreement {
            name: program.name.clone(),
            stage: "a checkpoint at every visit".to_string(),
            what: "no checkpoint was written".to_string(),
            stderr: String::new(),
        }
    }
}

/// Runs `program` plain, instrumented without a session, with a checkpoint at every visit; then for every visit at which there was
/// one kills a run there and restarts it; then lets a chain of restarted runs each live from one such visit to the next. What they
/// print and leave in their folder has to be the same.
///
/// # Errors
/// The first output or file that is not that of the reference.
pub fn every_visit(program: &Program) -> Result<Tally, Disagreement> {
    let trial = Trial::of(program)?;
    trial.without_session()?;
    let (taken, refused) = trial.with_a_checkpoint_at_every_visit()?;
    let visits = program.chosen(&taken);
    for visit in &visits {
        trial.killed_and_restarted_at(*visit)?;
    }
    if !visits.is_empty() {
        trial.relay(&visits)?;
    }
    Ok(Tally {
        visits: visits.len(),
        relays: visits.len(),
        refused,
    })
}

/// The numbers from 1 to `visits`, or `most` of them at even distances with the last among them.
fn spread(visits: usize, most: usize) -> Vec<usize> {
    let count = visits.min(most);
    (1..=count).map(|nth| nth * visits / count).collect()
}

/// What a program prints and leaves without ckpt.
#[derive(Debug, Clone)]
pub struct Reference {
    /// What it prints, and how it ends.
    pub run: Run,
    /// What is in its folder then.
    pub tree: Tree,
}

impl Reference {
    /// Runs the plain variant.
    ///
    /// # Errors
    /// It does not end by itself.
    pub fn of(program: &Program) -> Result<Reference, Disagreement> {
        let place = Place::new();
        let run = Runner::new(&program.plain, &program.arguments, &place.work()).run();
        match run.ended {
            Ended::Code(_) => Ok(Reference {
                run,
                tree: place.tree(),
            }),
            ended => Err(program.disagreement("plain", format!("{ended}"), &run.stderr)),
        }
    }
}

impl Program {
    /// Of these visits as many as it is to be tried at.
    pub(crate) fn chosen(&self, taken: &[usize]) -> Vec<usize> {
        let numbers = spread(taken.len(), self.most).into_iter();
        numbers.map(|nth| taken[nth - 1]).collect()
    }

    /// That something went wrong with it.
    pub fn disagreement(&self, stage: &str, what: String, stderr: &str) -> Disagreement {
        Disagreement {
            name: self.name.clone(),
            stage: stage.to_string(),
            what,
            stderr: stderr.to_string(),
        }
    }
}

pub(crate) struct Trial<'a> {
    pub program: &'a Program,
    pub reference: Reference,
}

impl<'a> Trial<'a> {
    pub fn of(program: &'a Program) -> Result<Self, Disagreement> {
        Ok(Trial {
            program,
            reference: Reference::of(program)?,
        })
    }

    fn runner(&self, place: &Place) -> Runner {
        Runner::new(&self.program.instrumented, &self.program.arguments, &place.work())
    }

    pub fn session(&self, place: &Place) -> Runner {
        let settings = place.settings().into_iter();
        settings
            .chain(self.program.settings.iter().cloned())
            .fold(self.runner(place), |runner, (name, value)| {
                runner.with(&name, value)
            })
    }

    fn without_session(&self) -> Result<(), Disagreement> {
        let place = Place::new();
        let run = self.runner(&place).run();
        self.expect_reference("instrumented, without a session", b"", &run, &place)?;
        if run.stderr != self.reference.run.stderr {
            let what = "its standard error is not that of the plain program".to_string();
            return Err(self.disagreement("instrumented, without a session", what, &run));
        }
        Ok(())
    }

    /// The visits at which there was a checkpoint, and how many there was none at, by the reason.
    pub fn with_a_checkpoint_at_every_visit(
        &self,
    ) -> Result<(Vec<usize>, BTreeMap<String, usize>), Disagreement> {
        let place = Place::new();
        let run = self
            .session(&place)
            .with("CKPT_EVERY", 1)
            .with("CKPT_KEEP", "all")
            .run();
        self.expect_reference("a checkpoint at every visit", b"", &run, &place)?;
        let events = place.events();
        let mut refused = BTreeMap::new();
        for (_, why) in events.failed {
            *refused.entry(why).or_default() += 1;
        }
        Ok((events.taken, refused))
    }

    fn killed_and_restarted_at(&self, visit: usize) -> Result<(), Disagreement> {
        let place = Place::new();
        let fault = format!("visit:{visit}");
        let killed = self
            .session(&place)
            .with("CKPT_EVERY", visit)
            .with("CKPT_FAULT", &fault)
            .run();
        self.expect_killed(&format!("killed at visit {visit}"), &killed)?;
        let restarted = self.session(&place).with("CKPT_RESTART", "latest").run();
        self.expect_reference(
            &format!("restarted from visit {visit}"),
            &killed.stdout,
            &restarted,
            &place,
        )
    }

    /// Every run of the chain starts where the last one was killed, and is killed at the next of `visits`.
    fn relay(&self, visits: &[usize]) -> Result<(), Disagreement> {
        let place = Place::new();
        let mut printed = Vec::new();
        for visit in visits {
            let stage = format!("relay, run from the visit before to visit {visit}");
            let mut runner = self.session(&place).with("CKPT_EVERY", 1);
            runner = runner.with("CKPT_FAULT", format!("visit:{visit}"));
            if *visit != visits[0] {
                runner = runner.with("CKPT_RESTART", "latest");
            }
            let killed = runner.run();
            self.expect_killed(&stage, &killed)?;
            printed.extend(killed.stdout);
        }
        let last = self.session(&place).with("CKPT_RESTART", "latest").run();
        self.expect_reference("relay, last run", &printed, &last, &place)
    }

    fn expect_killed(&self, stage: &str, run: &Run) -> Result<(), Disagreement> {
        match run.ended {
            Ended::Signal(SIGKILL) => Ok(()),
            ended => Err(self.disagreement(stage, format!("not killed but {ended}"), run)),
        }
    }

    /// `run` ended as the reference did, `before` followed by its output is the reference's output, and its folder is the same.
    pub fn expect_reference(
        &self,
        stage: &str,
        before: &[u8],
        run: &Run,
        place: &Place,
    ) -> Result<(), Disagreement> {
        if run.ended != self.reference.run.ended {
            return Err(self.disagreement(stage, format!("{}", run.ended), run));
        }
        let whole = [before, &run.stdout].concat();
        if let Some(difference) = Difference::between(&self.reference.run.stdout, &whole) {
            return Err(self.disagreement(stage, difference.to_string(), run));
        }
        match self.reference.tree.difference(&place.tree()) {
            None => Ok(()),
            Some(difference) => Err(self.disagreement(&format!("{stage}, files"), difference, run)),
        }
    }

    pub fn disagreement(&self, stage: &str, what: String, run: &Run) -> Disagreement {
        self.program.disagreement(stage, what, &run.stderr)
    }
}
