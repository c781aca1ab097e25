//! Two dataflow analyses over the graph of a function.
//!
//! Liveness, backward: `in = use ∪ (out − def)`, `out = ⋃ in(next)`. A variable is live where its value may still be used.
//! Moves, forward: `out = moved ∪ (in − def)`, `in = ⋃ out(previous)`. A variable may have been moved out of.

use crate::flow::{BindingId, Event, Flow, Point, Use};
use crate::spine::SiteId;
use fixedbitset::FixedBitSet;

/// The solution of both analyses.
#[derive(Debug)]
pub struct Liveness {
    live_out: Vec<FixedBitSet>,
    moved_out: Vec<FixedBitSet>,
    consumed_out: Vec<FixedBitSet>,
    surely_moved_in: Vec<FixedBitSet>,
    surely_moved_out: Vec<FixedBitSet>,
}

impl Liveness {
    /// Solves both analyses for a function.
    pub fn of(flow: &Flow) -> Self {
        let (surely_moved_in, surely_moved_out) = surely_moved(flow);
        Self {
            live_out: live(flow),
            moved_out: moved(flow, |event| event.kind == Use::Move),
            consumed_out: moved(flow, |event| event.may_consume),
            surely_moved_in,
            surely_moved_out,
        }
    }

    /// Whether the variable's value may be used after the site.
    pub fn is_live(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        self.live_out[flow.sites[site as usize - 1].node].contains(binding)
    }

    /// Whether the variable may have been moved out of when the site is reached.
    pub fn may_be_moved(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        let node = flow.sites[site as usize - 1].node;
        let consumed = self.consumed_out[node].contains(binding) && !self.live_out[node].contains(binding);
        !flow.bindings[binding].is_plainly_copy() && (consumed || self.moved_out[node].contains(binding))
    }

    /// Whether the variable's value may still be used from a point on.
    pub fn is_live_at(&self, flow: &Flow, point: Point, binding: BindingId) -> bool {
        let mut live = self.live_out[point.node].contains(binding);
        for event in flow.nodes[point.node].events[point.event..].iter().rev() {
            if event.binding == binding {
                live = if event.kind == Use::Write && !event.in_closure {
                    false
                } else {
                    event.kind != Use::Write || live
                };
            }
        }
        live
    }

    /// Whether the variable has been moved out of on every way to the site.
    pub fn is_moved(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        self.surely_moved_out[flow.sites[site as usize - 1].node].contains(binding)
    }

    /// Whether the variable has been moved out of on every way to a point.
    pub fn is_moved_at(&self, flow: &Flow, point: Point, binding: BindingId) -> bool {
        let mut moved = self.surely_moved_in[point.node].contains(binding);
        for event in &flow.nodes[point.node].events[..point.event] {
            if event.binding == binding && !event.in_closure {
                match event.kind {
                    Use::Move => moved = true,
                    Use::Write => moved = false,
                    _ => {}
                }
            }
        }
        moved
    }

    /// Calls `visit` for every event with the variables that are live after it.
    pub fn for_each_event(&self, flow: &Flow, mut visit: impl FnMut(&Event, &FixedBitSet)) {
        for (node, live_out) in flow.nodes.iter().zip(&self.live_out) {
            let mut live = live_out.clone();
            for event in node.events.iter().rev() {
                visit(event, &live);
                step_back(event, &mut live);
            }
        }
    }
}

fn step_back(event: &Event, live: &mut FixedBitSet) {
    if event.kind == Use::Write && !event.in_closure {
        live.remove(event.binding);
    } else if event.kind != Use::Write {
        live.insert(event.binding);
    }
}

fn live(flow: &Flow) -> Vec<FixedBitSet> {
    let empty = FixedBitSet::with_capacity(flow.bindings.len());
    let mut live_in = vec![empty.clone(); flow.nodes.len()];
    let mut live_out = vec![empty; flow.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for index in (0..flow.nodes.len()).rev() {
            let node = &flow.nodes[index];
            let mut live = live_out[index].clone();
            for next in &node.next {
                live.union_with(&live_in[*next]);
            }
            live_out[index].clone_from(&live);
            node.events
                .iter()
                .rev()
                .for_each(|event| step_back(event, &mut live));
            if live != live_in[index] {
                live_in[index] = live;
                changed = true;
            }
        }
    }
    live_out
}

/// As [`moved`], over all ways instead of over any.
fn surely_moved(flow: &Flow) -> (Vec<FixedBitSet>, Vec<FixedBitSet>) {
    let mut everything = FixedBitSet::with_capacity(flow.bindings.len());
    everything.insert_range(..);
    let mut moved_in = vec![everything; flow.nodes.len()];
    if let Some(start) = moved_in.first_mut() {
        start.clear();
    }
    let mut moved_out = moved_in.clone();
    let mut changed = true;
    while changed {
        changed = false;
        for index in 0..flow.nodes.len() {
            let mut moved = moved_in[index].clone();
            for event in &flow.nodes[index].events {
                match event.kind {
                    Use::Move if !event.in_closure => moved.insert(event.binding),
                    Use::Write if !event.in_closure => moved.remove(event.binding),
                    _ => {}
                }
            }
            for next in flow.nodes[index].next.clone() {
                moved_in[next].intersect_with(&moved);
            }
            if moved != moved_out[index] {
                moved_out[index] = moved;
                changed = true;
            }
        }
    }
    (moved_in, moved_out)
}

fn moved(flow: &Flow, moves: impl Fn(&Event) -> bool) -> Vec<FixedBitSet> {
    let empty = FixedBitSet::with_capacity(flow.bindings.len());
    let mut moved_in = vec![empty.clone(); flow.nodes.len()];
    let mut moved_out = vec![empty; flow.nodes.len()];
    let mut changed = true;
    while changed {
        changed = false;
        for index in 0..flow.nodes.len() {
            let mut moved = moved_in[index].clone();
            for event in &flow.nodes[index].events {
                if moves(event) {
                    moved.insert(event.binding);
                } else if event.kind == Use::Write && !event.in_closure {
                    moved.remove(event.binding);
                }
            }
            for next in flow.nodes[index].next.clone() {
                moved_in[next].union_with(&moved);
            }
            if moved != moved_out[index] {
                moved_out[index] = moved;
                changed = true;
            }
        }
    }
    moved_out
}
