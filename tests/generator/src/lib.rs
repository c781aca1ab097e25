//! Random programs that ckpt must not change: written, compiled plain and instrumented, killed and restarted.
//!
//! The number of a program and the seed of the run decide everything about it.

mod between;
mod check;
mod minimise;
mod package;
mod random;
mod ranks;
mod scope;
mod tree;
mod unmodified;
mod write;

pub use between::{Kills, between};
pub use check::{Effort, Failure, Outcome, Stood, check, stand, without_names};
pub use minimise::minimise;
pub use package::{Complaint, Package, PackageError, Variant};
pub use ranks::{Ranks, check_ranks, check_unmodified_ranks};
pub use tree::{Function, Program, Statement};
pub use unmodified::{check_unmodified, tool};
pub use write::{program, program_of_ranks};
