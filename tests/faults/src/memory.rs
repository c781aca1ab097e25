//! Memory that is not there while a checkpoint is taken: it is given up with a message, and the program goes on.

use std::io;

use crate::calls::Part;
use crate::inject::Unharmed;
use crate::program::{Place, Program};
use crate::tracer::Ended;
use crate::verdict::{Left, Outcome, of_restart, of_struck};

/// How long it is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lasts {
    /// Once.
    Once,
    /// As long as the checkpoint takes, and again while the next is.
    On,
}

/// There are so many bytes and no more while a checkpoint is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// To whom.
    pub program: Program,
    /// How many beyond those that are in use then.
    pub room: u64,
    /// For how long.
    pub lasts: Lasts,
}

/// One trial for every piece of memory that a program asks for while it takes checkpoints and that needs more than all before
/// it: it is the first that cannot be had.
///
/// # Errors
/// It cannot be run.
pub fn trials(program: &Program) -> io::Result<Vec<Trial>> {
    let place = Place::new()?;
    let launch = place.session(program, &[("FAULTS_MEMORY", "measure")]);
    let run = launch.run()?;
    let needs = run.stderr.lines().find_map(|line| line.strip_prefix("needs: "));
    let needs = needs.ok_or_else(|| io::Error::other(format!("it was not measured: {}", run.stderr)))?;
    let measured = needs
        .split(' ')
        .filter_map(|need| need.parse::<u64>().ok()?.checked_sub(1));
    // The first need is large already, if what is kept in reserve is as large.
    let less = [0, 1, 10, 100, 300, 600, 900, 1200].map(|kilobytes| kilobytes << 10);
    Ok(less
        .into_iter()
        .chain(measured)
        .flat_map(|room| {
            [Lasts::Once, Lasts::On].map(|lasts| Trial {
                program: *program,
                room,
                lasts,
            })
        })
        .collect())
}

impl Trial {
    /// Makes it, and judges what becomes of it: of a run to its end, or of one that is killed and restarted.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self, part: Part) -> io::Result<Option<Outcome>> {
        let reference = self.program.reference()?;
        let place = Place::new()?;
        let lasts = match self.lasts {
            Lasts::Once => "once",
            Lasts::On => "on",
        };
        let room = format!("{}:{lasts}", self.room);
        let settings = [("FAULTS_MEMORY", room.as_str())];
        let run = match part {
            Part::ToTheEnd => place.session(&self.program, &settings).run()?,
            Part::Run | Part::Restart => {
                let fault = format!("visit:{}", self.program.steps - 1);
                let settings = [settings[0], ("CKPT_FAULT", fault.as_str())];
                place.session(&self.program, &settings).run()?
            }
        };
        let outcome = match of_struck(&place, &self.program, &reference, &run, 0)? {
            Err(outcome) => outcome,
            // Memory that a checkpoint lacks costs a checkpoint, never the run.
            Ok(_) if matches!(run.ended, Ended::Code(1..)) => Outcome::Unexplained(run.stderr.clone()),
            Ok(Left::Completed) => Outcome::Right,
            Ok(Left::Restartable(had)) => {
                let restart = place.restart(&self.program, None, &mut Unharmed)?;
                of_restart(&place, &reference, &restart, had)?
            }
        };
        Ok(Some(outcome.with(&format!("{self:?} {part:?}\n{}", run.stderr))))
    }
}
