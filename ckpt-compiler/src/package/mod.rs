//! The whole-package compiler: which functions lead to which loops, what they cost, and where checkpoints go.
//!
//! | stage | module | what it makes |
//! | --- | --- | --- |
//! | source | [`source`] | files, crates and modules, as the caller has read them |
//! | edits | [`edits`] | the user's text with what is put into it |
//!
//! The stages of one function ([`crate::instrument()`]) say whether a site can be expressed.

pub mod edits;
pub mod locate;
pub mod rewrite;
pub mod source;
pub mod types;

pub use edits::{Edit, Edited};
pub use source::{CrateKind, CrateSource, FileId, Program, SourceFile};
