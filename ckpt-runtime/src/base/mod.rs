//! What everybody uses and what uses nobody: threads that share work on memory, copies and checksums of memory, the time
//! of day, the name of the machine, messages to the user, events for a subscriber of `tracing`, and the steps at which a test
//! makes a commit die.
//!
//! Not here: anything that knows a value, a checkpoint or a session.

pub(crate) mod bound;
pub(crate) mod checksum;
pub(crate) mod copying;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod host;
pub(crate) mod parallel;
pub(crate) mod report;
pub(crate) mod time;
pub(crate) mod visit_number;
