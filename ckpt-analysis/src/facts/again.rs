//! Functions of the program that only compute: the statements that start threads may call them, as a restart runs these again.

use crate::items::{Function, GlobalKind, Items};
use ckpt_compiler::library::{CallTable, Library, Meaning, Methods, Threads, segments};
use ckpt_compiler::syntax::macros::name_of_macro;
use ckpt_compiler::visit::{self, Visit};
use std::collections::{HashMap, HashSet};
use syn::{Expr, FnArg, Type};

/// What is to be said of those that functions with threads call.
pub fn table(library: &Library, items: &Items) -> CallTable {
    let called = called_beside_threads(library, items);
    let mut by_name: HashMap<&str, Vec<&Function>> = HashMap::new();
    for function in &items.functions {
        by_name.entry(&function.name).or_default().push(function);
    }
    let free = |name: &str| match by_name.get(name).map(Vec::as_slice) {
        Some([one]) if one.self_type.is_none() && one.trait_name.is_none() => Some(*one),
        _ => None,
    };
    let globals = items.globals.iter();
    let globals: HashSet<&str> = globals
        .filter(|one| one.kind != GlobalKind::LazyStatic)
        .map(|one| one.name.as_str())
        .collect();
    let mut table = CallTable::default();
    let mut names: Vec<&String> = called.iter().collect();
    names.sort();
    for name in names {
        let (mut seen, mut open) = (HashSet::new(), vec![name.clone()]);
        let only_computes = loop {
            let Some(next) = open.pop() else {
                break true;
            };
            if !seen.insert(next.clone()) {
                continue;
            }
            let Some(function) = free(&next) else {
                break false;
            };
            let Some(callees) = computes(library, &globals, function) else {
                break false;
            };
            open.extend(callees);
        };
        if only_computes {
            table.say_of_function(Meaning::Again, name);
        }
    }
    table
}

/// The last names of the functions that are called in functions which start threads.
fn called_beside_threads(library: &Library, items: &Items) -> HashSet<String> {
    struct Calls<'l> {
        library: &'l Library,
        called: Vec<String>,
        starts: bool,
    }
    impl<'ast> Visit<'ast> for Calls<'_> {
        fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
            if let Expr::Path(path) = &*call.func {
                let names = segments(&path.path);
                self.starts |= names
                    .last()
                    .is_some_and(|last| self.library.says(last, Threads::Starts));
                self.called.extend(names.last().cloned());
            }
            visit::visit_expr_call(self, call);
        }
        fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
            self.starts |= self.library.says(&call.method.to_string(), Threads::Starts);
            visit::visit_expr_method_call(self, call);
        }
    }
    let each = items.functions.iter().map(|function| {
        let mut calls = Calls {
            library,
            called: Vec::new(),
            starts: false,
        };
        calls.visit_block(&function.item.block);
        calls
    });
    let beside = each.filter(|calls| calls.starts);
    beside.flat_map(|calls| calls.called).collect()
}

/// The functions that this one calls, if it does nothing else but compute.
fn computes(library: &Library, globals: &HashSet<&str>, function: &Function) -> Option<Vec<String>> {
    let signature = &function.item.sig;
    let is_exclusive = |input: &FnArg| match input {
        FnArg::Receiver(_) => true,
        FnArg::Typed(typed) => has_exclusive(&typed.ty),
    };
    let is_plain = signature.asyncness.is_none() && signature.unsafety.is_none();
    if !is_plain || signature.inputs.iter().any(is_exclusive) {
        return None;
    }
    let mut look = Look {
        library,
        globals,
        callees: Vec::new(),
        computes: true,
    };
    look.visit_block(&function.item.block);
    look.computes.then_some(look.callees)
}

/// Whether what is handed over may be changed through the argument: by an exclusive reference, a pointer, or a function.
fn has_exclusive(of: &Type) -> bool {
    struct Find(bool);
    impl<'ast> Visit<'ast> for Find {
        fn visit_type(&mut self, one: &'ast Type) {
            self.0 |= match one {
                Type::Reference(one) => one.mutability.is_some(),
                Type::Ptr(_) | Type::BareFn(_) | Type::ImplTrait(_) | Type::TraitObject(_) => true,
                _ => false,
            };
            visit::visit_type(self, one);
        }
    }
    let mut find = Find(false);
    find.visit_type(of);
    find.0
}

struct Look<'l> {
    library: &'l Library,
    globals: &'l HashSet<&'l str>,
    callees: Vec<String>,
    computes: bool,
}

impl<'ast> Visit<'ast> for Look<'_> {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        match &*call.func {
            Expr::Path(path) => {
                let names = segments(&path.path);
                let is_constructor = names
                    .last()
                    .is_some_and(|last| last.starts_with(char::is_uppercase));
                if !is_constructor && !self.library.is_pure_function(&path.path) {
                    match names.as_slice() {
                        [name] => self.callees.push(name.clone()),
                        _ => self.computes = false,
                    }
                }
            }
            _ => self.computes = false,
        }
        call.args.iter().for_each(|argument| self.visit_expr(argument));
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        let method = call.method.to_string();
        let looks = self.library.is_pure(&method)
            || self.library.borrows(&method)
                && !self.library.borrows_mutably(&method)
                && !self.library.says(&method, Methods::Guards)
            || self.library.adapts(&method)
            || self.library.collects(&method);
        self.computes &= looks && !self.library.leaves_a_trace(&method);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        let last = path.path.segments.last().map(|last| last.ident.to_string());
        let is_global = last.is_some_and(|last| self.globals.contains(last.as_str()));
        self.computes &= !is_global && !self.library.is_device(&path.path);
    }

    fn visit_expr(&mut self, expr: &'ast Expr) {
        self.computes &= !matches!(
            expr,
            Expr::Unsafe(_) | Expr::Await(_) | Expr::Async(_) | Expr::Try(_) | Expr::Verbatim(_)
        );
        visit::visit_expr(self, expr);
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let name = name_of_macro(mac);
        self.computes &= self.library.only_computes(&name) && !self.library.leaves_a_trace(&name);
        // What is in it is seen only where it is a list of expressions.
        match ckpt_compiler::syntax::macros::arguments_of_macro(self.library, mac) {
            Some(arguments) => {
                for argument in &arguments {
                    // They are parsed anew and live no longer.
                    let mut look = Look {
                        library: self.library,
                        globals: self.globals,
                        callees: Vec::new(),
                        computes: true,
                    };
                    look.visit_expr(argument);
                    self.computes &= look.computes;
                    self.callees.extend(look.callees);
                }
            }
            None => self.computes = false,
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
