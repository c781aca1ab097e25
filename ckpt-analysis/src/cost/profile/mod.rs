//! Measured numbers instead of estimates: which places are counted in an instrumented run, and what its result says of
//! the call graph and the costs.
//!
//! [`counters()`] puts a counter at every function and loop that matters, as text edits that know nothing of the code
//! around them. [`apply()`] takes what they have counted: one nanosecond is one operation from then on.
//! What was not reached keeps its estimate, and is never held against what was.

mod apply;
mod counters;

pub use apply::apply;
pub use counters::{COUNTS, Counter, Counters, counters};

use crate::items::FnId;

/// What one counter has seen.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Seen {
    /// How often it was entered.
    pub entries: f64,
    /// How often it was entered while not already under way in the same thread.
    pub outer: f64,
    /// Iterations.
    pub turns: f64,
    /// Nanoseconds between entry and exit, inner ones included, over all threads.
    pub nanos: f64,
    /// The same without what is counted inside.
    pub own: f64,
    /// Whether it was under way when the run ended.
    pub open: bool,
}

/// The result of an instrumented run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Measured {
    /// One for each function; nothing for those without a counter.
    pub functions: Vec<Option<Seen>>,
    /// One for each loop.
    pub loops: Vec<Option<Seen>>,
    /// Nanoseconds of the whole run.
    pub nanos: f64,
}

impl Measured {
    /// What a function's counter has seen, if it was reached.
    pub fn function(&self, id: FnId) -> Option<&Seen> {
        reached(&self.functions, id.0)
    }

    /// What a loop's counter has seen, if it was reached.
    pub fn one_loop(&self, id: crate::calls::LoopId) -> Option<&Seen> {
        reached(&self.loops, id.0)
    }
}

fn reached(list: &[Option<Seen>], index: usize) -> Option<&Seen> {
    list.get(index)?.as_ref().filter(|seen| seen.entries > 0.0)
}
