//! Threads of one region: where one has a site, the others need one.

use super::{Chooser, PlacedSite, Reason};
use crate::calls::{LoopId, Work};
use crate::items::FnId;
use ckpt_compiler::desugar::regions::started_on;
use ckpt_compiler::diagnostics::Recovery;
use std::collections::BTreeSet;
use syn::spanned::Spanned;

/// Calls from the body of a thread to its loop.
const DEEPEST: usize = 4;

impl Chooser<'_, '_> {
    /// Sites for the threads for which alone a site was refused; nothing where it was refused for something else as well
    /// or one of them has no loop.
    ///
    /// What else is said of a region that starts such threads is said of their bodies.
    pub(super) fn companions(&self, reasons: &[Reason]) -> Option<Vec<PlacedSite>> {
        let lonely: BTreeSet<(FnId, usize)> = reasons
            .iter()
            .filter(|one| one.cause.recovery() == Some(Recovery::SiteInThread))
            .filter_map(|one| Some((one.function, one.line?)))
            .collect();
        let mut sites = Vec::new();
        for (function, line) in &lonely {
            let item = self.analysis.items.function(*function);
            let base = self.analysis.bases.get(item.place.file.0).copied().unwrap_or(0);
            for body in started_on(&self.analysis.library, &item.item.block, *line) {
                let bytes = body.span().byte_range();
                let inside = bytes.start + base..bytes.end + base;
                let id = self.loop_of_thread(*function, &inside)?;
                sites.push(self.site_in(id, "another thread of the region has a site"));
            }
        }
        (!sites.is_empty()).then_some(sites)
    }

    /// The loop in which a thread spends its time.
    fn loop_of_thread(&self, function: FnId, body: &std::ops::Range<usize>) -> Option<LoopId> {
        let is_inside = |place: &crate::items::SourceRange| {
            body.contains(&place.bytes.start) && place.bytes.end <= body.end
        };
        let graph = &self.analysis.graph;
        let loops = graph.loops.iter();
        let own = loops.filter(|one| one.function == function && one.can_hold() && is_inside(&one.place));
        // The outermost of a nest is the costliest.
        let own = own
            .map(|one| one.id)
            .max_by(|a, b| self.total(*a).total_cmp(&self.total(*b)));
        let calls = self.calls[function.0].iter().map(|id| graph.call(*id));
        let called = calls
            .filter(|call| is_inside(&call.place) && call.trap.is_none())
            .flat_map(|call| &call.callees)
            .filter_map(|callee| self.loop_below(&graph.bodies[callee.0], DEEPEST));
        own.into_iter()
            .chain(called)
            .max_by(|a, b| self.total(*a).total_cmp(&self.total(*b)))
    }

    /// The costliest loop that is outermost in a piece of work, or in what that calls.
    fn loop_below(&self, work: &Work, depth: usize) -> Option<LoopId> {
        let graph = &self.analysis.graph;
        let own = work
            .loops
            .iter()
            .copied()
            .filter(|id| graph.one_loop(*id).can_hold());
        let calls = work.calls.iter().map(|id| graph.call(*id));
        let called = calls
            .filter(|call| depth > 0 && call.trap.is_none())
            .flat_map(|call| &call.callees)
            .filter_map(|callee| self.loop_below(&graph.bodies[callee.0], depth - 1));
        own.chain(called)
            .max_by(|a, b| self.total(*a).total_cmp(&self.total(*b)))
    }

    fn total(&self, id: LoopId) -> f64 {
        self.costs.loops[id.0].total
    }
}
