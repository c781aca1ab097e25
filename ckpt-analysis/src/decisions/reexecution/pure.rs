//! Whether an initialiser is pure and cheap all the way down: every function that it calls is either one of the program
//! of which the same holds, or one of which the tables say so, and nothing in it looks at state outside its operands.

use super::names::Variables;
use crate::Analysis;
use crate::cost::Costs;
use crate::items::{FnId, GlobalKind};
use crate::source::FileId;
use ckpt_compiler::library::{Library, Methods};
use ckpt_compiler::syntax::patterns::irrefutable_bindings;
use ckpt_compiler::visit::{self, Visit};
use std::collections::{HashMap, HashSet};
use syn::spanned::Spanned;
use syn::{Expr, ItemFn};

/// A restart may spend so many operations on one statement: about a tenth of a second.
const CHEAP: f64 = 1e8;

/// Knows the functions of a program.
pub(super) struct Purity<'a> {
    analysis: &'a Analysis,
    costs: &'a Costs,
    calls: HashMap<(FileId, usize), &'a [FnId]>,
    globals: HashSet<&'a str>,
}

impl<'a> Purity<'a> {
    pub fn of(analysis: &'a Analysis, costs: &'a Costs) -> Self {
        let calls = analysis.graph.calls.iter();
        let globals = analysis.items.globals.iter();
        Self {
            analysis,
            costs,
            calls: calls
                .map(|call| ((call.place.file, call.place.bytes.start), &call.callees[..]))
                .collect(),
            globals: globals
                .filter(|one| one.kind != GlobalKind::LazyStatic)
                .map(|one| one.name.as_str())
                .collect(),
        }
    }

    /// Whether the value of an initialiser in a function can be rebuilt at any time, for little.
    pub fn of_initialiser(&self, file: FileId, function: &ItemFn, names: &Variables, init: &Expr) -> bool {
        let mut look = self.look(file, names, true);
        look.visit_expr(init);
        if !look.pure {
            return false;
        }
        let (mut seen, mut pending) = (HashSet::new(), look.callees);
        let mut operations = 0.0;
        for callee in &pending {
            operations += self.costs.functions.get(callee.0).map_or(0.0, |one| one.per_call);
        }
        while let Some(next) = pending.pop() {
            if !seen.insert(next) {
                continue;
            }
            let callee = self.analysis.items.function(next);
            let own = Variables::of(&callee.item);
            let has_exclusive = callee.item.sig.inputs.iter().any(|input| {
                matches!(input, syn::FnArg::Receiver(one) if one.mutability.is_some() && one.reference.is_some())
            });
            let mut look = self.look(callee.place.file, &own, false);
            look.visit_block(&callee.item.block);
            if !look.pure || has_exclusive || std::ptr::eq(&callee.item, function) {
                return false;
            }
            pending.extend(look.callees);
        }
        operations <= CHEAP
    }

    fn look<'n>(&'n self, file: FileId, names: &'n Variables, stable: bool) -> Look<'n, 'a> {
        Look {
            purity: self,
            file,
            names,
            stable,
            own: Vec::new(),
            pure: true,
            callees: Vec::new(),
        }
    }
}

struct Look<'n, 'a> {
    purity: &'n Purity<'a>,
    file: FileId,
    names: &'n Variables,
    /// Whether the variables that it mentions must not change.
    stable: bool,
    /// What the closures around are given.
    own: Vec<String>,
    pure: bool,
    callees: Vec<FnId>,
}

impl<'a> Look<'_, 'a> {
    fn library(&self) -> &'a Library {
        &self.purity.analysis.library
    }

    /// The functions of the program that a call there may run.
    fn of_program(&mut self, span: proc_macro2::Span) -> bool {
        let base = self.purity.analysis.bases.get(self.file.0).copied().unwrap_or(0);
        let key = (self.file, span.byte_range().start + base);
        match self.purity.calls.get(&key) {
            Some(callees) if !callees.is_empty() => {
                self.callees.extend(*callees);
                true
            }
            _ => false,
        }
    }
}

impl<'ast> Visit<'ast> for Look<'_, '_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        let known = match &*call.func {
            Expr::Path(path) => {
                let last = path.path.segments.last().map(|last| last.ident.to_string());
                let is_constructor = last.is_some_and(|last| last.starts_with(char::is_uppercase));
                self.of_program(path.span()) || is_constructor || self.library().is_pure_function(&path.path)
            }
            _ => false,
        };
        self.pure &= known;
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let known = self.library().is_pure(&method)
            || self.library().borrows(&method) && !self.library().says(&method, Methods::Guards)
            || self.library().adapts(&method)
            || self.library().collects(&method)
            || self.library().grows(&method)
            || self.library().fills(&method);
        self.pure &= self.of_program(call.method.span()) || known && !self.library().leaves_a_trace(&method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let Some(last) = path.path.segments.last() else {
            return;
        };
        let name = last.ident.to_string();
        let is_single = path.path.get_ident().is_some();
        if is_single && self.own.contains(&name) {
            return;
        }
        if is_single && (self.names.is_bound(&name) || name == "self") {
            self.pure &= !self.stable || self.names.is_stable(&name);
        } else {
            self.pure &=
                !self.purity.globals.contains(name.as_str()) && !self.library().is_device(&path.path);
        }
    }

    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        let before = self.own.len();
        let given = closure.inputs.iter().flat_map(irrefutable_bindings);
        self.own.extend(given.map(|one| one.ident.to_string()));
        self.visit_expr(&closure.body);
        self.own.truncate(before);
    }

    fn visit_expr_unsafe(&mut self, _: &'ast syn::ExprUnsafe) {
        self.pure = false;
    }

    fn visit_expr_await(&mut self, _: &'ast syn::ExprAwait) {
        self.pure = false;
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        self.pure &= one.mutability.is_none() || !self.stable;
        visit::visit_expr_reference(self, one);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = mac.path.segments.last().map(|last| last.ident.to_string());
        let prints = name
            .as_deref()
            .is_none_or(|name| self.library().leaves_a_trace(name));
        let text = format!("[{}]", mac.tokens);
        match (
            ckpt_compiler::syntax::macros::arguments_of_macro(self.library(), mac),
            syn::parse_str::<syn::ExprRepeat>(&text),
        ) {
            // The spans of text that is parsed again say nothing about calls: there must be none.
            (_, Ok(one)) if ckpt_compiler::syntax::macros::makes_a_list(self.library(), mac) => {
                self.pure &= [&*one.expr, &*one.len].into_iter().all(|part| {
                    self.names.is_constant(self.library(), part)
                        || !self.stable && !has_call(self.library(), part)
                });
            }
            (Some(arguments), _) if !prints => {
                arguments.iter().for_each(|argument| self.visit_expr(argument))
            }
            _ => self.pure = false,
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

fn has_call(library: &Library, expr: &Expr) -> bool {
    struct Calls<'l> {
        library: &'l Library,
        found: bool,
    }
    impl<'ast> Visit<'ast> for Calls<'_> {
        fn visit_expr_call(&mut self, _: &'ast syn::ExprCall) {
            self.found = true;
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.found |= !self.library.is_pure(&call.method.to_string());
            visit::visit_expr_method_call(self, call);
        }
        fn visit_expr_macro(&mut self, _: &'ast syn::ExprMacro) {
            self.found = true;
        }
    }
    let mut calls = Calls {
        library,
        found: false,
    };
    calls.visit_expr(expr);
    calls.found
}
