//! The programs measured, and how each variant of them is started.

use anyhow::Result;
use std::path::Path;
use std::process::Command;

/// One program; run lengths are in its own unit.
pub struct Program {
    pub name: &'static str,
    /// Length of a run under valgrind.
    pub short: u64,
    /// Length of a timed run.
    pub long: u64,
    /// Writes the input for a run of that length; gives the program's arguments, with blanks between them.
    prepare: fn(&Path, u64) -> Result<String>,
}

pub const PROGRAMS: [Program; 5] = [
    Program {
        name: "heat",
        // So long that whether a buffer of its picture has to be zeroed, which depends on the heap, is less than half a percent.
        short: 20,
        long: 1600,
        prepare: heat,
    },
    Program {
        name: "nbody",
        short: 40,
        long: 12_000,
        prepare: nbody,
    },
    Program {
        name: "tight",
        short: 2,
        long: 1000,
        prepare: |_, outer| Ok(outer.to_string()),
    },
    Program {
        name: "threads",
        short: 100,
        long: 40_000,
        prepare: |_, steps| Ok(steps.to_string()),
    },
    Program {
        name: "team-heat",
        short: 100,
        long: 4000,
        prepare: |_, steps| Ok(format!("2 200 {steps}")),
    },
];

/// Measured on request.
pub const PHOTONS: Program = Program {
    name: "sphot-like",
    short: 4,
    long: 400,
    prepare: |_, batches| Ok(format!("2 {batches} 4000")),
};

/// A package that has never heard of ckpt, as `cargo ckpt` builds it.
pub const UNMODIFIED: Program = Program {
    name: "threads-wave",
    short: 20,
    long: 10_000,
    prepare: |_, steps| Ok(format!("--threads 2 --points 20000 --steps {steps}")),
};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Variant {
    Plain,
    /// Instrumented, no session.
    Idle,
    /// Instrumented, with a session in which nothing becomes due.
    Session,
}

impl Variant {
    pub const ALL: [Variant; 3] = [Variant::Plain, Variant::Idle, Variant::Session];

    pub fn describe(self) -> &'static str {
        match self {
            Variant::Plain => "plain",
            Variant::Idle => "no session",
            Variant::Session => "session, nothing due",
        }
    }
}

impl Program {
    /// A run of that length, in `folder`.
    pub fn command(&self, variant: Variant, binaries: &Path, folder: &Path, length: u64) -> Result<Command> {
        let suffix = if variant == Variant::Plain {
            "plain"
        } else {
            "instrumented"
        };
        let mut command = Command::new(binaries.join(format!("{}-{suffix}", self.name)));
        let arguments = (self.prepare)(folder, length)?;
        command.args(arguments.split(' ')).current_dir(folder);
        if variant == Variant::Session {
            with_session(&mut command, folder)?;
        }
        Ok(command)
    }
}

/// Opens a session in which nothing becomes due, in a store that is empty: runs that are there make starting up longer.
pub fn with_session(command: &mut Command, folder: &Path) -> Result<()> {
    let store = folder.join("store");
    if store.exists() {
        std::fs::remove_dir_all(&store)?;
    }
    command.env("CKPT_DIR", store).env("CKPT_INTERVAL", "1h");
    Ok(())
}

/// `length` steps on a grid of 256 x 256.
fn heat(folder: &Path, length: u64) -> Result<String> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/heat");
    std::fs::copy(example.join("terrain.png"), folder.join("terrain.png"))?;
    let deck = std::fs::read_to_string(example.join("deck.toml"))?
        .replace("refine = 4 ", "refine = 1 ")
        .replace("end = 30.0 ", &format!("end = {} ", 0.0125 * length as f64));
    std::fs::write(folder.join("deck.toml"), deck)?;
    Ok("deck.toml".into())
}

/// `length` steps of the planets and 400 asteroids.
fn nbody(folder: &Path, length: u64) -> Result<String> {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/nbody");
    let deck = std::fs::read_to_string(example.join("solar-system.toml"))?.replace(
        "years = 2000.0 ",
        &format!("years = {} ", 2.0 * length as f64 / 365.25),
    );
    std::fs::write(folder.join("nbody.toml"), deck)?;
    Ok("nbody.toml".into())
}
