//! A loop over cases, files or repetitions may go round once; the loop over time steps inside it is the better place.

use super::Chooser;
use super::descend::WORTHWHILE;
use super::parts::{Part, Region};
use crate::calls::{LoopId, LoopKind, Work};
use crate::items::FnId;
use crate::source::words::count_time;

/// A loop known to go round this often needs no better one inside.
const MANY_TRIPS: f64 = 50.0;

/// The part of a loop's cost that a loop inside must carry to be the better place.
const NEARLY_ALL: f64 = 0.8;

/// Operations of an iteration that make it worthwhile to look for a loop inside.
const LONG: f64 = 1e6;

/// A loop that carries less of the cost is not looked at.
const LEAST_PART: f64 = 0.05;

/// More loops than this are worse than the one around them.
const MOST_TIME_LOOPS: usize = 6;

/// Loops over time steps inside another loop.
struct Search {
    /// Operations of an iteration of the outer loop.
    whole: f64,
    /// Whether a `while` or `loop` counts as one, whatever its names.
    open_too: bool,
    seen: Vec<FnId>,
    found: Vec<LoopId>,
    /// Operations of what has been found, for an iteration of the outer loop.
    part: f64,
}

impl Chooser<'_, '_> {
    /// A loop that may be one over cases, files or repetitions, and so may go round once: a loop over time steps inside
    /// it, which carries nearly all of its cost, is the better place.
    pub(super) fn add_time_loop_inside(&mut self, outer: LoopId) -> bool {
        let cost = self.costs.loops[outer.0];
        // Names are asked only where costs do not tell.
        if cost.known && (cost.trips >= MANY_TRIPS || !cost.guessed) {
            return false;
        }
        let mut search = Search {
            whole: cost.per_iteration,
            open_too: cost.per_iteration >= LONG,
            seen: Vec::new(),
            found: Vec::new(),
            part: 0.0,
        };
        self.time_loops(&self.analysis.graph.one_loop(outer).work, 1.0, &mut search);
        if search.part < NEARLY_ALL * cost.per_iteration || search.found.len() > MOST_TIME_LOOPS {
            return false;
        }
        let before = self.chosen.clone();
        for inner in search.found {
            if !self.add_loop(
                inner,
                "a loop over time steps that carries nearly all of the cost",
            ) {
                self.chosen = before;
                return false;
            }
        }
        let why = "a loop over time steps inside it is entered more often";
        self.pass_over(self.analysis.graph.one_loop(outer), why);
        true
    }

    /// Gathers the loops over time steps in a piece of work, the outermost of each nest.
    fn time_loops(&self, work: &Work, times: f64, search: &mut Search) {
        let graph = &self.analysis.graph;
        for Part { times, region, .. } in self.regions(work, times) {
            match region {
                Region::Loop(id) => {
                    let (one, cost) = (graph.one_loop(id), self.costs.loops[id.0]);
                    let part = times * cost.trips * cost.per_iteration;
                    if part < LEAST_PART * search.whole {
                        continue;
                    }
                    let open = matches!(one.kind, LoopKind::While | LoopKind::Loop) && search.open_too;
                    let fits = one.can_hold()
                        && cost.per_iteration >= WORTHWHILE
                        && cost.per_iteration <= self.options.longest(true, &cost)
                        && cost.trips >= self.options.fewest_trips;
                    if fits && (count_time(&one.header) || open) {
                        search.found.push(id);
                        search.part += part;
                    } else {
                        self.time_loops(&one.work, times * cost.trips, search);
                    }
                }
                Region::Function(id) => {
                    let cost = self.costs.functions[id.0];
                    let known = search.seen.contains(&id) || cost.is_recursive();
                    if known || times * cost.per_call < LEAST_PART * search.whole {
                        continue;
                    }
                    search.seen.push(id);
                    self.time_loops(&graph.bodies[id.0], times, search);
                }
            }
        }
    }
}
