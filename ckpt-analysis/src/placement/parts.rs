//! The parts of a piece of work, and what they are of a run that comes there.

use super::Chooser;
use crate::calls::{LoopId, Work};
use crate::items::FnId;

/// What is less likely is no command but a mishap.
const LEAST_LIKELY: f64 = 0.05;

/// With more parts than this, they are no commands.
const MOST_PARTS: usize = 500;

/// How the descent has come to a place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// How often in the whole run, by this way.
    pub times: f64,
    /// Operations of a run that comes here.
    pub whole: f64,
    /// A part with a smaller share of the run gets no site.
    pub least: f64,
    /// Whether there is a loop on the way.
    pub in_loop: bool,
    /// Whether a loop with very short iterations is better than none.
    pub hot_will_do: bool,
    /// Functions on the way.
    pub depth: usize,
}

/// A part of the work that may get a site.
#[derive(Debug, Clone, Copy)]
pub(super) enum Region {
    Loop(LoopId),
    Function(FnId),
}

/// A part of the work when reached by one way.
pub(super) struct Part<'a> {
    pub operations: f64,
    pub times: f64,
    pub arms: &'a [(usize, usize)],
    pub region: Region,
}

impl Part<'_> {
    /// Its share of the run, and how it is reached. What is not part of every run, one of several commands, is
    /// measured in a run that comes there.
    pub fn measured(&self, all: &[Part<'_>], at: Reach) -> (Region, f64, Reach) {
        let optional = !at.in_loop
            && self.times < at.times
            && self.times >= LEAST_LIKELY * at.times
            && all.len() <= MOST_PARTS;
        if !optional {
            let reach = Reach {
                times: self.times,
                ..at
            };
            return (self.region, self.operations / at.whole.max(1.0), reach);
        }
        let mut whole = at.whole;
        for other in all {
            let shares = |arm: &(usize, usize)| self.arms.contains(arm);
            let differs = |arm: &(usize, usize)| self.arms.iter().any(|own| own.0 == arm.0 && own.1 != arm.1);
            if other.arms.iter().any(differs) {
                whole -= other.operations;
            } else if other.arms.iter().any(shares) {
                whole += other.operations * (at.times / other.times - 1.0);
            }
        }
        let reach = Reach {
            times: at.times,
            whole: whole.max(1.0),
            ..at
        };
        let alone = self.operations * at.times / self.times;
        (self.region, alone / reach.whole, reach)
    }
}

impl Chooser<'_, '_> {
    /// The parts of a piece of work, costliest first.
    pub(super) fn regions(&self, work: &Work, times: f64) -> Vec<Part<'_>> {
        let graph = &self.analysis.graph;
        let mut parts = Vec::new();
        for id in &work.loops {
            let (one, cost) = (graph.one_loop(*id), self.costs.loops[id.0]);
            let times = times * one.weight;
            parts.push(Part {
                operations: times * cost.trips * cost.per_iteration,
                times,
                arms: &one.arms,
                region: Region::Loop(*id),
            });
        }
        for id in &work.calls {
            let call = graph.call(*id);
            if call.trap.is_some() {
                continue;
            }
            for (index, callee) in call.callees.iter().enumerate() {
                let times = times * call.times(index);
                parts.push(Part {
                    operations: times * self.costs.functions[callee.0].per_call,
                    times,
                    arms: &call.arms,
                    region: Region::Function(*callee),
                });
            }
        }
        parts.sort_by(|a, b| b.operations.total_cmp(&a.operations));
        parts
    }
}
