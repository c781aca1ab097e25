//! What carries ckpt's own words between the processes of a program. One file per communication library; whoever uses it
//! knows this trait only.

use std::fmt::Debug;
use std::sync::{Mutex, MutexGuard};

use super::Member;
use super::counters::ChannelCounters;
use crate::base::lock::locked;

/// The processes of a program, as a communication library knows them.
///
/// It is asked by one thread at a time, that of the session, except for what says otherwise.
pub(crate) trait Transport: Debug + Send + Sync {
    /// Whether the program may have other processes at all. Where it has none, nothing of what follows is asked.
    fn has_others(&self) -> bool;

    /// Whether the library is up, whoever brought it up. Any thread may ask.
    fn is_up(&self) -> bool;

    /// The place of this process, if that is known before the library is up.
    fn foretold(&self) -> Option<Member>;

    /// Brings the library up with this level of threading, the highest without one; returns the level that there is.
    fn bring_up(&self, threads: Option<i32>) -> i32;

    /// The level of threading that the library has come up with.
    fn threads(&self) -> i32;

    /// The library is up: this process joins the others, and knows its place from here on. All do so together.
    fn join(&self) -> Member;

    /// Nothing is said any more. All leave together.
    fn leave(&self);

    /// Brings the library down.
    fn take_down(&self);

    /// Why the program cannot do once more with a library that stays up what it does with one that comes up.
    fn stands_in_the_way(&self) -> Option<&'static str> {
        None
    }

    /// The program leaves its functions for a checkpoint, with all others, and does again with a library that stays up what it has
    /// done.
    fn is_about_to_go_back(&self) {}

    /// It has left them.
    fn goes_back(&self) {}

    /// This process has failed: all others end too.
    fn abort(&self, code: i32);

    /// Replaces every number by the largest that any process has in its place. All ask, and wait for each other.
    fn largest(&self, values: &mut [i64]);

    /// The same without waiting: begun by each when it comes by, and there once all have begun it.
    fn begin_largest(&self, values: &[i64]) -> Box<dyn Reduction>;

    /// Sends a text to the first process; nobody waits for it.
    fn send(&self, text: Vec<u8>) -> Box<dyn Delivery>;

    /// A text that has come to the first process, and from whom, if there is one now.
    fn receive(&self) -> Option<(u32, Vec<u8>)>;

    /// What the program itself has sent and received.
    fn counters(&self) -> ChannelCounters;

    /// How many calls of the library ckpt has made.
    fn calls(&self) -> &Calls;
}

/// The largest of every number, on its way.
pub(crate) trait Reduction: Debug + Send {
    /// The numbers, if they are there.
    fn result(&mut self) -> Option<&[i64]>;
}

/// A text on its way.
pub(crate) trait Delivery: Debug + Send {
    /// Whether the library is done with it, which is to be asked no more then.
    fn is_done(&mut self) -> bool;
}

/// What ckpt is doing when it calls the library.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The session begins: MPI comes up, a restart finds its line.
    Begin,
    /// A checkpoint is being taken: no call is made.
    Checkpoint,
    /// The ranks tell each other what only one of them knows.
    Agree,
    /// The run ends.
    End,
}

/// The calls that were made, by phase.
#[derive(Debug)]
pub(crate) struct Calls(Mutex<(Phase, [u64; 4])>);

impl Calls {
    pub(super) fn new() -> Calls {
        Calls(Mutex::new((Phase::Begin, [0; 4])))
    }

    fn lock(&self) -> MutexGuard<'_, (Phase, [u64; 4])> {
        locked(&self.0)
    }

    /// From here on calls are counted as made for `phase`. Returns what it was before.
    pub(super) fn enter(&self, phase: Phase) -> Phase {
        std::mem::replace(&mut self.lock().0, phase)
    }

    /// One call is made.
    pub(super) fn count(&self) {
        let (phase, counts) = &mut *self.lock();
        counts[*phase as usize] += 1;
    }

    /// How many were made in each phase.
    pub(super) fn counts(&self) -> [u64; 4] {
        self.lock().1
    }
}
