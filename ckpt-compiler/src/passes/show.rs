//! What each stage has made, as text for people: `cargo ckpt plan --stage NAME`.

use super::{Pass, Stages, analyse};
use crate::cfg::{BindingId, Declaration};
use crate::diagnostics::Diagnostics;
use crate::liveness::clean::Clean;
use crate::names::LocalSet;
use crate::plan::{Entry, Splitting, Whereabouts};
use crate::spine::SiteId;
use crate::syntax::text::line_of;
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::BTreeMap;
use std::fmt::{Debug, Write};

/// What the stages have made of a function.
pub(super) struct Made<'a> {
    /// All before the emission.
    pub stages: &'a Stages,
    /// The function as it was given.
    item: &'a TokenStream,
    /// Formats Rust.
    format: &'a dyn Fn(TokenStream) -> String,
}

/// What a stage makes of a function, or what is refused; `format` formats Rust.
pub fn dump(
    pass: &Pass,
    arguments: TokenStream,
    item: &TokenStream,
    opens_session: bool,
    format: &dyn Fn(TokenStream) -> String,
) -> String {
    match analyse(arguments, item, opens_session) {
        Ok(stages) => (pass.text)(&Made {
            stages: &stages,
            item,
            format,
        }),
        Err(errors) => refused(&errors),
    }
}

fn refused(errors: &Diagnostics) -> String {
    let list: Vec<_> = errors.iter().map(|one| one.message()).collect();
    list.join("\n") + "\n"
}

impl Made<'_> {
    fn name(&self, id: BindingId) -> String {
        self.stages.flow.bindings[id].ident.to_string()
    }

    fn names<'i>(&self, ids: impl IntoIterator<Item = &'i BindingId>) -> String {
        let names: Vec<String> = ids.into_iter().map(|id| self.name(*id)).collect();
        names.join(", ")
    }

    fn sites(&self) -> impl Iterator<Item = SiteId> {
        1..=self.stages.flow.sites.len() as SiteId
    }
}

/// A line of text.
macro_rules! line {
    ($text:expr, $($what:tt)*) => {{ let _ = writeln!($text, $($what)*); }};
}

pub(super) fn attributes(made: &Made<'_>) -> String {
    let mut text = String::new();
    let options = &made.stages.options;
    line!(text, "#[{}] sites: {:?}", options.attribute(), options.sites);
    if options.counts_owners {
        line!(text, "owners are counted");
    }
    for call in &options.calls {
        line!(text, "calls {}", line_of(call.to_token_stream()));
    }
    for (index, treatment) in made.stages.treatments.iter().enumerate() {
        if let Some(treatment) = treatment {
            line!(text, "parameter {index}: {treatment:?}");
        }
    }
    text
}

pub(super) fn resolved(made: &Made<'_>) -> String {
    (made.format)(made.stages.resolved.to_token_stream())
}

pub(super) fn regions(made: &Made<'_>) -> String {
    let mut text = String::new();
    let regions = &made.stages.regions;
    for (index, region) in regions.regions.iter().enumerate() {
        let locals = &made.stages.flow.locals;
        let names = |some: &LocalSet| -> Vec<String> {
            let some = locals.by_name(some).into_iter();
            some.map(|one| locals.name(one).to_string()).collect()
        };
        line!(
            text,
            "region {index}: borrows exclusively or changes {}",
            names(&region.lends).join(", ")
        );
        let moved = region.moves.keys().copied().collect();
        if !region.moves.is_empty() {
            line!(text, "region {index}: moves {}", names(&moved).join(", "));
        }
    }
    for member in &regions.members {
        line!(text, "{}", line_of(member.function.sig.to_token_stream()));
    }
    text
}

pub(super) fn desugared(made: &Made<'_>) -> String {
    let chosen = if made.stages.chosen {
        "// the site is the compiler's choice\n"
    } else {
        ""
    };
    chosen.to_owned() + &(made.format)(made.stages.function.to_token_stream())
}

pub(super) fn bindings(made: &Made<'_>) -> String {
    let mut text = String::new();
    let (flow, plan) = (&made.stages.flow, &made.stages.plan);
    for (id, one) in flow.bindings.iter().enumerate() {
        let (line, declared) = (one.ident.span().start().line, &one.declaration);
        line!(
            text,
            "{id} {} line {line} {declared:?} {:?}",
            one.ident,
            plan.strategies.get(id)
        );
    }
    for (index, node) in flow.nodes.iter().enumerate() {
        let _ = write!(text, "block {index} -> {:?}:", node.next);
        for event in &node.events {
            let _ = write!(text, " {:?} {}", event.kind, made.name(event.binding));
        }
        text.push('\n');
    }
    text
}

pub(super) fn liveness(made: &Made<'_>) -> String {
    of_scopes(made, "live", |site, id| {
        made.stages.liveness.is_live(&made.stages.flow, site, id)
    })
}

pub(super) fn clean(made: &Made<'_>) -> String {
    let clean = Clean::of(&made.stages.options.library, &made.stages.flow, made.item);
    of_scopes(made, "clean", |site, id| {
        clean.contains(&made.stages.flow, site, id)
    })
}

/// For each site the variables in scope of which something holds.
fn of_scopes(made: &Made<'_>, word: &str, holds: impl Fn(SiteId, BindingId) -> bool) -> String {
    let mut text = String::new();
    for (number, site) in made.sites().zip(&made.stages.flow.sites) {
        let those = site.scope.iter().filter(|id| holds(number, **id));
        line!(text, "site {number}: {word} {}", made.names(those));
    }
    text
}

pub(super) fn strategies(made: &Made<'_>) -> String {
    let mut text = String::new();
    for (id, class) in made.stages.plan.strategies.iter().enumerate() {
        line!(text, "{id} {}: {class:?}", made.name(id));
    }
    text
}

pub(super) fn loans(made: &Made<'_>) -> String {
    let mut text = String::new();
    let loans = &made.stages.plan.loans;
    for site in made.sites() {
        for loan in loans.calls.get(&site).into_iter().flatten() {
            let (name, parameter) = (made.name(loan.binding), loan.parameter);
            let how = match (loan.split, loan.by_value, loan.used_up) {
                (true, ..) => "in part".to_owned(),
                (_, true, _) => format!("by value to parameter {parameter}"),
                (_, _, true) => format!("to parameter {parameter}, which may use it up"),
                _ => format!("to parameter {parameter}"),
            };
            line!(text, "site {site}: {name} is lent {how}");
        }
        for splitting in loans.splittings.get(&site).into_iter().flatten() {
            match splitting {
                Splitting::Parts { binding, leaves, .. } => {
                    let operands: Vec<String> = leaves.iter().map(|leaf| leaf.operand.to_string()).collect();
                    let name = made.name(*binding);
                    line!(
                        text,
                        "site {site}: {name} is split, operands {} have parts of it",
                        operands.join(", ")
                    );
                }
                Splitting::Halves { binding, halves } => {
                    let halves = made.names(halves.iter().map(|(half, _)| half));
                    line!(
                        text,
                        "site {site}: {} is split into {halves}",
                        made.name(*binding)
                    );
                }
            }
        }
        for (base, kind) in made.stages.plan.filled.of(site) {
            line!(
                text,
                "site {site}: {} is saved as a part of another, its type is that of {kind}",
                made.name(*base)
            );
        }
    }
    text
}

pub(super) fn schedule(made: &Made<'_>) -> String {
    let mut text = String::new();
    let schedule = &made.stages.plan.schedule;
    line!(text, "steps that run again: {}", list(&schedule.runs.reexecuted));
    line!(
        text,
        "steps that begin a run: {}",
        list(&schedule.runs.boundaries)
    );
    for (id, mode) in schedule.crossings.modes.iter().collect::<BTreeMap<_, _>>() {
        let given = schedule.crossings.reinitialised.get(id).into_iter().flatten();
        let given: Vec<String> = given.map(|run| format!(", given again in {run:?}")).collect();
        line!(text, "{id} {}: {mode:?}{}", made.name(*id), given.concat());
    }
    for (step, aliases) in &schedule.aliases {
        for alias in aliases {
            line!(
                text,
                "before step {step}: {} borrows {}",
                alias.ident,
                made.name(alias.binding)
            );
        }
    }
    text
}

fn list<T: Debug>(all: impl IntoIterator<Item = T>) -> String {
    let all: Vec<String> = all.into_iter().map(|one| format!("{one:?}")).collect();
    all.join(", ")
}

pub(super) fn option_slots(made: &Made<'_>) -> String {
    made.stages.plan.option_slots.text(&|id| made.name(id))
}

pub(super) fn reborrows(made: &Made<'_>) -> String {
    let mut text = String::new();
    for (number, site) in made.sites().zip(made.stages.plan.reborrows.sites()) {
        if !site.references.is_empty() {
            line!(
                text,
                "site {number}: {} end and are made again",
                made.names(&site.references)
            );
        }
        for group in &site.swap_groups {
            line!(text, "site {number}: {} trade places", made.names(group));
        }
    }
    text
}

pub(super) fn plan(made: &Made<'_>) -> String {
    let mut text = String::new();
    let plan = &made.stages.plan;
    for (number, site) in made.sites().zip(&plan.sites) {
        line!(text, "site {number}: {} entries", site.entries.len());
        for entry in &site.entries {
            let key = plan.keys.get(&entry.binding()).cloned().unwrap_or_default();
            line!(
                text,
                "  {key}: {}{}",
                of_entry(entry),
                offered(made, entry.binding())
            );
        }
        if !site.used_up.is_empty() {
            line!(text, "  used up by the call: {}", made.names(&site.used_up));
        }
    }
    text
}

fn of_entry(entry: &Entry) -> String {
    let required = |required: &bool| if *required { "saved" } else { "for the caller" };
    match entry {
        Entry::Save(_) => "saved".to_owned(),
        Entry::Link(_, callee) => format!("saved by the callee as its parameter {callee}"),
        Entry::Moved { callee, .. } => format!("moves into parameter {callee} of the callee"),
        Entry::Split { required: own, .. } => format!("{}, parts of it by the callee", required(own)),
        Entry::Parameter { required: own, .. } => required(own).to_owned(),
        Entry::ParameterLink {
            callee,
            required: own,
            ..
        } => {
            format!("{}, by the callee as its parameter {callee}", required(own))
        }
        Entry::Again { whereabouts, .. } => match whereabouts {
            Whereabouts::Here => "for the caller, who passes it again".to_owned(),
            Whereabouts::Gone => "needed as the caller passed it".to_owned(),
            Whereabouts::Callee(callee) => format!("for the caller, by the callee as its parameter {callee}"),
        },
    }
}

/// As which parameter the caller knows the variable.
fn offered(made: &Made<'_>, id: BindingId) -> String {
    match made.stages.flow.bindings[id].declaration {
        Declaration::Parameter { index, .. } => format!(" (parameter {index})"),
        _ => String::new(),
    }
}

pub(super) fn emitted(made: &Made<'_>) -> String {
    match super::emitted(made.stages, made.item) {
        Ok(function) => (made.format)(function),
        Err(errors) => refused(&errors),
    }
}
