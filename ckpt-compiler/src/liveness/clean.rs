//! Variables that are as they were when their site was last visited: no way that leads from the site back to it writes to
//! them. A checkpoint need not even look at them.
//!
//! What Rust guarantees does the rest. While the registrar of a call looks at a variable it is borrowed, so that the callee
//! does not change it; and a reference through which it could be changed later could not live across the site. Neither
//! holds for raw pointers: in functions that speak of them nothing is known. (References that ckpt itself makes again behind a
//! site are its own business.) Whether the type lets what is behind a
//! shared reference change, the runtime knows.

use crate::cfg::{BindingId, Event, Flow, NodeId, Use, reached};
use crate::library::{Library, Types};
use crate::spine::SiteId;
use fixedbitset::FixedBitSet;
use proc_macro2::{TokenStream, TokenTree};

/// What is not written to, site by site.
#[derive(Debug)]
pub struct Clean {
    /// For every site, the blocks on the ways that lead back to it; `None` in a function of which nothing is known.
    ways: Option<Vec<FixedBitSet>>,
}

impl Clean {
    /// Of a function with these tokens.
    pub fn of(library: &Library, flow: &Flow, tokens: &TokenStream) -> Clean {
        let ways = || {
            let mut before = vec![Vec::new(); flow.nodes.len()];
            for (node, block) in flow.nodes.iter().enumerate() {
                block.next.iter().for_each(|next| before[*next].push(node));
            }
            let sites = flow.sites.iter();
            sites.map(|site| around(flow, &before, site.node)).collect()
        };
        Clean {
            ways: (!speaks_of_pointers(library, tokens)).then(ways),
        }
    }

    /// Whether the variable is not written to between two visits of the site in one activation of the function.
    pub fn contains(&self, flow: &Flow, site: SiteId, binding: BindingId) -> bool {
        let Some(way) = self.ways.as_ref().and_then(|ways| ways.get(site as usize - 1)) else {
            return false;
        };
        way.ones().all(|node| {
            let node = &flow.nodes[node];
            !node.fresh.contains(&binding) && !node.events.iter().any(|event| writes(event, binding))
        })
    }
}

fn writes(event: &Event, binding: BindingId) -> bool {
    event.binding == binding && (event.by_name || matches!(event.kind, Use::Write | Use::Change | Use::Lend))
}

/// The blocks that can be reached from this one and that it can be reached from; `before` has the blocks that lead to each.
pub(super) fn around(flow: &Flow, before: &[Vec<NodeId>], site: NodeId) -> FixedBitSet {
    let next = |node: NodeId| flow.nodes[node].next.as_slice();
    let mut around = reached(flow.nodes.len(), next(site), next);
    around.intersect_with(&reached(flow.nodes.len(), &before[site], |node| &before[node]));
    around
}

/// Whether there is anything of raw pointers in it, be it only where one is made.
fn speaks_of_pointers(library: &Library, tokens: &TokenStream) -> bool {
    let is_one = |word: &str| matches!(word, "unsafe" | "raw") || library.says(word, Types::Pointers);
    let mut after_star = false;
    tokens.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => {
            after_star = false;
            speaks_of_pointers(library, &group.stream())
        }
        TokenTree::Ident(ident) => {
            let word = ident.to_string();
            let is_pointer_type = after_star && matches!(word.as_str(), "mut" | "const");
            after_star = false;
            is_pointer_type || is_one(&word)
        }
        TokenTree::Punct(punct) => {
            after_star = punct.as_char() == '*';
            false
        }
        TokenTree::Literal(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::OwnNames;
    use crate::passes::{analyse, analyse_among};
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// The variables that a function saves at its first site and that are not written to between two visits of it.
    fn clean(source: &str) -> BTreeSet<String> {
        let item: TokenStream = source.parse().expect("tokens");
        let calls = if source.contains("step(") {
            "calls(step)"
        } else {
            ""
        };
        let stages = analyse(calls.parse().expect("tokens"), &item, false).expect("a plan");
        let found = Clean::of(Library::builtin(), &stages.flow, &item);
        let saved = stages.plan.sites[0].entries.iter().map(|entry| entry.binding());
        let clean = saved.filter(|id| found.contains(&stages.flow, 1, *id));
        clean
            .map(|id| stages.flow.bindings[id].ident.to_string())
            .collect()
    }

    fn names(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn what_the_loop_only_reads() {
        let source = "fn f(n: usize) -> f64 {
            let mut matrix = vec![0.0; n];
            fill(&mut matrix);
            let mut x = vec![1.0; n];
            let weights = vec![0.5; n];
            let mut changed = vec![0.0; n];
            let mut pushed = Vec::new();
            for step in 0..n {
                checkpoint!();
                x[step] += matrix[step] * weights.iter().sum::<f64>();
                scale(&matrix, &mut changed);
                pushed.push(step);
            }
            norm(&x) + norm(&matrix) + norm(&weights) + norm(&changed) + pushed.len() as f64
        }";
        let found = clean(source);
        assert!(found.is_superset(&names(&["matrix", "weights"])), "{found:?}");
        for written in ["x", "changed", "pushed"] {
            assert!(!found.contains(written), "{written}");
        }
    }

    #[test]
    fn every_way_back_counts() {
        let source = "fn f(n: usize) -> f64 {
            let mut a = vec![0.0; n];
            let mut b = vec![0.0; n];
            let mut c = vec![0.0; n];
            for _ in 0..3 {
                a[0] += 1.0;
                let fresh = vec![a[0]; n];
                for k in 0..n {
                    checkpoint!();
                    b[k] += fresh[k];
                    if k == 7 {
                        std::mem::swap(&mut b, &mut c);
                    }
                }
            }
            c = vec![1.0];
            norm(&a) + norm(&b) + norm(&c)
        }";
        let found = clean(source);
        for written in ["a", "b", "c", "fresh"] {
            assert!(!found.contains(written), "{written}: {found:?}");
        }
    }

    #[test]
    fn a_call_borrows_what_the_site_looks_at() {
        let source = "fn f(n: usize) -> f64 {
            let mut matrix = vec![0.0; n];
            fill(&mut matrix);
            let mut x = vec![0.0; n];
            x[0] = 1.0;
            let result = step(&matrix, n);
            x[1] = result;
            norm(&x) + norm(&matrix)
        }";
        assert!(clean(source).is_superset(&names(&["matrix", "x"])));
    }

    #[test]
    fn a_pattern_with_ref_mut_writes() {
        for written in [
            "if let Some(ref mut list) = a.list { list[k] += 1.0; }",
            "if let Part { ref mut list, .. } = a { list[k] += 1.0; }",
            "match a { ref mut all => all.list[k] += 1.0 }",
            "let ref mut all = a; all.list[k] += 1.0;",
            "let Part { ref mut list, .. } = a else { return 0.0 }; list[k] += 1.0;",
            "while let Some(ref mut list) = a.list { list[k] += 1.0; break; }",
        ] {
            let source = format!(
                "fn f(n: usize) -> f64 {{
                    let mut a = part(n);
                    let b = part(n);
                    for k in 0..n {{
                        checkpoint!();
                        {written}
                    }}
                    norm(&a) + norm(&b)
                }}"
            );
            let found = clean(&source);
            assert!(
                found.contains("b") && !found.contains("a"),
                "{written}: {found:?}"
            );
        }
    }

    /// `get` and `len` may be methods of the program's own that change what they are called on.
    #[test]
    fn the_name_of_a_method_says_nothing_of_an_unknown_type() {
        let source = "fn f(n: usize) -> f64 {
            let mut table = Table::of(n);
            let mut rows = vec![Table::of(n); 3];
            let mut world = world_of(n);
            let mut log: Vec<u8> = vec![7; n];
            let steady = Table::of(n);
            let mut list = vec![0.0; n];
            let mut typed: Vec<Vec<f64>> = grid(n);
            fill(&mut list);
            for k in 0..n {
                checkpoint!();
                *table.get(k) += 1.0;
                rows[0].len();
                world.table.first();
                log.write(&[3; 9]);
                steady.get(k);
                list.len();
                typed[k].get(k);
            }
            norm(&table) + norm(&rows) + norm(&world) + norm(&log) + norm(&steady) + norm(&list) + norm(&typed)
        }";
        let found = clean(source);
        assert!(
            found.is_superset(&names(&["steady", "list", "typed"])),
            "{found:?}"
        );
        for written in ["table", "rows", "world", "log"] {
            assert!(!found.contains(written), "{written}: {found:?}");
        }
    }

    /// Whether `a` counts as written by a statement in the loop.
    fn is_written(written: &str, own: &str) -> bool {
        let source = format!(
            "fn f(n: usize) -> f64 {{
                let mut a = vec![0.5; n];
                let b = vec![0.5; n];
                fill(&mut a);
                for k in 0..n {{
                    checkpoint!();
                    {written}
                }}
                norm(&a) + norm(&b)
            }}"
        );
        let item: TokenStream = source.parse().expect("tokens");
        let mut names = OwnNames::default();
        names.read(own);
        let stages = analyse_among(TokenStream::new(), &item, &Arc::new(names), false).expect("a plan");
        let found = Clean::of(Library::builtin(), &stages.flow, &item);
        let saved = stages.plan.sites[0].entries.iter().map(|entry| entry.binding());
        let clean: Vec<_> = saved
            .filter(|id| found.contains(&stages.flow, 1, *id))
            .map(|id| stages.flow.bindings[id].ident.to_string())
            .collect();
        assert!(clean.iter().any(|name| name == "b"), "{written}: {clean:?}");
        !clean.iter().any(|name| name == "a")
    }

    #[test]
    fn what_a_closure_does_before_it_is_left_counts() {
        for written in [
            "let mut add = |x: f64| { a[k] += x; return; }; add(1.0);",
            "let mut add = |x: f64| { a[k] += x; return x; }; add(1.0);",
            "(0..n).for_each(|i| { a[i] += 1.0; return; });",
            "show((0..n).map(|i| { a[i] += 1.0; return a[i]; }).sum::<f64>());",
            "let mut add = || loop { a[k] += 1.0; return; }; add();",
            "let mut add = || { a[k] += 1.0; panic!(); }; caught(&mut add);",
            "let mut add = || { a[k] += 1.0; std::process::exit(1) }; caught(&mut add);",
        ] {
            assert!(is_written(written, ""), "{written}");
        }
    }

    #[test]
    fn names_of_the_programs_own_are_no_names_of_std() {
        let own = "trait Stack { fn first(&mut self) -> f64; fn finish(&mut self); fn abs(&mut self); }
            pub mod process { pub fn exit(cells: &mut [f64], k: usize) { cells[k] += 1.0; } }
            macro_rules! trace { ($of:expr) => { $of[0] += 1.0 } }";
        for written in [
            "a.first();",
            "a.finish();",
            "a.abs();",
            "process::exit(&mut a, k);",
            "trace!(a);",
        ] {
            assert!(is_written(written, own), "{written}");
        }
        for read in [
            "a.first();",
            "a.len();",
            "show(a.iter().sum::<f64>());",
            "show(matches!(a[0], 1.0));",
        ] {
            assert!(!is_written(read, ""), "{read}");
        }
    }

    #[test]
    fn what_stands_in_matches_may_change_something() {
        for written in [
            "show(matches!(a.pop(), Some(x) if x > 1.0));",
            "show(matches!(k, 1 if { a[0] = 3.0; true }));",
        ] {
            assert!(is_written(written, ""), "{written}");
        }
    }

    #[test]
    fn nothing_is_known_where_there_are_raw_pointers() {
        for pointer in [
            "let p = a.as_mut_ptr();",
            "let p = &raw mut a;",
            "unsafe { touch(&mut a) };",
            "let p = &mut a as *mut Vec<f64>;",
        ] {
            let source = format!(
                "fn f(n: usize) -> f64 {{
                    let mut a = vec![0.0; n];
                    {pointer}
                    for k in 0..n {{
                        checkpoint!();
                        k;
                    }}
                    norm(&a)
                }}"
            );
            let item: TokenStream = source.parse().expect("tokens");
            assert!(speaks_of_pointers(Library::builtin(), &item), "{pointer}");
        }
        let item: TokenStream = "fn f(a: &mut [f64], b: f64) { a[0] = b * *b; }"
            .parse()
            .expect("tokens");
        assert!(!speaks_of_pointers(Library::builtin(), &item));
    }
}
