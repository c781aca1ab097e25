//! What a process is made of: the copy of its variables that a checkpoint takes, its statics, the files that it changes, its
//! standard streams, and what it has made of the process itself.
//!
//! [`source`] says what a session asks of each of them; one more is one more file here, and a line in the session's list. What
//! the file of a checkpoint looks like is not known here.

pub(crate) mod descriptors;
pub(crate) mod journal;
pub mod late_statics;
pub(crate) mod process;
pub mod snapshot;
pub(crate) mod source;
pub(crate) mod standard_streams;
pub(crate) mod statics;
mod unheld_files;
