//! States that are in memory only: taken more often than checkpoints, gone with the process. A program that goes back takes the
//! newest.

use std::collections::VecDeque;
use std::sync::Arc;

use super::super::config::Config;
use super::super::machine_check;
use super::Run;
use super::detect::Look;
use crate::base::report::{Fatal, say};
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
    /// The visit of the newest that all ranks have, as far as that is known: it stays until all have a newer one.
    of_all: u64,
    /// Bytes that they may take together.
    room: Option<u64>,
    /// The user knows that there was no memory for one.
    told: bool,
}

impl Snapshots {
    /// With those that were kept before the program went back, if it has. `has_ranks`: to the last of them all have gone back.
    pub fn new(config: &Config, kept: Option<Vec<Arc<InMemory>>>, has_ranks: bool) -> Snapshots {
        let kept = kept.unwrap_or_default();
        Snapshots {
            looked_at: kept.last().cloned(),
            of_all: { kept.last().filter(|_| has_ranks) }.map_or(0, |kept| kept.meta().visit),
            all: kept.into(),
            most: config.snapshots,
            room: config.memory,
            told: false,
        }
    }

    pub fn all(&self) -> &VecDeque<Arc<InMemory>> {
        &self.all
    }

    /// The one that the next is looked at beside.
    pub fn looked_at(&self) -> Option<&InMemory> {
        self.looked_at.as_deref()
    }

    /// The same, to be kept while it is put right.
    pub fn looked_at_again(&self) -> Option<Arc<InMemory>> {
        self.looked_at.clone()
    }

    /// Those of states up to this site visit.
    pub fn up_to(&self, visits: u64) -> Vec<Arc<InMemory>> {
        let all = self.all.iter();
        all.filter(|snapshot| snapshot.meta().visit <= visits)
            .cloned()
            .collect()
    }

    /// The visit of the newest, 0 if there is none.
    pub fn newest(&self) -> u64 {
        self.all.back().map_or(0, |newest| newest.meta().visit)
    }

    /// The visit of the newest that all ranks are known to have.
    pub fn of_all(&self) -> u64 {
        self.of_all
    }

    /// All ranks have that of this visit, as far as is known, whatever this one has gone back to.
    pub fn all_have_only(&mut self, visits: u64) {
        self.of_all = visits;
    }

    /// All ranks have that of this visit.
    pub fn all_have(&mut self, visits: u64) {
        self.of_all = self.of_all.max(visits);
    }

    /// Whether there is room for one more of so many bytes beside the newest of them.
    fn has_room_for(&self, bytes: u64) -> bool {
        self.room.is_none_or(|room| bytes <= room)
    }

    /// Room for one of so many bytes is made.
    fn make_room(&mut self, bytes: u64) {
        let stays = |one: &Arc<InMemory>| one.meta().visit == self.of_all;
        while self.all.len() >= self.most {
            let Some(at) = self.all.iter().position(|one| !stays(one)) else {
                break;
            };
            self.all.remove(at);
        }
        let taken = |all: &VecDeque<Arc<InMemory>>| all.iter().map(|one| one.bytes()).sum::<u64>();
        while !self.all.is_empty() && !self.has_room_for(taken(&self.all).saturating_add(bytes)) {
            self.all.pop_front();
        }
    }

    /// The program goes on without, and is told once.
    fn given_up(&mut self, visits: u64, why: &str) {
        // What was kept is memory that the program may need.
        self.all.clear();
        self.looked_at = None;
        machine_check::forget();
        if !std::mem::replace(&mut self.told, true) {
            say(&format!(
                "warning[W2094]: no snapshot was kept in memory at site visit {visits}: {why} (said once)\n  \
                 the program goes on; a rollback takes the newest checkpoint"
            ));
        }
    }
}

impl Run {
    /// Keeps the state in memory, and looks at it before. What a rank knows to be wrong is not kept.
    ///
    /// # Errors
    /// `gather`'s.
    pub(super) fn keep_in_memory(&mut self, visits: u64, gather: Gather<'_>) -> Result<(), Fatal> {
        if self.world.has_a_wish()
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
        let mut repairs = 0;
        while self.keeps(visits, repairs, &mut *gather)? == Look::IsRepaired {
            repairs += 1;
        }
        Ok(())
    }

    /// Takes the state, looks at it, and keeps it if it may be right.
    ///
    /// # Errors
    /// `gather`'s.
    fn keeps(&mut self, visits: u64, repairs: usize, gather: Gather<'_>) -> Result<Look, Fatal> {
        let notes_places = self.detectors.are_any() || self.detectors.machine_check;
        let capture = match notes_places {
            true => Capture::noting(),
            false => Capture::default(),
        };
        let mut builder = SnapshotBuilder::in_blocks(capture);
        let world = Arc::clone(&self.world);
        world.at_checkpoint(|| self.save(&mut *gather, &mut builder))?;
        if self.is_left_as_implausible(&builder, visits) {
            return Ok(Look::GoesBack);
        }
        let has_files = builder.has_files();
        let snapshot = match builder.finish() {
            Ok(snapshot) => snapshot,
            Err(error) => {
                self.snapshots.given_up(visits, &error.to_string());
                return Ok(Look::IsPlausible);
            }
        };
        self.bytes = Some(snapshot.bytes());
        let mut meta = self.meta(visits, "a snapshot".to_owned());
        meta.notes.extend(snapshot.shared_statics_note());
        let Some(mut snapshot) = InMemory::of(snapshot, meta, self.store.folder()) else {
            return Ok(Look::IsPlausible);
        };
        if self.detectors.not_finite {
            snapshot.look_for_not_finite();
        }
        let look = self.look_at(&snapshot, visits, repairs, gather)?;
        if matches!(look, Look::GoesBack | Look::IsRepaired) {
            return Ok(look);
        }
        let snapshot = Arc::new(snapshot);
        if look == Look::IsTheProgramsOwn || !self.comes_back_to(visits) {
            // Those before had to stay until this one was looked at.
            self.snapshots.make_room(snapshot.bytes());
            if self.detectors.machine_check {
                machine_check::puts_back_from(&snapshot);
            }
            self.snapshots.all.push_back(Arc::clone(&snapshot));
            self.alone.has_kept(has_files);
        }
        self.snapshots.looked_at = self.detectors.are_any().then_some(snapshot);
        Ok(look)
    }
}
