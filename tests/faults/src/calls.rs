//! Trials in which a call fails: of a run from its beginning, and of a restart.

use std::io;
use std::sync::{Arc, LazyLock, Mutex};

use crate::inject::{Failure, Injector, Lasts, Plan, Scope};
use crate::program::{Place, Program};
use crate::tracer::{Call, Ended};
use crate::verdict::{Left, Outcome, known, of_restart, of_struck};

/// What happens while the call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// A run begins, and is killed before its last step.
    Run,
    /// A run begins and goes on to its end.
    ToTheEnd,
    /// One that was killed is restarted, and is killed again.
    Restart,
}

/// A trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Of what.
    pub program: Program,
    /// When.
    pub part: Part,
    /// What fails.
    pub plan: Plan,
}

impl Part {
    /// All of them.
    pub const ALL: [Part; 3] = [Part::Run, Part::ToTheEnd, Part::Restart];

    fn killed_at(self, program: &Program) -> Option<u64> {
        match self {
            Part::ToTheEnd => None,
            Part::Run | Part::Restart => Some(program.steps - 1),
        }
    }
}

/// A killed run, and the visit of the checkpoint that it is known to have.
pub(crate) type Killed = Arc<(Place, u64)>;

/// A run that was killed with checkpoints in its store; made once.
pub(crate) fn killed(program: &Program) -> io::Result<Killed> {
    static KNOWN: LazyLock<Mutex<Vec<(Program, Killed)>>> = LazyLock::new(Mutex::default);
    let mut known_ones = KNOWN.lock().unwrap_or_else(|e| e.into_inner());
    if let Some((_, known)) = known_ones.iter().find(|(other, _)| other == program) {
        return Ok(Arc::clone(known));
    }
    let place = Place::new()?;
    let run = place.begin(program, Some(program.every * 2 + 1), &mut crate::inject::Unharmed)?;
    if run.ended != Ended::Signal(libc::SIGKILL) {
        return Err(io::Error::other(format!("it was not killed: {}", run.stderr)));
    }
    let killed = Arc::new((place, known(program, &run)));
    known_ones.push((*program, Arc::clone(&killed)));
    Ok(killed)
}

/// Where a part of a program's life begins, and what it is known to have then.
fn beginning(program: &Program, part: Part) -> io::Result<(Place, u64)> {
    match part {
        Part::Run | Part::ToTheEnd => Ok((Place::new()?, 0)),
        Part::Restart => {
            let killed = killed(program)?;
            Ok((Place::like(&killed.0)?, killed.1))
        }
    }
}

fn strike(
    place: &Place,
    program: &Program,
    part: Part,
    injector: &mut Injector,
) -> io::Result<crate::tracer::Run> {
    match part {
        Part::Run | Part::ToTheEnd => place.begin(program, part.killed_at(program), injector),
        Part::Restart => place.restart(program, part.killed_at(program), injector),
    }
}

/// All calls of a part of a program's life that can fail, and whether they are about the store.
///
/// # Errors
/// It cannot be run.
pub fn calls(program: &Program, part: Part) -> io::Result<Vec<(Call, bool)>> {
    let (place, _) = beginning(program, part)?;
    let mut injector = Injector::new(&place.folder(), &place.store(), None);
    strike(&place, program, part, &mut injector)?;
    Ok(injector.calls)
}

/// All trials of a part of a program's life.
///
/// # Errors
/// It cannot be run.
pub fn trials(program: &Program, part: Part) -> io::Result<Vec<Trial>> {
    let calls = calls(program, part)?;
    let mut all = Vec::new();
    for failure in Failure::ALL {
        for scope in [Scope::Store, Scope::Own, Scope::Both] {
            let fitting = calls.iter().filter(|(call, in_store)| {
                let is_meant = match scope {
                    Scope::Store => *in_store,
                    Scope::Own => !in_store,
                    Scope::Both => true,
                };
                is_meant && failure.fits(call)
            });
            for nth in 0..fitting.count() {
                let lasts: &[Lasts] = match (scope, failure) {
                    // A single one is the same for a narrower scope.
                    (Scope::Both, Failure::Kill | Failure::Short) => &[Lasts::Once],
                    (_, Failure::Kill) => &[],
                    (Scope::Both, _) => &[Lasts::Once, Lasts::On],
                    _ => &[Lasts::On],
                };
                all.extend(lasts.iter().map(|&lasts| Trial {
                    program: *program,
                    part,
                    plan: Plan {
                        scope,
                        nth,
                        failure,
                        lasts,
                    },
                }));
            }
        }
    }
    Ok(all)
}

impl Trial {
    /// Makes it, and judges what becomes of it. `None` where the call was not reached.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self) -> io::Result<Option<Outcome>> {
        let Trial { program, part, plan } = self;
        let reference = program.reference()?;
        let (place, had) = beginning(program, *part)?;
        let mut injector = Injector::new(&place.folder(), &place.store(), Some(*plan));
        let run = strike(&place, program, *part, &mut injector)?;
        let Some((kind, path)) = injector.hit else {
            return Ok(None);
        };
        let outcome = match of_struck(&place, program, &reference, &run, had)? {
            Err(outcome) => outcome,
            Ok(Left::Completed) => Outcome::Right,
            Ok(Left::Restartable(had)) => {
                let restart = place.restart_unharmed(program)?;
                of_restart(&place, &reference, &restart, had)?
            }
        };
        let context = format!(
            "{self:?}\nfailed: {} of {}\n{}\n=== the restart",
            kind.name(),
            path.display(),
            run.stderr
        );
        Ok(Some(outcome.with(&context)))
    }
}
