//! Ways in for the targets in `fuzz/`, which give readers bytes and no store. Not part of what is published: they are
//! compiled with `--cfg fuzzing` only.

pub use crate::format::fuzzing::{index, reseal};
pub use crate::state::journal::fuzzing::{Ground, Part, written};
