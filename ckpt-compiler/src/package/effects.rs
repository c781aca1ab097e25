//! Which statements may run a second time: a `let` whose value no checkpoint holds is made again at a restart if that
//! changes nothing but the variable itself.

use super::calls::{CallGraph, CallId};
use super::items::{FnId, Items};
use super::locate::bytes;
use super::rewrite::Place;
use super::source::{FileId, Program};
use crate::tables::Tables;
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Expr, Local};

/// Calls that leave a trace outside the program, by their last names; `File::open` leaves none.
const TRACES: &[&str] = &[
    "create",
    "create_new",
    "create_dir",
    "create_dir_all",
    "remove_file",
    "remove_dir",
    "remove_dir_all",
    "rename",
    "copy",
    "set_len",
    "write_all",
    "write_fmt",
    "flush",
    "append",
    "truncate",
    "spawn",
    "read_line",
    "read_to_string",
    "read_to_end",
    "exit",
    "abort",
    "set_var",
    "send",
    "recv",
    "sleep",
];

/// Macros that print or write.
const WRITES: &[&str] = &[
    "print",
    "println",
    "write",
    "writeln",
    "panic",
    "todo",
    "unimplemented",
];

/// Where each call of a file stands, and what it may call.
type CallsByFile = HashMap<FileId, Vec<(Range<usize>, Vec<FnId>)>>;

/// Knows the effects of the functions of a program.
#[derive(Debug)]
pub struct Effects<'a> {
    program: &'a Program,
    items: &'a Items,
    /// Calls by the file and the byte at which they begin.
    calls: CallsByFile,
    by_function: Vec<Vec<FnId>>,
}

impl<'a> Effects<'a> {
    /// Looks at the calls of the program.
    pub fn of(program: &'a Program, items: &'a Items, graph: &CallGraph) -> Self {
        let mut calls: CallsByFile = HashMap::new();
        for call in &graph.calls {
            calls
                .entry(call.place.file)
                .or_default()
                .push((call.place.bytes.clone(), call.callees.clone()));
        }
        let callees = |ids: Vec<CallId>| -> Vec<FnId> {
            ids.into_iter()
                .flat_map(|id| graph.call(id).callees.clone())
                .collect()
        };
        Self {
            program,
            items,
            calls,
            by_function: graph.calls_by_function().into_iter().map(callees).collect(),
        }
    }

    /// Whether the `let` that begins there may run again: it has an initialiser that leaves no trace and changes no
    /// variable, and what it declares is not changed later, so that a second run gives the same value.
    pub fn may_run_again(&self, place: Place) -> bool {
        let Some((local, others)) = local_at(self.program, place) else {
            return false;
        };
        let Some(init) = &local.init else {
            return false;
        };
        if init.diverge.is_some() || !is_constant_pattern(&local.pat) {
            return false;
        }
        let mut own = Traces {
            changeable: &others,
            found: false,
        };
        own.visit_expr(&init.expr);
        let range = bytes(self.program, place.0, init.expr.span());
        !own.found
            && self
                .called_in(place.0, &range)
                .into_iter()
                .all(|callee| self.leaves_no_trace(callee))
    }

    fn called_in(&self, file: FileId, range: &Range<usize>) -> Vec<FnId> {
        self.calls.get(&file).map_or_else(Vec::new, |calls| {
            calls
                .iter()
                .filter(|(at, _)| range.start <= at.start && at.end <= range.end)
                .flat_map(|(_, callees)| callees.clone())
                .collect()
        })
    }

    /// Whether neither the function nor what it calls leaves a trace. What it does to its own variables is its own.
    fn leaves_no_trace(&self, function: FnId) -> bool {
        let mut seen = HashSet::new();
        let mut pending = vec![function];
        while let Some(next) = pending.pop() {
            if !seen.insert(next) {
                continue;
            }
            let mut traces = Traces {
                changeable: &HashSet::new(),
                found: false,
            };
            traces.visit_block(&self.items.function(next).item.block);
            if traces.found {
                return false;
            }
            pending.extend(self.by_function.get(next.0).into_iter().flatten());
        }
        true
    }
}

/// The `let` that begins at the byte, and the names of its function that may change.
fn local_at(program: &Program, place: Place) -> Option<(&Local, HashSet<String>)> {
    struct Finder<'p> {
        program: &'p Program,
        place: Place,
        changeable: Vec<HashSet<String>>,
        found: Option<(&'p Local, HashSet<String>)>,
    }
    impl<'p> Finder<'p> {
        fn function(&mut self, signature: &'p syn::Signature, body: &'p syn::Block) {
            let mut names = Changeable::default();
            names.visit_signature(signature);
            names.visit_block(body);
            self.changeable.push(names.0);
            visit::visit_block(self, body);
            self.changeable.pop();
        }
    }
    impl<'p> Visit<'p> for Finder<'p> {
        fn visit_item_fn(&mut self, item: &'p syn::ItemFn) {
            self.function(&item.sig, &item.block);
        }
        fn visit_impl_item_fn(&mut self, item: &'p syn::ImplItemFn) {
            self.function(&item.sig, &item.block);
        }
        fn visit_trait_item_fn(&mut self, item: &'p syn::TraitItemFn) {
            if let Some(body) = &item.default {
                self.function(&item.sig, body);
            }
        }
        fn visit_local(&mut self, local: &'p Local) {
            if bytes(self.program, self.place.0, local.span()).start == self.place.1 {
                let names = self.changeable.last().cloned().unwrap_or_default();
                self.found = Some((local, names));
            }
            visit::visit_local(self, local);
        }
    }
    let mut finder = Finder {
        program,
        place,
        changeable: Vec::new(),
        found: None,
    };
    finder.visit_file(&program.file(place.0).ast);
    finder.found
}

/// The names declared `mut`, and those of parameters that are exclusive references.
#[derive(Default)]
struct Changeable(HashSet<String>);

impl<'ast> Visit<'ast> for Changeable {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        if pattern.mutability.is_some() {
            self.0.insert(pattern.ident.to_string());
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_receiver(&mut self, receiver: &'ast syn::Receiver) {
        if receiver.mutability.is_some() {
            self.0.insert("self".into());
        }
    }

    fn visit_pat_type(&mut self, typed: &'ast syn::PatType) {
        if let (syn::Pat::Ident(name), syn::Type::Reference(reference)) = (&*typed.pat, &*typed.ty)
            && reference.mutability.is_some()
        {
            self.0.insert(name.ident.to_string());
        }
        visit::visit_pat_type(self, typed);
    }
}

/// Whether nothing that the pattern binds may change later.
fn is_constant_pattern(pattern: &syn::Pat) -> bool {
    let mut names = Changeable::default();
    names.visit_pat(pattern);
    names.0.is_empty()
}

/// Looks for traces in code.
struct Traces<'n> {
    /// Names whose methods may change them.
    changeable: &'n HashSet<String>,
    found: bool,
}

impl<'ast> Visit<'ast> for Traces<'_> {
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = mac.path.segments.last().map(|last| last.ident.to_string());
        self.found |= name.is_some_and(|name| {
            WRITES.contains(&name.as_str()) && !matches!(name.as_str(), "panic" | "todo" | "unimplemented")
        });
    }

    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if let Expr::Path(path) = &*call.func
            && let Some(last) = path.path.segments.last()
        {
            self.found |= TRACES.contains(&last.ident.to_string().as_str());
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        self.found |= TRACES.contains(&method.as_str());
        let root = root_name(&call.receiver);
        let may_change = root.is_some_and(|root| self.changeable.contains(&root));
        self.found |= may_change && !Tables::builtin().is_pure(&method) && !is_iteration(&method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_reference(&mut self, one: &'ast syn::ExprReference) {
        let is_outside = root_name(&one.expr).is_some_and(|root| self.changeable.contains(&root));
        self.found |= one.mutability.is_some() && is_outside;
        visit::visit_expr_reference(self, one);
    }

    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
}

fn is_iteration(method: &str) -> bool {
    let tables = Tables::builtin();
    tables.borrows(method) && !tables.borrows_mutably(method)
        || tables.adapts(method)
        || tables.collects(method)
}

fn root_name(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Path(path) => path.path.get_ident().map(ToString::to_string),
        Expr::Field(field) => root_name(&field.base),
        Expr::Index(index) => root_name(&index.expr),
        Expr::MethodCall(call) => root_name(&call.receiver),
        Expr::Paren(inner) => root_name(&inner.expr),
        Expr::Reference(one) => root_name(&one.expr),
        Expr::Unary(one) => root_name(&one.expr),
        _ => None,
    }
}
