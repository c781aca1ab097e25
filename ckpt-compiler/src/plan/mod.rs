//! The plan: what every site registers, what runs again at restart, and how the variables of a skipped run come back.

mod filled_loans;
mod jumps;
mod loans;
pub mod option_slots;
mod place_splitting;
mod reborrows;
mod schedule;
mod sites;

pub use jumps::{for_each_hidden_jump, for_each_jump, replace_jumps};
pub use loans::operands;
pub use place_splitting::{Carving, Leaf, Projection};
pub use schedule::{Mode, Segment, behind_the_sites, segments};

use crate::cfg::{BindingId, Flow, Point};
use crate::diagnostics::Diagnostics;
use crate::liveness::Liveness;
use crate::spine::{Lowered, SiteId, StepId};
use crate::strategies::Class;
use proc_macro2::Ident;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Words of refusals that names of their own may be the way out of.
pub const IS_HIDDEN: &str = "one of the two is hidden by another variable of its name";
/// A refusal that closures in the bodies of loops may be the way out of.
pub const FOR_EXCLUSIVELY: &str =
    "E1048: a `for` that borrows what it goes over exclusively has a site in it";
/// See [`IS_HIDDEN`].
pub const HIDES: &str = "hides another";

/// The plan of a function.
#[derive(Debug)]
pub struct Plan {
    /// How every variable comes back.
    pub classes: Vec<Class>,
    /// The sites, site `k` at index `k - 1`.
    pub sites: Vec<SitePlan>,
    /// The steps that run again at restart.
    pub replays: BTreeSet<StepId>,
    /// The steps that begin a run of their own, because they shadow a variable of the run before.
    pub boundaries: BTreeSet<StepId>,
    /// Borrows taken before a step, because it shadows a variable that a site needs.
    pub aliases: BTreeMap<StepId, Vec<Alias>>,
    /// How the variables that a run declares get out of it.
    pub modes: HashMap<BindingId, Mode>,
    /// For those that travel: the runs that give them a value again which was moved away before.
    pub given_again: HashMap<BindingId, Vec<std::ops::Range<StepId>>>,
    /// Where those that travel as options are taken and put.
    pub travel: option_slots::Travel,
    /// For every step, the first number behind it.
    pub step_ends: HashMap<StepId, StepId>,
    /// The variables of which calls borrow only a part.
    pub carvings: loans::Carvings,
    /// The other operands of these calls.
    pub others: HashMap<SiteId, loans::Others>,
    /// The names under which variables are saved.
    pub keys: HashMap<BindingId, String>,
}

/// A name for a variable that is shadowed where a site needs it.
#[derive(Debug, Clone)]
pub struct Alias {
    /// The variable.
    pub binding: BindingId,
    /// The reference to it.
    pub ident: Ident,
}

impl Plan {
    /// Whether the step cannot be in one run with the step before it.
    pub fn begins_a_run(&self, step: StepId) -> bool {
        self.boundaries.contains(&step)
    }

    /// Where the last of the steps of a group ends.
    pub fn end_of(&self, flow: &Flow, group: &std::ops::Range<StepId>) -> Option<Point> {
        let ends = |step: &&StepId| group.contains(step) && self.step_ends.get(step) == Some(&group.end);
        let last = flow.points.keys().filter(ends).min()?;
        flow.points.get(last).map(|(_, end)| *end)
    }
}

/// What one site registers.
#[derive(Debug, Default)]
pub struct SitePlan {
    /// The variables, in the order of their declaration.
    pub entries: Vec<Entry>,
    /// Exclusive references that end at the site and are made again after it.
    pub remade: Vec<BindingId>,
    /// Groups of those that trade places: which stands for what is part of the checkpoint.
    pub seats: Vec<Vec<BindingId>>,
    /// Receivers of a method that may take them by value, and leave nothing of them.
    pub used_up: Vec<BindingId>,
    /// Variables that another one which is saved here borrows exclusively, and so saves; with what knows their types.
    pub lent_parts: Vec<(BindingId, Ident)>,
}

impl SitePlan {
    /// Whether the variable has moved into the callee at this site.
    pub fn moves(&self, binding: BindingId) -> bool {
        let moved = |entry: &Entry| matches!(entry, Entry::Moved { .. }) && entry.binding() == binding;
        self.entries.iter().any(moved) || self.used_up.contains(&binding)
    }

    /// Whether every checkpoint at this site has the variable, or only one whose caller restores it, or whose callee still
    /// has it.
    pub fn always_saves(&self, entry: &Entry) -> bool {
        entry.is_always_saved() && !self.used_up.contains(&entry.binding())
    }

    /// What knows the type of a variable that is saved as a part of another one.
    pub fn lent_part(&self, binding: BindingId) -> Option<&Ident> {
        let mut parts = self.lent_parts.iter();
        parts.find(|(base, _)| *base == binding).map(|(_, kind)| kind)
    }

    /// Whether the site needs the variable's value, be it only for the caller.
    pub fn names(&self, binding: BindingId) -> bool {
        self.entries.iter().any(|entry| entry.binding() == binding)
    }

    /// Whether a restart at this site can restore the variable from this function's record.
    pub fn restores(&self, binding: BindingId) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::Save(id) | Entry::Link(id, _) | Entry::Moved { binding: id, .. } => *id == binding,
            Entry::Carved {
                binding: id,
                required,
                ..
            }
            | Entry::Parameter {
                binding: id,
                required,
                ..
            }
            | Entry::ParameterLink {
                binding: id,
                required,
                ..
            } => *required && *id == binding,
        })
    }
}

/// One registration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A variable of this function.
    Save(BindingId),
    /// A variable that lives in the callee's parameter during the call.
    Link(BindingId, u32),
    /// A variable that is passed by value: where it can be copied, a copy is saved; else it lives in the callee's parameter.
    Moved {
        /// The variable.
        binding: BindingId,
        /// The callee's parameter.
        callee: u32,
        /// The own parameter that it is, if it is one as a whole.
        parameter: Option<u32>,
    },
    /// A variable of which a part lives in the callee's parameters during the call.
    Carved {
        /// The variable.
        binding: BindingId,
        /// The own parameter that it is, if it is one as a whole.
        parameter: Option<u32>,
        /// Whether this function restores it.
        required: bool,
    },
    /// A parameter, offered to the caller; when `required`, saved whether the caller needs it or not.
    Parameter {
        /// The parameter.
        binding: BindingId,
        /// Its index.
        index: u32,
        /// Whether this function restores it.
        required: bool,
    },
    /// A parameter that is itself lent on to the callee; `required` as above.
    ParameterLink {
        /// The parameter.
        binding: BindingId,
        /// Its index.
        index: u32,
        /// The callee's parameter.
        callee: u32,
        /// Whether this function restores it.
        required: bool,
    },
}

impl Entry {
    /// The variable.
    pub fn binding(&self) -> BindingId {
        match self {
            Self::Save(binding) | Self::Link(binding, _) => *binding,
            Self::Carved { binding, .. }
            | Self::Moved { binding, .. }
            | Self::Parameter { binding, .. }
            | Self::ParameterLink { binding, .. } => *binding,
        }
    }

    /// Whether every checkpoint has it, or only one whose caller restores it, or whose callee still has it.
    fn is_always_saved(&self) -> bool {
        match self {
            Self::Save(_) | Self::Link(..) => true,
            Self::Moved { .. } => false,
            Self::Carved { parameter: None, .. } => true,
            Self::Carved { required, .. }
            | Self::Parameter { required, .. }
            | Self::ParameterLink { required, .. } => *required,
        }
    }
}

/// Makes the plan.
pub fn plan(
    lowered: &Lowered,
    flow: &Flow,
    liveness: &Liveness,
    classes: Vec<Class>,
    errors: &mut Diagnostics,
) -> Plan {
    let mut plan = Plan {
        classes,
        sites: Vec::new(),
        replays: BTreeSet::new(),
        boundaries: BTreeSet::new(),
        aliases: BTreeMap::new(),
        modes: HashMap::new(),
        given_again: HashMap::new(),
        travel: option_slots::Travel::default(),
        step_ends: crate::spine::step_ends(&lowered.body),
        carvings: HashMap::new(),
        others: HashMap::new(),
        keys: HashMap::new(),
    };
    schedule::replays(lowered, flow, liveness, &mut plan);
    let (lends, carvings, others) = loans::lends(lowered, flow, liveness, &plan.classes, errors);
    let mut needed = sites::needed(lowered, flow, liveness, &plan, &lends);
    loop {
        plan.sites = sites::entries(flow, liveness, &plan.classes, &needed, &lends);
        plan.aliases = sites::aliases(flow, &plan);
        let forced = schedule::modes(lowered, flow, liveness, &mut plan, errors);
        if !sites::force(&mut needed, forced) {
            break;
        }
    }
    filled_loans::lent_parts(lowered, flow, &needed, &mut plan, errors);
    plan.travel = option_slots::travel(lowered, flow, &plan, errors);
    plan.others = others;
    reborrows::remake(flow, liveness, &mut plan, &lends, errors);
    reborrows::refuse_under_aliases(flow, liveness, &plan, errors);
    plan.carvings = carvings;
    plan.keys = sites::keys(flow, &plan.sites);
    plan
}
