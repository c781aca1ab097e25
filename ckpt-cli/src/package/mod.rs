//! Unmodified packages: read, analysed, rewritten in a copy, built, shown. What follows from the sources, and from what
//! rustc says of them, is worked out by `ckpt-analysis`; here files are read and written, and cargo is asked.
//!
//! Each folder knows those above it only:
//!
//! | folder | what lives there |
//! | --- | --- |
//! | `read` | which code is compiled, as cargo and rustc would say: the sources of the program, parsed |
//! | `copy` | the copy of the workspace that is rewritten: where it is, what is in it, its manifests |
//! | `build` | the rounds with rustc until the copy compiles, and what is kept for the next time |
//! | `profile` | one run with counters in it, and what is kept of it |
//! | `show` | the plan as text, JSON or a page; the stages; instrumented functions |
//! | `program` | what `cargo ckpt run` starts |

pub mod build;
pub mod copy;
pub mod profile;
pub mod program;
pub mod read;
pub mod show;
#[cfg(test)]
mod testing;
