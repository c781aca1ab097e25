//! One program, killed and restarted at every visit of a site.

use crate::compare::Difference;
use crate::process::{Ended, Run, Runner, scratch_directory};
use std::path::{Path, PathBuf};

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
    /// Visits at which it is killed at most; of more than that, so many spread over the run.
    pub most: usize,
}

/// What was done to a program that stood it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tally {
    /// Visits of a site in an uninterrupted run: it was killed and restarted at each.
    pub visits: usize,
    /// Links of the chain in which every restarted run was killed again at its next visit.
    pub relays: usize,
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

/// Runs `program` plain, instrumented without a session, with a checkpoint at every visit; then for every visit kills a
/// run there and restarts it; then lets a chain of restarted runs each live for one visit only.
///
/// # Errors
/// The first output that is not the reference.
pub fn every_visit(program: &Program) -> Result<Tally, Disagreement> {
    let trial = Trial::of(program)?;
    trial.without_session()?;
    let visits = spread(trial.with_a_checkpoint_at_every_visit()?, program.most);
    for visit in &visits {
        trial.killed_and_restarted_at(*visit)?;
    }
    if !visits.is_empty() {
        trial.relay(&visits)?;
    }
    Ok(Tally {
        visits: visits.len(),
        relays: visits.len(),
    })
}

/// The numbers from 1 to `visits`, or `most` of them at even distances with the last among them.
fn spread(visits: usize, most: usize) -> Vec<usize> {
    let count = visits.min(most);
    (1..=count).map(|nth| nth * visits / count).collect()
}

struct Trial<'a> {
    program: &'a Program,
    reference: Run,
}

impl<'a> Trial<'a> {
    fn of(program: &'a Program) -> Result<Self, Disagreement> {
        let folder = scratch_directory();
        let reference = Runner::new(&program.plain, &program.arguments, folder.path()).run();
        let trial = Trial { program, reference };
        match trial.reference.ended {
            Ended::Code(_) => Ok(trial),
            ended => Err(trial.disagreement("plain", format!("{ended}"), &trial.reference)),
        }
    }

    fn runner(&self, folder: &Path) -> Runner {
        Runner::new(&self.program.instrumented, &self.program.arguments, folder)
    }

    fn session(&self, folder: &Path) -> Runner {
        self.runner(folder)
            .with("CKPT_DIR", folder.join("store").display())
            // What is compared with the checkpoint before, or said not to have changed, is part of what is tried.
            .with("CKPT_FULL_EVERY", 3)
            .with("CKPT_CHECK_UNWRITTEN", 1)
            .with("CKPT_QUIET", 1)
    }

    fn without_session(&self) -> Result<(), Disagreement> {
        let folder = scratch_directory();
        let run = self.runner(folder.path()).run();
        self.expect_reference("instrumented, without a session", b"", &run)?;
        if run.stderr != self.reference.stderr {
            let what = "its standard error is not that of the plain program".to_string();
            return Err(self.disagreement("instrumented, without a session", what, &run));
        }
        Ok(())
    }

    fn with_a_checkpoint_at_every_visit(&self) -> Result<usize, Disagreement> {
        let folder = scratch_directory();
        let run = self
            .session(folder.path())
            .with("CKPT_EVERY", 1)
            .with("CKPT_KEEP", "all")
            .run();
        self.expect_reference("a checkpoint at every visit", b"", &run)?;
        Ok(checkpoints_under(&folder.path().join("store")))
    }

    fn killed_and_restarted_at(&self, visit: usize) -> Result<(), Disagreement> {
        let folder = scratch_directory();
        let fault = format!("visit:{visit}");
        let killed = self
            .session(folder.path())
            .with("CKPT_EVERY", visit)
            .with("CKPT_FAULT", &fault)
            .run();
        self.expect_killed(&format!("killed at visit {visit}"), &killed)?;
        let restarted = self.session(folder.path()).with("CKPT_RESTART", "latest").run();
        self.expect_reference(
            &format!("restarted from visit {visit}"),
            &killed.stdout,
            &restarted,
        )
    }

    /// Every run of the chain starts where the last one was killed, and is killed at the next of `visits`.
    fn relay(&self, visits: &[usize]) -> Result<(), Disagreement> {
        let folder = scratch_directory();
        let mut printed = Vec::new();
        for visit in visits {
            let stage = format!("relay, run from the visit before to visit {visit}");
            let mut runner = self.session(folder.path()).with("CKPT_EVERY", 1);
            runner = runner.with("CKPT_FAULT", format!("visit:{visit}"));
            if *visit != visits[0] {
                runner = runner.with("CKPT_RESTART", "latest");
            }
            let killed = runner.run();
            self.expect_killed(&stage, &killed)?;
            printed.extend(killed.stdout);
        }
        let last = self.session(folder.path()).with("CKPT_RESTART", "latest").run();
        self.expect_reference("relay, last run", &printed, &last)
    }

    fn expect_killed(&self, stage: &str, run: &Run) -> Result<(), Disagreement> {
        match run.ended {
            Ended::Signal(SIGKILL) => Ok(()),
            ended => Err(self.disagreement(stage, format!("not killed but {ended}"), run)),
        }
    }

    /// `run` ended as the reference did, and `before` followed by its output is the reference's output.
    fn expect_reference(&self, stage: &str, before: &[u8], run: &Run) -> Result<(), Disagreement> {
        if run.ended != self.reference.ended {
            return Err(self.disagreement(stage, format!("{}", run.ended), run));
        }
        let whole = [before, &run.stdout].concat();
        match Difference::between(&self.reference.stdout, &whole) {
            None => Ok(()),
            Some(difference) => Err(self.disagreement(stage, difference.to_string(), run)),
        }
    }

    fn disagreement(&self, stage: &str, what: String, run: &Run) -> Disagreement {
        Disagreement {
            name: self.program.name.clone(),
            stage: stage.to_string(),
            what,
            stderr: run.stderr.clone(),
        }
    }
}

/// Checkpoint files below `folder`.
fn checkpoints_under(folder: &Path) -> usize {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return 0;
    };
    entries
        .flatten()
        .map(|entry| match entry.path() {
            path if path.is_dir() => checkpoints_under(&path),
            path => usize::from(path.extension().is_some_and(|extension| extension == "h5")),
        })
        .sum()
}
