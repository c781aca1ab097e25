//! Calls of functions that are in variables: what they may be is known once all has been gone over.

use super::{CallForm, CallGraph};
use crate::items::methods::{Methods, Signature, functions_of_path};
use crate::items::resolve::Resolver;
use crate::items::{FnId, Items};
use ckpt_compiler::visit::{self, Visit};
use std::collections::{BTreeSet, HashMap};

/// Functions in tables: the values of constants and statics.
pub(super) fn tables(graph: &mut CallGraph, resolver: &Resolver<'_>, methods: &Methods) {
    struct FunctionPaths<'a> {
        resolver: &'a Resolver<'a>,
        methods: &'a Methods,
        scope: crate::items::ScopeId,
        found: Vec<FnId>,
    }
    impl<'ast> Visit<'ast> for FunctionPaths<'_> {
        fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
            let none = Signature::default();
            let found = functions_of_path(self.resolver, self.methods, self.scope, &none, path);
            self.found.extend(found.into_iter().flatten());
            visit::visit_expr_path(self, path);
        }
        fn visit_expr_lit(&mut self, _: &'ast syn::ExprLit) {}
    }
    let items = resolver.items;
    let consts = items.consts.iter().map(|one| (one.scope, one.value.as_ref()));
    let globals = items.globals.iter().map(|one| (one.scope, one.value.as_ref()));
    for (scope, value) in consts.chain(globals) {
        let Some(value) = value else { continue };
        let mut finder = FunctionPaths {
            resolver,
            methods,
            scope,
            found: Vec::new(),
        };
        finder.visit_expr(value);
        graph.taken.extend(finder.found);
    }
    graph.taken.sort_unstable();
    graph.taken.dedup();
}

/// Gives the calls of variables the functions that they may mean: those passed for the parameter, otherwise all whose
/// address is taken and that take as many arguments.
pub(super) fn variables(graph: &mut CallGraph, items: &Items) {
    let mut passed: HashMap<(FnId, usize), BTreeSet<FnId>> = HashMap::new();
    // A parameter may be passed on; a few rounds follow it.
    for _ in 0..3 {
        let mut found = Vec::new();
        for call in &graph.calls {
            for (index, function) in &call.passes {
                for callee in &call.callees {
                    found.push(((*callee, *index), *function));
                }
            }
        }
        for (key, function) in found {
            passed.entry(key).or_default().insert(function);
        }
    }
    let taken: Vec<FnId> = graph.taken.clone();
    for call in &mut graph.calls {
        let CallForm::Variable(_, parameter) = &call.form else {
            continue;
        };
        if !call.callees.is_empty() {
            continue;
        }
        let known = parameter.and_then(|index| passed.get(&(call.caller, index)));
        let arity = call.arguments.len();
        call.callees = match known {
            Some(known) => known.iter().copied().collect(),
            None => taken
                .iter()
                .filter(|id| items.function(**id).item.sig.inputs.len() == arity)
                .copied()
                .collect(),
        };
        call.certain = known.is_some();
    }
}
