//! Where a program runs: a folder that it works in, and beside it the store.

use crate::process::scratch_directory;
use crate::tree::Tree;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A new folder with the two in it, gone with its value.
#[derive(Debug)]
pub struct Place {
    scratch: tempfile::TempDir,
}

/// What a store says of the checkpoints of its runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Events {
    /// Visits at which there was one, in order.
    pub taken: Vec<usize>,
    /// Visits at which there was none, with the reason.
    pub failed: Vec<(usize, String)>,
    /// Rollbacks, in order.
    pub rollbacks: Vec<Leap>,
    /// The visits of the checkpoints, by their numbers.
    visits: BTreeMap<u64, usize>,
}

/// Where a rollback led from and to, by visits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leap {
    /// Where the program was.
    pub from: usize,
    /// The checkpoint or snapshot.
    pub to: usize,
    /// The checkpoint, or the one before the snapshot: a process that begins anew has no snapshots.
    pub checkpoint: usize,
}

impl Place {
    /// An empty one.
    ///
    /// # Panics
    /// It cannot be made.
    pub fn new() -> Place {
        let place = Place {
            scratch: scratch_directory(),
        };
        std::fs::create_dir(place.work())
            .unwrap_or_else(|error| panic!("cannot make a folder for a test: {error}"));
        place
    }

    /// Where the program works.
    pub fn work(&self) -> PathBuf {
        self.scratch.path().join("work")
    }

    /// Where its checkpoints are.
    pub fn store(&self) -> PathBuf {
        self.scratch.path().join("store")
    }

    /// What a session here is told.
    pub fn settings(&self) -> Vec<(String, String)> {
        [
            ("CKPT_DIR", self.store().display().to_string()),
            // What is compared with the checkpoint before, or said not to have changed, is part of what is tried.
            ("CKPT_FULL_EVERY", "3".to_string()),
            ("CKPT_CHECK_UNWRITTEN", "1".to_string()),
            ("CKPT_QUIET", "1".to_string()),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into()
    }

    /// What the program has left.
    ///
    /// # Panics
    /// It cannot be read.
    pub fn tree(&self) -> Tree {
        Tree::of(&self.work()).unwrap_or_else(|error| panic!("cannot read what a program has left: {error}"))
    }

    /// What the store says of its checkpoints.
    pub fn events(&self) -> Events {
        Events::of(&self.store())
    }
}

impl Events {
    /// What this store says of its checkpoints; where several ranks have made them, of those of the first.
    pub fn of(store: &Path) -> Events {
        let mut events = Events::default();
        let Ok(runs) = std::fs::read_dir(store.join("runs")) else {
            return events;
        };
        for run in runs.flatten() {
            let text = std::fs::read_to_string(run.path().join("events.log")).unwrap_or_default();
            for line in text.lines() {
                events.add(line);
            }
        }
        events
    }

    fn add(&mut self, line: &str) {
        // A line that a kill has cut short says nothing.
        let Ok(event) = serde_json::from_str::<serde_json::Value>(line) else {
            return;
        };
        let visit = event["visits"].as_u64().unwrap_or_default() as usize;
        match event["event"].as_str() {
            Some("checkpoint") => {
                self.taken.push(visit);
                let id = event["id"].as_u64().unwrap_or_default();
                self.visits.insert(id, visit);
            }
            Some("rollback") => {
                let id = event["to"].as_u64().unwrap_or_default();
                let checkpoint = self.visits.get(&id).copied().unwrap_or_default();
                let snapshot = event["snapshot"].as_u64().map(|visit| visit as usize);
                self.rollbacks.push(Leap {
                    from: visit,
                    to: snapshot.unwrap_or(checkpoint),
                    checkpoint,
                });
            }
            Some("failed") => {
                let why = event["why"].as_str().unwrap_or_default();
                self.failed.push((visit, why.to_string()));
            }
            _ => {}
        }
    }
}

impl Default for Place {
    fn default() -> Self {
        Place::new()
    }
}
