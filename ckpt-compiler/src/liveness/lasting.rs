//! Variables of the program's outermost function that stay what and where they are from a site on until the function ends: nothing
//! behind the site writes to them, lends them to be changed or moves them, and they are declared in no inner block, before all that has a
//! site. What a snapshot of the site has of such a variable is true until the function drops its variables: what the function declares
//! behind them, in front of its first site, is dropped before they are, and says so.

use crate::cfg::{BindingId, Declaration, Flow, Use, reached};
use crate::spine::{Block, SiteId, StepKind};

/// Whether the variable of the function with this body is one.
pub fn lasts(flow: &Flow, body: &Block, site: SiteId, binding: BindingId) -> bool {
    let declared = &flow.bindings[binding];
    let is_outermost = matches!(declared.declaration, Declaration::Let) && { body.steps.iter() }
        .take_while(|step| !matches!(step.kind, StepKind::Spine(_)))
        .any(|step| step.range.start == declared.step);
    let Some(place) = flow.sites.get(site as usize - 1).filter(|_| is_outermost) else {
        return false;
    };
    let next = |node: usize| flow.nodes[node].next.as_slice();
    reached(flow.nodes.len(), next(place.node), next)
        .ones()
        .all(|node| {
            let node = &flow.nodes[node];
            let mut events = node.events.iter().filter(|event| event.binding == binding);
            !node.fresh.contains(&binding) && events.all(|event| event.kind == Use::Read && !event.by_name)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::analyse;
    use proc_macro2::TokenStream;

    #[test]
    fn what_nothing_touches_until_the_end_lasts() {
        let source = "fn f(n: usize) -> f64 {
            let mut filled = vec![0.0; n];
            fill(&mut filled);
            let read = vec![0.5; n];
            let mut written = vec![0.5; n];
            let mut later = vec![0.5; n];
            let moved = vec![0.5; n];
            let mut sum = 0.0;
            {
                let inner = vec![0.5; n];
                for k in 0..n {
                    checkpoint!();
                    written[k] += filled[k] * read[k] + inner[k] + later[k] + moved[k];
                }
                sum += norm(&inner);
            }
            later[0] = 1.0;
            show(moved);
            sum + norm(&filled) + norm(&read) + norm(&written) + norm(&later)
        }";
        let item: TokenStream = source.parse().expect("tokens");
        let stages = analyse(TokenStream::new(), &item, false).expect("a plan");
        let flow = &stages.flow;
        let lasting = flow.bindings.iter().enumerate();
        let lasting = lasting.filter(|(id, _)| lasts(flow, &stages.lowered.body, 1, *id));
        let lasting: Vec<String> = lasting.map(|(_, one)| one.ident.to_string()).collect();
        assert!(
            ["filled", "read"]
                .iter()
                .all(|name| lasting.iter().any(|one| one == name)),
            "{lasting:?}"
        );
        for gone in ["written", "later", "moved", "inner"] {
            assert!(!lasting.iter().any(|one| one == gone), "{gone}: {lasting:?}");
        }
    }
}
