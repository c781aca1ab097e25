//! Going back to a checkpoint: what is asked for, and how the program goes on.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::fault::{Flip, RollbackFault};
use crate::base::run_id::RunPrefix;
use crate::comm::{Agreement, Exchanged, NewSites};
use crate::format::{CheckpointId, InMemory};

/// What a rollback is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// Why, for people.
    pub reason: &'a str,
    /// A test asks, which may do so as often as it likes.
    pub is_a_test: bool,
    /// A test is to be shown where the program is left and comes back.
    pub is_shown: bool,
    /// The checkpoint; none for the newest that may help.
    pub to: Option<CheckpointId>,
    /// Site visits so far.
    pub visits: u64,
    /// A rank of several may go back without the others, where they would notice nothing.
    pub may_be_alone: bool,
}

/// How the program goes on from a checkpoint that it goes back to.
#[derive(Debug, Clone)]
pub(crate) struct GoesOn {
    /// The checkpoint.
    pub id: CheckpointId,
    /// Nobody has named it: where it is damaged, the one before it will do.
    pub is_newest: bool,
    /// The site visit of that checkpoint.
    pub visits: u64,
    /// Its run.
    pub run: RunPrefix,
    /// A test is to be shown where.
    pub is_shown: bool,
    /// The rollbacks that a test wants after this.
    pub rollbacks: Vec<RollbackFault>,
    /// The bits that a test wants turned after this.
    pub flips: Vec<Flip>,
    /// Where standard input was when the process began, if it is a file.
    pub input: Option<u64>,
    /// The snapshot in memory that it goes back to, behind that checkpoint.
    pub snapshot: Option<Arc<InMemory>>,
    /// It was to be one, as on all ranks: this one may have turned out damaged.
    pub is_in_memory: bool,
    /// The snapshots that it has and keeps, the oldest first.
    pub kept: Vec<Arc<InMemory>>,
    /// When its time limit is over, if it has one: a rollback does not give it more.
    pub ends: Option<Instant>,
    /// How often its ranks have gone back without coming further.
    pub tries: Tries,
    /// Variables in which a NaN or an infinity comes again each time: their functions and names.
    pub own_infinities: Vec<(String, String)>,
    /// Where it is a rank that goes back without the others: what it goes on with.
    pub alone: Option<Box<Alone>>,
}

/// What a rank knows of the others that has gone back without them: they have not, and go on with it.
#[derive(Debug, Clone)]
pub(crate) struct Alone {
    /// What was agreed on at the snapshot, and has been since.
    pub agreement: Agreement,
    /// The visits at which they had told each other something by then, and had kept their states.
    pub told_and_kept: (u64, u64),
    /// What they have told each other since then: nothing.
    pub exchanged: Exchanged,
    /// The sites that were new then.
    pub new_sites: NewSites,
    /// The newest line that this rank has written.
    pub line: u64,
    /// The newest that all have, the next, and those that some rank never wrote.
    pub lines: (CheckpointId, Option<u64>, Range<u64>),
    /// The visit of the newest snapshot that all are known to have.
    pub of_all: u64,
    /// The furthest site visit from which this rank has gone back so.
    pub from: u64,
}

/// How often the ranks of a program have gone back without coming further, which all of them know.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tries {
    /// So often from the same place, this site visit the last time.
    pub in_a_row: u32,
    pub at: u64,
    /// So often in all, up to this site visit.
    pub in_all: u32,
    pub from: u64,
    /// The site visit of the checkpoint.
    pub to: u64,
}

impl GoesOn {
    /// The checkpoint, if it has to be that one, and not the newest that is whole.
    pub fn named(&self) -> Option<CheckpointId> {
        (!self.is_newest).then_some(self.id)
    }

    /// The snapshot that it goes back to is copied for the program; where it is damaged an older one is taken, or the checkpoint.
    /// Gives the site visits of those that are damaged.
    pub fn make_ready(&mut self) -> Vec<u64> {
        let mut damaged = Vec::new();
        while let Some(snapshot) = self.snapshot.take() {
            if snapshot.make_ready() {
                self.snapshot = Some(snapshot);
                break;
            }
            damaged.push(snapshot.meta().visit);
            self.kept.retain(|kept| !Arc::ptr_eq(kept, &snapshot));
            let newest = self.kept.last();
            self.snapshot = newest.filter(|kept| kept.meta().visit > self.visits).cloned();
        }
        damaged
    }

    /// Of the snapshots behind the checkpoint the newest that is whole, of a site visit up to this one.
    pub fn newest_up_to(&self, visits: u64) -> Option<Arc<InMemory>> {
        let chosen = self.snapshot.clone();
        if let Some(chosen) = chosen.filter(|chosen| chosen.meta().visit <= visits) {
            return Some(chosen);
        }
        let is_before = |kept: &&Arc<InMemory>| (self.visits + 1..=visits).contains(&kept.meta().visit);
        let mut before = self.kept.iter().rev().filter(is_before);
        before.find(|kept| kept.make_ready()).cloned()
    }

    /// How long it may still run, if there is a limit.
    pub fn time_left(&self) -> Option<Duration> {
        let left = self.ends?.saturating_duration_since(Instant::now());
        Some(left.max(SHORTEST))
    }
}

/// A limit of no time at all would be no limit.
const SHORTEST: Duration = Duration::from_millis(1);

/// How the program leaves its functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leaves {
    /// It unwinds to `main`.
    Unwinding,
    /// Its process begins anew.
    WithItsProcess,
}
