//! A run that the command starts and restarts: what it notes of that, in the store and on the machine, is on the disk or not.

use std::fs;
use std::io;
use std::sync::Mutex;

use super::record::Recorder;
use super::{Found, Recording, Subject};
use crate::commands;
use crate::inject::Unharmed;
use crate::program::{Place, Program, plant, tree};
use crate::tracer::{Ended, Run, Watcher};
use crate::verdict::{Outcome, of_restart};

/// What was said in it, and where it was: the machine notes what it knows of a store by the path that this really has, so that
/// what a cut leaves has to be looked at there.
#[derive(Debug)]
pub(super) struct Launch {
    pub said: String,
    place: Mutex<Place>,
}

/// Runs a program by way of the command, kills it, and restarts it, and kills it again.
pub(super) fn record(program: &Program) -> io::Result<Recording> {
    let place = Place::new()?;
    let before = tree(place.root())?;
    let mut recorder = Recorder::over(place.root(), &before);
    let begins = recorder.length();
    let middle = program.steps / 2 + 1;
    let first = start(&place, program, &mut recorder, Some(middle))?;
    let second = restart(&place, program, &mut recorder, Some(program.steps), false)?;
    for run in [&first, &second] {
        if run.ended != Ended::Code(128 + libc::SIGKILL) {
            return Err(io::Error::other(format!(
                "{:?}, and it was not killed: {}",
                run.ended, run.stderr
            )));
        }
    }
    Ok(Recording {
        program: *program,
        operations: recorder.operations()?,
        begins,
        subject: Subject::Launch(Launch {
            said: first.stderr + &second.stderr,
            place: Mutex::new(place),
        }),
    })
}

fn command(
    place: &Place,
    program: &Program,
    watcher: &mut dyn Watcher,
    (verb, rest): (&str, &[String]),
    killed_at: Option<u64>,
) -> io::Result<Run> {
    let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let fault = killed_at.map(|visit| ("CKPT_FAULT".to_owned(), format!("visit:{visit}")));
    let environment = program.settings.iter().map(text).chain(fault);
    let arguments = ["ckpt", verb, "--dir", "store"].map(str::to_owned).into_iter();
    let arguments = arguments.chain(rest.iter().cloned()).collect();
    commands::launch(place, arguments, environment.collect())?.watched(watcher)
}

fn executable(program: &Program) -> [String; 2] {
    ["--exe".to_owned(), program.executable().display().to_string()]
}

fn start(
    place: &Place,
    program: &Program,
    watcher: &mut dyn Watcher,
    killed_at: Option<u64>,
) -> io::Result<Run> {
    let mut rest = executable(program).to_vec();
    rest.extend(["--every".to_owned(), program.every.to_string(), "--".to_owned()]);
    rest.extend(program.arguments());
    command(place, program, watcher, ("run", &rest), killed_at)
}

/// Says which program it is only where that is `said` again.
fn restart(
    place: &Place,
    program: &Program,
    watcher: &mut dyn Watcher,
    killed_at: Option<u64>,
    said: bool,
) -> io::Result<Run> {
    let mut rest = Vec::new();
    if said {
        rest.extend(executable(program));
        rest.push("--".to_owned());
        rest.extend(program.arguments());
    }
    command(place, program, watcher, ("restart", &rest), killed_at)
}

impl Launch {
    /// The command goes on with the run, or says why not; the user then says what it does not know.
    pub fn judge(&self, program: &Program, found: &Found, had: u64) -> io::Result<Outcome> {
        let place = self.place.lock().unwrap_or_else(|e| e.into_inner());
        for entry in fs::read_dir(place.root())? {
            fs::remove_dir_all(entry?.path())?;
        }
        plant(place.root(), &found.tree)?;
        // They were there before, and the program prints elsewhere.
        fs::create_dir_all(place.folder())?;
        fs::create_dir_all(place.output())?;
        let run = restart(&place, program, &mut Unharmed, None, false)?;
        // What a cut has left of the notes may not be enough for it to know what to start.
        let has_to_ask = matches!(run.ended, Ended::Code(1..)) && run.stderr.contains("error[E3");
        let run = match has_to_ask {
            true => restart(&place, program, &mut Unharmed, None, true)?,
            false => run,
        };
        of_restart(&place, &program.reference()?, &run, had)
    }
}
