//! The architecture as a test: what ARCHITECTURE.md draws is what the imports of the crates say.
//!
//! - [`picture`] reads the picture: a block of layers for each crate, and a table of what may stand where.
//! - [`sources`] reads the files of a crate, and which modules they are.
//! - [`imports`] follows their paths: which module names which other one, and on which line.
//! - [`check`] holds the one against the other.
//! - [`branches`] finds the texts by which something is decided.
//! - [`words`] finds names of libraries in the sources, where tables should have them alone.

pub mod branches;
pub mod check;
pub mod imports;
pub mod picture;
pub mod sources;
pub mod words;
