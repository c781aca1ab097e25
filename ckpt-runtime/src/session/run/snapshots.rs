//! States that are in memory only: taken more often than checkpoints, gone with the process. A program that goes back takes the
//! newest.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::config::Config;
use super::Run;
use super::detect::Look;
use crate::base::current::{self, SNAPSHOT};
use crate::base::report::{Fatal, say};
use crate::comm::Member;
use crate::context::Gather;
use crate::format::InMemory;
use crate::state::process::Process;
use crate::state::snapshot::SnapshotBuilder;
use crate::thread;
use crate::value::Capture;

/// The newest snapshots, the oldest first.
#[derive(Debug)]
pub(super) struct Snapshots {
    all: VecDeque<Arc<InMemory>>,
    /// The last that was looked at, which is not among them where the program comes back to where it was.
    looked_at: Option<Arc<InMemory>>,
    /// How many there are at most.
    most: usize,
    /// Bytes that they may take together.
    room: Option<u64>,
    /// The user knows that there was no memory for one.
    told: bool,
    /// The user wants some, and does not know yet that ranks keep none.
    are_missed: bool,
}

impl Snapshots {
    /// With those that were kept before the program went back, if it has.
    pub fn new(config: &Config, kept: Option<Vec<Arc<InMemory>>>) -> Snapshots {
        let wants_some = config.snapshot_every.is_some() || config.snapshot_interval.is_some();
        let are_missed = wants_some && kept.is_none();
        let kept = kept.unwrap_or_default();
        Snapshots {
            looked_at: kept.last().cloned(),
            all: kept.into(),
            most: config.snapshots,
            room: config.memory,
            told: false,
            are_missed,
        }
    }

    pub fn all(&self) -> &VecDeque<Arc<InMemory>> {
        &self.all
    }

    /// The one that the next is looked at beside.
    pub fn looked_at(&self) -> Option<&InMemory> {
        self.looked_at.as_deref()
    }

    /// Those of states up to this site visit.
    pub fn up_to(&self, visits: u64) -> Vec<Arc<InMemory>> {
        let all = self.all.iter();
        all.filter(|snapshot| snapshot.meta().visit <= visits)
            .cloned()
            .collect()
    }

    /// Whether there is room for one more of so many bytes beside the newest of them.
    fn has_room_for(&self, bytes: u64) -> bool {
        self.room.is_none_or(|room| bytes <= room)
    }

    /// Room for one of so many bytes is made.
    fn make_room(&mut self, bytes: u64) {
        while self.all.len() >= self.most {
            self.all.pop_front();
        }
        let taken = |all: &VecDeque<Arc<InMemory>>| all.iter().map(|one| one.bytes()).sum::<u64>();
        while !self.all.is_empty() && !self.has_room_for(taken(&self.all).saturating_add(bytes)) {
            self.all.pop_front();
        }
    }

    /// This process is one of several ranks, which keep none: the user is told once, by the first of them.
    pub fn are_not_for(&mut self, member: Member) {
        if std::mem::take(&mut self.are_missed) && member.rank == 0 {
            say(
                "warning[W2410]: no snapshots are kept in memory: the ranks of a program go back together, to checkpoints (said once)\n  \
                 the program goes on; take checkpoints as often as it is to go back to them (`interval`, `every`)",
            );
        }
    }

    /// The program goes on without, and is told once.
    fn given_up(&mut self, visits: u64, why: &str) {
        // What was kept is memory that the program may need.
        self.all.clear();
        self.looked_at = None;
        if !std::mem::replace(&mut self.told, true) {
            say(&format!(
                "warning[W2094]: no snapshot was kept in memory at site visit {visits}: {why} (said once)\n  \
                 the program goes on; a rollback takes the newest checkpoint"
            ));
        }
    }
}

impl Run {
    /// Keeps the state in memory if that is due at this visit, or is to be looked at.
    ///
    /// # Errors
    /// `gather`'s.
    pub(super) fn keep_in_memory(
        &mut self,
        visits: u64,
        gather: Gather<'_>,
        looks: bool,
    ) -> Result<(), Fatal> {
        let is_wanted = current::take(SNAPSHOT) != 0 || self.policy.snapshot_is_due(visits);
        let is_a_rank = self.world.member().is_some();
        // Ranks look where all of them do, before a line.
        let is_due = looks || is_wanted && !is_a_rank;
        if !is_due
            || !thread::others().is_empty()
            || self.process.as_ref().and_then(Process::obstacle).is_some()
        {
            return Ok(());
        }
        let expected = self.bytes.unwrap_or(0);
        if !self.snapshots.has_room_for(expected) {
            self.snapshots
                .given_up(visits, "it would take more memory than `memory` allows");
            return Ok(());
        }
        if !self.detectors.are_any() {
            self.snapshots.make_room(expected);
        }
        let capture = match self.detectors.are_any() {
            true => Capture::noting(),
            false => Capture::default(),
        };
        let mut builder = SnapshotBuilder::in_blocks(capture);
        let world = Arc::clone(&self.world);
        world.at_checkpoint(|| self.save(gather, &mut builder))?;
        if self.is_left_as_implausible(&builder, visits) {
            return Ok(());
        }
        let snapshot = match builder.finish() {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.snapshots.given_up(visits, &error.to_string());
                return Ok(());
            }
        };
        self.bytes = Some(snapshot.bytes());
        let meta = self.meta(visits, "a snapshot".to_owned());
        let Some(mut snapshot) = InMemory::of(snapshot, meta, self.store.folder()) else {
            return Ok(());
        };
        if self.detectors.not_finite {
            snapshot.look_for_not_finite();
        }
        let look = self.look_at(&snapshot, visits);
        if look == Look::GoesBack {
            return Ok(());
        }
        let snapshot = Arc::new(snapshot);
        // Ranks go back to their lines.
        let is_kept = look == Look::IsTheProgramsOwn || !self.comes_back_to(visits);
        if is_kept && !is_a_rank {
            // Those before had to stay until this one was looked at.
            self.snapshots.make_room(snapshot.bytes());
            self.snapshots.all.push_back(Arc::clone(&snapshot));
        }
        self.snapshots.looked_at = self.detectors.are_any().then_some(snapshot);
        Ok(())
    }
}
