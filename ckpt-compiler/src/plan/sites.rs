//! Which variables each site registers, and how.

use super::loans::{Loan, Loans};
use super::{Alias, Aliases, Entry, Runs, SitePlan, Whereabouts};
use crate::cfg::{BindingId, Declaration, Event, Flow, Passing, Use};
use crate::library::Library;
use crate::liveness::Liveness;
use crate::names;
use crate::parse::options::Treatment;
use crate::spine::for_each_block;
use crate::spine::{Block, Lowered, SiteId, StepId, StepKind};
use crate::strategies::{Strategy, flushes, is_taken_by_value, may_be_called, moves_into_a_closure, owns};
use crate::syntax::purity::is_pure;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The variables that a restart at a site needs, per site.
pub type Needed = Vec<BTreeSet<BindingId>>;

/// What is live, and what the code that is re-executed at restart needs.
pub fn needed(
    library: &Library,
    lowered: &Lowered,
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    runs: &Runs,
    loans: &Loans,
) -> Needed {
    let replayed = reexecuted_ranges(lowered, flow);
    (1..=flow.sites.len() as SiteId)
        .map(|site| {
            let here = &flow.sites[site as usize - 1];
            let mut found: BTreeSet<_> = here
                .scope
                .iter()
                .copied()
                .filter(|id| liveness.is_live(flow, site, *id))
                .collect();
            let reexecuted = here
                .scope
                .iter()
                .filter(|id| runs.reexecuted.contains(&flow.bindings[**id].step));
            let reexecuted =
                reexecuted.filter(|id| matches!(flow.bindings[**id].declaration, Declaration::Let));
            let gone = |id: BindingId| {
                liveness.may_be_given_away(flow, site, id) && !liveness.is_live(flow, site, id)
            };
            let inputs = reexecuted.flat_map(|id| flow.bindings[*id].inputs.iter().map(|(input, _)| *input));
            found.extend(inputs.filter(|id| !gone(*id)));
            let around = replayed.iter().filter(|(range, _)| range.contains(&here.step));
            found.extend(around.flat_map(|(_, used)| used.iter().copied()));
            let arguments = flow.arguments.iter().filter(|(call, _)| *call == site);
            found.extend(arguments.flat_map(|(_, used)| used.iter().map(|(id, _)| *id)));
            found.extend(
                loans
                    .calls
                    .get(&site)
                    .into_iter()
                    .flatten()
                    .map(|lend| lend.binding),
            );
            let guards = here.scope.iter().copied().filter(|id| {
                is_guard(library, flow, strategies, *id) || is_kept(library, flow, strategies, *id)
            });
            found.extend(guards.filter(|id| liveness.has_value(flow, site, *id)));
            with_inputs(flow, strategies, found)
        })
        .collect()
}

/// Adds what the re-executed statements among the needed ones use.
fn with_inputs(flow: &Flow, strategies: &[Strategy], mut found: BTreeSet<BindingId>) -> BTreeSet<BindingId> {
    let mut open: Vec<_> = found.iter().copied().collect();
    while let Some(id) = open.pop() {
        if matches!(strategies[id], Strategy::Reexecuted { .. }) {
            for (input, _) in &flow.bindings[id].inputs {
                if found.insert(*input) {
                    open.push(*input);
                }
            }
        }
    }
    found
}

fn reexecuted_ranges<'a>(lowered: &Lowered, flow: &'a Flow) -> Vec<(Range<StepId>, &'a [BindingId])> {
    let mut ranges = HashMap::new();
    collect_ranges(&lowered.body, &mut ranges);
    flow.reexecuted
        .iter()
        .filter_map(|(step, used)| Some((ranges.get(step)?.clone(), used.as_slice())))
        .collect()
}

fn collect_ranges(block: &Block, ranges: &mut HashMap<StepId, Range<StepId>>) {
    for step in &block.steps {
        ranges.insert(step.range.start, step.range.clone());
        if let StepKind::Spine(spine) = &step.kind {
            for_each_block(&spine.spine, &mut |block| collect_ranges(block, ranges));
        }
    }
}

/// Adds what crossing a skipped run has made necessary; whether there was anything new.
pub fn force(needed: &mut Needed, forced: Vec<(SiteId, BindingId)>) -> bool {
    let before: usize = needed.iter().map(BTreeSet::len).sum();
    for (site, binding) in forced {
        needed[site as usize - 1].insert(binding);
    }
    needed.iter().map(BTreeSet::len).sum::<usize>() > before
}

/// Turns the needed variables into registrations.
pub fn entries(
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    needed: &Needed,
    loans: &Loans,
) -> Vec<SitePlan> {
    (1..=flow.sites.len() as SiteId)
        .map(|site| {
            let lent = loans.calls.get(&site).map(Vec::as_slice).unwrap_or_default();
            let callee_of = |id: BindingId| lent.iter().copied().find(|lend| lend.binding == id);
            let wanted = &needed[site as usize - 1];
            let mut entries = Vec::new();
            for &id in &flow.sites[site as usize - 1].scope {
                let binding = &flow.bindings[id];
                if let Declaration::Parameter {
                    index,
                    passing,
                    whole,
                } = binding.declaration
                {
                    entries.extend(parameter_entry(
                        flow,
                        liveness,
                        site,
                        Parameter {
                            id,
                            index,
                            passing,
                            whole,
                            needed: wanted.contains(&id),
                            callee: callee_of(id),
                        },
                    ));
                } else if strategies[id] == Strategy::Saved && wanted.contains(&id) {
                    entries.push(variable_entry(id, callee_of(id)));
                }
            }
            let used_up = lent.iter().filter(|lend| lend.used_up).map(|lend| lend.binding);
            SitePlan {
                entries,
                used_up: used_up.collect(),
            }
        })
        .collect()
}

fn variable_entry(id: BindingId, lend: Option<Loan>) -> Entry {
    match lend {
        None => Entry::Save(id),
        Some(Loan { split: true, .. }) => Entry::Split {
            binding: id,
            parameter: None,
            required: true,
        },
        Some(Loan {
            parameter: callee,
            by_value: true,
            ..
        }) => Entry::Moved {
            binding: id,
            callee,
            parameter: None,
        },
        Some(lend) => Entry::Link(id, lend.parameter),
    }
}

/// A variable that nothing ever mentions again is kept for its destructor.
fn is_guard(library: &Library, flow: &Flow, strategies: &[Strategy], id: BindingId) -> bool {
    let binding = &flow.bindings[id];
    let moved =
        |(input, kind): &(BindingId, Use)| *kind == Use::Move && !flow.bindings[*input].is_plainly_copy();
    let made = flow.counts_owners
        || binding.from_spine
        || binding.is_late()
        || binding.init.as_ref().is_some_and(|init| !is_pure(library, init))
        || binding.inputs.iter().any(moved);
    strategies[id] == Strategy::Saved
        && binding.treatment != Some(Treatment::Elsewhere)
        && matches!(binding.declaration, Declaration::Let)
        && made
        && !binding.is_plainly_copy()
        && !flow
            .events()
            .any(|event| event.binding == id && event.kind != Use::Write)
        && !binding.is_synthetic()
}

/// A variable that is kept until its scope ends, whether it is used until then or not: because the user says so, or because
/// it passes on then what was written to it, or counts as an owner as long as it is there.
fn is_kept(library: &Library, flow: &Flow, strategies: &[Strategy], id: BindingId) -> bool {
    let binding = &flow.bindings[id];
    let wanted = match binding.treatment {
        Some(Treatment::Save) => true,
        None => flushes(library, binding) || flow.counts_owners && owns(library, flow, id),
        Some(_) => false,
    };
    wanted
        && strategies[id] == Strategy::Saved
        && matches!(binding.declaration, Declaration::Let)
        && !binding.is_plainly_copy()
        && !binding.is_synthetic()
        && !moves_into_a_closure(flow, id)
}

struct Parameter {
    id: BindingId,
    index: u32,
    passing: Passing,
    whole: bool,
    needed: bool,
    callee: Option<Loan>,
}

fn parameter_entry(flow: &Flow, liveness: &Liveness, site: SiteId, parameter: Parameter) -> Option<Entry> {
    let Parameter {
        id,
        index,
        passing,
        whole,
        needed,
        callee,
    } = parameter;
    let moved = liveness.may_be_moved(flow, site, id);
    // A part that a method has shortened, `rows.next()`, is not what the caller has.
    let may_shorten = passing == Passing::Shared && flow.bindings[id].mutable;
    let shortens = |event: &Event| event.binding == id && matches!(event.kind, Use::Change | Use::Lend);
    let reassigned = flow.is_given_again(id) || may_shorten && flow.events().any(shortens);
    match passing {
        Passing::Given => {
            let binding = &flow.bindings[id];
            let may_be_looked_at = whole && !moved && flow.nameable(site, id) && !may_be_called(binding);
            (needed && is_taken_by_value(binding)).then_some(Entry::Again {
                binding: id,
                index,
                whereabouts: match callee {
                    Some(loan) => Whereabouts::Callee(loan.parameter),
                    None if may_be_looked_at => Whereabouts::Here,
                    None => Whereabouts::Gone,
                },
            })
        }
        Passing::Shared | Passing::Exclusive if reassigned => None,
        Passing::Shared => flow.nameable(site, id).then_some(Entry::Parameter {
            binding: id,
            index,
            required: false,
        }),
        Passing::Exclusive => Some(match callee {
            Some(Loan { split: true, .. }) => Entry::Split {
                binding: id,
                parameter: Some(index),
                required: false,
            },
            Some(lend) => Entry::ParameterLink {
                binding: id,
                index,
                callee: lend.parameter,
                required: false,
            },
            None => Entry::Parameter {
                binding: id,
                index,
                required: false,
            },
        }),
        Passing::Value => match callee {
            Some(Loan { split: true, .. }) => Some(Entry::Split {
                binding: id,
                parameter: whole.then_some(index),
                required: true,
            }),
            Some(Loan {
                parameter: callee,
                by_value: true,
                ..
            }) => Some(Entry::Moved {
                binding: id,
                callee,
                parameter: whole.then_some(index),
            }),
            Some(lend) => Some(Entry::Link(id, lend.parameter)),
            None if needed && whole => Some(Entry::Parameter {
                binding: id,
                index,
                required: true,
            }),
            None if needed => Some(Entry::Save(id)),
            None if whole && !moved && !loses_a_part(flow, id) && flow.nameable(site, id) => {
                Some(Entry::Parameter {
                    binding: id,
                    index,
                    required: false,
                })
            }
            None => None,
        },
    }
}

/// Whether a part of the variable may be moved away.
fn loses_a_part(flow: &Flow, id: BindingId) -> bool {
    flow.events()
        .any(|event| event.binding == id && event.kind == Use::MovePart)
}

/// Borrows for variables that are shadowed where a site needs them.
pub fn aliases(flow: &Flow, sites: &[SitePlan]) -> Aliases {
    let mut aliases = Aliases::new();
    for (index, site) in sites.iter().enumerate() {
        for entry in &site.entries {
            let binding = entry.binding();
            let named = matches!(
                entry,
                Entry::Link(..) | Entry::Moved { .. } | Entry::Split { .. } | Entry::ParameterLink { .. }
            );
            if named || flow.nameable(index as SiteId + 1, binding) {
                continue;
            }
            let scope = &flow.sites[index].scope;
            let ident = flow.written(binding);
            let mut after = scope.iter().skip_while(|id| **id != binding).skip(1);
            let Some(shadow) = after.find(|id| flow.same_name(**id, binding)) else {
                continue;
            };
            let before = aliases.entry(flow.bindings[*shadow].step).or_default();
            if before.iter().all(|alias| alias.binding != binding) {
                before.push(Alias {
                    binding,
                    ident: names::made(format_args!("outer_{}_{binding}", names::plain_text(&ident))),
                });
            }
        }
    }
    aliases
}

/// The names under which variables are saved: `x`, and `x#2` for another `x` of the same function.
pub fn keys(flow: &Flow, sites: &[SitePlan]) -> HashMap<BindingId, String> {
    let saved: BTreeSet<BindingId> = sites
        .iter()
        .flat_map(|site| site.entries.iter().map(Entry::binding))
        .collect();
    let mut count: HashMap<String, u32> = HashMap::new();
    saved
        .into_iter()
        .map(|id| {
            let name = flow.locals.shown(&flow.bindings[id].ident);
            let number = count.entry(name.clone()).or_default();
            *number += 1;
            (
                id,
                if *number == 1 {
                    name
                } else {
                    format!("{name}#{number}")
                },
            )
        })
        .collect()
}
