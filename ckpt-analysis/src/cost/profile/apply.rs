//! From counts to weights and costs.
//!
//! Of every function and loop that was reached, the time and the iterations are known. How often a call enters each of
//! its callees follows from the callee's own count: the calls that lead to it share it as the estimates say. What has
//! no counter (closures, what is tiny) shares the rest of what is around it in the same way.

use super::{Measured, Seen};
use crate::calls::{CallGraph, LoopId, Work};
use crate::cost::{Costs, FnCost, LoopCost, before_the_bend};
use crate::items::FnId;

/// Deeper than any recursion that has not been seen to recurse.
const RECURSIVE: f64 = 1.001;

/// Replaces weights in the graph, and returns the costs. `estimated` are the estimates for the same run.
pub fn apply(graph: &mut CallGraph, estimated: &Costs, measured: &Measured) -> Costs {
    let weights = Weights { estimated, measured };
    weights.of_loops(graph);
    weights.of_calls(graph);
    let measured = &consistent(graph, measured);
    let mut costs = estimated.clone();
    costs.measured = true;
    costs.total = measured.nanos;
    for (index, cost) in costs.functions.iter_mut().enumerate() {
        function(cost, measured.function(FnId(index)), measured.nanos);
    }
    for (index, cost) in costs.loops.iter_mut().enumerate() {
        one_loop(cost, measured.one_loop(LoopId(index)), measured.nanos);
    }
    let mut rests = Rests {
        estimated,
        measured,
        costs: &mut costs,
    };
    rests.everywhere(graph);
    costs.candidates = before_the_bend(graph, &costs.loops);
    costs
}

fn function(cost: &mut FnCost, seen: Option<&Seen>, nanos: f64) {
    cost.seen = seen.copied();
    let Some(seen) = seen else {
        cost.share = 0.0;
        return;
    };
    let outer = seen.outer.max(1.0);
    let least = if cost.is_recursive() { RECURSIVE } else { 1.0 };
    cost.depth = (seen.entries / outer).max(least);
    cost.per_call = seen.nanos / outer;
    cost.entries = seen.outer;
    cost.guessed = false;
    cost.share = share(seen.nanos, nanos);
}

fn one_loop(cost: &mut LoopCost, seen: Option<&Seen>, nanos: f64) {
    cost.seen = seen.copied();
    let Some(seen) = seen else {
        (cost.share, cost.total) = (0.0, 0.0);
        return;
    };
    cost.entries = seen.entries;
    cost.total = seen.nanos;
    cost.share = share(seen.nanos, nanos);
    if seen.turns == 0.0 && (seen.open || seen.nanos == 0.0) {
        // It was not told how often it goes round.
        cost.per_iteration = seen.nanos / cost.trips.max(1.0);
        return;
    }
    let trips = seen.turns / seen.entries;
    // A run that was ended early has seen the beginning only.
    cost.trips = if seen.open { trips.max(cost.trips) } else { trips };
    cost.known = !seen.open || trips >= cost.trips;
    cost.guessed = false;
    cost.per_iteration = seen.nanos / seen.turns.max(1.0);
}

fn share(part: f64, whole: f64) -> f64 {
    (part / whole.max(1.0)).min(1.0)
}

/// Loops take no longer than what is around them: where single entries are a few nanoseconds, taking the time takes more
/// of it than they do.
fn consistent(graph: &CallGraph, measured: &Measured) -> Measured {
    let mut measured = measured.clone();
    for (index, work) in graph.bodies.iter().enumerate() {
        let seen = measured.function(FnId(index));
        if let Some(nanos) = seen
            .filter(|seen| seen.outer == seen.entries)
            .map(|seen| seen.nanos)
        {
            limit(&mut measured.loops, &work.loops, nanos);
        }
    }
    // A loop has a smaller number than those inside it.
    for one in &graph.loops {
        if let Some(nanos) = measured.one_loop(one.id).map(|seen| seen.nanos) {
            limit(&mut measured.loops, &one.work.loops, nanos);
        }
    }
    measured
}

fn limit(seen: &mut [Option<Seen>], loops: &[LoopId], nanos: f64) {
    let of = |seen: &[Option<Seen>], id: &LoopId| seen.get(id.0).copied().flatten();
    let sum: f64 = loops
        .iter()
        .filter_map(|id| of(seen, id))
        .map(|one| one.nanos)
        .sum();
    if sum <= nanos {
        return;
    }
    for id in loops {
        if let Some(Some(one)) = seen.get_mut(id.0) {
            one.nanos *= nanos / sum;
            one.own = one.own.min(one.nanos);
        }
    }
}

struct Weights<'a> {
    estimated: &'a Costs,
    measured: &'a Measured,
}

impl Weights<'_> {
    fn of_loops(&self, graph: &mut CallGraph) {
        for index in 0..graph.loops.len() {
            let id = LoopId(index);
            let around = self.turns(graph, graph.loops[index].function, graph.loops[index].parent);
            if let (Some(seen), Some(around)) = (self.measured.one_loop(id), around) {
                graph.loops[index].weight = seen.entries / around;
            }
        }
    }

    /// How often the work around something was gone through, if that was counted.
    fn turns(&self, graph: &CallGraph, function: FnId, within: Option<LoopId>) -> Option<f64> {
        let counted = |turns: f64| Some(turns).filter(|turns| *turns > 0.0);
        let Some(id) = within else {
            return counted(self.measured.function(function)?.entries);
        };
        if let Some(seen) = self.measured.one_loop(id) {
            return counted(seen.turns);
        }
        let one = graph.one_loop(id);
        let cost = &self.estimated.loops[id.0];
        if self.measured.loops.get(id.0).is_some_and(Option::is_some) {
            return None;
        }
        counted(self.turns(graph, function, one.parent)? * one.weight * cost.trips)
    }

    fn of_calls(&self, graph: &mut CallGraph) {
        let mut expected = vec![0.0; graph.bodies.len()];
        let around: Vec<Option<f64>> = graph
            .calls
            .iter()
            .map(|call| self.turns(graph, call.caller, call.within))
            .collect();
        let group = |function: FnId| self.estimated.functions[function.0].group;
        for (call, around) in graph.calls.iter().zip(&around) {
            for (index, callee) in call.callees.iter().enumerate() {
                if group(*callee) != group(call.caller) {
                    expected[callee.0] += around.unwrap_or(0.0) * call.times(index);
                }
            }
        }
        for (call, around) in graph.calls.iter_mut().zip(around) {
            if around.is_none() {
                continue;
            }
            let times = |(index, callee): (usize, &FnId)| {
                let estimate = call.times(index);
                let has_counter = self.measured.functions.get(callee.0).is_some_and(Option::is_some);
                match self.measured.function(*callee) {
                    Some(seen) if expected[callee.0] > 0.0 => estimate * seen.outer / expected[callee.0],
                    None if !has_counter => 0.0,
                    _ => estimate,
                }
            };
            call.measured = call.callees.iter().enumerate().map(times).collect();
        }
    }
}

/// What is left of the time of a function or loop behind what is counted inside.
struct Rests<'a> {
    estimated: &'a Costs,
    measured: &'a Measured,
    costs: &'a mut Costs,
}

impl Rests<'_> {
    fn everywhere(&mut self, graph: &mut CallGraph) {
        for index in 0..graph.bodies.len() {
            let Some(seen) = self.costs.functions[index].seen else {
                continue;
            };
            let estimate = self.estimated.functions[index].per_call;
            let mut work = std::mem::take(&mut graph.bodies[index]);
            self.share_out(
                graph,
                &mut work,
                FnId(index),
                (seen.nanos, seen.entries),
                estimate,
            );
            graph.bodies[index] = work;
        }
        for index in 0..graph.loops.len() {
            let Some(seen) = self.costs.loops[index].seen else {
                continue;
            };
            let estimate = self.estimated.loops[index].per_iteration;
            let function = graph.loops[index].function;
            let mut work = std::mem::take(&mut graph.loops[index].work);
            self.share_out(graph, &mut work, function, (seen.nanos, seen.turns), estimate);
            graph.loops[index].work = work;
        }
    }

    /// Shares the time that is left between the work's own statements and the loops without a counter.
    fn share_out(
        &mut self,
        graph: &CallGraph,
        work: &mut Work,
        function: FnId,
        (nanos, turns): (f64, f64),
        estimate: f64,
    ) {
        // All in one go through the work.
        let turns = turns.max(1.0);
        let (mut rest, mut own) = (nanos / turns, estimate);
        let group = self.costs.functions[function.0].group;
        for id in &work.calls {
            let call = graph.call(*id);
            for (index, callee) in call.callees.iter().enumerate() {
                let cost = &self.costs.functions[callee.0];
                if cost.seen.is_some() && cost.group != group {
                    rest -= call.times(index) * cost.per_call;
                    own -=
                        call.weight / call.callees.len() as f64 * self.estimated.functions[callee.0].per_call;
                }
            }
        }
        let mut without_counter = Vec::new();
        for id in &work.loops {
            let estimate = &self.estimated.loops[id.0];
            let of_it = graph.one_loop(*id).weight * estimate.trips * estimate.per_iteration;
            own -= of_it;
            match self.costs.loops[id.0].seen {
                Some(seen) => rest -= seen.nanos / turns,
                None if self.has_no_counter(*id) => without_counter.push((*id, of_it)),
                None => {}
            }
        }
        let rest = rest.max(0.0);
        let parts: f64 = without_counter.iter().map(|(_, part)| part).sum();
        let scale = rest / (own.max(0.0) + parts).max(1.0);
        for (id, part) in without_counter {
            self.scaled(graph, id, turns, part * scale);
        }
        work.own = (rest - parts * scale).max(0.0);
        work.bulk.clear();
    }

    fn has_no_counter(&self, id: LoopId) -> bool {
        self.measured.loops.get(id.0).is_none_or(Option::is_none)
    }

    /// A loop without a counter takes so long each time that what is around it is gone through `turns` times; those
    /// inside take their part.
    fn scaled(&mut self, graph: &CallGraph, id: LoopId, turns: f64, each: f64) {
        let estimate = self.estimated.loops[id.0];
        let one = graph.one_loop(id);
        let cost = &mut self.costs.loops[id.0];
        let trips = one.weight * cost.trips;
        cost.total = each * turns;
        cost.share = share(cost.total, self.costs.total);
        cost.per_iteration = each / trips.max(f64::MIN_POSITIVE);
        let scale = cost.per_iteration / estimate.per_iteration.max(1.0);
        for inner in &one.work.loops {
            if self.has_no_counter(*inner) {
                let estimate = self.estimated.loops[inner.0];
                let part = graph.one_loop(*inner).weight * estimate.trips * estimate.per_iteration;
                self.scaled(graph, *inner, turns * trips, part * scale);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::profile::{Counter, counters};
    use crate::{ChooseOptions, Program, analyse, place};

    const TEXT: &str = "\
fn main() {
    let (n, m) = (read(), read());
    for i in 0..n { light(i); }
    for i in 0..m { heavy(i); }
    if n == 7 { for i in 0..m { heavy(i); } }
}
fn read() -> usize { std::env::args().count() }
fn light(i: usize) { let mut k = i; while k > 1 { k = k / 2; println!(\"{k}\"); } }
fn heavy(i: usize) { let mut k = i; while k > 1 { k = k / 2; println!(\"{k}\"); } }
";

    /// What was seen of what begins in a line: entries, iterations, nanoseconds.
    type Line = (usize, f64, f64, f64);

    fn measured(lines: &[Line]) -> (crate::Analysis, FnId) {
        let program = Program::of_main(TEXT);
        let mut analysis = analyse(&program);
        let main = analysis.items.main_of(0).expect("a main");
        let counters = counters(&program, &analysis, &analysis.costs(main), main);
        let mut measured = Measured {
            functions: vec![None; analysis.items.functions.len()],
            loops: vec![None; analysis.graph.loops.len()],
            nanos: 1e9,
        };
        let seen = |line: usize, is_loop: bool| {
            let found = lines.iter().find(|one| one.0 == line && (one.2 > 0.0) == is_loop);
            found.map_or(Seen::default(), |&(_, entries, turns, nanos)| Seen {
                entries,
                outer: entries,
                turns,
                nanos,
                ..Seen::default()
            })
        };
        for counter in counters.list {
            match counter {
                Counter::Function(id) => {
                    measured.functions[id.0] = Some(seen(analysis.items.function(id).place.line, false));
                }
                Counter::Loop(id) => {
                    measured.loops[id.0] = Some(seen(analysis.graph.one_loop(id).place.line, true));
                }
            }
        }
        analysis.measured_by(&measured);
        (analysis, main)
    }

    const RUN: [Line; 7] = [
        (1, 1.0, 0.0, 1e9),
        (3, 1.0, 1e6, 1e7),
        (4, 1.0, 2e3, 9.8e8),
        (8, 1e6, 0.0, 8e6),
        (8, 1e6, 4e6, 7e6),
        (9, 2e3, 0.0, 9.7e8),
        (9, 2e3, 9e5, 9.6e8),
    ];

    #[test]
    fn the_costs_are_those_of_the_run() {
        let (analysis, main) = measured(&RUN);
        let costs = analysis.costs(main);
        let of_line = |line: usize| {
            let all = &analysis.graph.loops;
            let found = all.iter().find(|one| one.place.line == line).expect("a loop");
            costs.loops[found.id.0]
        };
        let second = of_line(4);
        assert_eq!(
            (second.trips, second.known, second.per_iteration),
            (2e3, true, 4.9e5)
        );
        assert!((second.share - 0.98).abs() < 1e-9);
        let not_reached = of_line(5);
        assert!(not_reached.seen.is_none() && not_reached.share == 0.0 && not_reached.per_iteration > 0.0);
        let heavy = analysis
            .graph
            .calls
            .iter()
            .find(|call| call.place.line == 4)
            .expect("a call");
        assert!((heavy.times(0) - 1.0).abs() < 0.35, "{}", heavy.times(0));
    }

    #[test]
    fn the_site_goes_where_the_time_was_spent() {
        let estimated = {
            let program = Program::of_main(TEXT);
            let analysis = analyse(&program);
            let main = analysis.items.main_of(0).expect("a main");
            place(&analysis, main, &ChooseOptions::default())
        };
        assert_eq!(lines(&estimated), [3, 4, 5]);
        let (analysis, main) = measured(&RUN);
        let placement = place(&analysis, main, &ChooseOptions::default());
        // What was not reached may be reached by another run.
        assert_eq!(lines(&placement), [4]);
        assert!(placement.coverage > 0.97, "{}", placement.coverage);
    }

    fn lines(placement: &crate::Placement) -> Vec<usize> {
        placement.sites.iter().map(|site| site.place.line).collect()
    }

    #[test]
    fn what_was_under_way_at_the_end_keeps_the_larger_number_of_trips() {
        let mut cost = LoopCost {
            trips: 1000.0,
            known: true,
            ..LoopCost::default()
        };
        let seen = Seen {
            entries: 1.0,
            outer: 1.0,
            turns: 10.0,
            nanos: 1e9,
            own: 0.0,
            open: true,
        };
        one_loop(&mut cost, Some(&seen), 1e9);
        assert_eq!((cost.trips, cost.per_iteration, cost.share), (1000.0, 1e8, 1.0));
    }
}
