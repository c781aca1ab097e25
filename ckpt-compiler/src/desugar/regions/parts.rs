//! A list of parts of something that is lent exclusively, which is made to be handed out alone:
//!
//! ```text
//! let bands: Vec<&mut [u8]> = pixels.chunks_mut(rows * width).collect();
//! thread::scope(|s| for band in bands { s.spawn(move || render(band)); });
//! ```
//!
//! No checkpoint holds such a list, and a restart could not make it again while the threads have its parts. So the loop goes over what the list
//! is made of, which is the same: nothing changes between its `let` and the loop, and nothing else names it.

use super::starts::{Starts, is_unseen};
use crate::library::{Iterators, Library, Types};
use crate::names::{LocalId, Locals};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{each_variable, locals_in};
use crate::syntax::places::{place_root, variable};
use crate::syntax::purity::is_pure;
use crate::visit::{self, Visit, VisitMut};
use quote::ToTokens;
use syn::{Block, Expr, ExprMethodCall, GenericArgument, Ident, Local, Pat, Stmt, Type};

/// Has the loops of a function that start threads with sites go over the parts themselves.
pub(super) fn hand_out(block: &mut Block, marks: Marks<'_>, locals: &Locals) {
    HandsOut { marks, locals }.visit_block_mut(block);
}

struct HandsOut<'a> {
    marks: Marks<'a>,
    locals: &'a Locals,
}

impl VisitMut for HandsOut<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut at = 0;
        while at < block.stmts.len() {
            match self.handed_out(&block.stmts, at) {
                Some(changed) => {
                    block.stmts.splice(at.., changed);
                }
                None => at += 1,
            }
        }
        visit::visit_block_mut(self, block);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl HandsOut<'_> {
    /// The statements from this one on without the list that it makes, if it makes one that is handed out.
    fn handed_out(&self, statements: &[Stmt], at: usize) -> Option<Vec<Stmt>> {
        let Stmt::Local(local) = &statements[at] else {
            return None;
        };
        let (list, parts) = parts_in(self.marks.library, local)?;
        let list = self.locals.id(list)?;
        if !self.stay(parts) {
            return None;
        }
        let behind = &statements[at + 1..];
        let is_named = |stmt: &Stmt| locals_in(self.locals, stmt.to_token_stream()).contains(list);
        let user = behind.iter().position(is_named)?;
        let starts = Starts::with_sites(self.marks, |starts| starts.visit_stmt(&behind[user]));
        let between = &behind[..user];
        if !starts
            || !between.iter().all(|stmt| is_unseen(self.marks.library, stmt))
            || behind[user + 1..].iter().any(is_named)
        {
            return None;
        }
        let mut goes = GoesOver {
            library: self.marks.library,
            locals: self.locals,
            list,
            parts,
            count: 0,
        };
        let mut changed = behind.to_vec();
        goes.visit_stmt_mut(&mut changed[user]);
        (goes.count == 1 && !is_named(&changed[user])).then_some(changed)
    }

    /// Whether the parts are the same later on: what says how large they are does not change.
    fn stay(&self, parts: &ExprMethodCall) -> bool {
        let root = place_root(&parts.receiver).and_then(|root| self.locals.id(root));
        let mut stay = root.is_some();
        for argument in &parts.args {
            stay &= is_pure(self.marks.library, argument);
            each_variable(argument.to_token_stream(), &mut |name, _| {
                let local = self.locals.named(name);
                stay &= local != root && local.is_none_or(|local| !self.locals.is_mutable(local));
            });
        }
        stay
    }
}

/// The list of a `let`, and the call that lends the parts of something, of which it is made.
fn parts_in<'s>(library: &Library, local: &'s Local) -> Option<(&'s Ident, &'s ExprMethodCall)> {
    let (pattern, ty) = match &local.pat {
        Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
        pattern => (pattern, None),
    };
    let (Pat::Ident(name), Some(init)) = (pattern, &local.init) else {
        return None;
    };
    let Expr::MethodCall(collects) = &*init.expr else {
        return None;
    };
    let Expr::MethodCall(parts) = &*collects.receiver else {
        return None;
    };
    let chosen = collects
        .turbofish
        .as_ref()
        .and_then(|chosen| match chosen.args.first() {
            Some(GenericArgument::Type(ty)) => Some(ty),
            _ => None,
        });
    let is_of_lists = |ty: &Type| {
        matches!(ty, Type::Path(path)
            if path.path.segments.last().is_some_and(|last| library.says(&last.ident.to_string(), Types::Lists)))
    };
    let is_list = ty.or(chosen).is_some_and(is_of_lists)
        && local.attrs.is_empty()
        && init.diverge.is_none()
        && library.collects(&collects.method.to_string())
        && library.goes_over_exclusively(&parts.method.to_string());
    is_list.then_some((&name.ident, parts))
}

/// Puts the parts where a statement goes over the list: `list`, `list.into_iter()`, `list.into_iter().enumerate()`.
struct GoesOver<'a> {
    library: &'a Library,
    locals: &'a Locals,
    list: LocalId,
    parts: &'a ExprMethodCall,
    count: usize,
}

impl GoesOver<'_> {
    fn put(&mut self, head: &mut Expr) {
        let is_list = |expr: &Expr| variable(expr).and_then(|name| self.locals.id(name)) == Some(self.list);
        match head {
            Expr::MethodCall(call)
                if is_list(&call.receiver) && self.library.is_call(call, Iterators::Converts) =>
            {
                *head = Expr::MethodCall(self.parts.clone());
                self.count += 1;
            }
            Expr::MethodCall(call) => self.put(&mut call.receiver),
            head if is_list(head) => {
                *head = Expr::MethodCall(self.parts.clone());
                self.count += 1;
            }
            _ => {}
        }
    }
}

impl VisitMut for GoesOver<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::ForLoop(one) = expr {
            self.put(&mut one.expr);
        }
        visit::visit_expr_mut(self, expr);
    }
}
