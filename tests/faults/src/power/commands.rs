//! What the command does with the store of a killed run, and what is left of it after a cut.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::record::Recorder;
use super::{Found, Recording, Subject};
use crate::calls::{Killed, killed};
use crate::commands::{self, AGAIN, PACK};
use crate::inject::Unharmed;
use crate::program::{Place, Program, Reference, Tree, plant, tree};
use crate::tracer::{Ended, Run, Watcher};
use crate::verdict::{Outcome, ends, of_restart};

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// It packs the newest checkpoint.
    Pack,
    /// It makes a store of that.
    Unpack,
    /// It removes all but the newest.
    Prune,
    /// It removes the run.
    Forget,
    /// It gives the newest checkpoint, in which a value was changed, new checksums.
    Seal,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Pack, Kind::Unpack, Kind::Prune, Kind::Forget, Kind::Seal];

    fn arguments(self, place: &Place) -> io::Result<Vec<String>> {
        let run;
        let rest: &[&str] = match self {
            Kind::Pack => &["pack", "latest", "--dir", "store", "-o", PACK],
            Kind::Unpack => &["unpack", PACK, "--dir", AGAIN],
            Kind::Prune => &["prune", "--keep", "1", "--dir", "store"],
            Kind::Forget => {
                run = run_of(place)?;
                &["prune", "--run", &run, "--dir", "store"]
            }
            Kind::Seal => &["seal", "latest", "--yes", "--dir", "store"],
        };
        let words = std::iter::once("ckpt").chain(rest.iter().copied());
        Ok(words.map(str::to_owned).collect())
    }

    fn run(self, place: &Place, watcher: &mut dyn Watcher) -> io::Result<Run> {
        let run = commands::launch(place, self.arguments(place)?, Vec::new())?.watched(watcher)?;
        match run.ended {
            Ended::Code(0) => Ok(run),
            _ => Err(io::Error::other(format!(
                "{self:?} does not work: {}",
                run.stderr
            ))),
        }
    }

    /// What it prints when it is done.
    fn says_at_the_end(self) -> &'static str {
        match self {
            Kind::Pack => "packed ",
            Kind::Unpack => "unpacked ",
            Kind::Prune | Kind::Forget => "removed ",
            Kind::Seal => "Its checksums are those of what it holds.",
        }
    }
}

/// What the command did, and to what.
#[derive(Debug)]
pub(super) struct Command {
    pub kind: Kind,
    killed: Killed,
    /// What a changed checkpoint leads to, where one was changed.
    changed: Option<Changed>,
}

#[derive(Debug)]
struct Changed {
    /// What a run prints and leaves that goes on from it when it has been sealed.
    sealed: Reference,
    /// The visit from which one goes on that passes it over; 0 if there is none.
    before: u64,
}

/// Records what the command does; nothing where there is no value to be changed in a program's checkpoint.
pub(super) fn record(program: &Program, kind: Kind) -> io::Result<Option<Recording>> {
    let killed = killed(program)?;
    let place = Place::like(&killed.0)?;
    let mut changed = None;
    match kind {
        Kind::Unpack => {
            Kind::Pack.run(&place, &mut Unharmed)?;
            fs::remove_dir_all(place.store())?;
        }
        Kind::Seal => {
            if !change_a_value(&place)? {
                return Ok(None);
            }
            let before = Place::like(&place)?.restart_unharmed(program)?;
            let sealed = Place::like(&place)?;
            Kind::Seal.run(&sealed, &mut Unharmed)?;
            changed = Some(Changed {
                before: ends(&program.reference()?.stdout, &before.stdout).unwrap_or(0),
                sealed: Reference {
                    stdout: sealed.restart_unharmed(program)?.stdout,
                    files: sealed.own_files()?,
                },
            });
        }
        Kind::Pack | Kind::Prune | Kind::Forget => {}
    }
    let before = tree(place.root())?;
    let mut recorder = Recorder::over(place.root(), &before);
    let begins = recorder.length();
    kind.run(&place, &mut recorder)?;
    Ok(Some(Recording {
        program: *program,
        operations: recorder.operations()?,
        begins,
        subject: Subject::Command(Command {
            kind,
            killed: Arc::clone(&killed),
            changed,
        }),
    }))
}

/// The run of a store that has one.
fn run_of(place: &Place) -> io::Result<String> {
    let mut runs = fs::read_dir(place.store().join("runs"))?;
    let run = runs.next().ok_or_else(|| io::Error::other("it has no run"))??;
    Ok(run.file_name().to_string_lossy().into_owned())
}

/// The last of the victim's cells, which stays what it is.
const LAST_CELL: f64 = 199.0 * 0.37;

/// Changes a value in the newest checkpoint, as a user does; whether it is found there.
fn change_a_value(place: &Place) -> io::Result<bool> {
    let names = tree(&place.store())?.into_keys();
    let newest = names
        .filter(|name| name.to_string_lossy().ends_with(".r0.h5"))
        .max();
    let path: PathBuf = place.store().join(newest.unwrap_or_default());
    let mut bytes = fs::read(&path)?;
    let value = LAST_CELL.to_le_bytes();
    let Some(at) = bytes.windows(value.len()).position(|window| window == value) else {
        return Ok(false);
    };
    bytes[at..at + value.len()].copy_from_slice(&1.5_f64.to_le_bytes());
    fs::write(&path, bytes)?;
    Ok(true)
}

impl Command {
    /// Whether it had said that it has done it.
    pub fn is_done(&self, found: &Found) -> bool {
        found.is_over || found.said.contains(self.kind.says_at_the_end())
    }

    pub fn judge(&self, program: &Program, found: &Found) -> io::Result<Outcome> {
        let had = self.killed.1;
        let place = Place::new()?;
        plant(place.root(), &found.tree)?;
        let is_done = self.is_done(found);
        let has_pack = place.folder().join(PACK).try_exists()?;
        let has_store = place.folder().join(AGAIN).try_exists()?;
        let lost = |what: &str| Ok(Outcome::Lost(what.to_owned()));
        match self.kind {
            Kind::Pack if !has_pack && is_done => return lost("the pack that was made is gone"),
            Kind::Pack if has_pack => {
                // What has its name is whole, though nobody has been told yet.
                let run = Kind::Unpack.run(&place, &mut Unharmed);
                if let Err(error) = run {
                    return lost(&error.to_string());
                }
                self.take_what_was_unpacked(&place)?;
            }
            Kind::Unpack if !has_pack => return lost("the pack is gone"),
            Kind::Unpack => {
                if !has_store && is_done {
                    return lost("the store that was made is gone");
                }
                if !has_store {
                    Kind::Unpack.run(&place, &mut Unharmed)?;
                }
                self.take_what_was_unpacked(&place)?;
            }
            Kind::Pack | Kind::Prune | Kind::Forget | Kind::Seal => {}
        }
        without_leftovers(&place)?;
        let run = place.restart_unharmed(program)?;
        let reference = program.reference()?;
        match (self.kind, &self.changed) {
            (Kind::Seal, Some(changed)) => {
                match run.stdout == changed.sealed.stdout || is_done {
                    true => of_restart(&place, &changed.sealed, &run, had),
                    // It is what the user has made of it, and the one before is taken.
                    false => of_restart(&place, &reference, &run, changed.before),
                }
            }
            // It was to be gone.
            (Kind::Forget, _) => of_restart(&place, &reference, &run, 0),
            _ => of_restart(&place, &reference, &run, had),
        }
    }

    /// The store that was unpacked takes the place of the other one.
    fn take_what_was_unpacked(&self, place: &Place) -> io::Result<()> {
        if place.store().try_exists()? {
            fs::remove_dir_all(place.store())?;
        }
        fs::rename(place.folder().join(AGAIN), place.store())
    }
}

/// What was begun beside a result and not finished, and the pack, are no files of the program's.
fn without_leftovers(place: &Place) -> io::Result<()> {
    let found: Tree = tree(&place.folder())?;
    let is_above = |path: &PathBuf| path.components().count() == 1;
    for (path, bytes) in found.iter().filter(|(path, _)| is_above(path)) {
        let name = path.to_string_lossy();
        if !name.starts_with('.') && name != PACK {
            continue;
        }
        match bytes {
            None => fs::remove_dir_all(place.folder().join(path))?,
            Some(_) => fs::remove_file(place.folder().join(path))?,
        }
    }
    Ok(())
}
