//! Jumps out of a statement: `break` and `continue` to loops and blocks around it.

use super::option_slots::Jump;
use crate::library::Library;
use crate::syntax::macros::Exits;
use crate::syntax::macros::arguments_of_macro;
use crate::visit::{self, Visit, VisitMut};
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Label, Lifetime, Stmt};

impl Jump {
    fn new(label: Option<&Lifetime>, breaks: bool) -> Self {
        Self {
            label: label.map(|label| label.ident.to_string()),
            breaks,
        }
    }

    /// `break 'label`; nothing for a `return`.
    pub fn of_tokens(tokens: &TokenStream) -> Option<Self> {
        let mut words = tokens.clone().into_iter().filter_map(|token| match token {
            TokenTree::Ident(ident) => Some(ident.to_string()),
            _ => None,
        });
        let breaks = words.next().as_deref() == Some("break");
        breaks.then(|| Self {
            label: words.next(),
            breaks,
        })
    }
}

/// Calls `visit` for every jump that leaves the statement.
pub fn for_each_jump(library: &Library, stmt: &Stmt, visit: &mut dyn FnMut(Jump)) {
    let mut copy = stmt.clone();
    replace_jumps(library, &mut copy, &mut |jump, _| {
        visit(jump);
        None
    });
}

/// Replaces the jumps that leave the statement, where `replace` gives something to put there.
pub fn replace_jumps(
    library: &Library,
    stmt: &mut Stmt,
    replace: &mut dyn FnMut(Jump, &Expr) -> Option<Expr>,
) {
    let mut jumps = Jumps {
        library,
        replace,
        labels: Vec::new(),
        loops: 0,
        replaced: false,
    };
    jumps.visit_stmt_mut(stmt);
}

struct Jumps<'a> {
    library: &'a Library,
    replace: &'a mut dyn FnMut(Jump, &Expr) -> Option<Expr>,
    labels: Vec<String>,
    loops: u32,
    replaced: bool,
}

impl Jumps<'_> {
    fn leaves(&self, label: Option<&Lifetime>) -> bool {
        match label {
            Some(label) => !self.labels.iter().any(|inside| label.ident == inside),
            None => self.loops == 0,
        }
    }

    fn within(&mut self, label: Option<&Label>, is_loop: bool, visit: impl FnOnce(&mut Self)) {
        let count = self.labels.len();
        self.labels
            .extend(label.map(|label| label.name.ident.to_string()));
        self.loops += u32::from(is_loop);
        visit(self);
        self.loops -= u32::from(is_loop);
        self.labels.truncate(count);
    }
}

impl VisitMut for Jumps<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) => return,
            Expr::Loop(one) => {
                let label = one.label.clone();
                return self.within(label.as_ref(), true, |inside| {
                    inside.visit_block_mut(&mut one.body)
                });
            }
            Expr::While(one) => {
                let label = one.label.clone();
                return self.within(label.as_ref(), true, |inside| {
                    visit::visit_expr_while_mut(inside, one)
                });
            }
            Expr::ForLoop(one) => {
                self.visit_expr_mut(&mut one.expr);
                let label = one.label.clone();
                return self.within(label.as_ref(), true, |inside| {
                    inside.visit_block_mut(&mut one.body)
                });
            }
            Expr::Block(one) if one.label.is_some() => {
                let label = one.label.clone();
                return self.within(label.as_ref(), false, |inside| {
                    inside.visit_block_mut(&mut one.block)
                });
            }
            _ => visit::visit_expr_mut(self, expr),
        }
        let jump = match &*expr {
            Expr::Break(jump) if self.leaves(jump.label.as_ref()) => Jump::new(jump.label.as_ref(), true),
            Expr::Continue(jump) if self.leaves(jump.label.as_ref()) => Jump::new(jump.label.as_ref(), false),
            _ => return,
        };
        if let Some(other) = (self.replace)(jump, expr) {
            *expr = other;
            self.replaced = true;
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        let Some(mut arguments) = arguments_of_macro(self.library, mac) else {
            return;
        };
        arguments.iter_mut().for_each(|one| self.visit_expr_mut(one));
        if self.replaced {
            mac.tokens = arguments.to_token_stream();
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

/// Calls `visit` for every jump out of the statement that a macro of unknown meaning in it may make.
pub fn for_each_hidden_jump(library: &Library, stmt: &Stmt, visit: &mut dyn FnMut(&syn::Macro, Jump)) {
    let mut hidden = Hidden {
        library,
        visit,
        loops: 0,
    };
    hidden.visit_stmt(stmt);
}

struct Hidden<'a> {
    library: &'a Library,
    visit: &'a mut dyn FnMut(&syn::Macro, Jump),
    loops: u32,
}

impl<'ast> Visit<'ast> for Hidden<'_> {
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Closure(_) | Expr::Async(_) => {}
            Expr::Loop(_) | Expr::While(_) | Expr::ForLoop(_) => {
                self.loops += 1;
                visit::visit_expr(self, expr);
                self.loops -= 1;
            }
            _ => visit::visit_expr(self, expr),
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        let exits = Exits::of(self.library, mac);
        let innermost = (exits.innermost && self.loops == 0).then_some(None);
        for label in innermost.into_iter().chain(exits.labels.into_iter().map(Some)) {
            for breaks in [true, false] {
                let label = label.clone();
                (self.visit)(mac, Jump { label, breaks });
            }
        }
        if let Some(arguments) = arguments_of_macro(self.library, mac) {
            arguments.iter().for_each(|one| self.visit_expr(one));
        }
    }

    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
