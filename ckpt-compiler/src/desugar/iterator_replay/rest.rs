//! Loops over what is left of an iterator: `let head = lines.next(); for line in lines { .. }`.
//!
//! The items that are gone are counted, and the loop goes over the iterator made anew without them:
//! `for line in text.lines().skip(asked(&lines)) { .. }`. A `while let Some(line) = lines.next()` whose iterator is used
//! nowhere else in it or after it is such a loop, too.

use crate::library::{Iterators, Library};
use crate::names::{self, Names};
use crate::paths::rt;
use crate::syntax::mentions::declares;
use crate::syntax::mentions::each_name;
use quote::ToTokens;
use std::collections::{BTreeSet, HashMap, HashSet};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ExprForLoop, ItemFn, Local, Pat, Stmt, parse_quote};

/// Writes the loops over the iterators of these names so, where nothing that they are made from changes before.
pub fn loops_over_rests(library: &Library, function: &mut ItemFn, names: &BTreeSet<String>, locals: &Names) {
    let mut mutable = Mutable::default();
    mutable.visit_item_fn(function);
    let mut rests = Rests {
        library,
        names,
        locals,
        mutable: mutable.0,
        count: 0,
    };
    rests.visit_block_mut(&mut function.block);
}

/// The names that are declared `mut`, or borrowed exclusively.
#[derive(Default)]
struct Mutable(HashSet<String>);

impl<'ast> Visit<'ast> for Mutable {
    fn visit_pat_ident(&mut self, pat: &'ast syn::PatIdent) {
        if pat.mutability.is_some() {
            self.0.insert(pat.ident.to_string());
        }
        visit::visit_pat_ident(self, pat);
    }
    fn visit_fn_arg(&mut self, argument: &'ast syn::FnArg) {
        if let syn::FnArg::Typed(typed) = argument
            && matches!(&*typed.ty, syn::Type::Reference(one) if one.mutability.is_some())
        {
            each_name(typed.pat.to_token_stream(), &mut |name| {
                self.0.insert(name.to_owned());
            });
        }
        visit::visit_fn_arg(self, argument);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

struct Rests<'n> {
    library: &'n Library,
    names: &'n BTreeSet<String>,
    locals: &'n Names,
    mutable: HashSet<String>,
    count: usize,
}

impl VisitMut for Rests<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for index in 0..block.stmts.len() {
            let Some((name, made)) = self.declared(&block.stmts[index]) else {
                continue;
            };
            if let Some((at, written)) = self.written(&block.stmts[index + 1..], &name, &made) {
                block.stmts[index + 1 + at] = written;
            }
        }
        visit_mut::visit_block_mut(self, block);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Rests<'_> {
    /// The name and the initialiser of an iterator in question, without the counter around it.
    fn declared(&self, stmt: &Stmt) -> Option<(String, Expr)> {
        let Stmt::Local(Local {
            pat,
            init: Some(init),
            ..
        }) = stmt
        else {
            return None;
        };
        let Pat::Ident(ident) = pat else { return None };
        let name = ident.ident.to_string();
        match &*init.expr {
            Expr::Call(call) if self.names.contains(&name) && call.args.len() == 1 => {
                Some((name, call.args[0].clone()))
            }
            _ => None,
        }
    }

    /// The loop among the statements that uses the iterator up, and what it becomes.
    fn written(&mut self, after: &[Stmt], name: &str, made: &Expr) -> Option<(usize, Stmt)> {
        let uses = |stmt: &Stmt| uses(stmt, name);
        let at = (0..after.len()).rev().find(|at| uses(&after[*at]) > 0)?;
        let Stmt::Expr(expr, semicolon) = &after[at] else {
            return None;
        };
        let (pattern, body, label) = gone_over(self.library, expr, name)?;
        let is_only_use = uses(&after[at]) == 1;
        let mut inputs = Uses::default();
        inputs.visit_expr(made);
        let before = &after[..at];
        let stays = inputs.0.keys().all(|input| {
            let is_touched = before.iter().any(|stmt| self::uses(stmt, input) > 0);
            !(declares(self.locals, before, input) || is_touched && self.mutable.contains(input))
        });
        if !is_only_use || !stays || declares(self.locals, before, name) {
            return None;
        }
        self.count += 1;
        let (rt, iterator) = (
            rt(),
            proc_macro2::Ident::new(name, proc_macro2::Span::call_site()),
        );
        let gone = names::made(format_args!("gone{}", self.count));
        let one: ExprForLoop = parse_quote!(for #pattern in (#made).skip(#gone) #body);
        let one = ExprForLoop { label, ..one };
        let written: Expr = parse_quote!({ let #gone: usize = #rt::asked(&#iterator); #one });
        Some((at, Stmt::Expr(written, *semicolon)))
    }
}

/// How often each variable is named; methods and fields have names of their own.
#[derive(Default)]
struct Uses(HashMap<String, usize>);

impl Uses {
    fn note(&mut self, name: &str) {
        *self.0.entry(name.to_owned()).or_default() += 1;
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(name) = path.path.get_ident() {
            self.note(&name.to_string());
        }
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        each_name(mac.tokens.clone(), &mut |name| self.note(name));
    }
}

fn uses(stmt: &Stmt, name: &str) -> usize {
    let mut uses = Uses::default();
    uses.visit_stmt(stmt);
    uses.0.get(name).copied().unwrap_or(0)
}

/// The pattern and body of a loop that takes one item after the other.
fn gone_over(library: &Library, expr: &Expr, name: &str) -> Option<(Pat, Block, Option<syn::Label>)> {
    let is_it = |expr: &Expr| matches!(expr, Expr::Path(path) if path.path.is_ident(name));
    match expr {
        Expr::ForLoop(one) if is_it(&one.expr) && one.attrs.is_empty() => {
            Some(((*one.pat).clone(), one.body.clone(), one.label.clone()))
        }
        Expr::While(one) => {
            let Expr::Let(condition) = &*one.cond else {
                return None;
            };
            let (Pat::TupleStruct(some), Expr::MethodCall(call)) = (&*condition.pat, &*condition.expr) else {
                return None;
            };
            let takes_one =
                library.is_call(call, Iterators::Next) && call.args.is_empty() && is_it(&call.receiver);
            let item = some.elems.first().filter(|_| some.elems.len() == 1)?;
            (some.path.is_ident("Some") && takes_one && is_irrefutable(item))
                .then(|| (item.clone(), one.body.clone(), one.label.clone()))
        }
        _ => None,
    }
}

fn is_irrefutable(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => {
            let first = name.ident.to_string().chars().next();
            name.subpat.is_none() && first.is_some_and(|first| first.is_lowercase() || first == '_')
        }
        Pat::Wild(_) => true,
        Pat::Paren(inner) => is_irrefutable(&inner.pat),
        Pat::Reference(inner) => is_irrefutable(&inner.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().all(is_irrefutable),
        _ => false,
    }
}
