//! What the loops cost: trips, operations, and the share of the whole computation.
//!
//! After Rodriguez, Martin, Gonzalez, Tourino, JUCS 15(14), 2009: the cost of a loop is estimated from its statements,
//! the functions that it calls, and the trips of the loops inside; the loops are sorted by cost, and those are
//! candidates that stand before the place where the curve, on a logarithmic scale, drops most.
//! What is not known counts as [`UNKNOWN_TRIPS`]; a recursion as so many levels.

pub mod bytes;
mod lengths;
pub mod profile;
mod show;

pub use show::show;

use crate::calls::{CallGraph, LoopId, Work};
use crate::cost::lengths::Lengths;
use crate::cost::profile::Seen;
use crate::items::FnId;

/// Trips of a loop whose count depends on more than the text.
pub const UNKNOWN_TRIPS: f64 = 100.0;
/// How often a function is entered that calls itself once.
const LINEAR_RECURSION: f64 = 100.0;
/// How often a function is entered that calls itself more than once.
const BRANCHING_RECURSION: f64 = 1e5;
/// No estimate is larger: sums of them stay finite.
const LARGEST: f64 = 1e200;

/// The estimate for a loop.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LoopCost {
    /// Iterations each time that it is reached.
    pub trips: f64,
    /// Whether that is certain.
    pub known: bool,
    /// Operations of an iteration, callees and inner loops included.
    pub per_iteration: f64,
    /// Whether a guess is in there.
    pub guessed: bool,
    /// How often it is reached in the whole run.
    pub entries: f64,
    /// Operations in the whole run.
    pub total: f64,
    /// Of the whole run, 0 to 1.
    pub share: f64,
    /// What an instrumented run has counted, if it came there; operations are nanoseconds then.
    pub seen: Option<Seen>,
}

/// The estimate for a function.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FnCost {
    /// Operations of one call from outside its recursion.
    pub per_call: f64,
    /// Whether a guess is in there.
    pub guessed: bool,
    /// How often it is called from outside its recursion.
    pub entries: f64,
    /// How often it is entered for one such call.
    pub depth: f64,
    /// Of the whole run, 0 to 1.
    pub share: f64,
    /// The functions that call each other with it have the same number.
    pub group: usize,
    /// What an instrumented run has counted, if it came there.
    pub seen: Option<Seen>,
}

impl FnCost {
    /// Whether it calls itself, directly or not.
    pub fn is_recursive(&self) -> bool {
        self.depth > 1.0
    }
}

/// The estimates of a program that begins in a given `main`.
#[derive(Debug, Clone, Default)]
pub struct Costs {
    /// One for each function.
    pub functions: Vec<FnCost>,
    /// One for each loop.
    pub loops: Vec<LoopCost>,
    /// Operations in all.
    pub total: f64,
    /// The loops before the bend of the curve, costliest first.
    pub candidates: Vec<LoopId>,
    /// Whether they come from an instrumented run: what it did not reach has a share of 0.
    pub measured: bool,
}

/// Estimates everything for a run that begins in `main`.
pub fn costs(graph: &CallGraph, main: FnId) -> Costs {
    let (groups, order) = groups(graph);
    let mut estimate = Estimate {
        graph,
        lengths: Lengths::new(graph, main),
        groups,
        under_way: vec![false; graph.loops.len()],
        costs: Costs {
            functions: vec![FnCost::default(); graph.bodies.len()],
            loops: vec![LoopCost::default(); graph.loops.len()],
            ..Costs::default()
        },
    };
    for group in &order {
        estimate.group(group);
    }
    if main.0 < graph.bodies.len() {
        estimate.costs.functions[main.0].entries = 1.0;
        estimate.costs.total = estimate.costs.functions[main.0].per_call;
    }
    for group in order.iter().rev() {
        estimate.spread(group);
    }
    let mut costs = estimate.costs;
    for (function, cost) in costs.functions.iter_mut().enumerate() {
        cost.group = estimate.groups[function];
        cost.share = (cost.per_call * cost.entries / costs.total.max(1.0)).min(1.0);
    }
    for cost in &mut costs.loops {
        cost.share = (cost.total / costs.total.max(1.0)).min(1.0);
    }
    costs.candidates = before_the_bend(graph, &costs.loops);
    costs
}

struct Estimate<'a> {
    graph: &'a CallGraph,
    lengths: Lengths<'a>,
    groups: Vec<usize>,
    under_way: Vec<bool>,
    costs: Costs,
}

/// What a piece of work comes to.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    operations: f64,
    /// Calls of the function's own group.
    recursions: f64,
    guessed: bool,
}

impl Sum {
    fn add(&mut self, other: Sum, times: f64) {
        self.operations = (self.operations + other.operations * times).min(LARGEST);
        self.recursions = (self.recursions + other.recursions * times).min(LARGEST);
        self.guessed |= other.guessed;
    }
}

impl Estimate<'_> {
    /// Functions that call each other: their operations without the calls among them, for each of the calls.
    fn group(&mut self, group: &[FnId]) {
        let mut all = Sum::default();
        for function in group {
            let sum = self.work(*function, &self.graph.bodies[function.0], 0.0);
            all.add(sum, 1.0);
        }
        let branching = all.recursions / group.len() as f64;
        let depth = if branching == 0.0 {
            1.0
        } else if branching > 1.2 {
            BRANCHING_RECURSION
        } else {
            LINEAR_RECURSION
        };
        // There are as many rounds of the loops that go deeper as there are calls, however long one such loop may be.
        let per_call = (all.operations * depth / branching.max(1.0)).min(LARGEST);
        for function in group {
            let cost = &mut self.costs.functions[function.0];
            cost.per_call = per_call;
            cost.depth = depth;
            cost.guessed = all.guessed || depth > 1.0;
        }
        if depth > 1.0 {
            for function in group {
                self.work(
                    *function,
                    &self.graph.bodies[function.0],
                    per_call / branching.max(1.0),
                );
            }
        }
    }

    /// One go through a piece of work; `recursion` is what a call inside the group counts.
    fn work(&mut self, function: FnId, work: &Work, recursion: f64) -> Sum {
        let graph = self.graph;
        let mut sum = Sum {
            operations: work.own,
            ..Sum::default()
        };
        for (each, amount) in &work.bulk {
            let known = self.lengths.of(function, amount);
            sum.guessed |= known.is_none_or(|(_, certain)| !certain);
            sum.operations += each * known.map_or(UNKNOWN_TRIPS, |(number, _)| number.max(0.0));
        }
        for id in &work.calls {
            let call = graph.call(*id);
            for (index, callee) in call.callees.iter().enumerate() {
                let one = if self.groups[callee.0] == self.groups[function.0] {
                    Sum {
                        operations: recursion,
                        recursions: 1.0,
                        guessed: true,
                    }
                } else {
                    let cost = &self.costs.functions[callee.0];
                    Sum {
                        operations: cost.per_call,
                        recursions: 0.0,
                        guessed: cost.guessed,
                    }
                };
                sum.add(one, call.times(index));
            }
        }
        for id in &work.loops {
            let one = self.one_loop(function, *id, recursion);
            sum.add(one, graph.one_loop(*id).weight);
        }
        for (id, weight) in &work.closures {
            let one = self.one_loop(function, *id, recursion);
            sum.add(one, *weight);
        }
        sum.operations = sum.operations.min(LARGEST);
        sum
    }

    fn one_loop(&mut self, function: FnId, id: LoopId, recursion: f64) -> Sum {
        if std::mem::replace(&mut self.under_way[id.0], true) {
            return Sum::default();
        }
        let graph = self.graph;
        let one = graph.one_loop(id);
        let (trips, known) = match self.lengths.of(function, &one.trips) {
            Some((number, known)) if known || number > 0.0 => (number.max(0.0), known),
            _ => (UNKNOWN_TRIPS, false),
        };
        let body = self.work(function, &one.work, recursion);
        let cost = &mut self.costs.loops[id.0];
        cost.trips = trips;
        cost.known = known;
        cost.per_iteration = body.operations;
        cost.guessed = body.guessed;
        if recursion == 0.0 {
            cost.total = (trips * body.operations).min(LARGEST);
        }
        self.under_way[id.0] = false;
        let mut sum = Sum {
            guessed: !known,
            ..Sum::default()
        };
        sum.add(body, trips);
        sum
    }

    /// Passes on how often the functions of a group are entered.
    fn spread(&mut self, group: &[FnId]) {
        let entries: f64 = group.iter().map(|one| self.costs.functions[one.0].entries).sum();
        for function in group {
            self.costs.functions[function.0].entries = entries;
        }
        if entries == 0.0 {
            for function in group {
                for id in self.loops_of(&self.graph.bodies[function.0]) {
                    self.costs.loops[id.0].total = 0.0;
                }
            }
            return;
        }
        for function in group {
            let times = (entries * self.costs.functions[function.0].depth).min(LARGEST);
            self.spread_work(*function, &self.graph.bodies[function.0], times);
        }
    }

    fn loops_of(&self, work: &Work) -> Vec<LoopId> {
        let mut list = Vec::new();
        let mut open: Vec<LoopId> = work.loops.clone();
        open.extend(work.closures.iter().map(|(id, _)| *id));
        while let Some(id) = open.pop() {
            if list.contains(&id) {
                continue;
            }
            list.push(id);
            let inner = &self.graph.one_loop(id).work;
            open.extend(&inner.loops);
            open.extend(inner.closures.iter().map(|(id, _)| *id));
        }
        list
    }

    fn spread_work(&mut self, function: FnId, work: &Work, times: f64) {
        let graph = self.graph;
        for id in &work.calls {
            let call = graph.call(*id);
            for (index, callee) in call.callees.iter().enumerate() {
                if self.groups[callee.0] != self.groups[function.0] {
                    let entries = &mut self.costs.functions[callee.0].entries;
                    *entries = (*entries + times * call.times(index)).min(LARGEST);
                }
            }
        }
        let closures = work.closures.iter().copied();
        let loops = work.loops.iter().map(|id| (*id, graph.one_loop(*id).weight));
        for (id, weight) in loops.chain(closures) {
            if std::mem::replace(&mut self.under_way[id.0], true) {
                continue;
            }
            let cost = &mut self.costs.loops[id.0];
            let once = cost.trips * cost.per_iteration;
            let entered = times * weight;
            let before = cost.entries;
            cost.entries = (cost.entries + entered).min(LARGEST);
            let own = if before == 0.0 {
                cost.total
            } else {
                cost.total / before
            };
            cost.total = if own == 0.0 {
                0.0
            } else {
                (own * cost.entries).min(LARGEST)
            };
            let trips = cost.trips;
            debug_assert!(once >= 0.0);
            self.spread_work(function, &graph.one_loop(id).work, (entered * trips).min(LARGEST));
            self.under_way[id.0] = false;
        }
    }
}

/// The loops before the largest drop of the sorted costs, in orders of magnitude.
pub(super) fn before_the_bend(graph: &CallGraph, costs: &[LoopCost]) -> Vec<LoopId> {
    let mut list: Vec<LoopId> = graph
        .loops
        .iter()
        .filter(|one| one.body_at.is_some() && costs[one.id.0].total > 0.0)
        .map(|one| one.id)
        .collect();
    list.sort_by(|a, b| costs[b.0].total.total_cmp(&costs[a.0].total));
    let logs: Vec<f64> = list.iter().map(|id| costs[id.0].total.max(1.0).log10()).collect();
    let keep = bend(&logs);
    list.truncate(keep);
    list
}

/// How many of the sorted numbers stand before the largest drop; all of them where none is larger than half an order
/// of magnitude.
pub(super) fn bend(logs: &[f64]) -> usize {
    let drop = logs
        .windows(2)
        .enumerate()
        .map(|(index, pair)| (index + 1, pair[0] - pair[1]))
        .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
    match drop {
        Some((keep, drop)) if drop > 0.5 => keep,
        _ => logs.len(),
    }
}

/// The functions in groups that call each other (Tarjan 1972), callees first.
fn groups(graph: &CallGraph) -> (Vec<usize>, Vec<Vec<FnId>>) {
    let count = graph.bodies.len();
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); count];
    for call in &graph.calls {
        edges[call.caller.0].extend(call.callees.iter().map(|callee| callee.0));
    }
    let mut state = Tarjan {
        index: vec![usize::MAX; count],
        low: vec![0; count],
        on_stack: vec![false; count],
        stack: Vec::new(),
        next: 0,
        groups: vec![0; count],
        order: Vec::new(),
    };
    for start in 0..count {
        if state.index[start] == usize::MAX {
            state.visit(start, &edges);
        }
    }
    (state.groups, state.order)
}

struct Tarjan {
    index: Vec<usize>,
    low: Vec<usize>,
    on_stack: Vec<bool>,
    stack: Vec<usize>,
    next: usize,
    groups: Vec<usize>,
    order: Vec<Vec<FnId>>,
}

impl Tarjan {
    fn open(&mut self, node: usize) {
        self.index[node] = self.next;
        self.low[node] = self.next;
        self.next += 1;
        self.stack.push(node);
        self.on_stack[node] = true;
    }

    fn visit(&mut self, start: usize, edges: &[Vec<usize>]) {
        self.open(start);
        let mut path = vec![(start, 0)];
        while let Some((node, edge)) = path.last_mut() {
            let node = *node;
            if let Some(next) = edges[node].get(*edge).copied() {
                *edge += 1;
                if self.index[next] == usize::MAX {
                    self.open(next);
                    path.push((next, 0));
                } else if self.on_stack[next] {
                    self.low[node] = self.low[node].min(self.index[next]);
                }
                continue;
            }
            path.pop();
            if let Some((parent, _)) = path.last() {
                self.low[*parent] = self.low[*parent].min(self.low[node]);
            }
            if self.low[node] == self.index[node] {
                self.close(node);
            }
        }
    }

    fn close(&mut self, root: usize) {
        let mut group = Vec::new();
        while let Some(node) = self.stack.pop() {
            self.on_stack[node] = false;
            self.groups[node] = self.order.len();
            group.push(FnId(node));
            if node == root {
                break;
            }
        }
        self.order.push(group);
    }
}
