//! The plan: what every site registers, what is re-executed at restart, and how the variables of a skipped run come back.

mod filled_loans;
mod jumps;
mod loans;
pub mod option_slots;
mod place_splitting;
mod reborrows;
mod schedule;
mod sites;

pub use filled_loans::FilledLoans;
pub use jumps::{for_each_hidden_jump, for_each_jump, replace_jumps};
pub use loans::{Loans, operands};
pub use option_slots::OptionSlots;
pub use place_splitting::{Leaf, Splitting};
pub use reborrows::Reborrows;
pub use schedule::{Aliases, Crossings, Mode, Runs, Schedule, Segment, behind_the_sites};

use crate::cfg::{BindingId, Flow};
use crate::desugar::regions::Regions;
use crate::diagnostics::Diagnostics;
use crate::library::Library;
use crate::liveness::Liveness;
use crate::liveness::clean::Clean;
use crate::names::LocalId;
use crate::parse::options::Treatment;
use crate::spine::{Lowered, SiteId};
use crate::strategies::Strategy;
use proc_macro2::Ident;
use std::collections::{HashMap, HashSet};

/// The plan of a function: put together of artefacts each of which is complete before the next is made.
#[derive(Debug)]
pub struct Plan {
    /// How every variable comes back.
    pub strategies: Vec<Strategy>,
    /// Which statements are skipped, which are re-executed, and how variables get out of what is skipped.
    pub schedule: Schedule,
    /// The sites, site `k` at index `k - 1`.
    pub sites: Vec<SitePlan>,
    /// What calls that lead to a site borrow.
    pub loans: Loans,
    /// What values that a restart fills borrow, and so save.
    pub filled: FilledLoans,
    /// Where variables are taken out of their option slots, and put back.
    pub option_slots: OptionSlots,
    /// Which references end at a site and are reborrowed after it.
    pub reborrows: Reborrows,
    /// The names under which variables are saved.
    pub keys: HashMap<BindingId, String>,
}

impl Plan {
    /// Whether a checkpoint taken at the site is told that the variable is as it was when the site was last visited.
    pub fn saves_as_clean(&self, clean: &Clean, flow: &Flow, site: SiteId, entry: &Entry) -> bool {
        // References that end at the site and are reborrowed behind it may be written through.
        let reborrows = self.reborrows.at(site);
        let is_written_around = !reborrows.references.is_empty() || !reborrows.swap_groups.is_empty();
        let is_part = self.filled.part(site, entry.binding()).is_some();
        let is_own = matches!(entry, Entry::Save(_));
        is_own && !is_written_around && !is_part && clean.contains(flow, site, entry.binding())
    }
}

impl Plan {
    /// What a site in front of a region saves and what moves into one of its threads for good is looked for in that thread: at a restart
    /// something stands in for it where the thread has used it up. Gives these variables, with their regions.
    pub fn move_to_members(
        &mut self,
        regions: &Regions,
        lowered: &Lowered,
        flow: &Flow,
    ) -> HashSet<(usize, LocalId)> {
        let mut moved = HashSet::new();
        for (site, plan) in lowered.sites.iter().zip(&mut self.sites) {
            for entry in &plan.entries {
                let id = entry.binding();
                let binding = &flow.bindings[id];
                let local = flow.locals.id(&binding.ident);
                let is_own = match entry {
                    Entry::Save(_) => true,
                    Entry::Parameter { required, .. } => *required,
                    _ => false,
                };
                let is_plain = matches!(binding.treatment, None | Some(Treatment::Save));
                if is_own
                    && is_plain
                    && !binding.is_plainly_copy()
                    && regions.moves(site.region, local).is_some()
                    && let (Some(region), Some(local)) = (site.region, local)
                {
                    plan.used_up.push(id);
                    moved.insert((region, local));
                }
            }
        }
        moved
    }
}

/// A name for a variable that is shadowed where a site needs it.
#[derive(Debug, Clone)]
pub struct Alias {
    /// The variable.
    pub binding: BindingId,
    /// The reference to it.
    pub ident: Ident,
}

/// What one site registers.
#[derive(Debug, Default)]
pub struct SitePlan {
    /// The variables, in the order of their declaration.
    pub entries: Vec<Entry>,
    /// Receivers of a method that may take them by value, and leave nothing of them.
    pub used_up: Vec<BindingId>,
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

    /// Whether the site needs the variable's value, be it only for the caller.
    pub fn names(&self, binding: BindingId) -> bool {
        self.entries.iter().any(|entry| entry.binding() == binding)
    }

    /// Whether a restart at this site can restore the variable from this function's record.
    pub fn restores(&self, binding: BindingId) -> bool {
        self.entries.iter().any(|entry| match entry {
            Entry::Save(id) | Entry::Link(id, _) | Entry::Moved { binding: id, .. } => *id == binding,
            Entry::Split {
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
            Entry::Again { .. } => false,
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
    Split {
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
    /// A parameter that the caller passes again, and whose value is needed: nothing else of its type will do.
    Again {
        /// The parameter.
        binding: BindingId,
        /// Its index.
        index: u32,
        /// Where it is.
        whereabouts: Whereabouts,
    },
}

/// Where a parameter is that the caller passes again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whereabouts {
    /// In its variable, where it may be looked at.
    Here,
    /// In what this function has made of it.
    Gone,
    /// In a parameter of the callee.
    Callee(u32),
}

impl Entry {
    /// The variable.
    pub fn binding(&self) -> BindingId {
        match self {
            Self::Save(binding) | Self::Link(binding, _) => *binding,
            Self::Split { binding, .. }
            | Self::Moved { binding, .. }
            | Self::Parameter { binding, .. }
            | Self::ParameterLink { binding, .. }
            | Self::Again { binding, .. } => *binding,
        }
    }

    /// Whether every checkpoint has it, or only one whose caller restores it, or whose callee still has it.
    fn is_always_saved(&self) -> bool {
        match self {
            Self::Save(_) | Self::Link(..) => true,
            Self::Moved { .. } | Self::Again { .. } => false,
            Self::Split { parameter: None, .. } => true,
            Self::Split { required, .. }
            | Self::Parameter { required, .. }
            | Self::ParameterLink { required, .. } => *required,
        }
    }
}

/// Makes the plan.
pub fn plan(
    library: &Library,
    lowered: &Lowered,
    flow: &Flow,
    liveness: &Liveness,
    strategies: Vec<Strategy>,
    errors: &mut Diagnostics,
) -> Plan {
    let runs = schedule::runs(lowered, flow, liveness, &strategies);
    let loans = loans::loans(library, lowered, flow, liveness, &strategies, errors);
    let mut needed = sites::needed(library, lowered, flow, liveness, &strategies, &runs, &loans);
    // What crosses a skipped run may have to be saved at more sites, and what more sites save changes how it crosses.
    let (sites, crossings, aliases) = loop {
        let sites = sites::entries(flow, liveness, &strategies, &needed, &loans);
        let aliases = sites::aliases(flow, &sites);
        let given = schedule::Given {
            library,
            lowered,
            flow,
            liveness,
            strategies: &strategies,
            runs: &runs,
            sites: &sites,
            aliases: &aliases,
        };
        let (crossings, forced) = schedule::crossings(&given, errors);
        if !sites::force(&mut needed, forced) {
            break (sites, crossings, aliases);
        }
    };
    let schedule = Schedule {
        runs,
        crossings,
        aliases,
    };
    let filled = filled_loans::filled_loans(lowered, flow, &needed, &schedule.runs, errors);
    let option_slots = option_slots::option_slots(library, lowered, flow, &sites, &schedule, errors);
    let reborrows = reborrows::reborrows(library, flow, liveness, &strategies, &loans, errors);
    reborrows::refuse_under_aliases(flow, liveness, &strategies, &schedule.aliases, errors);
    let keys = sites::keys(flow, &sites);
    Plan {
        strategies,
        schedule,
        sites,
        loans,
        filled,
        option_slots,
        reborrows,
        keys,
    }
}
