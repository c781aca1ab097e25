//! Parallel regions with sites in their threads: `thread::scope(|s| { .. s.spawn(..) .. })`.
//!
//! A region becomes three things (Losada 2018, chapter 2, for threads that a closure makes). In front of it stands a site of
//! the function, to which a restart walks; from there the region's own statements are re-executed and start the threads anew.
//! The body of every thread becomes an instrumented function of its own, whose parameters are what it captures. And
//! behind the last start stands a wait, where the function's thread takes the checkpoints of all.
//!
//! `find` finds regions, `starts` knows what starts threads and waits for them, `share` makes a thread of what a region's own thread does, `teams` knows `ckpt::team`, `malleable` whether its members may be others at a restart, `parts` what a list of parts is that is only handed out, `around` in which region a place is, `receiver` gives `self` another name there, `captures` says how each thread comes to what it uses, `reexecution` what may run a second time; `emit::regions`
//! puts the instrumented bodies into the instrumented function.

mod around;
mod behind;
mod captures;
mod find;
mod malleable;
mod parts;
pub mod receiver;
mod reexecution;
mod share;
mod starts;
mod teams;
#[cfg(test)]
mod tests;
pub mod watchable;

pub use around::{Around, around};
pub use captures::{Capture, How, named_whole};
pub use find::lifted;
pub use starts::{body_of_start, is_given_nothing, made_by, started_on};

use crate::names::{LocalId, LocalSet};
use std::collections::HashMap;
use syn::ItemFn;

/// The regions of a function.
#[derive(Debug, Clone, Default)]
pub struct Regions {
    /// In program order.
    pub regions: Vec<Region>,
    /// The bodies of their threads, in program order.
    pub members: Vec<Member>,
}

/// A region.
#[derive(Debug, Clone, Default)]
pub struct Region {
    /// The variables that its threads borrow exclusively or that its own statements change: a checkpoint has what they
    /// held where it began.
    pub lends: LocalSet,
    /// The variables that move into one of its threads for good, and where to: a checkpoint has of the thread what they hold.
    pub moves: HashMap<LocalId, MovesTo>,
}

/// Where a variable moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovesTo {
    /// The thread, by its number among all of the function.
    pub member: usize,
    /// Which of its captures it is.
    pub capture: usize,
}

/// The body of a thread.
#[derive(Debug, Clone)]
pub struct Member {
    /// What the closure captures.
    pub captures: Vec<Capture>,
    /// Whether it is a `move` closure.
    pub moves: bool,
    /// Whether a team of ckpt's runs it, which makes members of its threads itself.
    pub of_team: bool,
    /// The body as a function, its parameters in the order of `captures`.
    pub function: ItemFn,
}

impl Regions {
    /// Whether this region, if it is one, borrows the variable exclusively or changes it.
    pub fn lends(&self, region: Option<usize>, local: Option<LocalId>) -> bool {
        let lends = |region: usize| &self.regions[region].lends;
        region.is_some_and(|region| local.is_some_and(|local| lends(region).contains(local)))
    }

    /// Where the variable moves in this region, if it is one and the variable does.
    pub fn moves(&self, region: Option<usize>, local: Option<LocalId>) -> Option<MovesTo> {
        self.regions[region?].moves.get(&local?).copied()
    }

    /// Leaves only those that move into threads of which it `is_so`: the threads have these as parameters that they are given for
    /// good. Gives whether there are any.
    pub fn keep_moves(&mut self, is_so: impl Fn(usize, LocalId) -> bool) -> bool {
        for (number, region) in self.regions.iter_mut().enumerate() {
            region.moves.retain(|local, _| is_so(number, *local));
            for to in region.moves.values() {
                let member = &mut self.members[to.member];
                let capture = &mut member.captures[to.capture];
                capture.moved = true;
                member.function.sig.inputs[to.capture] = capture.parameter();
            }
        }
        self.regions.iter().any(|region| !region.moves.is_empty())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}
