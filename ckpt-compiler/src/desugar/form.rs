//! Other forms of a function, for what cannot be expressed in its own.

use crate::diagnostics::{Diagnostics, Recovery};
use crate::resolve::Hiding;

/// What is changed in a function before it is taken apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Form {
    /// Whether the statements of every branch are one block: a variable that travels can then be taken for all of them,
    /// which a statement that is re-executed at restart needs.
    pub branches_in_blocks: bool,
    /// Whose name a variable has that hides another.
    pub hiding: Hiding,
    /// Whether the closures in the iterators of all `for`s run in their bodies: what is left of the iterator can then end
    /// at a site and be rebuilt.
    pub closures_in_bodies: bool,
}

impl Form {
    /// The next form to try, where it may take what has been refused in this one.
    pub fn that_takes(self, refused: &Diagnostics) -> Option<Self> {
        let mut next = self;
        for one in refused.iter() {
            match one.recovery()? {
                Recovery::BranchesInBlocks => next.branches_in_blocks = true,
                Recovery::OwnNames => next.hiding = Hiding::Renamed,
                Recovery::ClosuresInBodies => next.closures_in_bodies = true,
                Recovery::ReplayIterator | Recovery::SiteInThread => return None,
            }
        }
        (next != self).then_some(next)
    }
}
