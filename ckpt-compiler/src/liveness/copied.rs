//! Variables that are certainly copied where they are taken by value: rustc lets nobody use what has moved, so what is used once more
//! without a new value has not.

use crate::cfg::{BindingId, Flow, NodeId, Use};

/// Whether it is used again where it was taken by value, and has had no other value in between.
pub fn is_certainly_copied(flow: &Flow, id: BindingId) -> bool {
    let nodes = flow.nodes.iter().enumerate();
    let places =
        nodes.flat_map(|(node, block)| { block.events.iter().enumerate() }.map(move |one| (node, one)));
    let mut taken = places.filter(|(_, (_, event))| event.binding == id && event.kind == Use::Move);
    taken.any(|(node, (at, event))| !event.in_closure && is_used_behind(flow, id, (node, at)))
}

fn is_used_behind(flow: &Flow, id: BindingId, (node, at): (NodeId, usize)) -> bool {
    // What a block does first with the variable, from an event on.
    let first = |node: NodeId, from: usize| {
        let mut events = flow.nodes[node].events[from..].iter();
        events.find(|event| event.binding == id).map(|event| event.kind)
    };
    if let Some(kind) = first(node, at + 1) {
        return kind != Use::Write;
    }
    let mut seen = fixedbitset::FixedBitSet::with_capacity(flow.nodes.len());
    let mut open = flow.nodes[node].next.clone();
    while let Some(next) = open.pop() {
        if seen.put(next) || flow.nodes[next].fresh.contains(&id) {
            continue;
        }
        match first(next, 0) {
            None => open.extend(&flow.nodes[next].next),
            Some(Use::Write) => {}
            Some(_) => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passes::analyse;
    use proc_macro2::TokenStream;

    #[test]
    fn what_is_used_after_it_was_taken_was_copied() {
        let is_copied = |body: &str| {
            let source = format!(
                "fn f(n: usize) {{ let mut a = made(n); {body} for k in 0..n {{ checkpoint!(); show(k); }} }}"
            );
            let item: TokenStream = source.parse().expect("tokens");
            let stages = analyse(TokenStream::new(), &item, false).expect(body);
            let a = stages
                .flow
                .bindings
                .iter()
                .position(|one| one.ident == "a")
                .expect("`a`");
            is_certainly_copied(&stages.flow, a)
        };
        for body in [
            "take(a); take(a);",
            "let b = Part { a }; let c = Part { a };",
            "take(a); look(&a);",
            "if n > 1 { take(a); } take(a);",
            "for _ in 0..n { take(a); }",
        ] {
            assert!(is_copied(body), "{body}");
        }
        for body in [
            "take(a);",
            "look(&a); take(a);",
            "take(a); a = made(n); take(a);",
            "if n > 1 { take(a); } else { take(a); }",
            "for _ in 0..n { take(a); a = made(n); }",
            "for _ in 0..n { take(a); break; }",
            "let all = || take(a);",
        ] {
            assert!(!is_copied(body), "{body}");
        }
    }
}
