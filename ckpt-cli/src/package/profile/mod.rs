//! `cargo ckpt plan --profile`: one run of the program with counters in it, and what is kept of it for later plans.
//!
//! `run` makes the copy with the counters, builds it and runs it; `library` is the crate that counts, `found` reads what
//! it has written; `kept` is the file from which later commands take the numbers, as long as the sources are the same.

mod found;
mod kept;
mod run;

pub use kept::{Kept, analyse};
pub use run::measure;
