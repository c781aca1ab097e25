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
//!
//! So are other lists to which these statements give elements, whatever becomes of them.

use crate::diagnostics::{Diagnostics, Refusal};
use crate::parse::options::{Treatment, take_treatment};
use crate::syntax::gathered::{empty_list, gathered_together};
use crate::syntax::marks::Marks;
use crate::visit::{self, VisitMut};
use syn::spanned::Spanned;
use syn::{Attribute, Block, Expr, ItemFn, Local, Stmt, parse_quote, parse_quote_spanned};

/// Has such lists of a function filled behind what they are gathered by.
pub fn fill_behind(function: &mut ItemFn, marks: Marks<'_>, errors: &mut Diagnostics) {
    Gathered { marks, errors }.visit_block_mut(&mut function.block);
}

struct Gathered<'a> {
    marks: Marks<'a>,
    errors: &'a mut Diagnostics,
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
    fn statement(&mut self, stmts: &mut Vec<Stmt>, at: usize) {
        if !matches!(&stmts[at], Stmt::Local(local) if is_filled(local)) {
            return;
        }
        let Some(together) = gathered_together(self.marks.library, stmts, at) else {
            return;
        };
        let last = together.statements.last().copied().unwrap_or(at);
        if let Some(site) = stmts[at + 1..=last].iter().find(|stmt| self.marks.in_stmt(stmt)) {
            // The list has a part of its elements there, and would be empty at a restart.
            if let Stmt::Local(local) = &stmts[at]
                && let Some(list) = empty_list(self.marks.library, local)
            {
                let refusal = Refusal::SiteAmongElements { list: list.clone() };
                self.errors.refuse(site.span(), refusal);
            }
            return;
        }
        for one in &together.statements {
            match &mut stmts[*one] {
                Stmt::Expr(Expr::ForLoop(one), _) => one.attrs.push(again()),
                Stmt::Expr(Expr::MethodCall(one), _) => one.attrs.push(again()),
                _ => {}
            }
        }
        let mut behind: Vec<(usize, Stmt)> = Vec::new();
        for (list, end) in &together.lists {
            if let Stmt::Local(local) = &mut stmts[*list]
                && let Some(given) = self.given_behind(local)
            {
                behind.push((*end, Stmt::Local(given)));
            }
        }
        behind.sort_by_key(|(end, _)| *end);
        for (end, given) in behind.into_iter().rev() {
            stmts.insert(end + 1, given);
        }
    }

    /// Has the empty list made again, and gives it to a variable of its name that is treated as it was to be.
    fn given_behind(&self, local: &mut Local) -> Option<Local> {
        let list = empty_list(self.marks.library, local)?.clone();
        let pattern = local.pat.clone();
        let Stmt::Local(mut behind) = parse_quote_spanned!(list.span()=> let #pattern = #list;) else {
            return None;
        };
        behind.attrs = std::mem::replace(&mut local.attrs, vec![again()]);
        Some(behind)
    }
}

fn again() -> Attribute {
    parse_quote!(#[ckpt(reexecute)])
}

fn is_filled(local: &Local) -> bool {
    matches!(
        take_treatment(&mut local.attrs.clone()),
        Ok(Some(Treatment::Refill | Treatment::Parts))
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::Library;
    use quote::ToTokens;

    #[test]
    fn lists_of_one_loop_are_made_again_together() {
        let mut function: ItemFn = parse_quote!(
            fn f() {
                let mut names = Vec::new();
                #[ckpt(parts)]
                let mut parts = Vec::new();
                for part in 0..4 {
                    parts.push(array(part));
                    names.push(part);
                }
                names.push(9);
                go(&parts);
            }
        );
        let library = Library::builtin();
        let mut errors = Diagnostics::default();
        fill_behind(&mut function, Marks { calls: &[], library }, &mut errors);
        assert!(errors.is_empty());
        let expected: ItemFn = parse_quote!(
            fn f() {
                #[ckpt(reexecute)]
                let mut names = Vec::new();
                #[ckpt(reexecute)]
                let mut parts = Vec::new();
                #[ckpt(reexecute)]
                for part in 0..4 {
                    parts.push(array(part));
                    names.push(part);
                }
                #[ckpt(parts)]
                let mut parts = parts;
                #[ckpt(reexecute)]
                names.push(9);
                let mut names = names;
                go(&parts);
            }
        );
        assert_eq!(
            function.to_token_stream().to_string(),
            expected.to_token_stream().to_string()
        );
    }
}
