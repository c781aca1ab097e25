//! Variables that travel as options: taken, put back, and lent to a site while they are parked.

use super::Emitter;
use crate::cfg::{BindingId, Declaration};
use crate::names;
use crate::paths::rt;
use crate::plan::option_slots::{Jump, Stop};
use crate::plan::replace_jumps;
use crate::spine::{Step, StepId, StepKind};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};
use syn::{Expr, Stmt, parse_quote};

impl Emitter<'_> {
    fn slot(&self, id: BindingId) -> Ident {
        let name = crate::names::plain_text(&self.flow.written(id));
        names::made(format_args!("slot_{name}_{id}"))
    }

    /// The variable and its slot, behind the statements that give it its first value.
    pub(super) fn bind_slot(&self, id: BindingId) -> TokenStream {
        let rt = rt();
        let (slot, out, name) = (self.slot(id), self.out(id), &self.flow.bindings[id].ident);
        quote! {
            #[allow(unused_mut)]
            let mut #slot = #out;
            #[allow(unused_mut, unused_variables, unused_assignments)]
            let mut #name;
            #[allow(unused_assignments)]
            if false { #name = #rt::take(&mut #slot); }
        }
    }

    pub(super) fn take(&self, stop: &Stop) -> TokenStream {
        let rt = rt();
        let taken = stop.take.iter().map(|id| {
            let (name, slot) = (&self.flow.bindings[*id].ident, self.slot(*id));
            quote!(#name = #rt::take(&mut #slot);)
        });
        taken.collect()
    }

    pub(super) fn put(&self, ids: &[BindingId]) -> TokenStream {
        let put = ids.iter().map(|id| {
            let (name, slot) = (&self.flow.bindings[*id].ident, self.slot(*id));
            quote!(#slot = ::core::option::Option::Some(#name);)
        });
        put.collect()
    }

    /// The content of a parked variable's slot.
    pub(super) fn parked(&self, id: BindingId) -> TokenStream {
        let (rt, slot) = (rt(), self.slot(id));
        quote!(#rt::parked(&#slot))
    }

    /// A statement, and after it what puts variables back; a value of the block is kept meanwhile.
    pub(super) fn then_put(&self, statement: TokenStream, is_value: bool, put: TokenStream) -> TokenStream {
        if put.is_empty() || !is_value {
            return quote!(#statement #put);
        }
        let value = names::made("value");
        quote!(let #value = #statement; #put #value)
    }

    /// Statements in a scope of their own, where a variable that they declare hides one that is put back after them.
    pub(super) fn unhidden(&self, steps: &[&Step], stop: &Stop, statements: TokenStream) -> TokenStream {
        match self.hides(steps, stop) {
            true => quote!({ #statements }),
            false => statements,
        }
    }

    /// Whether the statements declare a variable that hides one that is put back after them.
    pub(super) fn hides(&self, steps: &[&Step], stop: &Stop) -> bool {
        let put = |name: &Ident| {
            stop.put.iter().any(|id| {
                let put = &self.flow.bindings[*id].ident;
                self.flow.locals.same_name(put, name)
            })
        };
        let hides = |step: &&Step| {
            self.flow.bindings.iter().any(|binding| {
                binding.step == step.range.start
                    && matches!(binding.declaration, Declaration::Let)
                    && put(&binding.ident)
            })
        };
        steps.iter().any(hides)
    }

    /// The statement with what it puts back before it jumps out.
    pub(super) fn with_jumps(&self, step: &Step) -> Option<Stmt> {
        let StepKind::Plain(plain) = &step.kind else {
            return None;
        };
        let mut stmt = plain.stmt.clone();
        self.put_before_jumps(step.range.start, &mut stmt);
        Some(stmt)
    }

    fn put_before_jumps(&self, step: StepId, stmt: &mut Stmt) {
        if self.plan.option_slots.has_jumps(step) {
            replace_jumps(self.library, stmt, &mut |jump, expr| self.jump(step, jump, expr));
        }
    }

    fn jump(&self, step: StepId, jump: Jump, expr: &Expr) -> Option<Expr> {
        let put = self.put(self.plan.option_slots.before_jump(step, jump));
        if put.is_empty() {
            return None;
        }
        Some(match expr {
            Expr::Break(syn::ExprBreak {
                label,
                expr: Some(value),
                ..
            }) => {
                let kept = names::made("value");
                parse_quote!({ let #kept = #value; #put break #label #kept })
            }
            other => parse_quote!({ #put #other }),
        })
    }

    /// `break` or `return` with a value that has a site in it.
    pub(super) fn jump_with(&self, step: StepId, prefix: &TokenStream, value: TokenStream) -> TokenStream {
        let jump = Jump::of_tokens(prefix);
        let put = jump.map(|jump| self.put(self.plan.option_slots.before_jump(step, jump)));
        match put.filter(|put| !put.is_empty()) {
            None => quote!(#prefix #value),
            Some(put) => {
                let value = self.then_put(value, true, put);
                quote!(#prefix { #value })
            }
        }
    }

    /// The expression around the one that has the site; `fill` puts something into its hole.
    pub(super) fn around(
        &self,
        step: StepId,
        around: &Expr,
        inner: TokenStream,
        fill: impl FnOnce(&mut Stmt, TokenStream),
    ) -> TokenStream {
        let filled = |inner: TokenStream| {
            let mut whole = Stmt::Expr(around.clone(), None);
            self.put_before_jumps(step, &mut whole);
            fill(&mut whole, inner);
            whole.into_token_stream()
        };
        let stop = self.plan.option_slots.around(step);
        if stop.take.is_empty() && stop.put.is_empty() {
            return filled(inner);
        }
        let value = names::made("inner");
        let (take, put) = (self.take(&stop), self.put(&stop.put));
        let whole = self.then_put(filled(value.to_token_stream()), true, put);
        quote!({ let #value = #inner; #take #whole })
    }
}
