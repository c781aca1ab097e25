//! References that end at a site, so that what they borrow can be saved, and are reborrowed after it.

use super::Aliases;
use super::loans::Loans;
use crate::cfg::{BindingId, Declaration, Flow, Use};
use crate::diagnostics::{Diagnostics, Refusal, Subject};
use crate::library::{Iterators, Library, Methods};
use crate::liveness::Liveness;
use crate::names::Kind;
use crate::spine::SiteId;
use crate::strategies::Strategy;
use crate::syntax::purity::is_pure;
use std::collections::BTreeSet;
use syn::Expr;

/// The references that end at sites.
#[derive(Debug, Default)]
pub struct Reborrows {
    /// For every site.
    sites: Vec<SiteReborrows>,
}

/// The references that end at a site.
#[derive(Debug, Default)]
pub struct SiteReborrows {
    /// Those that are reborrowed after it, in the order of their declaration.
    pub references: Vec<BindingId>,
    /// Groups of those that trade places: which stands for what is part of the checkpoint.
    pub swap_groups: Vec<Vec<BindingId>>,
}

impl Reborrows {
    /// The references that end at a site.
    pub fn at(&self, site: SiteId) -> &SiteReborrows {
        &self.sites[site as usize - 1]
    }

    /// What ends at the sites, in their order.
    pub fn sites(&self) -> &[SiteReborrows] {
        &self.sites
    }
}

/// Exclusive references that are alive at a site: what they borrow can only be saved when they end there.
pub fn reborrows(
    library: &Library,
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    loans: &Loans,
    errors: &mut Diagnostics,
) -> Reborrows {
    let of_site = |site| of_site(library, flow, liveness, strategies, loans, site, errors);
    let sites = (1..=flow.sites.len() as SiteId).map(of_site).collect();
    Reborrows { sites }
}

fn of_site(
    library: &Library,
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    loans: &Loans,
    site: SiteId,
    errors: &mut Diagnostics,
) -> SiteReborrows {
    let here = &flow.sites[site as usize - 1];
    let lent = loans.calls.get(&site).map(Vec::as_slice).unwrap_or_default();
    let mut planned = SiteReborrows {
        references: next_to_parts(library, flow, liveness, strategies, loans, site, errors),
        swap_groups: Vec::new(),
    };
    for &id in &here.scope {
        let exclusive = matches!(strategies[id], Strategy::Reexecuted { exclusive: true });
        let is_argument = is_read_by_call(flow, site, id);
        let is_used = is_argument || liveness.is_live(flow, site, id);
        let mut bases = flow.bindings[id].inputs.iter().map(|(input, _)| *input);
        let base_is_lent =
            bases.any(|base| lent.iter().any(|lend| lend.binding == base)) && is_used_by_call(flow, site, id);
        if !exclusive || !is_used || base_is_lent {
            continue;
        }
        if is_argument {
            refuse_exclusive(flow, id, errors);
            continue;
        }
        let group = trading_group(flow, id);
        let trades = group.len() > 1;
        let group = with_borrowed(flow, strategies, group);
        let is_call = loans.calls.contains_key(&site);
        if group.iter().all(|id| can_be_reborrowed(library, flow, *id)) && !(trades && is_call) {
            if let Some((reference, base)) = hidden_base(flow, site, &group) {
                refuse_hidden(flow, reference, base, errors);
                continue;
            }
            planned.references.extend(group);
            planned.references.sort_unstable();
            planned.references.dedup();
            let trading = trading_group(flow, id);
            if trading.len() > 1 && !planned.swap_groups.contains(&trading) {
                planned.swap_groups.push(trading);
            }
        } else if !is_item(flow, id) {
            refuse_exclusive(flow, id, errors);
        }
    }
    planned
}

/// Shared borrows of a variable of which the call at the site is lent a part exclusively: for that, the variable is taken
/// apart as a whole.
fn next_to_parts(
    library: &Library,
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    loans: &Loans,
    site: SiteId,
    errors: &mut Diagnostics,
) -> Vec<BindingId> {
    let lent = loans.calls.get(&site).map(Vec::as_slice).unwrap_or_default();
    let mut found = Vec::new();
    let parts: BTreeSet<BindingId> = lent
        .iter()
        .filter(|lend| lend.split)
        .map(|lend| lend.binding)
        .collect();
    if parts.is_empty() {
        return found;
    }
    for &id in &flow.sites[site as usize - 1].scope {
        let shared = strategies[id] == Strategy::Reexecuted { exclusive: false };
        let is_argument = loans
            .others
            .get(&site)
            .is_some_and(|others| others.used.contains(&id));
        if !shared || !(is_argument || liveness.is_live(flow, site, id)) {
            continue;
        }
        let group = made_from(flow, strategies, id);
        let base = group
            .iter()
            .flat_map(|id| flow.bindings[*id].inputs.iter().map(|(input, _)| *input))
            .find(|input| parts.contains(input));
        let Some(base) = base else { continue };
        if is_argument || !group.iter().all(|id| can_be_reborrowed(library, flow, *id)) {
            refuse_next_to_part(flow, id, base, errors);
        } else if let Some((reference, base)) = hidden_base(flow, site, &group) {
            refuse_hidden(flow, reference, base, errors);
        } else {
            found.extend(group);
            found.sort_unstable();
            found.dedup();
        }
    }
    found
}

/// The variable and those which it is made from that are reborrowed at restart.
fn made_from(flow: &Flow, strategies: &[Strategy], id: BindingId) -> Vec<BindingId> {
    let mut all = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(id) = open.pop() {
        for (input, _) in &flow.bindings[id].inputs {
            if matches!(strategies[*input], Strategy::Reexecuted { .. }) && all.insert(*input) {
                open.push(*input);
            }
        }
    }
    all.into_iter().collect()
}

fn refuse_next_to_part(flow: &Flow, id: BindingId, base: BindingId, errors: &mut Diagnostics) {
    let binding = &flow.bindings[id];
    let base = &flow.bindings[base].ident;
    let (span, shown) = match (&binding.init, is_iterator(binding)) {
        (Some(Expr::Call(call)), true) => (syn::spanned::Spanned::span(&call.args), Subject::ForIterator),
        _ => (binding.ident.span(), Subject::Variable(binding.ident.clone())),
    };
    errors.refuse(
        span,
        Refusal::NextToPart {
            shown,
            base: base.clone(),
        },
    );
}

/// Whether the variable is the item of a `for`, which is refused together with its iterator.
fn is_item(flow: &Flow, id: BindingId) -> bool {
    let inputs = &flow.bindings[id].inputs;
    flow.bindings[id].reexecutes
        && !is_iterator(&flow.bindings[id])
        && inputs
            .iter()
            .any(|(input, _)| is_iterator(&flow.bindings[*input]))
}

/// Whether the call at the site looks at what the reference borrows.
fn is_read_by_call(flow: &Flow, site: SiteId, id: BindingId) -> bool {
    let mut calls = flow.arguments.iter().filter(|(call, _)| *call == site);
    calls.any(|(_, used)| used.contains(&(id, Use::Read)))
}

/// Whether the call at the site is given the reference, or another one that was made together with it.
fn is_used_by_call(flow: &Flow, site: SiteId, id: BindingId) -> bool {
    let mut calls = flow.arguments.iter().filter(|(call, _)| *call == site);
    let step = |id: BindingId| flow.bindings[id].step;
    calls.any(|(_, used)| used.iter().any(|(other, _)| step(*other) == step(id)))
}

/// The references that trade places with a reference, itself included, in the order of their declaration.
fn trading_group(flow: &Flow, id: BindingId) -> Vec<BindingId> {
    let mut group = BTreeSet::from([id]);
    loop {
        let before = group.len();
        for (one, other) in &flow.swaps {
            if group.contains(one) || group.contains(other) {
                group.extend([*one, *other]);
            }
        }
        if group.len() == before {
            return group.into_iter().collect();
        }
    }
}

/// The references together with those that they are made from.
fn with_borrowed(flow: &Flow, strategies: &[Strategy], group: Vec<BindingId>) -> Vec<BindingId> {
    let mut all: BTreeSet<BindingId> = group.iter().copied().collect();
    let mut open = group;
    while let Some(id) = open.pop() {
        for (input, _) in &flow.bindings[id].inputs {
            let exclusive = matches!(strategies[*input], Strategy::Reexecuted { exclusive: true });
            if exclusive && all.insert(*input) {
                open.push(*input);
            }
        }
    }
    all.into_iter().collect()
}

/// A reference, and what it is made from, where another variable of that name hides it at the site.
fn hidden_base(flow: &Flow, site: SiteId, group: &[BindingId]) -> Option<(BindingId, BindingId)> {
    let pairs = group.iter().flat_map(|id| {
        let inputs = flow.bindings[*id].inputs.iter();
        inputs.map(|(input, _)| (*id, *input))
    });
    let scope = &flow.sites[site as usize - 1].scope;
    let hidden = |id: BindingId| scope.contains(&id) && !flow.nameable(site, id);
    let mut pairs = pairs.filter(|(id, input)| hidden(*id) || hidden(*input));
    pairs.next()
}

/// Variables that are borrowed exclusively where another one of their name is declared, for longer: a site behind it can
/// look at them only through a borrow taken there.
pub fn refuse_under_aliases(
    flow: &Flow,
    liveness: &Liveness,
    strategies: &[Strategy],
    aliases: &Aliases,
    errors: &mut Diagnostics,
) {
    for (step, aliases) in aliases {
        let Some((_, end)) = flow.points.get(step) else {
            continue;
        };
        for (id, class) in strategies.iter().enumerate() {
            let exclusive = matches!(class, Strategy::Reexecuted { exclusive: true });
            let before = flow.bindings[id].step < *step;
            if !exclusive || !before || !liveness.is_live_at(flow, *end, id) {
                continue;
            }
            let borrowed = aliases
                .iter()
                .map(|alias| alias.binding)
                .find(|base| flow.bindings[id].inputs.iter().any(|(input, _)| input == base));
            if let Some(base) = borrowed {
                refuse_hidden(flow, id, base, errors);
            }
        }
    }
}

fn refuse_hidden(flow: &Flow, reference: BindingId, base: BindingId, errors: &mut Diagnostics) {
    let (reference, base) = (&flow.bindings[reference].ident, &flow.bindings[base].ident);
    errors.refuse(
        reference.span(),
        Refusal::HiddenAtSite {
            reference: reference.clone(),
            base: base.clone(),
        },
    );
}

fn can_be_reborrowed(library: &Library, flow: &Flow, id: BindingId) -> bool {
    let binding = &flow.bindings[id];
    let own = |event: &&crate::cfg::Event| event.binding == id && event.step != binding.step;
    if flow.events().filter(own).any(|event| event.kind == Use::Write) {
        return false;
    }
    let pure = binding
        .init
        .as_ref()
        .is_some_and(|one| is_pure_borrow(library, one));
    if is_iterator(binding) {
        return pure;
    }
    let lent = flow
        .events()
        .filter(own)
        .filter(|event| event.kind == Use::Lend)
        .count();
    let swaps = flow
        .swaps
        .iter()
        .filter(|(one, other)| *one == id || *other == id)
        .count();
    let made_by_ckpt = binding.reexecutes && !binding.mutable;
    (pure || made_by_ckpt) && lent == swaps
}

/// Whether the variable is the iterator of a `for`.
fn is_iterator(binding: &crate::cfg::Binding) -> bool {
    binding.reexecutes && binding.is_for(Kind::Iterator)
}

fn is_pure_borrow(library: &Library, expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) => {
            let method = call.method.to_string();
            let is_borrow = library.borrows(&method)
                || library.adapts(&method)
                || library.says(&method, Methods::Unwraps);
            // A closure that is written again has another type.
            let is_plain = |argument: &Expr| {
                crate::syntax::origins::closure_in(argument).is_none()
                    && (is_pure(library, argument) || is_pure_borrow(library, argument))
            };
            // What ends with an effect cannot end at a site and be reborrowed.
            let has_an_end = library.says(&method, Methods::Guards) || library.says(&method, Methods::Opens);
            is_borrow
                && !has_an_end
                && is_pure_borrow(library, &call.receiver)
                && call.args.iter().all(is_plain)
        }
        Expr::Call(call) if call.args.len() == 1 => {
            matches!(&*call.func, Expr::Path(path) if library.says_of_path(&path.path, Iterators::Converts))
                && is_pure_borrow(library, &call.args[0])
        }
        Expr::Tuple(tuple) => tuple.elems.iter().all(|one| is_pure_borrow(library, one)),
        Expr::Closure(_) => false,
        other => is_pure(library, other),
    }
}

fn refuse_exclusive(flow: &Flow, id: BindingId, errors: &mut Diagnostics) {
    let binding = &flow.bindings[id];
    let name = &binding.ident;
    let is_closure = matches!(binding.init, Some(Expr::Closure(_)));
    let refusal = |name: proc_macro2::Ident| match binding.declaration {
        _ if is_closure && binding.mutable => Refusal::ClosureChanges { name },
        _ if is_closure => Refusal::ClosureLooks { name },
        Declaration::Arm => Refusal::PatternBorrowsExclusively { name },
        _ if binding.reexecutes || binding.is_synthetic() => Refusal::ForBorrowsExclusively,
        _ => Refusal::BorrowsExclusively { name },
    };
    let refusal = refusal(name.clone());
    let span = match &binding.init {
        Some(Expr::Call(call)) if refusal == Refusal::ForBorrowsExclusively && is_iterator(binding) => {
            syn::spanned::Spanned::span(&call.args)
        }
        _ => name.span(),
    };
    errors.refuse(span, refusal);
}
