//! A list that is filled, and has its elements from the statements behind its `let`:
//!
//! ```text
//! #[ckpt(refill)]
//! let mut parts = Vec::new();
//! for part in 0..4 {
//!     parts.push(array(&queue, part)?);
//! }
//! ```
//!
//! A restart executes all of them again. Only then it has arrays to be filled, so the list is given to a variable of its name there:
//!
//! ```text
//! #[ckpt(reexecute)]
//! let mut parts = Vec::new();
//! #[ckpt(reexecute)]
//! for part in 0..4 { .. }
//! #[ckpt(refill)]
//! let mut parts = parts;
//! ```

use crate::parse::options::{Treatment, take_treatment};
use crate::syntax::gathered::{Gathers, empty_list, gathering, gathers};
use crate::syntax::marks::Marks;
use crate::visit::{self, VisitMut};
use syn::{Attribute, Block, Expr, ItemFn, Local, Stmt, parse_quote, parse_quote_spanned};

/// Has such lists of a function filled behind what they are gathered by.
pub fn fill_behind(function: &mut ItemFn, marks: Marks<'_>) {
    Gathered { marks }.visit_block_mut(&mut function.block);
}

struct Gathered<'a> {
    marks: Marks<'a>,
}

impl VisitMut for Gathered<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        let mut at = 0;
        while at < block.stmts.len() {
            self.statement(&mut block.stmts, at);
            at += 1;
        }
        visit::visit_block_mut(self, block);
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Gathered<'_> {
    fn statement(&self, stmts: &mut Vec<Stmt>, at: usize) {
        let Stmt::Local(local) = &stmts[at] else {
            return;
        };
        let Some(list) = empty_list(self.marks.library, local).cloned() else {
            return;
        };
        let Some(count) = gathering(self.marks.library, &stmts[at + 1..], &list).filter(|_| is_filled(local))
        else {
            return;
        };
        if stmts[at + 1..=at + count]
            .iter()
            .any(|stmt| self.marks.in_stmt(stmt))
        {
            return;
        }
        let again: Attribute = parse_quote!(#[ckpt(reexecute)]);
        for stmt in &mut stmts[at + 1..=at + count] {
            if gathers(self.marks.library, stmt, &list) == Gathers::Elements
                && let Stmt::Expr(expr, _) = stmt
            {
                match expr {
                    Expr::ForLoop(one) => one.attrs.push(again.clone()),
                    Expr::MethodCall(one) => one.attrs.push(again.clone()),
                    _ => {}
                }
            }
        }
        let Stmt::Local(local) = &mut stmts[at] else {
            return;
        };
        let filled = std::mem::replace(&mut local.attrs, vec![again]);
        let pattern = local.pat.clone();
        let mut behind: Local = match parse_quote_spanned!(list.span()=> let #pattern = #list;) {
            Stmt::Local(local) => local,
            _ => return,
        };
        behind.attrs = filled;
        stmts.insert(at + count + 1, Stmt::Local(behind));
    }
}

fn is_filled(local: &Local) -> bool {
    matches!(
        take_treatment(&mut local.attrs.clone()),
        Ok(Some(Treatment::Refill | Treatment::Parts))
    )
}
