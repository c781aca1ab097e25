//! The ckpt compiler as a plain library: syn in, an instrumented function out. No I/O, no cargo, no runtime.
//!
//! The stages, in the order in which data goes through them; each imports only from those above it:
//!
//! | stage | module | what it makes |
//! | --- | --- | --- |
//! | ground | [`mod@visit`], [`mod@names`], [`paths`], [`mod@diagnostics`] | walks over syn's trees, names that ckpt adds, paths of the runtime, what is said to the user |
//! | library | [`library`] | what calls mean, from tables |
//! | syntax | [`syntax`] | what syntax alone tells, with these tables: sites, origins of values, patterns, macros |
//! | sources | [`sources`] | a hash for each file that a program is made of |
//! | parse | [`parse`] | what the attributes of a function say |
//! | resolve | [`mod@resolve`] | a name of its own for every variable, and the table of them |
//! | items | [`mod@derive`], [`mod@object`] | `Checkpoint` for types and trait objects, which need none of the stages below |
//! | desugar | [`mod@desugar`] | the bodies of threads taken out, the rest in the form that the spine takes, one rewriting a file |
//! | spine | [`spine`] | the statements around the sites taken apart, all others verbatim |
//! | control flow | [`mod@cfg`] | names resolved to bindings, and the graph of their events |
//! | liveness | [`liveness`] | which values are needed after a site, which may have been moved, which are clean |
//! | strategies | [`strategies`] | how each variable comes back at a restart |
//! | plan | [`mod@plan`] | loans, schedule, option slots and reborrows; what each site registers |
//! | emit | [`mod@emit`] | the tokens |
//! | validate | [`validate`] | the last look: every name and number of the user's function is in them |
//! | passes | [`passes`] | runs them in order, and shows what each has made |
//! | explain | [`mod@explain`] | the plan in words, for people |
//! | protection | [`protection`] | what the memory of each variable needs against soft errors |
//!
//! User errors are found before `emit`, which cannot fail.
//!
//! The macros and the command know what stands at the root only; the whole-package analysis, the crate `ckpt-analysis`, is
//! built on the stages.

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
pub mod protection;
pub mod resolve;
pub mod sources;
pub mod spine;
pub mod strategies;
pub mod syntax;
pub mod validate;
pub mod visit;

pub use derive::{derive_checkpoint, derive_holds};
pub use diagnostics::{Code, Diagnostics, Relayed, Words};
pub use emit::spares::spare;
pub use explain::{Fate, SiteReport, VariableReport};
pub use library::{CallTable, Crates, OwnNames, last_name, segments};
pub use object::object;
pub use parse::dialect::parse_file;
pub use passes::{PASSES, Pass, dump, instrument, instrument_main, try_expand};
pub use protection::{Class, Memory, Protection};
pub use sources::{
    ProgramRoot, SOURCES_RECORD, SourceHash, Sources, files_from, folders_of_packages, may_lead_away,
    roots_of_package,
};
