//! Whether a rank can go back to a snapshot without the others, and what its calls of the library mean while it does.
//!
//! It can where, since the snapshot, it has told the others nothing and learnt nothing of them: then what it does again is nothing
//! that they could notice, but for the time that it takes. The functions of the library are counted for that. While the rank leaves
//! its functions and walks to the snapshot, no call may need the others. The communicators that it gives back on the way are kept,
//! and those that it makes again are these: the same function with the same arguments, in the order in which they were made. What
//! could not be matched so, or is under way in a manner that is not followed, lets the rank go back with the others only.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU8, AtomicUsize, Ordering};

use super::wish::FAILED;
use super::world::World;
use crate::base::lock::locked;
use crate::base::report::{Fatal, headline};

/// What a call of the program means to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    /// It asks the rank's own library for what does not change.
    Nothing,
    /// It sets something there, and sets the same if it is made again.
    Sets,
    /// Others have a part in it, or it tells of them.
    Others,
    /// The same, and what it makes or begins is not followed.
    Unfollowed,
}

/// What the program is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Way {
    /// It runs, or goes back with the others.
    Runs,
    /// It walks to a checkpoint as all others do.
    WalksWithOthers,
    /// It leaves its functions without the others.
    Leaves,
    /// It walks to its snapshot without the others.
    Walks,
}

/// A communicator that the program has made, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Making {
    pub function: &'static str,
    /// Of this one.
    pub of: u64,
    /// The other arguments, as numbers.
    pub with: Vec<i64>,
}

#[derive(Debug)]
struct Made {
    making: Making,
    /// Its handle; none where this rank has no part in it.
    handle: Option<u64>,
    /// The program has given it back on the way, and it was kept.
    is_kept: bool,
}

/// Those that there are, in the order in which they were made.
#[derive(Debug, Default)]
struct Communicators {
    made: Vec<Made>,
    /// One was given back: a walk may make it again, and needs the others for that.
    has_freed: bool,
    /// Those of no part that the walk has made again already, by their places.
    nobodys: Vec<usize>,
}

impl Communicators {
    const fn new() -> Self {
        Communicators {
            made: Vec::new(),
            has_freed: false,
            nobodys: Vec::new(),
        }
    }

    fn freed(&mut self, handle: u64) {
        self.made.retain(|made| made.handle != Some(handle));
        self.has_freed = true;
    }

    fn keeps(&mut self, handle: u64) -> bool {
        let mut made = self.made.iter_mut();
        match made.find(|made| made.handle == Some(handle) && !made.is_kept) {
            Some(made) => {
                made.is_kept = true;
                true
            }
            None => false,
        }
    }

    /// The first that was kept and made so; none in it where this rank has no part in that.
    fn gives_back(&mut self, making: &Making) -> Option<Option<u64>> {
        let nobodys = &self.nobodys;
        let is_it = |(place, made): &(usize, &Made)| {
            let is_there = match made.handle {
                Some(_) => made.is_kept,
                None => !nobodys.contains(place),
            };
            is_there && made.making == *making
        };
        let (place, _) = self.made.iter().enumerate().find(is_it)?;
        let made = self.made.get_mut(place)?;
        made.is_kept = false;
        if made.handle.is_none() {
            self.nobodys.push(place);
        }
        Some(made.handle)
    }
}

/// What the program and the others have told each other: the library is the process's, and so is this.
#[derive(Debug)]
struct Exchange {
    calls: AtomicUsize,
    /// Operations that were begun and are not complete, and messages that were found and not received.
    under_way: AtomicIsize,
    has_unfollowed: AtomicBool,
    way: AtomicU8,
    /// A leaf lock.
    communicators: Mutex<Communicators>,
}

static EXCHANGE: Exchange = Exchange {
    calls: AtomicUsize::new(0),
    under_way: AtomicIsize::new(0),
    has_unfollowed: AtomicBool::new(false),
    way: AtomicU8::new(Way::Runs as u8),
    communicators: Mutex::new(Communicators::new()),
};

fn is_on(way: Way) -> bool {
    EXCHANGE.way.load(Ordering::Relaxed) == way as u8
}

fn goes(way: Way) {
    EXCHANGE.way.store(way as u8, Ordering::SeqCst);
}

/// The program is about to call this function.
#[inline]
pub(super) fn calls(tells: Tells, name: &'static str) {
    if tells == Tells::Nothing {
        return;
    }
    if !is_on(Way::Runs) && !is_made_on_the_way(tells, name) {
        return;
    }
    if tells == Tells::Unfollowed {
        EXCHANGE.has_unfollowed.store(true, Ordering::Relaxed);
    }
    EXCHANGE.calls.fetch_add(1, Ordering::Relaxed);
}

/// Whether a call that is made on the way to a checkpoint is one that the others know of. Does not come back where it needs them, and
/// they know nothing of it.
#[cold]
fn is_made_on_the_way(tells: Tells, name: &'static str) -> bool {
    match is_on(Way::WalksWithOthers) {
        true => {
            if tells != Tells::Sets {
                // A walk of this program needs them.
                EXCHANGE.has_unfollowed.store(true, Ordering::Relaxed);
            }
            true
        }
        false if tells == Tells::Sets => false,
        false => needs_others(name).exit(),
    }
}

/// So many operations are under way by a call, more than before it.
#[inline]
pub(super) fn begun(more: i64) {
    if more != 0 {
        EXCHANGE.under_way.fetch_add(more as isize, Ordering::Relaxed);
    }
}

/// The program is about to make a communicator so. Gives what it gets instead of the call, if that is not made: a handle, or none
/// where this rank has no part in it. `making` tells nothing where it is not followed how it is made.
pub(super) fn is_about_to_make(
    name: &'static str,
    making: impl FnOnce() -> Option<Making>,
) -> Option<Option<u64>> {
    if is_on(Way::Walks) {
        let making = making();
        let kept = making.and_then(|making| locked(&EXCHANGE.communicators).gives_back(&making));
        return match kept {
            Some(handle) => Some(handle),
            None => needs_others(name).exit(),
        };
    }
    if is_on(Way::Leaves) {
        needs_others(name).exit();
    }
    EXCHANGE.calls.fetch_add(1, Ordering::Relaxed);
    None
}

/// It has made one, so.
pub(super) fn has_made(making: Option<Making>, handle: Option<u64>) {
    let Some(making) = making else {
        EXCHANGE.has_unfollowed.store(true, Ordering::Relaxed);
        return;
    };
    locked(&EXCHANGE.communicators).made.push(Made {
        making,
        handle,
        is_kept: false,
    });
}

/// The program is about to give a communicator back. Whether that is kept, and the call not made.
pub(super) fn keeps(name: &'static str, handle: u64) -> bool {
    if is_on(Way::Leaves) && locked(&EXCHANGE.communicators).keeps(handle) {
        return true;
    }
    if is_on(Way::Leaves) || is_on(Way::Walks) {
        needs_others(name).exit();
    }
    EXCHANGE.calls.fetch_add(1, Ordering::Relaxed);
    locked(&EXCHANGE.communicators).freed(handle);
    false
}

/// What this rank and the others have told each other so far, as two numbers that grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Exchanged {
    /// Calls of the program.
    calls: usize,
    /// Of ckpt, those that belong to no visit.
    meetings: usize,
}

impl World {
    /// What this rank and the others have told each other so far; nothing where it could not go back without them.
    pub(crate) fn exchanged(&self) -> Option<Exchanged> {
        let is_quiet = EXCHANGE.under_way.load(Ordering::Relaxed) == 0
            && !EXCHANGE.has_unfollowed.load(Ordering::Relaxed)
            && !locked(&EXCHANGE.communicators).has_freed;
        is_quiet.then(|| Exchanged {
            calls: EXCHANGE.calls.load(Ordering::Relaxed),
            meetings: self.meetings.load(Ordering::Relaxed),
        })
    }

    /// From now on this rank leaves its functions, without the others.
    pub(crate) fn leaves_alone(&self) {
        goes(Way::Leaves);
    }

    /// From now on it walks to its snapshot, and MPI stays up: what the program brings up again is there already.
    pub(crate) fn walks_alone(&self) {
        self.stays_up();
        self.tells_none_again();
        locked(&EXCHANGE.communicators).nobodys.clear();
        goes(Way::Walks);
    }

    /// From now on it walks to a checkpoint with the others.
    pub(crate) fn walks_with_others(&self) {
        let mut communicators = locked(&EXCHANGE.communicators);
        // What is there no more was left with the functions.
        communicators.has_freed = false;
        goes(Way::WalksWithOthers);
    }

    /// The walk is over.
    ///
    /// # Errors
    /// It was one without the others, and has not made all communicators again that there were.
    pub(crate) fn has_walked(&self) -> Result<(), Fatal> {
        let communicators = locked(&EXCHANGE.communicators);
        let kept = communicators.made.iter().find(|made| made.is_kept);
        match kept {
            Some(kept) => Err(is_not_made_again(kept.making.function)),
            None => {
                goes(Way::Runs);
                Ok(())
            }
        }
    }
}

fn needs_others(name: &str) -> Fatal {
    not_alone(&format!(
        "it has called `{name}` on its way, which others have a part in"
    ))
}

fn is_not_made_again(function: &str) -> Fatal {
    not_alone(&format!(
        "a communicator that it had made by `{function}` was not made again"
    ))
}

/// What is said where the others would have to know of it after all.
fn not_alone(what: &str) -> Fatal {
    Fatal::new(
        FAILED,
        headline!("E2415: this rank was going back to its snapshot without the others, and cannot: {what}"),
    )
    .why("nothing that the others would have to know of may happen on the way: they have gone on")
    .help("restart the job from its newest line; from then on the ranks of such a program go back together")
}

/// What the ranks have told each other by planned reductions since a snapshot, for a rank that makes the visits again.
#[derive(Debug, Clone, Default)]
pub(super) struct Told {
    all: VecDeque<Entry>,
    /// How many of them it has come by again.
    passed: usize,
}

#[derive(Debug, Clone)]
enum Entry {
    /// At this visit, by a rank that had this history of its sites, one began.
    Began(u64, u64),
    /// At this visit one was used.
    Used(u64, Vec<i64>),
}

/// A log that has grown to so many entries is given up: nobody will go back so far.
const LONGEST: usize = 4096;

/// What is known of something that a visit is about to do.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Again<T> {
    /// It has not been done.
    No,
    /// It has been done at this visit.
    Yes(T),
    /// Something else has been done: the rank has come another way.
    Apart,
}

impl Told {
    /// From this visit on.
    pub fn mark(&mut self) {
        self.all.drain(..self.passed);
        self.passed = 0;
    }

    /// The rank is where it was at the mark.
    pub fn go_back(&mut self) {
        self.passed = 0;
    }

    /// Whether there is room for more.
    pub fn has_room(&self) -> bool {
        self.all.len() < LONGEST
    }

    pub fn begins(&mut self, visit: u64, history: u64) -> Again<()> {
        match self.all.get(self.passed) {
            None => {
                self.all.push_back(Entry::Began(visit, history));
                self.passed += 1;
                Again::No
            }
            Some(Entry::Began(at, with)) if (*at, *with) == (visit, history) => {
                self.passed += 1;
                Again::Yes(())
            }
            Some(_) => Again::Apart,
        }
    }

    /// The numbers that were used at this visit.
    pub fn used(&mut self, visit: u64) -> Again<Vec<i64>> {
        match self.all.get(self.passed) {
            None => Again::No,
            Some(Entry::Used(at, numbers)) if *at == visit => {
                self.passed += 1;
                Again::Yes(numbers.clone())
            }
            Some(_) => Again::Apart,
        }
    }

    /// These were used at this visit.
    pub fn uses(&mut self, visit: u64, numbers: &[i64]) {
        self.all.push_back(Entry::Used(visit, numbers.to_vec()));
        self.passed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn making(function: &'static str, with: &[i64]) -> Making {
        Making {
            function,
            of: 1,
            with: with.to_vec(),
        }
    }

    fn made(making: &Making, handle: u64) -> Made {
        Made {
            making: making.clone(),
            handle: (handle > 0).then_some(handle),
            is_kept: false,
        }
    }

    #[test]
    fn communicators_come_back_in_the_order_in_which_they_were_made() {
        let (dup, split) = (making("MPI_Comm_dup", &[]), making("MPI_Comm_split", &[3, 0]));
        let mut all = Communicators::new();
        let list = [(&dup, 7), (&split, 8), (&dup, 9), (&split, 0)];
        all.made = list.map(|(making, handle)| made(making, handle)).into();
        for handle in [9, 8, 7] {
            assert!(all.keeps(handle));
            assert!(!all.keeps(handle), "once");
        }
        assert!(!all.keeps(5));
        assert_eq!(all.gives_back(&dup), Some(Some(7)));
        assert_eq!(all.gives_back(&making("MPI_Comm_split", &[4, 0])), None);
        assert_eq!(all.gives_back(&split), Some(Some(8)));
        assert_eq!(all.gives_back(&split), Some(None), "one of no part");
        assert_eq!(all.gives_back(&split), None);
        assert_eq!(all.gives_back(&dup), Some(Some(9)));
        assert_eq!(all.gives_back(&dup), None);
        assert!(all.made.iter().all(|made| !made.is_kept));
    }

    #[test]
    fn what_was_told_at_a_visit_is_not_told_again_there() {
        let mut told = Told::default();
        assert_eq!(told.begins(3, 30), Again::No);
        told.mark();
        assert_eq!(told.used(4), Again::No);
        told.uses(4, &[1, 2]);
        assert_eq!(told.begins(5, 50), Again::No);
        for _ in 0..2 {
            told.go_back();
            assert_eq!(told.used(4), Again::Yes(vec![1, 2]));
            assert_eq!(told.begins(5, 50), Again::Yes(()));
            assert_eq!(told.used(6), Again::No, "it is on its way");
        }
        told.go_back();
        assert_eq!(told.used(5), Again::Apart);
        assert_eq!(told.used(4), Again::Yes(vec![1, 2]));
        assert_eq!(told.begins(5, 51), Again::Apart, "it has come another way");
        // A new snapshot on the way: what is to come again stays.
        told.mark();
        assert_eq!(told.begins(5, 50), Again::Yes(()));
        told.uses(6, &[3]);
        told.go_back();
        assert_eq!(told.begins(5, 50), Again::Yes(()));
        assert_eq!(told.used(6), Again::Yes(vec![3]));
        assert_eq!(told.begins(7, 70), Again::No);
    }

    #[test]
    fn a_rank_that_needs_the_others_on_its_way_says_so() {
        let told = needs_others("MPI_Barrier").to_string();
        assert!(
            told.contains("E2415") && told.contains("it has called `MPI_Barrier` on its way"),
            "{told}"
        );
        let told = is_not_made_again("MPI_Comm_dup").to_string();
        assert!(
            told.contains("made by `MPI_Comm_dup` was not made again"),
            "{told}"
        );
    }
}
