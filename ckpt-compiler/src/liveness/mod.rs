//! Dataflow analyses over the graph of a function.
//!
//! Liveness, backward: `in = use ∪ (out − def)`, `out = ⋃ in(next)`. A variable is live where its value may still be used.
//! Forward, `in` joined from `out(previous)`: which variables may have been moved out of, have surely been, may have a
//! value, surely have had one. *May* joins with `⋃`, *surely* with `⋂`.

use crate::cfg::{BindingId, Event, Flow, Node, NodeId, Point, Use, reached};
use crate::spine::{SiteId, StepId};
use fixedbitset::FixedBitSet;
use std::collections::HashSet;

/// The solution of the analyses.
#[derive(Debug)]
pub struct Liveness {
    live: Live,
    moved_in: Vec<FixedBitSet>,
    moved_out: Vec<FixedBitSet>,
    consumed_out: Vec<FixedBitSet>,
    surely_moved_in: Vec<FixedBitSet>,
    surely_moved_out: Vec<FixedBitSet>,
    written_out: Vec<FixedBitSet>,
    surely_written_out: Vec<FixedBitSet>,
    given_away_out: Vec<FixedBitSet>,
    last_operands: HashSet<(NodeId, usize)>,
}

impl Liveness {
    /// Solves the analyses for a function.
    pub fn of(flow: &Flow) -> Self {
        let set = |event: &Event, moved: &mut FixedBitSet, moves: bool| {
            if moves {
                moved.insert(event.binding);
            } else if event.kind == Use::Write && !event.in_closure {
                moved.remove(event.binding);
            }
        };
        let gives_away = |event: &Event, moved: &mut FixedBitSet| set(event, moved, event.kind == Use::Move);
        let live = Live::with_uses(flow, []);
        let used_later = used_later(flow, &live);
        // What is used again has not been taken by value.
        let is_last = |at: Point| !used_later.contains(&(at.node, at.event));
        let consumes = |at: Point, event: &Event, moved: &mut FixedBitSet| {
            set(event, moved, event.may_consume && is_last(at));
        };
        let is_moved = |at: Point, event: &Event| event.kind == Use::Move || event.by_operator && is_last(at);
        let moves =
            |at: Point, event: &Event, moved: &mut FixedBitSet| set(event, moved, is_moved(at, event));
        let surely_moves = |at: Point, event: &Event, moved: &mut FixedBitSet| {
            set(event, moved, is_moved(at, event) && !event.in_closure);
        };
        let writes = |event: &Event, written: &mut FixedBitSet| {
            if event.kind == Use::Write {
                written.insert(event.binding);
            }
        };
        let (moved_in, moved_out) = forward_at(flow, Join::Any, moves);
        let (surely_moved_in, surely_moved_out) = forward_at(flow, Join::All, surely_moves);
        let last_operands = points(flow).filter(|(at, event)| event.by_operator && is_last(*at));
        let last_operands = last_operands.map(|(at, _)| (at.node, at.event)).collect();
        Self {
            live,
            moved_in,
            moved_out,
            consumed_out: forward_at(flow, Join::Any, consumes).1,
            surely_moved_in,
            surely_moved_out,
            written_out: forward(flow, Join::Any, writes).1,
            surely_written_out: forward(flow, Join::All, writes).1,
            given_away_out: forward(flow, Join::Any, gives_away).1,
            last_operands,
        }
    }

    /// Whether the variable's value may be used after the site.
    pub fn is_live(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        self.live.out[node_of(flow, site)].contains(binding)
    }

    /// Whether the variable's value may be used after a step.
    pub fn is_live_after(&self, flow: &Flow, step: StepId, binding: BindingId) -> bool {
        let end = flow.points.get(&step).map(|(_, end)| *end);
        end.is_some_and(|end| self.is_live_at(flow, end, binding))
    }

    /// Whether the variable's value may still be used from a point on.
    pub fn is_live_at(&self, flow: &Flow, point: Point, binding: BindingId) -> bool {
        self.live.at(flow, point, binding)
    }

    /// Whether the variable may have been moved out of when the site is reached.
    pub fn may_be_moved(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        let node = node_of(flow, site);
        let consumed = self.consumed_out[node].contains(binding) && !self.live.out[node].contains(binding);
        !flow.bindings[binding].is_plainly_copy() && (consumed || self.moved_out[node].contains(binding))
    }

    /// The same without what operators take: statements that are re-executed need that.
    pub fn may_be_given_away(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        let node = node_of(flow, site);
        let consumed = self.consumed_out[node].contains(binding) && !self.live.out[node].contains(binding);
        !flow.bindings[binding].is_plainly_copy() && (consumed || self.given_away_out[node].contains(binding))
    }

    /// Whether the variable has been moved out of on every way to a point.
    pub fn is_moved_at(&self, flow: &Flow, point: Point, binding: BindingId) -> bool {
        self.moved_at(flow, &self.surely_moved_in, point, binding)
    }

    /// Whether the variable may have been moved out of when a point is reached.
    pub fn may_be_moved_at(&self, flow: &Flow, point: Point, binding: BindingId) -> bool {
        !flow.bindings[binding].is_plainly_copy() && self.moved_at(flow, &self.moved_in, point, binding)
    }

    fn moved_at(&self, flow: &Flow, before: &[FixedBitSet], point: Point, binding: BindingId) -> bool {
        let mut moved = before[point.node].contains(binding);
        for (index, event) in flow.nodes[point.node].events[..point.event].iter().enumerate() {
            if event.binding == binding && !event.in_closure {
                match event.kind {
                    Use::Move => moved = true,
                    Use::Write => moved = false,
                    _ => moved |= self.last_operands.contains(&(point.node, index)),
                }
            }
        }
        moved
    }

    /// Whether the variable has been moved out of on every way to the site.
    pub fn is_moved(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        self.surely_moved_out[node_of(flow, site)].contains(binding)
    }

    /// Whether the variable may have been given a value on a way to the site.
    pub fn may_have_value(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        self.written_out[node_of(flow, site)].contains(binding)
    }

    /// Whether the variable has a value at the site, whatever way led there.
    pub fn has_value(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        self.is_live(flow, site, binding)
            || self.surely_written_out[node_of(flow, site)].contains(binding)
                && !self.may_be_moved(flow, site, binding)
    }

    /// Calls `visit` for every event with the variables that are live after it.
    pub fn for_each_event(&self, flow: &Flow, mut visit: impl FnMut(&Event, &FixedBitSet)) {
        for (node, live_out) in flow.nodes.iter().zip(&self.live.out) {
            let mut live = live_out.clone();
            for event in node.events.iter().rev() {
                visit(event, &live);
                step_back(event, &mut live);
            }
        }
    }
}

fn node_of(flow: &Flow, site: SiteId) -> NodeId {
    flow.sites[site as usize - 1].node
}

/// Where variables are live.
#[derive(Debug)]
pub struct Live {
    out: Vec<FixedBitSet>,
    reachable: FixedBitSet,
}

impl Live {
    /// Solves liveness with more uses than those of the function: at the end of the given blocks.
    pub fn with_uses(flow: &Flow, uses: impl IntoIterator<Item = (NodeId, BindingId)>) -> Self {
        let empty = FixedBitSet::with_capacity(flow.bindings.len());
        let mut live_out = vec![empty; flow.nodes.len()];
        for (node, binding) in uses {
            live_out[node].insert(binding);
        }
        let mut live_in = vec![FixedBitSet::with_capacity(flow.bindings.len()); flow.nodes.len()];
        let mut changed = true;
        while changed {
            changed = false;
            for (index, node) in flow.nodes.iter().enumerate().rev() {
                let mut live = live_out[index].clone();
                node.next.iter().for_each(|next| live.union_with(&live_in[*next]));
                live_out[index].clone_from(&live);
                step_all_back(node, 0, &mut live);
                node.fresh.iter().for_each(|id| live.remove(*id));
                if live != live_in[index] {
                    live_in[index] = live;
                    changed = true;
                }
            }
        }
        Self {
            out: live_out,
            reachable: reachable(flow),
        }
    }

    /// Whether the variable's value may still be used from a point on that can be reached.
    pub fn at(&self, flow: &Flow, point: Point, binding: BindingId) -> bool {
        let mut live = self.out[point.node].clone();
        step_all_back(&flow.nodes[point.node], point.event, &mut live);
        live.contains(binding) && self.reachable.contains(point.node)
    }
}

/// All events, each with where it is.
fn points(flow: &Flow) -> impl Iterator<Item = (Point, &Event)> {
    flow.nodes.iter().enumerate().flat_map(|(number, node)| {
        let events = node.events.iter().enumerate();
        events.map(move |(index, event)| {
            let at = Point {
                node: number,
                event: index,
            };
            (at, event)
        })
    })
}

/// The receivers and operands, by node and event, whose variable is used again on a way from there.
fn used_later(flow: &Flow, live: &Live) -> HashSet<(NodeId, usize)> {
    let mut found = HashSet::new();
    for (number, node) in flow.nodes.iter().enumerate() {
        let may_be_last = |event: &Event| event.may_consume || event.by_operator;
        if !node.events.iter().any(may_be_last) {
            continue;
        }
        let mut after = live.out[number].clone();
        for (index, event) in node.events.iter().enumerate().rev() {
            if may_be_last(event) && after.contains(event.binding) {
                found.insert((number, index));
            }
            step_back(event, &mut after);
        }
    }
    found
}

fn step_all_back(node: &Node, first: usize, live: &mut FixedBitSet) {
    node.events[first..]
        .iter()
        .rev()
        .for_each(|event| step_back(event, live));
}

fn step_back(event: &Event, live: &mut FixedBitSet) {
    if event.kind == Use::Write && !event.in_closure {
        live.remove(event.binding);
    } else if event.kind != Use::Write {
        live.insert(event.binding);
    }
}

/// Whether no site where the variable is in scope leads to anything that is done with it, before it is declared anew.
/// Its destructor does not count.
pub fn is_done_with(flow: &Flow, binding: BindingId) -> bool {
    let sites = flow.sites.iter().filter(|site| site.scope.contains(&binding));
    let mut open: Vec<NodeId> = sites
        .flat_map(|site| flow.nodes[site.node].next.iter().copied())
        .collect();
    let mut seen = FixedBitSet::with_capacity(flow.nodes.len());
    while let Some(node) = open.pop() {
        if seen.put(node) {
            continue;
        }
        match flow.nodes[node]
            .events
            .iter()
            .find(|event| event.binding == binding)
        {
            None => open.extend(&flow.nodes[node].next),
            Some(event) if event.kind == Use::Write && event.step == flow.bindings[binding].step => {}
            Some(_) => return false,
        }
    }
    true
}

fn reachable(flow: &Flow) -> FixedBitSet {
    let start: &[NodeId] = if flow.nodes.is_empty() { &[] } else { &[0] };
    reached(flow.nodes.len(), start, |node| &flow.nodes[node].next)
}

/// How the ways that meet in a block are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Join {
    /// What holds on any of them.
    Any,
    /// What holds on all of them.
    All,
}

/// Solves a forward analysis; returns what holds at the beginning and at the end of every block.
fn forward(
    flow: &Flow,
    join: Join,
    effect: impl Fn(&Event, &mut FixedBitSet),
) -> (Vec<FixedBitSet>, Vec<FixedBitSet>) {
    forward_at(flow, join, |_, event, state| effect(event, state))
}

/// The same where the effect depends on the place of the event.
fn forward_at(
    flow: &Flow,
    join: Join,
    effect: impl Fn(Point, &Event, &mut FixedBitSet),
) -> (Vec<FixedBitSet>, Vec<FixedBitSet>) {
    let mut start = FixedBitSet::with_capacity(flow.bindings.len());
    start.set_range(.., join == Join::All);
    let mut before = vec![start; flow.nodes.len()];
    if let Some(entry) = before.first_mut() {
        entry.clear();
    }
    let mut after = before.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for (index, node) in flow.nodes.iter().enumerate() {
            let mut state = before[index].clone();
            node.fresh.iter().for_each(|id| state.remove(*id));
            for (event, one) in node.events.iter().enumerate() {
                effect(Point { node: index, event }, one, &mut state);
            }
            for next in &node.next {
                match join {
                    Join::Any => before[*next].union_with(&state),
                    Join::All => before[*next].intersect_with(&state),
                }
            }
            if state != after[index] {
                after[index] = state;
                changed = true;
            }
        }
    }
    (before, after)
}

pub mod clean;
pub mod copied;
pub mod lasting;
pub mod unread;
