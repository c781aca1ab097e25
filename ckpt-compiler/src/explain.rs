//! The plan of a function for people: what becomes of every variable at every site, and why.

use crate::cfg::{BindingId, Declaration};
use crate::diagnostics::Diagnostics;
use crate::parse::options::Treatment;
use crate::passes::{Stages, analyse};
use crate::plan::Entry;
use crate::spine::SiteId;
use crate::strategies::Strategy;
use crate::syntax::origins::is_unseeded;
use proc_macro2::TokenStream;
use quote::ToTokens;

/// What becomes of a variable at a restart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It is in the checkpoint.
    Saved,
    /// It is in the checkpoint, written by the function that it is lent to.
    SavedByCallee,
    /// It is offered to the caller, who owns it.
    SavedForCaller,
    /// Its statement is re-executed.
    Reexecuted,
    /// The caller passes it again.
    PassedAgain,
    /// It gets its type's default: the user said so.
    Skipped,
    /// Nothing: no one needs it any more.
    NotNeeded,
}

impl Fate {
    /// The word for it, as in `--format json`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Saved => "saved",
            Self::SavedByCallee => "saved by callee",
            Self::SavedForCaller => "saved for caller",
            Self::Reexecuted => "re-executed",
            Self::PassedAgain => "passed again",
            Self::Skipped => "skipped",
            Self::NotNeeded => "not needed",
        }
    }

    /// Whether its value is part of the checkpoint.
    pub fn is_saved(self) -> bool {
        matches!(self, Self::Saved | Self::SavedByCallee | Self::SavedForCaller)
    }
}

/// A variable in scope at a site.
#[derive(Debug, Clone)]
pub struct VariableReport {
    /// Which it is.
    pub binding: BindingId,
    /// Its name.
    pub name: String,
    /// Its type, where written.
    pub type_text: Option<String>,
    /// The line of its declaration, from 1, in the text that was parsed.
    pub line: usize,
    /// What becomes of it.
    pub fate: Fate,
    /// Why, in half a sentence.
    pub why: &'static str,
}

/// A site.
#[derive(Debug, Clone)]
pub struct SiteReport {
    /// Its line, from 1.
    pub line: usize,
    /// The called function, where the site is a call that leads to others.
    pub callee: Option<String>,
    /// All variables in scope, the outermost first.
    pub variables: Vec<VariableReport>,
}

/// Explains a function as [`crate::try_expand`] would instrument it.
///
/// ```
/// let item: proc_macro2::TokenStream = "fn f(n: u32) { let k = 2; let mut sum = 0; for i in 0..n { ckpt::checkpoint!(); sum += i; } show(sum); }"
///     .parse()
///     .unwrap();
/// let sites = ckpt_compiler::explain::explain(Default::default(), &item, false).unwrap();
/// let saved: Vec<_> = sites[0].variables.iter().filter(|one| one.fate.is_saved()).map(|one| &one.name[..]).collect();
/// assert_eq!(saved, ["sum", "i"]);
/// ```
///
/// # Errors
/// What [`crate::try_expand`] refuses.
pub fn explain(
    arguments: TokenStream,
    item: &TokenStream,
    opens_session: bool,
) -> Result<Vec<SiteReport>, Diagnostics> {
    analyse(arguments, item, opens_session).map(|stages| of_stages(&stages))
}

/// Explains a function by what the stages have made of it.
pub fn of_stages(stages: &Stages) -> Vec<SiteReport> {
    let sites = (1..=stages.plan.sites.len() as SiteId).map(|site| of_site(stages, site));
    sites.collect()
}

fn of_site(stages: &Stages, site: SiteId) -> SiteReport {
    let index = site as usize - 1;
    let scope = stages.flow.sites.get(index).map_or(&[][..], |flow| &flow.scope);
    let variables = scope
        .iter()
        .filter(|&&binding| !stages.flow.bindings[binding].is_synthetic())
        .map(|&binding| of_variable(stages, site, binding))
        .collect();
    let here = stages.lowered.sites.get(index);
    SiteReport {
        line: here.map_or(0, |here| here.span.start().line),
        callee: here.and_then(|here| here.callee.clone()),
        variables,
    }
}

fn of_variable(stages: &Stages, site: SiteId, id: BindingId) -> VariableReport {
    let binding = &stages.flow.bindings[id];
    let (fate, why) = fate(stages, site, id);
    VariableReport {
        binding: id,
        name: stages.flow.written(id).to_string(),
        type_text: binding.ty.as_ref().map(|ty| {
            let text = ty.to_token_stream().to_string();
            [
                (" < ", "<"),
                (" >", ">"),
                ("& ", "&"),
                (" ,", ","),
                (" :: ", "::"),
                ("[ ", "["),
                (" ]", "]"),
                (" ;", ";"),
            ]
            .iter()
            .fold(text, |text, (from, to)| text.replace(from, to))
        }),
        line: binding.ident.span().start().line,
        fate,
        why,
    }
}

fn is_unseeded_let(stages: &Stages, id: BindingId) -> bool {
    let init = &stages.flow.bindings[id].init;
    init.as_ref()
        .is_some_and(|init| is_unseeded(&stages.options.library, init))
}

const RUNS_AGAIN: &str = "its statement runs again, and gives it its value";

/// Whether an attribute says so, or it is a number, which neither borrows nor is tied to anything.
fn is_told_to_run_again(stages: &Stages, id: BindingId) -> bool {
    let binding = &stages.flow.bindings[id];
    binding.treatment == Some(Treatment::Reexecute) || binding.is_plainly_copy()
}

fn fate(stages: &Stages, site: SiteId, id: BindingId) -> (Fate, &'static str) {
    let plan = &stages.plan;
    let is_live = stages.liveness.is_live(&stages.flow, site, id);
    let why_saved = if is_live {
        "its value is needed after the site"
    } else {
        "not after the site: the statements of other branches, or those that run again at a restart, need it to have a value"
    };
    let entry = plan
        .sites
        .get(site as usize - 1)
        .and_then(|one| one.entries.iter().find(|entry| entry.binding() == id));
    if plan.filled.part(site, id).is_some() {
        return (Fate::Saved, "as a part of the value that borrows it exclusively");
    }
    match entry {
        Some(Entry::Save(_)) => return (Fate::Saved, why_saved),
        Some(Entry::Link(..) | Entry::Moved { .. } | Entry::Split { parameter: None, .. }) => {
            return (
                Fate::SavedByCallee,
                "the called function holds it, or a part of it, during the call",
            );
        }
        Some(Entry::Parameter { required: true, .. } | Entry::Split { required: true, .. }) => {
            return (Fate::Saved, "its value is needed after the site");
        }
        Some(Entry::ParameterLink { required: true, .. }) => {
            return (Fate::SavedByCallee, "it is lent on to the called function");
        }
        Some(Entry::Parameter { .. } | Entry::ParameterLink { .. } | Entry::Split { .. })
            if plan.strategies[id] == Strategy::Exclusive =>
        {
            return (
                Fate::SavedForCaller,
                "the caller owns it and cannot look at it during the call",
            );
        }
        _ => {}
    }
    match plan.strategies[id] {
        Strategy::Skipped => (Fate::Skipped, "`#[ckpt(skip)]`"),
        _ if stages.liveness.is_moved(&stages.flow, site, id)
            && !stages.flow.bindings[id].is_plainly_copy() =>
        {
            (Fate::NotNeeded, "moved away before the site")
        }
        _ if !is_live => (
            Fate::NotNeeded,
            "not read after the site before it is written again",
        ),
        Strategy::Reexecuted { .. } if is_unseeded_let(stages, id) => (
            Fate::Reexecuted,
            "it draws other numbers in every run, so that every answer is one of many",
        ),
        // What a statement gives the same again, as the program's arguments, or is told to.
        Strategy::Synthetic => (Fate::Reexecuted, RUNS_AGAIN),
        Strategy::Reexecuted { .. } if is_told_to_run_again(stages, id) => (Fate::Reexecuted, RUNS_AGAIN),
        Strategy::Reexecuted { .. } | Strategy::Transient => (
            Fate::Reexecuted,
            "it borrows, or is tied to this process: its statement runs again",
        ),
        Strategy::Given | Strategy::Exclusive => (Fate::PassedAgain, "the caller still has it"),
        Strategy::Saved
            if matches!(
                stages.flow.bindings[id].declaration,
                Declaration::Parameter { .. }
            ) =>
        {
            (Fate::PassedAgain, "the caller passes it again")
        }
        Strategy::Saved => (Fate::Saved, "its value is needed after the site"),
    }
}
