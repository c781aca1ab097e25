//! Bytes of a store that are not what was written: flipped, cut off, zeroed, in any of its files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::calls::killed;
use crate::program::{Place, Program, tree};
use crate::verdict::{Outcome, of_restart};

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// A bit is another one.
    Flip,
    /// It ends earlier.
    Cut,
    /// A sector reads as zeros.
    Zero,
}

/// A file of a killed run's store is damaged at a place that a number chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trial {
    /// Whose store.
    pub program: Program,
    /// What is done.
    pub change: Change,
    /// Chooses the file and the place in it.
    pub seed: u64,
}

const SECTOR: usize = 512;

/// The checkpoints, and what a restart needs beside them, are whole or refused; everything else only informs.
fn is_needed(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !["job.json", "events.log", "metrics.prom", "launch.json", "lock"].contains(&&*name)
}

impl Trial {
    /// Makes it, and judges the restart. `None` where nothing was changed.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make(&self) -> io::Result<Option<Outcome>> {
        let killed = killed(&self.program)?;
        let place = Place::like(&killed.0)?;
        let mut random = fastrand::Rng::with_seed(self.seed);
        let files = tree(&place.store())?.into_iter();
        let mut files: Vec<(PathBuf, Vec<u8>)> =
            files.filter_map(|(path, bytes)| Some((path, bytes?))).collect();
        files.retain(|(_, bytes)| !bytes.is_empty());
        let Some((path, mut bytes)) = random.choice(files) else {
            return Ok(None);
        };
        let at = random.usize(..bytes.len());
        let before = bytes.clone();
        match self.change {
            Change::Flip => bytes[at] ^= 1 << random.u8(..8),
            Change::Cut => bytes.truncate(at),
            Change::Zero => {
                let from = at - at % SECTOR;
                let to = (from + SECTOR).min(bytes.len());
                bytes[from..to].fill(0);
            }
        }
        if bytes == before {
            return Ok(None);
        }
        fs::write(place.store().join(&path), &bytes)?;
        let had = if is_needed(&path) { 0 } else { killed.1 };
        let restart = place.restart_unharmed(&self.program)?;
        let outcome = of_restart(&place, &self.program.reference()?, &restart, had)?;
        let at = format!("{self:?}\n{} at {at}", path.display());
        Ok(Some(outcome.with(&at)))
    }
}
