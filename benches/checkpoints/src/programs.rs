//! What is measured, and what a doctoral thesis prints of the originals: Losada, *Application-level Fault Tolerance and
//! Resilience in HPC Applications*, Universidade da Coruña, 2018.

/// Where a program's package is.
#[derive(Clone, Copy, PartialEq)]
pub enum Home {
    /// `mpi/examples`, and how many ranks it has.
    Mpi(u32),
    /// `testdata`, alone.
    Alone,
}

/// A program that has never heard of ckpt, and the run that is measured.
pub struct Program {
    /// Its folder.
    pub name: &'static str,
    /// Its executable.
    pub bin: &'static str,
    pub home: Home,
    pub arguments: &'static str,
    /// How lines of its output begin that differ from run to run.
    pub ignored: &'static [&'static str],
    pub thesis: Thesis,
}

/// What the thesis prints, where it does.
pub struct Thesis {
    /// The most that instrumentation costs, and that one checkpoint does, of the run time; in sections 2.3.1 and 6.5.2.
    pub instrumented: Option<f64>,
    pub one: Option<f64>,
    /// The most that checkpoints by Young and Daly cost; section 6.5.2.
    pub daly: Option<f64>,
    /// Megabytes of a process: registered, and in its file; table 4.4, 32 processes.
    pub megabytes: Option<[f64; 2]>,
    /// Per cent of the memory that are checkpointed; table 6.3, 64 processes.
    pub share: Option<f64>,
}

const NOTHING: Thesis = Thesis {
    instrumented: None,
    one: None,
    daly: None,
    megabytes: None,
    share: None,
};

/// Chapter 2: CPPC, MPI and threads.
const HYBRID: Thesis = Thesis {
    instrumented: Some(1.007),
    one: Some(1.011),
    ..NOTHING
};

/// Chapter 6: FTI, by hand.
const BY_HAND: Thesis = Thesis {
    instrumented: Some(1.0177),
    daly: Some(1.1488),
    ..NOTHING
};

const fn mpi(name: &'static str, ranks: u32, arguments: &'static str, thesis: Thesis) -> Program {
    Program {
        name,
        bin: name,
        home: Home::Mpi(ranks),
        arguments,
        ignored: &[],
        thesis,
    }
}

const fn alone(name: &'static str, bin: &'static str, ignored: &'static [&'static str]) -> Program {
    Program {
        name,
        bin,
        home: Home::Alone,
        arguments: "",
        ignored,
        thesis: NOTHING,
    }
}

/// All of them.
pub const PROGRAMS: [Program; 9] = [
    mpi(
        "himeno",
        2,
        "S 400 2 1 1",
        Thesis {
            megabytes: Some([61.49, 43.25]),
            share: Some(7.14),
            ..BY_HAND
        },
    ),
    mpi(
        "sphot-mpi",
        1,
        "2 100 5000",
        Thesis {
            megabytes: Some([586.23, 0.70]),
            ..HYBRID
        },
    ),
    mpi("snap-like", 1, "2 128 128 40 8", HYBRID),
    mpi(
        "tealeaf-like",
        2,
        "200 200 20",
        Thesis {
            share: Some(13.88),
            ..BY_HAND
        },
    ),
    mpi(
        "sweep",
        2,
        "400 200 400",
        Thesis {
            megabytes: Some([44.90, 27.79]),
            ..NOTHING
        },
    ),
    mpi(
        "comd-like",
        2,
        "8 8 8 200",
        Thesis {
            share: Some(89.24),
            ..BY_HAND
        },
    ),
    mpi("heat-mpi", 2, "400 400 2000", NOTHING),
    alone("md", "argon", &[]),
    alone("nas-cg", "cg", &[" Time in seconds", " Mop/s"]),
];
