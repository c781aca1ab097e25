//! The whole-package analysis: which functions lead to which loops, what they cost, and where checkpoints go.
//!
//! | stage | module | what it makes |
//! | --- | --- | --- |
//! | source | `source` | files, crates and modules, as the caller has read them; places in them, and edits of their text |
//! | items | `items` | functions, types, traits, constants, global state; what paths, types and methods stand for |
//! | calls | `calls` | the call graph and the loops |
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
pub use decisions::globals::RefusedStatic;
pub use decisions::knowledge::Knowledge;
pub use decisions::learn::{Finding, FindingKind, Lesson, WaysOut, ways_out};
pub use decisions::recall::Record;
pub use decisions::reexecution::{Again, Why};
pub use diagnostics::Cause;
pub use items::{FnId, Function};
pub use package::{Artefact, Attempt, PackageAnalysis, at};
pub use placement::asked::Answer;
pub use placement::team_size::{SiteThreads, TeamSize};
pub use placement::{
    Candidate, ChooseOptions, Holder, PlacedFunction, PlacedSite, Placement, Reason, Rejected,
};
pub use source::edits::{Edit, Edited, edited, line_and_column};
pub use source::locate::Found;
pub use source::{CrateKind, CrateSource, FileId, Position, Program, SourceFile};

use calls::CallGraph;
use ckpt_compiler::library::{CallTable, Library};
use ckpt_compiler::syntax::own_macros::Definitions;
use ckpt_safepoints::SafePoints;
use items::Items;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Nothing for a program that does not use MPI.
type Points = Option<Rc<SafePoints>>;

/// What the stages have found.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// What the package is made of.
    pub items: Items,
    /// Its calls and loops.
    pub graph: CallGraph,
    /// For each file the bytes at its start that its spans do not count.
    pub bases: Vec<usize>,
    /// What the user says that calls mean, and what is known of the program's own macros.
    pub library: Library,
    /// What the stages of one function have been asked.
    asked: placement::asked::Asked,
    /// Which sites no message crosses, by number of ranks; worked out when it is asked for.
    points: RefCell<HashMap<(FnId, Option<usize>), Points>>,
    /// The costs that an instrumented run has shown.
    measured: Option<MeasuredCosts>,
}

/// Costs of a run, and what they had been taken for.
#[derive(Debug)]
struct MeasuredCosts {
    /// The `main` that it began in.
    main: FnId,
    costs: cost::Costs,
    estimated: cost::Costs,
}

impl Analysis {
    /// What tells safe points, for a run with this many ranks or with any number; nothing for a program that does not
    /// use MPI.
    pub fn safe_points(&self, main: FnId, ranks: Option<usize>) -> Option<Rc<SafePoints>> {
        let key = (main, ranks);
        if let Some(known) = self.points.borrow().get(&key) {
            return known.clone();
        }
        let points = skeleton::safe_points(self, main, ranks).map(Rc::new);
        self.points.borrow_mut().insert(key, points.clone());
        points
    }

    /// The costs of a run that begins in `main`: measured if [`Self::measured_by`] was told of such a run, else estimates.
    pub fn costs(&self, main: FnId) -> cost::Costs {
        match &self.measured {
            Some(measured) if measured.main == main => measured.costs.clone(),
            _ => cost::costs(&self.graph, main),
        }
    }

    /// The estimates that measured costs stand for.
    pub fn estimated(&self) -> Option<&cost::Costs> {
        Some(&self.measured.as_ref()?.estimated)
    }
}

/// Finds out what can be known without looking at a particular `main`, with no table of a user's.
#[cfg(test)]
pub(crate) fn analyse(program: &Program) -> Analysis {
    analyse_with(program, &CallTable::default())
}

/// Finds out what can be known without looking at a particular `main`, with what the user says that calls mean.
pub(crate) fn analyse_with(program: &Program, by_user: &CallTable) -> Analysis {
    let mut library = Library::default();
    library.add(by_user);
    let items = items::collect(&library, program);
    library.add(&Definitions::of_program(&items.macros).table(by_user));
    let graph = {
        let resolver = items::resolve::Resolver::new(&items, &library);
        let methods = items::methods::Methods::new(&items, &resolver);
        calls::build(&library, program, &resolver, &methods)
    };
    Analysis {
        items,
        graph,
        bases: program.files.iter().map(|file| file.base).collect(),
        library,
        measured: None,
        asked: placement::asked::Asked::default(),
        points: RefCell::default(),
    }
}

/// Chooses the sites for a run that begins in `main`, such that the stages of one function accept them.
pub(crate) fn place(analysis: &Analysis, main: FnId, options: &ChooseOptions) -> Placement {
    placement::choose(analysis, main, options, &mut |candidate| {
        placement::expressible::can_hold(analysis, candidate)
    })
}
