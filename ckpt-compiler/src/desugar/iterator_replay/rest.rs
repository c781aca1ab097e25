//! Loops over what is left of an iterator: `let head = lines.next(); for line in lines { .. }`.
//!
//! The items that are gone are counted, and the loop goes over the iterator made anew without them:
//! `for line in text.lines().skip(asked(&lines)) { .. }`. A `while let Some(line) = lines.next()` whose iterator is used
//! nowhere else in it or after it is such a loop, too.

use crate::library::{Iterators, Library};
use crate::names::{self, LocalId, LocalSet, Locals};
use crate::paths::rt;
use crate::syntax::mentions::{declares, each_name};
use crate::syntax::patterns::is_binding;
use crate::visit::Visit;
use crate::visit::{self, VisitMut};
use proc_macro2::Ident;
use std::collections::HashMap;
use syn::{Block, Expr, ExprForLoop, ItemFn, Local, Pat, Stmt, parse_quote};

/// Writes the loops over the iterators of these names so, where nothing that they are made from changes before.
pub fn loops_over_rests(library: &Library, function: &mut ItemFn, iterators: &LocalSet, locals: &Locals) {
    let mut rests = Rests {
        library,
        iterators,
        locals,
        count: 0,
    };
    rests.visit_block_mut(&mut function.block);
}

struct Rests<'n> {
    library: &'n Library,
    iterators: &'n LocalSet,
    locals: &'n Locals,
    count: usize,
}

impl VisitMut for Rests<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        for index in 0..block.stmts.len() {
            let Some((iterator, made)) = self.declared(&block.stmts[index]) else {
                continue;
            };
            if let Some((at, written)) = self.written(&block.stmts[index + 1..], iterator, &made) {
                block.stmts[index + 1 + at] = written;
            }
        }
        visit::visit_block_mut(self, block);
    }
    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Rests<'_> {
    fn uses(&self, visit: impl FnOnce(&mut Uses<'_>)) -> Uses<'_> {
        let of = HashMap::new();
        let mut uses = Uses {
            locals: self.locals,
            of,
        };
        visit(&mut uses);
        uses
    }

    /// The variable and the initialiser of an iterator in question, without the counter around it.
    fn declared(&self, stmt: &Stmt) -> Option<(LocalId, Expr)> {
        let Stmt::Local(Local {
            pat,
            init: Some(init),
            ..
        }) = stmt
        else {
            return None;
        };
        let Pat::Ident(ident) = pat else { return None };
        let iterator = self.locals.id(&ident.ident)?;
        match &*init.expr {
            Expr::Call(call) if self.iterators.contains(iterator) && call.args.len() == 1 => {
                Some((iterator, call.args[0].clone()))
            }
            _ => None,
        }
    }

    /// The loop among the statements that uses the iterator up, and what it becomes.
    fn written(&mut self, after: &[Stmt], iterator: LocalId, made: &Expr) -> Option<(usize, Stmt)> {
        let uses = |stmt: &Stmt, local| self.uses(|uses| uses.visit_stmt(stmt)).of(local);
        let at = (0..after.len())
            .rev()
            .find(|at| uses(&after[*at], iterator) > 0)?;
        let Stmt::Expr(expr, semicolon) = &after[at] else {
            return None;
        };
        let name = self.locals.name(iterator);
        let (pattern, body, label) = gone_over(self.library, self.locals, expr, name)?;
        let is_only_use = uses(&after[at], iterator) == 1;
        let mut inputs: LocalSet = self.uses(|uses| uses.visit_expr(made)).of.into_keys().collect();
        let before = &after[..at];
        let stays = inputs.iter().all(|input| {
            let is_touched = before.iter().any(|stmt| uses(stmt, input) > 0);
            !is_touched || !self.locals.is_mutable(input) && !self.locals.get(input).exclusive
        });
        inputs.insert(iterator);
        if !is_only_use || !stays || declares(self.locals, before, &inputs) {
            return None;
        }
        self.count += 1;
        let rt = rt();
        let gone = names::made(format_args!("gone{}", self.count));
        let one: ExprForLoop = parse_quote!(for #pattern in (#made).skip(#gone) #body);
        let one = ExprForLoop { label, ..one };
        let written: Expr = parse_quote!({ let #gone: usize = #rt::asked(&#name); #one });
        Some((at, Stmt::Expr(written, *semicolon)))
    }
}

/// How often each variable is named; methods and fields have names of their own.
struct Uses<'n> {
    locals: &'n Locals,
    of: HashMap<LocalId, usize>,
}

impl Uses<'_> {
    fn of(&self, local: LocalId) -> usize {
        self.of.get(&local).copied().unwrap_or(0)
    }

    fn note(&mut self, name: &str) {
        if let Some(local) = self.locals.named(name) {
            *self.of.entry(local).or_default() += 1;
        }
    }
}

impl<'ast> Visit<'ast> for Uses<'_> {
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let Some(name) = path.path.get_ident() {
            self.note(&names::spelling(name));
        }
    }
    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        each_name(mac.tokens.clone(), &mut |name| self.note(name));
    }
}

/// The pattern and body of a loop that takes one item after the other.
fn gone_over(
    library: &Library,
    locals: &Locals,
    expr: &Expr,
    name: &Ident,
) -> Option<(Pat, Block, Option<syn::Label>)> {
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
            (some.path.is_ident("Some") && takes_one && is_irrefutable(locals, item))
                .then(|| (item.clone(), one.body.clone(), one.label.clone()))
        }
        _ => None,
    }
}

fn is_irrefutable(locals: &Locals, pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => name.subpat.is_none() && is_binding(locals, name),
        Pat::Wild(_) => true,
        Pat::Paren(inner) => is_irrefutable(locals, &inner.pat),
        Pat::Reference(inner) => is_irrefutable(locals, &inner.pat),
        Pat::Tuple(tuple) => tuple.elems.iter().all(|one| is_irrefutable(locals, one)),
        _ => false,
    }
}
