//! Runs programs plain and instrumented, kills and restarts them, and compares what they print.
//!
//! The reference is always a run of the plain program. A restart is right when what the killed run printed, followed
//! by what the restarted run prints, is the reference byte for byte: nothing twice, nothing missing, nothing else.

mod compare;
mod every_visit;
mod pool;
mod process;
mod report;

pub use compare::Difference;
pub use every_visit::{Disagreement, Program, Tally, every_visit};
pub use pool::in_parallel;
pub use process::{Ended, Run, Runner, scratch_directory};
pub use report::Report;
