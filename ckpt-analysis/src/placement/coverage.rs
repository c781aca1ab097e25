//! How much of the run the sites reach.

use super::{Chooser, Holder, PlacedSite};
use crate::calls::{LoopId, Work};
use crate::items::FnId;
use std::collections::HashMap;

impl Chooser<'_, '_> {
    /// The part of a function's cost that lies under a site.
    pub(super) fn coverage_of(&self, function: FnId) -> f64 {
        self.covered_part(function, &mut HashMap::new())
    }

    /// The same, with what is known of other functions so far; one that is being looked at counts as not reached.
    fn covered_part(&self, function: FnId, known: &mut HashMap<FnId, f64>) -> f64 {
        if let Some(part) = known.get(&function) {
            return *part;
        }
        let whole = |site: &PlacedSite| {
            site.function == function && matches!(site.site.holder, Holder::Recursion | Holder::User)
        };
        if self.chosen.iter().any(whole) {
            known.insert(function, 1.0);
            return 1.0;
        }
        known.insert(function, 0.0);
        let seen = self.costs.functions[function.0].seen.is_some();
        let part = self.covered_work(&self.analysis.graph.bodies[function.0], seen, known);
        known.insert(function, part);
        part
    }

    /// Whether a loop has a site that is visited while its work is done.
    fn reaches(&self, id: LoopId) -> bool {
        self.has_site(id) && !self.is_one_block(id)
    }

    /// Whether all that a parallel iterator does may be one block, with no site before it is done: its items are few and long.
    pub(super) fn is_one_block(&self, id: LoopId) -> bool {
        let in_blocks = self.analysis.graph.one_loop(id).in_blocks.is_some();
        in_blocks && self.options.is_few(&self.costs.loops[id.0])
    }

    pub(super) fn coverage_inside(&self, id: LoopId) -> f64 {
        if self.reaches(id) {
            return 1.0;
        }
        let seen = self.costs.loops[id.0].seen.is_some();
        self.covered_work(&self.analysis.graph.one_loop(id).work, seen, &mut HashMap::new())
    }

    /// The part of a piece of work; of one that an instrumented run has `seen`, what the run did not reach is no part.
    fn covered_work(&self, work: &Work, seen: bool, known: &mut HashMap<FnId, f64>) -> f64 {
        let (mut all, mut reached) = (work.own, 0.0);
        for id in &work.loops {
            let cost = &self.costs.loops[id.0];
            let one = self.analysis.graph.one_loop(*id);
            if seen && cost.total == 0.0 {
                continue;
            }
            let weight = cost.trips * cost.per_iteration * one.weight;
            all += weight;
            if self.reaches(*id) {
                reached += weight;
            } else if one.body_at.is_some() {
                reached += weight * self.covered_work(&one.work, cost.seen.is_some(), known);
            }
        }
        for id in &work.calls {
            let call = self.analysis.graph.call(*id);
            for (index, callee) in call.callees.iter().enumerate() {
                let cost = &self.costs.functions[callee.0];
                if seen && cost.seen.is_none() {
                    continue;
                }
                let weight = cost.per_call * call.times(index);
                all += weight;
                if call.trap.is_none() {
                    reached += weight * self.covered_part(*callee, known);
                }
            }
        }
        if all > 0.0 { reached / all } else { 0.0 }
    }
}
