//! Variables that are not even read between two visits of a site: what is wrong with such a variable at a visit has been nobody's
//! input since the one before, so that it alone need be put right.
//!
//! A variable is read where it is named, and through what may hold a reference to it. Of types nothing is known: whatever is named
//! in one statement with the variable on a way to the site may hold one from there on, and what is named with that as well. Only what
//! is plainly a number does not, and nothing does from the statement that declares the variable.

use super::clean::around;
use crate::cfg::{BindingId, Declaration, Event, Flow, NodeId, reached};
use crate::spine::{SiteId, StepId};
use fixedbitset::FixedBitSet;
use std::cell::OnceCell;
use std::collections::HashMap;

/// What is not read, site by site.
#[derive(Debug)]
pub struct Unread {
    /// For every block, those that lead to it.
    before: Vec<Vec<NodeId>>,
    /// Of most sites nobody asks.
    sites: Vec<OnceCell<Ways>>,
}

/// The ways of a site.
#[derive(Debug)]
struct Ways {
    /// What is named on a way back to it, or in the call that is the site.
    named: FixedBitSet,
    /// What is named in each statement on a way to it.
    together: HashMap<StepId, Vec<BindingId>>,
}

impl Unread {
    /// Of a function.
    pub fn of(flow: &Flow) -> Unread {
        let mut before = vec![Vec::new(); flow.nodes.len()];
        for (node, block) in flow.nodes.iter().enumerate() {
            block.next.iter().for_each(|next| before[*next].push(node));
        }
        let sites = flow.sites.iter().map(|_| OnceCell::new());
        Unread {
            before,
            sites: sites.collect(),
        }
    }

    /// Whether nothing looks at the variable between two visits of the site in one activation of the function.
    pub fn contains(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        let declared = &flow.bindings[binding];
        let is_own = matches!(declared.declaration, Declaration::Let)
            && !declared.from_spine
            && !declared.is_synthetic();
        let at = site as usize - 1;
        let (true, Some(ways), Some(place)) = (is_own, self.sites.get(at), flow.sites.get(at)) else {
            return false;
        };
        let ways = ways.get_or_init(|| Ways::of(flow, &self.before, place.node, site));
        ways.holders(flow, binding).is_disjoint(&ways.named)
    }
}

impl Ways {
    fn of(flow: &Flow, before: &[Vec<NodeId>], site: NodeId, number: SiteId) -> Ways {
        let mut named = FixedBitSet::with_capacity(flow.bindings.len());
        for node in around(flow, before, site).ones() {
            let node = &flow.nodes[node];
            node.fresh.iter().for_each(|id| named.insert(*id));
            node.events.iter().for_each(|event| named.insert(event.binding));
        }
        let arguments = flow.arguments.iter().filter(|(at, _)| *at == number);
        for (id, _) in arguments.flat_map(|(_, uses)| uses) {
            named.insert(*id);
        }
        let mut together: HashMap<StepId, Vec<BindingId>> = HashMap::new();
        for node in reached(flow.nodes.len(), &[site], |node| &before[node]).ones() {
            for Event { binding, step, .. } in &flow.nodes[node].events {
                together.entry(*step).or_default().push(*binding);
            }
        }
        Ways { named, together }
    }

    /// The variable, and what may hold a reference to it at the site.
    fn holders(&self, flow: &Flow, binding: BindingId) -> FixedBitSet {
        let mut found = FixedBitSet::with_capacity(flow.bindings.len());
        let mut open = vec![binding];
        found.insert(binding);
        while let Some(one) = open.pop() {
            let declares = (one == binding).then_some(flow.bindings[binding].step);
            let steps = self.together.iter().filter(|(step, _)| Some(**step) != declares);
            let with_it = steps.filter(|(_, named)| named.contains(&one));
            for other in with_it.flat_map(|(_, named)| named) {
                if !flow.bindings[*other].is_plainly_copy() && !found.put(*other) {
                    open.push(*other);
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::analyse;
    use proc_macro2::TokenStream;
    use std::collections::BTreeSet;

    /// The variables that are not read between two visits of a function's first site.
    fn unread(source: &str) -> BTreeSet<String> {
        let item: TokenStream = source.parse().expect("tokens");
        let calls = if source.contains("step(") {
            "calls(step)"
        } else {
            ""
        };
        let stages = analyse(calls.parse().expect("tokens"), &item, false).expect("a plan");
        let found = Unread::of(&stages.flow);
        let saved = stages.plan.sites[0].entries.iter().map(|entry| entry.binding());
        let unread = saved.filter(|id| found.contains(&stages.flow, 1, *id));
        unread
            .map(|id| stages.flow.bindings[id].ident.to_string())
            .collect()
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_is_for_the_time_behind_the_loop() {
        let source = "fn f(n: usize) -> f64 {
            let mut x = vec![1.0; n];
            x[0] = 2.0;
            let first = x.clone();
            let mut filled = vec![0.0; n];
            fill(&mut filled);
            let weights = vec![0.5; n];
            for step in 0..n {
                checkpoint!();
                x[step] += weights[step];
            }
            norm(&x) - norm(&first) + norm(&filled) + norm(&weights)
        }";
        assert_eq!(unread(source), names(&["first", "filled"]));
    }

    #[test]
    fn what_a_call_is_given_is_read_in_it() {
        let source = "fn f(n: usize) -> f64 {
            let matrix = vec![1.0; n];
            let names = vec![2.0; n];
            let mut x = vec![0.0; n];
            step(&matrix, &mut x);
            norm(&x) + norm(&matrix) + norm(&names)
        }";
        assert_eq!(unread(source), names(&["names"]));
    }

    #[test]
    fn what_somebody_may_refer_to_counts_as_read() {
        for holder in [
            "let held = &kept;",
            "let held = std::cell::Cell::new(None); held.set(Some(&kept));",
            "let held = || kept.len();",
            "let held = std::cell::Cell::new(None); let other = &kept; note(&held, other);",
        ] {
            let source = format!(
                "fn f(n: usize) -> f64 {{
                    let kept = vec![1.0; n];
                    {holder}
                    let mut x = 0.0;
                    for _ in 0..n {{
                        checkpoint!();
                        x += use_of(&held);
                    }}
                    x + norm(&kept)
                }}"
            );
            assert!(!unread(&source).contains("kept"), "{holder}");
        }
    }
}
