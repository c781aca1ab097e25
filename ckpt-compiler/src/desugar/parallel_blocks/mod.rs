//! Parallel iterators with a site in a closure are cut into blocks of items, with the site between them.
//!
//! `let v: Vec<_> = (0..n).into_par_iter().map(|i| { checkpoint!(); f(i) }).collect();` becomes a loop that goes over
//! `0..n` block by block: each block is the same parallel iterator over its items alone, and what it gives is joined to
//! that of the blocks before it. No thread of the pool is ever at the site; what the closures capture only has to live.
//!
//! Only what does the same to an item wherever it stands is cut: `items` has what such an iterator may be made of, `ends` what
//! its last call comes to. The names of the calls are in the tables, under `blocks`. What cannot be cut stays as it is,
//! and the site in it is refused as one in any closure.

mod ends;
mod items;

use crate::library::Library;
use crate::names::{Kind, Names, located};
use crate::paths::rt;
use crate::syntax::macros::arguments_of_macro;
use crate::syntax::marks::Marks;
use crate::syntax::mentions::names_in;
use crate::visit::{self, VisitMut};
use ends::End;
use items::{Items, bare_mut, closures_in, functions_in};
use quote::ToTokens;
use syn::{Expr, ExprClosure, ExprMethodCall, ExprPath, ItemFn, Stmt, parse_quote, parse_quote_spanned};

/// Cuts the parallel iterators of a function's body that have a site in a closure.
pub fn cut(function: &mut ItemFn, marks: Marks<'_>, names: &Names) {
    Cutter { marks, names }.visit_block_mut(&mut function.block);
}

/// The closures of a parallel iterator that are called for each item, if it can be cut: a site in one of them stands
/// between the blocks.
pub fn closures_of_call<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<&'e ExprClosure> {
    if can_be_cut(library, call) {
        closures_in(library, call)
    } else {
        Vec::new()
    }
}

/// The same for functions that are given by their names.
pub fn functions_of_call<'e>(library: &Library, call: &'e ExprMethodCall) -> Vec<&'e ExprPath> {
    if can_be_cut(library, call) {
        functions_in(library, call)
    } else {
        Vec::new()
    }
}

/// Whether the last digits of what a parallel iterator comes to may depend on how its items are put together, if they are
/// floats: with blocks as without.
pub fn depends_on_parts(library: &Library, call: &ExprMethodCall) -> bool {
    End::of(library, call).is_some_and(|end| end.depends_on_parts(call))
}

fn can_be_cut(library: &Library, call: &ExprMethodCall) -> bool {
    End::of(library, call).is_some()
        && Items::new(library, &Names::default())
            .cut(&mut (*call.receiver).clone())
            .is_some()
}

struct Cutter<'a> {
    marks: Marks<'a>,
    names: &'a Names,
}

impl VisitMut for Cutter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        // What stands inside comes first: its site is in a closure of this one then, where none can be.
        visit::visit_expr_mut(self, expr);
        if let Expr::MethodCall(call) = expr
            && let Some(blocks) = self.in_blocks(call)
        {
            *expr = blocks;
        }
    }

    fn visit_macro_mut(&mut self, mac: &mut syn::Macro) {
        if !names_in(&mac.tokens).contains("checkpoint") {
            return;
        }
        if let Some(mut arguments) = arguments_of_macro(self.marks.library, mac) {
            arguments.iter_mut().for_each(|one| self.visit_expr_mut(one));
            mac.tokens = arguments.to_token_stream();
        }
    }

    fn visit_item_mut(&mut self, _: &mut syn::Item) {}
}

impl Cutter<'_> {
    fn in_blocks(&self, call: &ExprMethodCall) -> Option<Expr> {
        let library = self.marks.library;
        let end = End::of(library, call)?;
        if !closures_in(library, call).into_iter().any(begins_with_site) {
            return None;
        }
        let mut chain = call.clone();
        open(&mut chain);
        let rest = chain.to_token_stream();
        if self.marks.in_tokens(&rest) {
            return None;
        }
        let mut items = Items::new(library, self.names);
        let count = items.cut(&mut chain.receiver)?;
        let (rt, span) = (rt(), call.method.span());
        let (before, blocks, block) = (
            items.before,
            located(&self.names.fresh(Kind::Blocks), span),
            items.block,
        );
        let (in_turn, out) = (items.in_turn, located(&self.names.fresh(Kind::Gathered), span));
        let begin: Stmt = parse_quote_spanned!(span=> let mut #blocks = #rt::blocks(#count););
        let site: Stmt = parse_quote_spanned!(span=> ckpt::checkpoint!(););
        let next: Stmt = parse_quote!(let #block = #rt::block(&mut #blocks););
        let goes_on: Expr = parse_quote!(#rt::goes_on(&mut #blocks));
        let Some(join) = end.join(&out, &chain) else {
            return Some(parse_quote!({
                #(#before)*
                #begin
                while #goes_on { #site #next #(#in_turn)* #chain; }
            }));
        };
        let goes_on = match end.settled(&out) {
            Some(settled) => parse_quote!(#goes_on && !#settled),
            None => goes_on,
        };
        Some(parse_quote!({
            #(#before)*
            #begin
            let mut #out = #rt::none();
            while #goes_on { #site #next #(#in_turn)* #out = #join; }
            #rt::whole(#out)
        }))
    }
}

/// Whether the first statement of a closure is a site.
fn begins_with_site(closure: &ExprClosure) -> bool {
    match &*closure.body {
        Expr::Block(body) => body.block.stmts.first().is_some_and(is_site),
        _ => false,
    }
}

fn is_site(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Macro(one) if Marks::is_checkpoint(&one.mac))
}

/// Makes the closures of a parallel iterator such as can be written again for each block: without the site, and borrowing
/// what they capture.
fn open(call: &mut ExprMethodCall) {
    if let Expr::MethodCall(receiver) = bare_mut(&mut call.receiver) {
        open(receiver);
    }
    for argument in &mut call.args {
        match bare_mut(argument) {
            Expr::Closure(closure) => open_closure(closure),
            Expr::MethodCall(inner) => open(inner),
            _ => {}
        }
    }
}

fn open_closure(closure: &mut ExprClosure) {
    closure.capture = None;
    if let Expr::Block(body) = &mut *closure.body
        && body.block.stmts.first().is_some_and(is_site)
    {
        body.block.stmts.remove(0);
    }
}
