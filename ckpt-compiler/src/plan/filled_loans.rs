//! Variables that a value which a restart fills borrows exclusively: while it is in use, it saves them.

use super::Runs;
use super::sites::Needed;
use crate::cfg::{BindingId, Flow};
use crate::diagnostics::{Diagnostics, Refusal};
use crate::names::Kind;
use crate::spine::{FilledLoan, Lowered, SiteId};
use proc_macro2::Ident;

/// Variables that another one which is saved at a site borrows exclusively, and so saves.
#[derive(Debug, Default)]
pub struct FilledLoans {
    /// For every site the variables, each with what knows its type.
    sites: Vec<Vec<(BindingId, Ident)>>,
}

impl FilledLoans {
    /// What knows the type of a variable that is saved at a site as a part of another one.
    pub fn part(&self, site: SiteId, binding: BindingId) -> Option<&Ident> {
        let mut parts = self.of(site).iter();
        parts.find(|(base, _)| *base == binding).map(|(_, kind)| kind)
    }

    /// The variables that are saved at a site as parts of others.
    pub fn of(&self, site: SiteId) -> &[(BindingId, Ident)] {
        self.sites
            .get(site as usize - 1)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

/// Finds for every site which variables are saved as a part of another one that is needed there. In their own place
/// something of their type is saved: a restart makes the other one of that, and fills it.
pub fn filled_loans(
    lowered: &Lowered,
    flow: &Flow,
    needed: &Needed,
    runs: &Runs,
    errors: &mut Diagnostics,
) -> FilledLoans {
    let mut found = FilledLoans {
        sites: vec![Vec::new(); flow.sites.len()],
    };
    for part in &lowered.filled_loans {
        let Some((value, made)) = value_of(flow, part) else {
            continue;
        };
        let Some(base) = flow.input_named(made, &part.base) else {
            continue;
        };
        for site in 1..=flow.sites.len() as SiteId {
            let here = &flow.sites[site as usize - 1];
            if !here.scope.contains(&value) || !needed[site as usize - 1].contains(&value) {
                continue;
            }
            if let Some(other) = looks_at(flow, runs, &here.scope, base, made) {
                refuse(flow, value, base, other, errors);
                continue;
            }
            found.sites[site as usize - 1].push((base, part.kind.clone()));
        }
    }
    found
}

/// The user's variable, and what its initialiser has made.
fn value_of(flow: &Flow, part: &FilledLoan) -> Option<(BindingId, BindingId)> {
    let local = flow.locals.id(&part.value)?;
    let made = flow.bindings.iter().position(|one| one.local == local)?;
    let is_value = |one: &crate::cfg::Binding| one.inputs.iter().any(|(input, _)| *input == made);
    Some((flow.bindings.iter().position(is_value)?, made))
}

/// Another statement that is re-executed at a restart and looks at the variable, which holds nothing then.
fn looks_at(
    flow: &Flow,
    runs: &Runs,
    scope: &[BindingId],
    base: BindingId,
    made: BindingId,
) -> Option<BindingId> {
    let is_ours = |id: BindingId| id == made || flow.bindings[id].is_for(Kind::TypeOfLent);
    scope.iter().copied().find(|&id| {
        let binding = &flow.bindings[id];
        let uses = binding.inputs.iter().any(|(input, _)| *input == base);
        uses && !is_ours(id) && runs.reexecuted.contains(&binding.step)
    })
}

fn refuse(flow: &Flow, value: BindingId, base: BindingId, other: BindingId, errors: &mut Diagnostics) {
    let ident = |id: BindingId| &flow.bindings[id].ident;
    let (name, base, other) = (ident(value), ident(base), ident(other));
    errors.refuse(
        name.span(),
        Refusal::FilledBorrowsExclusively {
            name: name.clone(),
            other: other.clone(),
            base: base.clone(),
        },
    );
}
