//! Puts the instrumented bodies of threads, and the waits for them, into the instrumented function.

use crate::desugar::regions::{How, Member};
use crate::names::frame;
use crate::paths::rt;
use crate::syntax::region_marks::{region_awaited, take_member};
use crate::visit::{self, VisitMut};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use std::collections::HashMap;
use syn::{Block, Expr, ItemFn, Pat, Stmt, parse_quote};

/// Puts them in. `bodies` are the instrumented functions of the members in their order, `waits` what waits for the members
/// of each region.
pub fn put(
    emitted: TokenStream,
    members: &[Member],
    bodies: &[TokenStream],
    waits: &HashMap<usize, TokenStream>,
) -> TokenStream {
    let Ok(mut function) = syn::parse2::<ItemFn>(emitted.clone()) else {
        return emitted;
    };
    let bodies = members
        .iter()
        .zip(bodies)
        .map(|(member, body)| instrumented(member, body))
        .collect();
    let mut putter = Putter {
        members,
        bodies,
        waits,
    };
    putter.visit_item_fn_mut(&mut function);
    // What a thread moves in and changes is a variable of its own now.
    function.attrs.push(parse_quote!(#[allow(unused_mut)]));
    function.to_token_stream()
}

/// The block of a member's function, with what its captures need at its beginning.
fn instrumented(member: &Member, body: &TokenStream) -> Block {
    let Ok(function) = syn::parse2::<ItemFn>(body.clone()) else {
        return parse_quote!({});
    };
    let (rt, frame) = (rt(), frame());
    let mut block = *function.block;
    let at = block
        .stmts
        .iter()
        .position(|stmt| matches!(stmt, Stmt::Local(local) if matches!(&local.pat, Pat::Ident(name) if name.ident == frame)))
        .map_or(0, |at| at + 1);
    let (mut places, mut numbers) = (TokenStream::new(), Vec::new());
    let mut borrows = TokenStream::new();
    let mut checks = TokenStream::new();
    let mut moved = TokenStream::new();
    for (index, capture) in member.captures.iter().enumerate() {
        let (name, index) = (&capture.ident, index as u32);
        let key = crate::names::plain_text(name);
        let span = name.span();
        if capture.moved {
            moved.extend(quote!((#index, #key),));
            continue;
        }
        match capture.how {
            How::InPlace => {
                numbers.push(index);
                if capture.borrowed {
                    borrows.extend(quote_spanned!(span => let #name = &mut #name;));
                }
                places.extend(quote_spanned!(span => #frame.restore_capture(#index, #key, &mut *#name);));
            }
            How::Reexecuted if member.moves => {
                checks.extend(quote_spanned!(span => (&&#rt::Seen(&#name)).is_reexecuted();));
            }
            How::Reexecuted => {
                checks.extend(quote_spanned!(span => (&&#rt::Seen(&#name)).is_lent();));
            }
            How::Restored => {}
        }
    }
    let moved = (!moved.is_empty()).then(|| quote!(#frame.moved_in(&[#moved]);));
    let prologue: Block = parse_quote!({
        #borrows
        #frame.captures(&[#(#numbers),*]);
        #moved
        if !#frame.runs() { #places }
        {
            #[allow(unused_imports)]
            use #rt::{SeenReexecuted as _, SeenAsFixed as _, SeenAsCopy as _, SeenAsLent as _, SeenAsOwned as _, SeenInPlace as _};
            #checks
        }
    });
    block.stmts.splice(at..at, prologue.stmts);
    block
}

struct Putter<'a> {
    members: &'a [Member],
    bodies: Vec<Block>,
    waits: &'a HashMap<usize, TokenStream>,
}

impl VisitMut for Putter<'_> {
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        if let Expr::Closure(closure) = expr
            && let Some(number) = take_member(closure)
            && let Some(block) = self.bodies.get(number)
        {
            *closure.body = parse_quote!(#block);
            if self.members[number].of_team {
                return;
            }
            let rt = rt();
            *expr = Expr::Verbatim(match closure.inputs.is_empty() {
                true => quote!(#rt::member(#closure)),
                // What the threads of a scope are given cannot go through a function: it lives no longer than a call.
                false => {
                    closure.inputs.clear();
                    quote!({ let ckpt_body = #rt::member(#closure); move |_| ckpt_body() })
                }
            });
            return;
        }
        visit::visit_expr_mut(self, expr);
    }

    fn visit_stmt_mut(&mut self, stmt: &mut Stmt) {
        if let Stmt::Local(local) = stmt
            && let Some(wait) = region_awaited(local).and_then(|region| self.waits.get(&region))
        {
            *stmt = Stmt::Expr(Expr::Verbatim(quote!({ #wait })), Some(Default::default()));
            return;
        }
        visit::visit_stmt_mut(self, stmt);
    }
}
