//! What a process is made of, as a checkpoint takes it: the copy of its variables, its statics, the files that it changes, and
//! how far it has read its standard input.
//!
//! What the file of a checkpoint looks like is not known here.

pub(crate) mod journal;
pub mod snapshot;
pub(crate) mod standard_input;
pub(crate) mod statics;
