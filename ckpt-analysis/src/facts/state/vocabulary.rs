//! What the variables of a function are declared with: the words from which their types can be told, and the closures in them.

use crate::items::Function;
use ckpt_compiler::syntax::mentions::names_in;
use ckpt_compiler::visit::{self, Visit};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::{HashMap, HashSet};
use syn::{Expr, ExprClosure, FnArg, Pat};

/// The declarations of a function, by the names of the variables; of those of one name, all count.
pub(super) struct Vocabulary<'f> {
    declared: HashMap<String, Vec<TokenStream>>,
    closures: HashMap<String, Vec<&'f ExprClosure>>,
}

impl<'f> Vocabulary<'f> {
    pub fn of(function: &'f Function) -> Self {
        let mut found = Self {
            declared: HashMap::new(),
            closures: HashMap::new(),
        };
        for input in &function.written.sig.inputs {
            match input {
                FnArg::Typed(typed) => found.declare(&typed.pat, typed.ty.to_token_stream()),
                FnArg::Receiver(_) => {
                    let of = function.self_type.as_ref().map(|name| {
                        let name = quote::format_ident!("{name}");
                        name.to_token_stream()
                    });
                    found.declared.entry("self".to_owned()).or_default().extend(of);
                }
            }
        }
        found.visit_block(&function.written.block);
        found
    }

    fn declare(&mut self, pattern: &Pat, by: TokenStream) {
        for name in names_in(&pattern.to_token_stream()) {
            self.declared.entry(name).or_default().push(by.clone());
        }
    }

    /// The names, and all words in the declarations of variables of such names, and so on.
    pub fn words(&self, from: &HashSet<String>) -> HashSet<String> {
        let mut open: Vec<String> = from.iter().cloned().collect();
        let mut seen = HashSet::new();
        while let Some(next) = open.pop() {
            for by in self.declared.get(&next).into_iter().flatten() {
                open.extend(names_in(by).into_iter().filter(|name| !seen.contains(name)));
            }
            seen.insert(next);
        }
        seen
    }

    /// The code of these declarations.
    pub fn places(&self, from: &HashSet<String>) -> impl Iterator<Item = TokenStream> + '_ {
        let names = self.words(from);
        let declared = self
            .declared
            .iter()
            .filter(move |(name, _)| names.contains(*name));
        declared.flat_map(|(_, all)| all.iter().cloned())
    }

    /// The closures in variables that the names lead to.
    pub fn closures_of(&self, from: &HashSet<String>) -> Vec<&'f ExprClosure> {
        let mut seen = HashSet::new();
        let (mut open, mut found) = (Vec::from_iter(from.iter().cloned()), Vec::new());
        while let Some(next) = open.pop() {
            if !seen.insert(next.clone()) {
                continue;
            }
            for closure in self.closures.get(&next).into_iter().flatten() {
                found.push(*closure);
                open.extend(names_in(&closure.body.to_token_stream()));
            }
        }
        found
    }
}

impl<'f> Visit<'f> for Vocabulary<'f> {
    fn visit_local(&mut self, local: &'f syn::Local) {
        self.declare(&local.pat, local.to_token_stream());
        if let Some(init) = &local.init {
            let mut closures = Closures(Vec::new());
            closures.visit_expr(&init.expr);
            for name in names_in(&local.pat.to_token_stream()) {
                self.closures.entry(name).or_default().extend(&closures.0);
            }
        }
        visit::visit_local(self, local);
    }

    fn visit_expr_for_loop(&mut self, one: &'f syn::ExprForLoop) {
        self.declare(&one.pat, one.expr.to_token_stream());
        visit::visit_expr_for_loop(self, one);
    }

    fn visit_expr_let(&mut self, one: &'f syn::ExprLet) {
        self.declare(&one.pat, one.expr.to_token_stream());
        visit::visit_expr_let(self, one);
    }

    fn visit_expr(&mut self, expr: &'f Expr) {
        if let Expr::Match(one) = expr {
            for arm in &one.arms {
                self.declare(&arm.pat, one.expr.to_token_stream());
            }
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item(&mut self, _: &'f syn::Item) {}
}

struct Closures<'f>(Vec<&'f ExprClosure>);

impl<'f> Visit<'f> for Closures<'f> {
    fn visit_expr_closure(&mut self, closure: &'f ExprClosure) {
        self.0.push(closure);
        visit::visit_expr_closure(self, closure);
    }
    fn visit_item(&mut self, _: &'f syn::Item) {}
}
