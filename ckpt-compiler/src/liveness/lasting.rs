//! Variables of the program's outermost function that stay what and where they are from a site on until the function ends: nothing
//! behind the site writes to them, lends them to be changed or may take them, or memory of theirs, away, and they are declared in no inner block, before all that has a
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
            !node.fresh.contains(&binding)
                && events.all(|event| event.kind == Use::Read && !event.by_name && !event.may_take)
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

    /// Whether `a` lasts from a site in a loop on, with this behind the loop.
    fn lasts_until(behind: &str) -> bool {
        let source = format!(
            "fn f(n: usize) -> f64 {{
                let a = made(n);
                let mut sum = 0.0;
                for k in 0..n {{
                    checkpoint!();
                    sum += a[k];
                }}
                {behind}
                sum
            }}"
        );
        let item: TokenStream = source.parse().expect("tokens");
        let stages = analyse(TokenStream::new(), &item, false).expect(behind);
        let flow = &stages.flow;
        let is_a =
            |one: &crate::cfg::Binding| one.ident == "a" && matches!(one.declaration, Declaration::Let);
        let a = flow.bindings.iter().position(is_a).expect("`a`");
        lasts(flow, &stages.lowered.body, 1, a)
    }

    /// The memory is another variable's afterwards, whatever form the move has.
    #[test]
    fn what_may_be_taken_away_does_not_last() {
        for taken in [
            "let b = a;",
            "let b = a.list;",
            "let b = *a;",
            "let b = (*a).list;",
            "let (b, _) = a;",
            "let Part { list, .. } = *a;",
            "let b = a + 1.0;",
            "let b = 1.0 - a;",
            "let b = *a + 1.0;",
            "let b = (a) * 2.0;",
            "let b = -a;",
            "sum += a;",
            "let b; b = a.list;",
            "let b = a.min(other);",
            "let b = a.into_iter();",
            "let b = a.into();",
            "let b = a.lines();",
            "let b = a.own_method();",
            "let b = [a];",
            "let b = (a, 1);",
            "let b = Part { a };",
            "let b = Part { list: a };",
            "let b = Part { k: 1, ..a };",
            "let b = Part { k: 1, ..*a };",
            "let b = vec![a];",
            "let b = vec![a; 1];",
            "let b = dbg!(a);",
            "let b = dbg!(*a);",
            "let b = mine!(a);",
            "let b = 0..a;",
            "let b = a as Box<dyn Any>;",
            "let b = a?;",
            "let b = if n > 1 { a } else { made(1) };",
            "let b = match n { 1 => *a, _ => made(1) };",
            "let b = { a };",
            "let b = loop { break a; };",
            "let b = 'one: { if n > 1 { break 'one *a; } made(1) };",
            "if n > 1 { return a; }",
            "if n > 1 { return *a; }",
            "if n > 1 { return sum + *a; }",
            "for x in a { sum += x; }",
            "for x in *a { sum += x; }",
            "show(a);",
            "show(*a);",
            "object.show(*a);",
            "sum += match a { Part { list, .. } => norm(&list) };",
            "sum += match *a { list => norm(&list) };",
            "if let Some(list) = a { sum += norm(&list); }",
            "if let Some(list) = *a { sum += norm(&list); }",
            "while let Some(list) = *a { sum += norm(&list); break; }",
            "let Some(list) = *a else { return 0.0 };",
            "if matches!(a, Some(list) if list.len() > 3) { sum += 1.0; }",
            "if matches!(*a, Some(list)) { sum += 1.0; }",
            "if matches!(n, 1 if taken(*a)) { sum += 1.0; }",
            "assert!(taken(*a));",
            "println!(\"{}\", taken(*a));",
            "sum += start(move || a.iter().sum::<f64>());",
            "sum += start(move || norm(&a));",
            "sum += start(move || a[0] == a[1]);",
            "sum += start(move || format!(\"{a}\").len());",
            "sum += start(move || matches!(a, None));",
            "sum += start(move || { let b = || a[3]; b() });",
            "sum += start(|| *a);",
            "sum += start(|| a + 1.0);",
            "sum += start(|| { for x in *a { show(x); } });",
            "sum += start(async move { a.len() });",
            "let mut b = made(n); std::mem::swap(&mut a, &mut b);",
        ] {
            assert!(!lasts_until(taken), "{taken}");
        }
        for looked_at in [
            "let b = &a;",
            "let b = &*a;",
            "let b = &a.list[1..];",
            "let b = a[3];",
            "let b = a.list[3];",
            "let b = (*a)[3].x;",
            "let b = a[n + 1] + a[n] * a.list[1];",
            "let b = -a[3];",
            "let b = a == other;",
            "if *a < other { sum += 1.0; }",
            "let b = &a + &a;",
            "let b = a.len();",
            "let b = a.clone();",
            "let b = a.iter().zip(&a).map(|(x, y)| x * y).sum::<f64>();",
            "let b = (0..n).map(|k| a[k]).sum::<f64>();",
            "let b = std::thread::scope(|all| all.spawn(|| norm(&a)).join());",
            "for x in &a { sum += x; }",
            "for x in a.iter() { sum += x; }",
            "show(&a);",
            "let _ = a;",
            "let ref b = a;",
            "match a { Part { ref list, .. } => show(list) }",
            "if let Some(list) = &a { show(list); }",
            "if matches!(a, None) { sum += 1.0; }",
            "if matches!(&a, Some(list) if list.len() > 3) { sum += 1.0; }",
            "println!(\"{a} {} {a:?}\", a);",
            "assert!(a.len() == 3, \"{a}\"); assert_eq!(a, other);",
            "sum += start(async { a.len() });",
        ] {
            assert!(lasts_until(looked_at), "{looked_at}");
        }
    }
}
