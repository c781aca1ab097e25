//! The ckpt compiler as a plain library: syn in, an instrumented function out. No I/O, no cargo, no runtime.
//!
//! The stages, one module each, in the order in which data goes through them:
//!
//! | stage | module | what it makes |
//! | --- | --- | --- |
//! | options | [`options`] | what the attribute says |
//! | sites | [`marks`], [`choose`] | where checkpoints may be taken |
//! | regions | [`regions`] | threads with sites, their bodies as functions of their own |
//! | streams | [`streams`] | calls of readers and standard streams that are seen to give values |
//! | preparation | [`mod@prepare`] | attributes and closures in the form that the next stage takes |
//! | spine | [`spine`] | the statements around the sites taken apart, all others verbatim |
//! | flow | [`flow`] | names resolved to bindings, and the graph of their events |
//! | liveness | [`liveness`] | which values are needed after a site, which may have been moved |
//! | classes | [`classes`] | how each variable comes back at a restart |
//! | plan | [`mod@plan`] | what each site registers, what runs again |
//! | emit | [`emit`] | the tokens |
//!
//! [`instrument()`] runs them all. User errors are found before `emit`, which cannot fail.
//!
//! The whole-package analysis, the crate `ckpt-analysis`, is built on these stages.

pub mod cfg;
pub mod derive;
pub mod desugar;
pub mod diagnostics;
pub mod emit;
pub mod explain;
pub mod library;
pub mod liveness;
pub mod names;
pub mod object;
pub mod parse;
pub mod passes;
pub mod paths;
pub mod plan;
pub mod spine;
pub mod strategies;
pub mod syntax;
pub mod validate;

pub use diagnostics::code_of;
pub use passes::{instrument, instrument_main, try_expand};
