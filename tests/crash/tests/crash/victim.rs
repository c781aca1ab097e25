//! The program that everything happens to, and what it prints when nothing happens to it.

use harness::{Ended, Run, Runner, scratch_directory};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Exit code of a run that found nothing to restart from.
pub const NOTHING_TO_RESTART: Ended = Ended::Code(76);
/// Ended by SIGKILL.
pub const KILLED: Ended = Ended::Signal(9);
/// Ended well.
pub const FINISHED: Ended = Ended::Code(0);

/// A folder with a store in it, and the victim to run there.
pub struct Job {
    folder: tempfile::TempDir,
    cells: usize,
    mode: Option<&'static Mode>,
}

/// A way to take and store checkpoints.
pub struct Mode {
    pub name: &'static str,
    settings: &'static [(&'static str, &'static str)],
}

/// All ways but the one that needs no settings.
pub const MODES: &[Mode] = &[
    Mode {
        name: "synchronous",
        settings: &[("CKPT_BACKGROUND", "0")],
    },
    Mode {
        name: "incremental",
        settings: &[("CKPT_FULL_EVERY", "4")],
    },
    Mode {
        name: "incremental, with watched pages",
        settings: &[("CKPT_FULL_EVERY", "4"), ("CKPT_WATCH_PAGES", "1")],
    },
    Mode {
        name: "copy on write",
        settings: &[("CKPT_COPY_ON_WRITE", "1")],
    },
    Mode {
        name: "incremental, copy on write",
        settings: &[("CKPT_FULL_EVERY", "4"), ("CKPT_COPY_ON_WRITE", "1")],
    },
    Mode {
        name: "compressed",
        settings: &[("CKPT_COMPRESSION", "lz4")],
    },
    Mode {
        name: "incremental, compressed and synchronous",
        settings: &[
            ("CKPT_FULL_EVERY", "3"),
            ("CKPT_COMPRESSION", "zstd"),
            ("CKPT_BACKGROUND", "0"),
        ],
    },
];

/// Numbers in the table of a job in a mode: so many that it is taken and stored in blocks.
const TABLE: usize = 140_000;

impl Job {
    /// A job whose state has so many cells of eight bytes.
    pub fn new(cells: usize) -> Self {
        Job {
            folder: scratch_directory(),
            cells,
            mode: None,
        }
    }

    /// A job with a large table, in a mode.
    pub fn in_mode(cells: usize, mode: &'static Mode) -> Self {
        Job {
            mode: Some(mode),
            ..Job::new(cells)
        }
    }

    /// Another one of the same kind.
    pub fn again(&self) -> Self {
        Job {
            mode: self.mode,
            ..Job::new(self.cells)
        }
    }

    /// The folder of its checkpoints.
    pub fn store(&self) -> PathBuf {
        self.folder.path().join("store")
    }

    /// The victim with a checkpoint every so many visits.
    pub fn every(&self, visits: usize) -> Runner {
        self.runner(env!("CARGO_BIN_EXE_victim"))
            .with("CKPT_DIR", self.store().display())
            .with("CKPT_EVERY", visits)
    }

    /// The same, restarted from the newest checkpoint.
    pub fn restart(&self, visits: usize) -> Runner {
        self.every(visits).with("CKPT_RESTART", "latest")
    }

    /// What the plain program prints.
    pub fn reference(&self) -> Vec<u8> {
        self.runner(env!("CARGO_BIN_EXE_victim-plain")).run().stdout
    }

    fn runner(&self, program: &str) -> Runner {
        let mut arguments = vec![self.cells.to_string()];
        arguments.extend(self.mode.map(|_| TABLE.to_string()));
        let runner = Runner::new(Path::new(program), &arguments, self.folder.path());
        let settings = self.mode.map_or(&[][..], |mode| mode.settings);
        settings
            .iter()
            .fold(runner, |runner, (name, value)| runner.with(name, value))
    }

    /// Checkpoint files, oldest first.
    pub fn checkpoints(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.store()).map(|entries| entries.flatten().collect::<Vec<_>>());
        let mut files: Vec<PathBuf> = entries
            .unwrap_or_default()
            .into_iter()
            .map(|entry| entry.path())
            .collect();
        files.retain(|path| path.extension().is_some_and(|extension| extension == "h5"));
        files.sort();
        files
    }
}

/// What the plain program prints for the number of cells that most tests use.
pub fn small_reference() -> &'static [u8] {
    static REFERENCE: OnceLock<Vec<u8>> = OnceLock::new();
    REFERENCE.get_or_init(|| Job::new(SMALL).reference())
}

/// Cells of a job that is over in an instant.
pub const SMALL: usize = 300;

/// Checks that `run` finished with the end of `reference`; gives how many lines it left out.
#[track_caller]
pub fn expect_end_of(reference: &[u8], run: &Run) -> usize {
    assert_eq!(run.ended, FINISHED, "{}", run.stderr);
    assert!(!run.stdout.is_empty());
    assert!(
        reference.ends_with(&run.stdout),
        "not the end of the reference:\n{}\n{}",
        String::from_utf8_lossy(&run.stdout),
        run.stderr
    );
    let left_out = &reference[..reference.len() - run.stdout.len()];
    assert!(left_out.is_empty() || left_out.ends_with(b"\n"));
    left_out.iter().filter(|byte| **byte == b'\n').count()
}
