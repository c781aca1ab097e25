//! Random programs that ckpt must not change: written, compiled plain and instrumented, killed and restarted.
//!
//! The number of a program and the seed of the run decide everything about it.

mod check;
mod minimise;
mod package;
mod random;
mod scope;
mod tree;
mod write;

pub use check::{Failure, Outcome, check, without_names};
pub use minimise::minimise;
pub use package::{Complaint, Package, PackageError, Variant};
pub use tree::{Function, Program, Statement};
pub use write::program;
