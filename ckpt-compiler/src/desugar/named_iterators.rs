//! Iterators that have a name before the one loop that goes over them.
//!
//! `let rows = (0..n).map(f); for row in rows { .. }` becomes `for row in (0..n).map(f) { .. }`, where the loop has a site:
//! the name would hold an iterator that no checkpoint can. Nothing runs at the `let`, adaptors are lazy; what the chain
//! borrows cannot change in between, and what it copies does not.

use super::changes::change;
use crate::names::{Locals, spelling};
use crate::syntax::marks::Marks;
use crate::syntax::mentions::{declares, each_name, locals_in};
use crate::syntax::origins::Known;
use crate::visit::{self, VisitMut};
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::{Block, Expr, ItemFn, Local, Pat, Stmt};

/// Moves the iterators of a function into their loops.
pub fn move_in(function: &mut ItemFn, marks: Marks<'_>, known: Known<'_>, locals: &Locals) {
    let mut mover = Mover { marks, known, locals };
    mover.visit_block_mut(&mut function.block);
}

struct Mover<'a> {
    marks: Marks<'a>,
    known: Known<'a>,
    locals: &'a Locals,
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
        visit::visit_block_mut(self, block);
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
            .filter(|at| count(after[*at].to_token_stream(), &spelling(&name.ident)) > 0)
            .collect();
        let [at] = uses[..] else { return None };
        let Stmt::Expr(Expr::ForLoop(one), _) = &after[at] else {
            return None;
        };
        let is_gone_over = matches!(&*one.expr, Expr::Path(path) if path.path.is_ident(&name.ident))
            && count(after[at].to_token_stream(), &spelling(&name.ident)) == 1;
        let inputs = locals_in(self.locals, init.expr.to_token_stream());
        let between: TokenStream = after[..at].iter().map(ToTokens::to_token_stream).collect();
        let between = locals_in(self.locals, between);
        let stays = !change(self.marks.library, &after[..at], &init.expr)
            && !declares(self.locals, &after[..at], &inputs)
            && !inputs
                .iter()
                .any(|input| between.contains(input) && self.locals.is_mutable(input));
        (is_gone_over && stays && self.marks.in_block(&one.body)).then_some(index + 1 + at)
    }
}

/// How often tokens have the name, also captured in a text.
fn count(tokens: TokenStream, name: &str) -> usize {
    let mut found = 0;
    each_name(tokens, &mut |one| found += usize::from(one == name));
    found
}

#[cfg(test)]
mod tests {
    use crate::passes::try_expand;
    use quote::quote;

    #[test]
    fn an_iterator_stays_in_front_of_a_variable_that_hides_what_it_goes_over() {
        let function = quote! {
            fn f(n: usize) {
                let xs = vec![1; n];
                let rows = xs.iter().enumerate();
                let xs = 3;
                for (k, row) in rows {
                    ckpt::checkpoint!();
                    println!("{k} {row} {xs}");
                }
            }
        };
        let text = try_expand(quote!(), &function, false).unwrap().to_string();
        let (before, _) = text.split_once("xs = 3").unwrap();
        assert!(before.contains("xs . iter ()"), "{text}");
    }

    #[test]
    fn an_iterator_stays_in_front_of_a_change_of_what_it_goes_over() {
        let function = quote! {
            fn f(&mut self) {
                let turns = (0..self.n).map(|turn| turn * 2);
                self.n = 5;
                for turn in turns {
                    ckpt::checkpoint!();
                    self.add(turn);
                }
            }
        };
        let text = try_expand(quote!(), &function, false).unwrap().to_string();
        let (before, _) = text.split_once("self . n = 5").unwrap();
        assert!(before.contains("0 .. self . n"), "{text}");
    }
}
