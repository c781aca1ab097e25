//! Teams: the threads of a parallel region, and how a checkpoint holds all of them.
//!
//! A region begins at a site of the function that opens it, where a restart walks to. From there the region's statements
//! run again and start the members anew, and each member walks to its own site. The thread of the session, which has
//! started them, waits for them at the region's end; meanwhile it takes the checkpoints: when all members stand at a site,
//! it lets every one in turn say what it saves.
//!
//! [`protocol`] says who stops when (`model` tries every order of events), [`member`] what a member does, [`spawner`] what the waiting thread does, [`access`] what
//! either has of the session. How threads count their visits, and who drives the session, is not known here.

mod access;
mod entry;
mod member;
#[cfg(test)]
mod model;
mod protocol;
mod spawner;

use std::sync::atomic::Ordering;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

pub(crate) use access::{arrived, end_phase, is_here, strand, visit, visit_in_phase, walks, with_resume};
pub use entry::{
    Fixed, Held, Lendable, Reexecuted, RestoreInPlace, Seen, SeenAsCopy, SeenAsFixed, SeenAsLent,
    SeenAsOwned, SeenInPlace, SeenReexecuted,
};
pub(crate) use entry::{forget_entries, keep_entry, with_entry};
pub(crate) use member::{
    Counting, ask, captures, is_member, member, moved_in, set_captures, set_moved_in, thread_number,
};
pub(crate) use spawner::{begin, is_open, see_off, spread, wait};

use crate::base::rollback::NotRolledBack;
use crate::base::visit_number::VisitNumber;
use crate::context::resume::Resume;
use crate::format::CheckpointId;
use crate::state::snapshot::SnapshotBuilder;
use protocol::Protocol;

/// The threads of one region.
pub(crate) struct Team {
    shared: Mutex<Shared>,
    changed: Condvar,
}

struct Shared {
    protocol: Protocol,
    /// Where the count of every member is that runs.
    counts: Vec<Carried<Option<*const VisitNumber>>>,
    /// Which sites every member had visited when it stopped, or at its end.
    histories: Vec<u64>,
    /// The member that is to say what it saves, with what the others have said.
    turn: Option<usize>,
    /// When the first member stopped for what is due.
    stopped: Option<Instant>,
    builder: Carried<Option<SnapshotBuilder>>,
    /// What the members have to themselves is alike: there may be another number of them at a restart.
    spreads: bool,
    /// The numbers that the system has for the threads of the members that have begun.
    threads: Vec<i32>,
    /// What a member asks for.
    asked: Option<Question>,
    /// A restart walks: the members take their records from here, one at a time, while the session's thread waits.
    walk: Option<Walk>,
}

/// A member asks to go back to a checkpoint.
struct Question {
    by: usize,
    reason: String,
    to: Option<CheckpointId>,
    visits: u64,
    /// The thread of the session sees to it.
    is_heard: bool,
    /// Why it cannot be.
    answer: Option<NotRolledBack>,
}

/// A walk of all members.
struct Walk {
    resume: Carried<Option<*mut Resume>>,
    arrived: usize,
    /// The visits at which all go on, and the sites visited so far, once every one has arrived.
    visits: Option<(u64, u64)>,
}

/// Something that goes from thread to thread, with only one of them at work.
struct Carried<T>(T);

// SAFETY: what is carried is reached under the lock of the team only, and only by the one thread whose turn it is, while
// every other thread that has anything to do with it is held: those that lent what a builder points to stand at their
// sites, and the one that owns the `Resume` waits for the members. The lock orders their accesses.
unsafe impl<T> Send for Carried<T> {}

impl Shared {
    /// Reads the counts of all members.
    fn read_counts(&mut self) {
        for (member, count) in self.counts.iter().enumerate() {
            if let Carried(Some(count)) = count {
                // SAFETY: the count is its thread's, which takes the pointer away under this lock before it ends.
                let visits = unsafe { &**count }.load(Ordering::Relaxed);
                self.protocol.is_at(member, visits);
            }
        }
    }
}

/// A session begins on this thread: what an earlier one had begun here and not ended is forgotten.
pub(crate) fn forget() {
    forget_entries();
    spawner::forget();
    set_captures(&[]);
    set_moved_in(&[]);
}

impl Team {
    fn new(walks: bool) -> Arc<Team> {
        let walk = walks.then_some(Walk {
            resume: Carried(None),
            arrived: 0,
            visits: None,
        });
        Arc::new(Team {
            shared: Mutex::new(Shared {
                protocol: Protocol::default(),
                counts: Vec::new(),
                histories: Vec::new(),
                turn: None,
                stopped: None,
                builder: Carried(None),
                spreads: false,
                threads: Vec::new(),
                asked: None,
                walk,
            }),
            changed: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, shared: MutexGuard<'a, Shared>) -> MutexGuard<'a, Shared> {
        self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner)
    }
}
