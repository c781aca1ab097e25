//! The programs that everything happens to, where they run, and what they print and leave when nothing happens to them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use crate::inject::Unharmed;
use crate::tracer::{Ended, Launch, Run, Watcher};

/// A program in one of the ways to take checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Program {
    /// What it is called in tables.
    pub name: &'static str,
    /// The program that is run.
    pub binary: &'static str,
    /// Steps, each with a site.
    pub steps: u64,
    /// Numbers in each of its large lists.
    pub size: usize,
    /// Which files of its own it has; of the one whose memory is bounded, what it computes with.
    pub files: &'static str,
    /// A checkpoint every so many visits.
    pub every: u64,
    /// How they are taken and stored.
    pub settings: &'static [(&'static str, &'static str)],
}

/// So long a list is stored in blocks.
const LARGE: usize = 20_000;

const SMALL: Program = Program {
    name: "small",
    binary: "faults-victim",
    steps: 8,
    size: 500,
    files: "none",
    every: 2,
    settings: &[("CKPT_BACKGROUND", "0"), ("CKPT_THREADS", "1")],
};

/// All of them.
pub const PROGRAMS: [Program; 8] = [
    SMALL,
    Program {
        name: "files",
        files: "kept",
        ..SMALL
    },
    Program {
        name: "folders",
        files: "tree",
        ..SMALL
    },
    Program {
        name: "background",
        files: "kept",
        settings: &[("CKPT_THREADS", "1")],
        ..SMALL
    },
    Program {
        name: "incremental",
        size: LARGE,
        settings: &[
            ("CKPT_BACKGROUND", "0"),
            ("CKPT_THREADS", "1"),
            ("CKPT_FULL_EVERY", "3"),
        ],
        ..SMALL
    },
    Program {
        name: "lz4",
        size: LARGE,
        settings: &[
            ("CKPT_BACKGROUND", "0"),
            ("CKPT_THREADS", "1"),
            ("CKPT_COMPRESSION", "lz4"),
            ("CKPT_KEEP", "1"),
        ],
        ..SMALL
    },
    Program {
        name: "past the cache",
        size: LARGE,
        settings: &[
            ("CKPT_BACKGROUND", "0"),
            ("CKPT_THREADS", "1"),
            ("CKPT_DIRECT", "on"),
        ],
        ..SMALL
    },
    Program {
        name: "incremental zstd, copy on write",
        size: LARGE,
        settings: &[
            ("CKPT_THREADS", "1"),
            ("CKPT_COMPRESSION", "zstd"),
            ("CKPT_FULL_EVERY", "2"),
            ("CKPT_COPY_ON_WRITE", "1"),
        ],
        ..SMALL
    },
];

/// Those whose memory is bounded.
pub const BOUNDED: [Program; 5] = [
    LISTS,
    Program {
        name: "lists, incremental and packed",
        settings: &[
            ("CKPT_BACKGROUND", "0"),
            ("CKPT_THREADS", "1"),
            ("CKPT_FULL_EVERY", "3"),
            ("CKPT_COMPRESSION", "lz4"),
        ],
        ..LISTS
    },
    PIECES,
    Program {
        name: "lists, in the background",
        settings: &[("CKPT_THREADS", "1"), ("CKPT_FULL_EVERY", "3")],
        ..LISTS
    },
    Program {
        name: "pieces, in the background",
        settings: &[("CKPT_THREADS", "1"), ("CKPT_COMPRESSION", "lz4")],
        ..PIECES
    },
];

const PIECES: Program = Program {
    name: "pieces",
    size: 3_000,
    files: "pieces",
    ..LISTS
};

const LISTS: Program = Program {
    name: "lists",
    binary: "faults-memory",
    steps: 5,
    size: 300_000,
    files: "lists",
    ..SMALL
};

/// A file or folder that a program leaves.
pub type Tree = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// What a program prints and leaves when nothing happens to it.
#[derive(Debug, Clone)]
pub struct Reference {
    /// Its output.
    pub stdout: Vec<u8>,
    /// Its files.
    pub files: Tree,
}

impl Program {
    /// Whether the program waits for its checkpoints: it knows then what is on the disk.
    pub fn waits(&self) -> bool {
        self.settings.contains(&("CKPT_BACKGROUND", "0"))
    }

    /// Where it is.
    pub fn executable(&self) -> PathBuf {
        beside(self.binary)
    }

    /// What it is told.
    pub fn arguments(&self) -> Vec<String> {
        vec![
            self.steps.to_string(),
            self.size.to_string(),
            self.files.to_owned(),
        ]
    }

    /// What it prints and leaves without a session.
    ///
    /// # Errors
    /// It cannot be run.
    pub fn reference(&self) -> io::Result<Reference> {
        static KNOWN: LazyLock<Mutex<HashMap<Program, Reference>>> = LazyLock::new(Mutex::default);
        if let Some(known) = KNOWN.lock().unwrap_or_else(|e| e.into_inner()).get(self) {
            return Ok(known.clone());
        }
        let place = Place::new()?;
        let run = place.launch(self, &[]).run()?;
        if run.ended != Ended::Code(0) {
            return Err(io::Error::other(format!(
                "the program does not work: {}",
                run.stderr
            )));
        }
        let reference = Reference {
            stdout: run.stdout,
            files: place.own_files()?,
        };
        let mut known = KNOWN.lock().unwrap_or_else(|e| e.into_inner());
        known.insert(*self, reference.clone());
        Ok(reference)
    }
}

/// A folder in which a program works.
#[derive(Debug)]
pub struct Place {
    scratch: tempfile::TempDir,
}

impl Place {
    /// A new one.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn new() -> io::Result<Place> {
        let scratch = tempfile::tempdir()?;
        fs::create_dir(scratch.path().join("work"))?;
        fs::create_dir(scratch.path().join("output"))?;
        Ok(Place { scratch })
    }

    /// One with the files of another.
    ///
    /// # Errors
    /// They cannot be copied.
    pub fn like(other: &Place) -> io::Result<Place> {
        let place = Place::new()?;
        copy(&other.folder(), &place.folder())?;
        Ok(place)
    }

    /// What the program, ckpt and this machine have written.
    pub fn root(&self) -> &Path {
        self.scratch.path()
    }

    /// Where the program works.
    pub fn folder(&self) -> PathBuf {
        self.scratch.path().join("work")
    }

    /// Where its checkpoints are.
    pub fn store(&self) -> PathBuf {
        self.folder().join("store")
    }

    /// Where what it prints is.
    pub fn output(&self) -> PathBuf {
        self.scratch.path().join("output")
    }

    /// What a program's environment has besides: what ckpt notes on the machine is this place's own.
    pub fn environment(&self) -> (String, String) {
        let state = self.scratch.path().join("state");
        ("XDG_STATE_HOME".to_owned(), state.display().to_string())
    }

    /// The program, to be run here.
    pub fn launch(&self, program: &Program, settings: &[(&str, &str)]) -> Launch {
        let text = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Launch {
            program: program.executable(),
            arguments: program.arguments(),
            environment: settings.iter().map(text).chain([self.environment()]).collect(),
            folder: self.folder(),
            output: self.output(),
        }
    }

    /// The program under ckpt.
    pub fn session(&self, program: &Program, settings: &[(&str, &str)]) -> Launch {
        let every = program.every.to_string();
        let store = self.store().display().to_string();
        let own = [("CKPT_DIR", store.as_str()), ("CKPT_EVERY", every.as_str())];
        let all: Vec<(&str, &str)> = own
            .into_iter()
            .chain(program.settings.iter().copied())
            .chain(settings.iter().copied())
            .collect();
        self.launch(program, &all)
    }

    /// Runs it under ckpt, killed at a visit if there is one.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn begin(
        &self,
        program: &Program,
        killed_at: Option<u64>,
        watcher: &mut dyn Watcher,
    ) -> io::Result<Run> {
        self.run(program, killed_at, &[], watcher)
    }

    /// Runs it from its newest checkpoint.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn restart(
        &self,
        program: &Program,
        killed_at: Option<u64>,
        watcher: &mut dyn Watcher,
    ) -> io::Result<Run> {
        self.run(program, killed_at, &[("CKPT_RESTART", "latest")], watcher)
    }

    /// Runs it from its newest checkpoint to its end, and nothing happens to it.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn restart_unharmed(&self, program: &Program) -> io::Result<Run> {
        self.restart(program, None, &mut Unharmed)
    }

    /// What `cargo ckpt` does about a run that has died, to be run here: `faults-undo` with these arguments.
    pub fn about_the_dead(&self, arguments: &[&str]) -> Launch {
        Launch {
            program: beside("faults-undo"),
            arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
            environment: vec![self.environment()],
            folder: self.folder(),
            output: self.output(),
        }
    }

    fn run(
        &self,
        program: &Program,
        killed_at: Option<u64>,
        settings: &[(&str, &str)],
        watcher: &mut dyn Watcher,
    ) -> io::Result<Run> {
        let fault = killed_at.map(|visit| format!("visit:{visit}"));
        let fault = fault.as_deref().map(|fault| ("CKPT_FAULT", fault));
        let all: Vec<(&str, &str)> = settings.iter().copied().chain(fault).collect();
        self.session(program, &all).watched(watcher)
    }

    /// What the program has of its own here.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn own_files(&self) -> io::Result<Tree> {
        let mut all = tree(&self.folder())?;
        all.retain(|path, _| !path.starts_with("store"));
        Ok(all)
    }
}

/// All files and folders below one.
///
/// # Errors
/// They cannot be read.
pub fn tree(folder: &Path) -> io::Result<Tree> {
    let mut all = Tree::new();
    let mut waiting = vec![PathBuf::new()];
    while let Some(below) = waiting.pop() {
        for entry in fs::read_dir(folder.join(&below))? {
            let entry = entry?;
            let path = below.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                waiting.push(path.clone());
                all.insert(path, None);
            } else {
                let bytes = fs::read(entry.path())?;
                all.insert(path, Some(bytes));
            }
        }
    }
    Ok(all)
}

/// Makes files and folders below one.
///
/// # Errors
/// They cannot be written.
pub fn plant(folder: &Path, tree: &Tree) -> io::Result<()> {
    for (path, bytes) in tree {
        let path = folder.join(path);
        match bytes {
            None => fs::create_dir_all(&path)?,
            Some(bytes) => fs::write(&path, bytes)?,
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    plant(to, &tree(from)?)
}

/// A program that is beside this one or, for a test, one folder further up.
fn beside(name: &str) -> PathBuf {
    let own = std::env::current_exe().unwrap_or_default();
    let mut folders = own.ancestors().skip(1);
    let found = folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.exists()));
    found.unwrap_or_else(|| {
        panic!("the program `{name}` is not beside this one: `cargo build -p faults` builds it, with `--release` as this one")
    })
}
