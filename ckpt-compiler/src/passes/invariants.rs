//! What must hold of each artefact, whatever the function: looked at after each stage in debug builds.

use crate::cfg::Flow;
use crate::desugar::Desugared;
use crate::desugar::regions::Regions;
use crate::emit::Emitted;
use crate::liveness::Liveness;
use crate::parse::function::Parsed;
use crate::plan::Plan;
use crate::resolve::Resolved;
use crate::spine::{Block, Lowered, StepId, StepKind, for_each_block};
use crate::strategies::Strategy;
use crate::syntax::patterns::likely_bindings;
use crate::visit::Visit;
use proc_macro2::Ident;
use syn::{ItemFn, Pat};

/// What a stage makes.
pub(super) trait Artefact {
    /// What does not hold of it that has to.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

impl Artefact for (ItemFn, Regions) {}
impl Artefact for Desugared {}
impl Artefact for Liveness {}
impl Artefact for Vec<Strategy> {}
impl Artefact for Emitted {}

impl Artefact for Parsed {
    fn check(&self) -> Result<(), String> {
        holds(
            self.treatments.len() == self.function.sig.inputs.len(),
            "each parameter has its treatment",
        )
    }
}

impl Artefact for Resolved {
    fn check(&self) -> Result<(), String> {
        let locals = self.names.locals();
        let mut bound = EachBinding::default();
        bound.visit_item_fn(&self.function);
        let EachBinding { names, constants } = bound;
        holds(
            names
                .iter()
                .all(|name| locals.id(name).is_some() || constants.contains(name)),
            "each variable is in the table",
        )
    }
}

/// The names that patterns bind by the look of them, and those of constants that look like these.
#[derive(Default)]
struct EachBinding {
    names: Vec<Ident>,
    constants: Vec<Ident>,
}

impl<'ast> Visit<'ast> for EachBinding {
    fn visit_pat(&mut self, pattern: &'ast Pat) {
        let bound = likely_bindings(pattern).into_iter();
        self.names.extend(bound.map(|one| one.ident));
    }
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if let syn::Item::Const(one) = item {
            self.constants.push(one.ident.clone());
        }
    }
}

impl Artefact for Lowered {
    fn check(&self) -> Result<(), String> {
        numbered(&self.body, 0).map(|_| ())
    }
}

/// The steps of a block count on from `next`; returns the number behind them.
fn numbered(block: &Block, mut next: StepId) -> Result<StepId, String> {
    for step in &block.steps {
        holds(step.range.start == next, "steps are numbered in program order")?;
        next += 1;
        if let StepKind::Spine(spine) = &step.kind {
            let mut inside = Ok(next);
            for_each_block(&spine.spine, &mut |block| {
                inside = inside.clone().and_then(|next| numbered(block, next));
            });
            next = inside?;
        }
        holds(
            step.range.end == next,
            "a step covers what is inside it, and no more",
        )?;
    }
    Ok(next)
}

impl Artefact for Flow {
    fn check(&self) -> Result<(), String> {
        let (nodes, bindings) = (self.nodes.len(), self.bindings.len());
        let edges = self.nodes.iter().flat_map(|node| &node.next);
        holds(
            edges.copied().all(|node| node < nodes),
            "an edge leads to a block",
        )?;
        holds(
            self.events().all(|event| event.binding < bindings),
            "an event speaks of a variable",
        )?;
        let scopes = self.sites.iter().flat_map(|site| &site.scope);
        holds(
            scopes.copied().all(|id| id < bindings),
            "what is in scope is a variable",
        )
    }
}

impl Artefact for Plan {
    fn check(&self) -> Result<(), String> {
        holds(
            self.reborrows.sites().len() == self.sites.len(),
            "each site has its reborrows",
        )?;
        let entries = self.sites.iter().flat_map(|site| &site.entries);
        holds(
            entries
                .into_iter()
                .all(|entry| self.keys.contains_key(&entry.binding())),
            "what is saved has a name",
        )
    }
}

fn holds(condition: bool, what: &str) -> Result<(), String> {
    if condition { Ok(()) } else { Err(what.to_owned()) }
}
