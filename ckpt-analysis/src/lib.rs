//! The whole-package analysis: which functions lead to which loops, what they cost, and where checkpoints go.
//!
//! | stage | module | what it makes |
//! | --- | --- | --- |
//! | source | `source` | files, crates and modules, as the caller has read them; places in them, and edits of their text |
//! | items | `items` | functions, types, traits, constants, global state; what paths, types and methods stand for |
//! | calls | `calls` | the call graph and the loops |
//! | facts | `facts` | all that, with the library in use |
//! | cost | `cost` | trips, operations, bytes, shares; estimated, or measured by an instrumented run |
//! | skeleton | `skeleton` | the program as `ckpt-safepoints` follows it, to tell which sites no message crosses |
//! | placement | `placement` | the sites, and the functions that lead to them |
//! | decisions | `decisions` | what types, variables, functions and calls need so that all this can be saved and restarted |
//! | edits | `edits` | the user's text with what is put into it |
//!
//! [`PackageAnalysis`] is the front door (`package`); all other modules are private, and what they refuse is worded in
//! `diagnostics`. The stages of one function ([`ckpt_compiler::instrument()`]) say whether a site can be expressed.

mod calls;
mod cost;
mod decisions;
mod diagnostics;
mod edits;
mod facts;
mod items;
mod package;
mod placement;
mod skeleton;
mod source;
#[cfg(test)]
mod tests;

pub use calls::{Call, CallId, Loop, LoopId};
pub use cost::Costs;
pub use cost::bytes::Bytes;
pub use cost::profile::{COUNTS, Counter, Counters, Seen};
pub use decisions::Decisions;
pub use decisions::closure_callers::{InlinedCall, Sources};
pub use decisions::detectors::{Detector, InTheWay, NoDetector};
pub use decisions::device_arrays::{Access, DeviceArray, Elements};
pub use decisions::device_numbers::{Because, DeviceNumber};
pub use decisions::globals::RefusedStatic;
pub use decisions::knowledge::Knowledge;
pub use decisions::learn::{Exchanged, Finding, FindingKind, Lesson, Unsolved, WaysOut, ways_out};
pub use decisions::recall::Record;
pub use decisions::reexecution::{Reexecuted, Why};
pub use decisions::writers::Stream;
pub use diagnostics::{Cause, HeldIn, RustcObstacle, Said};
pub use items::comm_library::{is_of_comm_library, links_comm_library};
pub use items::{FnId, Function, OwnAttribute, own_attribute};
pub use package::{
    Artefact, Attempt, PackageAnalysis, at, files_of_kernels, is_for_devices, is_uncounted_on_devices,
    is_watched_for_devices,
};
pub use placement::asked::Answer;
pub use placement::team_size::{SiteThreads, TeamSize};
pub use placement::{
    Candidate, ChooseOptions, Holder, PlacedFunction, PlacedSite, Placement, Reason, Rejected,
};
pub use source::edits::{Edit, Edited, edited, line_and_column};
pub use source::locate::Found;
pub use source::mentions::names_ckpt;
pub use source::{CommunicatingCrate, CrateKind, CrateSource, FileId, Position, Program, SourceFile};

use placement::analysis::{Analysis, analyse_with, place};

#[cfg(test)]
pub(crate) use placement::analysis::analyse;
