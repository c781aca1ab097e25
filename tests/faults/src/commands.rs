//! The command: calls that fail while it looks at a store, removes checkpoints, packs and unpacks.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex};

use crate::calls::killed;
use crate::inject::{Failure, Injector, Lasts, Plan, Scope, Unharmed};
use crate::program::{Place, Program};
use crate::tracer::{Call, Ended, Launch, Run, Watcher};
use crate::verdict::{Outcome, of_restart};

/// What it does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "they are called as they are on the command line")]
pub enum Command {
    List,
    Verify,
    Prune,
    Seal,
    Pack,
    Unpack,
}

/// A trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Whose store it is.
    pub program: Program,
    /// What is done with it.
    pub command: Command,
    /// What fails.
    pub plan: Plan,
}

/// The pack, where one is made or unpacked.
pub(crate) const PACK: &str = "packed.tar";
/// The store that a pack becomes.
pub(crate) const AGAIN: &str = "again";

/// The program `cargo-ckpt`, if there is one: the one that `CARGO_CKPT` names, or one that is built beside this.
pub fn executable() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("CARGO_CKPT") {
        return Some(named.into());
    }
    let own = std::env::current_exe().ok()?;
    let mut folders = own.ancestors().skip(1);
    folders.find_map(|folder| Some(folder.join("cargo-ckpt")).filter(|path| path.exists()))
}

/// The command, to be run in a place.
///
/// # Errors
/// It has not been built.
pub(crate) fn launch(
    place: &Place,
    arguments: Vec<String>,
    environment: Vec<(String, String)>,
) -> io::Result<Launch> {
    let program = executable().ok_or_else(|| io::Error::other("there is no `cargo-ckpt`: set CARGO_CKPT"))?;
    Ok(Launch {
        program,
        arguments,
        environment: environment.into_iter().chain([place.environment()]).collect(),
        folder: place.folder(),
        output: place.output(),
    })
}

impl Command {
    /// All of them.
    pub const ALL: [Command; 6] = [
        Command::List,
        Command::Verify,
        Command::Prune,
        Command::Seal,
        Command::Pack,
        Command::Unpack,
    ];

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Command::List => &["ckpt", "list", "--dir", "store"],
            Command::Verify => &["ckpt", "verify", "--dir", "store"],
            Command::Prune => &["ckpt", "prune", "--keep", "1", "--dir", "store"],
            Command::Seal => &["ckpt", "seal", "latest", "--dir", "store"],
            Command::Pack => &["ckpt", "pack", "latest", "--dir", "store", "-o", PACK],
            Command::Unpack => &["ckpt", "unpack", PACK, "--dir", AGAIN],
        }
    }

    fn run(self, place: &Place, watcher: &mut dyn Watcher) -> io::Result<Run> {
        let arguments = self.arguments().iter().map(|argument| (*argument).to_owned());
        launch(place, arguments.collect(), Vec::new())?.watched(watcher)
    }

    /// The same, and nothing happens to it.
    fn run_unharmed(self, place: &Place) -> io::Result<()> {
        let run = self.run(place, &mut Unharmed)?;
        match run.ended {
            Ended::Code(0) => Ok(()),
            _ => Err(io::Error::other(format!(
                "{self:?} does not work: {}",
                run.stderr
            ))),
        }
    }
}

/// The pack of each program that has been packed.
type Packs = Vec<(Program, Vec<u8>)>;

/// A killed run as the command finds it, and the visit of a checkpoint that it has.
fn beginning(program: &Program, command: Command) -> io::Result<(Place, u64)> {
    let killed = killed(program)?;
    let place = Place::like(&killed.0)?;
    if command == Command::Unpack {
        static PACKED: LazyLock<Mutex<Packs>> = LazyLock::new(Mutex::default);
        let mut packed = PACKED.lock().unwrap_or_else(|e| e.into_inner());
        let known = packed.iter().find(|(other, _)| other == program);
        let bytes = match known {
            Some((_, bytes)) => bytes.clone(),
            None => {
                Command::Pack.run_unharmed(&place)?;
                let bytes = fs::read(place.folder().join(PACK))?;
                packed.push((*program, bytes.clone()));
                bytes
            }
        };
        fs::write(place.folder().join(PACK), bytes)?;
    }
    Ok((place, killed.1))
}

/// All trials of a command on a program's store.
///
/// # Errors
/// It cannot be run.
pub fn trials(program: &Program, command: Command) -> io::Result<Vec<Trial>> {
    let (place, _) = beginning(program, command)?;
    let mut injector = Injector::new(&place.folder(), &place.folder(), None);
    command.run(&place, &mut injector)?;
    let calls: Vec<Call> = injector.calls.into_iter().map(|(call, _)| call).collect();
    let mut all = Vec::new();
    for failure in Failure::ALL {
        let count = calls.iter().filter(|call| failure.fits(call)).count();
        let lasts: &[Lasts] = match failure {
            Failure::Kill => &[Lasts::Once],
            _ => &[Lasts::Once, Lasts::On],
        };
        for nth in 0..count {
            all.extend(lasts.iter().map(|&lasts| Trial {
                program: *program,
                command,
                plan: Plan {
                    scope: Scope::Both,
                    nth,
                    failure,
                    lasts,
                },
            }));
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
        let (place, had) = beginning(&self.program, self.command)?;
        let mut injector = Injector::new(&place.folder(), &place.folder(), Some(self.plan));
        let run = self.command.run(&place, &mut injector)?;
        let Some((kind, path)) = injector.hit else {
            return Ok(None);
        };
        let context = format!(
            "{self:?}\nfailed: {} of {}\n{:?}\n--- stdout\n{}\n--- stderr\n{}",
            kind.name(),
            path.display(),
            run.ended,
            String::from_utf8_lossy(&run.stdout),
            run.stderr
        );
        let done = match run.ended {
            Ended::Code(0) => true,
            Ended::Signal(libc::SIGKILL) if self.plan.failure == Failure::Kill => false,
            // What it has to say of checkpoints stands in its table.
            Ended::Code(1) if !run.stdout.is_empty() => false,
            Ended::Code(_) if run.stderr.contains("error[E") => false,
            _ => return Ok(Some(Outcome::Unexplained(context))),
        };
        // What it could not read it has passed over, and said so.
        let had = if run.stderr.contains("warning[W2008]") {
            0
        } else {
            had
        };
        let outcome = self.restarted(&place, done, had)?;
        Ok(Some(match (outcome, done) {
            (Outcome::Right, false) if self.plan.failure != Failure::Kill => Outcome::Refused,
            (outcome, _) => outcome.with(&context),
        }))
    }

    /// What a restart makes of what the command has left, and of what it has made if it says that it has.
    fn restarted(&self, place: &Place, done: bool, had: u64) -> io::Result<Outcome> {
        let restart = |place: &Place| {
            let run = place.restart_unharmed(&self.program)?;
            of_restart(place, &self.program.reference()?, &run, had)
        };
        let mut remains = place.folder();
        remains.push(AGAIN);
        match self.command {
            Command::Pack | Command::Unpack if done => {
                if self.command == Command::Pack {
                    Command::Unpack.run_unharmed(place)?;
                }
                fs::remove_dir_all(place.store())?;
                fs::rename(&remains, place.store())?;
            }
            // It can be done again.
            Command::Unpack => {
                if remains.exists() {
                    fs::remove_dir_all(&remains)?;
                }
                Command::Unpack.run_unharmed(place)?;
                fs::remove_dir_all(place.store())?;
                fs::rename(&remains, place.store())?;
            }
            _ => {}
        }
        for name in [AGAIN, PACK] {
            let path = place.folder().join(name);
            let _ = fs::remove_dir_all(&path);
            let _ = fs::remove_file(&path);
        }
        self.without_leftovers(place)?;
        restart(place)
    }

    /// What the command began beside its result and could not finish is no file of the program's.
    fn without_leftovers(&self, place: &Place) -> io::Result<()> {
        for entry in fs::read_dir(place.folder())? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') || name.contains(PACK) {
                let _ = fs::remove_dir_all(entry.path());
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(())
    }
}
