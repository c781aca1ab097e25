//! Files that are opened anew to append to them while a chosen loop runs, and closed again: a checkpoint knows the files
//! that are open, so what these have grown by since is written twice after a restart.

use super::Analysis;
use super::calls::{LoopId, Work};
use super::choose::{PlacedSite, Placement};
use super::items::FnId;
use super::source::FileId;
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// A call of `.append(true)` that a chosen loop leads to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Append {
    /// The function that it stands in.
    pub function: FnId,
    /// Its file.
    pub file: FileId,
    /// Its byte.
    pub at: usize,
}

/// All of them, each once.
pub fn appends(analysis: &Analysis, placement: &Placement) -> Vec<Append> {
    let mut found = BTreeSet::new();
    for site in &placement.sites {
        let range = &site.place.bytes;
        let own = appends_of(analysis, site.function);
        found.extend(own.into_iter().filter(|one| range.contains(&one.at)));
        for function in reached(analysis, site) {
            found.extend(appends_of(analysis, function));
        }
    }
    found.into_iter().collect()
}

/// The functions that run while the site's loop does.
fn reached(analysis: &Analysis, site: &PlacedSite) -> BTreeSet<FnId> {
    let graph = &analysis.graph;
    let own_loop = graph
        .loops
        .iter()
        .find(|one| one.function == site.function && one.place == site.place);
    let mut works: Vec<&Work> = own_loop.map(|one| &one.work).into_iter().collect();
    let mut reached = BTreeSet::new();
    let mut loops: BTreeSet<LoopId> = BTreeSet::new();
    while let Some(work) = works.pop() {
        let inner = work
            .loops
            .iter()
            .chain(work.closures.iter().map(|(closure, _)| closure));
        for &id in inner {
            if loops.insert(id) {
                works.push(&graph.one_loop(id).work);
            }
        }
        for &call in &work.calls {
            for &callee in &graph.call(call).callees {
                if reached.insert(callee) {
                    works.push(&graph.bodies[callee.0]);
                }
            }
        }
    }
    reached
}

fn appends_of(analysis: &Analysis, function: FnId) -> Vec<Append> {
    struct Appends(Vec<proc_macro2::Span>);
    impl<'ast> Visit<'ast> for Appends {
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            let is_true = |one: &syn::Expr| matches!(one, syn::Expr::Lit(lit) if matches!(&lit.lit, syn::Lit::Bool(value) if value.value));
            if call.method == "append" && call.args.len() == 1 && is_true(&call.args[0]) {
                self.0.push(call.method.span());
            }
            visit::visit_expr_method_call(self, call);
        }
    }
    let one = analysis.items.function(function);
    let mut appends = Appends(Vec::new());
    appends.visit_block(&one.item.block);
    let file = one.place.file;
    let base = analysis.bases[file.0];
    let at = appends.0.iter().map(|span| span.byte_range().start + base);
    at.map(|at| Append { function, file, at }).collect()
}
