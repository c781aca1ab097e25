//! What everybody uses and what uses nobody: threads that share work on memory, copies and checksums of memory, the time
//! of day, the name of the machine, messages to the user, the registration of the session that is open, events for a
//! subscriber of `tracing`, how small files are kept, and the steps at which a test makes a commit die.
//!
//! Not here: anything that knows a value or a checkpoint. Of the session that is open there is only its registration.

pub(crate) mod bound;
pub(crate) mod checksum;
pub(crate) mod copying;
pub(crate) mod current;
pub(crate) mod documents;
pub(crate) mod events;
pub(crate) mod fault;
pub(crate) mod forked;
pub(crate) mod host;
pub(crate) mod lock;
pub(crate) mod pages;
pub(crate) mod parallel;
pub(crate) mod report;
pub(crate) mod time;
pub(crate) mod visit_number;
