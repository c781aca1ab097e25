//! Iterators that have a name before the one loop that goes over them.
//!
//! `let rows = (0..n).map(f); for row in rows { .. }` becomes `for row in (0..n).map(f) { .. }`, where the loop has a site:
//! the name would hold an iterator that no checkpoint can. Nothing runs at the `let`, adaptors are lazy; what the chain
//! borrows cannot change in between, and what it copies does not.

use crate::names::Names;
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{declares, each_name};
use crate::syntax::origins::Known;
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::collections::HashSet;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, ItemFn, Local, Pat, PatIdent, Stmt};

/// Moves the iterators of a function into their loops.
pub fn move_in(function: &mut ItemFn, marks: Marks<'_>, known: Known<'_>, names: &Names) {
    let mut mutable = Mutable::default();
    mutable.visit_item_fn(function);
    let mut mover = Mover {
        marks,
        known,
        names,
        mutable: mutable.0,
    };
    mover.visit_block_mut(&mut function.block);
}

/// The names that are declared `mut`.
#[derive(Default)]
struct Mutable(HashSet<String>);

impl<'ast> Visit<'ast> for Mutable {
    fn visit_pat_ident(&mut self, pat: &'ast PatIdent) {
        if pat.mutability.is_some() {
            self.0.insert(pat.ident.to_string());
        }
        visit::visit_pat_ident(self, pat);
    }
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

struct Mover<'a> {
    marks: Marks<'a>,
    known: Known<'a>,
    names: &'a Names,
    mutable: HashSet<String>,
}

impl VisitMut for Mover<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut index = 0;
        while index < block.stmts.len() {
            match self.destination(&block.stmts, index) {
                Some(at) => {
                    if let Stmt::Local(Local { init: Some(init), .. }) = block.stmts.remove(index)
                        && let Stmt::Expr(Expr::ForLoop(one), _) = &mut block.stmts[at - 1]
                    {
                        one.expr = init.expr;
                    }
                }
                None => index += 1,
            }
        }
        visit_mut::visit_block_mut(self, block);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Mover<'_> {
    /// The loop over the iterator that the statement declares, if it may make it itself.
    fn destination(&self, stmts: &[Stmt], index: usize) -> Option<usize> {
        let Stmt::Local(local) = &stmts[index] else {
            return None;
        };
        let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) else {
            return None;
        };
        let is_plain = local.attrs.is_empty() && name.by_ref.is_none() && init.diverge.is_none();
        if !is_plain || !self.known.is_iterator(&init.expr) || self.marks.in_expr(&init.expr) {
            return None;
        }
        let after = &stmts[index + 1..];
        let uses: Vec<usize> = (0..after.len())
            .filter(|at| count(after[*at].to_token_stream(), &name.ident.to_string()) > 0)
            .collect();
        let [at] = uses[..] else { return None };
        let Stmt::Expr(Expr::ForLoop(one), _) = &after[at] else {
            return None;
        };
        let is_gone_over = matches!(&*one.expr, Expr::Path(path) if path.path.is_ident(&name.ident))
            && count(after[at].to_token_stream(), &name.ident.to_string()) == 1;
        let mut inputs = HashSet::new();
        names(init.expr.to_token_stream(), &mut inputs);
        let mut between = HashSet::new();
        after[..at]
            .iter()
            .for_each(|stmt| names(stmt.to_token_stream(), &mut between));
        let stays = inputs
            .intersection(&between)
            .all(|name| !self.mutable.contains(name) && !declares(self.names, &after[..at], name));
        (is_gone_over && stays && self.marks.in_block(&one.body)).then_some(index + 1 + at)
    }
}

/// How often tokens have the name, also captured in a text.
fn count(tokens: TokenStream, name: &str) -> usize {
    let mut found = 0;
    each_name(tokens, &mut |one| found += usize::from(one == name));
    found
}

fn names(tokens: TokenStream, found: &mut HashSet<String>) {
    each_name(tokens, &mut |name| {
        found.insert(name.to_owned());
    });
}
